"""How many cores there are to fill; layer 0 of nardy_rl."""

from __future__ import annotations

import os

__all__ = ["usable_cores"]


def usable_cores() -> int:
    """Return how many cores this process may use, at least 1.

    Where the system tells (Linux), those that it is bound to (`taskset`, Slurm) are counted.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
