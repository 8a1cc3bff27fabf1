"""Indices of exclusive outcomes; layer 3, imports rules and types.

Entry `k < K` of an outcome vector is "this side wins with kind k", `K + k` "it loses with kind k",
`K = len(variant.win_kinds)`; games with draws have one more, `2 K`. An index of -1 stands for a
game that goes on.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules.variant import Variant
from nardy_engine.types import Outcome

_Signed = TypeVar("_Signed", bound=np.signedinteger[Any])


def outcome_index(variant: Variant, outcome: Outcome | None) -> int:
    """Return the index of a result seen from the side that `outcome` is seen from."""
    if outcome is None:
        return -1
    kinds = len(variant.win_kinds)
    if outcome.draw:
        return 2 * kinds
    return outcome.kind if outcome.won else kinds + outcome.kind


def flip_index(outcomes: NDArray[_Signed], n_outcomes: int) -> NDArray[_Signed]:
    """Return outcome indices seen from the other side; -1 and a draw stay what they are.

    Args:
        outcomes: `[...]` signed integers, each -1 or an index below `n_outcomes`.
        n_outcomes: Number `O` of outcomes, `2 K` or `2 K + 1`.
    """
    half = n_outcomes // 2
    flipped = np.where(outcomes < half, outcomes + half, outcomes - half)
    stays = (outcomes < 0) | (outcomes >= 2 * half)
    return np.where(stays, outcomes, flipped).astype(outcomes.dtype)
