"""The segments of a roll: what is played now, by whom, and what follows (T-9, 7.10..7.14, DR-1).

A roll is played in one or more segments, each of them one decision. Between them the position
remembers what is still to be played, in the memory slots of `rules.memory`: `stage` reads there
which segment is next, `afterstate` writes there what a finished segment leaves behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from nardy_engine.errors import DiceError
from nardy_engine.reference.head import dice_programme, head_allowance
from nardy_engine.rules.components import (
    CascadeKind,
    ExtraRoll,
    HeadLimit,
    HeirHead,
    HeirMode,
    Parity,
    TransferMode,
    TransferScope,
    ZeroFirstLevel,
)
from nardy_engine.rules.memory import memory_index, owed_dice
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Dice, Position, Row

Owed: TypeAlias = Counter[int]
"""Steps still to be played, by die."""


class Part(Enum):
    """What kind of segment is played, seen from the side that plays it."""

    SKIPPED = "skipped"
    """A roll of the other side's numbers: nothing is played (CHN-1)."""
    ROLL = "roll"
    """An own roll that is one segment."""
    FIRST_LEVEL = "first_level"
    """An own double that climbs, as rolled (BGU-1)."""
    LEVEL = "level"
    """A higher level of an own double (BGU-1)."""
    INHERITED = "inherited"
    """Dice that the other side threw and could not play (GUL-1, BGU-2, BNA-4)."""


@dataclass(frozen=True)
class Stage:
    """The segment that a position and a roll ask for (T-9)."""

    variant: Variant
    position: Position
    """Before the segment, the side that plays it in row 0."""
    part: Part
    programme: tuple[int, ...]
    """The dice to play, larger first; none if the turn is skipped."""
    dice: Dice | None = None
    """The roll, if this segment is its first one."""
    later: Owed = field(default_factory=Counter)
    """What the side owes besides."""

    @property
    def is_double(self) -> bool:
        """Whether the roll is a double."""
        return self.dice is not None and self.dice[0] == self.dice[1]


def stage(variant: Variant, position: Position, dice: Dice | None) -> Stage:
    """Return which segment is played next.

    Args:
        variant: The game.
        position: Side to act in row 0.
        dice: The roll; ignored if the side to act owes dice.

    Raises:
        DiceError: A roll is needed, and this is none.
    """
    owed = _owed(variant, position.mover)
    if owed:
        return _pending(variant, position, owed)
    if dice is None:
        raise DiceError("no dice are left to play from this position, so it needs a roll")
    dice = variant.check_dice(dice)
    if _is_skipped(variant, position.mover, dice):
        return Stage(variant, position, Part.SKIPPED, (), dice)
    programme = dice_programme(variant, dice)
    if not _climbs(variant, position.mover, dice):
        return Stage(variant, position, Part.ROLL, programme, dice)
    levels = range(dice[0] + 1, variant.dice.sides + 1)
    later = Counter(dict.fromkeys(levels, variant.dice.double_steps))
    return Stage(variant, position, Part.FIRST_LEVEL, programme, dice, later)


def _owed(variant: Variant, row: Row) -> Owed:
    return Counter(dict(owed_dice(variant, row)))


def _pending(variant: Variant, position: Position, owed: Owed) -> Stage:
    """Return the segment of dice thrown earlier: the lowest level, or all that is one segment."""
    is_roller = variant.recall(position.mover, "roller") == 1
    one_roll = sorted(owed.values()) == [1, 1]  # GUL-3: two different dice are one segment
    pool = variant.transfer.heir is HeirMode.FREE_POOL and not is_roller  # D-20
    lowest = min(owed)
    now = owed if one_roll or pool else Counter({lowest: owed[lowest]})
    programme = tuple(sorted(now.elements(), reverse=True))
    part = Part.LEVEL if is_roller else Part.INHERITED
    return Stage(variant, position, part, programme, later=owed - now)


def _is_skipped(variant: Variant, mover: Row, dice: Dice) -> bool:
    """Return whether the smaller number is one of the other side's (CHN-1)."""
    if variant.dice.parity is Parity.OFF:
        return False
    plays_even = variant.recall(mover, "first") == 1
    return (min(dice) % 2 == 0) is not plays_even


def _climbs(variant: Variant, mover: Row, dice: Dice) -> bool:
    """Return whether a roll is a double that all higher ones follow (BGU-1, 7.12 note)."""
    cascade = variant.cascade
    if cascade.kind is CascadeKind.OFF or dice[0] != dice[1]:
        return False
    return cascade.from_roll == 1 or variant.recall(mover, "rolls") + 1 >= cascade.from_roll


def segment_allowance(now: Stage, closed: Sequence[bool]) -> int:
    """Return how many checkers may leave the head in this segment (L-5, GUL-3, BGU-4, BNA-7).

    Args:
        now: The segment.
        closed: `[P]` by the mover's own number, True where no checker of his may land.
    """
    variant, mover = now.variant, now.position.mover
    if now.dice is not None:
        return head_allowance(variant, now.position, now.dice, closed)
    if variant.head.limit is not HeadLimit.ONE:
        return variant.setup.checkers
    return variant.recall(mover, "head_left") if variant.remembers("head_left") else 1


class _Rest(NamedTuple):
    """What is still to be played of a roll."""

    mover: Owed
    """By the side that has just played a segment."""
    opponent: Owed
    extra_roll: bool = False
    """The mover rolls again (GUL-4)."""


def afterstate(
    now: Stage, board: Position, left: tuple[int, ...], allowance: int, head_steps: int
) -> Position:
    """Return the position after a segment with everything that the game remembers.

    Args:
        now: The segment.
        board: Where the checkers stand after it, its player in row 0; memory as before it.
        left: Dice of the segment that were not played.
        allowance: Checkers that could leave the head in it.
        head_steps: Checkers that did.
    """
    variant = now.variant
    if not variant.memory:
        return board
    end = _after_own_roll(now, board)
    if variant.board_checkers(end.mover) == 0:
        return _forget(variant, end)  # T-10: dice left over do not matter
    rest = _rest(now, Counter(left))
    end = Position(
        _owing(variant, end.mover, rest.mover), _owing(variant, end.opponent, rest.opponent)
    )
    is_heir = now.part is Part.INHERITED
    if not (rest.mover or rest.opponent):  # the roll is over
        same = is_heir or rest.extra_roll
        end = _forget(variant, end)
    else:
        heir_owes = rest.mover if is_heir else rest.opponent
        same = is_heir is bool(heir_owes)
        end = Position(
            remember(variant, end.mover, {"roller": int(not is_heir)}),
            remember(variant, end.opponent, {"roller": int(is_heir)}),
        )
        end = _head_left(now, end, allowance, head_steps)
    return Position(remember(variant, end.mover, {"again": int(same)}), end.opponent)


def _rest(now: Stage, left: Owed) -> _Rest:
    """Return who must still play what after a segment of which `left` was not played."""
    theirs = _owed(now.variant, now.position.opponent)
    if now.part is Part.INHERITED:
        return _Rest(_after_inheritance(now, left), theirs)
    if now.part in (Part.SKIPPED, Part.ROLL):
        return _after_single_segment(now, left)
    return _after_level(now, left)


def _after_single_segment(now: Stage, left: Owed) -> _Rest:
    """Return what follows a roll that is one segment of its roller (GUL-1, GUL-4, BGU-5)."""
    variant, nothing = now.variant, Owed()
    if now.part is Part.SKIPPED:
        return _Rest(nothing, nothing)
    if not left:
        extra = now.is_double and variant.extra_roll is ExtraRoll.AFTER_FULL_DOUBLE
        return _Rest(nothing, nothing, extra)
    scope = variant.transfer.scope
    inherited = scope is TransferScope.ALL_ROLLS or (
        scope is TransferScope.DOUBLES_ONLY and now.is_double
    )
    none_played = left.total() == len(now.programme)
    if now.is_double and none_played:
        inherited &= variant.transfer.zero_first_level is ZeroFirstLevel.TRANSFER
    return _Rest(nothing, left if inherited else nothing)


def _after_level(now: Stage, left: Owed) -> _Rest:
    """Return what follows a level of the roller's cascade (BGU-2, BNA-4, BNA-5)."""
    transfer, nothing = now.variant.transfer, Owed()
    if not left:
        return _Rest(now.later, nothing)
    if now.part is Part.FIRST_LEVEL and left.total() == len(now.programme):
        if transfer.zero_first_level is ZeroFirstLevel.VOID_ROLL:
            return _Rest(nothing, nothing)
        if transfer.zero_first_level is ZeroFirstLevel.SKIP_LEVEL:
            return _Rest(now.later, nothing)
    if transfer.mode is TransferMode.LEVEL:
        roller, heir = now.later, left
    else:
        roller, heir = nothing, left + now.later
    return _Rest(roller, nothing if transfer.scope is TransferScope.OFF else heir)


def _after_inheritance(now: Stage, left: Owed) -> Owed:
    """Return what the heir must still play; a step he cannot make is lost (GUL-3, BGU-3, D-20)."""
    stop = now.variant.transfer.heir is HeirMode.STOP_AT_FIRST_UNPLAYABLE
    return Owed() if stop and left else now.later


def _after_own_roll(now: Stage, board: Position) -> Position:
    """Note that the side has rolled, and whether the other one now has its last turn (DR-1)."""
    variant, (mover, opponent) = now.variant, board
    if now.dice is not None:
        rolls = min(variant.recall(mover, "rolls") + 1, variant.cascade.from_roll)
        mover = remember(variant, mover, {"rolls": rolls, "fresh": 0})
    finished_first = variant.board_checkers(mover) == 0 and variant.recall(mover, "first") == 1
    mover = remember(variant, mover, {"last_turn": 0})
    opponent = remember(variant, opponent, {"last_turn": int(finished_first)})
    return Position(mover, opponent)


def _head_left(now: Stage, end: Position, allowance: int, head_steps: int) -> Position:
    """Note how many checkers may still leave each head in this roll (BGU-4, BNA-7, D-19)."""
    variant, (mover, opponent) = now.variant, end
    left = allowance - head_steps
    if now.part is Part.INHERITED:
        if variant.transfer.heir_head is HeirHead.TOTAL:
            mover = remember(variant, mover, {"head_left": left})
        return Position(mover, opponent)
    mover = remember(variant, mover, {"head_left": left})
    if now.dice is not None:
        opponent = remember(variant, opponent, {"head_left": 1})
    return Position(mover, opponent)


def _forget(variant: Variant, end: Position) -> Position:
    """Return the position without anything that lasts for one roll only."""
    nothing = {"roller": 0, "head_left": 0, "again": 0}
    return Position(*(remember(variant, _owing(variant, row, Owed()), nothing) for row in end))


def _owing(variant: Variant, row: Row, owed: Owed) -> Row:
    """Return the row with the dice that its side owes, in a game that knows such dice."""
    first = memory_index(variant).get("owed_1")
    if first is None:
        return row
    numbers = range(1, variant.dice.sides + 1)
    return (*row[:first], *(owed[die] for die in numbers), *row[first + len(numbers) :])


def remember(variant: Variant, row: Row, memory: dict[str, int]) -> Row:
    """Return the row with other values in those of the named memory slots that the game has."""
    index = memory_index(variant)
    if not index:
        return row
    changed = list(row)
    for name, value in memory.items():
        if name in index:
            changed[index[name]] = value
    return tuple(changed)


def next_position(variant: Variant, end: Position) -> tuple[Position, bool]:
    """Return the position that follows an afterstate, and whether the same side acts in it."""
    same = variant.recall(end.mover, "again") == 1
    position = Position(remember(variant, end.mover, {"again": 0}), end.opponent)
    return (position if same else position.swapped()), same
