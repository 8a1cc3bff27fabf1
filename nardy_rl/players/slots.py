"""Evaluators that add one number per slot: a table of what n checkers on a slot are worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine.types import Board

_CHUNK = 4096  # afterstates at a time: the gathered values stay in the cache


def slot_values(
    tables: NDArray[np.float32], boards: Board, which: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the sum over all slots of the table entry for the checkers that stand there.

    Args:
        tables: `[T, 2, P, C + 1] float32` worth of 0..C checkers on each slot of each row.
        boards: `[A, 2, P] int8` counts.
        which: `[A]` index of the table for each board.

    Returns:
        `[A] float64` sums.
    """
    n_tables, _, _, width = tables.shape
    flat = tables.reshape(n_tables, -1).ravel()
    n_cells = boards.shape[1] * boards.shape[2]
    starts = np.arange(n_cells, dtype=np.intp) * width
    result = np.empty(len(boards), dtype=np.float64)
    for begin in range(0, len(boards), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        cells = boards[part].reshape(-1, n_cells) + starts
        cells += (np.asarray(which[part], dtype=np.intp) * (n_cells * width))[:, None]
        result[part] = flat.take(cells).sum(axis=1, dtype=np.float64)
    return result
