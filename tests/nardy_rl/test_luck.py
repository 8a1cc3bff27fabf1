"""The luck of rolls: its value by the reference engine, and that taking it off moves no mean."""

import numpy as np
import pytest

from evaluations import played
from nardy_engine import Position, batch, load_variant, reference
from nardy_rl.arena import match
from nardy_rl.evaluator import Evaluator
from nardy_rl.luck import Luck
from nardy_rl.players import make_bot
from nardy_rl.rolls import owes_dice
from nardy_rl.search import Search


def evaluator(tiny_network, game):
    return Evaluator.load(tiny_network(game), load_variant(game))


def best(judge, board, dice):
    """Return what the best play of a roll is worth to the mover, play by play of the reference."""
    worth = []
    for play in reference.plays(judge.variant, Position.from_board(board), tuple(dice)):
        outcome = reference.outcome(judge.variant, play.end)
        if outcome is not None:
            points = judge.variant.win_kinds[outcome.kind][1]
            worth.append(points if outcome.won else -points)
            continue
        following, same = reference.next_position(judge.variant, play.end)
        board = following.board()
        owing = owes_dice(judge.variant, board[None])[0]
        equity = best(judge, board, (1, 1)) if owing else float(judge.equity(board[None])[0])
        worth.append(equity if same else -equity)
    return max(worth)


@pytest.mark.parametrize("game", ["short", "long", "gulbar"])
def test_luck_is_the_best_play_less_the_average_over_all_throws(tiny_network, game, monkeypatch):
    """All 36 throws are played by the reference engine, in positions of random games."""
    judge = evaluator(tiny_network, game)
    luck = Luck(judge)
    every = Search(judge, 0, glance=None, play_out=None)
    monkeypatch.setattr(luck, "_search", every)  # every reply is valued
    boards, dice = played(judge.variant, 4, 20)
    found = luck.of(boards, dice, np.full(len(boards), 20))
    throws = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    for board, thrown, value in zip(boards, dice.tolist(), found[:, 0], strict=True):
        average = np.mean([best(judge, board, throw) for throw in throws])
        assert value == pytest.approx(best(judge, board, thrown) - average, abs=2e-5)


@pytest.mark.parametrize("game", ["mad_gulbar", "gulbar", "long"])
def test_luck_adds_up_to_nothing_over_all_throws(tiny_network, game):
    """Whatever is left out to save time, taking luck off moves no mean."""
    judge = evaluator(tiny_network, game)
    boards, _ = played(judge.variant, 6, 20)
    boards = boards[~owes_dice(judge.variant, boards)]
    throws = np.array([(a, b) for a in range(1, 7) for b in range(1, 7)], np.int8)
    repeated = np.repeat(boards, 36, axis=0)
    found = Luck(judge).of(repeated, np.tile(throws, (len(boards), 1)), np.full(len(repeated), 20))
    assert np.abs(found).max() > 1e-3
    np.testing.assert_allclose(found.reshape(len(boards), 36, 2).sum(axis=1), 0, atol=1e-5)


def test_the_first_throw_of_short_nardy_is_compared_with_throws_that_are_no_doubles(tiny_network):
    """S-2: over its 30 throws luck sums up to 0; counted as an ordinary throw it does not."""
    judge = evaluator(tiny_network, "short")
    throws = [(a, b) for a in range(1, 7) for b in range(1, 7) if a != b]
    boards = np.repeat(judge.variant.start_position().board()[None], len(throws), axis=0)
    dice = np.array(throws, np.int8)
    first = Luck(judge).of(boards, dice, np.zeros(len(throws), np.int64))
    later = Luck(judge).of(boards, dice, np.ones(len(throws), np.int64))
    assert first.sum(axis=0) == pytest.approx([0, 0], abs=1e-6)
    assert np.ptp(first, axis=0).min() > 1e-4
    assert np.abs(later.sum(axis=0)).min() > 1e-4


def test_who_owes_dice_throws_none(tiny_network):
    """SEG-4: dice of the throw before are no luck of this decision."""
    judge = evaluator(tiny_network, "giul")
    found = []
    for plies in range(1, 30):
        boards, dice = played(judge.variant, 30, plies)
        luck = Luck(judge).of(boards, dice, np.full(len(boards), plies))
        owing = owes_dice(judge.variant, boards)
        assert not luck[owing].any()
        assert luck[~owing].any()
        found.append(int(owing.sum()))
    assert sum(found) > 5


@pytest.mark.parametrize("game", ["short", "long", "giul", "emir"])
def test_a_bot_against_itself_still_scores_zero(tiny_network, game):
    """The same dice with the seats exchanged: what was luck for one side is luck for the other."""
    judge = evaluator(tiny_network, game)
    bot = make_bot("random", judge.variant)
    result = match(bot, bot, judge.variant, 20, 3, luck=Luck(judge))
    assert result.luck is not None
    assert result.luck.any()
    assert np.abs(result.luck.sum(axis=1)).max() < 1e-9
    assert result.adjusted_points.mean == pytest.approx(0)
    assert result.adjusted_win_rate.mean == pytest.approx(result.win_rate.mean)


def test_a_match_with_luck_is_the_same_match_and_sharper():
    """The games do not change, the two means agree, and the interval shrinks a great deal."""
    short = load_variant("short")
    bots = [make_bot(name, short) for name in ("net:short", "pubeval")]
    plain = match(*bots, short, 150, 7)
    judged = match(*bots, short, 150, 7, luck=Luck(Evaluator.load("short")), workers=1)
    assert judged.games_digest == plain.games_digest
    assert judged.points == plain.points
    adjusted = judged.adjusted_points
    assert adjusted.half < 0.6 * judged.points.half
    assert judged.adjusted_win_rate.half < 0.6 * judged.win_rate.half
    owed = judged.luck.mean(axis=1)
    assert (np.abs(owed.mean(axis=0)) < 3 * owed.std(axis=0, ddof=1) / len(owed) ** 0.5).all()


def test_blocks_and_threads_change_no_luck(tiny_network):
    """T34: the luck of a game depends on its stream alone, up to the rounding of products."""
    judge = evaluator(tiny_network, "short")
    bots = [make_bot(name, judge.variant) for name in ("pubeval", "random")]
    luck = Luck(judge)
    whole = match(*bots, judge.variant, 12, 1, luck=luck, workers=1)
    parts = match(*bots, judge.variant, 12, 1, luck=luck, workers=2, block_pairs=5)
    assert np.abs(whole.luck - parts.luck).max() < 1e-5


def test_finished_games_are_asked_nothing(tiny_network):
    """Only running games throw dice: no position of a finished one reaches the network."""
    judge = evaluator(tiny_network, "short")

    class Watch(Luck):
        def of(self, boards, dice, turns):
            assert (batch.outcomes(self.variant, boards) < 0).all()
            return super().of(boards, dice, turns)

    bot = make_bot("random", judge.variant)
    assert match(bot, bot, judge.variant, 4, 1, luck=Watch(judge)).luck.any()
