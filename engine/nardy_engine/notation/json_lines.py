"""Cases and results as JSON lines: `{"id","variant","options","me":SIDE,"opp":SIDE,"dice":[a,b]}`.

Layer 3; imports errors, types, rules. SIDE is `{"points":{"24":13,"18":2},"bar":n,"off":n}` in the
side's *own* numbers; `me` is the side that plays, in the case and in every result. Where a game
remembers more (`rules.memory`), SIDE has more fields; a reader assumes what is left out (`recall`):

    captive emir above res first   emir: own checkers under opposing ones (as in `points`), point
                                   of the emir (25 bar, 0 off), checkers above it on the head,
                                   nukers in reserve, own first roll still to come
    owed                           `{"5":2}`: steps of each die to play before anybody rolls
    roller head_left               it threw those dice; checkers that may still leave its head
    rolls last taken               own rolls so far; it has the last turn; its emir is taken

A case may also say `"colour":"W"|"B"`, that of `me` where it counts who moved first, and
`"preroll":true` before a pre-roll move. It has no `dice` if `me` owes some or moves before rolling.

An answer to a case has one RESULT for each play, `{"me","opp","over":false,"next":"me"|"opp",
"pending":[5,5]}`: who acts next and all dice that this side must play; before a roll `pending` is
empty and `"roll":"normal"|"extra"` follows, extra if the side that has just rolled rolls again;
`"preroll":true` if a pre-roll move may come first. A finished game has `"over":true,"winner":
"me"|"opp"|"draw","points":n`. With `me` and `opp` exchanged if `next` is `opp`, a result is the
next case; a `colour` is to be said again, that of the new `me`. A whole roll is answered with
results before the next roll, without `pending`; they show the board alone, so the next case says
`rolls` itself where a cascade begins late (gul_bara_intl), and `preroll` in emir.

Results are written by `ResultWriter`, which keeps the texts of pieces of rows, because
consecutive afterstates differ in a few points only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from nardy_engine.errors import NotationError
from nardy_engine.notation.reading import counted
from nardy_engine.notation.recall import Memory, unusual_memory, with_memory
from nardy_engine.notation.segments import pending_dice
from nardy_engine.rules import Variant, load_variant
from nardy_engine.rules.memory import has_segments, owed_dice
from nardy_engine.types import MOVER, OFF, OPPONENT, Board, Dice, Position, Row

_MOST_CACHED = 1 << 16
"""Texts kept of one piece of the board before starting anew; bounds its memory."""

_MOST_NESTED = 100
"""Deepest nesting of a JSON line; a case needs 3."""

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
    dice: Dice | None
    """None if `me` owes dice or makes a pre-roll move."""

    @property
    def is_own_roll(self) -> bool:
        """Whether `me` has just thrown the dice of the case."""
        return self.dice is not None


_NUMBERS = {"emir": "emir", "above": "emir_above", "res": "reserve", "rolls": "rolls"} | {
    "head_left": "head_left"
}
_FLAGS = {"first": "fresh", "roller": "roller", "last": "last_turn", "taken": "emir_taken"}
"""Fields of a SIDE and the memory that they hold: numbers, and true or false."""


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
    for name in ("me", "opp"):
        if name not in case:
            raise NotationError(f"the field '{name}' is missing")
    me, my_memory = _side(game, case["me"], "me")
    opp, their_memory = _side(game, case["opp"], "opp")
    if not game.memory:
        position = Position(me, opp)
    else:
        position = _remembering(game, case, (me, opp), (my_memory, their_memory))
    game.check_position(position)
    return Case(case.get("id"), game, position, _dice(game, case, position))


def _dice(variant: Variant, case: Mapping[str, Any], position: Position) -> Dice | None:
    """Return the roll, None where the position says what is played."""
    dice = case.get("dice")
    before = bool(variant.memory) and (
        "has dice to play already"
        if owed_dice(variant, position.mover)
        else "moves before it rolls"
        if variant.recall(position.mover, "preroll")
        else ""
    )
    if before:
        if dice:
            raise NotationError(f"'me' {before}: leave 'dice' out")
        return None
    if "dice" not in case:
        raise NotationError("the field 'dice' is missing")
    if not isinstance(dice, list) or len(dice) != 2 or not all(type(die) is int for die in dice):
        raise NotationError(f"'dice' is a list of two numbers such as [6,4], not {_shown(dice)}")
    return variant.check_dice((dice[0], dice[1]))


def _remembering(
    variant: Variant,
    case: Mapping[str, Any],
    counts: tuple[Row, Row],
    memory: tuple[dict[str, int], dict[str, int]],
) -> Position:
    """Return the position with its memory, as far as the case does not say it by assumption."""
    colour = case.get("colour")
    if colour not in (None, "W", "B"):
        raise NotationError(f'\'colour\' is "W" or "B", not {_shown(colour)}')
    if colour is None:
        # Where the other side has finished and 'me' still plays, the other side moved first (DR-1).
        finished = [row[OFF] == variant.setup.checkers for row in counts]
        colour = "B" if variant.remembers("last_turn") and finished == [False, True] else "W"
    if "preroll" in case and variant.remembers("preroll"):
        memory[MOVER]["preroll"] = _flag(case["preroll"], "the case", "preroll")
    return with_memory(variant, counts, memory, MOVER if colour == "W" else OPPONENT)


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def read_json(line: str | bytes) -> Any:
    """Return the value of a JSON text without NaN, Infinity and 1e999.

    The first two are no JSON, and all of them would be repeated in an answer as what is none.

    Raises:
        ValueError: It is no such text.
        RecursionError: It is nested too deeply.
    """
    text = line if isinstance(line, str) else line.decode("utf-8-sig")
    if text.count("[") + text.count("{") > _MOST_NESTED and _depth(text) > _MOST_NESTED:
        raise RecursionError  # what can be read could not be written again
    return _DECODER.decode(text)


def _depth(text: str) -> int:
    """Return how deep brackets are nested at most, those in strings counted too."""
    depth = most = 0
    for sign in text:
        if sign in "[{":
            depth += 1
            most = max(most, depth)
        elif sign in "]}":
            depth -= 1
    return most


def _object(line: str | bytes) -> dict[str, Any]:
    try:
        case = read_json(line)
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
    """Read a SIDE on its own; what it leaves out is assumed as before an own roll.

    Args:
        variant: The game.
        side: The decoded JSON value.
        name: `me` or `opp`, for the messages.

    Raises:
        NotationError: It is no SIDE. The number of checkers is checked with the whole position.
    """
    row, memory = _side(variant, side, name)
    return with_memory(variant, (row, variant.start_row()), (memory, {})).mover


def _side(variant: Variant, side: Any, name: str) -> tuple[Row, dict[str, int]]:
    """Return the checkers of a SIDE and what it says about memory."""
    if not isinstance(side, dict) or not isinstance(side.get("points", {}), dict):
        raise NotationError(f'\'{name}\' is like {{"points":{{"24":15}}}}, not {_shown(side)}')
    unknown = side.keys() - _known_fields(variant)
    if unknown:
        raise NotationError(f"'{name}' has an unknown field '{min(unknown)}'")
    row = [0] * variant.n_counts
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
    return tuple(row), _side_memory(variant, side, name) if variant.memory else {}


@lru_cache(maxsize=64)
def _known_fields(variant: Variant) -> frozenset[str]:
    fields = {"points", "bar", "off"}
    fields |= {field for field, slot in (_NUMBERS | _FLAGS).items() if variant.remembers(slot)}
    if has_segments(variant):
        fields.add("owed")
    if variant.captives_exist:
        fields.add("captive")
    return frozenset(fields)


def _side_memory(variant: Variant, side: Mapping[str, Any], name: str) -> dict[str, int]:
    memory = {}
    most = {item.name: item.most for item in variant.memory}
    for field, slot in _NUMBERS.items():
        if field in side:
            memory[slot] = _number(side[field], most[slot], name, field)
    for field, slot in _FLAGS.items():
        if field in side:
            memory[slot] = _flag(side[field], f"'{name}'", field)
    for field, slot, n_entries in (
        ("owed", "owed", variant.dice.sides),
        ("captive", "captive", variant.head_point),
    ):
        entries = side.get(field, {})
        if not isinstance(entries, dict):
            raise NotationError(
                f"'{field}' is an object such as {{\"5\":1}}, not {_shown(entries)}"
            )
        for key, number in entries.items():
            if key not in _point_numbers(n_entries):
                raise NotationError(f"'{field}' has a key '{key}'; it is 1 to {n_entries}")
            memory[f"{slot}_{key}"] = _number(number, most[f"{slot}_{key}"], name, field)
    return memory


def _number(value: Any, most: int, name: str, field: str) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise NotationError(f"'{field}' of '{name}' is 0 to {most}, not {_shown(value)}")
    return value


def _flag(value: Any, name: str, field: str) -> int:
    if value not in (0, 1) or not isinstance(value, int):
        raise NotationError(f"'{field}' of {name} is true or false, not {_shown(value)}")
    return int(value)


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
    """Return a SIDE, points from the highest down, bar and off always there, all that it remembers.

    >>> from nardy_engine import load_variant
    >>> long = load_variant("long")
    >>> side_to_json(long, long.start_row())
    {'points': {'24': 15}, 'bar': 0, 'off': 0}
    """
    points = {str(p): int(row[p]) for p in range(variant.head_point, 0, -1) if row[p]}
    side = {"points": points, "bar": int(row[variant.bar]), "off": int(row[OFF])}
    return side | _public_memory(variant, row) | _pending_memory(variant, row)


def _public_memory(variant: Variant, row: Row) -> dict[str, Any]:
    """Return the fields that a position shows at any time (rules.md section 10, EMI)."""
    fields: dict[str, Any] = {}
    if variant.captives_exist:
        fields["captive"] = {str(point): 1 for point in reversed(variant.captives(row))}
        for field in ("emir", "above", "res"):
            fields[field] = int(variant.recall(row, _NUMBERS[field]))
    if variant.remembers("fresh"):
        fields["first"] = bool(variant.recall(row, "fresh"))
    if variant.recall(row, "emir_taken"):
        fields["taken"] = True
    return fields


def _pending_memory(variant: Variant, row: Row, said: Memory | None = None) -> dict[str, Any]:
    """Return the fields about a roll in progress.

    Args:
        variant: The game.
        row: One side.
        said: Memory to be written; None: all of it.
    """
    owed = {str(die): int(steps) for die, steps in owed_dice(variant, row)}
    fields: dict[str, Any] = {"owed": owed} if owed else {}
    for field in ("roller", "head_left", "rolls"):
        value = int(variant.recall(row, field))
        wanted = value or field not in _FLAGS if said is None else field in said
        if variant.remembers(field) and wanted:
            fields[field] = bool(value) if field in _FLAGS else value
    return fields


class ResultWriter:
    """Writes answers, one line of text each; one writer for each game, not shared by threads."""

    def __init__(self, variant: Variant) -> None:
        """Prepare a writer."""
        self._variant = variant
        self._n_slots, self._bar = variant.n_slots, variant.bar
        # Pieces are cut from the highest point down; bar and off are written apart.
        tops = range(variant.head_point, 0, -_PIECE)
        starts = [max(1, top + 1 - _PIECE) for top in tops]
        self._cuts = [
            (slice(start, top + 1), _Pieces(start)) for start, top in zip(starts, tops, strict=True)
        ]
        # What follows the sides: one entry for each outcome, and at index -1 that of a game
        # which goes on with the other side's roll.
        kinds = variant.win_kinds
        self._after = ['"over":false,"next":"opp","pending":[],"roll":"normal"}']
        self._after *= variant.n_outcomes + 1
        for winner, offset in (("me", 0), ("opp", len(kinds))):
            for i, (_, points) in enumerate(kinds):
                self._after[offset + i] = f'"over":true,"winner":"{winner}","points":{points}}}'
        if variant.has_draw:
            self._after[2 * len(kinds)] = '"over":true,"winner":"draw","points":0}'
        self._remembered: dict[tuple[bytes, bytes, bool, bool, bool], tuple[str, str, str]] = {}
        self._start = bytes(variant.start_row()[: variant.n_counts])

    def line(
        self, case_id: Any, boards: Board, outcomes: Sequence[int], is_own_roll: bool = True
    ) -> str:
        """Write the answer to one case.

        Args:
            case_id: Repeated as it came.
            boards: `[A, 2, P] int8` afterstates, the side that played in row 0; borrowed.
            outcomes: `[A]` outcome indices seen from row 0, -1 where the game goes on.
            is_own_roll: Whether row 0 had just thrown the dice, see `Case`.

        Returns:
            `{"id":…,"results":[RESULT,…]}` without a newline.
        """
        mine, theirs = self._rows(boards)
        if not self._variant.memory:
            return _answer(case_id, self._plain_results(mine, theirs, outcomes))
        results = []
        for me, opp, end in zip(mine, theirs, outcomes, strict=True):
            my_memory, their_memory, following = self._memory(me, opp, is_own_roll)
            tail = following if end < 0 else self._after[end]
            results.append(
                f'{{"me":{self._counts(me)}{my_memory}}},'
                f'"opp":{self._counts(opp)}{their_memory}}},{tail}'
            )
        return _answer(case_id, results)

    def _plain_results(
        self, mine: list[bytes], theirs: list[bytes], outcomes: Sequence[int]
    ) -> Iterable[str]:
        """Return the results of a game without memory: few different rows, hardly ever an end."""
        my_texts = {row: f'{{"me":{self._counts(row)}}},' for row in set(mine)}
        their_texts = {row: f'"opp":{self._counts(row)}}},' for row in set(theirs)}
        after = self._after
        if max(outcomes, default=-1) < 0:
            ending = {row: text + after[-1] for row, text in their_texts.items()}
            return [my_texts[me] + ending[opp] for me, opp in zip(mine, theirs, strict=True)]
        return [
            my_texts[me] + their_texts[opp] + after[end]
            for me, opp, end in zip(mine, theirs, outcomes, strict=True)
        ]

    def whole_roll_line(
        self, case_id: Any, boards: Board, outcomes: Sequence[int], extra: Sequence[bool]
    ) -> str:
        """Write the answer about a whole roll.

        Args:
            case_id: Repeated as it came.
            boards: `[A, 2, P] int8` positions before the next roll, the side that rolled in row 0.
            outcomes: `[A]` outcome indices seen from row 0, -1 where the game goes on.
            extra: `[A]` whether row 0 rolls again (GUL-4); else the other side rolls.

        Returns:
            `{"id":…,"results":[RESULT,…]}` without a newline.
        """
        rolls = (
            '"over":false,"next":"opp","roll":"normal"}',
            '"over":false,"next":"me","roll":"extra"}',
        )
        results = []
        for me, opp, end, again in zip(*self._rows(boards), outcomes, extra, strict=True):
            mine, theirs = (
                f"{self._counts(row)}{_fields(_public_memory(self._variant, tuple(row)))}"
                for row in (me, opp)
            )
            tail = rolls[bool(again)] if end < 0 else self._after[end]
            results.append(f'{{"me":{mine}}},"opp":{theirs}}},{tail}')
        return _answer(case_id, results)

    def _rows(self, boards: Board) -> tuple[list[bytes], list[bytes]]:
        n, raw = self._n_slots, boards.tobytes()
        rows = [raw[i : i + n] for i in range(0, len(raw), n)]
        return rows[::2], rows[1::2]

    def _counts(self, row: bytes) -> str:
        """Return the checkers of a SIDE, put together from kept pieces; its brace stays open."""
        text = "".join([pieces[row[cut]] for cut, pieces in self._cuts])
        return f'{{"points":{{{text[1:]}}},"bar":{row[self._bar]},"off":{row[OFF]}'

    def _memory(self, me: bytes, opp: bytes, is_own_roll: bool) -> tuple[str, str, str]:
        """Return the further fields of both sides and what follows them, the game going on."""
        n = self._variant.n_counts
        key = (me[n:], opp[n:], me[:n] == self._start, opp[:n] == self._start, is_own_roll)
        kept = self._remembered.get(key)
        if kept is None:
            if len(self._remembered) >= _MOST_CACHED:
                self._remembered.clear()
            kept = self._remembered[key] = self._written_memory(
                Position(tuple(me), tuple(opp)), is_own_roll
            )
        return kept

    def _written_memory(self, end: Position, is_own_roll: bool) -> tuple[str, str, str]:
        variant = self._variant
        me_again = variant.recall(end.mover, "again") == 1
        actor = MOVER if me_again else OPPONENT
        # Readers assume seen from the side that acts.
        said = unusual_memory(variant, end if me_again else end.swapped())
        fields = [
            _public_memory(variant, row) | _pending_memory(variant, row, said[side != actor])
            for side, row in enumerate(end)
        ]
        pending = pending_dice(variant, end[actor])
        after = {"over": False, "next": "me" if me_again else "opp", "pending": pending}
        if not pending:
            extra = me_again and is_own_roll
            after["roll"] = "extra" if extra else "normal"
        if variant.recall(end[actor], "preroll"):
            after["preroll"] = True
        return _fields(fields[MOVER]), _fields(fields[OPPONENT]), f"{_fields(after)[1:]}}}"


def _answer(case_id: Any, results: Iterable[str]) -> str:
    return f'{{"id":{json.dumps(case_id)},"results":[{",".join(results)}]}}'


def _fields(values: Mapping[str, Any]) -> str:
    """Return `,"name":value` for each of them."""
    pairs = json.dumps(values, separators=(",", ":"))[1:-1]
    return f",{pairs}" if pairs else ""


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
