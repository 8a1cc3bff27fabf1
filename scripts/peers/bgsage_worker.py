"""bgsage (C++) for `scripts/bench.py --peers`; needs `pip install bgsage` (MPL-2.0)."""

from __future__ import annotations

import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bgbot_cpp
from bgsage.weights import default_weights
from protocol import POINTS, Sample, rate, read_sample, serve, turns

BATCH = 256
"""Decisions of one call."""


def board_of(mover: bytes, opponent: bytes) -> list[int]:
    """Return bgsage's board: the mover's points, less the opponent's, and the two bars."""
    points = [mover[p] - opponent[POINTS + 1 - p] for p in range(1, POINTS + 1)]
    return [opponent[POINTS + 1], *points, mover[POINTS + 1]]


def listing(positions: str, seconds: float) -> dict[str, float]:
    """List the distinct results of each roll; without a legal play it is the board itself."""
    sample = read_sample(positions)
    boards = [board_of(*rows) for rows in sample.boards]
    possible = bgbot_cpp.possible_moves

    def count(i: int) -> float:
        return float(len(possible(boards[i], *sample.dice[i])))

    found = turns(sample, count, seconds)
    return {"turns_per_s": found["per_s"], "afterstates_per_s": found["sum_per_s"]}


def pubeval(seconds: float, threads: int) -> dict[str, float]:
    """Play pubeval against itself, in C++."""
    games = 1000
    weights = bgbot_cpp.PubEvalWeights.TESAURO
    seeds = iter(range(1, 1 << 30))

    def play() -> float:
        bgbot_cpp.play_games_pubeval(games, next(seeds), weights, weights, threads)
        return float(games)

    return {"games_per_s": rate(play, seconds)}


_strategy: Any = None


def decisions(positions: str, seconds: float) -> dict[str, float]:
    """Rate all plays of a roll by the static evaluation of its best networks, one thread."""
    global _strategy  # noqa: PLW0603 - loaded once, when it is first needed
    if _strategy is None:
        weights = default_weights()
        _strategy = bgbot_cpp.BackgameAwarePairStrategy(*weights.weight_args, True)
    sample: Sample = read_sample(positions)
    inputs = [
        {
            "board": board_of(*rows), "die1": dice[0], "die2": dice[1],
            "cube_value": 1, "cube_owner": bgbot_cpp.CubeOwner.CENTERED,
        }
        for rows, dice in zip(sample.boards, sample.dice, strict=True)
    ]  # fmt: skip
    parts = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
    which = iter(range(1 << 30))

    def decide() -> float:
        part = parts[next(which) % len(parts)]
        bgbot_cpp.batch_checker_play(part, _strategy, n_threads=1)
        return float(len(part))

    return {"decisions_per_s": rate(decide, seconds)}


_warm: dict[int, str] = {}
_folder = tempfile.TemporaryDirectory()


def training(seconds: float, hidden: int, warm: int) -> dict[str, float]:
    """Train by TD(0), one network, one thread; the first `warm` games are not counted.

    A network that knows nothing plays longer games. Later calls go on with the same weights.
    """
    if hidden not in _warm:
        _train(warm, hidden, "")
    games = 500
    while True:
        start = time.perf_counter()
        _train(games, hidden, _warm[hidden])
        elapsed = time.perf_counter() - start
        if elapsed >= seconds / 2:
            return {"games_per_s": games / elapsed}
        games = int(games * max(2.0, seconds / elapsed))


def _train(games: int, hidden: int, before: str) -> None:
    name = f"hidden{hidden}"
    bgbot_cpp.td_train(
        n_games=games,
        n_hidden=hidden,
        benchmark_interval=1 << 30,
        model_name=name,
        models_dir=_folder.name,
        resume_from=before,
    )
    _warm[hidden] = str(Path(_folder.name) / f"{name}.weights")


if __name__ == "__main__":
    serve(
        "bgsage",
        version("bgsage"),
        {"listing": listing, "pubeval": pubeval, "decisions": decisions, "training": training},
    )
