"""Cases and results as JSON lines: `{"id","variant","options","me":SIDE,"opp":SIDE,"dice":[a,b]}`.

Layer 3; imports errors, types, rules. SIDE is `{"points":{"24":13,"18":2},"bar":n,"off":n}` in the
side's *own* numbers; `me` is the side that rolled, in the case and in every result. Results are
written by `ResultWriter`, which keeps the texts of pieces of rows, because consecutive
afterstates differ in a few points only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from nardy_engine.errors import NotationError
from nardy_engine.notation.reading import counted
from nardy_engine.rules import Variant, load_variant
from nardy_engine.types import OFF, Board, Dice, Position, Row

_MOST_CACHED = 1 << 16
"""Texts kept of one piece of the board before starting anew; bounds its memory."""

_PIECE = 8
"""Slots of a row whose text is kept together; short pieces recur more often."""


class Case(NamedTuple):
    """One line read: a position and a roll to be answered."""

    id: Any
    """As given, to be repeated in the answer; None if the line has none."""
    variant: Variant
    """The game with the options of the line."""
    position: Position
    """Row 0 is `me`."""
    dice: Dice


# -- reading --------------------------------------------------------------------------------------


def case_from_json(line: str | bytes, variant: Variant | None = None) -> Case:
    """Read one case; the caller adds the line number to the errors.

    Args:
        line: A JSON object.
        variant: The game of lines that do not name one; None if every line must.

    Raises:
        NotationError: The line is no JSON object of this form; the message names the field.
        VariantError: The game or an option is unknown.
        PositionError: The position cannot occur in the game.
        DiceError: The roll is impossible.

    >>> side = '{"points":{"24":15}}'
    >>> case_from_json(f'{{"variant":"long","me":{side},"opp":{side},"dice":[6,5]}}').dice
    (6, 5)
    """
    case = _object(line)
    game = _variant(case, variant)
    for name in ("me", "opp", "dice"):
        if name not in case:
            raise NotationError(f"the field '{name}' is missing")
    position = Position(
        side_from_json(game, case["me"], "me"), side_from_json(game, case["opp"], "opp")
    )
    dice = case["dice"]
    if not isinstance(dice, list) or len(dice) != 2 or not all(type(die) is int for die in dice):
        raise NotationError(f"'dice' is a list of two numbers such as [6,4], not {_shown(dice)}")
    return Case(
        case.get("id"), game, game.check_position(position), game.check_dice((dice[0], dice[1]))
    )


def _no_number(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_number)
"""Without NaN and Infinity, which are no JSON and would be repeated in the answer."""


def _object(line: str | bytes) -> dict[str, Any]:
    try:
        case = _DECODER.decode(line if isinstance(line, str) else line.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise NotationError(f"this is not valid JSON: {error.msg} (column {error.colno})") from None
    except (ValueError, RecursionError):
        raise NotationError("this is not valid JSON that can be read") from None
    if not isinstance(case, dict):
        raise NotationError(f"a case is a JSON object, not {_shown(case)}")
    return case


def _variant(case: Mapping[str, Any], default: Variant | None) -> Variant:
    name, options = case.get("variant"), case.get("options")
    if name is None:
        if default is None:
            raise NotationError("the field 'variant' is missing")
        name = default.id
    elif not isinstance(name, str):
        raise NotationError(f"'variant' is the name of a game, not {_shown(name)}")
    if options is None:
        return default if default is not None and name == default.id else _game(name, "{}")
    if not isinstance(options, dict):
        raise NotationError(f"'options' is an object of rule options, not {_shown(options)}")
    if default is not None and name == default.id:
        return _changed(default, json.dumps(options, sort_keys=True))
    return _game(name, json.dumps(options, sort_keys=True))


# Lines of one stream name the same few games and options again and again.


@lru_cache(maxsize=256)
def _game(name: str, options: str) -> Variant:
    return load_variant(name, json.loads(options))


@lru_cache(maxsize=256)
def _changed(variant: Variant, options: str) -> Variant:
    return variant.with_options(json.loads(options))


def side_from_json(variant: Variant, side: Any, name: str = "the side") -> Row:
    """Read a SIDE.

    Args:
        variant: The game.
        side: The decoded JSON value.
        name: `me` or `opp`, for the messages.

    Raises:
        NotationError: It is no SIDE. The number of checkers is checked with the whole position.
    """
    if not isinstance(side, dict) or not isinstance(side.get("points", {}), dict):
        raise NotationError(f'\'{name}\' is like {{"points":{{"24":15}}}}, not {_shown(side)}')
    unknown = side.keys() - {"points", "bar", "off"}
    if unknown:
        raise NotationError(f"'{name}' has an unknown field '{min(unknown)}'")
    row = [0] * variant.n_slots
    points: dict[str, Any] = side.get("points", {})
    names = _point_numbers(variant.head_point)
    for point, count in points.items():
        slot = names.get(point)
        if slot is None:
            raise NotationError(
                f"'{name}' has a point '{point}'; points run from 1 to {variant.head_point}"
            )
        row[slot] = _count(variant, count, name, point)
    row[variant.bar] = _count(variant, side.get("bar", 0), name, "bar")
    row[OFF] = _count(variant, side.get("off", 0), name, "off")
    return tuple(row)


@lru_cache(maxsize=64)
def _point_numbers(head_point: int) -> dict[str, int]:
    return {str(point): point for point in range(1, head_point + 1)}


def _count(variant: Variant, count: Any, name: str, place: str) -> int:
    if type(count) is not int or not 0 <= count <= variant.setup.checkers:
        raise NotationError(
            f"'{name}' has {_shown(count)} on '{place}'; "
            f"{variant.id} is played with {counted(variant.setup.checkers, 'checker')}"
        )
    return count


def _shown(value: Any) -> str:
    """Return a JSON value short enough for a sentence."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


# -- writing --------------------------------------------------------------------------------------


def side_to_json(variant: Variant, row: Row) -> dict[str, Any]:
    """Return a SIDE, points from the highest down, bar and off always there.

    >>> from nardy_engine import load_variant
    >>> long = load_variant("long")
    >>> side_to_json(long, long.start_row())
    {'points': {'24': 15}, 'bar': 0, 'off': 0}
    """
    points = {str(p): int(row[p]) for p in range(variant.head_point, 0, -1) if row[p]}
    return {"points": points, "bar": int(row[variant.bar]), "off": int(row[OFF])}


class ResultWriter:
    """Writes answers, one line of text each; one writer for each game, not shared by threads."""

    def __init__(self, variant: Variant, extras: bool = False) -> None:
        """Prepare a writer.

        Args:
            variant: The game.
            extras: Also write whether the game is over, who acts next with which dice, or who
                won how much.
        """
        self._n_slots = variant.n_slots
        self._extras = extras
        # One entry for each outcome, and at index -1 the one of a game that goes on.
        # Pieces are cut from the highest point down; bar and off are written apart.
        tops = range(variant.head_point, 0, -_PIECE)
        starts = [max(1, top + 1 - _PIECE) for top in tops]
        self._cuts = [
            (start, top + 1, _Pieces(start)) for start, top in zip(starts, tops, strict=True)
        ]
        kinds = variant.win_kinds
        self._after = ['"over":false,"next":"opp","pending":[]}'] * (variant.n_outcomes + 1)
        for winner, offset in (("me", 0), ("opp", len(kinds))):
            for i, (_, points) in enumerate(kinds):
                self._after[offset + i] = f'"over":true,"winner":"{winner}","points":{points}}}'

    def line(self, case_id: Any, boards: Board, outcomes: Sequence[int] | None = None) -> str:
        """Write the answer to one case.

        Args:
            case_id: Repeated as it came.
            boards: `[A, 2, P] int8` afterstates, the side that rolled in row 0; borrowed.
            outcomes: `[A]` outcome indices seen from row 0, -1 where the game goes on; needed
                with extras only.

        Returns:
            `{"id":…,"results":[{"me":…,"opp":…},…]}` without a newline.
        """
        return f'{{"id":{json.dumps(case_id)},"results":[{self._results(boards, outcomes)}]}}'

    def _results(self, boards: Board, outcomes: Sequence[int] | None) -> str:
        n, raw = self._n_slots, boards.tobytes()
        rows = [raw[i : i + n] for i in range(0, len(raw), n)]
        texts: dict[bytes, str] = {row: self._side(row) for row in set(rows)}
        pairs = zip(rows[::2], rows[1::2], strict=True)
        if not self._extras:
            return ",".join([f'{{"me":{texts[me]},"opp":{texts[opp]}}}' for me, opp in pairs])
        if outcomes is None:
            raise ValueError("a writer with extras needs the outcomes")
        return ",".join(
            [
                f'{{"me":{texts[me]},"opp":{texts[opp]},{self._after[int(outcome)]}'
                for (me, opp), outcome in zip(pairs, outcomes, strict=True)
            ]
        )

    def _side(self, row: bytes) -> str:
        """Return a SIDE, put together from kept pieces."""
        text = "".join([pieces[row[start:stop]] for start, stop, pieces in self._cuts])
        return f'{{"points":{{{text[1:]}}},"bar":{row[-1]},"off":{row[OFF]}}}'


class _Pieces(dict[bytes, str]):
    """The texts of neighbouring points by their counts; written when first asked for."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self._start = start

    def __missing__(self, counts: bytes) -> str:
        if len(self) >= _MOST_CACHED:
            self.clear()
        points = range(self._start, self._start + len(counts))
        cells = zip(points, counts, strict=True)
        # Each point has a comma before it; the first one of a side is cut off by the caller.
        piece = "".join([f',"{point}":{n}' for point, n in cells if n][::-1])
        self[counts] = piece
        return piece
