"""Surveys of games: who plays whom, and what the tables of all games say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nardy_engine import batch, load_variant, variant_names
from nardy_rl import cli
from nardy_rl.bench import games, tables
from nardy_rl.bench.survey import ChoiceCounter, Handicapped, search_pairs, survey
from nardy_rl.players import Turn, bot_names, make_bot

HYPER = load_variant("hypergammon")
NETWORK = Path(__file__).parents[2] / "checkpoints" / "hypergammon.safetensors"


def _first_turn(n: int, uniform: np.ndarray) -> Turn:
    started = batch.Games(HYPER, n, seed=1)
    dice = started.roll()
    return Turn(HYPER, started.boards, dice, started.afterstates(), uniform)


def test_a_handicapped_bot_leaves_a_share_of_its_decisions_to_chance() -> None:
    """Below the share every legal play can be drawn; above it the bot chooses."""
    n = 400
    race = make_bot("race", HYPER)
    sober = _first_turn(n, np.full(n, 0.1))
    assert (Handicapped(race, 0.1).choose(sober) == race.choose(sober)).all()
    drunk = _first_turn(n, np.linspace(0, 0.1, n, endpoint=False))
    choice = Handicapped(race, 0.1).choose(drunk)
    place = (choice - drunk.after.offsets[:-1]) / drunk.after.counts()
    assert ((place >= 0) & (place < 1)).all()
    assert abs(place.mean() - 0.5) < 0.1
    assert (choice != race.choose(drunk)).mean() > 0.5


def test_choices_are_counted() -> None:
    """Decisions, legal plays, their largest number and the forced ones are those of the turns."""
    counter = ChoiceCounter(make_bot("random", HYPER))
    turn = _first_turn(50, np.linspace(0, 1, 50, endpoint=False))
    counts = turn.after.counts()
    for _ in range(2):
        counter.choose(turn)
    found = counter.to_json()
    assert found["decisions"] == 100
    assert found["mean"] == pytest.approx(counts.mean())
    assert found["most"] == counts.max()
    assert found["forced"] == pytest.approx((counts == 1).mean())


@pytest.fixture(scope="module")
def hyper_survey():
    result = survey(HYPER, NETWORK, games=8, workers=1)
    return {"game": HYPER.id, "date": "2026-01-31", "commit": "abc", "machine": "m", **result}


def test_a_survey_has_every_bot(hyper_survey) -> None:
    """The network meets all named bots, itself, and its handicapped copy, on equally many games."""
    assert [match["b"] for match in hyper_survey["strength"]] == [*reversed(bot_names(HYPER))]
    assert hyper_survey["itself"]["points"]["mean"] == 0
    assert hyper_survey["handicap"]["a"] == "net:hypergammon, 10% random"
    matches = [*hyper_survey["strength"], hyper_survey["itself"], hyper_survey["handicap"]]
    assert {match["games"] for match in matches} == {8}
    # The network against itself asks the counter for both sides of every game.
    assert hyper_survey["choices"]["decisions"] == 8 * hyper_survey["itself"]["length"]["mean"]


def test_a_survey_tells_what_looking_ahead_is_worth(hyper_survey) -> None:
    """One ply and two against 0-ply, on other dice than the bots', with the luck measured."""
    names = [match["a"] for match in hyper_survey["search"]]
    assert names == ["net:hypergammon@1ply", "net:hypergammon@2ply"]
    for match in hyper_survey["search"]:
        assert (match["b"], match["games"]) == ("net:hypergammon", 8)
        assert match["adjusted_points"]["mean"] != match["points"]["mean"]
    assert search_pairs(HYPER)[2] > search_pairs(load_variant("giul"))[2]
    before = {name: value for name, value in hyper_survey.items() if name != "search"}
    text = tables.render_search({"hypergammon": before}, ["hypergammon"])
    assert f"| `hypergammon` | {tables.UNMEASURED} |" in text


TABLES = ["render_strength", "render_strength_brief", "render_games", "render_search"]


@pytest.mark.parametrize("render", TABLES)
def test_tables_have_all_games(render: str, hyper_survey) -> None:
    """A game is measured, has a network that is not measured yet, or has none; none is left out."""
    text = getattr(tables, render)({"hypergammon": hyper_survey}, ["hypergammon", "kaftar"])
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [*variant_names()]
    assert len({row.count("|") for row in text.splitlines() if row.startswith("|")}) == 1
    by_game = dict(zip(variant_names(), rows, strict=True))
    assert tables.UNMEASURED in by_game["kaftar"]
    assert tables.NO_NETWORK in by_game["long-fnr"]
    assert "±" in by_game["hypergammon"]
    assert "abc on m" in text


def test_the_swing_is_a_standard_deviation() -> None:
    """Two games of +1 and one each of -1 and +3: mean 1, mean square 3, so the root of 2."""
    match = {"outcomes": {"a": {"single": 2, "backgammon": 1}, "b": {"single": 1}}, "games": 4}
    assert tables.swing(match, HYPER) == pytest.approx(2**0.5)


def test_games_given_up_are_told(hyper_survey) -> None:
    """A game that nobody finished is no win; the table says how many there were."""
    stuck = {**hyper_survey, "itself": {**hyper_survey["itself"], "unfinished": 7}}
    text = tables.render_games({"hypergammon": stuck}, ["hypergammon"])
    assert "Given up after 5,000 decisions, without points: 7 of " in text
    assert "Given up" not in tables.render_games({"hypergammon": hyper_survey}, ["hypergammon"])


def test_games_are_compared_with_long(capsys) -> None:
    """`nardy bench --games`: long is 1.00, most is no less than the mean, the goal is stated."""
    argv = ["bench", "--games", "--quick", "--json", "--variant", "hypergammon"]
    assert cli.main(argv) == 0
    document = json.loads(capsys.readouterr().out)
    long, hyper = document["games"]
    assert (long["variant"], long["to_long"], hyper["variant"]) == ("long", 1, "hypergammon")
    for entry in (long, hyper):
        assert 1 <= entry["plays"]["mean"] <= entry["plays"]["most"]
        assert entry["plays"]["most"] <= entry["nodes"]["most"] <= entry["nodes"]["room"]
        assert entry["slowest_ms"] > 0
    ratio = hyper["afterstates_per_s"]["median"] / long["afterstates_per_s"]["median"]
    assert hyper["to_long"] == pytest.approx(ratio)
    table = tables.render_game_speeds(document["games"], document["goal"])
    assert f"Goal: at least {games.GOAL:g}" in table
    assert tables.render_game_speeds([long], 0.5).endswith("reached by all.")
    assert tables.render_game_speeds([long], 1.5).endswith("missed by `long`.")


def test_parts_and_games_exclude_each_other(capsys) -> None:
    """`--games` measures the engine alone, so `--part` is an error."""
    assert cli.main(["bench", "--games", "--part", "engine"]) == 2
    assert "leave --part out" in capsys.readouterr().err
