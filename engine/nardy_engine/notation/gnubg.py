"""gnubg's Position ID, Match ID and the two joined ("GNUID"), for the short family.

Layer 3; imports errors, types, rules. The Position ID lists, for the opponent of the side on roll
and then for the side on roll, the own points 1.. and the bar, as so many ones and a zero each,
packed from the lowest bit; checkers borne off are what is missing. Player 1 of gnubg is White.
"""

from __future__ import annotations

import base64
import binascii

from nardy_engine.errors import NotationError, PositionError
from nardy_engine.notation.recall import with_memory
from nardy_engine.notation.situation import Match, ParsedPosition, Side, other_side, situation
from nardy_engine.rules import Variant
from nardy_engine.rules.components import Contact, Direction
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import MOVER, OFF, Dice, Position, Row

POSITION_ID_LENGTH = 14
"""Characters of a Position ID: 80 bits in Base64."""

MATCH_ID_LENGTH = 12
"""Characters of a Match ID: 72 bits in Base64."""

_POINTS = 24
_MOST_CHECKERS = 15
_POSITION_BITS = 80
_CENTRED = 3
_PLAYERS: tuple[Side, Side] = ("B", "W")
"""Colours of gnubg's players 0 and 1."""


def require_short(variant: Variant, notation: str) -> None:
    """Refuse games that the ids of other backgammon programs cannot hold.

    Raises:
        NotationError: The game is not played as short nardy is.
    """
    fits = (
        variant.setup.direction is Direction.OPPOSITE
        and variant.contact is Contact.HIT
        and variant.setup.points == _POINTS
        and variant.setup.checkers <= _MOST_CHECKERS
    )
    if not fits:
        raise NotationError(
            f"{notation} holds short nardy only, not {variant.id}; "
            f"use the position text or the compact id '{variant.id}:...'"
        )


def require_nothing_to_recall(
    variant: Variant, position: Position, notation: str, first: int = MOVER
) -> None:
    """Refuse positions that remember what only games of this project know.

    Args:
        variant: The game.
        position: Side to act in row 0.
        notation: Its name, for the message.
        first: Row of the side that a reader takes for the one that moved first.

    Raises:
        NotationError: A side has dice to play before anybody rolls (T-9), or a reader would assume
            another past.
    """
    if any(owed_dice(variant, row) for row in position):
        raise NotationError(f"{notation} has no place for dice owed; use the position text")
    if variant.memory and with_memory(variant, (*position,), first=first) != position:
        raise NotationError(
            f"{notation} has no place for what {variant.id} remembers here; use the position text"
        )


# -- position -------------------------------------------------------------------------------------


def position_id(variant: Variant, position: Position) -> str:
    """Write a gnubg Position ID.

    >>> from nardy_engine import load_variant
    >>> short = load_variant("short")
    >>> position_id(short, short.start_position())
    '4HPwATDgc/ABMA'
    """
    require_short(variant, "a gnubg Position ID")
    require_nothing_to_recall(variant, position, "a gnubg Position ID")
    bits = n_bits = 0
    for row in (position.opponent, position.mover):
        for count in row[OFF + 1 : variant.n_counts]:
            bits |= ((1 << count) - 1) << n_bits
            n_bits += count + 1
    return _pack(bits, _POSITION_BITS)


def parse_position_id(text: str, variant: Variant) -> ParsedPosition:
    """Read a gnubg Position ID; the side on roll becomes White.

    Raises:
        NotationError: The text is no Position ID.
        PositionError: It holds too many checkers, a shared point, or two shut-out bars.
    """
    mover, opponent = _counts(text, variant)
    parsed = situation(variant, {"W": mover, "B": opponent}, "W")
    variant.check_position(parsed.position)
    return parsed


def _counts(text: str, variant: Variant) -> tuple[Row, Row]:
    """Return the checkers of the side on roll and of the other one."""
    require_short(variant, "a gnubg Position ID")
    bits = _unpack(text, POSITION_ID_LENGTH, "Position ID")
    rows: list[Row] = []
    for _ in range(2):
        counts = [0] * (_POINTS + 1)
        for i in range(len(counts)):
            while bits & 1:
                counts[i] += 1
                bits >>= 1
            bits >>= 1
        if sum(counts) > variant.setup.checkers:
            raise PositionError(
                f"the Position ID '{text}' puts {sum(counts)} checkers of one side on the board; "
                f"{variant.id} is played with {variant.setup.checkers}"
            )
        rows.append((variant.setup.checkers - sum(counts), *counts))
    if bits:
        raise NotationError(f"the Position ID '{text}' has bits left over after both sides")
    return rows[1], rows[0]


# -- match ----------------------------------------------------------------------------------------

_FIELDS = (
    ("cube", 4),
    ("owner", 2),
    ("on_roll", 1),
    ("crawford", 1),
    ("state", 3),
    ("decider", 1),
    ("doubled", 1),
    ("resigned", 2),
    ("die_1", 3),
    ("die_2", 3),
    ("length", 15),
    ("score_0", 15),
    ("score_1", 15),
    ("no_jacoby", 1),
)
"""Names and bits of the Match ID, from the lowest bit."""

_MATCH_BITS = 72


def match_id(side: Side, dice: Dice | None, match: Match) -> str:
    """Write a gnubg Match ID.

    Args:
        side: Who is on roll.
        dice: The roll, or None before it.
        match: Cube and score; beavers and the cube limit have no place in it.

    >>> match_id("W", None, Match())
    'cAkAAAAAAAAE'
    """
    die_1, die_2 = sorted(dice, reverse=True) if dice else (0, 0)
    owner = _CENTRED if match.cube_owner is None else _PLAYERS.index(match.cube_owner)
    values = {
        "cube": match.cube_log2,
        "owner": owner,
        "on_roll": _PLAYERS.index(side),
        "crawford": int(match.crawford),
        "state": match.state,
        "decider": _PLAYERS.index(match.decider or side),
        "doubled": int(match.doubled),
        "resigned": match.resigned,
        "die_1": die_1,
        "die_2": die_2,
        "length": match.length,
        "score_0": match.score_black,
        "score_1": match.score_white,
        "no_jacoby": int(not match.jacoby),
    }
    bits = n_bits = 0
    for name, width in _FIELDS:
        if not 0 <= values[name] < 1 << width:
            what = name.replace("_", " ")
            raise NotationError(f"a gnubg Match ID cannot hold {what} {values[name]}")
        bits |= values[name] << n_bits
        n_bits += width
    return _pack(bits, _MATCH_BITS)


def parse_match_id(text: str, variant: Variant) -> tuple[Side, Dice | None, Match]:
    """Read a gnubg Match ID: who is on roll, the roll or None, cube and score.

    Raises:
        NotationError: The text is no Match ID.
        DiceError: Only one die is set, or a die shows 7.
    """
    bits = _unpack(text, MATCH_ID_LENGTH, "Match ID")
    values = {}
    for name, width in _FIELDS:
        values[name] = bits & ((1 << width) - 1)
        bits >>= width
    if values["owner"] == 2 or bits:
        raise NotationError(f"'{text}' is no gnubg Match ID: unused bits are set")
    side = _PLAYERS[values["on_roll"]]
    decider = _PLAYERS[values["decider"]]
    thrown = values["die_1"], values["die_2"]
    match = Match(
        cube_log2=values["cube"],
        cube_owner=None if values["owner"] == _CENTRED else _PLAYERS[values["owner"]],
        doubled=bool(values["doubled"]),
        decider=None if decider == side else decider,
        resigned=values["resigned"],
        state=values["state"],
        length=values["length"],
        score_white=values["score_1"],
        score_black=values["score_0"],
        crawford=bool(values["crawford"]),
        jacoby=not values["no_jacoby"],
    )
    return side, variant.check_dice(thrown) if any(thrown) else None, match


# -- both -----------------------------------------------------------------------------------------


def format_gnuid(variant: Variant, parsed: ParsedPosition) -> str:
    """Write `PositionID:MatchID`; without a match it is money play with the cube at 1.

    >>> from nardy_engine import load_variant
    >>> short = load_variant("short")
    >>> format_gnuid(short, ParsedPosition(short.start_position()))
    '4HPwATDgc/ABMA:cAkAAAAAAAAE'
    """
    match = match_id(parsed.side, parsed.dice, parsed.match or Match())
    return f"{position_id(variant, parsed.position)}:{match}"


def parse_gnuid(text: str, variant: Variant) -> ParsedPosition:
    """Read `PositionID:MatchID`, or a Position ID alone.

    Raises:
        NotationError: The text is neither.
        PositionError: The position cannot occur.
        DiceError: The roll is impossible.
    """
    board, colon, rest = text.strip().partition(":")
    parsed = parse_position_id(board, variant)
    if not colon:
        return parsed
    side, dice, match = parse_match_id(rest, variant)
    mover, opponent = _counts(board, variant)
    counts = {side: mover, other_side(side): opponent}
    return situation(variant, counts, side, dice, match)


# -- Base64 ----------------------------------------------------------------------------------------


def _pack(bits: int, n_bits: int) -> str:
    packed = bits.to_bytes(n_bits // 8, "little")
    return base64.b64encode(packed).decode("ascii").rstrip("=")


def _unpack(text: str, length: int, name: str) -> int:
    if len(text) != length:
        raise NotationError(
            f"a gnubg {name} has {length} characters, '{text[:40]}' has {len(text)}"
        )
    try:
        packed = base64.b64decode(text + "=" * (-length % 4), validate=True)
    except (binascii.Error, ValueError):
        raise NotationError(
            f"'{text}' is no gnubg {name}: it uses characters outside A-Z, a-z, 0-9, + and /"
        ) from None
    if base64.b64encode(packed).decode("ascii").rstrip("=") != text:
        raise NotationError(f"'{text}' is no gnubg {name}: its last character holds unused bits")
    return int.from_bytes(packed, "little")
