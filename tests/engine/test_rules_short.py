"""Short nardy, rule by rule, on the worked examples of rules.md 12.11 and a few of our own.

Examples read `mover | opponent ; roll`, ends read `mover / opponent`; `=` is an untouched opponent.
"""

import pytest

from nardy_engine import Position, load_variant
from positions import row, text


def check(engine, literal, *expected, game="short"):
    """Assert that the ends are exactly the expected ones, each listed once."""
    variant = load_variant(game)
    checkers = variant.setup.checkers
    board, roll = literal.split(";")
    mover, opponent = (row(side, checkers) for side in board.split("|"))
    ends = engine.ends(variant, Position(mover, opponent), tuple(map(int, roll.split("-"))))
    found = [f"{text(end.mover)} / {text(end.opponent)}" for end in ends]
    wanted = []
    for end in expected:
        me, _, opp = end.partition("/")
        theirs = row(opp, checkers) if opp else opponent
        wanted.append(f"{text(row(me, checkers))} / {text(theirs)}")
    assert sorted(found) == sorted(wanted)


EXAMPLES = [
    (
        "X-T2",
        "bar:1 13:2 6:12 | 2:2 6:5 8:8; 5-2",
        ["20:1 13:2 6:11 4:1", "20:1 13:1 11:1 6:12", "18:1 13:2 6:12"],
    ),
    ("X-T3", "bar:1 13:14 | 6:2 5:2 4:2 3:2 2:2 1:2 13:3; 6-5", ["bar:1 13:14"]),
    ("X-T3 double", "bar:1 13:14 | 6:2 5:2 4:2 3:2 2:2 1:2 13:3; 3-3", ["bar:1 13:14"]),
    ("X-T4", "bar:2 6:13 | 6:2 13:13; 6-3", ["bar:1 22:1 6:13"]),
    ("X-T5", "24:1 3:14 | 12:2 8:13; 6-5", ["18:1 3:14"]),
    (
        "X-T6",
        "8:1 6:2 off12 | 21:1 1:1; 4-2",
        [
            "8:1 4:1 2:1 / bar:1 1:1",
            "6:1 4:2 / bar:1 1:1",
            "6:2 2:1 / bar:1 1:1",
            "6:2 2:1",
        ],
    ),
    ("X-T7", "6:1 4:2 2:1 off11 | 13:15; 6-5", ["4:1 2:1 off13", "4:1 2:1 1:1 off12"]),
    ("X-T8", "6:1 2:2 off12 | 22:2 20:2; 5-3", ["2:1 1:1 off13"]),
]


@pytest.mark.parametrize(
    ("literal", "ends"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_worked_example(engine, literal, ends):
    """S-3..S-6: entering, hitting, closed points, larger die and bearing off as worked by hand."""
    check(engine, literal, *ends)


@pytest.mark.parametrize(("roll", "count"), [((3, 1), 16), ((6, 5), 7), ((5, 5), 4), ((6, 6), 11)])
def test_number_of_opening_ends(engine, roll, count):
    """X-T1: the number of ends from the start position."""
    variant = load_variant("short")
    assert len(set(engine.ends(variant, variant.start_position(), roll))) == count


def test_start_positions():
    """S-1: 2-5-3-5 on both sides; nackgammon and hypergammon differ in data only."""
    assert load_variant("short").start_row() == row("24:2 13:5 8:3 6:5")
    assert load_variant("nackgammon").start_row() == row("24:2 23:2 13:4 8:3 6:4")
    assert load_variant("hypergammon").start_row() == row("24:1 23:1 22:1", checkers=3)


def test_geometry_of_the_opposite_direction():
    """G-5: own p is the opponent's 25-p, and the bar is own 25."""
    short = load_variant("short")
    assert [short.opposite_point(p) for p in (24, 13, 6, 1)] == [1, 12, 19, 24]
    assert short.bar == 25


def test_two_checkers_close_a_point_and_one_does_not(engine):
    """S-3: a blot is hit and goes to the bar, two checkers refuse the landing."""
    check(engine, "24:1 3:14 | 7:1 13:14; 6-6", "3:14 18:1 / bar:1 13:14")
    check(engine, "24:1 3:14 | 7:2 13:13; 6-6", "24:1 3:14")


def test_hit_with_each_die(engine):
    """S-3: 24-18-16 hits two blots, 24-22-16 only the second: two ends, not one."""
    check(
        engine,
        "24:1 1:14 | 7:1 9:1 13:13; 6-2",
        "16:1 1:14 / bar:2 13:13",
        "16:1 1:14 / bar:1 7:1 13:13",
    )


def test_bar_comes_first(engine):
    """S-4: with two on the bar and one entry closed nothing else moves."""
    check(engine, "bar:2 13:13 | 4:2 6:13; 4-3", "bar:1 22:1 13:13")


def test_no_bearing_off_before_the_last_checker_is_home(engine):
    """S-6: a checker hit during the bear-off enters and comes home before bearing off resumes."""
    check(engine, "bar:1 6:1 off13 | 24:15; 6-5", "14:1 6:1 off13")


def test_no_head_rule_and_no_block_rule(engine):
    """S-7: two checkers leave 24 in one roll, and a prime in front of everybody may stand."""
    check(engine, "24:2 1:13 | 13:15; 2-1", "23:1 22:1 1:13", "24:1 21:1 1:13")
    position = Position(row("9:1 8:1 7:2 6:2 5:2 4:2 3:5"), row("24:15"))
    ends = engine.ends(load_variant("short"), position, (2, 1))
    assert row("8:2 7:1 6:2 5:3 4:2 3:5") in [end.mover for end in ends]


def test_larger_die_and_pass(engine):
    """S-5: T-6 and T-8 hold in short nardy too."""
    check(engine, "24:1 3:14 | 7:2 12:2 8:11; 6-5", "19:1 3:14")
    check(engine, "24:1 3:14 | 7:2 6:2 8:11; 6-5", "24:1 3:14")


def test_finishing_plays_are_one_result(engine):
    """T-10: '4 off' and '4/3 hit, off' both end the game; one of them is listed."""
    position = Position(row("4:1"), row("22:1 3:13"))
    ends = engine.ends(load_variant("short"), position, (4, 1))
    assert [end.mover for end in ends] == [row("off15")]


def test_three_checkers_a_side(engine):
    """Hypergammon is played by the same rules: nine ends of 6-5 from 24, 23 and 22."""
    ends = (
        "18:2 22:1 | 18:1 17:1 23:1 | 19:1 17:1 22:1 | 17:2 24:1 | 19:1 16:1 23:1"
        " | 18:1 16:1 24:1 | 13:1 23:1 22:1 | 12:1 24:1 22:1 | 11:1 24:1 23:1"
    )
    start = "24:1 23:1 22:1"
    check(engine, f"{start} | {start}; 6-5", *ends.split("|"), game="hypergammon")
