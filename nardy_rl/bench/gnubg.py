"""GNU Backgammon as an opponent, in processes of its own; layer: nardy_rl, numpy only.

A measuring instrument, never part of the product: its worker program runs in an environment of its
own and answers lines. A line holds hundreds of positions, since a line for each costs more than
gnubg's decision itself. Boards travel as hex digits of `[N, 2, 26] int8` in this project's layout,
the side to act in row 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.types import Board
from nardy_rl.players import Bot, Choice, Turn, make_bot
from nardy_rl.players.external import ExternalError, Program

PREFIXES = ("gnubg:", "gnubg-debian:")
"""Bots called `gnubg:0`, `gnubg:2` play at that ply: `gnubg-nn`, and the program of Debian."""
LINE = 256
"""Positions of a line: enough that its cost does not count, few enough that both sides work."""


class GnubgBot:
    """Plays what gnubg's `best_move` plays, cubeless."""

    def __init__(self, program: Program, ply: int = 0, name: str | None = None) -> None:
        """Play at `ply` with a worker program; see the module."""
        self.name = name or f"{PREFIXES[0]}{ply}"
        self.ply = ply
        self._program = program

    def choose(self, turn: Turn) -> Choice:
        """Return gnubg's choice of each game; forced plays are not asked.

        Raises:
            ExternalError: The worker fails, or answers something that is not a legal play.
        """
        choice = turn.after.offsets[:-1].copy()
        asked = np.flatnonzero(turn.after.counts() > 1)
        if asked.size:
            answers = self.ends(turn.boards[asked], turn.dice[asked])
            choice[asked] = _rows(turn, asked, answers, self.name)
        return choice

    def ends(self, boards: Board, dice: NDArray[np.int8]) -> Board:
        """Return `[N, 2, P] int8` gnubg's positions after its play, the mover still in row 0.

        Args:
            boards: `[N, 2, P] int8`, mover in row 0.
            dice: `[N, 2] int8`.
        """
        lines = [
            _line("best", self.ply, boards[part], dice=_hex(dice[part])) for part in _parts(boards)
        ]
        found = [_board(answer["boards"], boards.shape[2]) for answer in self._ask(lines)]
        return np.concatenate(found)

    def equity(self, boards: Board) -> NDArray[np.float64]:
        """Return `[N] float64` cubeless points per game of the side to roll.

        Args:
            boards: `[N, 2, P] int8`, the side to roll in row 0; games that are not over.
        """
        lines = [_line("equity", self.ply, boards[part]) for part in _parts(boards)]
        found = [np.array(answer["equity"], np.float64) for answer in self._ask(lines)]
        return np.concatenate(found) if found else np.empty(0)

    def _ask(self, lines: Sequence[str]) -> list[dict[str, Any]]:
        try:
            return [json.loads(answer) for answer in self._program.ask(lines)]
        except ValueError as error:
            raise ExternalError(f"{self.name} answered something unreadable: {error}") from None


def is_gnubg(spec: str) -> bool:
    """Return whether a spec names gnubg."""
    return spec.startswith(PREFIXES)


def make_player(
    spec: str, variant: Variant, worker: Callable[[str], Program], name: str | None = None
) -> Bot:
    """Return a bot by its spec, gnubg's included.

    Args:
        spec: `gnubg:PLY`, `gnubg-debian:PLY`, or what `nardy_rl.players.make_bot` takes.
        variant: The game.
        worker: Returns the worker program of a gnubg spec.
        name: Name in tables, by default the spec.

    Raises:
        NardyError: There is no such bot, or it does not play the game.
    """
    if not is_gnubg(spec):
        return make_bot(spec, variant, name)
    ply = spec.partition(":")[2]
    if not ply.isdecimal():
        raise ExternalError(f"'{spec}' is no bot; gnubg at 0-ply is {PREFIXES[0]}0")
    return GnubgBot(worker(spec), int(ply), name or spec)


def _parts(boards: Board) -> list[slice]:
    return [slice(first, first + LINE) for first in range(0, len(boards), LINE)]


def _line(op: str, ply: int, boards: Board, **more: str) -> str:
    request = {"op": op, "ply": ply, "boards": _hex(boards), **more}
    return json.dumps(request, separators=(",", ":")) + "\n"


def _hex(values: NDArray[np.int8]) -> str:
    return np.ascontiguousarray(values, dtype=np.int8).tobytes().hex()


def _board(text: str, slots: int) -> Board:
    return np.frombuffer(bytes.fromhex(text), np.int8).reshape(-1, 2, slots)


def _rows(turn: Turn, asked: NDArray[np.int64], answers: Board, name: str) -> Choice:
    """Return the rows of `turn.after.boards` that equal `answers`, one of each asked game."""
    after = turn.after
    mask = np.zeros(len(turn.boards), bool)
    mask[asked] = True
    rows = np.flatnonzero(np.repeat(mask, after.counts()))
    counts = after.counts()[asked]
    wanted = np.repeat(np.arange(len(asked)), counts)
    same = (after.boards[rows] == answers[wanted]).all(axis=(1, 2))
    found = np.full(len(asked), -1, np.int64)
    found[wanted[same]] = rows[same]
    for i in np.flatnonzero(found < 0):
        # All finishes of the same worth are one result for us (T-10), gnubg has its own.
        over = batch.outcomes(turn.variant, answers[i : i + 1])[0]
        own = rows[wanted == i]
        fits = own[batch.outcomes(turn.variant, after.boards[own]) == over]
        if over < 0 or not len(fits):
            raise ExternalError(f"{name} played {answers[i].tolist()}, which is not a legal play")
        found[i] = fits[0]
    return found
