"""The array API over many games: legal plays, results, lock-step games; layer 4.

>>> from nardy_engine import batch, load_variant
>>> long = load_variant("long")
>>> games = batch.Games(long, n_games=2, seed=1)
>>> dice = games.roll()
>>> after = games.afterstates()
>>> games.play(after.offsets[:-1])      # the first afterstate of each game
>>> games.turns.tolist()
[1, 1]
"""

from nardy_engine.batch.games import Games
from nardy_engine.batch.plays import (
    Afterstates,
    afterstates,
    next_states,
    outcome_mask,
    outcomes,
    swapped,
)

__all__ = [
    "Afterstates",
    "Games",
    "afterstates",
    "next_states",
    "outcome_mask",
    "outcomes",
    "swapped",
]
