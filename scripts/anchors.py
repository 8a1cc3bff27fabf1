"""Measure against GNU Backgammon, in a process of its own: strength, rules.

    python scripts/anchors.py strength net:short --pairs 6000
    python scripts/anchors.py strength net:runs/short/NAME/short.safetensors --against gnubg:0
    python scripts/anchors.py rules --positions 100000

`strength` plays bots (any network file: `net:FILE`) against gnubg 0-ply and pubeval, or against
what `--against` names; `rules` compares all legal plays of short nardy on random positions and
rolls. What is published, and matches whose results are known, are measured by `strength.py`.
gnubg is `gnubg-nn` (GPL), installed at its first use into an environment of its own under
~/.cache/nardy-rl/peers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nardy_engine import Variant, batch, load_variant
from nardy_engine.differential import random_pairs
from nardy_engine.errors import NardyError
from nardy_engine.notation.json_lines import side_from_json
from nardy_engine.types import MOVER, OFF, OPPONENT, Board
from nardy_rl.arena import match
from nardy_rl.bench.environments import GNUBG_NN, interpreter
from nardy_rl.bench.gnubg import make_player
from nardy_rl.files import check_target, write_atomic
from nardy_rl.metrics import MatchResult
from nardy_rl.players.external import Program, request_line
from nardy_rl.report import render_table

WORKER = Path(__file__).resolve().parent / "gnubg_worker.py"
GNUBG = "gnubg:0"
GAME = "short"
LINES = 2000
"""Positions compared at a time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the two measurements; return 1 if rules differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = parser.add_subparsers(dest="mode", required=True)
    strength = modes.add_parser("strength", help="a bot against gnubg 0-ply and pubeval")
    strength.add_argument("bots", nargs="+", metavar="bot", help="as for nardy arena: net:short")
    strength.add_argument(
        "--against", nargs="+", default=[GNUBG, "pubeval"], metavar="BOT",
        help="its opponents (default: gnubg:0 pubeval)",
    )  # fmt: skip
    rules = modes.add_parser("rules", help="all legal plays, compared")
    strength.add_argument("--pairs", type=int, default=3000, help="pairs of games (%(default)s)")
    rules.add_argument("--positions", type=int, default=100_000, help="(%(default)s)")
    for mode in (strength, rules):
        mode.add_argument("--seed", type=int, default=0, help="(%(default)s)")
        mode.add_argument("--json", metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args(argv)
    try:
        if arguments.json:
            check_target(Path(arguments.json))
        variant = load_variant(GAME)
        if arguments.mode == "rules":
            document, code = compare_rules(variant, arguments.positions, arguments.seed)
        else:
            pairings = [(bot, other) for bot in arguments.bots for other in arguments.against]
            results = play(variant, pairings, arguments.pairs, arguments.seed)
            document, code = {"matches": [result.to_json() for result in results]}, 0
        if arguments.json:
            write_atomic(Path(arguments.json), (json.dumps(document, indent=2) + "\n").encode())
    except NardyError as error:
        print(f"anchors: error: {error}", file=sys.stderr)
        return 2
    return code


def gnubg_worker(*options: str) -> Program:
    """Return gnubg's worker program in its own environment, which is made if it is missing."""
    return Program([str(interpreter(GNUBG_NN)), str(WORKER), *options], "gnubg")


def play(
    variant: Variant, pairings: Sequence[tuple[str, str]], pairs: int, seed: int
) -> list[MatchResult]:
    """Play the matches on the same dice and print their table."""
    specs = {spec for pairing in pairings for spec in pairing}
    bots = {spec: make_player(spec, variant, lambda _: gnubg_worker()) for spec in specs}
    results = []
    for a, b in pairings:
        with tqdm(total=pairs, unit="pair", desc=f"{a} - {b}", disable=None, leave=False) as bar:
            results.append(match(bots[a], bots[b], variant, pairs, seed, progress=bar.update))
    print(render_table(results))
    return results


def compare_rules(variant: Variant, positions: int, seed: int) -> tuple[dict[str, Any], int]:
    """Compare all legal plays with gnubg's on random positions; print the differing ones."""
    boards, dice = random_pairs(variant, positions, seed)
    program = gnubg_worker("--moves")
    differing: list[dict[str, Any]] = []
    plays = 0
    for begin in range(0, positions, LINES):
        part = slice(begin, begin + LINES)
        after = batch.afterstates(variant, boards[part], dice[part])
        rolls = dice[part].tolist()
        lines = [
            request_line(variant, board, roll)
            for board, roll in zip(boards[part], rolls, strict=True)
        ]
        theirs = _listed(variant, program.ask(lines))
        wrong = _differing(variant, after, theirs)
        plays += len(after.boards)
        differing += [json.loads(lines[i]) for i in wrong]
        for i in wrong:
            print(f"differs: {lines[i].strip()} ({len(after.of(i))} and {len(theirs.of(i))} plays)")
    print(
        f"{positions:,} positions and rolls of {variant.id} (rules {variant.digest()}, "
        f"seed {seed}), {plays:,} plays: {len(differing):,} positions differ from gnubg"
    )
    document = {
        "variant": {"id": variant.id, "digest": variant.digest()},
        "seed": seed,
        "positions": positions,
        "plays": plays,
        "differing": differing,
    }
    return document, int(bool(differing))


def _listed(variant: Variant, answers: Sequence[str]) -> batch.Afterstates:
    """Return the worker's answers as ragged boards."""
    listed = [json.loads(line)["results"] for line in answers]
    rows = [
        [side_from_json(variant, end[side], side) for side in ("me", "opp")]
        for ends in listed
        for end in ends
    ]
    offsets = np.concatenate(([0], np.cumsum([len(ends) for ends in listed])))
    return batch.Afterstates(np.array(rows, dtype=np.int8), offsets)


def _differing(
    variant: Variant, ours: batch.Afterstates, theirs: batch.Afterstates
) -> NDArray[np.int64]:
    """Return the games whose sets of results differ, or where ours lists one twice."""
    mine, times = np.unique(_keys(variant, ours), axis=0, return_counts=True)
    other = np.unique(_keys(variant, theirs), axis=0)
    both, lists = np.unique(np.concatenate((mine, other)), axis=0, return_counts=True)
    wrong = np.concatenate((mine[times > 1, 0], both[lists == 1, 0]))
    return np.unique(wrong).astype(np.int64)


def _keys(variant: Variant, after: batch.Afterstates) -> NDArray[np.int16]:
    """Return `[A, 1 + 2 * P]`: the game, then its end; finished ones by outcome (T-10)."""
    boards: Board = after.boards.copy()
    finished = np.flatnonzero(boards[:, MOVER, OFF] == variant.setup.checkers)
    outcomes = batch.outcomes(variant, boards[finished])
    boards[finished, OPPONENT] = 0
    boards[finished, OPPONENT, OFF] = outcomes
    game = np.repeat(np.arange(len(after.offsets) - 1), after.counts())
    return np.column_stack((game, boards.reshape(len(boards), -1))).astype(np.int16)


if __name__ == "__main__":
    sys.exit(main())
