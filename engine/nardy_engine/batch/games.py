"""Many games in lock step, deterministic per game from a seed; layer 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine.batch.plays import Afterstates, afterstates, next_states, outcomes
from nardy_engine.kernels.rng import fill_rolls, fill_uniforms
from nardy_engine.outcomes import flip_index
from nardy_engine.rules.components import Opening
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board

CHOICE_STREAM = 1
"""Random stream for choices; stream 0 is the dice."""


class Games:
    """A batch of games, each with its own dice stream.

    The course of a game depends on `(seed, id)` and the plays chosen, not on the batch it is in.
    Call `roll`, `afterstates`, `play` in turn; `restart` puts new games in the place of
    finished ones.

    Attributes:
        boards: `[B, 2, P] int8` positions, the side to roll (or play) in row 0.
        sides: `[B] int8` who that is: 0 = the player who moved first in this game.
        ids: `[B] int64` game ids.
        turns: `[B] int64` decisions completed: turns, in games with one decision a turn.
        dice: `[B, 2] int8` the current roll.
        over: `[B] int8` -1 = running, else the outcome index seen from the *first player*.
    """

    def __init__(
        self, variant: Variant, n_games: int, seed: int, ids: NDArray[np.int64] | None = None
    ) -> None:
        """Set up `n_games` games at the start position.

        Args:
            variant: The game.
            n_games: Batch size `B`.
            seed: Seed of all dice, from 0 to 2^63 - 1.
            ids: `[B]` game ids, `0..B-1` if not given; games with equal ids have equal dice.
        """
        if n_games < 1 or not 0 <= seed <= np.iinfo(np.int64).max:
            raise ValueError(
                f"need n_games >= 1 and a seed from 0 to 2^63 - 1, not {n_games} and {seed}"
            )
        self.variant = variant
        self.seed = seed
        self._start = variant.start_position().board()
        self.boards: Board = np.empty((n_games, 2, variant.n_slots), np.int8)
        self.sides = np.empty(n_games, np.int8)
        self.ids = np.empty(n_games, np.int64)
        self.turns = np.empty(n_games, np.int64)
        self.dice = np.empty((n_games, 2), np.int8)
        self.over = np.empty(n_games, np.int8)
        self._after: Afterstates | None = None
        fresh = np.arange(n_games, dtype=np.int64) if ids is None else ids
        self.restart(np.arange(n_games), fresh)

    def restart(self, which: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Set the games at indices `which` to the start position, with new `ids`."""
        self.boards[which] = self._start
        self.sides[which] = 0
        self.ids[which] = ids
        self.turns[which] = 0
        self.over[which] = -1
        self._after = None  # plays of games that are no more

    def roll(self) -> NDArray[np.int8]:
        """Throw the dice of every game's turn and return them, a view of `dice`."""
        opening = int(self.variant.opening is Opening.OPENING_DICE)
        sides = self.variant.dice.sides
        fill_rolls(self.seed, self.ids, self.turns, sides, opening, self.dice)
        return self.dice

    def uniforms(self) -> NDArray[np.float64]:
        """Return `[B]` one number in [0, 1) per game and turn, for random choices."""
        out = np.empty(len(self.ids), np.float64)
        fill_uniforms(self.seed, self.ids, self.turns, CHOICE_STREAM, out)
        return out

    def afterstates(self) -> Afterstates:
        """Return the legal plays of every game; finished games have none."""
        self._after = afterstates(self.variant, self.boards, self.dice)
        return self._after

    def play(self, choice: NDArray[np.int64]) -> None:
        """Play row `choice[b]` of the last `afterstates()` in each running game.

        Args:
            choice: `[B]` rows of the flat afterstates; ignored for finished games.

        Raises:
            ValueError: A row is not among the plays of its game, or none were listed.
        """
        after = self._after
        if after is None:
            raise ValueError("call afterstates() before play()")
        running = np.flatnonzero(self.over < 0)
        rows = np.asarray(choice, np.int64)[running]
        low, high = after.offsets[:-1][running], after.offsets[1:][running]
        if np.any(rows < low) or np.any(rows >= high):
            raise ValueError("a choice is not among the legal plays of its game")
        boards = after.boards[rows]
        result = outcomes(self.variant, boards)
        turned = flip_index(result, self.variant.n_outcomes)
        self.over[running] = np.where(self.sides[running] == 0, result, turned)
        self.boards[running], same = next_states(self.variant, boards)
        self.sides[running] ^= ~same
        self.turns[running] += 1
        self._after = None
