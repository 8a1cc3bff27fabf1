"""Look into networks: idle units, how far 0-ply is from 1-ply, what estimates of replies miss.

    python scripts/examine.py short short-large
    python scripts/examine.py long --positions 200 --glance 16,4 8,3

Positions are drawn from games of each network with itself; endings that the tables know are left
out. Equity in points; times are processor time of one thread, so other work matters little.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nardy_engine import batch
from nardy_engine.errors import NardyError
from nardy_engine.kernels import values as kernel
from nardy_engine.rules.table import rule_table
from nardy_engine.types import Board
from nardy_rl import outcomes
from nardy_rl.evaluator import Evaluator
from nardy_rl.full_backups import FEW, FullBackups
from nardy_rl.likely_replies import GLANCE, Glance
from nardy_rl.rolls import Rolls, is_opening, moves_before_roll, owes_dice
from nardy_rl.search import WIDE, Search

DRAWS = 4
"""Targets drawn of each position to see how they scatter."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print one block of lines for each network; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="shipped name or file")
    parser.add_argument("--positions", type=_positive, default=400, help="default: 400")
    parser.add_argument("--games", type=_positive, default=64, help="default: 64")
    parser.add_argument("--seed", type=_positive, default=1, help="of the dice; default: 1")
    parser.add_argument(
        "--glance",
        nargs="+",
        type=_glance,
        default=[GLANCE],
        metavar="A,B",
        help="replies that go on by the tangents of the whole network, and of the upper layers",
    )
    args = parser.parse_args(argv)
    try:
        with threadpool_limits(1, user_api="blas"):  # or waiting counts as processor time
            for name in args.networks:
                evaluator = Evaluator.load(name.removeprefix("net:"))
                examine(evaluator, name, args.positions, args.games, args.seed, args.glance)
    except NardyError as error:
        print(f"examine: {error}", file=sys.stderr)
        return 1
    return 0


def examine(
    evaluator: Evaluator,
    name: str,
    positions: int,
    games: int,
    seed: int,
    glances: Sequence[Glance],
) -> None:
    """Print what one network is like."""
    seen = own_positions(evaluator, games, seed)
    print(f"{name}: {idle(evaluator, seen)} in {len(seen):,} positions")
    boards = seen[:positions]
    start = time.process_time()
    search = Search(evaluator, 1, glance=None, play_out=WIDE)
    ahead = equity(evaluator, search.positions(boards))
    ms = 1e3 * (time.process_time() - start) / len(boards)
    off = rms(ahead - evaluator.equity(boards))
    print(f"  0-ply off 1-ply by {off:.4f} (rms of {len(boards):,} positions)")
    print(f"  every reply valued         {ms:6.2f} ms a position")
    rules = rule_table(evaluator.variant)
    if rules.again != 0 or rules.owed != 0:
        print("  a roll may decide who acts next, or be owed: every reply is always valued")
        return
    rolls = Rolls.of(evaluator.variant)
    best = equity(evaluator, every_roll(evaluator, boards, None, rolls)[0])
    for glance in glances:
        few, ms = every_roll(evaluator, boards, glance, rolls)
        missed = best - equity(evaluator, few)
        lost = rolls.average(missed[..., None])[..., 0]
        print(
            f"  {glance.first:3}, {glance.second:2} replies a roll      {ms:6.2f} ms, "
            f"missed {(missed > 1e-6).mean():.2%} of the best, "
            f"mean {lost.mean():.5f}, rms {rms(lost):.5f}, largest {lost.max():.4f}"
        )
    for glance in dict.fromkeys([FEW, *glances]):
        scatter, ms = targets(evaluator, boards, glance, ahead)
        print(
            f"  {glance.first:3}, {glance.second:2} and one in full     {ms:6.2f} ms, "
            f"targets scatter by {scatter:.4f}"
        )


def own_positions(evaluator: Evaluator, games: int, seed: int) -> Board:
    """Return positions before a roll from a network's own games, in random order.

    The network alone values them, no dice are owed, and nothing is moved before the roll.
    """
    variant, rules = evaluator.variant, rule_table(evaluator.variant)
    played = batch.Games(variant, games, seed)
    seen: list[Board] = []
    running = np.ones(games, np.bool_)
    while running.any():
        codes = np.empty(games, np.int8)
        kernel.fill_codes(played.boards, 0, int(evaluator.uses_bearoff), rules, codes)
        running &= (codes == kernel.NETWORK) & (played.over < 0)
        seen.append(played.boards[running])
        played.roll()
        after = played.afterstates()
        played.play(evaluator.choose(played.boards, after))
    rows = np.concatenate(seen)
    other = is_opening(variant, rows)  # the first throw is of fewer rolls
    rows = rows[~(other | owes_dice(variant, rows) | moves_before_roll(variant, rows))]
    return rows[np.random.default_rng(seed).permutation(len(rows))]


def idle(evaluator: Evaluator, boards: Board) -> str:
    """Say how many units of each hidden layer no position opens."""
    x, parts = evaluator.network.encoder.encode(boards), []
    for weight, bias in evaluator.network.layers[:-1]:
        x = np.maximum(x @ weight.T + bias, 0)
        parts.append(f"{int((x.max(axis=0) <= 0).sum())} of {len(bias)}")
    return "idle units " + ", ".join(parts)


def every_roll(
    evaluator: Evaluator, boards: Board, glance: Glance | None, rolls: Rolls
) -> tuple[NDArray[np.float64], float]:
    """Return `[N, R, O]` what the best plays of every roll are worth, and ms a position."""
    search = Search(evaluator, 0, glance=glance)
    search.every_roll(boards[:8], rolls)
    start = time.process_time()
    found = search.every_roll(boards, rolls)
    return found, 1e3 * (time.process_time() - start) / len(boards)


def targets(
    evaluator: Evaluator, boards: Board, glance: Glance, exact: NDArray[np.floating[Any]]
) -> tuple[float, float]:
    """Return how far single targets of training are off the exact ones, and ms a target."""
    backups = FullBackups(evaluator, np.random.default_rng(1), glance)
    start = time.process_time()
    drawn = np.stack([backups.positions(boards) for _ in range(DRAWS)])
    ms = 1e3 * (time.process_time() - start) / DRAWS / len(boards)
    return rms(equity(evaluator, drawn) - exact), ms


def equity(evaluator: Evaluator, probs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `[...]` the points of `[..., O]` chances."""
    return np.asarray(outcomes.equity(probs, evaluator.points), np.float64)


def rms(values: NDArray[np.floating[Any]]) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:12]) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to 1,000,000,000")
    return int(text)


def _glance(text: str) -> Glance:
    first, comma, second = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"{text!r} is not two numbers as in 16,4")
    return Glance(_positive(first), _positive(second))


if __name__ == "__main__":
    sys.exit(main())
