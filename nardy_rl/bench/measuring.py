"""Medians of interleaved runs.

The runs of different measurements are interleaved because a shared machine is faster in one
minute than in the next. Rates are work done over wall-clock time, everything that the user has
to wait for included.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """Something to measure."""

    name: str
    unit: str
    run: Callable[[], float]
    """Returns one figure in `unit`."""


@dataclass(frozen=True)
class Figure:
    """The result of one measurement."""

    name: str
    unit: str
    median: float
    lowest: float
    highest: float
    runs: int

    def as_dict(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        return asdict(self)


def measure(
    measurements: Sequence[Measurement],
    runs: int,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Figure]:
    """Run all measurements `runs` times, interleaved, after one uncounted run of each.

    Args:
        measurements: What to measure.
        runs: Counted runs of each, at least 1.
        progress: Is told the name of each run before it starts.
    """
    found: list[list[float]] = [[] for _ in measurements]
    for number in range(runs + 1):
        for values, measurement in zip(found, measurements, strict=True):
            progress(measurement.name)
            value = measurement.run()
            if number:  # the first run compiles and fills caches
                values.append(value)
    return [
        Figure(m.name, m.unit, statistics.median(values), min(values), max(values), runs)
        for m, values in zip(measurements, found, strict=True)
    ]


def rate(work: Callable[[], float], seconds: float) -> float:
    """Call `work` until `seconds` have passed; return the sum of what it says it did, a second."""
    done, start = 0.0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done / elapsed
