"""Plays of many decisions in flat arrays: merged where they are equal, cut to the best few."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.kernels import values as kernel
from nardy_engine.types import Board
from nardy_rl.evaluator import Values
from nardy_rl.evaluator import joined as joined_values


class Decisions(NamedTuple):
    """Plays of many decisions with their static values."""

    boards: Board
    """`[M, 2, P] int8` afterstates, mover in row 0."""
    plays: NDArray[np.int64]
    """`[A]` the rows of `boards` that the plays are."""
    offsets: NDArray[np.int64]
    """`[B + 1]` first play of each decision."""
    values: Values
    """Of `boards`."""


def joined(parts: list[Decisions]) -> Decisions:
    """Return the decisions of several lists as one."""
    if len(parts) == 1:
        return parts[0]
    rows = np.cumsum([0, *(len(part.boards) for part in parts)])
    plays = np.cumsum([0, *(len(part.plays) for part in parts)])
    return Decisions(
        np.concatenate([part.boards for part in parts]),
        np.concatenate([part.plays + row for part, row in zip(parts, rows[:-1], strict=True)]),
        np.concatenate(
            [part.offsets[:-1] + play for part, play in zip(parts, plays[:-1], strict=True)]
            + [plays[-1:]]
        ),
        joined_values([part.values for part in parts]),
    )


class Plays(NamedTuple):
    """Distinct afterstates of many positions, and the decisions that lead to them."""

    after: batch.Afterstates
    """Those of each position."""
    rows: NDArray[np.int64]
    """`[A]` the rows of `after` that the plays are."""
    offsets: NDArray[np.int64]
    """`[G + 1]` first play of each decision."""

    def only(self, kept: NDArray[np.bool_]) -> Plays:
        """Leave out the afterstates that are not in the mask `kept`."""
        before = np.concatenate(([0], np.cumsum(kept)))
        played = kept[self.rows]
        return Plays(
            batch.Afterstates(self.after.boards[kept], before[self.after.offsets]),
            before[self.rows[played]],
            np.concatenate(([0], np.cumsum(played)))[self.offsets],
        )


def distinct(plays: Plays) -> tuple[Plays, NDArray[np.int64]]:
    """Merge the equal afterstates of each position, and say where each is; `plays` is consumed."""
    boards, offsets = plays.after
    longest = int(np.diff(offsets).max(initial=0))
    table = np.full(1 << max(4, (2 * longest).bit_length()), -1, np.int64)
    places = np.empty(len(boards), np.int64)
    merged = np.empty(len(offsets), np.int64)
    words = boards.reshape(len(boards), 2 * boards.shape[2]).view(np.uint16)
    n = kernel.merge_equal(words, np.ascontiguousarray(offsets), table, places, merged)
    after = batch.Afterstates(boards[:n], merged)
    return Plays(after, places[plays.rows], plays.offsets), places


def distinct_boards(boards: Board) -> tuple[Board, NDArray[np.int64]]:
    """Return the distinct boards and the place of each board among them."""
    offsets = np.array([0, len(boards)], np.int64)
    none: NDArray[np.int64] = np.empty(0, np.int64)
    plays, places = distinct(Plays(batch.Afterstates(boards.copy(), offsets), none, offsets))
    return plays.after.boards, places


def best_few(
    rows: NDArray[np.int64],
    group: NDArray[np.int64],
    equity: NDArray[np.floating[Any]],
    keep: int,
) -> NDArray[np.int64]:
    """Return those of `rows` that are among the `keep` best of their group.

    group, equity: of all rows, groups in order. Equal values stay in the order of the rows, which
    is the engine's and not the batch's.
    """
    order = rows[np.lexsort((rows, -equity[rows], group[rows]))]
    place = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return np.asarray(order[place < keep])
