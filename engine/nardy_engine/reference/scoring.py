"""Who has won, by what, and whether the sides can still meet (L-40, S-8, SC-1..SC-6, POD)."""

from __future__ import annotations

from nardy_engine.reference.emir import emir_outcome, emir_standing
from nardy_engine.reference.standstill import standstill
from nardy_engine.rules.components import Contact, Objective, Score
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Outcome, Position, Row


def outcome(variant: Variant, position: Position) -> Outcome | None:
    """Return how the game ended, seen from row 0, or None if it goes on.

    It ends when a side has borne off everything, unless the other one has its last turn (DR-1),
    or when neither side can ever move again.
    """
    if variant.contact is Contact.EMIR:
        return emir_outcome(variant, position) or standstill(variant, position)
    mover_done, opponent_done = (variant.board_checkers(row) == 0 for row in position)
    if any(variant.recall(row, "last_turn") for row in position):
        return None
    if mover_done and opponent_done:
        return Outcome(won=False, kind=0, points=0, draw=True)
    if not mover_done and not opponent_done:
        return standstill(variant, position)
    finisher_is_mover = mover_done
    other = position.opponent if mover_done else position.mover
    finisher_wins = variant.objective is Objective.FIRST_OFF_WINS  # POD-2 turns it round
    kind = _kind(variant, other)  # POD-3: what the finisher would have scored
    return Outcome(finisher_is_mover is finisher_wins, kind, variant.win_kinds[kind][1])


def is_race(variant: Variant, position: Position) -> bool:
    """Return whether no point is left where a checker of one side can meet one of the other.

    A checker can stand on its own point and on every lower one, in either geometry.
    """
    if variant.contact is Contact.EMIR:
        position = emir_standing(variant, position)  # a captive can be released where it lies
    mine = _reach(variant, position.mover)
    theirs = {variant.opposite_point(p) for p in _reach(variant, position.opponent)}
    return theirs.isdisjoint(mine)


def _reach(variant: Variant, row: Row) -> range:
    """Return the own points on which the side stands or may still land."""
    farthest = max((slot for slot in range(1, variant.n_counts) if row[slot]), default=OFF)
    return range(1, min(farthest, variant.head_point) + 1)


def _kind(variant: Variant, other: Row) -> int:
    """Return the index in `Variant.win_kinds`; `other` is the side that has checkers left."""
    score, home = variant.score, variant.setup.home
    if score is Score.CHECKERS_LEFT:
        return variant.setup.checkers - other[OFF] - 1  # KHA-4
    if other[OFF]:
        return 0
    counts = other[: variant.n_counts]
    in_start_quarter = any(counts[variant.head_point - home + 1 :])  # with the bar, S-8
    if score is Score.OIN_MARS or not in_start_quarter:
        all_home = not any(counts[home + 1 :])
        return 3 if score is Score.OIN_MARS_KOKS_HOMEMARS and all_home else 1
    return 2  # koks or backgammon
