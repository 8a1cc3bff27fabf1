"""GNU Backgammon itself (GPL) for `scripts/bench.py --peers`, asked through its socket.

python gnubg_worker.py PROGRAM ARGUMENT...      # gnubg with its options, as started by a shell
"""

from __future__ import annotations

import atexit
import re
import socket
import subprocess
import sys
import time
from typing import Any

from protocol import POINTS, read_sample, serve, turns

PATIENCE = 30.0
"""Seconds until gnubg listens."""
SETTINGS = (
    "set threads 1",
    "set evaluation chequerplay evaluation plies 0",
    "set evaluation chequerplay evaluation cubeful off",
)
EVALUATE = "evaluation fibsboard {} plies {} cubeless"


class Gnubg:
    """One gnubg process that listens on a socket."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        atexit.register(self._process.kill)
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        assert self._process.stdin is not None
        lines = [*SETTINGS, f"external localhost:{port}"]
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self._process.stdin.flush()
        self._stream: Any = self._connect(port)

    def _connect(self, port: int) -> Any:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("localhost", port)).makefile("rw", newline="\n")
            except OSError:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise RuntimeError("gnubg does not answer on its socket") from None
                time.sleep(0.1)

    def ask(self, line: str) -> str:
        """Return the answer to one line."""
        self._stream.write(line + "\n")
        self._stream.flush()
        answer: str = self._stream.readline()
        if not answer or answer.startswith("Error"):
            raise RuntimeError(f"gnubg says {answer.strip() or 'nothing'} to {line}")
        return answer


def fibs(mover: bytes, opponent: bytes, dice: tuple[int, int]) -> str:
    """Return FIBS's line of a position: the mover's points, less the opponent's, bars outside."""
    points = [mover[p] - opponent[POINTS + 1 - p] for p in range(1, POINTS + 1)]
    board = [-opponent[POINTS + 1], *points, mover[POINTS + 1]]
    high, low = dice
    values = [
        *(0, 0, 0), *board, *(1, high, low, high, low, 1, 1, 1, 0, 1, -1, 0, POINTS + 1),
        *(mover[0], opponent[0], mover[POINTS + 1], opponent[POINTS + 1]), *(0, 0, 0, 0),
    ]  # fmt: skip
    return "board:mover:opponent:" + ":".join(map(str, values))


def decisions(positions: str, seconds: float) -> dict[str, float]:
    """Choose a play by static evaluation; one line each."""
    sample = read_sample(positions)
    lines = [fibs(*rows, dice) for rows, dice in zip(sample.boards, sample.dice, strict=True)]

    def decide(i: int) -> float:
        GNUBG.ask(lines[i])
        return 1.0

    return {"decisions_per_s": turns(sample, decide, seconds)["per_s"]}


def evaluations(positions: str, seconds: float, ply: int) -> dict[str, float]:
    """Evaluate positions before the roll; one line each."""
    sample = read_sample(positions)
    lines = [EVALUATE.format(fibs(*rows, (0, 0)), ply) for rows in sample.boards]

    def evaluate(i: int) -> float:
        GNUBG.ask(lines[i])
        return 1.0

    return {"evaluations_per_s": turns(sample, evaluate, seconds)["per_s"]}


def version(command: list[str]) -> str:
    """Return the version that the program prints."""
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout)
    return found[0] if found else "of unknown version"


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    GNUBG = Gnubg(COMMAND)
    serve("gnubg", version(COMMAND), {"decisions": decisions, "evaluations": evaluations})
