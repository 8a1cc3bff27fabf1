"""The thermometer encoder: a few units per point and side, after Tesauro (1992); layer 4.

Per side (side to act first) and own point from 1 up: at least one checker, at least two, at
least three, and half the number beyond three; then the bar (half the count) where the game has
one; then the checkers off, divided by the least power of two that is not below the number of
checkers. Version 2 adds what the side remembers (`rules.memory`): counts divided by such a power
of two, places as one unit per slot that is reached. Games without memory use version 1. Every
value is exact in bfloat16, so both precisions see the same input.
"""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.boards import as_boards
from nardy_engine.errors import CheckpointError
from nardy_engine.kernels.encode import encode_units, first_layer, first_layer_work
from nardy_engine.kernels.values import fill_estimates
from nardy_engine.rules.components import Contact
from nardy_engine.rules.memory import slot_limits
from nardy_engine.rules.table import rule_table
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Board

_NO_BITS, _NO_FLOATS = np.empty((0, 0), np.uint16), np.empty((0, 0), np.float32)


class _Unit(NamedTuple):
    """One feature of one slot."""

    name: str
    formula: str
    """In terms of `n`, the number on the slot."""
    values: NDArray[np.float32]
    """`[max + 1]` by that number."""


class Encoder:
    """Thermometer features of one variant.

    Attributes:
        id: Name of the encoder, `thermometer`.
        version: Number that changes when a feature changes.
        width: Features `F` of a position.
    """

    id = "thermometer"

    def __init__(self, variant: Variant) -> None:
        """Prepare the unit tables of `variant`."""
        self.version = version_for(variant)
        self._variant = variant
        most = slot_limits(variant)
        self._limits = np.array(most, np.int8)
        self._n: NDArray[np.float32] = np.arange(max(most) + 1, dtype=np.float32)
        self._slots = self._slot_units()
        self._order = np.array(list(self._slots), np.int64)
        self.width = 2 * sum(map(len, self._slots.values()))
        self._units, self._tables = self._unit_tables()
        self._bf16 = _bfloat16_bits(self._tables)
        self._steps = self._step_tables()
        self._again = rule_table(variant).again

    def _slot_units(self) -> dict[int, list[_Unit]]:
        """Return the units of each slot that has some, in the order of the features."""
        variant, n = self._variant, self._n
        half = np.float32(0.5)
        point = [
            _Unit("at least 1", "n >= 1", (n >= 1).astype(np.float32)),
            _Unit("at least 2", "n >= 2", (n >= 2).astype(np.float32)),
            _Unit("at least 3", "n >= 3", (n >= 3).astype(np.float32)),
            _Unit("half the number beyond 3", "max(n - 3, 0) / 2", half * np.maximum(n - 3, 0)),
        ]
        slots = dict.fromkeys(range(1, variant.bar), point)
        if variant.contact is not Contact.NONE:
            slots[variant.bar] = [_Unit("half the number", "n / 2", half * n)]
        slots[OFF] = [self._share(variant.setup.checkers)]
        for item in variant.memory:
            if item.is_place:
                slots[item.slot] = [
                    _Unit(f"{k} or above", f"n >= {k}", (n >= k).astype(np.float32))
                    for k in range(1, item.most + 1)
                ]
            elif item.name != "again" and item.most > 0:  # `again` is 0 before every decision
                slots[item.slot] = [self._share(item.most)]
        return slots

    def _share(self, most: int) -> _Unit:
        """Return the unit of a number up to `most`, divided by a power of two."""
        scale = 1 << (most - 1).bit_length()
        return _Unit(f"number / {scale}", f"n / {scale}", self._n / np.float32(scale))

    def _unit_tables(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return `[P]` units of each slot and `[P, max + 1, U]` their values by number."""
        counts = np.zeros(self._variant.n_slots, np.int64)
        widest = max(map(len, self._slots.values()))
        tables = np.zeros((self._variant.n_slots, len(self._n), widest), np.float32)
        for slot, units in self._slots.items():
            counts[slot] = len(units)
            for column, unit in enumerate(units):
                tables[slot, :, column] = unit.values
        return counts, tables

    def _step_tables(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return `[2, 2 P, max + 1]` which feature the n-th unit of a slot changes, and by what.

        Every unit of the thermometer starts where the one before it ends, so each step up of the
        number on a slot changes exactly one feature. The first index is 1 if row 0 acts next, the
        second a slot of row 0 or, behind them, of row 1; the features of the actor come first.
        """
        shape = (self._variant.n_slots, len(self._n))
        column, factor = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
        first = 0
        for slot, units in self._slots.items():
            changes = np.diff(self._tables[slot, :, : len(units)], axis=0)
            changes = changes[: self._limits[slot]]
            if np.any((changes != 0).sum(axis=1) != 1):
                raise ValueError("a step of a slot does not change exactly one feature")
            column[slot, 1 : len(changes) + 1] = first + np.argmax(changes != 0, axis=1)
            factor[slot, 1 : len(changes) + 1] = changes.sum(axis=1)
            first += len(units)
        half = self.width // 2
        columns = np.stack([np.vstack([column + half, column]), np.vstack([column, column + half])])
        return columns, np.tile(factor, (2, 2, 1))

    @property
    def name(self) -> str:
        """`id-version`, as in configurations."""
        return f"{self.id}-{self.version}"

    def encode(self, boards: Board, swap: bool = False) -> NDArray[np.float32]:
        """Return `[N, F] float32` features, a fresh array.

        Args:
            boards: `[N, 2, P] int8`, the side to act in row 0.
            swap: True = row 1 is the side to act, as in most afterstates.

        Raises:
            ValueError: They are no boards of the game, or a slot holds more than it allows.
        """
        # Compiled code reads the unit tables at these counts without looking at their ends.
        boards = as_boards(self._variant, boards)
        out = np.empty((boards.shape[0], self.width), np.float32)
        self.encode_into(boards, out, swap)
        return out

    def encode_into(self, boards: Board, out: NDArray[Any], swap: bool = False) -> None:
        """Write features to `out` `[N, F]`: float32, or uint16 for bfloat16 bit patterns."""
        tables: NDArray[Any] = self._bf16 if out.dtype == np.uint16 else self._tables
        encode_units(boards, int(swap), self._order, self._units, tables, out)

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
                that acts next, as with `encode(batch.next_states(after))`. Rows of finished games
                hold nothing of use.
            offsets: `[G + 1]`; the afterstates of game `g` start at `offsets[g] - offsets[first]`.
            games: First game and end of the range to do.
            weights: `[F, H] float32`, the transpose of a torch layer's weight.
            bias: `[H] float32`.
            hidden: `[A, H]` float32, or uint16 for bfloat16 bit patterns; written.
        """
        bfloat16 = hidden.dtype == np.uint16
        checkers = self._variant.setup.checkers
        longest = 4 * checkers + 2 * sum(item.most for item in self._variant.memory)
        slots = 2 * self._variant.n_slots
        work = first_layer_work(longest, weights.shape[1], slots)
        first_layer(
            boards.reshape(-1, slots), after.reshape(-1, slots), offsets, *games, self._again,
            *self._steps, weights, bias, work,
            int(bfloat16), hidden if bfloat16 else _NO_BITS, _NO_FLOATS if bfloat16 else hidden,
        )  # fmt: skip

    def estimates(
        self, after: Board, offsets: NDArray[np.int64], gradients: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return `[M] float32` what a linear model says of afterstates, from the mover's view.

        Args:
            after: `[M, 2, P] int8`, mover in row 0, the other side acts next.
            offsets: `[G + 1] int64` the afterstates of each position; only differences between
                those of one position mean something.
            gradients: `[G, F] float32` what each feature adds for the side that acts next.
        """
        out = np.empty(len(after), np.float32)
        column, factor = (table[0] for table in self._steps)  # row 1 acts next
        rows = after.reshape(len(after), -1)
        slopes = np.empty(column.shape, np.float32)
        fill_estimates(rows, offsets, gradients, column, factor, slopes, out)
        return out

    def describe(self) -> list[dict[str, Any]]:
        """Describe every feature, in order, so that any language can rebuild it.

        Each entry has `index`, `side` ("roller" or "other"), `slot` ("off", "bar", the own point
        or the name of a memory slot), `unit` in words and `formula` in terms of `n`, the number
        on that slot.
        """
        names: dict[int, int | str] = {OFF: "off", self._variant.bar: "bar"}
        names |= {item.slot: item.name for item in self._variant.memory}
        rows = [
            (side, names.get(slot, slot), unit)
            for side in ("roller", "other")
            for slot, units in self._slots.items()
            for unit in units
        ]
        return [
            {"index": i, "side": side, "slot": slot, "unit": unit.name, "formula": unit.formula}
            for i, (side, slot, unit) in enumerate(rows)
        ]


def _bfloat16_bits(table: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the upper halves of float32 values, exact for values of at most 8 bits."""
    bits = table.astype(np.float32).view(np.uint32)
    if np.any(bits & 0xFFFF):
        raise ValueError("a feature is not exact in bfloat16")
    return (bits >> 16).astype(np.uint16)


def version_for(variant: Variant) -> int:
    """Return the version that a game needs: 2 if its rows remember something, else 1."""
    return 2 if variant.memory else 1


def encoder_ids() -> tuple[str, ...]:
    """Return the known encoders as `id-version`."""
    return tuple(f"{Encoder.id}-{version}" for version in (1, 2))


def get_encoder(name: str, variant: Variant) -> Encoder:
    """Return the encoder called `name` (`id-version`, or `id` for the game's own version).

    Raises:
        CheckpointError: There is no such encoder, or not in this version for this game.
    """
    fitting = f"{Encoder.id}-{version_for(variant)}"
    if name not in (*encoder_ids(), Encoder.id):
        near = difflib.get_close_matches(name, encoder_ids(), n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise CheckpointError(f"unknown encoder '{name}'; {hint}known: {', '.join(encoder_ids())}")
    if name not in (fitting, Encoder.id):
        raise CheckpointError(f"{variant.id} is encoded by {fitting}, not by {name}")
    return Encoder(variant)
