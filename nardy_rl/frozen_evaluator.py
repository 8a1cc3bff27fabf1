"""An evaluator for the training run: valued in the precision of self-play; layer 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.checkpoint import Network
from nardy_rl.evaluator import Evaluator
from nardy_rl.nets import FrozenNet


class FrozenEvaluator(Evaluator):
    """Values positions by a frozen network; the products are those of self-play."""

    def __init__(self, network: Network, frozen: FrozenNet, *, bearoff: bool = True) -> None:
        """Wrap a network.

        Args:
            network: Borrowed; its arrays are only read.
            frozen: The same weights.
            bearoff: As for `Evaluator`.
        """
        super().__init__(network, bearoff=bearoff)
        self._frozen = frozen

    def _through(self, x: NDArray[np.float32], first: int) -> NDArray[np.float32]:
        if first == 0:
            weight, bias = self.network.layers[0]
            x = np.maximum(x @ weight.T + bias, np.float32(0))
        return self._frozen.logits_of(x)

    def _slopes(
        self, hidden: NDArray[np.float32], possible: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        def last(logits: NDArray[np.float32]) -> NDArray[np.float32]:
            found = np.zeros_like(logits)  # the last rows fill a block
            found[: len(possible)] = self._last_slopes(logits[: len(possible)], possible)
            return found

        return self._frozen.slopes(hidden, last)
