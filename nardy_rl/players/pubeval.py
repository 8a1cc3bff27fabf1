"""pubeval: Gerry Tesauro's public linear evaluator for backgammon, the classic yardstick.

One of two weight vectors is used, chosen by the position *before* the play: contact or race.
The inputs are sums over points, so the whole evaluator is one table per vector (`fill_slot_sums`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels.linear import fill_slot_sums
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OFF, OPPONENT, Board
from nardy_rl.players.base import Choice, Turn, choose_best

PER_POINT = 5
"""Inputs of a point: opposing blot, own blot, own made point, exactly three, more than three."""

POINTS = 24
"""Points of the board that the weights were made for."""

BAR_UNIT, OFF_UNIT = 2, 15
"""Divisors of the last two inputs, part of the evaluator and not of any variant's rules."""

CONTACT, RACE = 0, 1
"""Positions of the two weight vectors in the file."""


class PubevalBot:
    """Plays the highest pubeval score; finished games are preferred absolutely."""

    name = "pubeval"

    def __init__(self, variant: Variant) -> None:
        """Build the tables for the checkers of `variant`, a game on pubeval's board."""
        self._tables = pubeval_tables(variant)

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest score of each game."""
        return choose_best(turn.variant, turn.after, self.scores(turn))

    def scores(self, turn: Turn) -> NDArray[np.float64]:
        """Return `[A] float64` pubeval scores of the afterstates."""
        after = turn.after
        phase = np.where(is_race(turn.variant, turn.boards), RACE, CONTACT)
        scores = np.empty(len(after.boards))
        fill_slot_sums(after.boards, after.offsets, phase, self._tables, scores)
        return scores


def is_race(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[B] bool`: the rearmost checkers of both sides have passed each other (T27)."""
    counts = boards[:, :, : variant.n_counts]
    last = variant.bar - np.argmax(counts[:, :, ::-1] > 0, axis=2)
    return np.asarray(last.sum(axis=1) < variant.bar)


@cache
def pubeval_tables(variant: Variant) -> NDArray[np.float32]:
    """Return `[2, 2, n + 2, C + 1] float32`: contact and race worth of checkers on each slot."""
    n = np.arange(variant.setup.checkers + 1, dtype=np.float64)
    tables = np.zeros((2, 2, variant.n_counts, len(n)))
    for table, weights in zip(tables, _weights(), strict=True):
        per_point = weights[: POINTS * PER_POINT].reshape(POINTS, PER_POINT)
        for point in range(1, POINTS + 1):
            blot_theirs, blot, made, three, more = per_point[POINTS - point]
            table[MOVER, point] = (
                blot * (n == 1)
                + made * (n >= 2)
                + three * (n == 3)
                + more * np.where(n >= 4, (n - 3) / 2, 0)
            )
            table[OPPONENT, variant.opposite_point(point)] = blot_theirs * (n == 1)
        table[OPPONENT, variant.bar] = weights[-2] * n / BAR_UNIT
        table[MOVER, OFF] = weights[-1] * n / OFF_UNIT
    return tables.astype(np.float32)


def _weights() -> list[NDArray[np.float64]]:
    """Return the contact and the race weights, each `[122] float64`."""
    text = (resources.files("nardy_rl.players") / "data" / "pubeval_weights.txt").read_text("utf-8")
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    return [
        np.array([float(number) for number in part.replace("\n", " ").split(",")])
        for part in body.split("---")
    ]
