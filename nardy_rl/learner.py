"""Fitting the network to lambda-returns: Adam over fresh positions and a replay; layer 4."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.encoders import Encoder
from nardy_engine.rules import Variant
from nardy_engine.types import Board
from nardy_rl.nets import ValueNet
from nardy_rl.nets.mlp import cross_entropy

_WARM_UP_STEPS = 100
"""Steps in which the learning rate rises to its value: Adam's moments are rough at first."""


class Replay:
    """A ring of past positions and their targets."""

    def __init__(self, capacity: int, n_slots: int, n_outcomes: int) -> None:
        """Make room for `capacity` positions."""
        self.boards: Board = np.zeros((capacity, 2, n_slots), np.int8)
        self.targets = np.zeros((capacity, n_outcomes), np.float32)
        self.size = 0
        self._next = 0

    def add(self, boards: Board, targets: NDArray[np.float32]) -> None:
        """Store positions, over the oldest ones where the ring is full."""
        capacity = len(self.boards)
        boards, targets = boards[-capacity:], targets[-capacity:]
        if not capacity:
            return
        rows = (self._next + np.arange(len(boards))) % capacity
        self.boards[rows], self.targets[rows] = boards, targets
        self._next = int((self._next + len(boards)) % capacity)
        self.size = min(capacity, self.size + len(boards))

    def clear(self) -> None:
        """Forget all positions."""
        self.size = self._next = 0

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Board, NDArray[np.float32]]:
        """Return `n` positions drawn with replacement, none if the ring is empty."""
        rows = rng.integers(0, self.size, n if self.size else 0)
        return self.boards[rows], self.targets[rows]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the contents for a checkpoint."""
        return {
            "replay.boards": self.boards[: self.size],
            "replay.targets": self.targets[: self.size],
            "replay.next": np.array([self._next]),
        }

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
        self.size = len(state["replay.boards"])
        self.boards[: self.size] = state["replay.boards"]
        self.targets[: self.size] = state["replay.targets"]
        self._next = int(state["replay.next"][0])


class Learner:
    """The network, its optimiser and the replay."""

    def __init__(
        self,
        net: ValueNet,
        variant: Variant,
        encoder: Encoder,
        *,
        batch_size: int,
        replay_capacity: int,
        replay_ratio: float,
        device: torch.device,
        precision: torch.dtype,
    ) -> None:
        """Set up Adam with a learning rate that `learn` is given each time.

        Args:
            net: Trained in place; its weights and Adam's moments stay float32.
            variant: The game.
            encoder: Encoder of the positions.
            batch_size: Positions of one step.
            replay_capacity: Positions kept for learning again.
            replay_ratio: Replayed positions per fresh one.
            device: Where `net` is trained.
            precision: dtype of the products; bfloat16 is faster on processors made for it.
        """
        self._variant, self._encoder, self._device = variant, encoder, device
        self._batch_size, self._replay_ratio = batch_size, replay_ratio
        self._precision = precision
        self.train(net)
        self.replay = Replay(replay_capacity, variant.n_slots, variant.n_outcomes)
        # Features are exact in bfloat16, so they are written in the precision of the products.
        bits = np.uint16 if precision == torch.bfloat16 else np.float32
        self._features: NDArray[Any] = np.zeros((batch_size, encoder.width), bits)

    def train(self, net: ValueNet) -> None:
        """Take `net` as the network to train, with a new optimiser; the replay stays."""
        self.net = net.to(self._device)
        # Weights in half precision once a step: cheaper than to convert them at every product.
        self._working = self.net
        if self._precision != torch.float32:
            self._working = copy.deepcopy(self.net).to(self._precision)
            self._working.layers[-1].float()  # a small product, and the loss hangs on its digits
        # Once for all: looking parameters up took a twentieth of a step.
        self._pairs = list(zip(self.net.parameters(), self._working.parameters(), strict=True))
        self._lr = 1e-3  # until `learn` says otherwise
        self._steps = 0
        self._adam = torch.optim.Adam(net.parameters(), lr=self._lr, fused=True)

    def learn(
        self,
        boards: Board,
        targets: NDArray[np.float32],
        lr: float,
        rng: np.random.Generator,
        replay_ratio: float | None = None,
    ) -> float:
        """Make one pass over fresh positions mixed with replayed ones; return the mean loss.

        Args:
            boards: `[N, 2, P]` fresh positions, side to roll in row 0; stored in the replay.
            targets: `[N, O]` outcome distributions for the side to roll.
            lr: Learning rate of this pass.
            rng: Order of the positions and draw of the replayed ones; advanced.
            replay_ratio: Replayed positions per fresh one, if not that of all passes.
        """
        ratio = self._replay_ratio if replay_ratio is None else replay_ratio
        self._lr = lr
        old_boards, old_targets = self.replay.sample(int(len(boards) * ratio), rng)
        self.replay.add(boards, targets)
        boards = np.concatenate([boards, old_boards])
        targets = np.concatenate([targets, old_targets])
        order = rng.permutation(len(boards))
        size = min(self._batch_size, len(order))
        losses = [
            self._step(boards[rows], targets[rows])
            for rows in (order[i : i + size] for i in range(0, len(order) - size + 1, size))
        ]
        return float(torch.stack(losses).mean())

    def _step(self, boards: Board, targets: NDArray[np.float32]) -> torch.Tensor:
        """Make one step of gradient descent and return the detached loss."""
        features = self._features[: len(boards)]
        self._encoder.encode_into(boards, features)
        possible = batch.outcome_mask(self._variant, boards)
        x, mask, wanted = (torch.from_numpy(array) for array in (features, possible, targets))
        if self._precision == torch.bfloat16:
            x = x.view(torch.bfloat16)
        x, mask, wanted = (tensor.to(self._device) for tensor in (x, mask, wanted))
        self._copy_weights()
        loss = cross_entropy(self._working(x), mask, wanted)
        torch.autograd.backward(loss)
        self._take_gradients()
        self._steps += 1
        for group in self._adam.param_groups:
            group["lr"] = self._lr * min(1.0, self._steps / _WARM_UP_STEPS)
        self._adam.step()
        return loss.detach()

    @torch.no_grad()
    def _copy_weights(self) -> None:
        """Bring the weights that products are made of up to date, and clear their gradients."""
        for full, working in self._pairs:
            if working is not full:
                working.copy_(full)
            working.grad = None

    def _take_gradients(self) -> None:
        """Give the float32 weights the gradients that the products have left."""
        for full, working in self._pairs:
            assert working.grad is not None
            full.grad = working.grad.float()

    def warm_up(self) -> None:
        """Compile what a step needs; nothing is learned."""
        boards = self._variant.start_position().board()[None]
        self._encoder.encode_into(boards, self._features[:1])
        batch.outcome_mask(self._variant, boards)

    # -- resume -------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return weights, optimiser moments and replay as arrays."""
        arrays: dict[str, NDArray[Any]] = {
            f"net.{name}": array for name, array in self.net.arrays().items()
        }
        for name, parameter in self.net.named_parameters():
            for key, value in self._adam.state[parameter].items():
                arrays[f"adam.{name}.{key}"] = np.atleast_1d(value.detach().cpu().numpy())
        return arrays | self.replay.state()

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
        prefix = "net."
        self.net.load_arrays(
            {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
        )
        for name, parameter in self.net.named_parameters():
            moments = {
                key: torch.from_numpy(state[f"adam.{name}.{key}"].copy())
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"adam.{name}.{key}" in state
            }
            if moments:
                moments["step"] = moments["step"].reshape(())
                self._steps = int(moments["step"])
                self._adam.state[parameter] = {
                    key: value.to(parameter.device) for key, value in moments.items()
                }
        self.replay.load_state(state)
