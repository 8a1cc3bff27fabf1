"""Reading a position in whatever notation it comes; layer 3."""

from __future__ import annotations

import re

from nardy_engine.notation.gnubg import POSITION_ID_LENGTH, parse_gnuid
from nardy_engine.notation.ogid import (
    TurnMeaning,
    looks_like_ogid,
    parse_compact_id,
    parse_ogid,
)
from nardy_engine.notation.position_text import parse_position
from nardy_engine.notation.situation import ParsedPosition
from nardy_engine.notation.xgid import parse_xgid
from nardy_engine.rules import Variant

_NEAR = 2
"""A text this much shorter or longer than a Position ID is taken for a misspelt one."""

_GNUID = re.compile(
    rf"(?!(?i:start))[A-Za-z0-9+/]{{{POSITION_ID_LENGTH - _NEAR},{POSITION_ID_LENGTH + _NEAR}}}"
    "(:[A-Za-z0-9+/]*)?"
)
_XGID = re.compile(r"(?i)xgid=.*|[-a-p]{26}:.*")
_COMPACT = re.compile(r"[A-Za-z][\w-]*")


def read_position(
    text: str, variant: Variant, turn_meaning: TurnMeaning = "reached"
) -> ParsedPosition:
    """Read a position from any notation that this project knows.

    These are told apart by their shape: XGID, OGID, compact id, gnubg Position ID with or without
    Match ID; everything else is read as the one-line position text.

    Args:
        text: The position.
        variant: The game.
        turn_meaning: What the TURN field of an OGID or compact id names.

    Raises:
        NotationError: The text cannot be read, or the game cannot be written in this notation.
        PositionError: The position cannot occur in this game.
        DiceError: The roll is impossible.

    >>> from nardy_engine import load_variant
    >>> read_position("4HPwATDgc/ABMA", load_variant("short")).position.mover[24]
    2
    """
    text = text.strip()
    if _XGID.fullmatch(text):
        return parse_xgid(text, variant)
    if looks_like_ogid(text):
        return parse_ogid(text, variant).parsed(turn_meaning)
    game, _, rest = text.partition(":")
    if _COMPACT.fullmatch(game) and looks_like_ogid(rest.partition(";")[0]):
        return parse_compact_id(text, variant, turn_meaning)
    if _GNUID.fullmatch(text):
        return parse_gnuid(text, variant)
    return parse_position(text, variant)
