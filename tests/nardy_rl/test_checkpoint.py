"""Networks on disk: self-describing, atomic, refused in words (faults T41-T45 as they apply)."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from nardy_engine import load_variant
from nardy_engine.encoders import get_encoder
from nardy_engine.errors import CheckpointError
from nardy_rl import checkpoint
from nardy_rl.checkpoint import load_network, make_manifest, save_network
from nardy_rl.files import OutputError

LONG = load_variant("long")
HIDDEN = (8, 5)


def long_manifest(**more):
    return make_manifest(LONG, get_encoder("thermometer-1", LONG), HIDDEN, **more)


def changed_manifest(path: Path, change) -> Path:
    """Rewrite the manifest of a network consistently, as another program might have written it."""
    network = load_network(path)
    manifest = json.loads(json.dumps(network.manifest))
    change(manifest)
    text = json.dumps(manifest)
    target = path.with_name("changed.safetensors")
    metadata = {
        "format": "nardy-network",
        "manifest": text,
        "manifest_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    save_file(network.tensors, target, metadata=metadata)
    return target


def one_sentence(error: pytest.ExceptionInfo) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_round_trip(tiny_network) -> None:
    """What was saved is loaded to the bit, with the game rebuilt from the file alone."""
    path = tiny_network("short", seed=3)
    network = load_network(path)
    again = load_network(tiny_network("short", name="again", seed=3))
    assert network.variant == load_variant("short")
    assert network.name == "tiny"
    assert network.encoder.name == "thermometer-1"
    assert network.manifest["games"] == 123
    assert network.manifest["net"] == {"type": "mlp", "hidden": [8, 5], "outputs": 6}
    assert network.tensors.keys() == again.tensors.keys()
    assert all(np.array_equal(network.tensors[k], again.tensors[k]) for k in network.tensors)
    assert [w.shape[0] for w, _ in network.layers] == [8, 5, 6]


def test_rules_travel_in_the_file(tiny_network) -> None:
    """A network trained with a changed rule knows that rule when it is loaded (L-23)."""
    variant = load_variant("long", {"block.check": "every_step"})
    network = load_network(tiny_network(variant))
    assert network.variant == variant
    assert network.variant.digest() != LONG.digest()


def test_found_with_and_without_suffix(tiny_network) -> None:
    """A path may leave out `.safetensors`."""
    path = tiny_network()
    assert load_network(str(path).removesuffix(".safetensors")).path == path


def test_readable_copy(tiny_network) -> None:
    """The .json beside a network tells a person the same as the file itself."""
    path = tiny_network()
    assert json.loads(path.with_suffix(".json").read_text()) == load_network(path).manifest


def test_copy_of_another_generation_is_ignored(tiny_network) -> None:
    """A stale .json beside newer weights cannot mislead: it is never read (T43)."""
    path = tiny_network(seed=1)
    path.with_suffix(".json").write_text('{"format": 99}')
    assert load_network(path).manifest["format"] == 1


def test_shipped_networks_are_found_by_name(tiny_network, monkeypatch, tmp_path) -> None:
    """The name of a game finds its shipped network from any folder."""
    tiny_network(name="long")
    monkeypatch.setattr(checkpoint, "checkpoints_dir", lambda: tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load_network("long", LONG).name == "long"
    with pytest.raises(CheckpointError, match="no network 'lnog'; shipped with the package: long"):
        load_network("lnog")


def test_a_file_does_not_hide_the_shipped_network(tiny_network, monkeypatch, tmp_path) -> None:
    """The bare name of a game is the shipped network, also beside a file of that name."""
    shipped = tiny_network(name="long", seed=1)
    monkeypatch.setattr(checkpoint, "checkpoints_dir", lambda: tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    tiny_network(name="elsewhere/long", seed=2)
    monkeypatch.chdir(elsewhere)
    assert load_network("long").path == shipped
    assert load_network("./long").path.resolve() == elsewhere / "long.safetensors"
    assert load_network("long.safetensors").path.resolve() == elsewhere / "long.safetensors"


# -- refusals -----------------------------------------------------------------------------------


def test_wrong_rules_are_named(tiny_network) -> None:
    """A network of other rules is refused with the rules that differ."""
    path = tiny_network("long")
    with pytest.raises(CheckpointError) as error:
        load_network(path, load_variant("long", {"block.check": "every_step"}))
    assert "block.check=end_of_segment (asked for: every_step)" in one_sentence(error)
    with pytest.raises(CheckpointError, match="trained for long, not for the short asked for"):
        load_network(path, load_variant("short"))


def test_missing_and_folder(tmp_path, tiny_network) -> None:
    """A path to nothing and a path to a folder are told apart."""
    with pytest.raises(CheckpointError, match="there is no network"):
        load_network(tmp_path / "nothing.safetensors")
    tiny_network()
    with pytest.raises(CheckpointError, match=r"is a folder.*it holds tiny.safetensors"):
        load_network(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no safetensors header"),
        (b"PK\x03\x04 a zip archive, as torch.save writes", "no safetensors header"),
        (b"hello, this is a text file", "no safetensors header"),
        (b"\xff" * 8 + b"{", "breaks off inside its header"),
        (b"\x02" + bytes(7) + b"{}", "its header has no manifest"),
        (b"\x02" + bytes(7) + b"{]", "header cannot be read"),
    ],
)
def test_foreign_files(tmp_path, content, words) -> None:
    """Files of other kinds are refused in one sentence."""
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=words) as error:
        load_network(path)
    one_sentence(error)


def test_a_pickle_is_never_executed(tmp_path) -> None:
    """A pickled file is refused without being opened (T44)."""

    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    path = tmp_path / "trap.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(CheckpointError):
        load_network(path)
    assert not (tmp_path / "executed").exists()


def test_safetensors_of_others(tmp_path) -> None:
    """A safetensors file of another program has no manifest and is refused."""
    path = tmp_path / "other.safetensors"
    save_file({"w": np.zeros(3, dtype=np.float32)}, path)
    with pytest.raises(CheckpointError, match="its header has no manifest"):
        load_network(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.update(format=2), "has format 2; this version of nardy reads 1"),
        (
            lambda m: m["encoder"].update(id="unheard-of"),
            "encoder unheard-of-1; this version of nardy",
        ),
        (lambda m: m["encoder"].update(version=77), "the encoder thermometer-77; this version"),
        (lambda m: m["net"].update(hidden=[8, 6]), "does not fit its manifest"),
        (lambda m: m["net"].update(hidden=[8]), "does not fit its manifest"),
        (lambda m: m["net"].update(type="transformer"), "incomplete manifest"),
        (lambda m: m["net"].update(hidden=[]), "incomplete manifest"),
        (lambda m: m.pop("variant"), "incomplete manifest"),
        (lambda m: m["variant"].update(digest="0" * 16), "says rules 0000"),
        (lambda m: m["variant"]["options"].update(score="lottery"), "rules that do not exist"),
        (lambda m: m.update(weights_sha256="0" * 64), "its weights are not those"),
    ],
)
def test_manifests_that_do_not_fit(tiny_network, change, words) -> None:
    """Another format, encoder, shape, net or digest is refused in one sentence."""
    path = changed_manifest(tiny_network(), change)
    with pytest.raises(CheckpointError, match=words) as error:
        load_network(path)
    one_sentence(error)


def test_diverged_weights_are_not_saved(tiny_network, tmp_path) -> None:
    """A network with NaN is refused when it is saved, and the previous file stays."""
    path = tiny_network()
    tensors = dict(load_network(path).tensors)
    tensors["layers.1.bias"] = tensors["layers.1.bias"] * np.float32("nan")
    with pytest.raises(CheckpointError, match=r"layers\.1\.bias holds numbers that are not finite"):
        save_network(path, tensors, long_manifest())
    load_network(path)


def test_weights_that_do_not_fit_are_not_saved(tmp_path) -> None:
    """A missing tensor is noticed when saving, not months later when loading."""
    with pytest.raises(CheckpointError, match=r"tensor layers\.0\.bias has shape none"):
        save_network(tmp_path / "x", {}, long_manifest())
    assert list(tmp_path.iterdir()) == []


# -- damage -------------------------------------------------------------------------------------


def test_every_truncation_is_noticed(tiny_network) -> None:
    """A file cut off at any of its bytes is refused."""
    path = tiny_network(hidden=(2,))
    data = path.read_bytes()
    for length in {*range(0, len(data), 37), len(data) - 1}:
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError) as error:
            load_network(path)
        one_sentence(error)


def test_every_changed_byte_is_noticed(tiny_network) -> None:
    """One changed byte is refused in words or changes nothing that is read."""
    path = tiny_network(hidden=(2,))
    data = path.read_bytes()
    original = load_network(path)
    rng = np.random.default_rng(7)
    refused = 0
    for place in {*range(300), *rng.integers(0, len(data), 300).tolist()}:
        damaged = bytearray(data)
        damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            network = load_network(path)
        except CheckpointError:
            refused += 1
            continue
        assert network.manifest == original.manifest
        assert all(np.array_equal(network.tensors[k], v) for k, v in original.tensors.items())
    assert refused > 500


KILLED_SAVE = """
import os, resource, signal, sys
import numpy as np
from nardy_rl.checkpoint import load_network, save_network
path, sizes, fatal = sys.argv[1], eval(sys.argv[2]), sys.argv[3] == "kill"
old = load_network(path)
new = {name: tensor + np.float32(1) for name, tensor in old.tensors.items()}
for size in sizes:
    child = os.fork()
    if child == 0:
        # Past `size` bytes of one file the kernel kills the process, or says "file too large".
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if fatal else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            save_network(path, new, old.manifest)
        except Exception as error:
            print(type(error).__name__, error)
            sys.stdout.flush()
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    kept = load_network(path)
    same = all(np.array_equal(kept.tensors[k], v) for k, v in old.tensors.items())
    print(size, os.waitstatus_to_exitcode(status), "old" if same else "other")
"""


def run_killed_save(path: Path, sizes: list[int], mode: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", KILLED_SAVE, str(path), repr(sizes), mode],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes as on POSIX")
def test_a_kill_at_any_byte_keeps_the_previous_network(tiny_network) -> None:
    """A process that dies at byte n of a save leaves the previous network loadable (T45)."""
    path = tiny_network()
    size = path.stat().st_size
    sizes = [0, 1, size - 1, *np.random.default_rng(11).integers(0, size - 1, 40).tolist()]
    lines = run_killed_save(path, sizes, "kill")
    assert len(lines) == len(sizes)
    assert all(line.split()[1] == "-25" for line in lines), lines  # died of SIGXFSZ
    assert all(line.endswith("old") for line in lines), lines


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits files as on POSIX")
def test_a_full_disk_is_one_sentence_and_keeps_the_previous_network(tiny_network, tmp_path) -> None:
    """A disk that takes no more bytes is reported, nothing is lost and nothing is left over."""
    path = tiny_network()
    before = sorted(item.name for item in tmp_path.iterdir())
    said, result = run_killed_save(path, [100], "refuse")
    assert said.startswith(f"OutputError cannot write {path}: ")
    assert result == "100 3 old"
    assert sorted(item.name for item in tmp_path.iterdir()) == before


def test_unwritable_folder(tiny_network, tmp_path) -> None:
    """A folder that cannot be created is one sentence."""
    (tmp_path / "file").write_text("in the way")
    network = load_network(tiny_network())
    with pytest.raises(OutputError, match="cannot write") as error:
        save_network(tmp_path / "file" / "net", network.tensors, network.manifest)
    one_sentence(error)
