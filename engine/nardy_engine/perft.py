"""Perft: counting the results of whole rolls to a depth, to compare engines and whole rule sets.

One ply is one whole roll: the sum over all unordered rolls of the number of distinct results, a
forced pass counting as one. The sides change between plies; a finished game has no results.
*Weighted* counts each roll of two different numbers twice, as two dice show it. Layer 5; imports
either engine, lazily.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board, Dice, Position

Expand = Callable[[Variant, Board, NDArray[np.int8]], tuple[Board, NDArray[np.int64]]]
"""`(variant, [B, 2, P] boards, [B, 2] dice) -> ([A, 2, P] afterstates, [B + 1] offsets)`."""

ENGINES = ("reference", "kernels")
_CHUNK = 4096
"""Positions expanded at once; bounds the memory of a deep count."""


def expander(engine: str) -> Expand:
    """Return the function of `engine` that lists the afterstates of a batch.

    Raises:
        ValueError: There is no such engine.
    """
    if engine == "reference":
        return reference_afterstates
    if engine == "kernels":
        return _kernel_afterstates
    raise ValueError(f"unknown engine '{engine}'; known: {', '.join(ENGINES)}")


def reference_afterstates(
    variant: Variant, boards: Board, dice: NDArray[np.int8]
) -> tuple[Board, NDArray[np.int64]]:
    """List the afterstates of a batch with the reference engine, in the shape of the kernels.

    Args:
        variant: The game.
        boards: `[B, 2, P]` counts, side to act in row 0.
        dice: `[B, 2]` rolls.

    Returns:
        `[A, 2, P]` afterstates, the mover still in row 0, and `[B + 1]` offsets into them.
    """
    from nardy_engine import reference

    ends: list[Position] = []
    offsets = [0]
    for board, (a, b) in zip(boards, dice, strict=True):
        position = Position.from_board(board)
        ends.extend(play.end for play in reference.plays(variant, position, (int(a), int(b))))
        offsets.append(len(ends))
    after = np.array(ends, dtype=np.int8).reshape(-1, 2, variant.n_slots)
    return after, np.array(offsets, dtype=np.int64)


def _kernel_afterstates(
    variant: Variant, boards: Board, dice: NDArray[np.int8]
) -> tuple[Board, NDArray[np.int64]]:
    from nardy_engine import batch

    after = batch.afterstates(variant, boards, dice)
    return after.boards, after.offsets


def rolls(variant: Variant) -> Iterator[Dice]:
    """Yield every unordered roll, smaller number first."""
    for a in range(1, variant.dice.sides + 1):
        for b in range(a, variant.dice.sides + 1):
            yield a, b


def divide(
    variant: Variant,
    depth: int,
    *,
    engine: str = "reference",
    weighted: bool = False,
    position: Position | None = None,
) -> dict[Dice, int]:
    """Count the results to `depth` plies, split by the first roll.

    Args:
        variant: The game.
        depth: Plies, at least 1.
        engine: `reference` or `kernels`.
        weighted: Count each roll of two different numbers twice.
        position: Where to start, side to act in row 0; the start position if None.

    Raises:
        ValueError: There is no such engine, or the depth is less than 1.
    """
    if depth < 1:
        raise ValueError(f"depth is {depth}; it must be at least 1")
    root = (position or variant.start_position()).board()[None]
    expand = expander(engine)
    return {
        roll: _weight(roll, weighted) * _after_roll(variant, root, roll, depth, expand, weighted)
        for roll in rolls(variant)
    }


def perft(
    variant: Variant,
    depth: int,
    engine: str = "reference",
    *,
    weighted: bool = False,
    position: Position | None = None,
) -> int:
    """Count the results to `depth` plies; the total of `divide`.

    >>> from nardy_engine import load_variant
    >>> perft(load_variant("long"), 1), perft(load_variant("short"), 1)
    (22, 447)
    """
    parts = divide(variant, depth, engine=engine, weighted=weighted, position=position)
    return sum(parts.values())


def _weight(roll: Dice, weighted: bool) -> int:
    return 2 if weighted and roll[0] != roll[1] else 1


def _after_roll(
    variant: Variant, boards: Board, roll: Dice, depth: int, expand: Expand, weighted: bool
) -> int:
    """Count what `boards` (`[B, 2, P]`) lead to in `depth` plies, the first of them `roll`."""
    total = 0
    for first in range(0, len(boards), _CHUNK):
        chunk = boards[first : first + _CHUNK]
        after, _ = expand(variant, chunk, np.full((len(chunk), 2), roll, dtype=np.int8))
        if depth == 1:
            total += len(after)
            continue
        turned = np.ascontiguousarray(after[:, ::-1])
        for reply in rolls(variant):
            count = _after_roll(variant, turned, reply, depth - 1, expand, weighted)
            total += _weight(reply, weighted) * count
    return total
