"""Bots by name: which exist, which variants they play, and how to make one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import NamedTuple

from nardy_engine.errors import NardyError
from nardy_engine.rules import Variant, variant_names
from nardy_engine.rules.components import Contact, Direction
from nardy_rl.checkpoint import SUFFIX, shipped_networks
from nardy_rl.players import positional, pubeval
from nardy_rl.players.base import Bot
from nardy_rl.players.simple import RaceBot, RandomBot


class BotError(NardyError):
    """There is no such bot, or it does not play the variant."""


class _Entry(NamedTuple):
    make: Callable[[Variant], Bot]
    plays: Callable[[Variant], bool]
    family: str
    """What the bot plays, for the error message."""


def _is_short(variant: Variant) -> bool:
    return (
        variant.setup.direction is Direction.OPPOSITE
        and variant.contact is Contact.HIT
        and variant.setup.points == pubeval.POINTS
    )


_BOTS: dict[str, _Entry] = {
    "random": _Entry(lambda _: RandomBot(), lambda _: True, "every game"),
    "race": _Entry(lambda _: RaceBot(), lambda _: True, "every game"),
    "pubeval": _Entry(pubeval.PubevalBot, _is_short, "short nardy and its relatives"),
}


def _positional(game: str) -> _Entry:
    return _Entry(
        lambda _: positional.PositionalBot.load(game),
        lambda variant: positional.plays(game, variant),
        f"{game} and its relatives",
    )


_BOTS |= {f"{positional.PREFIX}{game}": _positional(game) for game in variant_names()}
_PREFIXES = ("net:<checkpoint>", "net:<checkpoint>@1ply", "exec:<command>")
_DEPTH = re.compile(r"([0-4])-?ply")


def bot_names(variant: Variant) -> tuple[str, ...]:
    """Return the named bots that play `variant`: for every game, for a family, for the game.

    Of the positional bots only the one made for the game, or for the nearest one, is listed;
    `make_bot` also takes those of its relatives.

    >>> from nardy_engine import load_variant
    >>> bot_names(load_variant("short"))
    ('random', 'race', 'pubeval', 'positional-short')
    """
    general = [
        name
        for name, entry in _BOTS.items()
        if entry.plays(variant) and not name.startswith(positional.PREFIX)
    ]
    game = positional.table_for(variant)
    return (*general, *([f"{positional.PREFIX}{game}"] if game else []))


def split_depth(source: str) -> tuple[str, int]:
    """Return the network of what stands behind `net:`, and the plies that it looks ahead.

    >>> split_depth("short@2ply")
    ('short', 2)
    >>> split_depth("runs/me@home/long.safetensors")
    ('runs/me@home/long.safetensors', 0)

    Raises:
        BotError: What stands behind `@` is no depth.
    """
    network, at, word = source.rpartition("@")
    if not at or "/" in word or "\\" in word or word.endswith(".safetensors"):
        return source, 0
    depth = _DEPTH.fullmatch(word)
    if depth is None or not network:
        raise BotError(
            f"'@{word}' is no depth of search; write net:{network or 'NETWORK'}@1ply, "
            "with 0 to 4 plies"
        )
    return network, int(depth[1])


def make_bot(spec: str, variant: Variant, name: str | None = None) -> Bot:
    """Return the bot called `spec`.

    Args:
        spec: A name of `bot_names`; `net:` and a checkpoint file or the name of a shipped
            network, with `@1ply` or so behind it to look ahead; or `exec:` and the command line
            of a program that plays (`external.py`).
        variant: The game it shall play.
        name: Name in tables of a network or a program; the spec if not given.

    Raises:
        BotError: There is no such bot, or it does not play the variant.
        CheckpointError: The checkpoint is missing, damaged, or made for other rules.
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind == "net":
        from nardy_rl.evaluator import Evaluator  # here, so that plain bots start faster
        from nardy_rl.players.net import NetBot

        network, plies = split_depth(rest)
        return NetBot(Evaluator.load(network, variant), name=name or spec, plies=plies)
    if colon and kind == "exec":
        from nardy_rl.players.external import ExternalBot

        return ExternalBot(rest, name=name or spec)
    entry = _BOTS.get(spec)
    if entry is None:
        known = [*bot_names(variant), *_PREFIXES]
        if spec in shipped_networks() or spec.endswith(SUFFIX):
            raise BotError(f"unknown bot '{spec}'; a network is written net:{spec}")
        near = difflib.get_close_matches(spec, known, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise BotError(f"unknown bot '{spec}'; {hint}{variant.id} has {', '.join(known)}")
    if not entry.plays(variant):
        raise BotError(
            f"the bot '{spec}' plays {entry.family}, not {variant.id}; "
            f"{variant.id} has {', '.join([*bot_names(variant), *_PREFIXES])}"
        )
    return entry.make(variant)
