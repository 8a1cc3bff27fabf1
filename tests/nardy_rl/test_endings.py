"""Games that stop at exact endings, and targets that are means over all rolls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from learning import play_until, random_net, random_positions, thermometer, train_config
from nardy_engine import Position, batch, load_variant, reference
from nardy_engine.bearoff import Bearoff
from nardy_rl import full_backups, outcomes
from nardy_rl.checkpoint import Network, make_manifest
from nardy_rl.endings import later_endings
from nardy_rl.evaluator import Evaluator
from nardy_rl.frozen_evaluator import FrozenEvaluator
from nardy_rl.full_backups import FullBackups
from nardy_rl.likely_replies import Glance
from nardy_rl.nets import FrozenNet
from nardy_rl.rolls import Rolls, is_opening
from nardy_rl.search import Search
from nardy_rl.selfplay import Worker
from nardy_rl.trainer import Trainer

CPU = torch.device("cpu")


def frozen(net) -> FrozenNet:
    return FrozenNet(net, torch.float32, CPU)


def make_worker(variant, bearoff=None, **more) -> Worker:
    settings = {"n_games": 8, "max_plies": 400, "seed": 5, "number": 0, "n_workers": 1}
    return Worker(variant, thermometer(variant), **(settings | more), bearoff=bearoff)


@pytest.mark.parametrize("game", ["long", "hypergammon", "even_odd", "khachapuri"])
def test_games_stop_at_endings(game: str) -> None:
    """The last sample of a game is an ending with its exact chances; no other sample is one."""
    variant = load_variant(game)
    bearoff = Bearoff.for_variant(variant)
    assert bearoff is not None
    net = frozen(random_net(variant))
    boards, targets, stats = play_until(make_worker(variant, bearoff), net, 1.0, rows=600)
    covered = bearoff.covers(boards)
    assert 0 < covered.sum() <= stats.games
    np.testing.assert_allclose(targets[covered], bearoff.outcome_probs(boards[covered]), atol=1e-6)
    start = variant.start_position().board()
    begins = (boards == start).all(axis=(1, 2))
    ends = np.append(begins[1:], True)
    assert not (covered & ~ends).any()
    # lambda 1: what is known of the ending is the target of every position before it
    wins = targets[:, : len(variant.win_kinds)].sum(axis=1)
    last = np.flatnonzero(covered)[-1]
    first = np.flatnonzero(begins[: last + 1])[-1]
    assert np.unique(np.minimum(wins[first:last], 1 - wins[first:last]).round(5)).size == 1
    np.testing.assert_allclose(stats.outcomes.sum(), stats.games, atol=1e-3)
    assert stats.plies + covered.sum() == len(boards)


def test_games_without_tables_are_played_out() -> None:
    """Without endings the last target of a game is certain."""
    variant = load_variant("hypergammon")
    net = frozen(random_net(variant))
    _, targets, stats = play_until(make_worker(variant), net, 1.0, rows=300)
    assert (targets.max(axis=1) == 1).all()
    assert stats.outcomes.sum() == stats.games


@pytest.mark.parametrize("game", ["short", "even_odd", "khachapuri"])
def test_later_endings_are_endings_with_fewer_checkers(game: str) -> None:
    """Every copy is an ending of the game, no checker is lost, targets are those of the tables."""
    variant = load_variant(game)
    bearoff = Bearoff.for_variant(variant)
    assert bearoff is not None
    positions = random_positions(variant, 3000, seed=3)
    covered = positions[bearoff.covers(positions)][:40]
    assert len(covered) > 5
    given = np.concatenate([covered, positions[~bearoff.covers(positions)][:10]])
    later, targets = later_endings(bearoff, given, 20, np.random.default_rng(1))
    assert len(later) > 10 * len(covered)
    assert bearoff.covers(later).all()
    n = variant.n_counts
    assert (later[:, :, :n].sum(axis=2) == variant.setup.checkers).all()
    assert (later[:, :, 0] > 0).mean() > 0.8
    np.testing.assert_allclose(targets, bearoff.outcome_probs(later), atol=1e-7)
    assert (given[: len(covered)] == covered).all(), "the positions given are changed"


def by_hand(variant, net, bearoff, board: np.ndarray) -> np.ndarray:
    """Return the mean over all rolls of the best play's outcome chances, play by play."""
    points = outcomes.points_vector(variant)
    total = np.zeros(variant.n_outcomes)
    first = bool(is_opening(variant, board[None])[0])
    rolls = Rolls.of(variant, opening=first)
    for dice, chance in zip(rolls.dice, rolls.chances, strict=True):
        best, chosen = -np.inf, None
        for play in reference.plays(variant, Position.from_board(board), tuple(map(int, dice))):
            following, same = reference.next_position(variant, play.end)
            after = following.board()[None]
            over = batch.outcomes(variant, after)
            if over[0] >= 0:
                probs = np.eye(variant.n_outcomes)[over]
            else:
                with torch.no_grad():
                    logits = net(torch.from_numpy(thermometer(variant).encode(after))).numpy()
                probs = outcomes.masked_softmax(logits, batch.outcome_mask(variant, after))
                if bearoff is not None and bearoff.covers(after)[0]:
                    probs = bearoff.outcome_probs(after)
            value = float(outcomes.equity(probs, points)[0]) * (1 if same else -1)
            if value > best + 1e-6:
                best, chosen = value, probs if same else outcomes.flip(probs)
        total += chance * chosen[0]
    return total


def evaluator(variant, net) -> FrozenEvaluator:
    """Return the evaluator of a run, in full precision."""
    manifest = make_manifest(variant, thermometer(variant), net.hidden, games=1, budget="1m")
    return FrozenEvaluator(Network(net.arrays(), manifest, Path("net")), frozen(net))


def one_ply(variant, net) -> Search:
    """Return a search that values every reply to every roll."""
    return Search(evaluator(variant, net), 1, glance=None)


@pytest.mark.parametrize("game", ["short", "long", "hypergammon"])
def test_backups_are_means_over_all_rolls(game: str) -> None:
    """T02: after every roll the best play counts with its chances, endings with exact ones."""
    variant = load_variant(game)
    bearoff = Bearoff.for_variant(variant)
    assert bearoff is not None
    net = random_net(variant)
    boards = random_positions(variant, 60, seed=2)
    boards = boards[batch.outcomes(variant, boards) < 0][:12]
    boards = np.concatenate([boards, variant.start_position().board()[None]])
    targets = one_ply(variant, net).positions(boards)
    for board, got in zip(boards, targets, strict=True):
        if bearoff.covers(board[None])[0]:
            expected = bearoff.outcome_probs(board[None])[0]
        else:
            expected = by_hand(variant, net, bearoff, board)
        np.testing.assert_allclose(got, expected, atol=2e-5)


@pytest.mark.parametrize("unlimited", [True, False])
def test_full_backups_make_up_for_what_estimates_miss(monkeypatch, unlimited: bool) -> None:
    """Few replies at a glance make values too low; the roll valued in full makes up for it."""
    variant = load_variant("short")
    net = random_net(variant)
    boards = random_positions(variant, 200, seed=4)
    boards = boards[(batch.outcomes(variant, boards) < 0) & ~is_opening(variant, boards)][:24]
    points = outcomes.points_vector(variant).astype(np.float64)

    def equity(probs: np.ndarray) -> np.ndarray:
        return outcomes.equity(probs, points)

    class EveryRollInTurn:
        """Draws the same roll for all positions."""

        drawn = 0

        def choice(self, n, size, p):
            np.testing.assert_allclose(p, rolls.chances)
            return np.full(size, self.drawn)

    few, rolls = Glance(3, 1), Rolls.of(variant)
    every = one_ply(variant, net).positions(boards)
    missed = equity(every) - equity(
        Search(evaluator(variant, net), 1, glance=few).positions(boards)
    )
    assert missed.min() > -1e-6
    assert missed.mean() > 0.005
    if unlimited:  # then the mean over what can be drawn is that of valuing every reply
        monkeypatch.setattr(full_backups, "_room", lambda means, added: np.ones(len(means)))
    rng = EveryRollInTurn()
    backups = FullBackups(evaluator(variant, net), rng, few)
    mean = np.zeros_like(every)
    for rng.drawn, chance in enumerate(rolls.chances):
        targets = backups.positions(boards)
        np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-5)
        assert unlimited or targets.min() >= -1e-9
        mean += chance * targets
    if unlimited:
        np.testing.assert_allclose(mean, every, atol=1e-5)
    else:
        left = equity(every) - equity(mean)
        assert left.min() > -1e-5
        assert left.mean() < 0.3 * missed.mean()


def test_full_backups_leave_no_chance_below_0() -> None:
    """What is added is cut short where a chance would fall below 0, and only there."""
    means = np.array([[0.5, 0.1, 0.4], [0.5, 0.1, 0.4], [0.5, 0.0, 0.5]])
    added = np.array([[0.2, -0.4, 0.2], [0.2, -0.05, -0.15], [0.2, -0.2, 0.0]])
    room = full_backups._room(means, added)
    np.testing.assert_allclose(room, [0.25, 1, 0])


def test_full_backups_repeat_with_their_seed() -> None:
    """The rolls drawn are a function of the generator's seed, and of nothing else."""
    variant = load_variant("short")
    boards = random_positions(variant, 40, seed=4)

    def targets(seed: int) -> np.ndarray:
        found = evaluator(variant, random_net(variant))
        return FullBackups(found, np.random.default_rng(seed)).positions(boards)

    assert np.array_equal(targets(1), targets(1))
    assert not np.array_equal(targets(1), targets(2))


@pytest.mark.parametrize("game", ["emir", "gulbar"])
def test_full_backups_where_a_roll_is_more_than_one_decision(game: str) -> None:
    """Of a roll that says who acts next, or that is owed in part, every reply is valued."""
    variant = load_variant(game)
    net = random_net(variant)
    boards = random_positions(variant, 40, seed=4)
    backups = FullBackups(evaluator(variant, net), np.random.default_rng(7))
    assert np.array_equal(backups.positions(boards), one_ply(variant, net).positions(boards))


@pytest.mark.parametrize("game", ["short", "khachapuri"])
def test_tangents_in_training_are_those_of_the_evaluator(game: str) -> None:
    """Products by torch, in rows filled up to a block, give the same slopes as numpy."""
    variant = load_variant(game)
    found = evaluator(variant, random_net(variant))
    boards = random_positions(variant, 40, seed=4)
    boards = boards[batch.outcomes(variant, boards) < 0][:35]
    plain = Evaluator(found.network).tangents(boards)
    for ours, expected in zip(found.tangents(boards), plain, strict=True):
        assert np.abs(expected).max() > 0.01
        np.testing.assert_allclose(ours, expected, atol=1e-5)


def test_play_with_backups_gives_backed_up_targets() -> None:
    """A round with backups returns the same positions as without, with other targets."""
    variant = load_variant("hypergammon")
    net = random_net(variant)
    plain, backed = make_worker(variant), make_worker(variant)
    boards, sampled, _ = plain.play(frozen(net), 0.0, 400)
    boards2, targets, stats = backed.play(frozen(net), 0.0, 400, one_ply(variant, net))
    assert np.array_equal(boards, boards2)
    assert np.abs(targets - sampled).max() > 0.01
    np.testing.assert_allclose(targets, one_ply(variant, net).positions(boards2), atol=1e-6)
    assert stats.seconds["search"] > 0


@pytest.mark.parametrize("stopped", [False, True])
def test_a_run_changes_to_exact_targets(tmp_path, stopped: bool) -> None:
    """From `backup_start` on rounds count as exact ones, noisy samples are gone, resumed or not."""
    config = train_config("hypergammon", budget="300games", learner__backup_start=0.5)
    trainer = Trainer(config, tmp_path, resumed=False)
    try:
        if stopped:
            while trainer.fraction < 0.7:
                trainer._round()
            trainer.save()
            trainer.close()
            trainer = Trainer(config, tmp_path, resumed=True)
        trainer.run()
    finally:
        trainer.close()
    assert 0 < trainer.progress.backup_rounds < trainer.progress.rounds
    replay = trainer._learner.replay
    assert replay.size > 0
    # Games of this length give certain targets at lambda 1 to 0; means over rolls rarely are.
    certain = (replay.targets[: replay.size].max(axis=1) == 1).mean()
    assert certain < 0.05
