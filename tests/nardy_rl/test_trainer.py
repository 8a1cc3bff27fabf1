"""Whole runs: repeatable, killable, resumable, and refused in a sentence (faults T41-T48)."""

from __future__ import annotations

import dataclasses
import errno
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from learning import TINY_GAME, train_config
from nardy_engine.errors import CheckpointError
from nardy_rl import cli, files
from nardy_rl.checkpoint import load_network
from nardy_rl.commands.train import stops_when_told
from nardy_rl.files import OutputError
from nardy_rl.run_state import STATE_NAME, load_state, save_state
from nardy_rl.trainer import DivergedError, Trainer


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Leave the other core to other tests; and the number of threads decides how sums round."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Stop(Exception):
    """Ends a run from inside, as a fault would."""


def run(folder: Path, config, *, resumed: bool = False, stop_after: int | None = None) -> Trainer:
    """Train in this process, perhaps only some rounds."""
    folder.mkdir(exist_ok=True)
    trainer = Trainer(config, folder, resumed)
    rounds = 0

    def report(_) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == stop_after:
            raise Stop

    try:
        trainer.run(report)
    except Stop:
        pass
    finally:
        trainer.close()
    return trainer


def everything(folder: Path) -> dict[str, np.ndarray]:
    """Return all arrays of the state of a run: weights, optimiser, replay, games in progress."""
    return load_state(folder / STATE_NAME)[1]


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name, array in a.items():
        assert np.array_equal(array, b[name]), name


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Path:
    """Return the folder of a run of 200 games that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    run(folder, train_config())
    torch.set_num_threads(before)
    return folder


# -- repeatable and resumable ---------------------------------------------------------------------


def test_the_same_seed_gives_the_same_network(uninterrupted, tmp_path) -> None:
    """T42: generators seeded otherwise by others change nothing, another seed changes the run."""
    np.random.seed(9)  # noqa: NPY002 - the global generator is what the test is about
    torch.manual_seed(9)
    random.seed(9)
    again = run(tmp_path / "again", train_config())
    assert again.progress.games >= 200
    assert_same(everything(tmp_path / "again"), everything(uninterrupted))
    run(tmp_path / "other", train_config(seed=4))
    other = load_network(tmp_path / "other" / "short.safetensors").tensors
    same = load_network(uninterrupted / "short.safetensors").tensors
    assert not np.array_equal(other["layers.0.weight"], same["layers.0.weight"])


@pytest.mark.parametrize("rounds", [(1,), (3, 2), (2, 2, 2, 2)])
def test_a_stopped_run_goes_on_bit_for_bit(uninterrupted, tmp_path, rounds) -> None:
    """T41, T42: stopped after some rounds and resumed, the end is that of the run without stops."""
    for number, count in enumerate(rounds):
        run(tmp_path / "run", train_config(), resumed=number > 0, stop_after=count)
        torch.manual_seed(number)
        np.random.seed(number)  # noqa: NPY002
    run(tmp_path / "run", train_config(), resumed=True)
    assert_same(everything(tmp_path / "run"), everything(uninterrupted))
    assert_same(
        load_file(tmp_path / "run" / "short.safetensors"),
        load_file(uninterrupted / "short.safetensors"),
    )
    numbers = [load_state(f / STATE_NAME)[0]["progress"] for f in (tmp_path / "run", uninterrupted)]
    for progress in numbers:
        del progress["seconds"]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_for_the_round(uninterrupted, tmp_path, monkeypatch, number) -> None:
    """T41: Ctrl-C or `kill` in the middle of a round stops after it; the continuation is exact."""
    (tmp_path / "run").mkdir()
    trainer = Trainer(train_config(), tmp_path / "run", resumed=False)
    learn, calls = trainer._learner.learn, []

    def interrupted(*arguments):
        calls.append(trainer.progress.rounds)
        if len(calls) == 3:
            signal.raise_signal(number)
        return learn(*arguments)

    monkeypatch.setattr(trainer._learner, "learn", interrupted)
    with stops_when_told(), pytest.raises(KeyboardInterrupt):
        trainer.run()
    trainer.close()
    assert trainer.progress.rounds == calls[2] + 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    run(tmp_path / "run", train_config(), resumed=True)
    assert_same(everything(tmp_path / "run"), everything(uninterrupted))


def test_half_a_round_is_not_saved(tmp_path, monkeypatch) -> None:
    """T41, T43: what fails inside a round leaves the checkpoint of the round before."""
    config = train_config(checkpoint_every_s=0)
    (tmp_path / "run").mkdir()
    trainer = Trainer(config, tmp_path / "run", resumed=False)
    learn = trainer._learner.learn

    def failing(*arguments):
        if trainer.progress.rounds == 2:
            raise Stop
        return learn(*arguments)

    monkeypatch.setattr(trainer._learner, "learn", failing)
    with pytest.raises(Stop):
        trainer.run()
    trainer.close()
    numbers, arrays = load_state(tmp_path / "run" / STATE_NAME)
    assert numbers["progress"]["rounds"] == 2
    run(tmp_path / "whole", config, stop_after=2)
    assert_same(arrays, everything(tmp_path / "whole"))


def test_each_round_is_played_by_the_latest_weights(tmp_path, monkeypatch) -> None:
    """T08, T20: the playing copy has the weights of before the round, and memory of its own."""
    (tmp_path / "run").mkdir()
    trainer = Trainer(train_config(), tmp_path / "run", resumed=False)
    play, played = trainer._selfplay.play, []

    def spy(net, *arguments, **more):
        weight = trainer._learner.net.arrays()["layers.0.weight"]
        assert np.array_equal(net.first_weights, weight.T)
        played.append(net)
        return play(net, *arguments, **more)

    monkeypatch.setattr(trainer._selfplay, "play", spy)
    trainer.run()
    trainer.close()
    assert len({id(net) for net in played}) == len(played) > 3
    # The first rounds have nothing to learn from yet; from then on every copy differs.
    changed = [not np.array_equal(a.first_weights, b.first_weights) for a, b in pairwise(played)]
    assert sum(changed) >= 3
    assert all(changed[changed.index(True) :])
    last = trainer._learner.net.arrays()["layers.0.weight"]
    assert not np.array_equal(played[-1].first_weights, last.T)


# -- killed, for real -----------------------------------------------------------------------------

TRAIN = [
    "train", "variant=hypergammon", "net.hidden=[16]", "selfplay=small", "learner=small",
    "device=cpu", "selfplay.precision=fp32", "selfplay.games=64", "learner.fresh_positions=1000",
    "budget=1200games", "checkpoint_every_s=0", "eval.games=0", "eval.interval_games=0",
    "seed=5", "run_dir=run", "resume=true",
]  # fmt: skip


def start_training(folder: Path) -> subprocess.Popen[str]:
    """Start `nardy train` in a folder; the same command starts a run and goes on with it."""
    folder.mkdir(exist_ok=True)
    paths = [p for p in sys.path if p]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "nardy_rl.cli", *TRAIN],
        cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def kill_within(folder: Path, delay: float) -> int:
    """Start or resume a run and kill it some time after its first new checkpoint."""
    state = folder / "run" / STATE_NAME
    before = state.stat().st_mtime_ns if state.exists() else 0
    process = start_training(folder)
    deadline = time.monotonic() + 90
    while not (state.exists() and state.stat().st_mtime_ns > before):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode


@pytest.fixture(scope="module")
def killed_and_whole(tmp_path_factory) -> tuple[Path, Path]:
    """Return the folders of a run that was killed at random moments and of one that was not."""
    base = tmp_path_factory.mktemp("kill")
    killed, whole = base / "killed", base / "whole"
    rng = random.Random(time.time_ns())
    for _ in range(2):
        assert kill_within(killed, rng.uniform(0, 0.25)) == -signal.SIGKILL
        load_network(killed / "run" / "hypergammon.safetensors")
    for process in [start_training(folder) for folder in (killed, whole)]:
        said = process.communicate(timeout=300)[0]
        assert process.returncode == 0, said
    return killed / "run", whole / "run"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills as on POSIX")
def test_a_killed_run_equals_a_whole_one(killed_and_whole) -> None:
    """T41, T45: twice kill -9, mostly in a save, and the same command: equal bit for bit."""
    killed, whole = killed_and_whole
    assert_same(everything(killed), everything(whole))
    assert_same(
        load_file(killed / "hypergammon.safetensors"), load_file(whole / "hypergammon.safetensors")
    )
    assert load_state(killed / STATE_NAME)[0]["progress"]["games"] >= 1200


def test_curves_of_a_killed_run_have_no_gap_and_no_jump(killed_and_whole) -> None:
    """T46, T48: read back, each curve of the killed run is that of the whole one, step by step."""
    killed, whole = (read_curves(folder) for folder in killed_and_whole)
    assert killed["learn/loss"] == whole["learn/loss"]
    assert killed["learn/learning_rate"] == whole["learn/learning_rate"]
    assert len(killed["learn/loss"]) > 15
    for tag, points in killed.items():
        steps = [step for step, _ in points]
        assert steps == sorted(set(steps)), tag


def test_a_run_writes_one_kind_of_event_file(killed_and_whole) -> None:
    """T47: one event file a process and no folders of sub-writers."""
    killed, whole = killed_and_whole
    assert [path for path in whole.rglob("*") if path.is_dir()] == []
    assert len(list(whole.glob("events.out.tfevents.*"))) == 1
    assert 1 < len(list(killed.glob("events.out.tfevents.*"))) <= 3


def test_a_kill_leaves_nothing_behind_for_long(killed_and_whole) -> None:
    """T45: what a kill in the middle of a save left half-written is gone after the resume."""
    for folder in killed_and_whole:
        assert not list(folder.glob(".*")), "a temporary file was left"


def read_curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return each curve as TensorBoard shows it, orphaned points purged."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        tag: [(point.step, point.value) for point in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def test_one_thread_per_core_and_as_many_after_a_stop(tmp_path, monkeypatch) -> None:
    """T41: `workers=0` fills this machine; on another one the run goes on with as many threads."""
    threads = train_config(selfplay__workers=3)
    run(tmp_path / "three", threads)
    monkeypatch.setattr("nardy_rl.trainer.usable_cores", lambda: 3)
    one_per_core = train_config(selfplay__workers=0)
    run(tmp_path / "cores", one_per_core, stop_after=1)
    monkeypatch.setattr("nardy_rl.trainer.usable_cores", lambda: 1)
    run(tmp_path / "cores", one_per_core, resumed=True)
    assert_same(everything(tmp_path / "cores"), everything(tmp_path / "three"))
    network = load_network(tmp_path / "cores" / "short.safetensors")
    assert network.manifest["training"]["workers"] == 3


def test_what_was_measured_stays_when_a_finished_run_is_resumed(uninterrupted, tmp_path) -> None:
    """Nothing is left to play, so nothing is written: neither the network nor its strength."""
    shutil.copytree(uninterrupted, tmp_path / "run")
    trainer = Trainer(train_config(), tmp_path / "run", resumed=True)
    trainer.measure(2)
    trainer.close()
    before = load_network(trainer.network_path).manifest
    assert before["strength"]
    run(tmp_path / "run", train_config(), resumed=True)
    assert load_network(trainer.network_path).manifest == before


# -- refused in one sentence ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 4}, "seed=3; .*now seed=4"),
        ({"net__hidden": [17]}, r"net.hidden=\[16\]"),
        ({"learner__lr": 2e-3}, "learner.lr=0.001"),
        ({"selfplay__workers": 1}, "selfplay.workers=2"),
        ({"variant": "long"}, "variant.id=short"),
        ({"variant__options": {"score": "oin_mars"}}, "variant.options"),
    ],
)
def test_other_settings_do_not_continue_a_run(uninterrupted, changes, named) -> None:
    """T43: a setting that would change the run is refused by its name; nothing is touched."""
    before = (uninterrupted / STATE_NAME).read_bytes()
    with pytest.raises(CheckpointError, match=named) as error:
        Trainer(train_config(**changes), uninterrupted, resumed=True)
    assert "\n" not in str(error.value)
    assert (uninterrupted / STATE_NAME).read_bytes() == before


def test_settings_that_may_change(uninterrupted, tmp_path) -> None:
    """A longer budget goes on with a finished run, also one of a game with rules of its own."""
    run(tmp_path / "tiny", train_config(variant__options=TINY_GAME, budget="50games"))
    longer = train_config(variant__options=TINY_GAME, budget="90games", checkpoint_every_s=5)
    trainer = run(tmp_path / "tiny", longer, resumed=True)
    assert trainer.progress.games >= 90
    assert trainer.progress.rounds > 1


def damaged(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "noise":
        path.write_bytes(np.random.default_rng(0).bytes(2000))
    elif how == "missing":
        path.unlink()
    elif how == "foreign":
        save_file({"w": np.zeros(3, np.float32)}, path)
    elif how == "network":
        path.write_bytes((path.parent / "short.safetensors").read_bytes())


@pytest.mark.parametrize("how", ["truncated", "empty", "noise", "missing", "foreign", "network"])
def test_damaged_states_are_refused(uninterrupted, tmp_path, how) -> None:
    """T44, T45: no state, half of one or something else is one sentence that names the file."""
    folder = tmp_path / "run"
    folder.mkdir()
    for path in uninterrupted.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    damaged(folder / STATE_NAME, how)
    with pytest.raises(CheckpointError, match=re.escape(str(folder / STATE_NAME))) as error:
        Trainer(train_config(), folder, resumed=True)
    assert "\n" not in str(error.value)


def test_the_state_is_one_file_without_pickles(uninterrupted) -> None:
    """T43, T44: all parts lie in one safetensors file, its numbers are JSON."""
    arrays = everything(uninterrupted)
    for part in ("net.", "adam.", "replay.", "worker0.", "worker1."):
        assert any(name.startswith(part) for name in arrays), part
    numbers = load_state(uninterrupted / STATE_NAME)[0]
    assert numbers["progress"]["rounds"] > 0
    assert numbers["config"] == dataclasses.asdict(train_config())
    assert b"pickle" not in (uninterrupted / STATE_NAME).read_bytes()
    assert sorted(path.name for path in uninterrupted.iterdir()) == [
        STATE_NAME, "short.json", "short.safetensors",
    ]  # fmt: skip


def test_a_loss_that_is_no_number_stops_the_run(tmp_path) -> None:
    """A learning rate far too high ends in a sentence; the last good checkpoint stays."""
    config = train_config(learner__lr=1e30, learner__lr_end=1e30, checkpoint_every_s=0)
    with pytest.raises(DivergedError, match=r"lower learner\.lr"):
        run(tmp_path / "run", config)
    state = tmp_path / "run" / STATE_NAME
    if state.exists():
        assert all(np.isfinite(a).all() for n, a in everything(tmp_path / "run").items())


# -- disks that take nothing ----------------------------------------------------------------------


class FullDisk(io.BytesIO):
    """A file on a disk with room for `room` bytes."""

    room = 0

    def write(self, data) -> int:
        if len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("room", [0, 1000])
def test_a_full_disk_keeps_the_last_checkpoint(uninterrupted, tmp_path, monkeypatch, room) -> None:
    """T45: a save that finds the disk full is one sentence; the previous state still loads."""
    run(tmp_path / "run", train_config(), stop_after=2)
    before = (tmp_path / "run" / STATE_NAME).read_bytes()
    monkeypatch.setattr(FullDisk, "room", room)
    monkeypatch.setattr(files, "open", lambda *_: FullDisk(), raising=False)
    with pytest.raises(OutputError, match=r"cannot write .*: no space left on device") as error:
        run(tmp_path / "run", train_config(), resumed=True)
    assert "\n" not in str(error.value)
    monkeypatch.undo()
    assert (tmp_path / "run" / STATE_NAME).read_bytes() == before
    assert not list((tmp_path / "run").glob(".*.tmp"))
    run(tmp_path / "run", train_config(), resumed=True)
    assert_same(everything(tmp_path / "run"), everything(uninterrupted))


KILLED_SAVE = """
import os, resource, signal, sys
from pathlib import Path
from nardy_rl.run_state import load_state, save_state
path = Path(sys.argv[1])
numbers, arrays = load_state(path)
for size in map(int, sys.argv[2].split(",")):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        save_state(path, {**numbers, "progress": "new"}, arrays)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), load_state(path)[0] == numbers)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes as on POSIX")
def test_a_kill_at_any_byte_of_a_save_keeps_the_state(uninterrupted, tmp_path) -> None:
    """T45: killed at byte n of writing the state, the previous state still loads, whole."""
    path = tmp_path / STATE_NAME
    path.write_bytes((uninterrupted / STATE_NAME).read_bytes())
    size = path.stat().st_size
    rng = np.random.default_rng(int(time.time()))
    sizes = [0, 1, size - 500, *rng.integers(0, size - 500, 25).tolist()]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_SAVE, str(path), ",".join(map(str, sizes))],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines == [f"{-signal.SIGXFSZ} True"] * len(sizes), done.stderr


def test_one_state_replaces_the_other(tmp_path) -> None:
    """T43: a save replaces the whole file; nothing of the one before is left in it."""
    path = tmp_path / STATE_NAME
    save_state(path, {"a": 1}, {"x": np.zeros(3), "y": np.ones(2)})
    save_state(path, {"b": 2}, {"x": np.arange(5)[::-1]})
    numbers, arrays = load_state(path)
    assert numbers == {"format": 1, "b": 2}
    assert arrays.keys() == {"x"}
    assert arrays["x"].tolist() == [4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("run_dir=taken/run", "taken"),
        ("resume=nowhere", "nothing to resume in"),
        ("budget=0", "leaves no time"),
        ("budget=-5m", "negative"),
        ("budget=abc", "not a budget"),
        ("device=tpu", "device must be one of auto, cpu, cuda"),
        ("learner.lr=0", "learner.lr must be above 0"),
        ("variant=shrot", "short"),
    ],
)
def test_bad_runs_are_one_sentence(tmp_path, monkeypatch, capsys, argument, said) -> None:
    """A run that cannot be is refused before it starts, in one line, with exit code 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file, not a folder")
    assert cli.main(["train", "net=tiny", "budget=1games", argument]) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("nardy: error: ")
    assert said in error
    assert error.count("\n") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken"]
