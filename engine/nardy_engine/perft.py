"""Perft: counting the results of whole rolls to a depth, to compare engines and whole rule sets.

One ply is one whole roll, all its segments included, whoever plays them: the sum over all
unordered rolls of the number of distinct results, a forced pass counting as one. Results are
distinct if a checker, what the game remembers, or who acts next differs; finished games with the
same winner and points are one (T-10). The next ply belongs to the side that acts next, which is
the same one after an extra roll; a finished game has no results. No pre-roll move is made
(EMI-11). *Weighted* counts each roll of two different numbers twice, as two dice show it.

The same counting runs over either engine, so it tests what lists the plays of a segment and says
what follows it. Layer 5; imports the engines lazily.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules.memory import memory_index
from nardy_engine.rules.variant import Variant
from nardy_engine.types import MOVER, Board, Dice, Position

Expand = Callable[[Variant, Board, NDArray[np.int8]], tuple[Board, NDArray[np.int64]]]
"""`(variant, [B, 2, P] boards, [B, 2] dice) -> ([A, 2, P] afterstates, [B + 1] offsets)`."""

ENGINES = ("reference", "kernels")
_CHUNK = 4096
"""Positions expanded at once; bounds the memory of a deep count."""


class RollResults(NamedTuple):
    """The distinct results of one roll from many positions; `N` of them in all."""

    origins: NDArray[np.int64]
    """`[N]` index of the position that the result comes from, ascending."""
    boards: Board
    """`[N, 2, P]` positions before the next roll, the side that acts next in row 0."""
    same: NDArray[np.bool_]
    """`[N]` whether that is the side that rolled."""
    outcomes: NDArray[np.int8]
    """`[N]` the outcome index seen from the side that rolled, -1 = the game goes on."""


def expander(engine: str) -> Expand:
    """Return the function of `engine` that lists the afterstates of one decision of a batch.

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
        boards: `[B, 2, P]` positions, side to act in row 0.
        dice: `[B, 2]` rolls; ignored where the position owes dice.

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


def _follow(
    variant: Variant, after: Board, engine: str
) -> tuple[Board, NDArray[np.bool_], NDArray[np.int8]]:
    """Return what comes after `[A, 2, P]` afterstates.

    Returns:
        `[A, 2, P]` positions with the side that acts next in row 0, `[A]` whether it is the one
        that acted, and `[A]` the outcome index seen from the one that acted, -1 = not over.
    """
    if engine == "kernels":
        from nardy_engine import batch

        states, same = batch.next_states(variant, after)
        return states, same, batch.outcomes(variant, after)
    from nardy_engine import reference

    ends = [Position.from_board(board) for board in after]
    following = [reference.next_position(variant, end) for end in ends]
    states = np.array([state for state, _ in following], dtype=np.int8)
    codes = [_outcome_index(variant, end) for end in ends]
    return (
        states.reshape(after.shape),
        np.array([same for _, same in following], dtype=np.bool_),
        np.array(codes, dtype=np.int8),
    )


def _outcome_index(variant: Variant, end: Position) -> int:
    from nardy_engine import reference

    outcome = reference.outcome(variant, end)
    if outcome is None:
        return -1
    kinds = len(variant.win_kinds)
    if outcome.draw:
        return 2 * kinds
    return outcome.kind if outcome.won else kinds + outcome.kind


def _seen_by_other(variant: Variant, codes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return outcome indices seen from the other side."""
    kinds = len(variant.win_kinds)
    other = [*range(kinds, 2 * kinds), *range(kinds), 2 * kinds]
    turned: NDArray[np.int8] = np.array(other, dtype=np.int8)[codes]
    return np.where(codes < 0, codes, turned)


def roll_results(
    variant: Variant, boards: Board, dice: Dice, engine: str = "reference"
) -> RollResults:
    """List the distinct results of one whole roll from each of many positions.

    Args:
        variant: The game.
        boards: `[B, 2, P]` positions before a roll, the side that rolls in row 0.
        dice: The roll, the same for all.
        engine: `reference` or `kernels`.

    Raises:
        ValueError: There is no such engine.
    """
    expand = expander(engine)
    memory = memory_index(variant)
    states = boards.copy()
    if "preroll" in memory:
        states[:, MOVER, memory["preroll"]] = 0
    owed = [slot for name, slot in memory.items() if name.startswith("owed_")]
    origins = np.arange(len(states), dtype=np.int64)
    by_roller = np.ones(len(states), dtype=np.bool_)
    done: list[RollResults] = []
    while len(states) or not done:
        after, offsets = expand(variant, states, np.full((len(states), 2), dice, dtype=np.int8))
        counts = np.diff(offsets)
        origins, acted = np.repeat(origins, counts), np.repeat(by_roller, counts)
        states, same, codes = _follow(variant, after, engine)
        codes = np.where(acted, codes, _seen_by_other(variant, codes))
        found = RollResults(origins, states, same == acted, codes)
        running = (codes < 0) & states[:, MOVER, owed].any(axis=1)
        done.append(_distinct(found, ~running))
        origins, states, by_roller, _ = _distinct(found, running)
    results = RollResults(
        np.concatenate([part.origins for part in done]),
        np.concatenate([part.boards for part in done]),
        np.concatenate([part.same for part in done]),
        np.concatenate([part.outcomes for part in done]),
    )
    return _distinct(results, np.ones(len(results.origins), dtype=np.bool_))


def _distinct(results: RollResults, chosen: NDArray[np.bool_]) -> RollResults:
    """Return those of the chosen results that differ, by origin; finished games by outcome."""
    origins, boards = results.origins[chosen], results.boards[chosen]
    same, codes = results.same[chosen], results.outcomes[chosen]
    over = codes >= 0
    counted, same[over] = boards.copy(), False
    counted[over] = 0  # T-10: where the checkers stand does not matter any more
    keys = np.concatenate(
        [
            origins.astype(">i8").view(np.int8).reshape(-1, origins.itemsize),
            counted.reshape(-1, counted.shape[1] * counted.shape[2]),
            same[:, None].view(np.int8),
            codes[:, None],
        ],
        axis=1,
    )
    _, first = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True)
    return RollResults(origins[first], boards[first], same[first], codes[first])


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
        results = roll_results(variant, boards[first : first + _CHUNK], roll, engine)
        if depth == 1:
            total += len(results.origins)
            continue
        running = results.boards[results.outcomes < 0]
        for reply in rolls(variant):
            count = _after_roll(variant, running, reply, depth - 1, engine, weighted)
            total += _weight(reply, weighted) * count
    return total
