"""gnubg as an opponent, with a worker program that only pretends to be gnubg."""

import numpy as np
import pytest

from fake_gnubg import SHORT, SLOTS, FakeProgram, LastPlay
from nardy_engine import batch
from nardy_engine.errors import NardyError
from nardy_rl.arena import match
from nardy_rl.bench.gnubg import LINE, GnubgBot, make_player
from nardy_rl.players import make_bot


def test_answers_in_lines_of_many_positions_are_the_chosen_plays():
    """A match of the fake is the match of a bot that plays the same way; finishes included."""
    program = FakeProgram()
    pairs = LINE // 2 + 20
    result = match(GnubgBot(program, 2), make_bot("race", SHORT), SHORT, pairs, 3, workers=1)
    same = match(LastPlay(), make_bot("race", SHORT), SHORT, pairs, 3, workers=1)
    assert result.a == "gnubg:2"
    assert result.games_digest == same.games_digest
    sizes = [len(line["dice"]) // 4 for line in program.lines]
    assert max(sizes) == LINE or max(sizes) > pairs / 2
    assert max(sizes) <= LINE
    assert {line["ply"] for line in program.lines} == {2}


def test_a_finish_counts_by_its_worth():
    """T-10: all finishes of the same worth are one result, whatever the other dice did."""

    class OtherFinish(FakeProgram):
        def spoil(self, boards):
            boards = boards.copy()
            finished = batch.outcomes(SHORT, boards) == 0
            boards[finished, 1, 1:] = 0  # the loser's checkers stand elsewhere
            boards[finished, 1, 6] = SHORT.setup.checkers - boards[finished, 1, 0]
            return boards

    pairs = 20
    result = match(GnubgBot(OtherFinish()), make_bot("race", SHORT), SHORT, pairs, 3, workers=1)
    assert result.unfinished == 0


def test_an_illegal_answer_is_an_error():
    """Whatever else the worker says is no play."""

    class Wrong(FakeProgram):
        def spoil(self, boards):
            return np.zeros_like(boards)

    with pytest.raises(NardyError, match="not a legal play"):
        match(GnubgBot(Wrong()), make_bot("race", SHORT), SHORT, 2, 0, workers=1)


def test_equities_are_those_of_the_worker():
    """Positions travel in the layout of this project."""
    boards = np.repeat(batch.Games(SHORT, 1, 0).boards, LINE + 3, axis=0)
    program = FakeProgram()
    assert GnubgBot(program).equity(boards).tolist() == [167] * (LINE + 3)
    assert [len(line["boards"]) for line in program.lines] == [LINE * 4 * SLOTS, 3 * 4 * SLOTS]


def test_players_are_named_by_spec():
    """It stands beside all other bots; nonsense is refused in words."""
    assert make_player("gnubg:2", SHORT, FakeProgram()).name == "gnubg:2"
    assert make_player("pubeval", SHORT, None).name == "pubeval"
    with pytest.raises(NardyError, match="gnubg:0"):
        make_player("gnubg:x", SHORT, FakeProgram())
