"""Configurations: composition, overrides, refusals; rows T49-T52 of the list of known faults."""

import dataclasses
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from nardy_engine import variant_names
from nardy_engine.errors import NardyError
from nardy_rl.commands.hydra_app import help_text, run_hydra
from nardy_rl.commands.train import run_training
from nardy_rl.compose import load_arena_config, load_train_config
from nardy_rl.config import ConfigError, TrainConfig, field_docs
from nardy_rl.resources import checkpoints_dir, config_dir
from nardy_rl.run_dir import choose_run_dir, claim_run_dir, held
from nardy_rl.run_state import STATE_NAME


@pytest.fixture
def collect(monkeypatch, tmp_path):
    """Run a hydra command in an empty folder and return the configurations its task got."""
    monkeypatch.chdir(tmp_path)

    def run(*argv, name="train"):
        seen = []
        code = run_hydra(name, argv, seen.append)
        assert code == 0
        return seen

    return run


def refusal(*overrides):
    """Return the one sentence with which `overrides` are refused."""
    with pytest.raises(NardyError) as caught:
        load_train_config(overrides)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def test_defaults():
    """Without overrides the command trains long nardy for ten minutes on what device there is."""
    config = load_train_config()
    assert config.variant.id == "long"
    assert config.parsed_budget().seconds == 600
    assert config.device == "auto"
    assert config.net.hidden == [256, 128]
    assert config.resume is False


def test_each_game_has_its_file():
    """The variant group has exactly one file for each game of the engine, named as its id."""
    files = {path.stem: yaml.safe_load(path.read_text()) for path in _group("variant")}
    assert sorted(files) == sorted(variant_names())
    assert all(content["id"] == name for name, content in files.items())


@pytest.mark.parametrize("group", ["variant", "net", "selfplay", "learner", "eval"])
def test_every_file_of_a_group_composes(group):
    """Each file of each group gives a configuration within its limits."""
    names = [path.stem for path in _group(group)]
    assert names
    for name in names:
        load_train_config([f"{group}={name}"])


def test_every_experiment_composes():
    """Each experiment is a complete run, with the plus sign and without."""
    names = [path.stem for path in _group("experiment")]
    assert {"smoke", "ten_minutes", "reproducible"} <= set(names)
    for name in names:
        with_plus = load_train_config([f"+experiment={name}", "run_dir=x"])
        assert with_plus == load_train_config([f"experiment={name}", "run_dir=x"])


def test_experiment_then_override():
    """What stands on the command line wins over the experiment, wherever it stands."""
    config = load_train_config(["net=wide", "budget=3m", "+experiment=smoke", "variant=short"])
    assert config.net.hidden == [512, 256]
    assert config.budget == "3m"
    assert config.variant.id == "short"


def test_the_reproducible_experiment_counts_games_on_the_cpu():
    """The bit-for-bit run has a budget in games, since a clock cannot promise the same run."""
    config = load_train_config(["+experiment=reproducible"])
    assert config.parsed_budget().games
    assert (config.device, config.selfplay.precision) == ("cpu", "fp32")


def test_yaml_holds_no_unknown_key_and_every_value_has_a_meaning():
    """Every setting has a help text that ends in a sentence, and shows up in --help."""
    docs = field_docs(TrainConfig)
    shown = help_text("train")
    assert len(docs) > 20
    for key, text in docs.items():
        assert len(text) > 10, key
        assert f"  {key}=" in shown


def test_rules_by_their_short_name():
    """variant.block.check=... changes that rule of the game and no other."""
    config = load_train_config(["variant=long", "variant.block.check=every_step"])
    assert config.variant.flat_options() == {"block.check": "every_step"}
    assert config.variant.load().options()["block.check"] == "every_step"
    long_way = load_train_config(["variant.options.block.check=every_step"])
    assert long_way.variant == config.variant


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("lr=1e-3", ["'lr'", "learner.lr"]),
        ("learner.lrr=1e-3", ["learner.lrr", "'learner.lr'"]),
        ("+learner.lrr=1e-3", ["learner.lrr", "'learner.lr'"]),
        ("budgte=1m", ["'budgte'", "'budget'"]),
        ("variant=lnog", ["lnog", "'long'"]),
        ("net=huge", ["huge", "base"]),
        ("experiment=smoek", ["smoek", "'smoke'"]),
        ("variant.blok.check=every_step", ["blok.check", "block.check"]),
        ("variant.block.check=sometimes", ["sometimes"]),
        ("seed=abc", ["seed", "abc"]),
        ("seed=-1", ["seed", "-1"]),
        ("seed=1.5", ["seed", "1.5"]),
        ("budget=0", ["budget", "0"]),
        ("budget=-5m", ["-5m"]),
        ("budget=abc", ["abc"]),
        ("device=tpu", ["device", "auto, cpu, cuda"]),
        ("learner.lr=-1", ["learner.lr", "-1"]),
        ("learner.lr=nan", ["learner.lr", "nan"]),
        ("learner.lr_end=1", ["learner.lr_end", "learner.lr"]),
        ("selfplay.games=0", ["selfplay.games"]),
        ("selfplay.lambda_start=1.5", ["selfplay.lambda_start"]),
        ("selfplay.precision=fp8", ["selfplay.precision", "bf16"]),
        ("net.hidden=[]", ["net.hidden"]),
        ("net.hidden=[64,0]", ["net.hidden"]),
        ("run_dir=", ["run_dir"]),
        ("budget", ["budget=VALUE"]),
        ("~budget", ["budget"]),
        ("=3", ["=VALUE"]),
        ("hydra/launcher=foo", ["hydra/launcher", "foo"]),
    ],
)
def test_refused_in_one_sentence(override, parts):
    """A wrong override is refused in one line that names it and what is nearest."""
    message = refusal(override)
    for part in parts:
        assert part in message


@pytest.mark.parametrize("override", ["+experiment=smoke", "device=cpu", "net=small"])
def test_a_match_has_no_settings_of_training(override):
    """`nardy arena` refuses what only a training run uses instead of ignoring it."""
    with pytest.raises(ConfigError, match="unknown setting"):
        load_arena_config([override])


@pytest.mark.parametrize("setting", ["net.encoder=none-1", "device=cuda"])
def test_a_run_that_cannot_start_leaves_no_folder(setting, tmp_path, monkeypatch):
    """A setting that only the machine or the code refuses leaves no empty run folder behind."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    run_dir = tmp_path / "run"
    config = load_train_config(["+experiment=smoke", f"run_dir={run_dir}", setting])
    with pytest.raises(NardyError):
        run_training(config)
    assert not run_dir.exists()


def test_refused_flag():
    """An unknown flag is refused by name, not ignored."""
    with pytest.raises(ConfigError, match="--muiltrun"):
        run_hydra("train", ["--muiltrun"], lambda config: None)


def test_help_and_cfg_run_nothing(collect, capsys):
    """--help and --cfg job print and start no run."""
    assert collect("--help") == []
    assert "variant=short" in capsys.readouterr().out
    assert collect("--cfg", "job", "seed=5", "+experiment=smoke") == []
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["seed"] == 5
    assert printed["net"]["hidden"] == [64]


def test_multirun(collect):
    """--multirun runs once for each combination, in order, each with its own checked config."""
    seen = collect("--multirun", "variant=long,short", "seed=1,2")
    assert [(c.variant.id, c.seed) for c in seen] == [
        ("long", 1),
        ("long", 2),
        ("short", 1),
        ("short", 2),
    ]


@pytest.mark.parametrize("flags", [[], ["--multirun"]])
def test_errors_of_the_task_come_out_unchanged(tmp_path, monkeypatch, flags):
    """An error inside the run reaches the caller as it was raised, not hydra's report of it."""
    monkeypatch.chdir(tmp_path)

    def task(config):
        raise NardyError("the sentence")

    with pytest.raises(NardyError, match=r"^the sentence$"):
        run_hydra("train", ["seed=1", *flags], task)


def test_exit_code_of_the_task(tmp_path, monkeypatch):
    """The task's exit code is the command's; with several runs, the highest."""
    monkeypatch.chdir(tmp_path)
    assert run_hydra("train", ["seed=3"], lambda config: config.seed) == 3
    assert run_hydra("train", ["-m", "seed=1,4,2"], lambda config: config.seed) == 4


def test_command_line_is_left_alone(collect, monkeypatch):
    """The program's own argument list is as before after a run."""
    monkeypatch.setattr(sys, "argv", ["mine", "--odd"])
    collect("seed=1")
    assert sys.argv == ["mine", "--odd"]


def test_composing_inside_a_run(collect):
    """A run may compose another configuration, and two runs may follow each other."""
    inner = []
    for seed in (1, 2):
        run_hydra("train", [f"seed={seed}"], lambda c: inner.append(load_train_config(["seed=9"])))
    assert [config.seed for config in inner] == [9, 9]


def test_arena_config():
    """A match has its own schema; by default the game's shipped network meets a simple bot."""
    config = load_arena_config(["variant=short", "b=pubeval", "games=100"])
    assert (config.a, config.b, config.games) == ("net:short", "pubeval", 100)
    with pytest.raises(ConfigError, match="even"):
        load_arena_config(["games=101"])
    with pytest.raises(ConfigError, match="players"):
        load_arena_config(["players=[random]"])


@pytest.mark.parametrize("start", ["/", "checkout", "empty"])
def test_same_files_from_every_folder_T49(start, tmp_path, monkeypatch):
    """T49: started from anywhere, the same configuration is read and the same folders meant."""
    checkout = config_dir().parent
    monkeypatch.chdir({"/": Path("/"), "checkout": checkout, "empty": tmp_path}[start])
    seen = []

    def task(config):
        seen.append((config, Path.cwd()))

    before = Path.cwd()
    run_hydra("train", ["variant=short", f"root={tmp_path}", "run_dir=runs/mine"], task)
    (config, inside) = seen[0]
    assert config == load_train_config(["variant=short", f"root={tmp_path}", "run_dir=runs/mine"])
    assert config.path(config.run_dir) == tmp_path / "runs" / "mine"
    assert config.path("/elsewhere/x") == Path("/elsewhere/x")
    assert inside == before, "the run must not change the working folder"
    assert list(tmp_path.iterdir()) == [], "hydra must not write folders of its own"


def test_relative_paths_start_where_the_command_starts_T49(tmp_path, monkeypatch):
    """T49: without a root, relative paths start from the folder of the command, as in a shell."""
    monkeypatch.chdir(tmp_path)
    config = load_train_config(["run_dir=here"])
    assert config.path(config.run_dir) == tmp_path / "here"


@pytest.mark.parametrize(
    ("override", "near"),
    [
        ("hydra.outptu_subdir=x", "hydra.output_subdir"),
        ("hydra.job.chdri=true", "hydra.job.chdir"),
        ("hydra.run.dri=x", "hydra.run.dir"),
        ("hydra.swep.dir=x", "hydra.sweep.dir"),
        ("+hydra.outptu_subdir=x", "hydra.output_subdir"),
        ("++hydra.outptu_subdir=x", "hydra.output_subdir"),
    ],
)
def test_misspelt_hydra_keys_T50(override, near):
    """T50: a misspelt key of hydra's own, which hydra takes in silence, is refused by name."""
    message = refusal(override)
    assert override.lstrip("+").partition("=")[0] in message
    assert f"'{near}'" in message


def test_good_hydra_keys_T50(collect):
    """T50: a key of hydra that exists, and a new key of an open table, are taken."""
    collect("hydra.job.name=mine", "hydra.job.env_set.NARDY_TEST_VARIABLE=1")


def test_two_runs_in_one_second_T51(tmp_path):
    """T51: many runs that want the same folder at the same moment get one each."""
    wanted = tmp_path / "runs" / "long" / "2026-01-01_00-00-00"
    barrier = threading.Barrier(8)
    got = []

    def claim():
        barrier.wait()
        got.append(claim_run_dir(wanted))

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(got)) == 8
    assert wanted in got
    assert all(path.is_dir() for path in got)


def test_two_processes_in_one_second_T51(tmp_path):
    """T51: two processes started together with one run_dir get two folders."""
    code = (
        "from nardy_rl.compose import load_train_config as load\n"
        "from nardy_rl.run_dir import choose_run_dir\n"
        f"print(choose_run_dir(load(['run_dir={tmp_path}/same']), 'state').path)\n"
    )
    path = os.pathsep.join(sys.path)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        for _ in range(2)
    ]
    assert {run.communicate(timeout=60)[0].strip() for run in runs} == {
        f"{tmp_path}/same",
        f"{tmp_path}/same-2",
    }


@pytest.mark.parametrize("text", ["12E3", "1E234", "007", "1_000", "null", "a=b", "x,y", "it's"])
def test_text_stays_text_T52(text):
    """T52: a name that looks like a number, or has signs of hydra's grammar, stays that text."""
    assert load_train_config([f"run_dir={text}"]).run_dir == text
    assert load_train_config([f"resume={text}"]).resume == text


def test_resume_takes_a_truth_value_or_a_folder_T52():
    """T52: resume is true, false or text, and quotes make any value text."""
    assert load_train_config(["resume=true"]).resume is True
    assert load_train_config(["resume='true'"]).resume == "true"


def test_swept_text_stays_text_T52(collect):
    """T52: text keeps its form in a sweep too."""
    assert [c.run_dir for c in collect("-m", "run_dir=12E3,13E3")] == ["12E3", "13E3"]


@pytest.mark.parametrize("text", ["1e-4", "0.0001", "1E-4", "1.0e-4"])
def test_floats_from_the_command_line_T52(text):
    """T52: every way to write a small number is that number on the command line."""
    learning_rate = load_train_config([f"learner.lr={text}"]).learner.lr
    assert isinstance(learning_rate, float)
    assert learning_rate == 0.0001


def test_floats_from_yaml_T52():
    """T52: 1e-3 in a YAML file is a number, though plain YAML reads it as text."""
    text = (config_dir() / "learner" / "default.yaml").read_text()
    assert isinstance(yaml.safe_load(text)["lr"], str), "the file no longer shows the trap"
    assert load_train_config().learner.lr == 0.001


def test_resume_finds_the_newest_run(tmp_path):
    """resume=true goes on with the newest run of the game that left a state, else starts anew."""
    base = load_train_config([f"root={tmp_path}", "resume=true"])
    fresh = choose_run_dir(base, "state")
    assert not fresh.resumed
    folder = fresh.path.parent
    for age, name in ((30, "old"), (10, "new"), (20, "middle")):
        (folder / name).mkdir()
        (folder / name / "state").touch()
        os.utime(folder / name / "state", (10**9 - age, 10**9 - age))
    (folder / "newest-without-state").mkdir()
    again = dataclasses.replace(base, run_dir="runs/long/later")
    assert choose_run_dir(again, "state") == (folder / "new", True)
    named = dataclasses.replace(base, resume=str(folder / "old"))
    assert choose_run_dir(named, "state") == (folder / "old", True)
    missing = dataclasses.replace(base, resume="nowhere")
    with pytest.raises(ConfigError, match="nothing to resume"):
        choose_run_dir(missing, "state")


def test_a_run_that_goes_on_is_left_alone(tmp_path):
    """T45: two processes that write the same checkpoint would lose one run; the second refuses."""
    (tmp_path / STATE_NAME).touch()
    with held(tmp_path):
        with pytest.raises(ConfigError, match="still going on in another process"):
            held(tmp_path).__enter__()
        with pytest.raises(ConfigError, match="still going on in another process"):
            run_training(load_train_config([f"resume={tmp_path}"]))
    with held(tmp_path):
        pass  # free again


def test_run_dir_that_cannot_be_made(tmp_path):
    """A run folder below a file is refused in one sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="file"):
        claim_run_dir(tmp_path / "file" / "run")


def test_data_folders_are_absolute():
    """Configurations and shipped networks are found by absolute paths."""
    assert config_dir().is_absolute()
    assert (config_dir() / "train.yaml").is_file()
    assert checkpoints_dir().is_absolute()


def _group(name):
    return sorted((config_dir() / name).glob("*.yaml"))
