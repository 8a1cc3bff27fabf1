"""Forbidden blocks: runs of points that the opponent cannot pass (L-20..L-25, KAR, FEV-6)."""

from __future__ import annotations

from collections.abc import Iterator

from nardy_engine.rules.components import BlockRule, KarzarScope
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Row


def has_forbidden_block(variant: Variant, mover: Row, opponent: Row) -> bool:
    """Return whether the mover may not leave the board like this (`block.rule`).

    Args:
        variant: The game.
        mover: `P` counts of the side whose blocks are judged, own numbering.
        opponent: `P` counts of the other side, own numbering.
    """
    rule = variant.block.rule
    if rule is BlockRule.NONE:
        return False
    if rule is BlockRule.START_SECTOR:
        return all(mover[variant.head_point - variant.setup.home + 1 : variant.bar])
    return any(True for _ in forbidden_runs(variant, mover, opponent))


def forbidden_runs(variant: Variant, mover: Row, opponent: Row) -> Iterator[tuple[int, int]]:
    """Yield `(low, high)`, on the opponent's own points, of each run that the rules forbid.

    Args:
        variant: A game with a rule on runs, so neither `none` nor `start_sector`.
        mover: `P` counts of the side whose blocks are judged, own numbering.
        opponent: `P` counts of the other side, own numbering.
    """
    for low, high in _blocks(variant, mover):
        if _is_forbidden(variant, opponent, low):
            yield low, high


def _is_forbidden(variant: Variant, opponent: Row, low: int) -> bool:
    """Judge the block whose lowest point, in the opponent's numbering, is `low`."""
    if variant.block.rule is BlockRule.NEVER:
        return True
    if variant.block.rule is BlockRule.AHEAD:
        return not any(opponent[OFF:low])  # L-22: nobody has passed it, nobody is off
    if any(opponent[OFF : variant.setup.home + 1]):
        return False  # KAR-1: one has come home or is off
    any_run = variant.block.karzar_scope is KarzarScope.ANY_RUN
    # L-21: who has not passed a block is behind it, a captive inside it too (EMI-13).
    return any_run or any(opponent[low : variant.n_counts])


def _blocks(variant: Variant, mover: Row) -> Iterator[tuple[int, int]]:
    """Yield `(low, high)`, in the opponent's numbering, of each maximal run long enough (L-20).

    Walking the opponent's numbers is walking his route (G-4): it crosses from my 1 to my 24, and
    it starts and ends between my 12 and 13, so that no run leads across there.
    """
    length = variant.block.length
    if sum(1 for count in mover[1 : variant.bar] if count) < length:
        return
    low = 1
    for theirs, count in enumerate(variant.facing(mover), start=1):
        if not count:
            if theirs - low >= length:
                yield low, theirs - 1
            low = theirs + 1
    if variant.bar - low >= length:
        yield low, variant.bar - 1
