"""The text of plays: `24/18 13/11`, `bar/20`, `8/5(2)`, `13/7*/4`, `6/off`, `pass`.

Layer 3; imports errors, types, rules, and the reference engine to find the play that is meant.
Points are the mover's own numbers. The writer is strict and follows the GNU convention: parts
from the highest source down; the steps of one checker are one part, and a point on its way is
named only where it hits (`24/18*/13`); equal parts are counted, `8/5(2)`. A part that only names
its ends may have taken any way to the same position.

The reader wants less: any order, step by step or merged, `-`, `→`, `>` for the slash, commas, `25`
for the bar, `0` or `o` for off, `*` there or missing. Where two ways differ in what they hit, the
quiet one is meant unless `*` or a named point says otherwise.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from nardy_engine import reference
from nardy_engine.errors import IllegalPlayError
from nardy_engine.notation.explain import why_illegal
from nardy_engine.notation.reading import Token, fault, listed, tokens
from nardy_engine.rules import Variant
from nardy_engine.rules.components import Contact
from nardy_engine.types import OFF, Dice, Play, Position, Step

PASS_TEXT = "pass"
"""How a play without steps is written."""

_PASS_WORDS = ("", "pass", "no move", "cannot move", "none")
_MAX_REPEAT = 6
"""Most steps of a roll in any game, hence the largest count in brackets."""


class Part(NamedTuple):
    """One part of the text: a checker's way, made `times` times."""

    way: tuple[int, ...]
    """Slots from the source to the target, at least two."""
    hits: tuple[int, ...]
    """Slots of the way that carry `*`."""
    times: int
    """How many checkers go this way."""


def format_play(variant: Variant, play: Play) -> str:
    """Write a play in the strict form.

    >>> from nardy_engine import load_variant
    >>> short = load_variant("short")
    >>> steps = (Step(13, 10, 3), Step(13, 10, 3), Step(25, 22, 3), Step(22, 19, 3, hit=True))
    >>> format_play(short, Play(steps, short.start_position()))
    'bar/19* 13/10(2)'
    """
    if not play.steps:
        return PASS_TEXT
    hits = {step.target for step in play.steps if step.hit}
    texts = Counter(_way_text(variant, way, hits) for way in _chains(play.steps))
    return " ".join(text if n == 1 else f"{text}({n})" for text, n in texts.items())


def _chains(steps: tuple[Step, ...]) -> list[tuple[int, ...]]:
    """Join steps that one checker can have made; highest source, then farthest way first."""
    open_steps = sorted(((step.source, step.target) for step in steps), reverse=True)
    chains = []
    while open_steps:
        way = list(open_steps.pop(0))
        while way[-1] != OFF:
            following = next((s for s in open_steps if s[0] == way[-1]), None)
            if following is None:
                break
            open_steps.remove(following)
            way.append(following[1])
        chains.append(tuple(way))
    return sorted(chains, key=lambda way: (-way[0], -way[-1], way))


def _way_text(variant: Variant, way: tuple[int, ...], hits: set[int]) -> str:
    named = [way[0], *(slot for slot in way[1:-1] if slot in hits), way[-1]]
    return "/".join(
        slot_text(variant, slot) + ("*" if i and slot in hits else "")
        for i, slot in enumerate(named)
    )


def slot_text(variant: Variant, slot: int) -> str:
    """Return `bar`, `off` or the number of the point."""
    return "bar" if slot == variant.bar else "off" if slot == OFF else str(slot)


def describe(variant: Variant, before: Position, dice: Dice, after: Position) -> Play:
    """Return the play that leads to an afterstate.

    Args:
        variant: The game.
        before: Mover in row 0.
        dice: The roll.
        after: The afterstate, the same side still in row 0.

    Returns:
        The play in the steps of the reference engine. All ways to end the game are one result
        (T-10), so a finishing play may have hit what another way to the same result does not.

    Raises:
        IllegalPlayError: No legal play leads there.
    """
    result = reference.outcome(variant, after)
    for play in reference.plays(variant, before, dice):
        if play.end == after or (result and reference.outcome(variant, play.end) == result):
            return play
    raise IllegalPlayError(
        f"no legal play with {dice[0]}-{dice[1]} leads from this position to that one"
    )


def parse_play(text: str, variant: Variant, position: Position, dice: Dice) -> Play:
    """Read a play and find it among the legal ones.

    Args:
        text: The play as a person types it; see the module's docstring.
        variant: The game.
        position: Mover in row 0.
        dice: The roll.

    Returns:
        The legal play that is meant, in the steps of the reference engine.

    Raises:
        NotationError: The text is no play; the message shows the column.
        IllegalPlayError: It is not legal; the message says why.
        DiceError: The roll is impossible.
    """
    roll = variant.check_dice(dice)
    parts = parse_parts(text, variant)
    legal = reference.plays(variant, position, roll)
    if not legal:
        raise IllegalPlayError("the game is over; there is nothing to play")
    wanted = _row_after(position.mover, parts)
    fitting = [play for play in legal if play.end.mover == wanted]
    if not fitting:
        ways = [part.way for part in parts for _ in range(part.times)]
        example = format_play(variant, legal[0])
        raise IllegalPlayError(why_illegal(variant, position, roll, ways, legal, example))
    return _meant(variant, position, parts, fitting)


def _row_after(row: tuple[int, ...], parts: list[Part]) -> tuple[int, ...]:
    after = list(row)
    for part in parts:
        after[part.way[0]] -= part.times
        after[part.way[-1]] += part.times
    return tuple(after)


def _meant(variant: Variant, position: Position, parts: list[Part], fitting: list[Play]) -> Play:
    """Choose among plays that move the same checkers but may hit different ones."""
    if fitting[0].end.mover[OFF] == variant.setup.checkers:
        return fitting[0]  # T-10: all ways to finish are one result, whatever they hit
    starred = {slot for part in parts for slot in part.hits}
    named = {slot for part in parts for slot in part.way[1:]}
    if variant.contact is Contact.HIT:
        blots = {
            point
            for point in range(1, variant.bar)
            if position.opponent[variant.opposite_point(point)] == 1
        }
        required = starred | (named & blots)
    else:
        required = starred
    hits = {play: _hits(variant, position, play) for play in fitting}
    allowed = [play for play in fitting if required <= hits[play]]
    if not allowed:
        missed = sorted(required - set().union(*hits.values())) or sorted(required)
        raise IllegalPlayError(f"nothing is hit on {listed(missed, 'and')} by this play")
    fewest = min(len(hits[play]) for play in allowed)
    best = [play for play in allowed if len(hits[play]) == fewest]
    if len(best) > 1:
        options = listed([format_play(variant, play) for play in best])
        raise IllegalPlayError(f"say which way the checker goes: {options}")
    return best[0]


def _hits(variant: Variant, position: Position, play: Play) -> set[int]:
    """Return the points, in the mover's numbers, where the play hits."""
    before, after = position.opponent, play.end.opponent
    if before[variant.bar] == after[variant.bar]:
        return set()
    points = range(1, variant.bar)
    return {variant.opposite_point(point) for point in points if after[point] < before[point]}


def parse_parts(text: str, variant: Variant) -> list[Part]:
    """Read the parts of a play without asking whether it is legal; none for a pass.

    Raises:
        NotationError: The text is no play; the message shows the column.
    """
    if " ".join(text.lower().strip(" ()\t.").split()) in _PASS_WORDS:
        return []
    return _PartReader(text, variant).read()


class _PartReader:
    """One pass over the tokens of a play."""

    def __init__(self, text: str, variant: Variant) -> None:
        self._text = text
        self._variant = variant
        self._tokens = tokens(text.replace("->", " →"))
        self._next = 0

    def read(self) -> list[Part]:
        parts = []
        while self._peek().kind != "end":
            parts.append(self._part())
            while self._peek().text in (",", ";"):
                self._next += 1
        return parts

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._peek()
        self._next += token.kind != "end"
        return token

    def _part(self) -> Part:
        first = self._peek()
        way, hits = [self._slot()], []
        while self._peek().text in ("/", "-", "→", ">", "–"):
            self._take()
            way.append(self._slot())
            if self._peek().text == "*":
                self._take()
                hits.append(way[-1])
        last = self._tokens[self._next - 1]
        if len(way) == 1:
            raise fault(
                f"expected '/' and a target after '{first.text}', such as {first.text}/18",
                self._text,
                self._peek().start,
                self._peek().end,
            )
        for source, target in pairwise(way):
            if target >= source:
                said = "/".join(slot_text(self._variant, slot) for slot in (source, target))
                raise fault(
                    f"{said} does not move forward; checkers travel from high to low numbers",
                    self._text,
                    first.start,
                    last.end,
                )
        return Part(tuple(way), tuple(hits), self._count())

    def _slot(self) -> int:
        token = self._take()
        variant = self._variant
        names = {"bar": variant.bar, "b": variant.bar, "off": OFF, "o": OFF}
        if token.text in names:
            return names[token.text]
        if token.kind == "number" and int(token.text) <= variant.bar:
            return int(token.text)
        what = (
            f"point {token.text} is not on the board, points run from 1 to {variant.head_point}"
            if token.kind == "number"
            else f"expected a point from 1 to {variant.head_point}, bar or off"
        )
        raise fault(what, self._text, token.start, token.end)

    def _count(self) -> int:
        if self._peek().text not in ("(", "x"):
            return 1
        opening = self._take()
        number = self._take()
        closed = opening.text != "(" or self._take().text == ")"
        if number.kind != "number" or not closed or not 1 <= int(number.text) <= _MAX_REPEAT:
            raise fault(
                f"expected how often, from (1) to ({_MAX_REPEAT})",
                self._text,
                opening.start,
                number.end,
            )
        return int(number.text)
