"""A network as a bot: the play of the highest equity, by a look at its end or some rolls ahead."""

from __future__ import annotations

from nardy_engine.rules.table import rule_table
from nardy_rl.evaluator import Evaluator
from nardy_rl.players.base import Choice, Turn
from nardy_rl.search import Search


class NetBot:
    """Plays by values some rolls ahead, 0-ply by default: a static value of every afterstate.

    Where a play can leave dice owed they are played out, at 0-ply too; see `search`.
    """

    def __init__(self, evaluator: Evaluator, name: str, plies: int = 0) -> None:
        """Play with `evaluator`, `plies` rolls ahead; `name` appears in tables."""
        self.name = name
        self.plies = plies
        self._evaluator = evaluator
        self._search = Search(evaluator, plies)
        self._static = plies == 0 and rule_table(evaluator.variant).owed == 0

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest equity of each game."""
        if self._static:
            return self._evaluator.choose(turn.boards, turn.after)
        return self._search.choose(turn.boards, turn.after)
