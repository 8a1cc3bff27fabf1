"""Legal afterstates and results of arrays of positions; layer 4, on top of the kernels."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.boards import as_boards, as_int8
from nardy_engine.errors import CapacityError
from nardy_engine.kernels.emir import fill_emir_afterstates, new_emir_scratch
from nardy_engine.kernels.plays import new_scratch
from nardy_engine.kernels.scoring import fill_next_states, fill_outcomes, fill_possibles
from nardy_engine.kernels.segments import fill_afterstates, fill_ordinary
from nardy_engine.rules.table import HEIR_POOL, TELEPORT_OFF, RuleTable, rule_table
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board

_local = threading.local()


class Afterstates(NamedTuple):
    """Ragged legal plays: those of game `b` are rows `offsets[b]..offsets[b + 1]`."""

    boards: Board
    """`[A, 2, P] int8`, the side that played still in row 0."""
    offsets: NDArray[np.int64]
    """`[B + 1]` first row of each game."""

    def counts(self) -> NDArray[np.int64]:
        """Return `[B]` the number of legal plays of each game."""
        return np.diff(self.offsets)

    def of(self, game: int) -> Board:
        """Return `[n, 2, P]` the afterstates of one game, a view."""
        return self.boards[self.offsets[game] : self.offsets[game + 1]]


@cache
def _pool_size(rules: RuleTable) -> int:
    # C(18, 4) = 3,060 ends bound four equal dice on 15 occupied points; all levels together and
    # six equal dice stay below 2^17. A pool of many different dice has no such bound: more is an
    # error, never a shorter list.
    if rules.heir == HEIR_POOL:
        return 1 << 20
    return 1 << 17 if rules.n_times_m or rules.double_steps > 4 else 1 << 15


def work_for(variant: Variant) -> Any:
    """Return this thread's working memory for the kernels, as `fill_plays` takes it."""
    held: dict[Any, Any] = _local.__dict__.setdefault("work", {})
    rules = rule_table(variant)
    key = (variant.n_counts, variant.n_slots, _pool_size(rules), rules.emir)
    if key not in held:
        held[key] = (
            new_emir_scratch(variant.n_slots, _pool_size(rules))
            if rules.emir
            else new_scratch(variant.n_counts, variant.n_slots, _pool_size(rules))
        )
    return held[key]


def fill_plays(
    variant: Variant,
    boards: Board,
    dice: NDArray[np.int8],
    first: int,
    out: Board,
    offsets: NDArray[np.int64],
) -> int:
    """List the plays of games `first..B` into `out`; see `kernels.segments.fill_afterstates`.

    Returns:
        The number of games listed when `out` was full, `B` if all.

    Raises:
        CapacityError: A position has more plays than the working memory holds.
    """
    rules = rule_table(variant)
    fill: Any  # compiled, untyped
    if rules.emir:
        fill = fill_emir_afterstates
    elif variant.memory or rules.teleport != TELEPORT_OFF:
        fill = fill_afterstates
    else:
        fill = fill_ordinary
    done = int(fill(boards, dice, first, rules, work_for(variant), out, offsets))
    if done < 0:
        raise CapacityError(
            f"a play of {variant.id} has more than {_pool_size(rules)} intermediate positions"
        )
    return done


def afterstates(variant: Variant, boards: Any, dice: Any) -> Afterstates:
    """List every distinct legal afterstate of each position and roll (T-13).

    In games with several decisions per turn this is one of them: where the side to act owes dice
    or may make a pre-roll move, the position says what is played and its roll is ignored. What
    follows an afterstate stands in its memory slots; `next_states` reads them.

    Args:
        variant: The game.
        boards: `[B, 2, P] int8` positions before the play, mover in row 0. No slot holds more
            than the game allows; the rest is not looked at, see `Variant.check_position`.
        dice: `[B, 2]` rolls, in any order.

    Returns:
        The plays of every game. A forced pass is one unchanged board (T-8), at a standstill too; a
        game that a side has finished has none; of several plays that end the game one is listed
        (T-10).

    Raises:
        CapacityError: A position has more plays than the working memory holds.
    """
    boards = as_boards(variant, boards)
    rolls = as_int8("dice", dice)
    if rolls.shape != (boards.shape[0], 2):
        raise ValueError(f"dice must be [{boards.shape[0]}, 2], not {list(rolls.shape)}")
    if rolls.size and not (rolls.min() >= 1 and rolls.max() <= variant.dice.sides):
        raise ValueError(f"dice must be from 1 to {variant.dice.sides}")
    n_games = boards.shape[0]
    out = np.empty((max(64, 24 * n_games), 2, variant.n_slots), np.int8)
    offsets = np.zeros(n_games + 1, np.int64)
    done = 0
    while True:
        done = fill_plays(variant, boards, rolls, done, out, offsets)
        if done == n_games:
            return Afterstates(out[: offsets[-1]], offsets)
        grown = np.empty((2 * out.shape[0], *out.shape[1:]), np.int8)
        grown[: offsets[done]] = out[: offsets[done]]
        out = grown


def outcomes(variant: Variant, boards: Any) -> NDArray[np.int8]:
    """Return `[N]` the outcome index of each `[N, 2, P]` board seen from row 0, -1 = not over."""
    boards = as_boards(variant, boards)
    out = np.empty(boards.shape[0], np.int8)
    fill_outcomes(boards, rule_table(variant), out)
    return out


def outcome_mask(variant: Variant, boards: Any) -> NDArray[np.bool_]:
    """Return `[N, O]` which outcomes can still occur, seen from row 0, the side to roll.

    A side with a checker off cannot lose a mars (T30); a koks needs a checker that is still, or
    can come, where it counts.
    """
    boards = as_boards(variant, boards)
    out = np.empty((boards.shape[0], variant.n_outcomes), np.uint8)
    fill_possibles(boards, rule_table(variant), out)
    return out.view(np.bool_)


def next_states(variant: Variant, afterstates: Any) -> tuple[Board, NDArray[np.bool_]]:
    """Return the positions before the next decision that afterstates lead to.

    Args:
        variant: The game.
        afterstates: `[N, 2, P] int8`, the side that acted in row 0; not changed.

    Returns:
        `[N, 2, P]` fresh boards with the side that acts next in row 0, and `[N]` whether that is
        the side that acted before (an own level, a fresh roll). Finished games change sides.
    """
    boards = as_boards(variant, afterstates)
    out, same = np.empty_like(boards), np.empty(len(boards), np.uint8)
    fill_next_states(boards, rule_table(variant), out, same)
    return out, same.view(np.bool_)


def swapped(boards: Board) -> Board:
    """Return a contiguous copy of `[N, 2, P]` boards with the sides exchanged."""
    return np.ascontiguousarray(boards[:, ::-1])
