"""Long nardy, rule by rule, on the worked examples of rules.md section 12 and a few of our own.

Tables: name, game, position and roll, and the complete set of ends of the moving side.
"""

import pytest

from nardy_engine import load_variant
from positions import case, row, rows, text
from rule_sets import rule_set


def check(engine, game, literal, expected):
    """Assert that the ends of the mover are exactly `a | b | ...`, each listed once."""
    position, dice = case(literal)
    ends = engine.ends(rule_set(game), position, dice)
    assert all(end.opponent == position.opponent for end in ends)  # L-4: nothing is hit
    found = sorted(end.mover for end in ends)
    assert [text(end) for end in found] == [text(end) for end in rows(expected)]


HEAD = [  # L-3, L-5..L-9
    ("X-H1", "long", "W{24:15}|B{24:15}; W 6-6", "24:13 18:2"),
    ("X-H2", "long", "W{24:15}|B{24:15}; W 4-4", "24:13 16:2"),
    ("X-H3", "long", "W{24:15}|B{24:15}; W 3-3", "24:13 18:2 | 24:13 21:1 15:1"),
    ("X-H4", "long", "W{24:15}|B{24:15}; W 5-5", "24:14 4:1"),
    ("X-H5", "long", "W{24:15}|B{24:15}; W 2-2", "24:14 16:1"),
    ("X-H6", "long", "W{24:14 4:1}|B{24:15}; B 4-4", "24:14 20:1"),
    ("X-H6 listed", "listed", "W{24:14 4:1}|B{24:15}; B 4-4", "24:13 20:2"),
    ("X-H7", "long", "W{24:14 16:1}|B{24:15}; B 5-5", "24:14 9:1"),
    ("X-H8", "long", "W{24:14 15:1}|B{24:15}; B 3-3", "24:13 18:2 | 24:13 21:1 15:1"),
    ("X-H9", "long", "W{24:14 13:1}|B{24:14 15:1}; W 6-6", "24:13 18:1 1:1"),
    (
        "X-H10",
        "long",
        "W{24:14 13:1}|B{24:14 15:1}; W 5-3",
        "24:13 16:1 13:1 | 24:13 19:1 10:1 | 24:13 21:1 8:1 | 24:14 5:1",
    ),
    ("X-G2", "long", "W{24:13 18:2}|B{24:14 18:1}; B 3-3", "24:13 15:2"),
    (
        "X-G3",
        "long",
        "W{24:13 16:2}|B{24:15}; W 6-5",
        "24:12 16:2 13:1 | 24:12 18:1 16:1 11:1 | 24:12 19:1 16:1 10:1"
        " | 24:13 11:1 10:1 | 24:13 16:1 5:1",
    ),
]


@pytest.mark.parametrize(
    ("game", "literal", "ends"), [e[1:] for e in HEAD], ids=[e[0] for e in HEAD]
)
def test_head_rule(engine, game, literal, ends):
    """One checker leaves the head per roll, two in a first play stopped by the opponent's head."""
    check(engine, game, literal, ends)


MAXIMAL = [  # T-1, T-4, T-5, T-6, T-7 (doubles: X-M7, X-M8), T-8, T-11
    ("X-M1", "W{24:14 3:1}|B{24:14 1:1}; W 6-5", "24:13 18:1 3:1"),
    ("X-M2", "W{24:14 3:1}|B{24:13 6:1 1:1}; W 6-5", "24:13 19:1 3:1"),
    ("X-M3", "W{24:14 3:1}|B{24:14 6:1}; W 6-5", "24:13 13:1 3:1"),
    ("X-M4", "W{24:14 9:1}|B{24:14 7:1}; W 6-5", "24:13 13:1 9:1 | 24:13 18:1 4:1"),
    ("X-M5", "W{24:14 9:1}|B{24:13 7:1 6:1}; W 6-5", "24:14 3:1"),
    ("X-M6", "W{24:14 3:1}|B{24:13 7:1 6:1}; W 6-5", "24:14 3:1"),
    ("X-M7", "W{24:13 10:2}|B{24:14 9:1}; W 3-3", "24:13 4:2 | 24:13 7:1 1:1"),
    ("X-M8", "W{24:13 10:1 8:1}|B{24:13 19:1 9:1}; W 3-3", "24:13 10:1 2:1"),
]


@pytest.mark.parametrize(("literal", "ends"), [e[1:] for e in MAXIMAL], ids=[e[0] for e in MAXIMAL])
def test_maximal_use(engine, literal, ends):
    """As many dice as possible are played, the larger if only one; X-M6 is a forced pass (T-8)."""
    check(engine, "long", literal, ends)


BLOCKS = [  # L-20, L-21 (behind: X-B2, ahead: X-B3), L-22..L-25; base position X of 12.3
    ("X-B1", "long", "B{24:15}", "6-5", "6:2 5:3 4:3 3:4 1:2 off1"),
    ("X-B2", "long", "B{24:14 19:1}", "6-5", "6:2 5:3 4:3 3:4 1:2 off1"),
    (
        "X-B3",
        "long",
        "B{24:14 12:1}",
        "6-5",
        "6:2 5:3 4:3 3:3 2:1 1:3 | 6:2 5:3 4:3 3:4 1:2 off1 | 6:3 5:2 4:3 3:3 2:1 1:2 off1",
    ),
    ("X-B5", "long", "B{24:15}", "6-6", "5:3 4:3 3:3 2:1 1:2 off3"),
    ("X-B5 fnr", "long-fnr", "B{24:15}", "6-6", "8:1 6:3 5:3 4:3 3:3 1:2"),
]


@pytest.mark.parametrize(
    ("game", "black", "roll", "ends"), [e[1:] for e in BLOCKS], ids=[e[0] for e in BLOCKS]
)
def test_six_block(engine, game, black, roll, ends):
    """Six points in a row are forbidden while nobody has passed them (L-22).

    For a moment they may stand (L-23, T-9) unless every step is checked, and a pass may be all
    that remains (L-25).
    """
    check(engine, game, f"W{{8:1 6:3 5:3 4:3 3:3 1:2}}|{black}; W {roll}", ends)


def test_block_in_the_start_quarter_needs_a_checker_at_home(engine):
    """X-B6, L-24.3: of 32 ends the one with 24..19 is illegal until Black has a checker at home."""
    position, dice = case("W{24:10 23:1 22:1 21:1 20:1 9:1}|B{24:15}; W 5-1")
    ends = [end.mover for end in engine.ends(load_variant("long"), position, dice)]
    deaf = row("24:9 23:1 22:1 21:1 20:1 19:1 8:1")
    assert len(ends) == 31
    assert deaf not in ends
    position, dice = case("W{24:10 23:1 22:1 21:1 20:1 9:1}|B{24:14 6:1}; W 5-1")
    ends = [end.mover for end in engine.ends(load_variant("long"), position, dice)]
    assert deaf in ends


def test_block_runs_through_one_and_twenty_four(engine):
    """X-B7, G-4, L-20, L-24.5: on Black's route White's 3 2 1 24 23 22 lie in a row."""
    white = "W{24:9 23:1 22:1 21:1 3:2 1:1}"
    deaf = {
        row("24:8 23:1 22:1 21:1 18:1 3:1 2:1 1:1"),
        row("24:9 23:1 22:1 15:1 3:1 2:1 1:1"),
    }
    ends = {}
    for black in ("24:15", "24:14 8:1"):
        position, dice = case(f"{white}|B{{{black}}}; W 6-1")
        ends[black] = [end.mover for end in engine.ends(load_variant("long"), position, dice)]
    assert len(ends["24:15"]) == 15
    assert not deaf & set(ends["24:15"])
    assert deaf < set(ends["24:14 8:1"])


def test_no_block_across_the_opponents_start_line(engine):
    """X-B8, L-24.5: 15..10 are six neighbours, but Black enters on White's 12 and leaves on 13."""
    position, dice = case("W{16:1 14:1 13:1 12:1 11:1 10:1 3:9}|B{20:15}; W 1-1")
    ends = [end.mover for end in engine.ends(load_variant("long"), position, dice)]
    # 16-15 and three threes to two.
    assert row("15:1 14:1 13:1 12:1 11:1 10:1 3:6 2:3") in ends


def test_transient_block(engine):
    """X-B9, L-23: 24-20-18 makes 20..15 for a moment, which only `every_step` forbids."""
    position, dice = case("W{24:10 19:1 18:1 17:1 16:1 15:1}|B{24:14 10:1}; W 4-2")
    passing = row("24:9 19:1 18:2 17:1 16:1 15:1")
    at_end = [e.mover for e in engine.ends(load_variant("long"), position, dice)]
    each = [e.mover for e in engine.ends(load_variant("long-fnr"), position, dice)]
    assert (len(at_end), passing in at_end) == (23, True)
    assert (len(each), passing in each) == (22, False)


def test_block_of_the_opponents_home_is_never_legal(engine):
    """L-24.1: nobody can be past White's 18..13 while Black has all his checkers on the board."""
    position, dice = case("W{19:1 17:5 16:3 15:3 14:2 13:1}|B{24:14 23:1}; W 1-2")
    ends = [end.mover for end in engine.ends(load_variant("long"), position, dice)]
    assert ends
    assert not any(all(end[13:19]) for end in ends)


def test_block_with_the_opponents_head_is_always_legal(engine):
    """L-24.2: a run that ends on White's 12 has every Black checker past it."""
    position, dice = case("W{13:1 11:4 10:4 9:2 8:2 7:2}|B{18:15}; W 1-2")
    ends = [end.mover for end in engine.ends(load_variant("long"), position, dice)]
    assert any(all(end[7:13]) for end in ends)


BEAROFF = [  # L-30..L-33
    (
        "X-O1",
        "W{6:2 4:1 3:2}|B{24:15}; W 6-3",
        "6:1 4:1 3:1 off12 | 4:1 3:3 off11 | 6:1 3:2 1:1 off11",
    ),
    ("X-O2", "W{4:3 2:1}|B{24:15}; W 6-5", "4:1 2:1 off13"),
    ("X-O3", "W{5:1 2:2}|B{24:15}; W 4-1", "2:1 1:2 off12 | 2:2 off13"),
    ("X-O4", "W{7:1 3:2}|B{24:15}; W 6-1", "3:2 off13 | 3:1 2:1 1:1 off12"),
    ("X-O5", "W{6:1 2:1}|B{24:14 15:1}; W 3-3", "6:1 2:1 off13"),
    ("X-O6", "W{6:1 2:1}|B{24:14 15:1}; W 3-1", "2:2 off13"),
    ("X-O7", "W{6:1 5:2 1:1}|B{24:15}; W 4-4", "1:3 off12"),
    (
        "X-O8",
        "W{8:1 6:2}|B{24:15}; W 2-1",
        "6:2 5:1 off12 | 7:1 6:1 4:1 off12 | 8:1 5:1 4:1 off12 | 8:1 6:1 3:1 off12",
    ),
    ("X-O9", "W{6:1 1:1}|B{24:15}; W 5-4", "1:1 off14"),
]


@pytest.mark.parametrize(("literal", "ends"), [e[1:] for e in BEAROFF], ids=[e[0] for e in BEAROFF])
def test_bearing_off(engine, literal, ends):
    """Checkers leave when all are home (L-30), exactly (L-31) or from the highest point (L-32).

    A die may be played inside instead (L-33).
    """
    check(engine, "long", literal, ends)


def test_geometry_of_the_same_direction():
    """G-1, G-2: my 24 is the opponent's 12, my home 6..1 his 18..13, and back again."""
    long = load_variant("long")
    assert [long.opposite_point(p) for p in (24, 13, 12, 6, 1)] == [12, 1, 24, 18, 13]
    assert all(long.opposite_point(long.opposite_point(p)) == p for p in range(1, 25))


def test_start_position():
    """L-1: fifteen on each head."""
    start = load_variant("long").start_position()
    assert start.mover == start.opponent == row("24:15")


def test_route_ends_behind_one(engine):
    """G-3: nothing walks from 1 round to 24; a stuck side passes."""
    check(engine, "long", "W{13:1 3:14}|B{19:5 18:10}; W 6-6", "13:1 3:14")


def test_one_opposing_checker_closes_a_point(engine):
    """L-4, G-2: Black's lone checker on his 7 closes White's 19, own checkers stack freely."""
    check(engine, "long", "W{24:14 9:1}|B{24:14 7:1}; W 5-5", "24:14 4:1")


def test_each_die_lands(engine):
    """T-2, T-3: 24-18-13 needs 18 or 19 open; with both closed no die moves the head at all."""
    check(engine, "long", "W{24:14 3:1}|B{24:14 6:1}; W 6-5", "24:13 13:1 3:1")
    check(engine, "long", "W{24:14 3:1}|B{24:13 6:1 7:1}; W 6-5", "24:14 3:1")


def test_game_ends_with_the_last_checker(engine):
    """T-10, L-40: dice left over do not matter, and all finishing plays are one result."""
    check(engine, "long", "W{1:1}|B{24:15}; W 6-5", "off15")
    check(engine, "long", "W{2:1}|B{24:15}; W 1-1", "off15")


def test_finishing_play_may_use_the_smaller_die(engine):
    """T-6, T-10: one checker on 4 goes off with the six or with the five; it is one result."""
    check(engine, "long", "W{4:1}|B{24:14 1:1}; W 6-5", "off15")
    check(engine, "long", "W{4:1}|B{24:14 1:1}; W 6-3", "off15")


def test_finishing_play_counts_in_the_larger_die_rule(engine):
    """T-6, T-10: with exact bearing off 4-1 takes the last checker from the 4; 4-3 is illegal."""
    check(engine, "exact", "W{4:1}|B{24:15}; W 4-1", "off15")


def test_harmful_move_is_compulsory(engine):
    """T-12: White must break his last point rather than pass."""
    check(engine, "long", "W{7:1 1:14}|B{20:1 6:14}; W 2-3", "2:1 1:14")


def test_no_plays_after_the_end(engine):
    """T-10: a finished position has no plays, not even a pass, whoever finished."""
    position, _ = case("W{}|B{24:15}; W 6-5")
    assert engine.ends(load_variant("long"), position, (6, 5)) == []
    assert engine.ends(load_variant("long"), position.swapped(), (6, 5)) == []


def test_federation_preset():
    """Preset long-fnr: opening dice, the list, every step, a cube; everything else is `long`."""
    long, fnr = load_variant("long").options(), load_variant("long-fnr").options()
    assert {name: fnr[name] for name in fnr if fnr[name] != long[name]} == {
        "opening": "opening_dice",
        "head.exception": "listed",
        "block.check": "every_step",
        "cube": "on",
    }
    assert long["opening"] == "reroll"  # L-2, D-02
