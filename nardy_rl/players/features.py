"""Hand-made features of a position for the mover: named numbers that a linear bot weighs.

Every feature looks at afterstates (mover in row 0) and means the same in every game; sizes and
distances come from the variant. Quarters are runs of `setup.home` points, counted from the home.
Checkers count as a share of all, so that weights fit any number of them. A point is *held* if the
opponent may not land on it. What a game does not have (a bar, captives, owed dice) counts 0.

| name | meaning |
|---|---|
| `spread`, `home_spread` | points held outside and inside the home |
| `stack`, `home_stack` | checkers above two on a point, between head and home, and inside it |
| `head` | share of the checkers still on the own head |
| `start` | points held in the own start quarter, the head included |
| `own_front` | points held in front of the own head, times `head` |
| `their_front` | points held in front of the opponent's head, times his share still on it |
| `quarters` | checkers of each quarter outside the home, two at most, summed |
| `pips`, `lag` | mean distance, and mean squared distance, from the end; 1 = the head |
| `off`, `saved` | share borne off; 1 if any is, so that no mars is lost (in reverse: won) |
| `exit` | share of the checkers at home, each times how often a die bears off exactly from there |
| `block3` ... `block6` | runs of held points in the opponent's way, times his share behind them |
| `dice`, `their_dice` | share of the dice with which a side has a step |
| `landing` | share of the opponent's teleports that held points stop, times his share on the head |
| `blots` | lone checkers that some opposing checker could land on |
| `risk`, `risk_pips` | checkers lost in his next roll on average, and the distance they lose |
| `bar`, `their_bar` | share of the checkers on the bar |
| `shut_out` | share of the points of entry that are held, times `their_bar` |
| `their_pips` | the opponent's mean distance from the end |
| `owed`, `their_owed` | mean distance that a side still moves by the dice it owes |
| `again` | 1 if the mover also makes the next decision |
| `captives`, `captured` | opposing captives by their distance from the end; share of own ones |
| `reserve` | share of the checkers still in reserve |
| `emir_risk`, `emir_fatal` | chance that the lone own emir is landed on, and by the other emir |
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels.linear import POSITIONAL_FEATURES, DiceOdds, fill_positional
from nardy_engine.rules import Variant, rule_table
from nardy_engine.rules.components import CascadeKind, DiceProgram, TeleportKind
from nardy_engine.types import Board

FEATURES = POSITIONAL_FEATURES
"""Names, in the order of the columns of `features`."""

_IN_CHECKERS = (
    *("head", "own_front", "their_front", "pips", "off", "lag", "exit", "landing"),
    *("block3", "block4", "block5", "block6", "bar", "their_bar", "shut_out", "their_pips"),
    *("owed", "their_owed", "captives", "captured", "reserve"),
)
"""Features that are counted in checkers and become shares of them."""

_IN_POINTS = ("pips", "their_pips", "owed", "their_owed", "risk_pips", "captives")
"""Features that are counted in points of distance and become shares of the route."""


def features(variant: Variant, boards: Board) -> NDArray[np.float32]:
    """Return `[A, F] float32` features of row 0 of `[A, 2, P] int8` afterstates."""
    out = np.empty((len(boards), len(FEATURES)), dtype=np.float32)
    fill_positional(boards, rule_table(variant), dice_odds(variant), out)
    out *= units(variant)
    return out


@cache
def units(variant: Variant) -> NDArray[np.float32]:
    """Return `[F] float32`: what one counted unit of each feature is worth."""
    scale = np.ones(len(FEATURES), dtype=np.float32)
    for column, name in enumerate(FEATURES):
        if name in _IN_CHECKERS:
            scale[column] /= variant.setup.checkers
        if name in _IN_POINTS:
            scale[column] /= variant.head_point
    scale[FEATURES.index("lag")] /= variant.head_point**2
    scale[FEATURES.index("shut_out")] /= variant.dice.sides
    return scale


@cache
def dice_odds(variant: Variant) -> DiceOdds:
    """Return what the dice of `variant` bring on average."""
    sides, points = variant.dice.sides, variant.setup.points
    rolls = [(a, b) for a in range(1, sides + 1) for b in range(1, sides + 1)]
    share = np.zeros(sides + 1, dtype=np.float32)
    reach = np.zeros(points + 2, dtype=np.float32)
    for roll in rolls:
        steps = steps_of(variant, roll)
        for die, count in steps.items():
            share[die] += count
        for distance in _distances(steps):
            if distance < len(reach):
                reach[distance] += 1 / len(rolls)
    share /= share.sum()
    exits = np.zeros(points + 2, dtype=np.float32)
    for die in variant.bearoff.dice:
        if die <= variant.setup.home:
            exits[die] = share[die]
    exits /= max(exits.max(), np.float32(np.finfo(np.float32).tiny))
    return DiceOdds(share, reach, exits, _landings(variant))


def steps_of(variant: Variant, roll: tuple[int, int]) -> Counter[int]:
    """Return how many steps of each number a roll gives (T-1, T-7, AST-1, BGU-1)."""
    low, high = sorted(roll)
    if variant.dice.program is DiceProgram.N_TIMES_M:
        return Counter({high: low})
    if low < high:
        return Counter(roll)
    top = variant.dice.sides if variant.cascade.kind is CascadeKind.TO_SIX else high
    return Counter(dict.fromkeys(range(high, top + 1), variant.dice.double_steps))


def _distances(steps: Counter[int]) -> set[int]:
    """Return how far one checker can go with some of the steps."""
    found = {0}
    for die in steps.elements():
        found |= {distance + die for distance in found}
    return found - {0}


def _landings(variant: Variant) -> NDArray[np.float32]:
    """Return `[n + 2] float32`: share of each home point among the ends of teleports."""
    sides = variant.dice.sides
    out = np.zeros(variant.setup.points + 2, dtype=np.float32)
    if variant.teleport.kind is TeleportKind.OFF:
        return out
    every = variant.teleport.kind is TeleportKind.KABUTAR
    out[list(range(1, sides + 1)) if every else [1, sides]] = 1
    out /= out.sum()
    return out
