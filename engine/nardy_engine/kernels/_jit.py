"""The only door to numba: one decorator, and a disk cache that cannot go stale; layer 3.

numba's own cache does not notice that an imported function or a global of another file changed
and would go on running old rules. So the cache folder is named after a digest of every engine
source that compiled code can depend on: any change recompiles everything, no change hits.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCES = ("kernels", "rules")


def source_digest() -> str:
    """Return 16 hex digits over the sources that compiled code depends on."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in _SOURCES:
        for path in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Return a writable folder for compiled code, named after the sources."""
    base = os.environ.get("NARDY_CACHE_DIR")
    root = Path(base) if base else Path.home() / ".cache" / "nardy-rl"
    folder = root / "numba" / source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"nardy-rl-{os.getuid()}" / source_digest()
        folder.mkdir(parents=True, exist_ok=True)
    return folder


CACHE_FOLDER = _cache_folder()

if not any(CACHE_FOLDER.rglob("*.nbi")) and not numba.config.DISABLE_JIT:
    print(
        "nardy: compiling the rules engine, once per installation (under a minute) ...",
        file=sys.stderr,
        flush=True,
    )


def jit(function: F) -> F:
    """Compile `function` on first use, without the GIL, cached on disk.

    Arithmetic wraps as in C and there are no bounds checks, unless `NUMBA_BOUNDSCHECK=1` is set
    (the rule tests run once that way).
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        # Kernels allocate nothing, so reference counting (`_nrt`) would only cost: 1.9 times the
        # time of play generation.
        decorate = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
        compiled: F = decorate(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled
