"""What the parsers of positions return: checkers, the side to act, the roll, the match.

Layer 3; imports types and rules. Colours exist only here, at the notation border: White (`W`) is
the player who moves first unless said otherwise, the bottom player of XGID and player 1 of gnubg.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from nardy_engine.notation.recall import Counts, Memory, with_memory
from nardy_engine.reference.cube import Cube, MatchScore
from nardy_engine.rules import Variant
from nardy_engine.types import MOVER, OPPONENT, Dice, Position, Row

Side: TypeAlias = Literal["W", "B"]
"""White or Black."""

SIDE_NAMES: dict[Side, str] = {"W": "White", "B": "Black"}


def other_side(side: Side) -> Side:
    """Return the opponent's colour."""
    return "B" if side == "W" else "W"


@dataclass(frozen=True, kw_only=True)
class Match:
    """Cube and match, as far as the ids of short nardy can say them.

    Each id drops what it has no place for: XGID the resignation and the state, the gnubg Match
    ID the beavers and the cube limit.
    """

    cube_log2: int = 0
    """Value of the cube as a power of two."""
    cube_owner: Side | None = None
    """None: in the middle."""
    doubled: bool = False
    """A double is offered and not yet answered; `decider` is the side that answers."""
    decider: Side | None = None
    """Who decides; None is the side on roll."""
    resigned: int = 0
    """Points kind offered by a resignation, 0 for none."""
    state: int = 1
    """gnubg's game state: 0 none, 1 playing, 2 over, 3 resigned, 4 drop."""
    length: int = 0
    """Points of the match; 0 is money play."""
    score_white: int = 0
    score_black: int = 0
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    max_cube_log2: int = 10
    """Highest power of two that the cube may reach, XGID's last field."""

    @property
    def cube(self) -> Cube:
        """The cube as the rules know it; White is player 0."""
        owner = None if self.cube_owner is None else "WB".index(self.cube_owner)
        return Cube(1 << self.cube_log2, owner)

    @property
    def score(self) -> MatchScore:
        """The match as the rules know it; White is player 0."""
        return MatchScore(self.length, (self.score_white, self.score_black), self.crawford)


class ParsedPosition(NamedTuple):
    """A position read from text, seen from the side to act."""

    position: Position
    """Row 0 belongs to `side`."""
    side: Side = "W"
    """Colour of the side to act."""
    dice: Dice | None = None
    """The roll still to be played, or None before the roll."""
    match: Match | None = None
    """Cube and score, if the notation has them."""

    def row(self, side: Side) -> Row:
        """Return the counts of one colour in its own numbering."""
        return self.position.mover if side == self.side else self.position.opponent


def situation(
    variant: Variant,
    counts: Mapping[Side, Counts],
    side: Side,
    dice: Dice | None = None,
    match: Match | None = None,
    given: Mapping[Side, Memory] | None = None,
) -> ParsedPosition:
    """Build from checkers by colour; the side to act becomes row 0.

    Args:
        variant: The game.
        counts: Checkers of each colour, in its own numbering.
        side: Colour of the side to act.
        dice: The roll to be played, if rolled.
        match: Cube and score, if the notation has them.
        given: What the text says about the memory of each side; the rest is assumed (`recall`).
    """
    other, known = other_side(side), given or {}
    position = with_memory(
        variant,
        (counts[side], counts[other]),
        (known.get(side, {}), known.get(other, {})),
        first=MOVER if side == "W" else OPPONENT,
    )
    return ParsedPosition(position, side, dice, match)
