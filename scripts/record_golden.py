"""Rewrite the golden games in tests/data/golden; review is the difference in git.

Each file holds recorded games of one variant, played at random by the reference engine. A change
of a golden game is a change of the rules and belongs into CHANGELOG.md.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from nardy_engine import Outcome, Position, Variant, load_variant, reference, variant_names
from nardy_engine.notation import format_play
from nardy_engine.rules.components import Opening

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "golden"
_TRIES = 2_000
"""Seeds looked through for the games to record."""


def roll(variant: Variant, rng: random.Random, first: bool) -> tuple[int, int]:
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


def game_lines(variant: Variant, seed: int) -> tuple[list[str], Outcome, bool]:
    """Play one game at random; return its lines, its outcome and whether it has a pass."""
    rng = random.Random(seed)
    position, turn, passed, lines = variant.start_position(), 0, False, [f"game seed={seed}"]
    while True:
        dice = roll(variant, rng, turn == 0)
        plays = reference.plays(variant, position, dice)
        play = rng.choice(plays)
        passed |= not play.steps
        text = format_play(variant, play)
        end = f"{row_text(variant, play.end.mover)} | {row_text(variant, play.end.opponent)}"
        lines.append(f"{'WB'[turn % 2]} {dice[0]}-{dice[1]} ; {len(plays)} ; {text} ; {end}")
        result = reference.outcome(variant, play.end)
        if result is not None:
            winner = "WB"[turn % 2 if result.won else 1 - turn % 2]
            kind = variant.win_kinds[result.kind][0]
            lines.append(f"result {winner} {kind} {result.points}")
            return lines, result, passed
        position, turn = Position(*play.end.swapped()), turn + 1


def games(variant: Variant) -> Iterator[list[str]]:
    """Yield a single win with a pass and the shortest win of each higher kind that is found."""
    single: list[str] | None = None
    higher: dict[int, list[str]] = {}
    for seed in range(_TRIES):
        lines, result, passed = game_lines(variant, seed)
        if result.kind == 0 and passed and single is None:
            single = lines
        if result.kind > 0 and len(lines) < len(higher.get(result.kind, lines * 2)):
            higher[result.kind] = lines
        if single and len(higher) == len(variant.win_kinds) - 1:
            break
    yield from ([single] if single else [])
    yield from (higher[kind] for kind in sorted(higher))


def main() -> int:
    """Write one file per variant."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in variant_names():
        variant = load_variant(name)
        text = [f"variant {name} {variant.digest()}"]
        for lines in games(variant):
            text += ["", *lines]
        (FOLDER / f"{name}.txt").write_text("\n".join(text) + "\n", "utf-8")
        print(f"{name}: {sum(line.startswith('game ') for line in text)} games")
    return 0


if __name__ == "__main__":
    sys.exit(main())
