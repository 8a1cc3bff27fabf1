"""Boards as text and as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from nardy_engine import load_variant
from nardy_engine.notation import board_ascii, board_svg, parse_play
from nardy_engine.notation.board_layout import pip_count, place, point_at
from positions import case, row

LONG = load_variant("long")
SHORT = load_variant("short")
SVG = "{http://www.w3.org/2000/svg}"

LONG_BLACK = """\
  Long nardy: Black (X) to play 4-3

  +-13-14-15-16-17-18--+-----+-19-20-21-22-23-24--+
  |  X  O           O  |     |     X  O     X  X  |
  |  X                 |     |        O        X  |
  |                    |     |                 X  |
  |                    |     |                 X  |
  |                    |     |                 7  |
  |                    |     |                    |
  |  6                 |     |                    |
  |  O                 |     |                    |
  |  O        O        |     |                    |
  |  O        O        |     |                    |
  |  O        O     O  |     |  O     X           |
  +-12-11-10--9--8--7--+-----+--6--5--4--3--2--1--+

  Black (X)   pips 241   off  3
  White (O)   pips 270   off  0"""

SHORT_BARS = """\
  Short nardy (backgammon): White (O) to roll

  +-13-14-15-16-17-18--+-----+-19-20-21-22-23-24--+
  |  O           X     |     |  X        X        |
  |  O           X     |     |  X        X        |
  |  O           X     |     |  X                 |
  |  O           X     |  O  |  X                 |
  |  O                 |  O  |  6                 |
  |                    | BAR |                    |
  |                    |  X  |                    |
  |                    |     |                    |
  |                    |     |  O                 |
  |                    |     |  O  O              |
  |                    |     |  O  O           X  |
  +-12-11-10--9--8--7--+-----+--6--5--4--3--2--1--+

  White (O)   pips 143   off  3   bar 2
  Black (X)   pips 123   off  1   bar 1"""


def test_board_of_long_nardy_from_blacks_seat() -> None:
    """Black's numbers, head top right; White's head is Black's 12, bottom left (G-2)."""
    position, dice = case(
        "W{24:6 21:3 19:1 18:1 9:2 6:1 2:1}|B{24:7 23:1 20:1 13:2 4:1 off3}; B 4-3"
    )
    assert board_ascii(LONG, position, "B", dice) == LONG_BLACK


def test_board_of_short_nardy_with_both_bars() -> None:
    """Both bars, trays and a stack above five; Black's 6 is White's 19 (G-5)."""
    position, _ = case("W{bar:2 13:5 6:3 5:2 off3}|B{bar:1 24:1 8:4 6:6 3:2 off1}; W 6-5")
    assert board_ascii(SHORT, position, "W") == SHORT_BARS


def test_lines_of_a_board_are_equally_long() -> None:
    """Every frame line of the drawing ends in the same column, on any board."""
    for name in ("long", "short", "hypergammon"):
        game = load_variant(name)
        lines = board_ascii(game, game.start_position()).splitlines()[2:-3]
        assert len({len(line) for line in lines}) == 1


def test_pip_count_counts_the_bar_above_the_head() -> None:
    """25 pips a checker on the bar, none for those borne off."""
    assert pip_count(SHORT, row("bar:2 13:5 6:3 5:2 off3")) == 50 + 65 + 18 + 10


def test_layout_is_anticlockwise_and_invertible() -> None:
    """24 is top right, 13 top left, 12 bottom left, 1 bottom right, for the viewer."""
    corners = {24: (11, True), 13: (0, True), 12: (0, False), 1: (11, False)}
    assert {point: tuple(place(LONG, point)) for point in corners} == corners
    assert all(point_at(LONG, *place(LONG, point)) == point for point in range(1, 25))


def _shapes(svg: str, tag: str, fill: str) -> list[ET.Element]:
    return [shape for shape in ET.fromstring(svg).iter(SVG + tag) if shape.get("fill") == fill]


def test_svg_shows_every_checker() -> None:
    """At most five checkers on a point, the number on the last; borne-off ones in the tray."""
    position, dice = case(
        "W{24:6 21:3 19:1 18:1 9:2 6:1 2:1}|B{24:7 23:1 20:1 13:2 4:1 off3}; B 4-3"
    )
    svg = board_svg(LONG, position, "B", dice)
    # 14 of White (five of the six on 24), 10 of Black (five of the seven on 24), 3 in the tray.
    assert len(_shapes(svg, "circle", "url(#ivory)")) == 14
    assert len(_shapes(svg, "circle", "url(#ebony)")) == 10
    tray_and_dice = _shapes(svg, "rect", "url(#ebony)")
    assert len(tray_and_dice) == 3 + 2
    texts = [text.text for text in ET.fromstring(svg).iter(SVG + "text")]
    assert sorted(texts[:24], key=int) == [str(n) for n in range(1, 25)]
    assert texts[24:26] == ["7", "6"]


def test_svg_marks_heads_where_a_head_rule_exists() -> None:
    """Both heads of long nardy are marked, none in short nardy (L-5, S-7)."""
    for game, marks in ((LONG, 2), (SHORT, 0)):
        svg = board_svg(game, game.start_position())
        titles = [title.text for title in ET.fromstring(svg).iter(SVG + "title")]
        assert titles.count("head") == marks


def test_svg_is_self_contained() -> None:
    """Nothing is fetched or run: no links, images, styles or scripts."""
    svg = board_svg(SHORT, SHORT.start_position(), "W", (3, 1), caption="<a & b>")
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}
    assert not tags & {"image", "script", "style", "use", "a", "foreignObject"}
    assert svg.count("http") == 1
    assert "&lt;a &amp; b&gt;" in svg


def test_svg_draws_a_play_as_arrows() -> None:
    """One arrow a step, a dashed ring where a checker lands."""
    position = SHORT.start_position()
    play = parse_play("8/5 6/5", SHORT, position, (3, 1))
    svg = board_svg(SHORT, position, "W", (3, 1), play)
    rings = [c for c in ET.fromstring(svg).iter(SVG + "circle") if c.get("stroke-dasharray")]
    places = sorted((float(ring.get("cx", 0)), float(ring.get("cy", 0))) for ring in rings)
    assert len(places) == 2
    assert places[0][0] == places[1][0]
    assert places[1][1] - places[0][1] == 44
