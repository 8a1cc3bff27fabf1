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

from nardy_engine.notation.segments import dice_text, segment_dice
from nardy_engine.rules import Variant
from nardy_engine.rules.components import Contact, Direction, HeadLimit
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import MOVER, OPPONENT, Dice, Position, Row


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


def captives_by_point(variant: Variant, position: Position) -> dict[int, int]:
    """Return the viewer's points under whose checkers one lies captive, and the row it is of.

    Args:
        variant: The game.
        position: The viewer in row 0.
    """
    mine = dict.fromkeys(variant.captives(position.mover), MOVER)
    theirs = map(variant.opposite_point, variant.captives(position.opponent))
    return mine | dict.fromkeys(theirs, OPPONENT)


def emir_level(variant: Variant, row: Row) -> int:
    """Return how many own checkers lie nearer to the edge of the board than the emir.

    Only the order on the head is a rule (EMI-2); elsewhere it is drawn on top, where it is seen.
    """
    place = variant.recall(row, "emir")
    return max(0, row[place] - 1 - variant.recall(row, "emir_above"))


def has_bar(variant: Variant) -> bool:
    """Return whether checkers can wait on the bar."""
    return variant.contact is not Contact.NONE


def turn_text(variant: Variant, position: Position, dice: Dice | None) -> str:
    """Say what the side to act does now.

    Args:
        variant: The game.
        position: The side to act in row 0.
        dice: The roll to be played, if rolled.
    """
    if now := segment_dice(variant, position):
        whose = "its own" if variant.recall(position.mover, "roller") else "the other side's"
        return f"to play {dice_text(now)} of {whose} roll"
    if variant.recall(position.mover, "preroll"):
        return "to make a pre-roll move or none"
    return f"to play {dice[0]}-{dice[1]}" if dice else "to roll"


def memory_words(variant: Variant, row: Row) -> list[str]:
    """Say what a side has that no point shows: dice owed, nukers, where its emir is."""
    words = []
    owed = [f"{steps} x {die}" for die, steps in owed_dice(variant, row)]
    if owed:
        words.append(f"must play {', '.join(owed)}")
    if variant.setup.reserve:
        words.append(f"reserve {variant.recall(row, 'reserve')}")
    if variant.captives_exist:
        place, above = variant.recall(row, "emir"), variant.recall(row, "emir_above")
        where = {0: "off", variant.bar: "bar"}.get(place, str(place))
        words.append(f"emir {where}" + (f" ({above} above)" if above else ""))
        if place in variant.captives(row):
            words[-1] += " captive"
    if variant.remembers("first") and variant.recall(row, "last_turn"):
        words.append("last turn")
    return words


def head_points(variant: Variant) -> tuple[int, ...]:
    """Return the viewer's numbers of both heads, if the game has a head rule."""
    if variant.head.limit is HeadLimit.NONE:
        return ()
    return variant.head_point, variant.opposite_point(variant.head_point)


def opponent_leaves_left(variant: Variant) -> bool:
    """Say whether the opponent bears off at the top left rather than the top right."""
    return variant.setup.direction is Direction.SAME


def pip_count(variant: Variant, row: Row) -> int:
    """Return the pips that a side still has to travel, the bar counted one above the head.

    >>> from nardy_engine import load_variant
    >>> pip_count(load_variant("hypergammon"), (1, 0, 0, 1, *[0] * 21, 1))
    28
    """
    counts = row[: variant.n_counts]
    return sum(slot * count for slot, count in enumerate(counts)) + sum(variant.captives(row))
