"""The parts that a game is made of: frozen, validated, nothing but data; layer 2.

Field and value names are those of rules.md section 4.1, so that `head.limit` there is
`Variant.head.limit` here. A component checks its own values; what must fit *between* components
is checked in `variant.py`. No component holds a callable: kernels and reference read the values
and implement the rules independently of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from operator import index
from typing import Any

from nardy_engine.errors import VariantError


class Direction(str, Enum):
    """How the two routes lie on the ring (G-2, G-5)."""

    SAME = "same"
    """Both sides travel the same way, half a ring apart."""
    OPPOSITE = "opposite"
    """The sides travel against each other, as in short nardy."""


class Opening(str, Enum):
    """Which dice the first player plays in his first turn (L-2, S-2)."""

    REROLL = "reroll"
    """The winner of the opening throws both dice anew."""
    OPENING_DICE = "opening_dice"
    """The two opening dice are played, so the first turn is never a double."""


class HeadLimit(str, Enum):
    """How many checkers may leave the head in one roll (L-5, FEV-2, KHA-2)."""

    ONE = "1"
    NONE = "none"
    RUNNER = "runner"
    """Only the runner may be off the head until it has passed the opponent's head."""


class HeadException(str, Enum):
    """When two checkers may leave the head in the first play (L-6, L-7, D-01)."""

    HEAD_BLOCKED = "head_blocked"
    LISTED = "listed"
    PRINCIPLE = "principle"
    SECOND_PLAYER_ANY_BLOCKED = "second_player_any_blocked"
    ANY_DOUBLE = "any_double"
    NONE = "none"


class ExceptionWhen(str, Enum):
    """What makes a play the first one of its side (L-7a, D-22)."""

    ALL_ON_HEAD = "all_on_head"
    """All own checkers stand on the head."""
    FIRST_ROLL_FLAG = "first_roll_flag"
    """The side has not rolled before; the state carries a flag."""


class BlockRule(str, Enum):
    """Which six-blocks are forbidden (L-20..L-25, KAR-1, FEV-6, D-04)."""

    AHEAD = "ahead"
    KARZAR = "karzar"
    START_SECTOR = "start_sector"
    NEVER = "never"
    NONE = "none"


class BlockCheck(str, Enum):
    """At which stage the block rule acts (L-23, D-05)."""

    END_OF_SEGMENT = "end_of_segment"
    EVERY_STEP = "every_step"


class KarzarScope(str, Enum):
    """Which blocks `karzar` means (KAR-1, D-06)."""

    TRAPPING = "trapping"
    ANY_RUN = "any_run"


class DiceProgram(str, Enum):
    """What a roll gives to play (T-1, AST-1)."""

    STANDARD = "standard"
    N_TIMES_M = "n_times_m"
    """As many steps of the larger number as the smaller number says."""


class Parity(str, Enum):
    """Whether the smaller number of a roll decides who may play it (CHN-1)."""

    OFF = "off"
    WHITE_EVEN_BLACK_ODD = "white_even_black_odd"
    """The side that moved first plays even numbers only, the other one odd numbers only."""


class CascadeKind(str, Enum):
    """Whether a double is followed by the higher doubles (BGU-1)."""

    OFF = "off"
    TO_SIX = "to_six"


class TransferScope(str, Enum):
    """Of which rolls the other side must play what the roller cannot (GUL-1, BGU-5, D-09)."""

    OFF = "off"
    ALL_ROLLS = "all_rolls"
    DOUBLES_ONLY = "doubles_only"


class TransferMode(str, Enum):
    """What follows a cascade level that the roller could not finish (BGU-2, BNA-4, D-08)."""

    REMAINDER = "remainder"
    """The roll ends for the roller: the heir gets the rest of the level and all higher levels."""
    LEVEL = "level"
    """The heir gets the rest of the level, the roller goes on with the next one."""


class HeirMode(str, Enum):
    """How the heir plays what he inherits (BGU-3, D-20)."""

    SKIP_AND_CONTINUE = "skip_and_continue"
    """Level by level; a step he cannot make is lost."""
    STOP_AT_FIRST_UNPLAYABLE = "stop_at_first_unplayable"
    """Level by level; the first step he cannot make ends the inheritance."""
    FREE_POOL = "free_pool"
    """All inherited steps together, in any order."""


class ZeroFirstLevel(str, Enum):
    """What happens if no step of a rolled double can be played (BNA-5, D-14)."""

    VOID_ROLL = "void_roll"
    SKIP_LEVEL = "skip_level"
    TRANSFER = "transfer"


class HeirHead(str, Enum):
    """How many checkers may leave the heir's head (GUL-3, BNA-7, BGU-4)."""

    PER_SEGMENT = "per_segment"
    """One in each inherited segment."""
    TOTAL = "total"
    """One in all that he inherits from a roll."""


class ExtraRoll(str, Enum):
    """Who rolls again (GUL-4)."""

    OFF = "off"
    AFTER_FULL_DOUBLE = "after_full_double"


class TeleportKind(str, Enum):
    """Which dice move a head checker straight home (KAF-2, ONE-1, KAB-1)."""

    OFF = "off"
    KAFTAR = "kaftar"
    """The lowest and the highest number of a die, always."""
    KAFTAR_OPTIONAL = "kaftar_optional"
    """The same numbers, as the player likes."""
    KABUTAR = "kabutar"
    """Doubles, always."""


class TeleportFallback(str, Enum):
    """What becomes of a teleport die that cannot teleport (KAF-7, KAF-8, KAB-2, KAB-3, D-12)."""

    ORDINARY = "ordinary"
    LOST = "lost"


class Switch(str, Enum):
    """A rule that a game has or has not."""

    OFF = "off"
    ON = "on"


class NextFirst(str, Enum):
    """Who moves first in the next game of a match (MT-1, D-21)."""

    ALTERNATE = "alternate"
    WINNER = "winner"
    ROLL_OFF = "roll_off"


class Overshoot(str, Enum):
    """When a die larger than needed bears off (L-32, BNA-3, D-10)."""

    HIGHEST = "highest"
    EXACT_ONLY = "exact_only"
    HIGHEST_OR_ALL_HIGHER_BLOCKED = "highest_or_all_higher_blocked"


class Contact(str, Enum):
    """What the sides can do to each other's checkers (L-4, S-3)."""

    NONE = "none"
    """One opposing checker closes a point."""
    HIT = "hit"
    """A single checker can be hit and sent to the bar; two close a point."""
    EMIR = "emir"
    """A single checker can be pinned, or hit with a double; one of the checkers is the emir."""


class Objective(str, Enum):
    """Who wins when somebody has borne off everything (L-40, POD-2)."""

    FIRST_OFF_WINS = "first_off_wins"
    FIRST_OFF_LOSES = "first_off_loses"


class Score(str, Enum):
    """What a win is worth (L-40, S-8, SC-1..SC-6)."""

    OIN_MARS = "oin_mars"
    OIN_MARS_KOKS = "oin_mars_koks"
    OIN_MARS_KOKS_HOMEMARS = "oin_mars_koks_homemars"
    CHECKERS_LEFT = "checkers_left"
    BACKGAMMON = "backgammon"


@dataclass(frozen=True, kw_only=True)
class Component:
    """Base of the components: turns plain TOML values into typed ones and refuses the rest."""

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> Any:
        """Build the component from a TOML table.

        Args:
            name: Name of the table, for error messages (`head`).
            table: Plain values by field name.

        Raises:
            VariantError: A field is unknown or its value is not one of those allowed.
        """
        known = {field.name: field for field in fields(cls)}
        for key in table:
            if key not in known:
                raise VariantError(
                    f"unknown rule option '{name}.{key}'; {name} has {', '.join(sorted(known))}"
                )
        # The field `kind` goes by the name of its table, `cascade = "to_six"`.
        names = {key: name if key == "kind" else f"{name}.{key}" for key in table}
        return cls(
            **{key: parse_option(names[key], cls.parsers()[key], table[key]) for key in table}
        )

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Map each field to its type: an Enum class, `bool`, `int`, `"numbers"` or `"counts"`."""
        raise NotImplementedError


def parse_option(name: str, kind: Any, value: Any) -> Any:
    """Turn the plain `value` of option `name` into `kind`.

    Args:
        name: Full option name, for the message.
        kind: An Enum class, `bool`, `int`, `"numbers"` (a sorted tuple of ints) or `"counts"`
            (a tuple of `(point, count)` pairs, highest point first).
        value: What TOML, JSON or the command line gave; text like `{1,6}` is understood.

    Raises:
        VariantError: The value is not one of those allowed; the message lists them.
    """
    if isinstance(kind, type) and issubclass(kind, Enum):
        allowed = [member.value for member in kind]
        text = value.value if isinstance(value, Enum) else str(value)
        if isinstance(value, bool) and "off" in allowed:  # what YAML makes of on and off
            text = "on" if value else "off"
        if text not in allowed:
            raise VariantError(f"{name} cannot be '{text}'; it is one of {', '.join(allowed)}")
        return kind(text)
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise VariantError(f"{name} cannot be '{value}'; it is true or false")
        return str(value).lower() == "true"
    try:
        if kind is int:
            return _whole(value)
        if kind == "numbers":
            parts = value.strip("{}[]() ").split(",") if isinstance(value, str) else list(value)
            return tuple(sorted({_whole(part) for part in parts if str(part).strip()}))
        given = _pairs(value) if isinstance(value, str) else list(dict(value).items())
        counts = {_whole(point): _whole(count) for point, count in given}
        if len(counts) != len(given):
            raise ValueError
        return tuple(sorted(counts.items(), reverse=True))
    except (TypeError, ValueError):
        what = {
            "numbers": "a list of numbers such as {1,6}",
            "counts": "points with the number of checkers on each, such as {24:14 23:1}",
        }
        raise VariantError(
            f"{name} cannot be '{value}'; it is {what.get(kind, 'a whole number')}"
        ) from None


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of a text such as `{24:14 23:1}`; `,` and `=` do as well."""
    words = text.strip("{}[]() ").replace(",", " ").split()
    pairs = [word.replace("=", ":").split(":") for word in words]
    return [(point, count) for point, count in pairs]


def _whole(value: Any) -> int:
    """Return a whole number or the one that a text shows; nothing is rounded, True is no number."""
    if isinstance(value, bool):
        raise TypeError
    return int(value) if isinstance(value, str) else index(value)


@dataclass(frozen=True, kw_only=True)
class Setup(Component):
    """Board, checkers and start position (G-1, L-1, S-1); the same for both sides."""

    points: int
    """Points of the ring."""
    home: int
    """Points of a home board; a start quarter has as many."""
    checkers: int
    """Checkers of a side."""
    start: tuple[tuple[int, int], ...]
    """`(own point, checkers)` pairs, highest point first."""
    direction: Direction
    reserve: int = 0
    """Checkers (nukers) that wait off the board at the start (EMI-1)."""
    emir_above: int = 0
    """Checkers that leave the head before the emir does (EMI-2)."""

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {
            "points": int,
            "home": int,
            "checkers": int,
            "start": "counts",
            "direction": Direction,
            "reserve": int,
            "emir_above": int,
        }

    def __post_init__(self) -> None:
        """Refuse boards that the bit sets of the kernels or the geometry cannot hold."""
        if not 8 <= self.points <= 28 or self.points % 2:
            raise VariantError(f"setup.points is {self.points}; it must be even, from 8 to 28")
        if not 1 <= self.home <= self.points // 4:
            raise VariantError(
                f"setup.home is {self.home}; it must be from 1 to a quarter of the board"
            )
        if not 1 <= self.checkers <= 60:
            raise VariantError(f"setup.checkers is {self.checkers}; it must be from 1 to 60")
        for point, count in self.start:
            if not 1 <= point <= self.points or count < 1:
                raise VariantError(
                    f"setup.start puts {count} checkers on point {point}; "
                    f"points run from 1 to {self.points} and hold at least one"
                )
        total = sum(count for _, count in self.start) + self.reserve
        if total != self.checkers:
            waiting = f" with the {self.reserve} in reserve" if self.reserve else ""
            raise VariantError(f"setup.start holds {total} checkers{waiting}, not {self.checkers}")


@dataclass(frozen=True, kw_only=True)
class Head(Component):
    """How checkers leave the head, the highest own point (L-5..L-9)."""

    limit: HeadLimit
    exception: HeadException
    exception_doubles: tuple[int, ...]
    """Doubles for which the first-play exception exists (L-6)."""
    lifted_by: tuple[int, ...]
    """Dice that lift the limit for the roll that contains one of them (KAF-4)."""
    exception_when: ExceptionWhen = ExceptionWhen.ALL_ON_HEAD

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {
            "limit": HeadLimit,
            "exception": HeadException,
            "exception_doubles": "numbers",
            "lifted_by": "numbers",
            "exception_when": ExceptionWhen,
        }


@dataclass(frozen=True, kw_only=True)
class Block(Component):
    """Which runs of occupied points are forbidden, and when that is checked (L-20..L-25)."""

    rule: BlockRule
    check: BlockCheck
    karzar_scope: KarzarScope
    length: int
    """Points of the shortest run that counts as a block (L-20)."""

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"rule": BlockRule, "check": BlockCheck, "karzar_scope": KarzarScope, "length": int}


@dataclass(frozen=True, kw_only=True)
class DiceRules(Component):
    """What a roll gives to play (T-1, T-7, AST-1)."""

    program: DiceProgram
    sides: int
    """Numbers on a die."""
    double_steps: int
    """Steps that a double gives in the standard programme."""
    parity: Parity = Parity.OFF

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"program": DiceProgram, "sides": int, "double_steps": int, "parity": Parity}

    def __post_init__(self) -> None:
        """Refuse dice that the counters of the kernels cannot hold."""
        if not 2 <= self.sides <= 6:
            raise VariantError(f"dice.sides is {self.sides}; it must be from 2 to 6")
        if not 2 <= self.double_steps <= 6:
            raise VariantError(f"dice.double_steps is {self.double_steps}; it must be from 2 to 6")


@dataclass(frozen=True, kw_only=True)
class Bearoff(Component):
    """How checkers leave the board (L-30..L-33, ONE-3, BNA-3)."""

    overshoot: Overshoot
    dice: tuple[int, ...]
    """Numbers that bear off; the others only move."""

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"overshoot": Overshoot, "dice": "numbers"}


@dataclass(frozen=True, kw_only=True)
class Home(Component):
    """Movement inside the own home (BNA-2)."""

    frozen: bool
    """True: a checker never moves from one home point to another."""

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"frozen": bool}


@dataclass(frozen=True, kw_only=True)
class Cascade(Component):
    """Doubles that climb to the highest one (BGU-1)."""

    kind: CascadeKind = CascadeKind.OFF
    from_roll: int = 1
    """First own roll whose doubles climb; earlier ones are ordinary (7.12 note)."""

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"kind": CascadeKind, "from_roll": int}

    def __post_init__(self) -> None:
        """Refuse counts that the state does not hold."""
        if not 1 <= self.from_roll <= 8:
            raise VariantError(f"cascade.from_roll is {self.from_roll}; it must be from 1 to 8")


@dataclass(frozen=True, kw_only=True)
class Transfer(Component):
    """What becomes of dice that the roller cannot play (GUL-1..GUL-3, BGU-2..BGU-5, BNA-4..6)."""

    scope: TransferScope = TransferScope.OFF
    mode: TransferMode = TransferMode.REMAINDER
    heir: HeirMode = HeirMode.SKIP_AND_CONTINUE
    zero_first_level: ZeroFirstLevel = ZeroFirstLevel.VOID_ROLL
    heir_head: HeirHead = HeirHead.PER_SEGMENT

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {
            "scope": TransferScope,
            "mode": TransferMode,
            "heir": HeirMode,
            "zero_first_level": ZeroFirstLevel,
            "heir_head": HeirHead,
        }


@dataclass(frozen=True, kw_only=True)
class Teleport(Component):
    """Dice that move a head checker straight to the home point they show (KAF, ONE, KAB)."""

    kind: TeleportKind = TeleportKind.OFF
    blocked: TeleportFallback = TeleportFallback.ORDINARY
    """The destination is closed (KAF-8, KAB-3)."""
    short_head: TeleportFallback = TeleportFallback.ORDINARY
    """Fewer checkers on the head than teleport dice (KAF-7, KAB-2)."""

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"kind": TeleportKind, "blocked": TeleportFallback, "short_head": TeleportFallback}


@dataclass(frozen=True, kw_only=True)
class Cube(Component):
    """The doubling cube (CU-1..CU-9); it changes what a game is worth, never how it is played."""

    kind: Switch = Switch.OFF
    max: int = 64
    """Highest face; 0 = unlimited."""
    crawford: bool = True
    jacoby: bool = False
    beaver: bool = False
    automatic_doubles: bool = False

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {
            "kind": Switch,
            "max": int,
            "crawford": bool,
            "jacoby": bool,
            "beaver": bool,
            "automatic_doubles": bool,
        }

    def __post_init__(self) -> None:
        """Refuse faces that no cube shows."""
        if self.max and (self.max < 2 or self.max & (self.max - 1)):
            raise VariantError(f"cube.max is {self.max}; it must be a power of 2, or 0 = unlimited")


@dataclass(frozen=True, kw_only=True)
class Match(Component):
    """Between the games of a match (MT-1)."""

    next_first: NextFirst = NextFirst.ALTERNATE

    @classmethod
    def parsers(cls) -> Mapping[str, Any]:
        """Return the type of each field."""
        return {"next_first": NextFirst}
