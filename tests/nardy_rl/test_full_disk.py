"""A full disk while a run is under way: in words, and nothing lost that could be kept."""

import errno
import logging
import os

from tensorboard.summary.writer.record_writer import RecordWriter

from nardy_engine import load_variant
from nardy_rl.commands.train import quiet_writers
from nardy_rl.curves import Curves


def test_a_run_outlives_its_curves(tmp_path, monkeypatch, caplog, capfd) -> None:
    """When the event file cannot be written, one line says so and the run goes on without it."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    curves = Curves(tmp_path, load_variant("short"), 0)
    curves.flush()
    monkeypatch.setattr(RecordWriter, "write", full)
    with quiet_writers(), caplog.at_level(logging.WARNING):
        for games in range(1, 100):
            curves.scalar("learn/loss", 1.0, games)
        curves.flush()
        curves.close()
    assert [record.getMessage() for record in caplog.records] == [
        "nardy: no more curves: No space left on device"
    ]
    assert "Traceback" not in capfd.readouterr().err
