"""How many checkers may leave the head, and the dice programme it depends on (T-1, L-5..L-9)."""

from __future__ import annotations

from collections.abc import Sequence

from nardy_engine.rules.components import (
    DiceProgram,
    ExceptionWhen,
    HeadException,
    HeadLimit,
)
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Dice, Position, Row


def dice_programme(variant: Variant, dice: Dice) -> tuple[int, ...]:
    """Return the dice that a roll gives to play, larger first (T-1, T-7, AST-1)."""
    larger, smaller = max(dice), min(dice)
    if variant.dice.program is DiceProgram.N_TIMES_M:
        return (larger,) * smaller
    if larger == smaller:
        return (larger,) * variant.dice.double_steps
    return (larger, smaller)


def head_allowance(variant: Variant, position: Position, dice: Dice, closed: Sequence[bool]) -> int:
    """Return how many checkers may leave the head with an own roll.

    What an heir may do, and what has left before, is the business of `turns`. The runner's lock
    (FEV-2) is not a number: it opens inside a play, so `steps` tests it there.

    Args:
        variant: The game.
        position: Before the play, mover's row first.
        dice: The roll.
        closed: `[P]` by the mover's own number, True where no checker of his may land.
    """
    unlimited = variant.setup.checkers
    if variant.head.limit is not HeadLimit.ONE:
        return unlimited
    if any(die in variant.head.lifted_by for die in dice):
        return unlimited
    first = is_first_play(variant, position.mover)
    return 2 if first and _exception(variant, position, dice, closed) else 1


def is_first_play(variant: Variant, row: Row) -> bool:
    """Return whether the next own roll of a side is its first play (L-7a, D-22)."""
    if variant.head.exception_when is ExceptionWhen.FIRST_ROLL_FLAG:
        return variant.recall(row, "fresh") == 1
    return row[variant.head_point] == variant.setup.checkers


def runner_has_passed(variant: Variant, mover: Row) -> bool:
    """Return whether a checker of the mover stands beyond the opponent's head or is off (FEV-2)."""
    return mover[OFF] > 0 or any(mover[1 : variant.opposite_point(variant.head_point)])


def _exception(variant: Variant, position: Position, dice: Dice, closed: Sequence[bool]) -> bool:
    """Return whether the first-play exception holds for a roll, which is the first of its side.

    L-7 for `head_blocked`, AST-3 for `principle`, D-01 for the others.
    """
    kind = variant.head.exception
    double = dice[0] == dice[1]
    listed = double and dice[0] in variant.head.exception_doubles
    programme = dice_programme(variant, dice)
    stop = _stopped_at(variant, programme, closed)
    by_head = stop == variant.opposite_point(variant.head_point)
    if kind is HeadException.HEAD_BLOCKED:
        return listed and by_head
    if kind is HeadException.LISTED:
        return listed
    if kind is HeadException.PRINCIPLE:
        return by_head
    if kind is HeadException.ANY_DOUBLE:
        return double
    if kind is HeadException.SECOND_PLAYER_ANY_BLOCKED:
        second = not is_first_play(variant, position.opponent)
        return double and stop is not None if second else listed and by_head
    return False


def _stopped_at(variant: Variant, programme: Sequence[int], closed: Sequence[bool]) -> int | None:
    """Return where a lone checker's walk from the head is stopped, or None (L-7c).

    That is the first closed point, or OFF where the walk would lead beyond the last point: the
    other checkers are still on the head, so none is borne off. Only a programme of equal dice has
    one walk; different dice give None.
    """
    die = programme[0]
    if programme[-1] != die:
        return None
    for target in range(variant.head_point - die, OFF - die, -die)[: len(programme)]:
        if target <= OFF:
            return OFF
        if closed[target]:
            return target
    return None
