"""Emir at a standstill: nobody can ever move again, which is a draw (EMI-14, DECISIONS.md 22)."""

import pytest

from nardy_engine import Position, load_variant
from nardy_engine.notation import parse_position
from nardy_engine.rules.memory import memory_index
from turns import remembered, situation

EMIR = load_variant("emir")


def side(points, captive=(), **memory):
    """Return a row of emir; the emir stands on point 1 unless `memory` says otherwise."""
    row = [0] * EMIR.n_slots
    index = memory_index(EMIR)
    for point, count in points.items():
        row[point] = count
    for point in captive:
        row[index[f"captive_{point}"]] = 1
    for name, value in ({"emir": 1} | memory).items():
        row[index[name]] = value
    row[0] = 15 - sum(row[: EMIR.n_counts]) - len(captive) - row[index["reserve"]]
    return tuple(row)


STANDS = side({1: 8}, captive=[13])


@pytest.mark.parametrize("reserve", [0, 3])
def test_piles_on_captives_never_move_again(engine, reserve):
    """Both sides wait on their 1-points for the other to leave; nukers change nothing."""
    position = Position(side({1: 8}, captive=[13], reserve=reserve), STANDS)
    outcome = engine.outcome(EMIR, EMIR.check_position(position))
    assert outcome is not None
    assert outcome.draw
    assert outcome.points == 0


@pytest.mark.parametrize(
    "mover",
    [
        side({2: 1, 1: 7}, captive=[13]),
        side({24: 1, 1: 7}, captive=[13]),
        side({25: 1, 1: 7}, captive=[13]),
    ],
    ids=["a step at home", "a checker on the head", "a checker that returns"],
)
def test_one_checker_that_can_move_is_enough(engine, mover):
    """It does not matter whose checker it is."""
    for position in (Position(mover, STANDS), Position(STANDS, mover)):
        assert engine.outcome(EMIR, EMIR.check_position(position)) is None


def test_without_captives_bearing_off_goes_on(engine):
    """The same piles with nothing under them are an ordinary race."""
    assert engine.outcome(EMIR, Position(side({1: 8}), side({1: 8}))) is None


MAD = "W{19:5 6:2 5:3 4:2 3:1 2:1 1:1}|B{19:5 6:2 5:2 4:1 3:1 2:3 1:1}; W 6-5"


@pytest.mark.parametrize("game", ["mad_nardy", "giul"])
def test_two_frozen_homes_stop_each_other(engine, game):
    """BNA-2: nobody may move at home, and both walls stop the checkers outside; a draw."""
    variant = load_variant(game)
    position = parse_position(MAD, variant).position
    outcome = engine.outcome(variant, position)
    assert outcome is not None
    assert outcome.draw
    assert [end.mover[:26] for end in engine.ends(variant, position, (6, 5))] == [
        position.mover[:26]
    ]  # T-8: the pass


WALL = "6:1 5:1 4:1 3:1 2:1 1:1"


@pytest.mark.parametrize("game", ["mad_nardy", "giul"])
def test_a_standstill_keeps_what_is_owed(engine, game):
    """BNA-4: the engines leave the same memory; unlike at T-10, nobody has finished."""
    variant = load_variant(game)
    literal = f"W{{20:1 19:8 {WALL}}}|B{{19:9 {WALL}}}; W 1-1"
    position, dice, _ = situation(variant, literal)
    (end,) = engine.ends(variant, position, dice)
    assert engine.outcome(variant, end).draw
    levels = {f"owed_{die}": 4 for die in range(2, 7)}
    head = {"head_left": 1} if variant.remembers("head_left") else {}
    assert remembered(variant, end.mover) == {**levels, "roller": 1, **head}
    assert remembered(variant, end.opponent) == {"owed_1": 3, **head}


def test_a_standstill_keeps_the_preroll_move(engine):
    """EMI-11: a nuker could still join the lone emir on 19, but nobody ever moves again."""
    variant = load_variant("emir", {"home.frozen": True})
    wall = dict.fromkeys(range(1, 7), 2)
    mover = side({20: 1} | wall, emir=20, reserve=2)
    position = variant.check_position(Position(mover, side({19: 1} | wall, emir=19, reserve=2)))
    assert engine.outcome(variant, position) is None
    (end,) = engine.ends(variant, position, (2, 1))
    assert engine.outcome(variant, end).draw
    assert variant.recall(end.opponent, "preroll") == 1


@pytest.mark.parametrize(
    "text",
    [
        MAD.replace("19:5 6:2 5:3", "19:4 12:1 6:2 5:3"),
        MAD.replace("B{19:5 6:2 5:2 4:1", "B{19:5 6:3 5:2"),
        "W{6:5 5:4 4:6}|B{19:5 6:2 5:2 4:1 3:1 2:3 1:1}; W 6-5",
    ],
    ids=["one passed the wall", "a hole in the wall", "one side is all at home"],
)
def test_a_frozen_game_goes_on_while_somebody_can_move(engine, text):
    """BNA-2, BNA-3: bearing off counts as moving."""
    variant = load_variant("mad_nardy")
    position = parse_position(text, variant).position
    assert engine.outcome(variant, position) is None


def test_thawed_homes_never_stand_still(engine):
    """Without a frozen home the same position goes on: a 1 can be played at home."""
    variant = load_variant("long")
    position = parse_position(MAD, variant).position
    assert engine.outcome(variant, position) is None
    assert len(engine.ends(variant, position, (2, 1))) > 1
