"""The bots, one decision at a time; positions are written in the notation of the rules."""

import sys
from pathlib import Path

import numpy as np
import pytest

from nardy_engine import batch, load_variant
from nardy_engine.errors import NardyError
from nardy_rl import players
from nardy_rl.evaluator import Evaluator
from nardy_rl.players import Turn, bot_names, choose_best, make_bot
from nardy_rl.players.external import ExternalBot
from nardy_rl.players.features import FEATURES, features
from nardy_rl.players.net import NetBot
from nardy_rl.players.positional import PositionalBot
from nardy_rl.players.pubeval import PubevalBot, is_race
from positions import case, row

WEIGHTS = Path(players.__file__).parent / "data" / "pubeval_weights.txt"


def turn(variant, *literals, uniform=0.0):
    """Return the decisions of literal cases as one Turn."""
    cases = [case(literal, variant.setup.checkers) for literal in literals]
    boards = np.stack([position.board() for position, _ in cases])
    dice = np.array([roll for _, roll in cases], dtype=np.int8)
    after = batch.afterstates(variant, boards, dice)
    return Turn(variant, boards, dice, after, np.full(len(cases), uniform))


def chosen(bot, request):
    """Return the mover's rows that the bot's choices lead to."""
    return [tuple(request.after.boards[i, 0].tolist()) for i in bot.choose(request)]


def ragged(*rows):
    """Return afterstates of one game with the given mover's rows."""
    other = row("24:15")
    boards = np.array([(mine, other) for mine in rows], dtype=np.int8)
    return batch.Afterstates(boards, np.array([0, len(rows)]))


# -- choosing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_ties_go_to_the_play_with_most_checkers_off_in_any_order(order):
    """T31: equal values do not make the bot bear off slowly, however the plays are listed."""
    rows = [row("2:3 1:1"), row("2:2 1:1"), row("2:2 1:2")]
    after = ragged(*(rows[i] for i in order))
    choice = choose_best(load_variant("long"), after, np.zeros(3))
    assert tuple(after.boards[choice[0], 0]) == rows[1]


def test_values_within_a_millionth_are_ties_and_others_are_not():
    """T31: a difference of rounding does not decide, a real one does."""
    long = load_variant("long")
    after = ragged(row("2:3"), row("2:2"))
    assert choose_best(long, after, np.array([5e-7, 0.0]))[0] == 1
    assert choose_best(long, after, np.array([5e-6, 0.0]))[0] == 0


def test_a_tie_is_settled_in_the_game_where_it_occurs():
    """Choices of one game of the batch do not depend on the values of another."""
    long = load_variant("long")
    one = ragged(row("2:3"), row("2:2"))
    boards = np.concatenate((one.boards, one.boards[::-1]))
    after = batch.Afterstates(boards, np.array([0, 2, 4]))
    assert choose_best(long, after, np.array([1.0, 1.0, 1.0, 0.0])).tolist() == [1, 2]


def test_a_winning_finish_beats_any_estimate():
    """T24: an over-optimistic value cannot outbid a won game."""
    after = ragged(row("1:1"), row("", checkers=15))
    assert choose_best(load_variant("long"), after, np.array([1e30, -1e30]))[0] == 1


def test_a_finish_that_loses_comes_last():
    """T24: where the first side without checkers loses, finishing is never preferred."""
    giveaway = load_variant("long", {"objective": "first_off_loses"})
    after = ragged(row("1:1"), row("", checkers=15))
    assert choose_best(giveaway, after, np.array([-1e30, 1e30]))[0] == 0


@pytest.mark.parametrize("game", ["long", "short", "nackgammon", "long-fnr"])
@pytest.mark.parametrize("side", ["W", "B"])
def test_every_bot_but_random_takes_a_win_in_one_for_either_colour(game, side):
    """T12: the side to act is the one that wins."""
    variant = load_variant(game)
    request = turn(variant, f"W{{1:1 off14}}|B{{2:1 off14}}; {side} 6-1")
    for name in bot_names(variant)[1:]:
        assert chosen(make_bot(name, variant), request) == [row("")], name


def test_a_network_takes_a_win_in_one_and_is_not_asked_about_it(tiny_network):
    """T12, T24: a finished game has an exact value and costs no network call."""

    class Counting(Evaluator):
        rows = 0

        def _through(self, x, first):
            Counting.rows += len(x)
            return super()._through(x, first)

    short = load_variant("short")
    counting = Counting(Evaluator.load(tiny_network("short"), short).network)
    request = turn(short, "W{1:2 off13}|B{2:1 off14}; W 6-1")
    assert chosen(NetBot(counting, "net"), request) == [row("")]
    assert Counting.rows == 0


def test_a_network_plays_the_afterstate_that_is_worst_for_the_opponent(tiny_network):
    """The value of a play is minus what the side to roll next may expect."""
    short = load_variant("short")
    path = tiny_network("short")
    request = turn(short, "W{24:1 13:5 8:3 6:5 10:1}|B{24:2 13:5 8:4 6:4}; W 3-1")
    evaluator = Evaluator.load(path, short)
    values = [
        evaluator.before_roll(_position(board[::-1])).equity for board in request.after.boards
    ]
    assert NetBot(evaluator, "net").choose(request)[0] == int(np.argmin(values))


def _position(board):
    from nardy_engine import Position

    return Position.from_board(board)


# -- random and race --------------------------------------------------------------------------


def test_random_maps_its_number_evenly_to_the_plays():
    """Each play is chosen by an equal share of [0, 1)."""
    long = load_variant("long")
    n = len(turn(long, "W{24:13 18:1 15:1}|B{24:15}; W 2-1").after.boards)
    choices = [
        make_bot("random", long).choose(
            turn(long, "W{24:13 18:1 15:1}|B{24:15}; W 2-1", uniform=(k + 0.5) / n)
        )[0]
        for k in range(n)
    ]
    assert choices == list(range(n))
    assert n > 2


@pytest.mark.parametrize(
    ("literal", "end"),
    [
        ("W{6:1 2:1 1:1 off12}|B{1:1 off14}; W 2-1", "6:1 off14"),  # two off before two pips
        ("W{24:1 13:1 10:1 off12}|B{24:15}; W 6-5", "13:2 10:1 off12"),  # the rearmost runs
    ],
)
def test_race_bears_off_first_and_then_moves_the_rearmost(literal, end):
    """The race bot takes most checkers off, then the fewest pips, then the stragglers."""
    long = load_variant("long")
    assert chosen(make_bot("race", long), turn(long, literal)) == [row(end)]


# -- pubeval ----------------------------------------------------------------------------------


def direct_score(mover, opponent, race):
    """Score a position as the published description says, one input after the other."""
    lines = [line for line in WEIGHTS.read_text().splitlines() if not line.startswith("#")]
    contact_text, race_text = "".join(lines).split("---")
    weights = [float(w) for w in (race_text if race else contact_text).split(",")]
    inputs = []
    for point in range(24, 0, -1):
        n = mover[point] - opponent[25 - point]
        inputs += [n == -1, n == 1, n >= 2, n == 3, (n - 3) / 2 if n >= 4 else 0]
    inputs += [opponent[25] / 2, mover[0] / 15]
    return sum(w * x for w, x in zip(weights, inputs, strict=True))


def played_turns(variant, plies):
    """Return the turns of 50 randomly played games."""
    games = batch.Games(variant, 50, seed=3)
    for _ in range(plies):
        dice = games.roll()
        after = games.afterstates()
        yield Turn(variant, games.boards.copy(), dice.copy(), after, games.uniforms())
        games.play(after.offsets[:-1] + (games.uniforms() * after.counts()).astype(np.int64))
        if (games.over >= 0).any():
            return


def test_pubeval_scores_as_published():
    """The tables add up to the 122 published inputs times weights, contact and race (T29)."""
    short = load_variant("short")
    bot = PubevalBot(short)
    requests = [
        *played_turns(short, 40),
        turn(
            short,
            "W{bar:2 6:5 5:4 3:3 1:1}|B{bar:1 21:2 6:5 4:4 2:3}; W 6-1",
            "W{6:5 5:4 4:2 2:1 off3}|B{6:5 4:4 2:3 off3}; W 6-1",
        ),
    ]
    races = 0
    for request in requests:
        race = is_race(short, request.boards)
        races += int(race.sum())
        scores = bot.scores(request)
        for game in range(len(request.boards)):
            first = request.after.offsets[game]
            for i, (mover, opponent) in enumerate(request.after.of(game)[:5].tolist()):
                expected = direct_score(mover, opponent, race[game])
                assert scores[first + i] == pytest.approx(expected, abs=1e-4)
    assert races > 0


def test_a_hit_does_not_change_the_borne_off_input():
    """T29: a checker on the bar is not a checker off."""
    short = load_variant("short")
    table = PubevalBot(short)._tables
    assert not table[:, 0, short.bar].any()
    assert table[:, 0, 0].any()


@pytest.mark.parametrize(
    ("mine", "theirs", "race"),
    [
        ("12:1 off14", "5:1 23:1 off13", False),
        ("20:1 2:1 off13", "13:1 off14", False),
        ("12:1 off14", "12:1 off14", True),
        ("13:1 off14", "12:1 off14", False),
        ("6:1 off14", "bar:1 off14", False),
        ("bar:1 off14", "1:1 off14", False),
    ],
)
def test_a_race_is_decided_by_the_rearmost_checkers(mine, theirs, race):
    """T27: contact ends when the last checkers have passed each other, the bar included."""
    board = np.array([(row(mine), row(theirs))], dtype=np.int8)
    assert is_race(load_variant("short"), board)[0] == race


def test_race_runs_backwards_where_the_first_to_finish_loses():
    """POD-2: nothing is borne off that could move instead, and the rearmost checker stays back."""
    giveaway = load_variant("giveaway")
    request = turn(giveaway, "W{6:1 2:1 1:1 off12}|B{1:1 off14}; W 2-1")
    assert chosen(make_bot("race", giveaway), request) == [row("4:1 1:2 off12")]


# -- positional -------------------------------------------------------------------------------


def feature_values(mover, opponent, checkers=15):
    """Return the features of one long-nardy afterstate by name."""
    board = np.array([(row(mover, checkers), row(opponent, checkers))], dtype=np.int8)
    return dict(zip(FEATURES, features(load_variant("long"), board)[0].tolist(), strict=True))


def test_features_count_what_their_names_say():
    """Each feature of a position that holds some of everything, counted by hand."""
    # Opponent's route in my numbers: 12 (his head) 11 10 ... 1 24 ... 13.
    values = feature_values("24:4 22:3 11:1 10:2 9:2 8:1 5:1 2:1", "24:12 20:1 3:2")
    expected = {
        "spread": 6,  # 24 22 11 10 9 8
        "home_spread": 2,  # 5 2
        "stack": 1,  # one above two on 22; the head is no stack
        "head": 4 / 15,
        "own_front": 1 * 4 / 15,  # 22
        "their_front": 4 * 12 / 15,  # 11 10 9 8 of his 23..19
        "quarters": 2 + 0 + 2,  # 24..19, 18..13, 12..7, two count at most
        "pips": (96 + 66 + 11 + 20 + 18 + 8 + 5 + 2) / 15 / 24,
        "off": 0,
        "lag": (4 * 576 + 3 * 484 + 121 + 200 + 162 + 64 + 25 + 4) / 15 / 576,
        "block3": 2 * 12 / 15,  # 11-10-9 and 10-9-8, twelve behind
        "block4": 12 / 15,
        "block5": 0,
        "block6": 0,
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-5)


def test_runs_follow_the_opponents_route():
    """G-4: my 13 and 12 are not neighbours for the opponent, my 1 and 24 are."""
    apart = feature_values("14:1 13:1 12:1 11:1 6:11", "24:0 9:15")
    joined = feature_values("2:1 1:1 24:1 23:12", "24:15")
    assert apart["block3"] == 0
    assert joined["block4"] == pytest.approx(1)


def test_a_finished_opponent_is_not_behind_a_block():
    """Checkers borne off are past every block."""
    assert feature_values("18:1 17:1 16:1 1:12", "5:1 off14")["block3"] == pytest.approx(1 / 15)


def test_an_unknown_feature_is_refused_with_the_nearest_name():
    """A misspelt weight is an error, not a feature that never counts."""
    with pytest.raises(NardyError, match=r"unknown feature 'sprad'.*'spread'"):
        PositionalBot("mine", {"sprad": 1.0})


# -- names ------------------------------------------------------------------------------------


def test_bots_are_listed_by_the_games_that_they_play():
    """Each game offers the bots that know it."""
    names = {game: bot_names(load_variant(game)) for game in ("long", "long-fnr", "short")}
    assert names["long"] == ("random", "race", "positional-long")
    assert names["long-fnr"] == ("random", "race", "positional-long-fnr")
    assert names["short"] == ("random", "race", "pubeval", "positional-short")
    assert "pubeval" in bot_names(load_variant("hypergammon"))


@pytest.mark.parametrize(
    ("spec", "game", "sentence"),
    [
        ("rcae", "long", "unknown bot 'rcae'; did you mean 'race'?"),
        ("", "long", "unknown bot ''"),
        ("pubeval", "long", "plays short nardy and its relatives, not long"),
        ("positional-long", "short", "plays long and its relatives, not short"),
        ("exec:", "short", "needs a command"),
        ("exec:'", "short", "cannot read the command"),
        ("net:/no/such/file", "short", "/no/such/file"),
    ],
)
def test_a_bot_that_cannot_play_is_one_sentence(spec, game, sentence):
    """Unknown and unfit bots are refused in words that name what would be right."""
    with pytest.raises(NardyError) as caught:
        make_bot(spec, load_variant(game))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


# -- external programs ------------------------------------------------------------------------

FIRST_PLAY = """
import json, sys
from nardy_engine import Position, load_variant, reference
def row(side):
    cells = [0] * 26
    for point, count in side["points"].items():
        cells[int(point)] = count
    cells[25], cells[0] = side["bar"], side["off"]
    return tuple(cells)
def side(row):
    return {"points": {str(p): row[p] for p in range(1, 25)}, "bar": row[25], "off": row[0]}
for line in sys.stdin:
    asked = json.loads(line)
    position = Position(row(asked["me"]), row(asked["opp"]))
    plays = reference.plays(load_variant(asked["variant"]), position, tuple(asked["dice"]))
    mine, theirs = plays[-1].end
    print(json.dumps({"me": side(mine), "opp": side(theirs)}), flush=True)
"""


def test_a_program_plays_over_pipes(tmp_path):
    """The documented protocol is enough to play: positions and dice out, positions back."""
    program = tmp_path / "bot.py"
    program.write_text(FIRST_PLAY)
    short = load_variant("short")
    from nardy_engine import reference

    literals = ["W{24:2 13:5 8:3 6:5}|B{24:2 13:5 8:3 6:5}; W 3-1", "W{1:2}|B{2:1}; W 6-6"]
    request = turn(short, *literals)
    bot = ExternalBot([sys.executable, str(program)], "mine")
    expected = [reference.plays(short, *case(literal))[-1].end.mover for literal in literals]
    assert chosen(bot, request) == expected


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("", "stopped after 0 of 1 answers"),
        ("input(); print('hello', flush=True)", "answered 'hello', which is no position"),
        ("input(); print('[1]', flush=True)", "answered '[1]', which is no position"),
        ("input(); print('[' * 200000, flush=True)", "which is no position"),
        (
            "import os; input(); os.write(1, bytes([255, 254, 10]))",
            "which is no position",
        ),
        (
            'print(input().replace(\'"24":2\', \'"24":1,"2":1\'), flush=True); input()',
            "not the end of a legal play",
        ),
    ],
)
def test_a_program_that_misbehaves_is_named_in_one_sentence(code, sentence):
    """A dead, babbling or cheating program ends the match in words."""
    short = load_variant("short")
    request = turn(short, "W{24:2 13:5 8:3 6:5}|B{24:2 13:5 8:3 6:5}; W 3-1")
    with pytest.raises(NardyError, match=r"the bot 'mine'") as caught:
        ExternalBot([sys.executable, "-c", code], "mine").choose(request)
    assert sentence in str(caught.value)


def test_a_program_that_does_not_exist_is_refused():
    """A mistyped command is one sentence."""
    short = load_variant("short")
    with pytest.raises(NardyError, match="cannot start the bot"):
        make_bot("exec:/no/such/program", short).choose(
            turn(short, "W{24:2 13:5 8:3 6:5}|B{24:2 13:5 8:3 6:5}; W 3-1")
        )
