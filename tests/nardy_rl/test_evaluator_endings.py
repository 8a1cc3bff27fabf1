"""Exact endings in evaluations, and whole rolls where a roll is several decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluations import endings, played
from nardy_engine import Position, batch, load_variant, reference
from nardy_engine.bearoff import Bearoff
from nardy_engine.kernels.values import NETWORK, TABLE
from nardy_engine.outcomes import outcome_index
from nardy_rl import outcomes
from nardy_rl.evaluator import Evaluator
from nardy_rl.players import choose_best, make_bot
from nardy_rl.rolls import Rolls, is_opening, owes_dice
from positions import row


class Silent(Evaluator):
    """An evaluator whose network must not be asked."""

    def _through(self, x, first):
        raise AssertionError("the network was asked")


# -- endings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["short", "long", "khachapuri", "even_odd", "hypergammon"])
def test_endings_are_the_tables_and_never_ask_the_network(tiny_network, game) -> None:
    """Both sides at home: the table's chances exactly, by every way of asking (T24)."""
    variant = load_variant(game)
    evaluator = Silent.load(tiny_network(game))
    boards = endings(variant, 60)
    exact = Bearoff.for_variant(variant).outcome_probs(boards)
    np.testing.assert_array_equal(evaluator.probs(boards), exact)
    after = batch.afterstates(variant, boards, np.full((60, 2), 2, np.int8))
    values = evaluator.plays(boards, after)
    following, same = batch.next_states(variant, after.boards)
    assert not same.any()
    running = batch.outcomes(variant, following) < 0
    expected = outcomes.flip(Bearoff.for_variant(variant).outcome_probs(following[running]))
    np.testing.assert_array_equal(values.probs[running], expected)
    assert (values.codes[running] == TABLE).all()
    best = evaluator.best(Position.from_board(boards[0]), (2, 2), top=1)[0]
    assert best.equity == pytest.approx(values.equity[: after.offsets[1]].max(), abs=1e-6)


def test_a_choice_that_the_tables_know(tiny_network) -> None:
    """X: with 2-1 from 6:1 5:1 4:1 against a side that needs two rolls the exact best is played."""
    evaluator = Silent.load(tiny_network("short"))
    position = Position(row("6:1 5:1 4:1"), row("6:2 5:1"))
    rated = evaluator.best(position, (2, 1))
    bearoff = Bearoff.for_variant(evaluator.variant)
    chances = {
        play.text: 1 - bearoff.outcome_probs(play.play.end.swapped().board()[None])[0, :3].sum()
        for play in rated
    }
    assert rated[0].text == max(chances, key=chances.__getitem__)
    assert len(rated) > 3


def test_the_network_alone_can_still_be_measured(tiny_network) -> None:
    """With `bearoff=False` endings go through the network, as everything else."""
    path = tiny_network("short")
    boards = endings(load_variant("short"), 5)
    alone = Evaluator.load(path, bearoff=False)
    assert not alone.uses_bearoff
    logits = alone.logits(alone.network.encoder.encode(boards))
    possible = batch.outcome_mask(alone.variant, boards)
    expected = outcomes.masked_softmax(logits, possible)
    np.testing.assert_allclose(alone.probs(boards), expected, atol=1e-6)
    assert not np.allclose(alone.probs(boards), Evaluator.load(path).probs(boards), atol=1e-3)
    with pytest.raises(AssertionError, match="the network was asked"):
        Silent.load(path, bearoff=False).probs(boards)


def test_tables_are_made_when_the_first_ending_is_met(tiny_network, monkeypatch) -> None:
    """Whoever evaluates openings never waits for the tables."""
    asked = []
    real = Bearoff.for_variant

    def counting(variant):
        asked.append(variant.id)
        return real(variant)

    monkeypatch.setattr(Bearoff, "for_variant", staticmethod(counting))
    evaluator = Evaluator.load(tiny_network("short"))
    boards, dice = played(evaluator.variant, 40, 6)
    evaluator.choose(boards, batch.afterstates(evaluator.variant, boards, dice))
    assert asked == []
    evaluator.probs(endings(evaluator.variant, 3))
    evaluator.probs(endings(evaluator.variant, 3))
    assert asked == ["short"]


def test_a_game_without_tables_asks_its_network(tiny_network) -> None:
    """Giveaway has no tables, so its endings are estimates (RV-1)."""
    evaluator = Evaluator.load(tiny_network("giveaway"))
    assert not evaluator.uses_bearoff
    assert (evaluator.positions(endings(evaluator.variant, 9)).codes == NETWORK).all()


@pytest.mark.parametrize("game", ["short", "long", "gulbar", "giul", "emir", "mad_nardy"])
def test_plays_are_worth_what_follows_them(tiny_network, game) -> None:
    """The fast way agrees with asking for each next state, in races and in segments (T12)."""
    variant = load_variant(game)
    evaluator = Evaluator.load(tiny_network(game))
    for plies in (3, 40, 100):
        boards, dice = played(variant, 60, plies)
        after = batch.afterstates(variant, boards, dice)
        values = evaluator.plays(boards, after)
        following, same = batch.next_states(variant, after.boards)
        probs = evaluator.probs(following)
        expected = np.where(same[:, None], probs, outcomes.flip(probs))
        np.testing.assert_allclose(values.probs, expected, atol=2e-5)
        np.testing.assert_allclose(values.equity, expected @ evaluator.points, atol=1e-4)
        np.testing.assert_array_equal(evaluator.plays(boards, after).equity, values.equity)


@pytest.mark.parametrize("game", ["short", "giveaway", "gulbar", "emir", "hypergammon"])
def test_choices_follow_the_rule_of_all_bots(tiny_network, game) -> None:
    """The compiled choice is `players.choose_best`: finishes first, ties as stated (T24, T31)."""
    variant = load_variant(game)
    evaluator = Evaluator.load(tiny_network(game))
    rng = np.random.default_rng(3)
    for plies in (5, 60, 90, 110):
        boards, dice = played(variant, 80, plies)
        after = batch.afterstates(variant, boards, dice)
        values = evaluator.plays(boards, after)
        rough = np.round(values.equity, 1) + rng.uniform(-3e-7, 3e-7, len(values.equity))
        values = values._replace(equity=rough.astype(np.float32))
        picked = evaluator.pick(after.boards, np.arange(len(rough)), after.offsets, values)
        expected = choose_best(variant, after, values.equity.astype(np.float64))
        np.testing.assert_array_equal(picked, expected)


# -- whole rolls --------------------------------------------------------------------------------


def rolled_out(evaluator, position, dice, keep=8):
    """Return the chances after a roll played to its end, seen from row 0 (reference).

    Of the plays that leave dice owed the `keep` of best static value are played to the end of the
    roll, and one at each decision that follows; the best end is taken.
    """
    variant = evaluator.variant
    ends, owing = [], []
    for play in reference.plays(variant, position, dice):
        following, same = reference.next_position(variant, play.end)
        over = reference.outcome(variant, play.end)
        if over is not None:
            exact = np.zeros(variant.n_outcomes)
            exact[outcome_index(variant, over)] = 1
            ends.append((np.sign(over.points_for_mover) * 1e6 + over.points_for_mover, exact))
            continue
        board = following.board()
        probs = evaluator.probs(board[None])[0]
        probs = probs if same else outcomes.flip(probs)
        value = float(probs @ evaluator.points)
        if owes_dice(variant, board[None])[0]:
            owing.append((value, following, same))
        else:
            ends.append((value, probs))
    for _, following, same in sorted(owing, key=lambda play: -play[0])[:keep]:
        later = rolled_out(evaluator, following, None, keep=1)
        later = later if same else outcomes.flip(later)
        ends.append((float(later @ evaluator.points), later))
    return max(ends, key=lambda end: end[0])[1]


@pytest.mark.parametrize("game", ["gulbar", "mad_gulbar", "giul", "gul_bara_intl"])
def test_average_over_rolls_plays_whole_rolls(tiny_network, game) -> None:
    """A roll of several decisions, by both sides, is averaged at its end, not after the first."""
    variant = load_variant(game)
    evaluator = Evaluator.load(tiny_network(game))
    boards, _ = played(variant, 40, 24, seed=8)
    several = 0
    for board in boards[~owes_dice(variant, boards)][:2]:
        position = Position.from_board(board)
        rolls = Rolls.of(variant)
        chances = [rolled_out(evaluator, position, tuple(dice)) for dice in rolls.dice.tolist()]
        average = evaluator.average_over_rolls(position)
        expected = rolls.average(np.array(chances))
        assert average.probabilities.vector() == pytest.approx(expected, abs=1e-5)
        after = batch.afterstates(variant, np.repeat(board[None], 21, axis=0), rolls.dice)
        several += owes_dice(variant, batch.next_states(variant, after.boards)[0]).sum()
    assert several > 0


def test_average_where_dice_are_owed_plays_the_rest_of_the_roll_first(tiny_network) -> None:
    """Nobody rolls while dice are owed: they are played, and then a roll is averaged (GUL-1)."""
    variant = load_variant("gulbar")
    evaluator = Evaluator.load(tiny_network("gulbar"))
    boards, _ = played(variant, 300, 25, seed=8)
    owing = boards[owes_dice(variant, boards)]
    assert len(owing)
    for board in owing[:4]:
        sign, states = 1.0, board[None]
        while owes_dice(variant, states)[0] and batch.outcomes(variant, states)[0] < 0:
            after = batch.afterstates(variant, states, [(1, 1)])
            states, (same,) = batch.next_states(
                variant, after.boards[evaluator.choose(states, after)]
            )
            sign = sign if same else -sign
        value = evaluator.average_over_rolls(Position.from_board(states[0])).equity
        average = evaluator.average_over_rolls(Position.from_board(board)).equity
        assert average == pytest.approx(sign * value, abs=1e-6)


def test_average_before_a_pre_roll_move(tiny_network) -> None:
    """In emir the move before the roll is made first, then the roll is averaged over (EMI-11)."""
    variant = load_variant("emir")
    evaluator = Evaluator.load(tiny_network("emir"))
    boards, _ = played(variant, 200, 20, seed=2)
    slot = next(item.slot for item in variant.memory if item.name == "preroll")
    (board, *_) = boards[boards[:, 0, slot] == 1]
    after = batch.afterstates(variant, board[None], [(1, 1)])
    chosen = after.boards[evaluator.choose(board[None], after)]
    (moved,), (same,) = batch.next_states(variant, chosen)
    assert same
    then = evaluator.average_over_rolls(Position.from_board(moved))
    first = evaluator.average_over_rolls(Position.from_board(board))
    assert first == then


def test_the_throw_that_decides_who_begins_has_no_doubles(tiny_network) -> None:
    """S-2: before the first roll of short nardy the average is over 15 rolls, later over 21."""
    variant = load_variant("short")
    start = variant.start_position()
    boards = np.stack([start.board(), played(variant, 1, 1)[0][0]])
    assert is_opening(variant, boards).tolist() == [True, False]
    long = load_variant("long")
    assert not is_opening(long, long.start_position().board()[None]).any()
    evaluator = Evaluator.load(tiny_network("short"))
    best = [
        evaluator.best(start, (a, b), top=1)[0].equity for a in range(1, 7) for b in range(1, a)
    ]
    assert evaluator.average_over_rolls(start).equity == pytest.approx(np.mean(best), abs=1e-5)


def test_rolls_of_other_dice() -> None:
    """The rolls follow from the number of sides; an average of ones is exactly one."""
    four = load_variant("long", {"dice.sides": 4, "bearoff.dice": "all",
                                 "head.exception_doubles": [3, 4]})  # fmt: skip
    rolls = Rolls.of(four)
    assert len(rolls.dice) == 10
    assert rolls.weights.tolist() == [1 if a == b else 2 for a, b in rolls.dice]
    assert rolls.average(np.ones((10, 1))).tolist() == [1]


def test_the_arena_plays_endings_by_the_tables(
    tiny_network: Callable[..., Path], tmp_path: Path
) -> None:
    """A network as a bot bears off by the tables."""
    variant = load_variant("short")
    bot = make_bot(f"net:{tiny_network('short')}", variant)
    evaluator = Evaluator.load(tiny_network("short"))
    assert bot._evaluator.uses_bearoff
    boards = endings(variant, 30)
    after = batch.afterstates(variant, boards, np.tile(np.int8([[4, 1]]), (30, 1)))
    np.testing.assert_array_equal(
        bot._evaluator.choose(boards, after),
        evaluator.choose(boards, after),
    )
