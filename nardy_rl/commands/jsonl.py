"""Legal plays of thousands of positions as JSON lines: a stream in, a stream out.

One object a line, `{"id","variant","options","me":SIDE,"opp":SIDE,"dice":[a,b]}`, answered by one
line `{"id","results":[RESULT]}` in the order of the input; `nardy_engine.notation.json_lines` says
what SIDE and RESULT are. Results are those of one play, or of the whole roll. A line that cannot be
answered gets `{"id","error"}` in its place, so that line n of the output always belongs to line n
of the input (blank lines apart), and the work goes on.

Lines are answered in blocks, grouped by game, because the engine works on batches. A block is
whatever has arrived, so a lone line is answered at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from nardy_engine import Variant, batch
from nardy_engine.errors import CapacityError, NardyError, NotationError
from nardy_engine.notation.json_lines import Case, ResultWriter, case_from_json, read_json
from nardy_engine.whole_rolls import MOST_WAYS, whole_rolls

BLOCK = 1024
"""Lines answered together at most; larger blocks are not faster and hold answers back."""

_CHUNK = 1 << 18
"""Bytes read at once."""


class Problem(NamedTuple):
    """A line that cannot be answered."""

    line: int
    """Number of the line, from 1, blank lines counted."""
    sentence: str


class Answerer:
    """Answers blocks of lines."""

    def __init__(self, default: Variant, whole_roll: bool = False) -> None:
        """Prepare.

        Args:
            default: Game of the lines that do not name one. Its rule options hold for every
                line of that game; the `options` of a line come on top.
            whole_roll: Answer with the positions after the whole roll, not after one play.
        """
        self._default = default
        self._whole_roll = whole_roll
        self._writers: dict[Variant, ResultWriter] = {}

    def answer(self, first_line: int, lines: Sequence[bytes]) -> tuple[list[str], list[Problem]]:
        """Answer consecutive lines.

        Args:
            first_line: Number of the first one.
            lines: Raw lines without their ends.

        Returns:
            One text per line that is not blank, and what was wrong with which line.
        """
        answers: dict[int, str] = {}
        problems: list[Problem] = []
        groups: dict[Variant, dict[int, Case]] = {}
        for number, line in enumerate(lines, first_line):
            if not line.strip():
                continue
            try:
                case = case_from_json(line, self._default)
                if self._whole_roll and case.variant.recall(case.position.mover, "preroll"):
                    raise NotationError("a whole roll begins with the roll: leave 'preroll' out")
                groups.setdefault(case.variant, {})[number] = case
            except NardyError as error:
                answers[number] = _refused(problems, number, _id_of(line), error)
        for variant, cases in groups.items():
            answers.update(self._answered(variant, cases, problems))
        return [answers[number] for number in sorted(answers)], sorted(problems)

    def _answered(
        self, variant: Variant, cases: dict[int, Case], problems: list[Problem]
    ) -> dict[int, str]:
        """Answer cases of one game; one that is too large spoils its own line only."""
        try:
            return dict(zip(cases, self._answers(variant, [*cases.values()]), strict=True))
        except CapacityError as error:
            if len(cases) == 1:
                ((number, case),) = cases.items()
                return {number: _refused(problems, number, case.id, error)}
        numbers = [*cases]
        half = len(numbers) // 2
        return {
            number: answer
            for part in (numbers[:half], numbers[half:])
            for number, answer in self._answered(
                variant, {number: cases[number] for number in part}, problems
            ).items()
        }

    def _answers(self, variant: Variant, cases: Sequence[Case]) -> Iterator[str]:
        """Yield the answer to each case; all are of one game."""
        boards = np.array([case.position for case in cases], dtype=np.int8)
        # Where the position says what is played, the engine does not look at the dice.
        dice = np.array([case.dice or (1, 1) for case in cases], dtype=np.int8)
        writer = self._writers.setdefault(variant, ResultWriter(variant))
        if self._whole_roll:
            rolls = whole_rolls(variant, boards, dice, most=MOST_WAYS)
            bounds = np.searchsorted(rolls.origins, np.arange(len(cases) + 1))
            for case, start, end in zip(cases, bounds, bounds[1:], strict=False):
                rows = slice(start, end)
                yield writer.whole_roll_line(
                    case.id,
                    rolls.boards[rows],
                    rolls.outcomes[rows].tolist(),
                    rolls.extra[rows].tolist(),
                )
            return
        after = batch.afterstates(variant, boards, dice)
        outcomes = batch.outcomes(variant, after.boards).tolist()
        for i, case in enumerate(cases):
            rows = slice(after.offsets[i], after.offsets[i + 1])
            yield writer.line(case.id, after.boards[rows], outcomes[rows], case.is_own_roll)


def _refused(problems: list[Problem], number: int, case_id: Any, error: NardyError) -> str:
    """Note what is wrong with a line and return the answer that takes its place."""
    problems.append(Problem(number, str(error)))
    return json.dumps({"id": case_id, "error": str(error)}, separators=(",", ":"))


def _id_of(line: bytes) -> Any:
    """Return the id of a line that cannot be answered, None if it has none."""
    try:
        record = read_json(line)
    except (ValueError, RecursionError):
        return None
    return record.get("id") if isinstance(record, dict) else None


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
    whole_roll: bool = False,
) -> int:
    """Answer a stream; return the number of lines that could not be answered.

    Args:
        stream: The input.
        default: Game of the lines that do not name one.
        write: Takes the answers of a block, each with its line end; must pass them on at once.
        complain: Takes one sentence per bad line, with the number of the line.
        whole_roll: Answer with the positions after the whole roll, not after one play.
    """
    answerer, bad = Answerer(default, whole_roll), 0
    for first_line, lines in blocks(stream):
        answers, problems = answerer.answer(first_line, lines)
        if answers:
            write("\n".join(answers) + "\n")
        for problem in problems:
            complain(f"line {problem.line}: {problem.sentence}")
        bad += len(problems)
    return bad
