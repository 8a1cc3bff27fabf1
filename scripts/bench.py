"""Measures the speed of engine, network and training: the same as `nardy bench`.

    python scripts/bench.py --peers                       # beside other programs instead
    python scripts/bench.py --peers --quick --only listing decisions
    python scripts/bench.py --peers --json peers.json

`--peers` installs OpenSpiel, Pgx, bgsage, gnubg-nn and gnubg, each in an environment of its own
under ~/.cache/nardy-rl/peers, and measures them and this project in turn, in separate processes.
Leave the machine alone meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from nardy_engine import load_variant
from nardy_engine.errors import NardyError
from nardy_rl.bench import environments
from nardy_rl.bench.engine import BATCH, random_positions
from nardy_rl.bench.peers import (
    OURS,
    Command,
    Programs,
    comparisons,
    measure_peers,
    render_peers,
    write_sample,
)
from nardy_rl.cli import main as nardy
from nardy_rl.cores import usable_cores
from nardy_rl.files import check_target, write_atomic

WORKERS = Path(__file__).resolve().parent / "peers"
THOROUGH, QUICK = (5, 2.0, 20_000), (1, 0.5, 3_000)
"""Runs of each program, their seconds, and games of training before it is measured."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy bench`, or the comparison with peers."""
    if "--peers" not in argv:
        return nardy(["bench", *argv])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", action="store_true", required=True, help="this comparison")
    parser.add_argument("--quick", action="store_true", help="one short run of each")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    parser.add_argument(
        "--only", nargs="+", metavar="WHAT", default=[], help="some of the comparisons"
    )
    parser.add_argument(
        "--without", nargs="+", metavar="PROGRAM", default=[], help="leave these programs out"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="where the programs are installed"
    )
    arguments = parser.parse_args(argv)
    runs, seconds, warm = QUICK if arguments.quick else THOROUGH
    plan = comparisons(usable_cores(), warm)
    known = [comparison.key for comparison in plan]
    for key in arguments.only:
        if key not in known:
            parser.error(f"there is no comparison '{key}', only {', '.join(known)}")
    if arguments.only:
        plan = [comparison for comparison in plan if comparison.key in arguments.only]
    prepare = preparations(arguments.cache)
    for name in arguments.without:
        if name not in prepare:
            parser.error(f"there is no program '{name}', only {', '.join(prepare)}")
        prepare[name] = _left_out
    total = sum((runs + 1) * len(comparison.contestants) for comparison in plan)
    try:
        if arguments.json:
            check_target(Path(arguments.json))
        with tempfile.TemporaryDirectory() as folder, tqdm(total=total, disable=None) as bar:

            def progress(text: str) -> None:
                bar.set_description(text)
                bar.update()

            sample = Path(folder) / "positions.json"
            boards, dice = random_positions(load_variant("short"), 8 * BATCH, seed=1)
            # Programs that are slower see fewer of them, so every part is like the whole.
            order = np.random.default_rng(1).permutation(len(boards))
            write_sample(sample, boards[order], dice[order])
            programs = Programs(prepare)
            document = measure_peers(plan, programs, runs, seconds, str(sample), progress)
        print(render_peers(document))
        if arguments.json:
            text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            write_atomic(Path(arguments.json), text.encode())
    except NardyError as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 2
    return 0


def preparations(cache: Path | None) -> dict[str, Callable[[], Command]]:
    """Return what installs each program and says how to start its worker."""

    def in_environment(environment: environments.Environment, worker: str) -> Command:
        python = environments.interpreter(environment, cache)
        return Command([str(python), str(WORKERS / worker)], {"PYTHONPATH": ""})

    def gnubg() -> Command:
        words = environments.gnubg_command(cache)
        return Command([sys.executable, str(WORKERS / "gnubg_worker.py"), *words])

    return {
        OURS: lambda: Command([sys.executable, str(WORKERS / "nardy_worker.py")]),
        "OpenSpiel": lambda: in_environment(environments.OPENSPIEL, "openspiel_worker.py"),
        "Pgx": lambda: in_environment(environments.PGX, "pgx_worker.py"),
        "bgsage": lambda: in_environment(environments.BGSAGE, "bgsage_worker.py"),
        "gnubg-nn": lambda: in_environment(environments.GNUBG_NN, "gnubg_nn_worker.py"),
        "gnubg": gnubg,
    }


def _left_out() -> Command:
    raise environments.InstallError("left out on the command line")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
