"""Speed of the engine: listing plays, random games, encoding."""

from __future__ import annotations

import statistics
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.encoders import encoder_ids, get_encoder
from nardy_engine.types import Board
from nardy_rl.bench.measuring import Measurement, rate

BATCH = 1024
"""Games that run in lock step."""


def random_positions(variant: Variant, n: int, seed: int) -> tuple[Board, NDArray[np.int8]]:
    """Return positions and rolls from every stage of random games.

    Returns:
        `[n, 2, P] int8` boards with the side to play in row 0, `[n, 2] int8` rolls.
    """
    games = RandomGames(variant, n_games=256, seed=seed)
    boards: list[Board] = []
    rolls: list[NDArray[np.int8]] = []
    rows = np.arange(256)
    found = 0
    while found < n:
        games.turn()
        # Each turn keeps other games, so that neighbouring positions of one game stay rare.
        kept = rows[(rows + games.turns_played) % 8 == 0]
        boards.append(games.games.boards[kept])
        rolls.append(games.games.roll()[kept].copy())
        found += len(kept)
    return np.concatenate(boards)[:n], np.concatenate(rolls)[:n]


class RandomGames:
    """Games of random play that restart when they end."""

    def __init__(self, variant: Variant, n_games: int, seed: int) -> None:
        """Set the games up."""
        self.games = batch.Games(variant, n_games, seed)
        self.turns_played = 0
        self._next_id = n_games
        self._lengths = 0

    def turn(self) -> None:
        """Play one turn of every game."""
        games = self.games
        games.roll()
        after = games.afterstates()
        games.play(after.offsets[:-1] + (games.uniforms() * after.counts()).astype(np.int64))
        self.turns_played += 1
        over = np.flatnonzero(games.over >= 0)
        if over.size:
            self._lengths += int(games.turns[over].sum())
            games.restart(over, np.arange(self._next_id, self._next_id + over.size))
            self._next_id += over.size

    def play_first_wave(self) -> None:
        """Play until as many games have ended as run at once."""
        while self._next_id < 2 * len(self.games.ids):
            self.turn()

    def mean_length(self) -> float:
        """Return the mean number of turns of the games that have ended."""
        return self._lengths / (self._next_id - len(self.games.ids))


def listing(variant: Variant, seconds: float) -> list[Measurement]:
    """Measure the listing of legal plays on positions of random games, one thread."""
    boards, rolls = random_positions(variant, 8 * BATCH, seed=1)
    parts = [slice(start, start + BATCH) for start in range(0, len(boards), BATCH)]

    def turns() -> float:
        for part in parts:
            batch.afterstates(variant, boards[part], rolls[part])
        return float(len(boards))

    def ends() -> float:
        return float(
            sum(len(batch.afterstates(variant, boards[p], rolls[p]).boards) for p in parts)
        )

    name = f"{variant.id}: legal plays, 1 thread"
    return [
        Measurement(name, "turns/s", lambda: rate(turns, seconds)),
        Measurement(name, "afterstates/s", lambda: rate(ends, seconds)),
    ]


def random_play(variant: Variant, seconds: float, threads: int) -> Measurement:
    """Measure games of random play, every legal play listed, in one batch a thread.

    Turns are counted and divided by the mean length of a game: endings come in waves, so that
    counting them over a short time would say anything.
    """
    players = [RandomGames(variant, BATCH, seed=7 + i) for i in range(threads)]
    for player in players:
        player.play_first_wave()
    length = statistics.fmean(player.mean_length() for player in players)

    def play(player: RandomGames) -> float:
        def turn() -> float:
            player.turn()
            return BATCH / length

        return rate(turn, seconds)

    def run() -> float:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(play, players))

    plural = "" if threads == 1 else "s"
    return Measurement(f"{variant.id}: random play, {threads} thread{plural}", "games/s", run)


def encoding(variant: Variant, seconds: float) -> list[Measurement]:
    """Measure the encoder, one thread, as float32 and as bfloat16."""
    boards, _ = random_positions(variant, 4 * BATCH, seed=2)
    encoder = get_encoder(encoder_ids()[0], variant)

    def measurement(kind: str, dtype: type[np.generic]) -> Measurement:
        out = np.empty((len(boards), encoder.width), dtype)

        def work() -> float:
            encoder.encode_into(boards, out)
            return float(len(boards))

        name = f"{variant.id}: encode {encoder.name}, 1 thread, {kind}"
        return Measurement(name, "positions/s", lambda: rate(work, seconds))

    return [measurement("fp32", np.float32), measurement("bf16", np.uint16)]
