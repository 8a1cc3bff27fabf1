"""Core vocabulary of the engine: positions, steps, plays, outcomes; layer 1, imports errors.

Array axes, used in every docstring of the project:

    B  games in a batch          A  afterstates, flat over the batch
    P  slots of a row: 0 = borne off, 1..n_points = points, n_points + 1 = bar, then what the
       game remembers of the side (`rules.memory`; nothing in most games)
    O  exclusive outcomes        F  features of an encoder

A position is two rows of counts, *each in its own numbering* (rules.md G-1..G-5): row 0 is the
side to act ("mover"), row 1 the other ("opponent"). Changing sides swaps the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Board: TypeAlias = NDArray[np.int8]
"""`[2, P]` or `[B, 2, P]` int8 checker counts, mover's row first."""

Row: TypeAlias = tuple[int, ...]
"""`P` numbers of one side: checkers off, on points 1..n, on the bar, then its memory slots."""

Dice: TypeAlias = tuple[int, int]
"""The two numbers thrown, in any order."""

MAX_SEED = 2**63 - 1
"""Largest seed of dice."""

OFF = 0
"""Slot of the checkers borne off; a step that ends here bears off."""

MOVER = 0
"""Row of the side to act."""

OPPONENT = 1
"""Row of the other side."""

SIDE_NAMES = ("the side to act", "the other side")
"""The rows in words, for messages."""


class Position(NamedTuple):
    """Checkers only, seen from the side to act. Hashable; validity is the variant's business."""

    mover: Row
    opponent: Row

    def swapped(self) -> Position:
        """Return the same checkers with the other side to act."""
        return Position(self.opponent, self.mover)

    def board(self) -> Board:
        """Return `[2, P] int8` counts, a fresh array."""
        return np.array((self.mover, self.opponent), dtype=np.int8)

    @classmethod
    def from_board(cls, board: Board | Sequence[Sequence[int]]) -> Position:
        """Build from `[2, P]` counts; a count that is no whole number is a TypeError."""
        mover, opponent = board
        return cls(tuple(map(index, mover)), tuple(map(index, opponent)))


class Step(NamedTuple):
    """One checker moved by one die (T-2), in the mover's own numbering."""

    source: int
    target: int
    die: int
    hit: bool = False


class Play(NamedTuple):
    """All steps of one turn, possibly none (a forced pass), and the position they lead to.

    `end` keeps the mover in row 0: it is the afterstate before the sides change.
    """

    steps: tuple[Step, ...]
    end: Position


class Outcome(NamedTuple):
    """How a finished game ended, seen from row 0 of the position it was asked for."""

    won: bool
    kind: int
    """Index of the win kind in `Variant.win_kinds`: 0 single, 1 mars, 2 koks, ..."""
    points: int
    """Stake units won by the winner, cube at 1; 0 only in a draw."""
    draw: bool = False
    """Neither side won (DR-1); then `won` is False, `kind` and `points` are 0."""

    @property
    def points_for_mover(self) -> int:
        """Points from the view of row 0: negative when row 0 lost."""
        return self.points if self.won else -self.points
