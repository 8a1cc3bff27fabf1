"""gnubg-nn for `scripts/bench.py --peers`; needs `pip install gnubg-nn` (GPL)."""

from __future__ import annotations

from importlib.metadata import version

import gnubg_nn
from protocol import read_sample, serve, turns


def _boards(positions: str) -> list[list[list[int]]]:
    """Return the boards as gnubg wants them: opponent, mover, 24 points and the bar each."""
    return [[list(opp[1:]), list(me[1:])] for me, opp in read_sample(positions).boards]


def listing(positions: str, seconds: float) -> dict[str, float]:
    """List the distinct results of each roll."""
    sample, boards = read_sample(positions), _boards(positions)
    found = turns(sample, lambda i: float(len(gnubg_nn.moves(boards[i], *sample.dice[i]))), seconds)
    return {"turns_per_s": found["per_s"], "afterstates_per_s": found["sum_per_s"]}


def decisions(positions: str, seconds: float) -> dict[str, float]:
    """Choose a play by static evaluation."""
    sample, boards = read_sample(positions), _boards(positions)

    def decide(i: int) -> float:
        gnubg_nn.best_move(boards[i], *sample.dice[i], n=0, b=1)
        return 1.0

    return {"decisions_per_s": turns(sample, decide, seconds)["per_s"]}


def evaluations(positions: str, seconds: float, ply: int) -> dict[str, float]:
    """Evaluate positions before the roll."""
    sample, boards = read_sample(positions), _boards(positions)

    def evaluate(i: int) -> float:
        gnubg_nn.probabilities(boards[i], ply)
        return 1.0

    return {"evaluations_per_s": turns(sample, evaluate, seconds)["per_s"]}


if __name__ == "__main__":
    serve(
        "gnubg-nn",
        version("gnubg-nn"),
        {"listing": listing, "decisions": decisions, "evaluations": evaluations},
    )
