"""Networks on disk: one safetensors file that describes itself, and a readable copy beside it.

`<name>.safetensors` holds the tensors and, in its header, the manifest: format version, rules,
encoder, network, training, measured strength. Both travel in one file, so that they can never be
of different generations (T43); `<name>.json` repeats the manifest for people
and listings, no network is loaded from it.
Saving is atomic (T45), loading refuses whatever does not fit in one sentence, nothing is ever
unpickled (T44). numpy only: an evaluation starts without torch.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_from_bytes
from safetensors.numpy import save as bytes_from_tensors

from nardy_engine import Variant, load_variant, variant_names
from nardy_engine.encoders import Encoder, encoder_ids, get_encoder
from nardy_engine.errors import CheckpointError, NardyError
from nardy_engine.rules import variant_from_options
from nardy_rl.files import write_atomic
from nardy_rl.resources import checkpoints_dir

FORMAT = 1
"""Version of the manifest; a reader refuses every other one."""

SUFFIX = ".safetensors"

_MAGIC = "nardy-network"
_LENGTH = struct.Struct("<Q")
"""A safetensors file starts with the length of its JSON header."""

Manifest: TypeAlias = dict[str, Any]
"""What a network says about itself, as JSON values; see `make_manifest`."""

Tensors: TypeAlias = dict[str, NDArray[np.float32]]
"""`layers.{i}.weight` `[out, in]` and `layers.{i}.bias` `[out]`, float32."""


@dataclass(frozen=True)
class Network:
    """A network as it lies on disk, checked: shapes, rules, encoder and content fit."""

    tensors: Tensors
    manifest: Manifest
    path: Path
    """File that it was read from."""

    @property
    def name(self) -> str:
        """File name without folder and suffix."""
        return self.path.name.removesuffix(SUFFIX)

    @cached_property
    def variant(self) -> Variant:
        """The game that it was trained for, rebuilt from the manifest."""
        return _variant_of(self.manifest)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of its inputs."""
        return get_encoder(_encoder_name(self.manifest), self.variant)

    @property
    def layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """`(weight [out, in], bias [out])` of each layer, input first."""
        n_layers = len(self.tensors) // 2
        return [
            (self.tensors[f"layers.{i}.weight"], self.tensors[f"layers.{i}.bias"])
            for i in range(n_layers)
        ]


def make_manifest(
    variant: Variant,
    encoder: Encoder,
    hidden: Sequence[int],
    *,
    games: int = 0,
    budget: str = "",
    commit: str = "",
    strength: Mapping[str, Any] | None = None,
) -> Manifest:
    """Describe a multilayer perceptron for `save_network`.

    Args:
        variant: The game with all its rules.
        encoder: Encoder of the inputs.
        hidden: Units of each hidden layer.
        games: Games of self-play that it has learned from, those of the networks that it started
            from included (`descent.py` takes the sum apart).
        budget: What was asked for, such as `10m`.
        commit: Revision of the code that trained it, empty if unknown.
        strength: Measured results as JSON values, by opponent.
    """
    return {
        "format": FORMAT,
        "variant": {
            "id": variant.id,
            "digest": variant.digest(),
            "options": variant.options(),
        },
        "encoder": {"id": encoder.id, "version": encoder.version},
        "net": {"type": "mlp", "hidden": list(hidden), "outputs": variant.n_outcomes},
        "games": games,
        "budget": budget,
        "commit": commit,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "strength": dict(strength or {}),
    }


def ancestry(source: Network) -> dict[str, Any]:
    """Return what the manifest of a network that started from another one tells of it."""
    manifest = source.manifest
    told = ("games", "budget", "commit", "net", "training", "weights_sha256")
    rules = {key: manifest["variant"][key] for key in ("id", "digest")}
    return {"variant": rules} | {key: manifest[key] for key in told if key in manifest}


def save_network(path: str | Path, tensors: Mapping[str, Any], manifest: Manifest) -> Path:
    """Write a network; a kill at any moment leaves the previous or the new file.

    Args:
        path: Target, with or without `.safetensors`.
        tensors: Numpy arrays by name, see `Tensors`; written as float32, not changed.
        manifest: Of `make_manifest`, perhaps with more entries.

    Returns:
        The path of the tensor file.

    Raises:
        CheckpointError: The tensors do not fit the manifest or hold numbers that are not finite.
        OutputError: The file cannot be written; the previous one is untouched.
    """
    target = with_suffix(Path(path))
    arrays = {
        name: np.ascontiguousarray(tensor, dtype=np.float32) for name, tensor in tensors.items()
    }
    full = {**manifest, "weights_sha256": _fingerprint(arrays)}
    _check_manifest(target, full)
    _check_tensors(target, full, _variant_of(full), {n: a.shape for n, a in arrays.items()})
    _check_finite(target, arrays)
    text = json.dumps(full, sort_keys=True, ensure_ascii=False)
    metadata = {"format": _MAGIC, "manifest": text, "manifest_sha256": _sha256(text.encode())}
    write_atomic(target, bytes_from_tensors(arrays, metadata=metadata))
    readable = json.dumps(full, indent=2, ensure_ascii=False) + "\n"
    write_atomic(target.with_name(target.name.removesuffix(SUFFIX) + ".json"), readable.encode())
    return target


def load_network(source: str | Path, variant: Variant | None = None) -> Network:
    """Read a network and check everything about it.

    Args:
        source: Path of a network, with or without `.safetensors`, or the name of a shipped one.
        variant: The game that it is to play; its rules must be those of the training.

    Raises:
        CheckpointError: It is missing, damaged, foreign or made for something else.
    """
    path = find_network(source)
    header, data = _read(path)
    manifest = _manifest_from(path, header)
    trained_for = _variant_of(manifest)
    if variant is not None and manifest["variant"]["digest"] != variant.digest():
        raise CheckpointError(f"{path} {_rules_differ(trained_for, variant)}")
    _check_tensors(path, manifest, trained_for, {n: _shape(entry) for n, entry in header.items()})
    if any(entry.get("dtype") != "F32" for entry in header.values()):
        raise CheckpointError(f"{path} holds tensors that are not float32")
    try:
        tensors: Tensors = tensors_from_bytes(data)
    except (SafetensorError, KeyError, TypeError, ValueError):
        raise CheckpointError(f"{path} is damaged: its tensors cannot be read") from None
    if _fingerprint(tensors) != manifest["weights_sha256"]:
        raise CheckpointError(f"{path} is damaged: its weights are not those that were saved")
    _check_finite(path, tensors)
    return Network(tensors, manifest, path)


def with_suffix(path: Path) -> Path:
    """Return `path` ending in `.safetensors`."""
    return path if path.name.endswith(SUFFIX) else path.with_name(path.name + SUFFIX)


def shipped_networks() -> list[str]:
    """Return the names of the networks that come with the package, in alphabetical order."""
    return sorted(path.name.removesuffix(SUFFIX) for path in checkpoints_dir().glob(f"*{SUFFIX}"))


def find_network(source: str | Path) -> Path:
    """Return the file of a network given by the name of a shipped one or by path.

    The bare name of a shipped network is that network from every folder, also from one where a
    file is called so; `./long` is that file.

    Raises:
        CheckpointError: There is none; the message lists what there is.
    """
    name = str(source).removesuffix(SUFFIX)
    if str(source) in shipped_networks():
        return checkpoints_dir() / (name + SUFFIX)
    path = Path(source)
    if str(source).startswith("net:"):
        raise CheckpointError(f"'{source}' is how bots are named; write {str(source)[4:]} alone")
    if not str(source):
        raise CheckpointError("the name of the network is empty; name a file or a shipped one")
    candidates = (
        [path] if path.name.endswith(SUFFIX) or not path.name else [with_suffix(path), path]
    )
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    if name in shipped_networks():
        return checkpoints_dir() / (name + SUFFIX)
    if path.is_dir():
        found = sorted(item.name for item in path.glob(f"*{SUFFIX}"))
        inside = f"it holds {', '.join(found)}" if found else "no network lies in it"
        raise CheckpointError(f"{path} is a folder, not a network; {inside}")
    shipped = ", ".join(shipped_networks()) or "none"
    raise CheckpointError(f"there is no network '{source}'; shipped with the package: {shipped}")


# -- reading ------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the header and all bytes of a safetensors file, its length checked."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror}") from None
    if len(data) < _LENGTH.size + 1 or data[_LENGTH.size : _LENGTH.size + 1] != b"{":
        raise CheckpointError(
            f"{path} is not a network of nardy: no safetensors header "
            "(pickled PyTorch files are never opened)"
        )
    (length,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + length
    if end > len(data):
        raise CheckpointError(f"{path} is damaged: it breaks off inside its header")
    try:
        header = json.loads(data[_LENGTH.size : end])
        entries = [entry for name, entry in header.items() if name != "__metadata__"]
        wanted = max((int(entry["data_offsets"][1]) for entry in entries), default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        raise CheckpointError(f"{path} is damaged: its header cannot be read") from None
    if end + wanted != len(data):
        raise CheckpointError(
            f"{path} is damaged: it has {len(data)} bytes, its header promises {end + wanted}"
        )
    return header, data


def _manifest_from(path: Path, header: dict[str, Any]) -> Manifest:
    """Take the manifest out of `header`, which keeps the tensor entries only."""
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != _MAGIC:
        raise CheckpointError(f"{path} is not a network of nardy: its header has no manifest")
    text = str(metadata.get("manifest"))
    if _sha256(text.encode(errors="replace")) != metadata.get("manifest_sha256"):
        raise CheckpointError(f"{path} is damaged: its manifest is not the one that was saved")
    try:
        manifest = json.loads(text)
    except ValueError:
        raise CheckpointError(f"{path} is damaged: its manifest is no JSON") from None
    _check_manifest(path, manifest)
    return dict(manifest)


def _shape(entry: dict[str, Any]) -> tuple[int, ...]:
    shape = entry.get("shape")
    return tuple(shape) if isinstance(shape, list) else ()


def _encoder_name(manifest: Manifest) -> str:
    """Return `id-version`, the name that `get_encoder` takes."""
    return f"{manifest['encoder']['id']}-{manifest['encoder']['version']}"


def _variant_of(manifest: Manifest) -> Variant:
    told = manifest["variant"]
    if told["id"] in variant_names():
        return load_variant(told["id"], told["options"])
    return variant_from_options(told["id"], told["id"], told["id"], told["options"])


# -- checks -------------------------------------------------------------------------------------


def _check_manifest(path: Path, manifest: Any) -> None:
    """Refuse a manifest of another format or one that does not say what it must."""
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != FORMAT:
        raise CheckpointError(f"{path} has format {version}; this version of nardy reads {FORMAT}")
    try:
        if not isinstance(manifest["variant"]["id"], str):
            raise TypeError("the name of a game is text")
        variant = _variant_of(manifest)
        digest = manifest["variant"]["digest"]
        encoder = _encoder_name(manifest)
        net = manifest["net"]
        hidden = net["hidden"]
        complete = net["type"] == "mlp" and all(type(n) is int and n > 0 for n in hidden)
        complete = complete and isinstance(hidden, list) and len(hidden) > 0
        complete = complete and isinstance(manifest["weights_sha256"], str)
        complete = complete and type(manifest.get("games", 0)) is int
        complete = complete and isinstance(manifest.get("training", {}), dict)
    except (KeyError, TypeError, AttributeError):
        complete = False
    except NardyError as error:
        raise CheckpointError(f"{path} was made for rules that do not exist: {error}") from None
    if not complete:
        raise CheckpointError(f"{path} has an incomplete manifest")
    if digest != variant.digest():
        raise CheckpointError(
            f"{path} says rules {digest}, but its list of rules has the digest {variant.digest()}"
        )
    if encoder not in encoder_ids():
        raise CheckpointError(
            f"{path} was trained with the encoder {encoder}; "
            f"this version of nardy has {', '.join(encoder_ids())}"
        )


def _check_tensors(
    path: Path, manifest: Manifest, variant: Variant, shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse tensors other than those of the network that the manifest describes."""
    width = get_encoder(_encoder_name(manifest), variant).width
    units = [width, *manifest["net"]["hidden"], variant.n_outcomes]
    wanted: dict[str, tuple[int, ...]] = {}
    for i, (n_in, n_out) in enumerate(pairwise(units)):
        wanted[f"layers.{i}.weight"] = (n_out, n_in)
        wanted[f"layers.{i}.bias"] = (n_out,)
    for name in sorted(wanted.keys() | shapes.keys()):
        if wanted.get(name) != shapes.get(name):
            raise CheckpointError(
                f"{path} does not fit its manifest: tensor {name} has shape "
                f"{shapes.get(name, 'none')}, not {wanted.get(name, 'none')}"
            )


def _check_finite(path: Path, tensors: Tensors) -> None:
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise CheckpointError(f"{path}: {name} holds numbers that are not finite")


def _rules_differ(theirs: Variant, ours: Variant) -> str:
    """Say which rules of the game asked for are not those of the training."""
    before, now = theirs.options(), ours.options()
    pairs = [
        f"{name}={_short(before.get(name))} (asked for: {_short(now.get(name))})"
        for name in now
        if before.get(name) != now.get(name)
    ]
    shown = 3
    more = f" and {len(pairs) - shown} more" if len(pairs) > shown else ""
    rules = "; ".join(pairs[:shown]) + more
    return f"was trained for {theirs.id}, not for the {ours.id} asked for; it has {rules}"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _fingerprint(tensors: Tensors) -> str:
    """Return the SHA-256 of names, shapes and values, whatever the order in the file."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name} {array.shape}\n".encode())
        # Little-endian as in the file, so that every machine gets the same digest.
        digest.update(array.astype("<f4", copy=False).tobytes())
    return digest.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
