"""A network as a bot: it plays the afterstate that is worst for the opponent to roll from."""

from __future__ import annotations

import numpy as np

from nardy_rl.evaluator import Evaluator
from nardy_rl.players.base import Choice, Turn, choose_best


class NetBot:
    """Plays 0-ply: a static evaluation of every afterstate."""

    def __init__(self, evaluator: Evaluator, name: str) -> None:
        """Play with `evaluator`; `name` appears in tables."""
        self.name = name
        self._evaluator = evaluator

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest equity of each game."""
        values = self._evaluator.afterstate_equity(turn.boards, turn.after).astype(np.float64)
        return choose_best(turn.variant, turn.after, values)
