"""Whole rolls of the tests, and positions with what a game remembers.

A literal is one of `positions` in which a side may name its memory: `W{24:14 owed_6=2}`. White
moved first unless a side says so. Results of a roll read `W{24:13 18:2}|B{24:14 18:1} -> B`, where
the side behind the arrow rolls next.
"""

import re

from nardy_engine import Outcome, Position
from nardy_engine.rules.memory import memory_index, owed_dice
from positions import case, text


def situation(variant, literal):
    """Return `(position, dice, colours)` of a literal, colours of row 0 and row 1."""
    memory = {
        side: dict(re.findall(r"(\w+)=(\d+)", inside))
        for side, inside in re.findall(r"([WB])\{([^}]*)\}", literal)
    }
    bare, dice = case(re.sub(r" ?\w+=\d+", "", literal), variant.setup.checkers)
    colours = "WB" if literal.partition(";")[2].split()[0] == "W" else "BW"
    says_first = any("first" in told for told in memory.values())
    rows = []
    for counts, colour in zip(bare, colours, strict=True):
        row = list(counts) + [0] * len(variant.memory)
        told = {} if says_first else {"first": int(colour == "W")}
        for name, value in (told | memory[colour]).items():
            if variant.remembers(name):
                row[memory_index(variant)[name]] = int(value)
            else:
                assert name == "first", f"{variant.id} does not remember {name}"
        rows.append(tuple(row))
    return variant.check_position(Position(*rows)), dice, colours


def remembered(variant, row):
    """Return the memory of a side that is not 0, by name."""
    return {item.name: row[item.slot] for item in variant.memory if row[item.slot]}


def shown(variant, row):
    """Return the canonical text of the checkers of a side."""
    return text(row[: variant.n_counts])


def results(engine, variant, literal):
    """Return the sorted results of a whole roll as texts; a finished game by points for row 0."""
    position, dice, colours = situation(variant, literal)
    found = []
    for result in engine.whole_roll(variant, position, dice):
        if isinstance(result, Outcome):
            found.append(f"{result.points_for_mover:+}")
            continue
        end, acts = result
        sides = {c: shown(variant, row) for c, row in zip(colours, end, strict=True)}
        found.append(f"W{{{sides['W']}}}|B{{{sides['B']}}} -> {colours[0] if acts else colours[1]}")
    assert len(set(found)) == len(found)
    return sorted(found)


def logs(engine, variant, literal):
    """Return the set of `segments: result` of a whole roll in which all segments have equal dice.

    A segment reads `r5x4` if the roller plays four fives, `o6x1/4` if the other side plays one of
    the four sixes that it inherits. Steps are counted by the pips they make, so no die may bear
    off with more than it needs.
    """
    position, dice, colours = situation(variant, literal)
    assert dice[0] == dice[1]
    found = set()
    waiting = [(position, True, "")]
    while waiting:
        now, is_roller, log = waiting.pop()
        die, steps = (owed_dice(variant, now.mover) or [(dice[0], variant.dice.double_steps)])[0]
        for end in engine.ends(variant, now, dice):
            played = (pips(variant, now.mover) - pips(variant, end.mover)) // die
            mine = f"r{die}x{played}" if is_roller else f"o{die}x{played}/{steps}"
            longer = f"{log} {mine}".strip()
            after, same = engine.next_position(variant, end)
            acts = is_roller is same
            if owed_dice(variant, after.mover):
                waiting.append((after, acts, longer))
                continue
            seen = after if acts else after.swapped()
            sides = {c: shown(variant, row) for c, row in zip(colours, seen, strict=True)}
            found.add(f"{longer}: W{{{sides['W']}}}|B{{{sides['B']}}}")
    return found


def pips(variant, row):
    """Return the pip count of a side."""
    return sum(slot * row[slot] for slot in range(1, variant.bar + 1))
