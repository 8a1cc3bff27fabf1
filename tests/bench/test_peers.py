"""The comparison with other programs; nothing is asserted about speed."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nardy_engine import batch, load_variant
from nardy_rl.bench import peers
from nardy_rl.bench.engine import random_positions
from nardy_rl.bench.environments import BGSAGE, InstallError, interpreter
from nardy_rl.bench.peers import (
    OURS,
    Command,
    Comparison,
    Contestant,
    PeerError,
    Programs,
    Worker,
    comparisons,
    measure_peers,
    render_peers,
    write_sample,
)

SCRIPTS = Path(__file__).parents[2] / "scripts"
RECORDED = {
    "runs": 5,
    "seconds": 2.0,
    "programs": {OURS: "0.1.0", "slow": "7.1"},
    "table": [
        {
            "key": "listing",
            "title": "plays listed",
            "rows": [
                {"unit": "turns/s", "program": OURS, "how": "", "median": 400_123.0,
                 "lowest": 1.0, "highest": 2.0},
                {"unit": "turns/s", "program": "slow", "how": "C++", "median": 100_000.0,
                 "lowest": 1.0, "highest": 2.0},
                {"unit": "turns/s", "program": "slower", "how": "", "median": 20.0,
                 "lowest": 1.0, "highest": 2.0},
                {"unit": "ends/s", "program": OURS, "how": "", "median": 2.5,
                 "lowest": 1.0, "highest": 2.0},
                {"unit": "ends/s", "program": "absent", "how": "", "reason": "no wheel"},
            ],
        }
    ],
}  # fmt: skip


class FakeWorker:
    """Answers 10, 20, 30, ...; the program 'broken' fails at its third question."""

    asked: list

    def __init__(self, command):
        self.version = "1"
        self.program = command.words[0]
        self.times = 0

    def ask(self, request):
        self.times += 1
        FakeWorker.asked.append((self.program, request))
        if self.program == "broken" and self.times == 3:
            raise PeerError("out of steam\nand much more")
        return {"games_per_s": 10.0 * self.times}

    def close(self):
        FakeWorker.asked.append((self.program, "closed"))


@pytest.fixture
def asked(monkeypatch):
    """Return what the fake workers were asked."""
    found = []
    monkeypatch.setattr(FakeWorker, "asked", found, raising=False)
    return found


def fake_programs():
    def missing():
        raise InstallError("missing cannot be installed: no network")

    names = (OURS, "other", "broken")
    return Programs(
        {name: (lambda name=name: Command([name])) for name in names} | {"missing": missing},
        FakeWorker,
    )


def compare(*contestants):
    plan = [Comparison("key", "title", {"games_per_s": "games/s"}, contestants)]
    return measure_peers(plan, fake_programs(), runs=3, seconds=2.0, positions="FILE")


def test_the_table_has_medians_and_ratios_and_says_why_one_is_missing():
    """Built from recorded figures: each unit has the best program that is not ours as its 1."""
    lines = render_peers(RECORDED).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:7]]
    assert [row[0] for row in cells] == ["plays listed", "", "", "", ""]
    assert cells[0][1:] == [f"{OURS} 0.1.0", "", "400,100", "turns/s", "4.00"]
    assert cells[1][1:] == ["slow 7.1", "C++", "100,000", "turns/s", "1.00"]
    assert cells[2][3:] == ["20.00", "turns/s", "0.00"]
    assert cells[3][3:] == ["2.500", "ends/s", "–"]
    assert cells[4][1:] == ["absent", "", "–", "ends/s", "not measured: no wheel"]
    assert "5 runs of 2 s" in lines[-1]


def test_programs_take_turns_and_the_first_run_is_not_counted(asked):
    """A, B, A, B; the median of 20, 30, 40 is 30."""
    document = compare(Contestant(OURS, {"measure": "m"}), Contestant("other", {"measure": "m"}))
    assert [program for program, _ in asked[:-2]] == [OURS, "other"] * 4
    assert {row["median"] for row in document["table"][0]["rows"]} == {30.0}
    assert document["programs"] == {OURS: "1", "other": "1"}
    assert {request for _, request in asked[-2:]} == {"closed"}


def test_a_program_that_cannot_be_installed_or_fails_is_a_row_with_a_reason(asked):
    """Neither ends the comparison, and neither is asked again."""
    document = compare(
        Contestant(OURS, {"measure": "m"}),
        Contestant("missing", {"measure": "m"}),
        Contestant("broken", {"measure": "m"}),
    )
    ours, missing, broken = document["table"][0]["rows"]
    assert ours["median"] == 30.0
    assert missing["reason"] == "missing cannot be installed: no network"
    assert broken["reason"] == "out of steam"
    assert sum(program == "broken" for program, request in asked if request != "closed") == 3
    assert "not measured: out of steam" in render_peers(document)


def test_equal_processes_run_together_and_their_rates_are_added(asked):
    """Each has a processor of its own, and they get the positions and the longer time."""
    request = {"measure": "m", "positions": True}
    document = compare(Contestant("other", request, processes=2, longer=3.0))
    assert document["table"][0]["rows"][0]["median"] == 60.0
    first, second = (request for _, request in asked[:2])
    assert first["seconds"] == second["seconds"] == 6.0
    assert first["positions"] == "FILE"
    assert len(first["cpus"]) == 1


def test_a_worker_speaks_lines_of_json(tmp_path):
    """A real process: an answer, an error that does not end it, noise, and an end."""
    program = tmp_path / "worker.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(SCRIPTS / 'peers')!r})\n"
        "import protocol\n"
        "def good(seconds):\n"
        "    print('noise')\n"
        "    return {'games_per_s': protocol.rate(lambda: 5.0, 0.0) * 0 + seconds}\n"
        "def bad(): raise ValueError('no such thing')\n"
        "def end(): sys.exit('gone for good')\n"
        "protocol.serve('fake', '3.2', {'good': good, 'bad': bad, 'end': end})\n"
    )
    worker = Worker(Command([sys.executable, str(program)]))
    assert worker.version == "3.2"
    with pytest.raises(PeerError, match="bad failed: ValueError: no such thing"):
        worker.ask({"measure": "bad"})
    assert worker.ask({"measure": "good", "seconds": 2.0, "cpus": None}) == {"games_per_s": 2.0}
    with pytest.raises(PeerError, match="its worker stopped: gone for good"):
        worker.ask({"measure": "end"})
    worker.close()
    with pytest.raises(PeerError, match="does not start"):
        Worker(Command([str(tmp_path / "nothing")]))


def test_a_worker_that_hangs_is_given_up(tmp_path, monkeypatch):
    """Nobody waits for ever."""
    program = tmp_path / "worker.py"
    program.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(peers, "PATIENCE", 0.2)
    with pytest.raises(PeerError, match="no answer within"):
        Worker(Command([sys.executable, str(program)]))


def test_the_workers_read_the_sample_as_it_was_written(tmp_path, monkeypatch):
    """Rows come as bytes, in the numbering of each side."""
    monkeypatch.syspath_prepend(str(SCRIPTS / "peers"))
    import protocol

    short = load_variant("short")
    games = batch.Games(short, 3, 1)
    dice = games.roll()
    write_sample(tmp_path / "sample.json", games.boards, dice)
    sample = protocol.read_sample(str(tmp_path / "sample.json"))
    assert [[list(row) for row in board] for board in sample.boards] == games.boards.tolist()
    assert [list(roll) for roll in sample.dice] == dice.tolist()
    assert protocol.turns(sample, lambda i: 2.0, 0.0)["sum_per_s"] > 0


def test_every_program_of_the_plan_has_a_worker():
    """What is compared can be prepared, and ours is in every comparison."""
    bench = runpy.run_path(str(SCRIPTS / "bench.py"))
    known = set(bench["preparations"](None))
    for comparison in comparisons(2, 100):
        programs = {contestant.program for contestant in comparison.contestants}
        assert OURS in programs
        assert programs <= known


def test_the_command_writes_the_table_as_json(tmp_path, capsys):
    """Also where not one program can be measured; unknown names are refused."""
    bench = runpy.run_path(str(SCRIPTS / "bench.py"))
    target = tmp_path / "peers.json"
    programs = bench["preparations"](None)
    words = ["--peers", "--quick", "--only", "pubeval", "--json", str(target)]
    assert bench["main"]([*words, "--without", *programs]) == 0
    shown = capsys.readouterr().out
    assert shown.count("not measured: left out on the command line") == 2
    document = json.loads(target.read_text())
    assert render_peers(document) == shown.rstrip("\n")
    with pytest.raises(SystemExit):
        bench["main"](["--peers", "--only", "nothing"])
    assert "there is no comparison 'nothing'" in capsys.readouterr().err


ASK_BGSAGE = """
import json, sys
from bgsage_worker import bgbot_cpp, board_of, read_sample
sample = read_sample(sys.argv[1])
for rows, dice in zip(sample.boards, sample.dice):
    print(json.dumps(sorted(bgbot_cpp.possible_moves(board_of(*rows), *dice))))
"""


@pytest.mark.oracle
def test_the_worker_of_bgsage_asks_about_the_same_positions(tmp_path):
    """Its sets of results are ours, so boards are converted rightly; installs it at the first use.

    Both lists have each result once; without a legal play the board itself.
    """
    short = load_variant("short")
    boards, dice = random_positions(short, 1000, seed=5)
    write_sample(tmp_path / "sample.json", boards, dice)
    try:
        python = interpreter(BGSAGE)
    except InstallError as error:
        pytest.skip(str(error))
    words = [str(python), "-c", ASK_BGSAGE, str(tmp_path / "sample.json")]
    done = subprocess.run(words, cwd=SCRIPTS / "peers", capture_output=True, text=True, check=True)
    points = short.setup.points
    after = batch.afterstates(short, boards, dice)
    for i, line in enumerate(done.stdout.splitlines()):
        me, opp = after.of(i).transpose(1, 0, 2).astype(int)
        signed = me[:, 1 : points + 1] - opp[:, points:0:-1]
        rows = np.column_stack((opp[:, points + 1], signed, me[:, points + 1]))
        assert json.loads(line) == sorted(rows.tolist())
