"""Endings solved with exact fractions, from the rules text alone: what bear-off tables must say.

A side is the tuple of its checkers on points 1, 2, ...; plays come from `nardy_engine.reference`
or not at all, never from the kernels under test.
"""

from fractions import Fraction
from functools import cache
from itertools import pairwise, product

from nardy_engine import Position, load_variant, reference

HOME = 6
FEW = {"setup.checkers": 3, "setup.start": {24: 3}}
"""Three checkers a side: 84 home positions."""
FOUR_SIDES = {"dice.sides": 4, "bearoff.dice": [1, 2, 3, 4], "head.exception_doubles": [3, 4]}
RULES = {
    "highest": ("long", {}),
    "opposite": ("short", {}),
    "exact": ("long", {"bearoff.overshoot": "exact_only"}),
    "frozen": ("long", {"home.frozen": True}),
    "frozen exact": ("long", {"bearoff.overshoot": "exact_only", "home.frozen": True}),
    "lenient": ("long", {"bearoff.overshoot": "highest_or_all_higher_blocked"}),
    "1 and 6": ("long", {"bearoff.dice": [1, 6]}),
    "1 and 6 exact": ("long", {"bearoff.dice": [1, 6], "bearoff.overshoot": "exact_only"}),
    "double of two": ("long", {"dice.double_steps": 2}),
    "double of six": ("long", {"dice.double_steps": 6}),
    "n times m": ("astrogon", {}),
    "four-sided dice": ("long", FOUR_SIDES),
}
"""Rule sets whose endings differ (L-32, BNA-2, BNA-3, D-10, ONE-3, T-7, AST-1)."""


def few(name, **options):
    """Return a rule set with three checkers a side."""
    game, chosen = RULES[name]
    return load_variant(game, {**chosen, **FEW, **options})


def rolls(variant):
    """Return `((high, low), chance)` of the distinct rolls."""
    sides = variant.dice.sides
    return [
        ((high, low), Fraction(1 if high == low else 2, sides * sides))
        for high in range(1, sides + 1)
        for low in range(1, high + 1)
    ]


def home_sides(checkers):
    """Return every side with at most so many checkers at home, fewest pips first."""
    found = [c for c in product(range(checkers + 1), repeat=HOME) if sum(c) <= checkers]
    return sorted(found, key=lambda side: sum(p * n for p, n in enumerate(side, 1)))


def row(variant, side, first=True):
    """Return the `P` numbers of a row for a side of which the rest is off."""
    counts = [variant.setup.checkers - sum(side), *side]
    counts += [0] * (variant.n_slots - len(counts))
    if variant.remembers("first"):
        counts[variant.n_counts] = int(first)
    return tuple(counts)


def rank_key(side):
    """Return what ranks are ordered by: checkers in all, on 2 or higher, on 3 or higher, ..."""
    return tuple(sum(side[p:]) for p in range(HOME))


@cache
def ends(variant, side, dice):
    """Return the sides after every legal play, by the reference engine."""
    away = row(variant, (1,) + (0,) * (HOME - 1))
    found = reference.plays(variant, Position(row(variant, side), away), dice)
    return tuple({play.end.mover[1 : HOME + 1] for play in found})


class Side:
    """One side playing for the least mean number of rolls; `goal(side)` says when it is there."""

    def __init__(self, variant, goal=lambda side: not sum(side), plays_roll=lambda low: True):
        self.variant, self.goal, self.plays_roll = variant, goal, plays_roll
        self.mean, self.best = {}, {}
        for side in home_sides(variant.setup.checkers):
            self._solve(side)

    def ends(self, side, dice):
        """Return the sides after every legal play; the same one if the roll is skipped (CHN-1)."""
        return ends(self.variant, side, dice) if self.plays_roll(dice[1]) else (side,)

    def _solve(self, side):
        if self.goal(side):
            self.mean[side], self.best[side] = Fraction(0), []
            return
        total, passed, best = Fraction(1), Fraction(0), []
        for dice, chance in rolls(self.variant):
            found = self.ends(side, dice)
            if found == (side,):
                passed += chance
                best.append((side, chance))
                continue
            choice = min(found, key=lambda end: (self.mean[end], rank_key(end)))
            total += chance * self.mean[choice]
            best.append((choice, chance))
        self.mean[side], self.best[side] = total / (1 - passed), best

    @cache  # noqa: B019 - a few solved sides live as long as the tests
    def after(self, side, n):
        """Return the chance of each side after n rolls; who is there stays."""
        if n == 0 or not self.best[side]:
            return {side: Fraction(1)}
        chances = {}
        for end, chance in self.best[side]:
            for later, weight in self.after(end, n - 1).items():
                chances[later] = chances.get(later, 0) + chance * weight
        return chances

    @cache  # noqa: B019 - the same
    def done_after(self, side, n):
        """Return the chance to be there after n rolls or fewer."""
        if n == 0 or self.goal(side):
            return Fraction(int(self.goal(side)))
        return sum(chance * self.done_after(end, n - 1) for end, chance in self.best[side])

    def chances(self, side, most):
        """Return the chance of needing exactly 0, 1, ..., `most` rolls."""
        done = [self.done_after(side, n) for n in range(most + 1)]
        return [done[0]] + [b - a for a, b in pairwise(done)]


class Race:
    """Both sides playing for the chance to win; `wins(mine, theirs)` of the side to roll.

    If both can pass, the chances of the two sides to roll depend on each other: a pair of linear
    equations.
    """

    def __init__(self, me, other):
        self.sides = (me, other)
        self._known = {}

    def wins(self, mine, theirs, who=0):
        """Return the chance that player `who`, to roll with `mine`, wins."""
        if not sum(theirs):
            return Fraction(0)
        if (mine, theirs, who) not in self._known:
            a, p = self._played(mine, theirs, who)
            b, q = self._played(theirs, mine, 1 - who)
            # v = a + p (1 - w), w = b + q (1 - v)
            self._known[mine, theirs, who] = (a + p * (1 - b - q)) / (1 - p * q)
        return self._known[mine, theirs, who]

    def _played(self, mine, theirs, who):
        total, passed = Fraction(0), Fraction(0)
        for dice, chance in rolls(self.sides[who].variant):
            found = self.sides[who].ends(mine, dice)
            if found == (mine,):
                passed += chance
            else:
                total += chance * max(1 - self.wins(theirs, end, 1 - who) for end in found)
        return total, passed
