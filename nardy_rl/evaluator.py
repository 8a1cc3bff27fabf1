"""What a position is worth and which play is best, by a network; numpy only, starts fast.

At 0-ply a play is worth what the network says about its afterstate, seen from the side that acts
next. Finished positions never reach the network: they have an exact value; nor do the
endings that the bear-off tables cover. What looks further ahead goes through `search`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Play, Position, Variant, batch, reference
from nardy_engine.bearoff import Bearoff, obstacle
from nardy_engine.boards import as_boards
from nardy_engine.errors import PositionError
from nardy_engine.kernels import values as kernel
from nardy_engine.kernels.bearoff import BearoffTables
from nardy_engine.notation import format_play
from nardy_engine.rules.table import rule_table
from nardy_engine.types import Board, Dice
from nardy_rl import outcomes
from nardy_rl.checkpoint import Network, load_network
from nardy_rl.outcomes import Probabilities
from nardy_rl.players.base import TIE

CHUNK = 1024
"""Rows that go through the network at once; more fall out of the processor's cache."""


class Evaluation(NamedTuple):
    """Value of a position before the roll, seen from the side to roll."""

    equity: float
    """Expected points per game, cubeless."""
    probabilities: Probabilities


class RatedPlay(NamedTuple):
    """A legal play and what it is worth to the mover."""

    play: Play
    text: str
    """The play in move notation."""
    equity: float
    """Expected points per game of the mover after the play, cubeless."""
    difference: float
    """Equity lost against the best play; 0 or negative."""
    probabilities: Probabilities
    """Outcomes from the mover's view."""
    depth: int = 0
    """Plies that the value comes from; an exact value counts as the whole search."""


class Values(NamedTuple):
    """What many positions or plays are worth, seen from row 0 of each."""

    probs: NDArray[np.float32]
    """`[N, O] float32` exclusive outcome probabilities."""
    equity: NDArray[np.float32]
    """`[N] float32` expected points per game, cubeless."""
    codes: NDArray[np.int8]
    """`[N] int8` outcome index of a finished game, or `kernels.values.NETWORK` or `TABLE`."""

    def part(self, rows: slice) -> Values:
        """Return some rows, as views."""
        return Values(self.probs[rows], self.equity[rows], self.codes[rows])


def joined(parts: Sequence[Values]) -> Values:
    """Return the values of several lists as one."""
    return Values(
        np.concatenate([part.probs for part in parts]),
        np.concatenate([part.equity for part in parts]),
        np.concatenate([part.codes for part in parts]),
    )


class Tangents(NamedTuple):
    """The network as a linear function near some positions."""

    features: NDArray[np.float32]
    """`[N, F] float32` what each feature adds to the equity of the side to act."""
    hidden: NDArray[np.float32]
    """`[N, H] float32` what each unit of the first hidden layer adds, after its ReLU."""


class Evaluator:
    """A network with the game that it plays."""

    def __init__(self, network: Network, *, bearoff: bool = True) -> None:
        """Wrap a loaded network; `load` is the usual way.

        Args:
            network: Borrowed; its arrays are only read.
            bearoff: Value endings by the bear-off tables, where the game has them; False = by
                the network alone, to measure it. The tables are built or loaded when the first
                ending is met.
        """
        self.network = network
        self.variant: Variant = network.variant
        self.points = outcomes.points_vector(self.variant)
        """`[O] float32` points of each outcome for the side to roll."""
        self.uses_bearoff = bearoff and obstacle(self.variant) is None
        """Whether endings are valued by tables."""
        self._rules = rule_table(self.variant)
        self._first_weights = np.ascontiguousarray(network.layers[0][0].T)
        self._local = threading.local()

    @classmethod
    def load(
        cls, source: str | Path, variant: Variant | None = None, *, bearoff: bool = True
    ) -> Evaluator:
        """Load a network by path or by the name of a shipped one.

        Raises:
            CheckpointError: It is missing, damaged, or made for other rules than `variant`.
        """
        return cls(load_network(source, variant), bearoff=bearoff)

    # -- many positions -----------------------------------------------------------------------

    def positions(self, boards: Board) -> Values:
        """Value positions, each seen from the side to act; the arrays are fresh.

        Impossible outcomes are exactly 0; finished positions have exactly one 1, endings are
        taken from the tables, and neither costs a network call (T24, T30).

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to act; not changed.
        """
        boards = as_boards(self.variant, boards)
        found = self._empty(len(boards))
        for start in range(0, len(boards), CHUNK):
            rows = slice(start, min(start + CHUNK, len(boards)))
            chunk = boards[rows]

            def logits(open_rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
                wanted = chunk if open_rows is None else chunk[open_rows]  # noqa: B023
                return self.logits(self.network.encoder.encode(wanted))

            self._fill(chunk, False, logits, found.part(rows))
        return found

    def plays(self, boards: Board, after: batch.Afterstates) -> Values:
        """Value every legal play of many positions, each seen from the mover; fresh arrays.

        Each is worth what `positions` says of `batch.next_states`, turned where the other side
        acts next, up to rounding; but the first layer adds only what a play changes.

        Args:
            boards: `[B, 2, P] int8` positions before the play, mover in row 0.
            after: Their afterstates. All those of one position lead to the same side to act,
                but for those that end the game.
        """
        boards = as_boards(self.variant, boards)
        found = self._empty(len(after.boards))
        offsets = after.offsets
        for first, end in self._chunks(offsets):
            rows = slice(int(offsets[first]), int(offsets[end]))
            chunk, games = np.ascontiguousarray(after.boards[rows]), (first, end)

            def logits(open_rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
                hidden = self._first_layer(boards, chunk, offsets, games)  # noqa: B023
                return self._through(hidden if open_rows is None else hidden[open_rows], first=1)

            self._fill(chunk, True, logits, found.part(rows))
        return found

    def _empty(self, n: int) -> Values:
        shape = (n, self.variant.n_outcomes)
        return Values(np.empty(shape, np.float32), np.empty(n, np.float32), np.empty(n, np.int8))

    def _fill(
        self,
        boards: Board,
        afterstates: bool,
        logits: Callable[[NDArray[np.int64] | None], NDArray[np.float32]],
        out: Values,
    ) -> None:
        """Write the values of one chunk to `out`.

        logits: gives the network's outputs of the rows asked for, None = all of them.
        """
        tables = int(self.uses_bearoff)
        kernel.fill_codes(boards, int(afterstates), tables, self._rules, out.codes)
        (open_rows,) = np.nonzero(out.codes == kernel.NETWORK)
        asked = np.empty((0, self.variant.n_outcomes), np.float32)
        if len(open_rows):
            asked = logits(open_rows if len(open_rows) < len(boards) else None)
        mars_kind, held = self._tables(bool((out.codes == kernel.TABLE).any()))
        kernel.fill_values(
            boards, int(afterstates), out.codes, asked, self.points, mars_kind, self._rules, held,
            self._work(), out.probs, out.equity,
        )  # fmt: skip

    def _tables(self, wanted: bool) -> tuple[int, BearoffTables]:
        """Return the bear-off tables, built when they are first wanted, else empty ones."""
        if not wanted:
            return 0, _NO_TABLES
        if not hasattr(self, "_bearoff"):
            self._bearoff = Bearoff.for_variant(self.variant)
        if self._bearoff is None:
            raise AssertionError("no position is covered in a game without tables")
        return self._bearoff.mars_kind, self._bearoff.tables

    def _work(self) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return this thread's working memory for `kernel.fill_values`."""
        if not hasattr(self._local, "work"):
            n = self.variant.n_outcomes
            self._local.work = np.empty(n, np.uint8), np.empty(n, np.float32)
        work: tuple[NDArray[np.uint8], NDArray[np.float32]] = self._local.work
        return work

    def probs(self, boards: Board) -> NDArray[np.float32]:
        """Return `[N, O] float32` exclusive outcome probabilities of the side to act.

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to act; not changed.
        """
        return self.positions(boards).probs

    def equity(self, boards: Board) -> NDArray[np.float32]:
        """Return `[N] float32` expected points per game of the side to act.

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to act; not changed.
        """
        return self.positions(boards).equity

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return `[N, O] float32` outputs of the network, before mask and softmax.

        Args:
            features: `[N, F] float32` of the network's encoder; not changed.
        """
        return self._through(features, first=0)

    def _through(self, x: NDArray[np.float32], first: int) -> NDArray[np.float32]:
        """Return what the layers from number `first` on make of `x`, which is not changed."""
        layers = self.network.layers
        for i, (weight, bias) in enumerate(layers[first:], start=first):
            out = self._buffer(i, len(x), len(bias)) if i + 1 < len(layers) else None
            x = np.matmul(x, weight.T, out=out)
            x += bias
            if i + 1 < len(layers):
                np.maximum(x, np.float32(0), out=x)
        return x

    def _first_layer(
        self,
        boards: Board,
        ends: Board,
        offsets: NDArray[np.int64],
        games: tuple[int, int],
    ) -> NDArray[np.float32]:
        """Return the first hidden layer of the afterstates `ends` of the positions `games`."""
        _, bias = self.network.layers[0]
        hidden = self._buffer(-1, len(ends), len(bias))
        self.network.encoder.first_layer_into(
            boards, ends, offsets, games, self._first_weights, bias, hidden
        )
        return hidden

    def tangents(self, boards: Board) -> Tangents:
        """Return how the equity of the side to act grows with each input of the first two layers.

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to act, no game finished.
        """
        weight, bias = self.network.layers[0]
        hidden = self.network.encoder.encode(boards) @ weight.T + bias
        active = hidden > 0
        slopes = self._slopes(hidden * active, batch.outcome_mask(self.variant, boards))
        return Tangents((slopes * active) @ weight, slopes)

    def _slopes(
        self, hidden: NDArray[np.float32], possible: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return `[N, H] float32` how the equity grows with each unit of the first hidden layer."""
        layers, x, active = self.network.layers, hidden, []
        for weight, bias in layers[1:-1]:
            x = x @ weight.T + bias
            active.append(x > 0)
            x *= active[-1]
        weight, bias = layers[-1]
        slopes = self._last_slopes(x @ weight.T + bias, possible) @ weight
        for (weight, _), passes in zip(layers[-2:0:-1], active[::-1], strict=True):
            slopes = (slopes * passes) @ weight
        return np.asarray(slopes, np.float32)

    def _last_slopes(
        self, logits: NDArray[np.float32], possible: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return `[N, O] float32` how the equity grows with each logit."""
        probs = outcomes.masked_softmax(logits, possible)
        equity = outcomes.equity(probs, self.points)
        return np.asarray(probs * (self.points - equity[:, None]), np.float32)

    def likely_plays(
        self,
        boards: Board,
        after: batch.Afterstates,
        index: NDArray[np.int64],
        offsets: NDArray[np.int64],
        codes: NDArray[np.int8],
        slopes: NDArray[np.float32],
        keep: int,
    ) -> tuple[NDArray[np.bool_], Values]:
        """Value those plays of each decision that look best after the first layer.

        The layers above it are replaced by a tangent.

        Args:
            boards: `[B, 2, P] int8` positions before the play, mover in row 0.
            after: Their afterstates; the other side acts next in all of them.
            index: `[A] int64` the rows of the afterstates that the plays are.
            offsets: `[G + 1] int64` first play of each decision; those of one position follow
                each other, equally many of each.
            codes: `[M] int8` of the afterstates, see `kernels.values.fill_codes`.
            slopes: `[B, H] float32`, one `Tangents.hidden` of each position, of the side that acts
                after the play.
            keep: How many plays of a decision are valued, besides those with an exact value.

        Returns:
            `[M]` which afterstates are valued, and the values of these.
        """
        kept = np.zeros(len(codes), np.bool_)
        found: list[Values] = []
        n_rolls, best = (len(offsets) - 1) // len(boards), np.empty(keep, np.int64)
        for first, end in self._chunks(after.offsets):
            rows = slice(int(after.offsets[first]), int(after.offsets[end]))
            hidden = self._first_layer(boards, after.boards[rows], after.offsets, (first, end))
            estimates = np.empty(len(hidden), np.float32)
            for game in range(first, end):
                own = slice(*(after.offsets[game : game + 2] - rows.start))
                np.matmul(hidden[own], -slopes[game], out=estimates[own])
            decisions = offsets[first * n_rolls : end * n_rolls + 1]
            plays = index[decisions[0] : decisions[-1]] - rows.start
            marks = np.zeros(len(hidden), np.uint8)
            kernel.mark_likely(plays, decisions - decisions[0], codes[rows], estimates, best, marks)
            chosen = marks.view(np.bool_)
            kept[rows] = chosen
            part, left = self._empty(int(chosen.sum())), hidden[chosen]

            def logits(open_rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
                return self._through(left if open_rows is None else left[open_rows], first=1)  # noqa: B023

            self._fill(after.boards[rows][chosen], True, logits, part)
            found.append(part)
        return kept, joined(found)

    @staticmethod
    def _chunks(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Yield ranges of games whose rows fit the cache; one game may have more rows."""
        first, n = 0, len(offsets) - 1
        while first < n:
            end = int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1
            end = max(end, first + 1)
            yield first, end
            first = end

    def _buffer(self, layer: int, rows: int, width: int) -> NDArray[np.float32]:
        """Return `[rows, width] float32` memory of this thread, valid until asked for again.

        Fresh memory of this size costs more than what is done with it.
        """
        held: dict[int, NDArray[np.float32]] = self._local.__dict__.setdefault("buffers", {})
        if layer not in held or len(held[layer]) < rows:
            held[layer] = np.empty((max(rows, CHUNK), width), np.float32)
        return held[layer][:rows]

    def choose(self, boards: Board, after: batch.Afterstates) -> NDArray[np.int64]:
        """Return `[B] int64` the best play of each position, as `players.choose_best` has it.

        Args:
            boards: `[B, 2, P] int8` positions before the play, mover in row 0.
            after: Their afterstates, at least one of each; what is returned are rows of them.
        """
        values = self.plays(boards, after)
        index: NDArray[np.int64] = np.arange(len(after.boards))
        return self.pick(after.boards, index, after.offsets, values)

    def pick(
        self,
        afterstates: Board,
        index: NDArray[np.int64],
        offsets: NDArray[np.int64],
        values: Values,
    ) -> NDArray[np.int64]:
        """Return `[B] int64` the best play of each decision by its value, -1 where there is none.

        Args:
            afterstates: `[M, 2, P] int8`, mover in row 0.
            index: `[A] int64` the rows of `afterstates` that the plays are.
            offsets: `[B + 1] int64` first play of each decision; what is returned are places in
                `index`.
            values: Of the afterstates.
        """
        picked = np.empty(len(offsets) - 1, np.int64)
        kernel.pick_best(
            afterstates, index, offsets, values.codes, values.equity, self.points, TIE,
            self._rules, picked,
        )  # fmt: skip
        return picked

    # -- one position -------------------------------------------------------------------------

    def before_roll(self, position: Position) -> Evaluation:
        """Evaluate a position statically: by the network, or exactly if it is an ending.

        Args:
            position: Row 0 the side to roll.

        Raises:
            PositionError: The position cannot occur in the game.
        """
        board = self.variant.check_position(position).board()
        return self._evaluation(self.probs(board[None])[0])

    def average_over_rolls(self, position: Position) -> Evaluation:
        """Evaluate a position as the average over all rolls, each played best (1-ply).

        A roll is played to its end: where it is several decisions, by one side or by both, the
        network values the position after the last one. Of the plays that leave dice owed those
        that look best are played out, so there the best can be missed. Where dice are owed, the
        rest of that roll is played first; see `search`.

        Args:
            position: Row 0 the side to roll.

        Raises:
            PositionError: The position cannot occur in the game.
        """
        from nardy_rl.search import EVERYTHING, WIDE, Search  # it is built on this module

        board = self.variant.check_position(position).board()
        search = Search(self, 1, filters=[EVERYTHING], glance=None, play_out=WIDE)
        return self._evaluation(search.positions(board[None])[0])

    def ahead(self, position: Position, plies: int) -> Evaluation:
        """Evaluate a position some rolls ahead, see `search`.

        Args:
            position: Row 0 the side to act.
            plies: How many rolls.

        Raises:
            PositionError: The position cannot occur in the game.
        """
        from nardy_rl.search import Search  # it is built on this module

        board = self.variant.check_position(position).board()
        return self._evaluation(Search(self, plies).positions(board[None])[0])

    def best(
        self, position: Position, dice: Dice | None, top: int | None = None, plies: int = 0
    ) -> list[RatedPlay]:
        """Rate the legal plays of a roll, best first.

        Args:
            position: Row 0 the mover.
            dice: The roll; None if the position says what is played.
            top: How many plays to return, all by default.
            plies: How many rolls to look ahead, see `search`. A play searched deeper stands
                before one that was not.

        Raises:
            PositionError: The position cannot occur in the game, or the game is over.
            DiceError: The dice cannot show this roll.
            ValueError: `top` is below 1, or `plies` is none that `search` has.
        """
        from nardy_rl.search import Search  # it is built on this module

        if top is not None and top < 1:
            raise ValueError(f"top is {top}; it must be at least 1")
        variant = self.variant
        roll = None if dice is None else variant.check_dice(dice)
        if reference.outcome(variant, variant.check_position(position)) is not None:
            raise PositionError("the game is over in this position: there is nothing to play")
        plays = reference.plays(variant, position, roll)
        boards = np.stack([play.end.board() for play in plays])
        search = Search(self, plies)
        after = batch.Afterstates(boards, np.array([0, len(boards)], np.int64))
        # What is shown is played out where dice are owed, and a bot would play the first one.
        found = search.plays(position.board()[None], after, owing=top or len(boards))
        order = search.order(boards, found)[:top]
        best = float(found.equity[order[0]])
        return [
            RatedPlay(
                play=plays[i],
                text=format_play(variant, plays[i], position),
                equity=float(found.equity[i]),
                difference=min(0.0, float(found.equity[i]) - best),
                probabilities=Probabilities.from_vector(found.probs[i]),
                depth=int(found.depth[i]),
            )
            for i in order
        ]

    def _evaluation(self, probs: outcomes.FloatArray) -> Evaluation:
        probabilities = Probabilities.from_vector(probs)
        return Evaluation(probabilities.equity(self.points), probabilities)


_NO_TABLES = BearoffTables(
    np.empty((0, 0), np.int64),
    np.empty((0, 0, 0), np.float32),
    np.empty((0, 0, 0), np.float32),
    np.empty((0, 0, 0), np.float32),
    np.empty((0, 0, 0, 0), np.float32),
)
