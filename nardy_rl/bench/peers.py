"""This project beside other programs, measured in one run on one machine; layer: nardy_rl.

Every program, this one too, runs in a process of its own and answers lines of JSON; see
`scripts/peers/protocol.py`. The runs of the programs alternate, since a shared machine is faster in
one minute than in the next, and what counts is the ratio of medians. A program that cannot be
installed or fails is a row that says why.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import textwrap
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nardy_engine.errors import NardyError
from nardy_rl.bench.tables import table

OURS = "nardy-rl"
"""Name of this project among the programs."""
PATIENCE = 900.0
"""Seconds that a worker may take to answer: it may have to compile, or to train first."""


class PeerError(NardyError):
    """A program cannot be measured; the message says why."""


class Command(NamedTuple):
    """How to start the worker of a program."""

    words: Sequence[str]
    environment: Mapping[str, str] = {}
    """Variables beside those of this process."""


@dataclass(frozen=True)
class Contestant:
    """A program in one comparison."""

    program: str
    request: Mapping[str, Any]
    """What its worker is asked, without seconds and processors."""
    how: str = ""
    """What a reader must know, such as the number of its threads."""
    cpus: int = 1
    """Processors that one process may use."""
    processes: int = 1
    """Equal processes at the same time, whose rates are added."""
    longer: float = 1.0
    """Times the usual seconds of a run."""


@dataclass(frozen=True)
class Comparison:
    """One thing that several programs do."""

    key: str
    title: str
    units: Mapping[str, str]
    """Unit in the table of each field of the answers that counts."""
    contestants: Sequence[Contestant]


def comparisons(cpus: int, warm: int) -> list[Comparison]:
    """Return everything that is compared, for short nardy.

    Args:
        cpus: Processors of comparisons that use all of them.
        warm: Games of training that are not counted, since a network that knows nothing plays
            longer ones.
    """
    listing, random_play = {"measure": "listing"}, {"measure": "random_play"}
    training = {"measure": "training", "warm": warm}
    sample = {"positions": True}
    threads = {"threads": cpus}
    every = f"{cpus} threads" if cpus > 1 else "1 thread"
    copies = f"{cpus} processes" if cpus > 1 else "1 process"
    small, large = [128, 64], [256, 256, 256]
    likely, every_reply = {"every_reply": False}, {"every_reply": True}
    return [
        Comparison(
            "listing",
            "legal plays listed, 1 thread",
            {"turns_per_s": "turns/s", "afterstates_per_s": "distinct afterstates/s"},
            [
                Contestant(OURS, listing, "positions of random play"),
                Contestant("gnubg-nn", listing | sample, "the same positions"),
                Contestant("bgsage", listing | sample, "the same positions"),
                Contestant("OpenSpiel", random_play, "random play; equal results not joined"),
                Contestant("Pgx", random_play, "random play, one die at a time"),
            ],
        ),
        Comparison(
            "random",
            f"random games, every play listed, {cpus} cores",
            {"games_per_s": "games/s"},
            [
                Contestant(OURS, random_play | threads, every, cpus),
                Contestant("OpenSpiel", random_play, copies, processes=cpus),
                Contestant("Pgx", random_play, every, cpus),
            ],
        ),
        Comparison(
            "pubeval",
            f"pubeval against itself, {cpus} cores",
            {"games_per_s": "games/s"},
            [
                Contestant(OURS, {"measure": "pubeval"} | threads, "duplicate pairs", cpus),
                Contestant("bgsage", {"measure": "pubeval"} | threads, "C++", cpus),
            ],
        ),
        Comparison(
            "decisions",
            "0-ply decisions with a network, 1 thread",
            {"decisions_per_s": "decisions/s"},
            [
                Contestant(OURS, {"measure": "decisions", "hidden": small}, "128-64"),
                Contestant(OURS, {"measure": "decisions", "hidden": large}, "256-256-256"),
                Contestant("gnubg-nn", {"measure": "decisions"} | sample, "its networks"),
                Contestant("gnubg", {"measure": "decisions"} | sample, "over its socket"),
                Contestant("bgsage", {"measure": "decisions"} | sample, "its best networks"),
            ],
        ),
        Comparison(
            "training",
            f"training by self-play, {cpus} cores, after {warm:,} games",
            {"games_per_s": "games/s"},
            [
                Contestant(
                    OURS, training | {"hidden": hidden}, "-".join(map(str, hidden)), cpus, longer=5,
                )
                for hidden in (small, large)
            ]
            + [
                Contestant(
                    "bgsage", training | {"hidden": hidden}, f"{hidden}, TD(0), 1 thread", longer=5,
                )
                for hidden in (80, 128)
            ],
        ),
        *(
            Comparison(
                f"{ply}-ply",
                f"{ply}-ply evaluations, 1 core",
                {"evaluations_per_s": "evaluations/s"},
                [
                    Contestant(
                        program, {"measure": "evaluations", "ply": ply} | sample | more, how,
                        longer=2 * ply,
                    )
                    for program, how, more in (
                        (OURS, "128-64, likely replies", likely | {"hidden": small}),
                        (OURS, "shipped network, likely replies", likely | {"hidden": []}),
                        (OURS, "shipped network, every reply", every_reply | {"hidden": []}),
                        ("gnubg-nn", "its networks", {}),
                        ("gnubg", "over its socket", {}),
                    )
                ],
            )
            for ply in (1, 2)
        ),
    ]  # fmt: skip


class Worker:
    """A running worker program."""

    def __init__(self, command: Command) -> None:
        """Start it and read who it is.

        Raises:
            PeerError: It does not start, or ends at once.
        """
        self._given_up = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker
        try:
            self._process = subprocess.Popen(
                command.words,
                env={**os.environ, **command.environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
        except OSError as error:
            self._errors.close()
            raise PeerError(f"its worker does not start: {error.strerror}") from None
        try:
            self.version: str = self._read()["version"]
        except PeerError:
            self.close()
            raise

    def ask(self, request: Mapping[str, Any]) -> dict[str, float]:
        """Return the rates that the worker answers.

        Raises:
            PeerError: It answers with an error, or has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(dict(request)) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended, which reading notices
        answer = self._read()
        if "error" in answer:
            raise PeerError(f"{request['measure']} failed: {answer['error']}")
        return {name: float(value) for name, value in answer.items()}

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(timeout=5)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _give_up(self) -> None:
        self._given_up = True
        self._process.kill()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        timer = threading.Timer(PATIENCE, self._give_up)
        timer.daemon = True
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        try:
            answer: dict[str, Any] = json.loads(line)
            return answer
        except ValueError:
            self._process.kill()
            code = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit code {code}"
            if self._given_up:
                why = f"no answer within {PATIENCE:g} s"
            raise PeerError(f"its worker stopped: {why}") from None


class Asked(Protocol):
    """What `measure_peers` needs of a worker."""

    version: str

    def ask(self, request: Mapping[str, Any]) -> dict[str, float]:
        """Return rates."""

    def close(self) -> None:
        """End."""


@dataclass
class Programs:
    """The workers of all programs, started when they are first needed, and what went wrong."""

    prepare: Mapping[str, Callable[[], Command]]
    """Installs a program and returns the command of its worker."""
    start: Callable[[Command], Asked] = Worker
    failed: dict[str, str] = field(default_factory=dict)
    """Why a program is not measured."""
    versions: dict[str, str] = field(default_factory=dict)
    _workers: dict[str, list[Asked]] = field(default_factory=dict)

    def rates(
        self, contestant: Contestant, seconds: float, cpus: Sequence[int]
    ) -> dict[str, float]:
        """Let a contestant run once, in all its processes at the same time, and add its rates.

        Raises:
            PeerError: It cannot.
        """
        workers = self._get(contestant.program, contestant.processes)
        request = {**contestant.request, "seconds": seconds * contestant.longer}
        shares = [
            {**request, "cpus": [cpus[(i + j) % len(cpus)] for j in range(contestant.cpus)]}
            for i in range(contestant.processes)
        ]
        with ThreadPoolExecutor(len(workers)) as pool:
            answers = list(pool.map(lambda worker, share: worker.ask(share), workers, shares))
        return {unit: sum(answer[unit] for answer in answers) for unit in answers[0]}

    def close(self) -> None:
        """End all workers."""
        for workers in self._workers.values():
            for worker in workers:
                worker.close()
        self._workers.clear()

    def _get(self, program: str, processes: int) -> list[Asked]:
        if program in self.failed:
            raise PeerError(self.failed[program])
        workers = self._workers.setdefault(program, [])
        try:
            while len(workers) < processes:
                workers.append(self.start(self.prepare[program]()))
                self.versions[program] = workers[-1].version
        except NardyError as error:
            self.failed[program] = str(error)
            raise PeerError(str(error)) from None
        return workers[:processes]


def measure_peers(
    plan: Sequence[Comparison],
    programs: Programs,
    runs: int,
    seconds: float,
    positions: str,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Measure all comparisons; return plain data for `render_peers`.

    In each comparison the contestants alternate; a first run of each is not counted, since
    programs compile and fill caches. One that fails is left out from then on.

    Args:
        plan: What to compare.
        programs: The programs, not started yet; they are ended here.
        runs: Counted runs of each contestant.
        seconds: Of one run.
        positions: File with the positions for workers that ask for it.
        progress: Is told what runs next.
    """
    cpus = _cpus()
    try:
        found = [
            _compare(comparison, programs, runs, seconds, positions, cpus, progress)
            for comparison in plan
        ]
        return {"runs": runs, "seconds": seconds, "programs": programs.versions, "table": found}
    finally:
        programs.close()


def _compare(
    comparison: Comparison,
    programs: Programs,
    runs: int,
    seconds: float,
    positions: str,
    cpus: Sequence[int],
    progress: Callable[[str], None],
) -> dict[str, Any]:
    n = len(comparison.contestants)
    answers: list[list[dict[str, float]]] = [[] for _ in range(n)]
    reasons: list[str] = [""] * n
    for run in range(runs + 1):
        for i, contestant in enumerate(comparison.contestants):
            if reasons[i]:
                continue
            progress(f"{comparison.title}: {contestant.program}")
            request = dict(contestant.request)
            if request.get("positions") is True:
                request["positions"] = positions
            try:
                rates = programs.rates(_with(contestant, request), seconds, cpus)
            except PeerError as error:
                reasons[i] = _first_line(str(error))
            else:
                if run:  # the first run is not counted
                    answers[i].append(rates)
    rows = []
    for name, unit in comparison.units.items():
        for contestant, found, reason in zip(comparison.contestants, answers, reasons, strict=True):
            row: dict[str, Any] = {
                "unit": unit, "program": contestant.program, "how": contestant.how,
            }  # fmt: skip
            values = [rates[name] for rates in found if name in rates]
            if reason:
                row["reason"] = reason
            elif values:
                row["median"] = statistics.median(values)
                row["lowest"], row["highest"] = min(values), max(values)
            else:
                continue  # it does not count this
            rows.append(row)
    return {"key": comparison.key, "title": comparison.title, "rows": rows}


def _with(contestant: Contestant, request: Mapping[str, Any]) -> Contestant:
    return Contestant(
        contestant.program, request, contestant.how, contestant.cpus, contestant.processes,
        contestant.longer,
    )  # fmt: skip


def _cpus() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _first_line(text: str) -> str:
    """Return what fits into a cell of a table."""
    return textwrap.shorten(text.partition("\n")[0].replace("|", "/"), 200)


def _number(value: float) -> str:
    """Return four digits that count; thousands with commas."""
    digits = max(0, 4 - len(f"{abs(value):.0f}"))
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.{digits}f}"


def write_sample(path: Path, boards: Any, dice: Any) -> None:
    """Write positions and rolls for the workers: hex digits of `[N, 2, P]` and `[N, 2]` int8."""
    record = {"boards": boards.tobytes().hex(), "dice": dice.tobytes().hex()}
    path.write_text(json.dumps(record))


def render_peers(document: Mapping[str, Any]) -> str:
    """Return one Markdown table: medians, and ratios to the best other program of the row."""
    header = ("short nardy", "program", "how", "median", "unit", "to the best other")
    versions = document["programs"]
    rows: list[tuple[str, ...]] = []
    for comparison in document["table"]:
        title = comparison["title"]
        for unit in dict.fromkeys(row["unit"] for row in comparison["rows"]):
            group = [row for row in comparison["rows"] if row["unit"] == unit]
            others = [row["median"] for row in group if row["program"] != OURS and "median" in row]
            best = max(others, default=None)
            for row in group:
                name = f"{row['program']} {versions.get(row['program'], '')}".strip()
                if "reason" in row:
                    cells = ("–", unit, f"not measured: {row['reason']}")
                else:
                    ratio = f"{row['median'] / best:.2f}" if best else "–"
                    cells = (_number(row["median"]), unit, ratio)
                rows.append((title, name, row["how"], *cells))
                title = ""
    note = (
        f"Medians of {document['runs']} runs of {document['seconds']:g} s or more, the programs in "
        "turn, each in a process of its own; the last column divides by the fastest program that "
        "is not ours."
    )
    return f"{table(header, rows)}\n\n{note}"
