"""Whole rolls: all segments of a roll, whichever side plays them, as one set of results (T-9)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from nardy_engine.reference.plays import plays
from nardy_engine.reference.scoring import outcome
from nardy_engine.reference.turns import next_position, remember
from nardy_engine.rules.memory import owed_dice
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Dice, Outcome, Position


class RollResult(NamedTuple):
    """One way in which a whole roll can end."""

    position: Position
    """The side that rolled in row 0, whoever acts next."""
    next: Literal["me", "opp"]
    """Who rolls next, seen from row 0; `opp` if the game is over."""
    roll: Literal["normal", "extra"]
    """Whether the next roll is an extra one (GUL-4)."""


class _Moment(NamedTuple):
    """A moment between two segments."""

    position: Position
    """Side to act in row 0."""
    roller_acts: bool


def whole_roll(variant: Variant, position: Position, dice: Dice | None) -> list[RollResult]:
    """Return every distinct result of a roll, inherited segments included.

    Two finished games with the same winner and points are one result (T-10). No pre-roll move is
    made (EMI-11).

    Args:
        variant: The game.
        position: Side to act in row 0, before the roll or between two of its segments.
        dice: The roll; ignored, and may be None, if the position owes dice.

    Raises:
        DiceError: The dice of the game do not show this roll.
        PositionError: The position cannot occur in the game.
    """
    position = Position(remember(variant, position.mover, {"preroll": 0}), position.opponent)
    owes = bool(owed_dice(variant, position.mover))
    first = _Moment(position, not owes or variant.recall(position.mover, "roller") == 1)
    results: dict[RollResult | Outcome, RollResult] = {}
    seen = {first}
    waiting = [first]
    while waiting:
        now = waiting.pop()
        for play in plays(variant, now.position, dice):
            after, same = next_position(variant, play.end)
            then = _Moment(after, same is now.roller_acts)
            result = _result(then)
            ended = outcome(variant, result.position)
            if ended is not None:
                results.setdefault(ended, result._replace(next="opp", roll="normal"))
            elif not owed_dice(variant, after.mover):
                results.setdefault(result, result)
            elif then not in seen:
                seen.add(then)
                waiting.append(then)
    return sorted(results.values(), reverse=True)


def _result(then: _Moment) -> RollResult:
    """Return a moment seen from the side that rolled, as if the roll were over."""
    if then.roller_acts:
        return RollResult(then.position, "me", "extra")
    return RollResult(then.position.swapped(), "opp", "normal")
