"""The one-line position text for every game, `W{24:13 18:2} off0 | B{24:15} off0 ; W 6-6`.

Layer 3; imports errors, types, rules. Each side lists `point:count` in its *own* numbering
(rules.md section 2); `bar:n` is the point above the head, `off` are the checkers borne off; after
the semicolon stands the side to act and its roll, if rolled. The writer is strict: points from
the highest down, `off` always there, the dice in the order thrown. The reader wants none of that:
case, blanks, braces and `off` may be missing, sides and points come in any order, without
`; ...` White acts before rolling, and `start` is the start position.

Games that remember more than checkers (`rules.memory`) add words behind `off`. The writer leaves
out what a reader assumes (`recall`), so most positions have none of them:

    owes5x2,6x4    dice that the side must still play before anybody rolls: two fives, four sixes
    rolled         this side threw them; else the other one did
    head0          checkers that may still leave its head in this roll (else 1)
    rolls2         own rolls so far, where doubles climb from a later roll on
    first          this side moved first, not White
    fresh / fresh0 its first roll is still to come, or not
    last / last0   it has the last turn (DR-1), or not

`W{24:14 4:1} off0 | B{24:15} off0 owes6x4 ; B`: White could play no six, Black must play four.

Emir (section 2): `18:e` is the emir alone, `18:3e` three checkers of which one is the emir,
`bar:e` and `off4e` likewise; `13:2/1` are two own checkers on a captive, `13:2/e` on the captive
emir. The captive is written with its captor, not with its owner. Behind `off` come `res2`, nukers
in reserve, `above4`, checkers above the emir on the head, and `taken` if the other emir has taken
this one. `; W pre` says that White may make a pre-roll move before rolling (EMI-11).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from nardy_engine.errors import NardyError, NotationError, PositionError
from nardy_engine.notation.reading import Token, counted, fault, tokens
from nardy_engine.notation.recall import stated_memory, unusual_memory
from nardy_engine.notation.situation import (
    SIDE_NAMES,
    ParsedPosition,
    Side,
    other_side,
    situation,
)
from nardy_engine.rules import Variant
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import MOVER, OFF, OPPONENT, Dice, Position, Row

_LABELS: dict[str, Side] = {"w": "W", "white": "W", "b": "B", "black": "B"}

_WORDS = {
    "res": "reserve",
    "above": "emir_above",
    "taken": "emir_taken",
    "rolled": "roller",
    "head": "head_left",
    "rolls": "rolls",
    "first": "first",
    "fresh": "fresh",
    "last": "last_turn",
}
"""Words behind `off` and the memory that they name, in the order written; alone they mean 1."""

_OWES = "owes"
_EMIR = "e"
_PREROLL = "pre"
_PREROLL_WORDS = (_PREROLL, "preroll")
_OPENING = ("{", "[", "(")
_CLOSING = ("}", "]", ")")


# -- writing --------------------------------------------------------------------------------------


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
    >>> mad = load_variant("mad_nardy")
    >>> parsed = parse_position("W{24:14 4:1} | B{24:15} owes6x4 ; B", mad)
    >>> format_position(mad, *parsed[:2])
    'W{24:14 4:1} off0 | B{24:15} off0 owes6x4 ; B'
    """
    parsed = ParsedPosition(position, side, dice)
    roll = "" if dice is None else f" {dice[0]}-{dice[1]}"
    if variant.recall(position.mover, "preroll"):
        roll = f" {_PREROLL}"
    sides = [f"{colour}{_side_text(variant, parsed, colour)}" for colour in SIDE_NAMES]
    return f"{' | '.join(sides)} ; {side}{roll}"


def _side_text(variant: Variant, parsed: ParsedPosition, colour: Side) -> str:
    row, other = parsed.row(colour), parsed.row(other_side(colour))
    places = range(variant.bar, OFF, -1)
    if variant.captives_exist:
        entries = [
            f"{_name(variant, p)}:{_emir_count(variant, row, other, p)}" for p in places if row[p]
        ]
        off = f"{row[OFF]}{_EMIR}" if variant.recall(row, "emir") == OFF else str(row[OFF])
    else:
        entries = [f"{_name(variant, p)}:{row[p]}" for p in places if row[p]]
        off = str(row[OFF])
    words = _memory_words(variant, parsed, colour) if variant.memory else []
    return " ".join([f"{{{' '.join(entries)}}} off{off}", *words])


def _name(variant: Variant, slot: int) -> str:
    return "bar" if slot == variant.bar else str(slot)


def _emir_count(variant: Variant, row: Row, other: Row, point: int) -> str:
    """Return `2`, `e`, `3e`, `2/1` or `2e/e`: free checkers, and the captive under them."""
    text = str(row[point])
    if variant.recall(row, "emir") == point:
        text = _EMIR if row[point] == 1 else f"{text}{_EMIR}"
    if point != variant.bar and (theirs := variant.opposite_point(point)) in variant.captives(
        other
    ):
        text += f"/{_EMIR}" if variant.recall(other, "emir") == theirs else "/1"
    return text


def _memory_words(variant: Variant, parsed: ParsedPosition, colour: Side) -> list[str]:
    row = parsed.row(colour)
    side = MOVER if colour == parsed.side else OPPONENT
    first = MOVER if parsed.side == "W" else OPPONENT
    said: Mapping[str, int] = unusual_memory(variant, parsed.position, first)[side]
    if variant.captives_exist:
        said = {**said, **stated_memory(variant, row)}
    owed = ",".join(f"{die}x{steps}" for die, steps in owed_dice(variant, row))
    words = [
        word
        if word not in ("res", "above", "head", "rolls") and said[name] == 1
        else f"{word}{said[name]}"
        for word, name in _WORDS.items()
        if name in said
    ]
    return [f"{_OWES}{owed}", *words] if owed else words


# -- reading --------------------------------------------------------------------------------------


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
    """One pass over the tokens; `_rows` and `_memory` fill up as the sides are read."""

    def __init__(self, text: str, variant: Variant) -> None:
        self._text = text
        self._variant = variant
        self._tokens = tokens(text)
        self._next = 0
        self._rows: dict[Side, dict[int, int]] = {}
        self._memory: dict[Side, dict[str, int]] = {"W": {}, "B": {}}

    def read(self) -> ParsedPosition:
        """Read everything."""
        variant = self._variant
        if self._peek().text == "start":
            self._take()
            start = variant.start_row()[: variant.n_counts]
            counts: dict[Side, Row] = {"W": start, "B": start}
        else:
            if self._peek().kind == "end":
                raise NotationError(
                    "the position is empty; write 'start' or a line such as "
                    f"'{format_position(variant, variant.start_position())}'"
                )
            self._read_sides()
            counts = {side: self._counts(side) for side in SIDE_NAMES}
            self._check_shared(counts)
        side, dice = self._read_turn()
        parsed = situation(variant, counts, side, dice, given=self._memory)
        if dice and owed_dice(variant, parsed.position.mover):
            raise NotationError(
                "dice are owed, so nobody rolls before they are played: leave the roll out"
            )
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
                near = difflib.get_close_matches(token.text, ["start"], n=1)
                hint = "did you mean 'start'?" if near else "such as 'W{24:13 18:2}'"
                raise self._fault(f"expected White's checkers, {hint}", token)
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
        return token.kind == "number" or token.text in (*_OPENING, "off", "bar")

    def _at_turn(self) -> bool:
        """The sides are read: end of text, a semicolon, or a label or roll after both sides."""
        token = self._peek()
        if token.kind == "end" or token.text == ";":
            return True
        both = len(self._rows) == len(SIDE_NAMES)
        return both and (token.text in (*_LABELS, *_PREROLL_WORDS) or token.kind == "number")

    def _open(self, side: Side, token: Token) -> None:
        if side in self._rows:
            raise self._fault(f"{SIDE_NAMES[side]} is given twice", token)
        self._rows[side] = {}
        self._skip(":=")
        brace = self._peek() if self._peek().text in _OPENING else None
        if brace:
            self._take()
        while self._read_entry(side):
            self._skip(",")
        if brace:
            if self._peek().text not in _CLOSING:
                raise self._fault("expected a point and a count such as 18:2, or '}'", self._peek())
            self._take()
            while self._peek().kind == "word" and self._read_entry(side):
                self._skip(",")

    def _read_entry(self, side: Side) -> bool:
        """Read `18:2`, `bar:1`, `off3` or a word; return False, having read nothing, if none."""
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
            return self._read_word(side)
        self._take()
        self._skip(":=")
        count = self._read_count(side, token, slot)
        if slot in self._rows[side]:
            raise self._fault(f"{SIDE_NAMES[side]} has '{token.text}' twice", token)
        self._rows[side][slot] = count
        return True

    def _read_count(self, side: Side, place: Token, slot: int) -> int:
        """Read `2`; where there is an emir also `e`, `3e`, `2/1`, `2e/e`."""
        has_emir = self._variant.captives_exist
        token = self._peek()
        count = 1
        if token.kind == "number":
            count = int(self._take().text)
        elif not (has_emir and token.text == _EMIR):
            raise self._fault(f"expected a number of checkers after '{place.text}'", token)
        if has_emir and self._peek().text == _EMIR:
            self._set(side, "emir", slot, self._take())
        if has_emir and self._at_captive():
            self._take()
            captive = self._take()
            if not 1 <= slot <= self._variant.head_point or captive.text not in ("1", _EMIR):
                raise self._fault("one checker lies captive under a point: write '/1'", captive)
            theirs = self._variant.opposite_point(slot)
            self._set(other_side(side), f"captive_{theirs}", 1, captive)
            if captive.text == _EMIR:
                self._set(other_side(side), "emir", theirs, captive)
        return count

    def _at_captive(self) -> bool:
        """A slash with a count behind it, not the one between the sides."""
        after = self._peek(1)
        captive = after.text == _EMIR or (
            after.kind == "number" and self._peek(2).text not in (":", "=")
        )
        return self._peek().text == "/" and captive

    def _read_word(self, side: Side) -> bool:
        """Read `owes5x2,6x4`, `res2`, `fresh`; only words that the game has a meaning for."""
        token = self._peek()
        known = {word: name for word, name in _WORDS.items() if self._variant.remembers(name)}
        if token.text == _OWES and self._variant.remembers("owed_1"):
            self._take()
            self._read_owed(side)
            return True
        if token.text not in known:
            return False
        self._take()
        self._skip(":=")
        number = int(self._take().text) if self._peek().kind == "number" else 1
        self._set(side, known[token.text], number, token)
        return True

    def _read_owed(self, side: Side) -> None:
        """Read `5x2,6x4`; without `x` it is one step."""
        self._skip(":=")
        while True:
            die = self._take()
            sides = self._variant.dice.sides
            if die.kind != "number" or not 1 <= int(die.text) <= sides:
                raise self._fault(f"expected a die from 1 to {sides} and its steps: owes5x2", die)
            steps = 1
            if self._peek().text == "x":
                self._take()
                number = self._take()
                if number.kind != "number":
                    raise self._fault("expected a number of steps: owes5x2", number)
                steps = int(number.text)
            self._set(side, f"owed_{int(die.text)}", steps, die)
            if self._peek().text != "," or self._peek(1).kind != "number":
                return
            self._take()

    def _set(self, side: Side, name: str, value: int, token: Token) -> None:
        """Note what the text says about a side's memory."""
        if name in self._memory[side]:
            what = "two emirs" if name == "emir" else f"'{token.text}' twice"
            raise self._fault(f"{SIDE_NAMES[side]} has {what}", token)
        most = {item.name: item.most for item in self._variant.memory}[name]
        if not 0 <= value <= most:
            raise self._fault(f"'{token.text}' is 0 to {most} here, not {value}", token)
        self._memory[side][name] = value

    def _point(self, token: Token) -> int:
        point, variant = int(token.text), self._variant
        if not 1 <= point <= variant.bar:
            raise self._fault(
                f"point {point} is not on the board, points run from 1 to {variant.head_point}",
                token,
            )
        return point

    def _counts(self, side: Side) -> Row:
        """Return the checkers; without `off` the missing ones are in reserve, then borne off."""
        variant, name = self._variant, SIDE_NAMES[side]
        if side not in self._rows:
            start = format_position(variant, variant.start_position()).partition(" | ")[0]
            raise NotationError(
                f"{name}'s checkers are missing: add them, such as '| {side}{start[1:]}'"
            )
        entries, memory = self._rows[side], self._memory[side]
        captive = sum(n for known, n in memory.items() if known.startswith("captive_"))
        standing = sum(count for slot, count in entries.items() if slot != OFF) + captive
        off, reserve = entries.get(OFF), memory.get("reserve")
        missing = variant.setup.checkers - standing - (off or 0)
        if reserve is None:
            reserve = max(0, min(missing, variant.setup.reserve))
        missing -= reserve
        if missing < 0 or (missing and off is not None):
            waiting = f", {reserve} in reserve" if reserve else ""
            raise PositionError(
                f"{name} has {counted(variant.setup.checkers - missing, 'checker')} "
                f"({standing} on the board, {off or 0} off{waiting}); "
                f"{variant.id} is played with {variant.setup.checkers}"
            )
        row = [0] * variant.n_counts
        for slot, count in entries.items():
            row[slot] = count
        row[OFF] = (off or 0) + missing
        return tuple(row)

    def _check_shared(self, counts: Mapping[Side, Row]) -> None:
        for point in range(1, self._variant.bar):
            theirs = self._variant.opposite_point(point)
            if counts["W"][point] and counts["B"][theirs]:
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
        if self._variant.remembers("preroll") and self._peek().text in _PREROLL_WORDS:
            self._set(side, "preroll", 1, self._take())
            thrown: list[Token] = []
        else:
            thrown = self._thrown()
        if self._peek().kind != "end":
            raise self._fault(
                "expected the end of the text"
                if thrown
                else "expected the side to act and its roll, such as 'W 6-4'",
                self._peek(),
            )
        return side, self._dice(thrown)

    def _thrown(self) -> list[Token]:
        thrown: list[Token] = []
        while self._peek().kind == "number":
            thrown.append(self._take())
            self._skip("-,/")
        return thrown

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
