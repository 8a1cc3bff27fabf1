"""What positions and plays are worth (faults T12, T20-T24, T26, T30, T31 as they apply)."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

from nardy_engine import Position, batch, load_variant, reference
from nardy_engine.errors import DiceError, PositionError
from nardy_rl.evaluator import Evaluator
from nardy_rl.export.sampling import played_positions
from nardy_rl.players import Turn, make_bot
from nardy_rl.search import Search, Searched
from positions import row

LONG = load_variant("long")
SHORT = load_variant("short")


@pytest.fixture(params=["long", "short", "hypergammon"])
def evaluator(request, tiny_network) -> Evaluator:
    return Evaluator.load(tiny_network(request.param))


class Silent(Evaluator):
    """An evaluator whose network must not be asked."""

    def _through(self, x, first):
        raise AssertionError("the network was asked")


class Opinion(Evaluator):
    """An evaluator whose network expects the same outcome everywhere."""

    favourite = 0
    asked = 0

    def _through(self, x, first):
        self.asked += len(x)
        logits = np.zeros((len(x), self.variant.n_outcomes), dtype=np.float32)
        logits[:, self.favourite] = 50
        return logits


# -- finished games -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "loser", "points"),
    [
        ("long", "3:14 off1", 1),
        ("long", "24:15", 2),
        ("short", "6:14 off1", 1),
        ("short", "6:15", 2),
        ("short", "6:14 19:1", 3),
        ("short", "6:14 bar:1", 3),
    ],
)
def test_finished_positions_are_exact_and_never_ask_the_network(
    tiny_network, game, loser, points
) -> None:
    """A finished game is worth its points to the winner, minus them to the loser (T22, T24)."""
    evaluator = Silent.load(tiny_network(game))
    won = Position(row("off15"), row(loser))
    assert evaluator.equity(won.board()[None]).tolist() == [points]
    assert evaluator.equity(won.swapped().board()[None]).tolist() == [-points]
    assert evaluator.before_roll(won).equity == points
    assert evaluator.average_over_rolls(won.swapped()).equity == -points


@pytest.mark.parametrize("favourite", [0, 1])
def test_a_win_beats_every_estimate(tiny_network, favourite) -> None:
    """Bearing off the last checker comes first however much the network expects else (T24)."""
    evaluator = Opinion.load(tiny_network("long"))
    # Seen from the side to roll after the play: it loses, by mars if that can be.
    evaluator.favourite = 2 + favourite
    rated = evaluator.best(Position(row("2:1 1:1"), row("24:15")), (2, 1))
    assert rated[0].text == "2/off 1/off"
    assert rated[0].equity == 2.0
    assert len(rated) == 2
    assert rated[1].play.end.mover == row("1:1")
    assert rated[1].equity == pytest.approx(1 + favourite, abs=1e-6)
    assert evaluator.asked == 1
    assert all(play.difference <= 0 for play in rated)


def test_a_side_that_must_win_with_its_roll_is_worth_a_win(tiny_network) -> None:
    """One checker on the last point wins with every roll, seen from the side to roll (T22)."""
    evaluator = Silent.load(tiny_network("long"))
    position = Position(row("1:1"), row("24:14 off1"))
    assert evaluator.average_over_rolls(position).equity == 1.0


# -- the network --------------------------------------------------------------------------------


def test_forward_equals_a_calculation_by_hand(tiny_network) -> None:
    """The outputs of the network are what plain loops over its weights give."""
    evaluator = Evaluator.load(tiny_network("long", hidden=(3,)))
    tensors = evaluator.network.tensors
    features = evaluator.network.encoder.encode(LONG.start_position().board()[None])
    hidden = []
    for unit in range(3):
        total = float(tensors["layers.0.bias"][unit])
        for i, value in enumerate(features[0]):
            total += float(tensors["layers.0.weight"][unit, i]) * float(value)
        hidden.append(total if total > 0 else 0.0)
    expected = [
        float(tensors["layers.1.bias"][o])
        + sum(float(tensors["layers.1.weight"][o, u]) * hidden[u] for u in range(3))
        for o in range(4)
    ]
    assert any(total == 0.0 for total in hidden)
    np.testing.assert_allclose(evaluator.logits(features)[0], expected, atol=1e-5)


def test_probabilities_are_probabilities(evaluator) -> None:
    """On real positions the outcomes sum to 1 and the equity lies within the points."""
    boards = played_positions(evaluator.variant, 300, seed=2)
    probs = evaluator.probs(boards)
    assert probs.dtype == np.float32
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-6)
    assert (probs >= 0).all()
    equity = evaluator.equity(boards)
    assert equity.dtype == np.float32
    assert np.abs(equity).max() <= evaluator.points.max()
    assert equity.std() > 0.01


def test_impossible_outcomes_have_no_probability(tiny_network) -> None:
    """With a checker off a side loses no mars; in a race with nobody behind no koks (T30, S-8)."""
    evaluator = Evaluator.load(tiny_network("short"))
    mine_off = Position(row("6:5 off10"), row("24:1 6:14"))
    assert evaluator.before_roll(mine_off).probabilities.lose[1:] == (0.0, 0.0)
    assert min(evaluator.before_roll(mine_off).probabilities.win) > 0
    theirs_off = mine_off.swapped()
    assert evaluator.before_roll(theirs_off).probabilities.win[1:] == (0.0, 0.0)
    race = evaluator.before_roll(Position(row("6:15"), row("18:15"))).probabilities
    assert (race.win[2], race.lose[2]) == (0.0, 0.0)
    assert race.win[1] > 0


def test_results_do_not_depend_on_batch_mates(evaluator) -> None:
    """A position has the same value alone as among others, across chunks (T23)."""
    boards = played_positions(evaluator.variant, 64, seed=3)
    many = np.tile(boards, (70, 1, 1))
    together = evaluator.probs(many)
    first = together[:64].copy()
    alone = np.concatenate([evaluator.probs(board[None]) for board in boards])
    np.testing.assert_allclose(alone, first, atol=1e-6)
    np.testing.assert_allclose(together[-64:], first, atol=1e-6)
    assert np.array_equal(together[:64], first)


def test_evaluators_do_not_share_anything(tiny_network) -> None:
    """Evaluating with A, B and A again gives A's values again (T20, T21)."""
    a = Evaluator.load(tiny_network("long", name="a", seed=1))
    b = Evaluator.load(tiny_network("long", name="b", seed=2))
    boards = played_positions(LONG, 20, seed=4)
    before, other, after = a.probs(boards), b.probs(boards), a.probs(boards)
    assert np.array_equal(before, after)
    assert not np.allclose(before, other)


# -- plays --------------------------------------------------------------------------------------


def test_a_play_is_worth_the_negative_of_what_the_opponent_gets(evaluator) -> None:
    """Each play's equity is minus the opponent's before his roll, on unsymmetric boards (T12)."""
    variant = evaluator.variant
    for board in played_positions(variant, 12, seed=5):
        position = Position.from_board(board)
        rated = evaluator.best(position, (6, 3))
        assert sorted(play.play.end for play in rated) == sorted(
            play.end for play in reference.plays(variant, position, (6, 3))
        )
        for play in rated:
            opponent = evaluator.before_roll(play.play.end.swapped())
            assert play.equity == pytest.approx(-opponent.equity, abs=1e-6)
            assert play.probabilities.vector() == pytest.approx(
                opponent.probabilities.flipped().vector(), abs=1e-6
            )
            assert play.difference == pytest.approx(play.equity - rated[0].equity, abs=2e-6)


def test_the_best_play_is_the_one_that_the_bot_makes(evaluator, tmp_path) -> None:
    """`nardy evaluate` and the network as a bot choose the same afterstate."""
    variant = evaluator.variant
    bot = make_bot(f"net:{evaluator.network.path}", variant)
    boards = played_positions(variant, 40, seed=6)
    dice = np.tile(np.array([[5, 2]], dtype=np.int8), (40, 1))
    after = batch.afterstates(variant, boards, dice)
    chosen = bot.choose(Turn(variant, boards, dice, after, np.zeros(40)))
    for board, choice in zip(boards, chosen, strict=True):
        best = evaluator.best(Position.from_board(board), (5, 2), top=1)
        assert len(best) == 1
        assert np.array_equal(best[0].play.end.board(), after.boards[choice])


def test_average_over_rolls_is_the_average_of_the_best_plays(evaluator) -> None:
    """The 1-ply value is the mean of the best replies over all 36 ordered rolls."""
    for board in played_positions(evaluator.variant, 3, seed=7):
        position = Position.from_board(board)
        rolls = itertools.product(range(1, 7), repeat=2)
        equities = [evaluator.best(position, roll, top=1)[0].equity for roll in rolls]
        average = evaluator.average_over_rolls(position)
        assert average.equity == pytest.approx(np.mean(equities), abs=2e-6)
        assert sum(average.probabilities.vector()) == pytest.approx(1, abs=1e-6)


def test_ties_are_settled_by_the_stated_rule(tiny_network) -> None:
    """Rounding noise below 1e-6 changes nothing: most checkers off, then nearest home (T31)."""
    position = Position(row("3:1 2:1 1:1 off12"), row("6:14 off1"))
    plays = reference.plays(LONG, position, (2, 1))
    boards = np.stack([play.end.board() for play in plays])
    expected = row("3:1 off14")
    search = Search(Evaluator.load(tiny_network("long")), 0)
    nothing = np.zeros((len(boards), 4)), np.zeros(len(boards), np.int8)
    rng = np.random.default_rng(8)
    for _ in range(50):
        shuffle = rng.permutation(len(boards))
        noise = rng.uniform(-4e-7, 4e-7, len(boards)) + 0.875
        found = Searched(nothing[0], noise, nothing[1], nothing[1] - 1)
        first = search.order(boards[shuffle], found)[0]
        assert tuple(boards[shuffle][first][0]) == expected


def test_order_is_a_permutation_from_high_to_low(evaluator) -> None:
    """Every play appears once, and equities fall by more than a tie at each real step."""
    position = Position.from_board(played_positions(evaluator.variant, 1, seed=9)[0])
    rated = evaluator.best(position, (4, 2))
    equities = [play.equity for play in rated]
    assert all(a >= b - 1e-6 for a, b in itertools.pairwise(equities))
    assert evaluator.best(position, (4, 2), top=2) == rated[:2]


def test_forced_pass_is_rated(tiny_network) -> None:
    """With no legal step the one play is the pass (T-8)."""
    evaluator = Evaluator.load(tiny_network("short"))
    closed = Position(row("bar:1 6:14"), row("1:2 2:2 3:2 4:2 5:2 6:2 7:3"))
    rated = evaluator.best(closed, (6, 5))
    assert [play.text for play in rated] == ["pass"]
    assert rated[0].difference == 0.0


# -- refusals -----------------------------------------------------------------------------------


def test_questions_without_an_answer_are_refused(tiny_network) -> None:
    """A finished game, an impossible roll and an impossible position are one sentence each."""
    evaluator = Evaluator.load(tiny_network("long"))
    with pytest.raises(PositionError, match="the game is over"):
        evaluator.best(Position(row("off15"), row("24:15")), (6, 5))
    with pytest.raises(DiceError, match="a die shows 1 to 6"):
        evaluator.best(LONG.start_position(), (7, 1))
    with pytest.raises(PositionError, match="both sides stand on one point"):
        evaluator.before_roll(Position(row("24:15"), row("12:15")))
    with pytest.raises(PositionError, match="both sides stand on one point"):
        evaluator.average_over_rolls(Position(row("24:15"), row("12:15")))


def test_an_evaluation_starts_without_torch() -> None:
    """Importing the evaluator loads no torch, so that `nardy evaluate` answers at once."""
    code = "import sys, nardy_rl.evaluator; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("game", ["long", "short", "hypergammon"])
def test_plays_of_many_positions_are_worth_what_each_afterstate_is(tiny_network, game):
    """T24: the incremental way gives the plain way's equities, finished games exactly."""
    variant = load_variant(game)
    evaluator = Evaluator.load(tiny_network(game), variant)
    games = batch.Games(variant, 300, seed=5)
    for _ in range(40):
        games.roll()
        after = games.afterstates()
        plain = -evaluator.equity(batch.swapped(after.boards))
        np.testing.assert_allclose(evaluator.plays(games.boards, after).equity, plain, atol=2e-5)
        games.play(after.offsets[:-1] + (games.uniforms() * after.counts()).astype(np.int64))
    assert (games.over >= 0).any() or game != "hypergammon"
