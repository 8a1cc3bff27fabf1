"""The single-segment options of rules.md 4.1 and the games that are `long` with other options."""

import pytest

from positions import case, row, rows, text
from rule_sets import rule_set


def check(engine, game, literal, expected):
    """Assert that the ends of the mover are exactly `a | b | ...`, each listed once."""
    position, dice = case(literal)
    found = sorted(end.mover for end in engine.ends(rule_set(game), position, dice))
    assert [text(end) for end in found] == [text(end) for end in rows(expected)]


def ends_of(engine, game, literal):
    """Return the rows of the mover after each play."""
    position, dice = case(literal)
    return [end.mover for end in engine.ends(rule_set(game), position, dice)]


X = "W{8:1 6:3 5:3 4:3 3:3 1:2}"
THREE = "6:2 5:3 4:3 3:3 2:1 1:3 | 6:2 5:3 4:3 3:4 1:2 off1 | 6:3 5:2 4:3 3:3 2:1 1:2 off1"

EXAMPLES = [
    # Head exceptions, D-01. X-H7: two fives may leave where the list or the rule says so.
    (
        "X-H7 any_double",
        "any double",
        "W{24:14 16:1}|B{24:15}; B 5-5",
        "24:13 14:2 | 24:13 19:1 9:1",
    ),
    (
        "X-H7 second player",
        "second player",
        "W{24:14 16:1}|B{24:15}; B 5-5",
        "24:13 14:2 | 24:13 19:1 9:1",
    ),
    ("D-01 second, field checker", "second player", "W{24:14 4:1}|B{24:15}; B 4-4", "24:13 20:2"),
    # 24-18-12-6, and the fourth six would leave the board: one checker does not complete it.
    (
        "D-01 second, off the board",
        "second player",
        "W{24:15}|B{3:15}; W 6-6",
        "24:13 12:2 | 24:13 18:1 6:1",
    ),
    ("D-01 second completes", "second player", "W{24:14 21:1}|B{24:15}; B 1-1", "24:14 20:1"),
    ("D-01 first as head_blocked", "second player", "W{24:15}|B{24:15}; W 5-5", "24:14 4:1"),
    ("D-01 first as head_blocked", "second player", "W{24:15}|B{24:15}; W 4-4", "24:13 16:2"),
    (
        "D-01 any double",
        "any double",
        "W{24:15}|B{24:15}; W 5-5",
        "24:14 4:1 | 24:13 19:1 9:1 | 24:13 14:2",
    ),
    ("L-7a any double later", "any double", "W{24:14 1:1}|B{24:15}; W 5-5", "24:13 4:1 1:1"),
    ("D-01 none", "no exception", "W{24:15}|B{24:15}; W 6-6", "24:14 18:1"),
    ("L-9 listed 5-5", "listed", "W{24:14 16:1}|B{24:15}; B 5-5", "24:14 9:1"),
    # KAF-4, KAF-8: a roll with a 1 or a 6 lifts the head limit (the 6 is ordinary, 6 is closed).
    (
        "X-K6",
        "lifted",
        "W{24:14 20:1}|B{24:14 18:1}; W 6-3",
        "24:12 21:1 20:1 18:1 | 24:13 18:1 17:1 | 24:13 20:1 15:1 | 24:13 21:1 14:1 | 24:14 11:1",
    ),
    ("X-K4", "lifted", "W{24:15}|B{24:15}; W 4-4", "24:13 16:2"),
    ("KAF-9", "lifted", "W{24:14 16:1}|B{24:15}; B 4-3", "24:14 17:1"),
    # Blocks: KAR-1, KAR-2, NAR-1, NAR-3, FEV-6.
    ("X-B4", "karzar", f"{X}|B{{24:14 12:1}}; W 6-5", "6:2 5:3 4:3 3:4 1:2 off1"),
    ("X-B4 home", "karzar", f"{X}|B{{24:14 6:1}}; W 6-5", THREE),
    ("X-B5 nardgammon", "nardgammon", f"{X}|B{{24:15}}; W 6-6", "8:1 6:3 5:3 4:3 3:3 1:2"),
    ("D-04 never", "never", f"{X}|B{{24:14 6:1}}; W 6-5", "6:2 5:3 4:3 3:4 1:2 off1"),
    ("X-F7", "fevga", f"{X}|B{{24:15}}; W 6-5", THREE),
    # Bearing off: D-10, ONE-3, ONE-4, BNA-2, BNA-3.
    ("X-O5 lenient", "lenient", "W{6:1 2:1}|B{24:14 15:1}; W 3-3", "6:1 off14"),
    ("D-10 not blocked", "lenient", "W{6:1 2:1 1:2}|B{24:15}; W 4-3", "2:1 1:2 off12"),
    ("X-S2", "dice 1 and 6", "W{6:1 4:2 1:1}|B{24:15}; W 5-4", "4:2 1:2 off11"),
    ("X-S3", "dice 1 and 6", "W{4:2 1:1}|B{24:15}; W 6-1", "4:1 off14 | 3:1 1:1 off13"),
    ("X-S5", "dice 1 and 6", "W{5:1 3:1}|B{24:15}; W 5-3", "3:1 2:1 off13"),
    ("BNA-3", "exact", "W{4:3 2:1}|B{24:15}; W 6-5", "4:3 2:1"),
    ("X-N5", "frozen exact", "W{8:1 6:2}|B{24:15}; W 2-1", "6:2 5:1"),
    ("X-N6", "frozen exact", "W{6:1 5:2 3:1}|B{24:15}; W 5-3", "6:1 5:1 off13"),
    ("X-N6 5-4", "frozen exact", "W{6:1 5:2 3:1}|B{24:15}; W 5-4", "6:1 5:1 3:1 off12"),
    ("X-N7", "frozen exact", "W{8:1 6:2}|B{24:15}; W 6-2", "6:2 off13"),
    # Dice programme N times M: AST-1..AST-4 (AST-2: as many of the N as possible).
    ("X-A1", "astrogon", "W{24:15}|B{24:15}; W 6-2", "24:13 18:2"),
    ("X-A2", "astrogon", "W{24:15}|B{24:15}; W 6-5", "24:13 18:2"),
    ("X-A3", "astrogon", "W{24:15}|B{24:15}; W 6-1", "24:14 18:1"),
    ("X-A4", "astrogon", "W{24:15}|B{24:15}; W 4-3", "24:13 20:1 16:1"),
    ("X-A5", "astrogon", "W{24:15}|B{24:15}; W 3-3", "24:14 15:1"),
    ("X-A6", "astrogon", "W{24:15}|B{24:15}; W 5-5", "24:14 4:1"),
    ("X-A7", "astrogon", "W{24:15}|B{24:15}; W 5-4", "24:14 4:1"),
    ("X-A8", "astrogon", "W{24:14 4:1}|B{24:15}; B 4-3", "24:14 20:1"),
    (
        "X-A9",
        "astrogon",
        "W{24:14 13:1}|B{24:14 15:1}; W 5-2",
        "24:13 14:1 13:1 | 24:13 19:1 8:1",
    ),
    ("X-A10", "astrogon", "W{6:1 3:2 1:1}|B{24:15}; W 4-3", "2:1 1:1 off13"),
    ("X-C6", "astrogon", "W{24:14 4:1}|B{24:15}; B 5-1", "24:14 19:1"),
    # Runner: FEV-1..FEV-5; FEV-3 and FEV-4 are X-F8 and X-F2.
    ("X-F1 6-6", "fevga", "W{24:15}|B{24:15}; W 6-6", "24:14 18:1"),
    ("X-F1 4-4", "fevga", "W{24:15}|B{24:15}; W 4-4", "24:14 16:1"),
    ("X-F1 3-3", "fevga", "W{24:15}|B{24:15}; W 3-3", "24:14 15:1"),
    ("X-F2", "fevga", "W{24:15}|B{24:15}; W 5-5", "24:14 4:1 | 24:13 19:1 9:1"),
    (
        "X-F3",
        "fevga",
        "W{24:14 13:1}|B{24:15}; W 6-5",
        "24:13 19:1 7:1 | 24:13 18:1 8:1 | 24:14 2:1",
    ),
    ("X-F4", "fevga", "W{24:14 14:1}|B{24:15}; W 2-1", "24:14 11:1"),
    ("X-F5", "fevga", "W{24:14 18:1}|B{24:15}; W 6-6", "24:14 18:1"),
    ("X-F8", "fevga", "W{24:14 4:1}|B{24:15}; W 6-6", "24:10 18:4 4:1"),
    # No head limit: KHA-1, KHA-2, KHA-3, KHA-5.
    ("X-R1", "khachapuri", "W{24:4 6:11}|B{24:4 6:11}; W 6-6", "24:4 6:11"),
    ("X-R2", "khachapuri", "W{24:4 6:11}|B{24:4 6:11}; W 6-5", "24:3 13:1 6:11"),
    ("X-R3", "khachapuri", "W{24:4 6:11}|B{24:4 6:11}; W 6-4", "24:3 14:1 6:11"),
    ("X-R4", "khachapuri", "W{24:4 6:11}|B{24:4 6:11}; W 6-1", "24:3 17:1 6:11"),
    (
        "X-R5",
        "khachapuri",
        "W{24:4 6:11}|B{24:4 6:11}; W 3-3",
        "21:4 6:11 | 24:1 21:3 6:10 3:1 | 24:2 21:2 6:9 3:2 | 24:3 21:1 6:8 3:3 | 24:4 6:7 3:4",
    ),
]


@pytest.mark.parametrize(
    ("game", "literal", "ends"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_worked_example(engine, game, literal, ends):
    """The option gives exactly the ends that rules.md section 12 works out."""
    check(engine, game, literal, ends)


@pytest.mark.parametrize(("roll", "count"), [("5-5", 12), ("4-4", 9), ("2-2", 14), ("1-1", 20)])
def test_khachapuri_counts(engine, roll, count):
    """X-R6: the number of ends of a double from the start position."""
    ends = ends_of(engine, "khachapuri", f"W{{24:4 6:11}}|B{{24:4 6:11}}; W {roll}")
    assert (len(ends), len(set(ends))) == (count, count)


def test_fevga_keeps_its_own_start_quarter_open(engine):
    """X-F6, FEV-6: all six of 24..19 are forbidden wherever the opponent is, and nothing else."""
    literal = "W{24:9 23:1 22:1 21:1 20:1 9:2}|B{24:14 6:1}; W 5-1"
    legal = set(ends_of(engine, "fevga", literal))
    free = set(ends_of(engine, "fevga without blocks", literal))
    assert row("24:8 23:1 22:1 21:1 20:1 19:1 9:1 8:1") in free - legal
    assert legal == {end for end in free if not all(end[19:25])}


def test_karzar_scope(engine):
    """KAR-1, D-06: a run that holds nobody is allowed by `trapping` and forbidden by `any_run`."""
    literal = "W{13:1 11:4 10:4 9:2 8:2 7:2}|B{18:15}; W 1-2"
    closed = row("12:1 11:3 10:4 9:3 8:2 7:2")
    assert closed in ends_of(engine, "karzar", literal)
    assert closed not in ends_of(engine, "karzar any run", literal)


def test_karzar_is_never_weaker_than_ahead(engine):
    """KAR-3: what `ahead` forbids, `karzar` forbids too."""
    for literal in (
        f"{X}|B{{24:15}}; W 6-5",
        f"{X}|B{{24:14 12:1}}; W 6-5",
        "W{24:10 23:1 22:1 21:1 20:1 9:1}|B{24:15}; W 5-1",
    ):
        karzar = set(ends_of(engine, "karzar", literal))
        assert karzar <= set(ends_of(engine, "long", literal))


def test_giveaway_moves_like_long(engine):
    """POD-1: the movement rules are those of `long`."""
    for literal in (f"{X}|B{{24:15}}; W 6-5", "W{24:15}|B{24:15}; W 6-6"):
        assert ends_of(engine, "giveaway", literal) == ends_of(engine, "long", literal)
