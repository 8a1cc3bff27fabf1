"""Fills the tables of a rule set: quickest plays, chances of rolls, exact races; layer 5."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine.bearoff.coverage import BearoffRules, n_positions
from nardy_engine.kernels import bearoff_tables as kernel
from nardy_engine.kernels.bearoff import BearoffTables
from nardy_engine.rules.table import RuleTable

PAIR_CHECKERS = 6
"""Checkers a side up to which races are solved for both sides together."""

_ROLLS = (32, 64, 128, 256)
"""Numbers of rolls tried until a table holds all chances but `_LEFT_OUT`."""

_LEFT_OUT = 1e-8
"""Chance beyond the end of a table; below the precision of its float32."""


def pair_limit(rules: RuleTable | BearoffRules) -> int:
    """Return the number of ranks that races are solved for.

    Both sides have borne off at least one checker there, so that nothing but winning counts and
    the best play for the chance to win is the best play.
    """
    return n_positions(rules.home, min(PAIR_CHECKERS, rules.checkers - 1))


def binomial_table(home: int, checkers: int) -> NDArray[np.int64]:
    """Return `[n, k]` the binomial coefficients that ranks are made of."""
    return np.array(
        [[comb(n, k) for k in range(home + 1)] for n in range(home + checkers + 1)], np.int64
    )


def build_tables(rules: RuleTable, with_left: bool) -> BearoffTables:
    """Fill all tables of a game.

    Args:
        rules: The rules of a game without `obstacle`.
        with_left: Fill the chances of checkers left instead of the exact races, which such a
            game does not use: there winning is not all that counts.
    """
    steps, counts, binomials = home_steps(rules)
    scratch = play_scratch(rules)
    kinds = (kernel.EVEN_NUMBERS, kernel.ODD_NUMBERS) if rules.parity else (kernel.ANY_NUMBER,)
    whole = n_positions(rules.home, rules.checkers - 1)  # ranks from here on have nothing off
    rolls, first_off, left = [], [], []
    for numbers in kinds:
        best = _quickest(1, numbers, steps, rules, scratch)
        rolls.append(_roll_chances(1, best, rules))
        to_first = _quickest(whole, numbers, steps, rules, scratch)
        first_off.append(_roll_chances(whole, to_first, rules)[whole:])
        if with_left:
            left.append(_left_chances(counts, best, rolls[-1].shape[1], rules))
    wins = np.zeros((len(kinds), 0, 0))
    if not with_left:
        wins = _wins(kinds, steps, rules, scratch)
    return BearoffTables(
        binomials=binomials,
        rolls=_stack(rolls),
        first_off=_stack(first_off),
        wins=wins.astype(np.float32),
        left=_stack(left) if left else np.zeros((len(kinds), 0, 0, 0), np.float32),
    )


def home_steps(
    rules: RuleTable,
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int64]]:
    """Return `[N, sides, home]` steps between ranks, `[N, home + 1]` counts, and binomials."""
    n_ranks = n_positions(rules.home, rules.checkers)
    binomials = binomial_table(rules.home, rules.checkers)
    counts = np.zeros((n_ranks, rules.home + 1), np.int8)
    kernel.fill_home_counts(rules.home, counts)
    steps = np.empty((n_ranks, rules.sides, rules.home), np.int32)
    kernel.fill_home_steps(counts, binomials, rules, steps)
    return steps, counts, binomials


def play_scratch(rules: RuleTable) -> kernel.PlayScratch:
    """Return working memory for the plays of a roll: all multisets of sources fit."""
    most_steps = max(rules.sides if rules.n_times_m else rules.double_steps, 2)
    size = comb(rules.home + most_steps, most_steps) + 2 * rules.home**2 + 2
    return kernel.PlayScratch(*(np.zeros(size, np.int64) for _ in range(3)))


def _quickest(
    goal: int,
    numbers: int,
    steps: NDArray[np.int32],
    rules: RuleTable,
    scratch: kernel.PlayScratch,
) -> NDArray[np.int32]:
    """Return `[N, rolls]` the rank after the play of each roll that gets below `goal` soonest."""
    mean = np.zeros(len(steps))
    best = np.zeros((len(steps), rules.sides * (rules.sides + 1) // 2), np.int32)
    kernel.fill_quickest(goal, numbers, steps, rules, scratch, mean, best)
    return best


def _roll_chances(goal: int, best: NDArray[np.int32], rules: RuleTable) -> NDArray[np.float64]:
    """Return `[N, R]` the chances of exactly so many rolls, `R` as small as precision allows."""
    for most in _ROLLS:
        chances = np.empty((len(best), most))
        kernel.fill_roll_chances(goal, rules.sides, best, chances)
        missing = 1.0 - chances.sum(axis=1).min()
        if missing < _LEFT_OUT:
            break
    held = np.cumsum(chances, axis=1).min(axis=0)
    length = int(np.searchsorted(held, min(1.0 - _LEFT_OUT, held[-1]))) + 1
    chances = chances[:, :length]
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def _left_chances(
    counts: NDArray[np.int8], best: NDArray[np.int32], length: int, rules: RuleTable
) -> NDArray[np.float32]:
    """Return `[N, length, checkers + 1]` the chances of checkers left after so many rolls."""
    left = np.empty((len(best), length, rules.checkers + 1), np.float32)
    kernel.fill_left_chances(rules.sides, counts, best, left)
    return left


def _wins(
    kinds: tuple[int, ...],
    steps: NDArray[np.int32],
    rules: RuleTable,
    scratch: kernel.PlayScratch,
) -> NDArray[np.float64]:
    """Return `[T, L, L]` the chances to win of the side to roll."""
    limit = pair_limit(rules)
    n_rolls = rules.sides * (rules.sides + 1) // 2
    ends = np.zeros((len(kinds), len(scratch.ends) * n_rolls * limit), np.int32)
    offsets = np.zeros((len(kinds), n_rolls * limit + 1), np.int64)
    used = 0
    for kind, numbers in enumerate(kinds):
        listed = kernel.list_all_ends(
            limit, numbers, steps, rules, scratch, ends[kind], offsets[kind]
        )
        used = max(used, listed)
    wins = np.zeros((len(kinds), limit, limit))
    kernel.fill_wins(rules.sides, np.ascontiguousarray(ends[:, :used]), offsets, wins)
    return wins


def _stack(tables: list[Any]) -> NDArray[np.float32]:
    """Return the tables behind each other as float32, the shorter ones filled up with zeros."""
    length = max(table.shape[1] for table in tables)
    out = np.zeros((len(tables), len(tables[0]), length, *tables[0].shape[2:]), np.float32)
    for filled, table in zip(out, tables, strict=True):
        filled[:, : table.shape[1]] = table
    return out
