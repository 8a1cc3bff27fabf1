"""The arithmetic of outcome vectors: order, sides, points, exclusive and cumulative; numpy only.

A vector of `O = 2 K` *exclusive* outcomes describes how a game ends, seen from one side, with
`K = len(variant.win_kinds)`: entry `k < K` is "this side wins with exactly kind k", entry `K + k`
"this side loses with exactly kind k". In games with draws (DR-1) there is one more entry, the
last: `O = 2 K + 1`. Side changes and signs of vectors live here and nowhere else; those of
indices in `nardy_engine.outcomes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant
from nardy_engine.rules.variant import DRAW

FloatArray: TypeAlias = NDArray[np.floating[Any]]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def points_vector(variant: Variant) -> NDArray[np.float32]:
    """Return `[O] float32` points of each outcome for the side that the vector is seen from."""
    wins = np.array([points for _, points in variant.win_kinds], dtype=np.float32)
    draw = np.zeros(int(variant.has_draw), dtype=np.float32)
    return np.concatenate((wins, -wins, draw))


def outcome_names(variant: Variant) -> tuple[str, ...]:
    """Return the name of each outcome, `win oin` ... `lose mars`, in the order of the vector."""
    kinds = [kind for kind, _ in variant.win_kinds]
    named = [f"{result} {kind}" for result in ("win", "lose") for kind in kinds]
    return (*named, DRAW) if variant.has_draw else tuple(named)


def flip(vectors: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Return the outcomes seen from the other side.

    Args:
        vectors: `[..., O]` any dtype: probabilities, masks, one-hot targets; not changed.

    Returns:
        A fresh `[..., O]` array of the same dtype, wins and losses exchanged.
    """
    half = _half(vectors)
    parts = (vectors[..., half : 2 * half], vectors[..., :half], vectors[..., 2 * half :])
    return np.concatenate(parts, axis=-1)


def one_hot(outcomes: NDArray[np.integer[Any]], n_outcomes: int) -> NDArray[np.float32]:
    """Return `[N, O] float32` rows with a one at each outcome; rows of -1 are all zero.

    Args:
        outcomes: `[N]` signed integers, each -1 or an index below `n_outcomes`.
        n_outcomes: Number `O` of outcomes.
    """
    columns: NDArray[np.int64] = np.arange(n_outcomes)
    hot: NDArray[np.bool_] = outcomes[:, None].astype(np.int64) == columns
    return hot.astype(np.float32)


def equity(probs: FloatArray, points: FloatArray) -> FloatArray:
    """Return the expected points per game, seen from the side of the vectors.

    Args:
        probs: `[..., O]` exclusive probabilities.
        points: `[O]` points, see `points_vector`.

    Returns:
        `[...]` of the dtype of `probs`.
    """
    if probs.shape[-1] != points.shape[0]:
        raise ValueError(f"{probs.shape[-1]} outcomes but {points.shape[0]} points")
    # Wins and losses are added apart and subtracted last, so that seen from the other side the
    # equity is the exact negative: a plain dot product rounds the two sums differently.
    half = _half(probs)
    won = probs[..., :half] @ points[:half].astype(probs.dtype)
    lost = probs[..., half : 2 * half] @ -points[half : 2 * half].astype(probs.dtype)
    difference: FloatArray = won - lost
    return difference


def cumulative(probs: FloatArray) -> FloatArray:
    """Turn "with exactly this kind" into "with at least this kind", for wins and losses apart.

    Args:
        probs: `[..., O]` exclusive probabilities; not changed.

    Returns:
        A fresh `[..., O]`: entry 0 is "wins", entry 1 "wins at least a mars", entry K "loses".
    """
    half = _half(probs)
    at_least: FloatArray = probs.copy()
    for part in (slice(0, half), slice(half, 2 * half)):
        at_least[..., part] = probs[..., part][..., ::-1].cumsum(axis=-1)[..., ::-1]
    return at_least


def exclusive(at_least: FloatArray) -> FloatArray:
    """Turn "with at least this kind" into "with exactly this kind"; inverse of `cumulative`.

    Args:
        at_least: `[..., O]` cumulative probabilities; not changed.

    Returns:
        A fresh `[..., O]` of exclusive probabilities.
    """
    half = _half(at_least)
    exactly: FloatArray = at_least.copy()
    for part in (slice(0, half), slice(half, 2 * half)):
        exactly[..., part][..., :-1] -= at_least[..., part][..., 1:]
    return exactly


def masked_softmax(logits: FloatArray, possible: NDArray[np.bool_]) -> FloatArray:
    """Return probabilities that are exactly 0 for impossible outcomes and sum to 1.

    Args:
        logits: `[N, O]` network outputs; not changed.
        possible: `[N, O] bool`, True = can still happen; at least one in each row.

    Returns:
        `[N, O]` of the dtype of `logits`.
    """
    masked = np.where(possible, logits, -np.inf)
    weights = np.exp(masked - masked.max(axis=-1, keepdims=True))
    total: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
    return total


def _half(vectors: NDArray[Any]) -> int:
    """Return `K` of `[..., 2 K]` vectors, or of `[..., 2 K + 1]` with a draw."""
    n_outcomes = int(vectors.shape[-1])
    if n_outcomes < 2:
        raise ValueError(f"an outcome vector has at least two entries, not {n_outcomes}")
    return n_outcomes // 2


class Probabilities(NamedTuple):
    """Exclusive outcome probabilities of one position, from a stated side."""

    win: tuple[float, ...]
    """Probability of winning with exactly kind k, in the order of `Variant.win_kinds`."""
    lose: tuple[float, ...]
    """Probability of losing with exactly kind k."""
    draw: float | None = None
    """Probability of a draw; None in games without draws."""

    @classmethod
    def from_vector(cls, vector: Sequence[float] | FloatArray) -> Probabilities:
        """Build from `[O]` exclusive probabilities."""
        values = [float(value) for value in vector]
        half = len(values) // 2
        draw = values[-1] if len(values) % 2 else None
        return cls(tuple(values[:half]), tuple(values[half : 2 * half]), draw)

    @classmethod
    def from_cumulative(cls, at_least: Sequence[float]) -> Probabilities:
        """Build from `[O]` probabilities of "at least kind k", wins first (T25)."""
        return cls.from_vector(exclusive(np.asarray(at_least, dtype=np.float64)))

    def vector(self) -> NDArray[np.float64]:
        """Return `[O] float64` exclusive probabilities, a fresh array."""
        draw = () if self.draw is None else (self.draw,)
        return np.array(self.win + self.lose + draw, dtype=np.float64)

    def wins(self) -> float:
        """Return the probability of winning at all."""
        return sum(self.win)

    def losses(self) -> float:
        """Return the probability of losing at all."""
        return sum(self.lose)

    def flipped(self) -> Probabilities:
        """Return the same chances seen from the other side."""
        return Probabilities(self.lose, self.win, self.draw)

    def cumulative(self) -> Probabilities:
        """Return "at least kind k" in place of "exactly kind k", as most programs print it."""
        return Probabilities.from_vector(cumulative(self.vector()))

    def equity(self, points: Sequence[float] | FloatArray) -> float:
        """Return the expected points per game; `points` as of `points_vector`."""
        return float(equity(self.vector(), np.asarray(points, dtype=np.float64)))
