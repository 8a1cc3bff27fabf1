"""n-ply search: expected values over the rolls to come, with move filters; numpy only.

0-ply is the static value of an afterstate, as everywhere. n-ply is the average over all rolls of
what the best reply is worth at n - 1 plies; so a ply is one roll, played to its end. What is owed
of a roll is played out and costs no ply, at 0-ply too: a value is always one of positions where
nobody owes dice. What the network says of the others only decides which of them are played out: the
best few. A move before the roll costs no ply either. Finished games are exact at every depth, and
endings are what the bear-off tables say. The chances of the outcomes are carried along, so a search
gives those, not only equity.

Two kinds of filter keep it within bounds. At the root all plays are valued at 0-ply; those that
come near the best are searched. At every decision below, the best reply by its static value is
played, or the best few are searched. Everything goes breadth first over many positions at once:
plays of all rolls are listed together, equal ones are valued once, and the network sees large
products. Results do not depend on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.boards import as_boards
from nardy_engine.kernels import values as kernel
from nardy_engine.rules.table import rule_table
from nardy_engine.types import Board
from nardy_rl import outcomes
from nardy_rl.cores import one_thread_a_product
from nardy_rl.decisions import Decisions, Plays, best_few, distinct, distinct_boards, joined
from nardy_rl.evaluator import Evaluator, Values
from nardy_rl.likely_replies import FLAT, GLANCE, Glance, LikelyReplies
from nardy_rl.rolls import Rolls, is_opening, moves_before_roll, owes_dice

MAX_PLIES = 4
"""Deepest search; each ply takes some 20 times as long."""

LIST_STATES = 32
"""Positions whose rolls are listed at once."""

SEARCH_STATES = 4096
"""Positions searched at once; bounds the memory of deep searches."""


class Filter(NamedTuple):
    """Which plays of a decision go on to be searched: the best few that come near the best."""

    keep: int
    """At most so many."""
    within: float
    """Points that a play may be worth less than the best one, in a game of which the largest win is
    up to `USUAL_WIN`; more in proportion where it is larger."""


USUAL_WIN = 3
"""Points of a large win in most games; where checkers left are counted it is many more."""


class PlayOut(NamedTuple):
    """How many plays that leave dice owed are played out at a decision: those of best value."""

    root: int
    """At a decision whose plays are compared."""
    chain: int
    """At those that follow it in the same roll, and at positions that are valued."""
    reply: int
    """At the first decision of every later roll; at those that follow it is one."""


PLAY_OUT = PlayOut(8, 2, 3)
"""What more would find costs much and is worth little (DECISIONS, 35)."""

WIDE = PlayOut(8, 2, 8)
"""As many after later rolls: for single positions."""

STATIC_REPLY = Filter(1, 0.0)
"""Below the root the reply with the best static value is played, as GNU Backgammon does."""

_ALL = 1 << 30

EVERYTHING = Filter(_ALL, float("inf"))
"""No filter."""

_DEFAULT = (Filter(8, 0.16), Filter(4, 0.06), Filter(2, 0.04), None)


def default_filters(plies: int) -> tuple[Filter | None, ...]:
    """Return the filter after 0-ply, 1-ply, ... of a search of `plies`; None = ply left out.

    >>> default_filters(2)
    (Filter(keep=8, within=0.16), Filter(keep=4, within=0.06))
    """
    return _DEFAULT[:plies]


class Searched(NamedTuple):
    """What the plays of many decisions are worth, seen from the mover."""

    probs: NDArray[np.float64]
    """`[A, O] float64` exclusive outcome probabilities."""
    equity: NDArray[np.float64]
    """`[A] float64` expected points per game, cubeless."""
    depth: NDArray[np.int8]
    """`[A] int8` plies that the value comes from; an exact value counts as the whole search. -1 =
    static although dice are owed: not among the plays that were played out."""
    codes: NDArray[np.int8]
    """`[A] int8` as in `Values`."""

    def rows(self, which: Any) -> Searched:
        """Return some of the plays: a slice, a mask or indices."""
        return Searched(self.probs[which], self.equity[which], self.depth[which], self.codes[which])


class Search:
    """Looks `plies` rolls ahead with one evaluator; holds no state, so threads can share it."""

    def __init__(
        self,
        evaluator: Evaluator,
        plies: int,
        *,
        filters: Sequence[Filter | None] | None = None,
        replies: Filter = STATIC_REPLY,
        glance: Glance | None = GLANCE,
        play_out: PlayOut | None = PLAY_OUT,
    ) -> None:
        """Prepare a search.

        Args:
            evaluator: Gives the static values.
            plies: How many rolls to look ahead after a play, 0 to `MAX_PLIES`.
            filters: After 0, 1, ..., `plies - 1` plies, which plays at the root go on; None in
                place of one leaves that depth out. Default: `default_filters`.
            replies: Which plays are searched at decisions below the root, by static values.
            glance: How many replies to each roll get a static value, those that look best by
                linear estimates; None = all.
            play_out: How many plays that leave dice owed are played out; None = all, everywhere.

        Raises:
            ValueError: `plies` is out of range, there are not `plies` filters, the first of them is
                None (all plays have a static value), or a filter, `glance` or `play_out` keeps
                nothing.
        """
        chosen = default_filters(plies) if filters is None else tuple(filters)
        if not 0 <= plies <= MAX_PLIES:
            raise ValueError(f"plies is {plies}; it must be from 0 to {MAX_PLIES}")
        if len(chosen) != plies:
            raise ValueError(f"a search of {plies} plies has {plies} filters, not {len(chosen)}")
        if chosen and chosen[0] is None:
            raise ValueError("the first filter is for static values, which all plays have")
        if min((item.keep for item in (*chosen, replies) if item is not None), default=1) < 1:
            raise ValueError("a filter keeps at least one play")
        if glance is not None and min(glance) < 1:
            raise ValueError("at least one reply to a roll is valued")
        if play_out is not None and min(play_out) < 1:
            raise ValueError("at least one play that leaves dice owed is played out")
        self.evaluator = evaluator
        self.plies = plies
        self.filters = chosen
        self.replies = replies
        self._later = _ALL if play_out is None else 1
        self.play_out = PlayOut(_ALL, _ALL, _ALL) if play_out is None else play_out
        self._variant = evaluator.variant
        self._rules = rule_table(evaluator.variant)
        self._points = evaluator.points.astype(np.float64)
        self._unit = max(1.0, float(self._points.max()) / USUAL_WIN)
        self._likely = None
        if glance is not None:
            self._likely = LikelyReplies(evaluator, glance, FLAT * self._unit)
        self._rolls = Rolls.of(evaluator.variant)

    # -- the root -----------------------------------------------------------------------------

    def positions(self, boards: Board) -> NDArray[np.float64]:
        """Return `[N, O] float64` outcome chances of the side to act, `plies` rolls ahead.

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to act; not changed. The start position of a
                game that begins with a throw without doubles is taken for its beginning.
        """
        boards = as_boards(self._variant, boards)
        with one_thread_a_product():
            first = is_opening(self._variant, boards)
            if self.plies == 0 or not first.any():
                return self._states(boards, self.plies, self.play_out.chain)
            probs = np.empty((len(boards), len(self._points)))
            if not first.all():
                probs[~first] = self._states(boards[~first], self.plies, self.play_out.chain)
            rolls = Rolls.of(self._variant, opening=True)
            starts = np.flatnonzero(first)[:1]  # all of them are the same position
            probs[first] = self._rolled(boards[starts], self.plies - 1, rolls)
        return probs

    def plays(
        self,
        boards: Board,
        after: batch.Afterstates,
        *,
        only_best: bool = False,
        owing: int | None = None,
    ) -> Searched:
        """Value every legal play of many decisions.

        Args:
            boards: `[B, 2, P] int8` positions before the play, mover in row 0.
            after: Their afterstates.
            only_best: Do not search where the best play is known before: a single one that is
                legal, or near the best, or a won game.
            owing: So many plays of a decision that leave dice owed are played out, if that is more
                than `play_out` says. Some hundreds take seconds.
        """
        with one_thread_a_product():
            return self._searched(boards, after, only_best, max(self.play_out.root, owing or 0))

    def _searched(
        self, boards: Board, after: batch.Afterstates, only_best: bool, owing: int
    ) -> Searched:
        """Do what `plays` says; `owing` plays of a decision that leave dice owed are played out."""
        static = self.evaluator.plays(boards, after)
        probs = static.probs.astype(np.float64)
        exact = static.codes != kernel.NETWORK
        depth = np.where(exact, self.plies, 0).astype(np.int8)
        found = Searched(probs, static.equity.astype(np.float64), depth, static.codes)
        if self._rules.owed != 0:
            self._play_out(after, owing, found)
        alive = ~exact & (depth >= 0)
        for ply, passing in enumerate(self.filters):
            if passing is not None:
                if ply > 0:
                    self._deepen(after, np.flatnonzero(alive), ply, found)
                alive &= self._passing(after, found, alive, passing)
                if only_best:
                    alive &= self._undecided(after, found, alive)
        if self.plies > 0:
            rows = np.flatnonzero(alive)
            self._deepen(after, rows, self.plies, found)
        return found

    def choose(self, boards: Board, after: batch.Afterstates) -> NDArray[np.int64]:
        """Return `[B] int64` the best play of each decision, as rows of the afterstates.

        Args:
            boards: `[B, 2, P] int8` positions before the play, mover in row 0.
            after: Their afterstates, at least one of each.
        """
        return self.best(after, self.plays(boards, after, only_best=True))

    def best(self, after: batch.Afterstates, found: Searched) -> NDArray[np.int64]:
        """Return `[B] int64` the best play of each decision among those searched deepest."""
        deepest = np.maximum.reduceat(found.depth, after.offsets[:-1])
        lost = self._lost(found.codes)  # a lost finish is exact, but the last resort
        if lost.any():
            shallow = np.where(lost, -1, found.depth)
            deepest = np.maximum.reduceat(shallow, after.offsets[:-1])
        group = np.repeat(np.arange(len(deepest)), after.counts())
        index = np.flatnonzero(found.depth >= deepest[group])
        offsets = np.searchsorted(index, after.offsets)
        values = Values(
            found.probs.astype(np.float32), found.equity.astype(np.float32), found.codes
        )
        return index[self.evaluator.pick(after.boards, index, offsets, values)]

    def order(self, afterstates: Board, found: Searched) -> list[int]:
        """Order the plays of one decision: by depth, then by value, won games first of all.

        So a play that was filtered out never stands above one that was searched deeper. Equal
        values are settled as by `players.choose_best`, lost games come last.

        Args:
            afterstates: `[A, 2, P] int8`, the mover still in row 0.
            found: What they are worth.

        Returns:
            Indices into `afterstates`.
        """
        ordered: list[int] = []
        rest: NDArray[np.int64] = np.arange(len(afterstates))
        while len(rest):
            group = batch.Afterstates(afterstates[rest], np.array([0, len(rest)], np.int64))
            best = int(self.best(group, found.rows(rest))[0])
            ordered.append(int(rest[best]))
            rest = np.delete(rest, best)
        return ordered

    def _lost(self, codes: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return which codes are games that the mover has finished and lost."""
        finished = codes >= 0
        return finished & (self._points[np.where(finished, codes, 0)] < 0)

    def _passing(
        self,
        after: batch.Afterstates,
        found: Searched,
        alive: NDArray[np.bool_],
        passing: Filter,
    ) -> NDArray[np.bool_]:
        """Return `[A]` which plays of the mask `alive` are kept by a filter."""
        counts = after.counts()
        group = np.repeat(np.arange(len(counts)), counts)
        # What was left behind at a lower depth does not say how good the best play is.
        counted = (alive | (found.codes != kernel.NETWORK)) & ~self._lost(found.codes)
        best = np.full(len(counts), -np.inf)
        np.maximum.at(best, group[counted], found.equity[counted])
        near = np.flatnonzero(alive & (found.equity >= best[group] - passing.within * self._unit))
        kept = np.zeros(len(alive), np.bool_)
        kept[best_few(near, group, found.equity, passing.keep)] = True
        return kept

    def _undecided(
        self, after: batch.Afterstates, found: Searched, alive: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return `[A]` whether the best play of the decision is still to be found."""
        counts = after.counts()
        group = np.repeat(np.arange(len(counts)), counts)
        finished = found.codes >= 0
        won = finished & (self._points[np.where(finished, found.codes, 0)] > 0)
        candidates = (alive | (found.codes != kernel.NETWORK)) & ~self._lost(found.codes)
        several = np.bincount(group[candidates], minlength=len(counts)) > 1
        several[group[won]] = False
        return several[group]

    def _deepen(
        self, after: batch.Afterstates, rows: NDArray[np.int64], plies: int, found: Searched
    ) -> None:
        """Write to `found` what the plays `rows` are worth at a depth."""
        if not len(rows):
            return
        found.probs[rows] = self._following(after.boards[rows], plies, self.play_out.chain)
        found.equity[rows] = outcomes.equity(found.probs[rows], self._points)
        found.depth[rows] = plies

    def _play_out(self, after: batch.Afterstates, keep: int, found: Searched) -> None:
        """Write to `found` what the plays that leave dice owed come to.

        keep: How many of each decision are played out; the depth of the others is set to -1.
        """
        owing = self._owing(after.boards, found.codes)
        group = np.repeat(np.arange(len(after.offsets) - 1), after.counts())
        rows = best_few(owing, group, found.equity, keep)
        found.depth[owing] = -1
        self._deepen(after, rows, 0, found)

    def _owing(self, boards: Board, codes: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the rows of afterstates that leave the side that acts next dice to play."""
        (rows,) = np.nonzero(codes == kernel.NETWORK)
        following, _ = batch.next_states(self._variant, boards[rows])
        return np.asarray(rows[owes_dice(self._variant, following)])

    def every_roll(self, boards: Board, rolls: Rolls) -> NDArray[np.float64]:
        """Return `[N, R, O] float64` what every roll is worth to the side that throws it.

        At 0-ply a roll is worth its best reply of those that `glance` lets be valued, which now and
        then is not the play that `choose` makes.

        Args:
            boards: `[N, 2, P] int8` positions before a roll, row 0 the side to roll.
            rolls: The rolls.
        """
        n_rolls = len(rolls.dice)
        probs: list[NDArray[np.float64]] = []
        for start in range(0, len(boards), LIST_STATES):
            part = boards[start : start + LIST_STATES]
            if self.plies == 0 and self._rules.owed == 0:
                found = self._listed(part, rolls)
                rows = found.plays[
                    self.evaluator.pick(found.boards, found.plays, found.offsets, found.values)
                ]
                probs.append(found.values.probs[rows].astype(np.float64))
                continue
            repeated = np.repeat(part, n_rolls, axis=0)
            after = batch.afterstates(self._variant, repeated, np.tile(rolls.dice, (len(part), 1)))
            searched = self.plays(repeated, after)
            probs.append(searched.probs[self.best(after, searched)])
        return np.concatenate(probs).reshape(len(boards), n_rolls, self._variant.n_outcomes)

    # -- below the root -----------------------------------------------------------------------

    def _following(self, afterstates: Board, plies: int, owing: int) -> NDArray[np.float64]:
        """Return `[N, O]` what comes of afterstates, seen from the mover; `owing` as below."""
        following, same = batch.next_states(self._variant, afterstates)
        probs = self._states(following, plies, owing)
        return np.where(same[:, None], probs, outcomes.flip(probs))

    def _states(self, boards: Board, plies: int, owing: int) -> NDArray[np.float64]:
        """Return `[N, O]` the chances of the side to act, `plies` rolls ahead.

        owing: How many plays that leave dice owed are played out where dice are owed.
        """
        boards, index = distinct_boards(boards)
        owed = owes_dice(self._variant, boards)
        probs = np.empty((len(boards), self._variant.n_outcomes))
        codes = np.empty(len(boards), np.int8)
        tables = int(self.evaluator.uses_bearoff)
        kernel.fill_codes(boards, 0, tables, self._rules, codes)
        running = codes == kernel.NETWORK
        known = running & owed
        rolling = running & ~owed
        if plies == 0:
            rolling[:] = False
        else:
            before = rolling & moves_before_roll(self._variant, boards)
            known, rolling = known | before, rolling & ~before
        leaves = ~(known | rolling)
        probs[leaves] = self.evaluator.probs(boards[leaves])
        if known.any():
            probs[known] = self._played(boards[known], plies, owing)
        (rows,) = np.nonzero(rolling)
        for start in range(0, len(rows), SEARCH_STATES):
            part = rows[start : start + SEARCH_STATES]
            probs[part] = self._rolled(boards[part], plies - 1, self._rolls)
        return probs[index]

    def _played(self, boards: Board, plies: int, owing: int) -> NDArray[np.float64]:
        """Return `[N, O]` what positions are worth in which the dice are known or not needed."""
        after = batch.afterstates(self._variant, boards, np.ones((len(boards), 2), np.int8))
        index: NDArray[np.int64] = np.arange(len(after.boards))
        values = self.evaluator.plays(boards, after)
        decisions = Decisions(after.boards, index, after.offsets, values)
        return self._best(self._kept(self._played_out(decisions, owing, owing)), plies, owing)

    def _rolled(self, boards: Board, plies: int, rolls: Rolls) -> NDArray[np.float64]:
        """Return `[N, O]` the average over rolls of what the best plays are worth at a depth."""
        return rolls.average(self._by_roll(boards, plies, rolls))

    def _by_roll(self, boards: Board, plies: int, rolls: Rolls) -> NDArray[np.float64]:
        """Return `[N, R, O]` what the best plays of every roll are worth at a depth."""
        parts = [
            self._listed(boards[start : start + LIST_STATES], rolls)
            for start in range(0, len(boards), LIST_STATES)
        ]
        probs = self._best(joined(parts), plies, self._later)
        return probs.reshape(len(boards), len(rolls.dice), -1)

    def _listed(self, boards: Board, rolls: Rolls) -> Decisions:
        """Return the decisions after every roll, with those plays that the filter keeps."""
        n_rolls = len(rolls.dice)
        repeated = np.repeat(boards, n_rolls, axis=0)
        after = batch.afterstates(self._variant, repeated, np.tile(rolls.dice, (len(boards), 1)))
        if self._rules.again != 0:  # who acts next depends on the roll
            index: NDArray[np.int64] = np.arange(len(after.boards))
            values = self.evaluator.plays(repeated, after)
            decisions = Decisions(after.boards, index, after.offsets, values)
            return self._kept(self._played_out(decisions, self.play_out.reply, self._later))
        groups = batch.Afterstates(after.boards, after.offsets[::n_rolls])
        listed = Plays(groups, np.arange(len(after.boards)), after.offsets)
        if self._likely is None:
            plays, _ = distinct(listed)
            values = self.evaluator.plays(boards, plays.after)
        else:
            plays, values = self._likely.find(boards, listed)
        return self._kept(Decisions(plays.after.boards, plays.rows, plays.offsets, values))

    def _played_out(self, decisions: Decisions, keep: int, then: int) -> Decisions:
        """Return decisions without those plays that leave dice owed, but for the `keep` best.

        These have the value of what they come to, with `then` instead of `keep` at decisions that
        follow. The plays are the rows of the decisions, in their order.
        """
        if self._rules.owed == 0:
            return decisions
        boards, index, offsets, values = decisions
        owing = self._owing(boards, values.codes)
        if not len(owing):
            return decisions
        group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows = best_few(owing, group, values.equity, keep)
        probs = self._following(boards[rows], 0, then)
        values.probs[rows] = probs
        values.equity[rows] = outcomes.equity(probs, self._points)
        left = np.ones(len(boards), np.bool_)
        left[owing] = False
        left[rows] = True
        ends = np.concatenate(([0], np.cumsum(left)))[offsets]
        values = Values(values.probs[left], values.equity[left], values.codes[left])
        return Decisions(boards[left], index[: len(values.codes)], ends, values)

    def _kept(self, decisions: Decisions) -> Decisions:
        """Return the decisions with only those plays that the filter of replies keeps."""
        boards, index, offsets, values = decisions
        if self.replies.keep == 1:
            rows = index[self.evaluator.pick(boards, index, offsets, values)]
            ends: NDArray[np.int64] = np.arange(len(rows) + 1)
        else:
            after = batch.Afterstates(boards[index], offsets)
            found = Searched(
                values.probs[index].astype(np.float64),
                values.equity[index].astype(np.float64),
                np.zeros(len(index), np.int8),
                values.codes[index],
            )
            exact = found.codes != kernel.NETWORK
            kept = exact | self._passing(after, found, ~exact, self.replies)
            rows = index[kept]
            ends = np.concatenate(([0], np.cumsum(kept)))[offsets]
        return Decisions(
            boards[rows],
            np.arange(len(rows)),
            ends,
            Values(values.probs[rows], values.equity[rows], values.codes[rows]),
        )

    def _best(self, decisions: Decisions, plies: int, owing: int) -> NDArray[np.float64]:
        """Return `[B, O]` what the best plays are worth at a depth, seen from the mover."""
        boards, index, offsets, values = decisions
        probs = values.probs.astype(np.float64)
        if plies > 0:
            (open_rows,) = np.nonzero(values.codes == kernel.NETWORK)
            probs[open_rows] = self._following(boards[open_rows], plies, owing)
        if self.replies.keep == 1:
            return probs[index]
        equity = outcomes.equity(probs, self._points).astype(np.float32)
        searched = Values(values.probs, equity, values.codes)
        return probs[self.evaluator.pick(boards, index, offsets, searched)]
