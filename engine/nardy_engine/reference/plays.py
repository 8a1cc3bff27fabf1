"""All legal plays of a roll: the reference algorithm T-13, literally."""

from __future__ import annotations

from nardy_engine.reference.blocks import has_forbidden_block
from nardy_engine.reference.steps import Node, Segment, next_nodes
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Dice, Play, Position, Step


def plays(variant: Variant, position: Position, dice: Dice) -> list[Play]:
    """Return one play per distinct result of the roll, ends in descending order.

    A forced pass is one play without steps (T-8); a finished position has no plays. Plays that
    finish the game have one result, so at most one of them is listed (T-10).

    Args:
        variant: The game.
        position: Side to act in row 0.
        dice: The roll, in any order.

    Raises:
        DiceError: The dice of the game do not show this roll.
        PositionError: The position cannot occur in the game.
    """
    dice = variant.check_dice(dice)
    variant.check_position(position)
    checkers = variant.setup.checkers
    if checkers in (position.mover[OFF], position.opponent[OFF]):
        return []
    segment = Segment.start(variant, position, dice)
    found = _legal(segment, _candidates(segment, position))
    ends: dict[Position, Play] = {}
    for node, steps in found:
        end = Position(node.mover, node.opponent)
        ends.setdefault(end, Play(steps, end))
    result = [ends[end] for end in sorted(ends, reverse=True)]
    finishing = [play for play in result if play.end.mover[OFF] == checkers]
    others = [play for play in result if play.end.mover[OFF] != checkers]
    return finishing[:1] + others


_Path = tuple[Node, tuple[Step, ...]]


def _candidates(segment: Segment, position: Position) -> list[_Path]:
    """Explore depth-first; return every node that the end-of-segment restrictions allow (T-4).

    Two paths to one node have the same future and the same dice left, so one of them is enough.
    """
    root = Node(position.mover, position.opponent, segment.programme, 0)
    checkers = segment.variant.setup.checkers
    paths: dict[Node, tuple[Step, ...]] = {root: ()}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.mover[OFF] == checkers:
            continue  # T-10: the game is over, dice left do not matter
        for step, after in next_nodes(segment, node):
            if after not in paths:
                paths[after] = (*paths[node], step)
                stack.append(after)
    return [
        (node, steps)
        for node, steps in paths.items()
        if not steps or not has_forbidden_block(segment.variant, node.mover, node.opponent)
    ]


def _legal(segment: Segment, candidates: list[_Path]) -> list[_Path]:
    """Keep the candidates that use the most dice, and the larger of two (T-5, T-6, T-10)."""
    checkers = segment.variant.setup.checkers
    most = max(len(steps) for _, steps in candidates)
    larger = segment.programme[0]
    larger_only = (
        most == 1
        and segment.programme[-1] != larger
        and any(steps and steps[0].die == larger for _, steps in candidates)
    )
    return [
        (node, steps)
        for node, steps in candidates
        if node.mover[OFF] == checkers
        or (len(steps) == most and not (larger_only and steps[0].die != larger))
    ]
