"""Positions of the tests in the notation of the rules: `W{24:13 18:2}|B{24:15}; W 6-6`.

Written apart from `nardy_engine.notation`, so that no test reads its expectation through the code
that it tests.
"""

import re

from nardy_engine import Position

_SIDE = re.compile(r"([WB])\{([^}]*)\}")


def row(text, checkers=15, points=24):
    """Return the `P` counts that `24:13 bar:1 off1` means; off is the rest if it is not said."""
    counts = [0] * (points + 2)
    off = None
    for part in text.split():
        if part.startswith("off"):
            off = int(part.removeprefix("off"))
            continue
        point, count = part.split(":")
        counts[points + 1 if point == "bar" else int(point)] += int(count)
    rest = checkers - sum(counts)
    assert off in (None, rest), f"'{text}' holds {sum(counts)} checkers and {off} off"
    counts[0] = rest
    return tuple(counts)


def text(counts):
    """Return the canonical text of a row: highest point first, off last if any."""
    bar = len(counts) - 1
    parts = [
        f"{'bar' if slot == bar else slot}:{counts[slot]}"
        for slot in range(bar, 0, -1)
        if counts[slot]
    ]
    return " ".join(parts + ([f"off{counts[0]}"] if counts[0] else []))


def case(literal, checkers=15):
    """Return `(position, dice)` of a literal case, the side to act in row 0."""
    board, roll = literal.split(";")
    sides = {name: row(inside, checkers) for name, inside in _SIDE.findall(board)}
    mover, dice = roll.split()
    other = "B" if mover == "W" else "W"
    a, b = dice.split("-")
    return Position(sides[mover], sides[other]), (int(a), int(b))


def rows(ends, checkers=15):
    """Return the sorted rows of `end | end | ...`."""
    return sorted(row(part, checkers) for part in ends.split("|"))


def both(ends, checkers=15):
    """Return the sorted positions of `mine / theirs | mine / theirs | ...`."""
    pairs = [part.split("/") for part in ends.split("|")]
    return sorted(Position(row(me, checkers), row(opp, checkers)) for me, opp in pairs)
