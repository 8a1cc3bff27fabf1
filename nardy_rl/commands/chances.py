"""Tables of equities and chances, as `nardy evaluate` and `nardy rollout` print them."""

from __future__ import annotations

from nardy_engine import Variant
from nardy_engine.notation import ParsedPosition
from nardy_engine.notation.segments import segment_dice
from nardy_rl.outcomes import Probabilities

MAX_KINDS = 4
"""Kinds of a win that the table shows in columns of their own; games with more show the sums."""


def says_what_is_played(variant: Variant, parsed: ParsedPosition) -> bool:
    """Return whether there is a decision without a roll: dice owed, or a pre-roll move."""
    preroll = variant.recall(parsed.position.mover, "preroll") == 1
    return preroll or bool(segment_dice(variant, parsed.position))


def chance_columns(variant: Variant) -> tuple[list[str], str]:
    """Return the headings of the chances and a line that explains them."""
    _, *kinds = [name for name, _ in variant.win_kinds]
    note = "equity in points per game, chances in %"
    draws = ["draws"] if variant.has_draw else []
    if len(kinds) >= MAX_KINDS:
        return ["wins", "loses", *draws], note
    listed = " and ".join(kinds)
    return ["wins", *kinds, "loses", *kinds, *draws], f"{note}; wins and loses include {listed}"


def percentages(probs: Probabilities) -> list[str]:
    """Return the cells under `chance_columns`."""
    several = len(probs.win) <= MAX_KINDS
    values = [
        probs.wins(),
        *(probs.win[1:] if several else ()),
        probs.losses(),
        *(probs.lose[1:] if several else ()),
        *(() if probs.draw is None else (probs.draw,)),
    ]
    return [f"{100 * value:.1f}" for value in values]


def align(header: list[str], rows: list[list[str]], n_left: int) -> list[str]:
    """Align cells in columns: the first `n_left` to the left, numbers to the right."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            f"{cell:<{width}}" if i < n_left else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
