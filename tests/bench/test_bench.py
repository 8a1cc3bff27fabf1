"""The benchmark measures what it says; nothing is asserted about speed."""

from __future__ import annotations

import json

import pytest

from nardy_engine import load_variant
from nardy_rl import cli
from nardy_rl.bench import Measurement, engine, measure, rate


def test_the_figure_is_the_median_without_the_first_run() -> None:
    """Of the runs 100, 3, 1, 2 the first warms up; 2 is the median of the others."""
    values = iter([100.0, 3.0, 1.0, 2.0])
    (figure,) = measure([Measurement("m", "u", lambda: next(values))], runs=3)
    assert (figure.median, figure.lowest, figure.highest, figure.runs) == (2.0, 1.0, 3.0, 3)


def test_runs_are_interleaved() -> None:
    """A, B, A, B: no measurement has all its runs in one stretch of time."""
    order: list[str] = []

    def note(name: str) -> Measurement:
        return Measurement(name, "u", lambda: float(order.append(name) or 0))

    measure([note("a"), note("b")], runs=2)
    assert "".join(order) == "ababab"


def test_a_rate_is_work_over_time(monkeypatch) -> None:
    """Three pieces of work of 10 in 1.5 s are 20 a second."""
    clock = iter([0.0, 0.5, 1.0, 1.5])
    monkeypatch.setattr("nardy_rl.bench.measuring.time.perf_counter", lambda: next(clock))
    assert rate(lambda: 10.0, seconds=1.2) == 20.0


@pytest.mark.parametrize("name", ["long", "short"])
def test_random_positions_are_positions_of_the_game(name: str) -> None:
    """The positions that are measured are legal, varied and unfinished."""
    variant = load_variant(name)
    boards, rolls = engine.random_positions(variant, 500, seed=1)
    assert (boards.sum(axis=2) == variant.setup.checkers).all()
    assert len({board.tobytes() for board in boards}) > 300
    assert rolls.min() == 1
    assert rolls.max() == variant.dice.sides


def test_random_play_counts_games_by_their_length() -> None:
    """Short nardy by random play lasts over 60 turns; restarts keep the batch full."""
    player = engine.RandomGames(load_variant("short"), 64, seed=1)
    player.play_first_wave()
    assert 60 < player.mean_length() < 200
    assert (player.games.over < 0).all()


def test_the_command_prints_positive_figures(capsys) -> None:
    """`nardy bench --quick --json` of the engine: every rate is positive, the machine is named."""
    argv = ["bench", "--quick", "--json", "--part", "engine", "--variant", "short"]
    assert cli.main([*argv, "--threads", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["machine"]["cpus"] >= 1
    units = {figure["unit"] for figure in document["figures"]}
    assert units == {"turns/s", "afterstates/s", "games/s", "positions/s"}
    assert all(figure["median"] > 0 for figure in document["figures"])


def test_training_is_measured_with_the_share_of_each_stage() -> None:
    """Every stage of a run has its share of the time, and they sum to 1."""
    from nardy_rl.bench.learning import train_for
    from nardy_rl.compose import load_train_config

    settings = ["variant=hypergammon", "net=small", "selfplay.games=64", "selfplay.workers=1"]
    settings += ["learner.fresh_positions=500", "budget=100games", "tensorboard=false"]
    speed = train_for(load_train_config(settings))
    assert speed.games >= 100
    assert speed.plies >= 500
    assert speed.seconds > 0
    shares = speed.shares()
    waiting = shares["wait"]
    stages = {"roll", "plays", "encode", "network", "choose", "learn"}
    assert set(shares) == stages | {"wait"}  # and no search
    assert all(shares[stage] > 0 for stage in stages)
    assert waiting >= 0
    assert sum(shares.values()) == pytest.approx(1)
