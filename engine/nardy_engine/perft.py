"""Perft: counting the results of whole rolls to a depth, to compare engines and whole rule sets.

One ply is one whole roll, all its segments included, whoever plays them: the sum over all
unordered rolls of the number of distinct results, a forced pass counting as one. Results are
distinct if a checker, what the game remembers, or who acts next differs; finished games with the
same winner and points are one (T-10). The next ply belongs to the side that acts next, which is
the same one after an extra roll; a finished game has no results. No pre-roll move is made
(EMI-11). *Weighted* counts each roll of two different numbers twice, as two dice show it.

The same counting runs over either engine, so it tests what lists the plays of a segment and says
what follows it. Layer 6.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board, Dice, Position
from nardy_engine.whole_rolls import whole_rolls

_CHUNK = 4096
"""Positions expanded at once; bounds the memory of a deep count."""


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
    return {
        roll: _weight(roll, weighted) * _after_roll(variant, root, roll, depth, engine, weighted)
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
    variant: Variant, boards: Board, roll: Dice, depth: int, engine: str, weighted: bool
) -> int:
    """Count what `boards` (`[B, 2, P]`) lead to in `depth` plies, the first of them `roll`."""
    total = 0
    for first in range(0, len(boards), _CHUNK):
        chunk = boards[first : first + _CHUNK]
        dice = np.full((len(chunk), 2), roll, dtype=np.int8)
        results = whole_rolls(variant, chunk, dice, engine)
        if depth == 1:
            total += len(results.origins)
            continue
        goes_on = results.outcomes < 0
        ended, same = results.boards[goes_on], results.extra[goes_on]
        running = np.where(same[:, None, None], ended, ended[:, ::-1])
        for reply in rolls(variant):
            count = _after_roll(variant, running, reply, depth - 1, engine, weighted)
            total += _weight(reply, weighted) * count
    return total
