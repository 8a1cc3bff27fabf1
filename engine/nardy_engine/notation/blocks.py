"""Which forbidden block a position shows, in words; used only to explain a refused play.

Layer 3; imports types, rules. The rule itself is enforced by the engines.
"""

from __future__ import annotations

from nardy_engine.rules import Variant
from nardy_engine.rules.components import BlockRule, KarzarScope
from nardy_engine.types import OFF, Position


def forbidden_block(variant: Variant, position: Position) -> str:
    """Name the block of the mover that the rules forbid (L-20..L-22, KAR-1, FEV-6), or ''.

    Args:
        variant: The game.
        position: After the play, mover in row 0.
    """
    rule, length = variant.block.rule, variant.block.length
    if rule is BlockRule.NONE:
        return ""
    if rule is BlockRule.START_SECTOR:
        first = variant.head_point - variant.setup.home + 1
        if all(position.mover[first : variant.head_point + 1]):
            quarter = f"{variant.head_point} to {first}"
            return f"it would occupy all points {quarter} of the start quarter"
        return ""
    for run in _runs(variant, position):
        if len(run) >= length and _is_forbidden(variant, position, run):
            name = f"a block of {len(run)} points ({run[0]} to {run[-1]})"
            return f"it would leave {name} {_COMPLAINTS[rule]}"
    return ""


_COMPLAINTS = {
    BlockRule.AHEAD: "with no opposing checker ahead of it",
    BlockRule.KARZAR: "before any opposing checker has come home",
    BlockRule.NEVER: "and blocks are forbidden in this game",
}


def _runs(variant: Variant, position: Position) -> list[list[int]]:
    """Return the maximal runs of the mover's points, in the order of the opponent's route."""
    runs: list[list[int]] = [[]]
    for theirs in range(variant.head_point, 0, -1):
        point = variant.opposite_point(theirs)
        if position.mover[point]:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _is_forbidden(variant: Variant, position: Position, run: list[int]) -> bool:
    opponent = position.opponent
    first, last = (variant.opposite_point(run[i]) for i in (0, -1))
    if variant.block.rule is BlockRule.AHEAD:
        return not any(opponent[OFF:last])
    if variant.block.rule is BlockRule.KARZAR:
        home = any(opponent[OFF : variant.setup.home + 1])
        trapping = any(opponent[first + 1 : variant.bar])
        return not home and (trapping or variant.block.karzar_scope is KarzarScope.ANY_RUN)
    return True
