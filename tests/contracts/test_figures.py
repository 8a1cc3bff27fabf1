"""The figures in the documents come from files, and the curves from event files."""

import json
import math
import re
import runpy
from pathlib import Path

import pytest

from nardy_engine import load_variant, variant_names
from nardy_engine.errors import NardyError

ROOT = Path(__file__).parents[2]
FIGURES = runpy.run_path(str(ROOT / "scripts" / "fill_figures.py"))
BOARDS = runpy.run_path(str(ROOT / "scripts" / "draw_boards.py"))
CURVES = runpy.run_path(str(ROOT / "scripts" / "plot_curves.py"))

MATCH = {
    "variant": {"id": "long"},
    "a": "net:long",
    "b": "race",
    "games": 2000,
    "points": {"mean": 0.5, "low": 0.45, "high": 0.55},
    "win_rate": {"mean": 0.75, "low": 0.74, "high": 0.76},
    "mars_won": {"mean": 0.25, "low": 0.2, "high": 0.3},
    "mars_lost": {"mean": 0.125, "low": 0.1, "high": 0.15},
    "mars_rate": {"mean": 0.375, "low": 0.35, "high": 0.4},
    "length": {"mean": 90.0, "low": 89.0, "high": 91.0},
    "first_mover_points": {"mean": 0.01, "low": -0.01, "high": 0.03},
    "first_mover_wins": {"mean": 0.51, "low": 0.5, "high": 0.52},
    "outcomes": {"a": {"oin": 1000, "mars": 500}, "b": {"oin": 250, "mars": 250}},
}


@pytest.fixture
def project(tmp_path):
    """Return a folder with one document and one measured figure."""
    folder = tmp_path / "docs" / "figures"
    folder.mkdir(parents=True)
    figure = {
        "commands": ["nardy arena a=net:long b=race json={json}"],
        "show": "strength",
        "commit": "abc",
        "date": "2026-01-31",
        "machine": "a processor, 2 cores, Python 3.11.0",
        "results": [{"matches": [MATCH]}],
    }
    (folder / "strength.json").write_text(json.dumps(figure))
    text = "Before\n<!-- figure:strength -->\nold\n<!-- /figure -->\nafter\n"
    (tmp_path / "README.md").write_text(text)
    return tmp_path


def test_documents_show_the_figures_on_disk():
    """No document of the project is out of date with the figures in docs/figures."""
    assert FIGURES["fill_documents"](ROOT, write=False) == []


def test_figures_are_of_the_shipped_networks():
    """A figure of a network is of the weights that lie in checkpoints/, not of some before them."""
    measured = 0
    for path in sorted((ROOT / "docs" / "figures").glob("*.json")):
        for name, weights in json.loads(path.read_text()).get("weights_sha256", {}).items():
            manifest = json.loads((ROOT / "checkpoints" / f"{name}.json").read_text())
            assert weights == manifest["weights_sha256"], f"{path.name} is of an older net:{name}"
            measured += 1
    assert measured > 5


def test_every_figure_is_planned():
    """Every block in a document has commands that measure it."""
    plans = FIGURES["read_plans"](ROOT)
    for name in FIGURES["DOCUMENTS"]:
        used = re.findall(r"<!-- figure:([\w-]+) -->", (ROOT / name).read_text("utf-8"))
        assert set(used) <= {*plans, FIGURES["NETWORKS"], *FIGURES["TABLES"]}, name


def test_block_is_filled(project):
    """A block gets the table, and nothing outside of it changes."""
    assert FIGURES["fill_documents"](project, write=True) == ["README.md"]
    text = (project / "README.md").read_text("utf-8")
    row = "| net:long | race | +0.500 ± 0.050 | 75.0% ± 1.0% | 25.0% | 12.5% | 2,000 |"
    assert row in text
    assert "json=FILE" in text
    assert text.startswith("Before\n<!-- figure:strength -->\n")
    assert text.endswith("\n<!-- /figure -->\nafter\n")
    assert FIGURES["fill_documents"](project, write=True) == []


def test_check_changes_nothing(project):
    """Without `write` the document is named but left as it is."""
    before = (project / "README.md").read_text("utf-8")
    assert FIGURES["fill_documents"](project, write=False) == ["README.md"]
    assert (project / "README.md").read_text("utf-8") == before


def test_figure_that_was_not_measured(project):
    """A figure without a file says so."""
    (project / "docs" / "figures" / "strength.json").unlink()
    FIGURES["fill_documents"](project, write=True)
    assert "_Not measured yet._" in (project / "README.md").read_text("utf-8")


def test_bars_are_shown_as_they_end():
    """What a progress bar overwrote is not part of the figure."""
    assert FIGURES["as_shown"]("training 1%\rtraining 100%\nnetwork: x\n") == (
        "training 100%\nnetwork: x\n"
    )


def test_measuring_runs_the_commands():
    """A figure holds what its commands printed and wrote."""
    plan = {"commands": ["python -c \"open(r'{json}', 'w').write('[1]')\""], "show": "speed"}
    assert FIGURES["measure"](plan)["results"] == [[1]]
    with pytest.raises(NardyError, match="code 3"):
        FIGURES["measure"]({"commands": ['python -c "exit(3)"'], "show": "output"})


def test_quick_commands_are_the_published_ones_with_less(monkeypatch, capsys):
    """--quick runs every command on few games, prints the figure and writes nothing."""
    plans = FIGURES["read_plans"](ROOT)
    for name, plan in plans.items():
        commands = FIGURES["quick"](plan)["commands"]
        for before, after in zip(plan["commands"], commands, strict=True):
            assert before.split()[:2] == after.split()[:2], name
            assert before != after or name in ("evaluate", "moves-jsonl"), name
            for figure in re.findall(r"(?:games=|--pairs )(\d+)", after):
                assert int(figure) <= 1000
    measured = []
    monkeypatch.setitem(
        FIGURES["main"].__globals__,
        "measure",
        lambda plan: measured.append(plan) or {"show": "output", "commands": ["x"], "results": [7]},
    )
    for writer in ("write_atomic", "fill_documents"):
        monkeypatch.setitem(FIGURES["main"].__globals__, writer, None)
    assert FIGURES["main"](["--measure", "bench", "--quick"]) == 0
    assert measured[0]["commands"] == ["nardy bench --json --quick"]
    assert "$ x\n7" in capsys.readouterr().out


@pytest.fixture
def surveyed(tmp_path, monkeypatch):
    """Return a project with a network of kaftar; surveys are counted, not played."""
    digest = load_variant("kaftar").digest()
    manifest = {"variant": {"digest": digest}, "weights_sha256": "one"}
    for folder in ("checkpoints", "docs/figures"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "checkpoints" / "kaftar.json").write_text(json.dumps(manifest))
    (tmp_path / "docs" / "figures" / "figures.toml").write_text("")
    played = []

    def measured(root, name, games):
        played.append((name, games))
        weights = FIGURES["networks"](root, [name])[name]
        return {"game": name, "weights_sha256": weights, "games": games, "search": []}

    monkeypatch.setitem(FIGURES["main"].__globals__, "ROOT", tmp_path)
    monkeypatch.setitem(FIGURES["main"].__globals__, "measure_game", measured)
    return tmp_path, played


def test_games_are_measured_once_per_network(surveyed, capsys):
    """What is measured with as many games is skipped, unless forced or the network is another."""
    root, played = surveyed
    main = FIGURES["main"]
    assert main(["--measure", "games", "--games", "40"]) == 0
    assert "long: there is no network" in capsys.readouterr().err
    assert main(["--measure", "games", "kaftar", "--games", "20"]) == 0
    assert "kaftar: measured already, with 40 games" in capsys.readouterr().err
    assert played == [("kaftar", 40)]
    assert main(["--measure", "games", "kaftar", "--games", "60"]) == 0
    assert main(["--measure", "games", "kaftar", "--games", "20", "--force"]) == 0
    assert played[1:] == [("kaftar", 60), ("kaftar", 20)]
    assert [*FIGURES["surveys"](root)] == ["kaftar"]
    path = root / "docs" / "figures" / "games" / "kaftar.json"
    path.write_text(path.read_text().replace('"search"', '"of an older program"'))
    assert main(["--measure", "games", "kaftar", "--games", "20"]) == 0
    assert played.pop() == ("kaftar", 20)
    other = root / "checkpoints" / "kaftar.json"
    other.write_text(other.read_text().replace("one", "two"))
    assert FIGURES["surveys"](root) == {}
    assert main(["--measure", "games", "--games", "20"]) == 0
    assert played[3:] == [("kaftar", 20)]


def test_networks_of_other_rules_are_none(surveyed):
    """A network whose rules are not those of the game is not measured."""
    root, _ = surveyed
    manifest = {"variant": {"digest": "other"}, "weights_sha256": "one"}
    (root / "checkpoints" / "long.json").write_text(json.dumps(manifest))
    assert FIGURES["networks"](root, ["long", "kaftar", "short"]) == {"kaftar": "one"}


def test_every_game_is_among_the_networks():
    """The table of networks has a row for each game, with "none" where there is no network."""
    text = FIGURES["render_networks"](ROOT / "checkpoints")
    rows = [line.split(" | ") for line in text.splitlines()[2:]]
    named = [row[0].strip("| `") for row in rows]
    assert [name for name in named if name in variant_names()] == list(variant_names())
    assert {path.stem for path in (ROOT / "checkpoints").glob("*.safetensors")} <= set(named)
    for name, row in zip(named, rows, strict=True):
        shipped = (ROOT / "checkpoints" / f"{name}.safetensors").exists()
        assert (row[1] == "none") != shipped, name


def test_training_counts_from_nothing():
    """A network that started from others has their time of training too."""
    first = {"training": {"seconds": 240.0}}
    second = {"training": {"seconds": 360.0, "start_from": first}}
    assert FIGURES["_training_seconds"]({"training": {"seconds": 60, "start_from": second}}) == 660


def test_unknown_names_are_refused(surveyed, capsys):
    """A figure or a game that does not exist is one sentence and exit code 2, before measuring."""
    assert FIGURES["main"](["--measure", "speeds"]) == 2
    assert FIGURES["main"](["--measure", "games", "kaftra"]) == 2
    assert "kaftar" in capsys.readouterr().err
    assert surveyed[1] == []


def test_curves_are_read_and_drawn(tmp_path):
    """The picture shows the curves that the event files hold, over games."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(tmp_path))
    for games in (0, 1000, 2000):
        writer.add_scalar("learn/loss", math.exp(-games / 1000), games)
        writer.add_scalar("arena/random", games / 1000, games)
    writer.close()
    curves = CURVES["read_curves"](tmp_path)
    assert curves["arena/random"].games.tolist() == [0, 1000, 2000]
    assert curves["arena/random"].values.tolist() == [0, 1, 2]
    out = tmp_path / "curves.png"
    assert CURVES["main"]([str(tmp_path), "--out", str(out), "--dpi", "40"]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_folder_without_curves(tmp_path, capsys):
    """A folder that holds no curves is one sentence and exit code 2."""
    assert CURVES["main"]([str(tmp_path)]) == 2
    assert "holds no TensorBoard event file" in capsys.readouterr().err


def test_pictures_of_boards_are_as_drawn():
    """Every board in docs/img is what `scripts/draw_boards.py` draws, and the README shows it."""
    drawn = {f"board-{name}.svg": BOARDS["draw"](p) for name, p in BOARDS["PICTURES"].items()}
    found = {path.name: path.read_text("utf-8") for path in (ROOT / "docs/img").glob("board-*.svg")}
    assert found == drawn
    readme = (ROOT / "README.md").read_text("utf-8")
    assert set(re.findall(r"docs/img/(board-\w+\.svg)", readme)) == set(drawn)
