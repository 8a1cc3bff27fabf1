"""Kaftar, one-six and kabutar: dice that bring head checkers straight home (rules.md 7.4..7.6)."""

import pytest

from nardy_engine import load_variant, reference
from nardy_engine.types import Step
from positions import case, rows, text


def check(engine, game, literal, expected, options=None):
    """Assert that the ends of the mover are exactly `a | b | ...`, each listed once."""
    position, dice = case(literal)
    ends = engine.ends(load_variant(game, options or {}), position, dice)
    assert all(end.opponent == position.opponent for end in ends)
    found = sorted(end.mover for end in ends)
    assert [text(end) for end in found] == [text(end) for end in rows(expected)]


S = "W{24:15}|B{24:15}"
HELD = "W{24:10 6:1 5:1 4:1 3:1 2:1}"

EXAMPLES = [
    ("X-K1 KAF-2 KAF-4", "kaftar", f"{S}; W 6-3", "24:13 21:1 6:1 | 24:14 3:1"),
    ("X-K2 KAF-6", "kaftar", f"{S}; W 6-1", "24:13 6:1 1:1"),
    ("X-K3 KAF-5 6-6", "kaftar", f"{S}; W 6-6", "24:11 6:4"),
    ("X-K3 KAF-5 1-1", "kaftar", f"{S}; W 1-1", "24:11 1:4"),
    ("X-K4 KAF-9", "kaftar", f"{S}; W 4-4", "24:13 16:2"),
    (
        "X-K5 KAF-3 KAF-7",
        "kaftar",
        "W{24:1 10:14}|B{24:15}; W 6-1",
        "10:13 9:1 6:1 | 10:14 5:1 | 10:13 4:1 1:1",
    ),
    (
        "X-K6 KAF-8",
        "kaftar",
        "W{24:14 20:1}|B{24:14 18:1}; W 6-3",
        "24:12 21:1 20:1 18:1 | 24:13 18:1 17:1 | 24:13 20:1 15:1 | 24:13 21:1 14:1 | 24:14 11:1",
    ),
    (
        "X-K7 KAF-8",
        "kaftar",
        "W{24:14 20:1}|B{24:14 18:1}; W 6-1",
        "24:12 20:1 18:1 1:1 | 24:13 14:1 1:1",
    ),
    ("X-K8 KAF-7", "kaftar", "W{24:2 10:13}|B{24:15}; W 6-6", "10:11 6:2 4:2"),
    ("X-K9", "kaftar", "W{24:1 10:14}|B{24:15}; W 6-3", "10:13 7:1 6:1 | 10:14 3:1"),
    ("T-10 a teleport and off", "kaftar", "W{24:1}|B{24:15}; W 6-6", "off15"),
    # The first teleport closes 6..1, so the fourth die opens the run; not 6-5, since 5..1 and the
    # head are six points in a row as well (G-4).
    (
        "KAF-3 fewer by the block rule, KAF-11",
        "kaftar",
        f"{HELD}|B{{24:15}}; W 1-1",
        "24:7 6:1 4:2 3:1 2:1 1:3 | 24:7 6:1 5:1 3:2 2:1 1:3"
        " | 24:7 6:1 5:1 4:1 2:2 1:3 | 24:7 6:1 5:1 4:1 3:1 1:4",
    ),
    (
        "X-S1 ONE-1",
        "one_six",
        f"{S}; W 6-3",
        "24:13 21:1 6:1 | 24:13 21:1 18:1 | 24:14 3:1 | 24:14 15:1",
    ),
    ("X-S2 ONE-3", "one_six", "W{6:1 4:2 1:1}|B{24:15}; W 5-4", "4:2 1:2 off11"),
    ("X-S3 ONE-4", "one_six", "W{4:2 1:1}|B{24:15}; W 6-1", "4:1 off14 | 3:1 1:1 off13"),
    (
        "X-S4",
        "one_six",
        f"{S}; W 6-6",
        "24:11 6:4 | 24:11 18:1 6:3 | 24:11 18:2 6:2 | 24:11 18:3 6:1 | 24:11 18:4",
    ),
    ("X-S5 ONE-3", "one_six", "W{5:1 3:1}|B{24:15}; W 5-3", "3:1 2:1 off13"),
    (
        "X-S6 ONE-2",
        "one_six",
        "W{24:1 10:14}|B{24:15}; W 6-1",
        "10:13 4:1 1:1 | 10:13 9:1 6:1 | 10:14 5:1 | 17:1 10:14 | 18:1 10:13 9:1 | 23:1 10:13 4:1"
        " | 24:1 10:12 9:1 4:1 | 24:1 10:13 3:1",
    ),
    (
        "ONE-1 closed",
        "one_six",
        "W{24:14 20:1}|B{24:14 18:1}; W 6-3",
        "24:12 21:1 20:1 18:1 | 24:13 18:1 17:1 | 24:13 20:1 15:1 | 24:13 21:1 14:1 | 24:14 11:1",
    ),
    ("X-P1 KAB-1", "kabutar", f"{S}; W 5-5", "24:11 5:4"),
    ("X-P2", "kabutar", f"{S}; W 6-6", "24:11 6:4"),
    ("X-P3", "kabutar", f"{S}; W 1-1", "24:11 1:4"),
    (
        "X-P4 KAB-3",
        "kabutar",
        "W{24:14 15:1}|B{24:15}; B 3-3",
        "24:13 18:2 | 24:13 21:1 15:1",
    ),
    ("X-P5 KAB-2", "kabutar", "W{24:2 8:13}|B{24:15}; W 2-2", "8:11 6:2 2:2 | 8:12 4:1 2:2"),
    ("X-P6", "kabutar", "W{24:1 13:2 6:12}|B{24:15}; W 6-6", "7:1 6:13 1:1"),
    (
        "X-P7 KAB-4",
        "kabutar",
        "W{8:2 6:13}|B{24:15}; W 5-5",
        "6:11 3:2 1:2 | 8:1 6:10 3:1 1:3 | 8:2 6:9 1:4",
    ),
]


@pytest.mark.parametrize(
    ("game", "literal", "ends"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_worked_example(engine, game, literal, ends):
    """Exactly the ends of rules.md 12.5, and of a few positions of our own."""
    check(engine, game, literal, ends)


LOST = [  # D-12: a teleport die that cannot teleport is lost
    ("KAF-7", "kaftar", "short_head", "W{24:2 10:13}|B{24:15}; W 6-6", "10:13 6:2"),
    # Either die teleports the only head checker, the other one is lost: the larger (T-6).
    ("KAF-7 T-6", "kaftar", "short_head", "W{24:1 10:14}|B{24:15}; W 6-1", "10:14 6:1"),
    (
        "KAF-8",
        "kaftar",
        "blocked",
        "W{24:14 20:1}|B{24:14 18:1}; W 6-3",
        "24:13 21:1 20:1 | 24:14 17:1",
    ),
    ("KAF-8 6-6", "kaftar", "blocked", "W{24:14 20:1}|B{24:14 18:1}; W 6-6", "24:14 20:1"),
    ("KAF-10", "kaftar", "short_head", "W{10:15}|B{24:15}; W 6-1", "10:13 9:1 4:1 | 10:14 3:1"),
    ("KAB-2", "kabutar", "short_head", "W{24:2 8:13}|B{24:15}; W 2-2", "8:13 2:2"),
    ("KAB-3", "kabutar", "blocked", "W{24:14 15:1}|B{24:15}; B 3-3", "24:15"),
    ("KAB-5", "kabutar", "blocked", f"{HELD}|B{{24:15}}; W 1-1", "24:10 6:1 5:1 4:1 3:1 2:1"),
]


@pytest.mark.parametrize(
    ("game", "option", "literal", "ends"), [e[1:] for e in LOST], ids=[e[0] for e in LOST]
)
def test_lost(engine, game, option, literal, ends):
    """With the option `lost` such a die makes no ordinary step either."""
    check(engine, game, literal, ends, {f"teleport.{option}": "lost"})


AS_LONG = [
    ("KAF-9", "kaftar", "W{24:14 20:1}|B{24:14 18:1}; W 5-4"),
    ("KAF-9 3-3", "kaftar", "W{24:15}|B{24:15}; W 3-3"),
    ("KAF-10", "kaftar", "W{20:1 10:14}|B{24:15}; W 6-1"),
    ("KAF-10 6-6", "kaftar", "W{20:1 10:14}|B{24:15}; W 6-6"),
    ("KAB-4", "kabutar", "W{24:14 20:1}|B{24:15}; W 6-1"),
    ("KAB-4 empty head", "kabutar", "W{20:1 8:14}|B{24:15}; W 5-5"),
    ("KAB-5", "kabutar", f"{HELD}|B{{24:15}}; W 1-1"),
]


@pytest.mark.parametrize(("game", "literal"), [e[1:] for e in AS_LONG], ids=[e[0] for e in AS_LONG])
def test_ordinary_rolls(engine, game, literal):
    """Rolls without a teleport have the plays of `long`; KAB-5: so has a kabutar that must fail."""
    position, dice = case(literal)
    expected = engine.ends(load_variant("long"), position, dice)
    assert len(expected) > 0
    assert sorted(engine.ends(load_variant(game), position, dice)) == sorted(expected)


def test_every_step_forbids_the_block_for_a_moment(engine):
    """KAF-11, L-23: the run must be opened before the 1 is filled; the ends are the same."""
    position, dice = case(f"{HELD}|B{{24:15}}; W 1-1")
    at_end = engine.ends(load_variant("kaftar"), position, dice)
    each = engine.ends(load_variant("kaftar", {"block.check": "every_step"}), position, dice)
    assert sorted(each) == sorted(at_end)
    assert len(each) == 4


def test_a_passed_block_is_no_obstacle(engine):
    """KAF-3, L-22: with a Black checker past the run all four ones are teleports."""
    check(
        engine,
        "kaftar",
        f"{HELD}|B{{24:14 6:1}}; W 1-1",
        "24:6 6:1 5:1 4:1 3:1 2:1 1:4",
    )


def test_steps_of_the_reference():
    """KAF-2: a teleport is a step from the head to the point that the die shows."""
    kaftar = load_variant("kaftar")
    (play,) = reference.plays(kaftar, kaftar.start_position(), (6, 1))
    assert set(play.steps) == {Step(24, 6, 6), Step(24, 1, 1)}
    (play,) = reference.plays(load_variant("kabutar"), kaftar.start_position(), (5, 5))
    assert play.steps == (Step(24, 5, 5),) * 4


def test_kaftar_dice_are_the_lowest_and_the_highest(engine):
    """KAF-1: with dice of four sides a 4 teleports and a 6 does not exist."""
    small = {
        "dice.sides": 4,
        "bearoff.dice": [1, 2, 3, 4],
        "head.lifted_by": [1, 4],
        "head.exception_doubles": [3],
    }
    variant = load_variant("kaftar", small)
    position = variant.start_position()
    ends = engine.ends(variant, position, (4, 2))
    assert sorted(text(end.mover) for end in ends) == ["24:13 22:1 4:1", "24:14 2:1"]


def test_score_and_presets():
    """KAF-11, ONE-3: scores of `long`; one-six bears off with 1 and 6 only."""
    assert load_variant("kaftar").options()["score"] == "oin_mars"
    assert load_variant("one_six").options()["bearoff.dice"] == [1, 6]
    assert load_variant("kaftar").options()["head.exception_doubles"] == [3, 4]
