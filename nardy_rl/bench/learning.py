"""Speed of the network, of 0-ply decisions, and of training with the share of each stage."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import torch

from nardy_engine import Variant
from nardy_engine.encoders import Encoder, get_encoder
from nardy_rl.bench.engine import random_positions
from nardy_rl.bench.measure import Measurement, rate
from nardy_rl.config import TrainConfig
from nardy_rl.learner import Learner
from nardy_rl.nets import FrozenNet, ValueNet, pick_device, pick_precision
from nardy_rl.selfplay import CHUNK_ROWS, SelfPlay, Worker

N_GAMES = 1024
"""Games in lock step whose decisions are counted."""

LEARN = "learn"
"""Name of the stage that the learner adds to those of self-play."""


def _new_net(config: TrainConfig, variant: Variant, encoder: Encoder) -> ValueNet:
    generator = torch.Generator().manual_seed(config.seed)
    return ValueNet(encoder.width, config.net.hidden, variant.n_outcomes, generator)


def network(config: TrainConfig, seconds: float) -> list[Measurement]:
    """Measure the forward pass on its own, in chunks as self-play uses them.

    Torch takes all its threads here; self-play runs one chunk a thread instead.
    """
    variant = config.variant.load()
    encoder = get_encoder(config.net.encoder, variant)
    net = _new_net(config, variant, encoder)
    device = pick_device(config.device)
    boards, _ = random_positions(variant, CHUNK_ROWS, seed=3)
    shape = "-".join(map(str, (encoder.width, *config.net.hidden, variant.n_outcomes)))

    def measurement(kind: str, dtype: torch.dtype) -> Measurement:
        frozen = FrozenNet(net, dtype, device)
        features = np.empty((len(boards), encoder.width), frozen.feature_dtype)
        encoder.encode_into(boards, features)

        def work() -> float:
            frozen.logits(features)
            return float(len(boards))

        threads = torch.get_num_threads()
        where = "cuda" if device.type == "cuda" else f"{threads} thread{'s'[: threads > 1]}"
        name = f"{variant.id}: network {shape}, {where}, {kind}"
        return Measurement(name, "positions/s", lambda: rate(work, seconds))

    return [measurement("fp32", torch.float32), measurement("bf16", torch.bfloat16)]


def decisions(config: TrainConfig, seconds: float) -> Measurement:
    """Measure 0-ply decisions on one thread: roll, list, encode, evaluate, choose."""
    variant = config.variant.load()
    encoder = get_encoder(config.net.encoder, variant)
    device = pick_device(config.device)
    dtype = pick_precision(config.selfplay.precision, device)
    frozen = FrozenNet(_new_net(config, variant, encoder), dtype, device)
    kind = "bf16" if dtype == torch.bfloat16 else "fp32"
    shape = "-".join(map(str, config.net.hidden))
    name = f"{variant.id}: 0-ply decisions, hidden {shape}, 1 thread, {kind}"
    worker = Worker(
        variant, encoder, N_GAMES, config.selfplay.max_plies, config.seed, number=0, n_workers=1
    )

    def work() -> float:
        before = int(worker.tracks.turns.sum())
        boards, _, _ = worker.play(frozen, 0.0, 1)
        # Turns of the games that ended, and of those that go on.
        return float(len(boards) + int(worker.tracks.turns.sum()) - before)

    def run() -> float:
        # In a thread of its own, because a worker sets the number of torch's threads.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(rate, work, seconds).result()

    return Measurement(name, "decisions/s", run)


@dataclass
class TrainingSpeed:
    """What a short training run did."""

    games: int = 0
    positions: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    stage_seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock seconds of each stage; those of the workers are divided by their number."""

    def shares(self) -> dict[str, float]:
        """Return the share of each stage in the sum of all stages."""
        total = sum(self.stage_seconds.values())
        return {stage: seconds / total for stage, seconds in self.stage_seconds.items()}


def train_for(config: TrainConfig, seconds: float) -> TrainingSpeed:
    """Run the rounds of training, play and learn, without checkpoints or logs.

    Args:
        config: The run; its budget is not read.
        seconds: Ends after the first round that passes this time.
    """
    variant = config.variant.load()
    encoder = get_encoder(config.net.encoder, variant)
    device = pick_device(config.device)
    dtype = pick_precision(config.selfplay.precision, device)
    learner = Learner(
        _new_net(config, variant, encoder),
        variant,
        encoder,
        batch_size=config.learner.batch_size,
        replay_capacity=config.learner.replay_capacity,
        replay_ratio=config.learner.replay_ratio,
        device=device,
    )
    games = SelfPlay(
        variant,
        encoder,
        games=config.selfplay.games,
        workers=config.selfplay.workers,
        max_plies=config.selfplay.max_plies,
        seed=config.seed,
    )
    try:
        return _rounds(config, learner, games, dtype, device, seconds)
    finally:
        games.close()


def _rounds(
    config: TrainConfig,
    learner: Learner,
    games: SelfPlay,
    dtype: torch.dtype,
    device: torch.device,
    seconds: float,
) -> TrainingSpeed:
    rng = np.random.default_rng(config.seed)
    speed, stages = TrainingSpeed(), dict[str, float]()
    start = time.perf_counter()
    while speed.seconds < seconds:
        frozen = FrozenNet(learner.net, dtype, device)
        boards, targets, stats = games.play(
            frozen, config.selfplay.lambda_start, config.learner.fresh_positions
        )
        for stage, spent in stats.seconds.items():
            stages[stage] = stages.get(stage, 0.0) + spent / config.selfplay.workers
        before = time.perf_counter()
        learner.learn(boards, targets, config.learner.lr, rng)
        now = time.perf_counter()
        stages[LEARN] = stages.get(LEARN, 0.0) + now - before
        speed.games += stats.games
        speed.positions += len(boards)
        speed.evaluations += stats.evaluations
        speed.seconds = now - start
    speed.stage_seconds = stages
    return speed
