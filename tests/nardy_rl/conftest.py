"""Tiny random networks: enough to test what wraps a network, trained by nobody."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nardy_engine import Variant, load_variant
from nardy_engine.encoders import get_encoder
from nardy_rl import checkpoint, cli
from nardy_rl.checkpoint import Tensors, make_manifest, save_network

# A shell that runs the tests in the background makes them ignore interrupts; some tests send one.
signal.signal(signal.SIGINT, signal.default_int_handler)

ENCODER = "thermometer"


def random_tensors(variant: Variant, hidden: tuple[int, ...], seed: int) -> Tensors:
    """Draw weights of an MLP that are large enough for opinions to differ."""
    rng = np.random.default_rng(seed)
    units = [get_encoder(ENCODER, variant).width, *hidden, variant.n_outcomes]
    tensors: Tensors = {}
    for i, (n_in, n_out) in enumerate(pairwise(units)):
        weight = rng.normal(0, np.sqrt(2 / n_in), (n_out, n_in))
        tensors[f"layers.{i}.weight"] = weight.astype(np.float32)
        tensors[f"layers.{i}.bias"] = rng.normal(0, 0.3, n_out).astype(np.float32)
    return tensors


@pytest.fixture
def tiny_network(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a random network of a variant and returns its path."""

    def write(
        variant: str | Variant = "long",
        name: str = "tiny",
        hidden: tuple[int, ...] = (8, 5),
        seed: int = 1,
    ) -> Path:
        game = load_variant(variant) if isinstance(variant, str) else variant
        manifest = make_manifest(
            game, get_encoder(ENCODER, game), hidden, games=123, budget="2m", commit="abc1234"
        )
        return save_network(tmp_path / name, random_tensors(game, hidden, seed), manifest)

    return write


@pytest.fixture
def nardy(capsys, tmp_path, monkeypatch):
    """Return a function that runs a command line: `(exit code, output, errors)`."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    monkeypatch.setattr(checkpoint, "checkpoints_dir", lambda: shipped)
    monkeypatch.chdir(tmp_path)

    def run(*argv: str):
        code = cli.main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
