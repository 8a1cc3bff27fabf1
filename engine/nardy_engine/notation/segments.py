"""Which dice a side must play before anybody rolls; layer 3, imports reference, rules, types."""

from __future__ import annotations

from nardy_engine.reference.turns import stage
from nardy_engine.rules import Variant
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import Dice, Position, Row


def pending_dice(variant: Variant, row: Row) -> tuple[int, ...]:
    """Return all dice that a side owes, lowest first, one entry a step."""
    return tuple(die for die, steps in owed_dice(variant, row) for _ in range(steps))


def segment_dice(variant: Variant, position: Position) -> tuple[int, ...]:
    """Return the dice that the side to act must play now, larger first; none before a roll (T-9).

    >>> from nardy_engine import load_variant
    >>> from nardy_engine.notation import parse_position
    >>> gulbar = load_variant("gulbar")
    >>> segment_dice(gulbar, parse_position("24:13 18:2 | 24:15 owes6x2 ; B", gulbar).position)
    (6, 6)
    """
    if not owed_dice(variant, position.mover):
        return ()
    return stage(variant, position, None).programme


def is_skipped(variant: Variant, position: Position, dice: Dice | None) -> bool:
    """Return whether the roll gives the side to act nothing to play: wrong parity (CHN-1)."""
    return dice is not None and not stage(variant, position, dice).programme


def dice_text(dice: tuple[int, ...]) -> str:
    """Return `6-4`, larger first.

    >>> dice_text((4, 6))
    '6-4'
    """
    return "-".join(map(str, sorted(dice, reverse=True)))
