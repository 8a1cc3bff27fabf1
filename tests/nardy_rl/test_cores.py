"""Threads fill the cores that a process may use, not those that a machine has."""

from __future__ import annotations

import os

import pytest

from nardy_rl.cores import usable_cores


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
