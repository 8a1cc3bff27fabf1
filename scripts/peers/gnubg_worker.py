"""GNU Backgammon itself (GPL) for `scripts/bench.py --peers`, asked through its socket.

python gnubg_worker.py PROGRAM ARGUMENT...      # gnubg with its options, as started by a shell
"""

from __future__ import annotations

import sys

from gnubg_socket import EVALUATE, Gnubg, fibs, version
from protocol import read_sample, serve, turns


def decisions(positions: str, seconds: float) -> dict[str, float]:
    """Choose a play by static evaluation; one line each."""
    sample = read_sample(positions)
    lines = [fibs(*rows, dice) for rows, dice in zip(sample.boards, sample.dice, strict=True)]

    def decide(i: int) -> float:
        GNUBG.ask(lines[i])
        return 1.0

    return {"decisions_per_s": turns(sample, decide, seconds)["per_s"]}


def evaluations(positions: str, seconds: float, ply: int) -> dict[str, float]:
    """Evaluate positions before the roll; one line each."""
    sample = read_sample(positions)
    lines = [EVALUATE.format(fibs(*rows, (0, 0)), ply) for rows in sample.boards]

    def evaluate(i: int) -> float:
        GNUBG.ask(lines[i])
        return 1.0

    return {"evaluations_per_s": turns(sample, evaluate, seconds)["per_s"]}


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    GNUBG = Gnubg(COMMAND)
    serve("gnubg", version(COMMAND), {"decisions": decisions, "evaluations": evaluations})
