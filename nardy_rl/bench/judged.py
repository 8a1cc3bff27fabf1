"""Plays judged by gnubg: opening plays, and the loss per decision of a bot in its own games.

The judge values the position after a play by a search of its own (2-ply unless said otherwise),
cubeless; the loss of a play is what it is worth less than the best one, in points a game. Short
nardy only, since the judge knows no other game. Layer: nardy_rl, numpy only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Position, Variant, batch, reference
from nardy_engine.notation import format_play
from nardy_engine.types import Board
from nardy_rl import outcomes
from nardy_rl.arena import ask
from nardy_rl.bench.gnubg import GnubgBot
from nardy_rl.bench.stored import Arrays, Store, identity
from nardy_rl.metrics import Z95, Interval
from nardy_rl.players import Bot, Turn
from nardy_rl.rolls import Rolls

GAMES = 64
"""Games in lock-step whose decisions are collected."""
PART = 128
"""Decisions that are judged and kept at a time."""


class Decisions(NamedTuple):
    """Unforced decisions of one bot."""

    boards: Board
    """`[N, 2, P] int8` before the play, the mover in row 0."""
    dice: NDArray[np.int8]
    """`[N, 2] int8`."""
    ends: Board
    """`[N, 2, P] int8` after the bot's play, the mover still in row 0."""
    games: NDArray[np.int64]
    """`[N]` the game that each belongs to."""

    def part(self, rows: slice) -> Decisions:
        """Return some of the decisions."""
        return Decisions(self.boards[rows], self.dice[rows], self.ends[rows], self.games[rows])


def worth(judge: GnubgBot, variant: Variant, ends: Board) -> NDArray[np.float64]:
    """Return `[N] float64` what the judge thinks of plays, in points a game of the mover.

    Args:
        judge: Values positions that are not over.
        variant: Short nardy.
        ends: `[N, 2, P] int8` after the play, the mover still in row 0.
    """
    over = batch.outcomes(variant, ends)
    values = outcomes.equity(
        outcomes.one_hot(over, variant.n_outcomes), outcomes.points_vector(variant)
    ).astype(np.float64)
    running = over < 0
    following, same = batch.next_states(variant, np.ascontiguousarray(ends[running]))
    assert not same.any()  # sides alternate in short nardy
    values[running] = -judge.equity(following)
    return values


def opening_plays(
    bot: Bot, judge: GnubgBot, variant: Variant, workers: int = 2
) -> list[dict[str, Any]]:
    """Return the bot's play of every opening roll, and what it loses by the judge.

    Every legal play is valued, so the best is the judge's best without any filter.

    Returns:
        For each roll `roll`, `play`, `best` and `loss`, the texts in move notation.
    """
    start = variant.start_position()
    rolls = Rolls.of(variant, opening=True).dice

    def judged(dice: NDArray[np.int8]) -> dict[str, Any]:
        boards, rolled = start.board()[None], dice[None]
        after = batch.afterstates(variant, boards, rolled)
        values = worth(judge, variant, after.boards)
        choice = int(bot.choose(Turn(variant, boards, rolled, after, np.zeros(1)))[0])
        best = int(values.argmax())
        high, low = (int(die) for die in dice)
        texts = [_text(variant, start, (high, low), after.boards[i]) for i in (choice, best)]
        return {
            "roll": f"{high}{low}",
            "play": texts[0],
            "best": texts[1],
            "loss": float(values[best] - values[choice]),
        }

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(judged, rolls))


def _text(variant: Variant, start: Position, dice: tuple[int, int], end: Board) -> str:
    for play in reference.plays(variant, start, dice):
        if np.array_equal(play.end.board(), end):
            return format_play(variant, play, start)
    raise ValueError("the position is not the end of a play")


def own_decisions(bot: Bot, variant: Variant, at_least: int, seed: int) -> Decisions:
    """Let a bot play itself and return every unforced decision of whole games.

    Args:
        bot: The bot, on both sides.
        variant: The game.
        at_least: Games are added, `GAMES` at a time, until there are so many decisions.
        seed: Fixes all dice.
    """
    found: list[Decisions] = []
    first = total = 0
    while total < at_least:
        ids = np.arange(first, first + GAMES)
        for decisions in _games(bot, variant, seed, ids):
            found.append(decisions)
            total += len(decisions.games)
        first += GAMES
    boards, dice, ends, games = zip(*found, strict=True)
    return Decisions(*map(np.concatenate, (boards, dice, ends, games)))


def _games(bot: Bot, variant: Variant, seed: int, ids: NDArray[np.int64]) -> list[Decisions]:
    """Return the decisions of games that are played to the end, turn by turn."""
    games = batch.Games(variant, len(ids), seed, ids=ids)
    found = []
    while (games.over < 0).any():
        running = games.over < 0
        games.roll()
        after = games.afterstates()
        choice = np.zeros(len(ids), np.int64)
        choice[running] = ask(bot, variant, games, after, games.uniforms(), running)
        rows = np.flatnonzero(running & (after.counts() > 1))
        found.append(
            Decisions(
                games.boards[rows].copy(),
                games.dice[rows].copy(),
                after.boards[choice[rows]].copy(),
                ids[rows],
            )
        )
        games.play(choice)
    return found


def losses(
    judge: GnubgBot,
    variant: Variant,
    decisions: Decisions,
    store: Store,
    what: Mapping[str, Any],
    *,
    workers: int = 2,
    progress: Callable[[int], object] = lambda decisions: None,
) -> NDArray[np.float64]:
    """Return `[N] float64` the loss of each decision, 0 where the judge plays the same.

    Where the judge's own play, which it finds with its filters, turns out to be worth less than
    the bot's, the loss is 0 too.

    Args:
        judge: Chooses a play and values it and the bot's.
        variant: Short nardy.
        decisions: What is judged.
        store: Where finished parts are.
        what: Identity of the measurement.
        workers: Threads; each has its own process of the judge.
        progress: Called with the number of decisions of each part.
    """

    def judged(first: int) -> NDArray[np.float64]:
        part = decisions.part(slice(first, first + PART))

        def make() -> Arrays:
            return {"losses": _losses(judge, variant, part)}

        found = store.part(what, f"{first}-{len(part.games)}", make)["losses"]
        progress(len(found))
        return found

    with ThreadPoolExecutor(workers) as pool:
        return np.concatenate(list(pool.map(judged, range(0, len(decisions.games), PART))))


def _losses(judge: GnubgBot, variant: Variant, part: Decisions) -> NDArray[np.float64]:
    theirs = judge.ends(part.boards, part.dice)
    result = np.zeros(len(theirs))
    differing = np.flatnonzero((theirs != part.ends).any(axis=(1, 2)))
    if differing.size:
        best = worth(judge, variant, theirs[differing])
        result[differing] = np.maximum(0.0, best - worth(judge, variant, part.ends[differing]))
    return result


def loss_identity(
    spec: str, judge: GnubgBot, variant: Variant, at_least: int, seed: int
) -> dict[str, Any]:
    """Return what the losses of a bot depend on, for `losses`."""
    return {
        "rules": variant.digest(),
        "bot": identity(spec, variant),
        "judge": identity(judge.name, variant),
        "decisions": at_least,
        "seed": seed,
    }


def mean_loss(values: NDArray[np.float64], games: NDArray[np.int64]) -> Interval:
    """Return the mean loss per decision with its 95 % interval.

    The decisions of a game are not independent, games are: the interval is that of a ratio of
    sums over games.

    Args:
        values: `[N]` losses.
        games: `[N]` the game of each.
    """
    _, which = np.unique(games, return_inverse=True)
    sums = np.bincount(which, weights=values)
    counts = np.bincount(which)
    mean, n = float(values.mean()), len(counts)
    if n < 2:
        return Interval(mean, float("inf"))
    spread = float(((sums - mean * counts) ** 2).sum()) * n / (n - 1)
    return Interval(mean, Z95 * spread**0.5 / len(values))


def summary(values: NDArray[np.float64], games: NDArray[np.int64]) -> dict[str, Any]:
    """Return what is published about the losses of a bot."""
    limits: Sequence[float] = (0.02, 0.04, 0.08)
    return {
        "decisions": len(values),
        "games": len(np.unique(games)),
        "loss": mean_loss(values, games).to_json(),
        "no_loss": float((values == 0).mean()),
        "over": {f"{limit:g}": float((values > limit).mean()) for limit in limits},
    }
