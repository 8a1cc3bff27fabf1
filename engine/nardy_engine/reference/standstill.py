"""Positions in which neither side can ever make a step again: the game is drawn.

Rules.md names no result for them, because it does not speak of them. They occur in two kinds of
games. In emir, captives that lie under the last free checkers of both sides keep everybody from
bearing off (`reference.emir`). With a frozen home (BNA-2) both sides can hold their six home points
with checkers outside that these two walls stop.

Other games have no standstill: a side is stopped for good only by a wall of points that the other
side holds in front of it; both sides would need one, and whoever holds six points in a row can play
a 1 from one of them to the next, or bear off.
"""

from __future__ import annotations

from nardy_engine.reference.emir import is_dead
from nardy_engine.reference.head import runner_has_passed
from nardy_engine.rules.components import Contact, HeadLimit, Overshoot, Parity, TeleportKind
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Outcome, Position


def standstill(variant: Variant, position: Position) -> Outcome | None:
    """Return a draw if neither side has a step with any roll, now or ever, else None.

    The block rule is left aside: it judges ends of plays, not whether a checker can move.
    """
    if variant.contact is Contact.EMIR:
        dead = is_dead(variant, position)
    else:
        dead = variant.home.frozen and not (
            _can_step(variant, position) or _can_step(variant, position.swapped())
        )
    return Outcome(won=False, kind=0, points=0, draw=True) if dead else None


def _can_step(variant: Variant, position: Position) -> bool:
    """Return whether the side in row 0 has a step with some number that it can roll."""
    mover, opponent = position
    enough = 2 if variant.contact is Contact.HIT else 1
    open_points = {
        point for point, theirs in enumerate(variant.facing(opponent), start=1) if theirs < enough
    }
    return any(
        _moves(variant, mover, source, die, open_points)
        for die in _numbers(variant, mover)
        for source in range(1, variant.bar + 1)
        if mover[source]
    )


def _numbers(variant: Variant, mover: tuple[int, ...]) -> set[int]:
    """Return the numbers that the side may come to play (CHN-1, AST-1)."""
    sides = range(1, variant.dice.sides + 1)
    rolls = [(larger, smaller) for larger in sides for smaller in sides if smaller <= larger]
    if variant.dice.parity is not Parity.OFF:
        even = variant.recall(mover, "first") == 1
        rolls = [(larger, smaller) for larger, smaller in rolls if (smaller % 2 == 0) == even]
    larger_only = variant.dice.program.value == "n_times_m"
    return {die for roll in rolls for die in (roll[:1] if larger_only else roll)}


def _moves(
    variant: Variant, mover: tuple[int, ...], source: int, die: int, open_points: set[int]
) -> bool:
    """Return whether a checker on `source` can be moved by `die`."""
    if mover[variant.bar] and source != variant.bar:
        return False  # S-4
    at_home = not any(mover[variant.setup.home + 1 : variant.n_counts])
    if source == variant.head_point:
        if _may_fly(variant, die) and die in open_points:
            return True
        away = mover[variant.head_point] != variant.setup.checkers
        runner = variant.head.limit is HeadLimit.RUNNER and away
        if runner and not runner_has_passed(variant, mover):
            return False  # FEV-2
    if source > die:
        frozen = variant.home.frozen and source <= variant.setup.home
        return not frozen and source - die in open_points
    if not at_home or die not in variant.bearoff.dice:
        return False
    higher = any(mover[source + 1 : variant.setup.home + 1])
    exact = variant.bearoff.overshoot is Overshoot.EXACT_ONLY
    return source == die or not (higher or exact)


def _may_fly(variant: Variant, die: int) -> bool:
    """Return whether a die can carry a head checker home (KAF-1, KAB-1)."""
    kind = variant.teleport.kind
    if kind is TeleportKind.KABUTAR:
        return True
    return kind is not TeleportKind.OFF and die in (1, variant.dice.sides)
