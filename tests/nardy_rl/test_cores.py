"""Threads fill the cores that a process may use, not those that a machine has."""

from __future__ import annotations

import os

import pytest
from threadpoolctl import threadpool_info

from nardy_rl.cores import one_thread_a_product, usable_cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no processes")
def test_a_bound_process_counts_its_own_cores() -> None:
    """As under `taskset` or Slurm."""
    before = os.sched_getaffinity(0)
    assert usable_cores() == len(before)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def products() -> set[int]:
    """Return how many threads the libraries of matrix products use."""
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def test_the_last_one_out_takes_the_limit_back() -> None:
    """A comes, B comes, A goes: B still has one thread a product; then all is as it was."""
    before = products()
    first, second = one_thread_a_product(), one_thread_a_product()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert products() == {1}
    second.__exit__(None, None, None)
    assert products() == before
