"""What cannot stand together in one game, each contradiction in a sentence; layer 2.

A field without effect must hold its neutral value. That every other value of such a field is
refused is what lets a test demand a witness for each field that is *not* refused ("no dead rule").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nardy_engine.rules.components import (
    BlockCheck,
    BlockRule,
    CascadeKind,
    Contact,
    Cube,
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
    Switch,
    TeleportFallback,
    TeleportKind,
    TransferMode,
    TransferScope,
    ZeroFirstLevel,
)

if TYPE_CHECKING:
    from nardy_engine.rules.variant import Variant

_Clash: TypeAlias = tuple[bool, str]
"""Whether two rules contradict each other, and the sentence that says so."""


def contradictions(v: Variant) -> list[str]:
    """Say what does not fit together in a game, one sentence each."""
    found = (
        *_dice_clashes(v),
        *_head_clashes(v),
        *_block_clashes(v),
        *_segment_clashes(v),
        *_teleport_clashes(v),
        *_emir_clashes(v),
        *_other_clashes(v),
    )
    return [sentence for broken, sentence in found if broken]


def _dice_clashes(v: Variant) -> tuple[_Clash, ...]:
    numbers = {
        "head.exception_doubles": v.head.exception_doubles,
        "head.lifted_by": v.head.lifted_by,
        "bearoff.dice": v.bearoff.dice,
    }
    return (
        (
            v.dice.sides > v.setup.home,
            f"dice.sides is {v.dice.sides}; a die cannot show more than the home has points",
        ),
        *(
            (
                any(not 1 <= n <= v.dice.sides for n in listed),
                f"{name} must be numbers from 1 to {v.dice.sides}",
            )
            for name, listed in numbers.items()
        ),
        (not v.bearoff.dice, "bearoff.dice is empty: nobody could ever bear off"),
        (
            v.dice.program is DiceProgram.N_TIMES_M and v.dice.double_steps != 4,
            "dice.double_steps has no effect with dice.program=n_times_m; it must be 4",
        ),
    )


def _head_clashes(v: Variant) -> tuple[_Clash, ...]:
    head = v.head
    by_list = head.exception in (
        HeadException.HEAD_BLOCKED,
        HeadException.LISTED,
        HeadException.SECOND_PLAYER_ANY_BLOCKED,
    )
    limited = head.limit is HeadLimit.ONE
    return (
        (
            not limited and head.exception is not HeadException.NONE,
            "head.exception lifts a limit of one checker; without head.limit=1 it must be none",
        ),
        (
            not limited and bool(head.lifted_by),
            "head.lifted_by lifts a limit of one checker; without head.limit=1 it must be empty",
        ),
        (
            not by_list and bool(head.exception_doubles),
            f"head.exception={head.exception.value} reads no list: "
            "head.exception_doubles must be empty",
        ),
        (
            by_list and not head.exception_doubles,
            f"head.exception={head.exception.value} needs head.exception_doubles",
        ),
        (
            v.setup.direction is not Direction.SAME and head.limit is not HeadLimit.NONE,
            "a head rule needs setup.direction=same, where the opponent's head lies on the route",
        ),
        (
            head.exception is HeadException.NONE
            and head.exception_when is not ExceptionWhen.ALL_ON_HEAD,
            "head.exception_when has no effect without head.exception; it must be all_on_head",
        ),
    )


def _block_clashes(v: Variant) -> tuple[_Clash, ...]:
    block = v.block
    ruled = block.rule is not BlockRule.NONE
    return (
        (block.length < 2, "block.length must be at least 2"),
        (
            ruled and v.setup.direction is not Direction.SAME,
            "a block rule needs setup.direction=same",
        ),
        (
            ruled and v.contact is Contact.HIT,
            "a block rule needs contact=none: with hits a lone checker closes nothing",
        ),
        (
            not ruled and block.check is not BlockCheck.END_OF_SEGMENT,
            "block.check=every_step needs a block rule",
        ),
        (
            block.rule is not BlockRule.KARZAR and block.karzar_scope is not KarzarScope.TRAPPING,
            "block.karzar_scope=any_run needs block.rule=karzar",
        ),
        (
            block.rule in (BlockRule.NONE, BlockRule.START_SECTOR) and block.length != v.setup.home,
            f"block.length has no effect without a rule on runs; it must be {v.setup.home}",
        ),
        (
            block.rule is BlockRule.NEVER and block.length > v.setup.checkers,
            "block.length is more than the checkers of a side",
        ),
        (
            block.length > v.setup.points,
            "block.length is more than the points of the board",
        ),
    )


def _segment_clashes(v: Variant) -> tuple[_Clash, ...]:
    """Cascades, transfers, extra rolls (BGU, BNA, GUL)."""
    transfer, cascade = v.transfer, v.cascade.kind is not CascadeKind.OFF
    transferred = transfer.scope is not TransferScope.OFF
    standard = v.dice.program is DiceProgram.STANDARD
    several = cascade and transferred
    return (
        (
            cascade and not standard,
            "cascade needs dice.program=standard: it climbs from a double of four steps",
        ),
        (
            not cascade and v.cascade.from_roll != 1,
            "cascade.from_roll needs a cascade; without one it must be 1",
        ),
        (
            not cascade and transfer.mode is not TransferMode.REMAINDER,
            "transfer.mode tells what follows a level; without a cascade it must be remainder",
        ),
        (
            transfer.heir is not HeirMode.SKIP_AND_CONTINUE
            and not (several and transfer.mode is TransferMode.REMAINDER),
            "transfer.heir matters where several levels are inherited (cascade, a transfer, "
            "transfer.mode=remainder); elsewhere it must be skip_and_continue",
        ),
        (
            transfer.zero_first_level is ZeroFirstLevel.SKIP_LEVEL and not cascade,
            "transfer.zero_first_level=skip_level goes on with the next level: it needs a cascade",
        ),
        (
            transfer.zero_first_level is ZeroFirstLevel.TRANSFER and not transferred,
            "transfer.zero_first_level=transfer needs transfer.scope=all_rolls or doubles_only",
        ),
        (
            transfer.heir_head is not HeirHead.PER_SEGMENT
            and not (several and v.head.limit is HeadLimit.ONE),
            "transfer.heir_head=total needs a cascade, a transfer and head.limit=1",
        ),
        (
            v.extra_roll is not ExtraRoll.OFF and (cascade or not standard),
            "extra_roll=after_full_double is for doubles of four steps: "
            "it needs dice.program=standard and cascade=off",
        ),
        (
            v.last_roll_draw is Switch.ON
            and (cascade or transferred or v.extra_roll.value != "off"),
            "last_roll_draw gives one normal turn; it cannot stand with cascade, transfer "
            "or extra_roll",
        ),
        (
            v.last_roll_draw is Switch.ON and v.contact is not Contact.NONE,
            "last_roll_draw needs contact=none: the side that has finished is not touched again",
        ),
        (
            v.last_roll_draw is Switch.ON and v.objective is Objective.FIRST_OFF_LOSES,
            "last_roll_draw is for games won by bearing off (POD-4)",
        ),
    )


def _teleport_clashes(v: Variant) -> tuple[_Clash, ...]:
    """Teleports (KAF, ONE, KAB)."""
    kind = v.teleport.kind
    on = kind is not TeleportKind.OFF
    whole = v.dice.program is DiceProgram.STANDARD and not (
        v.cascade.kind is not CascadeKind.OFF or v.transfer.scope is not TransferScope.OFF
    )
    can_fall_back = kind in (TeleportKind.KAFTAR, TeleportKind.KABUTAR)
    fallbacks = (v.teleport.blocked, v.teleport.short_head)
    return (
        (
            on and not whole,
            "teleport needs dice.program=standard and no cascade or transfer",
        ),
        (
            on and (v.contact is not Contact.NONE or v.setup.direction is not Direction.SAME),
            "teleport needs setup.direction=same and contact=none",
        ),
        (
            not can_fall_back and any(f is TeleportFallback.LOST for f in fallbacks),
            f"teleport={kind.value} obliges to nothing: "
            "teleport.blocked and teleport.short_head must be ordinary",
        ),
    )


def _emir_clashes(v: Variant) -> tuple[_Clash, ...]:
    """Pins, nukers and the emir (EMI)."""
    emir = v.contact is Contact.EMIR
    on_head = dict(v.setup.start).get(v.head_point, 0)
    plain = (
        v.cascade.kind is CascadeKind.OFF
        and v.transfer.scope is TransferScope.OFF
        and v.extra_roll is ExtraRoll.OFF
        and v.score is not Score.CHECKERS_LEFT
        and v.objective is Objective.FIRST_OFF_WINS
    )
    return (
        (
            emir and v.setup.direction is not Direction.SAME,
            "contact=emir needs setup.direction=same",
        ),
        (
            not emir and bool(v.setup.reserve or v.setup.emir_above),
            "setup.reserve and setup.emir_above need contact=emir; without it they must be 0",
        ),
        (
            emir and not v.setup.emir_above < on_head,
            "setup.emir_above must be less than the checkers on the head: the emir is one of them",
        ),
        (
            emir and not plain,
            "contact=emir has no rules for cascade, transfer, extra_roll, "
            "score=checkers_left or objective=first_off_loses",
        ),
        (
            emir
            and v.head.exception is not HeadException.NONE
            and v.head.exception_when is not ExceptionWhen.FIRST_ROLL_FLAG,
            "contact=emir needs head.exception_when=first_roll_flag: checkers can return (EMI-3)",
        ),
    )


def _other_clashes(v: Variant) -> tuple[_Clash, ...]:
    same = v.setup.direction is Direction.SAME
    theirs = {v.opposite_point(point) for point, _ in v.setup.start}
    stuck = _point_without_exit(v)
    return (
        (
            v.home.frozen and v.bearoff.dice != tuple(range(1, v.dice.sides + 1)),
            "home.frozen needs every number to bear off, or a checker could never leave",
        ),
        (
            stuck is not None,
            f"a checker on point {stuck} could never leave: bearoff.dice, bearoff.overshoot, "
            "home.frozen, dice.sides and dice.parity must let it",
        ),
        (
            v.home.frozen and v.bearoff.overshoot is Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED,
            "home.frozen blocks every higher checker; "
            "bearoff.overshoot must be highest or exact_only",
        ),
        (
            v.bearoff.overshoot is Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED
            and not any(1 < die < v.setup.home for die in v.bearoff.dice),
            "bearoff.overshoot=highest_or_all_higher_blocked needs a number in bearoff.dice that "
            "bears off one checker and moves a higher one inside the home",
        ),
        (
            v.contact is Contact.HIT and same,
            "contact=hit needs setup.direction=opposite, where the bar lies before the route",
        ),
        (
            v.score is Score.BACKGAMMON and same,
            "score=backgammon needs setup.direction=opposite; use oin_mars_koks",
        ),
        (
            v.score in (Score.OIN_MARS_KOKS, Score.OIN_MARS_KOKS_HOMEMARS) and not same,
            f"score={v.score.value} needs setup.direction=same; use backgammon",
        ),
        (
            any(point in theirs for point, _ in v.setup.start),
            "setup.start puts both sides on one point",
        ),
        (
            v.cube.kind is Switch.OFF and v.cube != Cube(),
            "cube options need cube=on",
        ),
        (
            v.cube.jacoby and v.score is Score.CHECKERS_LEFT,
            "cube.jacoby is about double wins, which score=checkers_left has not",
        ),
    )


def _point_without_exit(v: Variant) -> int | None:
    """Return a home point that a lone checker cannot leave with any roll, or None.

    In company the highest checker has the same steps, so without such a point nobody is stuck.
    """
    kinds: list[range] = [range(1, v.dice.sides + 1)]
    if v.dice.parity is not Parity.OFF:
        kinds.append(range(2, v.dice.sides + 1))  # CHN-1: no roll with a 1 is for the even side
    for dice in kinds:
        for point in range(1, v.setup.home + 1):
            if not any(_leaves(v, point, die) for die in dice):
                return point
    return None


def _leaves(v: Variant, point: int, die: int) -> bool:
    """Return whether `die` moves a lone checker from a home point."""
    if die < point:
        return not v.home.frozen
    overshoot = v.bearoff.overshoot is not Overshoot.EXACT_ONLY
    return die in v.bearoff.dice and (die == point or overshoot)
