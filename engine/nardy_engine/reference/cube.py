"""The doubling cube, and the games of a match (CU-1..CU-9, S-10, MT-1, D-21); layer 3.

Nothing here is part of a position: the cube says what a game is worth, never how it is played.
The two players of a match keep their numbers 0 and 1 in all its games, whoever moves first. A
cube action is one call after another, each with what the one before returned:

>>> from nardy_engine import load_variant
>>> short = load_variant("short")
>>> double = offer(short, Cube(), MatchScore(), player=0)
>>> take(double)
Cube(value=2, owner=1)
>>> refuse(double)
Result(winner=0, points=1)
"""

from __future__ import annotations

from typing import NamedTuple

from nardy_engine.errors import IllegalPlayError
from nardy_engine.rules.components import NextFirst, Switch
from nardy_engine.rules.memory import owed_dice
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Outcome, Position


class Cube(NamedTuple):
    """What a game is worth, and who may double."""

    value: int = 1
    owner: int | None = None
    """Player 0 or 1; None = in the middle, both may (CU-1, CU-2)."""


class Offer(NamedTuple):
    """A double that has not been answered."""

    cube: Cube
    """Before the double."""
    by: int
    """The player who doubles."""
    is_beaver: bool = False
    """It answers a double, and the one who makes it keeps the cube (CU-8)."""


class Result(NamedTuple):
    """A finished game of a match."""

    winner: int | None
    """Player 0 or 1; None = a draw (DR-1)."""
    points: int
    """Stake units won, the cube included."""


class MatchScore(NamedTuple):
    """Where a match stands before or during a game."""

    length: int = 0
    """Points that win the match; 0 = money play, which has no end."""
    points: tuple[int, int] = (0, 0)
    crawford: bool = False
    """This is the first game after a player has come within one point of winning (CU-6)."""

    @property
    def winner(self) -> int | None:
        """The player who has won the match, or None."""
        if not self.length or max(self.points) < self.length:
            return None
        return self.points.index(max(self.points))


def may_double(
    variant: Variant,
    cube: Cube,
    score: MatchScore,
    player: int,
    position: Position | None = None,
    extra_roll: bool = False,
) -> bool:
    """Return whether a player may double now, about to roll on his own turn (CU-2, CU-6, CU-9).

    Args:
        variant: The game.
        cube: Before the double.
        score: The match.
        player: Number of the player whose turn it is.
        position: Before the roll; None where no roll has several segments.
        extra_roll: The roll is one that a full double has given (GUL-4).
    """
    return _objection(variant, cube, score, player, position, extra_roll) is None


def offer(
    variant: Variant,
    cube: Cube,
    score: MatchScore,
    player: int,
    position: Position | None = None,
    extra_roll: bool = False,
) -> Offer:
    """Double; arguments as for `may_double`.

    Raises:
        IllegalPlayError: The player may not double now; the message says why.
    """
    objection = _objection(variant, cube, score, player, position, extra_roll)
    if objection:
        raise IllegalPlayError(objection)
    return Offer(cube, player)


def _objection(
    variant: Variant,
    cube: Cube,
    score: MatchScore,
    player: int,
    position: Position | None,
    extra_roll: bool,
) -> str | None:
    """Say why a player may not double, or return None."""
    waiting = position is not None and any(owed_dice(variant, row) for row in position)
    objections = (
        (variant.cube.kind is Switch.OFF, f"{variant.id} is played without a cube"),
        (cube.owner not in (None, player), "the cube belongs to the other player (CU-2)"),
        (
            not _has_face(variant, 2 * cube.value),
            f"the cube shows {cube.value} and goes no higher (CU-1)",
        ),
        (score.crawford, "nobody doubles in the Crawford game (CU-6)"),
        (extra_roll, "nobody doubles before an extra roll (CU-9)"),
        (waiting, "nobody doubles before all dice of the last roll are played (CU-9)"),
    )
    return next((sentence for holds, sentence in objections if holds), None)


def _has_face(variant: Variant, value: int) -> bool:
    return not variant.cube.max or value <= variant.cube.max


def take(double: Offer) -> Cube:
    """Return the cube after a take: twice the value, the taker's (CU-4), or the beaver's (CU-8)."""
    owner = double.by if double.is_beaver else 1 - double.by
    return Cube(2 * double.cube.value, owner)


def refuse(double: Offer) -> Result:
    """Return what a pass gives: a single game at the value before the double (CU-3)."""
    return Result(double.by, double.cube.value)


def beaver(variant: Variant, double: Offer) -> Offer:
    """Answer a double with another one, keeping the cube (CU-8).

    Raises:
        IllegalPlayError: The game has no beavers, this is one already, or the cube ends there.
    """
    if not variant.cube.beaver:
        raise IllegalPlayError(f"{variant.id} is played without beavers (CU-8)")
    if double.is_beaver:
        raise IllegalPlayError("a beaver is taken or passed, not doubled once more (CU-8)")
    cube = take(double)
    if not _has_face(variant, 2 * cube.value):
        raise IllegalPlayError(f"the cube shows {cube.value} and goes no higher (CU-1)")
    return Offer(cube, 1 - double.by, is_beaver=True)


def first_cube(variant: Variant, score: MatchScore, ties: int = 0) -> Cube:
    """Return the cube at the start of a game.

    Args:
        variant: The game.
        score: The match.
        ties: How often the two opening dice were equal; with `cube.automatic_doubles` each of
            them doubles the cube in money play, up to its highest face (S-10).
    """
    value = 1
    if variant.cube.kind is Switch.ON and variant.cube.automatic_doubles and not score.length:
        for _ in range(ties):
            value *= 2 if _has_face(variant, 2 * value) else 1
    return Cube(value)


def game_result(
    variant: Variant, cube: Cube, score: MatchScore, outcome: Outcome, player: int
) -> Result:
    """Return what a game counts that was played to its end (CU-5, CU-7).

    Args:
        variant: The game.
        cube: At the end of the game.
        score: The match.
        outcome: How the game ended, seen from `player`.
        player: Number of the player whose view that is.
    """
    if outcome.draw:
        return Result(None, 0)
    points = outcome.points
    if variant.cube.jacoby and not score.length and cube.owner is None:
        points = variant.win_kinds[0][1]
    return Result(player if outcome.won else 1 - player, points * cube.value)


def next_game(variant: Variant, score: MatchScore, result: Result) -> MatchScore:
    """Return the match after a game; the next one may be the Crawford game (CU-6)."""
    points = list(score.points)
    if result.winner is not None:
        points[result.winner] += result.points
    match_point = score.length - 1
    first_time = max(score.points) < match_point == max(points)
    crawford = bool(score.length) and variant.cube.crawford and first_time
    return MatchScore(score.length, (points[0], points[1]), crawford)


def next_first(variant: Variant, first: int, result: Result) -> int | None:
    """Return who moves first in the next game, None if the dice decide (MT-1, D-21).

    Args:
        variant: The game.
        first: The player who moved first in the game that is over.
        result: Its result; after a draw there is no winner, so the players alternate.
    """
    rule = variant.match.next_first
    if rule is NextFirst.ROLL_OFF:
        return None
    if rule is NextFirst.WINNER and result.winner is not None:
        return result.winner
    return 1 - first
