"""n-ply search against a plain recursion, and what it promises (faults T14, T15, T22, T24)."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evaluations import endings, played
from nardy_engine import Position, batch
from nardy_engine.kernels import values as kernel
from nardy_engine.rules import rule_table
from nardy_rl import outcomes
from nardy_rl.decisions import Plays
from nardy_rl.evaluator import Evaluator
from nardy_rl.likely_replies import FLAT, GLANCE, TANGENT_ROLLS, Glance, LikelyReplies
from nardy_rl.players import choose_best
from nardy_rl.players.base import Turn
from nardy_rl.players.net import NetBot
from nardy_rl.rollout import RolloutSettings, rollout
from nardy_rl.rolls import Rolls, moves_before_roll, owes_dice
from nardy_rl.search import EVERYTHING, Filter, PlayOut, Search, default_filters
from positions import row

FULL = {"replies": EVERYTHING, "glance": None, "play_out": None}


def plain(evaluator, board, plies):
    """Return the chances of the side to act, by recursion over everything; written apart."""
    variant = evaluator.variant
    n = variant.n_outcomes
    over = int(batch.outcomes(variant, board[None])[0])
    if over >= 0:
        return np.eye(n)[over]
    owing, before = owes_dice(variant, board[None])[0], moves_before_roll(variant, board[None])[0]
    if evaluator.uses_bearoff and covered(variant, board):
        return evaluator.probs(board[None])[0].astype(np.float64)
    if not owing and plies == 0:
        return evaluator.probs(board[None])[0].astype(np.float64)
    if owing or before:
        return best_reply(evaluator, board, (1, 1), plies)
    total = np.zeros(n)
    for dice in itertools.product(range(1, 7), repeat=2):  # 36 rolls, each 1 / 36
        total += best_reply(evaluator, board, dice, plies - 1) / 36
    return total


def covered(variant, board):
    """Return whether both sides stand at home or off."""
    home = variant.setup.home
    return bool(board[:, home + 1 : variant.n_counts].sum() == 0)


def best_reply(evaluator, board, dice, plies):
    variant = evaluator.variant
    after = batch.afterstates(variant, board[None], [dice])
    following, same = batch.next_states(variant, after.boards)
    if plies == 0 and not owes_dice(variant, following).any():
        probs = evaluator.probs(following).astype(np.float64)
    else:
        probs = np.stack([plain(evaluator, state, plies) for state in following])
    probs = np.where(same[:, None], probs, outcomes.flip(probs))
    values = probs @ evaluator.points.astype(np.float64)
    return probs[choose_best(variant, after, values)[0]]


def some_positions(variant, n, plies=14, seed=3):
    """Return `n` unsymmetric positions from random games."""
    boards, _ = played(variant, 60, plies, seed)
    unlike = (boards[:, 0] != boards[:, 1]).any(axis=1)
    return boards[unlike][:n]


GAMES = ["short", "long", "hypergammon", "gulbar", "emir", "giveaway"]


@pytest.mark.parametrize("game", GAMES)
def test_one_ply_is_the_plain_average(tiny_network, game) -> None:
    """21 weighted rolls, whole rolls of several decisions, extra rolls: as the recursion says."""
    evaluator = Evaluator.load(tiny_network(game))
    variant = evaluator.variant
    boards = np.concatenate([some_positions(variant, 2), some_positions(variant, 9, 40)])
    boards = boards[~moves_before_roll(variant, boards)][:2]  # those have too many ways on
    found = Search(evaluator, 1, **FULL).positions(boards)
    for board, probs in zip(boards, found, strict=True):
        np.testing.assert_allclose(probs, plain(evaluator, board, 1), atol=2e-5)


@pytest.mark.parametrize("game", ["hypergammon", "short"])
def test_two_plies_are_the_plain_recursion(tiny_network, game) -> None:
    """Depth 2 equals the general recursion at depth 2, on unsymmetric boards, both sides (T14)."""
    evaluator = Evaluator.load(tiny_network(game))
    variant = evaluator.variant
    bearing_off = Position(row("5:1 3:1 off13"), row("20:1 2:1 1:1")).board()
    board = some_positions(variant, 1, 8)[0] if game == "hypergammon" else bearing_off
    for state in (board, np.ascontiguousarray(board[::-1])):
        found = Search(evaluator, 2, filters=[EVERYTHING] * 2, **FULL).positions(state[None])[0]
        np.testing.assert_allclose(found, plain(evaluator, state, 2), atol=2e-5)


def test_plays_are_worth_what_follows_them(tiny_network) -> None:
    """A searched play is worth its next position at that depth, turned where the side changes."""
    for game in ("gulbar", "short"):
        evaluator = Evaluator.load(tiny_network(game))
        variant = evaluator.variant
        boards = some_positions(variant, 3, 20)
        after = batch.afterstates(variant, boards, np.full((3, 2), 2, np.int8))
        search = Search(evaluator, 1, filters=[EVERYTHING], **FULL)
        found = search.plays(boards, after)
        for i in range(0, len(after.boards), max(1, len(after.boards) // 6)):
            (following,), (same,) = batch.next_states(variant, after.boards[i : i + 1])
            probs = plain(evaluator, following, 1)
            probs = probs if same else outcomes.flip(probs)
            np.testing.assert_allclose(found.probs[i], probs, atol=2e-5)
            assert found.equity[i] == pytest.approx(float(probs @ evaluator.points), abs=1e-4)


def test_the_greedy_reply_is_that_of_the_static_value(tiny_network) -> None:
    """By default the reply of best static value is followed, at every depth, as GNU's does."""
    evaluator = Evaluator.load(tiny_network("hypergammon"))
    variant = evaluator.variant

    def greedy(board, plies):
        over = batch.outcomes(variant, board[None])[0]
        if over >= 0 or plies == 0 or covered(variant, board):
            return evaluator.probs(board[None])[0].astype(np.float64)
        total = np.zeros(variant.n_outcomes)
        for dice in itertools.product(range(1, 7), repeat=2):
            after = batch.afterstates(variant, board[None], [dice])
            best = after.boards[evaluator.choose(board[None], after)]
            total += outcomes.flip(greedy(batch.swapped(best)[0], plies - 1)) / 36
        return total

    board = some_positions(variant, 1, 8)[0]
    for plies in (1, 2):
        found = Search(evaluator, plies, glance=None).positions(board[None])[0]
        np.testing.assert_allclose(found, greedy(board, plies), atol=2e-5)


def test_zero_plies_are_static(tiny_network) -> None:
    """0-ply is the evaluator's value (GNU convention)."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards = some_positions(evaluator.variant, 6)
    np.testing.assert_array_equal(Search(evaluator, 0).positions(boards), evaluator.probs(boards))
    after = batch.afterstates(evaluator.variant, boards, np.tile(np.int8([[6, 4]]), (6, 1)))
    found = Search(evaluator, 0).plays(boards, after)
    np.testing.assert_array_equal(found.equity, evaluator.plays(boards, after).equity)
    np.testing.assert_array_equal(
        Search(evaluator, 0).choose(boards, after), evaluator.choose(boards, after)
    )


def owing_decisions(evaluator, dice, n=6):
    """Return decisions of random games of which some plays leave dice owed, with those plays."""
    variant = evaluator.variant
    boards = np.concatenate([some_positions(variant, 30, plies) for plies in (12, 40, 70)])
    boards = boards[~owes_dice(variant, boards)]
    after = batch.afterstates(variant, boards, np.tile(np.int8([dice]), (len(boards), 1)))
    following, _ = batch.next_states(variant, after.boards)
    owing = owes_dice(variant, following) & (batch.outcomes(variant, after.boards) < 0)
    several = np.add.reduceat(owing, after.offsets[:-1]) > 1
    boards = boards[several & (after.counts() < 40)][:n]
    assert len(boards) == n
    return boards, batch.afterstates(variant, boards, np.tile(np.int8([dice]), (n, 1)))


OWING = [("mad_gulbar", (5, 5)), ("giul", (5, 5)), ("gul_bara_intl", (5, 5)), ("mad_nardy", (4, 4))]


@pytest.mark.parametrize(("game", "dice"), OWING)
def test_what_is_owed_is_played_out(tiny_network, game, dice) -> None:
    """T-9: at 0-ply a play is worth the best that can be made of the roll, by both sides."""
    evaluator = Evaluator.load(tiny_network(game))
    boards, after = owing_decisions(evaluator, dice)
    found = Search(evaluator, 0, play_out=None).plays(boards, after)
    following, same = batch.next_states(evaluator.variant, after.boards)
    for i in range(len(following)):
        probs = plain(evaluator, following[i], 0)
        np.testing.assert_allclose(
            found.probs[i], probs if same[i] else outcomes.flip(probs), atol=1e-5
        )
    assert (found.depth == 0).all()
    static = evaluator.plays(boards, after)
    owing = owes_dice(evaluator.variant, following)
    assert np.abs(found.equity - static.equity)[owing].max() > 1e-3
    np.testing.assert_allclose(found.equity[~owing], static.equity[~owing], atol=1e-6)


def narrow(evaluator, board, dice, keep, then):
    """Return the equity of every play, nan where dice are owed and it is not played out.

    Written apart: `keep` of the plays that leave dice owed are, and `then` of each later decision.
    """
    variant = evaluator.variant
    after = batch.afterstates(variant, board[None], [dice])
    values = evaluator.plays(board[None], after)
    following, same = batch.next_states(variant, after.boards)
    owing = owes_dice(variant, following) & (values.codes == kernel.NETWORK)
    equity = values.equity.astype(np.float64)
    few = sorted(np.flatnonzero(owing), key=lambda i: -equity[i])[:keep]
    equity[owing] = np.nan
    for i in few:
        best = np.nanmax(narrow(evaluator, following[i], (1, 1), then, then))
        equity[i] = best if same[i] else -best
    return equity


@pytest.mark.parametrize(("game", "dice"), OWING)
def test_only_the_best_few_are_played_out(tiny_network, game, dice) -> None:
    """Those that look best at a decision, fewer at those that follow; the others are not chosen."""
    evaluator = Evaluator.load(tiny_network(game))
    boards, after = owing_decisions(evaluator, dice)
    search = Search(evaluator, 0, play_out=PlayOut(3, 2, 1))
    chosen = search.choose(boards, after)
    rolls = Rolls(np.array([dice], np.int8), np.ones(1))
    probs = search.every_roll(boards, rolls)
    left_out = 0
    found = search.plays(boards, after)
    for game_, board in enumerate(boards):
        equity = narrow(evaluator, board, dice, 3, 2)
        rows = slice(after.offsets[game_], after.offsets[game_ + 1])
        assert ((found.depth[rows] == -1) == np.isnan(equity)).all()
        order = search.order(after.boards[rows], found.rows(rows))
        assert order[0] == chosen[game_] - rows.start
        assert (np.diff(found.depth[rows][order]) <= 0).all()
        left_out += np.isnan(equity).sum()
        row = chosen[game_] - after.offsets[game_]
        assert equity[row] == pytest.approx(np.nanmax(equity), abs=1e-5)
        assert probs[game_, 0] @ evaluator.points == pytest.approx(equity[row], abs=1e-5)
    assert left_out > 0
    following = batch.next_states(evaluator.variant, after.boards[chosen])[0]
    for state in following[owes_dice(evaluator.variant, following)][:2]:
        expected = np.nanmax(narrow(evaluator, state, (1, 1), 2, 2))
        found = search.positions(state[None])[0] @ evaluator.points
        assert found == pytest.approx(expected, abs=1e-5)


def test_replies_are_played_out_with_less_care(tiny_network) -> None:
    """After a later roll `reply` plays that leave dice owed are played out, then one."""
    evaluator = Evaluator.load(tiny_network("mad_gulbar"))
    boards, _ = owing_decisions(evaluator, (5, 5), 2)
    found = Search(evaluator, 1, play_out=PlayOut(9, 9, 2)).positions(boards)
    for board, probs in zip(boards, found, strict=True):
        throws = itertools.product(range(1, 7), repeat=2)
        best = [np.nanmax(narrow(evaluator, board, dice, 2, 1)) for dice in throws]
        assert probs @ evaluator.points == pytest.approx(np.mean(best), abs=1e-5)


def test_a_bot_plays_out_what_is_owed(tiny_network) -> None:
    """The network's bot chooses at 0-ply as the search does, not by static values alone."""
    evaluator = Evaluator.load(tiny_network("mad_gulbar"))
    boards, after = owing_decisions(evaluator, (5, 5), 12)
    turn = Turn(evaluator.variant, boards, np.full((12, 2), 5, np.int8), after, np.zeros(12))
    chosen = NetBot(evaluator, "net").choose(turn)
    np.testing.assert_array_equal(chosen, Search(evaluator, 0).choose(boards, after))
    worth = Search(evaluator, 0, play_out=None).plays(boards, after).equity
    static = evaluator.choose(boards, after)
    assert (worth[chosen] > worth[static] + 1e-3).any()
    assert worth[chosen].mean() > worth[static].mean()


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_finished_games_and_endings_are_exact_at_every_depth(tiny_network, plies) -> None:
    """A lost position is worth minus its points, an ending what the table says (T22)."""

    class Silent(Evaluator):
        def _through(self, x, first):
            raise AssertionError("the network was asked")

    evaluator = Silent.load(tiny_network("short"))
    lost = Position(row("24:15"), row("off15")).board()
    home = endings(evaluator.variant, 5)
    found = Search(evaluator, plies).positions(np.concatenate([lost[None], home]))
    assert found[0] @ evaluator.points == -3
    np.testing.assert_array_equal(found[1:], evaluator.probs(home))


def test_deeper_search_changes_decisions(tiny_network) -> None:
    """Of some hundred decisions several change at 1-ply, and others again at 2-ply (T15)."""
    evaluator = Evaluator.load(tiny_network("hypergammon"))
    boards, dice = played(evaluator.variant, 150, 5)
    after = batch.afterstates(evaluator.variant, boards, dice)
    real = after.counts() > 1
    chosen = [Search(evaluator, plies).choose(boards, after)[real] for plies in (0, 1, 2)]
    assert real.sum() > 100
    assert 0 < (chosen[0] != chosen[1]).sum() < real.sum()
    assert 0 < (chosen[1] != chosen[2]).sum() < real.sum()


def test_depth_is_reported_and_ranks_first(tiny_network) -> None:
    """Plays that a filter left behind say so, and stand below all that were searched deeper."""
    evaluator = Evaluator.load(tiny_network("short"))
    variant = evaluator.variant
    boards, dice = played(variant, 4, 12)
    after = batch.afterstates(variant, boards, dice)
    search = Search(evaluator, 2, filters=[Filter(5, 10.0), Filter(2, 10.0)])
    found = search.plays(boards, after)
    for game in range(len(boards)):
        rows = slice(after.offsets[game], after.offsets[game + 1])
        depth, n = found.depth[rows], rows.stop - rows.start
        assert (depth == 2).sum() == min(2, n)
        assert (depth == 1).sum() == max(0, min(5, n) - 2)
        order = search.order(after.boards[rows], found.rows(rows))
        assert sorted(order) == list(range(n))
        assert (np.diff(depth[order]) <= 0).all()
        for level in (0, 1, 2):
            equities = found.equity[rows][order][depth[order] == level]
            assert (np.diff(equities) <= 1e-6).all()
    static = evaluator.plays(boards, after).equity
    left = found.depth == 0
    np.testing.assert_array_equal(found.equity[left], static[left])


def test_filters_keep_what_comes_near_the_best(tiny_network) -> None:
    """At most `keep` plays within `within` points of the best are searched, the best always."""
    evaluator = Evaluator.load(tiny_network("short"))
    boards, dice = played(evaluator.variant, 30, 10)
    after = batch.afterstates(evaluator.variant, boards, dice)
    static = evaluator.plays(boards, after).equity
    found = Search(evaluator, 1, filters=[Filter(3, 0.05)]).plays(boards, after)
    for first, end in itertools.pairwise(after.offsets):
        value, deep = static[first:end], found.depth[first:end] == 1
        near = np.sort(value[value >= value.max() - 0.05])[::-1]
        assert deep.sum() == min(3, len(near))
        assert value[deep].min() == near[: deep.sum()].min()
    assert default_filters(0) == ()
    assert [item is None for item in default_filters(4)] == [False, False, False, True]


def test_filters_are_as_wide_as_what_is_at_stake(tiny_network) -> None:
    """Khachapuri counts up to 15 checkers (KHA-4): five times 3 points, so five times as wide."""
    evaluator = Evaluator.load(tiny_network("khachapuri"))
    boards, dice = played(evaluator.variant, 30, 10)
    after = batch.afterstates(evaluator.variant, boards, dice)
    static = evaluator.plays(boards, after).equity
    narrow = 0
    found = Search(evaluator, 1, filters=[Filter(100, 0.05)]).plays(boards, after)
    for first, end in itertools.pairwise(after.offsets):
        value, deep = static[first:end], found.depth[first:end] == 1
        assert deep.tolist() == (value >= value.max() - 0.25).tolist()
        narrow += (value >= value.max() - 0.05).sum() < deep.sum()
    assert narrow > 3


def test_a_filter_never_loses_a_win(tiny_network) -> None:
    """A play that wins the game is chosen and listed first, however good others look (T24)."""

    class Optimist(Evaluator):
        def _through(self, x, first):
            logits = np.zeros((len(x), self.variant.n_outcomes), dtype=np.float32)
            logits[:, 3] = 50  # after the play the other side loses by mars
            return logits

    evaluator = Optimist.load(tiny_network("long"), bearoff=False)
    position = Position(row("2:1 1:1"), row("24:15"))
    board = position.board()[None]
    after = batch.afterstates(evaluator.variant, board, [(2, 1)])
    for plies in (1, 2):
        search = Search(evaluator, plies, filters=[Filter(1, 0.0)] * plies)
        chosen = after.boards[search.choose(board, after)[0]]
        assert tuple(chosen[0]) == row("off15")
        found = search.plays(board, after)
        assert tuple(after.boards[search.order(after.boards, found)[0]][0]) == row("off15")


def test_a_lost_finish_is_the_last_resort(tiny_network) -> None:
    """In giveaway bearing off the last checker loses: anything else is played first (RV-1)."""
    evaluator = Evaluator.load(tiny_network("giveaway"))
    variant = evaluator.variant
    board = np.zeros((1, 2, variant.n_slots), np.int8)
    board[0, 0, [0, 6, 1]] = variant.setup.checkers - 2, 1, 1
    board[0, 1, variant.head_point] = variant.setup.checkers
    after = batch.afterstates(variant, board, [(6, 1)])
    finishing = batch.outcomes(variant, after.boards) >= 0
    search = Search(evaluator, 1)
    found = search.plays(board, after)
    order = search.order(after.boards, found)
    assert finishing.tolist().count(True) == 1 < len(finishing)
    assert not finishing[search.choose(board, after)[0]]
    assert finishing[order[-1]]


def test_the_glance_changes_little(tiny_network) -> None:
    """Leaving out replies by the linear estimate changes values by little, all of them by none."""
    evaluator = Evaluator.load(tiny_network("short", hidden=(32, 16)))
    boards = some_positions(evaluator.variant, 12)
    everything = Search(evaluator, 1, glance=None).positions(boards) @ evaluator.points
    many = Search(evaluator, 1, glance=Glance(5000, 5000)).positions(boards) @ evaluator.points
    np.testing.assert_allclose(many, everything, atol=1e-6)
    few = Search(evaluator, 1, glance=GLANCE).positions(boards) @ evaluator.points
    assert np.abs(few - everything).mean() < 0.01
    # A better reply can only be missed, which makes the position better for the side before.
    assert (few <= everything + 1e-6).all()


@pytest.mark.parametrize("game", ["short", "long", "even_odd", "khachapuri"])
def test_the_linear_estimate_is_the_tangent(tiny_network, game) -> None:
    """The gradient is that of the equity, and an estimate the sum of what a play changes."""
    evaluator = Evaluator.load(tiny_network(game), bearoff=False)
    encoder, points = evaluator.network.encoder, evaluator.points
    boards, dice = played(evaluator.variant, 8, 15)
    passed = batch.swapped(boards)
    tangents = evaluator.tangents(passed)
    gradients = tangents.features
    features, step = encoder.encode(passed), np.float32(1e-2)
    possible = batch.outcome_mask(evaluator.variant, passed)

    def equity(x):
        return outcomes.masked_softmax(evaluator.logits(x), possible) @ points

    rng = np.random.default_rng(4)
    for column in rng.integers(encoder.width, size=12):
        moved = np.zeros_like(features)
        moved[:, column] = step
        slope = (equity(features + moved) - equity(features - moved)) / (2 * step)
        assert np.median(np.abs(slope - gradients[:, column])) < 1e-3
    weight, bias = evaluator.network.layers[0]
    active = features @ weight.T + bias > 0
    np.testing.assert_allclose((tangents.hidden * active) @ weight, gradients, atol=1e-5)
    after = batch.afterstates(evaluator.variant, boards, dice)
    estimates = encoder.estimates(after.boards, after.offsets, gradients)
    for first, end, gradient in zip(after.offsets[:-1], after.offsets[1:], gradients, strict=True):
        exact = -encoder.encode(after.boards[first:end], swap=True) @ gradient
        np.testing.assert_allclose(
            estimates[first:end] - estimates[first], exact - exact[0], atol=1e-4
        )


@pytest.mark.parametrize("game", ["short", "gulbar", "mad_gulbar"])
def test_results_do_not_depend_on_batch_or_threads(tiny_network, game) -> None:
    """A decision has the same value alone, among others and in any thread (T34)."""
    evaluator = Evaluator.load(tiny_network(game))
    boards, dice = played(evaluator.variant, 24, 15)
    after = batch.afterstates(evaluator.variant, boards, dice)
    search = Search(evaluator, 1)
    found = search.plays(boards, after)

    def alone(game):
        rows = slice(after.offsets[game], after.offsets[game + 1])
        own = batch.Afterstates(after.boards[rows], after.offsets[game : game + 2] - rows.start)
        return search.plays(boards[game : game + 1], own).equity

    with ThreadPoolExecutor(4) as pool:
        parts = np.concatenate(list(pool.map(alone, range(len(boards)))))
        again = list(pool.map(lambda _: search.plays(boards, after).equity, range(3)))
    np.testing.assert_allclose(parts, found.equity, atol=2e-6)
    for equity in again:
        np.testing.assert_array_equal(equity, found.equity)


def test_settings_that_make_no_search_are_refused(tiny_network) -> None:
    """Depths and filters that contradict each other are one sentence."""
    evaluator = Evaluator.load(tiny_network("long"))
    with pytest.raises(ValueError, match="plies is 9; it must be from 0 to 4"):
        Search(evaluator, 9)
    with pytest.raises(ValueError, match="a search of 2 plies has 2 filters, not 1"):
        Search(evaluator, 2, filters=[EVERYTHING])
    with pytest.raises(ValueError, match="at least one play"):
        Search(evaluator, 1, filters=[Filter(0, 1.0)])
    with pytest.raises(ValueError, match="static values, which all plays have"):
        Search(evaluator, 2, filters=[None, EVERYTHING])
    for glance in (Glance(0, 0), Glance(0, 4), Glance(4, 0)):
        with pytest.raises(ValueError, match="at least one reply"):
            Search(evaluator, 1, glance=glance)


@pytest.mark.parametrize("ask", [
    lambda evaluator, boards: evaluator.probs(boards),
    lambda evaluator, boards: evaluator.plays(boards, batch.afterstates(
        evaluator.variant, np.zeros((1, 2, 26), np.int8), [(2, 1)]
    )),
    lambda evaluator, boards: Search(evaluator, 1).positions(boards),
    lambda evaluator, boards: rollout(evaluator, boards, RolloutSettings(trials=2)),
])  # fmt: skip
def test_boards_that_are_none_are_refused(tiny_network, ask) -> None:
    """T57: numbers that do not fit into a byte, and a board that is no list of boards."""
    evaluator = Evaluator.load(tiny_network("long"))
    board = evaluator.variant.start_position().board()
    with pytest.raises(ValueError, match="boards"):
        ask(evaluator, board[None].astype(np.int64) + 256)
    with pytest.raises(ValueError, match=r"boards must be \[B, 2, 26\]"):
        ask(evaluator, board)


def test_the_opening_is_searched_once(tiny_network, monkeypatch) -> None:
    """S-2: copies of the start position have one value, that of the throw without doubles."""
    evaluator = Evaluator.load(tiny_network("short"))
    start = evaluator.variant.start_position().board()
    boards, _ = played(evaluator.variant, 3, 12)
    search, rolled = Search(evaluator, 1), []
    before = search._rolled

    def counted(some, plies, rolls):
        rolled.append(len(some))
        return before(some, plies, rolls)

    monkeypatch.setattr(search, "_rolled", counted)
    found = search.positions(np.stack([start, boards[0], start, boards[1], start]))
    assert sorted(rolled) == [1, 2]
    alone = Search(evaluator, 1)
    for copy in (0, 2, 4):
        np.testing.assert_allclose(found[copy], alone.positions(start[None])[0], atol=1e-6)
    np.testing.assert_allclose(found[[1, 3]], alone.positions(boards[:2]), atol=1e-6)
    with pytest.raises(ValueError, match="at least one play that leaves dice owed"):
        Search(evaluator, 0, play_out=PlayOut(8, 0, 3))


# -- estimates of replies --------------------------------------------------------------------------


def test_the_best_estimates_of_decisions() -> None:
    """The highest estimate among plays without an exact value; the first of equal ones."""
    index = np.array([0, 1, 2, 2, 3, 4, 5, 6])
    offsets = np.array([0, 3, 5, 6, 8])
    codes = np.array([-1, -1, kernel.TABLE, -1, 3, -1, -1], np.int8)
    estimates = np.array([0.5, 0.5, 9.0, -1.0, 7.0, -2.0, -1.5], np.float32)
    found = np.empty(4, np.int64)
    kernel.best_estimates(index, offsets, codes, estimates, found)
    assert found.tolist() == [0, 3, -1, 6]


@pytest.mark.parametrize("game", ["short", "hypergammon"])
def test_tangents_are_means_over_replies(tiny_network, game) -> None:
    """Of each position: the tangent before the play and those at the best replies to five rolls."""
    evaluator = Evaluator.load(tiny_network(game))
    variant, likely = evaluator.variant, LikelyReplies(evaluator, GLANCE, FLAT)
    boards = np.concatenate([played(variant, 12, turns)[0] for turns in (6, 10, 14)])
    rolls = Rolls.of(variant)
    sampled = rolls.dice[::TANGENT_ROLLS]
    assert sampled.tolist() == [[1, 1], [3, 3], [5, 1], [6, 1], [6, 6]]
    repeated = np.repeat(boards, len(rolls.dice), axis=0)
    after = batch.afterstates(variant, repeated, np.tile(rolls.dice, (len(boards), 1)))
    codes = np.empty(len(after.boards), np.int8)
    kernel.fill_codes(after.boards, 1, 1, rule_table(variant), codes)
    groups = batch.Afterstates(after.boards, after.offsets[:: len(rolls.dice)])
    plays = Plays(groups, np.arange(len(after.boards)), after.offsets)
    found = likely.tangents(boards, plays, codes)
    exact = 0
    for board, features, hidden in zip(boards, *found, strict=True):
        before = evaluator.tangents(batch.swapped(board[None]))
        all_of_them = [before]
        for dice in sampled:
            ends = batch.afterstates(variant, board[None], dice[None]).boards
            own = np.empty(len(ends), np.int8)
            kernel.fill_codes(ends, 1, 1, rule_table(variant), own)
            ends = ends[own == kernel.NETWORK]
            exact += not len(ends)
            if len(ends):
                value = -evaluator.network.encoder.encode(ends, swap=True) @ before.features[0]
                following, _ = batch.next_states(variant, ends[value.argmax()][None])
                all_of_them.append(evaluator.tangents(following))
        np.testing.assert_allclose(
            features, np.mean([t.features[0] for t in all_of_them], axis=0), atol=1e-5
        )
        np.testing.assert_allclose(
            hidden, np.mean([t.hidden[0] for t in all_of_them], axis=0), atol=1e-5
        )
    assert exact or game == "short"


def test_estimates_that_say_nothing_leave_nothing_out(monkeypatch) -> None:
    """Where nearly every reply loses all for certain, a hit that saves the game is found.

    The side to roll has two checkers on its way round and two on the last point but one of the
    other side's last checker; a shipped network missed 2 points of a roll here.
    """
    evaluator = Evaluator.load("short")
    mine = {1: 2, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2, 9: 1, 14: 1, 15: 1, 24: 1}
    board = np.zeros((1, 2, 26), np.int8)
    for point, checkers in mine.items():
        board[0, 0, point] = checkers
    board[0, 1, [0, 2]] = 14, 1
    everything = Search(evaluator, 1, glance=None).positions(board) @ evaluator.points
    usual = Search(evaluator, 1).positions(board) @ evaluator.points
    np.testing.assert_allclose(usual, everything, atol=0.01)
    monkeypatch.setattr(LikelyReplies, "_all_where_flat", lambda self, after, codes, _: codes)
    unaided = Search(evaluator, 1).positions(board) @ evaluator.points
    assert (everything - unaided)[0] > 0.1
