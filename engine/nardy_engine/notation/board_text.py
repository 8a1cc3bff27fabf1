"""The board for terminals: plain characters, seen by the side to act; layer 3."""

from __future__ import annotations

from nardy_engine.notation.board_layout import (
    columns_left_of_bar,
    counts_by_point,
    pip_count,
    point_at,
)
from nardy_engine.notation.situation import SIDE_NAMES, ParsedPosition, Side, other_side
from nardy_engine.rules import Variant
from nardy_engine.rules.components import Contact
from nardy_engine.types import OFF, Dice, Position

SIGNS: dict[Side, str] = {"W": "O", "B": "X"}
"""How checkers are drawn."""

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

    Points carry the numbers of the side to act; both sides are described in `board_layout`.
    """
    turn = f"to play {dice[0]}-{dice[1]}" if dice else "to roll"
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
    signs = SIGNS[side], SIGNS[other_side(side)]
    counts = counts_by_point(variant, position)
    cells = []
    for column in range(variant.setup.points // 2):
        mine, theirs = counts[point_at(variant, column, top)]
        cells.append(_cell(mine or theirs, signs[0] if mine else signs[1], level))
    left = columns_left_of_bar(variant)
    # Each side enters on the top or bottom row from the viewer's seat: the viewer at the top.
    row, sign = (position.mover, signs[0]) if top else (position.opponent, signs[1])
    bar = _cell(row[variant.bar], sign, _DEPTH - 1 - level).center(_BAR_WIDTH)
    return f"| {''.join(cells[:left])} |{bar}| {''.join(cells[left:])} |"


def _cell(count: int, sign: str, level: int) -> str:
    if level == _DEPTH - 1 and count > _DEPTH:
        return f"{count:^3}"
    return f" {sign} " if level < count else "   "


def _middle(variant: Variant) -> str:
    left = columns_left_of_bar(variant)
    right = variant.setup.points // 2 - left
    name = "BAR" if variant.contact is Contact.HIT else ""
    return f"| {'   ' * left} |{name:^{_BAR_WIDTH}}| {'   ' * right} |"


def _footer(variant: Variant, parsed: ParsedPosition, colour: Side) -> str:
    row = parsed.row(colour)
    bar = f"   bar {row[variant.bar]}" if variant.contact is Contact.HIT else ""
    name = f"{SIDE_NAMES[colour]} ({SIGNS[colour]})"
    return f"{name}   pips {pip_count(row):3}   off {row[OFF]:2}{bar}"
