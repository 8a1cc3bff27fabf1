"""All legal plays of a segment: the reference algorithm T-13, literally."""

from __future__ import annotations

from dataclasses import replace

from nardy_engine.reference.blocks import has_forbidden_block
from nardy_engine.reference.emir import emir_plays
from nardy_engine.reference.scoring import outcome
from nardy_engine.reference.steps import Node, Segment, next_nodes
from nardy_engine.reference.teleports import Teleports
from nardy_engine.reference.turns import Stage, afterstate, stage
from nardy_engine.rules.components import Contact, TeleportFallback, TeleportKind
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Dice, Play, Position, Step


def plays(variant: Variant, position: Position, dice: Dice | None) -> list[Play]:
    """Return one play per distinct result of one segment, ends in descending order.

    A forced pass is one play without steps (T-8), at a standstill too; a position in which
    somebody has won has no plays. Plays that bear off the last checker have one result, so at most
    one of them is listed (T-10).

    Args:
        variant: The game.
        position: Side to act in row 0.
        dice: The roll, in any order. Ignored, and may be None, if the position says what is to
            be played: dice of an earlier roll that the side to act owes.

    Raises:
        DiceError: The dice of the game do not show this roll.
        PositionError: The position cannot occur in the game.
    """
    if variant.contact is Contact.EMIR:
        return emir_plays(variant, position, dice)
    now = stage(variant, variant.check_position(position), dice)
    if outcome(variant, position) is not None and 0 in map(variant.board_checkers, position):
        return []
    segment = Segment.start(now)
    ends: dict[Position, Play] = {}
    for node, steps in _legal(segment, _obliged(segment, position)):
        end = _end(now, segment, node)
        ends.setdefault(end, Play(steps, end))
    result = [ends[end] for end in sorted(ends, reverse=True)]
    finishing = [play for play in result if _has_finished(variant, play.end)]
    others = [play for play in result if not _has_finished(variant, play.end)]
    return finishing[:1] + others


_Path = tuple[Node, tuple[Step, ...]]


def _has_finished(variant: Variant, end: Position | Node) -> bool:
    return variant.board_checkers(end.mover) == 0


def _end(now: Stage, segment: Segment, node: Node) -> Position:
    board = Position(node.mover, node.opponent)
    return afterstate(now, board, node.dice, segment.head_allowance, node.head_steps)


def _candidates(segment: Segment, position: Position) -> list[_Path]:
    """Explore depth-first; return every node that the end-of-segment restrictions allow (T-4).

    Two paths to one node have the same future and the same dice left, so one of them is enough.
    """
    root = Node(position.mover, position.opponent, segment.programme, 0)
    paths: dict[Node, tuple[Step, ...]] = {root: ()}
    stack = [root]
    while stack:
        node = stack.pop()
        if _has_finished(segment.variant, node):
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


def _obliged(segment: Segment, position: Position) -> list[_Path]:
    """Return the candidates that make the teleports they must (T-11, KAF-3, KAB-1, KAB-5)."""
    variant = segment.variant
    candidates = _candidates(segment, position)
    if variant.teleport.kind is TeleportKind.KAFTAR:
        most = max(node.teleports for node, _ in candidates)
        return [(node, steps) for node, steps in candidates if node.teleports == most]
    if variant.teleport.kind is TeleportKind.KABUTAR and segment.teleports.all:
        full = min(len(segment.programme), position.mover[variant.head_point])
        complete = [(node, steps) for node, steps in candidates if node.teleports == full]
        return complete or _candidates(_without_teleports(segment), position)
    return candidates


def _without_teleports(segment: Segment) -> Segment:
    """Return the double as an ordinary one, or lost, since no kabutar is possible (KAB-3)."""
    lost = segment.variant.teleport.blocked is TeleportFallback.LOST
    only = segment.teleports.all if lost else frozenset()
    return replace(segment, teleports=Teleports(segment.teleports.all, frozenset(), only))


def _legal(segment: Segment, candidates: list[_Path]) -> list[_Path]:
    """Keep the candidates that use the most dice, and the larger of two (T-5, T-6, T-10)."""
    most = max(len(steps) for _, steps in candidates)
    two_dice = len(segment.programme) == 2 and segment.programme[0] != segment.programme[1]
    larger_only = (
        most == 1
        and two_dice
        and any(steps and steps[0].die == segment.programme[0] for _, steps in candidates)
    )
    return [
        (node, steps)
        for node, steps in candidates
        if _has_finished(segment.variant, node)
        or (len(steps) == most and not (larger_only and steps[0].die != segment.programme[0]))
    ]
