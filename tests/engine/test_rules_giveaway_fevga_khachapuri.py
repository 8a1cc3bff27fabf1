"""Giveaway, nardgammon, karzar, khachapuri and fevga (rules.md 7.1..7.3, 7.9, 7.13).

These are the games as the catalog has them; `test_rules_options` looks at single options.
"""

import pytest

from nardy_engine import Outcome, Position, load_variant
from positions import case, row, rows, text

X = "W{8:1 6:3 5:3 4:3 3:3 1:2}"
THREE = "6:2 5:3 4:3 3:3 2:1 1:3 | 6:2 5:3 4:3 3:4 1:2 off1 | 6:3 5:2 4:3 3:3 2:1 1:2 off1"
ONE = "6:2 5:3 4:3 3:4 1:2 off1"
K = "W{24:4 6:11}|B{24:4 6:11}"

EXAMPLES = [
    ("POD-1 X-H1", "giveaway", "W{24:15}|B{24:15}; W 6-6", "24:13 18:2"),
    ("POD-1 X-B1", "giveaway", f"{X}|B{{24:15}}; W 6-5", ONE),
    ("POD-1 X-O3", "giveaway", "W{5:1 2:2}|B{24:15}; W 4-1", "2:1 1:2 off12 | 2:2 off13"),
    ("NAR-1 X-B5", "nardgammon", f"{X}|B{{24:15}}; W 6-6", "8:1 6:3 5:3 4:3 3:3 1:2"),
    ("NAR-3 X-H6", "nardgammon", "W{24:14 4:1}|B{24:15}; B 4-4", "24:14 20:1"),
    ("KAR-1 X-B4", "karzar", f"{X}|B{{24:14 12:1}}; W 6-5", ONE),
    ("KAR-1 X-B4 home", "karzar", f"{X}|B{{24:14 6:1}}; W 6-5", THREE),
    ("KAR-2 X-B5", "karzar", f"{X}|B{{24:15}}; W 6-6", "5:3 4:3 3:3 2:1 1:2 off3"),
    ("X-R1 KHA-3", "khachapuri", f"{K}; W 6-6", "24:4 6:11"),
    ("X-R2 KHA-3", "khachapuri", f"{K}; W 6-5", "24:3 13:1 6:11"),
    ("X-R3", "khachapuri", f"{K}; W 6-4", "24:3 14:1 6:11"),
    ("X-R4", "khachapuri", f"{K}; W 6-1", "24:3 17:1 6:11"),
    (
        "X-R5 KHA-2",
        "khachapuri",
        f"{K}; W 3-3",
        "21:4 6:11 | 24:1 21:3 6:10 3:1 | 24:2 21:2 6:9 3:2 | 24:3 21:1 6:8 3:3 | 24:4 6:7 3:4",
    ),
    ("KHA-5 X-B1", "khachapuri", f"{X}|B{{24:15}}; W 6-5", ONE),
    ("X-F1 6-6 FEV-5", "fevga", "W{24:15}|B{24:15}; W 6-6", "24:14 18:1"),
    ("X-F1 4-4 FEV-5", "fevga", "W{24:15}|B{24:15}; W 4-4", "24:14 16:1"),
    ("X-F1 3-3 FEV-5", "fevga", "W{24:15}|B{24:15}; W 3-3", "24:14 15:1"),
    ("X-F2 FEV-4", "fevga", "W{24:15}|B{24:15}; W 5-5", "24:14 4:1 | 24:13 19:1 9:1"),
    (
        "X-F3 FEV-4",
        "fevga",
        "W{24:14 13:1}|B{24:15}; W 6-5",
        "24:13 19:1 7:1 | 24:13 18:1 8:1 | 24:14 2:1",
    ),
    ("X-F4 FEV-2", "fevga", "W{24:14 14:1}|B{24:15}; W 2-1", "24:14 11:1"),
    ("X-F5 FEV-2", "fevga", "W{24:14 18:1}|B{24:15}; W 6-6", "24:14 18:1"),
    # 12 is Black's head, but empty here: the runner that stands on it has not passed yet.
    ("FEV-2 on 12", "fevga", "W{24:14 12:1}|B{23:8 22:7}; W 2-1", "24:14 12:1"),
    ("FEV-2 on 11", "fevga", "W{24:14 11:1}|B{22:8 21:7}; W 2-1", "24:12 23:1 22:1 11:1"
     " | 24:13 21:1 11:1"),
    ("X-F7 FEV-6", "fevga", f"{X}|B{{24:15}}; W 6-5", THREE),
    ("X-F8 FEV-3", "fevga", "W{24:14 4:1}|B{24:15}; W 6-6", "24:10 18:4 4:1"),
    ("FEV-9 X-O2", "fevga", "W{4:3 2:1}|B{24:15}; W 6-5", "4:1 2:1 off13"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("game", "literal", "ends"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_worked_example(engine, game, literal, ends):
    """Exactly the ends of rules.md section 12, and of a few positions of our own."""
    position, dice = case(literal)
    found = engine.ends(load_variant(game), position, dice)
    assert all(end.opponent == position.opponent for end in found)
    assert [text(end) for end in sorted(end.mover for end in found)] == [
        text(end) for end in rows(ends)
    ]


@pytest.mark.parametrize(("roll", "count"), [("5-5", 12), ("4-4", 9), ("2-2", 14), ("1-1", 20)])
def test_khachapuri_counts(engine, roll, count):
    """X-R6, KHA-1: the number of ends of a double from the start position."""
    variant = load_variant("khachapuri")
    position, dice = case(f"{K}; W {roll}")
    assert position == variant.start_position()
    ends = engine.ends(variant, position, dice)
    assert (len(ends), len(set(ends))) == (count, count)


@pytest.mark.parametrize(("black", "points"), [("6:9 off6", 9), ("6:15", 15), ("1:1 off14", 1)])
def test_khachapuri_score(engine, black, points):
    """X-R7, KHA-4: the winner scores the checkers that the loser has left."""
    variant = load_variant("khachapuri")
    position, dice = case(f"W{{1:1}}|B{{{black}}}; W 2-1")
    (end,) = engine.ends(variant, position, dice)
    assert engine.outcome(variant, end) == Outcome(True, points - 1, points)
    assert engine.outcome(variant, end.swapped()) == Outcome(False, points - 1, points)


@pytest.mark.parametrize(("black", "points"), [("6:14 off1", 1), ("6:15", 2)])
def test_giveaway_is_lost_by_finishing(engine, black, points):
    """X-Y4, POD-2, POD-3: who bears off everything loses what he would have won."""
    variant = load_variant("giveaway")
    position, dice = case(f"W{{1:1}}|B{{{black}}}; W 2-1")
    (end,) = engine.ends(variant, position, dice)
    assert engine.outcome(variant, end) == Outcome(False, points - 1, points)


def test_giveaway_has_no_cube_and_no_draw():
    """POD-4: no doubling cube, no last roll."""
    options = load_variant("giveaway").options()
    assert (options["cube"], options["last_roll_draw"]) == ("off", "off")


def test_nardgammon_has_a_cube():
    """NAR-2: mars counts two, times the cube."""
    variant = load_variant("nardgammon")
    assert variant.options()["cube"] == "on"
    assert variant.win_kinds == (("oin", 1), ("mars", 2))


def test_fevga_keeps_its_own_start_quarter_open(engine):
    """X-F6, FEV-6: all six of 24..19 are forbidden wherever the opponent is, and nothing else.

    The printed position puts Black's 11 on White's 23; Black's checker stands on his 6 here.
    """
    literal = "W{24:9 23:1 22:1 21:1 20:1 9:2}|B{24:14 6:1}; W 5-1"
    position, dice = case(literal)
    legal = {end.mover for end in engine.ends(load_variant("fevga"), position, dice)}
    free = {
        end.mover
        for end in engine.ends(load_variant("fevga", {"block.rule": "none"}), position, dice)
    }
    closed = row("24:8 23:1 22:1 21:1 20:1 19:1 9:1 8:1")
    assert free - legal == {end for end in free if all(end[19:25])}
    assert closed in free - legal


def test_fevga_start_quarter_is_judged_at_the_end(engine):
    """FEV-7: 24-19-13 fills the sixth point for a moment (24-18 is closed)."""
    position, dice = case("W{24:9 23:1 22:1 21:1 20:1 9:2}|B{24:14 6:1}; W 6-5")
    passing = row("24:8 23:1 22:1 21:1 20:1 13:1 9:2")
    at_end, each_step = (
        {e.mover for e in engine.ends(load_variant("fevga", options), position, dice)}
        for options in ({}, {"block.check": "every_step"})
    )
    assert passing in at_end - each_step
    assert each_step < at_end


def test_fevga_has_no_release_rule(engine):
    """FEV-8, D-15: a block may stay, even if all Black's checkers stand directly behind it."""
    position, dice = case("W{20:1 6:3 5:3 4:3 3:2 2:2 1:1}|B{19:15}; W 2-1")
    ends = {end.mover for end in engine.ends(load_variant("fevga"), position, dice)}
    assert row("17:1 6:3 5:3 4:3 3:2 2:2 1:1") in ends


def test_karzar_is_never_weaker_than_long(engine):
    """KAR-3: what `long` forbids, karzar forbids too."""
    for black in ("24:15", "24:14 12:1", "24:14 6:1"):
        position, dice = case(f"{X}|B{{{black}}}; W 6-5")
        long = set(engine.ends(load_variant("long"), position, dice))
        assert set(engine.ends(load_variant("karzar"), position, dice)) <= long


def test_fevga_starts_and_scores_like_long(engine):
    """FEV-1, FEV-9: fifteen on the head; one point, or two if the loser has none off."""
    variant = load_variant("fevga")
    assert variant.start_position() == load_variant("long").start_position()
    position = Position(row("off15"), row("6:15"))
    assert engine.outcome(variant, position) == Outcome(True, 1, 2)
