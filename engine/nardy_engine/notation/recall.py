"""What a position remembers where a text leaves it out; layer 3.

Imports errors, types, rules. The rows of some games hold more than checkers (`rules.memory`). A
text names what cannot be guessed, such as dice still owed, and every reader fills in the rest by
the same rules, so a position that somebody types from a board is the ordinary one: before a roll,
nothing special under way. Writers leave out exactly what readers assume.

| memory | assumed if a text does not say it |
|---|---|
| dice owed, captives, a pre-roll move | none |
| `roller` | where dice are owed, the side that does not act: they were inherited |
| `head_left` | 1 on both sides where dice are owed, else 0 |
| `rolls` | 0 on the start row, else as many as count |
| `fresh` | the side stands exactly on its start row |
| `first` | White |
| `last_turn` | the side to act has it if the other one, who moved first, has finished |
| `emir` | on the head while the head holds it with all that leave after it; off if some are off |
| `emir_above` | on the head, the checkers beyond those that leave after it (EMI-2) |
| `reserve` | as many of the checkers that are missing as there are nukers |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from nardy_engine.errors import PositionError
from nardy_engine.rules import Variant
from nardy_engine.rules.memory import memory_index
from nardy_engine.types import MOVER, OFF, OPPONENT, SIDE_NAMES, Position, Row

Memory: TypeAlias = Mapping[str, int]
"""Values by memory name (`owed_5`, `captive_20`, `emir`, ...), those that a text gives."""

Counts: TypeAlias = Sequence[int]
"""Checkers off, on the points and on the bar; what follows behind the bar is not read."""

_STATED = ("owed_", "captive_", "emir", "reserve", "preroll", "again")
"""Names, or their beginnings, that are never left out unless they can be counted, or are 0 and
neither an emir nor a reserve."""


def with_memory(
    variant: Variant,
    counts: tuple[Counts, Counts],
    given: tuple[Memory, Memory] = ({}, {}),
    first: int = MOVER,
) -> Position:
    """Return the position with everything that it remembers.

    Args:
        variant: The game.
        counts: Checkers of the side to act and of the other side.
        given: What the text says about each.
        first: Row of the side that moved first in the game, unless `given` says it.

    Raises:
        PositionError: The text must say where an emir stands.
    """
    rows = []
    for side, row in enumerate(counts):
        full = [*row[: variant.n_counts], *([0] * len(variant.memory))]
        if variant.memory:
            assumed = assumed_memory(variant, counts, given, side, first)
            for item in variant.memory:
                full[item.slot] = given[side].get(item.name, assumed.get(item.name, 0))
        rows.append(tuple(full))
    return Position(*rows)


def stated_memory(variant: Variant, row: Row) -> dict[str, int]:
    """Return what a text about this row must say: everything but what can be assumed."""
    return {
        item.name: row[item.slot]
        for item in variant.memory
        if item.name.startswith(_STATED)
        and item.name != "emir_above"
        and (row[item.slot] or item.name in ("emir", "reserve"))
    }


def unusual_memory(variant: Variant, position: Position, first: int = MOVER) -> tuple[Memory, ...]:
    """Return for each side what is not as a reader assumes, beyond `stated_memory`.

    Args:
        variant: The game.
        position: Side to act in row 0.
        first: Row of White, who is assumed to have moved first.
    """
    stated = [stated_memory(variant, row) for row in position]
    unusual = []
    for side, row in enumerate(position):
        assumed = assumed_memory(variant, position, (stated[0], stated[1]), side, first)
        unusual.append(
            {
                name: row[slot]
                for name, slot in memory_index(variant).items()
                if name in assumed
                and row[slot] != assumed[name]
                and name not in stated[side]
                # what one side has the other has not
                and (row[slot] or name not in ("roller", "first"))
            }
        )
    return tuple(unusual)


def assumed_memory(
    variant: Variant,
    counts: tuple[Counts, Counts],
    given: tuple[Memory, Memory],
    side: int,
    first: int,
) -> dict[str, int]:
    """Return what is assumed of one side; the module's docstring says how.

    Args:
        variant: The game.
        counts: Checkers of the side to act and of the other side.
        given: What is known of each.
        side: The row asked for.
        first: Row of the side that moved first, unless `given` says it.
    """
    owing = any(n for memory in given for name, n in memory.items() if name.startswith("owed_"))
    untouched = _on_start_row(variant, counts[side], given[side])
    assumed = {
        "roller": _taken_by_one("roller", given, side, OPPONENT) if owing else 0,
        "head_left": int(owing),
        "rolls": 0 if untouched else variant.cascade.from_roll,
        "fresh": int(untouched),
        "first": _taken_by_one("first", given, side, first),
    }
    if variant.remembers("last_turn"):
        finished = [row[OFF] == variant.setup.checkers for row in counts]
        theirs_first = given[OPPONENT].get("first", _taken_by_one("first", given, OPPONENT, first))
        due = finished == [False, True] and theirs_first
        assumed["last_turn"] = int(side == MOVER and due)
    if variant.captives_exist:
        assumed |= _assumed_emir(variant, counts[side], given[side], side)
    return assumed


def _taken_by_one(name: str, given: tuple[Memory, Memory], side: int, usual: int) -> int:
    """Return what a side has of something that exactly one side has."""
    if name in given[1 - side]:
        return 1 - given[1 - side][name]
    return int(side == usual)


def _on_start_row(variant: Variant, row: Counts, given: Memory) -> bool:
    start = variant.start_row()
    captive = any(name.startswith("captive_") and n for name, n in given.items())
    return not captive and tuple(row[: variant.n_counts]) == start[: variant.n_counts]


def _assumed_emir(variant: Variant, row: Counts, given: Memory, side: int) -> dict[str, int]:
    """Return emir, checkers above it and nukers in reserve (EMI-1, EMI-2)."""
    head = variant.head_point
    below = dict(variant.setup.start)[head] - variant.setup.emir_above - 1
    captives = sum(n for name, n in given.items() if name.startswith("captive_"))
    missing = variant.setup.checkers - sum(row[: variant.n_counts]) - captives
    place = given.get("emir")
    if place is None:
        if row[head] > below:
            place = head
        elif row[OFF]:
            place = OFF
        else:
            raise PositionError(
                f"where does the emir of {SIDE_NAMES[side]} stand? It has left the head, and a "
                "position names its point"
            )
    return {
        "emir": place,
        "emir_above": max(0, row[head] - 1 - below) if place == head else 0,
        "reserve": max(0, min(missing, variant.setup.reserve)),
    }
