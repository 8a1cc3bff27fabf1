"""Which forbidden block a position shows, in words; used only to explain a refused play.

Layer 3; imports types, rules, and from the reference engine what a forbidden block is.
"""

from __future__ import annotations

from nardy_engine.reference.blocks import forbidden_runs, has_forbidden_block
from nardy_engine.rules import Variant
from nardy_engine.rules.components import BlockRule
from nardy_engine.types import Position

_COMPLAINTS = {
    BlockRule.AHEAD: "with no opposing checker ahead of it",
    BlockRule.KARZAR: "before any opposing checker has come home",
    BlockRule.NEVER: "and blocks are forbidden in this game",
}


def forbidden_block(variant: Variant, position: Position) -> str:
    """Name the block of the mover that the rules forbid (L-20..L-22, KAR-1, FEV-6), or ''.

    Args:
        variant: The game.
        position: After the play, mover in row 0.
    """
    if not has_forbidden_block(variant, *position):
        return ""
    if variant.block.rule is BlockRule.START_SECTOR:
        first = variant.head_point - variant.setup.home + 1
        quarter = f"{variant.head_point} to {first}"
        return f"it would occupy all points {quarter} of the start quarter"
    low, high = max(forbidden_runs(variant, *position))
    first, last = variant.opposite_point(high), variant.opposite_point(low)
    name = f"a block of {high - low + 1} points ({first} to {last})"
    return f"it would leave {name} {_COMPLAINTS[variant.block.rule]}"
