"""Whether a GPU computes what the CPU does, and what it is worth: checks, a run, a match; layer 6.

Needs torch, numpy, numba and safetensors; neither hydra nor tensorboard.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.encoders import get_encoder
from nardy_engine.types import Board
from nardy_rl import outcomes
from nardy_rl.arena import match
from nardy_rl.config import (
    EvalConfig,
    LearnerConfig,
    NetConfig,
    SelfplayConfig,
    TrainConfig,
    VariantConfig,
)
from nardy_rl.cores import usable_cores
from nardy_rl.learner import Learner
from nardy_rl.metrics import MatchResult
from nardy_rl.nets import FrozenNet, ValueNet
from nardy_rl.players import make_bot
from nardy_rl.trainer import Progress, Trainer

ENCODER = "thermometer-1"
HIDDEN = [256, 128]
_SEED = 1
_FEW_CORES = 4
"""Below this many cores none is kept free of self-play."""


class Check(NamedTuple):
    """One comparison of the device with the CPU in full precision."""

    name: str
    difference: float
    limit: float

    @property
    def passed(self) -> bool:
        """Whether the difference is within the limit; not a number is not."""
        return self.difference <= self.limit


def compare(variant: Variant, device: torch.device) -> list[Check]:
    """Compare network, learning step and playing network on `device` with the CPU."""
    boards, after, offsets = _positions(variant)
    features = torch.from_numpy(get_encoder(ENCODER, variant).encode(boards))
    with torch.no_grad():
        logits = [_net(variant).to(d)(features.to(d)).cpu() for d in (_CPU, device)]
    losses, gradients = zip(*(_step(variant, boards, d) for d in (_CPU, device)), strict=True)
    largest = max(float(gradient.abs().max()) for gradient in gradients[0])
    plays = _equities(variant, _CPU, torch.float32, boards, after, offsets)
    full = np.abs(_equities(variant, device, torch.float32, boards, after, offsets) - plays)
    half = np.abs(_equities(variant, device, torch.bfloat16, boards, after, offsets) - plays)
    return [
        Check("logits, float32", float((logits[0] - logits[1]).abs().max()), 1e-4),
        Check("loss of one step, float32", abs(losses[0] - losses[1]), 1e-4),
        Check(
            "gradients of one step, relative to the largest",
            max(
                float((a - b).abs().max()) / largest
                for a, b in zip(gradients[0], gradients[1], strict=True)
            ),
            1e-3,
        ),
        Check("equities of plays, float32, worst", float(full.max()), 1e-4),
        Check("equities of plays, bfloat16, worst", float(half.max()), 0.1),
        Check("equities of plays, bfloat16, mean", float(half.mean()), 0.01),
    ]


_CPU = torch.device("cpu")


def _net(variant: Variant) -> ValueNet:
    """Return a network with opinions, the same at every call."""
    generator = torch.Generator().manual_seed(_SEED)
    width = get_encoder(ENCODER, variant).width
    net = ValueNet(width, HIDDEN, variant.n_outcomes, generator)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
    return net


def _positions(variant: Variant, n: int = 256) -> tuple[Board, Board, NDArray[np.int64]]:
    """Return `[n, 2, P]` positions of random games, their afterstates and offsets."""
    games = batch.Games(variant, n, _SEED)
    for _ in range(25):
        games.roll()
        plays = games.afterstates()
        games.play(plays.offsets[:-1] + (games.uniforms() * plays.counts()).astype(np.int64))
    boards = np.ascontiguousarray(games.boards[games.over < 0])
    after = batch.afterstates(variant, boards, games.roll()[games.over < 0])
    return boards, np.ascontiguousarray(after.boards), after.offsets


def _step(
    variant: Variant, boards: Board, device: torch.device
) -> tuple[float, list[torch.Tensor]]:
    """Return the loss and the gradients of one step of the learner on `device`."""
    net = _net(variant)
    learner = Learner(
        net, variant, get_encoder(ENCODER, variant), batch_size=len(boards), replay_capacity=0,
        replay_ratio=0.0, device=device, precision=torch.float32,
    )  # fmt: skip
    targets = batch.outcome_mask(variant, boards).astype(np.float32)
    targets /= targets.sum(axis=1, keepdims=True)
    loss = learner.learn(boards, targets, 1e-3, np.random.default_rng(_SEED))
    return loss, [p.grad.detach().cpu() for p in net.parameters() if p.grad is not None]


def _equities(
    variant: Variant,
    device: torch.device,
    dtype: torch.dtype,
    boards: Board,
    after: Board,
    offsets: NDArray[np.int64],
) -> NDArray[Any]:
    """Return `[A]` equities of afterstates as self-play on `device` sees them."""
    frozen = FrozenNet(_net(variant), dtype, device)
    hidden = np.zeros((len(after), len(frozen.first_bias)), frozen.hidden_dtype)
    get_encoder(ENCODER, variant).first_layer_into(
        boards, after, offsets, (0, len(boards)), frozen.first_weights, frozen.first_bias, hidden
    )
    possible = batch.outcome_mask(variant, batch.swapped(after))
    probs = outcomes.masked_softmax(frozen.logits(hidden), possible)
    return outcomes.equity(probs, outcomes.points_vector(variant))


def run_config(variant: str, seconds: int, device: str, scale: int) -> TrainConfig:
    """Return the settings of a run on `device`: as many workers as cores, larger batches.

    Args:
        variant: Name of the game.
        seconds: Budget.
        device: `cpu` or `cuda`.
        scale: Games, batches and rounds are this many times those of the default settings, fewer
            in a run of seconds so that some games end.
    """
    cores = usable_cores()
    workers = cores if cores < _FEW_CORES else cores - 2
    return TrainConfig(
        variant=VariantConfig(id=variant, options={}),
        net=NetConfig(hidden=HIDDEN, first_hidden=[], grow_at=0.0, encoder=ENCODER),
        selfplay=SelfplayConfig(
            games=max(min(2048 * scale, 64 * seconds), workers), workers=workers, max_plies=1000,
            lambda_start=0.7, lambda_end=0.0, lambda_decay_fraction=0.6, endings=True,
            precision="auto",
        ),
        learner=LearnerConfig(
            lr=1e-3 * scale**0.5, lr_end=2e-5, batch_size=1024 * scale,
            fresh_positions=min(40_000 * scale, 2000 * seconds),
            replay_capacity=200_000 * scale, replay_ratio=0.5,
            backup_start=1.0, backup_replay_ratio=0.0,
        ),
        eval=EvalConfig(games=0, interval_games=0, interval_every_s=1e6),
        budget=f"{seconds}s", start_from="", device=device, seed=_SEED, root=".", run_dir="unused",
        resume=False, checkpoint_every_s=1e6, tensorboard=False,
    )  # fmt: skip


class Trained(NamedTuple):
    """What a run gave."""

    progress: Progress
    shares: dict[str, float]
    """Share of thread time of each stage."""
    result: MatchResult
    """The network against the strongest bot of its game."""


def train_and_measure(
    config: TrainConfig,
    folder: Path,
    bot: str,
    pairs: int,
    report: Callable[[Progress], object] | None = None,
) -> Trained:
    """Train as `config` says in `folder`, then play `pairs` pairs of games against `bot`."""
    trainer = Trainer(config, folder, resumed=False)
    try:
        trainer.run(report)
    finally:
        trainer.close()
    total = max(sum(trainer.stage_seconds.values()), 1e-9)
    result = match(
        trainer.bot(config.device), make_bot(bot, trainer.variant), trainer.variant, pairs,
        seed=_SEED + 1, workers=usable_cores(),
    )  # fmt: skip
    shares = {stage: spent / total for stage, spent in trainer.stage_seconds.items()}
    return Trained(trainer.progress, shares, result)
