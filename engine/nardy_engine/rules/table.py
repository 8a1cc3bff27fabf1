"""`RuleTable`: a variant as a flat tuple of ints, the only form of the rules that kernels see."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple

from nardy_engine.rules.components import (
    BlockCheck,
    BlockRule,
    CascadeKind,
    Contact,
    DiceProgram,
    Direction,
    ExceptionWhen,
    ExtraRoll,
    HeadException,
    HeadLimit,
    HeirHead,
    HeirMode,
    KarzarScope,
    Objective,
    Overshoot,
    Parity,
    Score,
    TeleportFallback,
    TeleportKind,
    TransferMode,
    TransferScope,
    ZeroFirstLevel,
)
from nardy_engine.rules.memory import memory_index
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
    runner_orders: int
    """1 = they may once the runner has passed (FEV-2)."""
    first_off_loses: int
    score: int
    n_kinds: int
    n_slots: int
    """Slots of a row, memory included; only the first `n_points + 2` hold checkers."""
    draw: int
    """1 = a game can end in a draw, the last outcome."""
    parity: int
    flag_exception: int
    """1 = the first play is known by the `fresh` slot, not by the head (D-22)."""
    cascade: int
    cascade_from: int
    transfer_scope: int
    transfer_level: int
    """1 = only the rest of a level is transferred, the roller goes on (BNA-4)."""
    heir: int
    zero_first_level: int
    heir_head_total: int
    extra_roll: int
    teleport: int
    teleport_blocked_lost: int
    teleport_short_lost: int
    emir: int
    reserve: int
    owed: int
    """Slot of `owed_1`; this and the following are 0 where the game has no such slot."""
    roller: int
    head_left: int
    rolls: int
    first: int
    last_turn: int
    fresh: int
    captive: int
    """Slot of `captive_1`."""
    emir_place: int
    emir_above: int
    in_reserve: int
    emir_taken: int
    preroll: int
    again: int


def code(member: Enum) -> int:
    """Return the position of an Enum member in its definition order."""
    return list(type(member)).index(member)


def _bits(numbers: tuple[int, ...]) -> int:
    return sum(1 << number for number in numbers)


@cache
def rule_table(variant: Variant) -> RuleTable:
    """Return the table of `variant`."""
    # Descending sources reach every end of equal dice if neither the legality of a step nor that
    # of the position after it can improve by moving a rearward checker first. The block rule at
    # every step and the lenient overshoot can, and so can the runner's lock until he has passed.
    independent = (
        variant.block.check is BlockCheck.END_OF_SEGMENT
        and variant.bearoff.overshoot is not Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED
    )
    slot = memory_index(variant)
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
        ordered_steps=int(independent and variant.head.limit is not HeadLimit.RUNNER),
        runner_orders=int(independent and variant.head.limit is HeadLimit.RUNNER),
        first_off_loses=int(variant.objective is Objective.FIRST_OFF_LOSES),
        score=code(variant.score),
        n_kinds=len(variant.win_kinds),
        n_slots=variant.n_slots,
        draw=int(variant.has_draw),
        parity=int(variant.dice.parity is not Parity.OFF),
        flag_exception=int(variant.head.exception_when is ExceptionWhen.FIRST_ROLL_FLAG),
        cascade=int(variant.cascade.kind is not CascadeKind.OFF),
        cascade_from=variant.cascade.from_roll,
        transfer_scope=code(variant.transfer.scope),
        transfer_level=int(variant.transfer.mode is TransferMode.LEVEL),
        heir=code(variant.transfer.heir),
        zero_first_level=code(variant.transfer.zero_first_level),
        heir_head_total=int(variant.transfer.heir_head is HeirHead.TOTAL),
        extra_roll=int(variant.extra_roll is not ExtraRoll.OFF),
        teleport=code(variant.teleport.kind),
        teleport_blocked_lost=int(variant.teleport.blocked is TeleportFallback.LOST),
        teleport_short_lost=int(variant.teleport.short_head is TeleportFallback.LOST),
        emir=int(variant.contact is Contact.EMIR),
        reserve=variant.setup.reserve,
        owed=slot.get("owed_1", 0),
        roller=slot.get("roller", 0),
        head_left=slot.get("head_left", 0),
        rolls=slot.get("rolls", 0),
        first=slot.get("first", 0),
        last_turn=slot.get("last_turn", 0),
        fresh=slot.get("fresh", 0),
        captive=slot.get("captive_1", 0),
        emir_place=slot.get("emir", 0),
        emir_above=slot.get("emir_above", 0),
        in_reserve=slot.get("reserve", 0),
        emir_taken=slot.get("emir_taken", 0),
        preroll=slot.get("preroll", 0),
        again=slot.get("again", 0),
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
TRANSFER_OFF, TRANSFER_ALL, TRANSFER_DOUBLES = (code(member) for member in TransferScope)
HEIR_CONTINUE, HEIR_STOP, HEIR_POOL = (code(member) for member in HeirMode)
ZERO_VOID, ZERO_SKIP, ZERO_TRANSFER = (code(member) for member in ZeroFirstLevel)
TELEPORT_OFF, TELEPORT_KAFTAR, TELEPORT_OPTIONAL, TELEPORT_KABUTAR = (
    code(member) for member in TeleportKind
)
