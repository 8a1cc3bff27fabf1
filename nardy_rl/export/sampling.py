"""Positions from real play: random games of every phase, for vectors and for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.types import Board

GAMES = 16
"""Games played at once; each contributes positions of all its turns."""


def played_positions(variant: Variant, n: int, seed: int) -> Board:
    """Return `[n, 2, P] int8` distinct unfinished positions, the side to roll in row 0.

    Random plays, so that blots, hits, blocked rolls and slow bear-offs occur; the positions are
    drawn evenly over whole games, from the opening to the last checkers.

    Args:
        variant: The game.
        n: How many.
        seed: Same seed, same positions on every machine.
    """
    seen: dict[bytes, Board] = {}
    first_id = 0
    # Several times as many as needed, so that the choice below spans whole games.
    while len(seen) < 4 * n:
        for board in _games(variant, seed, first_id):
            seen.setdefault(board.tobytes(), board)
        first_id += GAMES
    boards = list(seen.values())
    chosen = np.random.default_rng(seed).choice(len(boards), n, replace=False)
    return np.stack([boards[i] for i in chosen])


def _games(variant: Variant, seed: int, first_id: int) -> Board:
    """Return every unfinished position of `GAMES` random games."""
    ids: NDArray[np.int64] = np.arange(first_id, first_id + GAMES)
    games = batch.Games(variant, GAMES, seed, ids)
    met: list[Board] = []
    while True:
        running = games.over < 0
        if not running.any():
            return np.concatenate(met)
        met.append(games.boards[running].copy())
        games.roll()
        after = games.afterstates()
        picks = (games.uniforms() * after.counts()).astype(np.int64)
        games.play(after.offsets[:-1] + picks)
