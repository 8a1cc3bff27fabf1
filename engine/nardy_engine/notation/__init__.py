"""Positions, plays and boards as text and pictures; layer 3, imports types, rules, reference."""

from nardy_engine.notation.play_text import describe, format_play, parse_play
from nardy_engine.notation.position_text import format_position, parse_position
from nardy_engine.notation.situation import Match, ParsedPosition, Side, other_side

__all__ = [
    "Match",
    "ParsedPosition",
    "Side",
    "describe",
    "format_play",
    "format_position",
    "other_side",
    "parse_play",
    "parse_position",
]
