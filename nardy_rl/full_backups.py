"""Targets that are means over all rolls, at a fraction of the price; layer 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.rules.table import rule_table
from nardy_engine.types import Board
from nardy_rl.evaluator import Evaluator
from nardy_rl.likely_replies import Glance
from nardy_rl.rolls import Rolls
from nardy_rl.search import Search

FEW = Glance(8, 3)
"""Half of what a search looks at (DECISIONS, 34)."""


class FullBackups(Search):
    """Looks one roll ahead; few replies to a roll are valued, and one roll in full.

    A best reply that the estimates miss makes a value too low, never too high. Learned from, that
    grows: the network takes the low value for true, and its estimates miss more. So one roll is
    drawn for each position, all replies to it are valued, and what that adds is added to the mean
    over all rolls. The expectation is then that of valuing every reply to every roll, but for a
    tenth of what the estimates miss: only so much is added as leaves no chance below 0. The
    cross-entropy of such a target has no lower bound, and a network that sees it again and again
    runs after it.

    For `positions` alone: what is drawn depends on the order of the positions.

    Where a roll decides who acts next, and where dice can be owed, every reply is valued.
    """

    def __init__(
        self, evaluator: Evaluator, rng: np.random.Generator, glance: Glance = FEW
    ) -> None:
        """Prepare targets.

        Args:
            evaluator: Gives the static values.
            rng: Draws the rolls that are valued in full; advanced, so not for several threads.
            glance: How many replies to a roll are valued.
        """
        rules = rule_table(evaluator.variant)
        every_reply = rules.again != 0 or rules.owed != 0
        super().__init__(evaluator, 1, glance=None if every_reply else glance)
        self._rng = rng

    def _rolled(self, boards: Board, plies: int, rolls: Rolls) -> NDArray[np.float64]:
        by_roll = self._by_roll(boards, plies, rolls)
        means = rolls.average(by_roll)
        if self._likely is not None:
            drawn = self._rng.choice(len(rolls.dice), len(boards), p=rolls.chances)
            after = batch.afterstates(self._variant, boards, rolls.dice[drawn])
            values = self.evaluator.plays(boards, after)
            index: NDArray[np.int64] = np.arange(len(after.boards))
            best = self.evaluator.pick(after.boards, index, after.offsets, values)
            missed = values.probs[best] - by_roll[np.arange(len(boards)), drawn]
            means += missed * _room(means, missed)[:, None]
        return means


def _room(means: NDArray[np.float64], added: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `[N]` how much of `added` `[N, O]` can be added and leave no chance below 0."""
    falling = added < 0
    shares = np.divide(means, -added, out=np.ones_like(means), where=falling)
    return np.asarray(np.clip(shares.min(axis=1), 0, 1))
