"""The notebooks run from top to bottom, and lie in the repository without outputs."""

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
TIMEOUT_S = 120


def test_there_are_notebooks():
    """The tests below look at the three notebooks."""
    assert [path.name for path in NOTEBOOKS] == [
        "01_watch_and_evaluate.ipynb",
        "02_train_a_small_bot.ipynb",
        "03_the_games.ipynb",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    """A committed notebook holds neither outputs nor execution counts."""
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path, monkeypatch):
    """Every cell of a notebook runs, with small settings, in whatever folder it is started."""
    monkeypatch.setenv("NARDY_NOTEBOOK_QUICK", "1")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": tmp_path}},
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert any("<svg" in output.get("data", {}).get("text/html", "") for output in shown)
