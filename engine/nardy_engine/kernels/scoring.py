"""Results of finished games and what can still happen in unfinished ones; layer 3.

Outcome indices are those of `Variant.win_kinds`: `k < K` row 0 wins with kind `k`, `K + k` it
loses with kind `k`; `2 K` is a draw, in games that have one (DR-1).
"""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.emir import emir_outcome_index
from nardy_engine.kernels.standstill import is_standstill
from nardy_engine.rules.table import (
    SCORE_BACKGAMMON,
    SCORE_CHECKERS_LEFT,
    SCORE_HOMEMARS,
    SCORE_KOKS,
    SCORE_OIN_MARS,
)


@jit
def highest_point(row, rules):
    """Return the rearmost occupied slot of a side, bar included; 0 if all are off."""
    for slot in range(rules.n_points + 1, 0, -1):
        if row[slot] > 0:
            return slot
    return 0


@jit
def in_start_quarter(row, rules):
    """Return whether a side has a checker on the bar or in the opponent's side of its start.

    The `home` highest own points: the winner's home in opposite-direction games (S-8), the own
    start quarter in the others (SC-3).
    """
    return highest_point(row, rules) > rules.n_points - rules.home


@jit
def win_kind(loser, rules):
    """Return the kind of win over a side that stands like `loser` (SC-1..SC-6, S-8)."""
    if rules.score == SCORE_CHECKERS_LEFT:
        return rules.checkers - np.int64(loser[0]) - 1
    if loser[0] > 0:
        return 0
    if rules.score == SCORE_OIN_MARS:
        return 1
    if in_start_quarter(loser, rules):
        return 2
    if rules.score == SCORE_HOMEMARS and highest_point(loser, rules) <= rules.home:
        return 3
    return 1


@jit
def outcome_index(first, second, rules):
    """Return the outcome seen from row `first`, or -1 if the game goes on."""
    over = finished_outcome(first, second, rules)
    if over >= 0 or rules.draw == 0:
        return over
    if rules.last_turn != 0 and (first[rules.last_turn] | second[rules.last_turn]) != 0:
        return over
    return 2 * rules.n_kinds if is_standstill(first, second, rules) else over


@jit
def finished_outcome(first, second, rules):
    """Return the outcome of a game that somebody has finished, -1 if nobody has."""
    if rules.emir != 0:
        return emir_outcome_index(first, second, rules)
    if rules.last_turn != 0:
        if first[rules.last_turn] != 0 or second[rules.last_turn] != 0:
            return -1
        if first[0] == rules.checkers and second[0] == rules.checkers:
            return 2 * rules.n_kinds
    won = 1 - rules.first_off_loses
    if first[0] == rules.checkers:
        kind = win_kind(second, rules)
    elif second[0] == rules.checkers:
        kind = win_kind(first, rules)
        won = 1 - won
    else:
        return -1
    return kind if won == 1 else rules.n_kinds + kind


@jit
def flipped(outcome, rules):
    """Return an outcome index seen from the other side; a draw stays one."""
    if outcome >= 2 * rules.n_kinds:
        return outcome
    return outcome + rules.n_kinds if outcome < rules.n_kinds else outcome - rules.n_kinds


@jit
def acts_again(first, rules):
    """Return 1 if the side in row 0 of an afterstate, `first`, acts next too, else 0."""
    return np.int64(first[rules.again]) if rules.again != 0 else 0


@jit
def is_race(first, second, rules):
    """Return whether the sides can no longer touch or hinder each other.

    Opposite directions: the rearmost checkers have passed each other. Same direction: both
    sides are within the second half of their routes, which share no point (G-2).
    """
    mine, theirs = highest_point(first, rules), highest_point(second, rules)
    if rules.opposite != 0:
        return mine + theirs < rules.n_points + 1
    return mine <= rules.n_points // 2 and theirs <= rules.n_points // 2


@jit
def loses_with_kind(kind, loser, race, rules):
    """Return whether a side that stands like `loser` can still lose with `kind`."""
    if rules.score == SCORE_CHECKERS_LEFT:
        return kind < rules.checkers - np.int64(loser[0])
    if kind == 0:
        return True
    if loser[0] > 0:
        return False
    # Where nobody is sent back, whoever has left the start quarter has left it for good.
    never_back = race or rules.score == SCORE_KOKS or rules.score == SCORE_HOMEMARS
    if kind == 2 and never_back and rules.emir == 0:
        return in_start_quarter(loser, rules)
    return True


@jit
def fill_possible(first, second, rules, possible):
    """Write into `possible` `[O] uint8` which outcomes can still occur, seen from `first`.

    In a reversed game (`first_off_loses`) the kinds are counted on the side that *wins*.
    """
    race = False
    if rules.score == SCORE_BACKGAMMON:
        race = is_race(first, second, rules)
    kinds = rules.n_kinds
    for kind in range(kinds):
        over_second = loses_with_kind(kind, second, race, rules)
        over_first = loses_with_kind(kind, first, race, rules)
        if rules.first_off_loses != 0:
            over_first, over_second = over_second, over_first
        possible[kind] = over_second
        possible[kinds + kind] = over_first
    if rules.draw != 0:
        possible[2 * kinds] = True
        # In the last turn the first player has finished already: nobody can beat him.
        if rules.last_turn != 0 and (first[rules.last_turn] | second[rules.last_turn]) != 0:
            winner = 0 if second[rules.last_turn] != 0 else 1
            for kind in range(kinds):
                possible[(1 - winner) * kinds + kind] = False


@jit
def ends_by_checkers(rules):
    """Return whether the checkers off alone say that a game is over, and nobody can draw."""
    return rules.emir == 0 and rules.draw == 0 and rules.last_turn == 0


@jit
def all_possible(first, second, score, n_points):
    """Return True only if every outcome can still occur; a quick look before `fill_possible`.

    For games that end by checkers off; score, n_points: of the rules. False means "look closely".
    """
    if first[0] != 0 or second[0] != 0:
        return False
    if score == SCORE_OIN_MARS:
        return True
    if score != SCORE_BACKGAMMON:
        return False
    mine = n_points + 1
    while first[mine] == 0:
        mine -= 1
    theirs = n_points + 1
    while second[theirs] == 0:
        theirs -= 1
    return mine + theirs > n_points  # they can still meet: no race


@jit
def fill_next_states(after, rules, out, same):
    """Write the positions that afterstates lead to, the side that acts next in row 0.

    after, out: `[N, 2, P] int8`; same: `[N] uint8`, 1 = that is the side that acted before.
    """
    for i in range(after.shape[0]):
        stays = acts_again(after[i, 0], rules)
        same[i] = stays
        for side in range(2):
            source = side if stays != 0 else 1 - side
            for slot in range(after.shape[2]):
                out[i, side, slot] = after[i, source, slot]
        if rules.again != 0:
            out[i, 0, rules.again] = 0


@jit
def fill_outcomes(boards, rules, out):
    """Write the outcome of each `[N, 2, P]` board, seen from row 0, or -1, to `out` `[N] int8`."""
    for i in range(boards.shape[0]):
        out[i] = outcome_index(boards[i, 0], boards[i, 1], rules)


@jit
def fill_possibles(boards, rules, out):
    """Write the possible outcomes of each board, side to roll in row 0, to `out` `[N, O] uint8`."""
    for i in range(boards.shape[0]):
        fill_possible(boards[i, 0], boards[i, 1], rules, out[i])
