"""The only door to numba: two decorators, and a disk cache that cannot go stale; layer 3.

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
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.cpython.unsafe.numbers import trailing_zeros

__all__ = ["CACHE_FOLDER", "inlined", "jit", "source_digest", "trailing_zeros"]

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
    try:
        root = Path(base).absolute() if base else Path.home() / ".cache" / "nardy-rl"
        folder = root / "numba" / source_digest()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # a home that is read-only, full or unknown
        return _temporary_folder()


def _temporary_folder() -> Path:
    """Return a folder of this user among the temporary ones, kept from process to process."""
    root = Path(tempfile.gettempdir()) / f"nardy-rl-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        # Code is loaded from here: a folder that somebody else put in this place is not used.
        if root.lstat().st_uid == os.getuid() and not root.is_symlink():
            root.chmod(0o700)
            folder = root / source_digest()
            folder.mkdir(exist_ok=True)
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="nardy-rl-"))


CACHE_FOLDER = _cache_folder()


class _Announcement(event.Listener):  # type: ignore[misc]  # numba is untyped
    """Says on standard error, once, that the engine is being compiled: only if it really is."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, begun: Any) -> None:
        """Speak when numba begins to compile a function of this package."""
        module = begun.data["dispatcher"].py_func.__module__
        if not self._said and module.startswith(f"{_PACKAGE.name}."):
            self._said = True
            print(
                "nardy: compiling the rules engine for its first use here (under a minute) ...",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, ended: Any) -> None:
        """Say nothing more."""


event.register("numba:compile", _Announcement())


def jit(function: F) -> F:
    """Compile `function` on first use, without the GIL, cached on disk.

    Arithmetic wraps as in C and there are no bounds checks, unless `NUMBA_BOUNDSCHECK=1` is set
    (the rule tests run once that way).
    """
    return _compiled(function, inline=False)


def inlined(function: F) -> F:
    """Do what `jit` does, and put the code of `function` in the place of every call.

    Rules and scratch are tuples of more than a hundred words, which a call copies to the stack
    one by one. Meant for functions that take both and have few callers.
    """
    return _compiled(function, inline=True)


def _compiled(function: F, inline: bool) -> F:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        # Kernels allocate nothing, so reference counting (`_nrt`) would only cost: 1.8 times the
        # time of play generation.
        decorate = numba.njit(
            cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=inline
        )
        compiled = decorate(function)
    finally:
        numba.config.CACHE_DIR = before
    _store_if_possible(compiled)
    result: F = compiled
    return result


def _store_if_possible(compiled: Any) -> None:
    """Let a function run whose machine code cannot be written to the cache.

    A disk may be full; and numba, with several threads at their first calls, has once said "no
    compiled object yet" of code that was compiled. Either would end a run of hours.
    """
    on_disk = getattr(compiled, "_cache", None)
    if on_disk is None:
        return  # NUMBA_DISABLE_JIT=1: nothing is compiled
    store = on_disk.save_overload

    def store_or_leave(signature: Any, code: Any) -> None:
        try:
            store(signature, code)
        except (OSError, RuntimeError) as error:
            _say_once(f"compiled code cannot be kept in {CACHE_FOLDER}: {error}")

    on_disk.save_overload = store_or_leave


@cache
def _say_once(text: str) -> None:
    print(f"nardy: {text}", file=sys.stderr, flush=True)
