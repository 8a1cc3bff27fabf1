"""`nardy arena`: two bots, or a round robin of several, on paired dice."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nardy_engine import Variant
from nardy_rl import __version__
from nardy_rl.arena import BLOCK_PAIRS, ArenaError, match
from nardy_rl.commands.hydra_app import run_hydra
from nardy_rl.config import ArenaConfig
from nardy_rl.evaluator import Evaluator
from nardy_rl.files import check_target, write_atomic
from nardy_rl.luck import Luck
from nardy_rl.metrics import MatchResult, elo_ratings
from nardy_rl.players import Bot, make_bot
from nardy_rl.players.net import NetBot
from nardy_rl.players.registry import split_depth
from nardy_rl.report import render_match, render_ratings, render_table

_BLOCKS = (BLOCK_PAIRS, 64, 8, 1, 1)
"""Pairs at a time by the plies that are looked ahead: seconds between two steps of the bar."""

STANDARD_OUTPUT = "-"
"""Value of `json` that prints the results in place of the table."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy arena`."""
    targets = [word.partition("=")[2] for word in argv if word.startswith("json=")]
    if {"-m", "--multirun"} & {*argv} and any(
        target not in ("", STANDARD_OUTPUT) and not {",", "$"} & {*target} for target in targets
    ):
        raise ArenaError(
            "with --multirun every run would write the same json file; name one for each, as in "
            "seed=1,2 'json=match-${seed}.json'"
        )
    return run_hydra("arena", argv, run_arena)


def run_arena(config: ArenaConfig) -> int:
    """Play what `config` asks for, print the table, write the JSON; return the exit code.

    Raises:
        NardyError: A bot does not exist or does not play the game, a file cannot be written.
    """
    variant = config.variant.load()
    if config.json and config.json != STANDARD_OUTPUT:
        check_target(config.path(config.json))
    specs = config.players or [config.a, config.b]
    bots = _make_bots(specs, variant, config)
    results = _play(bots, variant, config)
    document: dict[str, Any] = {
        "nardy": __version__,
        "matches": [result.to_json() for result in results],
    }
    tables = [render_match(results[0])] if len(results) == 1 else [render_table(results)]
    if config.players:
        ratings = elo_ratings(results)
        tables.append(render_ratings(ratings))
        document["ratings"] = [
            {"name": rating.name, "elo": rating.elo.to_json()} for rating in ratings
        ]
    text = json.dumps(document, indent=2) + "\n"
    if config.json == STANDARD_OUTPUT:
        print(text, end="")
        return 0
    if config.json:  # before the table: hours of games are not lost to a terminal that is gone
        write_atomic(config.path(config.json), text.encode())
    print("\n\n".join(tables))
    return 0


def _make_bots(specs: Sequence[str], variant: Variant, config: ArenaConfig) -> list[Bot]:
    """Return the bots; a round robin needs different names to tell them apart."""
    for spec in specs:
        if config.players and specs.count(spec) > 1:
            raise ArenaError(
                f"'{spec}' is listed twice; each player of a round robin is named once"
            )
    return [make_bot(_located(spec, config), variant, name=spec) for spec in specs]


def _located(spec: str, config: ArenaConfig) -> str:
    """Return the spec with the path of a checkpoint made absolute, starting from `root`.

    What does not look like a path is a name, even if a file happens to be called so.
    """
    kind, _, rest = spec.partition(":")
    if kind == "exec":
        return spec
    path = rest if kind == "net" else spec
    network, plies = split_depth(path)
    if _looks_like_path(network):
        return f"net:{config.path(network)}" + (f"@{plies}ply" if plies else "")
    return spec


def _looks_like_path(text: str) -> bool:
    return os.sep in text or Path(text).suffix in (".safetensors", ".json")


def _play(bots: Sequence[Bot], variant: Variant, config: ArenaConfig) -> list[MatchResult]:
    pairings = list(combinations(bots, 2))
    pairs = config.games // 2
    luck = _luck(variant, config)
    # disable=None: no bar where nobody watches
    with tqdm(total=pairs * len(pairings), unit="pair", disable=None, leave=False) as bar:
        results = []
        for a, b in pairings:
            bar.set_description(f"{a.name} - {b.name}")
            block = _BLOCKS[max(_plies(a), _plies(b))]
            results.append(
                match(
                    a, b, variant, pairs, config.seed, block_pairs=block, luck=luck,
                    progress=bar.update,
                )
            )  # fmt: skip
    return results


def _plies(bot: Bot) -> int:
    return bot.plies if isinstance(bot, NetBot) else 0


def _luck(variant: Variant, config: ArenaConfig) -> Luck | None:
    """Return what measures luck, if it is to be measured."""
    if not config.luck:
        return None
    kind, _, source = _located(config.luck, config).partition(":")
    if kind != "net" or split_depth(source)[1]:
        raise ArenaError(f"luck is '{config.luck}'; it must be a network, as net:{variant.id}")
    return Luck(Evaluator.load(source, variant))
