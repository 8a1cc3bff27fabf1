"""Compare the reference engine with the kernels on random positions and rolls.

Exits 1 on any difference and prints the first one as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nardy_engine import Variant, load_variant, variant_names
from nardy_engine.batch import Afterstates
from nardy_engine.differential import Choose, Comparison, compare_in_parts
from nardy_engine.errors import NardyError
from nardy_engine.types import Board
from nardy_rl.cores import usable_cores


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="variants to compare; all of the catalog if none")
    parser.add_argument("--pairs", type=int, default=1_000_000, help="(position, roll) pairs each")
    parser.add_argument("--seed", type=int, default=1, help="seed of the pairs")
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes")
    parser.add_argument(
        "--trained",
        action="store_true",
        help="let the shipped network of the game choose nine plays of ten in the played positions",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a rule option, such as block.check=every_step; may be repeated",
    )
    parsed = parser.parse_args(arguments)
    for name in ("pairs", "jobs"):
        if getattr(parsed, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if parsed.seed < 0:
        parser.error("--seed must be 0 or more")
    for option in parsed.option:
        if "=" not in option:
            parser.error(f"--option needs NAME=VALUE, not '{option}'")
    return parsed


def trained(variant: Variant) -> Choose:
    """Return the shipped network of a game as the player of the compared positions."""
    from nardy_rl.players import Turn, make_bot

    bot = make_bot(f"net:{variant.id}", variant)

    def choose(boards: Board, dice: NDArray[np.int8], after: Afterstates) -> NDArray[np.int64]:
        return bot.choose(Turn(variant, boards, dice, after, np.zeros(len(boards))))

    return choose


def compare_game(name: str, arguments: argparse.Namespace) -> Comparison:
    """Compare one game with a progress bar."""
    options = dict(option.split("=", 1) for option in arguments.option)
    load_variant(name, options)  # a wrong option is one sentence here, not one per process
    total = Comparison(0, 0, None)
    player = trained if arguments.trained else None
    parts = compare_in_parts(name, arguments.pairs, arguments.seed, options, arguments.jobs, player)
    with tqdm(total=arguments.pairs, desc=name, unit="pair", unit_scale=True) as bar:
        for part in parts:
            total += part
            bar.update(part.pairs)
    return total


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison; return the exit status."""
    parsed = parse_arguments(arguments)
    rows, first = [], None
    try:
        for name in parsed.games or variant_names():
            started = time.perf_counter()
            result = compare_game(name, parsed)
            seconds = time.perf_counter() - started
            rows.append((name, result.pairs, result.differences, seconds))
            first = first or result.first
    except NardyError as error:
        print(f"nardy: error: {error}", file=sys.stderr)
        return 2
    print(f"{'variant':<14}{'pairs':>12}{'differences':>14}{'seconds':>10}")
    for name, pairs, differences, seconds in rows:
        print(f"{name:<14}{pairs:>12,}{differences:>14,}{seconds:>10.0f}")
    if first is not None:
        print(json.dumps(first))
    return 0 if first is None else 1


if __name__ == "__main__":
    sys.exit(main())
