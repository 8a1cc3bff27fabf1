"""The arithmetic of results, on matches written down by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nardy_engine import load_variant
from nardy_rl.metrics import UNFINISHED, MatchResult, elo_ratings, interval, join
from nardy_rl.report import render_match, render_ratings, render_table

WIN, GAMMON, BACKGAMMON, LOSS, LOST_GAMMON = 0, 1, 2, 3, 4


def result(outcomes, a="x", b="y", plies=50, game="short"):
    """Return a match with the given `[pairs, 2]` outcomes from A's view."""
    array = np.array(outcomes, dtype=np.int8)
    return MatchResult(
        variant=load_variant(game),
        a=a,
        b=b,
        seed=0,
        ply_cap=100,
        outcomes=array,
        plies=np.full(array.shape, plies, dtype=np.int32),
        fingerprints=np.arange(array.size, dtype=np.uint64).reshape(array.shape),
    )


def test_an_interval_is_196_standard_errors_of_the_mean():
    """Four values with standard deviation 2: the half width is 1.96 * 2 / sqrt(4)."""
    found = interval(np.array([1.0, 1.0, 1.0, 5.0]))
    assert found.mean == 2
    assert found.half == pytest.approx(1.96)
    assert (found.low, found.high) == (pytest.approx(0.04), pytest.approx(3.96))


def test_one_pair_has_no_interval():
    """A single pair says nothing about the spread, so the ends are unknown, not equal."""
    found = interval(np.array([1.5]))
    assert math.isinf(found.half)
    assert found.to_json() == {"mean": 1.5, "low": None, "high": None}


def test_every_figure_of_a_match_counted_by_hand():
    """Column 0 is A moving first; points 1, 2, 3 and their negatives (S-8)."""
    match = result([[WIN, GAMMON], [LOSS, BACKGAMMON], [LOST_GAMMON, WIN]])
    assert match.games == 6
    assert match.pairs == 3
    assert match.pair_points.tolist() == [[1, 2], [-1, 3], [-2, 1]]
    assert match.points.mean == pytest.approx(4 / 6)
    # Pair means 1.5, 1, -0.5: the spread is that of the pairs, not of the six games.
    assert match.points.half == pytest.approx(1.96 * np.std([1.5, 1, -0.5], ddof=1) / 3**0.5)
    assert match.win_rate.mean == pytest.approx(4 / 6)
    assert match.mars_won.mean == pytest.approx(2 / 6)
    assert match.mars_lost.mean == pytest.approx(1 / 6)
    assert match.mars_rate.mean == pytest.approx(3 / 6)
    # The first mover is A in column 0, B in column 1.
    assert match.first_mover_points.mean == pytest.approx((1 - 1 - 2 - 2 - 3 - 1) / 6)
    assert match.first_mover_wins.mean == pytest.approx(1 / 6)
    assert match.outcome_counts == {
        "a": {"single": 2, "gammon": 1, "backgammon": 1},
        "b": {"single": 1, "gammon": 1, "backgammon": 0},
    }
    assert match.length.mean == 50


def test_games_at_the_ply_cap_are_reported_and_win_nothing():
    """T09, T16: a game that was stopped is neither won nor lost, and the table says so."""
    match = result([[WIN, UNFINISHED], [UNFINISHED, LOSS]])
    assert match.unfinished == 2
    assert match.pair_points.tolist() == [[1, 0], [0, -1]]
    assert match.win_rate.mean == 0.25
    assert match.first_mover_wins.mean == 0.25 + 0.25
    counted = sum(sum(half.values()) for half in match.outcome_counts.values())
    assert counted + match.unfinished == match.games
    assert "2 of 4 games of x against y were stopped after 100 plies" in render_table([match])
    assert match.to_json()["unfinished"] == 2


def test_a_table_without_stopped_games_has_no_warning():
    """The warning is about something that happened."""
    assert "warning" not in render_table([result([[WIN, LOSS]])])


def test_the_table_shows_points_with_interval_and_games():
    """A person reads who played whom, the points, their interval and the number of games."""
    text = render_table([result([[WIN, WIN], [WIN, LOSS]] * 600, a="net:short", b="pubeval")])
    row = text.splitlines()[2]
    assert row.split()[:5] == ["net:short", "pubeval", "+0.500", "±", "0.028"]
    assert row.split()[-1] == "2,400"
    assert len(set(map(len, text.splitlines()[:3]))) == 1  # columns line up


def test_a_match_report_names_every_kind_of_win():
    """The counts of all outcomes are in the report of a single match."""
    text = render_match(result([[WIN, GAMMON], [LOSS, BACKGAMMON]]))
    assert "x won 3: 1 single, 1 gammon, 1 backgammon" in text
    assert "y won 1: 1 single, 0 gammon, 0 backgammon" in text


def test_two_bots_differ_by_the_elo_of_their_score():
    """Three wins to one are 400 log10(3) points, up to the half game added to each side."""
    matches = [result([[WIN, WIN], [WIN, LOSS]] * 500)]
    best, worst = elo_ratings(matches)
    assert (best.name, worst.name) == ("x", "y")
    assert best.elo.mean - worst.elo.mean == pytest.approx(
        400 * math.log10(1500.5 / 500.5), abs=1e-6
    )
    assert best.elo.mean + worst.elo.mean == pytest.approx(0, abs=1e-9)
    assert 0 < best.elo.half < 20


def test_a_round_robin_that_obeys_the_model_gets_its_ratings_back():
    """Scores made from known strengths 0, 100, 250 give these differences."""
    elo = {"x": 0, "y": 100, "z": 250}
    matches = []
    for a, b in (("x", "y"), ("x", "z"), ("y", "z")):
        share = 1 / (1 + 10 ** ((elo[b] - elo[a]) / 400))
        wins = round(share * 20_000)
        games = [WIN] * wins + [LOSS] * (20_000 - wins)
        matches.append(result(np.array(games).reshape(-1, 2), a, b))
    ratings = {rating.name: rating.elo.mean for rating in elo_ratings(matches)}
    assert ratings["y"] - ratings["x"] == pytest.approx(100, abs=0.5)
    assert ratings["z"] - ratings["x"] == pytest.approx(250, abs=0.5)
    assert list(ratings) == ["z", "y", "x"]


def test_a_clean_sweep_has_a_finite_rating():
    """A bot that won every game is far ahead, not infinitely far."""
    best, _ = elo_ratings([result([[WIN, WIN]] * 50)])
    assert 300 < best.elo.mean < 1000
    assert "x" in render_ratings([best])


def test_the_same_ratings_whoever_is_named_first():
    """Exchanging the seats of a pairing changes no rating."""
    one = elo_ratings([result([[WIN, WIN], [WIN, LOSS]] * 50)])
    other = elo_ratings([result([[LOSS, LOSS], [LOSS, WIN]] * 50, a="y", b="x")])
    assert {r.name: r.elo.mean for r in one} == pytest.approx({r.name: r.elo.mean for r in other})


def test_the_digest_of_the_games_changes_with_any_game():
    """T18: figures carry a hash of the games that they describe."""
    one, other = result([[WIN, WIN]]), result([[WIN, WIN]])
    assert one.games_digest == other.games_digest
    other.fingerprints[0, 1] += 1
    assert one.games_digest != other.games_digest


def test_luck_is_taken_off_every_game():
    """Points 1 and -2 with luck 0.5 and -1.5: 0.5 and -0.5 are left, a mean of 0."""
    plain = result([[WIN, LOST_GAMMON], [WIN, WIN]])
    assert plain.adjusted_points is None
    assert "adjusted_points" not in plain.to_json()
    assert "less luck" not in render_table([plain])
    owed = np.array([[[0.5, 0.25], [-1.5, -0.5]], [[1.0, 1.0], [1.0, 0.25]]])
    match = replace(plain, luck=owed)
    assert match.adjusted_points == (0.0, 0.0)
    assert match.adjusted_win_rate.mean == pytest.approx((0.75 + 0.5 + 0 + 0.75) / 4)
    assert match.points == plain.points
    assert match.to_json()["adjusted_points"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    rows = render_table([match, plain]).splitlines()
    assert "+0.000 ± 0.000" in rows[2]
    assert "–" in rows[3]
    assert join([match, match]).luck.shape == (4, 2, 2)
    with pytest.raises(ValueError, match="different matches"):
        join([match, plain])


def test_ratings_take_luck_off():
    """A lost every game, by bad luck alone: with that taken off the two are equal."""
    lost = result([[LOSS, LOSS]] * 50)
    unlucky = replace(lost, luck=np.full((50, 2, 2), -0.5))
    assert elo_ratings([lost])[-1].elo.mean < -200
    assert [rating.elo.mean for rating in elo_ratings([unlucky])] == pytest.approx([0, 0])
    generous = replace(lost, luck=np.full((50, 2, 2), 2.0))
    assert np.isfinite([rating.elo for rating in elo_ratings([generous])]).all()
