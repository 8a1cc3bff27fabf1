"""The results of whole rolls for many positions at once: segments until nothing is owed (T-9).

The same as `nardy_engine.reference.whole_roll`, on top of the array API.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.errors import CapacityError
from nardy_engine.rules.memory import has_segments, memory_index
from nardy_engine.types import MOVER, Board

MOST_POSITIONS = 300_000
"""Ways through the segments of one roll that are followed at a time; more is an error. From the
start position of giul the roll 1-1 has 57,150 results, but other positions have millions."""


class WholeRolls(NamedTuple):
    """Ragged results: those of position `b` are rows `offsets[b]..offsets[b + 1]`."""

    boards: Board
    """`[A, 2, P] int8` before the next roll, the side that rolled in row 0."""
    outcomes: NDArray[np.int8]
    """`[A]` outcome index seen from row 0, -1 where the game goes on."""
    extra: NDArray[np.bool_]
    """`[A]` whether row 0 rolls again (GUL-4); else the other side rolls."""
    offsets: NDArray[np.int64]
    """`[B + 1]` first row of each position."""


class _Found(NamedTuple):
    """Results that some segments ended in."""

    case: NDArray[np.int64]
    boards: Board
    outcomes: NDArray[np.int8]
    extra: NDArray[np.bool_]


def whole_rolls(variant: Variant, boards: Board, dice: NDArray[np.int8]) -> WholeRolls:
    """Return every distinct result of each roll.

    Two finished games of one position with the same winner and points are one result (T-10).

    Args:
        variant: The game.
        boards: `[B, 2, P] int8` positions, the side to act in row 0: before a roll, or between two
            of its segments.
        dice: `[B, 2] int8` rolls; not looked at where dice are owed.

    Raises:
        CapacityError: A roll leads through more than `MOST_POSITIONS` positions.
    """
    if not variant.memory:  # a roll is one segment, and its plays are distinct already
        after = batch.afterstates(variant, boards, dice)
        none = np.zeros(len(after.boards), np.bool_)
        return WholeRolls(after.boards, batch.outcomes(variant, after.boards), none, after.offsets)
    case = np.arange(len(boards))
    roller = _rollers(variant, boards)
    found: list[_Found] = []
    while len(case):
        after = batch.afterstates(variant, boards, dice[case])
        case, roller = np.repeat(case, after.counts()), np.repeat(roller, after.counts())
        if len(case) > MOST_POSITIONS and np.bincount(case).max() > MOST_POSITIONS:
            raise CapacityError(
                f"a roll of {variant.id} has more than {MOST_POSITIONS:,} ways through its "
                "segments; list it segment by segment, without --whole-roll"
            )
        outcomes = batch.outcomes(variant, after.boards)
        following, same = batch.next_states(variant, after.boards)
        # Row 0 of `after` is the side that acted; `roller` says whether that is the roller.
        acts_next = np.where(same, roller, ~roller)
        done = (outcomes >= 0) | ~_owing(variant, following)
        seen = np.where(acts_next[:, None, None], following, following[:, ::-1])
        ended = np.where(roller, outcomes, _turned(variant, outcomes))
        found.append(
            _Found(case[done], seen[done], ended[done], (acts_next & (outcomes < 0))[done])
        )
        case, boards, roller = _distinct(case[~done], following[~done], acts_next[~done])
    return _collected(variant, found, len(dice))


def _rollers(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[B]` whether row 0 threw the dice that are played."""
    if not has_segments(variant):
        return np.ones(len(boards), np.bool_)
    slot = memory_index(variant)["roller"]
    thrown = boards[:, MOVER, slot] == 1
    return np.asarray(thrown | ~_owing(variant, boards), np.bool_)


def _owing(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[B]` whether row 0 has dice to play before anybody rolls."""
    if not has_segments(variant):
        return np.zeros(len(boards), np.bool_)
    first = memory_index(variant)["owed_1"]
    owed = boards[:, MOVER, first : first + variant.dice.sides]
    return np.asarray(owed.any(axis=1), np.bool_)


def _turned(variant: Variant, outcomes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return outcome indices seen from the other row."""
    half = len(variant.win_kinds)
    turned = np.where(outcomes < half, outcomes + half, outcomes - half)
    return np.where((outcomes < 0) | (outcomes == 2 * half), outcomes, turned).astype(np.int8)


def _distinct(
    case: NDArray[np.int64], boards: Board, roller: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], Board, NDArray[np.bool_]]:
    """Drop repeated states of one case: what follows them is the same."""
    if not len(case):
        return case, boards, roller
    first = _first_of_each(case, roller, boards)
    return case[first], np.ascontiguousarray(boards[first]), roller[first]


def _first_of_each(*columns: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the index of the first of each set of equal rows, the columns taken together."""
    parts = [np.ascontiguousarray(column) for column in columns]
    raw = np.concatenate([part.view(np.uint8).reshape(len(part), -1) for part in parts], axis=1)
    keys = np.ascontiguousarray(raw).view(np.dtype((np.void, raw.shape[1]))).ravel()
    _, first = np.unique(keys, return_index=True)
    return np.asarray(first, np.int64)


def _collected(variant: Variant, found: list[_Found], n_cases: int) -> WholeRolls:
    """Put the results together, ordered by case, each once."""
    case, boards, outcomes, extra = (np.concatenate(part) for part in zip(*found, strict=True))
    # Finished games are equal if the outcome is: their boards do not count (T-10).
    unfinished = np.where((outcomes >= 0)[:, None, None], np.int8(0), boards)
    first = _first_of_each(case, outcomes, extra, unfinished)
    first = first[np.argsort(case[first], kind="stable")]
    counts = np.bincount(case[first], minlength=n_cases)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return WholeRolls(boards[first], outcomes[first], extra[first], offsets)
