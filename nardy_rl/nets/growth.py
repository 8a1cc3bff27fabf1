"""A larger network that begins as the same function as a trained one (Net2Net: Chen 2016); layer 3.

Growing a network, width first and depth later, costs less than to train the large one from
nothing: self-play with a small one is several times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from nardy_engine.errors import CheckpointError
from nardy_rl.nets.mlp import ValueNet
from nardy_rl.shapes import can_grow


def grow_from(
    net: ValueNet, source: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]], name: str
) -> None:
    """Give `net` the function of a trained network that is at most as large.

    A new unit has no weights on the way out, so it changes nothing until it learns. A new layer,
    behind the old ones, starts as the identity, which ReLU leaves alone because what comes in is
    not negative. `revive_units` prepares all units that do nothing, the new ones too, for learning.

    Args:
        net: Freshly initialised; changed.
        source: `(weight [out, in], bias [out])` of each layer of a network of the same inputs and
            outcomes, input first.
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


@torch.no_grad()
def revive_units(net: ValueNet, features: torch.Tensor, generator: torch.Generator) -> list[int]:
    """Give hidden units that do nothing another start; the function stays the same.

    A ReLU that no position opens has no gradient either, so it stays shut; and from the units that
    growth has added no way leads to the outputs yet. Both kinds get fresh weights on the way in
    (He 2015), the bias that opens them for about half of the positions, and none on the way out.

    Args:
        net: Changed.
        features: `[N, F]` of positions as they come up in play, on the network's device; a unit is
            shut if it is 0 for all of them.
        generator: Source of the fresh weights; advanced.

    Returns:
        How many units of each hidden layer started anew.
    """
    layers = [layer for layer in net.layers if isinstance(layer, nn.Linear)]
    heard = [torch.ones(layers[-1].out_features, dtype=torch.bool, device=features.device)]
    for following in reversed(layers[1:]):
        heard.append((following.weight[heard[-1]] != 0).any(dim=0))
    counts = []
    for (layer, following), useful in zip(pairwise(layers), heard[:0:-1], strict=True):
        idle = (layer(features) <= 0).all(dim=0) | ~useful
        counts.append(int(idle.sum()))
        if counts[-1]:
            fresh = torch.empty(counts[-1], layer.in_features)
            nn.init.kaiming_normal_(fresh, nonlinearity="relu", generator=generator)
            layer.weight[idle] = fresh.to(features.device)
            layer.bias[idle] = -functional.linear(features, layer.weight[idle]).mean(dim=0)
            following.weight[:, idle] = 0.0
        features = torch.relu(layer(features))
    return counts


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
