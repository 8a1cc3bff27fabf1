"""What a bot is, and how the best of many afterstates is chosen; layer: nardy_rl, numpy only.

Bots act on whole batches: the afterstates of all games lie in one flat array, and a bot answers
one flat index per game. `choose_best` states how values become choices, so that two promises of
every bot hold everywhere: a winning finish is never outbid by an estimate (faults T24), and equal
values are settled by a stated rule, the same on every machine (T31). Networks choose by
`kernels.values.pick_best`, the same rule compiled; a test holds the two together.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OPPONENT, Board

TIE = 1e-6
"""Values that differ by no more than this are equal (T31)."""

Choice: TypeAlias = NDArray[np.int64]
"""`[B]` int64 flat indices into `Afterstates.boards`, one per game."""

Values: TypeAlias = NDArray[np.float64]
"""`[A]` float64 worth of each afterstate from the mover's view; larger is better."""


class Turn(NamedTuple):
    """One decision in each of B games, all by the same bot."""

    variant: Variant
    boards: Board
    """`[B, 2, P] int8` before the play, the bot's side in row 0."""
    dice: NDArray[np.int8]
    """`[B, 2] int8` the roll of each game; without meaning where the position says what is to be
    played: owed dice, a pre-roll move."""
    after: batch.Afterstates
    """Every legal result, the bot's side still in row 0; at least one for each game."""
    uniform: NDArray[np.float64]
    """`[B] float64` in [0, 1), fixed by seed, game and turn: the only source of chance."""


class Bot(Protocol):
    """A player of one variant. Choices depend on the turn alone, so games can run in any order."""

    @property
    def name(self) -> str:
        """Name as it appears in tables."""

    def choose(self, turn: Turn) -> Choice:
        """Return `[B] int64` flat indices `i` with `offsets[b] <= i < offsets[b + 1]`."""


def segment_of(after: batch.Afterstates) -> NDArray[np.int64]:
    """Return `[A] int64`: the game that each afterstate belongs to."""
    counts = after.counts()
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts)


def choose_best(variant: Variant, after: batch.Afterstates, values: NDArray[np.floating]) -> Choice:
    """Return the best afterstate of each game: a winning finish first, then the highest value.

    A finish that loses (a game that the first side without checkers loses) comes last; a draw is
    worth 0. Values within `TIE` of the best are equal; among them the winner is, in this order,
    the play with most checkers borne off, most on point 1, on point 2, ..., then with most
    opposing checkers on the bar, on the highest point, and so on down, then with the larger
    memory slots, the mover's first.

    Args:
        variant: Rules of the game.
        after: Afterstates of B games, mover in row 0.
        values: `[A]` worth from the mover's view.

    Returns:
        `[B] int64` flat indices.
    """
    ranked = values.astype(np.float64)
    outcomes = batch.outcomes(variant, after.boards)
    finished = np.flatnonzero(outcomes >= 0)
    if finished.size:
        ranked[finished] = _finish_ranks(variant, outcomes[finished])
    starts = after.offsets[:-1]
    best = np.maximum.reduceat(ranked, starts)
    tied = np.flatnonzero(ranked >= np.repeat(best, after.counts()) - TIE)
    games = np.searchsorted(after.offsets, tied, side="right") - 1
    return _settle_ties(variant, after.boards, tied, games, len(starts))


def _finish_ranks(variant: Variant, outcomes: NDArray[np.int8]) -> Values:
    """Return ranks that lie beyond every estimate, in the order of the points won or lost."""
    points = np.array([points for _, points in variant.win_kinds], dtype=np.float64)
    signed = np.concatenate((points, -points, [0.0]))[outcomes]  # the last one is the draw
    return np.asarray(signed * np.finfo(np.float32).max, dtype=np.float64)


def _settle_ties(
    variant: Variant,
    boards: Board,
    tied: NDArray[np.int64],
    games: NDArray[np.int64],
    n_games: int,
) -> Choice:
    """Return one of the `tied` afterstates of each game, by the rule of `choose_best`."""
    choice = np.empty(n_games, dtype=np.int64)
    choice[games] = tied
    counts = np.bincount(games, minlength=n_games)
    if (counts == 1).all():
        return choice
    several = counts[games] > 1
    tied, games = tied[several], games[several]
    rows, n = boards[tied], variant.n_counts
    counted = (rows[:, MOVER, :n], rows[:, OPPONENT, :n][:, ::-1])
    key = np.concatenate((*counted, rows[:, MOVER, n:], rows[:, OPPONENT, n:]), axis=1)
    # Fixed-width byte strings compare like the sequences of counts they are made of.
    text = np.ascontiguousarray(key).view(f"S{key.shape[1]}").ravel()
    order = np.lexsort((text, games))
    choice[games[order]] = tied[order]  # the last one written is the greatest
    return choice
