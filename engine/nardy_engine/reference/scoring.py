"""Who has won, by what, and whether the sides can still meet (L-40, S-8, SC-1..SC-6, POD)."""

from __future__ import annotations

from nardy_engine.rules.components import Objective, Score
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Outcome, Position, Row


def outcome(variant: Variant, position: Position) -> Outcome | None:
    """Return how the game ended, seen from row 0, or None if nobody has borne off everything."""
    checkers = variant.setup.checkers
    if position.mover[OFF] == checkers:
        finisher_is_mover, other = True, position.opponent
    elif position.opponent[OFF] == checkers:
        finisher_is_mover, other = False, position.mover
    else:
        return None
    finisher_wins = variant.objective is Objective.FIRST_OFF_WINS  # POD-2 turns it round
    kind = _kind(variant, other)  # POD-3: what the finisher would have scored
    return Outcome(finisher_is_mover is finisher_wins, kind, variant.win_kinds[kind][1])


def is_race(variant: Variant, position: Position) -> bool:
    """Return whether no point is left where a checker of one side can meet one of the other.

    A checker can stand on its own point and on every lower one, in either geometry.
    """
    mine = _reach(variant, position.mover)
    theirs = {variant.opposite_point(p) for p in _reach(variant, position.opponent)}
    return theirs.isdisjoint(mine)


def _reach(variant: Variant, row: Row) -> range:
    """Return the own points on which the side stands or may still land."""
    farthest = max((slot for slot in range(1, variant.n_slots) if row[slot]), default=OFF)
    return range(1, min(farthest, variant.head_point) + 1)


def _kind(variant: Variant, other: Row) -> int:
    """Return the index in `Variant.win_kinds`; `other` is the side that has checkers left."""
    score, home = variant.score, variant.setup.home
    if score is Score.CHECKERS_LEFT:
        return variant.setup.checkers - other[OFF] - 1  # KHA-4
    if other[OFF]:
        return 0
    in_start_quarter = any(other[variant.head_point - home + 1 :])  # with the bar, S-8
    if score is Score.OIN_MARS or not in_start_quarter:
        all_home = not any(other[home + 1 :])
        return 3 if score is Score.OIN_MARS_KOKS_HOMEMARS and all_home else 1
    return 2  # koks or backgammon
