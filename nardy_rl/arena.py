"""Matches between bots: paired dice, seats exchanged, thousands of games in lock-step.

Every dice stream is played twice, once with each bot moving first, so that luck largely cancels
and a bot against itself scores exactly 0. A game depends on seed and stream number alone: block
size and thread count change nothing (T34).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch
from nardy_engine.errors import NardyError
from nardy_engine.outcomes import flip_index
from nardy_engine.rules import Variant
from nardy_engine.types import Board
from nardy_rl.cores import one_thread_a_product, usable_cores
from nardy_rl.luck import Luck
from nardy_rl.metrics import MatchResult
from nardy_rl.players.base import Bot, Choice, Turn

PLY_CAP = 5000
"""Turns after which a game counts as unfinished; an ordinary game has fewer than a hundred."""

BLOCK_PAIRS = 1024
"""Dice streams in lock-step at a time."""


class ArenaError(NardyError):
    """The match cannot be played as asked."""


class _Games(NamedTuple):
    """Finished games of one block, `[n, 2]` as in `MatchResult`."""

    outcomes: NDArray[np.int8]
    plies: NDArray[np.int32]
    fingerprints: NDArray[np.uint64]
    luck: NDArray[np.float64]


def match(
    bot_a: Bot,
    bot_b: Bot,
    variant: Variant,
    pairs: int,
    seed: int,
    *,
    workers: int | None = None,
    block_pairs: int = BLOCK_PAIRS,
    ply_cap: int = PLY_CAP,
    first: int = 0,
    luck: Luck | None = None,
    progress: Callable[[int], object] | None = None,
) -> MatchResult:
    """Play `pairs` dice streams twice each, seats exchanged.

    Args:
        bot_a: The bot whose view the result takes.
        bot_b: Its opponent.
        variant: The game.
        pairs: Dice streams; twice as many games.
        seed: Fixes all dice and all random choices.
        workers: Threads, None = one per core; the result does not depend on them.
        block_pairs: Streams in lock-step at a time; the result does not depend on it.
        ply_cap: Turns after which a game is given up and reported as unfinished.
        first: Number of the first stream, for a match that is played in parts.
        luck: Measures the luck of every roll, which takes time but makes the result sharper.
        progress: Called with the number of pairs of each finished block.

    Raises:
        ArenaError: `pairs`, `seed`, `workers` or `ply_cap` make no match.
    """
    for name, value, least in (
        ("pairs", pairs, 1),
        ("workers", workers, 1),
        ("block_pairs", block_pairs, 1),
        ("ply_cap", ply_cap, 1),
        ("seed", seed, 0),
        ("first", first, 0),
    ):
        if value is not None and value < least:
            raise ArenaError(f"{name} is {value}; it must be at least {least}")

    end = first + pairs
    stop = threading.Event()

    def play(begin: int) -> _Games:
        streams = np.arange(begin, min(begin + block_pairs, end), dtype=np.int64)
        try:
            games = _play_block((bot_a, bot_b), variant, seed, streams, ply_cap, luck, stop)
        except BaseException:
            stop.set()  # the results of the others are not wanted any more
            raise
        if progress is not None:
            progress(len(streams))
        return games

    threads = usable_cores() if workers is None else workers
    with one_thread_a_product(), ThreadPoolExecutor(threads) as pool:
        try:
            blocks = list(pool.map(play, range(first, end, block_pairs)))
        except BaseException:  # Ctrl-C too: the pool waits for what has begun
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return MatchResult(
        variant=variant,
        a=bot_a.name,
        b=bot_b.name,
        seed=seed,
        ply_cap=ply_cap,
        outcomes=np.concatenate([block.outcomes for block in blocks]),
        plies=np.concatenate([block.plies for block in blocks]),
        fingerprints=np.concatenate([block.fingerprints for block in blocks]),
        luck=None if luck is None else np.concatenate([block.luck for block in blocks]),
    )


def round_robin(
    bots: Iterable[Bot], variant: Variant, pairs: int, seed: int, *, workers: int | None = None
) -> list[MatchResult]:
    """Play a match between any two of the bots, all on the same dice."""
    return [
        match(a, b, variant, pairs, seed, workers=workers) for a, b in combinations(list(bots), 2)
    ]


def _play_block(
    bots: tuple[Bot, Bot],
    variant: Variant,
    seed: int,
    streams: NDArray[np.int64],
    ply_cap: int,
    luck: Luck | None,
    stop: threading.Event,
) -> _Games:
    """Play both games of each stream to the end; in odd ones the second bot moves first.

    stop: Ends them where they are; the match has failed.
    """
    n = len(streams)
    games = batch.Games(variant, 2 * n, seed, ids=np.repeat(streams, 2))
    first = np.tile(np.arange(2), n)
    fingerprints = np.zeros(2 * n, dtype=np.uint64)
    lucky = np.zeros((2 * n, 2))
    for _ in range(ply_cap):
        running = games.over < 0
        if not running.any() or stop.is_set():
            break
        games.roll()
        if luck is not None:
            found = luck.of(games.boards[running], games.dice[running], games.turns[running])
            lucky[running] += np.where((first ^ games.sides)[running, None] == 0, found, -found)
        uniforms = games.uniforms()
        after = games.afterstates()
        choice = np.zeros(2 * n, dtype=np.int64)
        for seat, bot in enumerate(bots):
            mine = running & ((first ^ games.sides) == seat)
            if mine.any():
                choice[mine] = ask(bot, variant, games, after, uniforms, mine)
        games.play(choice)
        fingerprints[running] = _extend(fingerprints[running], games.boards[running])
    outcomes = np.where(first == 0, games.over, flip_index(games.over, variant.n_outcomes))
    return _Games(
        outcomes.reshape(n, 2).astype(np.int8),
        games.turns.reshape(n, 2).astype(np.int32),
        fingerprints.reshape(n, 2),
        lucky.reshape(n, 2, 2),
    )


def ask(
    bot: Bot,
    variant: Variant,
    games: batch.Games,
    after: batch.Afterstates,
    uniforms: NDArray[np.float64],
    mine: NDArray[np.bool_],
) -> Choice:
    """Return a bot's choice in some of the games.

    Args:
        bot: The bot.
        variant: The game.
        games: All games, rolled.
        after: Their afterstates.
        uniforms: `[B] float64` the chance that the bot may use in each game.
        mine: `[B]` the games that it plays a turn of; at least one.

    Returns:
        Rows of `after.boards`, one of each of these games.

    Raises:
        ArenaError: It chose something else.
    """
    counts = after.counts()
    rows = np.flatnonzero(np.repeat(mine, counts))
    offsets = np.concatenate(([0], np.cumsum(counts[mine])))
    own = batch.Afterstates(after.boards[rows], offsets)
    choice = bot.choose(Turn(variant, games.boards[mine], games.dice[mine], own, uniforms[mine]))
    if not ((choice >= offsets[:-1]) & (choice < offsets[1:])).all():
        raise ArenaError(f"the bot '{bot.name}' chose a play that is not among the legal ones")
    return rows[choice]


_FACTORS = np.random.default_rng(1).integers(1 << 63, size=256, dtype=np.uint64) * 2 + 1
_CHAIN = np.uint64(0x9E3779B97F4A7C15)


def _extend(fingerprints: NDArray[np.uint64], boards: Board) -> NDArray[np.uint64]:
    """Return `[B] uint64`: the hash of each game so far with one more position."""
    cells = boards.reshape(len(boards), -1).astype(np.uint64)
    mixed = (fingerprints ^ (fingerprints >> np.uint64(29))) * _CHAIN
    return np.asarray(mixed + cells @ _FACTORS[: cells.shape[1]] + np.uint64(1))
