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
from typing import Any

from nardy_engine.errors import DiceError, PositionError, VariantError
from nardy_engine.rules.companions import settle
from nardy_engine.rules.components import (
    Bearoff,
    Block,
    Cascade,
    Component,
    Contact,
    Cube,
    DiceRules,
    Direction,
    ExtraRoll,
    Head,
    Home,
    Match,
    Objective,
    Opening,
    Score,
    Setup,
    Switch,
    Teleport,
    Transfer,
    parse_option,
)
from nardy_engine.rules.contradictions import contradictions
from nardy_engine.rules.memory import MemorySlot, check_memory, memory_index, memory_slots
from nardy_engine.types import OFF, SIDE_NAMES, Dice, Position, Row

_COMPONENTS: dict[str, type[Component]] = {
    "setup": Setup,
    "head": Head,
    "block": Block,
    "dice": DiceRules,
    "bearoff": Bearoff,
    "home": Home,
    "cascade": Cascade,
    "transfer": Transfer,
    "teleport": Teleport,
    "cube": Cube,
    "match": Match,
}
_OPTIONS: dict[str, type[Enum]] = {
    "opening": Opening,
    "contact": Contact,
    "objective": Objective,
    "score": Score,
    "extra_roll": ExtraRoll,
    "last_roll_draw": Switch,
}
_NEUTRAL: dict[str, Any] = {
    "setup.reserve": 0,
    "setup.emir_above": 0,
    "head.exception_when": "all_on_head",
    "dice.parity": "off",
    "cascade": "off",
    "cascade.from_roll": 1,
    "transfer.scope": "off",
    "transfer.mode": "remainder",
    "transfer.heir": "skip_and_continue",
    "transfer.zero_first_level": "void_roll",
    "transfer.heir_head": "per_segment",
    "teleport": "off",
    "teleport.blocked": "ordinary",
    "teleport.short_head": "ordinary",
    "extra_roll": "off",
    "last_roll_draw": "off",
    "cube": "off",
    "cube.max": 64,
    "cube.crawford": True,
    "cube.jacoby": False,
    "cube.beaver": False,
    "cube.automatic_doubles": False,
    "match.next_first": "alternate",
}
"""Values that change nothing; a file that does not name these options means them, and `digest`
leaves them out, so that files made before an option existed stay valid."""

_AROUND_THE_GAME = ("cube", "match")
"""Components that say what a game is worth or which comes next, never how it is played."""

_SHORT_NAMES = {
    name: f"cube.{name}" for name in ("crawford", "jacoby", "beaver", "automatic_doubles")
}
"""Options that rules.md 4.1 names without their component."""

DRAW = "draw"
"""Name of the outcome that is worth nothing to both sides."""

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
    cascade: Cascade
    transfer: Transfer
    teleport: Teleport
    extra_roll: ExtraRoll
    last_roll_draw: Switch
    cube: Cube
    match: Match

    # -- geometry -----------------------------------------------------------------------------

    def __hash__(self) -> int:
        """Return the hash of all fields, worked out once: caches ask for it at every call."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out: another process has other hashes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def n_slots(self) -> int:
        """Slots `P` of a row: off, the points, the bar, then what the game remembers."""
        return self.n_counts + len(memory_slots(self))

    @property
    def n_counts(self) -> int:
        """Slots that hold checkers: off, the points, the bar."""
        return self.setup.points + 2

    @cached_property
    def memory(self) -> tuple[MemorySlot, ...]:
        """The slots behind the bar, see `rules.memory`; empty for most games."""
        return memory_slots(self)

    def remembers(self, name: str) -> bool:
        """Return whether the game has the memory slot `name`."""
        return name in self._memory_index

    def recall(self, row: Row, name: str) -> int:
        """Return the value of memory slot `name` in a row; 0 in a game without it."""
        slot = self._memory_index.get(name)
        return 0 if slot is None else row[slot]

    @cached_property
    def _memory_index(self) -> dict[str, int]:
        return memory_index(self)

    @cached_property
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
        """Number `O` of exclusive outcomes.

        Each win kind for the mover, then for the opponent; then the draw, where there is one.
        """
        return 2 * len(self.win_kinds) + self.has_draw

    @property
    def has_draw(self) -> bool:
        """Whether a game can end in a draw: by the last roll (DR-1), or at a standstill.

        Nobody can ever move again in some positions of emir and of games with a frozen home.
        """
        at_standstill = self.contact is Contact.EMIR or self.home.frozen
        return self.last_roll_draw is Switch.ON or at_standstill

    # -- positions and dice -------------------------------------------------------------------

    def start_row(self, first: bool = True) -> Row:
        """Return the start position of one side, `first` = of the one that moves first."""
        row = [0] * self.n_slots
        for point, count in self.setup.start:
            row[point] = count
        memory = {
            "first": int(first),
            "fresh": 1,
            "emir": self.head_point,
            "emir_above": self.setup.emir_above,
            "reserve": self.setup.reserve,
        }
        for name, value in memory.items():
            if self.remembers(name):
                row[memory_index(self)[name]] = value
        return tuple(row)

    def start_position(self) -> Position:
        """Return the start position, the side that moves first in row 0."""
        return Position(self.start_row(), self.start_row(first=False))

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
            not self.memory
            and len(mover) == len(opponent) == self.n_slots
            and sum(mover) == sum(opponent) == checkers
            and min(mover) >= 0 <= min(opponent)
            and not any(map(mul, mover[1:], self.facing(opponent)))
            and not (mover[-1] or opponent[-1] or mover[OFF] == opponent[OFF] == checkers)
        )
        if not possible:
            for name, row in zip(SIDE_NAMES, position, strict=True):
                self._check_row(name, row)
            self._check_together(position)
            if self.memory:
                check_memory(self, position)
        return position

    @cached_property
    def facing(self) -> itemgetter[tuple[int, ...]]:
        """Pick from a row its counts on the other side's points, in that side's order from 1."""
        return itemgetter(*(self.opposite_point(point) for point in range(1, self.bar)))

    def board_checkers(self, row: Row) -> int:
        """Return the checkers of a side that have still to be borne off to win.

        All but those off and those in reserve (EMI-14); captives count.
        """
        return self.setup.checkers - row[OFF] - self.recall(row, "reserve")

    def captives(self, row: Row) -> tuple[int, ...]:
        """Return the own points on which a checker of the side lies captive (EMI-5)."""
        if self.contact is not Contact.EMIR:
            return ()
        first = memory_index(self)["captive_1"]
        return tuple(p for p in range(1, self.bar) if row[first + p - 1])

    def _check_row(self, name: str, row: Row) -> None:
        if len(row) != self.n_slots:
            raise PositionError(f"{name} has {len(row)} slots; {self.id} has {self.n_slots}")
        for slot, count in enumerate(row):
            if count < 0:
                raise PositionError(f"{name} has {count} checkers on point {slot}")
        apart = len(self.captives(row)) + self.recall(row, "reserve")
        total = sum(row[: self.n_counts]) + apart
        if total != self.setup.checkers:
            what = "off, bar, captives and reserve" if self.captives_exist else "off and bar"
            raise PositionError(
                f"{name} has {total} checkers ({what} included); "
                f"{self.id} is played with {self.setup.checkers}"
            )
        if row[self.bar] and self.contact is Contact.NONE:
            raise PositionError(f"{name} has {row[self.bar]} on the bar; {self.id} has no bar")

    @property
    def captives_exist(self) -> bool:
        """Whether checkers can lie captive under others (EMI-5)."""
        return self.contact is Contact.EMIR

    def _check_together(self, position: Position) -> None:
        for point in range(1, self.bar):
            theirs = self.opposite_point(point)
            if position.mover[point] and position.opponent[theirs]:
                raise PositionError(
                    f"both sides stand on one point: {point} of the side to act "
                    f"is {theirs} of the other side"
                )
        drawn = self.last_roll_draw is Switch.ON
        if not drawn and not any(map(self.board_checkers, position)):
            raise PositionError("both sides have borne off everything")
        if self.contact is not Contact.HIT:
            return
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
                flat[_option_name(name, field.name)] = _plain(getattr(component, field.name))
        for name in _OPTIONS:
            flat[name] = _plain(getattr(self, name))
        return flat

    def with_options(self, options: Mapping[str, Any]) -> Variant:
        """Return this game with some rules changed.

        Fields of this game that have no effect with the rules asked for go back to neutral; those
        asked for stay as they are.

        Args:
            options: Values by option name, such as `{"block.check": "every_step"}`.

        Raises:
            VariantError: A name or value is unknown, or the rules would contradict each other.
        """
        flat = self.options()
        every_face = list(range(1, self.dice.sides + 1))
        asked = {_SHORT_NAMES.get(given, given): value for given, value in options.items()}
        for name, value in asked.items():
            if name not in flat:
                near = difflib.get_close_matches(name, flat, n=1, cutoff=0.4)
                hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(flat)}"
                raise VariantError(f"unknown rule option '{name}'; {hint}")
            flat[name] = _parsed(name, value)
        if "bearoff.dice" not in asked and flat["bearoff.dice"] == every_face:
            flat["bearoff.dice"] = "all"
        settle(flat, asked)
        return variant_from_options(self.id, self.title, self.russian, flat)

    def digest(self) -> str:
        """Return 16 hex digits that change exactly when a rule of play changes.

        Names do not count, nor do cube and match: what a network knows does not depend on them.
        """
        counted = {
            name: value
            for name, value in self.options().items()
            if name.partition(".")[0] not in _AROUND_THE_GAME
            and (name not in _NEUTRAL or value != _NEUTRAL[name])
        }
        text = json.dumps(counted, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __post_init__(self) -> None:
        """Refuse combinations that make no sense, in words."""
        for contradiction in contradictions(self):
            raise VariantError(f"{self.id}: {contradiction}")


def variant_from_options(id: str, title: str, russian: str, options: Mapping[str, Any]) -> Variant:
    """Build a variant from its flat options; the inverse of `Variant.options`.

    Raises:
        VariantError: An option is missing or unknown, a value is not allowed, or the options
            contradict each other.
    """
    tables: dict[str, dict[str, Any]] = {name: {} for name in _COMPONENTS}
    parts: dict[str, Any] = {}
    for name, value in (_NEUTRAL | dict(options)).items():
        table, _, field = name.partition(".")
        if table in tables:
            tables[table][field or "kind"] = value
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


def _parsed(name: str, value: Any) -> Any:
    """Return the value of an option as `Variant.options` has it."""
    if (name, value) == ("bearoff.dice", "all"):
        return value
    table, _, field = name.partition(".")
    kind = _COMPONENTS[table].parsers()[field or "kind"] if table in _COMPONENTS else _OPTIONS[name]
    return _plain(parse_option(name, kind, value))


def _option_name(component: str, field: str) -> str:
    """Return the name of rules.md 4.1: the field `kind` goes by the name of its component."""
    return component if field == "kind" else f"{component}.{field}"


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {str(point): count for point, count in value}
    return list(value) if isinstance(value, tuple) else value
