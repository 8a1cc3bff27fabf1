"""`nardy train`: self-play from nothing, or on from where a stopped run stood."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from nardy_engine.errors import NardyError
from nardy_rl.commands.hydra_app import run_hydra
from nardy_rl.config import TrainConfig
from nardy_rl.files import write_atomic
from nardy_rl.report import render_table
from nardy_rl.run_dir import RunDir, choose_run_dir, held
from nardy_rl.run_state import STATE_NAME

if TYPE_CHECKING:
    from nardy_rl.trainer import Progress, Trainer

_BAR = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def main(argv: Sequence[str]) -> int:
    """Run `nardy train`."""
    with quiet_writers(), stops_when_told():
        return run_hydra("train", argv, run_training)


def run_training(config: TrainConfig) -> int:
    """Train as `config` says, measure the result, print the table; return the exit code.

    Raises:
        NardyError: A setting does not fit this machine, or a file cannot be written.
    """
    run_dir = choose_run_dir(config, STATE_NAME)
    with held(run_dir.path):
        return _run_in(run_dir, config)


def _run_in(run_dir: RunDir, config: TrainConfig) -> int:
    from nardy_rl.trainer import Trainer  # here, so that --help and mistakes need no torch

    folder, resumed = run_dir
    try:
        trainer = Trainer(config, folder, resumed)
    except NardyError:
        with contextlib.suppress(OSError):  # what cannot start leaves no empty folder behind
            folder.rmdir()
        raise
    settings = json.dumps(asdict(config), indent=2) + "\n"
    try:
        write_atomic(folder / "config.json", settings.encode())
        _announce(trainer, resumed)
        _train(trainer)
        _measure(trainer)
    except KeyboardInterrupt:
        _say(
            "stopped; the same command with resume=yes goes on with the newest run of this game, "
            f"with resume={_short(folder)} with this one"
        )
        raise
    finally:
        trainer.close()
    return 0


@contextlib.contextmanager
def stops_when_told() -> Iterator[None]:
    """Take SIGTERM (`kill`, `timeout`, a machine that shuts down) like Ctrl-C: save, then stop."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def quiet_writers() -> Iterator[None]:
    """Let a thread that cannot write end without a trace; `Curves` says in words what happened."""
    before = threading.excepthook

    def note(failure: threading.ExceptHookArgs) -> None:
        if not issubclass(failure.exc_type, OSError):
            before(failure)

    threading.excepthook = note
    try:
        yield
    finally:
        threading.excepthook = before


def _say(text: str) -> None:
    print(text, flush=True)


def _announce(trainer: Trainer, resumed: bool) -> None:
    config, progress = trainer.config, trainer.progress
    net = config.net
    first, last = ("-".join(map(str, net.hidden_at(share))) for share in (0.0, 1.0))
    grows = f", after {net.grow_at:.0%} of that {last}" if first != last else ""
    _say(f"{trainer.variant.title}: training a {first} network for {trainer.budget}{grows}")
    if trainer.origin:
        _say(f"starting from {trainer.origin}")
    _say(f"run folder: {_short(trainer.folder)}")
    if resumed:
        _say(f"going on after {progress.games:,} games and {progress.seconds:.0f} s")
    if config.tensorboard:
        _say(f"curves: {_program('tensorboard')} --logdir {_short(trainer.folder)}")


def _short(path: Path) -> str:
    """Return the path as a person would write it from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _program(name: str) -> str:
    """Return how to call a program of this environment: with its path if it is not activated."""
    beside = Path(sys.executable).parent / name
    return name if shutil.which(name) or not beside.exists() else _short(beside)


def _train(trainer: Trainer) -> None:
    """Train with a progress bar over the budget."""
    # Plain lines now and then where no terminal shows a bar.
    every = 0.1 if sys.stderr.isatty() else 15.0
    done = int(1000 * trainer.fraction)
    with tqdm(
        total=1000, initial=done, desc="training", bar_format=_BAR, mininterval=every, smoothing=0
    ) as bar:
        first = trainer.progress.games, trainer.progress.seconds

        def report(progress: Progress) -> None:
            games, seconds = progress.games - first[0], progress.seconds - first[1]
            loss = f", loss {progress.loss:.4f}" if math.isfinite(progress.loss) else ""
            bar.set_postfix_str(
                f"{progress.games:,} games, {games / max(seconds, 1e-9):,.0f} games/s{loss}",
                refresh=False,
            )
            bar.update(int(1000 * trainer.fraction) - bar.n)

        trainer.run(report)


def _measure(trainer: Trainer) -> None:
    """Play the final matches and say what came out."""
    progress, pairs = trainer.progress, trainer.config.eval.games
    rate = progress.games / max(progress.seconds, 1e-9)
    _say(
        f"trained on {progress.games:,} games in {progress.seconds:.0f} s "
        f"({rate:,.0f} games/s, {progress.plies / max(1, progress.games):.0f} plies a game)"
    )
    total = sum(trainer.stage_seconds.values())
    if total:
        shares = ", ".join(f"{k} {v / total:.0%}" for k, v in trainer.stage_seconds.items() if v)
        _say(f"time: {shares}")
    if pairs:
        from nardy_rl.players import bot_names

        n_bots = len(bot_names(trainer.variant))
        with tqdm(total=n_bots * pairs, desc="measuring", unit="pair", leave=False) as bar:
            results = trainer.measure(pairs, bar.update)
        _say("\n" + render_table(results) + "\n")
    _say(f"network: {_short(trainer.network_path)}")
    _say(
        f"next: {_program('nardy')} play --variant {trainer.variant.id} "
        f"--bot net:{_short(trainer.network_path)}"
    )
