"""This project for `scripts/bench.py --peers`, in a process of its own like every peer."""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from protocol import rate, read_sample, serve
from threadpoolctl import threadpool_limits

from nardy_engine import load_variant
from nardy_engine.types import Board
from nardy_rl import __version__
from nardy_rl.arena import match
from nardy_rl.bench import engine, learning
from nardy_rl.checkpoint import load_network
from nardy_rl.compose import load_train_config
from nardy_rl.config import TrainConfig
from nardy_rl.evaluator import Evaluator
from nardy_rl.likely_replies import GLANCE
from nardy_rl.players import make_bot
from nardy_rl.search import Search
from nardy_rl.trainer import Progress, Trainer

SHORT = load_variant("short")
PAIRS = 2048
"""Of one match of pubeval against itself."""
PART = 128
"""Positions that are searched at a time."""


def listing(seconds: float) -> dict[str, float]:
    """List the distinct results of each roll, one thread."""
    found = {m.unit: m.run() for m in engine.listing(SHORT, seconds)}
    return {
        "turns_per_s": found["turns/s"],
        "afterstates_per_s": found["afterstates/s"],
    }


def random_play(seconds: float, threads: int) -> dict[str, float]:
    """Play uniformly among the distinct results, all of them listed."""
    return {"games_per_s": engine.random_play(SHORT, seconds, threads).run()}


def pubeval(seconds: float, threads: int) -> dict[str, float]:
    """Play pubeval against itself in the arena."""
    bot = make_bot("pubeval", SHORT)
    seeds = iter(range(1 << 30))

    def play() -> float:
        return float(match(bot, bot, SHORT, PAIRS, next(seeds), workers=threads).games)

    return {"games_per_s": rate(play, seconds)}


def _config(hidden: Sequence[int], *more: str) -> TrainConfig:
    return load_train_config(["variant=short", f"net.hidden=[{','.join(map(str, hidden))}]", *more])


def decisions(seconds: float, hidden: Sequence[int]) -> dict[str, float]:
    """Choose plays by static evaluation, one thread: roll, list, encode, evaluate, choose."""
    return {"decisions_per_s": learning.decisions(_config(hidden), seconds).run()}


class PausedTraining:
    """A training run that goes on between requests as if nothing had happened."""

    def __init__(self, config: TrainConfig) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._trainer = Trainer(config, Path(self._folder.name), resumed=False)
        self._enough: Callable[[Progress], bool] = lambda _: True
        self._error: Exception | None = None
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._run, daemon=True).start()

    def until(self, enough: Callable[[Progress], bool]) -> int:
        """Train on until a round after which `enough` is true; return the games so far."""
        self._enough = enough
        self._go.release()
        self._stopped.acquire()
        if self._error is not None:
            raise self._error
        return self._trainer.progress.games

    def _run(self) -> None:
        self._go.acquire()
        try:
            self._trainer.run(self._report)
        except Exception as error:
            self._error = error
            self._stopped.release()

    def _report(self, progress: Progress) -> None:
        if self._enough(progress):
            self._stopped.release()
            self._go.acquire()


_runs: dict[tuple[int, ...], PausedTraining] = {}


def training(seconds: float, hidden: Sequence[int], warm: int) -> dict[str, float]:
    """Train with all threads, from nothing; the first `warm` games are not counted.

    The weights are kept: later calls go on with the same run.
    """
    key = tuple(hidden)
    if key not in _runs:
        _runs[key] = PausedTraining(
            _config(hidden, "budget=24h", "eval.interval_games=0", "tensorboard=false")
        )
        _runs[key].until(lambda progress: progress.games >= warm)
    run = _runs[key]
    before = run.until(lambda _: True)  # one round, so that everything is under way again
    start = time.perf_counter()
    games = run.until(lambda _: time.perf_counter() - start >= seconds) - before
    return {"games_per_s": games / (time.perf_counter() - start)}


def evaluations(
    positions: str, seconds: float, ply: int, every_reply: bool, hidden: Sequence[int]
) -> dict[str, float]:
    """Evaluate positions before the roll, many at a time, one thread.

    By the shipped network, or one with `hidden` layers that has learned nothing. Unless
    `every_reply`, a reply gets a static value only if it is among the likely best.
    """
    sample = read_sample(positions)
    boards: Board = np.array([[[*row] for row in rows] for rows in sample.boards], np.int8)
    network = load_network("short", SHORT)
    if hidden:
        net = learning.new_net(_config(hidden), SHORT, network.encoder)
        network = replace(network, tensors=net.arrays())
    evaluator = Evaluator(network)
    search = Search(evaluator, ply, glance=None if every_reply else GLANCE)
    parts = itertools.cycle(np.split(boards, len(boards) // PART))

    def evaluate() -> float:
        return float(len(search.positions(next(parts))))

    with threadpool_limits(1):
        return {"evaluations_per_s": rate(evaluate, seconds)}


if __name__ == "__main__":
    serve(
        "nardy-rl",
        __version__,
        {
            "listing": listing, "random_play": random_play, "pubeval": pubeval,
            "decisions": decisions, "training": training, "evaluations": evaluations,
        },
    )  # fmt: skip
