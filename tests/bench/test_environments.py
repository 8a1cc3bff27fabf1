"""Environments of other programs: made once, and a failure is one sentence."""

import subprocess
from pathlib import Path

import pytest

from nardy_rl.bench import environments
from nardy_rl.bench.environments import Environment, InstallError, interpreter

THING = Environment("thing", ("thing==1.0",))


@pytest.fixture
def commands(monkeypatch):
    """Return what would have been run; commands with "-m venv" only make the folder."""
    found = []

    def run(command, **_):
        found.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(environments.subprocess, "run", run)
    return found


def test_an_environment_is_made_once(tmp_path, commands, capsys):
    """The second request runs nothing; other requirements are another environment."""
    python = interpreter(THING, tmp_path)
    assert python.is_relative_to(tmp_path)
    assert len(commands) == 2
    assert commands[1][-1] == "thing==1.0"
    assert commands[1][0] == str(python)
    assert interpreter(THING, tmp_path) == python
    assert len(commands) == 2
    assert interpreter(Environment("thing", ("thing==2.0",)), tmp_path) != python
    assert "installing thing" in capsys.readouterr().err


def test_a_failing_installation_is_one_sentence_and_is_tried_again(tmp_path, monkeypatch, capsys):
    """What pip says last is the reason; a half-made folder is not taken for an environment."""

    def run(command, **_):
        failed = "pip" in command
        said = "WARNING: x\nERROR: No matching distribution found for thing==1.0\n"
        return subprocess.CompletedProcess(command, int(failed), "", said * failed)

    monkeypatch.setattr(environments.subprocess, "run", run)
    for _ in range(2):
        with pytest.raises(InstallError, match=r"^thing cannot be installed: No matching distri"):
            interpreter(THING, tmp_path)
    assert capsys.readouterr().err.count("installing") == 2


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    """A file where the cache folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InstallError, match="thing cannot be installed"):
        interpreter(THING, tmp_path / "file")


def test_the_cache_folder_follows_the_environment_variable(tmp_path, monkeypatch):
    """NARDY_CACHE_DIR moves it, as it moves compiled code."""
    monkeypatch.setenv("NARDY_CACHE_DIR", str(tmp_path))
    assert environments.cache_folder() == tmp_path / "peers"
