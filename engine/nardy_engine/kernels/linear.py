"""Positions to the few numbers that hand-made linear players add up; layer 3."""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit

STACK_HEIGHT = 2
"""Checkers on a point above which it counts as a stack."""

SPARE = 2
"""Checkers of a quarter that keep every number playable there."""

SHORTEST_RUN, LONGEST_RUN = 3, 6
"""Lengths of runs that are counted, each on its own."""

POSITIONAL_FEATURES = (
    "spread",
    "home_spread",
    "stack",
    "head",
    "own_front",
    "their_front",
    "quarters",
    "pips",
    "off",
    "lag",
    "block3",
    "block4",
    "block5",
    "block6",
)
"""Columns of `fill_positional`, in order."""


@jit
def fill_slot_sums(boards, offsets, which, tables, out):
    """Write to `out` `[A]` the sum over all slots of what the checkers there are worth.

    boards: `[A, 2, P] int8` afterstates, those of game `b` at `offsets[b]..offsets[b + 1]`;
    which: `[B]` the table of each game; tables: `[T, 2, P, C + 1]` worth of 0..C checkers.
    """
    for game in range(which.shape[0]):
        table = tables[which[game]]
        for a in range(offsets[game], offsets[game + 1]):
            total = 0.0
            for side in range(2):
                for slot in range(boards.shape[2]):
                    total += table[side, slot, boards[a, side, slot]]
            out[a] = total


@jit
def fill_positional(boards, rules, out):
    """Write the positional features of row 0 to `out` `[A, F] float32`.

    boards: `[A, 2, P] int8` afterstates, mover in row 0. Points and checkers are counted, pips
    and squared distances summed; nothing is scaled. Columns: `POSITIONAL_FEATURES`.
    """
    n, home = rules.n_points, rules.home
    for a in range(boards.shape[0]):
        row, mine, theirs = out[a], boards[a, 0], boards[a, 1]
        for column in range(row.shape[0]):
            row[column] = 0.0
        in_quarter = 0
        for point in range(1, n + 1):
            count = np.int64(mine[point])
            in_quarter += count
            if point % home == 0:
                if point > home:
                    row[6] += in_quarter if in_quarter < SPARE else SPARE
                in_quarter = 0
            if count == 0:
                continue
            row[7] += point * count
            row[9] += point * point * count
            if point <= home:
                row[1] += 1.0
                continue
            row[0] += 1.0
            if point == n:
                row[3] = count
            else:
                row[2] += count - STACK_HEIGHT if count > STACK_HEIGHT else 0
                if point > n - home:
                    row[4] += 1.0
        row[4] *= row[3]
        row[8] = mine[0]
        # Along the opponent's route, from his head on. He holds no point of a run, so whoever
        # has not reached its last point has not reached its first one either.
        run, behind = 0, 0
        for his in range(n, 0, -1):
            point = n + 1 - his
            if rules.opposite == 0:
                point = his - n // 2 if his > n // 2 else his + n // 2
            if mine[point] > 0:
                run += 1
                if n - home < his < n:
                    row[5] += np.float32(theirs[n])
                for length in range(SHORTEST_RUN, LONGEST_RUN + 1):
                    if run >= length:
                        row[10 + length - SHORTEST_RUN] += behind
            else:
                run = 0
            behind += np.int64(theirs[his])
