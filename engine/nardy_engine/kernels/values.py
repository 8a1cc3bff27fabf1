"""From logits to values of many plays, and the best play of each decision; layer 3.

What a row is worth comes from one of three places: the result of a finished game, the bear-off
tables, or the network's logits. `fill_codes` says which, so that only the rows that need it go
through the network; `fill_values` puts all three together.
"""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.bearoff import fill_bearoff_outcome, is_bearoff
from nardy_engine.kernels.scoring import acts_again, fill_possible, flipped, outcome_index
from nardy_engine.kernels.softmax import masked_softmax

NETWORK = -1
"""Code of a row that only the network can value."""
TABLE = -2
"""Code of a row that the bear-off tables cover."""


@jit
def fill_codes(boards, afterstates, with_tables, rules, codes):
    """Write to `codes` `[N] int8` where the value of each row comes from.

    boards: `[N, 2, P] int8`, positions with the side to act in row 0, or (`afterstates` = 1)
    afterstates with the mover in row 0. A code is the outcome index of a finished game seen from
    row 0, `TABLE`, or `NETWORK`.
    """
    for i in range(boards.shape[0]):
        stays = 1
        if afterstates != 0:
            stays = acts_again(boards[i, 0], rules)
        over = outcome_index(boards[i, 0], boards[i, 1], rules)
        code = NETWORK
        if over >= 0:
            code = over
        elif with_tables != 0 and is_bearoff(boards[i, 1 - stays], boards[i, stays], rules):
            code = TABLE
        codes[i] = code


@jit
def fill_values(
    boards, afterstates, codes, logits, points, mars_kind, rules, tables, work, probs, equity
):
    """Write outcome chances `[N, O]` and equities `[N]`, both float32, seen from row 0.

    boards, afterstates, codes: as in `fill_codes`; logits: `[M, O] float32` of the rows with the
    code `NETWORK`, in their order, seen from the side that acts next; points: `[O] float32`;
    mars_kind, tables: as in `fill_bearoff_outcome`, not looked at if no row has the code `TABLE`;
    work: `[O] uint8` and `[O] float32`. An equity is the points won less the points lost, summed
    apart, so that it is exactly the negative seen from the other side.
    """
    possible, seen = work
    n = points.shape[0]
    half = n // 2
    used = 0
    for i in range(boards.shape[0]):
        stays = 1
        if afterstates != 0:
            stays = acts_again(boards[i, 0], rules)
        actor, other = boards[i, 1 - stays], boards[i, stays]
        code = codes[i]
        if code >= 0:
            for k in range(n):
                probs[i, k] = 0.0
            probs[i, code] = 1.0
        else:
            if code == TABLE:
                fill_bearoff_outcome(actor, other, mars_kind, rules, tables, seen)
            else:
                fill_possible(actor, other, rules, possible)
                masked_softmax(logits[used], possible, seen)
                used += 1
            for k in range(n):
                source = k
                if stays == 0:
                    source = flipped(k, rules)
                probs[i, k] = seen[source]
        won, lost = np.float32(0), np.float32(0)
        for k in range(half):
            won += probs[i, k] * points[k]
            lost += probs[i, half + k] * -points[half + k]
        equity[i] = won - lost


@jit
def merge_equal(words, offsets, places, index, merged):
    """Keep one of the equal rows of each group, in place; return how many are left.

    words: `[N, W] uint16`, the rows; those left are moved to its beginning, in their order;
    offsets: `[G + 1]` first row of each group; places: `[2^n] int64`, all -1, more than twice the
    rows of any group; index: `[N] int64`, written: where each row is found afterwards; merged:
    `[G + 1] int64`, written: the offsets of what is left.
    """
    mask = np.uint64(places.shape[0] - 1)
    n = 0
    merged[0] = 0
    for group in range(offsets.shape[0] - 1):
        first = n
        for i in range(offsets[group], offsets[group + 1]):
            key = np.uint64(0x9E3779B97F4A7C15)
            for w in range(words.shape[1]):
                key = (key ^ np.uint64(words[i, w])) * np.uint64(0x100000001B3)
            key ^= key >> np.uint64(29)
            key *= np.uint64(0xBF58476D1CE4E5B9)
            slot = (key ^ (key >> np.uint64(32))) & mask
            found = -1
            while places[slot] >= first:  # what is smaller is left over from an earlier group
                row = places[slot]
                same = True
                for w in range(words.shape[1]):
                    if words[row, w] != words[i, w]:
                        same = False
                        break
                if same:
                    found = row
                    break
                slot = (slot + np.uint64(1)) & mask
            if found < 0:
                places[slot] = n
                for w in range(words.shape[1]):
                    words[n, w] = words[i, w]
                found = n
                n += 1
            index[i] = found
        merged[group + 1] = n
    return n


@jit
def comes_before(a, b, rules):
    """Return whether afterstate `a` wins a tie against `b` (T31), both `[2, P]`, mover in row 0.

    In this order: more checkers off, more on point 1, on point 2, ...; more opposing checkers on
    the bar, on the highest point, and so on down; larger memory slots, the mover's first.
    """
    counts = rules.n_points + 2
    for slot in range(counts):
        if a[0, slot] != b[0, slot]:
            return a[0, slot] > b[0, slot]
    for slot in range(counts - 1, -1, -1):
        if a[1, slot] != b[1, slot]:
            return a[1, slot] > b[1, slot]
    for side in range(2):
        for slot in range(counts, a.shape[1]):
            if a[side, slot] != b[side, slot]:
                return a[side, slot] > b[side, slot]
    return False


@jit
def pick_best(boards, index, offsets, codes, values, points, tie, rules, picked):
    """Write to `picked` `[G] int64` the best play of each decision, -1 where there is none.

    boards: `[M, 2, P] int8` afterstates; codes, values: `[M]`, their codes and the mover's
    equities; index: `[A] int64` the rows of these that the plays are; offsets: `[G + 1]` first
    play of each decision. What is written are places in `index`. A finished game comes before
    every estimate if it is won, after every one if it is lost (T24); values that differ by no
    more than `tie` are equal.
    """
    beyond = 3e38
    for group in range(offsets.shape[0] - 1):
        top = -1e60
        for a in range(offsets[group], offsets[group + 1]):
            row = index[a]
            rank = np.float64(values[row])
            if codes[row] >= 0:
                rank = np.float64(points[codes[row]]) * beyond
            higher = rank > top
            if higher:
                top = rank
        best = -1
        for a in range(offsets[group], offsets[group + 1]):
            row = index[a]
            rank = np.float64(values[row])
            if codes[row] >= 0:
                rank = np.float64(points[codes[row]]) * beyond
            if rank >= top - tie and (
                best < 0 or comes_before(boards[row], boards[index[best]], rules)
            ):
                best = a
        if best < 0 and offsets[group + 1] > offsets[group]:
            best = offsets[group]  # a network that has gone astray says nothing but NaN
        picked[group] = best


@jit
def fill_estimates(after, offsets, gradients, step_column, step_factor, slopes, out):
    """Write to `out` `[M] float32` what a linear model says of afterstates, mover's view.

    after: `[M, 2 P] int8`, mover first, the other side acts next; offsets: `[G + 1]` those of each
    position; gradients: `[G, F] float32` what each feature adds to the equity of the side that
    acts next; step_column, step_factor: `[2 P, max + 1]` as in `encode.list_steps`; slopes: `[2 P,
    max + 1] float32` working memory. Only differences within a group mean something.
    """
    for group in range(offsets.shape[0] - 1):
        for slot in range(step_column.shape[0]):
            total = np.float32(0)
            slopes[slot, 0] = total
            for count in range(1, step_column.shape[1]):
                gradient = gradients[group, step_column[slot, count]]
                total += step_factor[slot, count] * gradient
                slopes[slot, count] = total
        for a in range(offsets[group], offsets[group + 1]):
            even, odd = np.float32(0), np.float32(0)  # 2 P is even
            for slot in range(0, after.shape[1], 2):
                even += slopes[slot, after[a, slot]]
                odd += slopes[slot + 1, after[a, slot + 1]]
            out[a] = -(even + odd)


@jit
def best_estimates(index, offsets, codes, estimates, rows):
    """Write to `rows` `[G] int64` the play of each decision with the highest estimate.

    Arguments as for `mark_likely`; plays with an exact value do not count, and -1 stands where
    there is no other. Of equal estimates the one listed first is taken.
    """
    for group in range(offsets.shape[0] - 1):
        best = -1
        for a in range(offsets[group], offsets[group + 1]):
            row = index[a]
            if codes[row] == NETWORK and (best < 0 or estimates[row] > estimates[best]):
                best = row
        rows[group] = best


@jit
def mark_likely(index, offsets, codes, estimates, best, marks):
    """Mark in `marks` `[M] uint8` the plays of each decision with the highest estimates.

    index: `[A] int64` the rows that the plays are; offsets: `[G + 1]` first play of each decision;
    codes: `[M]`, see `fill_codes`: rows with an exact value are all marked; best: `[K] int64`
    working memory, K = how many are marked of each decision besides; marks: 0 at the beginning.
    Of equal estimates those listed first are taken.
    """
    for group in range(offsets.shape[0] - 1):
        n = 0
        for a in range(offsets[group], offsets[group + 1]):
            row = index[a]
            if codes[row] != NETWORK:
                marks[row] = 1
                continue
            if n == best.shape[0]:
                if not estimates[row] > estimates[best[n - 1]]:
                    continue
                n -= 1
            place = n
            while place > 0 and estimates[row] > estimates[best[place - 1]]:
                best[place] = best[place - 1]
                place -= 1
            best[place] = row
            n += 1
        for i in range(n):
            marks[best[i]] = 1
