"""Reference vectors: positions with the exact inputs and outputs of the network."""

from __future__ import annotations

from typing import Any

import numpy as np

from nardy_engine import Position, batch
from nardy_engine.notation import format_position
from nardy_engine.types import Board
from nardy_rl.evaluator import Evaluator
from nardy_rl.export.manifest import plain
from nardy_rl.export.sampling import played_positions

COUNT = 128
"""Vectors of an export: enough for every phase of a game."""

SEED = 20_011
"""Seed of the sampled positions: two exports of one network hold the same vectors."""

TOLERANCE = 1e-5
"""Difference of outputs that another runtime may show."""


def reference_boards(evaluator: Evaluator) -> Board:
    """Return `[COUNT, 2, P] int8`: the start position, then positions of real play."""
    start = evaluator.variant.start_position().board()
    return np.concatenate((start[None], played_positions(evaluator.variant, COUNT - 1, SEED)))


def build_vectors(evaluator: Evaluator) -> dict[str, Any]:
    """Return the reference vectors as JSON values."""
    variant = evaluator.variant
    boards = reference_boards(evaluator)
    features = evaluator.network.encoder.encode(boards)
    possible = batch.outcome_mask(variant, boards)
    probs = evaluator.probs(boards)
    equity = evaluator.equity(boards)
    vectors = [
        {
            "position": format_position(variant, Position.from_board(boards[i])),
            "roller": boards[i, 0].tolist(),
            "other": boards[i, 1].tolist(),
            "features": [plain(value) for value in features[i]],
            "possible": possible[i].astype(int).tolist(),
            "probabilities": [plain(value) for value in probs[i]],
            "equity": plain(equity[i]),
        }
        for i in range(len(boards))
    ]
    return {
        "explained": (
            "roller and other are checker counts by slot, in each side's own numbering; in "
            "'position' the side to roll is W. features and possible are exact, outputs are "
            "within 'tolerance' on every machine."
        ),
        "variant": variant.id,
        "digest": variant.digest(),
        "tolerance": TOLERANCE,
        "vectors": vectors,
    }
