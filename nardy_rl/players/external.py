"""Any program as a bot: one line of JSON per decision over its standard input and output.

The program reads, line by line,

    {"variant":"short","me":SIDE,"opp":SIDE,"dice":[6,4]}

and answers each with one line, in the same order: the position after its play,

    {"me":SIDE,"opp":SIDE}

SIDE is `{"points":{"24":2,"13":5},"bar":0,"off":0}` in the side's own numbers, `me` the side that
rolled in both lines; zero `bar` and `off` may be left out. Many lines can arrive before the
first answer is read, so a program may answer in batches, but it must flush what it has answered
before it waits for more. Forced plays are not asked. It is told to stop by the end of its input.

An arena that plays on several threads starts as many copies of the program.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine.errors import NardyError
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OFF, Board
from nardy_rl.players.base import Choice, Turn


class ExternalError(NardyError):
    """The program did not start, died, or answered something that is not a legal play."""


class ExternalBot:
    """A bot that asks a separate process."""

    def __init__(self, command: str | Sequence[str], name: str) -> None:
        """Prepare to run `command`; processes start at the first decision.

        Args:
            command: A command line, split as by a shell but not run by one, or its parts.
            name: Name in tables.

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

    def choose(self, turn: Turn) -> Choice:
        """Return the program's choice of each game."""
        choice = turn.after.offsets[:-1].copy()
        asked = np.flatnonzero(turn.after.counts() > 1)
        if asked.size:
            requests = [
                request_line(turn.variant, board, dice)
                for board, dice in zip(turn.boards[asked], turn.dice[asked].tolist(), strict=True)
            ]
            answers = np.stack(
                [self._board(turn.variant, line) for line in self._converse(requests)]
            )
            choice[asked] = self._find(turn, asked, answers)
        return choice

    def _converse(self, requests: list[str]) -> list[str]:
        """Send lines to an idle process and return its answers."""
        try:
            process = self._idle.pop()
        except IndexError:
            process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        # A thread of its own writes, or both sides could wait for the other to read.
        writer = threading.Thread(target=_write, args=(process, "".join(requests)), daemon=True)
        writer.start()
        answers: list[str] = []
        for _ in requests:
            line = process.stdout.readline()
            if not line:
                raise ExternalError(
                    f"the bot '{self.name}' stopped after {len(answers)} of {len(requests)} "
                    f"answers (exit code {process.wait()})"
                )
            answers.append(line)
        writer.join()
        self._idle.append(process)
        return answers

    def _start(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise ExternalError(f"cannot start the bot '{self.name}': {error}") from None

    def _board(self, variant: Variant, line: str) -> Board:
        try:
            record = json.loads(line)
            return np.array([row_of(variant, record[side]) for side in ("me", "opp")], np.int8)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
            raise ExternalError(
                f"the bot '{self.name}' answered '{line.strip()[:80]}', which is no position"
            ) from None

    def _find(self, turn: Turn, asked: NDArray[np.int64], answers: Board) -> Choice:
        """Return the rows of the afterstates that equal the answers."""
        after, checkers = turn.after, turn.variant.setup.checkers
        found = np.empty(len(asked), dtype=np.int64)
        for i, game in enumerate(asked):
            own = after.of(game)
            same = (own == answers[i]).all(axis=(1, 2))
            if answers[i, MOVER, OFF] == checkers:  # finishing plays are one result (T-10)
                same = own[:, MOVER, OFF] == checkers
            rows = np.flatnonzero(same)
            if not rows.size:
                asked_line = request_line(turn.variant, turn.boards[game], turn.dice[game].tolist())
                raise ExternalError(
                    f"the bot '{self.name}' made a play that is not legal in {asked_line.strip()}"
                )
            found[i] = after.offsets[game] + rows[0]
        return found


def request_line(variant: Variant, board: Board, dice: Sequence[int]) -> str:
    """Return the line that asks for a play; `board` is `[2, P]`, the bot's side in row 0."""
    me, opp = (side_of(variant, row) for row in board.tolist())
    record = {"variant": variant.id, "me": me, "opp": opp, "dice": list(dice)}
    return json.dumps(record, separators=(",", ":")) + "\n"


def side_of(variant: Variant, row: Sequence[int]) -> dict[str, Any]:
    """Return a row of `P` counts as a SIDE."""
    points = {str(point): row[point] for point in range(variant.head_point, 0, -1) if row[point]}
    return {"points": points, "bar": row[variant.bar], "off": row[OFF]}


def row_of(variant: Variant, side: dict[str, Any]) -> list[int]:
    """Return a SIDE as `P` counts."""
    row = [0] * variant.n_slots
    for point, count in side["points"].items():
        row[int(point)] = count
    row[variant.bar], row[OFF] = side.get("bar", 0), side.get("off", 0)
    return row


def _write(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(text)
        process.stdin.flush()
    except (BrokenPipeError, ValueError):
        return  # the reader notices the end of the answers and says so


def _stop(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
