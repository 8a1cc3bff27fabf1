"""`Bearoff`: outcome probabilities of positions in which both sides have come home; layer 5."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine.bearoff import store
from nardy_engine.bearoff.build import build_tables
from nardy_engine.bearoff.coverage import BearoffRules, obstacle
from nardy_engine.boards import as_boards, as_int8
from nardy_engine.kernels import bearoff as kernel
from nardy_engine.rules.components import Score
from nardy_engine.rules.table import rule_table
from nardy_engine.rules.variant import Variant

_loaded: dict[BearoffRules, kernel.BearoffTables] = {}
_loading = threading.Lock()


class Bearoff:
    """The endings of one game.

    Two kinds of table stand behind it. For each side alone: the chances of needing 1, 2, ...
    rolls to bear off everything, and to bear off the first checker, when it plays for the least
    mean number of rolls. For both together, up to `wins.shape[1]` positions a side: the chance
    to win when both play for it. The second kind is exact; the first leaves out that a side
    that is behind plays differently: by the usual rules it is at most 0.014 off where both
    kinds exist, 0.0009 on average.

    Attributes:
        variant: The game.
        tables: Arrays for the kernels.
        mars_kind: Index in `Variant.win_kinds` of a win over a side at home with none off.
    """

    def __init__(self, variant: Variant, tables: kernel.BearoffTables) -> None:
        """Take finished tables; use `for_variant` to get them."""
        self.variant = variant
        self.tables = tables
        self.mars_kind = 3 if variant.score is Score.OIN_MARS_KOKS_HOMEMARS else 1  # SC-4
        self._rules = rule_table(variant)

    @classmethod
    def for_variant(cls, variant: Variant) -> Bearoff | None:
        """Return the endings of a game, or None if it has no tables (`obstacle` says why).

        Tables are built at first use, within seconds, and kept in the user's cache folder and
        in this process.
        """
        if obstacle(variant) is not None:
            return None
        key = BearoffRules.of(variant)
        with _loading:
            if key not in _loaded:
                tables = store.load(key)
                if tables is None:
                    tables = build_tables(rule_table(variant), bool(key.with_left))
                    store.save(key, tables)
                _loaded[key] = tables
            tables = _loaded[key]
        if variant.remembers("last_turn"):  # a draw is worth something: winning is not all
            tables = tables._replace(wins=tables.wins[:, :0, :0].copy())
        return cls(variant, tables)

    def covers(self, boards: Any) -> NDArray[np.bool_]:
        """Return `[N]` which `[N, 2, P]` boards are endings.

        Those where both sides have all their checkers at home or off, and the side to roll has
        still to play.
        """
        boards = as_boards(self.variant, boards)
        out = np.empty(len(boards), np.uint8)
        kernel.fill_bearoffs(boards, self._rules, out)
        return out.view(np.bool_)

    def outcome_probs(self, boards: Any) -> NDArray[np.float32]:
        """Return `[N, O]` how the game ends, exclusive, in the order of `Variant.win_kinds`.

        Args:
            boards: `[N, 2, P] int8`, the side to roll in row 0; all of them endings.

        Raises:
            ValueError: A board is not an ending, see `covers`.
        """
        boards = as_boards(self.variant, boards)
        outside = np.flatnonzero(~self.covers(boards))
        if outside.size:
            raise ValueError(f"board {outside[0]} is not an ending: see Bearoff.covers")
        out = np.empty((len(boards), self.variant.n_outcomes), np.float32)
        kernel.fill_bearoff_outcomes(boards, self.mars_kind, self._rules, self.tables, out)
        return out

    def roll_chances(self, rows: Any) -> NDArray[np.float32]:
        """Return `[N, R]` the chance that each side needs exactly 0, 1, ... rolls to finish.

        Args:
            rows: `[N, P] int8`, sides with all their checkers at home or off.

        Raises:
            ValueError: A side is not all home.
        """
        return self._of_rows(rows, self.tables.rolls, 0)

    def first_off_chances(self, rows: Any) -> NDArray[np.float32]:
        """Return `[N, R']` the chance of exactly so many rolls until the first checker is off.

        Args:
            rows: `[N, P] int8`, sides with all their checkers at home, none off.

        Raises:
            ValueError: A side is not all home, or has borne off already.
        """
        whole = self.tables.rolls.shape[1] - self.tables.first_off.shape[1]
        return self._of_rows(rows, self.tables.first_off, whole)

    def mean_rolls(self, rows: Any) -> NDArray[np.float64]:
        """Return `[N]` the mean number of rolls that each `[N, P]` side needs to finish."""
        chances = self.roll_chances(rows).astype(np.float64)
        mean: NDArray[np.float64] = chances @ np.arange(chances.shape[1])
        return mean

    def _of_rows(
        self, rows: Any, table: NDArray[np.float32], first_rank: int
    ) -> NDArray[np.float32]:
        rows = as_int8("rows", rows)
        home, n_counts = self.variant.setup.home, self.variant.n_counts
        if rows.ndim != 2 or rows.shape[1] != self.variant.n_slots:
            raise ValueError(f"rows must be [N, {self.variant.n_slots}], not {list(rows.shape)}")
        total = rows[:, : home + 1].sum(axis=1)
        if np.any(total != self.variant.setup.checkers) or np.any(rows[:, :n_counts] < 0):
            raise ValueError("a side does not have all its checkers at home or off")
        out = np.empty((len(rows), table.shape[2]), np.float32)
        for i, row in enumerate(rows):
            rank = kernel.home_rank(row, home, self.tables.binomials)
            if rank < first_rank:
                raise ValueError("a side has borne off its first checker already")
            out[i] = table[kernel.numbers_index(row, self._rules), rank - first_rank]
        return out
