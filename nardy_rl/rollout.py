"""Monte Carlo rollouts: a position played on many times, and the mean of how it ends; numpy only.

Each trial plays both sides by one move rule, n-ply, until the game is over, the bear-off tables
cover it, or so many rolls have been thrown; then the position has its static value. Four things
make the mean sharper without moving it:

* The first two rolls are stratified: every run of 36 trials has every first roll once, every
  1,296 trials every pair of rolls once, in an order drawn from the seed.
* All plays that are compared see the same dice, so differences are sharper than values.
* The luck of each roll is taken off: what the best play after it is worth, by the values that move
  the checkers, less the average of that over all rolls. Its expectation is 0 whatever the network
  thinks, so the mean stays what it was; the games are those that would be played without it.
* It is done for the chances of all outcomes, so equity and chances fit together.

Dice are a function of (seed, trial, roll), blocks of trials are fixed, so the result does not
depend on the number of threads.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine import Variant, batch
from nardy_engine.boards import as_boards
from nardy_engine.errors import NardyError
from nardy_engine.kernels import values as kernel
from nardy_engine.kernels.rng import fill_uniforms
from nardy_engine.rules.table import rule_table
from nardy_engine.types import MAX_SEED, Board
from nardy_rl import outcomes
from nardy_rl.cores import one_thread_a_product, usable_cores
from nardy_rl.evaluator import Evaluator
from nardy_rl.rolls import Rolls, is_opening, moves_before_roll, owes_dice
from nardy_rl.search import MAX_PLIES, PlayOut, Search

ROLL_CAP = 5000
"""Rolls after which a trial without truncation is valued statically; games are far shorter."""

MAX_TRIALS = 10_000_000
"""Trials of a rollout at most; more than anybody waits for, and what memory holds."""

BLOCK_RUNS = 3
"""Runs of stratified first rolls in a block; a thread plays one block at a time."""

LEAST_BLOCKS = 3
"""Blocks before a rollout may stop because it is precise enough."""

_PLAY_OUT = PlayOut(3, 1, 3)
"""A trial makes the 21 decisions of every roll: each is made with less care than a single one.

Where a roll is several decisions the later ones are made with 3 again, a little better than the
luck of the roll took for granted; that leaves some of it in, and moves no mean."""

_DICE_STREAM, _FIRST_STREAM, _SECOND_STREAM = 16, 17, 18


class RolloutError(NardyError):
    """The rollout cannot be made as asked."""


@dataclass(frozen=True, kw_only=True)
class RolloutSettings:
    """How a rollout is made."""

    trials: int = 1296
    """How often each position is played on."""
    truncate: int | None = 11
    """Rolls after which a trial has its static value; None = played to the end."""
    plies: int = 0
    """Depth of the move rule."""
    luck_adjusted: bool = True
    """Take off the luck of each roll."""
    stop_at_endings: bool = True
    """End a trial where the bear-off tables know the value."""
    target_error: float | None = None
    """Stop early when every equity has this standard error or less."""
    seed: int = 1
    workers: int | None = None
    """Threads, None = one per core; the result does not depend on them."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no rollout."""
        for name, value, least in (
            ("trials", self.trials, 2),
            ("truncate", self.truncate, 1),
            ("plies", self.plies, 0),
            ("seed", self.seed, 0),
            ("workers", self.workers, 1),
        ):
            if value is not None and value < least:
                raise RolloutError(f"{name} is {value}; it must be at least {least}")
        for name, value, most in (
            ("trials", self.trials, MAX_TRIALS),
            ("truncate", self.truncate, ROLL_CAP),
            ("seed", self.seed, MAX_SEED),
        ):
            if value is not None and value > most:
                raise RolloutError(f"{name} is {value}; it must be at most {most:,}")
        if self.plies > MAX_PLIES:
            raise RolloutError(f"plies is {self.plies}; it must be at most {MAX_PLIES}")
        if self.target_error is not None and not self.target_error > 0:
            raise RolloutError(f"target_error is {self.target_error}; it must be above 0")


class Rollout(NamedTuple):
    """What came of rolling out some positions, all seen from the same side."""

    probs: NDArray[np.float64]
    """`[C, O] float64` mean chances of the outcomes."""
    equity: NDArray[np.float64]
    """`[C]` mean points per game."""
    error: NDArray[np.float64]
    """`[C]` standard error of the equity; a little too large, since the strata are not counted."""
    raw_equity: NDArray[np.float64]
    """`[C]` the mean without taking off luck."""
    raw_error: NDArray[np.float64]
    """`[C]` its standard error."""
    samples: NDArray[np.float64]
    """`[T, C]` the equity of every trial."""
    rolls: NDArray[np.float64]
    """`[C]` mean number of rolls of a trial."""

    @property
    def trials(self) -> int:
        """How often each position was played on."""
        return len(self.samples)

    def reduction(self) -> NDArray[np.float64]:
        """Return `[C]` by what factor taking off luck has made the variance smaller."""
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.square(self.raw_error / self.error)
        return np.where(self.error > 0, factor, np.where(self.raw_error > 0, np.inf, 1.0))

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Return the equity of one position less that of another, and its standard error.

        The dice are the same, so this is sharper than the two errors suggest.
        """
        gap = self.samples[:, first] - self.samples[:, second]
        return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))


def rollout(
    evaluator: Evaluator,
    boards: Board,
    settings: RolloutSettings,
    own: NDArray[np.bool_] | None = None,
) -> Rollout:
    """Roll out positions on the same dice.

    Args:
        evaluator: Moves the checkers, and values what is cut off.
        boards: `[C, 2, P] int8`, row 0 the side to act; not changed. Where a special throw begins
            the game (S-2), its start position gets it only if all boards are that position:
            they share their dice.
        own: `[C]` whether that is the side whose view the result takes; by default it is.
        settings: How.

    Raises:
        RolloutError: There is nothing to roll out.
    """
    if not len(boards):
        raise RolloutError("there is no position to roll out")
    table = _Player(evaluator, as_boards(evaluator.variant, boards), settings, own)
    size = BLOCK_RUNS * table.dice.first_rolls
    starts = range(0, settings.trials, size)
    blocks: list[_Block] = []
    spread = _Spread()
    threads = usable_cores() if settings.workers is None else settings.workers
    with one_thread_a_product(), ThreadPoolExecutor(threads) as pool:
        pending = [
            pool.submit(table.play, start, min(start + size, settings.trials)) for start in starts
        ]
        try:
            for future in pending:
                blocks.append(future.result())
                spread.add(blocks[-1].equity)
                if len(blocks) >= LEAST_BLOCKS and spread.within(settings.target_error):
                    break
        finally:
            table.stop.set()  # what has begun ends at its next step, also after Ctrl-C
            for future in pending:
                future.cancel()
    return _result(blocks, evaluator)


class _Block(NamedTuple):
    """Some trials of every position, seen from the side that asks."""

    adjusted: NDArray[np.float64]
    """`[T, C, O]` outcomes with the luck taken off."""
    raw: NDArray[np.float64]
    """`[T, C, O]` as the trials ended."""
    equity: NDArray[np.float64]
    """`[T, C]` of `adjusted`."""
    rolls: NDArray[np.int64]
    """`[T, C]`."""


class _Spread:
    """Standard errors while trials come in, from running sums about the mean of the first block."""

    def __init__(self) -> None:
        self._n = 0

    def add(self, equity: NDArray[np.float64]) -> None:
        """Count the `[T, C]` equities of a block."""
        if self._n == 0:
            self._origin = equity.mean(axis=0)
            self._sum = self._squares = np.zeros(equity.shape[1])
        gap = equity - self._origin
        self._n += len(equity)
        self._sum = self._sum + gap.sum(axis=0)
        self._squares = self._squares + np.square(gap).sum(axis=0)

    def within(self, target: float | None) -> bool:
        """Return whether every equity has a standard error of `target` or less."""
        if target is None:
            return False
        scatter = self._squares - np.square(self._sum) / self._n
        return bool((np.sqrt(np.maximum(scatter, 0) / (self._n - 1) / self._n) <= target).all())


def _result(blocks: list[_Block], evaluator: Evaluator) -> Rollout:
    points = evaluator.points.astype(np.float64)
    adjusted = np.concatenate([block.adjusted for block in blocks])
    raw = outcomes.equity(np.concatenate([block.raw for block in blocks]), points)
    equity = np.asarray(outcomes.equity(adjusted, points), np.float64)
    root = np.sqrt(len(equity))
    return Rollout(
        probs=adjusted.mean(axis=0),
        equity=equity.mean(axis=0),
        error=equity.std(axis=0, ddof=1) / root,
        raw_equity=raw.mean(axis=0),
        raw_error=raw.std(axis=0, ddof=1) / root,
        samples=equity,
        rolls=np.concatenate([block.rolls for block in blocks]).mean(axis=0),
    )


class RolloutDice:
    """The dice of all trials: a pure function of (seed, trial, roll).

    Attributes:
        rolls: The rolls of a turn.
        opening: Those of the first roll of a trial, other ones if it decides who begins (S-2).
        first_rolls: Length of a run of trials that has every first throw once.
    """

    def __init__(self, variant: Variant, seed: int, trials: int, opening: bool = False) -> None:
        """Prepare the dice.

        Args:
            variant: The game.
            seed: Fixes all of them.
            trials: How many trials there are.
            opening: The trials begin with the throw that has no doubles.
        """
        self.rolls = Rolls.of(variant)
        self.opening = Rolls.of(variant, opening)
        self._seed = seed
        self._throws = _throws(self.rolls)
        first, second = _throws(self.opening), self._throws
        self.first_rolls = len(first)
        numbers = np.arange(trials)
        runs = numbers // len(first)
        orders = np.stack(
            [self._order(run, len(first), _FIRST_STREAM) for run in range(runs[-1] + 1)]
        )
        place = orders[runs, numbers % len(first)]
        # The n-th run of a cycle has behind each first throw the n-th of its second throws.
        cycles = np.stack(
            [
                self._order(game, len(second), _SECOND_STREAM)
                for game in range((runs[-1] // len(second) + 1) * len(first))
            ]
        )
        after = cycles[runs // len(second) * len(first) + place, runs % len(second)]
        self._early = np.stack([first[place], second[after]], axis=1)

    def of(self, trials: NDArray[np.int64], rolled: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `[N]` the place of each roll among `rolls`, of the first one among `opening`.

        Args:
            trials: `[N] int64` numbers of trials.
            rolled: `[N] int64` how many rolls each has thrown before.
        """
        uniform = np.empty(len(trials))
        fill_uniforms(self._seed, trials, rolled, _DICE_STREAM, uniform)
        later = self._throws[(uniform * len(self._throws)).astype(np.int64)]
        early = self._early[trials, np.minimum(rolled, 1)]
        return np.where(rolled < self._early.shape[1], early, later)

    def _order(self, game: int, n: int, stream: int) -> NDArray[np.int64]:
        """Return a permutation of `n`, drawn from the seed."""
        uniform = np.empty(n)
        fill_uniforms(self._seed, np.full(n, game), np.arange(n), stream, uniform)
        return np.argsort(uniform, kind="stable")


def _throws(rolls: Rolls) -> NDArray[np.int64]:
    """Return `[T] int64` the place of each throw of two dice among the rolls."""
    return np.repeat(np.arange(len(rolls.dice)), rolls.weights.astype(np.int64))


class _Player:
    """Plays blocks of trials; shared by threads."""

    def __init__(
        self,
        evaluator: Evaluator,
        boards: Board,
        settings: RolloutSettings,
        own: NDArray[np.bool_] | None,
    ) -> None:
        variant = evaluator.variant
        self._evaluator = evaluator
        self._search = Search(evaluator, settings.plies, play_out=_PLAY_OUT)
        self._variant = variant
        self._rules = rule_table(variant)
        self._boards = boards
        self._own = np.ones(len(boards), np.bool_) if own is None else own
        self._settings = settings
        self._last = ROLL_CAP if settings.truncate is None else settings.truncate
        opening = bool(is_opening(variant, boards).all())
        self.dice = RolloutDice(variant, settings.seed, settings.trials, opening)
        self.stop = threading.Event()
        """Set when no more blocks are wanted."""

    def play(self, first: int, end: int) -> _Block:
        """Play the trials `first..end` of every position, all of them in lock step."""
        n_trials, n = end - first, len(self._boards)
        state = _Trials(
            boards=np.tile(self._boards, (n_trials, 1, 1)),
            own=np.tile(self._own, n_trials),
            trials=np.repeat(np.arange(first, end), n),
            rolled=np.zeros(n_trials * n, np.int64),
            luck=np.zeros((n_trials * n, self._variant.n_outcomes)),
            value=np.zeros((n_trials * n, self._variant.n_outcomes)),
        )
        running: NDArray[np.int64] = np.arange(n_trials * n)
        while len(running) and not self.stop.is_set():
            running = self._step(state, running)
        raw = state.value.reshape(n_trials, n, -1)
        adjusted = raw - state.luck.reshape(raw.shape)
        points = self._evaluator.points.astype(np.float64)
        equity = np.asarray(outcomes.equity(adjusted, points), np.float64)
        return _Block(adjusted, raw, equity, state.rolled.reshape(n_trials, n))

    def _step(self, state: _Trials, running: NDArray[np.int64]) -> NDArray[np.int64]:
        """Make one decision in each trial of `running`; return those that go on."""
        boards = state.boards[running]
        owing = owes_dice(self._variant, boards)
        codes = np.empty(len(boards), np.int8)
        tables = int(self._evaluator.uses_bearoff and self._settings.stop_at_endings)
        kernel.fill_codes(boards, 0, tables, self._rules, codes)
        ended = (codes != kernel.NETWORK) | (~owing & (state.rolled[running] >= self._last))
        if ended.any():
            rows = running[ended]
            probs = self._evaluator.probs(boards[ended]).astype(np.float64)
            state.value[rows] = _seen(probs, state.own[rows])
            running, boards, owing = running[~ended], boards[~ended], owing[~ended]
        known = owing | moves_before_roll(self._variant, boards)
        if known.any():
            self._play_known(state, running[known])
        rolling = running[~known]
        opening = state.rolled[rolling] == 0
        for rows, rolls in (
            (rolling[opening], self.dice.opening),
            (rolling[~opening], self.dice.rolls),
        ):
            if len(rows):
                self._play_rolled(state, rows, rolls)
        return running

    def _play_known(self, state: _Trials, rows: NDArray[np.int64]) -> None:
        """Play what is owed, or a move before the roll."""
        boards = state.boards[rows]
        after = batch.afterstates(self._variant, boards, np.ones((len(rows), 2), np.int8))
        self._advance(state, rows, after.boards[self._search.choose(boards, after)])

    def _play_rolled(self, state: _Trials, rows: NDArray[np.int64], rolls: Rolls) -> None:
        """Throw the dice and play them; what was luck about them is written down."""
        boards = state.boards[rows]
        throws = self.dice.of(state.trials[rows], state.rolled[rows])
        state.rolled[rows] += 1
        if self._settings.luck_adjusted:
            probs = self._search.every_roll(boards, rolls)
            state.luck[rows] += _seen(rolls.luck(probs, throws), state.own[rows])
        after = batch.afterstates(self._variant, boards, rolls.dice[throws])
        self._advance(state, rows, after.boards[self._search.choose(boards, after)])

    def _advance(self, state: _Trials, rows: NDArray[np.int64], after: Board) -> None:
        state.boards[rows], same = batch.next_states(self._variant, after)
        state.own[rows] ^= ~same


class _Trials(NamedTuple):
    """Trials in progress, written in place."""

    boards: Board
    """`[N, 2, P] int8` positions, row 0 the side to act."""
    own: NDArray[np.bool_]
    """`[N]` whether that is the side that asks."""
    trials: NDArray[np.int64]
    """`[N]` numbers, of which the dice are a function."""
    rolled: NDArray[np.int64]
    """`[N]` rolls thrown."""
    luck: NDArray[np.float64]
    """`[N, O]` sum of the luck so far, for the side that asks."""
    value: NDArray[np.float64]
    """`[N, O]` outcomes of the trials that have ended, for the side that asks."""


def _seen(vectors: NDArray[np.float64], own: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return `[N, O]` vectors from the view of the side that asks."""
    return np.where(own[:, None], vectors, outcomes.flip(vectors))
