"""A frozen copy of the network for self-play, in the precision that plays fastest; layer 3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nardy_rl.nets.mlp import ValueNet

_ROW_BLOCK = 256

_FEW_ROWS = 32
"""Rows of a block where products are small."""


def whole_blocks(rows: int, block: int = _ROW_BLOCK) -> int:
    """Return the rows of whole blocks that hold so many.

    oneDNN compiles a product for every shape that it has not seen.
    """
    return -(-rows // block) * block


class FrozenNet:
    """Weights copied at one moment; later updates of the original do not show (T20).

    The first layer is left to `Encoder.first_layer_into`, which knows that features are sparse
    and that afterstates of one position differ in few of them; the others are dense products in
    the precision asked for.

    Attributes:
        first_weights: `[F, H] float32`, transposed.
        first_bias: `[H] float32`.
    """

    def __init__(self, net: ValueNet, dtype: torch.dtype, device: torch.device) -> None:
        """Copy the weights of `net`; all but the first layer to `device` in `dtype`."""
        layers = [
            (net.get_parameter(f"layers.{i}.weight"), net.get_parameter(f"layers.{i}.bias"))
            for i in range(len(net.layers))
        ]
        weight, bias = (parameter.detach().cpu() for parameter in layers[0])
        self.first_weights: NDArray[np.float32] = weight.t().contiguous().numpy().copy()
        self.first_bias: NDArray[np.float32] = bias.numpy().copy()
        self._device, self._dtype = device, dtype
        self._layers = [
            tuple(p.detach().to(device=device, dtype=dtype, copy=True) for p in pair)
            for pair in layers[1:-1]
        ]
        # Logits of 8 and more lose a hundredth and more in bfloat16.
        self._last = tuple(p.detach().to(device=device, copy=True) for p in layers[-1])

    @torch.inference_mode()
    def logits(self, hidden: NDArray[Any]) -> NDArray[np.float32]:
        """Return `[N, O] float32` logits.

        Args:
            hidden: `[N, H]` first hidden layer after its ReLU, of `hidden_dtype`; read only.
        """
        x = torch.from_numpy(hidden)
        if self._dtype == torch.bfloat16:
            x = x.view(torch.bfloat16)
        return self._through(x)

    @torch.inference_mode()
    def logits_of(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return `[N, O] float32` logits.

        Args:
            hidden: `[N, H] float32` first hidden layer after its ReLU; read only.
        """
        return self._through(self._padded(hidden, _ROW_BLOCK))[: len(hidden)]

    @torch.inference_mode()
    def slopes(
        self,
        hidden: NDArray[np.float32],
        last: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """Return `[N, H] float32` how a number made of the logits grows with each unit.

        Args:
            hidden: `[N, H] float32` first hidden layer after its ReLU; read only.
            last: Gives `[N, O]` how that number grows with each of the logits `[N, O]`.
        """
        x, active = self._padded(hidden, _FEW_ROWS).to(self._device), []
        for weight, bias in self._layers:
            x = functional.linear(x, weight, bias).relu_()
            active.append(x > 0)
        weight, bias = self._last
        logits = functional.linear(x.float(), weight, bias)
        slopes = torch.from_numpy(last(logits.cpu().numpy())).to(self._device) @ weight
        slopes = slopes.to(self._dtype)
        for (weight, _), passes in zip(self._layers[::-1], active[::-1], strict=True):
            slopes = (slopes * passes) @ weight
        found: NDArray[np.float32] = slopes[: len(hidden)].float().cpu().numpy()
        return found

    def _padded(self, hidden: NDArray[np.float32], block: int) -> Tensor:
        """Return `hidden` in the precision of the products, with rows of 0 to whole blocks."""
        n, width = hidden.shape
        x = torch.empty(whole_blocks(n, block), width, dtype=self._dtype)
        x[:n] = torch.from_numpy(hidden)
        x[n:] = 0.0
        return x

    def _through(self, x: Tensor) -> NDArray[np.float32]:
        x = x.to(self._device, non_blocking=True)
        for weight, bias in self._layers:
            x = functional.linear(x, weight, bias).relu_()
        out: Tensor = functional.linear(x.float(), *self._last)
        result: NDArray[np.float32] = out.cpu().numpy()
        return result

    @property
    def hidden_dtype(self) -> type[np.generic]:
        """Dtype of what `logits` takes: uint16 stands for bfloat16 bits."""
        return np.uint16 if self._dtype == torch.bfloat16 else np.float32
