"""A game as data: its components, what must fit between them, its digest; layer 2.

`Variant` is immutable and hashable. `with_options` gives the same game with other rules, by the
option names of rules.md 4.1; `digest` identifies the rules in every file that depends on them.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from operator import index, itemgetter, mul
from typing import Any, TypeAlias

from nardy_engine.errors import DiceError, PositionError, VariantError
from nardy_engine.rules.components import (
    Bearoff,
    Block,
    BlockCheck,
    BlockRule,
    Component,
    Contact,
    DiceProgram,
    DiceRules,
    Direction,
    Head,
    HeadException,
    HeadLimit,
    Home,
    KarzarScope,
    Objective,
    Opening,
    Overshoot,
    Score,
    Setup,
    parse_option,
)
from nardy_engine.types import OFF, Dice, Position, Row

_COMPONENTS: dict[str, type[Component]] = {
    "setup": Setup,
    "head": Head,
    "block": Block,
    "dice": DiceRules,
    "bearoff": Bearoff,
    "home": Home,
}
_OPTIONS: dict[str, type[Enum]] = {
    "opening": Opening,
    "contact": Contact,
    "objective": Objective,
    "score": Score,
}
WIN_KINDS: dict[Score, tuple[tuple[str, int], ...]] = {
    Score.OIN_MARS: (("oin", 1), ("mars", 2)),
    Score.OIN_MARS_KOKS: (("oin", 1), ("mars", 2), ("koks", 3)),
    Score.OIN_MARS_KOKS_HOMEMARS: (("oin", 1), ("mars", 2), ("koks", 3), ("home mars", 4)),
    Score.BACKGAMMON: (("single", 1), ("gammon", 2), ("backgammon", 3)),
}
"""Names and points of the win kinds of each score; `checkers_left` has one per checker."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One game of the family. Build it with `nardy_engine.load_variant`."""

    id: str
    """Short name, as on the command line."""
    title: str
    russian: str
    setup: Setup
    head: Head
    block: Block
    dice: DiceRules
    bearoff: Bearoff
    home: Home
    opening: Opening
    contact: Contact
    objective: Objective
    score: Score

    # -- geometry -----------------------------------------------------------------------------

    @property
    def n_slots(self) -> int:
        """Slots `P` of a row: off, the points, the bar."""
        return self.setup.points + 2

    @property
    def bar(self) -> int:
        """Slot of the bar, one above the highest point (G-5)."""
        return self.setup.points + 1

    @property
    def head_point(self) -> int:
        """The head: the own point farthest from home."""
        return self.setup.points

    def opposite_point(self, point: int) -> int:
        """Return the opponent's number of my `point` (G-2, G-5)."""
        n = self.setup.points
        if self.setup.direction is Direction.OPPOSITE:
            return n + 1 - point
        return point - n // 2 if point > n // 2 else point + n // 2

    # -- results ------------------------------------------------------------------------------

    @property
    def win_kinds(self) -> tuple[tuple[str, int], ...]:
        """`(name, points)` of each way to win, in the order of `Outcome.kind`."""
        if self.score is Score.CHECKERS_LEFT:
            return tuple((f"{n} left", n) for n in range(1, self.setup.checkers + 1))
        return WIN_KINDS[self.score]

    @property
    def n_outcomes(self) -> int:
        """Number `O` of exclusive outcomes: each win kind for the mover, then for the opponent."""
        return 2 * len(self.win_kinds)

    # -- positions and dice -------------------------------------------------------------------

    def start_row(self) -> Row:
        """Return the start position of one side."""
        row = [0] * self.n_slots
        for point, count in self.setup.start:
            row[point] = count
        return tuple(row)

    def start_position(self) -> Position:
        """Return the start position."""
        return Position(self.start_row(), self.start_row())

    def check_dice(self, dice: Dice) -> Dice:
        """Return the roll as two ints.

        Raises:
            DiceError: It is not two numbers that the dice of this game show.
        """
        try:
            a, b = map(index, dice)
        except (TypeError, ValueError):
            raise DiceError(
                f"a roll is two numbers from 1 to {self.dice.sides}, not {dice}"
            ) from None
        for die in (a, b):
            if not 1 <= die <= self.dice.sides:
                raise DiceError(f"a die shows 1 to {self.dice.sides}, not {die}")
        return a, b

    def check_position(self, position: Position) -> Position:
        """Return the position if it can occur on the board of this game.

        Raises:
            PositionError: A side has the wrong number of checkers, a count is negative, both
                sides hold one point, the bar is used where nothing is hit, both sides wait on
                it before closed homes, or both sides have finished.
        """
        mover, opponent = position
        checkers = self.setup.checkers
        # Readers of many positions come here for each of them: whole rows are looked at, and the
        # fault is searched for only if there is one.
        possible = (
            len(mover) == len(opponent) == self.n_slots
            and sum(mover) == sum(opponent) == checkers
            and min(mover) >= 0 <= min(opponent)
            and not any(map(mul, mover[1:], self._facing(opponent)))
            and not (mover[-1] or opponent[-1] or mover[OFF] == opponent[OFF] == checkers)
        )
        if not possible:
            for name, row in zip(("the side to act", "the other side"), position, strict=True):
                self._check_row(name, row)
            self._check_together(position)
        return position

    @cached_property
    def _facing(self) -> itemgetter[tuple[int, ...]]:
        """Pick from the other side's row the counts on my points, from 1 up."""
        return itemgetter(*(self.opposite_point(point) for point in range(1, self.bar)))

    def _check_row(self, name: str, row: Row) -> None:
        if len(row) != self.n_slots:
            raise PositionError(f"{name} has {len(row)} slots; {self.id} has {self.n_slots}")
        for slot, count in enumerate(row):
            if count < 0:
                raise PositionError(f"{name} has {count} checkers on point {slot}")
        if sum(row) != self.setup.checkers:
            raise PositionError(
                f"{name} has {sum(row)} checkers (off and bar included); "
                f"{self.id} is played with {self.setup.checkers}"
            )
        if row[self.bar] and self.contact is not Contact.HIT:
            raise PositionError(f"{name} has {row[self.bar]} on the bar; {self.id} has no bar")

    def _check_together(self, position: Position) -> None:
        for point in range(1, self.bar):
            theirs = self.opposite_point(point)
            if position.mover[point] and position.opponent[theirs]:
                raise PositionError(
                    f"both sides stand on one point: {point} of the side to act "
                    f"is {theirs} of the other side"
                )
        if all(row[OFF] == self.setup.checkers for row in position):
            raise PositionError("both sides have borne off everything")
        # Whoever was hit last was hit by a checker that had entered, so one home was open.
        entries = range(1, self.dice.sides + 1)
        if all(row[self.bar] and all(row[p] > 1 for p in entries) for row in position):
            raise PositionError("both sides are on the bar against closed home boards")

    # -- options ------------------------------------------------------------------------------

    def options(self) -> dict[str, Any]:
        """Return every rule as a flat dict of plain values, `{"head.limit": "1", ...}`."""
        flat: dict[str, Any] = {}
        for name in _COMPONENTS:
            component = getattr(self, name)
            for field in fields(component):
                flat[f"{name}.{field.name}"] = _plain(getattr(component, field.name))
        for name in _OPTIONS:
            flat[name] = _plain(getattr(self, name))
        return flat

    def with_options(self, options: Mapping[str, Any]) -> Variant:
        """Return this game with some rules changed.

        Args:
            options: Values by option name, such as `{"block.check": "every_step"}`.

        Raises:
            VariantError: A name or value is unknown, or the rules would contradict each other.
        """
        flat = self.options()
        for name, value in options.items():
            if name not in flat:
                near = difflib.get_close_matches(name, flat, n=1, cutoff=0.4)
                hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(flat)}"
                raise VariantError(f"unknown rule option '{name}'; {hint}")
            flat[name] = value
        return variant_from_options(self.id, self.title, self.russian, flat)

    def digest(self) -> str:
        """Return 16 hex digits that change exactly when a rule changes; names do not count."""
        text = json.dumps(self.options(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __post_init__(self) -> None:
        """Refuse combinations that make no sense, in words."""
        for contradiction in _contradictions(self):
            raise VariantError(f"{self.id}: {contradiction}")


def variant_from_options(id: str, title: str, russian: str, options: Mapping[str, Any]) -> Variant:
    """Build a variant from its flat options; the inverse of `Variant.options`.

    Raises:
        VariantError: An option is missing or unknown, a value is not allowed, or the options
            contradict each other.
    """
    tables: dict[str, dict[str, Any]] = {name: {} for name in _COMPONENTS}
    parts: dict[str, Any] = {}
    for name, value in options.items():
        table, dot, field = name.partition(".")
        if dot and table in tables:
            tables[table][field] = value
        elif name in _OPTIONS:
            parts[name] = parse_option(name, _OPTIONS[name], value)
        else:
            raise VariantError(f"unknown rule option '{name}'")
    if tables["bearoff"].get("dice") == "all":
        sides = parse_option("dice.sides", int, tables["dice"].get("sides"))
        tables["bearoff"]["dice"] = range(1, sides + 1)
    for name, component in _COMPONENTS.items():
        missing = [field.name for field in fields(component) if field.name not in tables[name]]
        if missing:
            raise VariantError(f"{id} does not say {name}.{missing[0]}")
        parts[name] = component.from_table(name, tables[name])
    for name in _OPTIONS:
        if name not in parts:
            raise VariantError(f"{id} does not say {name}")
    return Variant(id=id, title=title, russian=russian, **parts)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {str(point): count for point, count in value}
    return list(value) if isinstance(value, tuple) else value


_Clash: TypeAlias = tuple[bool, str]
"""Whether two rules contradict each other, and the sentence that says so."""


def _contradictions(v: Variant) -> list[str]:
    """Say what does not fit together; a field without effect must hold its neutral value.

    That every other value of such a field is refused is what lets a test demand a witness for
    each field that is *not* refused ("no dead rule").
    """
    found = (*_dice_clashes(v), *_head_clashes(v), *_block_clashes(v), *_other_clashes(v))
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
    )


def _other_clashes(v: Variant) -> tuple[_Clash, ...]:
    same = v.setup.direction is Direction.SAME
    theirs = {v.opposite_point(point) for point, _ in v.setup.start}
    return (
        (
            v.home.frozen and v.bearoff.dice != tuple(range(1, v.dice.sides + 1)),
            "home.frozen needs every number to bear off, or a checker could never leave",
        ),
        (
            v.home.frozen and v.bearoff.overshoot is Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED,
            "home.frozen blocks every higher checker; "
            "bearoff.overshoot must be highest or exact_only",
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
    )
