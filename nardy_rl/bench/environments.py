"""Virtual environments of other programs, made once and kept under a cache folder.

Programs that this project is compared with never share an interpreter with it: each gets an
environment of its own, pinned to exact versions, so that a figure can be measured again. Layer:
nardy_rl; plain Python, nothing of theirs is imported here.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from nardy_engine.errors import NardyError

_DONE = "installed.txt"
"""Written last into an environment: without it the folder is half made."""


class InstallError(NardyError):
    """A program cannot be installed here; the message says why in one sentence."""


class Environment(NamedTuple):
    """What one program needs."""

    name: str
    requirements: tuple[str, ...]
    """For pip, with exact versions."""


GNUBG_NN = Environment("gnubg-nn", ("gnubg-nn==1.1.0a11",))
"""GNU Backgammon's networks and move choice, GPL."""


def cache_folder() -> Path:
    """Return where environments are kept: `peers` in the cache folder of this project."""
    base = os.environ.get("NARDY_CACHE_DIR")
    return (Path(base).absolute() if base else Path.home() / ".cache" / "nardy-rl") / "peers"


def interpreter(environment: Environment, folder: Path | None = None) -> Path:
    """Return the Python of an environment; make the environment if it is not there yet.

    Processes that ask at the same time wait for the first one. An environment whose requirements
    have changed is another one; the old one stays until somebody deletes it.

    Args:
        environment: What to install.
        folder: Where environments are kept, by default `cache_folder()`.

    Raises:
        InstallError: The folder cannot be written, or pip fails.
    """
    root = folder or cache_folder()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = hashlib.sha256("\n".join((version, *environment.requirements)).encode()).hexdigest()[:8]
    home = root / f"{environment.name}-{key}"
    python = home / "bin" / "python"
    if (home / _DONE).exists():
        return python
    try:
        root.mkdir(parents=True, exist_ok=True)
        with open(root / f".{home.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (home / _DONE).exists():
                shutil.rmtree(home, ignore_errors=True)
                _make(environment, home, python)
    except OSError as error:
        raise InstallError(f"{environment.name}: {error.strerror or error} ({root})") from None
    return python


def _make(environment: Environment, home: Path, python: Path) -> None:
    """Create the environment and install into it; say so on standard error."""
    print(f"installing {', '.join(environment.requirements)} into {home}", file=sys.stderr)
    _run(environment, [sys.executable, "-m", "venv", str(home)])
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(environment, [*pip, *environment.requirements])
    (home / _DONE).write_text("\n".join(environment.requirements) + "\n")


def _run(environment: Environment, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR")] or said
        why = errors[-1].removeprefix("ERROR: ") if errors else f"exit code {done.returncode}"
        raise InstallError(f"{environment.name} cannot be installed: {why}")
