"""GNU Backgammon itself (GPL) as a player, behind the lines of `scripts/gnubg_worker.py`.

    python gnubg_play_worker.py PLY PROGRAM ARGUMENT...

Slower than `gnubg-nn`; it tells whether the two play alike. The ply of a line must be that of the
command line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from gnubg_socket import EVALUATE, POINTS, Gnubg, fibs, played

SLOTS = POINTS + 2


def many(gnubg: Gnubg, request: dict[str, Any], ply: int) -> dict[str, Any]:
    """Answer a line of many positions."""
    if request["ply"] != ply:
        raise ValueError(f"this process plays at {ply}-ply, not at {request['ply']}")
    flat = bytes.fromhex(request["boards"])
    rows = [flat[i : i + SLOTS] for i in range(0, len(flat), SLOTS)]
    boards = list(zip(rows[::2], rows[1::2], strict=True))
    if request["op"] == "equity":
        answers = [gnubg.ask(EVALUATE.format(fibs(*board, (0, 0)), ply)) for board in boards]
        return {"equity": [float(answer.split()[-1]) for answer in answers]}
    dice = bytes.fromhex(request["dice"])
    out = bytearray()
    for board, roll in zip(boards, zip(dice[::2], dice[1::2], strict=True), strict=True):
        for row in played(*board, gnubg.ask(fibs(*board, roll))):
            out.extend(row)
    return {"boards": out.hex()}


def main() -> None:
    """Answer lines until the input ends."""
    ply = int(sys.argv[1])
    gnubg = Gnubg(sys.argv[2:], ply)
    for line in sys.stdin:
        print(json.dumps(many(gnubg, json.loads(line), ply)), flush=True)


if __name__ == "__main__":
    main()
