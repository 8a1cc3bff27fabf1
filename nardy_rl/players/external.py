"""Any program as a bot: one line of JSON per decision over its standard input and output.

The program reads, line by line, cases in the form of `nardy_engine.notation.json_lines`,

    {"variant":"short","me":SIDE,"opp":SIDE,"dice":[6,4]}

and answers each with one line, in the same order: the position after its play,

    {"me":SIDE,"opp":SIDE}

SIDE is `{"points":{"24":2,"13":5},"bar":0,"off":0}` in the side's own numbers, `me` the side that
plays in both lines; zero `bar` and `off` may be left out. Games that remember more say it in the
fields that `json_lines` describes: a side that still owes dice has `"owed":{"5":2}` and the line no
`dice`, a decision before the roll has `"preroll":true` instead. The answer need not repeat what
is owed, but it says where captives, emir and nukers are. Rules that are not the game's own come as
`"options":{"block.check":"every_step"}`.

Many lines can arrive before the first answer is read, so a program may answer in batches, but it
must flush what it has answered before it waits for more. Forced plays are not asked. It is told
to stop by the end of its input. An arena that plays on several threads starts as many copies of
the program.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import threading
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from nardy_engine import batch, load_variant, variant_names
from nardy_engine.errors import NardyError
from nardy_engine.notation.json_lines import side_from_json, side_to_json
from nardy_engine.rules import Variant
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import Board, Position
from nardy_rl.players.base import Choice, Turn


class ExternalError(NardyError):
    """The program did not start, died, or answered something that is not a legal play."""


class Program:
    """Copies of a program that answer lines; each thread that asks uses its own."""

    def __init__(self, command: str | Sequence[str], name: str) -> None:
        """Prepare to run `command`; a process starts when it is first needed.

        Args:
            command: A command line, split as by a shell but not run by one, or its parts.
            name: Name in messages.

        Raises:
            ExternalError: The command line is empty or its quotes do not match.
        """
        self.name = name
        try:
            self._command = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise ExternalError(f"cannot read the command of '{name}': {error}") from None
        if not self._command:
            raise ExternalError(f"the bot '{name}' needs a command, such as exec:./my_bot")
        self._idle: list[subprocess.Popen[str]] = []
        weakref.finalize(self, _stop, self._idle)

    def ask(self, requests: Sequence[str]) -> list[str]:
        """Send lines, each with its line end, and return one answer to each.

        Raises:
            ExternalError: The program does not start, or ends before it has answered.
        """
        try:
            process = self._idle.pop()
        except IndexError:
            process = self._start()
        assert process.stdout is not None
        # A thread of its own writes, or both sides could wait for the other to read.
        writer = threading.Thread(target=_write, args=(process, "".join(requests)), daemon=True)
        writer.start()
        answers: list[str] = []
        for _ in requests:
            line = process.stdout.readline()
            if not line:
                writer.join()
                _stop([process])
                raise ExternalError(
                    f"the bot '{self.name}' stopped after {len(answers)} of {len(requests)} "
                    f"answers (exit code {process.returncode})"
                )
            answers.append(line)
        writer.join()
        self._idle.append(process)
        return answers

    def _start(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",  # what is no text is no answer, and refused as such
            )
        except OSError as error:
            raise ExternalError(f"cannot start the bot '{self.name}': {error}") from None


class ExternalBot:
    """A bot that asks a separate process."""

    def __init__(self, command: str | Sequence[str], name: str) -> None:
        """Play what `command` answers; see `Program`."""
        self.name = name
        self._program = Program(command, name)

    def choose(self, turn: Turn) -> Choice:
        """Return the program's choice of each game.

        Raises:
            ExternalError: It answers with something that is not the end of a legal play.
        """
        choice = turn.after.offsets[:-1].copy()
        asked = np.flatnonzero(turn.after.counts() > 1)
        requests = [
            request_line(turn.variant, board, dice)
            for board, dice in zip(turn.boards[asked], turn.dice[asked].tolist(), strict=True)
        ]
        for game, request, line in zip(
            asked.tolist(), requests, self._program.ask(requests), strict=True
        ):
            row = _matching_row(turn, game, self._board(turn.variant, line))
            if row is None:
                raise ExternalError(
                    f"the bot '{self.name}' answered {line.strip()} to {request.strip()}, "
                    "which is not the end of a legal play"
                )
            choice[game] = row
        return choice

    def _board(self, variant: Variant, line: str) -> Board:
        try:
            record = json.loads(line)
            sides = [side_from_json(variant, record[side], side) for side in ("me", "opp")]
        except (ValueError, TypeError, KeyError, RecursionError, NardyError):
            raise ExternalError(
                f"the bot '{self.name}' answered '{line.strip()[:80]}', which is no position"
            ) from None
        return np.array(sides, np.int8)


def _matching_row(turn: Turn, game: int, answer: Board) -> int | None:
    """Return the row of the afterstate that equals `answer` `[2, P]`, or None."""
    own, shown = turn.after.of(game), _shown_slots(turn.variant)
    same = (own[:, :, shown] == answer[:, shown]).all(axis=(1, 2))
    over = batch.outcomes(turn.variant, answer[None])[0]
    if over >= 0 and not same.any():  # all finishes of the same worth are one result (T-10)
        same = batch.outcomes(turn.variant, own) == over
    return int(turn.after.offsets[game] + np.argmax(same)) if same.any() else None


@cache
def _shown_slots(variant: Variant) -> list[int]:
    """Return the slots that tell plays apart: checkers, captives, emir and nukers.

    The others, such as dice still owed, follow from them and from the position before the play.
    """
    pieces = ("captive_", "emir", "reserve")
    return [
        *range(variant.n_counts),
        *(item.slot for item in variant.memory if item.name.startswith(pieces)),
    ]


@cache
def _changed_rules(variant: Variant) -> dict[str, Any]:
    """Return the options that are not those of the game of that name."""
    if variant.id not in variant_names():
        return {}
    usual = load_variant(variant.id).options()
    return {name: value for name, value in variant.options().items() if value != usual[name]}


def request_line(variant: Variant, board: Board, dice: Sequence[int]) -> str:
    """Return the line that asks for a play; `board` is `[2, P]`, the bot's side in row 0."""
    me, opp = Position.from_board(board)
    record: dict[str, Any] = {"variant": variant.id}
    if changed := _changed_rules(variant):
        record["options"] = changed
    record |= {"me": side_to_json(variant, me), "opp": side_to_json(variant, opp)}
    if variant.remembers("first"):
        record["colour"] = "W" if variant.recall(me, "first") else "B"
    if variant.recall(me, "preroll"):
        record["preroll"] = True
    elif not owed_dice(variant, me):
        record["dice"] = list(dice)
    return json.dumps(record, separators=(",", ":")) + "\n"


def _write(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(text)
        process.stdin.flush()
    except (BrokenPipeError, ValueError):
        return  # the reader notices the end of the answers and says so


def _stop(processes: list[subprocess.Popen[str]]) -> None:
    """End the programs: first by the end of their input, then by force."""
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # what it never read is lost, as it should be
            process.stdin.close()
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
