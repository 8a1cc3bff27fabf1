"""Long measurements in parts that are kept on disk, so that a killed run goes on.

What is measured has an identity, plain data that says all the result depends on: rules, weights,
bots, seed. Its parts lie in a folder named after that; a part that is there is read, not measured
again. Layer: nardy_rl, numpy only.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import nardy_engine
import nardy_rl
from nardy_engine import Variant
from nardy_rl import __version__
from nardy_rl.arena import BLOCK_PAIRS, PLY_CAP, match
from nardy_rl.bench.environments import GNUBG_NN
from nardy_rl.bench.gnubg import PREFIXES, is_gnubg
from nardy_rl.checkpoint import load_network
from nardy_rl.evaluator import Evaluator
from nardy_rl.files import write_atomic
from nardy_rl.luck import Luck
from nardy_rl.metrics import MatchResult, join
from nardy_rl.players import Bot
from nardy_rl.players.registry import split_depth

Arrays: TypeAlias = dict[str, NDArray[Any]]

_NETWORK = "net:"
_PART_PAIRS = (4096, 128, 16)
"""Pairs of a part by the deepest search of its bots: a minute of work or less."""


def identity(spec: str, variant: Variant) -> dict[str, str]:
    """Return what the play of a bot depends on, as far as it can be told.

    Raises:
        CheckpointError: The bot is a network that is missing, damaged, or of other rules.
    """
    found = {"bot": spec, "version": __version__, "code": _code_digest()}
    if is_gnubg(spec):
        pinned = spec.startswith(PREFIXES[0])
        return found | {"gnubg": GNUBG_NN.requirements[0] if pinned else "as Debian has it"}
    if spec.startswith(_NETWORK):
        source, plies = split_depth(spec.removeprefix(_NETWORK))
        manifest = load_network(source, variant).manifest
        found |= {"bot": f"{_NETWORK}@{plies}ply", "weights": manifest["weights_sha256"]}
    return found


@cache
def _code_digest() -> str:
    """Return a digest of the code that decides about a game."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> list[Path]:
    """Return the files that decide about a game: dice, rules, bots, values, counting.

    Other programs are asked by scripts that belong to it too.
    """
    ours, engine = Path(nardy_rl.__file__).parent, Path(nardy_engine.__file__).parent
    names = (
        "arena", "decisions", "evaluator", "likely_replies", "luck", "outcomes", "rolls", "search",
        "bench/gnubg", "bench/judged",
    )  # fmt: skip
    sources = [ours / f"{name}.py" for name in names]
    sources += engine.glob("*.py")
    parts = ("kernels", "batch", "bearoff", "encoders", "rules", "reference")
    folders = [engine / name for name in parts]
    for folder in (ours / "players", *folders):
        sources += [path for path in folder.glob("**/*") if path.suffix in (".py", ".toml", ".txt")]
    sources += (ours.parent / "scripts").glob("**/gnubg_*.py")
    return sorted(sources)


def depth(spec: str) -> int:
    """Return how many plies a bot looks ahead, by its spec.

    >>> depth("net:short"), depth("net:a/b@2ply"), depth("gnubg:1")
    (0, 2, 1)
    """
    if spec.startswith(_NETWORK):
        return split_depth(spec.removeprefix(_NETWORK))[1]
    ply = spec.partition(":")[2]
    return int(ply) if is_gnubg(spec) and ply.isdecimal() else 0


class Store:
    """A folder of finished parts."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        """Use `folder`, which is made when the first part is kept.

        Args:
            folder: Of all measurements.
            fresh: Measure everything again, and keep that.
        """
        self.folder, self._fresh = folder, fresh

    def part(self, what: Mapping[str, Any], name: str, make: Callable[[], Arrays]) -> Arrays:
        """Return a part of a measurement: from disk, or else made now and kept.

        Args:
            what: Identity of the measurement, JSON values.
            name: The part in it.
            make: Measures; a kill meanwhile leaves nothing.

        Raises:
            OutputError: The disk is full, ...
        """
        text = json.dumps(what, sort_keys=True, indent=1)
        folder = self.folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        path = folder / f"{name}.npz"
        if path.exists() and not self._fresh:
            with np.load(path) as found:
                return dict(found)
        made = make()
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **made)
        if not (folder / "what.json").exists():
            write_atomic(folder / "what.json", f"{text}\n".encode())
        write_atomic(path, buffer.getvalue())
        return made


def stored_match(
    bots: tuple[Bot, Bot],
    specs: tuple[str, str],
    variant: Variant,
    pairs: int,
    seed: int,
    store: Store,
    *,
    luck: str = "",
    workers: int = 2,
    progress: Callable[[int], object] = lambda pairs: None,
) -> MatchResult:
    """Play a match as `arena.match` does, in parts that are kept.

    Args:
        bots: The bots; the result takes the view of the first.
        specs: Their specs, which tell the depth of their search and their weights.
        variant: The game.
        pairs: Dice streams, each played twice.
        seed: Fixes all dice and all random choices.
        store: Where finished parts are.
        luck: Spec of a network by which the luck of rolls is measured; "" = it is not.
        workers: Threads.
        progress: Called with the number of pairs after each part or block.
    """
    plies = max(map(depth, specs))
    size = _PART_PAIRS[min(plies, len(_PART_PAIRS) - 1)]
    block = min(BLOCK_PAIRS, max(1, size // 4))  # whatever the threads: batches round alike
    what = {
        "rules": variant.digest(),
        "bots": [identity(spec, variant) for spec in specs],
        "seed": seed,
        "ply_cap": PLY_CAP,
    }
    meter = None
    if luck:
        what["luck"] = identity(luck, variant)
        meter = Luck(Evaluator.load(luck.removeprefix(_NETWORK), variant))
    parts = []
    for first in range(0, pairs, size):
        n = min(size, pairs - first)
        played: list[int] = []

        def play(first: int = first, n: int = n, played: list[int] = played) -> Arrays:
            def note(done: int) -> None:
                played.append(done)
                progress(done)

            result = match(
                *bots, variant, n, seed,
                first=first, workers=workers, block_pairs=block, luck=meter, progress=note,
            )  # fmt: skip
            measured = {} if result.luck is None else {"luck": result.luck}
            return measured | {
                "outcomes": result.outcomes,
                "plies": result.plies,
                "fingerprints": result.fingerprints,
            }

        found = store.part(what, f"{first}-{n}", play)
        if not played:
            progress(n)
        parts.append(
            MatchResult(
                variant=variant, a=bots[0].name, b=bots[1].name, seed=seed, ply_cap=PLY_CAP,
                outcomes=found["outcomes"], plies=found["plies"],
                fingerprints=found["fingerprints"], luck=found.get("luck"),
            )
        )  # fmt: skip
    return join(parts)
