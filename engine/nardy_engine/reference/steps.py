"""One checker moved by one die: every rule that is tested at each step (T-2, T-13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nardy_engine.reference.blocks import has_forbidden_block
from nardy_engine.reference.head import runner_has_passed
from nardy_engine.reference.teleports import Teleports, teleports
from nardy_engine.reference.turns import Stage, segment_allowance
from nardy_engine.rules.components import BlockCheck, Contact, HeadLimit, Overshoot
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Row, Step


@dataclass(frozen=True)
class Segment:
    """What stays the same while one segment is played (T-9)."""

    variant: Variant
    programme: tuple[int, ...]
    """The dice to play, larger first."""
    closed: tuple[bool, ...]
    """By own point: no checker may land there. A hit opens no point, so this does not change."""
    head_allowance: int
    """Checkers that may leave the head by ordinary steps."""
    teleports: Teleports
    """Which of the dice move head checkers straight home."""

    @classmethod
    def start(cls, now: Stage) -> Segment:
        """Judge everything that is judged once, at the start of the play."""
        variant, position = now.variant, now.position
        enough = 2 if variant.contact is Contact.HIT else 1  # S-3, L-4
        closed = [False] * variant.n_slots
        for point in range(1, variant.bar):
            closed[point] = position.opponent[variant.opposite_point(point)] >= enough
        return cls(
            variant=variant,
            programme=now.programme,
            closed=tuple(closed),
            head_allowance=segment_allowance(now, closed),
            teleports=teleports(variant, position.mover, now.programme, closed),
        )


@dataclass(frozen=True, slots=True)
class Node:
    """A moment inside a play; everything that legality can depend on."""

    mover: Row
    opponent: Row
    dice: tuple[int, ...]
    """Dice not yet used, larger first."""
    head_steps: int
    """Checkers that have left the head in this segment."""
    teleports: int = 0
    """Checkers that have been teleported."""


def next_nodes(segment: Segment, node: Node) -> Iterator[tuple[Step, Node]]:
    """Yield every legal step of `node` and the moment after it (T-3: dice in any order)."""
    for die in sorted(set(node.dice), reverse=True):
        for source, target, is_teleport in _moves(segment, node, die):
            step, after = _take(segment, node, source, target, die, is_teleport)
            every_step = segment.variant.block.check is BlockCheck.EVERY_STEP
            if every_step and has_forbidden_block(segment.variant, after.mover, after.opponent):
                continue  # L-23, NAR-1
            yield step, after


def _moves(segment: Segment, node: Node, die: int) -> Iterator[tuple[int, int, bool]]:
    """Yield `(source, target, is_teleport)` of each checker that `die` may move now."""
    head = segment.variant.head_point
    if die in segment.teleports.open and node.mover[head]:
        yield head, die, True  # KAF-2: everything between is jumped, the head limit as well
    if die in segment.teleports.only:
        return
    for source in _sources(segment, node):
        target = _target(segment, node, source, die)
        if target is not None:
            yield source, target, False


def _sources(segment: Segment, node: Node) -> Iterator[int]:
    """Yield the slots from which a checker may leave now, farthest first."""
    variant, mover = segment.variant, node.mover
    if mover[variant.bar]:
        yield variant.bar  # S-4: nobody else moves before it has entered
        return
    for point in range(variant.head_point, 0, -1):
        if mover[point] and (point != variant.head_point or _may_leave_head(segment, node)):
            yield point


def _may_leave_head(segment: Segment, node: Node) -> bool:
    variant = segment.variant
    if variant.head.limit is HeadLimit.RUNNER:
        none_away = node.mover[variant.head_point] == variant.setup.checkers
        return none_away or runner_has_passed(variant, node.mover)  # FEV-2..FEV-4
    return node.head_steps < segment.head_allowance  # L-5, L-6


def _target(segment: Segment, node: Node, source: int, die: int) -> int | None:
    """Return where the step ends, or None if landing or bearing off is not allowed."""
    variant = segment.variant
    target = source - die
    if target < 1:
        return OFF if _bears_off(segment, node, source, die) else None
    frozen = variant.home.frozen and source <= variant.setup.home  # BNA-2
    return None if frozen or segment.closed[target] else target


def _bears_off(segment: Segment, node: Node, source: int, die: int) -> bool:
    """Return whether `die >= source` bears off the checker on `source` (L-30..L-32, ONE-3)."""
    variant, mover = segment.variant, node.mover
    if die not in variant.bearoff.dice or any(mover[variant.setup.home + 1 : variant.n_counts]):
        return False
    if source == die:
        return True
    higher = [point for point in range(source + 1, variant.setup.home + 1) if mover[point]]
    if variant.bearoff.overshoot is Overshoot.HIGHEST:
        return not higher
    if variant.bearoff.overshoot is Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED:
        return all(_target(segment, node, point, die) is None for point in higher)  # D-10
    return False


def _take(
    segment: Segment, node: Node, source: int, target: int, die: int, is_teleport: bool
) -> tuple[Step, Node]:
    """Move one checker; a blot on the target goes to the bar (S-3)."""
    variant = segment.variant
    mover = list(node.mover)
    mover[source] -= 1
    mover[target] += 1
    opponent = node.opponent
    theirs = variant.opposite_point(target) if target != OFF else OFF
    hit = target != OFF and opponent[theirs] > 0
    if hit:
        changed = list(opponent)
        changed[theirs] -= 1
        changed[variant.bar] += 1
        opponent = tuple(changed)
    left = list(node.dice)
    left.remove(die)
    head_steps = node.head_steps + (source == variant.head_point)
    return Step(source, target, die, hit), Node(
        tuple(mover), opponent, tuple(left), head_steps, node.teleports + is_teleport
    )
