"""Pgx's backgammon (JAX) for `scripts/bench.py --peers`; needs `pip install pgx jax`."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental import auto_reset
from protocol import serve

BATCH = 2048
"""Games at once; from 1,024 to 4,096 its speed is about the same."""
STEPS = 16
"""Actions of every game between two looks at the clock."""
SHORT_BATCH = 128
"""Games whose lengths are counted."""

ENV = pgx.make("backgammon")
_step = auto_reset(ENV.step, ENV.init)


class Running(NamedTuple):
    """Games in progress."""

    states: Any
    key: Any
    turns: Any
    """`[B]` turns of the first game in each place, as far as it has come."""
    over: Any
    """`[B]` whether that game has ended."""


def _play(games: Running, _: None) -> tuple[Running, Any]:
    """Take one uniform legal action in every game, a new game where one ends; count the turns."""
    states = games.states
    key, choose, roll = jax.random.split(games.key, 3)
    logits = jnp.where(states.legal_action_mask, 0.0, -jnp.inf)
    actions = jax.random.categorical(choose, logits)
    after = jax.vmap(_step)(states, actions, jax.random.split(roll, len(actions)))
    ended = (after.current_player != states.current_player) | after.terminated
    turns = games.turns + (ended & ~games.over)
    return Running(after, key, turns, games.over | after.terminated), ended.sum()


@jax.jit  # type: ignore[untyped-decorator]
def _many(games: Running) -> tuple[Running, Any]:
    games, turns = jax.lax.scan(_play, games, None, length=STEPS)
    return games, turns.sum()


def _start(batch: int, seed: int) -> Running:
    states = jax.jit(jax.vmap(ENV.init))(jax.random.split(jax.random.PRNGKey(seed), batch))
    key = jax.random.PRNGKey(seed + 1)
    return Running(states, key, jnp.zeros(batch, int), jnp.zeros(batch, bool))


def _mean_length() -> float:
    """Return the mean number of turns of a game, over games that are all played to the end."""
    games = _start(SHORT_BATCH, 1)
    while not bool(games.over.all()):
        games, _ = _many(games)
    return float(games.turns.mean())


_state: dict[str, Any] = {}


def random_play(seconds: float) -> dict[str, float]:
    """Play uniformly among the legal actions, one die each, whose mask is computed each time.

    Games are turns over the mean length of a game: endings come in waves.
    """
    if not _state:
        _state["length"] = _mean_length()
        _state["games"], _ = jax.block_until_ready(_many(_start(BATCH, 3)))
    turns, start = 0, time.perf_counter()
    while True:
        _state["games"], ended = _many(_state["games"])
        turns += int(ended)
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            break
    speed = turns / elapsed
    return {"turns_per_s": speed, "games_per_s": speed / _state["length"]}


if __name__ == "__main__":
    serve("Pgx", version("pgx"), {"random_play": random_play})
