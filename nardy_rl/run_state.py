"""Everything that a stopped run needs to go on exactly where its last checkpoint stood; layer 3.

One safetensors file holds arrays (weights, optimiser, replay, games in progress) and, in its
header, the numbers of the run; one file cannot mix generations (T43), it is replaced atomically
(T45), and a digest over everything tells whether a byte has changed since. Random choices are
pure functions of seed and round, so no generator state exists that could be lost (T41, T42).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as bytes_from_tensors

from nardy_engine.errors import CheckpointError
from nardy_rl.files import write_atomic

STATE_NAME = "resume.safetensors"
"""File name of the state inside a run's folder."""

FORMAT = 1
_MAGIC = "nardy-run"


def save_state(path: Path, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the state of a run; a kill at any moment leaves the previous or the new one.

    Args:
        path: The file.
        numbers: Counters and the configuration, as JSON values.
        arrays: Everything else.

    Raises:
        OutputError: The file cannot be written; the previous one is untouched.
    """
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, **numbers})
    metadata = {"kind": _MAGIC, "run": text, "sha256": _digest(text, contiguous)}
    write_atomic(path, bytes_from_tensors(contiguous, metadata=metadata))


def load_state(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the numbers and arrays that `save_state` wrote.

    Raises:
        CheckpointError: The file is missing, damaged, or not the state of a run.
    """
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"cannot resume from {path}: {error}") from None
    if metadata.get("kind") != _MAGIC:
        raise CheckpointError(f"{path} is not the state of a training run")
    text = metadata.get("run", "")
    if metadata.get("sha256") != _digest(text, arrays):
        raise CheckpointError(f"cannot resume from {path}: it is not what the run saved")
    numbers = json.loads(text)
    if numbers.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} has format {numbers.get('format')}; this version of nardy resumes {FORMAT}"
        )
    return dict(numbers), arrays


def _digest(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the numbers and of names, types, shapes and bytes of the arrays."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
