"""Positions to network inputs, by a table of units per checker count; layer 3."""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.plays import lowest_bit

_BITS = 30
"""Slots looked at together; `lowest_bit` takes 32 bits."""


@jit
def encode_units(boards, swap, order, units, tables, out):
    """Write the features of each board to `out` `[N, F]`.

    boards: `[N, 2, P] int8`; swap: 1 = row 1 is the side to roll; order: `[S]` the slots of a
    row that have features, in the order of the features; units: `[P]` how many each has;
    tables: `[P, max + 1, U]` their values by the number on the slot. The dtype of the tables is
    that of `out` (float32, or uint16 holding bfloat16 bits). The side to roll comes first.
    """
    for i in range(boards.shape[0]):
        column = 0
        for side in range(2):
            row = boards[i, side ^ swap]
            for s in range(order.shape[0]):
                slot = order[s]
                count = row[slot]
                for unit in range(units[slot]):
                    out[i, column + unit] = tables[slot, count, unit]
                column += units[slot]


@jit
def list_change(slot, before, after, base, step_column, step_factor, n, columns, factors):
    """Append the features that change if a side's `slot` goes from `before` to `after`.

    base: first feature of the side; step_column, step_factor: `[P, max + 1]` which feature of a
    side the `c`-th unit of a slot changes, and by how much; columns, factors: the list, with
    `n` entries so far. Return its new length.
    """
    low, high, sign = before, after, np.float32(1)
    if after < before:
        low, high, sign = after, before, np.float32(-1)
    for count in range(low + 1, high + 1):
        columns[n] = base + step_column[slot, count]
        factors[n] = sign * step_factor[slot, count]
        n += 1
    return n


@jit
def add_columns(weights, columns, factors, n, source, out):
    """Write `source` plus the listed multiples of rows of `weights` `[F, H]` to `out` `[H]`.

    Four at a time, so that a sum is loaded and stored once for four products. The first four are
    apart because a loop whose input and output may overlap is not vectorised.
    """
    while n % 4 != 0 or n == 0:
        columns[n] = 0
        factors[n] = 0
        n += 1
    w0, w1, w2, w3 = columns[0], columns[1], columns[2], columns[3]
    f0, f1, f2, f3 = factors[0], factors[1], factors[2], factors[3]
    for j in range(out.shape[0]):
        low = f0 * weights[w0, j] + f1 * weights[w1, j]
        out[j] = source[j] + (low + (f2 * weights[w2, j] + f3 * weights[w3, j]))
    for i in range(4, n, 4):
        w0, w1, w2, w3 = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
        f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for j in range(out.shape[0]):
            low = f0 * weights[w0, j] + f1 * weights[w1, j]
            out[j] += low + (f2 * weights[w2, j] + f3 * weights[w3, j])


@jit
def write_relu(row, halves, as_bfloat16, a, hidden16, hidden32):
    """Write max(0, row) `[H]` to row `a` of one of the outputs.

    halves: the memory of `row` as `[2 * H] uint16`, low half first; the rest of a bfloat16 is
    rounded to the nearest, ties away from zero.
    """
    if as_bfloat16 != 0:
        for j in range(row.shape[0]):
            high = halves[2 * j + 1]
            rounded = high + (halves[2 * j] >> 15)
            hidden16[a, j] = np.uint16(rounded) if high < 0x8000 else np.uint16(0)
    else:
        for j in range(row.shape[0]):
            hidden32[a, j] = row[j] if row[j] > 0 else np.float32(0)


@jit
def list_changes(
    board, ends, slots, bases, step_column, step_factor, columns, factors
):  # fmt: skip
    """List the features in which `ends` `[2, P]` differs from `board` `[2, P]`; return how many.

    bases: first feature of row 0 and of row 1.
    """
    n = 0
    for side in range(2):
        base = bases[side]
        for start in range(0, slots, _BITS):
            # first a bit set without branches: which slots change is hard to predict
            end = start + _BITS if start + _BITS < slots else slots
            changed = 0
            for slot in range(start, end):
                differs = np.int64(board[side, slot] != ends[side, slot])
                changed |= differs << (slot - start)
            while changed != 0:
                slot = start + lowest_bit(changed)
                changed &= changed - 1
                old, new = np.int64(board[side, slot]), np.int64(ends[side, slot])
                n = list_change(slot, old, new, base, step_column, step_factor, n, columns, factors)
    return n


@jit
def first_layer(
    boards, after, offsets, first, end, again, step_column, step_factor, weights, bias, work,
    as_bfloat16, hidden16, hidden32,
):  # fmt: skip
    """Write the first hidden layer, ReLU applied, of the afterstates of games `first..end`.

    Features are sparse and a play changes few of them, so each game's position is summed once
    and every afterstate adds only what differs. boards: `[G, 2, P]` before the play; after: `[A,
    2, P]`, mover in row 0, those of game `g` from `offsets[g] - offsets[first]`; the view is that
    of the side that acts next, row 1 unless the slot `again` (0 = there is none) says row 0;
    weights: `[F, H] float32`; work: `first_layer_work`; hidden16: `[A, H] uint16` bfloat16 bits,
    or hidden32: `[A, H] float32`, whichever `as_bfloat16` says. Rows of finished games hold
    nothing of use.
    """
    root, row, halves, columns, factors, bases = work
    slots = boards.shape[2]
    half = weights.shape[0] // 2
    begin = offsets[first]
    for game in range(first, end):
        # All plays of a decision lead to the same next actor, but for those that end the game;
        # of these there is one at most and it comes first.
        last = offsets[game + 1] - begin - 1
        stays = 0
        if again != 0 and offsets[game + 1] > offsets[game]:
            stays = np.int64(after[last, 0, again])
        bases[0] = half * (1 - stays)
        bases[1] = half * stays
        n = 0
        for side in range(2):
            for slot in range(slots):
                count = np.int64(boards[game, side, slot])
                n = list_change(
                    slot, 0, count, bases[side], step_column, step_factor, n, columns, factors
                )
        add_columns(weights, columns, factors, n, bias, root)
        for a in range(offsets[game] - begin, offsets[game + 1] - begin):
            n = list_changes(
                boards[game], after[a], slots, bases, step_column, step_factor, columns, factors
            )
            add_columns(weights, columns, factors, n, root, row)
            write_relu(row, halves, as_bfloat16, a, hidden16, hidden32)


def first_layer_work(longest, width):
    """Return working memory for `first_layer`: two rows of sums, one also as half words, a list.

    longest: changes of single features in which two positions can differ; the list is padded to
    fours.
    """
    row = np.empty(width, np.float32)
    columns, factors = np.zeros(longest + 4, np.int64), np.zeros(longest + 4, np.float32)
    root, bases = np.empty(width, np.float32), np.zeros(2, np.int64)
    return root, row, row.view(np.uint16), columns, factors, bases
