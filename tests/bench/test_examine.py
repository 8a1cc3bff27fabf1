"""What `scripts/examine.py` says of a network."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from learning import random_net, thermometer
from nardy_engine import Position, load_variant
from nardy_rl.checkpoint import make_manifest, save_network
from nardy_rl.evaluator import Evaluator

SCRIPT = Path(__file__).parents[2] / "scripts" / "examine.py"
EXAMINE = runpy.run_path(str(SCRIPT))


def saved(game, folder):
    """Return the file of a network of `game` with three units shut for good."""
    variant = load_variant(game)
    net = random_net(variant)
    arrays = net.arrays()
    arrays["layers.0.bias"][[2, 5]] = -100.0
    arrays["layers.1.bias"][7] = -100.0
    manifest = make_manifest(variant, thermometer(variant), net.hidden, games=1, budget="1m")
    save_network(folder / f"{game}.safetensors", arrays, manifest)
    return folder / f"{game}.safetensors"


@pytest.fixture
def network(tmp_path):
    """Return a network of hypergammon."""
    return saved("hypergammon", tmp_path)


def test_examine_counts_and_compares(network, capsys) -> None:
    """Idle units are counted; with every reply looked at nothing is missed and nothing scatters."""
    status = EXAMINE["main"]([str(network), "--positions", "40", "--glance", "5000,5000", "1,1"])
    said = capsys.readouterr().out
    assert status == 0
    idle = [int(n) for n in re.findall(r"(\d+) of \d+", said.splitlines()[0])]
    assert len(idle) == 2
    assert idle[0] >= 2
    assert idle[1] >= 1
    everything, few = re.findall(r"replies a roll.* rms ([\d.]+)", said)
    assert float(everything) == 0 < float(few)
    *_, all_of_them, one = re.findall(r"scatter by ([\d.]+)", said)
    assert float(all_of_them) == 0 < float(one)


@pytest.mark.parametrize("game", ["hypergammon", "gulbar", "giul"])
def test_the_disagreement_is_that_of_the_search(tmp_path, capsys, game) -> None:
    """0-ply off 1-ply, by the evaluator's own average over all rolls, in any kind of game."""
    network = saved(game, tmp_path)
    EXAMINE["main"]([str(network), "--positions", "12"])
    evaluator = Evaluator.load(network)
    boards = EXAMINE["own_positions"](evaluator, 64, 1)[:12]
    off = [
        evaluator.average_over_rolls(Position.from_board(board)).equity
        - evaluator.before_roll(Position.from_board(board)).equity
        for board in boards
    ]
    expected = f"{np.sqrt(np.mean(np.square(off))):.4f}"
    said = capsys.readouterr().out
    assert f"off 1-ply by {expected} " in said
    assert ("in full" in said) == (game == "hypergammon")


@pytest.mark.parametrize("arguments", [["nothing-of-the-kind"], ["short", "--glance", "4"]])
def test_examine_refuses_nonsense(arguments, capsys) -> None:
    """One clear line, and a status that is not 0."""
    try:
        status = EXAMINE["main"](arguments)
    except SystemExit as stop:
        status = stop.code
    assert status
    assert re.search("nothing-of-the-kind|two numbers", capsys.readouterr().err)
