"""Writes an exported folder: model, manifest, vectors, README and a consumer in JavaScript.

The folder is built beside its target, run through onnxruntime against the reference vectors, and
only then put in place: nobody finds a half-written or a wrong export.
"""

from __future__ import annotations

import hashlib
import json
from importlib import metadata, resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from nardy_rl import __version__
from nardy_rl.checkpoint import Network
from nardy_rl.evaluator import Evaluator
from nardy_rl.export.graph import build_model
from nardy_rl.export.manifest import build_manifest
from nardy_rl.export.runtime import ExportedNetwork, ExportError
from nardy_rl.export.vectors import TOLERANCE, build_vectors
from nardy_rl.files import new_folder
from nardy_rl.resources import licence

MANIFEST, MODEL, VECTORS = "manifest.json", "model.onnx", "vectors.json"

_CONSUMER = ("nardy.mjs", "example.mjs", "package.json")
FILES = (MANIFEST, MODEL, VECTORS, "README.md", "LICENSE", *_CONSUMER)


def export_network(network: Network, folder: str | Path) -> Path:
    """Write a network for other programs; replaces an earlier export in the same folder.

    Args:
        network: Borrowed.
        folder: Target.

    Returns:
        The folder.

    Raises:
        OutputError: The folder holds something else or cannot be written.
        ExportError: The written model does not give the network's values.
    """
    target = Path(folder)
    evaluator = Evaluator(network, bearoff=False)  # the model knows no tables
    model = build_model(network, __version__).SerializeToString()
    manifest = build_manifest(network, __version__, hashlib.sha256(model).hexdigest())
    manifest["versions"]["onnx"] = metadata.version("onnx")
    vectors = build_vectors(evaluator)
    with new_folder(target, FILES, (MANIFEST, MODEL, VECTORS)) as building:
        (building / MODEL).write_bytes(model)
        _write_text(building / MANIFEST, _compact_json(manifest))
        _write_text(building / VECTORS, _compact_json(vectors))
        _write_text(building / "README.md", _readme(manifest, len(vectors["vectors"])))
        consumer = resources.files("nardy_rl.export") / "consumer"
        for name in _CONSUMER:
            _write_text(building / name, (consumer / name).read_text(encoding="utf-8"))
        _write_text(building / "LICENSE", licence().read_text(encoding="utf-8"))
        _verify(building, vectors["vectors"])
    return target


def _verify(folder: Path, vectors: list[dict[str, Any]]) -> None:
    """Refuse a model that gives other values than the network that it was made from (T38)."""

    def column(name: str) -> Any:
        return np.array([vector[name] for vector in vectors], dtype=np.float32)

    probs, equity = ExportedNetwork(folder).run(column("features"), column("possible"))
    error = max(
        np.abs(probs - column("probabilities")).max(), np.abs(equity - column("equity")).max()
    )
    if not error <= TOLERANCE:
        raise ExportError(f"the exported model is off by {error:.1e}; nothing was written")


def _compact_json(value: Any, depth: int = 2) -> str:
    """Write JSON with the outer levels indented and one line for everything inside."""

    def write(item: Any, level: int) -> str:
        if level == depth or not isinstance(item, dict | list) or not item:
            return json.dumps(item, ensure_ascii=False)
        pad, end = "  " * (level + 1), "  " * level
        if isinstance(item, dict):
            lines = [
                f"{json.dumps(k, ensure_ascii=False)}: {write(v, level + 1)}"
                for k, v in item.items()
            ]
            return "{\n" + ",\n".join(pad + line for line in lines) + f"\n{end}}}"
        lines = [write(v, level + 1) for v in item]
        return "[\n" + ",\n".join(pad + line for line in lines) + f"\n{end}]"

    return write(value, 0) + "\n"


def _readme(manifest: dict[str, Any], n_vectors: int) -> str:
    template = resources.files("nardy_rl.export") / "consumer" / "README.md.template"
    rows = [
        f"| {entry['index']} | {entry['name']} | {entry['points']:+d} |"
        for entry in manifest["outcomes"]
    ]
    slots = manifest["position"]["memory"]
    memory = (
        "\n   Behind the bar stands what a side remembers: `position.memory` in the manifest."
        if slots
        else ""
    )
    names = {slot["name"] for slot in slots}
    exceptions = (
        "\n   Not so where the mover acts again or dice are owed: see the manifest's `perspective`."
        if names & {"again", "owed_1"}
        else ""
    )
    return Template(template.read_text(encoding="utf-8")).substitute(
        memory=memory,
        exceptions=exceptions,
        title=manifest["variant"]["title"],
        variant=manifest["variant"]["id"],
        digest=manifest["variant"]["digest"],
        encoder=f"{manifest['encoder']['id']}-{manifest['encoder']['version']}",
        width=manifest["encoder"]["width"],
        n_outcomes=len(manifest["outcomes"]),
        outcomes="\n".join(rows),
        n_vectors=n_vectors,
        tolerance=TOLERANCE,
        version=manifest["versions"]["nardy_rl"],
    )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
