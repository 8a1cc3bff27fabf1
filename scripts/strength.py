"""Measure the strength that is published; a run that was stopped goes on where it was.

    python scripts/strength.py gnubg                       # net:short against gnubg and pubeval
    python scripts/strength.py gnubg --net net:runs/short/NAME/short.safetensors --pairs 4096
    python scripts/strength.py gnubg --ply 2               # both sides look 2 plies ahead
    python scripts/strength.py bots --game long            # the shipped network against each bot
    python scripts/strength.py openings                    # 15 opening plays, by gnubg 2-ply
    python scripts/strength.py loss                        # per decision of own games, the same
    python scripts/strength.py ladder --bots '10 minutes=net:FILE' net:long@2ply
    python scripts/strength.py null                        # matches whose results are known
    python scripts/strength.py gnubg --quick               # any of them in a minute or a few

Matches are duplicate: each dice stream twice, seats exchanged, intervals over pairs; where a bot
searches, points are given with the luck of the rolls taken off as well. `gnubg:PLY` is
`gnubg-nn` (GPL), installed at its first use into an environment of its own, and runs in processes
of its own; `gnubg-debian:PLY` is the whole program. Finished parts lie in runs/strength, by what
they depend on; `--fresh` measures again. `make strength` runs everything that is published and
fills the documents.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from nardy_engine import Variant, load_variant
from nardy_engine.errors import NardyError
from nardy_rl.bench import judged
from nardy_rl.bench.environments import GNUBG_NN, InstallError, gnubg_command, interpreter
from nardy_rl.bench.gnubg import PREFIXES, GnubgBot, make_player
from nardy_rl.bench.stored import Store, depth, stored_match
from nardy_rl.bench.tables import render_loss, render_openings
from nardy_rl.commands.parser import natural, positive
from nardy_rl.cores import usable_cores
from nardy_rl.files import check_target, write_atomic
from nardy_rl.metrics import MatchResult, elo_ratings
from nardy_rl.players import Bot, bot_names
from nardy_rl.players.external import Program
from nardy_rl.report import render_ratings, render_table

ROOT = Path(__file__).resolve().parents[1]
GNUBG, DEBIAN = PREFIXES
WORKER = ROOT / "scripts" / "gnubg_worker.py"
DEBIAN_WORKER = ROOT / "scripts" / "peers" / "gnubg_play_worker.py"
STORE = ROOT / "runs" / "strength"
SHORT = "short"
KNOWN = {
    ("gnubg:0", "pubeval"): (0.634, 0.017),
    ("pubeval", "random"): (2.51, 0.04),
    ("net:short", "net:short"): (0.0, 0.0),
    ("gnubg-debian:0", "gnubg:0"): (0.0, 0.01),
}
"""Points per game and half width of the interval: measured elsewhere, 0 by symmetry, and the two
forms of gnubg, whose networks differ a little."""


class Effort(NamedTuple):
    """How much is played."""

    null_pairs: int
    bot_pairs: int
    gnubg_pairs: tuple[int, ...]
    """By the plies that are looked ahead."""
    ladder_pairs: tuple[int, ...]
    """The same, by the deeper of two bots."""
    decisions: int


FULL = Effort(6000, 20_000, (100_000, 2000, 400), (5000, 400, 50), 10_000)
QUICK = Effort(200, 500, (1024, 32, 4), (256, 16, 2), 128)


class Run(NamedTuple):
    """What all measurements of a call share."""

    options: argparse.Namespace
    effort: Effort
    store: Store


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what the command line names; return 1 if a known result is contradicted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS, help="what to measure")
    parser.add_argument("--quick", action="store_true", help="few games; parts are not kept")
    parser.add_argument("--game", help="for bots and ladder (default: long)")
    parser.add_argument("--net", help="the bot that is measured (default: net:GAME)")
    parser.add_argument("--name", help="its name in tables, by default the spec")
    parser.add_argument(
        "--ply", type=natural, default=0, metavar="N",
        help="look N plies ahead, gnubg too (default: %(default)s, static evaluation)",
    )  # fmt: skip
    parser.add_argument(
        "--judge",
        type=natural,
        default=2,
        metavar="N",
        help="gnubg's plies as a judge (%(default)s)",
    )
    parser.add_argument(
        "--bots", nargs="+", default=[], metavar="[NAME=]BOT", help="more bots of the ladder"
    )
    parser.add_argument(
        "--luck", metavar="NET",
        help="network by which luck is taken off the points, `none` = it is not (default: the "
        "shipped one where a bot searches)",
    )  # fmt: skip
    parser.add_argument("--pairs", type=positive, help="pairs of games of each match")
    parser.add_argument("--decisions", type=positive, help="for loss: at least so many")
    parser.add_argument("--seed", type=natural, default=0, help="(%(default)s)")
    parser.add_argument(
        "--workers", type=positive, default=usable_cores(), help="threads (%(default)s)"
    )
    parser.add_argument("--store", type=Path, default=STORE, help="folder of finished parts")
    parser.add_argument("--fresh", action="store_true", help="measure again what is finished")
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    options = parser.parse_args(argv)
    try:
        if options.json:
            check_target(Path(options.json))
        with tempfile.TemporaryDirectory() as throwaway:
            folder = Path(throwaway) if options.quick else options.store
            effort = QUICK if options.quick else FULL
            run = Run(options, effort, Store(folder, fresh=options.fresh))
            document, code = PARTS[options.part](run)
        if options.json:
            text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            write_atomic(Path(options.json), text.encode())
    except NardyError as error:
        print(f"strength: error: {error}", file=sys.stderr)
        return 2
    return code


# -- matches --------------------------------------------------------------------------------------


class Player(NamedTuple):
    """A bot with its spec and its name in tables."""

    spec: str
    name: str


def null_tests(run: Run) -> tuple[dict[str, Any], int]:
    """Play the matches whose results are known and say whether the intervals meet."""
    variant, failed = load_variant(SHORT), 0
    pairings = [(Player(a, a), Player(b, b)) for a, b in KNOWN]
    try:
        gnubg_command()
    except InstallError as error:
        print(f"left out: {error}")
        pairings = [pair for pair in pairings if not pair[0].spec.startswith(DEBIAN)]
    results = play(run, variant, pairings, lambda _: run.effort.null_pairs)
    for result in results:
        known, half = KNOWN[result.a, result.b]
        agrees = abs(result.points.mean - known) <= result.points.half + half
        failed += not agrees
        word = "agrees with" if agrees else "CONTRADICTS"
        print(f"{result.a} against {result.b}: {word} the known {known:+.3f} ± {half:g}")
    return {"matches": [result.to_json() for result in results]}, int(failed > 0)


def bots(run: Run) -> tuple[dict[str, Any], int]:
    """Play the network of a game against each bot of the game, the strongest first."""
    variant = load_variant(run.options.game or "long")
    net = measured(run, variant)
    pairings = [(net, Player(bot, bot)) for bot in reversed(bot_names(variant))]
    results = play(run, variant, pairings, lambda _: run.effort.bot_pairs)
    return {"matches": [result.to_json() for result in results]}, 0


def gnubg(run: Run) -> tuple[dict[str, Any], int]:
    """Play the network of short nardy against gnubg at the same ply; at 0-ply pubeval too."""
    variant, ply = load_variant(SHORT), run.options.ply
    net = measured(run, variant)
    opponents = [f"{GNUBG}{ply}", *(["pubeval"] if ply == 0 else [])]
    pairings = [(net, Player(bot, bot)) for bot in opponents]
    results = play(run, variant, pairings, lambda plies: by_depth(run.effort.gnubg_pairs, plies))
    return {"matches": [result.to_json() for result in results]}, 0


def ladder(run: Run) -> tuple[dict[str, Any], int]:
    """Let all bots of a game and the networks of the command line play each other."""
    variant = load_variant(run.options.game or "long")
    own = [Player(bot, bot) for bot in bot_names(variant)]
    players = [*own, *map(named, run.options.bots), measured(run, variant)]
    if len({player.name for player in players}) < len(players):
        raise NardyError("two bots of the ladder have the same name; give names: NAME=BOT")
    pairings = list(combinations(players[::-1], 2))
    results = play(run, variant, pairings, lambda plies: by_depth(run.effort.ladder_pairs, plies))
    ratings = elo_ratings(results)
    print(f"\n{render_ratings(ratings)}")
    return {
        "matches": [result.to_json() for result in results],
        "ratings": [{"name": rating.name, "elo": rating.elo.to_json()} for rating in ratings],
    }, 0


def measured(run: Run, variant: Variant) -> Player:
    """Return the bot that is measured: the shipped network, or what the command line says."""
    spec = run.options.net or f"net:{variant.id}"
    if run.options.ply and spec.startswith("net:") and not depth(spec):
        spec = f"{spec}@{run.options.ply}ply"
    return Player(spec, run.options.name or spec)


def named(text: str) -> Player:
    """Return a bot of the command line, `BOT` or `NAME=BOT`."""
    name, equals, spec = text.partition("=")
    if equals and ":" not in name:
        return Player(spec, name)
    return Player(text, text)


def luck_meter(run: Run, variant: Variant, plies: int) -> str:
    """Return the network that measures luck in a match; "" = luck stays in.

    Where both bots answer at once, more games are cheaper than the luck of these.
    """
    asked: str | None = run.options.luck
    if asked is None:
        return f"net:{variant.id}" if plies else ""
    return "" if asked == "none" else asked


def by_depth(pairs: Sequence[int], plies: int) -> int:
    """Return how many pairs are played where the deeper bot looks `plies` ahead."""
    return pairs[min(plies, len(pairs) - 1)]


def play(
    run: Run,
    variant: Variant,
    pairings: Sequence[tuple[Player, Player]],
    pairs: Callable[[int], int],
) -> list[MatchResult]:
    """Play the matches on the same dice and print their table.

    Args:
        run: Options, effort and finished parts.
        variant: The game.
        pairings: Who plays whom; results take the view of the first.
        pairs: Pairs by the plies of the deeper bot, unless the command line says how many.
    """
    players = {player.name: player for pairing in pairings for player in pairing}
    made = {p.name: make_player(p.spec, variant, gnubg_worker, p.name) for p in players.values()}
    results = []
    for a, b in pairings:
        plies = max(depth(a.spec), depth(b.spec))
        n = run.options.pairs or pairs(plies)
        title = f"{a.name} - {b.name}"
        with tqdm(total=n, unit="pair", desc=title, disable=None, leave=False) as bar:
            result = stored_match(
                (made[a.name], made[b.name]), (a.spec, b.spec), variant, n, run.options.seed,
                run.store, luck=luck_meter(run, variant, plies), workers=run.options.workers,
                progress=bar.update,
            )  # fmt: skip
        results.append(replace(result, a=a.name, b=b.name))
    print(render_table(results), flush=True)
    return results


# -- judged by gnubg ------------------------------------------------------------------------------


def openings(run: Run) -> tuple[dict[str, Any], int]:
    """Let gnubg judge the 15 opening plays."""
    variant, player, bot, judge = judges(run)
    plays = judged.opening_plays(bot, judge, variant, run.options.workers)
    document = {"bot": player.name, "judge": judge.name, "openings": plays}
    print(render_openings([document]))
    return document, 0


def loss(run: Run) -> tuple[dict[str, Any], int]:
    """Let gnubg judge every unforced decision of games of the bot against itself."""
    variant, player, bot, judge = judges(run)
    n = run.options.decisions or run.effort.decisions
    seed = run.options.seed
    decisions = judged.own_decisions(bot, variant, n, seed)
    if run.options.quick:  # whole games would be too many; some of every stage of them
        decisions = decisions.part(slice(0, None, len(decisions.games) // n))
    what = judged.loss_identity(player.spec, judge, variant, n, seed)
    with tqdm(total=len(decisions.games), unit="decision", disable=None, leave=False) as bar:
        values = judged.losses(
            judge, variant, decisions, run.store, what,
            workers=run.options.workers, progress=bar.update,
        )  # fmt: skip
    document = {"bot": player.name, "judge": judge.name}
    document |= judged.summary(values, decisions.games)
    print(render_loss([document]))
    return document, 0


def judges(run: Run) -> tuple[Variant, Player, Bot, GnubgBot]:
    """Return the game, the bot that is judged, and gnubg as the judge."""
    variant = load_variant(SHORT)
    player = measured(run, variant)
    bot = make_player(player.spec, variant, gnubg_worker, player.name)
    ply = run.options.judge
    return variant, player, bot, GnubgBot(gnubg_worker(f"{GNUBG}{ply}"), ply)


def gnubg_worker(spec: str) -> Program:
    """Return the worker program of a gnubg bot, in an environment that is made if it is missing."""
    if spec.startswith(DEBIAN):
        ply = spec.removeprefix(DEBIAN)
        return Program([sys.executable, str(DEBIAN_WORKER), ply, *gnubg_command()], spec)
    return Program([str(interpreter(GNUBG_NN)), str(WORKER)], spec)


PARTS: dict[str, Callable[[Run], tuple[dict[str, Any], int]]] = {
    "null": null_tests,
    "bots": bots,
    "gnubg": gnubg,
    "openings": openings,
    "loss": loss,
    "ladder": ladder,
}


if __name__ == "__main__":
    sys.exit(main())
