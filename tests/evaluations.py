"""Positions for tests of evaluation and search."""

import numpy as np

from nardy_engine import batch


def endings(variant, n, seed=1):
    """Return `[n, 2, P]` positions in which both sides are home."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 2, variant.n_slots), np.int8)
    for board in boards:
        for side in board:
            left = rng.integers(1, variant.setup.checkers + 1)
            for point in rng.integers(1, variant.setup.home + 1, left):
                side[point] += 1
            side[0] = variant.setup.checkers - left
        if variant.remembers("first"):
            board[0, variant.n_counts] = 1
    return boards


def played(variant, n, plies, seed=5):
    """Return `(boards, dice)` of random games after some plies, the running ones."""
    games = batch.Games(variant, n, seed)
    for _ in range(plies):
        games.roll()
        after = games.afterstates()
        counts = np.maximum(after.counts(), 1)
        games.play(after.offsets[:-1] + (games.uniforms() * counts).astype(np.int64))
    running = games.over < 0
    return games.boards[running], games.roll()[running]
