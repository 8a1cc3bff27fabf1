"""Networks for other programs (faults T35-T40): onnxruntime, torch and a stranger's code agree."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import manifest_consumer as consumer
from nardy_engine import batch, load_variant, variant_names
from nardy_rl import export
from nardy_rl.checkpoint import load_network
from nardy_rl.evaluator import Evaluator
from nardy_rl.export import MissingExtraError, export_network
from nardy_rl.export.sampling import played_positions
from nardy_rl.files import OutputError
from nardy_rl.outcomes import flip

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from nardy_rl.export import folder as folder_module  # noqa: E402 - needs onnx
from nardy_rl.export.manifest import position_of  # noqa: E402
from nardy_rl.export.runtime import ExportedNetwork, ExportError  # noqa: E402

GAMES = ["long", "short", "hypergammon"]
FILES = [
    "LICENSE",
    "README.md",
    "example.mjs",
    "manifest.json",
    "model.onnx",
    "nardy.mjs",
    "package.json",
    "vectors.json",
]


@pytest.fixture
def exported(tiny_network, tmp_path):
    """Return a function that exports a tiny network: `(network, folder)`."""

    def run(game="short"):
        network = load_network(tiny_network(game, name=f"tiny-{len(list(tmp_path.iterdir()))}"))
        return network, export_network(network, tmp_path / "exported")

    return run


def board_of(vector):
    return {"roller": vector["roller"], "other": vector["other"]}


# -- the model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_onnxruntime_equals_torch_on_real_positions(exported, game) -> None:
    """On 1000 positions of real play, in four batch sizes, the file gives torch's values (T38)."""
    torch = pytest.importorskip("torch")
    from nardy_rl.nets import ValueNet

    network, folder = exported(game)
    variant = network.variant
    boards = played_positions(variant, 1000, seed=99)
    features = network.encoder.encode(boards)
    mask = batch.outcome_mask(variant, boards)
    net = ValueNet(network.encoder.width, (8, 5), variant.n_outcomes, torch.Generator())
    net.load_arrays(network.tensors)
    with torch.no_grad():
        logits = net(torch.from_numpy(features))
        logits[~torch.from_numpy(mask)] = -torch.inf
        probs = torch.softmax(logits, dim=1).numpy()
    points = [p for _, p in variant.win_kinds]
    equity = probs @ np.array(points + [-p for p in points], dtype=np.float32)
    model = ExportedNetwork(folder)
    done = 0
    for size in (1, 2, 7, 64, 926):
        rows = slice(done, done + size)
        ours, value = model.run(features[rows], mask[rows].astype(np.float32))
        assert ours.shape == (size, variant.n_outcomes)
        assert value.shape == (size,)
        assert np.abs(ours - probs[rows]).max() < 1e-5
        assert np.abs(value - equity[rows]).max() < 1e-5
        assert (ours[~mask[rows]] == 0).all()
        done += size
    assert done == len(boards)
    assert probs.std(axis=0).min() > 1e-3


def test_batch_is_symbolic_on_every_input_and_output(exported) -> None:
    """The first axis of each input and output is a name, not a number (T35, T36)."""
    _, folder = exported()
    graph = onnx.load(folder / "model.onnx").graph
    values = [*graph.input, *graph.output]
    assert [value.name for value in values] == ["features", "possible", "probabilities", "equity"]
    for value in values:
        first = value.type.tensor_type.shape.dim[0]
        assert first.dim_param == "batch"
        assert not first.HasField("dim_value")


def test_no_float64_in_the_file(exported) -> None:
    """Inputs, outputs, weights, constants and all values between them are float32 (T37)."""
    _, folder = exported()
    model = onnx.shape_inference.infer_shapes(onnx.load(folder / "model.onnx"))
    graph = model.graph
    between = {v.name: v.type.tensor_type.elem_type for v in graph.value_info}
    assert set(between.values()) == {onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL}
    for value in [*graph.input, *graph.output]:
        assert value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    for tensor in graph.initializer:
        assert tensor.data_type == onnx.TensorProto.FLOAT
        assert tensor.data_location == onnx.TensorProto.DEFAULT
    assert not any(node.op_type == "Cast" for node in graph.node)


def test_the_model_needs_no_other_file(exported, tmp_path) -> None:
    """Copied alone into an empty directory, the model still runs (T39)."""
    network, folder = exported()
    empty = tmp_path / "empty"
    empty.mkdir()
    shutil.copy(folder / "model.onnx", empty)
    session = onnxruntime.InferenceSession(empty / "model.onnx")
    features = np.zeros((3, network.encoder.width), dtype=np.float32)
    probs, _ = session.run(None, {"features": features, "possible": np.ones((3, 6), np.float32)})
    assert probs.shape == (3, 6)


def test_wrong_inputs_are_refused_in_words(exported) -> None:
    """float64, a wrong width and batches that differ give a sentence, not a crash (T37)."""
    network, folder = exported()
    model = ExportedNetwork(folder)
    features = np.zeros((2, network.encoder.width), dtype=np.float32)
    mask = np.ones((2, 6), dtype=np.float32)
    with pytest.raises(ExportError, match="features must be float32, not float64"):
        model.run(features.astype(np.float64), mask)
    with pytest.raises(ExportError, match="possible must be float32, not bool"):
        model.run(features, mask.astype(bool))
    with pytest.raises(ExportError, match=r"features must have shape \[N, 196\], not \[2, 195\]"):
        model.run(features[:, :195], mask)
    with pytest.raises(ExportError, match="2 rows of features but 1 of possible"):
        model.run(features, mask[:1])


# -- the manifest -------------------------------------------------------------------------------


@pytest.mark.parametrize("game", variant_names())
def test_a_consumer_of_the_manifest_reproduces_the_vectors(exported, game) -> None:
    """Code that has seen only the manifest gets inputs exactly and outputs within 1e-5."""
    _, folder = exported(game)
    manifest = json.loads((folder / "manifest.json").read_text())
    vectors = json.loads((folder / "vectors.json").read_text())["vectors"]
    assert len(vectors) >= 100
    assert len({vector["position"] for vector in vectors}) == len(vectors)
    initializers = onnx.load(folder / "model.onnx").graph.initializer
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in initializers}
    for vector in vectors:
        features = consumer.encode(manifest, board_of(vector))
        mask = consumer.possible(manifest, board_of(vector))
        assert np.array_equal(features, np.array(vector["features"], dtype=np.float32))
        assert mask.tolist() == vector["possible"]
        probs, equity = consumer.evaluate(manifest, weights, features, mask)
        np.testing.assert_allclose(probs, vector["probabilities"], atol=1e-5)
        assert equity == pytest.approx(vector["equity"], abs=1e-5)


@pytest.mark.parametrize("game", ["long", "short"])
def test_vectors_cover_the_phases_of_a_game(exported, game) -> None:
    """The vectors hold the start, checkers off, impossible outcomes and, in short, the bar."""
    network, folder = exported(game)
    vectors = json.loads((folder / "vectors.json").read_text())["vectors"]
    assert tuple(vectors[0]["roller"]) == network.variant.start_row()
    assert sum(vector["roller"][0] > 0 for vector in vectors) >= 5
    assert sum(0 in vector["possible"] for vector in vectors) >= 5
    assert (sum(vector["roller"][-1] > 0 for vector in vectors) >= 5) == (game == "short")
    assert np.std([vector["equity"] for vector in vectors]) > 0.01


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("long", {"score": "checkers_left"}),
        ("long", {"score": "oin_mars_koks"}),
        ("long", {"score": "oin_mars_koks_homemars"}),
        ("long", {"objective": "first_off_loses"}),
        ("short", {"objective": "first_off_loses"}),
        ("nackgammon", {}),
        ("emir", {"score": "oin_mars_koks"}),
        ("gulbar", {"score": "oin_mars_koks_homemars"}),
        ("long", {"last_roll_draw": "on"}),
    ],
)
def test_the_conditions_of_the_manifest_hold_for_every_score(tiny_network, game, options) -> None:
    """Possible outcomes by the manifest are those of the engine, for each way of scoring (T30)."""
    from nardy_rl.export.manifest import build_manifest

    variant = load_variant(game, options)
    manifest = build_manifest(load_network(tiny_network(variant)), "0", "0")
    boards = played_positions(variant, 300, seed=21)
    expected = batch.outcome_mask(variant, boards)
    assert 0 < expected.mean() < 1
    for board, row in zip(boards, expected, strict=True):
        told = {"roller": board[0].tolist(), "other": board[1].tolist()}
        assert consumer.possible(manifest, told).astype(bool).tolist() == row.tolist()


@pytest.mark.parametrize("game", variant_names())
def test_the_start_of_a_game(game) -> None:
    """CHN-1: the sides may begin with different memories; the manifest has a row of each."""
    variant = load_variant(game)
    told = position_of(variant)
    assert [told["start"], told["start_other"]] == variant.start_position().board().tolist()


def test_the_terms_come_along(exported) -> None:
    """An export is copied into other programs, so it says under which licence."""
    _, folder = exported("khachapuri")
    assert "Apache License" in (folder / "LICENSE").read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["license"] == json.loads((folder / "package.json").read_text())["license"]
    assert any("point" in rule for rule in manifest["variant"]["rules_in_words"])


def test_the_manifest_names_the_rules(exported) -> None:
    """Variant, digest, every rule, points and encoder version stand in the manifest."""
    network, folder = exported("long")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["variant"]["digest"] == network.variant.digest()
    assert manifest["variant"]["rules"] == network.variant.options()
    assert load_variant("long", manifest["variant"]["rules"]) == network.variant
    assert [(o["name"], o["points"]) for o in manifest["outcomes"]] == [
        ("win oin", 1),
        ("win mars", 2),
        ("lose oin", -1),
        ("lose mars", -2),
    ]
    assert manifest["encoder"]["version"] == 1
    assert manifest["position"]["opposite_point"][24] == 12
    assert manifest["network"]["quantised"] is False  # T40


# -- the folder ---------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize("game", ["short", "mad_nardy"])
def test_the_javascript_example_gets_the_inputs_right(exported, game) -> None:
    """The shipped example, run by Node.js, checks all inputs of the vectors and agrees."""
    _, folder = exported(game)
    command = ["node", "example.mjs", "--inputs-only"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "inputs of 128 positions: exact\n"
    path = folder / "vectors.json"
    data = json.loads(path.read_text())
    data["vectors"][5]["features"][0] += 1
    path.write_text(json.dumps(data))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_the_folder_is_complete_and_replaceable(exported) -> None:
    """A second export takes the place of the first; both hold exactly the promised files."""
    _, folder = exported("long")
    assert sorted(path.name for path in folder.iterdir()) == FILES
    _, again = exported("short")
    assert again == folder
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert json.loads((folder / "manifest.json").read_text())["variant"]["id"] == "short"
    assert not list(folder.parent.glob(".exported*"))
    assert "lose gammon | -2" in (folder / "README.md").read_text()
    assert "$" not in (folder / "README.md").read_text()


def test_foreign_folders_are_left_alone(tiny_network, tmp_path) -> None:
    """A folder with other things in it is never replaced."""
    network = load_network(tiny_network())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear diary")
    with pytest.raises(OutputError, match="not a folder written by this command"):
        export_network(network, tmp_path / "mine")
    assert (tmp_path / "mine" / "diary.txt").read_text() == "dear diary"


def test_a_failed_export_leaves_the_previous_one(exported, monkeypatch) -> None:
    """If the new model is wrong, the old folder stays and no half-written one is left (T45)."""
    network, folder = exported("short")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    broken = folder_module.build_model

    def wrong(network, version):
        model = broken(network, version)
        model.graph.initializer[0].raw_data = bytes(len(model.graph.initializer[0].raw_data))
        return model

    monkeypatch.setattr(folder_module, "build_model", wrong)
    with pytest.raises(ExportError, match="the exported model is off by"):
        export_network(network, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not list(folder.parent.glob(".exported*"))


def test_an_unwritable_target_is_one_sentence(tiny_network, tmp_path) -> None:
    """A target below a file cannot be created and is refused in words."""
    network = load_network(tiny_network())
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot write"):
        export_network(network, tmp_path / "file" / "exported")


def test_without_the_extra_one_sentence_says_what_to_install(tiny_network, monkeypatch) -> None:
    """Where onnx is missing, the message names the extra to install."""
    network = load_network(tiny_network())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nardy-rl\[export\]'"):
        export_network(network, Path("nowhere"))
    assert export.__all__ == ["MissingExtraError", "export_network"]


def test_not_an_export(tmp_path) -> None:
    """Opening a folder that is no export is one sentence."""
    with pytest.raises(ExportError, match="is not an exported network"):
        ExportedNetwork(tmp_path)


def test_what_a_game_remembers_is_explained(exported) -> None:
    """Every slot behind the bar has a name, a range and a meaning; owed dice are played first."""
    told = {}
    for game in ("mad_gulbar", "emir", "short"):
        network, folder = exported(game)
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        slots = [entry["slot_index"] for entry in manifest["position"]["memory"]]
        variant = network.variant
        assert slots == list(range(variant.bar + 1, variant.n_slots))
        assert all(
            entry["meaning"] and entry["most"] > 0 for entry in manifest["position"]["memory"]
        )
        told[game] = manifest["perspective"], (folder / "README.md").read_text("utf-8")
        shutil.rmtree(folder)
    assert ["play these out first" in text for text, _ in told.values()] == [True, False, False]
    assert ["acts again" in text for _, text in told.values()] == [True, True, False]
    assert ["a side remembers" in text for _, text in told.values()] == [True, True, False]


@pytest.mark.parametrize("game", ["short", "gulbar", "mad_gulbar", "emir"])
def test_a_consumer_rates_plays_as_the_evaluator_does(exported, game) -> None:
    """GUL-4, EMI-11: where the mover acts again nothing changes sign, whatever it owes or rolls."""
    network, folder = exported(game)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    initializers = onnx.load(folder / "model.onnx").graph.initializer
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in initializers}
    boards = played_positions(network.variant, 150, seed=8)
    dice = np.random.default_rng(8).integers(1, 7, (150, 2)).astype(np.int8)
    after = batch.afterstates(network.variant, boards, dice)
    rows = after.boards[batch.outcomes(network.variant, after.boards) < 0][::7]
    following, again = batch.next_states(network.variant, rows)
    probs = Evaluator(network, bearoff=False).probs(following)
    expected = np.where(again[:, None], probs, flip(probs))
    assert again.any() == (game != "short")
    assert not again.all()
    for board, probs in zip(rows, expected, strict=True):
        found = consumer.rate(manifest, weights, board[0].tolist(), board[1].tolist())
        np.testing.assert_allclose(found, probs, atol=1e-5)


def test_nobody_beats_a_side_that_has_finished() -> None:
    """DR-1: in the last turn the conditions rule out what the engine rules out, for both sides."""
    from nardy_rl.export.manifest import _requirements

    variant = load_variant("long", {"last_roll_draw": "on"})
    slot = variant.bar + 1 + [item.name for item in variant.memory].index("last_turn")
    boards = played_positions(variant, 40, seed=3)
    for side in (0, 1):
        last = boards.copy()
        last[:, 1 - side] = 0
        last[:, 1 - side, 0] = variant.setup.checkers
        last[:, side, slot] = 1
        last[:, 1 - side, slot] = 0
        outcomes = [{"requires": _requirements(variant, i)} for i in range(variant.n_outcomes)]
        manifest = {"position": {"bar": variant.bar}, "outcomes": outcomes}
        manifest["possible"] = {"contact_sum": variant.setup.points + 1}
        for board, row in zip(last, batch.outcome_mask(variant, last), strict=True):
            told = {"roller": board[0].tolist(), "other": board[1].tolist()}
            assert consumer.possible(manifest, told).astype(bool).tolist() == row.tolist()
            half = variant.n_outcomes // 2
            assert not row[side * half : (side + 1) * half].any()
