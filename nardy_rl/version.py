"""Which code is running: the commit, where it can be known; layer 0 of nardy_rl."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path


@cache
def code_commit() -> str:
    """Return the short commit of the checkout, `-dirty` if changed, or "" outside of one."""
    folder = Path(__file__).resolve().parents[1]
    if not (folder / ".git").exists():
        return ""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
