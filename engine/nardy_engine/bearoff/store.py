"""Keeps built tables on the disk, one file per rule set, and finds them again; layer 5.

A file is named after a digest of the rules it was made for and of the sources that made it, so
it cannot be stale; it is written beside its place and renamed, so nobody reads half of one. What
cannot be read is built again, and where nothing can be written nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from nardy_engine.bearoff.coverage import BearoffRules
from nardy_engine.kernels import bearoff, bearoff_tables
from nardy_engine.kernels.bearoff import BearoffTables

_MADE_BY = (
    Path(bearoff.__file__),
    Path(bearoff_tables.__file__),
    Path(__file__).with_name("build.py"),
)


def table_file(rules: BearoffRules) -> Path | None:
    """Return where the tables of a rule set are kept, or None if the user has no such place."""
    base = os.environ.get("NARDY_CACHE_DIR")
    try:
        root = Path(base).absolute() if base else Path.home() / ".cache" / "nardy-rl"
    except RuntimeError:  # a home that is unknown
        return None
    return root / "bearoff" / f"{_digest(rules)}.npz"


@cache
def _digest(rules: BearoffRules) -> str:
    digest = hashlib.sha256(repr(rules._asdict()).encode())
    for source in _MADE_BY:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def load(rules: BearoffRules) -> BearoffTables | None:
    """Return the tables kept for a rule set, or None."""
    path = table_file(rules)
    if path is None:
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return BearoffTables(*(arrays[name] for name in BearoffTables._fields))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def save(rules: BearoffRules, tables: BearoffTables) -> None:
    """Keep tables for later; without a word if that is not possible."""
    path = table_file(rules)
    if path is None:
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                np.savez(file, **tables._asdict())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
