"""How lucky rolls were, so that luck can be taken off the results of games; numpy only.

The luck of a roll is what the best play of it is worth, by a network, less the average of that over
all rolls that could have been thrown. Whatever the network thinks, its expectation is 0: results
less luck have the same mean as results. The better the network judges, the less they scatter. Both
sides count, whoever plays them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules.components import Opening
from nardy_engine.types import Board
from nardy_rl.evaluator import Evaluator
from nardy_rl.rolls import Rolls, moves_before_roll, owes_dice
from nardy_rl.search import PlayOut, Search


class Luck:
    """The luck of rolls in one game, by one network; holds no state, so threads can share it."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Judge by `evaluator`, at 0-ply: the luck of a roll costs what a 1-ply search does."""
        self.variant = evaluator.variant
        # Any judge will do; to play out what is owed with all care takes five to ten times as long.
        self._search = Search(evaluator, 0, play_out=PlayOut(1, 1, 1))
        points = evaluator.points.astype(np.float64)
        self._worth = np.stack([points, (points > 0).astype(np.float64)], axis=1)

    def of(
        self, boards: Board, dice: NDArray[np.int8], turns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return `[N, 2] float64` the luck of the side to act, in points and in games won.

        Where it has dice to play or a move to make before it throws, that is 0.

        Args:
            boards: `[N, 2, P] int8` positions of running games, row 0 the side to act.
            dice: `[N, 2] int8` what it throws.
            turns: `[N] int64` decisions before this one: the first throw can be a special one.
        """
        luck = np.zeros((len(boards), 2))
        throws = ~(owes_dice(self.variant, boards) | moves_before_roll(self.variant, boards))
        special = (turns == 0) & (self.variant.opening is Opening.OPENING_DICE)
        for opening in (False, True):
            (rows,) = np.nonzero(throws & (special == opening))
            if len(rows):
                rolls = Rolls.of(self.variant, opening)
                luck[rows] = self._luck(boards[rows], dice[rows], rolls)
        return luck

    def _luck(self, boards: Board, dice: NDArray[np.int8], rolls: Rolls) -> NDArray[np.float64]:
        probs = self._search.every_roll(boards, rolls)
        larger_first = np.sort(dice, axis=1)[:, ::-1]
        same = (larger_first[:, None] == rolls.dice).all(axis=2)
        assert same.any(axis=1).all(), "a throw that cannot be"
        thrown = same.argmax(axis=1)
        return np.asarray(rolls.luck(probs, thrown) @ self._worth, np.float64)
