"""The wheel: complete, and good for work in a folder that knows nothing of the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

CHECKOUT = Path(__file__).parents[2]
LIMIT_S = 240


class Installed(NamedTuple):
    wheel: Path
    bin: Path
    folder: Path

    def run(self, *words):
        """Run a program of the fresh environment in an empty folder."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        done = subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build the wheel and install it alone into a fresh environment.

    Its requirements are not downloaded again: a path file lends those of this environment, whose
    own editable install stays invisible, since path files of a lent folder are not read.
    """
    pytest.importorskip("build")
    base = tmp_path_factory.mktemp("wheel")
    _call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", base, CHECKOUT)
    (wheel,) = base.glob("*.whl")
    venv.create(base / "venv", with_pip=False, symlinks=True)
    python = base / "venv" / "bin" / "python"
    site = Path(_call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "lent.pth").write_text("\n".join(sorted(lent)) + "\n")
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", python]
    _call(*pip, "install", "--no-deps", "--no-index", "--force-reinstall", wheel)
    folder = base / "elsewhere"
    folder.mkdir()
    return Installed(wheel, python.parent, folder)


def _call(*words):
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_carries_every_file_it_needs(installed):
    """The wheel holds every module, rule table, configuration and shipped network, and no test."""
    names = set(zipfile.ZipFile(installed.wheel).namelist())
    wanted = {
        f"{target}/{path.relative_to(CHECKOUT / source).as_posix()}"
        for source, target, patterns in (
            ("engine/nardy_engine", "nardy_engine", ("*.py", "*.toml", "py.typed")),
            ("nardy_rl", "nardy_rl", ("*.py", "py.typed")),
            ("nardy_rl/players/data", "nardy_rl/players/data", ("*.txt", "*.toml")),
            ("nardy_rl/export/consumer", "nardy_rl/export/consumer", ("*.*",)),
            ("configs", "nardy_rl/_data/configs", ("*.yaml",)),
            ("checkpoints", "nardy_rl/_data/checkpoints", ("*.safetensors", "*.json")),
        )
        for pattern in patterns
        for path in (CHECKOUT / source).rglob(pattern)
    }
    assert wanted | {"nardy_rl/_data/LICENSE"} <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {
        "nardy_engine",
        "nardy_rl",
        installed.wheel.name.split("-py3")[0] + ".dist-info",
    }


def test_is_the_copy_that_runs(installed):
    """The commands below run the wheel's copy, not the checkout's."""
    code = "import nardy_engine, nardy_rl; print(nardy_engine.__file__); print(nardy_rl.__file__)"
    for line in installed.run("python", "-c", code).split():
        assert Path(line).is_relative_to(installed.bin.parent)


def test_lists_the_games(installed):
    """`nardy variants` works from the wheel."""
    shown = installed.run("nardy", "variants")
    assert "long" in shown
    assert "short" in shown


def test_composes_a_training_run(installed):
    """`nardy train` finds its configurations in the wheel, experiments too."""
    shown = installed.run("nardy", "train", "+experiment=smoke", "variant=short", "--cfg", "job")
    assert "id: short" in shown
    assert list(installed.folder.iterdir()) == []


def test_evaluates_with_a_shipped_network(installed):
    """`nardy evaluate` finds the network of long nardy in the wheel and rates a roll with it."""
    answer = json.loads(
        installed.run("nardy", "evaluate", "24:15 | 24:15", "--dice", "64", "--json")
    )
    assert answer
