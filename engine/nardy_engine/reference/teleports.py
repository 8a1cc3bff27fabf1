"""Dice that move head checkers straight home, as they stand at the start of a play (KAF, ONE, KAB).

A teleport takes a checker from the head to the home point that the die shows. Whether one *must*
be made is a question about whole plays, so it is asked in `plays`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nardy_engine.rules.components import TeleportFallback, TeleportKind
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Row


class Teleports(NamedTuple):
    """The teleport dice of a segment."""

    all: frozenset[int]
    """Dice that bring head checkers home by the rules of the game."""
    open: frozenset[int]
    """Those whose destination is open."""
    only: frozenset[int]
    """Those that are lost if they do not teleport: they make no ordinary steps (D-12)."""


def teleports(
    variant: Variant, mover: Row, programme: Sequence[int], closed: Sequence[bool]
) -> Teleports:
    """Return the teleport dice of a play.

    Args:
        variant: The game.
        mover: `P` counts of the side to act, before the play.
        programme: Its dice.
        closed: `[P]` by the mover's own number, True where no checker of his may land.
    """
    dice = frozenset(_teleport_dice(variant, mover, programme))
    reachable = frozenset(die for die in dice if not closed[die])
    lost = TeleportFallback.LOST
    only = frozenset(
        die
        for die in dice
        if (variant.teleport.blocked if closed[die] else variant.teleport.short_head) is lost
    )
    return Teleports(dice, reachable, only)


def _teleport_dice(variant: Variant, mover: Row, programme: Sequence[int]) -> set[int]:
    kind = variant.teleport.kind
    if kind is TeleportKind.OFF or not mover[variant.head_point]:
        return set()  # KAF-10, KAB-4
    if kind is TeleportKind.KABUTAR:
        return set(programme) if len(set(programme)) == 1 else set()  # KAB-1
    return {1, variant.dice.sides} & set(programme)  # KAF-1
