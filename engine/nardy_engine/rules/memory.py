"""What a game must remember beyond checkers: memory slots at the end of each row; layer 2.

Most games are fully described by counts. Where a turn has several decisions, or where something
that happened earlier matters (rules.md section 10), a row of a board is longer: behind the bar it
holds one small number per thing remembered, each *belonging to that side*. So a board stays one
`[2, P]` array, swapping the rows still changes sides, and everything that copies boards copies
their memory too. Games without such rules have no memory slots.

| name | games | meaning |
|---|---|---|
| `owed_1` .. `owed_6` | segments | steps of that die that the side must play before any roll |
| `roller` | segments | 1 = this side threw the dice that are being played |
| `head_left` | cascade with a head limit | checkers that may still leave the head in this roll |
| `rolls` | `cascade.from_roll` above 1 | own rolls so far, up to `from_roll` |
| `first` | `dice.parity`, `last_roll_draw` | 1 = this side moved first in the game |
| `last_turn` | `last_roll_draw` | 1 = the other side has finished, this is the last turn (DR-1) |
| `fresh` | `head.exception_when=first_roll_flag` | 1 = this side has not rolled yet |
| `captive_1` .. `captive_24` | `contact=emir` | 1 = an own checker lies captive on that own point |
| `emir` | `contact=emir` | own point of the emir, bar included; 0 = borne off |
| `emir_above` | `contact=emir` | checkers above the emir on the head |
| `reserve` | `contact=emir` | nukers not yet on the board |
| `emir_taken` | `contact=emir` | 1 = the other emir has taken this side's emir: lost |
| `preroll` | `contact=emir` | 1 = a pre-roll move may be made now |
| `again` | segments, `contact=emir` | in an afterstate: the side in row 0 acts again |

What the slots hold, so that two engines agree to the last number:

* Before a roll `owed`, `roller` and `head_left` are 0 on both sides. While a roll is played
  exactly one side is the `roller`, and the side to act owes something; if both do, that is the
  heir, who plays first (BNA-4).
* `head_left` of the roller: what the roll allows (1, or 2 with the first-play exception, or all
  checkers) less the checkers that have left the head in it. Of the other side: 1 for the whole
  roll with `transfer.heir_head=per_segment`; with `total`, 1 less the checkers that have left.
* `rolls` and `fresh` change when the first segment of an own roll has been played, or skipped.
* An afterstate holds the memory of the position it leads to, except for `again`. If somebody has
  won with it, `owed`, `roller`, `head_left`, `last_turn`, `preroll` and `again` are 0; a standstill
  keeps them, since it is seen from the position alone.
* `emir_above` is 0 unless the emir stands on the head. `preroll` is 1 exactly if the side that
  acts next has a pre-roll move, judged after its checkers on the bar have returned (EMI-8); the
  decision clears it. Checkers return when their owner's turn begins, not in the afterstate before.
* `again` is 0 in every position before a decision; it says how an afterstate becomes one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nardy_engine.errors import PositionError
from nardy_engine.rules.components import (
    CascadeKind,
    Contact,
    DiceProgram,
    ExceptionWhen,
    ExtraRoll,
    HeadLimit,
    Parity,
    Switch,
    TransferScope,
)
from nardy_engine.types import OFF, SIDE_NAMES, Position

if TYPE_CHECKING:
    from nardy_engine.rules.variant import Variant


class MemorySlot(NamedTuple):
    """One number that a row holds behind the bar."""

    name: str
    slot: int
    """Index in the row."""
    most: int
    """Largest value; the least is 0."""
    is_place: bool = False
    """The value names a slot of the row instead of counting something."""


def has_segments(variant: Variant) -> bool:
    """Return whether a roll can be played in several decisions, or be followed by another (T-9)."""
    return (
        variant.cascade.kind is not CascadeKind.OFF
        or variant.transfer.scope is not TransferScope.OFF
        or variant.extra_roll is not ExtraRoll.OFF
    )


@cache
def memory_slots(variant: Variant) -> tuple[MemorySlot, ...]:
    """Return the memory slots of a row in order; empty for most games."""
    names: list[tuple[str, int, bool]] = []
    sides = variant.dice.sides
    cascade = variant.cascade.kind is not CascadeKind.OFF
    if has_segments(variant):
        programme = variant.dice.program is DiceProgram.N_TIMES_M
        most = sides if programme else variant.dice.double_steps
        names += [(f"owed_{die}", most, False) for die in range(1, sides + 1)]
        names.append(("roller", 1, False))
    if cascade and variant.head.limit is HeadLimit.ONE:
        names.append(("head_left", variant.setup.checkers, False))
    if cascade and variant.cascade.from_roll > 1:
        names.append(("rolls", variant.cascade.from_roll, False))
    if variant.dice.parity is not Parity.OFF or variant.last_roll_draw is Switch.ON:
        names.append(("first", 1, False))
    if variant.last_roll_draw is Switch.ON:
        names.append(("last_turn", 1, False))
    if variant.head.exception_when is ExceptionWhen.FIRST_ROLL_FLAG:
        names.append(("fresh", 1, False))
    if variant.contact is Contact.EMIR:
        names += [(f"captive_{point}", 1, False) for point in range(1, variant.setup.points + 1)]
        names.append(("emir", variant.bar, True))
        names.append(("emir_above", variant.setup.checkers, False))
        names.append(("reserve", variant.setup.reserve, False))
        names += [("emir_taken", 1, False), ("preroll", 1, False)]
    if has_segments(variant) or variant.contact is Contact.EMIR:
        names.append(("again", 1, False))
    first = variant.bar + 1
    return tuple(
        MemorySlot(name, first + i, most, is_place)
        for i, (name, most, is_place) in enumerate(names)
    )


@cache
def slot_limits(variant: Variant) -> tuple[int, ...]:
    """Return the largest number that each slot of a row can hold."""
    return (
        *[variant.setup.checkers] * variant.n_counts,
        *(item.most for item in memory_slots(variant)),
    )


@cache
def memory_index(variant: Variant) -> dict[str, int]:
    """Return the slot of each memory name that the game has."""
    return {item.name: item.slot for item in memory_slots(variant)}


def owed_dice(variant: Variant, row: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Return `(die, steps)` that a side must still play before anybody rolls, lowest first."""
    first = memory_index(variant).get("owed_1")
    if first is None:
        return ()
    steps = row[first : first + variant.dice.sides]
    return tuple((die, n) for die, n in enumerate(steps, start=1) if n)


def check_memory(variant: Variant, position: Position) -> None:
    """Refuse memory that no game of the variant can lead to before a decision.

    Raises:
        PositionError: A number is out of its range, or two of them contradict each other.
    """
    for name, row in zip(SIDE_NAMES, position, strict=True):
        for item in memory_slots(variant):
            if not 0 <= row[item.slot] <= item.most:
                raise PositionError(
                    f"{name} has {item.name} {row[item.slot]}; it is 0 to {item.most}"
                )
        if variant.recall(row, "again"):
            raise PositionError(f"{name} has 'again' set, which only an afterstate can have")
    if has_segments(variant):
        _check_segments(variant, position)
    _check_first(variant, position)
    if variant.captives_exist:
        for name, row, other in zip(SIDE_NAMES, position, position[::-1], strict=True):
            _check_emir(variant, name, row, other)


def _check_segments(variant: Variant, position: Position) -> None:
    """Refuse dice owed to nobody in particular, and a roller before his heir (T-9, BNA-4)."""
    mover_owes, opponent_owes = (bool(owed_dice(variant, row)) for row in position)
    if opponent_owes and not mover_owes:
        raise PositionError("the other side has dice to play, so it is the side to act")
    if sum(variant.recall(row, "roller") for row in position) != mover_owes:
        raise PositionError(
            "while dice are to be played exactly one side is the one that threw them, "
            "before a roll none is"
        )
    if opponent_owes and variant.recall(position.mover, "roller"):
        raise PositionError(
            "the side that threw the dice goes on when the other side has played what it inherited"
        )


def _check_first(variant: Variant, position: Position) -> None:
    """Refuse two first players, and a last turn that is none (CHN-1, DR-1)."""
    mover, opponent = position
    first = [variant.recall(row, "first") for row in position]
    if variant.remembers("first") and sum(first) != 1:
        raise PositionError("exactly one side moved first")
    finished = variant.board_checkers(opponent) == 0 < variant.board_checkers(mover)
    last = [variant.recall(row, "last_turn") for row in position]
    if last[1] or (last[0] and not (finished and first[1])):
        raise PositionError(
            "a last turn is played by the side that moved second, after the other has finished"
        )


def _check_emir(variant: Variant, name: str, row: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Refuse captives without captor and an emir that stands nowhere (EMI-4, EMI-5)."""
    captives = variant.captives(row)
    for point in captives:
        theirs = variant.opposite_point(point)
        if not other[theirs]:
            raise PositionError(
                f"{name} has a captive on point {point}, where the other side has no checker"
            )
        if row[point] or theirs in variant.captives(other):
            raise PositionError(f"{name} has a captive on point {point} beside free checkers")
    place = variant.recall(row, "emir")
    if not row[place] and place not in captives:
        where = "borne off" if place == OFF else f"on {place}"
        raise PositionError(f"{name} has its emir {where}, where it has no checker")
    above = variant.recall(row, "emir_above")
    if above > (max(row[place] - 1, 0) if place == variant.head_point else 0):
        raise PositionError(
            f"{name} has {above} checkers above the emir; they stand on the head with it"
        )
