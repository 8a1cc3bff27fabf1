"""Matches between bots whose results are known."""

import threading

import numpy as np
import pytest

from nardy_engine import load_variant
from nardy_engine.errors import NardyError
from nardy_rl.arena import match, round_robin
from nardy_rl.players import make_bot


def play(game, a, b, pairs, seed=1, **how):
    """Play a match between bots given by name or as they are."""
    variant = load_variant(game)
    bots = [make_bot(bot, variant) if isinstance(bot, str) else bot for bot in (a, b)]
    return match(*bots, variant, pairs, seed, **how)


@pytest.mark.parametrize(
    ("game", "bot"),
    [
        ("short", "pubeval"),
        ("short", "random"),
        ("long", "positional-long"),
        ("long", "race"),
        ("hypergammon", "pubeval"),
    ],
)
def test_a_bot_against_itself_scores_exactly_zero(game, bot):
    """Null test: paired dice cancel completely between equal bots."""
    result = play(game, bot, bot, 40)
    assert result.pair_points.sum(axis=1).tolist() == [0] * 40
    assert (result.points.mean, result.points.half) == (0, 0)
    assert result.win_rate.mean == 0.5
    assert result.pair_points.any()


def test_pubeval_beats_random_by_the_known_margin():
    """Null test: +2.51 ± 0.04 points a game and 99.7 % wins are known."""
    result = play("short", "pubeval", "random", 2000)
    assert abs(result.points.mean - 2.51) < result.points.half + 0.04
    assert abs(result.win_rate.mean - 0.997) < 0.005
    assert result.points.half < 0.03


def test_positional_beats_race_and_race_beats_random():
    """The hand-made long-nardy bots are ordered beyond doubt, from either seat (T12)."""
    strong = play("long", "positional-long", "race", 150)
    middle = play("long", "race", "random", 150)
    assert strong.points.low > 0.8
    assert middle.points.low > 0.5
    for result in (strong, middle):
        assert (result.pair_points.mean(axis=0) > 0).all()


def test_games_differ_and_each_stream_is_played_from_both_seats():
    """T32: nearly all games are distinct, and another seed gives other games."""
    result = play("short", "pubeval", "random", 200)
    assert len(np.unique(result.fingerprints)) > 0.9 * result.games
    other = play("short", "pubeval", "random", 200, seed=2)
    assert not np.isin(other.fingerprints, result.fingerprints).any()


class Recorder:
    """Plays a bot's choices and notes the dice of each turn that it is asked about."""

    def __init__(self, bot):
        self.bot = bot
        self.name = bot.name
        self.dice = []

    def choose(self, turn):
        self.dice.append(turn.dice.tolist())
        return self.bot.choose(turn)


def test_both_games_of_a_pair_see_the_same_dice_with_the_seats_exchanged():
    """T32: what A throws first in one game B throws first in the other, turn by turn."""
    short = load_variant("short")
    a, b = (Recorder(make_bot("pubeval", short)) for _ in range(2))
    match(a, b, short, 1, seed=5, workers=1)
    # Equal bots: both games take the same course, so both bots see all dice of the stream.
    assert a.dice == b.dice
    assert len(a.dice) > 10


def test_the_opening_roll_of_short_nardy_is_never_a_double():
    """S-2: the first turn is played with the two dice that decided who begins."""
    short = load_variant("short")
    recorder = Recorder(make_bot("random", short))
    match(recorder, make_bot("random", short), short, 300, seed=5, workers=1, block_pairs=300)
    assert all(a != b for a, b in recorder.dice[0])
    assert any(a == b for a, b in recorder.dice[2])


@pytest.mark.parametrize(("game", "a"), [("short", "pubeval"), ("long", "race")])
def test_threads_and_block_size_change_nothing(game, a):
    """T34: one and many threads, small and large blocks: the same games, none missing."""
    first = play(game, a, "random", 50, workers=1, block_pairs=50)
    for how in ({"workers": 2, "block_pairs": 7}, {"workers": 8, "block_pairs": 1}):
        other = play(game, a, "random", 50, **how)
        assert other.games == 100
        assert other.outcomes.tolist() == first.outcomes.tolist()
        assert other.plies.tolist() == first.plies.tolist()
        assert other.fingerprints.tolist() == first.fingerprints.tolist()


def test_a_longer_match_begins_with_the_shorter_one():
    """A game depends on seed and stream alone."""
    short, long = (play("short", "pubeval", "random", pairs) for pairs in (20, 45))
    assert long.fingerprints[:20].tolist() == short.fingerprints.tolist()


def test_outcome_counts_add_up_to_the_points():
    """Every game is counted once, with the points of its kind."""
    result = play("short", "pubeval", "random", 100)
    points = dict(result.variant.win_kinds)
    counts = result.outcome_counts
    total = sum(points[kind] * n for kind, n in counts["a"].items())
    total -= sum(points[kind] * n for kind, n in counts["b"].items())
    assert sum(counts["a"].values()) + sum(counts["b"].values()) == result.games == 200
    assert result.points.mean == pytest.approx(total / 200)
    assert result.unfinished == 0


def test_a_game_at_the_ply_cap_is_unfinished():
    """T09: games cut off are told apart from games that ended."""
    result = play("long", "race", "random", 10, ply_cap=20)
    assert result.unfinished == result.games == 20
    assert result.plies.tolist() == [[20, 20]] * 10
    assert result.points.mean == 0


def test_the_exact_cap_still_lets_a_game_end():
    """A game that ends with its last allowed ply is finished."""
    free = play("short", "race", "race", 4)
    capped = play("short", "race", "race", 4, ply_cap=int(free.plies.max()))
    assert capped.unfinished == 0
    assert play("short", "race", "race", 4, ply_cap=int(free.plies.max()) - 1).unfinished > 0


class Cheat:
    """Answers with a play of another game."""

    name = "cheat"

    def choose(self, turn):
        return turn.after.offsets[1:]


def test_a_choice_outside_the_legal_plays_ends_the_match():
    """A faulty bot is named, its choice is not played."""
    with pytest.raises(NardyError, match="the bot 'cheat' chose a play that is not"):
        play("short", Cheat(), "random", 5)


@pytest.mark.parametrize(
    "wrong", [{"pairs": 0}, {"seed": -1}, {"workers": 0}, {"block_pairs": 0}, {"ply_cap": 0}]
)
def test_a_match_that_makes_no_sense_is_refused(wrong):
    """Bad numbers are one sentence that names the number."""
    arguments = {"pairs": 1, "seed": 0} | wrong
    with pytest.raises(NardyError, match=next(iter(wrong))):
        play("short", "race", "random", arguments.pop("pairs"), **arguments)


def test_progress_counts_every_pair_once():
    """The progress of all blocks adds up to the match."""
    done = []
    play("short", "race", "random", 25, block_pairs=10, progress=done.append)
    assert sum(done) == 25


def test_a_round_robin_plays_every_pairing_once():
    """Three bots, three matches, on the same dice."""
    long = load_variant("long")
    bots = [make_bot(name, long) for name in ("random", "race", "positional-long")]
    results = round_robin(bots, long, 5, seed=1)
    assert [(r.a, r.b) for r in results] == [
        ("random", "race"),
        ("random", "positional-long"),
        ("race", "positional-long"),
    ]


def test_a_match_that_fails_ends_at_once():
    """What goes wrong in one block, Ctrl-C too, stops the others at their next turn."""
    long = load_variant("long")
    race, failed, asked = make_bot("race", long), threading.Event(), []

    class Interrupted:
        name = "interrupted"

        def choose(self, turn):
            asked.append(len(turn.boards))
            if len(asked) == 3:
                failed.set()
                raise KeyboardInterrupt
            failed.wait(30)  # the other thread goes on only when this one has failed
            return race.choose(turn)

    with pytest.raises(KeyboardInterrupt):
        match(Interrupted(), race, long, 64, 1, workers=2, block_pairs=1)
    assert len(asked) < 12
