"""`nardy play`: a person against a bot in the terminal; the dialogue itself is `session.py`."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Sequence

from nardy_engine import Position, Variant, load_variant
from nardy_engine.errors import CheckpointError
from nardy_engine.types import Dice
from nardy_rl.checkpoint import shipped_networks
from nardy_rl.commands.parser import CommandParser, add_game_arguments, natural, options_from
from nardy_rl.commands.session import Rater, Session
from nardy_rl.evaluator import Evaluator
from nardy_rl.players import bot_names, make_bot


def main(argv: Sequence[str]) -> int:
    """Run `nardy play`."""
    parser = CommandParser(
        "play",
        "Play against a bot in this terminal: the board is drawn each turn, 'hint' shows the\n"
        "best plays, and an illegal play is explained.",
        [
            "nardy play",
            "nardy play --variant short --side white",
            "nardy play --variant long --bot race --seed 7",
            "nardy play --variant short --bot net:runs/mine/short.safetensors",
            "nardy play --variant short --bot net:short@1ply",
        ],
    )
    add_game_arguments(parser)
    parser.add_argument(
        "--bot",
        metavar="BOT",
        help="random, race, pubeval, positional-GAME, net:NETWORK, net:NETWORK@1ply (looks a roll "
        "ahead; up to @4ply) or exec:COMMAND "
        "(default: the shipped network of the game, else the best of the others)",
    )
    parser.add_argument(
        "--hints",
        metavar="NETWORK",
        help="network that gives the hints (default: the shipped one of the game)",
    )
    parser.add_argument(
        "--side",
        choices=("white", "black", "random"),
        default="random",
        help="white: you begin; black: the bot begins; random: the opening throw decides "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--dice",
        choices=("auto", "manual"),
        default="auto",
        help="manual: you throw real dice and type what they show (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=natural, metavar="N", help="the same number gives the same dice again"
    )
    arguments = parser.parse(argv)
    variant = load_variant(arguments.variant, options_from(arguments.option))
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().getrandbits(32)
    session = Session(
        variant,
        make_bot(default_bot(variant) if arguments.bot is None else arguments.bot, variant),
        read=_read,
        write=_write,
        seed=seed,
        seat=arguments.side,
        manual_dice=arguments.dice == "manual",
        rater=_rater(variant, arguments.hints),
    )
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - importing it is what gives input() its line editing
    session.run()
    if arguments.seed is None and arguments.dice == "auto":
        print(f"The same dice again: --seed {seed}")
    return 0


def default_bot(variant: Variant) -> str:
    """Return the strongest bot that comes with the package for this game."""
    if shipped_network(variant) is not None:
        return f"net:{variant.id}"
    return bot_names(variant)[-1]


def shipped_network(variant: Variant) -> Evaluator | None:
    """Return the network that comes with the package for exactly these rules, if there is one."""
    if variant.id not in shipped_networks():
        return None
    try:
        return Evaluator.load(variant.id, variant)
    except CheckpointError:
        return None  # made for other rule options than those asked for


def _rater(variant: Variant, source: str | None) -> Rater | None:
    evaluator = shipped_network(variant) if source is None else Evaluator.load(source, variant)
    if evaluator is None:
        return None

    def rate(position: Position, dice: Dice | None, top: int) -> list[str]:
        rated = evaluator.best(position, dice, top)
        width = max(len(play.text) for play in rated)
        return [
            f"{rank}. {play.text:<{width}}  equity {play.equity:+.3f}"
            + (f"  ({play.difference:+.3f})" if rank > 1 else "")
            + f"  wins {play.probabilities.wins():.0%}"
            for rank, play in enumerate(rated, 1)
        ]

    return rate


def _read(prompt: str) -> str:
    return input(prompt)


def _write(text: str) -> None:
    print(text)
    sys.stdout.flush()
