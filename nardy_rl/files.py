"""Writing files and folders so that a reader never finds half of one.

Everything is written beside its target and renamed over it; files are flushed to the disk before,
so that even a power cut leaves the old or the new one (T45). A failed write leaves the previous
content as it was and raises an `OutputError`, a sentence for the user. What a killed process left
half-written is cleared away by the next write to the same target.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from nardy_engine.errors import NardyError

_STREAM = re.compile(r"/dev/(stdout|stderr|fd/)|/proc/[^/]+/fd/")


class OutputError(NardyError):
    """A file or folder cannot be written; what was there before is untouched."""


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` to `path`: a kill at any moment leaves the previous or the new file.

    Args:
        path: The file; its folder is created if it is missing. A link is followed. A device or a
            pipe, such as /dev/stdout, is written to, never replaced.
        data: The whole content.

    Raises:
        OutputError: The disk is full, the folder cannot be written, ...
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    temporary = _beside(target, "tmp")
    try:
        if _STREAM.match(str(path)):
            with open(path, "ab") as stream:  # a file may lie behind it that others write, too
                stream.write(data)
            return
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(target)
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}") from None


def check_target(path: Path) -> None:
    """Refuse a place where `write_atomic` could not write, before hours are spent on the content.

    Args:
        path: The file; nothing is created.

    Raises:
        OutputError: It is a folder, or lies where no file can be made.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir():
        raise OutputError(f"cannot write {path}: {folder} is not a folder")
    if not os.access(target if target.exists() and not target.is_file() else folder, os.W_OK):
        raise OutputError(f"cannot write {path}: permission denied")


@contextmanager
def new_folder(path: Path, ours: Collection[str], signs: Collection[str]) -> Iterator[Path]:
    """Yield an empty folder to fill; it takes the place of `path` when the block succeeds.

    Readers find the old or the new folder, or for an instant none: folders cannot be exchanged in
    one step everywhere. A folder that exists is replaced only if it is empty or an earlier call
    wrote all of it: nobody loses anything to a mistyped path, or what lies beside our files.

    Args:
        path: The folder to create or replace; a link is followed.
        ours: Names of all files that the block writes, or wrote in earlier versions.
        signs: Those of them that a folder of ours has at least.

    Raises:
        OutputError: The path is taken by something else or cannot be written.
    """
    path = Path(os.path.realpath(path))  # `.` has no name that a neighbour could have
    _check_replaceable(path, ours, signs)
    temporary = _beside(path, "tmp")
    try:
        _clear_leftovers(path)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            _exchange(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}") from None


_numbers = itertools.count()


def _beside(path: Path, kind: str) -> Path:
    """Return a hidden neighbour of `path` that no other process or thread writes into."""
    return path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.{kind}")


def _clear_leftovers(path: Path) -> None:
    """Remove the neighbours of `path` whose process was killed before it could.

    An old folder set aside stays as long as nothing has taken its place.
    """
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d+)(?:-\d+)?\.(tmp|old)")
    for entry in path.parent.glob(f".{glob.escape(path.name)}.*.*"):
        match = pattern.fullmatch(entry.name)
        if match is None or _runs(int(match[1])) or (match[2] == "old" and not path.exists()):
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Return whether a process with this id runs on this machine, this one included."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _check_replaceable(path: Path, ours: Collection[str], signs: Collection[str]) -> None:
    if not path.exists():
        return
    found = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    if not path.is_dir() or (found and not found >= set(signs)):
        raise OutputError(
            f"{path} exists and is not a folder written by this command; choose another one"
        )
    if strange := sorted(found - set(ours)):
        raise OutputError(
            f"{path} holds '{strange[0]}', which this command did not write and would delete; "
            "move it away, or choose another folder"
        )


def _exchange(temporary: Path, path: Path) -> None:
    """Rename `temporary` to `path`, whose old content is set aside first and then removed."""
    if not path.exists():
        os.rename(temporary, path)
        return
    aside = _beside(path, "old")
    os.rename(path, aside)
    try:
        os.rename(temporary, path)
    except OSError:
        os.rename(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """Flush a rename to the disk; systems without folder handles skip it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
