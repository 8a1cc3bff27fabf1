"""Bots without parameters: uniform random and the pip-greedy race."""

from __future__ import annotations

import numpy as np

from nardy_engine.rules.components import Objective
from nardy_engine.types import MOVER, OFF
from nardy_rl.players.base import Choice, Turn, choose_best


class RandomBot:
    """Chooses uniformly among the distinct results."""

    name = "random"

    def choose(self, turn: Turn) -> Choice:
        """Return a uniformly drawn afterstate of each game."""
        return turn.after.offsets[:-1] + (turn.uniform * turn.after.counts()).astype(np.int64)


class RaceBot:
    """Runs: most checkers borne off, then fewest pips left, then the rearmost checkers first.

    "Rearmost first" is the smallest sum of squared distances. The opponent does not exist for
    this bot. Where the first to bear off everything loses, it runs the other way: it plays what
    would be worst in a race.
    """

    name = "race"

    def choose(self, turn: Turn) -> Choice:
        """Return the fastest afterstate of each game, or the slowest."""
        variant = turn.variant
        rows = turn.after.boards[:, MOVER, : variant.n_counts].astype(np.float64)
        slots = np.arange(variant.n_counts, dtype=np.float64)
        # Each criterion is a whole number below the unit of the one before it.
        most_squares = variant.setup.checkers * slots[-1] ** 2 + 1
        most_pips = variant.setup.checkers * slots[-1] + 1
        weights = -(slots * most_squares + slots**2)
        weights[OFF] = most_pips * most_squares
        if variant.objective is Objective.FIRST_OFF_LOSES:
            weights = -weights
        return choose_best(variant, turn.after, rows @ weights)
