"""Writing files (fault T45): links, devices, and what a killed process leaves behind."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nardy_rl.files import OutputError, check_target, new_folder, write_atomic


@pytest.fixture
def dead_process():
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_leftovers_of_a_killed_save_are_cleared_away(tmp_path, dead_process) -> None:
    """T45: what a kill left half-written goes with the next save of the same file, and only that.

    Files of a process that still runs, and of other targets, stay.
    """
    mine, alive = f".net.{dead_process}-3.tmp", f".net.{os.getppid()}-0.tmp"
    others = [f".other.{dead_process}.tmp", f".net.x{dead_process}.tmp"]
    for name in (mine, alive, *others):
        (tmp_path / name).write_bytes(b"half")
    write_atomic(tmp_path / "net", b"whole")
    assert names(tmp_path) == sorted(["net", alive, *others])
    assert (tmp_path / "net").read_bytes() == b"whole"


def test_leftovers_of_a_killed_export_are_cleared_away(tmp_path, dead_process) -> None:
    """T45: a folder half-filled by a killed process goes; one set aside stays till replaced."""
    half, aside = (tmp_path / f".out.{dead_process}-0.{kind}" for kind in ("tmp", "old"))
    for folder in (half, aside):
        folder.mkdir()
        (folder / "model").write_bytes(b"half")
    with new_folder(tmp_path / "out", ["model"], ["model"]) as folder:
        assert names(tmp_path) == sorted([aside.name, folder.name])
        (folder / "model").write_bytes(b"whole")
    with new_folder(tmp_path / "out", ["model"], ["model"]) as folder:
        (folder / "model").write_bytes(b"newer")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "model").read_bytes() == b"newer"


def test_a_link_is_followed(tmp_path) -> None:
    """A file that is a link stays one; its target gets the content."""
    (tmp_path / "store").mkdir()
    (tmp_path / "net").symlink_to(tmp_path / "store" / "net")
    write_atomic(tmp_path / "net", b"whole")
    assert (tmp_path / "net").is_symlink()
    assert (tmp_path / "store" / "net").read_bytes() == b"whole"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path) -> None:
    """A pipe or device, such as /dev/stdout, receives the content and stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(pipe, b"whole")
        assert os.read(reader, 100) == b"whole"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_folder_is_no_file(tmp_path) -> None:
    """A folder in the place of the file is one sentence, and nothing is written."""
    with pytest.raises(OutputError, match="it is a folder"):
        write_atomic(tmp_path, b"whole")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "words"),
    [(".", "it is a folder"), ("taken/x", "is not a folder"), ("shut/new/x", "permission denied")],
)
def test_a_place_that_cannot_be_written_is_refused_before(tmp_path, place, words) -> None:
    """T45: hours of work do not end with a file that could never be written."""
    (tmp_path / "taken").write_bytes(b"a file")
    (tmp_path / "shut").mkdir(mode=0o500)
    if os.access(tmp_path / "shut", os.W_OK) and "permission" in words:
        pytest.skip("root may write everywhere")
    with pytest.raises(OutputError, match=words):
        check_target(tmp_path / place)
    check_target(tmp_path / "new" / "folder" / "x")
    check_target(tmp_path / "taken")
    assert names(tmp_path) == ["shut", "taken"]


def test_threads_can_write_the_same_file(tmp_path) -> None:
    """T45: none finds its half-written file renamed by another, and one whole text is left."""
    texts = [bytes([65 + i]) * 5000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            list(pool.map(lambda text: write_atomic(tmp_path / "file", text), texts))
    assert (tmp_path / "file").read_bytes() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_folder_where_one_stands_is_a_place(tmp_path, monkeypatch) -> None:
    """`nardy export --out .` in an empty folder fills it."""
    target = tmp_path / "here"
    target.mkdir()
    monkeypatch.chdir(target)
    with new_folder(Path("."), ["marker"], ["marker"]) as building:
        (building / "marker").touch()
    assert [path.name for path in target.iterdir()] == ["marker"]
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_folder_of_somebody_else_stays(tmp_path) -> None:
    """T45: an app with a manifest of its own is not lost, nor what lies beside our files."""
    app = tmp_path / "app"
    (app / "src").mkdir(parents=True)
    (app / "manifest.json").write_text("{}")
    with pytest.raises(OutputError, match="not a folder written by this command"):
        new_folder(app, ["manifest.json", "model"], ["manifest.json", "model"]).__enter__()
    (app / "model").touch()
    with pytest.raises(OutputError, match="holds 'src', which this command did not write"):
        new_folder(app, ["manifest.json", "model"], ["manifest.json", "model"]).__enter__()
    assert names(app) == ["manifest.json", "model", "src"]


def test_a_stream_is_added_to(tmp_path) -> None:
    """`json=/dev/stdout >> log` adds to the log; what was there stays."""
    log = tmp_path / "log"
    log.write_text("before\n")
    code = "from pathlib import Path; from nardy_rl.files import write_atomic as w; "
    code += "w(Path('/dev/stdout'), b'after\\n')"
    with log.open("a") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert log.read_text() == "before\nafter\n"
