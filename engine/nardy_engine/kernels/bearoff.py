"""Endings by bear-off tables: which positions they cover, and how those end; layer 3.

A *home position* is one side with all its checkers left on the board in its home. Where both
sides stand so they never meet again, and a side's plays depend on its own checkers alone. Home
positions are numbered ("rank") by their sums `checkers on p or higher`, the sum over all points
first: the position with nothing left is 0, fewer checkers come before more, and every play leads
to a lower rank. `bearoff_tables` fills the tables.

Tables have an axis `T` for the side's kind of numbers where the game has a parity rule (CHN-1:
0 = moved first, even numbers; 1 = odd numbers); in all other games it has length 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import jit
from nardy_engine.rules.table import SCORE_CHECKERS_LEFT


class BearoffTables(NamedTuple):
    """What `fill_bearoff_outcomes` reads; filled by `bearoff_tables`."""

    binomials: NDArray[np.int64]
    """`[n, k]` binomial coefficients, see `home_rank`."""
    rolls: NDArray[np.float32]
    """`[T, N, R]` chance that a rank needs exactly that many rolls to bear off everything."""
    first_off: NDArray[np.float32]
    """`[T, M, R']` the same until the first checker is off, for the last `M` ranks (all left)."""
    wins: NDArray[np.float32]
    """`[T, L, L]` chance to win of the side to roll, by its rank and the other's; may be empty."""
    left: NDArray[np.float32]
    """`[T, N, R, checkers + 1]` chance of checkers left after so many rolls; may be empty."""


@jit
def home_rank(row, home, binomials):
    """Return the rank of the checkers on points 1..`home` of a row.

    With `held(p)` checkers on p or higher, the numbers `held(p) + home - p` strictly grow towards
    point 1: a set, and the rank is its place in colexicographic order.
    """
    rank, held = 0, 0
    for point in range(home, 0, -1):
        held += np.int64(row[point])
        k = home + 1 - point
        rank += binomials[held + k - 1, k]
    return rank


@jit
def all_home(row, rules):
    """Return whether all checkers of a side are in its home or off."""
    total = 0
    for slot in range(rules.home + 1):
        if row[slot] < 0:
            return False
        total += np.int64(row[slot])
    return total == rules.checkers


@jit
def is_bearoff(first, second, rules):
    """Return whether the tables cover a position: both sides all home, the game not over.

    A side that has finished is waiting for the other's last turn, where the game has one (DR-1).
    """
    if not all_home(first, rules) or not all_home(second, rules):
        return False
    if first[0] == rules.checkers:
        return False
    if second[0] == rules.checkers:
        return rules.last_turn != 0 and first[rules.last_turn] != 0
    return True


@jit
def fill_bearoffs(boards, rules, out):
    """Write to `out` `[N] uint8` which `[N, 2, P]` boards the tables cover."""
    for i in range(boards.shape[0]):
        out[i] = is_bearoff(boards[i, 0], boards[i, 1], rules)


@jit
def numbers_index(row, rules):
    """Return the index of a side on the axis `T` of the tables."""
    return 1 if rules.parity != 0 and row[rules.first] == 0 else 0


@jit
def chance_ahead(mine, theirs, more):
    """Return the chance that one side needs some n rolls and the other more than n + `more`.

    mine, theirs: `[R]` chances of exactly 0, 1, ... rolls.
    """
    total, still = 0.0, 1.0
    done = 0
    for n in range(mine.shape[0]):
        while done <= n + more and done < theirs.shape[0]:
            still -= theirs[done]
            done += 1
        if done == theirs.shape[0]:
            break
        if still > 0.0:  # rounding
            total += mine[n] * still
    return total


@jit
def fill_left_outcomes(mine, left, more, out):
    """Write to `out` `[checkers]` the chance that one side is done when the other has c + 1 left.

    mine: `[R]` its chances of exactly n rolls; left: `[R, checkers + 1]` of the other side, read
    after n + `more` rolls.
    """
    for c in range(out.shape[0]):
        out[c] = 0.0
    for n in range(mine.shape[0]):
        k = n + more
        if 0 <= k < left.shape[0]:
            for c in range(out.shape[0]):
                out[c] += mine[n] * left[k, c + 1]


@jit
def fill_split(total, mars, mars_kind, out):
    """Write a chance to `out` `[K]`, its part `mars` to the kind of a mars, the rest to kind 0."""
    for kind in range(out.shape[0]):
        out[kind] = 0.0
    part = mars if mars < total else total
    out[mars_kind] = part
    out[0] = total - part


@jit
def fill_bearoff_outcome(first, second, mars_kind, rules, tables, out):
    """Write the outcome chances of one covered position, side to roll in row 0, to `out` `[O]`.

    mars_kind: index in `Variant.win_kinds` of a win over a side with all checkers at home, none
    off. The side to roll has had one roll more than the other when it finishes, so it wins if
    the other needs more than n - 1; with a last turn (DR-1) the side that moved second gets as
    many rolls as the first.
    """
    mine = home_rank(first, rules.home, tables.binomials)
    theirs = home_rank(second, rules.home, tables.binomials)
    me, other = numbers_index(first, rules), numbers_index(second, rules)
    kinds = rules.n_kinds
    my_rolls, their_rolls = tables.rolls[me, mine], tables.rolls[other, theirs]
    my_answer, their_answer = 0, 0
    if rules.last_turn != 0:
        their_answer = np.int64(first[rules.first] != 0)
        my_answer = 1 - their_answer
    if rules.score == SCORE_CHECKERS_LEFT:
        their_left, my_left = tables.left[other, theirs], tables.left[me, mine]
        fill_left_outcomes(my_rolls, their_left, their_answer - 1, out[:kinds])
        fill_left_outcomes(their_rolls, my_left, my_answer, out[kinds : 2 * kinds])
    elif mine < tables.wins.shape[1] and theirs < tables.wins.shape[1]:
        won = np.float64(tables.wins[me, mine, theirs])
        fill_split(won, 0.0, mars_kind, out[:kinds])
        fill_split(1.0 - won, 0.0, mars_kind, out[kinds : 2 * kinds])
    else:
        won = chance_ahead(my_rolls, their_rolls, their_answer - 1)
        lost = chance_ahead(their_rolls, my_rolls, my_answer)
        won_mars, lost_mars = 0.0, 0.0
        whole = tables.rolls.shape[1] - tables.first_off.shape[1]
        if theirs >= whole:
            their_first = tables.first_off[other, theirs - whole]
            won_mars = chance_ahead(my_rolls, their_first, their_answer - 1)
        if mine >= whole:
            my_first = tables.first_off[me, mine - whole]
            lost_mars = chance_ahead(their_rolls, my_first, my_answer)
        fill_split(won, won_mars, mars_kind, out[:kinds])
        fill_split(lost, lost_mars, mars_kind, out[kinds : 2 * kinds])
    total = 0.0
    for k in range(2 * kinds):
        total += out[k]
    if rules.draw != 0:
        rest = 1.0 - total
        out[2 * kinds] = rest if rules.last_turn != 0 and rest > 0.0 else 0.0
        total += out[2 * kinds]
    for k in range(out.shape[0]):  # what the tables leave out is below their precision
        out[k] /= total


@jit
def fill_bearoff_outcomes(boards, mars_kind, rules, tables, out):
    """Write the outcome chances of `[N, 2, P]` boards, all covered, to `out` `[N, O] float32`."""
    for i in range(boards.shape[0]):
        fill_bearoff_outcome(boards[i, 0], boards[i, 1], mars_kind, rules, tables, out[i])
