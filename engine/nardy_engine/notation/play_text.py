"""The text of plays: `24/18 13/11`, `bar/20`, `8/5(2)`, `13/7*/4`, `6/off`, `pass`.

Layer 3; imports errors, types, rules, and the reference engine to find the play that is meant.
Points are the mover's own numbers. The writer is strict and follows the GNU convention: parts
from the highest source down; the steps of one checker are one part, and a point on its way is
named only where it hits (`24/18*/13`); equal parts are counted, `8/5(2)`. A part that only names
its ends may have taken any way to the same position.

The reader wants less: any order, step by step or merged, `-`, `→`, `>` for the slash, commas, `25`
for the bar, `0` or `o` for off, `*` there or missing. Where two ways differ in what they hit, the
quiet one is meant unless `*` or a named point says otherwise.

A teleport (KAF-2, KAB-1) is written like any step: `24/6` with a 6. Emir: `*` marks a landing on a
blot, be it captured or hit (EMI-5, EMI-7); `13e/8` says that the emir goes, without `e` another
checker does where there is a choice. Of the pre-roll moves (EMI-11) `res/24` places a nuker and
`15/14 15/11` distributes the checkers of 15; `pass` makes none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from nardy_engine import reference
from nardy_engine.errors import IllegalPlayError
from nardy_engine.notation.explain import not_among, why_illegal
from nardy_engine.notation.reading import Token, fault, listed, tokens
from nardy_engine.rules import Variant
from nardy_engine.rules.components import Contact, Parity, TeleportKind
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import OFF, Dice, Play, Position

PASS_TEXT = "pass"
"""How a play without steps is written."""

_PASS_WORDS = ("", "pass", "no move", "cannot move", "none")
_RESERVE_TEXT = "res"
_EMIR_MARK = "e"
_MAX_REPEAT = 36
"""Most steps of a decision in any game, hence the largest count in brackets."""


class Part(NamedTuple):
    """One part of the text: a checker's way, made `times` times."""

    way: tuple[int, ...]
    """Slots from the source to the target, at least two."""
    hits: tuple[int, ...]
    """Slots of the way that carry `*`."""
    times: int
    """How many checkers go this way."""
    emir: bool = False
    """The emir goes."""


def format_play(variant: Variant, play: Play, before: Position | None = None) -> str:
    """Write a play in the strict form.

    Args:
        variant: The game.
        play: What is played.
        before: The position before it; only Emir needs it, to say that the emir goes.

    >>> from nardy_engine import Step, load_variant
    >>> short = load_variant("short")
    >>> steps = (Step(13, 10, 3), Step(13, 10, 3), Step(25, 22, 3), Step(22, 19, 3, hit=True))
    >>> format_play(short, Play(steps, short.start_position()))
    'bar/19* 13/10(2)'
    """
    if not play.steps:
        return PASS_TEXT
    hits = {step.target for step in play.steps if step.hit}
    steps = [(step.source, step.target) for step in play.steps]
    emir = _emir_way(variant, steps, before, play.end) if before else ()
    for hop in pairwise(emir):
        steps.remove(hop)
    ways = [(way, False) for way in _chains(steps)] + ([(emir, True)] if emir else [])
    ways.sort(key=lambda item: (-item[0][0], -item[0][-1], item[0]))
    texts = Counter(_way_text(variant, way, hits, is_emir) for way, is_emir in ways)
    return " ".join(text if n == 1 else f"{text}({n})" for text, n in texts.items())


def _emir_way(
    variant: Variant, steps: Sequence[tuple[int, int]], before: Position, after: Position
) -> tuple[int, ...]:
    """Return the points that the emir touches in a play, empty if it stays (EMI-2)."""
    if not variant.captives_exist:
        return ()
    source = variant.recall(before.mover, "emir")
    if source == variant.bar:
        source = variant.head_point  # it has returned before the play (EMI-8)
    target = variant.recall(after.mover, "emir")
    ways: list[tuple[int, ...]] = [(source,)] if source != target else []
    while ways:
        way = ways.pop()
        if way[-1] == target:
            return way
        ways += [(*way, end) for start, end in set(steps) if start == way[-1]]
    return ()


def _chains(steps: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Join steps that one checker can have made, highest source first."""
    open_steps = sorted(steps, reverse=True)
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
    return chains


def _way_text(variant: Variant, way: tuple[int, ...], hits: set[int], is_emir: bool) -> str:
    named = [*(slot for slot in way[1:-1] if slot in hits), way[-1]]
    # No step starts off the board but that of a nuker.
    start = _RESERVE_TEXT if way[0] == OFF else slot_text(variant, way[0])
    stops = [slot_text(variant, slot) + ("*" if slot in hits else "") for slot in named]
    return "/".join([start + (_EMIR_MARK if is_emir else ""), *stops])


def slot_text(variant: Variant, slot: int) -> str:
    """Return `bar`, `off` or the number of the point."""
    return "bar" if slot == variant.bar else "off" if slot == OFF else str(slot)


def describe(variant: Variant, before: Position, dice: Dice | None, after: Position) -> Play:
    """Return the play that leads to an afterstate.

    Args:
        variant: The game.
        before: Mover in row 0.
        dice: The roll; None if the position says what is played.
        after: The afterstate, the same side still in row 0.

    Returns:
        The play in the steps of the reference engine. All ways to end the game are one result
        (T-10), so a finishing play may have hit what another way to the same result does not.

    Raises:
        IllegalPlayError: No legal play leads there.
    """
    plays = reference.plays(variant, before, dice)
    for play in plays:
        if play.end == after:
            return play
    finished = any(
        not variant.board_checkers(row) or variant.recall(row, "emir_taken") for row in after
    )
    if finished:  # not a standstill, where every board is a result of its own
        result = reference.outcome(variant, after)
        for play in plays:
            if result is not None and reference.outcome(variant, play.end) == result:
                return play
    what = f" with {dice[0]}-{dice[1]}" if dice else ""
    raise IllegalPlayError(f"no legal play{what} leads from this position to that one")


def parse_play(text: str, variant: Variant, position: Position, dice: Dice | None) -> Play:
    """Read a play and find it among the legal ones.

    Args:
        text: The play as a person types it; see the module's docstring.
        variant: The game.
        position: Mover in row 0.
        dice: The roll; None if the position says what is played: dice owed, or a pre-roll move.

    Returns:
        The legal play that is meant, in the steps of the reference engine.

    Raises:
        NotationError: The text is no play; the message shows the column.
        IllegalPlayError: It is not legal; the message says why.
        DiceError: The roll is impossible.
    """
    roll = None if dice is None else variant.check_dice(dice)
    parts = parse_parts(text, variant)
    legal = reference.plays(variant, position, roll)
    if not legal:
        raise IllegalPlayError("the game is over; there is nothing to play")
    wanted = _change((part.way[0], part.way[-1], part.times) for part in parts)
    fitting = [
        play
        for play in legal
        if _change((step.source, step.target, 1) for step in play.steps) == wanted
    ]
    if variant.captives_exist and (end := _emir_takes(variant, position, parts, legal)):
        return end
    if not fitting:
        raise IllegalPlayError(_refusal(variant, position, roll, parts, legal))
    if variant.captives_exist:
        return _meant_with_emir(variant, position, parts, fitting)
    return _meant(variant, position, parts, fitting)


def _change(moves: Iterable[tuple[int, int, int]]) -> dict[int, int]:
    """Return by how many checkers each slot changes; each move is source, target, how many."""
    change: Counter[int] = Counter()
    for source, target, times in moves:
        change[source] -= times
        change[target] += times
    return {slot: n for slot, n in change.items() if n}


def _refusal(
    variant: Variant, position: Position, dice: Dice | None, parts: list[Part], legal: list[Play]
) -> str:
    """Say why a play is not legal; where several rules work together, which plays are."""
    texts = [format_play(variant, play, position) for play in legal]
    if dice is None or not _is_plain(variant, position, dice):
        return not_among(variant, position, dice, texts)
    ways = [part.way for part in parts for _ in range(part.times)]
    return why_illegal(variant, position, dice, ways, legal, texts[0])


def _is_plain(variant: Variant, position: Position, dice: Dice) -> bool:
    """Say whether the roll is played by the rules that `explain` knows: steps, head, block."""
    if variant.captives_exist or owed_dice(variant, position.mover):
        return False
    if variant.dice.parity is not Parity.OFF:
        return False
    # Only the first and the last number of a die, or doubles, ever teleport.
    special = dice[0] == dice[1] or not {1, variant.dice.sides}.isdisjoint(dice)
    teleports = variant.teleport.kind is not TeleportKind.OFF and special
    return not (teleports and position.mover[variant.head_point])


def _emir_takes(
    variant: Variant, position: Position, parts: list[Part], legal: list[Play]
) -> Play | None:
    """Return the play by which the emir takes the other, if that is among what is typed (EMI-10).

    The game ends there, so it does not matter which dice are played beside it (T-10).
    """
    ends = {(part.way[0], part.way[-1]) for part in parts if part.emir}
    for play in legal:
        if variant.recall(play.end.opponent, "emir_taken"):
            steps = [(step.source, step.target) for step in play.steps]
            way = _emir_way(variant, steps, position, play.end)
            if way and (way[0], way[-1]) in ends:
                return play
    return None


def _meant_with_emir(
    variant: Variant, position: Position, parts: list[Part], fitting: list[Play]
) -> Play:
    """Choose among plays that differ in what the emir does or in what is captured or hit."""

    def emir_way(play: Play) -> tuple[int, ...]:
        steps = [(step.source, step.target) for step in play.steps]
        return _emir_way(variant, steps, position, play.end)

    said = [part for part in parts if part.emir]
    if said:
        ends = {(part.way[0], part.way[-1]) for part in said}
        chosen = [play for play in fitting if (w := emir_way(play)) and (w[0], w[-1]) in ends]
        if not chosen:
            raise IllegalPlayError(f"the emir cannot go from {said[0].way[0]} in this play")
    else:
        chosen = [play for play in fitting if not emir_way(play)] or fitting
    hits = {play: {step.target for step in play.steps if step.hit} for play in chosen}
    named = {slot for part in parts for slot in part.way[1:]}
    starred = {slot for part in parts for slot in part.hits}
    wanted = starred | (named & set().union(*hits.values()))
    chosen = [play for play in chosen if wanted <= hits[play]] or chosen
    fewest = min(len(hits[play]) for play in chosen)
    return _only(variant, position, [play for play in chosen if len(hits[play]) == fewest])


def _only(variant: Variant, position: Position, plays: list[Play]) -> Play:
    if len(plays) > 1:
        options = listed([format_play(variant, play, position) for play in plays])
        raise IllegalPlayError(f"say which way the checker goes: {options}")
    return plays[0]


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
    return _only(variant, position, [play for play in allowed if len(hits[play]) == fewest])


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
        from_reserve = self._at_reserve()
        way, hits = [OFF if from_reserve else self._slot()], list[int]()
        emir = self._variant.captives_exist and self._peek().text == _EMIR_MARK
        if emir:
            self._take()
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
        for source, target in pairwise(way[from_reserve:]):
            if target >= source:
                said = "/".join(slot_text(self._variant, slot) for slot in (source, target))
                raise fault(
                    f"{said} does not move forward; checkers travel from high to low numbers",
                    self._text,
                    first.start,
                    last.end,
                )
        return Part(tuple(way), tuple(hits), self._count(), emir)

    def _at_reserve(self) -> bool:
        """Read `res`, from where a nuker comes, if it is there."""
        found = self._variant.setup.reserve > 0 and self._peek().text == _RESERVE_TEXT
        if found:
            self._take()
        return found

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
