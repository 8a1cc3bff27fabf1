"""Sentences on the end of a game, the cube and the match; layer 2."""

from __future__ import annotations

from nardy_engine.rules.components import Contact, NextFirst, Objective, Score, Switch
from nardy_engine.rules.memory import has_segments
from nardy_engine.rules.summary.words import Sentences, listed
from nardy_engine.rules.variant import Variant


def end(v: Variant) -> Sentences:
    """Say who has won, and what that counts (L-40, SC, POD, DR)."""
    wins, emir = v.objective is Objective.FIRST_OFF_WINS, v.contact is Contact.EMIR
    done = "has no checker left on the board or the bar" if emir else "has borne off all checkers"
    yield (
        f"The side that first {done} {'wins' if wins else 'loses'}.",
        "objective",
        "EMI-14" if emir else "L-40" if wins else "POD-1, POD-2",
    )
    other = "the loser" if wins else "the winner"
    if v.score is Score.CHECKERS_LEFT:
        yield (
            f"A win counts 1 for each checker that {other} has not borne off.",
            "score",
            "KHA-4, SC-6",
        )
    else:
        yield _kinds(v, other)
    if emir:
        yield (
            "If neither side could ever move again, because captives lie under the last free "
            "checkers of both, the game is a draw.",
            "contact",
            "EMI-14",
        )
    if v.home.frozen:
        yield (
            "If neither side could ever move again, because two full homes stop the last checkers "
            "of both, the game is a draw.",
            "home.frozen",
            "BNA-2",
        )
    if v.last_roll_draw is Switch.ON:
        yield (
            "If that is the side that moved first, the other has one more turn, and the result "
            "counts after it; if it bears off all as well, the game is a draw.",
            "last_roll_draw",
            "DR-1, DR-2",
        )


def _kinds(v: Variant, other: str) -> tuple[str, str, str]:
    """Say what the kinds of win count; `other` is the side that still has checkers."""
    start = f"{v.head_point} to {v.head_point - v.setup.home + 1}"
    conditions, rules = {
        Score.OIN_MARS: ([], "SC-1, SC-2"),
        Score.OIN_MARS_KOKS: ([f"and still has a checker on {start}"], "SC-3"),
        Score.OIN_MARS_KOKS_HOMEMARS: (
            [f"and still has a checker on {start}", "and has all of them at home"],
            "SC-3, SC-4",
        ),
        Score.BACKGAMMON: ([f"and still has a checker on the bar or on {start}"], "S-8, SC-5"),
    }[v.score]
    names = [f"{points} ({name})" for name, points in v.win_kinds]
    ways = [
        names[0],
        f"{names[1]} if {other} has borne off none",
        *(
            f"{name} if {other} has none off {when}"
            for name, when in zip(names[2:], conditions, strict=True)
        ),
    ]
    if v.objective is Objective.FIRST_OFF_LOSES:
        rules = "POD-3"
    elif v.contact is Contact.EMIR:
        rules = "EMI-15"
    return f"A win counts {listed(ways, 'or')}.", "score", rules


def cube(v: Variant) -> Sentences:
    """Say how the doubling cube is used (CU-1..CU-9)."""
    if v.cube.kind is Switch.OFF:
        return
    later = ", after all that it inherits" * has_segments(v)
    yield (
        f"Before the first roll of a turn{later}, a side may double while the cube is in the "
        "middle or its own. The other side takes, and owns the cube at twice the value, or passes "
        "and loses the value before. A game counts its points times the cube.",
        "cube",
        "CU-1, CU-2, CU-3, CU-4, CU-5" + ", CU-9" * has_segments(v),
    )
    most = f"stops at {v.cube.max}" if v.cube.max else "has no limit"
    yield f"The cube {most}.", "cube.max", "CU-1"
    if v.cube.crawford:
        yield (
            "In a match nobody doubles in the first game after a side has come within one point "
            "of winning it.",
            "cube.crawford",
            "CU-6",
        )
    else:
        yield "The cube is used in every game of a match.", "cube.crawford", "CU-6"
    if v.cube.jacoby:
        yield (
            "Outside matches a win counts as a single one unless the cube was turned.",
            "cube.jacoby",
            "CU-7",
        )
    if v.cube.beaver:
        yield (
            "A side that is doubled may double once more at once and keep the cube, a beaver.",
            "cube.beaver",
            "CU-8",
        )
    if v.cube.automatic_doubles:
        yield (
            "Outside matches every equal throw for the first move doubles the cube in the middle.",
            "cube.automatic_doubles",
            "S-10",
        )


def match(v: Variant) -> Sentences:
    """Say who begins the next game (MT-1, D-21)."""
    text = {
        NextFirst.ALTERNATE: "The sides take turns to move first in the games of a match.",
        NextFirst.WINNER: "The winner of a game moves first in the next one of a match.",
        NextFirst.ROLL_OFF: "The dice decide anew who moves first in each game of a match.",
    }[v.match.next_first]
    yield text, "match.next_first", "MT-1, D-21"
