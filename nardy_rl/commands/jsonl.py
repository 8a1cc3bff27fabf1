"""Legal plays of thousands of positions as JSON lines: a stream in, a stream out.

One object a line, `{"id","variant","options","me":SIDE,"opp":SIDE,"dice":[a,b]}`, answered by one
line `{"id","results":[{"me":SIDE,"opp":SIDE}]}` in the order of the input. A line that cannot be
answered gets `{"id","error"}` in its place, so that line n of the output always belongs to line n
of the input (blank lines apart), and the work goes on.

Lines are answered in blocks, grouped by game, because the engine works on batches. A block is
whatever has arrived, so a lone line is answered at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from nardy_engine import Position, Variant, batch, load_variant
from nardy_engine.errors import NardyError, NotationError
from nardy_engine.types import Dice
from nardy_rl.commands.records import ResultWriter, read_dice, read_position

BLOCK = 1024
"""Lines answered together at most; larger blocks are not faster and hold answers back."""

_CHUNK = 1 << 18
"""Bytes read at once."""


class Problem(NamedTuple):
    """A line that cannot be answered."""

    line: int
    """Number of the line, from 1, blank lines counted."""
    sentence: str


class _Request(NamedTuple):
    variant: Variant
    position: Position
    dice: Dice


class Answerer:
    """Answers blocks of lines; remembers the games it has met."""

    def __init__(self, default: Variant) -> None:
        """Prepare.

        Args:
            default: Game of the lines that do not name one. Its rule options hold for every
                line of that game; the `options` of a line come on top.
        """
        self._default = default
        self._games: dict[str, Variant] = {}
        self._writers: dict[Variant, ResultWriter] = {}

    def answer(self, first_line: int, lines: list[bytes]) -> tuple[list[str], list[Problem]]:
        """Answer consecutive lines.

        Args:
            first_line: Number of the first one.
            lines: Raw lines without their ends.

        Returns:
            One text per line that is not blank, and what was wrong with which line.
        """
        answers: dict[int, str] = {}
        problems: list[Problem] = []
        ids: dict[int, str] = {}
        groups: dict[Variant, dict[int, _Request]] = {}
        for number, line in enumerate(lines, first_line):
            if not line.strip():
                continue
            ids[number] = "null"
            try:
                record = _record(line)
                ids[number] = json.dumps(record.get("id"), ensure_ascii=False)
                request = self._request(record)
                groups.setdefault(request.variant, {})[number] = request
            except NardyError as error:
                problems.append(Problem(number, str(error)))
                message = json.dumps(str(error), ensure_ascii=False)
                answers[number] = f'{{"id":{ids[number]},"error":{message}}}'
        for variant, requests in groups.items():
            for number, results in zip(requests, self._results(variant, requests), strict=True):
                answers[number] = f'{{"id":{ids[number]},"results":{results}}}'
        return [answers[number] for number in sorted(answers)], problems

    def _request(self, record: dict[str, Any]) -> _Request:
        variant = self._game(record)
        position = read_position(variant, record)
        return _Request(variant, position, read_dice(variant, record))

    def _results(self, variant: Variant, requests: dict[int, _Request]) -> Iterator[str]:
        """Yield the JSON array of results of each request, in their order."""
        boards = np.array([request.position for request in requests.values()], dtype=np.int8)
        dice = np.array([request.dice for request in requests.values()], dtype=np.int8)
        after = batch.afterstates(variant, boards, dice)
        writer = self._writers.setdefault(variant, ResultWriter(variant))
        return (writer.write(after.of(i)) for i in range(len(requests)))

    def _game(self, record: dict[str, Any]) -> Variant:
        name, options = record.get("variant"), record.get("options")
        if not options and (name is None or name == self._default.id):
            return self._default
        key = json.dumps((name, options), sort_keys=True)
        game = self._games.get(key)
        if game is None:
            game = self._games[key] = self._new_game(name, options)
        return game

    def _new_game(self, name: Any, options: Any) -> Variant:
        if name is not None and not isinstance(name, str):
            raise NotationError(f'"variant" is {json.dumps(name)}; it is the name of a game')
        if options is not None and not isinstance(options, dict):
            raise NotationError('"options" is an object such as {"block.check":"every_step"}')
        base = self._default
        if name is not None and name != base.id:
            base = load_variant(name)
        return base.with_options(options) if options else base


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise NotationError(f"not JSON: {error.msg} at column {error.colno}") from None
    except UnicodeDecodeError:
        raise NotationError("not JSON: the bytes are not UTF-8") from None
    except (ValueError, RecursionError):
        raise NotationError("not JSON that can be read: a number or the nesting is huge") from None
    if not isinstance(record, dict):
        raise NotationError('a line is an object {"id","me","opp","dice"}, not another JSON value')
    return record


def blocks(stream: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
    """Yield `(number of the first line, lines)` as they arrive.

    Args:
        stream: Must have `read1`, which returns what is there instead of waiting for more.
    """
    number, rest = 1, b""
    while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
        *lines, rest = (rest + chunk).split(b"\n")
        for start in range(0, len(lines), BLOCK):
            block = lines[start : start + BLOCK]
            yield number, block
            number += len(block)
    if rest:
        yield number, [rest]


def run(
    stream: BinaryIO,
    default: Variant,
    write: Callable[[str], None],
    complain: Callable[[str], None],
) -> int:
    """Answer a stream; return the number of lines that could not be answered.

    Args:
        stream: The input.
        default: Game of the lines that do not name one.
        write: Takes the answers of a block, each with its line end; must pass them on at once.
        complain: Takes one sentence per bad line, with the number of the line.
    """
    answerer, bad = Answerer(default), 0
    for first_line, lines in blocks(stream):
        answers, problems = answerer.answer(first_line, lines)
        if answers:
            write("\n".join(answers) + "\n")
        for problem in problems:
            complain(f"line {problem.line}: {problem.sentence}")
        bad += len(problems)
    return bad
