"""The last roll and the draw (rules.md DR-1, DR-2; examples X-Y1..X-Y8).

Tables speak of `long`, which has no last roll, and of `long` with `last_roll_draw`; White moved
first.
"""

import pytest

from nardy_engine import Outcome, Position, load_variant
from nardy_engine.errors import PositionError
from nardy_engine.rules.memory import memory_index
from turns import remembered, results, shown, situation

DRAW = {"last_roll_draw": "on"}

LAST = [  # name, Black on his last turn, roll, what every play of his is worth to him
    ("X-Y5 draw", "1:2 off13", "2-1", "+0"),
    ("X-Y6 two off", "1:3 off12", "5-4", "-1"),
    ("X-Y7 DR-2 oin instead of mars", "6:15", "6-6", "-1"),
    ("DR-2 mars if none comes off", "24:1 6:14", "2-1", "-2"),
    ("DR-2 a draw with a double", "3:4 off11", "3-3", "+0"),
]


@pytest.mark.parametrize(
    ("black", "roll", "worth"), [e[1:] for e in LAST], ids=[e[0] for e in LAST]
)
def test_last_turn(engine, black, roll, worth):
    """DR-1: White has finished, Black has one full turn, and the result is taken after it (DR-2).

    However many plays he has, they are one result (T-10).
    """
    variant = load_variant("long", DRAW)
    literal = f"W{{off15}}|B{{{black} last_turn=1}}; B {roll}"
    assert results(engine, variant, literal) == [worth]


@pytest.mark.parametrize(
    ("black", "roll", "worth"), [e[1:] for e in LAST], ids=[e[0] for e in LAST]
)
def test_no_last_turn_in_long(engine, black, roll, worth):
    """L-40: without the rule the game is over, and mars is mars."""
    variant = load_variant("long")
    position, dice, _ = situation(variant, f"W{{off15}}|B{{{black}}}; B {roll}")
    assert engine.ends(variant, position, dice) == []
    points = 1 if "off" in black else 2
    assert engine.outcome(variant, position) == Outcome(False, points - 1, points)


def test_first_player_finishes(engine):
    """X-Y5, DR-1: White bears off his last checker; the game goes on and Black acts."""
    variant = load_variant("long", DRAW)
    position, dice, _ = situation(variant, "W{1:1 off14}|B{1:2 off13}; W 2-1")
    (end,) = engine.ends(variant, position, dice)
    assert engine.outcome(variant, end) is None
    assert engine.outcome(variant, end.swapped()) is None
    black, same = engine.next_position(variant, end)
    assert not same
    assert remembered(variant, black.mover) == {"last_turn": 1}
    assert remembered(variant, black.opponent) == {"first": 1}
    (last,) = engine.ends(variant, black, (2, 1))
    assert engine.outcome(variant, last) == Outcome(False, 0, 0, draw=True)
    assert engine.outcome(variant, last.swapped()) == Outcome(False, 0, 0, draw=True)
    assert remembered(variant, last.mover) == {}
    assert engine.ends(variant, engine.next_position(variant, last)[0], (2, 1)) == []


def test_last_turn_can_be_a_pass(engine):
    """DR-2, T-8: a last turn without a legal step ends the game as well."""
    variant = load_variant("long", DRAW | {"bearoff.dice": [1, 6]})
    literal = "W{off15}|B{1:15 last_turn=1}; B 5-4"
    assert results(engine, variant, literal) == ["-2"]
    position, dice, _ = situation(variant, literal)
    (end,) = engine.ends(variant, position, dice)
    assert shown(variant, end.mover) == "1:15"
    assert remembered(variant, end.mover) == {}


def test_every_end_of_a_last_turn_is_listed(engine):
    """DR-2: the ends of the last turn are those of any other turn; each of them ends the game."""
    variant = load_variant("long", DRAW)
    position, dice, _ = situation(variant, "W{off15}|B{6:2 4:1 3:2 last_turn=1}; B 6-3")
    ends = engine.ends(variant, position, dice)
    expected = {"6:1 4:1 3:1 off12", "4:1 3:3 off11", "6:1 3:2 1:1 off11"}
    assert {shown(variant, end.mover) for end in ends} == expected
    assert len(ends) == 3
    assert {engine.outcome(variant, end) for end in ends} == {Outcome(False, 0, 1)}
    assert not any(variant.recall(side, "last_turn") for end in ends for side in end)


def test_second_player_finishes_first(engine):
    """X-Y8, DR-1: Black bears off first and has won at once; White gets no extra turn."""
    variant = load_variant("long", DRAW)
    assert results(engine, variant, "W{1:1 off14}|B{1:2 off13}; B 2-1") == ["+1"]
    position, dice, _ = situation(variant, "W{1:1 off14}|B{1:2 off13}; B 2-1")
    (end,) = engine.ends(variant, position, dice)
    assert engine.ends(variant, engine.next_position(variant, end)[0], (2, 1)) == []


PLAYED = [  # X-Y1..X-Y4: White bears off his last checker
    ("X-Y1 oin", "long", {}, "24:14 off1", "+1"),
    ("X-Y1 mars", "long", {}, "24:15", "+2"),
    ("X-Y2 koks", "long", {"score": "oin_mars_koks"}, "20:1 6:14", "+3"),
    ("X-Y3 home mars", "long", {"score": "oin_mars_koks_homemars"}, "6:14 5:1", "+4"),
    ("X-Y3 otherwise", "long", {}, "6:14 5:1", "+2"),
    ("X-Y4 giveaway", "giveaway", {}, "24:15", "-2"),
]


@pytest.mark.parametrize(
    ("game", "options", "black", "worth"), [e[1:] for e in PLAYED], ids=[e[0] for e in PLAYED]
)
def test_worth_of_the_last_checker(engine, game, options, black, worth):
    """The points of a game that ends with White's roll, seen from White."""
    variant = load_variant(game, options)
    assert results(engine, variant, f"W{{1:1}}|B{{{black}}}; W 2-1") == [worth]


def test_outcomes_have_a_draw():
    """DR-1: one more outcome, worth nothing to both sides; it is no win of anybody."""
    plain, drawn = load_variant("long"), load_variant("long", DRAW)
    assert (plain.has_draw, drawn.has_draw) == (False, True)
    assert drawn.n_outcomes == plain.n_outcomes + 1
    draw = Outcome(False, 0, 0, draw=True)
    assert draw.points_for_mover == 0
    assert Outcome(True, 0, 1) == Outcome(True, 0, 1, draw=False)


def test_memory_of_the_draw_is_checked():
    """DR-1: only the second player has a last turn, and one side moved first."""
    variant = load_variant("long", DRAW)
    for literal, words in [
        ("W{off15}|B{1:1 off14}; W 2-1", None),
        ("W{1:1 off14 last_turn=1}|B{off15}; W 2-1", "second"),
        ("W{1:1 off14}|B{1:1 off14 last_turn=1}; B 2-1", "second"),
    ]:
        if words is None:
            situation(variant, literal)
            continue
        with pytest.raises(PositionError, match=words):
            situation(variant, literal)
    start = variant.start_position()
    slot = memory_index(variant)["first"]
    both = list(start.opponent)
    both[slot] = 1
    with pytest.raises(PositionError, match="moved first"):
        variant.check_position(Position(start.mover, tuple(both)))
