"""Positions to network inputs, by a table of units per checker count; layer 3."""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.plays import lowest_bit


@jit
def encode_units(boards, swap, point_units, bar_units, off_units, use_bar, out):
    """Write the features of each board to `out` `[N, F]`.

    boards: `[N, 2, P] int8`; swap: 1 = row 1 is the side to roll (afterstates); point_units:
    `[max + 1, U]` the features of a point by its count; bar_units, off_units: `[max + 1]`. The
    dtype of the tables is that of `out` (float32, or uint16 holding bfloat16 bits). Order: side
    to roll then the other; per side the points from 1 up, the bar if used, off.
    """
    points = boards.shape[2] - 2
    units = point_units.shape[1]
    for i in range(boards.shape[0]):
        column = 0
        for side in range(2):
            row = boards[i, side ^ swap]
            for point in range(1, points + 1):
                count = row[point]
                for unit in range(units):
                    out[i, column + unit] = point_units[count, unit]
                column += units
            if use_bar != 0:
                out[i, column] = bar_units[row[points + 1]]
                column += 1
            out[i, column] = off_units[row[0]]
            column += 1


@jit
def list_change(slot, before, after, base, step_column, step_factor, n, columns, factors):
    """Append the features that change if a side's `slot` goes from `before` to `after` checkers.

    base: first feature of the side; step_column, step_factor: `[P, max + 1]` which feature of a
    side the `c`-th checker of a slot changes, and by how much; columns, factors: the list, with
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
def first_layer(
    boards, after, offsets, first, end, step_column, step_factor, weights, bias, work,
    as_bfloat16, hidden16, hidden32,
):  # fmt: skip
    """Write the first hidden layer, ReLU applied, of the afterstates of games `first..end`.

    Features are sparse and a play changes few of them, so each game's position is summed once
    and every afterstate adds only what differs. boards: `[G, 2, P]` before the play; after: `[A,
    2, P]`, mover in row 0, those of game `g` from `offsets[g] - offsets[first]`; the view is that
    of the side to roll next, row 1; weights: `[F, H] float32`; work: `first_layer_work`;
    hidden16: `[A, H] uint16` bfloat16 bits, or hidden32: `[A, H] float32`, whichever
    `as_bfloat16` says.
    """
    root, row, halves, columns, factors = work
    slots = boards.shape[2]
    half = weights.shape[0] // 2
    begin = offsets[first]
    for game in range(first, end):
        n = 0
        for side in range(2):
            base = (1 - side) * half
            for slot in range(slots):
                count = np.int64(boards[game, side, slot])
                n = list_change(slot, 0, count, base, step_column, step_factor, n, columns, factors)
        add_columns(weights, columns, factors, n, bias, root)
        for a in range(offsets[game] - begin, offsets[game + 1] - begin):
            n = 0
            for side in range(2):
                base = (1 - side) * half
                # first a bit set without branches: which slots change is hard to predict
                changed = 0
                for slot in range(slots):
                    differs = np.int64(boards[game, side, slot] != after[a, side, slot])
                    changed |= differs << slot
                while changed != 0:
                    slot = lowest_bit(changed)
                    changed &= changed - 1
                    old, new = np.int64(boards[game, side, slot]), np.int64(after[a, side, slot])
                    n = list_change(
                        slot, old, new, base, step_column, step_factor, n, columns, factors
                    )
            add_columns(weights, columns, factors, n, root, row)
            write_relu(row, halves, as_bfloat16, a, hidden16, hidden32)


def first_layer_work(n_checkers, width):
    """Return working memory for `first_layer`: two rows of sums, one also as half words, a list.

    A list entry is one checker put on or taken from a slot; the list is padded to fours.
    """
    row = np.empty(width, np.float32)
    longest = 4 * n_checkers + 4
    columns, factors = np.zeros(longest, np.int64), np.zeros(longest, np.float32)
    return np.empty(width, np.float32), row, row.view(np.uint16), columns, factors
