"""Made-up positions of emir for the comparison of the engines: captives, bars, nukers, emirs.

Random play reaches most of what emir has, but seldom late: a captured emir, checkers that wait on
the bar, lone checkers in front of blocks. Here every part of a position is drawn on its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from nardy_engine.errors import PositionError
from nardy_engine.rules import Variant
from nardy_engine.rules.memory import memory_index
from nardy_engine.types import OFF, Position


def random_emir_position(variant: Variant, rng: random.Random) -> Position:
    """Return a position of a game with `contact=emir` that is not over, the side to act in row 0.

    Half of the positions that ask for a pre-roll move have one; the others test that there is
    none.
    """
    while True:
        sides = (_Side(variant, rng), _Side(variant, rng))
        points = list(range(1, variant.bar))
        for side in rng.sample(sides, 2):
            side.take_points([point for point in points if point not in side.closed])
            other = sides[1] if side is sides[0] else sides[0]
            other.closed |= {variant.opposite_point(point) for point in side.counts}
        for side, other in (sides, sides[::-1]):
            side.lie_under(other)
        first = rng.randrange(2)
        rows = [side.row(int(first == index)) for index, side in enumerate(sides)]
        if variant.remembers("preroll"):
            rows[0][memory_index(variant)["preroll"]] = int(rng.random() < 0.3)
        position = Position(tuple(rows[0]), tuple(rows[1]))
        try:
            variant.check_position(position)
        except PositionError:
            continue
        if all(map(variant.board_checkers, position)):
            return position


def _anywhere(variant: Variant, rng: random.Random) -> list[int]:
    """Return points all over the route, few or many."""
    return rng.sample(range(1, variant.bar), rng.randint(2, variant.setup.points // 2))


def _early(variant: Variant, rng: random.Random) -> list[int]:
    """Return the head, mostly, and some points behind it."""
    few = rng.sample(range(1, variant.bar), rng.randint(1, 5))
    return [variant.head_point] * rng.randint(1, 8) + few


def _late(variant: Variant, rng: random.Random) -> list[int]:
    """Return points at home and perhaps one straggler."""
    home = list(range(1, variant.setup.home + 1))
    return (
        rng.sample(home, rng.randint(1, len(home))) + _anywhere(variant, rng)[: rng.random() < 0.3]
    )


def _run(variant: Variant, rng: random.Random) -> list[int]:
    """Return neighbours on the ring, perhaps with a hole: a block if two stand on each."""
    length = variant.block.length + rng.randint(-1, 2)
    low = rng.randrange(variant.setup.points)
    run = [(low + step) % variant.setup.points + 1 for step in range(length)]
    if rng.random() < 0.3:
        run.remove(rng.choice(run))
    return run + _anywhere(variant, rng)[: rng.randint(0, 2)]


_SHAPES: tuple[Callable[[Variant, random.Random], list[int]], ...] = (
    _anywhere,
    _anywhere,
    _early,
    _late,
    _run,
)


class _Side:
    """One side while it is being put on the board."""

    def __init__(self, variant: Variant, rng: random.Random) -> None:
        self.variant, self.rng = variant, rng
        self.closed: set[int] = set()
        """Points on which the other side stands."""
        self.counts: dict[int, int] = {}
        """Free checkers by point, bar and off among them."""
        self.captives: set[int] = set()
        reserve = variant.setup.reserve
        self.reserve = rng.choice((0, reserve, rng.randint(0, reserve)))
        self.left = variant.setup.checkers - self.reserve

    def take_points(self, allowed: list[int]) -> None:
        """Put the checkers on points of a random shape, singly at first."""
        variant, rng = self.variant, self.rng
        shape = rng.choice(_SHAPES)
        points = [point for point in shape(variant, rng) if point in allowed]
        points = points or [rng.choice(allowed)]
        if rng.random() < 0.25:
            self._put(variant.bar, rng.randint(1, 3))
        if rng.random() < (0.7 if shape is _late else 0.2):
            self._put(OFF, rng.randint(1, self.left - 1))
        for point in dict.fromkeys(points):
            self._put(point, 2 if shape is _run and rng.random() < 0.8 else 1)
        while self.left > 0:
            self._put(rng.choice(points), 1)

    def lie_under(self, other: _Side) -> None:
        """Turn some checkers into captives of lone and other checkers of `other`."""
        chance = self.rng.choice((0, 0.1, 0.3))
        for point in sorted(other.counts):
            if not 0 < point < self.variant.bar or point in other.captives:
                continue
            source = self.rng.choice(sorted(self.counts))
            if source != self.variant.bar and self.rng.random() < chance:
                self._remove(source)
                self.captives.add(self.variant.opposite_point(point))

    def row(self, first: int) -> list[int]:
        """Return the row; `first` = the side moved first in the game."""
        variant, rng, slots = self.variant, self.rng, memory_index(self.variant)
        row = [0] * variant.n_slots
        for slot, count in self.counts.items():
            row[slot] = count
        for point in self.captives:
            row[slots[f"captive_{point}"]] = 1
        places = sorted(self.captives) + [slot for slot in sorted(self.counts) if self.counts[slot]]
        lone = [place for place in places if row[place] < 2 and place != OFF]
        place = rng.choice(lone if lone and rng.random() < 0.5 else places)
        on_head = row[variant.head_point] if place == variant.head_point else 0
        memory = {
            "first": first,
            "fresh": int(rng.random() < 0.2),
            "emir": place,
            "emir_above": rng.randrange(on_head) if on_head else 0,
            "reserve": self.reserve,
        }
        for name, value in memory.items():
            if name in slots:
                row[slots[name]] = value
        return row

    def _put(self, slot: int, count: int) -> None:
        count = min(count, self.left)
        if count > 0:
            self.counts[slot] = self.counts.get(slot, 0) + count
            self.left -= count

    def _remove(self, slot: int) -> None:
        self.counts[slot] -= 1
        if not self.counts[slot]:
            del self.counts[slot]
