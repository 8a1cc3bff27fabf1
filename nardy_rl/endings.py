"""Exact endings to learn from: games stop at them, so the network would see few others; layer 3.

Wherever a network plays here the bear-off tables answer for it. An exported network has no
tables, though, and rollouts may be cut off in the middle of a race: it has to know endings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine.bearoff import Bearoff
from nardy_engine.types import Board


def later_endings(
    bearoff: Bearoff, boards: Board, copies: int, rng: np.random.Generator
) -> tuple[Board, NDArray[np.float32]]:
    """Return endings as they may come later in the games of which `boards` are positions.

    From both sides of each ending among the boards a random share of the checkers is borne off;
    the two shares differ by a little, since both sides roll equally often.

    Args:
        bearoff: The endings of the game.
        boards: `[N, 2, P] int8` positions before the roll; those that are no endings are skipped.
        copies: Later endings drawn for each ending.
        rng: Advanced.

    Returns:
        `[M, 2, P] int8` endings, side to roll in row 0, and their `[M, O]` exact outcome chances.
    """
    later = np.repeat(boards[bearoff.covers(boards)], copies, axis=0)
    share = rng.random((len(later), 1)) + 0.1 * rng.standard_normal((len(later), 2))
    home = bearoff.variant.setup.home
    held = later[:, :, 1 : home + 1]
    gone = rng.binomial(held, np.clip(share, 0.0, 1.0)[:, :, None]).astype(np.int8)
    later[:, :, 1 : home + 1] -= gone
    later[:, :, 0] += gone.sum(axis=2, dtype=np.int8)
    later = later[bearoff.covers(later)]  # a side may have nothing left
    return later, bearoff.outcome_probs(later)
