"""Speed of the network, of 0-ply decisions, and of training with the share of each stage."""

from __future__ import annotations

import copy
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch

from nardy_engine import Variant
from nardy_engine.encoders import Encoder, get_encoder
from nardy_rl.bench.engine import random_positions
from nardy_rl.bench.measuring import Measurement, rate
from nardy_rl.config import TrainConfig
from nardy_rl.nets import FrozenNet, ValueNet, pick_device, pick_precision
from nardy_rl.selfplay import CHUNK_ROWS, Worker
from nardy_rl.trainer import Trainer

N_GAMES = 1024
"""Games in lock step whose decisions are counted."""


def new_net(config: TrainConfig, variant: Variant, encoder: Encoder) -> ValueNet:
    """Return the network that a run begins with."""
    generator = torch.Generator().manual_seed(config.seed)
    return ValueNet(encoder.width, config.net.hidden, variant.n_outcomes, generator)


def network(config: TrainConfig, seconds: float) -> list[Measurement]:
    """Measure the dense forward pass on its own, in chunks of the size that self-play uses.

    Torch takes all its threads here; self-play runs one chunk a thread instead, and computes
    the first layer from the few features that differ.
    """
    variant = config.variant.load()
    encoder = get_encoder(config.net.encoder, variant)
    net = new_net(config, variant, encoder)
    device = pick_device(config.device)
    boards, _ = random_positions(variant, CHUNK_ROWS, seed=3)
    shape = "-".join(map(str, (encoder.width, *config.net.hidden, variant.n_outcomes)))

    def measurement(kind: str, dtype: torch.dtype) -> Measurement:
        typed = copy.deepcopy(net).to(device=device, dtype=dtype)
        features = torch.from_numpy(encoder.encode(boards)).to(device=device, dtype=dtype)

        def work() -> float:
            with torch.inference_mode():
                # Back to the host, as self-play does; it also waits for a GPU to be done.
                typed(features).float().cpu()
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
    frozen = FrozenNet(new_net(config, variant, encoder), dtype, device)
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


@dataclass(frozen=True)
class TrainingSpeed:
    """What a short training run did."""

    games: int
    """Finished games of self-play."""
    plies: int
    """Turns of these games, each a position that was learned from."""
    seconds: float
    """Wall-clock time from the first roll on."""
    stage_seconds: dict[str, float]
    """Wall-clock seconds of roll, plays, encode, network, choose and learn."""

    def shares(self) -> dict[str, float]:
        """Return the share in the sum of all stages of each stage that there was."""
        total = sum(self.stage_seconds.values())
        return {stage: spent / total for stage, spent in self.stage_seconds.items() if spent}


def train_for(config: TrainConfig) -> TrainingSpeed:
    """Train in a folder that is thrown away, and say how fast that was.

    Args:
        config: The run, its budget included; logs and matches on the way count as they do in
            `nardy train`.
    """
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, Path(folder), resumed=False)
        try:
            trainer.run()
        finally:
            trainer.close()
    done = trainer.progress
    return TrainingSpeed(done.games, done.plies, done.seconds, trainer.stage_seconds)
