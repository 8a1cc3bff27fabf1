"""Which code is running: the commit, where it can be known; layer 0 of nardy_rl."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

_CODE = ("engine", "nardy_rl", "configs", "scripts")
"""What decides a result; a changed document does not."""


@cache
def code_commit(*more: str) -> str:
    """Return the short commit of the checkout, `-dirty` if code changed, or "" outside of one.

    Args:
        more: Folders that decide the result, too.
    """
    folder = Path(__file__).resolve().parents[1]
    if not (folder / ".git").exists():
        return ""
    try:
        commit = _git(folder, "rev-parse", "--short=10", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *_CODE, *more)
    except (OSError, subprocess.SubprocessError):
        return ""
    return commit + ("-dirty" if changed else "")


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
