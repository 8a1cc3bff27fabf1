"""OGID (OpenGammon, HedgeHog) and the compact id of every game, `VARIANT:` before an OGID.

Layer 3; imports errors, types, rules. Fields, parted by colons:

    P1 P2   one character per checker of White, of Black: its *absolute* point
    CUBE    owner `W B N D ?`, power of two, action `N` none `O` offered `T` taken `P` passed
    DICE    two digits, or empty before the roll
    TURN    `W` or `B`: who *reached* the position, so the other side is on roll
    STATE   `R` rolled, `C` not rolled yet, `D` double offered; read: `IW IB A P G M RG RM` too
    SCORE_WHITE SCORE_BLACK LENGTH MOVE N_CHECKERS   match, move counter, checkers if not 15

Absolute point `a` is White's own `n + 1 - a` on a board of `n` points, whatever the game: White
goes from 1 up to `n`. Black stands on the same ring, so in short nardy Black's own `p` is `p`, and
in the same-direction games it is `((n / 2 - p) mod n) + 1`: the two heads are 1 and `n / 2 + 1`.
White's bar is 0 and Black's is `n + 1`; borne-off checkers are not written (read: `n + 2`). The
characters are `0-9`, then `a` = 10 and so on.

The *compact id* is `VARIANT:P1:P2:CUBE:DICE:TURN:STATE`, the scores added only if there is a match:
`long:111111111111111:ddddddddddddddd:N0N:66:B:R` is White to play 6-6 from the start position.
Where a game remembers more than checkers (`rules.memory`), two further parts follow after
semicolons, White's and Black's memory by name as far as a reader does not assume it (`recall`):
`mad_nardy:111...:ddd...:N0N::W:C;;owed_6=4`. Letters are free checkers; captives, nukers and emir
stand in the memory.
Programs disagree about TURN; `turn_meaning="on_roll"` reads it as the side on roll. Two exceptions
hold in the first meaning: state `IW` (the default) without dice is White about to roll, and where a
double is offered TURN names the doubler.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nardy_engine.errors import NotationError
from nardy_engine.notation.recall import Memory, stated_memory, unusual_memory
from nardy_engine.notation.situation import (
    SIDE_NAMES,
    Match,
    ParsedPosition,
    Side,
    other_side,
    situation,
)
from nardy_engine.rules import Variant
from nardy_engine.rules.memory import memory_index
from nardy_engine.types import MOVER, OFF, OPPONENT, Dice, Row

PREFIX = "OGID="

TurnMeaning: TypeAlias = Literal["reached", "on_roll"]
"""What the TURN field names: who made the last play (HedgeHog), or who is on roll."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SHAPE = re.compile(r"(?i)(ogid=)?[0-9a-z]*:[0-9a-z]*:[BWND?][0-9]+[OTPN](:.*)?")
_CUBE = re.compile(r"([BWND?])([0-9]{1,2})([OTPN])")
_LENGTH = re.compile(r"([0-9]{1,5})([CL]|G[0-9]*)?")
_MEMORY = re.compile(r"([a-z0-9_]+)=([0-9]{1,3})")
_STATES = ("IW", "IB", "R", "C", "D", "A", "P", "G", "M", "RG", "RM")
_MOST_FIELDS = 11
_STANDARD_CHECKERS = 15
_OWNERS: dict[str, Side | None] = {"W": "W", "B": "B", "N": None, "D": None, "?": None}


@dataclass(frozen=True, kw_only=True)
class Ogid:
    """The fields of an OGID, none of them lost; build one with `parse_ogid` or `ogid_fields`."""

    variant: Variant
    white: Row
    """Checkers in own numbering; memory slots, if any, are not used."""
    black: Row
    memory: tuple[Memory, Memory] = ({}, {})
    """What the parts of a compact id behind the OGID say about White and Black."""
    cube: str = "N0N"
    """Owner, power of two, action, as written."""
    dice: Dice | None = None
    turn: Side | None = None
    """As written; None if the field is missing."""
    state: str = ""
    """As written; empty if the field is missing."""
    rest: tuple[str, ...] = ()
    """Scores, length, move counter, number of checkers, as written."""

    def side(self, turn_meaning: TurnMeaning = "reached") -> Side:
        """Return the side on roll."""
        initial = (self.state or "IW") == "IW"
        if turn_meaning == "on_roll":
            return self.turn or "W"
        if self.turn is None or (initial and self.dice is None):
            return "W"
        return self.turn if self.cube.endswith("O") else other_side(self.turn)

    def parsed(self, turn_meaning: TurnMeaning = "reached") -> ParsedPosition:
        """Return checkers, side to act and roll, with the match unless it is plain money play."""
        side = self.side(turn_meaning)
        offered = self.cube.endswith("O")
        scores = [int(field or 0) for field in (*self.rest[:2], "", "")[:2]]
        length = _LENGTH.fullmatch(self.rest[2]) if len(self.rest) > 2 else None
        match = Match(
            cube_log2=int(self.cube[1:-1]),
            cube_owner=_OWNERS[self.cube[0]],
            doubled=offered,
            decider=other_side(side) if offered else None,
            length=int(length.group(1)) if length else 0,
            score_white=scores[0],
            score_black=scores[1],
            crawford=bool(length and length.group(2) == "C"),
        )
        known = None if match == Match() else match
        counts: dict[Side, Row] = {"W": self.white, "B": self.black}
        given: dict[Side, Memory] = {"W": self.memory[0], "B": self.memory[1]}
        return situation(self.variant, counts, side, self.dice, known, given)


def looks_like_ogid(text: str) -> bool:
    """Say whether the text has the outer shape of an OGID, with or without `OGID=`."""
    return _SHAPE.fullmatch(text.strip()) is not None


# -- points ---------------------------------------------------------------------------------------


def absolute_slots(variant: Variant, side: Side) -> tuple[int, ...]:
    """Return the absolute number of each own point and of the bar; entry 0 (off) is `n + 2`."""
    n = variant.setup.points
    if side == "W":
        return (n + 2, *range(n, 0, -1), OFF)
    points = (n + 1 - variant.opposite_point(point) for point in range(1, n + 1))
    return (n + 2, *points, n + 1)


def _letters(variant: Variant, side: Side, row: Row) -> str:
    slots = absolute_slots(variant, side)
    found = [slots[slot] for slot in range(1, variant.n_counts) for _ in range(row[slot])]
    return "".join(_DIGITS[slot] for slot in sorted(found))


def _row(variant: Variant, side: Side, letters: str, memory: Memory) -> Row:
    own = {absolute: slot for slot, absolute in enumerate(absolute_slots(variant, side))}
    row = [0] * variant.n_counts
    for letter in letters:
        value = _DIGITS.index(letter)
        if value not in own:
            raise NotationError(
                f"'{letter}' is no place of {SIDE_NAMES[side]}'s checkers in the id "
                f"'{letters[:40]}' of {variant.id}"
            )
        row[own[value]] += 1
    captive = sum(n for name, n in memory.items() if name.startswith("captive_"))
    missing = max(0, variant.setup.checkers - len(letters) - captive)
    row[OFF] += missing - memory.get("reserve", min(missing, variant.setup.reserve))
    return tuple(row)


# -- reading and writing --------------------------------------------------------------------------


def parse_ogid(text: str, variant: Variant, memory: tuple[Memory, Memory] = ({}, {})) -> Ogid:
    """Read an OGID, with or without `OGID=`; checkers in any order.

    Args:
        text: The OGID.
        variant: The game.
        memory: What else is known of White and of Black.

    Raises:
        NotationError: The text is no OGID.
        PositionError: The position cannot occur in this game.
        DiceError: The roll is impossible.
    """
    fields = re.sub("(?i)^ogid=", "", text.strip()).split(":")
    if not 3 <= len(fields) <= _MOST_FIELDS:
        raise NotationError(f"an OGID has 3 to {_MOST_FIELDS} fields, this text has {len(fields)}")
    for name, letters in zip(SIDE_NAMES.values(), fields[:2], strict=True):
        if not re.fullmatch("[0-9a-z]*", letters.lower()) or not letters.isascii():
            raise NotationError(f"{name}'s checkers are 0-9 and a-z, not '{letters[:40]}'")
    cube, dice, turn, state = (*fields[2:6], "", "", "")[:4]
    if not _CUBE.fullmatch(cube):
        raise NotationError(f"the cube of an OGID is like N0N or W1O, not '{cube[:40]}'")
    if turn not in ("W", "B", ""):
        raise NotationError(f"the turn of an OGID is W or B, not '{turn[:40]}'")
    if state not in (*_STATES, ""):
        raise NotationError(
            f"the state of an OGID is one of {', '.join(_STATES)}, not '{state[:40]}'"
        )
    if not re.fullmatch("([0-9]{2})?", dice):
        raise NotationError(f"the dice of an OGID are two digits or nothing, not '{dice[:40]}'")
    ogid = Ogid(
        variant=variant,
        white=_row(variant, "W", fields[0].lower(), memory[0]),
        black=_row(variant, "B", fields[1].lower(), memory[1]),
        memory=memory,
        cube=cube,
        dice=variant.check_dice((int(dice[0]), int(dice[1]))) if dice else None,
        turn="W" if turn == "W" else "B" if turn else None,
        state=state,
        rest=_checked_rest(tuple(fields[6:]), variant),
    )
    variant.check_position(ogid.parsed().position)
    return ogid


def _checked_rest(rest: tuple[str, ...], variant: Variant) -> tuple[str, ...]:
    names = ("score of White", "score of Black", "match length", "move counter", "checkers")
    for name, field in zip(names, rest, strict=False):
        pattern = _LENGTH if name == "match length" else re.compile("[0-9]{1,5}")
        if field and not pattern.fullmatch(field):
            raise NotationError(f"the {name} of an OGID cannot be '{field[:40]}'")
    if len(rest) == len(names) and rest[-1] and int(rest[-1]) != variant.setup.checkers:
        raise NotationError(
            f"this OGID is for {int(rest[-1])} checkers; "
            f"{variant.id} is played with {variant.setup.checkers}"
        )
    return rest


def format_ogid(variant: Variant, ogid: Ogid) -> str:
    """Write an OGID without the prefix: checkers ascending, the dice in the order given."""
    dice = "{}{}".format(*ogid.dice) if ogid.dice else ""
    fields = [
        _letters(variant, "W", ogid.white),
        _letters(variant, "B", ogid.black),
        ogid.cube,
        dice,
        ogid.turn or "",
        ogid.state,
        *ogid.rest,
    ]
    while not fields[-1]:
        fields.pop()
    return ":".join(fields)


def ogid_fields(variant: Variant, parsed: ParsedPosition) -> Ogid:
    """Turn a position into the fields of an OGID; TURN names who reached it."""
    match = parsed.match
    offered = match is not None and match.doubled
    rest: tuple[str, ...] = ()
    cube = "N0N"
    if match is not None:
        cube = f"{match.cube_owner or 'N'}{match.cube_log2}{'O' if offered else 'N'}"
        if match.length:
            length = f"{match.length}{'C' if match.crawford else ''}"
            rest = (str(match.score_white), str(match.score_black), length, "0")
    if variant.setup.checkers != _STANDARD_CHECKERS and rest:
        rest = (*rest, str(variant.setup.checkers))
    return Ogid(
        variant=variant,
        white=parsed.row("W"),
        black=parsed.row("B"),
        memory=_memory(variant, parsed),
        cube=cube,
        dice=parsed.dice,
        turn=parsed.side if offered else other_side(parsed.side),
        state="D" if offered else "R" if parsed.dice else "C",
        rest=rest,
    )


# -- the compact id -------------------------------------------------------------------------------


def compact_id(variant: Variant, parsed: ParsedPosition) -> str:
    """Write the compact id of any game; the module's docstring defines it.

    >>> from nardy_engine import load_variant
    >>> long = load_variant("long")
    >>> compact_id(long, ParsedPosition(long.start_position()))
    'long:111111111111111:ddddddddddddddd:N0N::B:C'
    """
    ogid = ogid_fields(variant, parsed)
    parts = [",".join(f"{name}={n}" for name, n in memory.items()) for memory in ogid.memory]
    suffix = f";{';'.join(parts)}" if any(parts) else ""
    return f"{variant.id}:{format_ogid(variant, ogid)}{suffix}"


def _memory(variant: Variant, parsed: ParsedPosition) -> tuple[Memory, Memory]:
    """Return what must be said about the memory of White and of Black."""
    if not variant.memory:
        return {}, {}
    first = MOVER if parsed.side == "W" else OPPONENT
    unusual = unusual_memory(variant, parsed.position, first)
    said = [{**stated_memory(variant, parsed.position[row]), **unusual[row]} for row in (0, 1)]
    return said[first], said[1 - first]


def parse_compact_id(
    text: str, variant: Variant, turn_meaning: TurnMeaning = "reached"
) -> ParsedPosition:
    """Read a compact id, which must be of this game.

    Args:
        text: The id.
        variant: The game.
        turn_meaning: What TURN names; see the module's docstring.

    Raises:
        NotationError: The text is no compact id, or one of another game.
        PositionError: The position cannot occur in this game.
        DiceError: The roll is impossible.
    """
    game, colon, rest = text.strip().partition(":")
    rest, *parts = rest.split(";")
    if not colon or not looks_like_ogid(rest):
        raise NotationError(
            f"a compact id is like '{variant.id}:P1:P2:N0N::B:C', not '{text[:60]}'"
        )
    if game.lower() != variant.id:
        raise NotationError(f"this id is of the game '{game[:40]}', not of {variant.id}")
    white, black = (_parsed_memory(variant, part) for part in _two(parts))
    return parse_ogid(rest, variant, (white, black)).parsed(turn_meaning)


def _two(parts: list[str]) -> list[str]:
    if len(parts) not in (0, len(SIDE_NAMES)):
        raise NotationError(
            "behind a compact id stand White's and Black's memory, each after a semicolon"
        )
    return parts or [""] * len(SIDE_NAMES)


def _parsed_memory(variant: Variant, text: str) -> Memory:
    memory: dict[str, int] = {}
    for entry in filter(None, text.strip().split(",")):
        match = _MEMORY.fullmatch(entry.strip())
        if not match or match[1] not in memory_index(variant) or match[1] in memory:
            raise NotationError(
                f"'{entry[:40]}' is nothing that {variant.id} remembers; write it like owed_5=2"
            )
        memory[match[1]] = int(match[2])
    return memory
