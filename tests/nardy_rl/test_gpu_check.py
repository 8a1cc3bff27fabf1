"""The check of a GPU, on the CPU: it starts on a bare machine, compares, trains and measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from nardy_engine import load_variant
from nardy_rl.bench import device as bench
from nardy_rl.bench.device import Check

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "gpu_check.py"

BARE_MACHINE = """
import sys
from importlib.machinery import ModuleSpec

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("hydra", "omegaconf", "tensorboard", "tqdm"):
            return ModuleSpec(name, self)

    def create_module(self, spec):
        raise ModuleNotFoundError(f"{spec.name} is not installed here")

    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Missing())
"""
"""Runs at the start of every Python that finds it on its path."""


def write_wheel(folder: Path) -> None:
    """Write a wheel of one module that says where it was imported from."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "carried-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("carried.py", "")
        info = "carried-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: carried\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def run_script(path: list[Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [*map(str, path), str(ROOT / "engine"), str(ROOT)]
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_runs_without_gpu_and_without_hydra(tmp_path) -> None:
    """With carried wheels and none of hydra, tensorboard, tqdm it goes all the way on the CPU."""
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "sitecustomize.py").write_text(BARE_MACHINE)
    write_wheel(tmp_path / "wheels")
    done = run_script(
        [bare], "--cpu", "--seconds", "2", "--pairs", "4", "--wheels", str(tmp_path / "wheels")
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("  ok\n") == 6
    assert "cpu  pubeval" in done.stdout
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["passed"] is True
    assert figures["games_per_s"] > 0
    assert figures["positions_per_s"] > 10 * figures["games_per_s"]
    assert figures["strength"]["b"] == "pubeval"
    assert figures["strength"]["games"] == 8


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_is_one_sentence() -> None:
    """Without --cpu and without a GPU the script says so in one line and exits 2."""
    done = run_script([], "--seconds", "1")
    assert done.returncode == 2
    assert done.stderr.startswith("gpu_check: error: device=cuda, but torch finds no GPU here")
    assert done.stderr.count("\n") == 1


def test_a_check_that_is_off_fails() -> None:
    """A difference above the limit, or one that is no number, does not pass."""
    assert Check("x", 0.5, 1.0).passed
    assert not Check("x", 1.5, 1.0).passed
    assert not Check("x", float("nan"), 1.0).passed


def test_a_device_that_computes_otherwise_is_noticed(monkeypatch) -> None:
    """If self-play's copy of the network had other weights, the comparison would say so."""
    short, cpu = load_variant("short"), torch.device("cpu")
    assert all(check.passed for check in bench.compare(short, cpu))
    made = iter(range(100))
    net = bench._net

    def different(variant):
        result = net(variant)
        with torch.no_grad():
            result.layers[0].weight.mul_(1 + 0.01 * next(made))
        return result

    monkeypatch.setattr(bench, "_net", different)
    failed = [check.name for check in bench.compare(short, cpu) if not check.passed]
    assert "logits, float32" in failed
    assert "equities of plays, float32, worst" in failed
    assert "gradients of one step, relative to the largest" in failed


@pytest.mark.gpu
def test_the_gpu_agrees_with_the_cpu() -> None:
    """Network, learning step and playing network on the GPU agree with the CPU."""
    checks = bench.compare(load_variant("short"), torch.device("cuda"))
    assert all(check.passed for check in checks), checks
