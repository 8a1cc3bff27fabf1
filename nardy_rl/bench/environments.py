"""Environments of other programs, made once and kept under a cache folder.

Programs that this project is compared with never share an interpreter with it: each gets a virtual
environment of its own, pinned to exact versions, so that a figure can be measured again. Programs
of Debian are unpacked beside them and nothing is installed. Layer: nardy_rl; plain Python, nothing
of theirs is imported here.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
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


class DebianProgram(NamedTuple):
    """A program of a Debian package."""

    name: str
    """Of the package."""
    path: str
    """Of the program below the root folder."""


class Unpacked(NamedTuple):
    """A Debian program that can be started."""

    program: Path
    root: Path
    """Where its package is unpacked; `/` if it is installed."""
    environment: dict[str, str]
    """Variables that it needs to find its libraries."""


GNUBG_NN = Environment("gnubg-nn", ("gnubg-nn==1.1.0a11",))
"""GNU Backgammon's networks and move choice, GPL."""
OPENSPIEL = Environment("openspiel", ("open_spiel==2.0.2",))
PGX = Environment("pgx", ("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2"))
BGSAGE = Environment("bgsage", ("bgsage==2.0.20260907",))
"""MPL-2.0 on its wheel."""
GNUBG = DebianProgram("gnubg", "usr/games/gnubg")
"""GNU Backgammon itself, GPL."""


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
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = hashlib.sha256("\n".join((version, *environment.requirements)).encode()).hexdigest()[:8]
    root = folder or cache_folder()
    home = root / f"{environment.name}-{key}"
    _once(environment.name, home, lambda: _make(environment, home))
    return _python(home)


def unpacked(program: DebianProgram, folder: Path | None = None) -> Unpacked:
    """Return a program of Debian: the installed one, or else its packages unpacked in `folder`.

    Raises:
        InstallError: This is no Debian with package lists, or the folder cannot be written.
    """
    installed = Path("/") / program.path
    if installed.exists():
        return Unpacked(installed, Path("/"), {})
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise InstallError(
                f"{program.name} cannot be installed: it comes as a Debian package, "
                f"and there is no {tool} here"
            )
    home = (folder or cache_folder()) / f"debian-{program.name}"
    _once(program.name, home, lambda: _unpack(program, home))
    libraries = [str(path) for path in sorted(home.glob("usr/lib/*-linux-gnu*"))]
    return Unpacked(home / program.path, home, {"LD_LIBRARY_PATH": ":".join(libraries)})


def gnubg_command(folder: Path | None = None) -> list[str]:
    """Return the words that start GNU Backgammon on a terminal, without anybody's settings.

    Raises:
        InstallError: As `unpacked`.
    """
    found = unpacked(GNUBG, folder)
    variables = [f"{name}={value}" for name, value in found.environment.items()]
    words = ["env", *variables, str(found.program), "--tty", "--quiet", "--no-rc"]
    if found.environment:
        words.append(f"--datadir={found.root}/usr/share/gnubg")
        words.append(f"--pkgdatadir={found.root}/usr/lib/gnubg")
    return words


def _once(name: str, home: Path, make: Callable[[], None]) -> None:
    """Call `make` unless it has filled `home` already; other processes wait meanwhile."""
    if (home / _DONE).exists():
        return
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with open(home.with_name(f".{home.name}.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (home / _DONE).exists():
                shutil.rmtree(home, ignore_errors=True)
                print(f"installing {name} into {home}", file=sys.stderr, flush=True)
                make()
                (home / _DONE).write_text(f"{name}\n")
    except OSError as error:
        raise InstallError(f"{name} cannot be installed: {error.strerror or error}") from None


def _python(home: Path) -> Path:
    return home / "bin" / "python"


def _make(environment: Environment, home: Path) -> None:
    """Create a virtual environment and install into it."""
    _run(environment.name, [sys.executable, "-m", "venv", str(home)])
    pip = [str(_python(home)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(environment.name, [*pip, *environment.requirements])


def _unpack(program: DebianProgram, home: Path) -> None:
    """Download a package and what it needs and is not installed; unpack all of it in `home`."""
    home.mkdir()
    wanted = ["apt-get", "install", "--simulate", "--no-install-recommends", program.name]
    try:
        plan = _run(program.name, wanted)
    except InstallError:
        if os.getuid() != 0:
            raise
        _run(program.name, ["apt-get", "update"])
        plan = _run(program.name, wanted)
    names = [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]
    with tempfile.TemporaryDirectory() as folder:
        _run(program.name, ["apt-get", "download", *names], folder)
        for package in sorted(Path(folder).glob("*.deb")):
            _run(program.name, ["dpkg-deb", "--extract", str(package), str(home)])


def _run(name: str, command: list[str], folder: str | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in said if line.startswith(("ERROR", "E:"))] or said
        why = errors[-1].removeprefix("ERROR: ") if errors else f"exit code {done.returncode}"
        raise InstallError(f"{name} cannot be installed: {why}")
    return done.stdout
