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
from nardy_engine.kernels.encode import encode_units
from nardy_engine.rules.components import Contact
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Board

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
        counts = np.arange(variant.setup.checkers + 1, dtype=np.float32)
        units = [counts >= 1, counts >= 2, counts >= 3, np.maximum(counts - 3, 0) / 2]
        self._points = np.stack([unit.astype(np.float32) for unit in units], axis=1)
        self._bar = counts / 2
        self._off_scale = 1 << (variant.setup.checkers - 1).bit_length()
        self._off = counts / np.float32(self._off_scale)
        self._use_bar = int(variant.contact is Contact.HIT)
        self._variant = variant
        self.width = 2 * (variant.setup.points * len(units) + self._use_bar + 1)
        self._bf16 = tuple(_bfloat16_bits(table) for table in (self._points, self._bar, self._off))

    @property
    def name(self) -> str:
        """`id-version`, as in configurations."""
        return f"{self.id}-{self.version}"

    def encode(self, boards: Board, swap: bool = False) -> NDArray[np.float32]:
        """Return `[N, F] float32` features, a fresh array.

        Args:
            boards: `[N, 2, P] int8`, the side to roll in row 0.
            swap: True = row 1 is the side to roll, as in afterstates.
        """
        out = np.empty((boards.shape[0], self.width), np.float32)
        self.encode_into(boards, out, swap)
        return out

    def encode_into(self, boards: Board, out: NDArray[Any], swap: bool = False) -> None:
        """Write features to `out` `[N, F]`: float32, or uint16 for bfloat16 bit patterns."""
        tables = self._bf16 if out.dtype == np.uint16 else (self._points, self._bar, self._off)
        encode_units(boards, int(swap), *tables, self._use_bar, out)

    def describe(self) -> list[dict[str, Any]]:
        """Describe every feature, in order, so that any language can rebuild it.

        Each entry has `index`, `side` ("roller" or "other"), `slot` ("off", "bar" or the own
        point), `unit` in words and `formula` in terms of `n`, the checkers on that slot.
        """
        formulas = ("n >= 1", "n >= 2", "n >= 3", "max(n - 3, 0) / 2")
        entries: list[dict[str, Any]] = []

        def add(side: str, slot: int | str, unit: str, formula: str) -> None:
            entries.append(
                {"index": len(entries), "side": side, "slot": slot, "unit": unit, "formula": formula}
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
        raise CheckpointError(
            f"unknown encoder '{name}'; {hint}known: {', '.join(encoder_ids())}"
        )
    return Encoder(variant)
