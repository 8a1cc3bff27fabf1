"""Hand-made features of a position for the mover: named numbers that a linear bot weighs.

Every feature looks at afterstates (mover in row 0) and means the same in every game; sizes and
distances come from the variant. Quarters are runs of `setup.home` points, counted from the home.
Checkers count as a share of all, so that weights fit any number of them.

| name | meaning |
|---|---|
| `spread`, `home_spread` | points held outside and inside the home |
| `stack` | checkers above two on a point, between head and home |
| `head` | share of the checkers still on the own head |
| `own_front` | points held in front of the own head, times `head` |
| `their_front` | points held in front of the opponent's head, times his share still on it |
| `quarters` | checkers of each quarter outside the home, two at most, summed |
| `pips`, `lag` | mean distance, and mean squared distance, from the end; 1 = the head |
| `off` | share borne off |
| `block3` ... `block6` | runs of held points in the opponent's way, times his share behind them |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels.linear import POSITIONAL_FEATURES, fill_positional
from nardy_engine.rules import Variant, rule_table
from nardy_engine.types import Board

FEATURES = POSITIONAL_FEATURES
"""Names, in the order of the columns of `features`."""

_IN_CHECKERS = ("head", "own_front", "their_front", "pips", "off", "lag")


def features(variant: Variant, boards: Board) -> NDArray[np.float32]:
    """Return `[A, F] float32` features of row 0 of `[A, 2, P] int8` afterstates."""
    out = np.empty((len(boards), len(FEATURES)), dtype=np.float32)
    fill_positional(boards, rule_table(variant), out)
    out *= units(variant)
    return out


def units(variant: Variant) -> NDArray[np.float32]:
    """Return `[F] float32`: what one counted unit of each feature is worth."""
    scale = np.ones(len(FEATURES), dtype=np.float32)
    for column, name in enumerate(FEATURES):
        if name in _IN_CHECKERS or name.startswith("block"):
            scale[column] /= variant.setup.checkers
    scale[FEATURES.index("pips")] /= variant.head_point
    scale[FEATURES.index("lag")] /= variant.head_point**2
    return scale
