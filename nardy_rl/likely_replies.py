"""Which replies to a roll are worth a look: estimates by tangents of the network; numpy only.

A search one ply deep would value some 350 replies to every position, and nearly all of them only to
see that they are worse. A linear estimate of each costs a few additions (DECISIONS, 26).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.kernels import values as kernel
from nardy_engine.rules.table import rule_table
from nardy_engine.types import Board
from nardy_rl.decisions import Plays, distinct
from nardy_rl.evaluator import Evaluator, Tangents, Values


class Glance(NamedTuple):
    """How many replies to each roll are worth a look at, by estimates that cost little."""

    first: int
    """So many go on by the tangent of the whole network: the first layer is worked out."""
    second: int
    """So many of these by the tangent of the layers above it: they get their static value."""


GLANCE = Glance(16, 4)

TANGENT_ROLLS = 5
"""The estimates are tangents at replies to every fifth roll of `Rolls`: 1-1, 3-3, 5-1, 6-1 and 6-6.

More add little; with the same number of others, fewer doubles among them, errors are up to twice as
large (DECISIONS, 26)."""

FLAT = 0.01
"""Points; where the estimates of all replies to a position differ by less, all are valued."""


class LikelyReplies:
    """Finds the replies that do not look far behind; holds no state, so threads can share it."""

    def __init__(self, evaluator: Evaluator, glance: Glance, flat: float) -> None:
        """Prepare the estimates.

        Args:
            evaluator: Gives the tangents and the static values.
            glance: How many replies to each roll are kept.
            flat: Points; where the estimates of all replies to a position differ by less, all are
                valued.
        """
        self.evaluator = evaluator
        self.glance = glance
        self._flat = flat
        self._variant = evaluator.variant
        self._rules = rule_table(evaluator.variant)

    def find(self, boards: Board, plays: Plays) -> tuple[Plays, Values]:
        """Return the replies that do not look far behind, with their static values.

        First the network is replaced by its tangent; what a play changes is then a sum of a few
        numbers. Of what is left the first layer is worked out, and only the layers above it are
        replaced.

        Args:
            boards: `[N, 2, P] int8` positions before a roll, row 0 the side to roll.
            plays: All plays of all rolls, not merged yet; those of a roll follow each other.
        """
        codes = np.empty(len(plays.after.boards), np.int8)
        tables = int(self.evaluator.uses_bearoff)
        kernel.fill_codes(plays.after.boards, 1, tables, self._rules, codes)
        tangents = self.tangents(boards, plays, codes)
        encoder = self.evaluator.network.encoder
        estimates = encoder.estimates(plays.after.boards, plays.after.offsets, tangents.features)
        codes = self._all_where_flat(plays.after, codes, estimates)
        marks = np.zeros(len(codes), np.uint8)
        best = np.empty(self.glance.first, np.int64)
        kernel.mark_likely(plays.rows, plays.offsets, codes, estimates, best, marks)
        chosen = marks.view(np.bool_)
        plays, places = distinct(plays.only(chosen))
        few = np.empty(len(plays.after.boards), np.int8)
        few[places] = codes[chosen]
        kept, values = self.evaluator.likely_plays(
            boards, *plays, codes=few, slopes=tangents.hidden, keep=self.glance.second
        )
        return plays.only(kept), values

    def tangents(self, boards: Board, plays: Plays, codes: NDArray[np.int8]) -> Tangents:
        """Return for each position the mean of the tangents at good replies to some rolls.

        The tangent at the position before the play finds those replies. It is not good enough to
        go on with: there the side to reply has not moved, which may be worth much more than any
        reply, and the network is flat where it is sure.

        Args:
            boards: As for `find`.
            plays: As for `find`.
            codes: `[A] int8` which plays the network is asked about, as in `Values`.
        """
        passed = self.evaluator.tangents(batch.swapped(boards))
        starts, ends = (
            some.reshape(len(boards), -1)[:, ::TANGENT_ROLLS]
            for some in (plays.offsets[:-1], plays.offsets[1:])
        )
        offsets = np.concatenate(([0], np.cumsum(ends - starts)))
        order: NDArray[np.int64] = np.arange(offsets[-1])
        rows = order + np.repeat(starts.ravel() - offsets[:-1], np.diff(offsets))
        replies, of_position = plays.after.boards[rows], offsets[:: starts.shape[1]]
        encoder = self.evaluator.network.encoder
        estimates = encoder.estimates(replies, of_position, passed.features)
        best = np.empty(starts.size, np.int64)
        kernel.best_estimates(order, offsets, codes[rows], estimates, best)
        found = best.reshape(starts.shape) >= 0
        following, _ = batch.next_states(self._variant, replies[best[best >= 0]])
        near = self.evaluator.tangents(following)
        weight = 1 / (1 + found.sum(axis=1, keepdims=True, dtype=np.float32))

        def mean(own: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
            placed = np.zeros((*found.shape, own.shape[1]), np.float32)
            placed[found] = others
            return np.asarray((own + placed.sum(axis=1)) * weight, np.float32)

        return Tangents(*map(mean, passed, near))

    def _all_where_flat(
        self, after: batch.Afterstates, codes: NDArray[np.int8], estimates: NDArray[np.float32]
    ) -> NDArray[np.int8]:
        """Return codes that keep every reply to a position of which the estimates say nothing.

        Where all but a few replies lose the same for certain the tangents are flat: equal
        estimates do not mean equal values. The codes only steer what is kept: those of finished
        games are among what is replaced.
        """
        counted, starts = codes == kernel.NETWORK, after.offsets[:-1]
        highest = np.maximum.reduceat(np.where(counted, estimates, -np.inf), starts)
        lowest = np.minimum.reduceat(np.where(counted, estimates, np.inf), starts)
        flat = np.repeat(highest < lowest + self._flat, after.counts())
        return np.where(flat, kernel.TABLE, codes)  # exact values are kept, whatever they are
