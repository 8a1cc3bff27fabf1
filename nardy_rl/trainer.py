"""One training run: rounds of self-play and learning until the budget is used up; layer 5.

A round plays about `fresh_positions` turns with frozen weights, while one of its threads
first learns from those of the round before: two cores are busy without two threads ever sharing
one product, which collapses as soon as another program wants a core. Learning rate and lambda
follow the fraction of the budget used, so that every budget runs the same recipe.

A checkpoint holds everything: a killed run goes on from the last one, and with a budget in games
the result is the same, bit for bit, as without the kill (CPU, same seed).
"""

from __future__ import annotations

import dataclasses
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_engine.bearoff import Bearoff
from nardy_engine.encoders import get_encoder
from nardy_engine.errors import CheckpointError, NardyError
from nardy_engine.types import Board
from nardy_rl.arena import match
from nardy_rl.checkpoint import (
    Manifest,
    Network,
    ancestry,
    load_network,
    make_manifest,
    save_network,
)
from nardy_rl.config import TrainConfig
from nardy_rl.cores import usable_cores
from nardy_rl.curves import Curves
from nardy_rl.endings import later_endings
from nardy_rl.evaluator import Evaluator
from nardy_rl.frozen_evaluator import FrozenEvaluator
from nardy_rl.full_backups import FullBackups
from nardy_rl.learner import Learner
from nardy_rl.metrics import MatchResult
from nardy_rl.nets import FrozenNet, ValueNet, pick_device, pick_precision
from nardy_rl.nets.growth import grow_from, revive_units
from nardy_rl.players import Bot, bot_names, make_bot
from nardy_rl.players.net import NetBot
from nardy_rl.run_state import STATE_NAME, load_state, save_state
from nardy_rl.selfplay import RoundStats, SelfPlay, Worker
from nardy_rl.shapes import can_grow
from nardy_rl.transfer import described, layers_for
from nardy_rl.version import code_commit

_FREE_TO_CHANGE = (
    "eval",
    "resume",
    "run_dir",
    "root",
    "checkpoint_every_s",
    "tensorboard",
    "budget",
)
"""Settings that may differ between a stopped run and its continuation."""


class DivergedError(NardyError):
    """The network's weights have left the range of numbers; learning cannot go on."""


@dataclasses.dataclass
class Progress:
    """Where a run stands."""

    games: int = 0
    plies: int = 0
    rounds: int = 0
    seconds: float = 0.0
    """Wall-clock time of training, stopped time not counted."""
    loss: float = float("nan")
    backup_rounds: int = 0
    """Rounds with exact targets."""
    revivals: int = 0
    """Times that units which do nothing were given another start."""


class Trainer:
    """A run in its folder. Call `run`, then `measure`."""

    def __init__(self, config: TrainConfig, folder: Path, resumed: bool) -> None:
        """Build everything, or load it if a stopped run is to go on.

        Args:
            config: All settings.
            folder: The run's folder; exists.
            resumed: True if a state lies in the folder.

        Raises:
            CheckpointError: The state does not belong to this configuration.
            DeviceError: The device does not exist.
        """
        self.config, self.folder = config, folder
        self.variant = config.variant.load()
        self.encoder = get_encoder(config.net.encoder, self.variant)
        self.budget = config.parsed_budget()
        self._device = pick_device(config.device)
        self._precision = pick_precision(config.selfplay.precision, self._device)
        self.progress = Progress()
        net = self._new_net(config.net.hidden_at(0.0))
        self._ancestor: dict[str, Any] = {}
        self.origin = ""
        """Where the weights came from at the start of this process, in words; empty = nowhere."""
        if config.start_from and not resumed:
            source = load_network(config.start_network())
            layers = layers_for(source, self.variant, self.encoder)
            if not can_grow([len(bias) for _, bias in layers[:-1]], net.hidden):
                net = self._new_net(config.net.hidden)  # what has grown already skips that stage
            grow_from(net, layers, str(source.path))
            self._revive(net, self._first_positions(net))
            self._ancestor = {"start_from": ancestry(source)}
            self.origin = described(config.start_from, source, self.variant, self.encoder)
        self._learner = Learner(
            net,
            self.variant,
            self.encoder,
            batch_size=config.learner.batch_size,
            replay_capacity=config.learner.replay_capacity,
            replay_ratio=config.learner.replay_ratio,
            device=self._device,
            precision=self._precision,
        )
        self._bearoff = Bearoff.for_variant(self.variant) if config.selfplay.endings else None
        stopped = self._stopped() if resumed else None
        self._threads = config.selfplay.workers or usable_cores()
        if stopped is not None:  # its games belong to so many threads, whatever this machine has
            self._threads = stopped[0].get("workers", self._threads)
        self._selfplay = SelfPlay(
            self.variant,
            self.encoder,
            games=config.selfplay.games,
            workers=self._threads,
            max_plies=config.selfplay.max_plies,
            seed=config.seed,
            bearoff=self._bearoff,
        )
        self._pending: tuple[Board, NDArray[np.float32]] | None = None
        """Positions and targets of the last round, not learned yet."""
        if stopped is not None:
            self._restore(*stopped)
        curves = folder if config.tensorboard else None
        # Purged even without a state: a kill before the first one leaves points behind (T46).
        self._curves = Curves(curves, self.variant, self.progress.games)
        self.stage_seconds: dict[str, float] = {}
        """Thread seconds of each stage since the start of this process."""
        self._learn_s = self._play_s = 0.0
        self._logged: tuple[int, float, dict[str, float]] = (
            self.progress.games,
            self.progress.seconds,
            {},
        )
        """Games, seconds and stage seconds at the last point of the curves."""
        self._whole = True
        """False while a round is under way: weights and games do not belong together then."""

    def _new_net(self, hidden: Sequence[int]) -> ValueNet:
        """Return a network that knows nothing, the same one for the same seed and shape."""
        generator = torch.Generator().manual_seed(self.config.seed)
        return ValueNet(self.encoder.width, hidden, self.variant.n_outcomes, generator)

    def _grow(self) -> None:
        """Let the network grow if it is time; one that has grown stays so in a longer budget."""
        hidden, learner = self.config.net.hidden_at(self.fraction), self._learner
        if learner.net.hidden != list(hidden) and can_grow(learner.net.hidden, hidden):
            grown = self._new_net(hidden)
            grow_from(grown, learner.net.pairs(), "the network")
            self._revive(grown, self._known_positions())
            learner.train(grown)

    def _revive_now_and_then(self) -> None:
        """Let units start anew that have shut for good: at high rates a few per minute do."""
        learner = self._learner
        due = min(int(self.fraction / _REVIVE_EVERY), _REVIVALS)
        if self.progress.revivals < due:
            if self._revive(learner.net, self._known_positions()):
                learner.train(learner.net)
            self.progress.revivals = due

    def _known_positions(self) -> Board:
        """Return positions of the last rounds."""
        rng = np.random.default_rng([self.config.seed, self.progress.rounds])
        boards, _ = self._learner.replay.sample(_REVIVE_POSITIONS, rng)
        return boards if self._pending is None else np.concatenate([boards, self._pending[0]])

    def _first_positions(self, net: ValueNet) -> Board:
        """Return positions of games that `net` plays against itself; the run's games stay."""
        frozen = FrozenNet(net, self._precision, self._device)
        longest, seed = self.config.selfplay.max_plies, self.config.seed
        games = Worker(self.variant, self.encoder, _REVIVE_GAMES, longest, seed, 0, 1)
        boards: list[Board] = []
        while sum(map(len, boards)) < _REVIVE_POSITIONS:
            boards.append(games.play(frozen, 0.0, _REVIVE_POSITIONS)[0].copy())
        return np.concatenate(boards)

    def _revive(self, net: ValueNet, boards: Board) -> bool:
        """Give units of `net` that do nothing in the positions `boards` another start, if any."""
        if len(boards) < _REVIVE_LEAST:
            return False
        features = torch.from_numpy(self.encoder.encode(boards)).to(self._device)
        # Fresh weights every time: what was shut before would shut again.
        seeds = np.random.SeedSequence([self.config.seed, self.progress.rounds])
        generator = torch.Generator().manual_seed(int(seeds.generate_state(1)[0]))
        return any(revive_units(net.to(self._device), features, generator))

    # -- the loop -----------------------------------------------------------------------------

    @property
    def fraction(self) -> float:
        """Share of the budget used, 0 to 1."""
        return self.budget.fraction(self.progress.seconds, self.progress.games)

    def run(self, report: Callable[[Progress], object] | None = None) -> None:
        """Train until the budget is used up; write checkpoints and curves on the way.

        Args:
            report: Called after every round.

        Raises:
            DivergedError: The loss is no longer a number; the last checkpoint stays.
            KeyboardInterrupt: Passed on after the round and a last checkpoint.
        """
        if self.fraction >= 1.0 and self._pending is None:
            if not self.network_path.is_file():
                self.save()
            return  # nothing to add to what is saved, and measured
        self._warm_up()
        before, started = self.progress.seconds, time.monotonic()
        saved = measured = logged = started
        stats: RoundStats | None = None
        try:
            while self.fraction < 1.0:
                with _interrupt_after():
                    round_stats = self._round()
                    now = time.monotonic()
                    self.progress.seconds = before + now - started
                stats = round_stats if stats is None else stats.plus(round_stats)
                if report is not None:
                    report(self.progress)
                if now - logged >= _LOG_EVERY_S or self.fraction >= 1.0:
                    self._log(stats)
                    stats, logged = None, now
                if now - saved >= self.config.checkpoint_every_s:
                    self.save()
                    saved = time.monotonic()
                if now - measured >= self.config.eval.interval_every_s:
                    self._measure_on_the_way()
                    measured = time.monotonic()
            with _interrupt_after():
                self._learn_the_rest()
        finally:
            if self._whole:
                self.save()

    def _warm_up(self) -> None:
        """Compile what a round needs, so that the budget is spent on training alone."""
        frozen = FrozenNet(self._learner.net, self._precision, self._device)
        Worker(self.variant, self.encoder, 1, 1, seed=0, number=0, n_workers=1).play(frozen, 0.0, 1)
        self._learner.warm_up()

    def _round(self) -> RoundStats:
        """Play and learn once."""
        config, progress = self.config, self.progress
        fraction, self._whole = self.fraction, False
        self._grow()
        self._revive_now_and_then()
        selfplay = config.selfplay
        lambda_ = _linear(
            selfplay.lambda_start,
            selfplay.lambda_end,
            fraction / selfplay.lambda_decay_fraction if selfplay.lambda_decay_fraction else 1.0,
        )
        lr = self._learning_rate()
        start = time.perf_counter()
        frozen = FrozenNet(self._learner.net, self._precision, self._device)
        shares = self._shares()
        self._learn_s, backs_up = 0.0, self._backs_up()
        backups = self._full_backups(frozen) if backs_up else None
        boards, targets, stats = self._selfplay.play(
            frozen,
            lambda_,
            shares,
            before=lambda: self._learn(lr, config.learner.batch_size),
            backups=backups,
        )
        self._add_pending(boards, targets)
        self._account(stats, time.perf_counter() - start)
        progress.games += stats.games + stats.truncated
        progress.plies += stats.plies
        progress.rounds += 1
        progress.backup_rounds += backs_up
        if backs_up and progress.backup_rounds == 1:
            self._learner.replay.clear()  # noisy targets would drown the exact ones
        self._whole = True
        if stats.games:  # one point per step: a continuation purges by steps
            self._curves.scalar("learn/loss", progress.loss, progress.games)
            self._curves.scalar("learn/learning_rate", lr, progress.games)
            self._curves.scalar("learn/lambda", lambda_, progress.games)
        return stats

    def _backs_up(self) -> bool:
        """Return whether targets are means over all rolls now."""
        return self.fraction >= self.config.learner.backup_start

    def _full_backups(self, frozen: FrozenNet) -> list[FullBackups]:
        """Return what makes exact targets with the network as it stands, one for each worker."""
        evaluator = FrozenEvaluator(self.network(), frozen, bearoff=self.config.selfplay.endings)
        seed, rounds = self.config.seed, self.progress.rounds
        return [
            FullBackups(evaluator, np.random.default_rng([seed, rounds, 1 + worker]))
            for worker in range(self._threads)
        ]

    def _learn_the_rest(self) -> None:
        """Learn from the last round, on one thread as in all others: rounding depends on it."""
        threads, self._whole = torch.get_num_threads(), False
        torch.set_num_threads(1)
        try:
            self._learn(self._learning_rate(), least=1)
        finally:
            torch.set_num_threads(threads)
        self._whole = True

    def _learning_rate(self) -> float:
        return _linear(self.config.learner.lr, self.config.learner.lr_end, self.fraction)

    def _learn(self, lr: float, least: int) -> None:
        """Learn from the positions of the round before, if there are `least` of them."""
        if self._pending is None or len(self._pending[0]) < least:
            return
        start = time.perf_counter()
        boards, targets = self._pending
        # A pure function of seed and round: nothing to save, nothing to re-seed by mistake.
        rng = np.random.default_rng([self.config.seed, self.progress.rounds])
        if self._bearoff is not None:
            later = later_endings(self._bearoff, boards, _LATER_ENDINGS, rng)
            boards, targets = (
                np.concatenate([boards, later[0]]),
                np.concatenate([targets, later[1]]),
            )
        ratio = self.config.learner.backup_replay_ratio if self.progress.backup_rounds else None
        loss = self._learner.learn(boards, targets, lr, rng, ratio)
        if not math.isfinite(loss):
            raise DivergedError(
                f"the loss is {loss} after {self.progress.games} games: the learning rate "
                f"{lr:g} is too high for this network; lower learner.lr"
            )
        self._pending = None
        self.progress.loss = loss
        self._learn_s = time.perf_counter() - start

    def _add_pending(self, boards: Board, targets: NDArray[np.float32]) -> None:
        """Keep the positions of a round to learn from; rarely they are too few and wait."""
        if self._pending is not None:
            boards = np.concatenate([self._pending[0], boards])
            targets = np.concatenate([self._pending[1], targets])
        self._pending = boards, targets

    def _shares(self) -> list[int]:
        """Return how many turns each worker plays; the first one also learns.

        With a budget in time the shares follow what the last round measured, so that all finish
        together. With a budget in games they are fixed, because the result must not depend on
        the clock.
        """
        turns, n = self.config.learner.fresh_positions, self._threads
        share = _FIRST_SHARE / n
        if n == 1:
            share = 1.0
        elif self.budget.seconds is not None and self._play_s > 0:
            share = (self._play_s - self._learn_s * (n - 1)) / (n * self._play_s)
        first = round(turns * min(1.0, max(0.0, share)))
        return [first] + [-(-(turns - first) // (n - 1)) for _ in range(n - 1)]

    def _account(self, stats: RoundStats, wall_s: float) -> None:
        """Add the round to the thread seconds of each stage."""
        playing = sum(stats.seconds.values())
        idle = self._threads * wall_s - playing - self._learn_s
        self._play_s = playing
        for stage, spent in {
            **stats.seconds,
            "learn": self._learn_s,
            "wait": max(0.0, idle),
        }.items():
            self.stage_seconds[stage] = self.stage_seconds.get(stage, 0.0) + spent

    def _log(self, stats: RoundStats) -> None:
        """Add the points of the rounds since the last call: speed and shares are of this time."""
        games, seconds = self.progress.games, self.progress.seconds
        games_before, seconds_before, stages_before = self._logged
        speed = (games - games_before) / max(seconds - seconds_before, 1e-9)
        self._curves.round(stats, games)
        self._curves.scalar("speed/games_per_s", speed, games)
        spent = {k: v - stages_before.get(k, 0.0) for k, v in self.stage_seconds.items()}
        self._curves.shares(spent, games)
        self._logged = games, seconds, dict(self.stage_seconds)

    # -- strength -----------------------------------------------------------------------------

    def bot(self, name: str) -> Bot:
        """Return the network as it stands, as a bot."""
        return NetBot(Evaluator(self.network()), name)

    def network(self) -> Network:
        """Return the network as it stands, not written anywhere; later learning does not show."""
        return Network(self._learner.net.arrays(), self._manifest({}), self._network_path)

    def _measure_on_the_way(self) -> None:
        """Play short matches for the curves."""
        pairs = self.config.eval.interval_games
        if not pairs:
            return
        bot = self.bot("new")
        for name in bot_names(self.variant):
            result = match(bot, make_bot(name, self.variant), self.variant, pairs, seed=1)
            self._curves.scalar(f"arena/{name}", result.points.mean, self.progress.games)

    def measure(
        self, pairs: int, report: Callable[[int], object] | None = None
    ) -> list[MatchResult]:
        """Play the final matches against every bot and write them into the network's manifest.

        Args:
            pairs: Pairs of games with the same dice against each bot.
            report: Called with the number of pairs just finished.
        """
        bot = self.bot("new bot")
        results = [
            match(
                bot,
                make_bot(name, self.variant),
                self.variant,
                pairs,
                self.config.seed + 1,
                progress=report,
            )
            for name in reversed(bot_names(self.variant))
        ]
        strength = {result.b: result.to_json() for result in results}
        for result in results:
            self._curves.scalar(f"arena/{result.b}", result.points.mean, self.progress.games)
        save_network(self._network_path, self._learner.net.arrays(), self._manifest(strength))
        return results

    # -- files --------------------------------------------------------------------------------

    @property
    def _network_path(self) -> Path:
        return self.folder / self.variant.id

    @property
    def network_path(self) -> Path:
        """The network of this run."""
        return self._network_path.with_name(self._network_path.name + ".safetensors")

    def _manifest(self, strength: dict[str, Any]) -> Manifest:
        manifest = make_manifest(
            self.variant,
            self.encoder,
            self._learner.net.hidden,
            games=self.progress.games + self._ancestor.get("start_from", {}).get("games", 0),
            budget=str(self.budget),
            commit=code_commit(),
            strength=strength,
        )
        return manifest | {
            "training": {
                "seconds": round(self.progress.seconds, 1),
                "plies": self.progress.plies,
                "seed": self.config.seed,
                "workers": self._threads,
                "device": str(self._device),
                "precision": str(self._precision).removeprefix("torch."),
                **self._ancestor,
            }
        }

    def save(self) -> None:
        """Write the state to resume from, and the network as it stands."""
        self._curves.flush()  # before the state: a continuation purges only what lies beyond it
        arrays = self._learner.state() | self._selfplay.state()
        if self._pending is not None:
            arrays |= {"pending.boards": self._pending[0], "pending.targets": self._pending[1]}
        numbers = {
            "progress": dataclasses.asdict(self.progress),
            "config": dataclasses.asdict(self.config),
            "digest": self.variant.digest(),
            "precision": str(self._precision),
            "workers": self._threads,
            "ancestor": self._ancestor,
        }
        # The network first: where there is a state to go on from there is a network to look at.
        save_network(self._network_path, self._learner.net.arrays(), self._manifest({}))
        save_state(self.folder / STATE_NAME, numbers, arrays)

    def _stopped(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the numbers and arrays of the stopped run, if this is a continuation of it."""
        path = self.folder / STATE_NAME
        numbers, arrays = load_state(path)
        before, now = _settings(numbers["config"]), _settings(dataclasses.asdict(self.config))
        for key in sorted(before.keys() | now.keys()):
            if before.get(key) != now.get(key):
                raise CheckpointError(
                    f"{path} was started with {key}={before.get(key)}; to resume it, give the "
                    f"same (now {key}={now.get(key)})"
                )
        if numbers["precision"] != str(self._precision):
            raise CheckpointError(
                f"{path} was played in {numbers['precision']}, but this machine would go on in "
                f"{self._precision}; start anew, or set selfplay.precision from the start"
            )
        if numbers["digest"] != self.variant.digest():
            raise CheckpointError(f"{path} was started with other rules of {self.variant.id}")
        return numbers, arrays

    def _restore(self, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what the stopped run left."""
        layers = range(sum(name.startswith("net.layers.") for name in arrays) // 2 - 1)
        hidden = [len(arrays[f"net.layers.{i}.bias"]) for i in layers]
        if hidden != self._learner.net.hidden:
            self._learner.train(self._new_net(hidden))  # it had grown
        self._learner.load_state(arrays)
        self._selfplay.load_state(arrays)
        if "pending.boards" in arrays:
            self._pending = arrays["pending.boards"], arrays["pending.targets"]
        self.progress = Progress(**numbers["progress"])
        self._ancestor = numbers["ancestor"]

    def close(self) -> None:
        """Stop the threads and close the curves."""
        self._selfplay.close()
        self._curves.close()


@contextmanager
def _interrupt_after() -> Iterator[None]:
    """Put Ctrl-C off until the block is done; a second one is obeyed at once.

    The same for SIGTERM, where the caller has made an interrupt of it.
    """
    caught: list[int] = []

    def note(number: int, _: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    ours = [
        number
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()
    ]
    for number in ours:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.default_int_handler)
    if caught:
        raise KeyboardInterrupt


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a continuation must share, by dotted name, as JSON keeps them."""
    flat: dict[str, Any] = {}
    for key, value in json.loads(json.dumps(config)).items():
        if key in _FREE_TO_CHANGE:
            continue
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            flat[key] = value
    return flat


_FIRST_SHARE = 0.6
"""Share of the first worker, which also learns, where it may not follow the clock; 1 = equal."""

_REVIVE_EVERY, _REVIVALS = 0.1, 6
"""Share of the budget after which idle units start anew, and how often; later ones would hardly
learn any more."""

_REVIVE_GAMES = 128
_REVIVE_POSITIONS = 16000
"""Games in lock step, and positions of them, by which it is judged whether a unit does anything."""

_REVIVE_LEAST = 1000
"""Fewer positions say little about a unit that is of use in rare ones."""

_LATER_ENDINGS = 6
"""Endings learned from in place of those that a game of short nardy would still have reached;
about half as many, because their targets have no noise."""

_LOG_EVERY_S = 5.0
"""Least time between two points of the self-play curves; less shows the noise of few games."""


def _linear(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * min(1.0, max(0.0, fraction))
