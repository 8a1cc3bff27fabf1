"""A worker program that only pretends to be gnubg, without a process."""

import json

import numpy as np

from nardy_engine import batch, load_variant

SHORT = load_variant("short")
SLOTS = SHORT.setup.points + 2


class FakeProgram:
    """Answers the lines of `scripts/gnubg_worker.py`: the last play of the list, pips as equity."""

    def __init__(self):
        self.lines = []

    def ask(self, lines):
        self.lines += [json.loads(line) for line in lines]
        return [json.dumps(self.answer(json.loads(line))) for line in lines]

    def answer(self, request):
        boards = np.frombuffer(bytes.fromhex(request["boards"]), np.int8).reshape(-1, 2, SLOTS)
        if request["op"] == "equity":
            return {"equity": self.equity(boards).tolist()}
        dice = np.frombuffer(bytes.fromhex(request["dice"]), np.int8).reshape(-1, 2)
        after = batch.afterstates(SHORT, boards, dice)
        return {"boards": self.spoil(after.boards[after.offsets[1:] - 1]).tobytes().hex()}

    def equity(self, boards):
        return boards[:, 1] @ np.arange(SLOTS)

    def spoil(self, boards):
        return boards


class LastPlay:
    """Plays the last afterstate of the list, as the fake does."""

    name = "last"

    def choose(self, turn):
        return turn.after.offsets[1:] - 1
