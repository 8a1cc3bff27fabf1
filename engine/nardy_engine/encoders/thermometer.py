"""The thermometer encoder: a few units per point and side, after Tesauro (1992); layer 4.

Per side (side to roll first) and own point from 1 up: at least one checker, at least two, at
least three, and half the number beyond three; then the bar (half the count) where the game has
one; then the checkers off, divided by the least power of two that is not below the number of
checkers. Every value is exact in bfloat16, so both precisions see the same input.
"""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine.errors import CheckpointError
from nardy_engine.kernels.encode import encode_units, first_layer, first_layer_work
from nardy_engine.rules.components import Contact
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board

_NO_BITS, _NO_FLOATS = np.empty((0, 0), np.uint16), np.empty((0, 0), np.float32)
_UNITS = ("at least 1", "at least 2", "at least 3", "half the number beyond 3")


class Encoder:
    """Thermometer features of one variant.

    Attributes:
        id: Name of the encoder, `thermometer`.
        version: Number that changes when a feature changes.
        width: Features `F` of a position.
    """

    id = "thermometer"
    version = 1

    def __init__(self, variant: Variant) -> None:
        """Prepare the unit tables of `variant`."""
        counts: NDArray[np.float32] = np.arange(variant.setup.checkers + 1, dtype=np.float32)
        units = [counts >= 1, counts >= 2, counts >= 3, np.maximum(counts - 3, 0) / 2]
        self._points = np.stack([unit.astype(np.float32) for unit in units], axis=1)
        self._bar: NDArray[np.float32] = counts / np.float32(2)
        self._off_scale = 1 << (variant.setup.checkers - 1).bit_length()
        self._off: NDArray[np.float32] = counts / np.float32(self._off_scale)
        self._use_bar = int(variant.contact is Contact.HIT)
        self._variant = variant
        self.width = 2 * (variant.setup.points * len(units) + self._use_bar + 1)
        self._steps = self._step_tables()
        self._bf16 = tuple(_bfloat16_bits(table) for table in (self._points, self._bar, self._off))

    def _step_tables(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return `[P, max + 1]` which feature of a side each further checker changes, by how much.

        Every unit of the thermometer starts where the one before it ends, so a checker put on a
        slot changes exactly one feature.
        """
        n_slots, n_units = self._variant.n_slots, self._points.shape[1]
        column = np.zeros((n_slots, len(self._off)), np.int64)
        factor = np.zeros((n_slots, len(self._off)), np.float32)
        unit = np.minimum(np.arange(len(self._off)), n_units) - 1
        by_step = np.diff(self._points, axis=0, prepend=0).sum(axis=1)
        for point in range(1, n_slots - 1):
            column[point] = (point - 1) * n_units + unit
            factor[point] = by_step
        column[n_slots - 1] = (n_slots - 2) * n_units
        factor[n_slots - 1] = self._bar[1] * self._use_bar
        column[0] = (n_slots - 2) * n_units + self._use_bar
        factor[0] = self._off[1]
        return column, factor

    @property
    def name(self) -> str:
        """`id-version`, as in configurations."""
        return f"{self.id}-{self.version}"

    def encode(self, boards: Board, swap: bool = False) -> NDArray[np.float32]:
        """Return `[N, F] float32` features, a fresh array.

        Args:
            boards: `[N, 2, P] int8`, the side to roll in row 0.
            swap: True = row 1 is the side to roll, as in afterstates.

        Raises:
            ValueError: A slot holds more checkers than the game has, or less than none.
        """
        most = self._variant.setup.checkers
        # Compiled code reads the unit tables at these counts without looking at their ends.
        if boards.size and not (boards.min() >= 0 and boards.max() <= most):
            raise ValueError(f"boards must hold 0 to {most} checkers on every slot")
        out = np.empty((boards.shape[0], self.width), np.float32)
        self.encode_into(boards, out, swap)
        return out

    def encode_into(self, boards: Board, out: NDArray[Any], swap: bool = False) -> None:
        """Write features to `out` `[N, F]`: float32, or uint16 for bfloat16 bit patterns."""
        tables = self._bf16 if out.dtype == np.uint16 else (self._points, self._bar, self._off)
        points, bar, off = tables
        encode_units(boards, int(swap), points, bar, off, self._use_bar, out)

    def first_layer_into(
        self,
        boards: Board,
        after: Board,
        offsets: NDArray[np.int64],
        games: tuple[int, int],
        weights: NDArray[np.float32],
        bias: NDArray[np.float32],
        hidden: NDArray[Any],
    ) -> None:
        """Write `relu(features @ weights + bias)` of afterstates without forming the features.

        Args:
            boards: `[G, 2, P] int8` positions before the play, mover in row 0.
            after: `[A, 2, P] int8` their afterstates, mover in row 0; the result is for the side
                to roll next, row 1, as with `encode(after, swap=True)`.
            offsets: `[G + 1]`; the afterstates of game `g` start at `offsets[g] - offsets[first]`.
            games: First game and end of the range to do.
            weights: `[F, H] float32`, the transpose of a torch layer's weight.
            bias: `[H] float32`.
            hidden: `[A, H]` float32, or uint16 for bfloat16 bit patterns; written.
        """
        bfloat16 = hidden.dtype == np.uint16
        work = first_layer_work(self._variant.setup.checkers, weights.shape[1])
        first_layer(
            boards, after, offsets, *games, *self._steps, weights, bias, work, int(bfloat16),
            hidden if bfloat16 else _NO_BITS, _NO_FLOATS if bfloat16 else hidden,
        )  # fmt: skip

    def describe(self) -> list[dict[str, Any]]:
        """Describe every feature, in order, so that any language can rebuild it.

        Each entry has `index`, `side` ("roller" or "other"), `slot` ("off", "bar" or the own
        point), `unit` in words and `formula` in terms of `n`, the checkers on that slot.
        """
        formulas = ("n >= 1", "n >= 2", "n >= 3", "max(n - 3, 0) / 2")
        entries: list[dict[str, Any]] = []

        def add(side: str, slot: int | str, unit: str, formula: str) -> None:
            entries.append(
                {
                    "index": len(entries),
                    "side": side,
                    "slot": slot,
                    "unit": unit,
                    "formula": formula,
                }
            )

        for side in ("roller", "other"):
            for point in range(1, self._variant.setup.points + 1):
                for unit, formula in zip(_UNITS, formulas, strict=True):
                    add(side, point, unit, formula)
            if self._use_bar:
                add(side, "bar", "half the number", "n / 2")
            add(side, "off", f"number / {self._off_scale}", f"n / {self._off_scale}")
        return entries


def _bfloat16_bits(table: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the upper halves of float32 values, exact for values of at most 8 bits."""
    bits = table.astype(np.float32).view(np.uint32)
    if np.any(bits & 0xFFFF):
        raise ValueError("a feature is not exact in bfloat16")
    return (bits >> 16).astype(np.uint16)


def encoder_ids() -> tuple[str, ...]:
    """Return the known encoders as `id-version`."""
    return (f"{Encoder.id}-{Encoder.version}",)


def get_encoder(name: str, variant: Variant) -> Encoder:
    """Return the encoder called `name` (`id-version`) for `variant`.

    Raises:
        CheckpointError: There is no such encoder, or not in this version.
    """
    if name not in encoder_ids():
        near = difflib.get_close_matches(name, encoder_ids(), n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise CheckpointError(f"unknown encoder '{name}'; {hint}known: {', '.join(encoder_ids())}")
    return Encoder(variant)
