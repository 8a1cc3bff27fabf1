"""Checks a GPU against the CPU, trains short nardy on it and measures the result: 5 minutes.

    PYTHONPATH=engine:. python scripts/gpu_check.py

Python there needs torch, numpy and numba; hydra and tensorboard are not used. What else is
missing, safetensors, can be carried as a wheel and is unpacked for this one run:

    python -m pip download --no-deps --only-binary=:all: --dest wheels safetensors
    PYTHONPATH=engine:. python scripts/gpu_check.py --wheels wheels

`--cpu --seconds 20` goes the same way without a GPU. Exit codes: 1 a check failed, 2 no GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """Run the checks, the training and the match."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="do without a GPU")
    parser.add_argument("--seconds", type=int, default=180, help="training time")
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of games against pubeval")
    parser.add_argument("--wheels", type=Path, help="folder of wheels to use for this run")
    options = parser.parse_args()
    if options.wheels:
        return _again_with(options.wheels)
    from nardy_engine.errors import NardyError

    try:
        return _check("cpu" if options.cpu else "cuda", options.seconds, options.pairs)
    except NardyError as error:
        print(f"gpu_check: error: {error}", file=sys.stderr)
        return 2


def _again_with(wheels: Path) -> int:
    """Unpack the wheels into a temporary folder and run this script with them."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        subprocess.run([*pip, "--target", folder, *map(str, wheels.glob("*.whl"))], check=True)
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        given = sys.argv[1:]
        place = next(i for i, word in enumerate(given) if word.startswith("--wheels"))
        rest = given[:place] + given[place + (1 if "=" in given[place] else 2) :]
        command = [sys.executable, __file__, *rest]
        return subprocess.run(
            command, env=os.environ | {"PYTHONPATH": path}, check=False
        ).returncode


def _check(name: str, seconds: int, pairs: int) -> int:
    import torch

    from nardy_engine import load_variant
    from nardy_rl.bench import device as bench
    from nardy_rl.nets import pick_device
    from nardy_rl.report import render_table

    device = pick_device(name)
    shown = torch.cuda.get_device_name() if name == "cuda" else f"CPU, {os.cpu_count()} cores"
    print(f"{shown}; torch {torch.__version__}", flush=True)
    checks = bench.compare(load_variant("short"), device)
    for check in checks:
        verdict = "ok" if check.passed else "FAILED"
        print(f"  {check.name:<47} {check.difference:9.2e} <= {check.limit:7.0e}  {verdict}")
    print(f"training short nardy for {seconds} s ...", flush=True)
    config = bench.run_config("short", seconds, name, scale=4 if name == "cuda" else 1)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = bench.train_and_measure(config, Path(folder), "pubeval", pairs)
    rates = {
        "games_per_s": round(run.progress.games / run.progress.seconds, 1),
        "positions_per_s": round(run.progress.plies / run.progress.seconds, 1),
    }
    print(f"  games/s {rates['games_per_s']:,}, positions/s {rates['positions_per_s']:,}")
    print("  time: " + ", ".join(f"{stage} {share:.0%}" for stage, share in run.shares.items()))
    print(f"\n{render_table([run.result])}\n\n{time.monotonic() - start:.0f} s in all")
    passed = all(check.passed for check in checks)
    figures = {
        "device": shown, "torch": torch.__version__, "passed": passed, **rates,
        "workers": config.selfplay.workers, "games": run.progress.games,
        "checks": {check.name: check.difference for check in checks},
        "strength": run.result.to_json(),
    }  # fmt: skip
    print(json.dumps(figures))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
