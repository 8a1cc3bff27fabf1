"""Sentences on the board, the dice, and what the sides do to each other; layer 2."""

from __future__ import annotations

from nardy_engine.rules.components import (
    Contact,
    DiceProgram,
    Direction,
    HeadLimit,
    Opening,
    Parity,
)
from nardy_engine.rules.summary.words import Sentences, listed, number, several
from nardy_engine.rules.variant import Variant

_STARTS = {
    ((24, 15),): "L-1",
    ((24, 2), (13, 5), (8, 3), (6, 5)): "S-1",
    ((24, 4), (6, 11)): "KHA-1",
    ((24, 12),): "EMI-1",
}
"""Rule numbers of the start positions that the rules text gives."""


def setup(v: Variant) -> Sentences:
    """Say what the board looks like and where the checkers start."""
    head, home, half = v.head_point, v.setup.home, v.setup.points // 2
    yield (
        f"The board is a ring of {v.setup.points} points. Each side numbers them {head} to 1 in "
        "its own direction of travel; beyond 1 a checker leaves the board.",
        "setup.points",
        "G-1, G-3",
    )
    if v.setup.direction is Direction.SAME:
        yield (
            "Both sides travel the same way round, half a ring apart: my "
            f"{head} is the other side's {half}, my {half} its {head}.",
            "setup.direction",
            "G-2",
        )
    else:
        yield (
            f"The sides travel against each other: my {head} is the other side's 1.",
            "setup.direction",
            "G-5",
        )
    named = v.head.limit is not HeadLimit.NONE or v.contact is Contact.EMIR
    yield (
        f"A side has its home on {home} to 1 and its start quarter on {head} to {head - home + 1}"
        + (f"; {head} is its head." if named else "."),
        "setup.home",
        "G-2",
    )
    start = listed((f"{number(count)} on {point}" for point, count in v.setup.start), "and")
    yield (
        f"A side has {v.setup.checkers} checkers and starts with {start}.",
        "setup.checkers setup.start",
        _STARTS.get(v.setup.start, ""),
    )
    if v.contact is not Contact.EMIR:
        return
    if v.setup.reserve:
        waiting = several(v.setup.reserve, "nuker").capitalize()
        yield f"{waiting} wait beside the board in reserve.", "setup.reserve", "EMI-1"
    above = several(v.setup.emir_above, "checker")
    yield (
        f"One checker of the head is the emir. It lies under {above} at the start; those, and any "
        "put on the head later, must leave before it, and it before the rest. On other points a "
        "side moves which checker it likes.",
        "setup.emir_above",
        "EMI-1, EMI-2",
    )


def dice(v: Variant) -> Sentences:
    """Say who begins and what a roll gives (T-1, AST-1, CHN-1)."""
    begin = "Each side throws one die; the higher moves first (equal dice are thrown again)"
    if v.opening is Opening.REROLL:
        yield f"{begin} and throws both dice anew.", "opening", "L-2"
    else:
        yield (
            f"{begin} and plays the two dice thrown, so the first turn is never a double.",
            "opening",
            "L-2, S-2",
        )
    show = f"The dice show 1 to {v.dice.sides}."
    if v.dice.program is DiceProgram.STANDARD:
        steps = number(v.dice.double_steps)
        yield (
            f"{show} Different dice give one step each, a double gives {steps} of its number.",
            "dice.program dice.sides dice.double_steps",
            "T-1, T-7",
        )
    else:
        yield (
            f"{show} The larger number is played as often as the smaller one says: 4-2 is two "
            "fours, 4-4 is four.",
            "dice.program dice.sides",
            "AST-1, AST-2",
        )
    if v.dice.parity is not Parity.OFF:
        yield (
            "The side that moved first plays only if the smaller number is even, the other only "
            "if it is odd; otherwise the turn is skipped.",
            "dice.parity",
            "CHN-1",
        )


def contact(v: Variant) -> Sentences:
    """Say what closes a point and what befalls a lone checker (L-4, S-3, EMI-4..EMI-12)."""
    if v.contact is Contact.NONE:
        yield (
            "Nobody is hit: a single checker closes its point for the other side. Own checkers "
            "share a point freely.",
            "contact",
            "L-3, L-4",
        )
    elif v.contact is Contact.HIT:
        yield (
            "Two checkers close a point for the other side. A single one, a blot, is hit by "
            "landing on it and goes to the bar.",
            "contact",
            "S-3",
        )
        yield (
            "While a side has checkers on the bar no other may move. A die enters one of them, as "
            f"if the bar were {v.bar}.",
            "contact",
            "S-4",
        )
    else:
        yield from ((text, "contact", rules) for text, rules in _EMIR)


_EMIR = (
    (
        "Two checkers close a point for the other side, and so does a single one that stands on a "
        "captive. Any other single checker is a blot; own checkers share a point freely.",
        "EMI-4",
    ),
    (
        "Landing on a blot with different dice captures it: it lies under the captor and cannot "
        "move until the captor's side has left the point.",
        "EMI-5, EMI-6",
    ),
    (
        "Landing on a blot with a double hits it: it goes back to its head, or to the bar if that "
        "is closed. A blot on its own head is captured even so.",
        "EMI-7",
    ),
    (
        "Checkers on the bar return to the head by themselves at the start of a turn of their "
        "side at which it is not closed, the emir last; they capture a lone checker there. While "
        "one waits the others may move, but none bears off.",
        "EMI-8",
    ),
    (
        "The emir is captured and hit like any checker, but with a double nobody may land on a "
        "lone emir in its home.",
        "EMI-9",
    ),
    (
        "An emir that captures or hits the other emir wins at once: 1 point, or 2 if the loser "
        "has borne off none.",
        "EMI-10",
    ),
    (
        "Before rolling a side may do one of two things. It may put a nuker on the head, if "
        "exactly one own checker is there, or beside the emir, if that stands alone. Or, from a "
        "point other than the head with three checkers or more and an empty one before it, it may "
        "spread checkers one by one over the next points that are not closed, past at most five "
        "closed ones in a row; at least one stays, and so does the emir.",
        "EMI-11, EMI-12",
    ),
)
