"""The arithmetic of outcome vectors (faults T03, T25, T26; rules L-40, S-8)."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_engine import load_variant
from nardy_engine.outcomes import flip_index
from nardy_rl import outcomes
from nardy_rl.outcomes import Probabilities

# T25: win .6, gammon .2, backgammon .05, lose gammon .1, lose backgammon .02.
CUMULATIVE = [0.6, 0.2, 0.05, 0.4, 0.1, 0.02]
EXCLUSIVE = [0.4, 0.15, 0.05, 0.3, 0.08, 0.02]
EQUITY = 0.33


def test_order_and_points_of_short() -> None:
    """Short nardy has six outcomes worth 1, 2, 3 and -1, -2, -3 (S-8)."""
    short = load_variant("short")
    assert outcomes.points_vector(short).tolist() == [1, 2, 3, -1, -2, -3]
    assert outcomes.points_vector(short).dtype == np.float32
    assert outcomes.outcome_names(short)[1] == "win gammon"
    assert outcomes.outcome_names(short)[5] == "lose backgammon"


def test_order_and_points_of_long() -> None:
    """Long nardy has four outcomes worth 1, 2 and -1, -2 (L-40)."""
    long = load_variant("long")
    assert outcomes.points_vector(long).tolist() == [1, 2, -1, -2]
    assert outcomes.outcome_names(long) == ("win oin", "win mars", "lose oin", "lose mars")


def test_points_of_checkers_left() -> None:
    """Where every checker left counts a point, there are 2 x 15 outcomes (SC-6)."""
    points = outcomes.points_vector(load_variant("long", {"score": "checkers_left"}))
    assert points.tolist() == [*range(1, 16), *range(-1, -16, -1)]


def test_a_draw_is_the_last_outcome_and_looks_the_same_from_both_sides() -> None:
    """A draw is the last of `2 K + 1` outcomes, worth 0, and no flip moves it (DR-1)."""
    game = load_variant("long", {"last_roll_draw": "on"})
    points = outcomes.points_vector(game)
    assert points.tolist() == [1, 2, -1, -2, 0]
    assert outcomes.outcome_names(game)[-1] == "draw"
    probs = np.array([0.1, 0.2, 0.15, 0.25, 0.3])
    np.testing.assert_array_equal(outcomes.flip(probs), [0.15, 0.25, 0.1, 0.2, 0.3])
    assert outcomes.equity(probs, points) == pytest.approx(0.5 - 0.65)
    assert flip_index(np.array([-1, 0, 3, 4]), 5).tolist() == [-1, 2, 1, 4]
    np.testing.assert_allclose(outcomes.cumulative(probs), [0.3, 0.2, 0.4, 0.25, 0.3])
    np.testing.assert_allclose(outcomes.exclusive(outcomes.cumulative(probs)), probs)


def test_rewards_of_the_two_sides_add_to_zero() -> None:
    """Every outcome is worth r to one side and -r to the other (T03)."""
    points = outcomes.points_vector(load_variant("short"))
    for outcome in range(6):
        mine = outcomes.one_hot(np.array([outcome]), 6)
        assert outcomes.equity(mine, points)[0] == points[outcome]
        assert outcomes.equity(outcomes.flip(mine), points)[0] == -points[outcome]


def test_cumulative_is_not_exclusive() -> None:
    """Wins at least a gammon and wins exactly a gammon convert both ways (T25)."""
    exactly = outcomes.exclusive(np.array([CUMULATIVE, CUMULATIVE]))
    np.testing.assert_allclose(exactly, [EXCLUSIVE, EXCLUSIVE], atol=1e-12)
    np.testing.assert_allclose(exactly.sum(axis=1), 1.0)
    at_least = outcomes.cumulative(np.array(EXCLUSIVE))
    np.testing.assert_allclose(at_least, CUMULATIVE, atol=1e-12)


def test_equity_of_published_figures() -> None:
    """The figures of T26 are worth +.33 to one side and -.33 to the other."""
    points = outcomes.points_vector(load_variant("short"))
    probs = np.array([EXCLUSIVE], dtype=np.float32)
    assert outcomes.equity(probs, points)[0] == pytest.approx(EQUITY, abs=1e-6)
    assert outcomes.equity(outcomes.flip(probs), points)[0] == pytest.approx(-EQUITY, abs=1e-6)


def test_equity_of_the_other_side_is_the_exact_negative() -> None:
    """Seen from the other side an equity is the negative to the last bit, rounding included."""
    points = outcomes.points_vector(load_variant("short"))
    probs = np.random.default_rng(5).dirichlet(np.ones(6), 500).astype(np.float32)
    there = outcomes.equity(probs, points)
    assert np.array_equal(outcomes.equity(outcomes.flip(probs), points), -there)


def test_named_type_agrees_with_the_figures() -> None:
    """`Probabilities` knows its equity, its other side and its cumulative form (T25, T26)."""
    probs = Probabilities.from_cumulative(CUMULATIVE)
    assert probs.win == pytest.approx(EXCLUSIVE[:3])
    assert probs.lose == pytest.approx(EXCLUSIVE[3:])
    points = [1, 2, 3, -1, -2, -3]
    assert probs.equity(points) == pytest.approx(EQUITY)
    assert probs.flipped().equity(points) == pytest.approx(-EQUITY)
    assert probs.cumulative().win == pytest.approx(CUMULATIVE[:3])
    assert (probs.wins(), probs.losses()) == pytest.approx((0.6, 0.4))
    assert probs.flipped().vector() == pytest.approx(EXCLUSIVE[3:] + EXCLUSIVE[:3])


def test_flip_does_not_touch_its_argument() -> None:
    """A flipped vector is a copy: writing into it leaves the original alone (T23)."""
    mask = np.array([[True, False, True, True]])
    flipped = outcomes.flip(mask)
    assert flipped.tolist() == [[True, True, True, False]]
    flipped[:] = False
    assert mask.tolist() == [[True, False, True, True]]


def test_flip_index_matches_flip() -> None:
    """Flipping the index of an outcome and flipping its one-hot row agree; -1 stays."""
    indices = np.array([-1, 0, 1, 2, 3], dtype=np.int8)
    flipped = flip_index(indices, 4)
    assert flipped.tolist() == [-1, 2, 3, 0, 1]
    assert flipped.dtype == np.int8
    assert outcomes.one_hot(indices, 4)[0].tolist() == [0, 0, 0, 0]


def test_masked_softmax_is_exactly_zero_where_impossible() -> None:
    """Impossible outcomes get exactly 0 and the rest sums to 1, however large the logits (T30)."""
    logits = np.array([[1e4, 0.0, -1e4, 3.0], [5.0, 5.0, 99.0, 5.0]], dtype=np.float32)
    possible = np.array([[False, True, True, True], [True, True, False, False]])
    probs = outcomes.masked_softmax(logits, possible)
    assert probs.dtype == np.float32
    assert np.all(probs[~possible] == 0)
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-6)
    assert probs[1].tolist() == [0.5, 0.5, 0, 0]


def test_wrong_lengths_are_refused() -> None:
    """No vector of outcomes, or points of another game, raise instead of broadcasting (T13)."""
    with pytest.raises(ValueError, match="at least two entries"):
        outcomes.flip(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="4 outcomes but 6 points"):
        outcomes.equity(np.zeros((2, 4)), np.zeros(6))
