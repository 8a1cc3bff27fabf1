"""The value network: a multilayer perceptron to outcome logits; layer 3 of nardy_rl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

IMPOSSIBLE = -1e9
"""Logit of an outcome that cannot happen any more; its probability is exactly 0 in float32."""

_KIND_RATIO = 0.3
"""Start guess: each win kind is this much rarer than the one before it."""


class ValueNet(nn.Module):
    """Linear layers with ReLU between them, from features to outcome logits.

    The value of a state is that of the side to roll: a softmax over the outcomes that are still
    possible, in the order of `Variant.win_kinds`.
    """

    def __init__(
        self, width: int, hidden: Sequence[int], n_outcomes: int, generator: torch.Generator
    ) -> None:
        """Initialise after He (2015), with output biases near base rates.

        Args:
            width: Input features `F`.
            hidden: Units of each hidden layer.
            n_outcomes: Outcomes `O`.
            generator: Source of the initial weights; advanced.
        """
        super().__init__()
        sizes = [width, *hidden, n_outcomes]
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in pairwise(sizes))
        for layer in self.layers:
            assert isinstance(layer, nn.Linear)
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
            nn.init.zeros_(layer.bias)
        last = self.layers[-1]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            last.weight *= 0.1
            kinds = torch.arange(n_outcomes // 2, dtype=torch.float32)
            draws = torch.ones(n_outcomes % 2)  # as rare at first as the second kind of win
            kinds = torch.cat([kinds, kinds, draws])
            last.bias.copy_(torch.log(torch.tensor(_KIND_RATIO)) * kinds)

    def forward(self, features: Tensor) -> Tensor:
        """Return `[N, O]` logits of `[N, F]` features."""
        for layer in self.layers[:-1]:
            features = torch.relu_(layer(features))
        last = self.layers[-1]
        assert isinstance(last, nn.Linear)
        logits: Tensor = last(features.to(last.weight.dtype))
        return logits

    @property
    def hidden(self) -> list[int]:
        """Units of each hidden layer."""
        return [len(self.get_parameter(f"layers.{i}.bias")) for i in range(len(self.layers) - 1)]

    def pairs(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return copies of `(weight [out, in], bias [out])` of each layer, input first."""
        arrays = self.arrays()
        return [
            (arrays[f"layers.{i}.weight"], arrays[f"layers.{i}.bias"])
            for i in range(len(self.layers))
        ]

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return copies of the weights as float32 arrays, by their name in checkpoints."""
        return {
            name: tensor.detach().cpu().float().numpy().copy()
            for name, tensor in self.state_dict().items()
        }

    def load_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Set the weights from arrays of the names and shapes of `arrays()`."""
        self.load_state_dict({name: torch.from_numpy(a.copy()) for name, a in arrays.items()})


def outcome_log_probs(logits: Tensor, possible: Tensor) -> Tensor:
    """Return `[N, O]` log-probabilities over the possible outcomes.

    Args:
        logits: `[N, O]`.
        possible: `[N, O] bool`; impossible outcomes get a log-probability of about `IMPOSSIBLE`.
    """
    return torch.log_softmax(logits.masked_fill(~possible, IMPOSSIBLE), dim=1)


def cross_entropy(logits: Tensor, possible: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy of `[N, O]` target distributions, a scalar.

    Targets are constants: no gradient flows into what they were made from (semi-gradient).
    """
    if logits.shape != targets.shape:
        raise ValueError(f"logits {list(logits.shape)} and targets {list(targets.shape)} differ")
    return -(targets.detach() * outcome_log_probs(logits, possible)).sum(dim=1).mean()
