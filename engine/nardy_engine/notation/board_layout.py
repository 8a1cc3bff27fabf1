"""Where the points of a board lie when it is drawn; layer 3, imports rules and types.

Every board is drawn from the seat of one side, the *viewer*, in the viewer's own numbers: the upper
half of the numbers from left to right in the top row, the lower half from right to left in the
bottom row, so 24 is top right and 1 bottom right, and the viewer travels anticlockwise: left along
the top, down, and right along the bottom into the home at the bottom right.

In the same-direction games the opponent travels anticlockwise too, half a ring ahead: the
opponent's head is bottom left (the viewer's 12) and the opponent's home is top left. In short
nardy the opponent travels clockwise and bears off at the top right.
"""

from __future__ import annotations

from typing import NamedTuple

from nardy_engine.rules import Variant
from nardy_engine.rules.components import Direction, HeadLimit
from nardy_engine.types import OFF, Position, Row


class Place(NamedTuple):
    """Column and row of a point."""

    column: int
    """From 0 at the left; the bar is between two columns and has none."""
    top: bool


def place(variant: Variant, point: int) -> Place:
    """Return where the viewer's own `point` lies."""
    half = variant.setup.points // 2
    return Place(point - half - 1, True) if point > half else Place(half - point, False)


def point_at(variant: Variant, column: int, top: bool) -> int:
    """Return the viewer's own number of the point in a column; the inverse of `place`."""
    half = variant.setup.points // 2
    return half + 1 + column if top else half - column


def columns_left_of_bar(variant: Variant) -> int:
    """Return how many columns lie left of the bar; the home boards lie right of it."""
    return variant.setup.points // 2 - variant.setup.home


def counts_by_point(variant: Variant, position: Position) -> dict[int, tuple[int, int]]:
    """Return the viewer's and the opponent's checkers on each of the viewer's points.

    Args:
        variant: The game.
        position: The viewer in row 0.
    """
    return {
        point: (position.mover[point], position.opponent[variant.opposite_point(point)])
        for point in range(1, variant.bar)
    }


def head_points(variant: Variant) -> tuple[int, ...]:
    """Return the viewer's numbers of both heads, if the game has a head rule."""
    if variant.head.limit is HeadLimit.NONE:
        return ()
    return variant.head_point, variant.opposite_point(variant.head_point)


def opponent_leaves_left(variant: Variant) -> bool:
    """Say whether the opponent bears off at the top left rather than the top right."""
    return variant.setup.direction is Direction.SAME


def pip_count(row: Row) -> int:
    """Return the pips that a side still has to travel, the bar counted one above the head.

    >>> pip_count((13, 0, 0, 1, 0, 0, 1))
    9
    """
    return sum(slot * count for slot, count in enumerate(row) if slot != OFF)
