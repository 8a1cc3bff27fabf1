"""Rollouts: unbiased, paired, the same on any number of threads (faults T16, T30, T34)."""

from __future__ import annotations

import numpy as np
import pytest

from evaluations import endings, played
from nardy_engine import Position, batch, load_variant
from nardy_engine.bearoff import Bearoff
from nardy_rl import outcomes
from nardy_rl.evaluator import Evaluator
from nardy_rl.rollout import RolloutDice, RolloutError, RolloutSettings, rollout
from nardy_rl.search import Search
from positions import row

RACES = {
    "short": ("6:1 5:1 3:2 2:1", "5:2 4:1 3:1 1:1"),
    "long": ("6:2 5:1 1:2", "6:1 5:2 2:2"),
}
"""Five checkers a side: the exact tables of both sides together cover them."""


def race(game):
    """Return `(board [1, 2, P], exact equity of the side to roll)`."""
    mine, theirs = RACES[game]
    board = Position(row(mine), row(theirs)).board()[None]
    variant = load_variant(game)
    chances = Bearoff.for_variant(variant).outcome_probs(board)[0]
    return board, float(chances @ outcomes.points_vector(variant))


class Distorted(Evaluator):
    """Orders plays as the tables do, but has quite wrong ideas of what they are worth."""

    def _fill(self, boards, afterstates, logits, out):
        super()._fill(boards, afterstates, logits, out)
        running = out.codes < 0
        if afterstates:
            half = len(self.points) // 2
            win = out.probs[running, :half].sum(axis=1) ** 3
            out.probs[running] = 0
            out.probs[running, 0], out.probs[running, half] = win, 1 - win
            out.equity[:] = outcomes.equity(out.probs, self.points)


@pytest.mark.parametrize("game", RACES)
@pytest.mark.parametrize("luck_adjusted", [False, True])
def test_the_mean_is_the_exact_value(tiny_network, game, luck_adjusted) -> None:
    """Races played to the end by exact play: within 3.5 standard errors of the table (T16).

    The luck is judged by values that are wrong, which must not move the mean.
    """
    board, exact = race(game)
    evaluator = Distorted.load(tiny_network(game))
    found = rollout(
        evaluator,
        board,
        RolloutSettings(
            trials=1296, truncate=None, stop_at_endings=False, luck_adjusted=luck_adjusted
        ),
    )
    assert 0 < found.error[0] < 0.05
    assert abs(found.equity[0] - exact) < 3.5 * found.error[0]
    assert abs(found.raw_equity[0] - exact) < 3.5 * found.raw_error[0]
    assert found.probs.sum() == pytest.approx(1)
    assert 3 < found.rolls[0] < 12
    if luck_adjusted:
        assert found.reduction()[0] > 1.5
        assert found.error[0] < found.raw_error[0]
    else:
        assert found.reduction()[0] == 1


def test_with_exact_values_nothing_is_left_to_luck(tiny_network) -> None:
    """Where the rule knows the truth every trial gives it, whatever the dice."""
    board, exact = race("short")
    evaluator = Evaluator.load(tiny_network("short"))
    settings = RolloutSettings(trials=72, truncate=None, stop_at_endings=False)
    found = rollout(evaluator, board, settings)
    np.testing.assert_allclose(found.samples, exact, atol=1e-4)
    assert found.raw_error[0] > 0.05
    assert found.reduction()[0] > 1e4


def test_endings_end_a_trial(tiny_network) -> None:
    """An ending is worth what the table says, at once and without an error."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards = endings(evaluator.variant, 4)
    found = rollout(evaluator, boards, RolloutSettings(trials=36))
    np.testing.assert_allclose(found.equity, evaluator.equity(boards), atol=1e-6)
    np.testing.assert_allclose(found.probs, evaluator.probs(boards), atol=1e-6)
    assert (found.error == 0).all()
    assert (found.rolls == 0).all()


@pytest.mark.parametrize("game", ["short", "gulbar", "emir", "even_odd"])
def test_luck_is_zero_on_average(tiny_network, game) -> None:
    """In every game, segments and moves before the roll included, taking luck off moves nothing."""
    evaluator = Evaluator.load(tiny_network(game))
    boards, _ = played(evaluator.variant, 30, 20, seed=4)
    settings = RolloutSettings(trials=216, truncate=3, seed=5)
    found = rollout(evaluator, boards[:2], settings)
    raw = rollout(evaluator, boards[:2], RolloutSettings(
        trials=216, truncate=3, seed=5, luck_adjusted=False
    ))  # fmt: skip
    np.testing.assert_array_equal(found.raw_equity, raw.equity)  # the same games
    # Of two stratified rolls and a free one, only the luck of the last is left.
    assert (np.abs(found.equity - found.raw_equity) < 3.5 * found.raw_error).all()
    np.testing.assert_allclose(found.probs.sum(axis=1), 1, atol=1e-6)
    assert (found.rolls <= 3).all()


def test_the_sides_are_told_apart(tiny_network) -> None:
    """Seen from the other side the equity is the negative, and the chances are turned (T14)."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards, _ = played(evaluator.variant, 5, 12)
    settings = RolloutSettings(trials=36, truncate=2)
    mine = rollout(evaluator, boards, settings)
    theirs = rollout(evaluator, boards, settings, own=np.zeros(len(boards), np.bool_))
    np.testing.assert_allclose(mine.equity, -theirs.equity, atol=1e-12)
    np.testing.assert_allclose(mine.probs, outcomes.flip(theirs.probs), atol=1e-12)


def test_one_roll_deep_is_the_average_over_rolls(tiny_network) -> None:
    """36 trials cut off after a roll are every first roll once: the 1-ply value of every reply."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards, _ = played(evaluator.variant, 3, 16)
    found = rollout(evaluator, boards, RolloutSettings(trials=36, truncate=1))
    ahead = Search(evaluator, 1, glance=None).positions(boards)
    np.testing.assert_allclose(found.probs, ahead, atol=1e-6)
    np.testing.assert_allclose(found.equity, ahead @ evaluator.points, atol=1e-5)
    assert (found.raw_error > 1e-3).all()
    assert (found.error < found.raw_error / 2).all()  # not 0: estimates of luck miss replies


@pytest.mark.parametrize("luck_adjusted", [False, True])
def test_threads_change_nothing(tiny_network, luck_adjusted) -> None:
    """One thread and four give the same numbers, and every trial is there (T34)."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards, _ = played(evaluator.variant, 2, 12)
    results = [
        rollout(evaluator, boards, RolloutSettings(
            trials=230, truncate=3, workers=workers, luck_adjusted=luck_adjusted
        ))
        for workers in (1, 4)
    ]  # fmt: skip
    assert results[0].trials == results[1].trials == 230
    np.testing.assert_array_equal(results[0].samples, results[1].samples)
    np.testing.assert_array_equal(results[0].probs, results[1].probs)
    other = rollout(evaluator, boards, RolloutSettings(trials=230, truncate=3, seed=2))
    assert not np.array_equal(other.samples, results[0].samples)


def test_plays_see_the_same_dice(tiny_network) -> None:
    """Two equal positions come out equal in every trial; a difference is sharper than values."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards, dice = played(evaluator.variant, 1, 12)
    after = batch.afterstates(evaluator.variant, boards, dice)
    following, _ = batch.next_states(evaluator.variant, after.boards[:3])
    own = np.zeros(4, np.bool_)
    settings = RolloutSettings(trials=108, truncate=5, luck_adjusted=False)
    found = rollout(evaluator, following[[0, 1, 2, 0]], settings, own)
    np.testing.assert_array_equal(found.samples[:, 0], found.samples[:, 3])
    gap, error = found.difference(0, 1)
    assert gap == pytest.approx(found.equity[0] - found.equity[1])
    assert error < np.hypot(found.error[0], found.error[1])
    assert found.difference(0, 3) == (0, 0)


def test_a_rollout_stops_when_it_is_precise_enough(tiny_network) -> None:
    """It ends after the first blocks that reach the error, the same on any number of threads."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards, _ = played(evaluator.variant, 1, 12)
    whole = rollout(evaluator, boards, RolloutSettings(trials=1000, truncate=2))
    target = float(whole.error[0]) * 1.3
    short = [
        rollout(evaluator, boards, RolloutSettings(
            trials=1000, truncate=2, target_error=target, workers=workers
        ))
        for workers in (1, 3)
    ]  # fmt: skip
    assert short[0].trials == short[1].trials < 1000
    assert short[0].error[0] <= target
    np.testing.assert_array_equal(short[0].samples, whole.samples[: short[0].trials])


def test_deeper_rules_move_too(tiny_network) -> None:
    """The 1-ply rule plays on and takes off the luck by its own values."""
    evaluator = Evaluator.load(tiny_network("hypergammon"))
    boards, _ = played(evaluator.variant, 1, 4)
    found = rollout(evaluator, boards, RolloutSettings(trials=20, truncate=2, plies=1))
    static = rollout(evaluator, boards, RolloutSettings(trials=20, truncate=2))
    assert found.probs.sum() == pytest.approx(1)
    assert not np.array_equal(found.samples, static.samples)


# -- dice ---------------------------------------------------------------------------------------


def test_the_first_two_rolls_are_stratified() -> None:
    """Each run of 36 has all first throws, 1,296 have all pairs; later rolls are free."""
    dice = RolloutDice(load_variant("long"), seed=3, trials=2592)
    trials = np.arange(2592)
    first, second, third = (dice.of(trials, np.full(2592, n)) for n in range(3))
    weights = dice.rolls.weights
    for start in range(0, 2592, 36):
        np.testing.assert_array_equal(np.bincount(first[start : start + 36]), weights)
    for cycle in (slice(0, 1296), slice(1296, 2592)):
        pairs = np.zeros((21, 21))
        np.add.at(pairs, (first[cycle], second[cycle]), 1)
        np.testing.assert_array_equal(pairs, np.outer(weights, weights))
    seen = np.bincount(third, minlength=21)
    assert np.abs(seen - 72 * weights).max() < 60
    assert (seen != 72 * weights).any()
    assert not np.array_equal(first[:1296], first[1296:])
    other = RolloutDice(load_variant("long"), seed=4, trials=36)
    assert not np.array_equal(other.of(trials[:36], np.zeros(36, np.int64)), first[:36])


def test_dice_do_not_depend_on_how_many_trials_follow() -> None:
    """A trial has its dice from the seed and its number alone (T34)."""
    few, many = (RolloutDice(load_variant("short"), 9, n) for n in (50, 3000))
    for rolled in range(4):
        counts = np.full(50, rolled)
        np.testing.assert_array_equal(few.of(np.arange(50), counts), many.of(np.arange(50), counts))


def test_a_game_from_its_beginning_has_the_throw_that_decides_who_begins() -> None:
    """S-2: no doubles in the first roll, 30 throws to a run."""
    dice = RolloutDice(load_variant("short"), seed=1, trials=60, opening=True)
    assert dice.first_rolls == 30
    first = dice.of(np.arange(60), np.zeros(60, np.int64))
    assert (np.bincount(first) == 4).all()
    assert (dice.opening.dice[:, 0] != dice.opening.dice[:, 1]).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"trials": 1}, "trials is 1; it must be at least 2"),
        ({"truncate": 0}, "truncate is 0"),
        ({"plies": 9}, "plies is 9; it must be at most 4"),
        ({"target_error": 0.0}, "target_error is 0.0; it must be above 0"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_settings_that_make_no_rollout_are_refused(settings, words) -> None:
    """Every impossible number is one sentence."""
    with pytest.raises(RolloutError, match=words):
        RolloutSettings(**settings)
