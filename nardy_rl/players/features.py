"""Hand-made features of a position for the mover: named numbers that a linear bot weighs.

Every feature looks at afterstates (mover in row 0) and is worded so that it means the same in
every same-direction game; sizes and distances come from the variant. Quarters are runs of
`setup.home` points, counted from the home. "Route" is the opponent's way around the board: index
0 is his head, the last index his ace point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OFF, OPPONENT, Board

Feature: TypeAlias = Callable[[Variant, Board], NDArray[np.floating]]
"""Maps `[A, 2, P] int8` to `[A]`."""

STACK_HEIGHT = 2
"""Checkers on a point above which it counts as a stack."""

SPARE = 2
"""Checkers of a quarter that keep every number playable there."""


def _points(variant: Variant, boards: Board) -> NDArray[np.int8]:
    """Return `[A, n_points]` own checkers; column `p - 1` is own point `p`."""
    return boards[:, MOVER, 1 : variant.bar]


def _share(variant: Variant, counts: NDArray[np.integer]) -> NDArray[np.floating]:
    """Return counts of checkers as a share of all, so that weights fit any number of checkers."""
    return counts / variant.setup.checkers


def spread(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Points held outside the home."""
    return np.count_nonzero(_points(variant, boards)[:, variant.setup.home :], axis=1)


def home_spread(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Points held in the home."""
    return np.count_nonzero(_points(variant, boards)[:, : variant.setup.home], axis=1)


def stack(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Checkers above `STACK_HEIGHT` on points between head and home."""
    between = _points(variant, boards)[:, variant.setup.home : variant.head_point - 1]
    return np.maximum(between - STACK_HEIGHT, 0).sum(axis=1)


def head(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Checkers still on the own head, as a share."""
    return _share(variant, boards[:, MOVER, variant.head_point])


def own_front(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Points held in front of the own head, while checkers stand on it."""
    first = variant.head_point - variant.setup.home
    held = np.count_nonzero(_points(variant, boards)[:, first : variant.head_point - 1], axis=1)
    return held * head(variant, boards)


def their_front(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Points held in front of the opponent's head, weighed by the checkers that stand on it."""
    held = _on_route(variant, boards)[:, 1 : variant.setup.home]
    theirs = _share(variant, boards[:, OPPONENT, variant.head_point])
    return np.count_nonzero(held, axis=1) * theirs


def quarters(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Checkers of each quarter up to `SPARE`, summed over the quarters outside the home."""
    counts = _points(variant, boards).reshape(len(boards), -1, variant.setup.home).sum(axis=2)
    return np.minimum(counts[:, 1:], SPARE).sum(axis=1)


def pips(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Own pips left, as a share of those at the start."""
    slots = np.arange(variant.n_slots)
    start = float(np.dot(variant.start_row(), slots))
    return boards[:, MOVER] @ slots.astype(np.float32) / start


def off(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Own checkers borne off, as a share."""
    return _share(variant, boards[:, MOVER, OFF])


def lag(variant: Variant, boards: Board) -> NDArray[np.floating]:
    """Mean squared distance of the own checkers from the end: the stragglers weigh most."""
    slots = (np.arange(variant.n_slots, dtype=np.float32) / variant.head_point) ** 2
    return _share(variant, boards[:, MOVER] @ slots)


def block(length: int) -> Feature:
    """Return the feature: runs of `length` held points, weighed by the checkers still behind."""

    def blocks(variant: Variant, boards: Board) -> NDArray[np.floating]:
        held = _on_route(variant, boards) > 0
        run = held
        for step in range(1, length):
            run = run[:, :-1] & held[:, step:]
        theirs = boards[:, OPPONENT, variant.head_point : 0 : -1]
        behind = np.cumsum(theirs, axis=1) - theirs  # those who have not reached index i
        return _share(variant, (run * behind[:, : run.shape[1]]).sum(axis=1))

    return blocks


def _on_route(variant: Variant, boards: Board) -> NDArray[np.int8]:
    """Return `[A, n_points]` own checkers in the order in which the opponent meets them."""
    route = [variant.opposite_point(point) for point in range(variant.head_point, 0, -1)]
    return boards[:, MOVER, route]


FEATURES: dict[str, Feature] = {
    "spread": spread,
    "home_spread": home_spread,
    "stack": stack,
    "head": head,
    "own_front": own_front,
    "their_front": their_front,
    "quarters": quarters,
    "pips": pips,
    "off": off,
    "lag": lag,
    "block3": block(3),
    "block4": block(4),
    "block5": block(5),
    "block6": block(6),
}
"""Every feature by the name that weight tables use."""
