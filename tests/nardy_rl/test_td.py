"""TD(lambda): traces, lambda-returns and their equality (faults T01-T09, T13 as they apply)."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_engine.kernels.selfplay import backward_returns, write_last_target
from nardy_rl.traces import NEGATE, TraceLearner, outcome_flip

STATES = np.eye(4)
KINDS = 3
OUTCOMES = 2 * KINDS


def turned(values: np.ndarray) -> np.ndarray:
    """Exchange wins and losses, written apart from the code under test."""
    return np.concatenate([values[..., KINDS:], values[..., :KINDS]], axis=-1)


def returns(sides, probs, outcome: int, lambda_: float, after: int | None = None) -> np.ndarray:
    """Return the kernel's lambda-returns of one game; `after` acts next, by default the other."""
    after = 1 - sides[-1] if after is None else after
    targets = np.full((len(sides), probs.shape[1]), np.nan, np.float32)
    sides, probs = np.append(sides, after).astype(np.int8), probs.astype(np.float32)
    length, kinds = len(sides) - 1, probs.shape[1] // 2
    if outcome >= 0:
        targets[-1] = np.arange(probs.shape[1]) == outcome
    else:
        write_last_target(sides, probs[length], length, kinds, targets, 0)
    backward_returns(sides, probs, length, lambda_, kinds, targets, 0)
    return targets


def random_game(seed: int, length: int = 9):
    """Draw the sides and outcome probabilities of a game in which a side may act twice."""
    rng = np.random.default_rng(seed)
    sides = rng.integers(0, 2, length)
    probs = rng.dirichlet(np.ones(OUTCOMES), length + 1)
    return sides, probs, int(rng.integers(OUTCOMES))


# -- the backward view ----------------------------------------------------------------------------


@pytest.mark.parametrize("lambda_", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("online", [False, True])
def test_the_value_is_that_of_the_side_to_move(lambda_: float, online: bool) -> None:
    """T01, T02: a(P0) b(P0) c(P1) d(P1 wins) is worth -1 -1 +1 +1, not a sign a step."""
    learner = TraceLearner(4, alpha=0.2, lambda_=lambda_)
    for _ in range(400):
        learner.learn(STATES, np.array([0, 0, 1, 1]), np.array([1.0]), online=online)
    np.testing.assert_allclose(learner.weights[0], [-1, -1, 1, 1], atol=1e-6)


def test_both_winners_get_opposite_rewards() -> None:
    """T03: r for the winner is -r for the loser, whichever side wins."""
    for points in (1.0, 2.0, 3.0):
        for winner in (0, 1):
            learner = TraceLearner(2, alpha=1.0, lambda_=1.0)
            learner.learn(np.eye(2), np.array([1 - winner, winner]), np.array([points]))
            assert learner.weights[0].tolist() == [-points, points]


def test_traces_do_not_survive_a_game() -> None:
    """T04, T05, T06: two episodes of two states each; the figures of the published fault."""
    learner = TraceLearner(4, alpha=0.1, lambda_=0.8, gamma=0.9)
    same = np.array([0, 0])
    learner.learn(STATES[:2], same, np.array([1.0]), online=True)
    first = learner.weights.copy()
    np.testing.assert_allclose(first[0], [0.072, 0.1, 0, 0], atol=1e-12)
    learner.learn(STATES[2:], same, np.array([1.0]), online=True)
    np.testing.assert_allclose(learner.weights[0], [0.072, 0.1, 0.072, 0.1], atol=1e-12)
    assert np.array_equal(learner.weights[:, :2], first[:, :2])


@pytest.mark.parametrize("online", [False, True])
def test_opposite_errors_make_opposite_updates(online: bool) -> None:
    """T07: an error of +.3 and one of -.3 on one state change it by equal and opposite amounts."""
    updates = []
    for error in (0.3, -0.3):
        learner = TraceLearner(4, alpha=0.1, lambda_=0.7)
        learner.weights[0] = 0.5
        learner.learn(STATES[:1], np.array([0]), np.array([0.5 + error]), online=online)
        updates.append(learner.weights[0] - 0.5)
    np.testing.assert_allclose(updates[0], [0.03, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(updates[1], -updates[0], atol=1e-12)


def test_only_the_state_that_is_left_learns() -> None:
    """T08: with lambda 0 the features of the next state get no update (semi-gradient)."""
    learner = TraceLearner(4, alpha=0.1, lambda_=0.0)
    learner.weights[0] = [0, 1, 0, 0]
    learner.learn(STATES[:2], np.array([0, 0]), np.array([1.0]))
    assert learner.weights[0].tolist() == [0.1, 1, 0, 0]


# -- the forward view that training uses ----------------------------------------------------------


@pytest.mark.parametrize("lambda_", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("cut_off", [False, True])
def test_traces_and_returns_are_the_same(lambda_: float, cut_off: bool) -> None:
    """Offline TD(lambda) with traces makes the update of the lambda-returns (S&B 12.1, 12.2)."""
    rng = np.random.default_rng(4)
    for seed in range(20):
        sides, _, outcome = random_game(seed)
        features = rng.normal(size=(len(sides) + 1, 5))
        learner = TraceLearner(5, outcome_flip(OUTCOMES), alpha=0.1, lambda_=lambda_)
        learner.weights[:] = rng.normal(size=(OUTCOMES, 5))
        values = features @ learner.weights.T
        final = turned(values[-1]) if cut_off else np.eye(OUTCOMES)[outcome]
        targets = returns(sides, values, -1 if cut_off else outcome, lambda_)
        forward = 0.1 * (targets - values[:-1]).T @ features[:-1]
        before = learner.weights.copy()
        learner.learn(features[:-1], sides, final)
        np.testing.assert_allclose(learner.weights - before, forward, atol=1e-5)


def test_lambda_one_is_monte_carlo() -> None:
    """With lambda 1 every target is the result, seen from the side to roll (T01, T02)."""
    for seed in range(20):
        sides, probs, outcome = random_game(seed)
        result = np.eye(OUTCOMES)[outcome]
        targets = returns(sides, probs, outcome, 1.0)
        for side, target in zip(sides, targets, strict=True):
            assert target.tolist() == (result if side == sides[-1] else turned(result)).tolist()


def test_lambda_zero_is_td_zero() -> None:
    """With lambda 0 every target is the next value, turned only if the side changes (T02)."""
    for seed in range(20):
        sides, probs, outcome = random_game(seed)
        targets = returns(sides, probs, outcome, 0.0)
        for t in range(len(sides) - 1):
            after = probs[t + 1] if sides[t] == sides[t + 1] else turned(probs[t + 1])
            np.testing.assert_allclose(targets[t], after, rtol=1e-6)
        assert targets[-1].tolist() == np.eye(OUTCOMES)[outcome].tolist()


def test_the_chain_of_two_players_by_returns() -> None:
    """T01, T02: repeated fitting to the returns reaches -1 -1 +1 +1 for the chain a b c d."""
    sides = np.array([0, 0, 1, 1])
    values = np.full((5, 2), 0.5)
    for _ in range(200):
        values[:4] += 0.3 * (returns(sides, values, 0, 0.5) - values[:4])
    np.testing.assert_allclose(values[:4, 0] - values[:4, 1], [-1, -1, 1, 1], atol=1e-5)


def test_cut_off_is_not_finished() -> None:
    """T09: a finished game gives its result; one cut off gives the next state's value, turned."""
    sides, probs, outcome = random_game(3)
    assert returns(sides, probs, outcome, 0.5)[-1].tolist() == np.eye(OUTCOMES)[outcome].tolist()
    cut = returns(sides, probs, -1, 0.5)
    np.testing.assert_allclose(cut[-1], turned(probs[-1]), rtol=1e-6)


def test_a_game_cut_off_before_an_extra_roll_keeps_its_view() -> None:
    """T09, GUL-4: if the same side acts next, the value that stands for the rest is its own."""
    sides, probs, _ = random_game(3)
    cut = returns(sides, probs, -1, 0.5, after=sides[-1])
    np.testing.assert_allclose(cut[-1], probs[-1], rtol=1e-6)


def test_a_draw_is_the_same_from_both_sides() -> None:
    """DR-1: the last of 2K + 1 outcomes stays in its place when the view changes."""
    sides = np.array([0, 1, 0, 0, 1])
    probs = np.random.default_rng(2).dirichlet(np.ones(5), 6)
    targets = returns(sides, probs, 4, 0.5)
    assert targets[-1].tolist() == [0, 0, 0, 0, 1]
    expected = 0.5 * probs[4][[2, 3, 0, 1, 4]] + 0.5 * targets[-1]
    np.testing.assert_allclose(targets[3], expected, rtol=1e-6)
    matrix = outcome_flip(5)
    assert (matrix @ np.arange(5)).tolist() == [2, 3, 0, 1, 4]


def test_targets_of_a_game_add_up_to_one() -> None:
    """Returns of probabilities are probabilities: no row gains or loses mass on a flip."""
    for lambda_ in (0.0, 0.4, 1.0):
        sides, probs, outcome = random_game(7)
        targets = returns(sides, probs, outcome, lambda_)
        np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-6)
        assert (targets >= 0).all()


def test_a_change_of_view_is_its_own_inverse() -> None:
    """Both changes of view undo themselves, and outcomes keep their kind."""
    assert np.array_equal(NEGATE @ NEGATE, np.eye(1))
    matrix = outcome_flip(OUTCOMES)
    assert np.array_equal(matrix @ matrix, np.eye(OUTCOMES))
    probs = np.arange(OUTCOMES)
    assert (matrix @ probs).tolist() == [3, 4, 5, 0, 1, 2]
