"""What a position is worth and which play is best, by a network; numpy only, starts fast.

0-ply throughout: a play is worth what the network says about its afterstate, seen from the other
side, which is to roll. Finished positions never reach the network: they have an exact value.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Play, Position, Variant, batch, reference
from nardy_engine.errors import PositionError
from nardy_engine.notation import format_play
from nardy_engine.types import Board, Dice
from nardy_rl import outcomes
from nardy_rl.checkpoint import Network, load_network
from nardy_rl.outcomes import Probabilities
from nardy_rl.players import choose_best

CHUNK = 4096
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


class Evaluator:
    """A network with the game that it plays."""

    def __init__(self, network: Network) -> None:
        """Wrap a loaded network; `load` is the usual way.

        Args:
            network: Borrowed; its arrays are only read.
        """
        self.network = network
        self.variant: Variant = network.variant
        self.points = outcomes.points_vector(self.variant)
        """`[O] float32` points of each outcome for the side to roll."""
        self._first_weights = np.ascontiguousarray(network.layers[0][0].T)

    @classmethod
    def load(cls, source: str | Path, variant: Variant | None = None) -> Evaluator:
        """Load a network by path or by the name of a shipped one.

        Raises:
            CheckpointError: It is missing, damaged, or made for other rules than `variant`.
        """
        return cls(load_network(source, variant))

    # -- many positions -----------------------------------------------------------------------

    def probs(self, boards: Board) -> NDArray[np.float32]:
        """Return `[N, O] float32` exclusive outcome probabilities of the side to roll.

        Impossible outcomes are exactly 0; finished positions have exactly one 1 and cost no
        network call (T24, T30).

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to roll; not changed.
        """
        over = batch.outcomes(self.variant, boards)
        result = outcomes.one_hot(over, self.variant.n_outcomes)
        (open_games,) = np.nonzero(over < 0)
        for start in range(0, len(open_games), CHUNK):
            rows = open_games[start : start + CHUNK]
            chunk = np.ascontiguousarray(boards[rows])
            logits = self.logits(self.network.encoder.encode(chunk))
            possible = batch.outcome_mask(self.variant, chunk)
            result[rows] = outcomes.masked_softmax(logits, possible)
        return result

    def equity(self, boards: Board) -> NDArray[np.float32]:
        """Return `[N] float32` expected points per game of the side to roll.

        Args:
            boards: `[N, 2, P] int8`, row 0 the side to roll; not changed.
        """
        return outcomes.equity(self.probs(boards), self.points).astype(np.float32)

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
            x = x @ weight.T
            x += bias
            if i + 1 < len(layers):
                np.maximum(x, np.float32(0), out=x)
        return x

    def afterstate_equity(self, boards: Board, after: batch.Afterstates) -> NDArray[np.float32]:
        """Return `[A] float32` the mover's equity of every legal play of many positions.

        The equity of `batch.next_states`, negative where the other side acts next, up to
        rounding; but the first layer adds only what a play changes.

        Args:
            boards: `[B, 2, P] int8` positions before the play, mover in row 0.
            after: Their afterstates.
        """
        result = np.empty(len(after.boards), np.float32)
        offsets, first = after.offsets, 0
        while first < len(boards):
            end = int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1
            end = max(end, first + 1)  # one position may have more plays than a chunk
            rows = slice(int(offsets[first]), int(offsets[end]))
            result[rows] = self._chunk_equity(boards, after, (first, end), rows)
            first = end
        return result

    def _chunk_equity(
        self, boards: Board, after: batch.Afterstates, games: tuple[int, int], rows: slice
    ) -> NDArray[np.float32]:
        """Return the mover's equity of the afterstates `rows` of the positions `games`."""
        _, bias = self.network.layers[0]
        ends = np.ascontiguousarray(after.boards[rows])
        hidden = np.empty((len(ends), len(bias)), np.float32)
        self.network.encoder.first_layer_into(
            boards, ends, after.offsets, games, self._first_weights, bias, hidden
        )
        following, same = batch.next_states(self.variant, ends)
        over = batch.outcomes(self.variant, following)
        probs = outcomes.one_hot(over, self.variant.n_outcomes)
        running = over < 0
        if running.any():
            possible = batch.outcome_mask(self.variant, following)[running]
            logits = self._through(hidden[running], first=1)
            probs[running] = outcomes.masked_softmax(logits, possible)
        values = outcomes.equity(probs, self.points).astype(np.float32)
        return np.where(same, values, -values)

    # -- one position -------------------------------------------------------------------------

    def before_roll(self, position: Position) -> Evaluation:
        """Evaluate a position by the network alone.

        Args:
            position: Row 0 the side to roll.

        Raises:
            PositionError: The position cannot occur in the game.
        """
        board = self.variant.check_position(position).board()
        return self._evaluation(self.probs(board[None])[0])

    def average_over_rolls(self, position: Position) -> Evaluation:
        """Evaluate a position as the exact average over all rolls, each played best (1-ply).

        Args:
            position: Row 0 the side to roll.

        Raises:
            PositionError: The position cannot occur in the game.
        """
        board = self.variant.check_position(position).board()
        if batch.outcomes(self.variant, board[None])[0] >= 0:
            return self.before_roll(position)
        sides = range(1, self.variant.dice.sides + 1)
        rolls = [(high, low) for high in sides for low in sides if low <= high]
        weights = np.array([1 if high == low else 2 for high, low in rolls], dtype=np.float64)
        boards = np.repeat(board[None], len(rolls), axis=0)
        after = batch.afterstates(self.variant, boards, np.array(rolls, dtype=np.int8))
        probs = self.play_probs(after.boards)
        values = outcomes.equity(probs, self.points)
        best = choose_best(self.variant, after, values)
        return self._evaluation(weights @ probs[best] / weights.sum())

    def best(
        self, position: Position, dice: Dice | None, top: int | None = None
    ) -> list[RatedPlay]:
        """Rate the legal plays of a roll, best first.

        Args:
            position: Row 0 the mover.
            dice: The roll; None if the position says what is played.
            top: How many plays to return, all by default.

        Raises:
            PositionError: The position cannot occur in the game, or the game is over.
            DiceError: The dice cannot show this roll.
        """
        variant = self.variant
        roll = None if dice is None else variant.check_dice(dice)
        if reference.outcome(variant, variant.check_position(position)) is not None:
            raise PositionError("the game is over in this position: there is nothing to play")
        plays = reference.plays(variant, position, roll)
        boards = np.stack([play.end.board() for play in plays])
        probs = self.play_probs(boards)
        values = outcomes.equity(probs, self.points)
        order = order_plays(variant, boards, values, top)
        best = float(values[order[0]])
        return [
            RatedPlay(
                play=plays[i],
                text=format_play(variant, plays[i], position),
                equity=float(values[i]),
                difference=min(0.0, float(values[i]) - best),
                probabilities=Probabilities.from_vector(probs[i]),
            )
            for i in order
        ]

    def play_probs(self, afterstates: Board) -> NDArray[np.float32]:
        """Return `[A, O] float32` outcome probabilities of plays, from the mover's view.

        Args:
            afterstates: `[A, 2, P] int8`, the mover still in row 0; not changed.
        """
        following, same = batch.next_states(self.variant, afterstates)
        probs = self.probs(following)
        return np.where(same[:, None], probs, outcomes.flip(probs))

    def _evaluation(self, probs: outcomes.FloatArray) -> Evaluation:
        probabilities = Probabilities.from_vector(probs)
        return Evaluation(probabilities.equity(self.points), probabilities)


def order_plays(
    variant: Variant, afterstates: Board, values: outcomes.FloatArray, top: int | None = None
) -> list[int]:
    """Order the plays of one turn, best first, by the rule of `players.choose_best`.

    So the first play of the list is the one that a bot with the same values makes: a play that
    wins the game comes before every estimate (T24), ties are settled in the same way (T31).

    Args:
        variant: The game.
        afterstates: `[A, 2, P] int8` of one turn, the mover still in row 0.
        values: `[A]` equities from the mover's view.
        top: How many to return, all by default.

    Returns:
        Indices into `afterstates`.
    """
    ordered: list[int] = []
    rest: NDArray[np.int64] = np.arange(len(values))
    while len(rest) and len(ordered) != top:
        group = batch.Afterstates(afterstates[rest], np.array([0, len(rest)], dtype=np.int64))
        best = int(choose_best(variant, group, values[rest])[0])
        ordered.append(int(rest[best]))
        rest = np.delete(rest, best)
    return ordered
