"""A network of one game as the start of another: what is taken over, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from learning import random_net, random_positions, thermometer, tiny_variant, train_config
from nardy_engine import load_variant
from nardy_engine.errors import CheckpointError
from nardy_rl.checkpoint import Network, load_network, make_manifest, save_network
from nardy_rl.descent import games_by_rules
from nardy_rl.nets import ValueNet
from nardy_rl.nets.growth import grow_from
from nardy_rl.outcomes import outcome_names
from nardy_rl.trainer import Trainer
from nardy_rl.transfer import described, layers_for

RARE = 5.0


def saved(folder, game: str, hidden=(24, 16), **options) -> Network:
    """Write a network of `game` that has opinions, and read it again."""
    variant = load_variant(game, options)
    net = random_net(variant, hidden)
    manifest = make_manifest(variant, thermometer(variant), hidden, games=1000, budget="1m")
    return load_network(save_network(folder / game, net.arrays(), manifest))


def transferred(source: Network, game: str) -> ValueNet:
    """Return a network of `game` with the weights of `source`."""
    variant = load_variant(game)
    encoder = thermometer(variant)
    hidden = source.manifest["net"]["hidden"]
    net = ValueNet(encoder.width, hidden, variant.n_outcomes, torch.Generator().manual_seed(9))
    grow_from(net, layers_for(source, variant, encoder), "source")
    return net


def logits(net: ValueNet, game: str, boards: np.ndarray) -> np.ndarray:
    """Return what `net` says of positions of `game`."""
    with torch.no_grad():
        return net(torch.from_numpy(thermometer(load_variant(game)).encode(boards))).numpy()


@pytest.mark.parametrize("game", ["karzar", "fevga", "gulbar", "giul", "emir"])
def test_a_game_with_more_to_remember_starts_as_the_other_one(tmp_path, game) -> None:
    """What only the new game remembers counts for nothing at first; a draw begins as rare."""
    source, variant = saved(tmp_path, "long"), load_variant(game)
    boards = random_positions(variant, 200, seed=2)
    ours = boards[:, :, : load_variant("long").n_slots]
    old = logits(transferred(source, "long"), "long", ours)
    new = logits(transferred(source, game), game, boards)
    names = outcome_names(variant)
    common = [names.index(name) for name in outcome_names(load_variant("long"))]
    np.testing.assert_allclose(new[:, common], old, atol=1e-5)
    if "draw" in names:
        mean = source.layers[-1][1].mean()
        np.testing.assert_allclose(new[:, names.index("draw")], mean - RARE, atol=1e-5)


def test_what_only_the_old_game_remembers_is_dropped(tmp_path) -> None:
    """Long nardy gets what gulbar's network says where nothing is to remember."""
    source = saved(tmp_path, "gulbar")
    boards = random_positions(load_variant("long"), 200, seed=3)
    plain = np.zeros((200, 2, load_variant("gulbar").n_slots), np.int8)
    plain[:, :, : boards.shape[2]] = boards
    np.testing.assert_allclose(
        logits(transferred(source, "long"), "long", boards),
        logits(transferred(source, "gulbar"), "gulbar", plain),
        atol=1e-5,
    )


def test_the_same_rules_change_nothing(tmp_path) -> None:
    """A network of the game itself is taken over weight by weight."""
    source, variant = saved(tmp_path, "gulbar"), load_variant("gulbar")
    layers = layers_for(source, variant, thermometer(variant))
    for (weight, bias), (old_weight, old_bias) in zip(layers, source.layers, strict=True):
        np.testing.assert_array_equal(weight, old_weight)
        np.testing.assert_array_equal(bias, old_bias)


@pytest.mark.parametrize(
    ("start", "options", "game", "says"),
    [
        ("short", {}, "long", "knows short (24 points; opposite direction; single, gammon, "
         "backgammon), which says nothing about long (24 points; same direction; oin, mars)"),
        ("long", {}, "khachapuri", "which says nothing about khachapuri (24 points; same "
         "direction; 1 left, 2 left, 3 left, ...)"),
        ("khachapuri", {"home.frozen": True}, "emir", "1 left"),  # only the draw in common
    ],
)  # fmt: skip
def test_other_kinds_of_results_are_refused(tmp_path, start, options, game, says) -> None:
    """The outputs would mean something else; the sentence says what would do."""
    path = str(saved(tmp_path, start, **options).path)
    with pytest.raises(CheckpointError, match=re.escape(says)) as error:
        Trainer(train_config(game, start_from=path), tmp_path, resumed=False)
    assert "the same kinds of wins" in str(error.value)
    assert path in str(error.value)


def test_other_boards_are_refused(tmp_path) -> None:
    """Points of a board of another length are other points."""
    source, small = saved(tmp_path, "long"), tiny_variant()
    with pytest.raises(CheckpointError, match=r"24 points; .* \(8 points"):
        layers_for(source, small, thermometer(small))


def test_outcomes_are_matched_by_name(tmp_path) -> None:
    """A koks between mars and the losses moves all that stands behind it."""
    plain, more = load_variant("long"), load_variant("long", {"score": "oin_mars_koks"})
    source = saved(tmp_path, "long")
    weight, bias = layers_for(source, more, thermometer(more))[-1]
    names = outcome_names(more)
    assert names[2:4] == ("win koks", "lose oin")
    old_weight, old_bias = source.layers[-1]
    np.testing.assert_array_equal(weight[[0, 1, 3, 4]], old_weight)
    np.testing.assert_array_equal(bias[[0, 1, 3, 4]], old_bias)
    np.testing.assert_array_equal(weight[[2, 5]], 0)
    np.testing.assert_allclose(bias[[2, 5]], old_bias.mean() - RARE)
    back = layers_for(saved(tmp_path, "long", score="oin_mars_koks"), plain, thermometer(plain))
    np.testing.assert_array_equal(
        back[-1][0], random_net(more).arrays()["layers.2.weight"][[0, 1, 3, 4]]
    )


def test_who_is_first_off_wins_there_and_loses_here(tmp_path) -> None:
    """POD-2: giveaway's wins are the losses of long nardy."""
    source, variant = saved(tmp_path, "long"), load_variant("giveaway")
    weight, bias = layers_for(source, variant, thermometer(variant))[-1]
    old_weight, old_bias = source.layers[-1]
    np.testing.assert_array_equal(weight, old_weight[[2, 3, 0, 1]])
    np.testing.assert_array_equal(bias, old_bias[[2, 3, 0, 1]])


def test_a_run_says_which_game_it_starts_from(tmp_path) -> None:
    """In words at the start, and in the manifest with the digest of the rules for good."""
    source = saved(tmp_path, "long", (16,))
    (tmp_path / "run").mkdir()
    config = train_config("gulbar", budget="40games", start_from=str(source.path))
    trainer = Trainer(config, tmp_path / "run", resumed=False)
    try:
        assert trainer.origin == (
            f"{source.path}, a network of Long nardy (194 of 208 inputs are the same)"
        )
        trainer.run()
    finally:
        trainer.close()
    manifest = json.loads(trainer.network_path.with_suffix(".json").read_text("utf-8"))
    assert manifest["variant"]["id"] == "gulbar"
    told = manifest["training"]["start_from"]
    assert told["variant"] == {"id": "long", "digest": load_variant("long").digest()}
    assert manifest["games"] == 1000 + trainer.progress.games
    assert games_by_rules(manifest) == {"gulbar": trainer.progress.games, "long": 1000}


def test_other_rules_of_the_same_game_may_start_from_it(tmp_path) -> None:
    """Options make another game, and the sentence says so."""
    source = saved(tmp_path, "long", **{"head.limit": "none"})
    variant = load_variant("long")
    encoder = thermometer(variant)
    assert described("long", source, variant, encoder).startswith(
        "long, a network of Long nardy by other"
    )
    assert len(layers_for(source, variant, encoder)) == len(source.layers)
    own = saved(tmp_path, "karzar")
    assert described("x", own, load_variant("karzar"), thermometer(load_variant("karzar"))) == "x"
