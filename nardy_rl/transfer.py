"""What a network of one game knows about another game: its weights, matched by what they mean.

The games of the family differ by a rule or two, so a network that knows one of them is a far better
start in another than random weights are (transfer learning: Taylor and Stone 2009).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_engine.encoders import Encoder
from nardy_engine.errors import CheckpointError
from nardy_engine.rules import Variant
from nardy_rl.checkpoint import Network
from nardy_rl.outcomes import flip, outcome_names

_RARE = 5.0
"""How far below the mean of the others the bias of an outcome begins that only one game has."""

Layers: TypeAlias = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def layers_for(source: Network, variant: Variant, encoder: Encoder) -> Layers:
    """Return the layers of `source` for the inputs and outcomes of `variant`.

    An input stands for the same in both games if side, slot and formula agree (a share of 3
    checkers is another number than one of 15). Inputs that only `variant` has begin with no weight,
    outcomes that only it has begin as rare; what only `source` has is dropped. Where one game is
    won and the other one lost by bearing off first, wins and losses change places. For a network of
    the same rules nothing changes.

    Args:
        source: A network of any game, not changed.
        variant: The game to play.
        encoder: The encoder of its positions.

    Returns:
        `(weight [out, in], bias [out])` of each layer, input first; the outer two are fresh.

    Raises:
        CheckpointError: The boards have other lengths, the sides move in other directions, or no
            kind of win has the same name.
    """
    had, wanted = outcome_names(source.variant), outcome_names(variant)
    if not _related(source.variant, variant):
        raise CheckpointError(
            f"{source.path} knows {source.variant.id} ({_told(source.variant)}), which says "
            f"nothing about {variant.id} ({_told(variant)}); start from a network of a game with "
            "the same board, the same direction of play and the same kinds of wins"
        )
    if source.variant.objective is not variant.objective:
        had = tuple(flip(np.array(had)).tolist())
    layers = source.layers
    weight, bias = layers[0]
    columns = _places(_inputs(source.encoder), _inputs(encoder))
    layers[0] = _taken(weight.T, columns, 0.0).T, bias
    weight, bias = layers[-1]
    rows = _places(had, wanted)
    rare = float(bias[rows[rows >= 0]].mean()) - _RARE
    layers[-1] = _taken(weight, rows, 0.0), _taken(bias, rows, rare)
    return layers


def described(name: str, source: Network, variant: Variant, encoder: Encoder) -> str:
    """Say what a run of `variant` starts from, called `name`, and how much fits of another game."""
    if source.variant.digest() == variant.digest():
        return name
    known = int((_places(_inputs(source.encoder), _inputs(encoder)) >= 0).sum())
    game = source.variant.title
    if source.variant.id == variant.id:
        game += " by other rules"
    return f"{name}, a network of {game} ({known} of {encoder.width} inputs are the same)"


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


def _related(source: Variant, variant: Variant) -> bool:
    """Return whether what is good in one game says something about the other one."""
    kinds = [{kind for kind, _ in game.win_kinds} for game in (source, variant)]
    ours, theirs = source.setup, variant.setup
    same_board = (ours.points, ours.direction) == (theirs.points, theirs.direction)
    return same_board and bool(kinds[0] & kinds[1])


def _told(variant: Variant) -> str:
    """Return what two games must have in common, in words."""
    kinds = [kind for kind, _ in variant.win_kinds]
    shown = ", ".join(kinds[:3]) + (", ..." if len(kinds) > 3 else "")
    return f"{variant.setup.points} points; {variant.setup.direction.value} direction; {shown}"
