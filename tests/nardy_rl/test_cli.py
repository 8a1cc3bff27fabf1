"""The `nardy` command as a whole: help, exit codes, failures in one sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from command_line import COMMAND, complaints, environment, nardy, start_nardy
from nardy_rl import cli

COMMANDS = tuple(cli.COMMANDS)
LINE = '{"id":1,"me":{"points":{"24":15}},"opp":{"points":{"24":15}},"dice":[6,5]}\n'


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that runs a command line here: `(exit code, output, errors)`."""
    monkeypatch.chdir(tmp_path)

    def call(*argv: str):
        code = cli.main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_overview_says_what_each_command_is_for_with_an_example() -> None:
    """`nardy --help` names every command and shows one complete line for it."""
    done = nardy("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert f"e.g.  nardy {name} " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_help_of_a_command_in_other_words(run) -> None:
    """`nardy help train` is `nardy train --help`."""
    assert run("help", "variants") == run("variants", "--help")


def test_without_a_command_the_overview_appears(run) -> None:
    """`nardy` alone helps instead of failing."""
    code, out, _ = run()
    assert code == 0
    assert out.startswith("usage: nardy COMMAND")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(run, name: str) -> None:
    """`nardy COMMAND --help` exits 0 and shows at least one complete example."""
    code, out, err = run(name, "--help")
    assert code == 0
    assert err == ""
    assert f"usage: nardy {name}" in out
    assert f"\n  nardy {name} " in out


def test_the_version_is_that_of_the_distribution(run) -> None:
    """`nardy --version` prints name and version."""
    code, out, _ = run("--version")
    assert code == 0
    assert out.split()[0] == "nardy"
    assert len(out.split()) >= 2


@pytest.mark.parametrize(
    ("argv", "fragments"),
    [
        (["variant"], ["unknown command 'variant'", "'variants'"]),
        (["--verson"], ["unknown option '--verson'", "'--version'"]),
        (["moves", "start", "--dise", "64"], ["'--dise'", "'--dice'"]),
        (["moves", "start", "--dice", "64", "--variant", "lng"], ["'lng'", "'long'"]),
        (["variants", "shrt"], ["'shrt'", "'short'"]),
        (["variants", "long", "--option", "block.chek=1"], ["'block.chek'", "'block.check'"]),
        (["variants", "long", "--option", "block.check=often"], ["'often'", "every_step"]),
        (["variants", "long", "--option", "block.check"], ["NAME=VALUE"]),
        (["variants", "--option", "block.check=every_step"], ["need the name of a game"]),
        (["moves"], ["give a POSITION"]),
        (["moves", "start"], ["which roll?"]),
        (["moves", "start", "--dice", "6"], ["'6' is no roll"]),
        (["moves", "start", "--dice", "64x"], ["'64x' is no roll"]),
        (["moves", "start", "--dice", "70"], ["a die shows 1 to 6"]),
        (["moves", "24:16 | 24:15", "--dice", "64"], ["16 checkers", "15"]),
        (["moves", "24:14 12:1 | 24:15", "--dice", "64"], ["both sides"]),
        (["moves", "24:15", "--dice", "64"], ["Black's checkers are missing"]),
        (["moves", "--jsonl", "start"], ["--jsonl reads"]),
        (["play", "--bot", "pubevl", "--variant", "short"], ["'pubevl'", "'pubeval'"]),
        (["play", "--bot", "pubeval"], ["pubeval", "not long"]),
        (["play", "--side", "green"], ["'green'", "white"]),
        (["play", "--seed", "-1"], ["'-1'", "whole number"]),
        (["play", "--bot", "net:nowhere"], ["no network 'nowhere'"]),
        (["evaluate", "start", "--net", "nowhere"], ["no network 'nowhere'"]),
        (["evaluate", "start", "--top", "0"], ["'0'", "at least 1"]),
        (["bench", "--part", "engin"], ["'engin'", "engine"]),
        (["bench", "--variant", "lng"], ["'lng'", "'long'"]),
        (["train", "variant=lng"], ["lng", "long"]),
        (["train", "budget=0"], ["budget"]),
        (["train", "budget=-5m"], ["budget"]),
        (["train", "budget=abc"], ["budget"]),
        (["train", "budgte=5m"], ["budgte", "budget"]),
        (["arena", "a=rndom", "b=race", "games=2"], ["'rndom'", "'random'"]),
    ],
)
def test_bad_input_is_one_sentence(run, argv: list[str], fragments: list[str]) -> None:
    """A mistake exits with 2 and one line that names it and what would be right."""
    code, out, err = run(*argv)
    assert code == 2
    assert out == ""
    assert err.startswith("nardy: error: ")
    assert err.count("\n") == 1
    for fragment in fragments:
        assert fragment in err


def test_a_foreign_file_is_no_network(run, tmp_path) -> None:
    """A file that is not a checkpoint is refused by `evaluate` and `play` alike."""
    foreign = tmp_path / "foreign.safetensors"
    foreign.write_bytes(b"\x80\x04 this is a pickle, not a network")
    for argv in (["evaluate", "start", "--net"], ["play", "--hints"]):
        code, _, err = run(*argv, str(foreign))
        assert code == 2
        assert "is not a network of nardy" in err


def test_a_truncated_network_is_refused(run, tiny_network) -> None:
    """A checkpoint that lost its end is called damaged."""
    path = tiny_network("long")
    path.write_bytes(path.read_bytes()[:-10])
    code, _, err = run("evaluate", "start", "--net", str(path))
    assert code == 2
    assert "damaged" in err


def test_key_value_is_an_option_too(run) -> None:
    """`dice=64`, the habit of `nardy train`, means `--dice 64`."""
    assert run("moves", "start", "dice=64") == run("moves", "start", "--dice", "64")


@pytest.mark.parametrize(
    "argv",
    [
        ["variants"],
        ["moves", "start", "--dice", "64"],
        ["--help"],
        *([name, "--help"] for name in COMMANDS),
        ["train", "budget=abc"],
    ],
)
def test_quick_commands_load_no_torch(argv: list[str]) -> None:
    """What trains no network starts without torch, a matter of seconds: help and mistakes too."""
    code = (
        "import sys; from nardy_rl.cli import main; main(sys.argv[1:]); "
        "print('TORCH' if 'torch' in sys.modules else 'LIGHT')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *argv],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "LIGHT"


def test_evaluate_and_play_load_no_torch(tiny_network) -> None:
    """A game against a network, with its hints, runs without torch."""
    net = str(tiny_network("long"))
    code = (
        "import sys; from nardy_rl.cli import main; main(sys.argv[1:]); "
        "print('TORCH' if 'torch' in sys.modules else 'LIGHT')"
    )
    for argv in (["evaluate", "start", "--net", net], ["play", "--bot", f"net:{net}"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *argv],
            input="hint\n",
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == "LIGHT"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence() -> None:
    """Output that cannot be written exits with 2 and says why, without a traceback."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "variants"],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "nardy: error: No space left on device\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    """`nardy moves --jsonl | head -1` ends without a traceback."""
    process = start_nardy("moves", "--jsonl")
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdin.write(LINE)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.stdout.close()
    process.stdin.write(LINE)
    process.stdin.close()
    assert process.wait(60) == 141
    assert complaints(process.stderr.read()) == []
    process.stderr.close()


def test_ctrl_c_leaves_quietly() -> None:
    """An interrupt exits with 130 and no traceback; a lone line was answered before."""
    process = start_nardy("moves", "--jsonl")
    assert process.stdin
    assert process.stdout
    process.stdin.write(LINE)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert [line for line in complaints(err) if line] == ["nardy: interrupted"]
