"""Fitting: what one batch does, what the replay keeps, what a restart needs (T08, T10, T41)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from learning import make_learner, random_net, random_positions, thermometer
from nardy_engine import batch, load_variant
from nardy_rl import outcomes
from nardy_rl.learner import Learner, Replay
from nardy_rl.nets import ValueNet
from nardy_rl.nets.mlp import outcome_log_probs


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Leave the other core to other tests; and the number of threads decides how sums round."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def some_targets(variant, boards: np.ndarray, seed: int) -> np.ndarray:
    """Draw target distributions over the possible outcomes of each position."""
    rng = np.random.default_rng(seed)
    weights = rng.random((len(boards), variant.n_outcomes)) * batch.outcome_mask(variant, boards)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def probabilities(learner: Learner, variant, boards: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        logits = learner.net(torch.from_numpy(thermometer(variant).encode(boards)))
        possible = torch.from_numpy(batch.outcome_mask(variant, boards))
        return outcome_log_probs(logits, possible).exp().numpy()


@pytest.mark.parametrize("game", ["long", "short"])
def test_one_batch_can_be_learned_by_heart(game: str) -> None:
    """A network fits 64 positions to their targets, down to the entropy of these."""
    variant = load_variant(game)
    boards = random_positions(variant, 64, seed=1)
    targets = some_targets(variant, boards, seed=2)
    learner = make_learner(random_net(variant, hidden=(96,)), variant)
    rng = np.random.default_rng(0)
    for _ in range(500):
        loss = learner.learn(boards, targets, 3e-3, rng)
    entropy = -(targets * np.log(np.maximum(targets, 1e-30))).sum(axis=1).mean()
    assert loss - entropy < 0.01
    np.testing.assert_allclose(probabilities(learner, variant, boards), targets, atol=0.1)


def test_impossible_outcomes_stay_at_zero() -> None:
    """T30: however much is learned, an impossible outcome keeps probability exactly 0."""
    variant = load_variant("short")
    boards = random_positions(variant, 64, seed=3)
    learner = make_learner(random_net(variant), variant)
    learner.learn(boards, some_targets(variant, boards, seed=4), 1e-2, np.random.default_rng(0))
    fresh = random_positions(variant, 400, seed=5)
    impossible = ~batch.outcome_mask(variant, fresh)
    assert impossible.sum() > 50
    assert (probabilities(learner, variant, fresh)[impossible] == 0).all()


def test_the_first_loss_is_that_of_base_rates() -> None:
    """An untrained network loses about what guessing the base rates of the kinds would."""
    variant = load_variant("long")
    generator = torch.Generator().manual_seed(0)
    net = ValueNet(thermometer(variant).width, (64,), variant.n_outcomes, generator)
    boards = random_positions(variant, 256, seed=6)
    targets = outcomes.one_hot(np.arange(256) % 2 * 2, variant.n_outcomes)
    learner = make_learner(net, variant, batch_size=256)
    loss = learner.learn(boards, targets, 0.0, np.random.default_rng(0))
    by_hand = batch.outcome_mask(variant, boards) * np.array([1, 0.3, 1, 0.3])
    base = by_hand / by_hand.sum(axis=1, keepdims=True)
    expected = -np.log((base * targets).sum(axis=1)).mean()
    assert loss == pytest.approx(expected, abs=0.05)


def test_a_learning_rate_of_zero_changes_nothing() -> None:
    """`learn` uses the rate it is given, not the one the optimiser was made with."""
    variant = load_variant("short")
    boards = random_positions(variant, 64, seed=7)
    targets = some_targets(variant, boards, seed=7)
    learner = make_learner(random_net(variant), variant)
    before = learner.net.arrays()
    learner.learn(boards, targets, 0.0, np.random.default_rng(0))
    for name, array in learner.net.arrays().items():
        assert np.array_equal(array, before[name])
    learner.learn(boards, targets, 1e-3, np.random.default_rng(0))
    moved = np.abs(learner.net.arrays()["layers.1.bias"] - before["layers.1.bias"]).max()
    assert 1e-5 < moved < 1.1e-3  # small steps at first


def test_the_learning_rate_rises_with_the_first_steps() -> None:
    """A new optimiser takes small steps at first, one that goes on from a state does not."""
    variant = load_variant("short")
    boards = random_positions(variant, 64, seed=7)
    targets = some_targets(variant, boards, seed=7)

    def rate(learner, rounds: int) -> float:
        for _ in range(rounds):
            learner.learn(boards, targets, 1e-3, np.random.default_rng(0), replay_ratio=0.0)
        return learner._adam.param_groups[0]["lr"]

    learner = make_learner(random_net(variant), variant, batch_size=64)
    assert rate(learner, 1) == pytest.approx(1e-5)
    assert rate(learner, 29) == pytest.approx(3e-4)
    other = make_learner(random_net(variant), variant, batch_size=64)
    other.load_state(learner.state())
    assert rate(other, 1) == pytest.approx(3.1e-4)
    assert rate(learner, 100) == pytest.approx(1e-3)


def test_half_precision_keeps_full_weights() -> None:
    """T10: products in bfloat16 leave weights and moments in float32; small updates count."""
    variant = load_variant("short")
    boards = random_positions(variant, 64, seed=8)
    learner = make_learner(random_net(variant), variant, precision=torch.bfloat16)
    before = learner.net.arrays()
    targets = some_targets(variant, boards, 8)
    learner.learn(boards, targets, 1e-6, np.random.default_rng(0))
    state = learner.state()
    assert {state[name].dtype for name in state if name.startswith(("net.", "adam."))} == {
        np.dtype(np.float32)
    }
    after = learner.net.arrays()["layers.0.weight"]
    assert (after != before["layers.0.weight"]).mean() > 0.2


def test_both_precisions_learn_alike() -> None:
    """One step in bfloat16 is one step in float32 to within the precision of the gradient."""
    variant = load_variant("long")
    boards = random_positions(variant, 64, seed=9)
    targets = some_targets(variant, boards, 9)
    losses = [
        make_learner(random_net(variant), variant, precision=precision).learn(
            boards, targets, 1e-3, np.random.default_rng(0)
        )
        for precision in (torch.float32, torch.bfloat16)
    ]
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert losses[1] != losses[0]


# -- the replay -----------------------------------------------------------------------------------


def numbered(first: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return boards and targets that can be told apart."""
    numbers = np.arange(first, first + n)
    boards = np.broadcast_to(numbers[:, None, None], (n, 2, 3)).astype(np.int8)
    return boards, np.stack([numbers / 2, -numbers], axis=1).astype(np.float32)


def test_the_replay_keeps_the_newest() -> None:
    """A ring of five holds the last five of eight positions, with their own targets (T10)."""
    replay = Replay(5, 3, 2)
    replay.add(*numbered(0, 3))
    replay.add(*numbered(3, 5))
    boards, targets = replay.sample(400, np.random.default_rng(0))
    assert sorted(set(boards[:, 0, 0].tolist())) == [3, 4, 5, 6, 7]
    assert np.array_equal(targets[:, 0], boards[:, 0, 0] / 2)
    assert np.array_equal(targets[:, 1], -boards[:, 0, 0].astype(float))


def test_more_than_the_replay_holds() -> None:
    """Adding more than fits keeps the end of it; a ring of nothing keeps nothing."""
    replay = Replay(4, 3, 2)
    replay.add(*numbered(0, 11))
    assert sorted(replay.boards[:, 0, 0].tolist()) == [7, 8, 9, 10]
    none = Replay(0, 3, 2)
    none.add(*numbered(0, 11))
    assert len(none.sample(6, np.random.default_rng(0))[0]) == 0


def test_the_replay_has_its_own_memory() -> None:
    """T23: what was stored stays when the arrays that it came from are written again."""
    replay = Replay(4, 3, 2)
    boards, targets = numbered(1, 4)
    boards, targets = boards.copy(), targets.copy()
    replay.add(boards, targets)
    boards.fill(0)
    targets.fill(0)
    assert replay.boards[:, 0, 0].tolist() == [1, 2, 3, 4]
    assert replay.targets[:, 1].tolist() == [-1, -2, -3, -4]


# -- resume ---------------------------------------------------------------------------------------


def copied(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array.copy() for name, array in state.items()}


def rounds(learner: Learner, variant, first: int, n: int) -> dict[str, np.ndarray]:
    """Learn `n` rounds that depend on their number only; return the state after them."""
    for number in range(first, first + n):
        boards = random_positions(variant, 200, seed=number)
        targets = some_targets(variant, boards, number)
        learner.learn(boards, targets, 1e-3, np.random.default_rng([1, number]))
    return copied(learner.state())


@pytest.fixture(scope="module")
def stopped():
    """Return the state after two rounds, and the one after two more without a stop."""
    variant = load_variant("short")
    learner = make_learner(random_net(variant), variant, replay_capacity=300, replay_ratio=0.5)
    return rounds(learner, variant, 0, 2), rounds(learner, variant, 2, 2)


def resumed(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the state that two more rounds give from a saved one."""
    variant = load_variant("short")
    net = random_net(variant, seed=99)
    learner = make_learner(net, variant, replay_capacity=300, replay_ratio=0.5)
    learner.load_state(state)
    return rounds(learner, variant, 2, 2)


def test_learning_goes_on_where_it_stopped(stopped) -> None:
    """T41, T42: 2N rounds are N rounds, a restart and N rounds, bit for bit."""
    middle, end = stopped
    after = resumed(copied(middle))
    assert after.keys() == end.keys()
    for name, array in end.items():
        assert np.array_equal(after[name], array), name


@pytest.mark.parametrize("part", ["net.", "adam.", "replay.targets", "replay.next"])
def test_every_part_of_the_state_is_needed(stopped, part: str) -> None:
    """T41: without weights, optimiser or replay the run would go on differently."""
    middle, end = stopped
    state = copied(middle)
    for name in [name for name in state if name.startswith(part)]:
        if part == "adam.":
            del state[name]
        else:
            state[name] = np.zeros_like(state[name])
    after = resumed(state)
    assert any(not np.array_equal(after[name], end[name]) for name in end)


def test_a_cleared_replay_is_empty() -> None:
    """Positions with noisy targets are forgotten at once when exact ones begin."""
    variant = load_variant("short")
    boards = random_positions(variant, 50, seed=1)
    replay = Replay(80, variant.n_slots, variant.n_outcomes)
    replay.add(boards, some_targets(variant, boards, 1))
    replay.clear()
    assert len(replay.sample(5, np.random.default_rng(0))[0]) == 0
    replay.add(boards[:3], some_targets(variant, boards[:3], 2))
    drawn, _ = replay.sample(20, np.random.default_rng(0))
    assert {row.tobytes() for row in drawn} <= {row.tobytes() for row in boards[:3]}
