"""`nardy evaluate` and `nardy export`, as a person and as a program use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nardy_engine import load_variant, reference
from nardy_rl.evaluator import Evaluator

START = "W{24:2 13:5 8:3 6:5} off0 | B{24:2 13:5 8:3 6:5} off0 ; W"


def test_the_real_command_answers_a_position(tiny_network) -> None:
    """`nardy evaluate` as a process of its own prints the position, the side and two equities."""
    net = str(tiny_network("short"))
    command = [sys.executable, "-m", "nardy_rl.cli", "evaluate", "start"]
    done = subprocess.run(
        [*command, "--variant", "short", "--net", net], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == START
    assert lines[1] == "White to roll - Short nardy (backgammon), network 'tiny'"
    columns = "equity wins gammon backgammon loses gammon backgammon"
    assert lines[3].split() == columns.split()
    assert lines[4].startswith("by the network")
    assert lines[5].startswith("average over all rolls")
    assert done.stderr == ""


def test_the_table_of_plays(nardy, tiny_network) -> None:
    """With dice the best plays are listed in order, aligned, with the loss to the best."""
    code, out, _ = nardy(
        "evaluate", "start", "--variant", "short", "--dice", "31", "--top", "3",
        "--net", str(tiny_network("short")),
    )  # fmt: skip
    assert code == 0
    lines = out.splitlines()
    assert lines[1].startswith("White to play 3-1 - ")
    rows = lines[4:7]
    assert [row.split()[0] for row in rows] == ["1.", "2.", "3."]
    assert len({len(row) for row in [lines[3], *rows]}) == 1
    assert lines[8].startswith("3 of 16 legal plays; equity in points per game")
    shown = {row[4 : lines[3].index("equity")].strip().rsplit("  ", 1)[0] for row in rows}
    assert len(shown) == 3


def test_json_of_plays_is_what_the_evaluator_says(nardy, tiny_network) -> None:
    """The JSON of a roll holds all documented fields, with the position after each play."""
    net = tiny_network("short")
    code, out, _ = nardy(
        "evaluate", f"{START} 3-1", "--variant=short", f"--net={net}", "--json", "--top=16"
    )
    answer = json.loads(out)
    assert code == 0
    assert out.count("\n") == 1
    assert answer["variant"] == "short"
    assert answer["digest"] == load_variant("short").digest()
    assert answer["position"] == f"{START} 3-1"
    assert answer["dice"] == [3, 1]
    assert answer["n_plays"] == len(answer["plays"]) == 16
    assert answer["outcomes"][3] == "lose single"
    best = answer["plays"][0]
    assert set(best) == {"play", "position", "equity", "difference", "probabilities"}
    assert best["difference"] == 0
    points = np.array([1, 2, 3, -1, -2, -3])
    for play in answer["plays"]:
        assert sum(play["probabilities"]) == pytest.approx(1, abs=1e-5)
        assert play["equity"] == pytest.approx(points @ play["probabilities"], abs=1e-5)
        assert play["position"].endswith("; B")
    assert {play["play"] for play in answer["plays"]} >= {"8/5 6/5", "24/23 13/10", "24/20"}


def test_json_after_a_play_is_the_negative_for_the_other_side(nardy, tiny_network) -> None:
    """The position printed after a play, evaluated again, is worth minus the play (T12)."""
    net = f"--net={tiny_network('long')}"
    position = "W{24:10 18:3 11:2} off0 | B{24:12 20:2 15:1} off0 ; B 5-2"
    _, out, _ = nardy("evaluate", position, net, "--json", "--top=1")
    play = json.loads(out)["plays"][0]
    assert play["position"].endswith("; W")
    _, out, _ = nardy("evaluate", play["position"], net, "--json")
    value = json.loads(out)
    assert value["before_roll"]["equity"] == pytest.approx(-play["equity"], abs=1e-5)
    assert set(value["average_over_rolls"]) == {"equity", "probabilities"}


def test_the_shipped_network_is_the_default(nardy, tiny_network, tmp_path) -> None:
    """Without --net the network named like the game is used, and its absence is explained."""
    code, _, errors = nardy("evaluate", "start")
    assert code == 2
    assert errors == (
        "nardy: error: no network for long comes with the package; train one with "
        "'nardy train variant=long' and name its file with --net\n"
    )
    tiny_network("long", name="shipped/long")
    code, out, _ = nardy("evaluate", "start")
    assert code == 0
    assert "network 'long'" in out


def test_many_kinds_of_wins_fit_on_a_screen(nardy, tiny_network) -> None:
    """Where every checker left is a kind of its own, the table shows the sums (SC-6)."""
    game = load_variant("long", {"score": "checkers_left"})
    code, out, _ = nardy(
        "evaluate", "start", "--option", "score=checkers_left", "--net", str(tiny_network(game))
    )
    assert code == 0
    assert out.splitlines()[3].split() == ["equity", "wins", "loses"]
    assert max(map(len, out.splitlines())) < 80


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["start", "--dice", "70"], "a die shows 1 to 6, not 7"),
        (["start", "--dice", "six"], "'six' is no roll"),
        (["start", "--top", "0"], "'0' is not a whole number of at least 1"),
        (["24:15 | 12:15"], "both sides cannot stand there"),
        (["24:14 | 24:15 off0 ; W 6-4 oops"], "oops"),
        (["start", "--option", "block.check=every_step"], "asked for: every_step"),
        (["start", "--net", "nowhere.safetensors"], "there is no network 'nowhere.safetensors'"),
        (["start", "--variant", "lomg"], "lomg"),
        (["off15 | 24:15 ; W 6-4"], "the game is over"),
        ([], "required: POSITION"),
    ],
)
def test_bad_questions_are_one_sentence(nardy, tiny_network, argv, words) -> None:
    """Every mistake on the command line is one sentence on standard error and exit code 2."""
    tiny_network("long", name="shipped/long")
    code, out, errors = nardy("evaluate", *argv)
    assert code == 2
    assert out == ""
    assert errors.startswith("nardy: error: ")
    assert words in errors
    assert "Traceback" not in errors


def test_export_writes_the_shipped_network(nardy, tiny_network, tmp_path) -> None:
    """`nardy export variant=short` writes every promised file and says what each is for."""
    pytest.importorskip("onnxruntime")
    tiny_network("short", name="shipped/short")
    code, out, _ = nardy("export", "variant=short")
    assert code == 0
    written = sorted(path.name for path in (tmp_path / "export" / "short").iterdir())
    assert "model.onnx" in written
    assert out.splitlines()[0] == f"Short nardy (backgammon): exported to {Path('export/short')}"
    for name in written:
        assert name in out
    code, out, _ = nardy("export", "--variant", "short", "--out", "app", "--json")
    answer = json.loads(out)
    assert answer["folder"] == "app"
    assert sorted(answer["files"]) == written
    assert all((tmp_path / "app" / n).stat().st_size == s for n, s in answer["files"].items())


def test_export_does_not_touch_foreign_folders(nardy, tiny_network, tmp_path) -> None:
    """Exporting over a folder with other files is refused and changes nothing."""
    pytest.importorskip("onnxruntime")
    tiny_network("long", name="shipped/long")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("keep me")
    code, _, errors = nardy("export", "--out", "home")
    assert code == 2
    assert "not a folder written by this command" in errors
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["letter.txt"]


def test_evaluate_agrees_with_the_python_api(nardy, tiny_network) -> None:
    """The command and `Evaluator.best` name the same plays in the same order."""
    net = tiny_network("long")
    long = load_variant("long")
    rated = Evaluator.load(net).best(long.start_position(), (3, 3))
    _, out, _ = nardy("evaluate", "start", f"--net={net}", "--dice=33", "--json")
    assert [play["play"] for play in json.loads(out)["plays"]] == [play.text for play in rated]
    assert len(rated) == len(reference.plays(long, long.start_position(), (3, 3))) == 2
