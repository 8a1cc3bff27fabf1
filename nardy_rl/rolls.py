"""The rolls of a turn and their chances, and who has to roll at all; numpy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant
from nardy_engine.rules.components import Opening
from nardy_engine.rules.memory import memory_index
from nardy_engine.types import MOVER, Board


class Rolls(NamedTuple):
    """Every roll that can be thrown, each once, whatever the order of its dice."""

    dice: NDArray[np.int8]
    """`[R, 2] int8`, the larger die first."""
    weights: NDArray[np.float64]
    """`[R] float64` whole numbers: how many of all throws show it."""

    @property
    def chances(self) -> NDArray[np.float64]:
        """`[R] float64` chance of each roll; their sum is 1."""
        return np.asarray(self.weights / self.weights.sum())

    def average(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `[..., O]` the average over the rolls of `[..., R, O]` values.

        Not a product of matrices: the sums of those depend on how many rows there are.
        """
        total = (values * self.weights[:, None]).sum(axis=-2)
        return np.asarray(total / self.weights.sum())

    def luck(self, values: NDArray[np.float64], thrown: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return `[N, O]` what the rolls `thrown` `[N]` are worth beyond the average of all.

        Its expectation is 0, whatever the values `[N, R, O]` are.
        """
        return np.asarray(values[np.arange(len(thrown)), thrown] - self.average(values))

    @classmethod
    def of(cls, variant: Variant, opening: bool = False) -> Rolls:
        """Return the rolls of a turn; `opening` = the throw that decides who begins (S-2).

        That one shows two different dice, so there are fewer rolls.

        >>> from nardy_engine import load_variant
        >>> len(Rolls.of(load_variant("short")).dice)
        21
        >>> len(Rolls.of(load_variant("short"), opening=True).dice)
        15
        """
        sides = range(1, variant.dice.sides + 1)
        dice = [(a, b) for a in sides for b in sides if b < a or (b == a and not opening)]
        weights = np.array([1.0 if a == b else 2.0 for a, b in dice])
        return cls(np.array(dice, dtype=np.int8), weights)


def is_opening(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[N]` whether the next throw is the one that decides who begins (S-2, D-02).

    A position does not know how many turns have been played; the start position itself is taken
    for the beginning.

    Args:
        variant: The game.
        boards: `[N, 2, P] int8`, the side to act in row 0.
    """
    if variant.opening is not Opening.OPENING_DICE:
        return np.zeros(len(boards), np.bool_)
    start = variant.start_position().board()
    return np.asarray((boards == start).all(axis=(1, 2)), np.bool_)


def owes_dice(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[N]` whether row 0 of `[N, 2, P]` boards has dice to play before anybody rolls."""
    first = memory_index(variant).get("owed_1")
    if first is None:
        return np.zeros(len(boards), np.bool_)
    owed = boards[:, MOVER, first : first + variant.dice.sides]
    return np.asarray(owed.any(axis=1), np.bool_)


def moves_before_roll(variant: Variant, boards: Board) -> NDArray[np.bool_]:
    """Return `[N]` whether row 0 of `[N, 2, P]` boards may make a move before it rolls (EMI-11)."""
    slot = memory_index(variant).get("preroll")
    if slot is None:
        return np.zeros(len(boards), np.bool_)
    return np.asarray(boards[:, MOVER, slot] != 0, np.bool_)
