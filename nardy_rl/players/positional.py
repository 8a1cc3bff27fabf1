"""Positional bots: hand-made features times a table of weights, one TOML file per bot."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules import Variant
from nardy_engine.types import Board
from nardy_rl.players.base import Choice, Turn, choose_best
from nardy_rl.players.features import FEATURES

_CHUNK = 4096  # afterstates at a time: the feature arrays stay in the cache


class PositionalBot:
    """Plays the afterstate whose features, weighed, add up to most."""

    def __init__(self, name: str, weights: Mapping[str, float] | None = None) -> None:
        """Use the weights of `data/<name>.toml`, or the given ones."""
        self.name = name
        self._weights = dict(load_weights(name) if weights is None else weights)

    def choose(self, turn: Turn) -> Choice:
        """Return the afterstate with the highest value of each game."""
        return choose_best(turn.variant, turn.after, self.values(turn.variant, turn.after.boards))

    def values(self, variant: Variant, boards: Board) -> NDArray[np.float64]:
        """Return `[A] float64`: worth of each afterstate `[A, 2, P]` for its row 0."""
        values = np.zeros(len(boards))
        for begin in range(0, len(boards), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            for feature, weight in self._weights.items():
                values[part] += weight * FEATURES[feature](variant, boards[part])
        return values


@cache
def load_weights(name: str) -> dict[str, float]:
    """Return the weight of each feature from `data/<name>.toml`."""
    text = (resources.files("nardy_rl.players") / "data" / f"{name}.toml").read_text("utf-8")
    return {feature: float(weight) for feature, weight in tomllib.loads(text)["weights"].items()}
