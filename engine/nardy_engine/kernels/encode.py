"""Positions to network inputs, by a table of units per checker count; layer 3."""

from __future__ import annotations

from nardy_engine.kernels._jit import jit


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
