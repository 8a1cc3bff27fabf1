"""Arrays from outside, checked before compiled code reads them; layer 2."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules.memory import slot_limits
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board


def as_int8(name: str, values: Any) -> NDArray[np.int8]:
    """Return `values` as contiguous int8; a number that would be cut or wrapped is a ValueError."""
    array = np.asarray(values)
    if array.dtype != np.int8 and array.size:
        limits = np.iinfo(np.int8)
        whole = array.dtype.kind in "iu"
        if not whole or array.min() < limits.min or array.max() > limits.max:
            raise ValueError(f"{name} must be whole numbers from {limits.min} to {limits.max}")
    return np.ascontiguousarray(array, dtype=np.int8)


def as_boards(variant: Variant, boards: Any) -> Board:
    """Return `boards` as contiguous `[B, 2, P] int8`, or raise ValueError.

    Compiled code trusts what it reads: whatever passes here stays within its memory.
    """
    array = as_int8("boards", boards)
    if array.ndim != 3 or array.shape[1:] != (2, variant.n_slots):
        raise ValueError(f"boards must be [B, 2, {variant.n_slots}], not {list(array.shape)}")
    limits = _limits(variant)
    if array.size and (array.min() < 0 or (array > limits).any()):
        row, side, slot = np.argwhere((array < 0) | (array > limits))[0].tolist()
        raise ValueError(
            f"boards[{row}, {side}, {slot}] is {array[row, side, slot]}; "
            f"{variant.id} has 0 to {limits[slot]} there"
        )
    return array


@cache
def _limits(variant: Variant) -> NDArray[np.int8]:
    return np.array(slot_limits(variant), np.int8)
