"""The folder of a training run: claimed once, found again; layer 2 of nardy_rl."""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nardy_rl.config import ConfigError, TrainConfig

__all__ = ["RunDir", "choose_run_dir", "claim_run_dir", "held"]


class RunDir(NamedTuple):
    """Where a run writes."""

    path: Path
    """Absolute; exists."""
    resumed: bool
    """True if a state to go on from lies there."""


def choose_run_dir(config: TrainConfig, state_name: str) -> RunDir:
    """Return the folder for a run: a new one, or that of a stopped run to go on with.

    With `resume=true` it is `run_dir` if that exists, else the newest folder beside it that
    holds a state; if there is none the run starts anew, so that one command serves both.

    Args:
        config: The run's configuration.
        state_name: File name of the state that a stopped run leaves.

    Raises:
        ConfigError: `resume` names a folder without a state, or the folder cannot be made.
    """
    if isinstance(config.resume, str):
        path = config.path(config.resume)
        if not (path / state_name).is_file():
            raise ConfigError(f"there is nothing to resume in {path}: no {state_name}")
        return RunDir(path, resumed=True)
    wanted = config.path(config.run_dir)
    if config.resume:
        if wanted.is_dir():
            return RunDir(wanted, resumed=(wanted / state_name).is_file())
        stopped = list(wanted.parent.glob(f"*/{state_name}"))
        if stopped:
            newest = max(stopped, key=lambda state: (state.stat().st_mtime_ns, state))
            return RunDir(newest.parent, resumed=True)
    return RunDir(claim_run_dir(wanted), resumed=False)


def claim_run_dir(wanted: Path) -> Path:
    """Make a folder that nobody else has, and return it: `wanted`, or `wanted-2`, `wanted-3` ...

    Two runs that start in the same second get two folders, since making one is atomic.

    Raises:
        ConfigError: The folder cannot be made.
    """
    for number in itertools.count(1):
        path = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError:
            if not path.parent.is_dir():
                raise ConfigError(f"{path.parent} is not a folder") from None
        except OSError as error:
            raise ConfigError(f"cannot make the folder {path}: {error.strerror}") from None
        else:
            return path
    raise AssertionError("unreachable: the count is endless")


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep the run in `folder` to this process as long as the block lasts.

    Raises:
        ConfigError: Another process has it: two that write one checkpoint would lose a run.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"the run in {folder} is still going on in another process; stop that one first, "
                "or start another run without resume"
            ) from None
        except OSError:
            pass  # some network drives have no locks
        yield
    finally:
        os.close(handle)  # and with it the lock, as at any end of the process
