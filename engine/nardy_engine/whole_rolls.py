"""Whole rolls of many positions: all segments of a roll, whichever side plays them (T-9).

Runs over either engine: what lists the plays of one decision, and says what follows it, is given.
`reference.whole_roll` is the specification for one position. Layer 5; imports the engines lazily.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.errors import CapacityError
from nardy_engine.outcomes import flip_index, outcome_index
from nardy_engine.rules.memory import memory_index
from nardy_engine.rules.variant import Variant
from nardy_engine.types import MOVER, Board, Position

Expand = Callable[[Variant, Board, NDArray[np.int8]], tuple[Board, NDArray[np.int64]]]
"""`(variant, [B, 2, P] boards, [B, 2] dice) -> ([A, 2, P] afterstates, [B + 1] offsets)`."""

ENGINES = ("reference", "kernels")

MOST_WAYS = 300_000
"""Ways through the segments of a roll that programs should follow. From the start position of giul
the roll 1-1 has 57,150 results, but other positions have millions, and gigabytes with them."""


class RollResults(NamedTuple):
    """The distinct results of one roll from each of many positions; `N` of them in all."""

    origins: NDArray[np.int64]
    """`[N]` index of the position that the result comes from, ascending."""
    boards: Board
    """`[N, 2, P]` positions before the next roll, the side that rolled in row 0."""
    extra: NDArray[np.bool_]
    """`[N]` whether that side rolls again (GUL-4); else, and if the game is over, False."""
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
    codes = [outcome_index(variant, reference.outcome(variant, end)) for end in ends]
    return (
        states.reshape(after.shape),
        np.array([same for _, same in following], dtype=np.bool_),
        np.array(codes, dtype=np.int8),
    )


def whole_rolls(
    variant: Variant,
    boards: Board,
    dice: NDArray[np.int8],
    engine: str = "kernels",
    most: int | None = None,
) -> RollResults:
    """List the distinct results of one whole roll from each of many positions.

    Two finished games of one position with the same winner and points are one result (T-10). No
    pre-roll move is made (EMI-11).

    Args:
        variant: The game.
        boards: `[B, 2, P]` positions, the side to act in row 0: before a roll, or between two of
            its segments.
        dice: `[B, 2]` rolls; not looked at where dice are owed.
        engine: `reference` or `kernels`.
        most: Bound of the ways through the segments that are followed at a time, None = no bound.

    Raises:
        CapacityError: There are more ways than `most`.
        ValueError: There is no such engine.
    """
    expand = expander(engine)
    states = boards.copy()
    memory = memory_index(variant)
    if "preroll" in memory:
        states[:, MOVER, memory["preroll"]] = 0
    by_roller = np.ones(len(states), dtype=np.bool_)
    if "roller" in memory:
        by_roller = ~_owing(variant, states) | (states[:, MOVER, memory["roller"]] == 1)
    origins = np.arange(len(states), dtype=np.int64)
    done: list[RollResults] = []
    while len(states) or not done:
        after, offsets = expand(variant, states, dice[origins])
        counts = np.diff(offsets)
        if most is not None and len(after) > most:
            raise CapacityError(
                f"a roll of {variant.id} has more than {most:,} ways through its segments; "
                "list it segment by segment"
            )
        origins, acted = np.repeat(origins, counts), np.repeat(by_roller, counts)
        states, same, codes = _follow(variant, after, engine)
        codes = np.where(acted, codes, flip_index(codes, variant.n_outcomes))
        by_roller = same == acted
        running = (codes < 0) & _owing(variant, states)
        if not variant.memory:  # a roll is one segment, and its plays are distinct already
            none = np.zeros(len(origins), dtype=np.bool_)
            return RollResults(origins, np.ascontiguousarray(states[:, ::-1]), none, codes)
        seen = np.where(by_roller[:, None, None], states, states[:, ::-1])
        done.append(_distinct(RollResults(origins, seen, by_roller, codes), ~running))
        origins, states, by_roller, _ = _distinct(
            RollResults(origins, states, by_roller, codes), running
        )
    if len(done) == 1:
        return done[0]
    parts = (np.concatenate(part) for part in zip(*done, strict=True))
    results = RollResults(*parts)
    return _distinct(results, np.ones(len(results.origins), dtype=np.bool_))


def _owing(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[B]` whether row 0 has dice to play before anybody rolls."""
    first = memory_index(variant).get("owed_1")
    if first is None:
        return np.zeros(len(boards), np.bool_)
    owed = boards[:, MOVER, first : first + variant.dice.sides]
    return np.asarray(owed.any(axis=1), np.bool_)


def _distinct(results: RollResults, chosen: NDArray[np.bool_]) -> RollResults:
    """Return those of the chosen results that differ, by origin; finished games by outcome."""
    origins, boards = results.origins[chosen], results.boards[chosen]
    extra, codes = results.extra[chosen], results.outcomes[chosen]
    over = codes >= 0
    counted, extra[over] = boards.copy(), False
    counted[over] = 0  # T-10: where the checkers stand does not matter any more
    keys = np.concatenate(
        [
            origins.astype(">i8").view(np.int8).reshape(-1, origins.itemsize),
            counted.reshape(-1, counted.shape[1] * counted.shape[2]),
            extra[:, None].view(np.int8),
            codes[:, None],
        ],
        axis=1,
    )
    _, first = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True)
    return RollResults(origins[first], boards[first], extra[first], codes[first])
