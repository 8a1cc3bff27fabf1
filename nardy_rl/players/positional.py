"""Positional bots: hand-made features times a table of weights, one TOML file per bot."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from nardy_engine.errors import NardyError
from nardy_engine.rules import Variant
from nardy_engine.types import Board
from nardy_rl.players.base import Choice, Turn, choose_best
from nardy_rl.players.features import FEATURES, features


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
    def load(cls, name: str) -> PositionalBot:
        """Return the bot with the weights of `data/<name>.toml`."""
        return cls(name, load_weights(name))

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest value of each game."""
        return choose_best(turn.variant, turn.after, self.values(turn.variant, turn.after.boards))

    def values(self, variant: Variant, boards: Board) -> NDArray[np.float32]:
        """Return `[A] float32`: worth of each afterstate `[A, 2, P]` for its row 0."""
        return features(variant, boards) @ self._weights


@cache
def load_weights(name: str) -> dict[str, float]:
    """Return the weight of each feature from `data/<name>.toml`."""
    text = (resources.files("nardy_rl.players") / "data" / f"{name}.toml").read_text("utf-8")
    return {feature: float(weight) for feature, weight in tomllib.loads(text)["weights"].items()}
