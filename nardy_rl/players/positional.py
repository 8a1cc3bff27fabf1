"""Positional bots: hand-made features times a table of weights, one TOML file per game.

A table may say `inherits = "long"` and then only the weights that differ from those of that game.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from nardy_engine.errors import NardyError
from nardy_engine.rules import Variant, load_variant, variant_names
from nardy_engine.types import Board
from nardy_rl.players.base import Choice, Turn, choose_best
from nardy_rl.players.features import FEATURES, features

PREFIX = "positional-"
"""What the names of these bots and of their files begin with; the game follows."""


class PositionalBot:
    """Plays the afterstate whose features, weighed, add up to most."""

    def __init__(self, name: str, weights: Mapping[str, float]) -> None:
        """Prepare.

        Args:
            name: Name in tables.
            weights: Weight of each feature; the others do not count.

        Raises:
            NardyError: A feature does not exist.
        """
        for feature in weights:
            if feature not in FEATURES:
                near = difflib.get_close_matches(feature, FEATURES, n=1, cutoff=0.0)
                raise NardyError(
                    f"unknown feature '{feature}' in {name}; did you mean '{near[0]}'?"
                )
        self.name = name
        self._weights = np.array([weights.get(name, 0.0) for name in FEATURES], dtype=np.float32)

    @classmethod
    def load(cls, game: str) -> PositionalBot:
        """Return the bot with the weights of `data/positional-<game>.toml`."""
        return cls(f"{PREFIX}{game}", load_weights(game))

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest value of each game."""
        return choose_best(turn.variant, turn.after, self.values(turn.variant, turn.after.boards))

    def values(self, variant: Variant, boards: Board) -> NDArray[np.float32]:
        """Return `[A] float32`: worth of each afterstate `[A, 2, P]` for its row 0."""
        return features(variant, boards) @ self._weights


def plays(game: str, variant: Variant) -> bool:
    """Return whether the weights made for `game` make sense in `variant`.

    They do if the sides travel, touch each other and win in the same way.
    """
    made_for = load_variant(game)
    return (
        made_for.setup.direction is variant.setup.direction
        and made_for.contact is variant.contact
        and made_for.objective is variant.objective
    )


def table_for(variant: Variant) -> str | None:
    """Return the game whose weights suit `variant` best: itself, else the first like it."""
    suitable = [game for game in variant_names() if plays(game, variant)]
    return variant.id if variant.id in suitable else next(iter(suitable), None)


@cache
def load_weights(game: str) -> dict[str, float]:
    """Return the weight of each feature from `data/positional-<game>.toml`."""
    file = resources.files("nardy_rl.players") / "data" / f"{PREFIX}{game}.toml"
    table = tomllib.loads(file.read_text("utf-8"))
    inherited = load_weights(table["inherits"]) if "inherits" in table else {}
    return inherited | {name: float(weight) for name, weight in table["weights"].items()}
