"""Compiled code on disk: never stale, found again, wherever it can be written (T53, T59)."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nardy_engine
from nardy_engine.kernels import _jit

PACKAGE = Path(nardy_engine.__file__).parent
TESTS = Path(__file__).resolve().parents[1]

ASK = """
import json
import numpy as np
from nardy_engine import load_variant
from nardy_engine.kernels import selfplay
from nardy_engine.rules import rule_table
board = np.zeros((2, 26), np.int8)
board[0, 12] = board[1, 13] = 15
phase = selfplay.phase_of(board, 20, rule_table(load_variant("short")))
hits = sum(selfplay.phase_of.stats.cache_hits.values())
print(json.dumps([selfplay.PHASES[phase], hits]))
"""


def ask(engine: Path, cache: Path, **environment):
    """Return the phase of a position from a copy of the engine, cache hits, and what was said."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", ASK],
        env={**os.environ, "PYTHONPATH": str(engine), "NARDY_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
        check=True,
        cwd=engine,
    )
    return (*json.loads(done.stdout), done.stderr)


def test_a_changed_rule_is_compiled_anew(tmp_path):
    """T53: a helper in another file changes; its caller, unchanged and cached, follows."""
    engine, cache = tmp_path / "engine", tmp_path / "cache"
    shutil.copytree(
        PACKAGE, engine / "nardy_engine", ignore=shutil.ignore_patterns("__pycache__", ".*cache")
    )
    phase, hits, said = ask(engine, cache)
    assert (phase, hits) == ("middle", 0)
    assert "compiling the rules engine" in said
    assert ask(engine, cache) == ("middle", 1, "")
    scoring = engine / "nardy_engine" / "kernels" / "scoring.py"
    text = scoring.read_text("utf-8")
    old = "return mine + theirs < rules.n_points + 1"
    assert text.count(old) == 1
    scoring.write_text(text.replace(old, "return mine + theirs < rules.n_points + 2"), "utf-8")
    phase, hits, _ = ask(engine, cache)
    assert (phase, hits) == ("race", 0)
    scoring.write_text(text, "utf-8")
    assert ask(engine, cache) == ("middle", 1, "")


def test_the_message_comes_when_something_is_compiled(tmp_path):
    """Importing kernels says nothing; a kernel that the cache lacks is announced, once."""
    code = (
        "import numpy as np\n"
        "from nardy_engine.kernels import scoring, selfplay\n"
        "from nardy_engine.rules import load_variant, rule_table\n"
        "rules, board = rule_table(load_variant('short')), np.zeros((2, 26), np.int8)\n"
    )
    calls = ("", "scoring.highest_point(board[0], rules)", "selfplay.phase_of(board, 20, rules)")
    for call, times in zip((*calls, calls[2]), (0, 1, 1, 0), strict=True):
        done = subprocess.run(
            [sys.executable, "-c", code + call],
            env={**os.environ, "NARDY_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.count("nardy: compiling") == len(done.stderr.splitlines()) == times, call


def test_two_processes_may_fill_the_cache_together(tmp_path):
    """Both first users of an empty cache get the right answer, and the third one is served."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: ask(PACKAGE.parent, tmp_path), range(2))
    assert first[0] == second[0] == "middle"
    assert ask(PACKAGE.parent, tmp_path) == ("middle", 1, "")


@pytest.mark.parametrize("error", [RuntimeError("no compiled object yet"), OSError(28, "full")])
def test_code_that_cannot_be_stored_is_run_all_the_same(monkeypatch, capsys, error):
    """A full disk, or numba's trouble with its own cache, costs the cache and nothing else."""

    def twice(x):
        return 2 * x

    compiled, tried = _jit.jit(twice), []

    def fail(*_):
        tried.append(1)
        raise error

    monkeypatch.setattr(compiled._cache, "_save_overload", fail)
    assert [compiled(4), compiled(4.0), len(tried)] == [8, 8.0, 2]
    said = capsys.readouterr().err
    assert said.count("compiled code cannot be kept in") == 1  # once, not for every function
    assert str(error) in said


def test_kernels_can_be_imported_without_a_compiler():
    """NUMBA_DISABLE_JIT=1 makes plain Python of them, to look into with a debugger."""
    code = "from nardy_engine.kernels.rng import fill_rolls; print(type(fill_rolls).__name__)"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, env=environment, text=True) == "function\n"


def test_the_digest_sees_every_source_of_compiled_code(tmp_path, monkeypatch):
    """T53: kernels and rules count, in any file, added ones too; notation does not."""
    copy = tmp_path / "nardy_engine"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", ".*cache"))
    monkeypatch.setattr(_jit, "_PACKAGE", copy)
    seen = {_jit.source_digest()}
    assert seen == {_jit.source_digest()}
    for number, name in enumerate(["kernels/rng.py", "rules/table.py", "kernels/new.py"], start=2):
        path = copy / name
        path.write_text((path.read_text("utf-8") if path.exists() else "") + "\nX = 1\n", "utf-8")
        seen.add(_jit.source_digest())
        assert len(seen) == number, name
    (copy / "notation" / "new.py").write_text("X = 1\n", "utf-8")
    assert _jit.source_digest() in seen


def test_kernels_import_nothing_that_the_digest_misses():
    """T53: what kernels import from the engine lies in the folders that the digest covers."""
    for path in (PACKAGE / "kernels").glob("*.py"):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith(("from nardy_engine", "import nardy_engine")):
                part = line.split()[1].split(".")[1]
                assert part in _jit._SOURCES, f"{path.name}: {line}"


def test_a_cache_that_cannot_be_written_is_put_elsewhere(tmp_path, monkeypatch):
    """A home that takes no files moves the cache to the temporary folder instead of failing."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("NARDY_CACHE_DIR", str(blocked))
    monkeypatch.setattr(_jit.tempfile, "tempdir", str(tmp_path))
    folder = _jit._cache_folder()
    assert folder.is_dir()
    assert folder.parent.parent == tmp_path
    assert folder.name == _jit.source_digest()
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert _jit._cache_folder() == folder


def test_compiled_code_is_not_taken_from_a_link(tmp_path, monkeypatch):
    """A link that waits in the temporary folder is not followed: code would be loaded from it."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"nardy-rl-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(_jit.tempfile, "tempdir", str(tmp_path))
    folder = _jit._temporary_folder()
    assert folder.parent == tmp_path
    assert not folder.is_symlink()
    assert not any((tmp_path / "elsewhere").iterdir())


@pytest.mark.slow
def test_the_rules_hold_with_bounds_checks(tmp_path):
    """T59: the rule tests pass once with every index checked; compiled apart, so it takes long."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
            *(str(TESTS / "engine" / f"test_{name}.py")
              for name in ("rules_long", "rules_short", "rules_options", "scoring", "cases",
                           "encoders", "batch_games")),
            str(TESTS / "nardy_rl" / "test_selfplay.py"),
        ],
        cwd=TESTS.parent,
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "NARDY_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
