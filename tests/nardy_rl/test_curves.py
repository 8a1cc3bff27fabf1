"""TensorBoard: one file, one step axis, no points from a future that did not happen (T46-T48)."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from learning import train_config
from nardy_engine import load_variant
from nardy_engine.kernels.selfplay import CALIBRATION_BINS, PHASES
from nardy_rl import curves
from nardy_rl.curves import Curves, calibration_error
from nardy_rl.selfplay import RoundStats
from nardy_rl.trainer import Trainer

LONG = load_variant("long")


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return each curve as TensorBoard shows it."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        tag: [(point.step, point.value) for point in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def write(folder: Path, played: int, points: list[tuple[int, float]]) -> None:
    writer = Curves(folder, LONG, played)
    for games, value in points:
        writer.scalar("learn/loss", value, games)
    writer.close()


def test_a_resumed_run_purges_what_it_plays_again(tmp_path) -> None:
    """T46: points beyond the checkpoint go, those up to it stay, the steps never jump back."""
    write(tmp_path, 0, [(100, 1.0), (200, 0.9), (300, 0.8), (400, 0.7)])
    write(tmp_path, 200, [(290, 0.5), (380, 0.4)])
    write(tmp_path, 290, [(390, 0.25)])
    assert read(tmp_path)["learn/loss"] == [
        (100, 1.0), (200, pytest.approx(0.9)), (290, 0.5), (390, 0.25),
    ]  # fmt: skip


def test_a_new_run_purges_nothing(tmp_path) -> None:
    """T46: a first process announces no restart."""
    write(tmp_path, 0, [(1, 1.0), (2, 0.5)])
    assert read(tmp_path)["learn/loss"] == [(1, 1.0), (2, 0.5)]
    assert len(list(tmp_path.iterdir())) == 1


def test_only_add_scalar_is_used() -> None:
    """T47: no call writes a sub-writer of its own, which no purge would reach."""
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(inspect.getsource(curves)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert "add_scalar" in called
    assert {name for name in called if name.startswith("add_")} == {"add_scalar"}


def test_a_run_tells_its_story(tmp_path) -> None:
    """T47, T48: one file holds every curve, each against the games played, rising strictly."""
    config = train_config(
        "long", budget="120games", tensorboard=True, checkpoint_every_s=0,
        eval__interval_games=2, eval__interval_every_s=0.1,
    )  # fmt: skip
    trainer = Trainer(config, tmp_path, resumed=False)
    trainer.run()
    trainer.measure(2)
    trainer.close()
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 1
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
    found = read(tmp_path)
    expected = {
        "learn/loss", "learn/learning_rate", "learn/lambda", "learn/td_error",
        "selfplay/game_length", "selfplay/first_player_wins", "selfplay/truncated_games",
        "outcomes/oin_rate", "outcomes/mars_rate", "calibration/race", "speed/games_per_s",
        "time/network", "time/learn", "time/encode", "arena/random", "arena/race",
        "arena/positional-long",
    }  # fmt: skip
    assert expected <= found.keys()
    for tag, points in found.items():
        steps = [games for games, _ in points]
        assert steps == sorted(steps), tag
        assert steps[-1] <= trainer.progress.games
        assert np.isfinite([value for _, value in points]).all(), tag
        if not tag.startswith("arena/"):
            assert len(set(steps)) == len(steps), tag
    last = {tag: points[-1][1] for tag, points in found.items()}
    shares = [value for tag, value in last.items() if tag.startswith("time/")]
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert last["outcomes/oin_rate"] + last["outcomes/mars_rate"] == pytest.approx(1)
    assert 0 < last["selfplay/first_player_wins"] < 1
    assert 40 < last["selfplay/game_length"] < 250


def stats(**values) -> RoundStats:
    cells = np.zeros((len(PHASES), CALIBRATION_BINS, 3))
    cells[1, 3] = [10, 3.5, 5]
    cells[1, 8] = [10, 8.5, 8]
    base = {
        "games": 4, "plies": 450, "truncated": 1, "first_player_wins": 3, "td_error_sum": 9.0,
        "td_error_n": 90, "outcomes": np.array([2, 1, 1, 0]), "calibration": cells,
    }  # fmt: skip
    return RoundStats(**(base | values))


def test_figures_of_a_round(tmp_path) -> None:
    """Rates, lengths, errors and calibration of a round are those worked out by hand."""
    writer = Curves(tmp_path, LONG, 0)
    writer.round(stats(), 1000)
    writer.close()
    found = {tag: points[0] for tag, points in read(tmp_path).items()}
    assert {games for games, _ in found.values()} == {1000}
    values = {tag: value for tag, (_, value) in found.items()}
    assert values["selfplay/game_length"] == pytest.approx(90)
    assert values["selfplay/first_player_wins"] == pytest.approx(0.75)
    assert values["selfplay/truncated_games"] == pytest.approx(0.25)
    assert values["outcomes/oin_rate"] == pytest.approx(0.75)
    assert values["outcomes/mars_rate"] == pytest.approx(0.25)
    assert values["learn/td_error"] == pytest.approx(0.1)
    assert values["calibration/middle"] == pytest.approx((1.5 + 0.5) / 20)
    assert "calibration/race" not in values, "a phase without positions has no point"


def test_calibration_counts_both_directions() -> None:
    """Being too hopeful in one bin does not make up for being too gloomy in another."""
    assert calibration_error(np.array([[10, 3.0, 5.0], [10, 7.0, 5.0]])) == pytest.approx(0.2)
    assert calibration_error(np.array([[10, 5.0, 5.0], [0, 0.0, 0.0]])) == 0


def test_a_value_that_is_no_number_leaves_no_point(tmp_path) -> None:
    """A curve never holds nan or infinity, which TensorBoard draws as a gap or not at all."""
    write(tmp_path, 0, [(1, float("nan")), (2, 1.5), (3, float("inf"))])
    assert read(tmp_path)["learn/loss"] == [(2, 1.5)]


def test_without_curves_tensorboard_is_not_needed(monkeypatch) -> None:
    """A run with tensorboard=false neither imports it nor writes anything for it."""
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    silent = Curves(None, LONG, 0)
    silent.scalar("learn/loss", 1.0, 1)
    silent.round(stats(), 1)
    silent.flush()
    silent.close()
    with pytest.raises(ImportError):
        Curves(Path("unused"), LONG, 0)
