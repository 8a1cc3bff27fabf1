"""Emir: the plays of a roll, the moves before it, and the result (EMI-1..EMI-15, D-16).

A `Step` of this game has `hit=True` for a landing on a blot, be it captured or hit; the end of the
play tells which of the two, and whether the emir or another checker moved. A pre-roll move shows
steps with `die=0`; a nuker comes from `source=OFF`, where no other step starts.

Readings of sentences that leave something open:

* The block rule (EMI-13) binds a play that takes the emir like any other: T-4 asks for an
  admissible end, T-10 frees a finishing play of T-5 only. Of the pre-roll moves EMI-12 binds the
  distribution; a nuker is judged with the play that follows.
* A captive above a checker forbids an overshoot (EMI-14). Where `bearoff.overshoot` asks whether
  all higher checkers are blocked, it is one of the blocked.
* With `home.frozen` (BNA-2) a distribution may not start in the home either.
* A checker that is hit returns alone; those that wait already return when their turn begins.

Does a game end? Without doubles no checker goes back, and who can move must. So a run of ordinary
rolls leads, in fewer moves than both sides have pips, to the end of the game or to a position in
which neither side has a step (`is_dead`); a run of any length has a positive chance, hence one of
the two happens with probability 1. (This leaves aside a side that only the block rule keeps from
moving; no such standstill has been found.) Dead positions do occur, in about one of thirty games
between random players. Rules.md names no result for them; here they are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from nardy_engine.errors import DiceError
from nardy_engine.reference.blocks import has_forbidden_block
from nardy_engine.reference.emir_board import EmirBoard, Field
from nardy_engine.reference.head import dice_programme, head_allowance, runner_has_passed
from nardy_engine.rules.components import (
    BlockCheck,
    BlockRule,
    HeadLimit,
    KarzarScope,
    Overshoot,
    Parity,
    Score,
)
from nardy_engine.rules.memory import memory_index
from nardy_engine.rules.variant import Variant
from nardy_engine.types import MOVER, OFF, OPPONENT, Dice, Outcome, Play, Position, Row, Step

_LEAST_TO_SPREAD = 3
"""Checkers that a point must hold to be distributed (EMI-11b)."""
_MOST_SKIPPED = 5
"""Closed points in a row that a distribution may skip (EMI-11b)."""


def emir_plays(variant: Variant, position: Position, dice: Dice | None) -> list[Play]:
    """Return one play per distinct result of the decision that the position asks for.

    With `preroll` set in row 0 that is the optional move before the roll: `dice` is ignored, and
    the first play listed is to make no move. Otherwise it is the roll: finishing results first,
    then the ends in descending order. Checkers on the bar return first in either case (EMI-8); if
    that ends the game, its result is the only play. A finished position has no plays.

    Args:
        variant: A game with `contact=emir`.
        position: Side to act in row 0.
        dice: The roll, in any order.

    Raises:
        DiceError: A roll is needed, and the dice of the game do not show this one.
        PositionError: The position cannot occur in the game.
    """
    variant.check_position(position)
    before_roll = variant.recall(position.mover, "preroll") == 1
    if not before_roll:
        if dice is None:
            raise DiceError("no pre-roll move is due in this position, so it needs a roll")
        dice = variant.check_dice(dice)
    if emir_outcome(variant, position) is not None:
        return []
    position = _turn_begun(variant, position)
    if emir_outcome(variant, position) is not None:
        return [Play((), _after_roll(variant, position))]
    if before_roll or dice is None:
        found = [Play((), position), *_distinct(_preroll_moves(variant, position))]
        return [Play(steps, _after_preroll(variant, end)) for steps, end in found]
    found = _distinct(Play(steps, node.position) for node, steps in _legal(variant, position, dice))
    finished: dict[Outcome, Play] = {}
    going_on = []
    for play in found:
        result = emir_outcome(variant, play.end)
        if result is None:
            going_on.append(play)
        else:
            finished.setdefault(result, play)  # T-10
    return [
        Play(steps, _after_roll(variant, end)) for steps, end in [*finished.values(), *going_on]
    ]


def emir_outcome(variant: Variant, position: Position) -> Outcome | None:
    """Return how the game ended, seen from row 0, or None if it goes on.

    It ends when an emir has taken the other (EMI-10) or no checker of a side is left on board and
    bar (EMI-14).
    """
    for side, row in enumerate(position):
        if variant.recall(row, "emir_taken"):
            kind = 0 if row[OFF] else 1  # EMI-10
            return Outcome(side == OPPONENT, kind, variant.win_kinds[kind][1])
    for side, row in enumerate(position):
        if variant.board_checkers(row) == 0:
            kind = _kind(variant, position[1 - side])
            return Outcome(side == MOVER, kind, variant.win_kinds[kind][1])
    return None


def emir_standing(variant: Variant, position: Position) -> Position:
    """Return `n_counts` counts of both sides, the captives where they lie."""
    board = EmirBoard(variant, position)
    return Position(board.standing(MOVER), board.standing(OPPONENT))


def is_dead(variant: Variant, position: Position) -> bool:
    """Return whether neither side can ever make a step again, whatever is rolled.

    The rules do not speak of it, but it happens. The plainest case: all free checkers of both
    sides stand on their own point 1, and in each pile lies a captive of the other side (my 1 is
    the opponent's 13, outside his home). The captives forbid bearing off, so nobody moves, so
    nobody is released.

    The block rule is left aside: it judges ends of plays, not whether a checker can move.
    Pre-roll moves need no look: a nuker joins a checker that cannot move either, and where a
    distribution is possible a one can be played.
    """
    free = _without_blocks(variant)
    return not any(_can_move(free, seen) for seen in (position, position.swapped()))


@cache
def _without_blocks(variant: Variant) -> Variant:
    """Return the same game without a block rule."""
    neutral = {
        "block.rule": BlockRule.NONE,
        "block.check": BlockCheck.END_OF_SEGMENT,
        "block.karzar_scope": KarzarScope.TRAPPING,
        "block.length": variant.setup.home,
    }
    return variant.with_options(neutral)


def _can_move(variant: Variant, position: Position) -> bool:
    """Return whether the mover has a step with some roll, or a checker that can return."""
    if _turn_begun(variant, position) != position:
        return True
    numbers = range(1, variant.dice.sides + 1)
    rolls = [
        _Roll.start(variant, position, (larger, smaller))
        for larger in numbers
        for smaller in numbers
        if smaller <= larger
    ]
    return any(
        True for roll in rolls for _ in _next_nodes(roll, _Node(position, roll.programme, 0))
    )


# -- before the roll --------------------------------------------------------------------------


def _turn_begun(variant: Variant, position: Position) -> Position:
    """Return the position after the mover's checkers on the bar have returned (EMI-8)."""
    board = EmirBoard(variant, position)
    board.return_waiting(MOVER)
    return board.position()


def _preroll_moves(variant: Variant, position: Position) -> Iterator[Play]:
    """Yield every pre-roll move of a turn that has begun, memory of the turn untouched (EMI-11)."""
    board = EmirBoard(variant, position)
    if board.recall(MOVER, "reserve"):
        for point in sorted({variant.head_point, board.recall(MOVER, "emir")}, reverse=True):
            if 1 <= point < variant.bar and _takes_nuker(board, point):
                after = EmirBoard(variant, position)
                after.place_nuker(MOVER, point)
                yield Play((Step(OFF, point, 0),), after.position())
    for point in range(variant.head_point - 1, 1, -1):  # EMI-12: not from the head
        yield from _distributions(variant, position, point)


def _takes_nuker(board: EmirBoard, point: int) -> bool:
    """Return whether one own checker and no opposing one is on a point (EMI-11a, EMI-12)."""
    theirs = board.variant.opposite_point(point)
    return board.free(MOVER, point) == 1 and not board.is_captive(OPPONENT, theirs)


def _distributions(variant: Variant, position: Position, point: int) -> Iterator[Play]:
    """Yield the distributions of the checkers on a point, fewest spread first (EMI-11b)."""
    board = EmirBoard(variant, position)
    own = board.free(MOVER, point)
    frozen = variant.home.frozen and point <= variant.setup.home
    if own < _LEAST_TO_SPREAD or not board.is_empty(MOVER, point - 1) or frozen:
        return
    steps: list[Step] = []
    for target in _landings(board, point)[: own - 1]:
        hit = board.move(MOVER, point, target, is_emir=False, is_double=False)
        steps.append(Step(point, target, 0, hit))
        if not _is_blocking(board):
            yield Play(tuple(steps), board.position())


def _landings(board: EmirBoard, point: int) -> list[int]:
    """Return the points on which a distribution puts checkers, in order (EMI-11b)."""
    landings = []
    skipped = 0
    for target in range(point - 1, 0, -1):
        if board.field(MOVER, target) is not Field.CLOSED:
            landings.append(target)
            skipped = 0
        elif skipped == _MOST_SKIPPED:
            break
        else:
            skipped += 1
    return landings


# -- the roll ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Roll:
    """What stays the same while one roll is played."""

    variant: Variant
    programme: tuple[int, ...]
    """The dice to play, larger first; none if the turn is skipped."""
    is_double: bool
    head_allowance: int
    """Checkers that may leave the head."""

    @classmethod
    def start(cls, variant: Variant, position: Position, dice: Dice) -> _Roll:
        """Judge everything that is judged once, at the start of the play."""
        skipped = _is_skipped(variant, position.mover, dice)
        programme = () if skipped else dice_programme(variant, dice)
        board = EmirBoard(variant, position)
        closed = [False] * variant.n_counts
        for point in range(1, variant.bar):  # EMI-3: a blot does not stop the walk of L-7(c)
            closed[point] = board.field(MOVER, point) is Field.CLOSED
        return cls(
            variant=variant,
            programme=programme,
            is_double=dice[0] == dice[1],
            head_allowance=head_allowance(variant, position, dice, closed),
        )


@dataclass(frozen=True, slots=True)
class _Node:
    """A moment inside a play; everything that legality can depend on."""

    position: Position
    dice: tuple[int, ...]
    """Dice not yet used, larger first."""
    head_steps: int
    """Checkers that have left the head in this roll."""


_Path = tuple[_Node, tuple[Step, ...]]


def _legal(variant: Variant, position: Position, dice: Dice) -> list[_Path]:
    """Return the legal plays of a roll (T-13), several paths to one end included."""
    roll = _Roll.start(variant, position, dice)
    candidates = _candidates(roll, position)
    most = max(len(steps) for _, steps in candidates)
    larger_only = (
        most == 1
        and roll.programme[0] != roll.programme[-1]
        and any(steps and steps[0].die == roll.programme[0] for _, steps in candidates)
    )
    return [
        (node, steps)
        for node, steps in candidates
        if emir_outcome(variant, node.position) is not None  # T-10
        or (len(steps) == most and not (larger_only and steps[0].die != roll.programme[0]))
    ]


def _candidates(roll: _Roll, position: Position) -> list[_Path]:
    """Explore depth-first; return every node that the block rule allows (T-4)."""
    root = _Node(position, roll.programme, 0)
    paths: dict[_Node, tuple[Step, ...]] = {root: ()}
    stack = [root]
    while stack:
        node = stack.pop()
        if emir_outcome(roll.variant, node.position) is not None:
            continue  # T-10: the game is over, dice left do not matter
        for step, after in _next_nodes(roll, node):
            if after not in paths:
                paths[after] = (*paths[node], step)
                stack.append(after)
    return [
        (node, steps)
        for node, steps in paths.items()
        if not steps or not _is_blocking(EmirBoard(roll.variant, node.position))
    ]


def _next_nodes(roll: _Roll, node: _Node) -> Iterator[tuple[Step, _Node]]:
    """Yield every legal step of `node` and the moment after it (T-3: dice in any order)."""
    variant = roll.variant
    board = EmirBoard(variant, node.position)
    for place, die in enumerate(node.dice):
        if die in node.dice[:place]:
            continue
        for source in range(variant.head_point, 0, -1):
            if not board.free(MOVER, source):
                continue
            on_head = source == variant.head_point
            target = _target(roll, board, source, die)
            if target is None or (on_head and not _may_leave_head(roll, board, node)):
                continue
            for is_emir in board.choices(MOVER, source):
                after = EmirBoard(variant, node.position)
                hit = after.move(MOVER, source, target, is_emir=is_emir, is_double=roll.is_double)
                if variant.block.check is BlockCheck.EVERY_STEP and _is_blocking(after):
                    continue  # L-23, NAR-1
                left = node.dice[:place] + node.dice[place + 1 :]
                moment = _Node(after.position(), left, node.head_steps + on_head)
                yield Step(source, target, die, hit), moment


def _may_leave_head(roll: _Roll, board: EmirBoard, node: _Node) -> bool:
    """Return whether a further checker may leave the head (L-5, L-6, FEV-2..FEV-4)."""
    variant = roll.variant
    if variant.head.limit is HeadLimit.RUNNER:
        standing = board.standing(MOVER)
        none_away = sum(standing) == standing[variant.head_point]
        return none_away or runner_has_passed(variant, standing)
    return node.head_steps < roll.head_allowance


def _target(roll: _Roll, board: EmirBoard, source: int, die: int) -> int | None:
    """Return where the step ends, or None if landing or bearing off is not allowed."""
    variant = roll.variant
    target = source - die
    if target < 1:
        return OFF if _bears_off(roll, board, source, die) else None
    frozen = variant.home.frozen and source <= variant.setup.home  # BNA-2
    return None if frozen or not board.may_land(MOVER, target, roll.is_double) else target


def _bears_off(roll: _Roll, board: EmirBoard, source: int, die: int) -> bool:
    """Return whether `die >= source` bears off the checker on `source` (L-30..L-32, EMI-14)."""
    variant = roll.variant
    standing = board.standing(MOVER)
    if die not in variant.bearoff.dice or any(standing[variant.setup.home + 1 :]):  # with the bar
        return False
    if source == die:
        return True
    higher = [point for point in range(source + 1, variant.setup.home + 1) if standing[point]]
    if variant.bearoff.overshoot is Overshoot.HIGHEST:
        return not higher
    if variant.bearoff.overshoot is Overshoot.HIGHEST_OR_ALL_HIGHER_BLOCKED:  # D-10
        return all(
            not board.free(MOVER, point) or _target(roll, board, point, die) is None
            for point in higher
        )
    return False


def _is_skipped(variant: Variant, mover: Row, dice: Dice) -> bool:
    """Return whether the smaller number is of the wrong parity for the mover (CHN-1)."""
    even_side = variant.recall(mover, "first") == 1
    return variant.dice.parity is not Parity.OFF and (min(dice) % 2 == 0) is not even_side


def _is_blocking(board: EmirBoard) -> bool:
    """Return whether the mover's closed points hold a forbidden block (EMI-13)."""
    return has_forbidden_block(board.variant, board.closing(MOVER), board.standing(OPPONENT))


# -- results ----------------------------------------------------------------------------------


def _distinct(plays: Iterator[Play]) -> list[Play]:
    """Return one play per end, ends in descending order."""
    ends: dict[Position, Play] = {}
    for play in plays:
        ends.setdefault(play.end, play)
    return [ends[end] for end in sorted(ends, reverse=True)]


def _after_preroll(variant: Variant, end: Position) -> Position:
    """Return the afterstate of a pre-roll decision: the same side rolls now."""
    return Position(
        _with(variant, end.mover, preroll=0, again=1), _with(variant, end.opponent, preroll=0)
    )


def _after_roll(variant: Variant, end: Position) -> Position:
    """Return the afterstate of a roll: the other side's turn, with or without a pre-roll move."""
    preroll = False
    if emir_outcome(variant, end) is None:
        begun = _turn_begun(variant, end.swapped())
        preroll = emir_outcome(variant, begun) is None and any(_preroll_moves(variant, begun))
    return Position(
        _with(variant, end.mover, fresh=0, preroll=0),
        _with(variant, end.opponent, preroll=int(preroll)),
    )


def _with(variant: Variant, row: Row, **memory: int) -> Row:
    """Return the row with some memory slots changed; names that the game lacks are ignored."""
    changed = list(row)
    for name, value in memory.items():
        if variant.remembers(name):
            changed[memory_index(variant)[name]] = value
    return tuple(changed)


def _kind(variant: Variant, loser: Row) -> int:
    """Return the index in `Variant.win_kinds` of a win by bearing off (EMI-15, SC-1..SC-4).

    The winner has no checker left that could hold one of the loser's captive.
    """
    home, score = variant.setup.home, variant.score
    if loser[OFF]:
        return 0
    in_start_quarter = any(
        loser[variant.head_point - home + 1 : variant.n_counts]
    )  # the bar waits for the head
    if score is not Score.OIN_MARS and in_start_quarter:
        return 2
    all_home = sum(loser[1 : home + 1]) == variant.setup.checkers  # SC-4: no nuker in reserve
    return 3 if score is Score.OIN_MARS_KOKS_HOMEMARS and all_home else 1
