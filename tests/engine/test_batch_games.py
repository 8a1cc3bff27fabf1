"""Lock-step games: the course of a game depends on its seed and id alone (T34, T54, T56)."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from learning import random_positions
from nardy_engine import Position, batch, load_variant, reference
from nardy_engine.dice import roll
from nardy_engine.rules.memory import memory_index

GAMES = ["long", "short", "hypergammon", "nackgammon"]


def random_course(variant, ids, seed=4, plies=2000):
    """Play random games to the end; return each game's boards, turn by turn, and its outcome."""
    games = batch.Games(variant, len(ids), seed, ids=np.asarray(ids, np.int64))
    courses = [[] for _ in ids]
    for _ in range(plies):
        running = games.over < 0
        if not running.any():
            return courses, games.over.copy()
        games.roll()
        after = games.afterstates()
        counts = after.counts()
        games.play(after.offsets[:-1] + (games.uniforms() * counts).astype(np.int64))
        for b in np.flatnonzero(running):
            courses[b].append((games.dice[b].tolist(), games.boards[b].tolist()))
    raise AssertionError("a game did not end")


@pytest.mark.parametrize("game", GAMES)
def test_a_game_does_not_depend_on_its_batch(game):
    """T34: game 5 is the same alone, among 7 and among 64, and in any order."""
    variant = load_variant(game)
    wide, over = random_course(variant, range(64))
    few, over_few = random_course(variant, [9, 5, 60, 1, 0, 33, 2])
    alone, over_alone = random_course(variant, [5])
    assert alone[0] == wide[5] == few[1]
    assert over_alone[0] == over[5] == over_few[1]
    assert few[2] == wide[60]
    assert len({str(course) for course in wide}) == 64


def test_random_games_replay_by_the_reference():
    """T11: dice, legal plays, sides and outcomes of whole games are those of the plain engine."""
    for game in ("long", "short"):
        variant = load_variant(game)
        courses, over = random_course(variant, [3])
        position = variant.start_position()
        for turn, (dice, board) in enumerate(courses[0]):
            assert tuple(dice) == roll(variant, 4, 3, turn)
            after = Position.from_board(board).swapped()
            assert after in {play.end for play in reference.plays(variant, position, dice)}
            position = after.swapped()
        outcome = reference.outcome(variant, position.swapped())
        mover = (len(courses[0]) - 1) % 2
        kinds = len(variant.win_kinds)
        assert outcome.won
        assert over[0] == outcome.kind + kinds * mover


@pytest.mark.parametrize(("slot", "value"), [("owed_1", 60), ("owed_5", -1), ("roller", 2)])
def test_memory_beyond_its_limits_is_refused(slot, value):
    """T59: compiled code makes as many steps as are owed, whatever room it has for them."""
    gulbar = load_variant("gulbar")
    board = gulbar.start_position().board()
    board[0, memory_index(gulbar)[slot]] = value
    with pytest.raises(ValueError, match=rf"is {value}; gulbar has 0 to"):
        batch.afterstates(gulbar, board[None], [(2, 1)])


def test_a_restart_needs_a_new_list_of_plays():
    """The plays of the game that was there before are not those of the new one."""
    games = batch.Games(load_variant("long"), n_games=2, seed=1)
    games.roll()
    after = games.afterstates()
    games.restart(np.array([0]), np.array([9]))
    with pytest.raises(ValueError, match=r"call afterstates\(\) before play\(\)"):
        games.play(after.offsets[:-1])


def test_finished_games_stand_still_until_they_are_restarted():
    """A finished game has no plays and ignores its choice; a restart deals new dice."""
    variant = load_variant("hypergammon")
    games = batch.Games(variant, 4, seed=1)
    while (games.over < 0).all():
        games.roll()
        games.play(games.afterstates().offsets[:-1])
    done = int(np.flatnonzero(games.over >= 0)[0])
    board, turns = games.boards[done].copy(), games.turns[done]
    games.roll()
    after = games.afterstates()
    assert after.counts()[done] == 0
    choice = after.offsets[:-1].copy()
    choice[done] = -1
    games.play(choice)
    assert np.array_equal(games.boards[done], board)
    assert games.turns[done] == turns
    games.restart(np.array([done]), np.array([77]))
    assert (games.over[done], games.turns[done], games.ids[done]) == (-1, 0, 77)
    assert np.array_equal(games.boards[done], variant.start_position().board())
    assert tuple(games.roll()[done].tolist()) == roll(variant, 1, 77, 0)


def test_choices_that_are_not_plays_are_refused():
    """A row of another game, or a play that was never listed, is an error, not a jump."""
    games = batch.Games(load_variant("long"), 3, seed=1)
    with pytest.raises(ValueError, match="call afterstates"):
        games.play(np.zeros(3, np.int64))
    games.roll()
    after = games.afterstates()
    for wrong in (after.offsets[1:], after.offsets[:-1] - 1):
        with pytest.raises(ValueError, match="not among the legal plays"):
            games.play(wrong)


@pytest.mark.parametrize(
    ("boards", "dice"),
    [
        (256, (3, 1)),
        (-129, (3, 1)),
        (0.5, (3, 1)),
        (0, (257, 1)),
        (0, (2.9, 1)),
        (0, (7, 1)),
        (0, (0, 1)),
    ],
)
def test_numbers_are_not_cut_or_wrapped(boards, dice):
    """T57: counts and dice that int8 would change, or that no die shows, are errors."""
    start = load_variant("long").start_position().board()[None]
    with pytest.raises(ValueError, match=r"whole numbers|from 1 to 6"):
        batch.afterstates(load_variant("long"), start + np.array(boards), np.array([dice]))


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_out_of_range_are_refused(seed):
    """A seed that the counter-based stream cannot hold is an error."""
    with pytest.raises(ValueError, match="a seed from 0"):
        batch.Games(load_variant("long"), 2, seed=seed)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_list_the_same_plays(threads):
    """T54: plays, masks and outcomes from 1, 2 and 8 threads are those of one call."""
    variant = load_variant("short")
    boards = random_positions(variant, 640, seed=8)
    dice = np.random.default_rng(8).integers(1, 7, (640, 2))
    whole = batch.afterstates(variant, boards, dice)
    parts = [slice(k, k + 40) for k in range(0, 640, 40)]

    def work(part):
        after = batch.afterstates(variant, boards[part], dice[part])
        mask = batch.outcome_mask(variant, boards[part])
        return after, batch.outcomes(variant, after.boards), mask

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, parts))
    assert np.array_equal(np.concatenate([r[0].boards for r in results]), whole.boards)
    assert np.array_equal(np.concatenate([r[0].counts() for r in results]), whole.counts())
    assert np.array_equal(
        np.concatenate([r[1] for r in results]), batch.outcomes(variant, whole.boards)
    )
    assert np.array_equal(
        np.concatenate([r[2] for r in results]), batch.outcome_mask(variant, boards)
    )


def test_more_checkers_than_an_int8_adds_up():
    """T57: sixty checkers on a point are moved, counted and scored as by plain integers."""
    variant = load_variant("short", {"setup.checkers": 60, "setup.start": {24: 30, 13: 30}})
    position = variant.start_position()
    for dice in [(6, 5), (3, 3), (1, 2)]:
        after = batch.afterstates(variant, position.board()[None], [dice]).boards
        ends = {Position.from_board(board) for board in after}
        assert ends == {play.end for play in reference.plays(variant, position, dice)}
        assert (after.astype(int).sum(axis=2) == 60).all()
    finished = np.zeros((1, 2, variant.n_slots), np.int8)
    finished[0, 0, 0] = finished[0, 1, 6] = 60
    kind = batch.outcomes(variant, finished)[0]
    assert variant.win_kinds[kind] == ("gammon", 2)


def test_arrays_handed_out_are_not_reused():
    """T23: the afterstates of one call stay when the next call lists others."""
    variant = load_variant("short")
    boards = random_positions(variant, 30, seed=9)
    first = batch.afterstates(variant, boards, [(6, 5)] * 30)
    kept = first.boards.copy()
    batch.afterstates(variant, boards, [(2, 1)] * 30)
    assert np.array_equal(first.boards, kept)
