"""Recorded games replayed: every count of ends, every play and the result stay as they were."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from nardy_engine import Outcome, Position, load_variant, reference, variant_names
from nardy_engine.errors import IllegalPlayError
from nardy_engine.notation import format_play, other_side, parse_play, parse_position
from nardy_engine.notation.segments import segment_dice
from positions import row

_DATA = Path(__file__).parents[1] / "data" / "golden"
_ANY_DICE = (1, 1)
"""Stands for the roll where there is none; the engines ignore it then."""


class Decision(NamedTuple):
    """A line of a recorded game."""

    side: str
    dice: tuple[int, int] | None
    """The roll; None where dice are owed or before a roll."""
    owed: tuple[int, ...]
    """Dice of an earlier roll, larger first."""
    count: int
    play: str
    after: Position
    """The next position, row 0 acts in it."""
    next_side: str


class Game(NamedTuple):
    """A recorded game; `winner` is `-` in a draw, whose kind is `draw`."""

    decisions: tuple[Decision, ...]
    winner: str
    kind: str
    points: int


@cache
def read(game):
    """Return `(digest, [Game])` of a file."""
    first, *lines = (_DATA / f"{game}.txt").read_text("utf-8").splitlines()
    variant, games, decisions = load_variant(game), [], []
    for line in lines:
        if line.startswith("result"):
            _, winner, *kind, points = line.split()
            games.append(Game(tuple(decisions), winner, " ".join(kind), int(points)))
            decisions = []
        elif line and not line.startswith("game"):
            decisions.append(_decision(variant, line))
    assert not decisions, "the last game has no result"
    return first.split()[2], games


def _decision(variant, line):
    what, count, play, after = line.split(" ; ", 3)
    side, *kind, last = what.split()
    thrown = () if last == "pre" else tuple(map(int, last.split("-")))
    if variant.memory:
        position, next_side, *_ = parse_position(after, variant)
    else:
        rows = [row(part, variant.setup.checkers) for part in after.split("|")]
        position, next_side = Position(*rows).swapped(), other_side(side)
    is_owed = kind == ["owed"]
    return Decision(
        side=side,
        dice=None if is_owed or not thrown else thrown,
        owed=thrown if is_owed else (),
        count=int(count),
        play=play,
        after=position,
        next_side=next_side,
    )


def replay(game):
    """Yield `(variant, game, position, decision)` of each line, the position being before it."""
    variant = load_variant(game)
    for recorded in read(game)[1]:
        position, side = variant.start_position(), "W"
        for decision in recorded.decisions:
            assert decision.side == side
            yield variant, recorded, position, decision
            position, side = decision.after, decision.next_side


def outcome_of(variant, game):
    """Return the recorded result, seen from row 0 of the last position."""
    if game.kind == "draw":
        assert (game.winner, game.points) == ("-", 0)
        return Outcome(False, 0, 0, draw=True)
    index = [name for name, _ in variant.win_kinds].index(game.kind)
    return Outcome(game.winner == game.decisions[-1].next_side, index, game.points)


@pytest.mark.parametrize("game", variant_names())
def test_game_replays(engine, game):
    """Each decision has the recorded number of ends, its end among them, and the result."""
    for number, (variant, recorded, position, decision) in enumerate(replay(game)):
        assert segment_dice(variant, position) == decision.owed, number
        before_roll = variant.recall(position.mover, "preroll") == 1
        assert (decision.dice is None) is (before_roll or decision.owed != ()), number
        ends = engine.ends(variant, position, decision.dice or _ANY_DICE)
        assert len(ends) == decision.count, (number, decision)
        following = [engine.next_position(variant, end) for end in ends]
        same = decision.side == decision.next_side
        result = engine.outcome(variant, decision.after)
        if decision is not recorded.decisions[-1]:
            assert (decision.after, same) in following, (number, decision)
            assert result is None
            continue
        # T-10: plays that end the game alike are one result, whichever of them is listed.
        expected = outcome_of(variant, recorded)
        assert result == expected
        assert expected in [engine.outcome(variant, after) for after, _ in following]


@pytest.mark.parametrize("game", variant_names())
def test_play_texts_lead_to_the_recorded_ends(game):
    """The text of each play, read in its position, gives the recorded end.

    In emir the order of the steps of a double can matter, for what is hit may come to lie under
    the next step (EMI-7); the text does not tell the order, so the reader asks which is meant.
    """
    for variant, _, position, decision in replay(game):
        try:
            ends = [parse_play(decision.play, variant, position, decision.dice).end]
        except IllegalPlayError:
            plays = reference.plays(variant, position, decision.dice)
            texts = [(format_play(variant, play, position), play.end) for play in plays]
            ends = [end for text, end in texts if text == decision.play]
            assert variant.captives_exist
            assert len(ends) > 1, decision
            assert len(set(decision.dice)) == 1, decision
        assert decision.after in [_following(variant, end) for end in ends], decision


def _following(variant, end):
    """Return the position after an end by the letter of `rules.memory`."""
    if not variant.remembers("again"):
        return end.swapped()
    slot = next(item.slot for item in variant.memory if item.name == "again")
    mover = (*end.mover[:slot], 0, *end.mover[slot + 1 :])
    position = Position(mover, end.opponent)
    return position if end.mover[slot] else position.swapped()


@pytest.mark.parametrize("game", variant_names())
def test_games_hold_what_matters(game):
    """The rules are those of the recording; a pass and every ending are among the games."""
    variant = load_variant(game)
    digest, games = read(game)
    assert digest == variant.digest()
    kinds = [name for name, _ in variant.win_kinds]
    # KHA-4 has a kind per checker left: a handful is enough.
    expected = set(kinds if len(kinds) < 5 else kinds[::4])
    # A standstill of frozen homes takes a thousand random games.
    expected |= {"draw"} if variant.contact.value == "emir" else set()
    assert {recorded.kind for recorded in games} == expected
    decisions = [decision for recorded in games for decision in recorded.decisions]
    assert any(d.play == "pass" for d in decisions if d.dice or d.owed)  # T-8
    if variant.opening.value == "opening_dice":
        first = [recorded.decisions[0].dice for recorded in games]
        assert all(a != b for a, b in first)  # S-2
    if variant.remembers("owed_1"):  # GUL-1, BGU-2, BNA-4: dice that the other side threw
        assert any(d.owed and d.play != "pass" for d in decisions)
    if variant.extra_roll.value == "after_full_double":  # GUL-4
        assert any(d.dice and d.side == d.next_side for d in decisions)
    if variant.contact.value == "emir":
        assert any(d.play.startswith("res/") for d in decisions)  # EMI-11a
        assert any(not d.dice and d.play[0].isdigit() for d in decisions)  # EMI-11b
        last = [recorded.decisions[-1].after for recorded in games]
        assert any(variant.recall(row, "emir_taken") for after in last for row in after)  # EMI-10
