"""The board for terminals: plain characters, seen by the side to act; layer 3."""

from __future__ import annotations

from nardy_engine.notation.board_layout import (
    captives_by_point,
    columns_left_of_bar,
    counts_by_point,
    emir_level,
    has_bar,
    memory_words,
    pip_count,
    point_at,
    turn_text,
)
from nardy_engine.notation.situation import SIDE_NAMES, ParsedPosition, Side, other_side
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OFF, OPPONENT, Dice, Position

SIGNS: dict[Side, str] = {"W": "O", "B": "X"}
"""How checkers are drawn."""

EMIR_SIGNS: dict[Side, str] = {"W": "@", "B": "#"}
"""How an emir is drawn."""

_DEPTH = 5
"""Checkers drawn on a point; the last place shows the number if there are more."""

_BAR_WIDTH = 5
_MARGIN = "  "


def board_ascii(
    variant: Variant, position: Position, side: Side = "W", dice: Dice | None = None
) -> str:
    """Draw the board, several lines without a final newline.

    Args:
        variant: The game.
        position: Row 0 is `side`.
        side: Colour of the side to act, from whose seat the board is seen.
        dice: The roll to be played; None before the roll.

    Points carry the numbers of the side to act; both sides are described in `board_layout`. A
    captive (EMI-5) lies under its captors, at the edge of the board, in lower case.
    """
    turn = turn_text(variant, position, dice)
    title = f"{variant.title}: {SIDE_NAMES[side]} ({SIGNS[side]}) {turn}"
    levels = range(_DEPTH)
    lines = [
        title,
        "",
        _numbers(variant, top=True),
        *(_row(variant, position, side, level, top=True) for level in levels),
        _middle(variant),
        *(_row(variant, position, side, level, top=False) for level in reversed(levels)),
        _numbers(variant, top=False),
        "",
    ]
    parsed = ParsedPosition(position, side)
    lines += [_footer(variant, parsed, colour) for colour in (side, other_side(side))]
    return "\n".join((_MARGIN + line).rstrip() for line in lines)


def _numbers(variant: Variant, top: bool) -> str:
    columns = variant.setup.points // 2
    cells = [f"{point_at(variant, column, top):-^3}" for column in range(columns)]
    left = columns_left_of_bar(variant)
    bar = "-" * _BAR_WIDTH
    return f"+-{''.join(cells[:left])}-+{bar}+-{''.join(cells[left:])}-+"


def _row(variant: Variant, position: Position, side: Side, level: int, top: bool) -> str:
    """Draw one level of the stacks, 0 at the edge of the board."""
    stacks = _stacks(variant, position, side)
    columns = range(variant.setup.points // 2)
    cells = [_cell(stacks[point_at(variant, column, top)], level) for column in columns]
    left = columns_left_of_bar(variant)
    # Each side enters on the top or bottom row from the viewer's seat: the viewer at the top.
    viewer, colour = (MOVER, side) if top else (OPPONENT, other_side(side))
    waiting = _stack(variant, position[viewer], variant.bar, colour)
    bar = _cell(waiting, _DEPTH - 1 - level).center(_BAR_WIDTH)
    return f"| {''.join(cells[:left])} |{bar}| {''.join(cells[left:])} |"


def _stacks(variant: Variant, position: Position, side: Side) -> dict[int, str]:
    """Return the checkers on each point of the viewer, one sign each, from the edge inwards."""
    colours = side, other_side(side)
    captives = captives_by_point(variant, position)
    stacks = {}
    for point, (mine, _) in counts_by_point(variant, position).items():
        row = MOVER if mine else OPPONENT
        own = point if mine else variant.opposite_point(point)
        stack = _stack(variant, position[row], own, colours[row])
        if point in captives:
            captive = captives[point]
            theirs = point if captive == MOVER else variant.opposite_point(point)
            emir = variant.recall(position[captive], "emir") == theirs
            signs = EMIR_SIGNS if emir else SIGNS
            stack = signs[colours[captive]].lower() + stack
        stacks[point] = stack
    return stacks


def _stack(variant: Variant, row: tuple[int, ...], slot: int, colour: Side) -> str:
    """Return a side's free checkers on one of its own slots."""
    if variant.captives_exist and row[slot] and variant.recall(row, "emir") == slot:
        below = emir_level(variant, row)
        above = SIGNS[colour] * (row[slot] - 1 - below)
        return SIGNS[colour] * below + EMIR_SIGNS[colour] + above
    return SIGNS[colour] * row[slot]


def _cell(stack: str, level: int) -> str:
    """Return one checker; the innermost place of a stack too high for it shows its number."""
    if level == _DEPTH - 1 and len(stack) > _DEPTH:
        return f"{len(stack):^3}"
    return f" {stack[level]} " if level < len(stack) else "   "


def _middle(variant: Variant) -> str:
    left = columns_left_of_bar(variant)
    right = variant.setup.points // 2 - left
    name = "BAR" if has_bar(variant) else ""
    return f"| {'   ' * left} |{name:^{_BAR_WIDTH}}| {'   ' * right} |"


def _footer(variant: Variant, parsed: ParsedPosition, colour: Side) -> str:
    row = parsed.row(colour)
    name = f"{SIDE_NAMES[colour]} ({SIGNS[colour]})"
    words = [f"pips {pip_count(variant, row):3}", f"off {row[OFF]:2}"]
    if has_bar(variant):
        words.append(f"bar {row[variant.bar]}")
    words += memory_words(variant, row)
    if variant.captives_exist:
        words[-1] = words[-1].replace("emir", f"emir ({EMIR_SIGNS[colour]})")
    return "   ".join([name, *words])
