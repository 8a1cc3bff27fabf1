"""Positions and results as the JSON values of the line protocol.

SIDE = `{"points":{"24":13,"18":2},"bar":n,"off":n}` in the side's own numbers; zero `bar` and
`off` may be left out. Reading says what is wrong and where; writing is made for speed, because a
roll has about twenty results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nardy_engine import Position, Variant
from nardy_engine.errors import NotationError
from nardy_engine.types import OFF, Board, Dice

_SIDES = {"me": "the side that rolled", "opp": "the other side"}
_ENTRIES = ("points", "bar", "off")
_PIECE = 6
"""Points of the pieces of a row whose text is kept."""


def read_position(variant: Variant, record: Mapping[str, Any]) -> Position:
    """Return the position of a record, the side that rolled in row 0.

    Raises:
        NotationError: An entry is missing or is not what it should be.
        PositionError: The position cannot occur in the game.
    """
    rows = []
    for key in _SIDES:
        if key not in record:
            raise NotationError(f'"{key}" is missing; it holds the checkers of {_SIDES[key]}')
        rows.append(_row(variant, key, record[key]))
    return variant.check_position(Position(rows[0], rows[1]))


def _row(variant: Variant, key: str, side: Any) -> tuple[int, ...]:
    if not isinstance(side, dict):
        raise NotationError(f'"{key}" is an object {{"points","bar","off"}}, not {side!r:.40}')
    row = [0] * variant.n_slots
    for name, value in side.items():
        if name == "points":
            _fill_points(variant, key, value, row)
        elif name in _ENTRIES:
            row[variant.bar if name == "bar" else OFF] = _count(f"{key}.{name}", value)
        else:
            raise NotationError(f'"{key}" has an entry "{name:.40}"; it has {", ".join(_ENTRIES)}')
    return tuple(row)


def _fill_points(variant: Variant, key: str, points: Any, row: list[int]) -> None:
    if not isinstance(points, dict):
        raise NotationError(f'"{key}.points" is an object such as {{"24":13}}, not {points!r:.40}')
    for text, count in points.items():
        # Only the plain number: "06" beside "6" would be one point given twice.
        point = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
        if not 1 <= point <= variant.head_point or text != str(point):
            raise NotationError(
                f'"{key}.points" has a point "{text:.40}"; points are "1" to '
                f'"{variant.head_point}"'
            )
        row[point] = _count(f"{key}.points.{text}", count)


def _count(name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 127:
        raise NotationError(f'"{name}" is {value!r:.40}; it is a number of checkers')
    return value


def read_dice(variant: Variant, record: Mapping[str, Any]) -> Dice:
    """Return the roll of a record.

    Raises:
        NotationError: It is missing or no list of two numbers.
        DiceError: The dice of the game do not show these numbers.
    """
    if "dice" not in record:
        raise NotationError('"dice" is missing; it is a list such as [6,4]')
    dice = record["dice"]
    if not isinstance(dice, list) or len(dice) != 2 or any(type(die) is not int for die in dice):
        raise NotationError(f'"dice" is {dice!r:.40}; it is a list of two numbers such as [6,4]')
    return variant.check_dice((dice[0], dice[1]))


class ResultWriter:
    """Writes afterstates of one game; remembers the text of the pieces of rows it has met."""

    def __init__(self, variant: Variant) -> None:
        """Cut the row into pieces, the highest points first.

        A piece of a few points recurs far more often than a whole row, so that nearly all text
        is looked up, not made.
        """
        self._slots = variant.n_slots
        self._bar = variant.bar
        self._pieces: list[tuple[slice, dict[bytes, str]]] = [
            (slice(max(1, stop - _PIECE), stop), {}) for stop in range(variant.bar, 1, -_PIECE)
        ]
        self._tails = [
            [f'}},"bar":{bar},"off":{off}}}' for off in range(variant.setup.checkers + 1)]
            for bar in range(variant.setup.checkers + 1)
        ]

    def write(self, boards: Board) -> str:
        """Return the JSON array `[{"me":SIDE,"opp":SIDE},...]`.

        Args:
            boards: `[n, 2, P] int8`, contiguous, the side that rolled in row 0; not changed.
        """
        slots, data = self._slots, boards.tobytes()
        sides: dict[bytes, str] = {}  # without contact every result has the same `opp`
        parts = []
        for start in range(0, len(data), 2 * slots):
            middle = start + slots
            me, row = self._side(data[start:middle]), data[middle : middle + slots]
            opp = sides.get(row)
            if opp is None:
                opp = sides[row] = self._side(row)
            parts.append(f'{{"me":{me},"opp":{opp}}}')
        return f"[{','.join(parts)}]"

    def _side(self, row: bytes) -> str:
        """Return the JSON of a row; counts are below 128, so the bytes are the counts."""
        points = ""
        for where, texts in self._pieces:
            piece = row[where]
            text = texts.get(piece)
            if text is None:
                text = texts[piece] = _piece_text(piece, where.start)
            points += text
        # Each point ends with a comma, the last one too many.
        return f'{{"points":{{{points[:-1]}{self._tails[row[self._bar]][row[OFF]]}'


def _piece_text(piece: bytes, lowest: int) -> str:
    """Return `"24":13,"18":2,`, highest point first, for the points from `lowest` up."""
    entries = [f'"{lowest + i}":{count},' for i, count in enumerate(piece) if count]
    return "".join(reversed(entries))
