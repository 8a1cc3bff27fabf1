"""What each game asks of the engine: speed, choices, working memory, worst decisions.

Everything is measured on positions of random games, one thread. Random play meets more plays per
decision than good play does, so the largest numbers are those that memory has to be made for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.batch.plays import work_for
from nardy_engine.kernels.plays import S_NODES
from nardy_rl.arena import match
from nardy_rl.bench.engine import BATCH, random_positions
from nardy_rl.bench.measuring import Figure, Measurement, measure, rate
from nardy_rl.players import make_bot

YARDSTICK = "long"
"""The game that the others are compared with."""
GOAL = 0.5
"""Afterstates a second that every game should reach, as a share of the yardstick's."""
SLOWEST = 8
"""Decisions with most nodes that are timed one by one."""


class Size(NamedTuple):
    """How much is looked at."""

    seconds: float
    """Of one run of the speed."""
    runs: int
    decisions: int
    """Positions of the sample."""
    games: int
    """Random games whose length is measured."""


THOROUGH = Size(seconds=1.5, runs=5, decisions=16 * BATCH, games=2 * BATCH)
QUICK = Size(seconds=0.1, runs=1, decisions=BATCH, games=64)


class Sample:
    """Positions and rolls from every stage of random games of one variant."""

    def __init__(self, variant: Variant, size: Size) -> None:
        """Play random games until the sample is full."""
        self.variant = variant
        self.boards, self.dice = random_positions(variant, size.decisions, seed=1)

    def speed(self, seconds: float) -> Measurement:
        """Measure how many decisions have their plays listed a second."""
        parts = [slice(start, start + BATCH) for start in range(0, len(self.boards), BATCH)]
        turn = iter(range(1 << 62))

        def some() -> float:
            part = parts[next(turn) % len(parts)]
            batch.afterstates(self.variant, self.boards[part], self.dice[part])
            return float(len(self.boards[part]))

        return Measurement(self.variant.id, "decisions/s", lambda: rate(some, seconds))

    def demands(self) -> dict[str, Any]:
        """Return plays, nodes, working memory and time of single decisions."""
        counts, nodes = self._counts()
        slowest = np.argsort(nodes, kind="stable")[-SLOWEST:]
        work = work_for(self.variant)
        return {
            "plays": {"mean": float(counts.mean()), "most": int(counts.max())},
            "nodes": {
                "mean": float(nodes.mean()),
                "most": int(nodes.max()),
                "room": len(work.words),
            },
            "memory_mb": sum(part.nbytes for part in work) / 1e6,
            "slowest_ms": max(self._best_ms(i) for i in slowest),
            "sample": len(counts),
        }

    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the plays of each decision, and the positions looked at to find them."""
        counts = np.empty(len(self.boards), np.int64)
        nodes = np.empty(len(self.boards), np.int64)
        state = work_for(self.variant).state
        for i in range(len(self.boards)):
            counts[i] = len(self._list(i).boards)
            nodes[i] = state[S_NODES]
        return counts, nodes

    def _list(self, i: int) -> batch.Afterstates:
        return batch.afterstates(self.variant, self.boards[i : i + 1], self.dice[i : i + 1])

    def _best_ms(self, i: int) -> float:
        """Return the milliseconds of a decision, the least of three: other programs interrupt."""
        times = []
        for _ in range(3):
            start = time.perf_counter()
            self._list(i)
            times.append(time.perf_counter() - start)
        return 1000 * min(times)


def n_steps(variants: Sequence[Variant], size: Size) -> int:
    """Return how often `measure_games` reports progress."""
    return len(variants) * (size.runs + 3)  # a sample, a run that warms up, the worst decisions


def measure_games(
    variants: Sequence[Variant],
    size: Size,
    progress: Callable[[str], None] = lambda name: None,
) -> list[dict[str, Any]]:
    """Measure every game; return one entry each, as `nardy bench --games --json` prints it.

    Args:
        variants: The games, the yardstick among them.
        size: How much is looked at.
        progress: Is told what is measured next, `n_steps` times.
    """
    samples: list[Sample] = []
    for variant in variants:
        progress(f"{variant.id}: random games")
        samples.append(Sample(variant, size))
    speeds = measure([sample.speed(size.seconds) for sample in samples], size.runs, progress)
    entries = []
    for sample, speed in zip(samples, speeds, strict=True):
        progress(f"{sample.variant.id}: worst decisions")
        demands = sample.demands()
        entries.append(_entry(sample, speed, demands, size.games))
    return _compared(entries)


def _entry(sample: Sample, speed: Figure, demands: Mapping[str, Any], games: int) -> dict[str, Any]:
    found = speed.as_dict()
    rates = {name: found[name] for name in ("median", "lowest", "highest", "runs")}
    plays = demands["plays"]["mean"]
    random = make_bot("random", sample.variant)
    return {
        "variant": sample.variant.id,
        "decisions_per_s": rates,
        "afterstates_per_s": {"median": rates["median"] * plays},
        "decisions_per_game": match(
            random, random, sample.variant, games // 2, seed=1
        ).length.to_json(),
        **demands,
    }


def _compared(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add how fast each game is against the yardstick."""
    long = next(entry for entry in entries if entry["variant"] == YARDSTICK)
    unit = long["afterstates_per_s"]["median"]
    for entry in entries:
        entry["to_long"] = entry["afterstates_per_s"]["median"] / unit
    return entries
