"""The one-line position text for every game, `W{24:13 18:2} off0 | B{24:15} off0 ; W 6-6`.

Layer 3; imports errors, types, rules. Each side lists `point:count` in its *own* numbering
(rules.md section 2); `bar:n` is the point above the head, `off` are the checkers borne off; after
the semicolon stands the side to act and its roll, if rolled. The writer is strict: points from
the highest down, `off` always there, the dice in the order thrown. The reader wants none of that:
case, blanks, braces and `off` may be missing, sides and points come in any order, without
`; ...` White acts before rolling, and `start` is the start position.
"""

from __future__ import annotations

from nardy_engine.errors import NardyError, NotationError, PositionError
from nardy_engine.notation.reading import Token, counted, fault, tokens
from nardy_engine.notation.situation import (
    SIDE_NAMES,
    ParsedPosition,
    Side,
    other_side,
    situation,
)
from nardy_engine.rules import Variant
from nardy_engine.types import OFF, Dice, Position, Row

_LABELS: dict[str, Side] = {"w": "W", "white": "W", "b": "B", "black": "B"}


def format_position(
    variant: Variant, position: Position, side: Side = "W", dice: Dice | None = None
) -> str:
    """Write a position as one line of text.

    Args:
        variant: The game.
        position: Row 0 is `side`.
        side: Colour of the side to act.
        dice: The roll to be played; None before the roll.

    >>> from nardy_engine import load_variant
    >>> long = load_variant("long")
    >>> format_position(long, long.start_position(), "W", (6, 5))
    'W{24:15} off0 | B{24:15} off0 ; W 6-5'
    """
    parsed = ParsedPosition(position, side, dice)
    roll = "" if dice is None else f" {dice[0]}-{dice[1]}"
    sides = [f"{colour}{_row_text(variant, parsed.row(colour))}" for colour in SIDE_NAMES]
    return f"{' | '.join(sides)} ; {side}{roll}"


def _row_text(variant: Variant, row: Row) -> str:
    entries = [f"bar:{row[variant.bar]}"] if row[variant.bar] else []
    entries += [f"{point}:{row[point]}" for point in range(variant.head_point, 0, -1) if row[point]]
    return f"{{{' '.join(entries)}}} off{row[OFF]}"


def parse_position(text: str, variant: Variant) -> ParsedPosition:
    """Read the one-line position text.

    Args:
        text: As a person types it; see the module's docstring for what may be missing.
        variant: The game, which knows the board and the number of checkers.

    Returns:
        The position with the side to act in row 0, its colour, and the roll or None.

    Raises:
        NotationError: The text cannot be read; the message shows the column.
        PositionError: It can be read, but the position cannot occur in this game.
        DiceError: The roll is impossible.

    >>> from nardy_engine import load_variant
    >>> parse_position("w 24:13 18:2 | b 24:15; b 64", load_variant("long")).dice
    (6, 4)
    """
    return _Reader(text, variant).read()


class _Reader:
    """One pass over the tokens; `_rows` fills up as the sides are read."""

    def __init__(self, text: str, variant: Variant) -> None:
        self._text = text
        self._variant = variant
        self._tokens = tokens(text)
        self._next = 0
        self._rows: dict[Side, dict[int, int]] = {}
        self._starts: dict[Side, Token] = {}

    def read(self) -> ParsedPosition:
        """Read everything."""
        variant = self._variant
        if self._peek().text == "start":
            self._take()
            white = black = variant.start_row()
        else:
            if self._peek().kind == "end":
                raise NotationError(
                    "the position is empty; write 'start' or a line such as "
                    f"'{format_position(variant, variant.start_position())}'"
                )
            self._read_sides()
            white, black = (self._finished_row(side) for side in SIDE_NAMES)
            self._check_shared(white, black)
        side, dice = self._read_turn()
        parsed = situation(white, black, side, dice)
        variant.check_position(parsed.position)
        return parsed

    # -- tokens -------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._peek()
        self._next += 1
        return token

    def _fault(self, what: str, token: Token) -> NardyError:
        return fault(what, self._text, token.start, token.end)

    def _skip(self, symbols: str) -> None:
        while self._peek().kind == "symbol" and self._peek().text in symbols:
            self._take()

    # -- the two sides ------------------------------------------------------------------------

    def _read_sides(self) -> None:
        while not self._at_turn():
            token = self._peek()
            if token.text in _LABELS:
                self._take()
                self._open(_LABELS[token.text], token)
            elif token.kind == "symbol" and token.text in "|/":
                self._take()
                continue
            elif not self._rows and self._begins_side(token):
                self._open("W", token)
            elif not self._rows:
                raise self._fault("expected White's checkers, such as 'W{24:13 18:2}'", token)
            elif len(self._rows) == 1 and self._after_bar() and self._begins_side(token):
                self._open(other_side(next(iter(self._rows))), token)
            else:
                raise self._fault(
                    "expected '|' and the other side"
                    if len(self._rows) == 1
                    else "expected ';' and the side to act with its roll, such as '; W 6-4'",
                    token,
                )

    def _after_bar(self) -> bool:
        return self._next > 0 and self._tokens[self._next - 1].text in ("|", "/")

    @staticmethod
    def _begins_side(token: Token) -> bool:
        return token.kind == "number" or token.text in ("{", "[", "(", "off", "bar")

    def _at_turn(self) -> bool:
        """The sides are read: end of text, a semicolon, or a label or roll after both sides."""
        token = self._peek()
        if token.kind == "end" or token.text == ";":
            return True
        both = len(self._rows) == len(SIDE_NAMES)
        return both and (token.text in _LABELS or token.kind == "number")

    def _open(self, side: Side, token: Token) -> None:
        if side in self._rows:
            raise self._fault(f"{SIDE_NAMES[side]} is given twice", token)
        self._rows[side] = {}
        self._starts[side] = token
        self._skip(":=")
        brace = self._peek() if self._peek().text in ("{", "[", "(") else None
        if brace:
            self._take()
        while self._read_entry(side):
            self._skip(",")
        if brace:
            if self._peek().text not in ("}", "]", ")"):
                raise self._fault("expected a point and a count such as 18:2, or '}'", self._peek())
            self._take()
            while self._peek().text in ("off", "bar") and self._read_entry(side):
                self._skip(",")

    def _read_entry(self, side: Side) -> bool:
        """Read `18:2`, `bar:1` or `off3`; return False, having read nothing, at anything else."""
        token = self._peek()
        slots = {"off": OFF, "bar": self._variant.bar}
        if token.kind == "number":
            if self._peek(1).text not in (":", "="):
                if len(self._rows) == len(SIDE_NAMES):
                    return False
                raise self._fault(f"expected ':' and a count after point {token.text}", token)
            slot = self._point(token)
        elif token.text in slots:
            slot = slots[token.text]
        else:
            return False
        self._take()
        self._skip(":=")
        count = self._take()
        if count.kind != "number":
            raise self._fault(f"expected a number of checkers after '{token.text}'", count)
        if slot in self._rows[side]:
            raise self._fault(f"{SIDE_NAMES[side]} has '{token.text}' twice", token)
        self._rows[side][slot] = int(count.text)
        return True

    def _point(self, token: Token) -> int:
        point, variant = int(token.text), self._variant
        if not 1 <= point <= variant.bar:
            raise self._fault(
                f"point {point} is not on the board, points run from 1 to {variant.head_point}",
                token,
            )
        return point

    def _finished_row(self, side: Side) -> Row:
        """Return the row; without `off` the missing checkers are borne off."""
        variant, name = self._variant, SIDE_NAMES[side]
        if side not in self._rows:
            example = f"{side}{_row_text(variant, variant.start_row())}"
            raise NotationError(f"{name}'s checkers are missing: add them, such as '| {example}'")
        entries = self._rows[side]
        standing = sum(count for slot, count in entries.items() if slot != OFF)
        total = standing + entries.get(OFF, 0)
        if total > variant.setup.checkers or (OFF in entries and total < variant.setup.checkers):
            raise PositionError(
                f"{name} has {counted(total, 'checker')} ({standing} on the board, "
                f"{entries.get(OFF, 0)} off); {variant.id} is played with {variant.setup.checkers}"
            )
        row = [0] * variant.n_slots
        row[OFF] = variant.setup.checkers - standing
        for slot, count in entries.items():
            row[slot] = count
        return tuple(row)

    def _check_shared(self, white: Row, black: Row) -> None:
        for point in range(1, self._variant.bar):
            theirs = self._variant.opposite_point(point)
            if white[point] and black[theirs]:
                raise PositionError(
                    f"White's {point} is Black's {theirs}: "
                    f"both sides cannot stand there in {self._variant.id}"
                )

    # -- the turn -----------------------------------------------------------------------------

    def _read_turn(self) -> tuple[Side, Dice | None]:
        self._skip(";|")
        side: Side = "W"
        if self._peek().text in _LABELS:
            side = _LABELS[self._take().text]
        self._skip(":")
        thrown: list[Token] = []
        while self._peek().kind == "number":
            thrown.append(self._take())
            self._skip("-,/")
        if self._peek().kind != "end":
            raise self._fault(
                "expected the end of the text"
                if thrown
                else "expected the side to act and its roll, such as 'W 6-4'",
                self._peek(),
            )
        return side, self._dice(thrown)

    def _dice(self, thrown: list[Token]) -> Dice | None:
        if not thrown:
            return None
        digits = [int(token.text) for token in thrown]
        if len(thrown) == 1 and len(thrown[0].text) == 2:
            digits = [int(digit) for digit in thrown[0].text]
        if len(digits) != 2:
            raise fault(
                "a roll is two numbers such as 6-4", self._text, thrown[0].start, thrown[-1].end
            )
        return self._variant.check_dice((digits[0], digits[1]))
