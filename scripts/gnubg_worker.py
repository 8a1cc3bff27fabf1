"""GNU Backgammon's player behind lines of JSON, for `nardy_rl/bench/gnubg.py`.

A measuring instrument, run as a process of its own: it needs `pip install gnubg-nn` (GPL), and
the product neither imports this file nor that package. Three kinds of lines:

    {"op":"best","ply":0,"boards":HEX,"dice":HEX}      answered by {"boards":HEX}, after its plays
    {"op":"equity","ply":2,"boards":HEX}               answered by {"equity":[...]}, cubeless
    {"variant":"short","me":SIDE,"opp":SIDE,"dice":[6,4]}     as in `nardy_rl/players/external.py`

HEX are the digits of `[N, 2, 26] int8` boards, the side to act in row 0, each row in its own
numbering with 0 = off and 25 = bar, and of `[N, 2] int8` dice. With `--moves` lines of the last
kind are answered with all legal results, `{"results":[{"me":SIDE,"opp":SIDE}]}`, an independent
second opinion on the rules of short nardy.
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


def many(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a line of many positions."""
    sides = bytes.fromhex(request["boards"])
    width = N_POINTS + 2
    boards = []
    for begin in range(0, len(sides), 2 * width):
        me, opp = sides[begin : begin + width], sides[begin + width : begin + 2 * width]
        boards.append([list(opp[1:]), list(me[1:])])
    ply = request["ply"]
    if request["op"] == "equity":
        return {"equity": [equity(gnubg_nn.probabilities(board, ply)) for board in boards]}
    dice = bytes.fromhex(request["dice"])
    out = bytearray()
    for i, board in enumerate(boards):
        _, key = gnubg_nn.best_move(board, dice[2 * i], dice[2 * i + 1], n=ply, b=1)
        for row in gnubg_nn.board_from_position_key(key):
            out.append(CHECKERS - sum(row))
            out.extend(row)
    return {"boards": out.hex()}


def equity(chances: Sequence[float]) -> float:
    """Return points per game from gnubg's five cumulative chances."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = chances
    return 2 * win - 1 + win_gammon - lose_gammon + win_backgammon - lose_backgammon


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
            if "op" in record:
                answered = many(record)
            else:
                board = [row_of(record["opp"]), row_of(record["me"])]
                answered = answer(board, record["dice"])
            out.write(json.dumps(answered, separators=(",", ":")) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
