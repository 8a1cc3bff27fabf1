"""What a network of one game knows about another game: its weights, matched by what they mean.

The games of the family differ by a rule or two, so a network that knows one of them is a far better
start in another than random weights are (transfer learning: Taylor and Stone 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_engine.encoders import Encoder
from nardy_engine.errors import CheckpointError
from nardy_engine.rules import Variant
from nardy_rl.checkpoint import Network
from nardy_rl.outcomes import outcome_names

_RARE = -5.0
"""Bias of an outcome that the other game does not have: a chance of a percent or less at first."""

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def layers_for(source: Network, variant: Variant, encoder: Encoder) -> Layers:
    """Return the layers of `source` for the inputs and outcomes of `variant`.

    An input stands for the same in both games if side, slot and formula agree. Inputs that only
    `variant` has begin with no weight, outcomes that only it has begin as rare; what only `source`
    has is dropped. For a network of the same rules nothing changes.

    Args:
        source: A network of any game, not changed.
        variant: The game to play.
        encoder: The encoder of its positions.

    Returns:
        `(weight [out, in], bias [out])` of each layer, input first; the outer two are fresh.

    Raises:
        CheckpointError: The games have no outcome in common or boards of different lengths.
    """
    had, wanted = outcome_names(source.variant), outcome_names(variant)
    points = source.variant.setup.points, variant.setup.points
    if points[0] != points[1] or not set(had) & set(wanted):
        raise CheckpointError(
            f"{source.path} knows {source.variant.id} ({points[0]} points; {_listed(had)}), which "
            f"says nothing about {variant.id} ({points[1]} points; {_listed(wanted)}); start from "
            "a network of a game with the same board and the same kinds of results"
        )
    layers = source.layers
    weight, bias = layers[0]
    columns = _places(_inputs(source.encoder), _inputs(encoder))
    layers[0] = _taken(weight.T, columns, 0.0).T, bias
    weight, bias = layers[-1]
    rows = _places(had, wanted)
    layers[-1] = _taken(weight, rows, 0.0), _taken(bias, rows, _RARE)
    return layers


def described(source: Network, variant: Variant, encoder: Encoder) -> str:
    """Say what a run of `variant` starts from, and how much of it fits if it is another game."""
    if source.variant.digest() == variant.digest():
        return source.name
    known = int((_places(_inputs(source.encoder), _inputs(encoder)) >= 0).sum())
    game = source.variant.title
    if source.variant.id == variant.id:
        game += " by other rules"
    return f"{source.name}, a network of {game} ({known} of {encoder.width} inputs are the same)"


def _inputs(encoder: Encoder) -> list[tuple[Any, ...]]:
    """Return what each input stands for, in order."""
    return [(row["side"], row["slot"], row["formula"]) for row in encoder.describe()]


def _places(had: Any, wanted: Any) -> NDArray[np.int64]:
    """Return where each of `wanted` stands in `had`, -1 if it does not."""
    places = {meaning: i for i, meaning in enumerate(had)}
    return np.array([places.get(meaning, -1) for meaning in wanted], np.int64)


def _taken(rows: NDArray[np.float32], places: NDArray[np.int64], missing: float) -> Any:
    """Return the rows at `places`, `missing` where the place is -1."""
    taken = rows[places]
    taken[places < 0] = missing
    return taken


def _listed(names: tuple[str, ...]) -> str:
    """Return the kinds of wins among outcome names, a few of them."""
    kinds = [name.removeprefix("win ") for name in names if name.startswith("win ")]
    return ", ".join(kinds[:3]) + (", ..." if len(kinds) > 3 else "")
