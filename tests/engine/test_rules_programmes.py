"""Astrogon and even-odd: what a roll gives to play (rules.md 7.7, 7.8)."""

import pytest

from nardy_engine import load_variant, reference
from nardy_engine.perft import rolls
from positions import rows, text
from turns import results, shown, situation

S = "W{24:15}|B{24:15}"

EXAMPLES = [
    ("X-A1 AST-1 AST-3", "astrogon", f"{S}; W 6-2", "24:13 18:2"),
    ("X-A2", "astrogon", f"{S}; W 6-5", "24:13 18:2"),
    ("X-A3", "astrogon", f"{S}; W 6-1", "24:14 18:1"),
    ("X-A4", "astrogon", f"{S}; W 4-3", "24:13 20:1 16:1"),
    ("X-A5", "astrogon", f"{S}; W 3-3", "24:14 15:1"),
    ("X-A6", "astrogon", f"{S}; W 5-5", "24:14 4:1"),
    ("X-A7", "astrogon", f"{S}; W 5-4", "24:14 4:1"),
    ("X-A8 L-7d", "astrogon", "W{24:14 4:1}|B{24:15}; B 4-3", "24:14 20:1"),
    (
        "X-A9 AST-2",
        "astrogon",
        "W{24:14 13:1}|B{24:14 15:1}; W 5-2",
        "24:13 14:1 13:1 | 24:13 19:1 8:1",
    ),
    ("X-A10 AST-4", "astrogon", "W{6:1 3:2 1:1}|B{24:15}; W 4-3", "2:1 1:1 off13"),
    ("AST-1 1-1", "astrogon", f"{S}; W 1-1", "24:14 23:1"),
    ("X-C1 CHN-1", "even_odd", f"{S}; W 6-3", "24:15"),
    ("X-C2 CHN-3", "even_odd", f"{S}; W 6-2", "24:13 18:2"),
    ("X-C3 CHN-1", "even_odd", f"{S}; B 4-2", "24:15"),
    ("X-C4 CHN-3", "even_odd", f"{S}; B 6-3", "24:13 18:2"),
    ("X-C5", "even_odd", f"{S}; W 5-4", "24:14 4:1"),
    ("X-C6", "even_odd", "W{24:14 4:1}|B{24:15}; B 5-1", "24:14 19:1"),
    ("CHN-3 White 4-4", "even_odd", f"{S}; W 4-4", "24:13 16:2"),
    ("CHN-3 White 6-4", "even_odd", f"{S}; W 6-4", "24:13 18:2"),
    ("CHN-3 Black 6-5", "even_odd", f"{S}; B 6-5", "24:13 18:2"),
    ("CHN-3 Black 4-3", "even_odd", f"{S}; B 4-3", "24:13 20:1 16:1"),
]


@pytest.mark.parametrize(
    ("game", "literal", "ends"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_worked_example(engine, game, literal, ends):
    """Exactly the ends of rules.md 12.6; an unchanged board is a skipped turn or a pass."""
    variant = load_variant(game)
    position, dice, _ = situation(variant, literal)
    found = sorted(end.mover[: variant.n_counts] for end in engine.ends(variant, position, dice))
    assert [text(end) for end in found] == [text(end) for end in rows(ends)]


def play_on(engine, variant, position, dice):
    """Return the next position after the only play of a roll."""
    (end,) = engine.ends(variant, position, dice)
    after, same = engine.next_position(variant, end)
    assert not same
    return after


def test_skipped_turns_keep_the_exception(engine):
    """X-C7, CHN-2: White skips 6-5 and 3-1, Black 4-2 and 2-2; then White's 4-4 takes two."""
    variant = load_variant("even_odd")
    position = variant.start_position()
    for dice in ((6, 5), (4, 2), (3, 1), (2, 2)):
        position = play_on(engine, variant, position, dice)
    assert position == variant.start_position()
    (end,) = engine.ends(variant, position, (4, 4))
    assert shown(variant, end.mover) == "24:13 16:2"


def test_black_answers_a_skipped_turn(engine):
    """X-C1, X-C4, X-C5, X-C6: a game of three turns."""
    variant = load_variant("even_odd")
    black = play_on(engine, variant, variant.start_position(), (6, 3))
    white = play_on(engine, variant, black, (6, 3))
    assert [shown(variant, side) for side in white] == ["24:15", "24:13 18:2"]
    white = play_on(engine, variant, variant.start_position(), (5, 4))
    white = play_on(engine, variant, white, (5, 1))
    assert [shown(variant, side) for side in white] == ["24:14 4:1", "24:14 19:1"]


def test_white_plays_fifteen_of_the_rolls(engine):
    """CHN-1, CHN-4: of 36 rolls White plays 15 and Black 21."""
    variant = load_variant("even_odd")
    start = variant.start_position()
    played = []
    for position in (start, start.swapped()):
        moves = [
            dice for dice in rolls(variant) if engine.ends(variant, position, dice) != [position]
        ]
        played.append(sum(1 if a == b else 2 for a, b in moves))
    assert played == [15, 21]


def test_parity_of_standard_rolls(engine):
    """`dice.parity` asks for the smaller number whatever the programme: 4-3 is Black's."""
    variant = load_variant("long", {"dice.parity": "white_even_black_odd"})
    assert results(engine, variant, f"{S}; W 4-3") == [f"{S} -> B"]
    assert results(engine, variant, f"{S}; B 4-3") == ["W{24:15}|B{24:14 17:1} -> W"]


def test_a_skipped_turn_is_a_roll_of_the_flag(engine):
    """D-22: with `first_roll_flag` the first roll is over, played or skipped."""
    variant = load_variant("even_odd", {"head.exception_when": "first_roll_flag"})
    position = variant.start_position()
    assert [variant.recall(side, "fresh") for side in position] == [1, 1]
    position = play_on(engine, variant, position, (6, 5))
    assert [variant.recall(side, "fresh") for side in position] == [1, 0]
    position = play_on(engine, variant, position, (4, 2))
    (end,) = engine.ends(variant, position, (4, 4))
    assert shown(variant, end.mover) == "24:14 16:1"


def test_listed_exception_of_astrogon(engine):
    """D-07: by the list 6-6 and 4-4 let two checkers go, 6-2 does not."""
    options = {"head.exception": "listed", "head.exception_doubles": [3, 4, 6]}
    variant = load_variant("astrogon", options)
    for dice, expected in [((6, 6), "24:13 18:2"), ((4, 4), "24:13 16:2"), ((6, 2), "24:14 18:1")]:
        (end,) = engine.ends(variant, variant.start_position(), dice)
        assert text(end.mover) == expected


def test_skipped_turn_of_the_reference_has_no_steps():
    """T-8, CHN-1: a skipped turn is one play without steps."""
    variant = load_variant("even_odd")
    (play,) = reference.plays(variant, variant.start_position(), (6, 3))
    assert play.steps == ()
    assert play.end == variant.start_position()
