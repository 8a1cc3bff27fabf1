"""Emir at a standstill: nobody can ever move again, which is a draw (EMI-14, DECISIONS.md 22)."""

import pytest

from nardy_engine import Position, load_variant
from nardy_engine.rules.memory import memory_index

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
    assert outcome is not None and outcome.draw and outcome.points == 0


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
