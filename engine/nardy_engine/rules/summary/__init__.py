"""The rules of a game in plain English, one sentence for each option that has an effect; layer 2.

Written from the options alone, so the text cannot say anything else than what is played: an
option without effect in a game is silent, and every other value of one with effect reads
differently. `common_model` is the part that all games share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nardy_engine.rules.summary import board, movement, results, turns
from nardy_engine.rules.variant import Variant

__all__ = ["Clause", "common_model", "summary"]


class Clause(NamedTuple):
    """One rule in words."""

    text: str
    option: str
    """The options that say so, `head.limit=1`; empty in the common model."""
    rules: str
    """Numbers of the rules text, `L-5`; empty where it has none."""

    def __str__(self) -> str:
        """Return the sentence and, in brackets, where it comes from."""
        return f"{self.text} [{'; '.join(filter(None, (self.option, self.rules)))}]"


_COMMON_MODEL = (
    ("A roll of the two dice gives a number of steps to play.", "T-1"),
    (
        "A step moves one checker by one die: by the whole die, and onto a point where the "
        "checker may land. Two dice are never added into one jump.",
        "T-2",
    ),
    ("The dice may be played in any order, with one checker or with several.", "T-3"),
    (
        "A play is all the steps of a roll together. It is legal if each step is legal at its "
        "moment and the position it leads to is allowed.",
        "T-4",
    ),
    ("As many dice as possible must be played, those of doubles too.", "T-5, T-7"),
    ("If either of two different dice can be played, but not both, it must be the larger.", "T-6"),
    ("If no die can be played, the only play is a pass.", "T-8"),
    (
        "Where a roll is played in several segments, all this holds for each of them alone; "
        "nobody need think of a later one.",
        "T-9",
    ),
    (
        "The game ends with the step that decides it. Dice left over count for nothing, so a play "
        "that ends the game is legal however few dice it uses.",
        "T-10",
    ),
    (
        "What a game demands comes first, then the number of dice, then the larger die.",
        "T-11",
    ),
    ("A legal play may not be declined, even where it harms.", "T-12"),
)


def common_model() -> list[Clause]:
    """Return what holds in every game: how a roll is played (T-1..T-12)."""
    return [Clause(text, "", rules) for text, rules in _COMMON_MODEL]


def summary(variant: Variant) -> list[Clause]:
    """Return the rules of a game in the order in which one would tell them.

    >>> from nardy_engine import load_variant
    >>> print(summary(load_variant("karzar"))[7])
    At most one checker may leave the head per roll. [head.limit=1; L-5]
    """
    values = variant.options()
    parts = (
        *(board.setup, board.dice, turns.cascade, turns.transfer, turns.extra_roll),
        *(movement.head, movement.teleport, board.contact, movement.block, movement.bearoff),
        *(results.end, results.cube, results.match),
    )
    return [
        Clause(text, ", ".join(f"{name}={_value(values[name])}" for name in options.split()), rules)
        for part in parts
        for text, options, rules in part(variant)
    ]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + " ".join(f"{point}:{count}" for point, count in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(str, value)) + "}"
    return str(value)
