"""`nardy export`: a network as a folder that other programs can use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from nardy_engine import load_variant
from nardy_rl.commands.networks import add_network_argument, network_for
from nardy_rl.commands.parser import CommandParser, add_game_arguments, options_from
from nardy_rl.export import export_network
from nardy_rl.files import OutputError


def main(argv: Sequence[str]) -> int:
    """Run `nardy export`."""
    parser = CommandParser(
        "export",
        "Write a network for other programs: an ONNX file with a dynamic batch, a manifest that\n"
        "describes every input and output, reference vectors to test an implementation with, and\n"
        "a working consumer in JavaScript. Needs: pip install 'nardy-rl[export]'.",
        [
            "nardy export --variant long",
            "nardy export --variant short --net mine.safetensors --out my-app/network",
        ],
    )
    add_game_arguments(parser)
    add_network_argument(parser)
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="where to write; an earlier export is replaced (default: export/GAME)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    arguments = parser.parse(argv)
    variant = load_variant(arguments.variant, options_from(arguments.option))
    network = network_for(variant, arguments.net)
    folder = export_network(network, _target(arguments.out, variant.id))
    files = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    if arguments.json:
        print(json.dumps({"variant": variant.id, "folder": str(folder), "files": files}))
    else:
        print(_as_text(variant.title, folder, files))
    return 0


def _target(out: str | None, game: str) -> Path:
    if out is None:
        return Path("export") / game
    if not out:
        raise OutputError("--out is empty; name a folder")
    return Path(out)


_MEANING = {
    "README.md": "how to use it; start here",
    "model.onnx": "the network, verified against the reference vectors",
    "manifest.json": "rules, position, inputs and outputs, in tables",
    "vectors.json": "positions with exact inputs and outputs",
    "nardy.mjs": "the inputs, written in JavaScript from the manifest",
    "example.mjs": "a complete consumer: npm install && node example.mjs",
    "package.json": "what npm installs for it",
    "LICENSE": "the terms for all of it: Apache-2.0",
}


def _as_text(title: str, folder: Path, files: dict[str, int]) -> str:
    width = max(map(len, files))
    lines = [
        f"  {name:<{width}}  {files[name] / 1024:7.1f} KiB  {meaning}"
        for name, meaning in _MEANING.items()
    ]
    return "\n".join([f"{title}: exported to {folder}", *lines])
