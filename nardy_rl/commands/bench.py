"""`nardy bench`: the speed of the engine, of the network and of training on this machine."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

from tqdm import tqdm

from nardy_engine import Variant, load_variant, variant_names
from nardy_rl import __version__
from nardy_rl.bench import Figure, Measurement, engine, games, measure, starting
from nardy_rl.commands.parser import CommandParser, positive
from nardy_rl.commands.variants import aligned
from nardy_rl.compose import load_train_config
from nardy_rl.cores import usable_cores

PARTS = ("start", "engine", "network", "training")


class Effort(NamedTuple):
    """How long everything is measured."""

    seconds: float
    """Of one run of a measurement."""
    runs: int
    training_budget: str
    training_settings: tuple[str, ...] = ()
    """Settings of the training run that differ from those of `nardy train`."""


THOROUGH = Effort(seconds=1.5, runs=5, training_budget="30s")
QUICK = Effort(
    seconds=0.3,
    runs=1,
    training_budget="3s",
    # Smaller rounds: the first one lasts until many games have ended.
    training_settings=("selfplay.games=256", "learner.fresh_positions=8000"),
)


def main(argv: Sequence[str]) -> int:
    """Run `nardy bench`."""
    parser = CommandParser(
        "bench",
        "Measure the speed of the engine, of the network and of training on this machine.\n"
        "Every figure is the median of interleaved runs; leave the machine alone meanwhile.",
        [
            "nardy bench --quick",
            "nardy bench --variant short --part engine",
            "nardy bench --games",
            "nardy bench --json > speed.json",
        ],
    )
    parser.add_argument(
        "--variant",
        action="append",
        metavar="GAME",
        help="measure this game; may be repeated (default: long and short; with --games all)",
    )
    parser.add_argument(
        "--games",
        action="store_true",
        help="compare the games instead: what each asks of the engine, one thread",
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        help="measure only this part; may be repeated (default: all)",
    )
    parser.add_argument("--net", default="base", help="network of configs/net (%(default)s)")
    parser.add_argument(
        "--threads",
        type=positive,
        default=usable_cores(),
        metavar="N",
        help="threads of the measurements that use all of them (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="under a minute, one run of each")
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    arguments = parser.parse(argv)
    if arguments.games:
        if arguments.part:
            parser.error("--games measures the engine alone: leave --part out")
        print(_games(arguments))
        return 0
    variants = [load_variant(name) for name in arguments.variant or ("long", "short")]
    load_train_config([f"net={arguments.net}"])  # a network that does not exist, before measuring
    effort = QUICK if arguments.quick else THOROUGH
    parts = arguments.part or PARTS
    figures: list[Figure] = []
    if "start" in parts and not arguments.quick:
        figures.append(starting.cold_compilation())
    figures += _measured(_measurements(variants, parts, arguments, effort), effort)
    training = []
    if "training" in parts:
        training = [_training(variant, arguments.net, effort) for variant in variants]
    if arguments.json:
        print(json.dumps(_document(figures, training), indent=2))
    else:
        print(_text(figures, training))
    return 0


def _measurements(
    variants: Sequence[Variant], parts: Sequence[str], arguments: Any, effort: Effort
) -> list[Measurement]:
    found: list[Measurement] = []
    if "start" in parts:
        found += starting.starting()
    for variant in variants:
        if "engine" in parts:
            found += engine.listing(variant, effort.seconds)
            for threads in sorted({1, arguments.threads}):
                found.append(engine.random_play(variant, effort.seconds, threads))
            found += engine.encoding(variant, effort.seconds)
        if "network" in parts:
            # Here, so that the engine alone is measured without loading torch.
            from nardy_rl.bench import learning

            config = load_train_config([f"variant={variant.id}", f"net={arguments.net}"])
            found += learning.network(config, effort.seconds)
            found.append(learning.decisions(config, effort.seconds))
    return found


def _measured(measurements: Sequence[Measurement], effort: Effort) -> list[Figure]:
    total = len(measurements) * (effort.runs + 1)
    # disable=None: no bar where nobody watches
    with tqdm(total=total, unit="run", disable=None, leave=False) as bar:

        def progress(name: str) -> None:
            bar.set_description(name)
            bar.update()

        return measure(measurements, effort.runs, progress)


def _games(arguments: Any) -> str:
    """Return what every game asks of the engine, as text or JSON."""
    size = games.QUICK if arguments.quick else games.THOROUGH
    names = arguments.variant or variant_names()
    variants = [load_variant(name) for name in dict.fromkeys((games.YARDSTICK, *names))]
    # disable=None: no bar where nobody watches
    with tqdm(total=games.n_steps(variants, size), disable=None, leave=False) as bar:

        def progress(name: str) -> None:
            bar.set_description(name)
            bar.update()

        entries = games.measure_games(variants, size, progress)
    if arguments.json:
        document = {**_document([], []), "goal": games.GOAL, "games": entries}
        return json.dumps(document, indent=2)
    return _games_text(entries)


def _games_text(entries: Sequence[dict[str, Any]]) -> str:
    titles = (
        "GAME", "DECISIONS/S", "AFTERSTATES/S", "TO LONG", "PLAYS", "MOST", "NODES", "SLOWEST",
        "DECISIONS/GAME",
    )  # fmt: skip
    rows = [
        titles,
        *(
            (
                entry["variant"],
                _number(entry["decisions_per_s"]["median"]),
                _number(entry["afterstates_per_s"]["median"]),
                f"{entry['to_long']:.2f}",
                f"{entry['plays']['mean']:.1f}",
                f"{entry['plays']['most']:,}",
                f"{entry['nodes']['most']:,}",
                f"{entry['slowest_ms']:.2f} ms",
                f"{entry['decisions_per_game']['mean']:.1f}",
            )
            for entry in entries
        ),
    ]
    slow = [entry["variant"] for entry in entries if entry["to_long"] < games.GOAL]
    goal = f"{games.GOAL:g} of the afterstates/s of {games.YARDSTICK}"
    reached = f"missed by {', '.join(slow)}" if slow else "met by all"
    return "\n".join(
        [
            *aligned(rows, right=range(1, len(titles))),
            "",
            "One thread, random play. PLAYS: legal plays of a decision, their mean and MOST;",
            "NODES: most positions looked at to find them; SLOWEST: decision that took longest.",
            f"The goal is {goal}: {reached}.",
        ]
    )


def _training(variant: Variant, net: str, effort: Effort) -> dict[str, Any]:
    from nardy_rl.bench.learning import train_for

    settings = [
        f"variant={variant.id}",
        f"net={net}",
        f"budget={effort.training_budget}",
        "eval.interval_games=0",
        "tensorboard=false",
        *effort.training_settings,
    ]
    speed = train_for(load_train_config(settings))
    return {
        "variant": variant.id,
        "net": net,
        "seconds": speed.seconds,
        "games_per_s": speed.games / speed.seconds,
        "positions_per_s": speed.plies / speed.seconds,
        "shares": speed.shares(),
    }


def _document(figures: Sequence[Figure], training: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "nardy": __version__,
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cpus": usable_cores(),
            "python": platform.python_version(),
        },
        "figures": [figure.as_dict() for figure in figures],
        "training": list(training),
    }


def _text(figures: Sequence[Figure], training: Sequence[dict[str, Any]]) -> str:
    blocks = []
    if figures:
        rows = [("MEASUREMENT", "MEDIAN", "LOWEST", "HIGHEST", "UNIT")]
        rows += [
            (f.name, _number(f.median), _number(f.lowest), _number(f.highest), f.unit)
            for f in figures
        ]
        blocks.append("\n".join(aligned(rows, right=(1, 2, 3))))
    for run in training:
        shares = "  ".join(f"{stage} {share:.0%}" for stage, share in run["shares"].items())
        blocks.append(
            f"{run['variant']}: training, net={run['net']}, {run['seconds']:.0f} s: "
            f"{run['games_per_s']:,.0f} games/s, {run['positions_per_s']:,.0f} positions/s"
            f"\n  time: {shares}"
        )
    return "\n\n".join(blocks)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
