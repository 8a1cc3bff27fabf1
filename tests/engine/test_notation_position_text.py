"""The one-line position text: strict writer, tolerant reader, errors that show the place."""

from __future__ import annotations

import pytest

from nardy_engine import Position, load_variant
from nardy_engine.errors import DiceError, NardyError, NotationError, PositionError
from nardy_engine.notation import format_position, parse_position

LONG = load_variant("long")
SHORT = load_variant("short")


def row(**counts: int) -> tuple[int, ...]:
    """Build a row of 26 slots from p24=13 style counts, off and bar."""
    slots = {"off": 0, "bar": 25}
    cells = [0] * 26
    for name, count in counts.items():
        cells[slots[name] if name in slots else int(name[1:])] = count
    return tuple(cells)


OPENED = Position(row(p24=13, p18=2), row(p24=15))


def test_position_text_has_the_form_of_the_rules() -> None:
    """Points from the highest down, own numbering, off always written (rules.md section 2)."""
    text = format_position(LONG, OPENED, "W", (6, 6))
    assert text == "W{24:13 18:2} off0 | B{24:15} off0 ; W 6-6"


def test_white_is_written_first_whoever_acts() -> None:
    """Row 0 is the side to act; the text keeps White on the left."""
    text = format_position(LONG, OPENED.swapped(), "B")
    assert text == "W{24:13 18:2} off0 | B{24:15} off0 ; B"


def test_bar_and_off_are_written_and_read() -> None:
    """The bar (own 25) and borne-off checkers of both sides survive (T28)."""
    position = Position(row(bar=1, p6=10, off=4), row(bar=2, p5=12, off=1))
    text = format_position(SHORT, position, "B", (2, 1))
    assert text == "W{bar:2 5:12} off1 | B{bar:1 6:10} off4 ; B 2-1"
    assert parse_position(text, SHORT)[:3] == (position, "B", (2, 1))


@pytest.mark.parametrize(
    "text",
    [
        "W{24:13 18:2} off0 | B{24:15} off0 ; W 6-6",
        "w{24:13,18:2}|b{24:15};w66",
        "W 24:13 18:2 | B 24:15 ; 6 6",
        "White{18:2 24:13} Black{24:15} W 6-6",
        "24:13 18:2 | 24:15 ; 66",
        "B{24:15} | W{24:13 18:2} ; W 6,6",
        "W{24:13 18:2} OFF 0 / B{24:15} off:0 66",
        "  W { 24 : 13  18 : 2 }  |  B { 24 : 15 }  ;  W  6 - 6  ",
        "W{24=13 18=2}|B{24=15};W 6/6",
    ],
)
def test_many_ways_to_type_one_position(text: str) -> None:
    """A person need not match the writer's blanks, case, braces, order or off."""
    assert parse_position(text, LONG)[:3] == (OPENED, "W", (6, 6))


def test_without_a_turn_white_acts_before_the_roll() -> None:
    """White is the first mover unless said otherwise (rules.md section 2)."""
    assert parse_position("W{24:15}|B{24:15}", LONG)[:3] == (LONG.start_position(), "W", None)


@pytest.mark.parametrize(
    ("text", "side", "dice"),
    [("start", "W", None), ("START 31", "W", (3, 1)), ("start; b 1-3", "B", (1, 3))],
)
def test_start_is_a_word(text: str, side: str, dice: tuple[int, int] | None) -> None:
    """`start` is the start position of the game that is played (S-1)."""
    parsed = parse_position(text, SHORT)
    assert parsed[:3] == (SHORT.start_position(), side, dice)
    assert parsed.position.mover == row(p24=2, p13=5, p8=3, p6=5)


def test_missing_off_is_the_rest() -> None:
    """`off` may be left out: what does not stand on the board is borne off."""
    parsed = parse_position("W{6:2 4:1}|B{1:1} ; W 6-3", LONG)
    assert parsed.position == Position(row(p6=2, p4=1, off=12), row(p1=1, off=14))


def test_a_turn_belongs_to_the_side_that_is_named() -> None:
    """With Black to act, Black's checkers are row 0."""
    parsed = parse_position("W{24:13 18:2}|B{24:15};B 5-5", LONG)
    assert parsed.position == OPENED.swapped()
    assert parsed.row("W") == OPENED.mover


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", NotationError, "empty"),
        ("hello", NotationError, "(column 1: '>>hello<<')"),
        ("W{24:15}", NotationError, "Black's checkers are missing"),
        ("W{29:15}|B{24:15}", NotationError, "point 29 is not on the board"),
        ("W{29:15}|B{24:15}", NotationError, "(column 3: 'W{>>29<<:15}|B{24:15}')"),
        ("W{24:13 18}|B{24:15}", NotationError, "a count after point 18 (column 9"),
        ("W{24:13 24:2}|B{24:15}", NotationError, "'24' twice (column 9"),
        ("W{24:15}|W{24:15}", NotationError, "White is given twice (column 10"),
        ("W{24:15}|B{24:15};X", NotationError, "(column 19"),
        ("W{24:15}|B{24:15};W 6", NotationError, "two numbers such as 6-4"),
        ("W{24:15}|B{24:15};W 6-4-1", NotationError, "two numbers such as 6-4"),
        ("W{24:15}|B{24:15};W 7-1", DiceError, "1 to 6, not 7"),
        ("W{24:16}|B{24:15}", PositionError, "White has 16 checkers"),
        ("W{24:13}off1|B{24:15}", PositionError, "White has 14 checkers (13 on the board, 1 off)"),
        ("W{24:15}|B{24:14 12:1}", PositionError, "White's 24 is Black's 12"),
        ("W{24:14 bar:1}|B{24:15}", PositionError, "has no bar"),
        ("W{}off15|B{}off15", PositionError, "both sides have borne off everything"),
        ("W{" + "9" * 5000 + ":1}", NotationError, "too long"),
    ],
)
def test_errors_say_what_is_wrong_and_where(text: str, error: type[NardyError], words: str) -> None:
    """One sentence of the right class, with the column where there is one place."""
    with pytest.raises(error) as caught:
        parse_position(text, LONG)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
