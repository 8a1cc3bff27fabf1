"""Which hidden layers a network can grow to; layer 0 of nardy_rl."""

from __future__ import annotations

from collections.abc import Sequence


def can_grow(had: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether hidden layers `had` fit into `wanted`, the function unchanged.

    No layer may become narrower; a new one, behind the old ones, passes on all that the last of
    those knew, so it must be at least as wide.

    >>> can_grow([256, 128], [512, 256, 256]), can_grow([256, 128], [512, 64])
    (True, False)
    """
    return (
        len(had) <= len(wanted)
        and all(a <= b for a, b in zip(had, wanted, strict=False))
        and all(size >= had[-1] for size in wanted[len(had) :])
    )
