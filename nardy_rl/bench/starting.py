"""How long the engine takes to start: import, first play, compilation; in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from nardy_rl.bench.measuring import Figure, Measurement

_IMPORT = (
    "import time; t = time.perf_counter(); import nardy_engine; print(time.perf_counter() - t)"
)
_FIRST_PLAY = (
    "import time; t = time.perf_counter(); from nardy_engine import batch, load_variant; "
    "v = load_variant('long'); g = batch.Games(v, 2, 0); g.roll(); a = g.afterstates(); "
    "g.play(a.offsets[:-1]); print(time.perf_counter() - t)"
)


def _timed_process(code: str, cache: str | None = None) -> float:
    """Run Python code in a fresh process; return the seconds that it prints."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NARDY_CACHE_DIR"] = cache
    # The modules of this process, also where they were found through a changed path.
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def starting() -> list[Measurement]:
    """Measure `import nardy_engine`, and the first play with compiled code from the cache."""
    return [
        Measurement("import nardy_engine", "s", lambda: _timed_process(_IMPORT)),
        Measurement("first play, cache warm", "s", lambda: _timed_process(_FIRST_PLAY)),
    ]


def cold_compilation() -> Figure:
    """Measure the first play of a fresh installation, compilation included; one run."""
    with tempfile.TemporaryDirectory() as cache:
        seconds = _timed_process(_FIRST_PLAY, cache)
    return Figure("first play, nothing compiled", "s", seconds, seconds, seconds, 1)
