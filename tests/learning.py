"""What tests of the learning side share: nets, positions, settings, a tiny game."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nardy_engine import Variant, batch, load_variant
from nardy_engine.encoders import Encoder, get_encoder
from nardy_rl.config import (
    EvalConfig,
    LearnerConfig,
    NetConfig,
    SelfplayConfig,
    TrainConfig,
    VariantConfig,
)
from nardy_rl.learner import Learner
from nardy_rl.nets import FrozenNet, ValueNet
from nardy_rl.selfplay import RoundStats, Worker

TINY_GAME = {
    "setup.points": 8,
    "setup.home": 2,
    "setup.checkers": 2,
    "setup.start": {8: 1, 6: 1},
    "dice.sides": 2,
    "bearoff.dice": [1, 2],
    "block.length": 2,
}
"""Short nardy on eight points, two checkers a side, dice of two sides: 3,000 positions."""


def tiny_variant() -> Variant:
    """Return the game of `TINY_GAME`."""
    return load_variant("short", TINY_GAME)


def thermometer(variant: Variant) -> Encoder:
    """Return the encoder of all tests, in the version of the game."""
    return get_encoder("thermometer", variant)


def random_net(variant: Variant, hidden: tuple[int, ...] = (24, 16), seed: int = 1) -> ValueNet:
    """Return a network with opinions: all weights and biases are drawn."""
    generator = torch.Generator().manual_seed(seed)
    net = ValueNet(thermometer(variant).width, hidden, variant.n_outcomes, generator)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return net


def random_positions(variant: Variant, n: int, seed: int) -> np.ndarray:
    """Return `[n, 2, P]` positions before the roll from random games, contact and race alike."""
    games = batch.Games(variant, 32, seed)
    rng = np.random.default_rng(seed)
    seen: list[np.ndarray] = []
    next_id = 32
    while len(seen) * 32 < 4 * n or len(seen) < 80:
        seen.append(games.boards.copy())
        games.roll()
        after = games.afterstates()
        games.play(after.offsets[:-1] + rng.integers(0, np.maximum(after.counts(), 1)))
        done = np.flatnonzero(games.over >= 0)
        games.restart(done, next_id + np.arange(len(done)))
        next_id += len(done)
    rows = np.concatenate(seen)
    return rows[rng.permutation(len(rows))[:n]]


def make_learner(net: ValueNet, variant: Variant, **changes: Any) -> Learner:
    """Return a learner on the CPU in full precision."""
    settings: dict[str, Any] = {
        "batch_size": 64,
        "replay_capacity": 0,
        "replay_ratio": 0.0,
        "device": torch.device("cpu"),
        "precision": torch.float32,
    } | changes
    return Learner(net, variant, thermometer(variant), **settings)


def train_config(variant: str = "short", **changes: Any) -> TrainConfig:
    """Return settings of a run of seconds in full precision; parts are changed by dotted names."""
    parts: dict[str, dict[str, Any]] = {
        "variant": {"id": variant, "options": {}},
        "net": {
            "hidden": [16], "first_hidden": [], "grow_at": 0.0, "encoder": "thermometer",
        },
        "selfplay": {
            "games": 32, "workers": 2, "max_plies": 400, "lambda_start": 0.7, "lambda_end": 0.0,
            "lambda_decay_fraction": 0.6, "endings": True, "precision": "fp32",
        },
        "learner": {
            "lr": 1e-3, "lr_end": 1e-4, "batch_size": 128, "fresh_positions": 800,
            "replay_capacity": 1500, "replay_ratio": 0.5, "backup_start": 1.0,
            "backup_replay_ratio": 2.0,
        },
        "eval": {"games": 0, "interval_games": 0, "interval_every_s": 60.0},
    }  # fmt: skip
    flat: dict[str, Any] = {
        "budget": "200games", "start_from": "", "device": "cpu", "seed": 3, "root": ".",
        "run_dir": "unused", "resume": False, "checkpoint_every_s": 1e6, "tensorboard": False,
    }  # fmt: skip
    for name, value in changes.items():
        part, dot, key = name.partition("__")
        if dot:
            parts[part][key] = value
        else:
            flat[name] = value
    return TrainConfig(
        variant=VariantConfig(**parts["variant"]),
        net=NetConfig(**parts["net"]),
        selfplay=SelfplayConfig(**parts["selfplay"]),
        learner=LearnerConfig(**parts["learner"]),
        eval=EvalConfig(**parts["eval"]),
        **flat,
    )


def play_until(
    worker: Worker, net: FrozenNet, lambda_: float, rows: int, turns: int = 1
) -> tuple[np.ndarray, np.ndarray, RoundStats]:
    """Let `worker` play, `turns` at a time, until ended games have given `rows` positions."""
    boards, targets, stats = [], [], RoundStats()
    while not boards or sum(map(len, boards)) < rows:
        more_boards, more_targets, more = worker.play(net, lambda_, turns)
        boards.append(more_boards.copy())
        targets.append(more_targets.copy())
        stats = more if not stats.evaluations else stats.plus(more)
    return np.concatenate(boards), np.concatenate(targets), stats
