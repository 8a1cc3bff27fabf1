"""GNU Backgammon's socket, for the workers here; standard library only.

The program is a process of its own (GPL); it is asked lines in FIBS's format and answers plays as
text.
"""

from __future__ import annotations

import atexit
import re
import socket
import subprocess
import time
from typing import Any

POINTS = 24
BAR, OFF = POINTS + 1, 0
PATIENCE = 30.0
"""Seconds until gnubg listens."""
SETTINGS = (
    "set threads 1",
    "set jacoby off",
    "set evaluation chequerplay evaluation cubeful off",
    "set evaluation chequerplay evaluation plies {}",
)
EVALUATE = "evaluation fibsboard {} plies {} cubeless"


class Gnubg:
    """One gnubg process that listens on a socket."""

    def __init__(self, command: list[str], ply: int = 0) -> None:
        """Start the program; it chooses plays at `ply`."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        atexit.register(self._process.kill)
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        assert self._process.stdin is not None
        lines = [*(line.format(ply) for line in SETTINGS), f"external localhost:{port}"]
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


def played(mover: bytes, opponent: bytes, text: str) -> tuple[list[int], list[int]]:
    """Return the rows after a play as gnubg writes it: `24/18*/13 6/off(2)`, empty for none."""
    mine, theirs = list(mover), list(opponent)
    for word in text.split():
        match = re.fullmatch(r"(.+?)(?:\((\d)\))?", word)
        assert match is not None
        stops = [_slot(stop) for stop in match[1].replace("*", "").split("/")]
        for _ in range(int(match[2] or 1)):
            mine[stops[0]] -= 1
            mine[stops[-1]] += 1
            for stop in stops[1:]:
                if stop != OFF and theirs[BAR - stop] == 1:
                    theirs[BAR - stop] = 0
                    theirs[BAR] += 1
    return mine, theirs


def _slot(text: str) -> int:
    return {"bar": BAR, "off": OFF}[text] if text in ("bar", "off") else int(text)


def version(command: list[str]) -> str:
    """Return the version that the program prints."""
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout)
    return found[0] if found else "of unknown version"
