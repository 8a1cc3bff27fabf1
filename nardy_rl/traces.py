"""TD(lambda) in its backward view, with accumulating traces; layer 1, numpy only.

Training uses the forward view: lambda-returns of finished games (`kernels.selfplay`). The two are
the same thing seen from two ends, and this small, slow, obvious form is what the tests hold the
fast one to. Sections and equations are those of Sutton & Barto, Reinforcement Learning, 2nd ed.
(2018). Knows nothing of boards: a state is a vector of features and the side to roll.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEGATE", "TraceLearner", "outcome_flip"]

NEGATE = np.array([[-1.0]])
"""Change of view of a single number: what one side wins the other loses."""


def outcome_flip(n_outcomes: int) -> NDArray[np.float64]:
    """Return `[O, O]`, the change of view of an outcome vector: wins and losses exchanged."""
    half = n_outcomes // 2
    order = [*range(half, 2 * half), *range(half), *range(2 * half, n_outcomes)]
    return np.asarray(np.eye(n_outcomes)[order])


class TraceLearner:
    """Semi-gradient TD(lambda) for two players and a linear value function (section 12.2).

    The value of a state, seen from the side to roll, is `weights @ x`: one number, or one for
    each outcome. A table is the special case of one feature per state.

    All errors and traces are kept in the view of side 0. The view of a state changes with the
    side to roll and only with it: a side that acts twice in a row keeps its sign (T01, T02).

    Attributes:
        weights: `[O, F] float64`, changed by `learn`.
    """

    def __init__(
        self,
        n_features: int,
        flip: NDArray[np.float64] = NEGATE,
        *,
        alpha: float,
        lambda_: float,
        gamma: float = 1.0,
    ) -> None:
        """Start with weights of zero.

        Args:
            n_features: Features `F` of a state.
            flip: `[O, O]` turns values to the view of the other side; its own inverse.
            alpha: Step size.
            lambda_: Decay of the traces.
            gamma: Discount of one step; games are not discounted.
        """
        self.weights: NDArray[np.float64] = np.zeros((len(flip), n_features))
        self._views = (np.eye(len(flip)), flip)
        self._alpha, self._lambda, self._gamma = alpha, lambda_, gamma

    def value(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Return `[O]` values of `[F]` features, seen from the side to roll."""
        values: NDArray[np.float64] = self.weights @ features
        return values

    def learn(
        self,
        features: NDArray[Any],
        sides: NDArray[np.integer[Any]],
        final: NDArray[Any],
        *,
        online: bool = False,
    ) -> None:
        """Learn from one game.

        Args:
            features: `[T, F]` of the states, in the order played, each for its side to roll.
            sides: `[T]` side to roll, 0 or 1.
            final: `[O]` what follows the last state, seen from its side: the result of a finished
                game, or the discounted value of the state at which it was cut off (T09).
            online: Update after every state, as in the box of section 12.2; otherwise with the
                sum at the end of the game, which is exactly the offline lambda-return algorithm
                (section 12.1).
        """
        change = np.zeros_like(self.weights)
        # One trace for each entry of the value, so that entries may change places (T04: a new
        # one for each game).
        trace = np.zeros((len(self.weights), *self.weights.shape))
        for t in range(len(features)):
            view = self._views[sides[t]]
            # eq. 12.5. The trace decays by the discount of the step that led here, not of the
            # one that leads away, which at the end would be 0 (T06).
            trace *= self._gamma * self._lambda
            trace += view[:, :, None] * features[t]
            here = view @ self.value(features[t])
            if t + 1 < len(features):
                there = self._gamma * self._views[sides[t + 1]] @ self.value(features[t + 1])
            else:
                there = view @ final
            # eq. 12.6 and 12.7: the error keeps its sign, the trace holds no error (T07).
            step = self._alpha * np.einsum("k,kof->of", there - here, trace)
            if online:
                self.weights += step
            else:
                change += step
        self.weights += change
