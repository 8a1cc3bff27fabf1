"""The board as a picture: one self-contained SVG, for the README and for notebooks; layer 3.

The lie of the points is that of `board_layout`: from the seat of the side to act, its numbers on
the frame, its way anticlockwise from the top right to the bottom right. A play is drawn as arrows
on the position before it. A captive (EMI-5) lies at the edge of the board under its captors, with
a red ring around it, and an emir wears a star. Nothing is fetched: no fonts, scripts or styles
from elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from nardy_engine.notation.board_layout import (
    captives_by_point,
    columns_left_of_bar,
    emir_level,
    head_points,
    memory_words,
    opponent_leaves_left,
    pip_count,
    place,
    turn_text,
)
from nardy_engine.notation.segments import segment_dice
from nardy_engine.notation.situation import SIDE_NAMES, ParsedPosition, Side, other_side
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OFF, Dice, Play, Position, Row, Step

_COLUMN = 48
_RADIUS = 22
_STACK = 5
"""Checkers drawn on a point; a number on the last one says if there are more."""
_FIELD_HEIGHT = 2 * _STACK * 2 * _RADIUS + 74
_FRAME = 30
_BAR = 56
_TRAY = 56
_CAPTION = 26
_ARROW = "#1f8a55"
_LONG_CAPTION = 80
"""Characters that no longer fit in the usual size."""

_CHECKERS: dict[Side, tuple[str, str, str]] = {
    "W": ("url(#ivory)", "#8a6d45", "#5b4224"),
    "B": ("url(#ebony)", "#100a06", "#f3e6cf"),
}
"""Fill, outline and text colour of each side's checkers."""

_DEFINITIONS = """<defs>
<linearGradient id="frame" x1="0" y1="0" x2="0" y2="1">
<stop offset="0" stop-color="#6d4023"/><stop offset="0.5" stop-color="#5a3219"/>
<stop offset="1" stop-color="#4a2812"/></linearGradient>
<linearGradient id="field" x1="0" y1="0" x2="1" y2="1">
<stop offset="0" stop-color="#e9cf9f"/><stop offset="1" stop-color="#d9b57c"/></linearGradient>
<radialGradient id="ivory" cx="0.38" cy="0.32" r="0.8">
<stop offset="0" stop-color="#fffaf0"/><stop offset="0.7" stop-color="#f0dfbf"/>
<stop offset="1" stop-color="#cfb489"/></radialGradient>
<radialGradient id="ebony" cx="0.38" cy="0.32" r="0.8">
<stop offset="0" stop-color="#6b5547"/><stop offset="0.6" stop-color="#3a2a20"/>
<stop offset="1" stop-color="#1d130c"/></radialGradient>
</defs>"""


def board_svg(
    variant: Variant,
    position: Position,
    side: Side = "W",
    dice: Dice | None = None,
    play: Play | None = None,
    caption: str | None = None,
) -> str:
    """Draw the board.

    Args:
        variant: The game.
        position: Row 0 is `side`.
        side: Colour of the side to act, from whose seat the board is seen.
        dice: The roll, shown on the board; None before the roll. Dice owed are shown without it.
        play: A play from this position, shown as arrows.
        caption: The line below the board; None for pip counts and checkers borne off.

    Returns:
        The text of an SVG file.
    """
    return _Picture(variant, position, side).draw(dice, play, caption)


class _Picture:
    """Measures of one picture and the drawing of its parts."""

    def __init__(self, variant: Variant, position: Position, side: Side) -> None:
        self._variant = variant
        self._position = position
        self._side = side
        self._columns = variant.setup.points // 2
        self._captives = captives_by_point(variant, position)
        self._left_tray = _TRAY if opponent_leaves_left(variant) else 0
        self._field_x = _FRAME + self._left_tray
        self._field_width = self._columns * _COLUMN + _BAR
        self._bar_x = self._field_x + columns_left_of_bar(variant) * _COLUMN
        self._width = self._field_x + self._field_width + _TRAY + _FRAME
        self._height = _FIELD_HEIGHT + 2 * _FRAME + _CAPTION
        self._top = _FRAME
        self._bottom = _FRAME + _FIELD_HEIGHT

    def draw(self, dice: Dice | None, play: Play | None, caption: str | None) -> str:
        """Put the parts together, from the back to the front."""
        doing = turn_text(self._variant, self._position, dice)
        title = f"{self._variant.title}: {SIDE_NAMES[self._side]} {doing}"
        shown = dice or segment_dice(self._variant, self._position)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {self._height}" '
            f'width="{self._width}" height="{self._height}" role="img" '
            'font-family="Verdana, DejaVu Sans, sans-serif">',
            f"<title>{escape(title)}</title>",
            _DEFINITIONS,
            *self._wood(),
            *self._points(),
            *self._checkers(),
            *self._trays(),
            *self._dice(shown),
            *(self._arrows(play.steps) if play else []),
            self._caption(caption),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    # -- places -------------------------------------------------------------------------------

    def _x(self, point: int) -> float:
        """Return the middle of a point of the viewer."""
        column = place(self._variant, point).column
        bar = _BAR if column >= columns_left_of_bar(self._variant) else 0
        return self._field_x + column * _COLUMN + _COLUMN / 2 + bar

    def _on_point(self, point: int, level: int) -> tuple[float, float]:
        """Return the middle of checker number `level`, 0 at the edge of the board."""
        rise = _RADIUS + 1 + min(level, _STACK - 1) * 2 * _RADIUS
        top = place(self._variant, point).top
        return self._x(point), self._top + rise if top else self._bottom - rise

    def _on_bar(self, viewer: bool, level: int) -> tuple[float, float]:
        """Return a checker's place on the bar: the viewer's in the upper half, from the middle."""
        rise = 40 + min(level, _STACK - 1) * 2 * _RADIUS
        middle = (self._top + self._bottom) / 2
        return self._bar_x + _BAR / 2, middle - rise if viewer else middle + rise

    def _tray(self, viewer: bool) -> tuple[float, float]:
        """Return left and top of a tray: the viewer's bottom right, the opponent's above."""
        right = viewer or not self._left_tray
        x = self._field_x + self._field_width + 8 if right else _FRAME
        return x, self._bottom - self._tray_height() if viewer else self._top

    @staticmethod
    def _tray_height() -> float:
        return _FIELD_HEIGHT / 2 - 24

    # -- the board ----------------------------------------------------------------------------

    def _wood(self) -> list[str]:
        parts = [
            _rect(0, 0, self._width, self._height, "url(#frame)", 'rx="14"'),
            _rect(self._field_x, self._top, self._field_width, _FIELD_HEIGHT, "url(#field)"),
            _rect(self._bar_x, self._top, _BAR, _FIELD_HEIGHT, "#5a3219"),
        ]
        middle = self._bar_x + _BAR / 2
        parts.append(
            f'<line x1="{middle}" y1="{self._top}" x2="{middle}" y2="{self._bottom}" '
            'stroke="#3c200e" stroke-width="2"/>'
        )
        for viewer in (True, False):
            x, y = self._tray(viewer)
            parts.append(
                _rect(x, y, _TRAY - 8, self._tray_height(), "#3c200e", 'rx="5" fill-opacity="0.75"')
            )
        return parts

    def _points(self) -> list[str]:
        parts = []
        length = _STACK * 2 * _RADIUS - 4
        heads = head_points(self._variant)
        for point in range(1, self._variant.head_point + 1):
            x, top = self._x(point), place(self._variant, point).top
            base, tip = (
                (self._top, self._top + length) if top else (self._bottom, self._bottom - length)
            )
            fill = "#8c4a2b" if point % 2 else "#c98f52"
            half = _COLUMN / 2 - 1
            parts.append(
                f'<path d="M{x - half} {base} L{x + half} {base} L{x} {tip} Z" fill="{fill}" '
                'fill-opacity="0.92"/>'
            )
            label = self._top - 10 if top else self._bottom + 20
            head = point in heads
            parts.append(_text(x, label, str(point), 13, "#ffd873" if head else "#e8d3ae", head))
            if head:
                parts.append(self._head_mark(x, label))
        return parts

    def _head_mark(self, x: float, y: float) -> str:
        """Mark a head: a golden frame around its number."""
        return (
            f'<rect x="{x - 15}" y="{y - 14.5}" width="30" height="19" rx="9.5" fill="none" '
            'stroke="#ffd873" stroke-width="1.6"><title>head</title></rect>'
        )

    # -- checkers -----------------------------------------------------------------------------

    def _checkers(self) -> list[str]:
        parts = []
        for point, captive in self._captives.items():
            colour = self._side if captive == MOVER else other_side(self._side)
            row = self._position[captive]
            own = point if captive == MOVER else self._variant.opposite_point(point)
            x, y = self._on_point(point, 0)
            parts.append(_checker(x, y, colour, 0, is_emir=self._is_emir(row, own)))
            parts.append(_captive_ring(x, y))
        for viewer, row in ((True, self._position.mover), (False, self._position.opponent)):
            colour = self._side if viewer else other_side(self._side)
            for slot in range(1, self._variant.n_counts):
                parts += self._stack(viewer, row, slot, colour)
        return parts

    def _stack(self, viewer: bool, row: Row, slot: int, colour: Side) -> list[str]:
        """Draw one side's checkers on a slot, the lowest first."""
        under = self._under(viewer, slot)
        shown = min(row[slot], _STACK - under)
        # Where the emir's place in a high stack is not drawn, the one below the number shows it.
        highest = shown - 1 - (row[slot] > shown)
        emir = min(emir_level(self._variant, row), highest) if self._is_emir(row, slot) else -1
        return [
            _checker(
                *self._spot(viewer, slot, level),
                colour,
                row[slot] if level == shown - 1 and row[slot] > shown else 0,
                is_emir=level == emir,
            )
            for level in range(shown)
        ]

    def _is_emir(self, row: Row, slot: int) -> bool:
        return self._variant.captives_exist and self._variant.recall(row, "emir") == slot

    def _under(self, viewer: bool, slot: int) -> int:
        """Return 1 where a captive lies under the checkers of a slot."""
        if slot == self._variant.bar:
            return 0
        point = slot if viewer else self._variant.opposite_point(slot)
        return int(point in self._captives)

    def _spot(self, viewer: bool, slot: int, level: int) -> tuple[float, float]:
        """Return where a checker of one side lies, by its own slot."""
        if slot == self._variant.bar:
            return self._on_bar(viewer, level)
        level += self._under(viewer, slot)
        return self._on_point(slot if viewer else self._variant.opposite_point(slot), level)

    def _trays(self) -> list[str]:
        """Draw the checkers borne off, seen from the edge, and their number."""
        parts = []
        for viewer, row in ((True, self._position.mover), (False, self._position.opponent)):
            fill, outline, _ = _CHECKERS[self._side if viewer else other_side(self._side)]
            x, y = self._tray(viewer)
            pitch = (self._tray_height() - 12) / self._variant.setup.checkers
            edge = min(pitch - 1.5, 11)
            for i in range(row[OFF]):
                offset = 6 + i * pitch
                down = y + self._tray_height() - offset - edge if viewer else y + offset
                parts.append(
                    f'<rect x="{x + 5}" y="{down:.1f}" width="{_TRAY - 18}" height="{edge:.1f}" '
                    f'rx="3" fill="{fill}" stroke="{outline}"/>'
                )
        return parts

    def _dice(self, dice: Sequence[int]) -> list[str]:
        """Draw the dice that are to be played in a row, smaller if there are many."""
        right = self._bar_x + _BAR
        width = self._field_x + self._field_width - right
        y = (self._top + self._bottom) / 2
        size = min(1.0, width / (54 * len(dice) + 20)) if dice else 1.0
        fill, outline, ink = _CHECKERS[self._side]
        parts = []
        for i, number in enumerate(dice):
            x = right + width / 2 + (i - (len(dice) - 1) / 2) * 54 * size
            half = round(19 * size, 1)
            parts.append(
                f'<rect x="{x - half:g}" y="{y - half:g}" width="{2 * half:g}" '
                f'height="{2 * half:g}" rx="{8 * size:g}" fill="{fill}" '
                f'stroke="{outline}" stroke-width="1.5"/>'
            )
            parts += [
                f'<circle cx="{x + 11 * size * dx:g}" cy="{y + 11 * size * dy:g}" '
                f'r="{3.8 * size:g}" fill="{ink}"/>'
                for dx, dy in _PIPS[number]
            ]
        return parts

    # -- plays and text -----------------------------------------------------------------------

    def _arrows(self, steps: Sequence[Step]) -> list[str]:
        heights = list(self._position.mover)
        parts = []
        for step in steps:
            if step.source == OFF:  # a nuker comes from the reserve beside the board (EMI-11)
                x, y = self._tray(True)
                start = x + (_TRAY - 8) / 2, y - 14.0
            else:
                start = self._spot(True, step.source, heights[step.source] - 1)
            heights[step.source] -= 1
            if step.target == OFF:
                x, y = self._tray(True)
                end = x + (_TRAY - 8) / 2, y + self._tray_height() / 2
            else:
                end = self._spot(True, step.target, heights[step.target])
                heights[step.target] += 1
                parts.append(
                    f'<circle cx="{end[0]}" cy="{end[1]}" r="{_RADIUS - 3}" fill="{_ARROW}" '
                    f'fill-opacity="0.3" stroke="#fff7e6" stroke-width="2" '
                    'stroke-dasharray="5 4"/>'
                )
            parts.append(self._arrow(start, end))
        return parts

    def _arrow(self, start: tuple[float, float], end: tuple[float, float]) -> str:
        """Draw a line bent towards the middle of the board, with a light edge and a head."""
        middle = (self._top + self._bottom) / 2
        bend_x, bend_y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        bend_y += (middle - bend_y) * 0.45
        angle = math.atan2(end[1] - bend_y, end[0] - bend_x)
        leaving = math.atan2(bend_y - start[1], bend_x - start[0])
        start = (
            round(start[0] + (_RADIUS - 5) * math.cos(leaving), 1),
            round(start[1] + (_RADIUS - 5) * math.sin(leaving), 1),
        )

        def behind(back: float, aside: float) -> str:
            x = end[0] - back * math.cos(angle) - aside * math.sin(angle)
            y = end[1] - back * math.sin(angle) + aside * math.cos(angle)
            return f"{x:.1f} {y:.1f}"

        line = f"M{start[0]} {start[1]} Q{bend_x:.1f} {bend_y:.1f} {behind(13, 0)}"
        head = f"M{behind(0, 0)} L{behind(17, 9)} L{behind(13, 0)} L{behind(17, -9)} Z"
        return (
            f'<path d="{line}" fill="none" stroke="#fff7e6" stroke-width="7.5" '
            'stroke-opacity="0.75" stroke-linecap="round"/>\n'
            f'<path d="{head}" fill="{_ARROW}" stroke="#fff7e6" stroke-width="1.5"/>\n'
            f'<path d="{line}" fill="none" stroke="{_ARROW}" stroke-width="4.5" '
            'stroke-linecap="round"/>'
        )

    def _caption(self, caption: str | None) -> str:
        if caption is None:
            parsed = ParsedPosition(self._position, self._side)
            caption = "  \u2022  ".join(
                f"{SIDE_NAMES[side]}: {', '.join(self._facts(row))}"
                for side, row in _rows_by_colour(parsed)
            )
        size = 15 if len(caption) < _LONG_CAPTION else 12
        return _text(self._width / 2, self._height - 13, caption, size, "#f3e6cf")

    def _facts(self, row: Row) -> list[str]:
        pips = pip_count(self._variant, row)
        return [f"{pips} pips", f"{row[OFF]} off", *memory_words(self._variant, row)]


def _rows_by_colour(parsed: ParsedPosition) -> list[tuple[Side, Row]]:
    return [(side, parsed.row(side)) for side in SIDE_NAMES]


_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}
"""Where the pips of a die lie, by its number."""


def _rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" {more}/>'


def _text(x: float, y: float, text: str, size: int, fill: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="middle" fill="{fill}"{weight}>'
        f"{escape(text)}</text>"
    )


def _captive_ring(x: float, y: float) -> str:
    return (
        f'<circle cx="{x}" cy="{y}" r="{_RADIUS - 4}" fill="none" stroke="#b3261e" '
        'stroke-width="3.5" stroke-dasharray="6 4"><title>captive</title></circle>'
    )


def _star(x: float, y: float) -> str:
    """Draw the mark of an emir."""
    corners = []
    for i in range(10):
        radius = 12.0 if i % 2 == 0 else 5.0
        angle = math.pi * (i / 5 - 0.5)
        corners.append(f"{x + radius * math.cos(angle):.1f},{y + radius * math.sin(angle):.1f}")
    return (
        f'<polygon points="{" ".join(corners)}" fill="#ffc73a" stroke="#5b3a00" '
        'stroke-width="1.2"><title>emir</title></polygon>'
    )


def _checker(x: float, y: float, side: Side, number: int, is_emir: bool = False) -> str:
    fill, outline, ink = _CHECKERS[side]
    parts = [
        f'<circle cx="{x}" cy="{y}" r="{_RADIUS - 0.8}" fill="{fill}" stroke="{outline}" '
        'stroke-width="1.4"/>',
        f'<circle cx="{x}" cy="{y}" r="{_RADIUS - 7}" fill="none" stroke="{outline}" '
        'stroke-opacity="0.35" stroke-width="1.2"/>',
    ]
    if is_emir:
        parts.append(_star(x, y))
    if number:
        parts.append(_text(x, y + 6, str(number), 17, ink, bold=True))
    return "\n".join(parts)
