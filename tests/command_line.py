"""Runs the real `nardy` command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

COMMAND = [sys.executable, "-m", "nardy_rl.cli"]


def environment() -> dict[str, str]:
    """Let the process find what this one finds, also where nothing is installed."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def nardy(*argv: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run `nardy argv` to its end."""
    return subprocess.run(
        [*COMMAND, *argv],
        input=stdin,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def start_nardy(*argv: str) -> subprocess.Popen[str]:
    """Start `nardy argv` with pipes to talk to it."""
    return subprocess.Popen(
        [*COMMAND, *argv],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def complaints(errors: str) -> list[str]:
    """Return the lines of stderr without the notice of the first compilation."""
    return [line for line in errors.splitlines() if not line.startswith("nardy: compiling")]
