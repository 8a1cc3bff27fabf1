"""Self-play told against the reference engine, move by move (faults T09, T11, T12, T24, T60)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from learning import play_until, random_net, random_positions, thermometer
from nardy_engine import Position, batch, load_variant, reference
from nardy_engine.dice import roll
from nardy_engine.kernels.scoring import all_possible, ends_by_checkers
from nardy_engine.kernels.softmax import exp_below
from nardy_engine.rules import rule_table, variant_names
from nardy_engine.rules.components import Score
from nardy_rl import outcomes
from nardy_rl.nets import FrozenNet, ValueNet
from nardy_rl.selfplay import SelfPlay, Worker

CPU = torch.device("cpu")
GAMES = ["long", "short", "hypergammon"]
WITH_SEGMENTS = [*GAMES, "giul"]
"""`giul` has all that learning must look out for: owed dice, a side that acts twice, a draw."""
SEED = 11


def exact_net(variant) -> ValueNet:
    """Return a network of small dyadic weights: float32 sums are exact in every order."""
    net = random_net(variant, hidden=(16,))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_((16 * parameter).round() / 16)
    return net


def frozen(net: ValueNet) -> FrozenNet:
    return FrozenNet(net, torch.float32, CPU)


def make_worker(variant, n_games=1, max_plies=400, number=0, n_workers=1, **more) -> Worker:
    return Worker(
        variant, thermometer(variant), n_games, max_plies, SEED, number, n_workers, **more
    )


def probabilities(variant, net: ValueNet, boards: np.ndarray) -> np.ndarray:
    """Return `[N, O]` what the network thinks of positions before the roll, by torch."""
    with torch.no_grad():
        logits = net(torch.from_numpy(thermometer(variant).encode(boards))).numpy()
    return outcomes.masked_softmax(logits, batch.outcome_mask(variant, boards))


def whole_games(variant, boards: np.ndarray) -> list[slice]:
    """Return the rows of each game; every game begins with both sides at the start."""
    start = variant.start_position().board()
    begins = np.flatnonzero((boards == start).all(axis=(1, 2)))
    assert begins[0] == 0
    ends = [*begins[1:].tolist(), len(boards)]
    return [slice(a, b) for a, b in zip(begins.tolist(), ends, strict=True)]


def sides_to_act(variant, path: np.ndarray, number: int) -> list[int]:
    """Return who acts at each position `[T, 2, P]` of game `number`, by the reference."""
    sides = [0]
    for t, (board, following) in enumerate(pairwise(path)):
        dice = roll(variant, SEED, number, t)
        plays = reference.plays(variant, Position.from_board(board), dice)
        same = dict(reference.next_position(variant, play.end) for play in plays)
        sides.append(sides[-1] ^ (not same[Position.from_board(following)]))
    return sides


# -- what is played -------------------------------------------------------------------------------


@pytest.mark.parametrize("game", WITH_SEGMENTS)
def test_every_transition_is_legal(game: str) -> None:
    """T11, T-9: each next position and side follows from a play that the reference lists."""
    variant = load_variant(game)
    worker = make_worker(variant, n_games=3)
    play_until(worker, frozen(exact_net(variant)), 0.5, rows=1)
    tracks, checked = worker.tracks, 0
    for g in range(3):
        turns = int(tracks.turns[g])
        path = [*tracks.path_boards[g, :turns], tracks.boards[g]]
        sides = [*tracks.path_sides[g, :turns].tolist(), int(tracks.sides[g])]
        assert sides[0] == 0
        for t in range(turns):
            dice = roll(variant, SEED, int(tracks.ids[g]), t)
            plays = reference.plays(variant, Position.from_board(path[t]), dice)
            following = {reference.next_position(variant, play.end) for play in plays}
            same = sides[t + 1] == sides[t]
            assert (Position.from_board(path[t + 1]), same) in following
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("game", WITH_SEGMENTS)
def test_the_best_play_is_chosen(game: str) -> None:
    """T12, T24: the chosen end has the highest equity for its mover, a finished game its points."""
    variant = load_variant(game)
    net = exact_net(variant)
    points = outcomes.points_vector(variant)
    worker = make_worker(variant)
    boards, _, _ = play_until(worker, frozen(net), 0.5, rows=1)
    for t in range(len(boards) - 1):
        after = batch.afterstates(variant, boards[t][None], [roll(variant, SEED, 0, t)]).boards
        following, same = batch.next_states(variant, after)
        equities = outcomes.equity(probabilities(variant, net, following), points)
        equities = np.where(same, equities, -equities)
        assert (batch.outcomes(variant, after) < 0).all(), "a win was not taken"
        chosen = np.flatnonzero((following == boards[t + 1]).all(axis=(1, 2)))
        assert equities[chosen[0]] >= equities.max() - 2e-6


@pytest.mark.parametrize("game", WITH_SEGMENTS)
def test_targets_at_lambda_one_are_the_results(game: str) -> None:
    """T01, T09: each target is the reference's outcome of the game, from the side to roll."""
    variant = load_variant(game)
    worker = make_worker(variant)
    boards, targets, stats = play_until(
        worker, frozen(exact_net(variant)), 1.0, rows=400, turns=100
    )
    kinds, first_wins = len(variant.win_kinds), 0
    counts = np.zeros(variant.n_outcomes, np.int64)
    rows = whole_games(variant, boards)
    assert len(rows) == stats.games >= 3
    for number, part in enumerate(rows):
        n = part.stop - part.start
        last = Position.from_board(boards[part.stop - 1])
        ends = reference.plays(variant, last, roll(variant, SEED, number, n - 1))
        outcome = reference.outcome(variant, ends[0].end)
        assert outcome is not None
        sides = sides_to_act(variant, boards[part], number)
        if outcome.draw:
            seen = [2 * kinds] * n
        else:
            assert outcome.won
            seen = [outcome.kind + kinds * (side != sides[-1]) for side in sides]
        assert targets[part].argmax(axis=1).tolist() == seen
        assert targets[part].sum() == n == targets[part].max(axis=1).sum()
        counts[seen[0]] += 1
        first_wins += seen[0] < kinds
    assert stats.outcomes.tolist() == counts.tolist()
    assert stats.first_player_wins == first_wins
    assert (stats.plies, stats.truncated) == (len(boards), 0)


@pytest.mark.parametrize("game", ["long", "short", "giul"])
def test_targets_at_lambda_zero_are_the_next_values(game: str) -> None:
    """T11: with lambda 0 a target is what the frozen net thinks of the next position, turned."""
    variant = load_variant(game)
    net = exact_net(variant)
    boards, targets, _ = play_until(make_worker(variant), frozen(net), 0.0, rows=1)
    after = probabilities(variant, net, boards[1:])
    sides = np.array(sides_to_act(variant, boards, 0))
    turned = (sides[1:] != sides[:-1])[:, None]
    assert turned.all() == (not variant.memory), "the game is without a turn of two decisions"
    after = np.where(turned, outcomes.flip(after), after)
    np.testing.assert_allclose(targets[:-1], after, atol=1e-6)


def test_games_cut_off_are_estimated() -> None:
    """T09: at the limit the target is the value of the true next state, not of a new game."""
    variant = load_variant("long")
    net = exact_net(variant)
    limit = 12
    worker = make_worker(variant, max_plies=limit)
    boards, targets, stats = play_until(worker, frozen(net), 0.6, rows=5 * limit)
    assert (stats.games, stats.truncated) == (0, 5)
    assert stats.outcomes.sum() == 0
    for number, part in enumerate(whole_games(variant, boards)):
        assert part.stop - part.start == limit
        dice = roll(variant, SEED, number, limit - 1)
        after = batch.afterstates(variant, boards[part.stop - 1][None], [dice]).boards
        values = outcomes.flip(probabilities(variant, net, batch.swapped(after)))
        best = outcomes.equity(values, outcomes.points_vector(variant)).argmax()
        np.testing.assert_allclose(targets[part.stop - 1], values[best], atol=1e-6)
        np.testing.assert_allclose(targets[part].sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("game", GAMES)
def test_impossible_outcomes_have_no_probability(game: str) -> None:
    """T30: neither estimates nor targets of self-play give an impossible outcome any weight."""
    variant = load_variant(game)
    worker = make_worker(variant, n_games=8)
    net = frozen(exact_net(variant))
    zeros = 0
    for _ in range(3):
        boards, targets, _ = play_until(worker, net, 0.5, rows=300)
        impossible = ~batch.outcome_mask(variant, boards)
        zeros += impossible.sum()
        assert (targets[impossible] == 0).all()
        tracks = worker.tracks
        for g in range(8):
            n = int(tracks.turns[g])
            if n > 1:
                mask = ~batch.outcome_mask(variant, tracks.path_boards[g, 1:n])
                assert (tracks.path_probs[g, 1:n][mask] == 0).all()
    assert zeros > 0


def test_a_chunk_grows_for_one_decision_with_many_plays() -> None:
    """A decision with more ends than the chunk holds makes it larger; the games stay the same."""
    variant = load_variant("short")
    net = frozen(exact_net(variant))
    small, large = make_worker(variant, chunk_rows=2), make_worker(variant)
    played = [play_until(worker, net, 0.5, rows=1) for worker in (small, large)]
    for ours, theirs in zip(played[0][:2], played[1][:2], strict=True):
        assert np.array_equal(ours, theirs)


def test_a_chunk_stays_as_large_after_a_stop() -> None:
    """T41: its size decides where a pass over the games is cut, so a continuation has the same."""
    variant = load_variant("short")
    net = frozen(exact_net(variant))
    whole = make_worker(variant, n_games=40, chunk_rows=8)
    whole.play(net, 0.5, 300)
    assert len(whole._chooser.after) > 8
    other = make_worker(variant, n_games=40, chunk_rows=8)
    other.load_state({name: array.copy() for name, array in whole.state().items()})
    for _ in range(3):
        ours, theirs = whole.play(net, 0.5, 100), other.play(net, 0.5, 100)
        assert whole.cursor == other.cursor
        assert np.array_equal(ours[0], theirs[0])
        assert np.array_equal(ours[1], theirs[1])


# -- what it does not depend on -------------------------------------------------------------------


def play_all(variant, seed=SEED, workers=2, rounds=3, games=24, turns=4000):
    """Return the samples of some rounds."""
    play = SelfPlay(
        variant, thermometer(variant), games=games, workers=workers, max_plies=400, seed=seed
    )
    net = frozen(random_net(variant))
    try:
        result = []
        for _ in range(rounds):
            boards, targets, stats = play.play(net, 0.7, [turns // workers] * workers)
            result.append((boards.copy(), targets.copy(), stats))
        return result
    finally:
        play.close()


def test_the_same_seed_gives_the_same_samples() -> None:
    """T41, T60: two runs of two threads agree bit for bit; another seed plays other games."""
    variant = load_variant("short")
    first, second, other = play_all(variant), play_all(variant), play_all(variant, seed=12)
    for (boards, targets, stats), (boards2, targets2, stats2) in zip(first, second, strict=True):
        assert np.array_equal(boards, boards2)
        assert np.array_equal(targets, targets2)
        assert np.array_equal(stats.outcomes, stats2.outcomes)
        assert np.array_equal(stats.calibration, stats2.calibration)
    assert len(first[0][0]) > 1000
    assert not np.array_equal(first[0][0][:200], other[0][0][:200])


@pytest.mark.parametrize("game", ["long", "short"])
def test_a_game_does_not_depend_on_its_company(game: str) -> None:
    """T34: a game id is played the same alone, among others, in small chunks, by any worker."""
    variant = load_variant(game)
    net = frozen(exact_net(variant))
    settings = [
        {"n_games": 4},
        {"n_games": 40},
        {"n_games": 40, "chunk_rows": 700},
        {"n_games": 2, "n_workers": 2},
        {"n_games": 20, "n_workers": 2, "number": 1},
    ]
    paths: dict[int, list[np.ndarray]] = {}
    for how in settings:
        worker = make_worker(variant, **how)
        while worker.tracks.turns.min() < 10:
            worker.play(net, 0.5, 1)
        for g, game_id in enumerate(worker.tracks.ids.tolist()):
            if game_id < 4 and worker.tracks.turns[g] >= 10:
                paths.setdefault(game_id, []).append(worker.tracks.path_boards[g, :10].copy())
    assert sorted(paths) == [0, 1, 2, 3]
    for same in paths.values():
        assert len(same) >= 4
        for path in same[1:]:
            assert np.array_equal(path, same[0])


def test_threads_change_nothing() -> None:
    """T34, T54, T55: sums over two threads are those of the two workers one after the other."""
    variant = load_variant("short")
    net = frozen(random_net(variant))
    (boards, targets, stats), *_ = play_all(variant, rounds=1)
    parts = [
        make_worker(variant, n_games=12, number=number, n_workers=2).play(net, 0.7, 2000)
        for number in range(2)
    ]
    assert np.array_equal(boards, np.concatenate([part[0] for part in parts]))
    assert np.array_equal(targets, np.concatenate([part[1] for part in parts]))
    assert stats.games == sum(part[2].games for part in parts)
    assert np.array_equal(stats.outcomes, sum(part[2].outcomes for part in parts))
    assert np.array_equal(stats.calibration, sum(part[2].calibration for part in parts))


def test_workers_and_rounds_have_their_own_dice() -> None:
    """T60: the first ten rolls of each worker differ, so do those of the games that follow."""
    variant = load_variant("long")

    def streams() -> list[tuple]:
        rolls = []
        for number in range(3):
            worker = make_worker(variant, n_games=4, number=number, n_workers=3)
            first = worker.tracks.ids.tolist()
            play_until(worker, frozen(exact_net(variant)), 0.5, rows=400)
            ids = sorted({*first, *worker.tracks.ids.tolist()})
            assert {game % 3 for game in ids} == {number}
            assert len(ids) > 4
            rolls += [tuple(roll(variant, SEED, game, t) for t in range(10)) for game in ids]
        return rolls

    once = streams()
    assert len(set(once)) == len(once)
    assert streams() == once


@pytest.mark.parametrize("game", ["long", "short"])
def test_self_play_goes_on_where_it_stopped(game: str) -> None:
    """T41: a worker restored from its state plays on bit for bit as the one that was saved."""
    variant = load_variant(game)
    net = frozen(random_net(variant))
    worker = make_worker(variant, n_games=60, chunk_rows=900)
    play_until(worker, net, 0.7, rows=500)
    state = {name: array.copy() for name, array in worker.state().items()}
    other = make_worker(variant, n_games=60, chunk_rows=900)
    other.load_state(state)
    for _ in range(2):
        expected, got = (
            play_until(worker, net, 0.7, rows=400),
            play_until(other, net, 0.7, rows=400),
        )
        assert np.array_equal(expected[0], got[0])
        assert np.array_equal(expected[1], got[1])
        assert np.array_equal(expected[2].outcomes, got[2].outcomes)


@pytest.mark.parametrize("left_out", ["cursor", "path_probs", "ids", "next_id", "path_sides"])
def test_every_part_of_the_state_is_needed(left_out: str) -> None:
    """T41: without any one part of the state, self-play would go on differently."""
    variant = load_variant("short")
    net = frozen(random_net(variant))
    worker = make_worker(variant, n_games=60, chunk_rows=900)
    play_until(worker, net, 0.7, rows=500)
    assert 0 < worker.cursor < 60
    state = {name: array.copy() for name, array in worker.state().items()}
    state[left_out] = np.zeros_like(state[left_out])
    other = make_worker(variant, n_games=60, chunk_rows=900)
    other.load_state(state)
    rows = 6000 if left_out == "next_id" else 1500  # new ids show in the games after the next
    expected, got = (play_until(w, net, 0.7, rows, turns=1000) for w in (worker, other))
    same = expected[0].shape == got[0].shape and np.array_equal(expected[0], got[0])
    assert not (same and np.array_equal(expected[1], got[1]))


def test_a_network_that_says_nan_is_counted_in_the_first_cell() -> None:
    """T59: a diverged network writes its statistics into the table, not beside it."""
    variant = load_variant("short")
    net = random_net(variant)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(float("nan"))
    worker = make_worker(variant, n_games=20)
    boards, _, stats = play_until(worker, frozen(net), 0.5, rows=2000)
    assert stats.calibration[:, 0, 0].sum() == len(boards) - stats.games
    assert not stats.calibration[:, 1:, 0].any()


def test_exponentials_have_the_precision_of_float32() -> None:
    """The table with its short series is within two steps of float32; far down it is 0."""
    x = np.concatenate([np.linspace(-40, 0, 20_001), [-1e30, -np.inf]]).astype(np.float32)
    got = np.array([exp_below(v) for v in x])
    np.testing.assert_allclose(got[:-3], np.exp(x[:-3].astype(np.float64)), rtol=4e-7, atol=1e-17)
    assert got[-1] == got[-2] == 0
    assert exp_below(np.float32(0)) == 1
    assert np.isnan(exp_below(np.float32("nan")))


ENDS_BY_CHECKERS = [
    name for name in variant_names() if ends_by_checkers(rule_table(load_variant(name)))
]


def test_most_games_end_by_checkers_alone() -> None:
    """Those that do not are the ones that know draws."""
    with_draws = {name for name in variant_names() if load_variant(name).has_draw}
    assert set(ENDS_BY_CHECKERS) == set(variant_names()) - with_draws
    assert with_draws


@pytest.mark.parametrize("game", ENDS_BY_CHECKERS)
def test_the_quick_look_at_outcomes_agrees_with_the_close_one(game: str) -> None:
    """T30: where every outcome is said to be possible, each one is; short looks are not wrong."""
    variant = load_variant(game)
    rules = rule_table(variant)
    boards = random_positions(variant, 500, seed=4)
    quick = np.array([all_possible(*board, rules.score, rules.n_points) for board in boards])
    assert batch.outcome_mask(variant, boards)[quick].all()
    if variant.score in {Score.BACKGAMMON, Score.OIN_MARS}:
        assert quick.any()
