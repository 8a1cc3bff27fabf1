"""How many cores there are to fill, and products that leave them to others; layer 0 of nardy_rl."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread_a_product", "usable_cores"]


def usable_cores() -> int:
    """Return how many cores this process may use, at least 1.

    Where the system tells (Linux), those that it is bound to (`taskset`, Slurm) are counted.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries with threads of their own; to find them takes a while."""
    return ThreadpoolController()


class _OneThread:
    """The limit is the process's: the first one in sets it, the last one out takes it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_one_thread = _OneThread()


@contextmanager
def one_thread_a_product() -> Iterator[None]:
    """Leave matrix products without threads of their own; several threads may be inside at once.

    Products are small, and whoever wants both cores plays on both; where another program wants
    them too, threads that wait for each other at every product take many times as long.
    """
    _one_thread.enter()
    try:
        yield
    finally:
        _one_thread.leave()
