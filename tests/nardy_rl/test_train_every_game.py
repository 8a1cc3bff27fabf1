"""Each game of the catalog is trained for seconds: samples, targets, network file, a match.

Nobody learns to play well in 60 games; what is tested is that memory slots, several decisions a
turn, draws and every way to win pass through self-play, learner, checkpoint and arena.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from learning import train_config
from nardy_engine import Position, Variant, batch, variant_names
from nardy_rl.arena import match
from nardy_rl.evaluator import Evaluator
from nardy_rl.outcomes import masked_softmax
from nardy_rl.players import make_bot
from nardy_rl.players.net import NetBot
from nardy_rl.trainer import Trainer

N_GAMES = 60
CHECKED = 300
"""Positions that are checked one by one, in plain Python."""
RARE = {"last_turn", "emir_above", "emir_taken"}
"""Memory that may stay empty in so few games."""


class Trained(NamedTuple):
    """What a short run has left behind."""

    trainer: Trainer
    boards: np.ndarray
    """`[N, 2, P] int8` every position learned, side to act in row 0."""
    targets: np.ndarray
    """`[N, O] float32` its targets."""
    losses: list[float]
    """Of each pass of the learner."""

    @property
    def variant(self) -> Variant:
        return self.trainer.variant


def train(game: str, folder: Path) -> Trained:
    """Train `game` in this process on one worker and keep what the learner was given."""
    config = train_config(
        game, budget=f"{N_GAMES}games", selfplay__games=16, selfplay__workers=1,
        learner__batch_size=64, learner__fresh_positions=500,
    )  # fmt: skip
    folder.mkdir()
    trainer = Trainer(config, folder, resumed=False)
    learn, boards, targets, losses = trainer._learner.learn, [], [], []

    def spy(seen: np.ndarray, wanted: np.ndarray, *others: Any) -> float:
        boards.append(seen.copy())
        targets.append(wanted.copy())
        losses.append(learn(seen, wanted, *others))
        return losses[-1]

    trainer._learner.learn = spy
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        trainer.run()
    finally:
        trainer.close()
        torch.set_num_threads(threads)
    return Trained(trainer, np.concatenate(boards), np.concatenate(targets), losses)


@pytest.fixture(scope="module", params=variant_names())
def trained(request, tmp_path_factory) -> Trained:
    """Return a short run of each game."""
    return train(request.param, tmp_path_factory.mktemp("every") / request.param)


def test_the_run_learns(trained) -> None:
    """Every pass has a finite loss, and the last is no worse than knowing nothing."""
    assert trained.trainer.progress.games >= N_GAMES
    assert len(trained.losses) >= 2
    assert all(map(math.isfinite, trained.losses))
    assert trained.losses[-1] < math.log(trained.variant.n_outcomes)


def test_samples_are_positions_of_the_game(trained) -> None:
    """Checkers and memory of a sample are those of a position before a decision (T-9)."""
    game, boards = trained.variant, trained.boards
    assert boards.shape[1:] == (2, game.n_slots)
    for board in boards[:: -(-len(boards) // CHECKED)]:
        game.check_position(Position.from_board(board))
    assert (batch.outcomes(game, boards) == -1).all()
    # `owed_1` .. `owed_6` count as one kind: some of the six may not occur in so few games.
    slots = [(item.name.rstrip("0123456789"), item.slot) for item in game.memory if item.most]
    in_use = {name for name, slot in slots if boards[:, :, slot].any()}
    assert "again" not in in_use, "only an afterstate has it"
    assert {name for name, _ in slots} - in_use <= RARE | {"again"}


def test_targets_are_outcomes_that_can_still_occur(trained) -> None:
    """Each target is a distribution, zero where the rules leave no way to that outcome (T30)."""
    targets, possible = trained.targets, batch.outcome_mask(trained.variant, trained.boards)
    assert targets.shape == (len(trained.boards), trained.variant.n_outcomes)
    assert targets.min() >= 0
    np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-5)
    assert (targets[~possible] == 0).all()
    # A finished game says how it ended, whatever lambda is: some targets are certain.
    assert (targets.max(axis=1) == 1).any()


def test_the_network_file_plays(trained) -> None:
    """The file says what the network in memory says, and its bot plays four legal games."""
    game, trainer = trained.variant, trained.trainer
    evaluator = Evaluator.load(trainer.network_path, game, bearoff=False)
    boards = trained.boards[:50]
    with torch.no_grad():
        logits = trainer._learner.net(torch.from_numpy(trainer.encoder.encode(boards))).numpy()
    expected = masked_softmax(logits, batch.outcome_mask(game, boards))
    np.testing.assert_allclose(evaluator.probs(boards), expected, atol=1e-5)
    opponent = make_bot(f"positional-{game.id}", game)
    result = match(NetBot(evaluator, "new"), opponent, game, pairs=2, seed=1, workers=1)
    assert result.games == 4
    assert result.unfinished == 0
    # Both seats play the same dice: points of a pair lie within the stakes of the game.
    most = max(points for _, points in game.win_kinds)
    assert (np.abs(result.pair_points) <= most).all()
    assert ((result.pair_points != 0) | (game.has_draw)).all()
