"""`RuleTable`: a variant as a flat tuple of ints, the only form of the rules that kernels see."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple

from nardy_engine.rules.components import (
    BlockCheck,
    BlockRule,
    Contact,
    DiceProgram,
    Direction,
    HeadException,
    HeadLimit,
    KarzarScope,
    Objective,
    Overshoot,
    Score,
)
from nardy_engine.rules.variant import Variant


class RuleTable(NamedTuple):
    """Every number and choice of a variant, as ints that compiled code can take.

    Choices are positions in the Enum's definition order (`code`). One compiled kernel serves all
    variants, because the table has one type.
    """

    n_points: int
    home: int
    checkers: int
    opposite: int
    """1 = the sides travel against each other."""
    hit: int
    """1 = a lone checker can be hit."""
    head_limit: int
    head_exception: int
    exception_doubles: int
    """Bit `d` set = the double d-d is on the list."""
    lifted_by: int
    """Bit `d` set = die d lifts the head limit."""
    block_rule: int
    block_every_step: int
    block_any_run: int
    block_length: int
    n_times_m: int
    sides: int
    double_steps: int
    overshoot: int
    bearoff_dice: int
    """Bit `d` set = die d bears off."""
    frozen_home: int
    ordered_steps: int
    """1 = equal dice may be generated with sources in descending order without losing a play."""
    first_off_loses: int
    score: int
    n_kinds: int


def code(member: Enum) -> int:
    """Return the position of an Enum member in its definition order."""
    return list(type(member)).index(member)


def _bits(numbers: tuple[int, ...]) -> int:
    return sum(1 << number for number in numbers)


@cache
def rule_table(variant: Variant) -> RuleTable:
    """Return the table of `variant`."""
    # Descending sources reach every end of equal dice if neither the legality of a step nor that
    # of the position after it can improve by moving a rearward checker first. The runner's
    # lock, the block rule at every step and the lenient overshoot can.
    ordered = (
        variant.head.limit is not HeadLimit.RUNNER
        and variant.block.check is BlockCheck.END_OF_SEGMENT
        and variant.bearoff.overshoot is not Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED
    )
    return RuleTable(
        n_points=variant.setup.points,
        home=variant.setup.home,
        checkers=variant.setup.checkers,
        opposite=int(variant.setup.direction is Direction.OPPOSITE),
        hit=int(variant.contact is Contact.HIT),
        head_limit=code(variant.head.limit),
        head_exception=code(variant.head.exception),
        exception_doubles=_bits(variant.head.exception_doubles),
        lifted_by=_bits(variant.head.lifted_by),
        block_rule=code(variant.block.rule),
        block_every_step=int(variant.block.check is BlockCheck.EVERY_STEP),
        block_any_run=int(variant.block.karzar_scope is KarzarScope.ANY_RUN),
        block_length=variant.block.length,
        n_times_m=int(variant.dice.program is DiceProgram.N_TIMES_M),
        sides=variant.dice.sides,
        double_steps=variant.dice.double_steps,
        overshoot=code(variant.bearoff.overshoot),
        bearoff_dice=_bits(variant.bearoff.dice),
        frozen_home=int(variant.home.frozen),
        ordered_steps=int(ordered),
        first_off_loses=int(variant.objective is Objective.FIRST_OFF_LOSES),
        score=code(variant.score),
        n_kinds=len(variant.win_kinds),
    )


# The codes that kernels compare with; module constants compile to literals.
HEAD_ONE, HEAD_NONE, HEAD_RUNNER = (code(member) for member in HeadLimit)
(
    EXCEPTION_HEAD_BLOCKED,
    EXCEPTION_LISTED,
    EXCEPTION_PRINCIPLE,
    EXCEPTION_SECOND_PLAYER,
    EXCEPTION_ANY_DOUBLE,
    EXCEPTION_NONE,
) = (code(member) for member in HeadException)
BLOCK_AHEAD, BLOCK_KARZAR, BLOCK_START_SECTOR, BLOCK_NEVER, BLOCK_NONE = (
    code(member) for member in BlockRule
)
OVERSHOOT_HIGHEST, OVERSHOOT_EXACT, OVERSHOOT_LENIENT = (code(member) for member in Overshoot)
(
    SCORE_OIN_MARS,
    SCORE_KOKS,
    SCORE_HOMEMARS,
    SCORE_CHECKERS_LEFT,
    SCORE_BACKGAMMON,
) = (code(member) for member in Score)
