"""Every notation over random positions: parse of print is identity, and nothing else escapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nardy_engine import Position, load_variant, reference
from nardy_engine.errors import NardyError
from nardy_engine.notation import (
    Match,
    ParsedPosition,
    ResultWriter,
    board_ascii,
    board_svg,
    case_from_json,
    compact_id,
    describe,
    format_gnuid,
    format_play,
    format_position,
    format_xgid,
    parse_compact_id,
    parse_gnuid,
    parse_play,
    parse_position,
    parse_xgid,
    read_position,
)
from nardy_engine.rules import Variant, parse_variant
from nardy_engine.rules.components import Contact

T = TypeVar("T")

SMALL = parse_variant(
    "small",
    """
    inherits = "long"
    [setup]
    points = 12
    home = 3
    checkers = 4
    start = { 12 = 4 }
    [dice]
    sides = 3
    [head]
    exception_doubles = [3]
    [block]
    length = 3
    [bearoff]
    dice = [1, 2, 3]
    """,
)
WIDE = parse_variant(
    "wide",
    """
    inherits = "short"
    [setup]
    points = 28
    home = 7
    checkers = 20
    start = { 28 = 3, 15 = 7, 8 = 3, 7 = 7 }
    [block]
    length = 7
    """,
)
GAMES = [load_variant(n) for n in ("long", "long-fnr", "short", "nackgammon", "hypergammon")]
SHORT_FAMILY = [game for game in GAMES if game.contact is Contact.HIT]

few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def situations(draw: st.DrawFn, games: list[Variant]) -> tuple[Variant, ParsedPosition]:
    """Draw a game and any position of it, either side to act, rolled or not."""
    game = draw(st.sampled_from(games))
    top = game.bar if game.contact is Contact.HIT else game.head_point
    slots = st.lists(
        st.integers(0, top), min_size=game.setup.checkers, max_size=game.setup.checkers
    )
    mover, opponent = draw(slots), draw(slots)
    taken = {game.opposite_point(slot) for slot in mover if 0 < slot < game.bar}
    opponent = [0 if slot in taken else slot for slot in opponent]
    assume(any(mover) or any(opponent))
    rows = [tuple(side.count(slot) for slot in range(game.n_slots)) for side in (mover, opponent)]
    die = st.integers(1, game.dice.sides)
    dice = draw(st.none() | st.tuples(die, die))
    return game, ParsedPosition(Position(*rows), draw(st.sampled_from("WB")), dice)


@few
@given(situations([*GAMES, SMALL, WIDE]))
def test_position_text_and_compact_id_are_reversible(
    drawn: tuple[Variant, ParsedPosition],
) -> None:
    """Bar, off, side and roll survive on every board, and the ids are recognised (T28)."""
    game, parsed = drawn
    text = format_position(game, *parsed[:3])
    assert parse_position(text, game) == parsed
    assert read_position(text, game) == parsed
    code = compact_id(game, parsed)
    assert parse_compact_id(code, game) == parsed
    assert read_position(code, game) == parsed


@few
@given(situations(SHORT_FAMILY), st.booleans(), st.integers(0, 6), st.sampled_from("WBN"))
def test_ids_of_short_nardy_are_reversible(
    drawn: tuple[Variant, ParsedPosition], jacoby: bool, cube: int, owner: str
) -> None:
    """GNUID and XGID keep the board with both bars, the roll, the cube (T28)."""
    game, parsed = drawn
    home = range(1, game.setup.home + 1)
    shut = all(row[game.bar] and all(row[p] > 1 for p in home) for row in parsed.position)
    assume(not shut)
    match = Match(jacoby=jacoby, cube_log2=cube, cube_owner=None if owner == "N" else owner)
    parsed = parsed._replace(match=match)
    assert parse_xgid(format_xgid(game, parsed), game) == parsed
    assert read_position(format_xgid(game, parsed), game) == parsed
    if parsed.dice:
        parsed = parsed._replace(dice=tuple(sorted(parsed.dice, reverse=True)))
    assert parse_gnuid(format_gnuid(game, parsed), game) == parsed
    assert read_position(format_gnuid(game, parsed), game) == parsed


@few
@given(situations(SHORT_FAMILY))
def test_ids_of_mirrored_positions_differ(drawn: tuple[Variant, ParsedPosition]) -> None:
    """A position and its mirror share an id only if they are the same position (T28)."""
    game, parsed = drawn
    mirrored = parsed._replace(position=parsed.position.swapped())
    same = parsed.position == mirrored.position
    for write in (format_gnuid, format_xgid, compact_id):
        assert (write(game, parsed) == write(game, mirrored)) == same


@few
@given(situations([*GAMES, SMALL]))
def test_every_legal_play_is_read_back(drawn: tuple[Variant, ParsedPosition]) -> None:
    """Strict text of each legal play leads to its end, starless text to the same checkers."""
    game, parsed = drawn
    position, dice = parsed.position, parsed.dice or (1, 2)
    plays = reference.plays(game, position, dice)
    for play in plays[:: max(1, len(plays) // 8)]:
        text = format_play(game, play)
        assert parse_play(text, game, position, dice).end == play.end
        assert describe(game, position, dice, play.end).end == play.end
        steps = " ".join(f"{step.source}/{step.target}" for step in play.steps)
        assert parse_play(steps, game, position, dice).end.mover == play.end.mover


def test_opening_plays_have_distinct_texts() -> None:
    """All 21 rolls from the start: as many texts as results, so a text names one result."""
    for game, dice in product(GAMES, product(range(1, 7), repeat=2)):
        plays = reference.plays(game, game.start_position(), dice)
        assert len({format_play(game, play) for play in plays}) == len(plays)


@few
@given(situations([*GAMES, SMALL, WIDE]))
def test_any_position_can_be_drawn(drawn: tuple[Variant, ParsedPosition]) -> None:
    """Neither drawing fails, and every line of the text keeps inside the frame."""
    game, parsed = drawn
    lines = board_ascii(game, *parsed[:3]).splitlines()[2:-3]
    assert len({len(line) for line in lines}) == 1
    assert board_svg(game, *parsed[:3]).endswith("</svg>\n")


@few
@given(situations(GAMES))
def test_written_results_are_read_as_cases(drawn: tuple[Variant, ParsedPosition]) -> None:
    """A result of the quick writer, given dice, is a case with the same rows."""
    game, parsed = drawn
    text = ResultWriter(game).line("x", np.array([parsed.position], dtype=np.int8), [-1])
    result = text.removeprefix('{"id":"x","results":[').removesuffix("}]}")
    assert case_from_json(result + ',"dice":[1,2]}', game).position == parsed.position


# -- nothing but NardyError -----------------------------------------------------------------------

PIECE_TEXT = (
    "W B { } | ; : / - * ( ) off bar start 24 13 6 1 0 15 66 6-4 24:15 XGID= OGID= long: short: "
    "4HPwATDgc/ABMA cAkAAAAAAAAE -b----E-C---eE---c-e----B- 11ccccchhhjjjjj N0N W1O R C IW "
    "24/18 8/5(2) pass → ² ٣ \x00 é"
)
PIECES = st.sampled_from(PIECE_TEXT.split(" "))


def attempt(read: Callable[..., T], *arguments: object) -> tuple[T | None, str]:
    """Return what was read and '', or None and the sentence of the NardyError."""
    try:
        return read(*arguments), ""
    except NardyError as error:
        return None, str(error)


TEXTS = st.text(max_size=60) | st.lists(PIECES, max_size=14).map("".join)
TEXTS = TEXTS | st.lists(PIECES, max_size=14).map(" ".join)


def _mutated(text: str) -> st.SearchStrategy[str]:
    """Replace one character of a good text."""
    return st.tuples(st.integers(0, len(text) - 1), st.characters()).map(
        lambda change: text[: change[0]] + change[1] + text[change[0] + 1 :]
    )


GOOD = [
    "W{24:2 13:5 8:3 6:5} off0 | B{24:2 13:5 8:3 6:5} off0 ; W 6-6",
    "XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:0:0:3:0:10",
    "4HPwATDgc/ABMA:cAkAAAAAAAAE",
    "short:11ccccchhhjjjjj:66666888dddddoo:W1O:16:B:R:2:1:3C:13",
]


@many
@given(TEXTS | st.sampled_from(GOOD).flatmap(_mutated))
@pytest.mark.parametrize("game", [GAMES[0], GAMES[2], SMALL, WIDE], ids=lambda game: game.id)
def test_position_readers_raise_nothing_else(game: Variant, text: str) -> None:
    """Arbitrary text is a position or one sentence, never a traceback."""
    parsed, sentence = attempt(read_position, text, game)
    assert "\n" not in sentence
    if parsed is not None:
        game.check_position(parsed.position)


@many
@given(TEXTS | st.sampled_from(["bar/20*/16 13/8(2)", "24/18/13, 6/off"]).flatmap(_mutated))
def test_play_reader_raises_nothing_else(text: str) -> None:
    """Arbitrary text is a legal play or one sentence."""
    for game in (GAMES[0], GAMES[2]):
        start = game.start_position()
        play, sentence = attempt(parse_play, text, game, start, (3, 3))
        assert "\n" not in sentence
        assert play is None or play in reference.plays(game, start, (3, 3))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "variant", "me", "opp", "dice", "points", "24", "off", "options"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@many
@given(st.text(max_size=40) | JSON.map(json.dumps))
def test_case_reader_raises_nothing_else(text: str) -> None:
    """Arbitrary text and arbitrary JSON are a case or one sentence."""
    for game in (None, GAMES[0]):
        assert "\n" not in attempt(case_from_json, text, game)[1]
