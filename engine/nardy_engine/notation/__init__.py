"""Positions, plays and boards as text, JSON and pictures; layer 3.

Imports types, rules and, to find the play that is meant, the reference engine. Colours exist only
here: rows are the mover's and the opponent's everywhere else.
"""

from nardy_engine.notation.board_svg import board_svg
from nardy_engine.notation.board_text import board_ascii
from nardy_engine.notation.detect import read_position
from nardy_engine.notation.gnubg import (
    format_gnuid,
    match_id,
    parse_gnuid,
    parse_match_id,
    parse_position_id,
    position_id,
)
from nardy_engine.notation.json_lines import (
    Case,
    ResultWriter,
    case_from_json,
    side_from_json,
    side_to_json,
)
from nardy_engine.notation.ogid import (
    Ogid,
    compact_id,
    format_ogid,
    ogid_fields,
    parse_compact_id,
    parse_ogid,
)
from nardy_engine.notation.play_text import describe, format_play, parse_play
from nardy_engine.notation.position_text import format_position, parse_position
from nardy_engine.notation.situation import Match, ParsedPosition, Side, other_side
from nardy_engine.notation.xgid import format_xgid, parse_xgid

__all__ = [
    "Case",
    "Match",
    "Ogid",
    "ParsedPosition",
    "ResultWriter",
    "Side",
    "board_ascii",
    "board_svg",
    "case_from_json",
    "compact_id",
    "describe",
    "format_gnuid",
    "format_ogid",
    "format_play",
    "format_position",
    "format_xgid",
    "match_id",
    "ogid_fields",
    "other_side",
    "parse_compact_id",
    "parse_gnuid",
    "parse_match_id",
    "parse_ogid",
    "parse_play",
    "parse_position",
    "parse_position_id",
    "parse_xgid",
    "position_id",
    "read_position",
    "side_from_json",
    "side_to_json",
]
