"""gnubg as an opponent, with a worker program that only pretends to be gnubg."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from fake_gnubg import SHORT, SLOTS, FakeProgram, LastPlay
from nardy_engine import batch
from nardy_engine.errors import NardyError
from nardy_rl.arena import match
from nardy_rl.bench.engine import random_positions
from nardy_rl.bench.environments import InstallError
from nardy_rl.bench.gnubg import LINE, GnubgBot, make_player
from nardy_rl.players import make_bot

SCRIPTS = Path(__file__).parents[2] / "scripts"


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
    """Both forms of gnubg stand beside all other bots; nonsense is refused in words."""
    asked = []

    def worker(spec):
        asked.append(spec)
        return FakeProgram()

    assert make_player("gnubg:2", SHORT, worker).name == "gnubg:2"
    assert make_player("gnubg-debian:1", SHORT, worker).ply == 1
    assert make_player("pubeval", SHORT, worker).name == "pubeval"
    with pytest.raises(NardyError, match="gnubg:0"):
        make_player("gnubg:x", SHORT, worker)
    assert asked == ["gnubg:2", "gnubg-debian:1"]


@pytest.mark.parametrize(
    ("text", "mine", "theirs"),
    [
        ("24/18*/13*", {13: 1, 25: 1}, {5: 1, 25: 2}),
        ("bar/20* 24/20", {20: 2}, {7: 1, 12: 1, 25: 1}),
        ("bar/20*/13*", {13: 1, 24: 1}, {7: 1, 25: 2}),
        ("24/off(1)", {0: 1, 25: 1}, {7: 1, 12: 1, 5: 1}),
        ("", {24: 1, 25: 1}, {7: 1, 12: 1, 5: 1}),
    ],
)
def test_plays_are_read_as_gnubg_writes_them(text, mine, theirs, monkeypatch):
    """A blot is hit on the way too: the opponent's 7, 12 and 5 are the mover's 18, 13 and 20."""
    monkeypatch.syspath_prepend(str(SCRIPTS / "peers"))
    from gnubg_socket import played

    def row(counts):
        return [counts.get(slot, 0) for slot in range(SLOTS)]

    before = bytes(row({24: 1, 25: 1})), bytes(row({7: 1, 12: 1, 5: 1}))
    assert played(*before, text) == (row(mine), row(theirs))


@pytest.mark.oracle
def test_both_forms_of_gnubg_choose_the_same_plays():
    """Nearly: their networks differ a little. Installs both at the first use."""
    strength = runpy.run_path(str(SCRIPTS / "strength.py"))
    boards, dice = random_positions(SHORT, 300, seed=9)
    ends = []
    for spec in ("gnubg:0", "gnubg-debian:0"):
        try:
            bot = make_player(spec, SHORT, strength["gnubg_worker"])
        except InstallError as error:
            pytest.skip(str(error))
        ends.append(bot.ends(boards, dice))
        after = batch.afterstates(SHORT, boards, dice)
        for i in range(len(boards)):
            assert (after.of(i) == ends[-1][i]).all(axis=(1, 2)).any()
    assert (ends[0] == ends[1]).all(axis=(1, 2)).mean() > 0.95
