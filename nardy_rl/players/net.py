"""A network as a bot: it plays the afterstate that is worst for the opponent to roll from."""

from __future__ import annotations

from nardy_rl.evaluator import Evaluator
from nardy_rl.players.base import Choice, Turn


class NetBot:
    """Plays 0-ply: a static evaluation of every afterstate."""

    def __init__(self, evaluator: Evaluator, name: str) -> None:
        """Play with `evaluator`; `name` appears in tables."""
        self.name = name
        self._evaluator = evaluator

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest equity of each game."""
        return self._evaluator.choose(turn.boards, turn.after)
