"""Cases and results as JSON lines."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nardy_engine import Position, load_variant, reference
from nardy_engine.errors import DiceError, NardyError, NotationError, PositionError, VariantError
from nardy_engine.notation import ResultWriter, case_from_json, side_from_json, side_to_json
from positions import case, row

LONG = load_variant("long")
SHORT = load_variant("short")

START = '{"points":{"24":15}}'


def line(**fields: str) -> str:
    """Return a case of long nardy as JSON, with some fields replaced by raw JSON or dropped."""
    parts = {"id": '"a"', "variant": '"long"', "me": START, "opp": START, "dice": "[6,5]"}
    parts.update(fields)
    return "{" + ",".join(f'"{name}":{text}' for name, text in parts.items() if text) + "}"


def test_side_is_in_own_numbers() -> None:
    """A side lists its points from the highest down, its bar and its off."""
    counts = row("bar:1 13:2 6:3 off9")
    side = {"points": {"13": 2, "6": 3}, "bar": 1, "off": 9}
    assert side_to_json(SHORT, counts) == side
    assert list(side_to_json(SHORT, counts)["points"]) == ["13", "6"]
    assert side_from_json(SHORT, side) == counts


def test_case_with_everything() -> None:
    """Options change the game of this line only; zero bar and off may be left out."""
    text = line(options='{"block.check":"every_step"}', me='{"points":{"24":13,"18":2},"bar":0}')
    read = case_from_json(text)
    assert read.id == "a"
    assert (read.variant.id, read.variant.block.check.value) == ("long", "every_step")
    assert read.position == Position(row("24:13 18:2"), row("24:15"))
    assert read.dice == (6, 5)
    assert case_from_json(line()).variant.block.check.value == "end_of_segment"


def test_default_game_and_missing_id() -> None:
    """A stream may be of one game that the lines need not name; an id is optional."""
    read = case_from_json(line(variant="", id=""), LONG)
    assert (read.id, read.variant) == (None, LONG)
    assert case_from_json(line(variant='"long-fnr"').encode(), LONG).variant.id == "long-fnr"
    assert case_from_json(line().encode("utf-8-sig")).id == "a"


def test_options_of_a_line_add_to_those_of_the_stream() -> None:
    """The game given for the whole stream keeps its own options where a line names others."""
    stream = load_variant("long", {"block.check": "every_step"})
    options = '{"score":"oin_mars_koks"}'
    read = case_from_json(line(options=options), stream).variant
    assert (read.block.check.value, read.score.value) == ("every_step", "oin_mars_koks")
    assert case_from_json(line(options=options), LONG).variant.block.check.value != "every_step"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", NotationError, "not valid JSON"),
        ("{", NotationError, "(column 2)"),
        ("[" * 100_000, NotationError, "JSON"),
        (line(id="NaN"), NotationError, "JSON"),
        (line(id="[-Infinity]"), NotationError, "JSON"),
        (line(id="1e999"), NotationError, "JSON"),
        ("[1]", NotationError, "a JSON object, not [1]"),
        (line(variant=""), NotationError, "'variant' is missing"),
        (line(variant="3"), NotationError, "name of a game, not 3"),
        (line(variant='"lnog"'), VariantError, "did you mean 'long'"),
        (line(options='{"block.chek":"every_step"}'), VariantError, "block.check"),
        (line(options="[]"), NotationError, "object of rule options"),
        (line(me=""), NotationError, "'me' is missing"),
        (line(opp=""), NotationError, "'opp' is missing"),
        (line(dice=""), NotationError, "'dice' is missing"),
        (line(dice="[6]"), NotationError, "two numbers such as [6,4]"),
        (line(dice="[6,true]"), NotationError, "two numbers"),
        (line(dice="[6,7]"), DiceError, "1 to 6, not 7"),
        (line(me="5"), NotationError, "'me' is like"),
        (line(me='{"points":[1]}'), NotationError, "'me' is like"),
        (line(me='{"point":{"24":15}}'), NotationError, "unknown field 'point'"),
        (line(me='{"points":{"25":15}}'), NotationError, "a point '25'"),
        (line(me='{"points":{"24":1.5}}'), NotationError, "1.5 on '24'"),
        (line(me='{"points":{"24":-1}}'), NotationError, "-1 on '24'"),
        (line(me='{"points":{"24":1' + "0" * 5000 + "}}"), NotationError, "JSON"),
        (line(me='{"points":{"24":14}}'), PositionError, "14 checkers"),
        (line(me='{"points":{"24":14},"bar":1}'), PositionError, "no bar"),
        (line(me='{"points":{"12":15}}'), PositionError, "both sides stand on one point"),
    ],
)
def test_bad_lines_are_one_sentence(text: str, error: type[NardyError], words: str) -> None:
    """The field or the column is named; nothing but a NardyError leaves the reader."""
    with pytest.raises(error) as caught:
        case_from_json(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_results_are_written_character_for_character() -> None:
    """The answer of the opening 3-3 of long nardy, character for character (L-9)."""
    ends = [(row("24:13 18:2"), row("24:15")), (row("24:13 21:1 15:1"), row("24:15"))]
    written = ResultWriter(LONG).line("x", np.array(ends, dtype=np.int8), [-1, -1])
    opp = '"opp":{"points":{"24":15},"bar":0,"off":0}'
    after = '"over":false,"next":"opp","pending":[],"roll":"normal"'
    assert written == (
        '{"id":"x","results":['
        f'{{"me":{{"points":{{"24":13,"18":2}},"bar":0,"off":0}},{opp},{after}}},'
        f'{{"me":{{"points":{{"24":13,"21":1,"15":1}},"bar":0,"off":0}},{opp},{after}}}]}}'
    )


def test_extras_say_who_acts_or_who_won() -> None:
    """Outcome indices count from row 0: index 1 is a mars won, 2 an oin lost (L-40)."""
    ends = [(row("off15"), row("24:15")), (row("24:15"), row("off15")), (row("1:1"), row("24:15"))]
    written = ResultWriter(LONG).line(7, np.array(ends, dtype=np.int8), [1, 2, -1])
    results = json.loads(written)["results"]
    extras = [{k: v for k, v in result.items() if k not in ("me", "opp")} for result in results]
    assert extras == [
        {"over": True, "winner": "me", "points": 2},
        {"over": True, "winner": "opp", "points": 1},
        {"over": False, "next": "opp", "pending": [], "roll": "normal"},
    ]


@pytest.mark.parametrize(
    "literal",
    [
        "W{bar:2 24:1 13:4 6:8}|B{bar:1 24:2 13:5 8:2 6:5}; W 2-1",
        "W{5:3 4:3 2:2 off7}|B{24:1 3:1 off13}; W 6-4",
        "B{24:2 13:5 8:3 6:5}|W{24:2 13:5 8:3 6:5}; B 2-2",
    ],
)
def test_the_quick_writer_agrees_with_the_plain_one(literal: str) -> None:
    """Kept pieces of rows give the text that side by side conversion gives, twice."""
    position, dice = case(literal)
    plays = reference.plays(SHORT, position, dice)
    boards = np.array([play.end for play in plays], dtype=np.int8)
    writer = ResultWriter(SHORT)
    for _ in range(2):
        results = json.loads(writer.line("x", boards, [-1] * len(plays)))["results"]
        assert results == [
            {
                "over": False,
                "next": "opp",
                "pending": [],
                "roll": "normal",
                "me": side_to_json(SHORT, play.end.mover),
                "opp": side_to_json(SHORT, play.end.opponent),
            }
            for play in plays
        ]


def test_ids_come_back_as_they_were() -> None:
    """Quotes, other scripts and numbers in an id survive."""
    empty = np.zeros((0, 2, LONG.n_slots), dtype=np.int8)
    for case_id in ('a"b\\', "нарды", 5, None, ["x"]):
        written = ResultWriter(LONG).line(case_id, empty, [])
        assert json.loads(written) == {"id": case_id, "results": []}
