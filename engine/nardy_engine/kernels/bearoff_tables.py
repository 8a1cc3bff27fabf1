"""Fills bear-off tables: plays between home positions, the quickest ones, exact races; layer 3.

Home positions are the ranks of `kernels.bearoff`. Every play leads to a lower rank, so a table
fills in one pass from low to high ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import jit
from nardy_engine.rules.table import OVERSHOOT_EXACT

ANY_NUMBER, EVEN_NUMBERS, ODD_NUMBERS = 0, 1, 2
"""Whose rolls count: the smaller number must be of this kind, or the turn is skipped (CHN-1)."""

_SAME_MEAN = 1e-12
"""Means closer than this are equal; the lower rank is chosen then, on every machine."""


class PlayScratch(NamedTuple):
    """Working memory for the plays of one roll; contents are never read back."""

    nodes: NDArray[np.int64]
    last: NDArray[np.int64]
    ends: NDArray[np.int64]


@jit
def rank_after_step(counts, source, target, home, binomials):
    """Return the rank after one checker has gone from `source` to `target`, 0 = off."""
    rank, held = 0, 0
    for point in range(home, 0, -1):
        held += np.int64(counts[point])
        if point == source:
            held -= 1
        if point == target:
            held += 1
        k = home + 1 - point
        rank += binomials[held + k - 1, k]
    return rank


@jit
def fill_home_counts(home, counts):
    """Write the checkers on points 1..home of each rank to `counts` `[N, home + 1] int8`."""
    for point in range(home + 1):
        counts[0, point] = 0
    for rank in range(1, counts.shape[0]):
        for point in range(home + 1):
            counts[rank, point] = counts[rank - 1, point]
        point = home
        held = np.int64(counts[rank, point])
        counts[rank, point] = 0
        while point > 1 and counts[rank, point - 1] == 0:
            point -= 1
            held += np.int64(counts[rank, point])
            counts[rank, point] = 0
        counts[rank, point] = held + 1
        if point > 1:
            counts[rank, point - 1] -= 1


@jit
def bears_off_home(counts, source, die, rules):
    """Return whether `die >= source` bears off from `source`, all checkers at home (L-31, L-32).

    A step that nobody hinders is never blocked, so the lenient overshoot is the usual one (D-10).
    """
    if (rules.bearoff_dice >> die) & 1 == 0:
        return False
    if source == die:
        return True
    if rules.overshoot == OVERSHOOT_EXACT:
        return False
    for point in range(source + 1, rules.home + 1):
        if counts[point] > 0:
            return False
    return True


@jit
def fill_home_steps(counts, binomials, rules, steps):
    """Write the rank after each single step to `steps` `[N, sides, home] int32`, -1 = not allowed.

    The axes behind the rank are die - 1 and source point - 1.
    """
    for rank in range(counts.shape[0]):
        for die in range(1, rules.sides + 1):
            for source in range(1, rules.home + 1):
                after = -1
                if counts[rank, source] > 0:
                    if source <= die:
                        if bears_off_home(counts[rank], source, die, rules):
                            after = rank_after_step(counts[rank], source, 0, rules.home, binomials)
                    elif rules.frozen_home == 0:
                        target = source - die
                        after = rank_after_step(counts[rank], source, target, rules.home, binomials)
                steps[rank, die - 1, source - 1] = after


@jit
def list_equal_ends(rank, die, n_steps, steps, scratch):
    """Write the ranks after all plays of `n_steps` dice showing `die`; return how many (T-7).

    Sources descend: that reaches every end once, see `kernels.plays`.
    """
    nodes, last, ends = scratch.nodes, scratch.last, scratch.ends
    nodes[0] = rank
    last[0] = steps.shape[2]
    first, end = 0, 1
    depth, finish_depth = 0, 0
    while depth < n_steps:
        grown = end
        for node in range(first, end):
            for source in range(last[node], 0, -1):
                after = np.int64(steps[nodes[node], die - 1, source - 1])
                if after > 0:
                    nodes[grown] = after
                    last[grown] = source
                    grown += 1
                elif after == 0 and finish_depth == 0:
                    finish_depth = depth + 1
        if grown == end:
            break
        first, end = end, grown
        depth += 1
    n = 0
    if finish_depth > 0:
        ends[0] = 0
        n = 1
    if depth > 0 and depth >= finish_depth:
        for node in range(first, end):
            ends[n] = nodes[node]
            n += 1
    if n == 0:
        ends[0] = rank
        n = 1
    return n


@jit
def list_one_die_ends(rank, die, steps, ends, n):
    """Write the ranks after one step of `die` behind the first `n` ends; return their number."""
    for source in range(steps.shape[2], 0, -1):
        after = np.int64(steps[rank, die - 1, source - 1])
        if after >= 0:
            ends[n] = after
            n += 1
    return n


@jit
def list_two_ends(rank, high, low, steps, ends):
    """Write the ranks after all plays of two different dice, some twice; return how many."""
    n, finished = 0, 0
    for order in range(2):
        die, other = high, low
        if order == 1:
            die, other = low, high
        for source in range(steps.shape[2], 0, -1):
            middle = np.int64(steps[rank, die - 1, source - 1])
            if middle > 0:
                n = list_one_die_ends(middle, other, steps, ends, n)
            elif middle == 0:
                finished = 1
    if n == 0:  # T-6: one die at most, the larger one if it can be played
        n = list_one_die_ends(rank, high, steps, ends, n)
    if n == 0:
        n = list_one_die_ends(rank, low, steps, ends, n)
    if finished != 0:  # T-10
        ends[n] = 0
        n += 1
    if n == 0:
        ends[0] = rank
        n = 1
    return n


@jit
def list_home_ends(rank, high, low, numbers, steps, rules, scratch):
    """Write the ranks after all legal plays of a roll to `scratch.ends`; return how many.

    A rank may be written twice; a forced pass or skipped turn is the unchanged rank alone.
    `numbers` is one of the three kinds above.
    """
    if numbers != ANY_NUMBER and (low % 2 == 0) != (numbers == EVEN_NUMBERS):
        scratch.ends[0] = rank
        return 1
    if rules.n_times_m != 0:
        return list_equal_ends(rank, high, low, steps, scratch)
    if high == low:
        return list_equal_ends(rank, high, rules.double_steps, steps, scratch)
    return list_two_ends(rank, high, low, steps, scratch.ends)


@jit
def fill_quickest(goal, numbers, steps, rules, scratch, mean, best):
    """Write for each rank the least mean number of rolls to get below rank `goal`, and how.

    mean: `[N] float64`, infinite where a side can be stuck for ever; best: `[N, sides * (sides +
    1) / 2] int32` the rank after the best play of each roll, 1-1, 2-1, 2-2, 3-1 and so on.
    """
    thrown = rules.sides * rules.sides
    for rank in range(steps.shape[0]):
        roll, passed = 0, 0
        total = float(thrown)
        for high in range(1, rules.sides + 1):
            for low in range(1, high + 1):
                if rank < goal:
                    best[rank, roll] = rank
                    roll += 1
                    continue
                weight = 1 if high == low else 2
                n = list_home_ends(rank, high, low, numbers, steps, rules, scratch)
                choice = scratch.ends[0]
                if choice == rank:
                    passed += weight
                else:
                    for i in range(1, n):
                        end = scratch.ends[i]
                        gap = mean[end] - mean[choice]
                        if gap < -_SAME_MEAN or (gap <= _SAME_MEAN and end < choice):
                            choice = end
                    total += weight * mean[choice]
                best[rank, roll] = choice
                roll += 1
        mean[rank] = 0.0 if rank < goal else total / (thrown - passed)


@jit
def fill_roll_chances(goal, sides, best, chances):
    """Write the chance of each rank to get below `goal` in exactly k rolls, to `[N, R] float64`.

    Every roll is played as `best` says; what takes `R` rolls or more is left out.
    """
    for rank in range(chances.shape[0]):
        for k in range(chances.shape[1]):
            chances[rank, k] = 0.0
        if rank < goal:
            chances[rank, 0] = 1.0
            continue
        roll, passed = 0, 0.0
        for high in range(1, sides + 1):
            for low in range(1, high + 1):
                weight = (1.0 if high == low else 2.0) / (sides * sides)
                after = np.int64(best[rank, roll])
                roll += 1
                if after == rank:
                    passed += weight
                    continue
                for k in range(1, chances.shape[1]):
                    chances[rank, k] += weight * chances[after, k - 1]
        for k in range(1, chances.shape[1]):
            chances[rank, k] += passed * chances[rank, k - 1]


@jit
def fill_left_chances(sides, counts, best, left):
    """Write the chance of c checkers left after k rolls to `[N, R, checkers + 1] float32`."""
    for rank in range(left.shape[0]):
        held = 0
        for point in range(1, counts.shape[1]):
            held += np.int64(counts[rank, point])
        for k in range(left.shape[1]):
            for c in range(left.shape[2]):
                left[rank, k, c] = 0.0
        left[rank, 0, held] = 1.0
        roll, passed = 0, 0.0
        for high in range(1, sides + 1):
            for low in range(1, high + 1):
                weight = (1.0 if high == low else 2.0) / (sides * sides)
                after = np.int64(best[rank, roll])
                roll += 1
                if after == rank:
                    passed += weight
                    continue
                for k in range(1, left.shape[1]):
                    for c in range(held + 1):
                        left[rank, k, c] += weight * left[after, k - 1, c]
        for k in range(1, left.shape[1]):
            for c in range(held + 1):
                left[rank, k, c] += passed * left[rank, k - 1, c]


@jit
def list_all_ends(n_ranks, numbers, steps, rules, scratch, ends, offsets):
    """List the distinct ends of every rank below `n_ranks` and every roll, ragged.

    ends: `[E] int32`; offsets: `[n_ranks * rolls + 1] int64`. Return the number of ends, or -1 if
    `ends` is too short.
    """
    roll, end = 0, 0
    offsets[0] = 0
    for rank in range(n_ranks):
        for high in range(1, rules.sides + 1):
            for low in range(1, high + 1):
                n = 0
                if rank > 0:
                    n = list_home_ends(rank, high, low, numbers, steps, rules, scratch)
                first = end
                for i in range(n):
                    known = False
                    for j in range(first, end):
                        if ends[j] == scratch.ends[i]:
                            known = True
                    if known:
                        continue
                    if end >= ends.shape[0]:
                        return -1
                    ends[end] = scratch.ends[i]
                    end += 1
                roll += 1
                offsets[roll] = end
    return end


@jit
def pass_weight(rank, sides, ends, offsets):
    """Return the chance that a side can or may not play its roll."""
    roll = rank * (sides * (sides + 1) // 2)
    passed = 0
    for high in range(1, sides + 1):
        for low in range(1, high + 1):
            if ends[offsets[roll]] == rank:
                passed += 1 if high == low else 2
            roll += 1
    return passed / (sides * sides)


@jit
def played_wins(rank, replies, sides, ends, offsets):
    """Return the chance to roll something playable and to win after its best play.

    `replies` `[L]` is the other side's chance to win by the rank that it faces.
    """
    roll = rank * (sides * (sides + 1) // 2)
    total = 0.0
    for high in range(1, sides + 1):
        for low in range(1, high + 1):
            first = offsets[roll]
            roll += 1
            if ends[first] == rank:
                continue
            least = 1.0
            for i in range(first, offsets[roll]):
                reply = replies[ends[i]]
                least = reply if reply < least else least
            total += (1.0 if high == low else 2.0) * (1.0 - least)
    return total / (sides * sides)


@jit
def fill_wins(sides, ends, offsets, wins):
    """Write the chance to win of the side to roll, both playing for it, to `[T, L, L] float64`.

    wins: axes are the mover's kind of numbers, his rank, the other side's rank; ends `[T, E]` and
    offsets `[T, .]` as of `list_all_ends`. If both sides can pass, their chances depend on each
    other: `v = a + p (1 - w)` and `w = b + q (1 - v)` are solved together.
    """
    kinds = wins.shape[0]
    for kind in range(kinds):
        for rank in range(wins.shape[1]):
            wins[kind, rank, 0] = 0.0
            wins[kind, 0, rank] = 1.0
    for mine in range(1, wins.shape[1]):
        for theirs in range(1, mine + 1):
            for kind in range(kinds):
                other = kinds - 1 - kind
                a = played_wins(mine, wins[other, theirs], sides, ends[kind], offsets[kind])
                b = played_wins(theirs, wins[kind, mine], sides, ends[other], offsets[other])
                p = pass_weight(mine, sides, ends[kind], offsets[kind])
                q = pass_weight(theirs, sides, ends[other], offsets[other])
                wins[kind, mine, theirs] = (a + p * (1.0 - b - q)) / (1.0 - p * q)
                wins[other, theirs, mine] = (b + q * (1.0 - a - p)) / (1.0 - p * q)
