"""Rewrite the golden games in tests/data/golden; review is the difference in git.

Each file holds recorded games of one variant, played at random by the reference engine. A change
of a golden game is a change of the rules and belongs into CHANGELOG.md. A line is a decision:

    side roll ; number of plays ; play ; what follows

What is played is the roll, or `owed 6-6` (dice of an earlier roll), or `pre` (the move before a
roll, EMI-11). What follows is, in games that remember nothing, the checkers of the side that has
acted and of the other one; in the others it is the position of the next decision, in the notation.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nardy_engine import Position, Variant, load_variant, reference, variant_names
from nardy_engine.notation import Side, format_play, format_position, other_side
from nardy_engine.notation.segments import dice_text, segment_dice
from nardy_engine.rules.components import Contact, Opening
from nardy_engine.types import Dice
from nardy_rl.files import write_atomic

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "golden"
_TRIES = 2_000
"""Seeds looked through for the games to record."""
_MOST_KINDS = 4
"""Kinds of win that are recorded of a game with more, evenly spread (KHA-4)."""
DRAW = "draw"
BY_EMIR = "by the emir"
"""Endings beside the kinds of win; the other emir is taken (EMI-10)."""


def roll(variant: Variant, rng: random.Random, first: bool) -> Dice:
    """Throw the dice; the opening dice differ where they are played (S-2)."""
    while True:
        a, b = rng.randint(1, variant.dice.sides), rng.randint(1, variant.dice.sides)
        if not (first and variant.opening is Opening.OPENING_DICE and a == b):
            return a, b


def row_text(variant: Variant, side: tuple[int, ...]) -> str:
    """Return `24:13 18:2` with `bar:n` and `offn` where they are not zero."""
    parts = [f"bar:{side[variant.bar]}"] if side[variant.bar] else []
    parts += [f"{point}:{side[point]}" for point in range(variant.head_point, 0, -1) if side[point]]
    return " ".join(parts + ([f"off{side[0]}"] if side[0] else []))


def end_text(variant: Variant, end: Position, side: Side) -> str:
    """Return what follows a decision of `side`, with everything that the game remembers."""
    if not variant.memory:
        return f"{row_text(variant, end.mover)} | {row_text(variant, end.opponent)}"
    position, same = reference.next_position(variant, end)
    return format_position(variant, position, side if same else other_side(side))


class Game(NamedTuple):
    """A game played to its end."""

    lines: list[str]
    ending: str
    """Name of the win kind, or `DRAW`, or `BY_EMIR`."""
    passed: bool
    """Somebody could not move."""


def play_game(variant: Variant, seed: int) -> Game:
    """Play one game at random."""
    rng = random.Random(seed)
    position, passed, lines = variant.start_position(), False, [f"game seed={seed}"]
    side: Side = "W"
    while True:
        before_roll = variant.recall(position.mover, "preroll") == 1
        owed = segment_dice(variant, position)
        dice = None if before_roll or owed else roll(variant, rng, len(lines) == 1)
        plays = reference.plays(variant, position, dice)
        play = rng.choice(plays)
        passed |= not (play.steps or before_roll)
        what = f"{dice[0]}-{dice[1]}" if dice else f"owed {dice_text(owed)}" if owed else "pre"
        text, end = format_play(variant, play, position), end_text(variant, play.end, side)
        lines.append(f"{side} {what} ; {len(plays)} ; {text} ; {end}")
        result = reference.outcome(variant, play.end)
        if result is not None:
            break
        position, same = reference.next_position(variant, play.end)
        side = side if same else other_side(side)
    if result.draw:
        return Game([*lines, f"result - {DRAW} 0"], DRAW, passed)
    kind = variant.win_kinds[result.kind][0]
    lines.append(f"result {side if result.won else other_side(side)} {kind} {result.points}")
    taken = any(variant.recall(row, "emir_taken") for row in play.end)
    return Game(lines, BY_EMIR if taken else kind, passed)


def endings(variant: Variant) -> list[str]:
    """Return the endings to record, the plainest first.

    Draws are sought in emir only: a standstill of frozen homes takes a thousand random games.
    """
    kinds = [name for name, _ in variant.win_kinds]
    sought = kinds[:: -(-len(kinds) // _MOST_KINDS)]
    return [*sought, BY_EMIR, DRAW] if variant.contact is Contact.EMIR else sought


def games(variant: Variant) -> Iterator[Game]:
    """Yield a game of the plainest ending with a pass and the shortest found of each other one."""
    plain, *others = endings(variant)
    found: dict[str, Game] = {}
    for seed in range(_TRIES):
        game = play_game(variant, seed)
        if game.ending == plain:
            if game.passed:
                found.setdefault(plain, game)
        elif game.ending in others:
            known = found.get(game.ending)
            if known is None or len(game.lines) < len(known.lines):
                found[game.ending] = game
        if len(found) == 1 + len(others):
            break
    yield from (found[ending] for ending in (plain, *others) if ending in found)


def main(names: list[str]) -> int:
    """Write one file per variant, of all variants if none is named."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or variant_names():
        variant = load_variant(name)
        recorded = list(games(variant))
        text = [f"variant {name} {variant.digest()}"]
        for game in recorded:
            text += ["", *game.lines]
        write_atomic(FOLDER / f"{name}.txt", ("\n".join(text) + "\n").encode())
        print(f"{name}: {', '.join(game.ending for game in recorded)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
