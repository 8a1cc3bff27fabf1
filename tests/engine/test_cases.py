"""The collected cases: faults of other engines, rule options, finished boards."""

import json
from collections import Counter
from pathlib import Path

import pytest

from nardy_engine import Position, load_variant

_DATA = Path(__file__).parents[1] / "data" / "cases"


def _lines(name):
    lines = (_DATA / name).read_text("utf-8").splitlines()
    return [pytest.param(item, id=item["id"]) for item in map(json.loads, lines)]


def _side(table, checkers):
    counts = [0] * 26
    counts[25] = table["bar"]
    for point, count in table["points"].items():
        counts[int(point)] = count
    counts[0] = checkers - sum(counts)  # hand-made boards may leave checkers out; they are off
    assert table["off"] in (0, counts[0])
    return tuple(counts)


def _position(item, checkers=15):
    return Position(_side(item["me"], checkers), _side(item["opp"], checkers))


@pytest.mark.parametrize("item", _lines("public_bugs.jsonl"))
def test_public_fault_does_not_happen_here(engine, item):
    """The ends are exactly the expected ones, each once, where another engine went wrong."""
    ends = engine.ends(load_variant(item["variant"]), _position(item), item["dice"])
    assert Counter(ends) == Counter(map(_position, item["expected"])), item["why"]


@pytest.mark.parametrize("item", _lines("rule_options.jsonl"))
def test_rule_option_decides_the_ends(engine, item):
    """Under each value of the option the ends are exactly those that this reading gives."""
    for reading in item["expected_by_option"]:
        variant = load_variant(item["variant"], reading["option"])
        ends = engine.ends(variant, _position(item), item["dice"])
        assert Counter(ends) == Counter(map(_position, reading["expected"])), reading["option"]


@pytest.mark.parametrize("item", _lines("outcomes.jsonl"))
def test_finished_board_scores(engine, item):
    """A finished board is worth its points, positive for the winner and negative for the loser."""
    variant, position = load_variant(item["variant"]), _position(item)
    assert engine.outcome(variant, position).points_for_mover == item["points_for_me"]
    assert engine.outcome(variant, position.swapped()).points_for_mover == -item["points_for_me"]
