"""Lines of JSON between `scripts/bench.py --peers` and the programs that it measures.

Standard library only: every peer's worker imports this in an environment of its own. A line
`{"measure":NAME,"cpus":[0],...}` is answered by `{"UNIT":number,...}`, one or more rates measured
over the time asked for, or by `{"error":TEXT}`. The first line a worker writes says who it is:
`{"program":NAME,"version":TEXT}`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

POINTS = 24
SLOTS = POINTS + 2
"""Of a row of short nardy: off, the points, the bar."""


class Sample(NamedTuple):
    """Positions of short nardy with a roll each, the side to play first, in own numbering."""

    boards: list[tuple[bytes, bytes]]
    """Rows of `SLOTS` counts: off, the points 1 to 24, bar."""
    dice: list[tuple[int, int]]


def read_sample(path: str) -> Sample:
    """Read the file that `scripts/bench.py` wrote: hex digits of int8 boards and dice."""
    record = json.loads(Path(path).read_text())
    flat, dice = bytes.fromhex(record["boards"]), bytes.fromhex(record["dice"])
    rows = [flat[i : i + SLOTS] for i in range(0, len(flat), SLOTS)]
    return Sample(
        list(zip(rows[::2], rows[1::2], strict=True)),
        list(zip(dice[::2], dice[1::2], strict=True)),
    )


def rate(work: Callable[[], float], seconds: float) -> float:
    """Call `work` until `seconds` have passed; return the sum of what it says it did, a second."""
    done, start = 0.0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done / elapsed


def turns(sample: Sample, answer: Callable[[int], float], seconds: float) -> dict[str, float]:
    """Measure `answer(i)` over the positions of a sample, again from the start if time is left.

    Returns:
        `per_s`, positions a second, and `sum_per_s`, what the answers add up to a second.
    """
    n, i, total, start = len(sample.dice), 0, 0.0, time.perf_counter()
    while True:
        for _ in range(16):  # the clock is read once for several positions
            total += answer(i % n)
            i += 1
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return {"per_s": i / elapsed, "sum_per_s": total / elapsed}


def serve(program: str, version: str, measures: dict[str, Callable[..., dict[str, float]]]) -> None:
    """Answer requests until the input ends."""
    # What the program itself prints must not get between the answers.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stdout.fileno())

    def write(answer: dict[str, Any]) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    write({"program": program, "version": version})
    for line in sys.stdin:
        request = json.loads(line)
        measure = request.pop("measure")
        try:
            _use(request.pop("cpus", None))
            write(measures[measure](**request))
        except Exception as error:  # whatever it is, the reader shows it
            write({"error": f"{type(error).__name__}: {error}"})


def _use(cpus: list[int] | None) -> None:
    """Run every thread of this process on these processors only, where the system can do it."""
    if not cpus or not hasattr(os, "sched_setaffinity"):
        return
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), cpus)
