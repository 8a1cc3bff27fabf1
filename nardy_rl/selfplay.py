"""Self-play with frozen weights: lock-step games, offline lambda-returns; layer 4 of nardy_rl.

Each worker is a thread with its own games. It takes them in chunks: list the plays, encode the
afterstates, evaluate them in one product that fits the cache, choose, advance. Compiled code and
torch both release the GIL, so two workers fill two cores without a barrier between the stages.
What a worker plays depends on its number, the seed and the weights only, never on timing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_engine.batch.plays import fill_plays
from nardy_engine.bearoff import Bearoff
from nardy_engine.encoders import Encoder
from nardy_engine.kernels import selfplay as kernels
from nardy_engine.kernels.bearoff import BearoffTables
from nardy_engine.kernels.rng import fill_rolls
from nardy_engine.rules import Variant, rule_table
from nardy_engine.rules.components import Opening
from nardy_engine.types import Board
from nardy_rl.cores import one_thread_a_product
from nardy_rl.nets import FrozenNet
from nardy_rl.nets.frozen import whole_blocks
from nardy_rl.outcomes import points_vector
from nardy_rl.search import Search

CHUNK_ROWS = 4096
"""Afterstates evaluated at once on a CPU: features and activations stay in the cache."""

CHUNK_GAMES = 256
"""Games of a chunk at most; 4,096 afterstates are about 215 games of short nardy."""

STAGES = ("roll", "plays", "encode", "network", "choose", "search")
"""What a worker spends its time on."""


@dataclass
class RoundStats:
    """What happened in one round of self-play; sums over the workers.

    A game that stops at an exact ending counts with its chances: wins and outcomes are expected
    numbers, plies those until the ending.
    """

    games: int = 0
    plies: int = 0
    truncated: int = 0
    first_player_wins: float = 0.0
    td_error_sum: float = 0.0
    td_error_n: int = 0
    outcomes: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    calibration: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 3)))
    evaluations: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    """Thread seconds of each stage, summed over the workers."""

    def plus(self, other: RoundStats) -> RoundStats:
        """Return the sum of two statistics."""
        sums = {
            item.name: getattr(self, item.name) + getattr(other, item.name)
            for item in fields(self)
            if item.name != "seconds"
        }
        seconds = {stage: self.seconds[stage] + other.seconds[stage] for stage in STAGES}
        return RoundStats(**sums, seconds=seconds)


class Chooser:
    """Working memory of one thread that chooses plays by a network, chunk by chunk.

    Attributes:
        after: `[A, 2, P] int8` afterstates of the last chunk.
        picked: `[G]` row of the play chosen in each of its games.
        best: `[G, O]` outcome chances after that play, seen from the side that acts next.
    """

    def __init__(self, variant: Variant, encoder: Encoder, n_games: int, chunk_rows: int) -> None:
        """Make room for `n_games` games and, at first, chunks of `chunk_rows` afterstates."""
        self.variant, self.encoder = variant, encoder
        n_outcomes = variant.n_outcomes
        self._rules = rule_table(variant)
        self._points = points_vector(variant)
        self.after: Board = np.zeros((chunk_rows, 2, variant.n_slots), np.int8)
        self.picked = np.zeros(n_games, np.int64)
        self.best = np.zeros((n_games, n_outcomes), np.float32)
        self._offsets = np.zeros(n_games + 1, np.int64)
        self._hidden: NDArray[Any] = np.zeros((0, 0), np.float32)
        self._possible = np.zeros(n_outcomes, np.uint8)
        self._probs = np.zeros(n_outcomes, np.float32)

    def choose(
        self,
        net: FrozenNet,
        boards: Board,
        dice: NDArray[np.int8],
        first: int,
        last: int,
        stats: RoundStats,
    ) -> int:
        """Choose a play for games from `first` on, at most up to `last`.

        Args:
            net: Chooses 0-ply.
            boards: `[G, 2, P]` positions of all games.
            dice: `[G, 2]` their rolls.
            first: First game.
            last: End of the games asked for.
            stats: Gets the time of each stage and the evaluations.

        Returns:
            The first game left: a chunk holds so many afterstates only.
        """
        clock = [time.perf_counter()]
        end = self._list_plays(boards, dice, first, last)
        rows = int(self._offsets[end])
        clock.append(time.perf_counter())
        hidden = self._room_for_hidden(net, rows)
        self.encoder.first_layer_into(
            boards, self.after, self._offsets, (first, end), net.first_weights, net.first_bias,
            hidden,
        )  # fmt: skip
        clock.append(time.perf_counter())
        logits = net.logits(hidden)
        clock.append(time.perf_counter())
        kernels.choose_plays(
            self.after, self._offsets, first, end, logits, self._points, self._rules,
            self._possible, self._probs, self.picked, self.best,
        )  # fmt: skip
        clock.append(time.perf_counter())
        for stage, start, stop in zip(STAGES[1:], clock, clock[1:], strict=False):
            stats.seconds[stage] += stop - start
        stats.evaluations += rows
        return end

    def _room_for_hidden(self, net: FrozenNet, rows: int) -> NDArray[Any]:
        shape = (len(self.after), len(net.first_bias))
        if self._hidden.shape != shape or self._hidden.dtype != net.hidden_dtype:
            self._hidden = np.zeros(shape, net.hidden_dtype)
        return self._hidden[: whole_blocks(rows)]

    def _list_plays(self, boards: Board, dice: NDArray[np.int8], first: int, last: int) -> int:
        """List the plays of games from `first` on into the chunk; return the first game left."""
        self._offsets[first] = 0
        while True:
            end = fill_plays(
                self.variant, boards[:last], dice[:last], first, self.after, self._offsets
            )
            if end > first:
                return end
            # One play has more ends than the chunk holds: rare, and only in some games.
            self.hold(2 * len(self.after))

    def hold(self, chunk_rows: int) -> None:
        """Make room for chunks of so many afterstates; what the chunk holds is lost."""
        self.after = np.zeros((chunk_rows, *self.after.shape[1:]), np.int8)


class Worker:
    """One thread's games."""

    def __init__(
        self,
        variant: Variant,
        encoder: Encoder,
        n_games: int,
        max_plies: int,
        seed: int,
        number: int,
        n_workers: int,
        chunk_rows: int = CHUNK_ROWS,
        bearoff: Bearoff | None = None,
    ) -> None:
        """Set up `n_games` games with the ids `number`, `number + n_workers`, ...

        Args:
            variant: The game.
            encoder: Encoder of the network.
            n_games: Games in lock step.
            max_plies: Longest trajectory of a game.
            seed: Seed of the dice.
            number: Of this worker, from 0.
            n_workers: How many there are.
            chunk_rows: Afterstates evaluated at once.
            bearoff: Exact endings at which games stop; None = they are played out.
        """
        self.variant, self.encoder, self.seed = variant, encoder, seed
        slots, n_outcomes = variant.n_slots, variant.n_outcomes
        self._rules = rule_table(variant)
        self._points = points_vector(variant)
        self._endings = _endings(bearoff)
        self._start = variant.start_position().board()
        self._opening = int(variant.opening is Opening.OPENING_DICE)
        self.tracks = kernels.Tracks(
            boards=np.zeros((n_games, 2, slots), np.int8),
            sides=np.zeros(n_games, np.int8),
            ids=np.zeros(n_games, np.int64),
            turns=np.zeros(n_games, np.int64),
            path_boards=np.zeros((n_games, max_plies, 2, slots), np.int8),
            path_sides=np.zeros((n_games, max_plies + 1), np.int8),
            path_probs=np.zeros((n_games, max_plies + 1, n_outcomes), np.float32),
            next_id=np.array([number, n_workers], np.int64),
        )
        for game in range(n_games):
            kernels.restart_game(self.tracks, game, self._start)
        self.cursor = 0
        """First game whose turn has not been played in the current pass."""
        self._dice = np.zeros((n_games, 2), np.int8)
        self._chooser = Chooser(variant, encoder, n_games, chunk_rows)
        self._samples = self._new_samples(0)

    def _new_samples(self, rows: int) -> kernels.Samples:
        n_outcomes = self.variant.n_outcomes
        return kernels.Samples(
            boards=np.empty((rows, 2, self.variant.n_slots), np.int8),
            targets=np.empty((rows, n_outcomes), np.float32),
            filled=np.zeros(1, np.int64),
            totals=np.zeros(6, np.float64),
            outcomes=np.zeros(n_outcomes, np.float64),
            calibration=np.zeros((len(kernels.PHASES), kernels.CALIBRATION_BINS, 3), np.float64),
        )

    def play(
        self, net: FrozenNet, lambda_: float, turns: int, backups: Search | None = None
    ) -> tuple[Board, NDArray[np.float32], RoundStats]:
        """Play at least `turns` turns, all games together.

        Args:
            net: Frozen weights for the whole round.
            lambda_: For the targets.
            turns: Turns to play.
            backups: Replaces the targets by what it says of the positions. One ply ahead that is
                the expectation of a TD(0) target, without the noise of the dice (a full backup:
                Sutton & Barto 2018, section 3.8), and the tables' chances for endings.

        Returns:
            `[N, 2, P]` positions before the roll of the games that ended, `[N, O]` targets for
            the side to roll, and the statistics; on average one position per turn, and the exact
            ending of each game that stopped at one. The arrays are valid until the next call.
        """
        stats = RoundStats()
        self._samples.filled[0] = 0
        while turns > 0:
            self._room_for_chunk()
            turns -= self._play_chunk(net, lambda_, stats)
        samples, n = self._samples, int(self._samples.filled[0])
        games, plies, truncated, wins, error, errors = samples.totals
        stats.games, stats.plies, stats.truncated = int(games), int(plies), int(truncated)
        stats.first_player_wins = float(wins)
        stats.td_error_sum, stats.td_error_n = float(error), int(errors)
        stats.outcomes = samples.outcomes.copy()
        stats.calibration = samples.calibration.copy()
        for counter in (samples.totals, samples.outcomes, samples.calibration):
            counter.fill(0)
        boards, targets = samples.boards[:n], samples.targets[:n]
        if backups is not None:
            started = time.perf_counter()
            targets = backups.positions(boards).astype(np.float32)
            stats.seconds["search"] += time.perf_counter() - started
        return boards, targets, stats

    def _room_for_chunk(self) -> None:
        """Make the sample buffers large enough: a chunk may end all of its games at once."""
        old, n = self._samples, int(self._samples.filled[0])
        n_games, max_plies = self.tracks.path_boards.shape[:2]
        needed = n + min(n_games, CHUNK_GAMES) * (max_plies + 1)
        if old.boards.shape[0] < needed:
            grown = self._new_samples(2 * needed)
            grown.boards[:n], grown.targets[:n] = old.boards[:n], old.targets[:n]
            self._samples = old._replace(boards=grown.boards, targets=grown.targets)

    def _play_chunk(self, net: FrozenNet, lambda_: float, stats: RoundStats) -> int:
        """Play one turn of as many games as the chunk holds afterstates for; return how many."""
        tracks, first = self.tracks, self.cursor
        n_games = len(tracks.ids)
        started = time.perf_counter()
        last = min(first + CHUNK_GAMES, n_games)
        dice, sides = self._dice, self.variant.dice.sides
        part = slice(first, last)
        fill_rolls(
            self.seed, tracks.ids[part], tracks.turns[part], sides, self._opening, dice[part]
        )
        stats.seconds["roll"] += time.perf_counter() - started
        chooser = self._chooser
        end = chooser.choose(net, tracks.boards, dice, first, last, stats)
        started = time.perf_counter()
        kernels.advance_games(
            tracks, self._samples, first, end, chooser.after, chooser.picked, chooser.best,
            lambda_, self._points, self._start, self._endings, self._rules,
        )  # fmt: skip
        stats.seconds["choose"] += time.perf_counter() - started
        self.cursor = 0 if end == n_games else end
        return end - first

    # -- resume -------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that a later run needs to go on exactly here."""
        tracks = self.tracks
        # Only the used part of the trajectories: game g has `turns[g]` entries.
        used = np.arange(tracks.path_boards.shape[1]) < tracks.turns[:, None]
        return {
            "boards": tracks.boards,
            "sides": tracks.sides,
            "ids": tracks.ids,
            "turns": tracks.turns,
            "next_id": tracks.next_id,
            "cursor": np.array([self.cursor]),
            "chunk_rows": np.array([len(self._chooser.after)]),
            "path_boards": tracks.path_boards[used],
            "path_sides": tracks.path_sides[:, :-1][used],
            "path_probs": tracks.path_probs[:, 1:][used],
        }

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
        tracks = self.tracks
        for name in ("boards", "sides", "ids", "turns", "next_id"):
            getattr(tracks, name)[...] = state[name]
        self.cursor = int(state["cursor"][0])
        self._chooser.hold(int(state["chunk_rows"][0]))  # it decides where a pass is cut
        used = np.arange(tracks.path_boards.shape[1]) < tracks.turns[:, None]
        tracks.path_boards[used] = state["path_boards"]
        tracks.path_sides[:, :-1][used] = state["path_sides"]
        tracks.path_probs[:, 1:][used] = state["path_probs"]


def _endings(bearoff: Bearoff | None) -> kernels.Endings:
    """Return exact endings as the kernels take them."""
    if bearoff is None:
        floats = [np.zeros((0,) * dims, np.float32) for dims in (3, 3, 3, 4)]
        return kernels.Endings(0, 0, BearoffTables(np.zeros((0, 0), np.int64), *floats))
    return kernels.Endings(1, bearoff.mars_kind, bearoff.tables)


class SelfPlay:
    """All workers of a run."""

    def __init__(
        self,
        variant: Variant,
        encoder: Encoder,
        *,
        games: int,
        workers: int,
        max_plies: int,
        seed: int,
        bearoff: Bearoff | None = None,
    ) -> None:
        """Set up `workers` threads that share `games` games; for the rest see `Worker`."""
        self._workers = [
            Worker(
                variant,
                encoder,
                max(1, games // workers),
                max_plies,
                seed,
                number,
                workers,
                bearoff=bearoff,
            )
            for number in range(workers)
        ]
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="selfplay")

    def play(
        self,
        net: FrozenNet,
        lambda_: float,
        turns: Sequence[int],
        before: Callable[[], object] | None = None,
        backups: Sequence[Search] | None = None,
    ) -> tuple[Board, NDArray[np.float32], RoundStats]:
        """Play a round; see `Worker.play`.

        Args:
            net: Frozen weights for the whole round.
            lambda_: For the targets.
            turns: Turns that each worker plays, at least.
            before: Run by the first worker, before it plays and while the others do.
            backups: One of each worker, see `Worker.play`.
        """
        searches = [None] * len(self._workers) if backups is None else backups

        def work(
            worker: Worker, share: int, search: Search | None
        ) -> tuple[Board, NDArray[np.float32], RoundStats]:
            torch.set_num_threads(1)  # of this thread; the workers share the cores already
            if before is not None and worker is self._workers[0]:
                before()
            return worker.play(net, lambda_, share, search)

        with one_thread_a_product():
            jobs = [
                self._pool.submit(work, *job)
                for job in zip(self._workers, turns, searches, strict=True)
            ]
            boards, targets, stats = zip(*(job.result() for job in jobs), strict=True)
        return np.concatenate(boards), np.concatenate(targets), reduce(RoundStats.plus, stats)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state of all workers, keys prefixed with their number."""
        return {
            f"worker{number}.{name}": array
            for number, worker in enumerate(self._workers)
            for name, array in worker.state().items()
        }

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
        for number, worker in enumerate(self._workers):
            prefix = f"worker{number}."
            worker.load_state(
                {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
            )

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()
