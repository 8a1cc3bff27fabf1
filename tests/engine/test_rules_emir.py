"""Emir, rule by rule (EMI-1..EMI-15, X-E1..X-E8), each example on both engines.

Positions are written as in rules.md section 2: `24:10 18:3e 13:2/1 res2`, where `e` means that
the emir is there and `/1` (`/e`) that the checkers stand on a captive (on the captive emir) of the
other side. `24:3e1` = the emir on the head with one checker above. A side that shows no emir has
it on the head, as many checkers above as have not yet left; reserve is what is left of 15.
Further words: `fresh` = own first roll to come, `first` = moved first, `pre` = pre-roll move due.
"""

import random
import re

import pytest

from nardy_engine import Outcome, Position, load_variant, reference
from nardy_engine.errors import DiceError, PositionError, VariantError
from nardy_engine.perft import perft
from nardy_engine.reference.emir import emir_plays, is_dead
from nardy_engine.rules.memory import memory_index

EMIR = load_variant("emir")
_CHECKERS = re.compile(r"(\d+|bar):(\d+)(?:(e)(\d*))?(?:/([1e]))?$")
BELOW = 6  # the emir and those under it on an untouched head (EMI-1)


class Side:
    """What the text of one side says, captives of the other side still aside."""

    def __init__(self, text):
        self.counts, self.captors, self.flags = [0] * 26, {}, set()
        self.emir, self.above, self.reserve = None, 0, None
        for word in text.split():
            if found := _CHECKERS.match(word):
                point = 25 if found[1] == "bar" else int(found[1])
                self.counts[point] = int(found[2])
                if found[3]:
                    self.emir = point
                    if point == 24:
                        self.above = int(found[4] or self.counts[24] - BELOW)
                if found[5]:
                    self.captors[point] = found[5]
            elif word.startswith("off"):
                self.counts[0] = int(word[3:].removesuffix("e"))
                self.emir = 0 if word.endswith("e") else self.emir
            elif word.startswith("res"):
                self.reserve = int(word[3:])
            else:
                self.flags.add(word)

    def row(self, other, variant):
        """Return the `P` slots; `other` holds those that stand on captives of this side."""
        captives = {EMIR.opposite_point(p): who for p, who in other.captors.items()}
        emir, above = self.emir, self.above
        for point, who in captives.items():
            emir = point if who == "e" else emir
        if emir is None:
            emir, above = 24, self.counts[24] - BELOW
            assert above >= 0, "say where the emir is"
        reserve = 15 - sum(self.counts) - len(captives)
        assert self.reserve in (None, reserve)
        memory = {"emir": emir, "emir_above": above, "reserve": reserve}
        memory |= {f"captive_{point}": 1 for point in captives}
        memory |= {{"pre": "preroll"}.get(flag, flag): 1 for flag in self.flags}
        row = self.counts + [0] * (variant.n_slots - len(self.counts))
        for name, value in memory.items():
            row[memory_index(variant)[name]] = value
        return tuple(row)


def position(mine, theirs, variant=EMIR):
    """Return the position that two sides describe, `mine` in row 0."""
    me, opponent = Side(mine), Side(theirs)
    result = Position(me.row(opponent, variant), opponent.row(me, variant))
    return variant.check_position(result)


def case(literal, variant=EMIR):
    """Return `(position, dice, text of the other side)` of `W{..}|B{..}; W 6-5`."""
    board, roll = literal.split(";")
    sides = dict(re.findall(r"([WB])\{([^}]*)\}", board))
    mover, dice = roll.split()
    theirs = sides["B" if mover == "W" else "W"]
    a, b = dice.split("-")
    return position(sides[mover], theirs, variant), (int(a), int(b)), theirs


def quiet(end, variant=EMIR):
    """Return an end without what is said about the next decision."""
    board = end.board()
    for name in ("preroll", "again"):
        board[:, memory_index(variant)[name]] = 0
    return Position.from_board(board)


def expected(ends, theirs, variant=EMIR):
    """Return the sorted positions of `mine // theirs | mine`; theirs if it has changed."""
    result = []
    for end in ends.split("|"):
        mine, _, changed = end.partition("//")
        result.append(position(mine, changed or theirs, variant))
    return sorted(result)


def ends_of(engine, literal, variant=EMIR):
    """Return the sorted ends of a literal case, without what the next decision is."""
    start, dice, _ = case(literal, variant)
    return sorted(quiet(end, variant) for end in engine.ends(variant, start, dice))


def check(engine, literal, ends, variant=EMIR):
    """Assert that the ends are exactly the given ones, each listed once."""
    assert ends_of(engine, literal, variant) == expected(ends, case(literal, variant)[2], variant)


def results(engine, literal, variant=EMIR):
    """Return the outcomes of the plays that end the game."""
    start, dice, _ = case(literal, variant)
    found = [engine.outcome(variant, end) for end in engine.ends(variant, start, dice)]
    return [result for result in found if result is not None]


PLAYS = [
    # EMI-1, EMI-2: the order of leaving the head; elsewhere the owner chooses.
    ("X-E1", "W{24:12e6 fresh}|B{24:12 fresh}; W 6-5", "24:11e5 13:1"),
    (
        "EMI-2 the emir must leave",
        "W{24:6e0 13:6}|B{24:12}; W 6-1",
        "24:5 17:1e 13:6 | 24:5 23:1e 13:5 7:1 | 24:6e0 13:5 6:1",
    ),
    ("EMI-2 the last five", "W{24:5 1:7e}|B{24:12}; W 6-5", "24:4 13:1 1:7e"),
    (
        "EMI-2 free choice",
        "W{18:2e 1:10}|B{24:12}; W 5-4",
        "18:1 9:1e 1:10 | 18:1e 9:1 1:10 | 14:1 13:1e 1:10 | 14:1e 13:1 1:10",
    ),
    # EMI-3: the exception needs the own first roll, and a blot does not stop the walk.
    ("EMI-3 6-6", "W{24:12 fresh}|B{24:12 fresh}; W 6-6", "24:10 18:2"),
    ("EMI-3 not the first roll", "W{24:12}|B{24:12}; W 6-6", "24:11 18:1"),
    ("EMI-3 blot", "W{24:11 4:1}|B{24:12 fresh}; B 4-4", "24:10 16:2 // 24:12"),
    ("EMI-3 blot, later", "W{24:11 4:1}|B{24:12}; B 4-4", "24:11 16:1 // 24:12"),
    ("EMI-3 closed before", "W{24:10 4:2}|B{24:12 fresh}; B 4-4", "24:11 20:1"),
    # EMI-4: closed points.
    ("X-E4 5-5", "W{24:10 13:2}|B{24:10 20:2}; W 5-5", "24:9 13:2 4:1"),
    (
        "X-E4 5-2",
        "W{24:10 13:2}|B{24:10 20:2}; W 5-2",
        "24:9 17:1 13:2 | 24:9 19:1 13:1 11:1 | 24:10 13:1 6:1",
    ),
    (
        "EMI-4 one captor closes",
        "W{24:10 13:1}|B{24:11 20:1/1}; W 5-2",
        "24:9 17:1 13:1 | 24:9 19:1 11:1 | 24:10 6:1",
    ),
    # EMI-5, EMI-6: capture and release.
    (
        "X-E2",
        "W{24:10 13:2}|B{24:11 20:1}; W 5-2",
        "24:9 22:1 13:1 8:1/1 // 24:11 | 24:10 11:1 8:1/1 // 24:11 | 24:10 13:1 6:1"
        " | 24:9 17:1 13:2 | 24:9 19:1 13:1 11:1",
    ),
    (
        "EMI-5 the emir is captured like any checker",
        "W{24:10 13:2}|B{24:11 20:1e}; W 5-2",
        "24:9 22:1 13:1 8:1/e // 24:11 | 24:10 11:1 8:1/e // 24:11 | 24:10 13:1 6:1"
        " | 24:9 17:1 13:2 | 24:9 19:1 13:1 11:1",
    ),
    (
        "EMI-6 release",
        "W{24:10 13:1 8:1/1}|B{24:11}; W 4-3",
        "24:9 17:1 13:1 8:1/1 | 24:9 20:1 10:1 8:1/1 | 24:9 21:1 9:1 8:1/1 | 24:10 8:1/1 6:1"
        " | 24:9 20:1 13:1 5:1 // 24:11 20:1 | 24:9 21:1 13:1 4:1 // 24:11 20:1"
        " | 24:10 9:1 5:1 // 24:11 20:1 | 24:10 10:1 4:1 // 24:11 20:1"
        " | 24:10 13:1 1:1 // 24:11 20:1",
    ),
    # EMI-7: a double hits; on its own head it captures.
    (
        "X-E3",
        "W{24:10 13:2}|B{24:11 20:1}; W 5-5",
        "24:9 13:2 4:1 | 24:9 13:1 9:1 8:1 // 24:12 | 24:9 14:1 13:1 3:1 // 24:12"
        " | 24:9 14:1 8:2 // 24:12 | 24:9 19:1 8:1 3:1 // 24:12 | 24:10 3:2 // 24:12",
    ),
    (
        "EMI-9 the emir is hit, and lies on top",
        "W{24:10 13:2}|B{24:11 20:1e}; W 5-5",
        "24:9 13:2 4:1 | 24:9 13:1 9:1 8:1 // 24:12e0 | 24:9 14:1 13:1 3:1 // 24:12e0"
        " | 24:9 14:1 8:2 // 24:12e0 | 24:9 19:1 8:1 3:1 // 24:12e0 | 24:10 3:2 // 24:12e0",
    ),
    (
        "EMI-7 blot on its own head",
        "W{24:10 18:2}|B{24:1e0 1:11}; W 6-6",
        "24:9 12:3/e // 1:11 | 24:9 18:1 12:1/e 6:1 // 1:11 | 24:10 6:2",
    ),
    (
        "X-E8 the head is closed",
        "W{14:1 12:2 1:9e}|B{20:1 18:2 1:9e}; W 6-6",
        "12:2 2:1 1:9e // bar:1 18:2 1:9e",
    ),
    (
        "EMI-7 the head is closed by one on a captive",
        "W{14:1 12:1/1 1:10e}|B{20:1 18:2 1:8e}; W 6-6",
        "12:1/1 2:1 1:10e // bar:1 18:2 1:8e",
    ),
    # EMI-8: returning captures.
    (
        "EMI-8 hit and captured at once",
        "W{14:1 12:1 1:10e}|B{20:1 18:2 1:9e}; W 6-6",
        "2:1 1:10e // 24:1/1 18:2 1:9e",
    ),
    (
        "EMI-8 an ordinary checker captures the emir",
        "W{14:1 12:1e 1:10}|B{20:1 18:2 1:9e}; W 6-6",
        "2:1 1:10 // 24:1/e 18:2 1:9e",
    ),
    (
        "X-E8 return at the start of the turn",
        "W{12:1 2:1 1:10e}|B{bar:1 18:2 1:9e}; B 6-5",
        "19:1 18:1 12:1 1:9e // 12:1 2:1 1:10e | 24:1/1 18:1 7:1 1:9e // 2:1 1:10e",
    ),
    (
        "EMI-8 the emir returns last",
        "W{12:1 1:11e}|B{bar:3e 1:9}; B 6-6",
        "24:2/1 6:1e 1:9 // 1:11e",
    ),
    (
        "EMI-8 no bearing off while one waits",
        "W{12:2 11:10e}|B{bar:1 6:11e}; B 6-5",
        "bar:1 6:10e 1:1 | bar:1 6:10 1:1e",
    ),
    # EMI-9: with a double nobody lands on an emir in its home.
    ("EMI-9 home", "W{24:10 18:2}|B{24:11 5:1e}; W 1-1", "24:9 20:1 18:2"),
    ("EMI-9 home, other emir", "W{24:10 18:2e}|B{24:11 5:1e}; W 1-1", "24:9 20:1 18:2e"),
    (
        "EMI-9 home, ordinary roll",
        "W{24:10 18:2}|B{24:11 5:1e}; W 6-1",
        "24:9 18:2 17:1/e // 24:11 | 24:10 18:1 11:1",
    ),
    # EMI-13: blocks are made of closed points.
    (
        "EMI-13 a lone checker closes nothing",
        "W{8:1 6:3 5:3 4:3 3:3 1:2e}|B{24:12}; W 6-5",
        "6:2 5:3 4:3 3:3 2:1 1:3e | 6:2 5:3 4:3 3:4 1:2e off1 | 6:3 5:2 4:3 3:3 2:1 1:2e off1",
    ),
    (
        "EMI-13 deaf",
        "W{8:1 6:3 5:3 4:2 3:2 2:1 1:3e}|B{24:12}; W 6-5",
        "6:2 5:3 4:2 3:3 2:1 1:3e off1",
    ),
    (
        "EMI-13 somebody ahead",
        "W{8:1 6:3 5:3 4:2 3:2 2:1 1:3e}|B{24:11 12:1}; W 6-5",
        "6:2 5:3 4:2 3:2 2:2 1:4e | 6:2 5:3 4:2 3:3 2:1 1:3e off1 | 6:3 5:2 4:2 3:2 2:2 1:3e off1",
    ),
    (
        "EMI-13 the only one ahead may not be hit",
        "W{20:3 6:2 5:2 4:2 3:2 2:2 1:2e}|B{24:11 2:1}; W 6-6",
        "20:3 6:2 5:2 4:2 3:2 2:2 1:2e",
    ),
    # EMI-14: bearing off with captives.
    (
        "EMI-14 captive at home",
        "W{6:2e 5:2 off10}|B{15:1/1 1:11e}; W 6-5",
        "6:1e 5:1 off12 | 6:1 5:1 off12e | 5:2 1:1e off11 | 5:2 1:1 off11e",
    ),
    (
        "EMI-14 captive outside",
        "W{6:2e 5:2 off10}|B{1:1/1 2:11e}; W 6-5",
        "6:1 5:2 1:1e off10 | 6:1e 5:2 1:1 off10",
    ),
    ("EMI-14 captive above", "W{4:2e off12}|B{18:1/1 1:11e}; W 6-5", "4:2e off12"),
    ("EMI-14 a captive is still to be borne off", "W{1:1e off13}|B{15:1/1 1:11e}; W 2-1", "off14e"),
]


@pytest.mark.parametrize(("literal", "ends"), [e[1:] for e in PLAYS], ids=[e[0] for e in PLAYS])
def test_plays(engine, literal, ends):
    """The ends are exactly these: both rows, captives, place of the emir and reserve."""
    check(engine, literal, ends)


def test_a_point_held_by_an_own_captor_is_open(engine):
    """EMI-4: one more own checker may join the captor."""
    ends = ends_of(engine, "W{24:10 10:1 8:1/1}|B{24:11}; W 6-2")
    assert position("24:9 18:1 8:2/1", "24:11") in ends


def test_captive_ahead_counts_where_it_lies(engine):
    """EMI-13: a captive on White's 22 (Black's 10) has passed the block on 6..1.

    One on White's 24 lies inside: its captor closes that point and prolongs the block (G-4).
    """
    rest = "6:2 5:3 4:2 3:2 2:2 1:3e"
    for captor, legal in ((22, True), (24, False)):
        literal = f"W{{{captor}:1/1 8:1 6:3 5:3 4:2 3:2 2:1 1:2e}}|B{{24:11}}; W 6-5"
        end = position(f"{captor}:1/1 {rest}", "24:11")
        assert (end in ends_of(engine, literal)) is legal


def test_capturing_the_only_one_ahead_is_legal(engine):
    """EMI-13: unlike a hit, a capture leaves the checker ahead."""
    literal = "W{20:3 6:2 5:2 4:2 3:2 2:2 1:2e}|B{24:11 2:1}; W 6-5"
    ends = ends_of(engine, literal)
    assert position("20:1 15:1 14:1/1 6:2 5:2 4:2 3:2 2:2 1:2e", "24:11") in ends


def test_six_leave_the_head_then_the_emir(engine):
    """EMI-1, EMI-2: the seventh checker of the head is the emir, whoever else moves."""
    here = position("24:12 fresh", "24:12 fresh")
    assert here == EMIR.start_position()
    left = []
    for _ in range(12):
        ends = engine.ends(EMIR, here, (2, 1))
        here = next(end for end in sorted(ends) if end.mover[24] == here.mover[24] - 1)
        emir_left = EMIR.recall(here.mover, "emir") != 24
        left.append(emir_left)
        here = Position(here.mover, EMIR.start_row(first=False))
    assert left == [False] * 6 + [True] * 6


# -- the end ----------------------------------------------------------------------------------

WON, LOST = "won", "lost"
ENDS = [
    ("X-E7", "W{24:5 13:1e 7:6}|B{24:11 20:1e}; W 5-2", WON, 2),
    ("EMI-10 loser has borne off", "W{24:5 13:1e 7:6}|B{24:10 20:1e off1}; W 5-2", WON, 1),
    ("EMI-10 by a double", "W{24:5 13:1e 7:6}|B{24:11 20:1e}; W 5-5", WON, 2),
    ("EMI-10 on its own head, by a double", "W{18:1e 1:11}|B{24:1e0 2:11}; W 6-6", WON, 2),
    ("EMI-10 the hit emir returns", "W{14:1 12:1e 1:10}|B{20:1e 18:2 1:9}; W 6-6", LOST, 2),
    ("EMI-10 and 1 point", "W{14:1 12:1e 1:8 off2}|B{20:1e 18:2 1:9}; W 6-6", LOST, 1),
    ("EMI-8 at the start of the turn", "W{12:1e 1:11}|B{bar:1e 1:11}; B 6-5", WON, 2),
    ("EMI-8 and 1 point", "W{12:1e 1:10 off1}|B{bar:1e 1:11}; B 6-5", WON, 1),
    ("EMI-14 reserve need not enter", "W{1:1e off11}|B{24:12}; W 6-5", WON, 2),
    ("EMI-15", "W{1:2 off10e}|B{2:11e off1}; W 6-5", WON, 1),
]


@pytest.mark.parametrize(
    ("literal", "who", "points"), [e[1:] for e in ENDS], ids=[e[0] for e in ENDS]
)
def test_end_of_the_game(engine, literal, who, points):
    """One play ends the game, for so many points (EMI-10, EMI-14, EMI-15, T-10)."""
    assert results(engine, literal) == [Outcome(who == WON, points - 1, points)]


def test_ordinary_checker_only_captures_the_emir(engine):
    """X-E7: the same step by another checker ends nothing."""
    assert results(engine, "W{24:5 13:2 7:5e}|B{24:11 20:1e}; W 5-2") == []


@pytest.mark.parametrize(
    "literal",
    [
        "W{12:1e 1:11}|B{bar:1e 1:11}; B 6-5",
        "W{14:1 12:1e 1:10}|B{20:1e 18:2 1:9}; W 6-6",
    ],
    ids=["EMI-8 turn start", "EMI-10 only step"],
)
def test_nothing_is_played_after_the_end(engine, literal):
    """T-10: the only end is the finished one, and from it there is no play; nobody acts next."""
    start, dice, _ = case(literal)
    (end,) = engine.ends(EMIR, start, dice)
    assert end == quiet(end)
    assert engine.ends(EMIR, end.swapped(), dice) == []


def test_finishing_play_may_leave_dice(engine):
    """T-10: the emir is taken with one die, although two could be played."""
    literal = "W{13:1e 1:11}|B{24:11 20:1e}; W 5-2"
    start, dice, theirs = case(literal)
    won, other = reference.plays(EMIR, start, dice)
    assert won.steps == ((13, 8, 5, True),)
    assert len(other.steps) == 2
    assert results(engine, literal) == [Outcome(True, 1, 2)]
    going_on = [e for e in engine.ends(EMIR, start, dice) if engine.outcome(EMIR, e) is None]
    assert list(map(quiet, going_on)) == expected("6:1e 1:11", theirs)


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ("24:12", 3),
        ("6:11e bar:1", 3),
        ("18:12e", 2),
        ("6:15e", 4),
        ("6:12e res3", 2),
        ("6:11e off1", 1),
    ],
    ids=["koks", "koks, bar", "mars", "home mars", "not all 15 home", "oin"],
)
def test_koks_and_home_mars(engine, loser, points):
    """SC-3, SC-4: as in the other games; a checker on the bar waits for the head."""
    variant = load_variant("emir", {"score": "oin_mars_koks_homemars"})
    (result,) = results(engine, f"W{{1:1e off11}}|B{{{loser}}}; W 6-5", variant)
    assert result.points == points


# -- before the roll --------------------------------------------------------------------------

PREROLL = [  # EMI-11, EMI-12; the first end is no move
    (
        "X-E5",
        "W{24:1 18:1e 13:10 pre}|B{24:12}; W 1-1",
        "24:1 18:1e 13:10 | 24:2 18:1e 13:10 res2 | 24:1 18:2e 13:10 res2",
    ),
    (
        "X-E6",
        "W{24:8 15:4 pre}|B{24:10 1:2e}; W 1-1",
        "24:8 15:4 | 24:8 15:3 14:1 | 24:8 15:2 14:1 11:1 | 24:8 15:1 14:1 11:1 10:1",
    ),
    (
        "EMI-14 a nuker lies above the emir",
        "W{24:1e0 13:11 pre}|B{24:12}; W 1-1",
        "24:1e0 13:11 | 24:2e1 13:11 res2",
    ),
    (
        "EMI-12 no nuker on a captive",
        "W{24:1/1 18:1e/1 13:10 pre}|B{24:10}; W 1-1",
        "24:1/1 18:1e/1 13:10",
    ),
    (
        "EMI-12 no nuker on the captive emir",
        "W{24:2 13:9 pre}|B{24:11 2:1/e}; W 1-1",
        "24:2 13:9",
    ),
    (
        "EMI-11 no nuker left",
        "W{24:1 18:1e 13:10 off3 pre}|B{24:12}; W 1-1",
        "24:1 18:1e 13:10 off3",
    ),
    ("EMI-11 two on the head", "W{24:2 18:2e 13:8 pre}|B{24:12}; W 1-1", "24:2 18:2e 13:8"),
    (
        "EMI-12 a blot is captured on the way",
        "W{24:8 15:4 pre}|B{24:11 1:1}; W 1-1",
        "24:8 15:4 | 24:8 15:3 14:1 | 24:8 15:2 14:1 13:1/1 // 24:11"
        " | 24:8 15:1 14:1 13:1/1 11:1 // 24:11",
    ),
    (
        "EMI-12 own points receive",
        "W{24:7 15:3 13:2 pre}|B{24:12}; W 1-1",
        "24:7 15:3 13:2 | 24:7 15:2 14:1 13:2 | 24:7 15:1 14:1 13:3",
    ),
    (
        "EMI-11 five closed points are skipped",
        "W{24:8 20:4 pre}|B{24:2 6:2 5:2 4:2 3:2 2:2e}; W 1-1",
        "24:8 20:4 | 24:8 20:3 19:1 | 24:8 20:2 19:1 13:1 | 24:8 20:1 19:1 13:1 11:1",
    ),
    (
        "EMI-11 six are not",
        "W{24:8 20:4 pre}|B{6:2 5:2 4:2 3:2 2:2 1:2e}; W 1-1",
        "24:8 20:4 | 24:8 20:3 19:1",
    ),
    (
        "EMI-11 the next point must be empty",
        "W{24:6 15:3 14:3 pre}|B{24:12}; W 1-1",
        "24:6 15:3 14:3 | 24:6 15:3 14:2 13:1 | 24:6 15:3 14:1 13:1 11:1",
    ),
    (
        "EMI-11 a blot on the next point",
        "W{24:8 15:4 pre}|B{24:11 2:1e}; W 1-1",
        "24:8 15:4",
    ),
    (
        "EMI-12 the emir stays",
        "W{15:3e 1:9 pre}|B{24:12}; W 1-1",
        "15:3e 1:9 | 15:2e 14:1 1:9 | 15:1e 14:1 13:1 1:9",
    ),
    ("EMI-12 not from the head", "W{24:8 1:4 pre}|B{24:12}; W 1-1", "24:8 1:4"),
    (
        "EMI-12 no bearing off",
        "W{2:4e 8:8 pre}|B{24:12 }; W 1-1",
        "8:8 2:4e | 8:7 7:1 2:4e | 8:6 7:1 6:1 2:4e | 8:5 7:1 6:1 5:1 2:4e"
        " | 8:4 7:1 6:1 5:1 4:1 2:4e | 8:3 7:1 6:1 5:1 4:1 3:1 2:4e"
        " | 8:2 7:1 6:1 5:1 4:1 3:1 2:5e | 8:1 7:1 6:1 5:1 4:1 3:1 2:5e 1:1"
        " | 8:8 2:3e 1:1",
    ),
    (
        "EMI-12 block",
        "W{10:3 8:1 7:2 6:2 5:2 4:2 3:2e pre}|B{24:12}; W 1-1",
        "10:3 8:1 7:2 6:2 5:2 4:2 3:2e | 10:2 9:1 8:1 7:2 6:2 5:2 4:2 3:2e",
    ),
    (
        "EMI-12 block with somebody ahead",
        "W{10:3 8:1 7:2 6:2 5:2 4:2 3:2e pre}|B{24:11 6:1}; W 1-1",
        "10:3 8:1 7:2 6:2 5:2 4:2 3:2e | 10:2 9:1 8:1 7:2 6:2 5:2 4:2 3:2e"
        " | 10:1 9:1 8:2 7:2 6:2 5:2 4:2 3:2e",
    ),
    (
        "EMI-8 checkers return first",
        "W{24:12}|B{bar:1 13:11e pre}; B 1-1",
        "24:1 13:11e | 24:2 13:11e res2",
    ),
]


@pytest.mark.parametrize(("literal", "ends"), [e[1:] for e in PREROLL], ids=[e[0] for e in PREROLL])
def test_preroll_moves(engine, literal, ends):
    """At most one nuker or one distribution; then the same side rolls (`again`), once."""
    start, dice, theirs = case(literal)
    found = engine.ends(EMIR, start, dice)
    assert sorted(map(quiet, found)) == expected(ends, theirs)
    assert quiet(found[0]) == expected(ends.split("|")[0], theirs)[0]
    for end in found:
        assert EMIR.recall(end.mover, "again") == 1
        assert EMIR.recall(end.mover, "preroll") == EMIR.recall(end.opponent, "preroll") == 0


@pytest.mark.parametrize(
    ("black", "due"),
    [
        ("24:12", 0),
        ("24:1 18:1e 13:10", 1),
        ("24:1 18:1e 13:10 off3", 0),
        ("24:8 15:4", 1),
        ("bar:1 13:11e", 1),
    ],
    ids=["none", "nuker", "no reserve", "distribution", "nuker after the return"],
)
def test_preroll_is_due_exactly_if_there_is_a_move(engine, black, due):
    """EMI-11: the afterstate of a roll says whether the other side has a pre-roll move."""
    start = position("24:11 22:1", black)
    for end in engine.ends(EMIR, start, (2, 1)):
        assert EMIR.recall(end.opponent, "preroll") == due
        assert EMIR.recall(end.mover, "preroll") == EMIR.recall(end.mover, "again") == 0
        assert end.opponent[25] == start.opponent[25]  # it returns when its own turn begins


def test_steps_of_a_preroll_move():
    """A nuker comes from off the board, a distribution from its point, both without a die."""
    start, _, _ = case("W{24:1 18:1e 15:4 8:6 pre}|B{24:11 1:1}; W 1-1")
    steps = {play.steps for play in emir_plays(EMIR, start, None)}
    assert {(), ((0, 24, 0, False),), ((0, 18, 0, False),)} < steps
    assert ((15, 14, 0, False), (15, 13, 0, True)) in steps


def test_roll_is_needed():
    """Without a pre-roll move due, None is no roll."""
    with pytest.raises(DiceError, match="needs a roll"):
        emir_plays(EMIR, EMIR.start_position(), None)


# -- options ----------------------------------------------------------------------------------

NO_LIMIT = {
    "head.exception": "none",
    "head.exception_doubles": [],
    "head.exception_when": "all_on_head",
}
BLOCK = "W{8:1 6:3 5:3 4:2 3:2 2:1 1:3e}"
ONE = "6:2 5:3 4:2 3:3 2:1 1:3e off1"
THREE = f"6:2 5:3 4:2 3:2 2:2 1:4e | {ONE} | 6:3 5:2 4:2 3:2 2:2 1:3e off1"
TWO_FIVES = "24:9 14:1 13:2 | 24:9 19:1 13:1 8:1/1 // 24:11 | 24:10 8:2/1 // 24:11 | 24:10 13:1 3:1"
OPTIONS = [
    ("never", {"block.rule": "never"}, BLOCK + "|B{24:11 12:1}; W 6-5", ONE),
    ("karzar", {"block.rule": "karzar"}, BLOCK + "|B{24:11 12:1}; W 6-5", ONE),
    ("karzar, home", {"block.rule": "karzar"}, BLOCK + "|B{24:11 6:1}; W 6-5", THREE),
    ("no block rule", {"block.rule": "none"}, BLOCK + "|B{24:12}; W 6-5", THREE),
    (
        "L-23 end",
        {"block.check": "end_of_segment"},
        BLOCK + "|B{24:12}; W 6-6",
        "5:3 4:2 3:2 2:2 1:3e off3",
    ),
    (
        "L-23 every step",
        {"block.check": "every_step"},
        BLOCK + "|B{24:12}; W 6-6",
        "8:1 6:3 5:3 4:2 3:2 2:1 1:3e",
    ),
    (
        "AST-1 two fives capture",
        {"dice.program": "n_times_m"},
        "W{24:10 13:2}|B{24:11 20:1}; W 5-2",
        TWO_FIVES,
    ),
    (
        "head.limit none",
        {"head.limit": "none", **NO_LIMIT},
        "W{24:12}|B{24:12}; W 6-6",
        "24:8 18:4",
    ),
    (
        "FEV-2 the runner is captive",
        {"head.limit": "runner", **NO_LIMIT},
        "W{24:11}|B{24:11 6:1/1}; W 2-1",
        "24:11",
    ),
    (
        "FEV-2 the captive runner has passed",
        {"head.limit": "runner", **NO_LIMIT},
        "W{24:11}|B{24:11 20:1/1}; W 2-1",
        "24:10 21:1 | 24:9 23:1 22:1",
    ),
    (
        "X-N5 frozen",
        {"home.frozen": True},
        "W{8:1e 6:2 off9}|B{24:12}; W 2-1",
        "6:2 5:1e off9",
    ),
    (
        "BNA-3 exact",
        {"bearoff.overshoot": "exact_only"},
        "W{4:2 2:1e off9}|B{24:12}; W 6-5",
        "4:2 2:1e off9",
    ),
    (
        "D-10 captive above is blocked",
        {"bearoff.overshoot": "highest_or_all_higher_blocked"},
        "W{4:2e off12}|B{18:1/1 1:11e}; W 6-5",
        "off14e",
    ),
    (
        "ONE-3",
        {"bearoff.dice": [1, 6]},
        "W{4:1 1:2e off9}|B{24:12}; W 6-4",
        "1:2e off10",
    ),
    (
        "D-01 second player",
        {"head.exception": "second_player_any_blocked"},
        "W{24:10 16:2}|B{24:12 fresh}; B 5-5",
        "24:10 14:2 | 24:10 19:1 9:1",
    ),
    (
        "D-01 none",
        {
            "head.exception": "none",
            "head.exception_doubles": [],
            "head.exception_when": "all_on_head",
        },
        "W{24:12}|B{24:12}; W 6-6",
        "24:11 18:1",
    ),
]


@pytest.mark.parametrize(
    ("options", "literal", "ends"),
    [e[1:] for e in OPTIONS],
    ids=[e[0] for e in OPTIONS],
)
def test_rule_options(engine, options, literal, ends):
    """The options of other games mean the same here, captives and closed points considered."""
    check(engine, literal, ends, load_variant("emir", options))


def test_start_sector_counts_closed_points(engine):
    """FEV-6 with EMI-13: six points with two checkers each may not fill the start quarter."""
    literal = "W{24:2e0 23:2 22:2 21:2 20:3 19:1 11:3}|B{24:12}; W 6-1"
    filled = position("24:2e0 23:2 22:2 21:2 20:2 19:2 11:2 5:1", "24:12")
    sector = load_variant("emir", {"block.rule": "start_sector"})
    assert filled not in ends_of(engine, literal, sector)
    assert filled in ends_of(engine, literal, load_variant("emir", {"block.rule": "none"}))


@pytest.mark.parametrize(
    ("roll", "ends"),
    [("6-3", "24:12 first"), ("6-2", "24:10 18:2 first")],
    ids=["skipped", "even"],
)
def test_parity(engine, roll, ends):
    """CHN-1: the side that moved first plays an even smaller number; a skip is the first roll."""
    variant = load_variant(
        "emir",
        {
            "dice.program": "n_times_m",
            "dice.parity": "white_even_black_odd",
            "head.exception": "principle",
            "head.exception_doubles": [],
        },
    )
    check(engine, f"W{{24:12 fresh first}}|B{{24:12 fresh}}; W {roll}", ends, variant)


def test_no_teleports():
    """The rules know no teleports with pins."""
    with pytest.raises(VariantError, match="teleport needs"):
        load_variant("emir", {"teleport": "kaftar"})


# -- whole games ------------------------------------------------------------------------------


def test_perft(engine):
    """From the start neither side can do more than in long nardy with two heads: 22, 22 * 22."""
    assert perft(EMIR, 1, engine.name) == 22
    assert perft(EMIR, 2, engine.name) == 484


def test_both_sides_can_be_stuck_for_ever(engine):
    """Free checkers on the own point 1 with a captive under each pile: no roll moves anybody."""
    start = position("1:13e/1", "1:14e/1")
    assert is_dead(EMIR, start)
    assert is_dead(EMIR, start.swapped())
    for larger in range(1, 7):
        for smaller in range(1, larger + 1):
            for seen in (start, start.swapped()):
                ends = engine.ends(EMIR, seen, (larger, smaller))
                assert list(map(quiet, ends)) == [seen]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("2:1e 1:12/1", "1:14e/1"),
        ("1:14e", "1:14e/1"),
        ("bar:1 1:12e/1", "1:14e/1"),
    ],
    ids=["one can move", "one has no captive", "one can return"],
)
def test_not_dead(mine, theirs):
    """One step that is left to one side, or a return, is life."""
    assert not is_dead(EMIR, position(mine, theirs))


def test_captive_emir_on_its_head_is_a_position():
    """EMI-7: the emir can lie captive on its own head, nothing above it."""
    assert EMIR.recall(position("14:10 2:1", "12:1/e 1:11e").mover, "emir_above") == 0
    with pytest.raises(PositionError, match="above"):
        position("14:11 24:1e1", "1:12e")


def test_random_games_stay_valid():
    """Every end is a position of the game, listed once, and the steps of a play lead to it."""
    dice = random.Random(20)
    for _ in range(2):
        here = EMIR.start_position()
        for _ in range(150):
            if reference.outcome(EMIR, here) is not None:
                break
            plays = emir_plays(EMIR, here, (dice.randint(1, 6), dice.randint(1, 6)))
            assert len({play.end for play in plays}) == len(plays) > 0
            for play in plays:
                EMIR.check_position(quiet(play.end))
            here, _ = reference.next_position(EMIR, dice.choice(plays).end)
