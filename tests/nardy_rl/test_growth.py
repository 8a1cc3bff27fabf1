"""Networks that start from trained ones."""

from __future__ import annotations

import contextlib
import json
import re

import numpy as np
import pytest
import torch

from learning import random_net, random_positions, thermometer, train_config
from nardy_engine import load_variant
from nardy_engine.errors import CheckpointError
from nardy_rl.checkpoint import load_network, make_manifest, save_network
from nardy_rl.config import ConfigError
from nardy_rl.nets import ValueNet
from nardy_rl.nets.growth import grow_from, revive_units
from nardy_rl.trainer import Trainer


def saved(folder, variant, hidden, name="old"):
    """Write a network with opinions and return its path."""
    net = random_net(variant, hidden)
    manifest = make_manifest(variant, thermometer(variant), hidden, games=1000, budget="1m")
    return net, save_network(folder / name, net.arrays(), manifest)


@pytest.mark.parametrize("hidden", [(24, 16), (40, 16), (24, 48), (64, 32, 32), (24, 16, 16, 20)])
def test_a_grown_network_is_the_same_function(tmp_path, hidden) -> None:
    """Chen 2016: wider and deeper, and not one value changes but by rounding."""
    variant = load_variant("hypergammon")
    old, path = saved(tmp_path, variant, (24, 16))
    new = ValueNet(thermometer(variant).width, hidden, 6, torch.Generator().manual_seed(9))
    grow_from(new, load_network(path).layers, "old")
    x = torch.from_numpy(thermometer(variant).encode(random_positions(variant, 200, seed=1)))
    with torch.no_grad():
        assert torch.allclose(new(x), old(x), atol=1e-5)


def test_new_units_learn(tmp_path) -> None:
    """The first step moves what leaves the new units, so they are not dead weight."""
    variant = load_variant("hypergammon")
    _, path = saved(tmp_path, variant, (24, 16))
    new = ValueNet(thermometer(variant).width, (32, 16), 6, torch.Generator().manual_seed(9))
    grow_from(new, load_network(path).layers, "old")
    x = torch.from_numpy(thermometer(variant).encode(random_positions(variant, 50, seed=1)))
    torch.autograd.backward(new(x).square().sum())
    gradient = new.get_parameter("layers.1.weight").grad
    assert gradient is not None
    assert (gradient[:, 24:] != 0).any(dim=0).sum() > 4


@pytest.mark.parametrize("hidden", [(24, 16), (40, 20, 20)])
def test_units_that_do_nothing_start_anew(hidden) -> None:
    """Shut units and those that nothing listens to learn again; not one value changes."""
    variant = load_variant("hypergammon")
    old = random_net(variant, (24, 16))
    with torch.no_grad():
        old.get_parameter("layers.0.bias")[:5] = -100.0
        old.get_parameter("layers.1.bias")[:3] = -100.0
    new = ValueNet(thermometer(variant).width, hidden, 6, torch.Generator().manual_seed(9))
    grow_from(new, old.pairs(), "old")
    x = torch.from_numpy(thermometer(variant).encode(random_positions(variant, 400, seed=1)))

    def idle() -> list[int]:
        counts, y = [], x
        for layer in new.layers[:-1]:
            y = torch.relu(layer(y))
            counts.append(int((y == 0).all(dim=0).sum()))
        return counts

    with torch.no_grad():
        expected = new(x)
        before = idle()
        assert before[0] >= 5
        assert before[1] >= 3
        assert before[2:] == [before[1]] * (len(hidden) - 2)  # an identity passes it on
        revived = revive_units(new, x, torch.Generator().manual_seed(3))
        assert torch.allclose(new(x), expected, atol=1e-5)
        assert idle() == [0] * len(hidden)
    assert [a >= b for a, b in zip(revived, before, strict=True)] == [True] * len(hidden)
    if hidden[0] > 24:
        assert revived[0] >= 5 + hidden[0] - 24
    torch.autograd.backward(new(x).square().sum())
    for i in range(1, len(hidden) + 1):
        gradient = new.get_parameter(f"layers.{i}.weight").grad
        assert gradient is not None
        assert (gradient != 0).any(dim=0).all(), "every unit is taught how to be of use"


@pytest.mark.parametrize("hidden", [(16, 16), (24,), (24, 8), (24, 16, 8)])
def test_networks_do_not_shrink(tmp_path, hidden) -> None:
    """A smaller network cannot hold the old one; the sentence names what would do."""
    variant = load_variant("hypergammon")
    _, path = saved(tmp_path, variant, (24, 16))
    new = ValueNet(thermometer(variant).width, hidden, 6, torch.Generator().manual_seed(9))
    with pytest.raises(CheckpointError, match=r"must be at least \[24, 16\], not"):
        grow_from(new, load_network(path).layers, "old")


def test_a_run_starts_from_a_network_and_says_so(tmp_path) -> None:
    """The manifest counts the games of both runs and names the network that it started from."""
    variant = load_variant("short")
    old, path = saved(tmp_path, variant, (16,))
    (tmp_path / "run").mkdir()
    config = train_config("short", budget="40games", start_from=str(path), learner__lr=1e-7,
                          learner__lr_end=0.0)  # fmt: skip
    trainer = Trainer(config, tmp_path / "run", resumed=False)
    try:
        trainer.run()
    finally:
        trainer.close()
    network = load_network(trainer.network_path)
    for name, array in old.arrays().items():
        np.testing.assert_allclose(network.tensors[name], array, atol=1e-4)
    manifest = json.loads(trainer.network_path.with_suffix(".json").read_text("utf-8"))
    assert manifest["games"] == 1000 + trainer.progress.games
    assert manifest["training"]["start_from"]["games"] == 1000
    assert manifest["training"]["start_from"]["weights_sha256"]


def test_a_stopped_run_needs_its_ancestor_no_more(tmp_path) -> None:
    """The state holds the weights and the line of descent, so the network may be gone."""
    variant = load_variant("short")
    _, path = saved(tmp_path, variant, (16,))
    config = train_config("short", budget="40games", start_from=str(path))
    (tmp_path / "run").mkdir()
    first = Trainer(config, tmp_path / "run", resumed=False)
    first.save()
    first.close()
    path.unlink()
    second = Trainer(config, tmp_path / "run", resumed=True)
    try:
        second.run()
    finally:
        second.close()
    manifest = json.loads(second.network_path.with_suffix(".json").read_text("utf-8"))
    assert manifest["training"]["start_from"]["games"] == 1000
    assert manifest["games"] == 1000 + second.progress.games


GROWING = {"net__hidden": [24, 16], "net__first_hidden": [16], "net__grow_at": 0.5}
"""Grows in the middle of the run."""


def trained(folder, *, resumed=False, stop_after=None, budget="120games", **changes):
    """Train a network that grows, perhaps only some rounds; return the trainer and its shapes."""
    folder.mkdir(exist_ok=True)
    trainer = Trainer(train_config(budget=budget, **GROWING, **changes), folder, resumed)
    shapes = []

    def report(_) -> None:
        shapes.append(trainer._learner.net.hidden)
        if len(shapes) == stop_after:
            raise KeyboardInterrupt

    try:
        with contextlib.suppress(KeyboardInterrupt):
            trainer.run(report)
    finally:
        trainer.close()
    return trainer, shapes


def test_a_network_grows_on_the_way(tmp_path) -> None:
    """Small for the first half of the budget, large from then on, and named in the manifest."""
    trainer, shapes = trained(tmp_path / "run")
    assert shapes[0] == [16]
    assert shapes[-1] == [24, 16]
    assert shapes == sorted(shapes)
    network = load_network(trainer.network_path)
    assert network.manifest["net"]["hidden"] == [24, 16]


def test_a_run_that_grows_goes_on_bit_for_bit(tmp_path) -> None:
    """T41, T42: stopped before and after it has grown, the end is that of the run without stops."""
    whole, shapes = trained(tmp_path / "whole")
    grown = shapes.index([24, 16])
    assert 2 <= grown < len(shapes) - 1
    for number, rounds in enumerate((grown - 1, 2)):
        trained(tmp_path / "run", resumed=number > 0, stop_after=rounds)
    stopped, _ = trained(tmp_path / "run", resumed=True)
    for name, array in load_network(whole.network_path).tensors.items():
        np.testing.assert_array_equal(load_network(stopped.network_path).tensors[name], array)


@pytest.mark.parametrize("first", [[32], [16, 16, 16], [16, 24]])
def test_a_first_network_that_cannot_grow_is_refused(first) -> None:
    """The sentence names both shapes, before anything has run."""
    changes = {**GROWING, "net__first_hidden": first}
    with pytest.raises(ConfigError, match=re.escape(f"net.first_hidden={first} cannot grow")):
        train_config(**changes)


def test_a_grown_network_stays_so_in_a_longer_budget(tmp_path) -> None:
    """With more to play, less than half of the budget is used again; nothing is taken away."""
    trained(tmp_path / "run")
    _, shapes = trained(tmp_path / "run", resumed=True, budget="400games", stop_after=2)
    assert shapes == [[24, 16]] * 2


def test_a_run_from_a_grown_network_skips_the_small_one(tmp_path) -> None:
    """It does not fit into `net.first_hidden`, but into `net.hidden`."""
    _, path = saved(tmp_path, load_variant("short"), (24, 16))
    _, shapes = trained(tmp_path / "run", start_from=str(path), stop_after=2)
    assert shapes == [[24, 16]] * 2
    _, path = saved(tmp_path, load_variant("short"), (16,), "small")
    _, shapes = trained(tmp_path / "other", start_from=str(path), stop_after=1)
    assert shapes == [[16]]
