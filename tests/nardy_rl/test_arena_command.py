"""`nardy arena` as a user runs it, in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

from nardy_rl.cli import main


def nardy(*words, folder):
    """Run `nardy` with the given words in `folder`."""
    return subprocess.run(
        [sys.executable, "-m", "nardy_rl.cli", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_match_prints_a_table_and_writes_json(tmp_path):
    """The table names bots, points with interval and games; the file holds the same figures."""
    done = nardy(
        *("arena", "variant=short", "a=pubeval", "b=random", "games=200", "json=out.json"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("pubeval  random"))
    (match,) = json.loads((tmp_path / "out.json").read_text())["matches"]
    assert f"{match['points']['mean']:+.3f} ± " in row
    assert row.endswith("200")
    assert match["variant"]["id"] == "short"
    assert 2.2 < match["points"]["low"] < match["points"]["high"] < 2.8
    counted = sum(sum(kinds.values()) for kinds in match["outcomes"].values())
    assert counted == match["games"] == 200


def test_a_round_robin_on_standard_output_is_json_alone(tmp_path, tiny_network):
    """`json=-` prints the document in place of the table; a checkpoint file plays by its path."""
    path = tiny_network("long")
    network = path.relative_to(tmp_path)
    done = nardy(
        *("arena", "variant=long", f"players=[random,race,{network}]", "games=20", "json=-"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert len(document["matches"]) == 3
    assert {rating["name"] for rating in document["ratings"]} == {"random", "race", str(network)}


def test_luck_is_a_column_and_a_figure(tmp_path, tiny_network):
    """`luck=FILE` adds points less luck to the table and to the JSON, and moves nothing else."""
    path = tiny_network("long")
    words = ("arena", "variant=long", "a=race", "b=random", "games=20", "json=out.json")
    done = nardy(*words, f"luck={path}", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "less luck" in done.stdout.splitlines()[0]
    (match,) = json.loads((tmp_path / "out.json").read_text())["matches"]
    assert f"{match['adjusted_points']['mean']:+.3f} ± " in done.stdout
    assert nardy(*words, folder=tmp_path).returncode == 0
    (plain,) = json.loads((tmp_path / "out.json").read_text())["matches"]
    assert "adjusted_points" not in plain
    assert plain["points"] == match["points"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a=rcae"], "unknown bot 'rcae'; did you mean 'race'?"),
        (["a=pubeval"], "plays short nardy and its relatives, not long"),
        (["a=race", "games=7"], "games must be even"),
        (["a=race", "gmes=8"], "did you mean 'games'?"),
        (["players=[race,race]"], "'race' is listed twice"),
        (["a=./missing.safetensors"], "missing.safetensors"),
        (["a=race", "luck=pubeval"], "luck is 'pubeval'; it must be a network, as net:long"),
        (["a=race", "luck=net:long@1ply"], "it must be a network, as net:long"),
        (["a=race", "luck=net:short", "games=2"], "long"),
        (["a=race", "json=no/../such/../out.txt/x", "games=2"], "cannot write"),
        (["a=race", "json=.", "games=1000000000"], "it is a folder"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(tmp_path, monkeypatch, capsys, words, sentence):
    """Wrong use never ends in a traceback."""
    (tmp_path / "out.txt").write_text("a file, no folder")
    monkeypatch.chdir(tmp_path)
    assert main(["arena", "variant=long", "b=random", *words]) == 2
    message = capsys.readouterr().err
    assert sentence in message
    assert message.startswith("nardy: error: ")
    assert len(message.splitlines()) == 1


def test_a_mistake_leaves_the_process_with_code_2(tmp_path):
    """The same through the real command: nothing but the sentence."""
    done = nardy("arena", "variant=long", "a=rcae", "b=random", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_a_sweep_is_checked_whole(tmp_path):
    """Each alternative is looked at before the first match, and no file is written over."""
    bots = ("a=race", "b=random")
    done = nardy("arena", "-m", "games=2,3", *bots, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "games must be even" in done.stderr
    done = nardy("arena", "-m", "seed=1,2", "games=2", *bots, "json=m.json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "would write the same json file" in done.stderr
    sweep = ("arena", "-m", "seed=1,2", "games=2", *bots, "json=m-${seed}.json")
    assert nardy(*sweep, folder=tmp_path).returncode == 0
    assert {path.name for path in tmp_path.glob("*.json")} == {"m-1.json", "m-2.json"}


def test_results_are_kept_though_nobody_reads_the_table(tmp_path):
    """The file is written before the table, whose signs an old terminal may not have."""
    match = ("arena", "games=2", "a=race", "b=random", "json=x.json")
    command = [sys.executable, "-m", "nardy_rl", *match]
    old = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        command, cwd=tmp_path, env=old, capture_output=True, timeout=120, check=True
    )
    assert b"\\xb1" in done.stdout
    (tmp_path / "x.json").unlink()
    subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *command], cwd=tmp_path, timeout=120, check=True
    )
    assert json.loads((tmp_path / "x.json").read_text())["matches"]
