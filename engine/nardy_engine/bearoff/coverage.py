"""Which games have bear-off tables, and which rules the tables depend on; layer 5."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

from nardy_engine.rules.components import (
    BlockRule,
    Contact,
    Objective,
    Overshoot,
    Score,
)
from nardy_engine.rules.memory import has_segments
from nardy_engine.rules.table import RuleTable, rule_table
from nardy_engine.rules.variant import Variant

MAX_POSITIONS = 1 << 18
"""Most home positions of a side that tables are made for."""


class BearoffRules(NamedTuple):
    """The rules that a table depends on; games that agree in them share one."""

    home: int
    checkers: int
    sides: int
    double_steps: int
    n_times_m: int
    parity: int
    bearoff_dice: int
    exact_only: int
    frozen_home: int
    with_left: int
    """1 = the game counts the loser's checkers, so the table of checkers left is needed (KHA-4)."""

    @classmethod
    def of(cls, variant: Variant) -> BearoffRules:
        """Return those of a game."""
        rules: RuleTable = rule_table(variant)
        return cls(
            home=rules.home,
            checkers=rules.checkers,
            sides=rules.sides,
            double_steps=rules.double_steps,
            n_times_m=rules.n_times_m,
            parity=rules.parity,
            bearoff_dice=rules.bearoff_dice,
            exact_only=int(variant.bearoff.overshoot is Overshoot.EXACT_ONLY),
            frozen_home=rules.frozen_home,
            with_left=int(variant.score is Score.CHECKERS_LEFT),
        )


def n_positions(home: int, checkers: int) -> int:
    """Return the number of ways to place up to `checkers` checkers on `home` points."""
    return comb(checkers + home, home)


def obstacle(variant: Variant) -> str | None:
    """Return in words why a game has no bear-off tables, or None if it has."""
    home, checkers = variant.setup.home, variant.setup.checkers
    found = (
        (
            has_segments(variant),
            "a roll can be played in several decisions, some of them by the other side",
        ),
        (
            variant.contact is Contact.EMIR,
            "the sides differ in more than where their checkers stand",
        ),
        (
            variant.objective is Objective.FIRST_OFF_LOSES,
            "the first to bear off everything loses, so nobody hurries",
        ),
        (
            variant.block.rule is BlockRule.NEVER and variant.block.length <= home,
            "a block at home is forbidden, so plays depend on more than the dice",
        ),
        (
            n_positions(home, checkers) > MAX_POSITIONS,
            f"{checkers} checkers on {home} points have more than {MAX_POSITIONS:,} positions",
        ),
    )
    return next((sentence for hinders, sentence in found if hinders), None)
