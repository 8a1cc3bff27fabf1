"""Both engines behind one face, so that each rule is tested on each of them."""

import numpy as np

from nardy_engine import Outcome, batch, reference
from nardy_engine.perft import expander


class Engine:
    """An engine asked about single positions."""

    def __init__(self, name):
        self.name = name
        self._expand = expander(name)

    def __repr__(self):
        return self.name

    def ends(self, variant, position, dice):
        """Return the end positions of all legal plays, in the order of the engine."""
        after, offsets = self._expand(
            variant, position.board()[None], np.array([dice], dtype=np.int8)
        )
        assert list(offsets) == [0, len(after)]
        return [type(position).from_board(board) for board in after]

    def outcome(self, variant, position):
        """Return the outcome seen from row 0, or None."""
        if self.name == "reference":
            return reference.outcome(variant, position)
        index = int(batch.outcomes(variant, position.board()[None])[0])
        if index < 0:
            return None
        kinds = variant.win_kinds
        kind = index % len(kinds)
        return Outcome(index < len(kinds), kind, kinds[kind][1])
