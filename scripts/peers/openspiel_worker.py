"""OpenSpiel's backgammon for `scripts/bench.py --peers`; needs `pip install open_spiel`."""

from __future__ import annotations

import random
import time
from importlib.metadata import version
from typing import Any

import pyspiel
from protocol import serve

GAME = pyspiel.load_game("backgammon")
_random = random.Random(1).random
WAYS = 36
"""Ordered rolls of two dice."""


def _weighted(state: Any) -> list[int]:
    """Return the rolls of a chance node, each as often as its chance says."""
    times = [(roll, round(chance * WAYS)) for roll, chance in state.chance_outcomes()]
    return [roll for roll, n in times for _ in range(max(n, 1))]


def _later_rolls() -> list[int]:
    state = GAME.new_initial_state()
    turns = 0
    while not (turns and state.is_chance_node()):
        turns += state.is_chance_node()
        state.apply_action(state.legal_actions()[0])
    return _weighted(state)


ROLLS = _later_rolls()
"""Every roll but the first one, which also says who begins."""


def random_play(seconds: float) -> dict[str, float]:
    """Play uniformly among the legal actions; a double takes two of them.

    Every action is listed, as in our random play, but equal results are not taken together.
    """
    turns = games = 0
    start = time.perf_counter()
    while True:
        state, turns_of_game = GAME.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                choices = ROLLS if turns_of_game else _weighted(state)
                turns_of_game += 1
            else:
                choices = state.legal_actions()
            state.apply_action(choices[int(_random() * len(choices))])
        turns += turns_of_game
        games += 1
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return {"turns_per_s": turns / elapsed, "games_per_s": games / elapsed}


if __name__ == "__main__":
    serve("OpenSpiel", version("open_spiel"), {"random_play": random_play})
