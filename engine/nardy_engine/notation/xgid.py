"""XGID, the one-line position of eXtreme Gammon, for the short family.

Layer 3; imports errors, types, rules. The board of an XGID never turns: the bottom player, here
White, is upper case and moves from 24 to 1; the first character is the top player's bar, the last
one the bottom player's. Where a double is offered (`D`), the turn is the doubler's.
"""

from __future__ import annotations

import re

from nardy_engine.errors import NotationError
from nardy_engine.notation.gnubg import require_nothing_to_recall, require_short
from nardy_engine.notation.situation import Match, ParsedPosition, Side, other_side, situation
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OFF, OPPONENT, Dice, Row

PREFIX = "XGID="

_BOARD = re.compile(r"[-A-Pa-p]{26}")
_NUMBER = re.compile(r"-?[0-9]{1,5}")
_FIELDS = (
    "cube",
    "cube owner",
    "turn",
    "dice",
    "score of the bottom player",
    "score of the top player",
    "rules",
    "match length",
    "cube limit",
)
_DICE = _FIELDS.index("dice")
_COLOUR_SIGNS: dict[Side, int] = {"W": 1, "B": -1}
_MOST_LOG2 = 15


def format_xgid(variant: Variant, parsed: ParsedPosition) -> str:
    """Write an XGID; without a match it is money play with the cube at 1.

    >>> from nardy_engine import load_variant
    >>> short = load_variant("short")
    >>> format_xgid(short, ParsedPosition(short.start_position()))
    'XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10'
    """
    require_short(variant, "an XGID")
    first = MOVER if parsed.side == "W" else OPPONENT
    require_nothing_to_recall(variant, parsed.position, "an XGID", first)
    match = parsed.match or Match()
    white, black = parsed.row("W"), parsed.row("B")
    cells = []
    for slot in range(variant.n_counts):
        mine = white[slot] if slot != OFF else 0
        # The top player's bar is the one that lies behind point 1 of the bottom player.
        theirs = black[variant.bar - slot] if slot != variant.bar else 0
        cells.append(chr(ord("@") + mine) if mine else chr(ord("`") + theirs) if theirs else "-")
    dice = "D" if match.doubled else "{}{}".format(*parsed.dice) if parsed.dice else "00"
    rules = int(match.crawford) if match.length else match.jacoby + 2 * match.beavers
    fields = (
        "".join(cells),
        match.cube_log2,
        _COLOUR_SIGNS[match.cube_owner] if match.cube_owner else 0,
        _COLOUR_SIGNS[parsed.side],
        dice,
        match.score_white,
        match.score_black,
        rules,
        match.length,
        match.max_cube_log2,
    )
    return PREFIX + ":".join(str(field) for field in fields)


def parse_xgid(text: str, variant: Variant) -> ParsedPosition:
    """Read an XGID, with or without `XGID=`.

    Raises:
        NotationError: The text is no XGID, or shows a beaver or raccoon.
        PositionError: The position cannot occur.
        DiceError: The roll is impossible.
    """
    require_short(variant, "an XGID")
    board, *fields = re.sub("(?i)^xgid=", "", text.strip()).split(":")
    if not _BOARD.fullmatch(board):
        raise NotationError(
            f"the board of an XGID has {variant.n_counts} characters out of '-', A-P and a-p, "
            f"not '{board[:40]}'"
        )
    if len(fields) != len(_FIELDS):
        raise NotationError(
            f"an XGID has {len(_FIELDS)} fields after the board, this one has {len(fields)}"
        )
    white, black = _rows(board, variant)
    dice, doubled = _dice(fields[_DICE], variant)
    numbers = {
        name: _number(field, name)
        for name, field in zip(_FIELDS, fields, strict=True)
        if name != "dice"
    }
    side = _colour(numbers["turn"], "turn")
    if side is None:
        raise NotationError("the turn of an XGID is 1 or -1, not 0")
    match = _match(numbers, doubled, side)
    parsed = situation(variant, {"W": white, "B": black}, side, dice, match)
    variant.check_position(parsed.position)
    return parsed


def _rows(board: str, variant: Variant) -> tuple[Row, Row]:
    white, black = [0] * variant.n_counts, [0] * variant.n_counts
    for slot, cell in enumerate(board):
        if cell.isupper():
            white[slot] = ord(cell) - ord("@")
        elif cell != "-":
            black[variant.bar - slot] = ord(cell) - ord("`")
    if white[OFF] or black[OFF]:
        raise NotationError("in an XGID each bar holds its own player's checkers only")
    for row in (white, black):
        row[OFF] = max(0, variant.setup.checkers - sum(row))
    return tuple(white), tuple(black)


def _dice(field: str, variant: Variant) -> tuple[Dice | None, bool]:
    """Return the roll or None, and whether a double is offered."""
    if field in ("D", "d"):
        return None, True
    if field.upper() in ("B", "R"):
        raise NotationError("XGIDs of beavers (B) and raccoons (R) are not supported")
    if not re.fullmatch("[0-9]{2}", field):
        raise NotationError(f"the dice of an XGID are two digits or D, not '{field[:40]}'")
    if field == "00":
        return None, False
    return variant.check_dice((int(field[0]), int(field[1]))), False


def _number(field: str, name: str) -> int:
    if not _NUMBER.fullmatch(field):
        raise NotationError(f"the {name} of an XGID is a number, not '{field[:40]}'")
    return int(field)


def _colour(sign: int, name: str) -> Side | None:
    for side, own in _COLOUR_SIGNS.items():
        if sign == own:
            return side
    if sign:
        raise NotationError(f"the {name} of an XGID is 1, 0 or -1, not {sign}")
    return None


def _match(numbers: dict[str, int], doubled: bool, side: Side) -> Match:
    length, rules = numbers["match length"], numbers["rules"]
    scores = numbers["score of the bottom player"], numbers["score of the top player"]
    if length < 0 or min(scores) < 0 or (length and max(scores) >= length):
        raise NotationError(
            f"the scores of an XGID are below the match length, not {scores[0]}-{scores[1]} "
            f"of {length}"
        )
    if not 0 <= rules <= (1 if length else 3):
        raise NotationError(f"the rules field of an XGID is 0 to {1 if length else 3}, not {rules}")
    for name in ("cube", "cube limit"):
        if not 0 <= numbers[name] <= _MOST_LOG2:
            raise NotationError(
                f"the {name} of an XGID is a power of two from 0 to {_MOST_LOG2}, "
                f"not {numbers[name]}"
            )
    return Match(
        cube_log2=numbers["cube"],
        cube_owner=_colour(numbers["cube owner"], "cube owner"),
        doubled=doubled,
        decider=other_side(side) if doubled else None,
        length=length,
        score_white=scores[0],
        score_black=scores[1],
        crawford=bool(length and rules),
        jacoby=bool(not length and rules & 1),
        beavers=bool(not length and rules & 2),
        max_cube_log2=numbers["cube limit"],
    )
