"""A larger network that begins as the same function as a trained one (Net2Net: Chen 2016); layer 3.

Growing a network, width first and depth later, costs less than to train the large one from
nothing: self-play with a small one is several times faster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nardy_engine.errors import CheckpointError
from nardy_rl.nets.mlp import ValueNet
from nardy_rl.shapes import can_grow


def grow_from(
    net: ValueNet, source: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]], name: str
) -> None:
    """Give `net` the function of a trained network that is at most as large.

    A new unit keeps its fresh weights on the way in and has none on the way out, so it changes
    nothing until it learns. A new layer, behind the old ones, starts as the identity, which ReLU
    leaves alone because what comes in is not negative.

    Args:
        net: Freshly initialised; changed.
        source: `(weight [out, in], bias [out])` of each layer of a network of the same game and
            encoder, input first.
        name: What to call it in an error.

    Raises:
        CheckpointError: `source` has a layer that is larger, or more layers.
    """
    layers = [layer for layer in net.layers if isinstance(layer, nn.Linear)]
    old = [(torch.from_numpy(w.copy()), torch.from_numpy(b.copy())) for w, b in source]
    wanted, had = [layer.out_features for layer in layers], [len(bias) for _, bias in old]
    _check_sizes(wanted[:-1], had[:-1], name)
    if layers[0].in_features != old[0][0].shape[1]:
        raise CheckpointError(f"{name} has other inputs than {layers[0].in_features}")
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers[:-1], old[:-1], strict=False):
            _put(layer, weight, bias)
        for layer in layers[len(old) - 1 : -1]:
            _put(layer, torch.eye(had[-2]), torch.zeros(had[-2]))
        _put(layers[-1], *old[-1])


def _put(layer: nn.Linear, weight: torch.Tensor, bias: torch.Tensor) -> None:
    """Put weights into the first units of a layer; they see nothing of new units before it."""
    n, m = weight.shape
    layer.weight[:n, :m] = weight
    layer.weight[:n, m:] = 0.0
    layer.bias[:n] = bias


def _check_sizes(wanted: Sequence[int], had: Sequence[int], name: str) -> None:
    """Refuse to shrink."""
    if not can_grow(had, wanted):
        shape = "-".join(map(str, had))
        raise CheckpointError(
            f"{name} has hidden layers {shape}; a network can only grow, so net.hidden "
            f"must be at least [{', '.join(map(str, had))}], not [{', '.join(map(str, wanted))}]"
        )
