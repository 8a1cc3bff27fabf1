"""Both engines behind one face, so that each rule is tested on each of them."""

import numpy as np

from nardy_engine import Outcome, batch, reference
from nardy_engine.rules.memory import owed_dice
from nardy_engine.whole_rolls import expander


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
        if index == 2 * len(kinds):
            return Outcome(False, 0, 0, draw=True)
        kind = index % len(kinds)
        return Outcome(index < len(kinds), kind, kinds[kind][1])

    def next_position(self, variant, end):
        """Return the position after an afterstate, and whether the same side acts in it."""
        if self.name == "reference":
            return reference.next_position(variant, end)
        boards, same = batch.next_states(variant, end.board()[None])
        return type(end).from_board(boards[0]), bool(same[0])

    def whole_roll(self, variant, position, dice):
        """Return the set of results of a roll with all its segments, seen from who acted first.

        A result is an `Outcome`, or `(position, whether that side also acts next)`.
        """
        results, seen, waiting = set(), set(), [(position, True)]
        while waiting:
            now, acts = waiting.pop()
            for end in self.ends(variant, now, dice):
                after, same = self.next_position(variant, end)
                acts_next = acts is same
                over = self.outcome(variant, end if acts else end.swapped())
                if over is not None:
                    results.add(over)
                elif not owed_dice(variant, after.mover):
                    results.add((after if acts_next else after.swapped(), acts_next))
                elif (after, acts_next) not in seen:
                    seen.add((after, acts_next))
                    waiting.append((after, acts_next))
        return results
