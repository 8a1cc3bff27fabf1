"""GNU Backgammon's 0-ply player behind the line protocol of `nardy_rl/players/external.py`.

A measuring instrument, run as a process of its own: it needs `pip install gnubg-nn` (GPL), and
the product neither imports this file nor that package. With `--moves` it answers every line with
all legal results, `{"results":[{"me":SIDE,"opp":SIDE}]}`, an independent second opinion on the
rules of short nardy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import gnubg_nn

N_POINTS, CHECKERS = 24, 15
"""The only board that this engine knows."""


def row_of(side: dict[str, Any]) -> list[int]:
    """Return a SIDE as gnubg's row: 24 points, then the bar."""
    row = [0] * (N_POINTS + 1)
    for point, count in side["points"].items():
        row[int(point) - 1] = count
    row[N_POINTS] = side.get("bar", 0)
    return row


def side_of(row: Sequence[int]) -> dict[str, Any]:
    """Return gnubg's row as a SIDE."""
    points = {str(i + 1): row[i] for i in range(N_POINTS) if row[i]}
    return {"points": points, "bar": row[N_POINTS], "off": CHECKERS - sum(row)}


def best(board: list[list[int]], dice: Sequence[int]) -> dict[str, Any]:
    """Return the position after gnubg's 0-ply choice."""
    _, key = gnubg_nn.best_move(board, *dice, n=0, b=1)
    mine, theirs = gnubg_nn.board_from_position_key(key)
    return {"me": side_of(mine), "opp": side_of(theirs)}


def results(board: list[list[int]], dice: Sequence[int]) -> dict[str, Any]:
    """Return all positions after a legal play; the unchanged one if there is none."""
    keys = gnubg_nn.moves(board, *dice)
    rows = [gnubg_nn.board_from_position_key(key) for key in keys] or [board]
    return {"results": [{"me": side_of(mine), "opp": side_of(theirs)} for theirs, mine in rows]}


def main() -> None:
    """Answer lines until the input ends."""
    answer = results if "--moves" in sys.argv[1:] else best
    # Buffered even where PYTHONUNBUFFERED is set: an unbuffered write to a pipe that a stop
    # signal interrupts loses the rest of the line, a buffered one goes on.
    with open(sys.stdout.fileno(), "w", closefd=False) as out:
        for line in sys.stdin:
            record = json.loads(line)
            board = [row_of(record["opp"]), row_of(record["me"])]
            out.write(json.dumps(answer(board, record["dice"]), separators=(",", ":")) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
