"""What games remember, in text, ids, JSON and pictures: written and read back without loss."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from nardy_engine import Position, batch, load_variant, reference, variant_names
from nardy_engine.errors import NardyError, NotationError
from nardy_engine.notation import (
    ParsedPosition,
    ResultWriter,
    board_ascii,
    board_svg,
    case_from_json,
    compact_id,
    describe,
    format_play,
    format_position,
    format_xgid,
    other_side,
    parse_compact_id,
    parse_play,
    parse_position,
    parse_position_id,
    parse_xgid,
    position_id,
    read_position,
    side_from_json,
    side_to_json,
)
from nardy_engine.notation.segments import pending_dice, segment_dice
from nardy_engine.rules import Variant
from nardy_engine.types import Dice

OPTIONS = {
    "long with a last turn": ("long", {"last_roll_draw": "on"}),
    "long by the first roll": ("long", {"head.exception_when": "first_roll_flag"}),
    "mad gulbar that stops": ("mad_gulbar", {"transfer.heir": "stop_at_first_unplayable"}),
    "short with extra rolls": ("short", {"extra_roll": "after_full_double"}),
}
NAMES = [*(name for name in variant_names() if load_variant(name).memory), *OPTIONS]


def game(name: str) -> Variant:
    return load_variant(*OPTIONS[name]) if name in OPTIONS else load_variant(name)


@cache
def walk(name: str) -> tuple[tuple[ParsedPosition, Dice | None], ...]:
    """Return the situations of a few random games, with many doubles, each before its decision."""
    return tuple(_walk(game(name), random.Random(name)))


def _walk(variant: Variant, rng: random.Random) -> Iterator[tuple[ParsedPosition, Dice | None]]:
    for _ in range(2):
        position, side = variant.start_position(), "W"
        for _ in range(45):
            says_what = segment_dice(variant, position) or variant.recall(position.mover, "preroll")
            high = rng.randint(1, variant.dice.sides)
            roll = (high, high if rng.random() < 0.4 else rng.randint(1, variant.dice.sides))
            dice = None if says_what else roll
            yield ParsedPosition(position, side, dice), dice
            plays = reference.plays(variant, position, dice)
            if not plays:
                break
            position, same = reference.next_position(variant, rng.choice(plays).end)
            side = side if same else other_side(side)


# -- nothing is lost ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_positions_are_read_back_as_written(name: str) -> None:
    """Text and compact id keep everything that a position remembers (rules.md section 10)."""
    variant = game(name)
    for parsed, _ in walk(name):
        text = format_position(variant, *parsed[:3])
        assert parse_position(text, variant)[:3] == parsed[:3], text
        assert read_position(text, variant)[:3] == parsed[:3], text
        code = compact_id(variant, parsed)
        assert parse_compact_id(code, variant)[:3] == parsed[:3], code
        assert read_position(code, variant)[:3] == parsed[:3], code


def test_an_empty_reserve_is_said() -> None:
    """EMI-1: checkers that are neither on the board nor in reserve are off, in an id too."""
    emir = load_variant("emir")
    text = "W{23:1 16:2 15:1 12:1 4:1 2:2 1:7e} off0 res0 | B{2:4 1:9} off2e res0 ; W"
    parsed = parse_position(text, emir)
    code = compact_id(emir, parsed)
    assert parse_compact_id(code, emir)[:3] == parsed[:3], code


def test_ids_of_other_programs_refuse_a_past_that_they_cannot_tell() -> None:
    """CHN-1: nobody could know who moved first; as long as it is as assumed, it is written."""
    game = load_variant("short", {"dice.parity": "white_even_black_odd"})
    start = game.start_position()
    assert parse_position_id(position_id(game, start), game).position == start
    with pytest.raises(NotationError, match="no place for what short remembers here"):
        position_id(game, start.swapped())
    with pytest.raises(NotationError, match="no place for what short remembers here"):
        format_xgid(game, ParsedPosition(start.swapped(), "W"))
    black = ParsedPosition(start.swapped(), "B")
    assert parse_xgid(format_xgid(game, black), game)[:2] == black[:2]


def test_a_play_that_takes_the_emir_is_described() -> None:
    """T-10, EMI-10: engines may list different ones of several such plays; all are one result."""
    emir = load_variant("emir")
    for parsed, dice in walk("emir"):
        board = np.array(parsed.position, np.int8)[None]
        after = batch.afterstates(emir, board, [dice or (1, 1)]).boards
        for end in after:
            described = describe(emir, parsed.position, dice, Position.from_board(end))
            assert reference.outcome(emir, described.end) == reference.outcome(
                emir, Position.from_board(end)
            )
    # A way to take it that no play has stands for those that there are.
    literal = "W{24:5 13:1e 7:6} off0 res3 | B{24:11 20:1e} off0 res3 ; W"
    position = parse_position(literal, emir).position
    takes = [play.end for play in reference.plays(emir, position, (5, 2)) if wins(emir, play.end)]
    assert takes
    mover, opponent = (list(row) for row in takes[0])
    mover[24], mover[23] = mover[24] - 1, mover[23] + 1
    other = Position(tuple(mover), tuple(opponent))
    assert wins(emir, describe(emir, position, (5, 2), other).end)


def wins(variant: Variant, end: Position) -> bool:
    """Return whether a play has ended the game."""
    return reference.outcome(variant, end) is not None


@pytest.mark.parametrize("name", NAMES)
def test_results_can_be_fed_back(name: str) -> None:
    """A result, turned round if the other side acts next, is the case of the next decision."""
    variant = game(name)
    writer = ResultWriter(variant)
    colours = {"W": "B", "B": "W"}
    for parsed, dice in walk(name)[::2]:
        ends = [play.end for play in reference.plays(variant, parsed.position, dice)][:6]
        going_on = [end for end in ends if reference.outcome(variant, end) is None]
        boards = np.array(going_on, np.int8).reshape(-1, 2, variant.n_slots)
        line = writer.line("x", boards, [-1] * len(boards), dice is not None)
        for end, result in zip(going_on, json.loads(line)["results"], strict=True):
            position, same = reference.next_position(variant, end)
            assert result["next"] == ("me" if same else "opp")
            assert result["pending"] == [*pending_dice(variant, position.mover)]
            assert ("roll" in result) is not bool(result["pending"])
            case = {"me": result["me"], "opp": result["opp"], "colour": parsed.side}
            if not same:
                case = {
                    "me": result["opp"],
                    "opp": result["me"],
                    "colour": colours[parsed.side],
                }
            if result.get("preroll"):
                case["preroll"] = True
            elif not result["pending"]:
                case["dice"] = [2, 1]
            read = case_from_json(json.dumps(case), variant)
            assert read.position == position, case
            assert read.dice == ((2, 1) if "dice" in case else None)


@pytest.mark.parametrize("name", NAMES)
def test_plays_are_read_back_as_written(name: str) -> None:
    """The text of each play leads to its end, the emir's moves and pre-roll moves included."""
    variant = game(name)
    for parsed, dice in walk(name)[::9]:
        plays = reference.plays(variant, parsed.position, dice)
        for play in plays[:: max(1, len(plays) // 3)]:
            text = format_play(variant, play, parsed.position)
            read = parse_play(text, variant, parsed.position, dice)
            assert read.end == play.end, (format_position(variant, *parsed[:3]), text)
            assert describe(variant, parsed.position, dice, play.end).end == play.end


@pytest.mark.parametrize("name", NAMES)
def test_every_situation_can_be_drawn(name: str) -> None:
    """Both drawings succeed, and the lines of the board keep inside the frame."""
    variant = game(name)
    for parsed, dice in walk(name)[::4]:
        lines = board_ascii(variant, *parsed[:3]).splitlines()[2:-3]
        assert len({len(line) for line in lines}) == 1
        plays = reference.plays(variant, parsed.position, dice)
        svg = board_svg(variant, *parsed[:3], play=plays[-1] if plays else None)
        assert svg.endswith("</svg>\n")


@pytest.mark.parametrize("name", NAMES)
def test_sides_alone_are_read_back(name: str) -> None:
    """A SIDE on its own keeps what a program must know to tell positions apart."""
    variant = game(name)
    shown = {"captive", "emir", "reserve", "owed", "roller", "head", "rolls", "fresh"}
    for parsed, _ in walk(name)[::5]:
        for row in parsed.position:
            read = side_from_json(variant, side_to_json(variant, row))
            assert read[: variant.n_counts] == row[: variant.n_counts]
            for item in variant.memory:
                if item.name.split("_")[0] in shown:
                    assert read[item.slot] == row[item.slot], item.name


# -- how it looks ---------------------------------------------------------------------------------


def memory(variant: Variant, position: Position) -> tuple[dict[str, int], dict[str, int]]:
    """Return what both sides remember, zeros left out."""
    mine, theirs = (
        {item.name: row[item.slot] for item in variant.memory if row[item.slot]} for row in position
    )
    return mine, theirs


@pytest.mark.parametrize(
    ("name", "typed", "mine", "theirs"),
    [
        # X-G1: Black must play White's two sixes, one checker may leave the head (GUL-3)
        ("gulbar", "24:13 18:2 | 24:15 owes6x2; B", {"owed_6": 2}, {"roller": 1}),
        ("gulbar", "24:14 3:1 | 24:13 19:1 1:1 owes5; B", {"owed_5": 1}, {"roller": 1}),
        (
            "mad_nardy",
            "W{24:14 2:1} owes 6x4 | B{24:14 7:1} owes5x3 ; B",
            {"owed_5": 3, "head_left": 1},
            {"owed_6": 4, "roller": 1, "head_left": 1},
        ),
        (
            "mad_nardy",
            "W{24:13 16:2} rolled head0 owes5x4,6x4 | B{24:15}; W",
            {"owed_5": 4, "owed_6": 4, "roller": 1},
            {"head_left": 1},
        ),
        ("even_odd", "start; W", {"first": 1}, {}),
        ("even_odd", "start; B", {}, {"first": 1}),
        ("even_odd", "W{24:15}|B{24:15} first; W", {}, {"first": 1}),
        ("gul_bara_intl", "start", {}, {}),
        ("gul_bara_intl", "24:14 1:1 | 24:15; B", {}, {"rolls": 4}),
        ("gul_bara_intl", "24:14 1:1 rolls1 | 24:15; B", {}, {"rolls": 1}),
        ("long with a last turn", "off15 | 1:2; B", {"last_turn": 1}, {"first": 1}),
        ("long with a last turn", "1:2 | off15; W", {"first": 1}, {}),
        ("long by the first roll", "24:15 | 24:14 9:1; W", {"fresh": 1}, {}),
        ("long by the first roll", "24:15 fresh0 | 24:14 9:1; W", {}, {}),
        (
            # X-E5: the emir alone on 18, one checker left on the head
            "emir",
            "W{24:1 18:e 13:10} res3 | B{24:12}; W pre",
            {"emir": 18, "reserve": 3, "preroll": 1},
            {"emir": 24, "emir_above": 6, "reserve": 3, "fresh": 1},
        ),
        (
            # X-E2: White's 8 holds Black's checker from Black's 20
            "emir",
            "24:9 22:1 13:1 8:1/1 | 24:11; B",
            {"captive_20": 1, "emir": 24, "emir_above": 5, "reserve": 3},
            {"emir": 24, "emir_above": 3, "reserve": 3},
        ),
        (
            "emir",
            "24:5 13:2e/e 7:4 | bar:2 24:5 11:1 3:2; W",
            {"emir": 13, "reserve": 3},
            {"captive_1": 1, "emir": 1, "reserve": 3},
        ),
        (
            "emir",
            "4:3 off11e | bar:e 24:9 above0; B",
            {"emir": 25, "reserve": 3},
            {"reserve": 1},
        ),
    ],
)
def test_words_behind_the_checkers(
    name: str, typed: str, mine: dict[str, int], theirs: dict[str, int]
) -> None:
    """The written form of dice owed, captives, emir and the rest, and what is assumed."""
    variant = game(name)
    parsed = parse_position(typed, variant)
    found = memory(variant, parsed.position)
    assert found == (mine, theirs)
    assert parse_position(format_position(variant, *parsed[:3]), variant) == parsed


def test_the_writer_leaves_out_what_is_assumed() -> None:
    """A game before a roll looks like one without memory; a roll in progress says who threw."""
    for name in ("gulbar", "mad_nardy", "even_odd", "gul_bara_intl"):
        variant = load_variant(name)
        text = format_position(variant, variant.start_position())
        assert text == "W{24:15} off0 | B{24:15} off0 ; W"
    emir = load_variant("emir")
    text = format_position(emir, emir.start_position())
    assert text == "W{24:12e} off0 res3 | B{24:12e} off0 res3 ; W"
    mad = load_variant("mad_nardy")
    parsed = parse_position("24:13 16:2 rolled head0 owes5x4,6x4 | 24:15", mad)
    text = format_position(mad, *parsed[:3])
    assert text == "W{24:13 16:2} off0 owes5x4,6x4 rolled head0 | B{24:15} off0 ; W"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("long", "24:14 1:1 | 24:15 owes6x2; B", "expected"),
        ("gulbar", "24:15 | 24:15 owes6x5", "0 to 4 here, not 5"),
        ("gulbar", "24:15 | 24:15 owes7x2", "a die from 1 to 6"),
        ("gulbar", "24:15 | 24:15 owes6x2; W", "it is the side to act"),
        ("gulbar", "24:15 | 24:15 owes6x2; B 6-5", "leave the roll out"),
        ("emir", "24:12 off0 | 20:e 13:e 3:10; W", "two emirs"),
        ("emir", "13:12 | 24:12; W", "where does the emir of the side to act stand?"),
        ("emir", "24:11 13:1/2 | 24:12; W", "write '/1'"),
        ("emir", "24:10 13:1/1 1:1/1 | 24:12 res3; W", "Black has 17"),
        ("emir", "24:12 res2 off0 | 24:12; W", "14 checkers (12 on the board, 0 off, 2 in reserve"),
        ("even_odd", "W{24:15} first | B{24:15} first; W", "exactly one side moved first"),
    ],
)
def test_wrong_memory_is_refused_in_words(name: str, text: str, words: str) -> None:
    """Words that the game does not know, numbers out of range and contradictions: one sentence."""
    with pytest.raises(NardyError) as caught:
        parse_position(text, load_variant(name))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "position", "typed", "written"),
    [
        ("kaftar", "start; W 6-3", "24/6/3", "24/3"),
        ("kaftar", "start; W 6-3", "24/6 24/21", "24/21 24/6"),  # X-K1
        ("gulbar", "24:13 18:2 | 24:15 owes6x2; B", "24-18", "24/18"),  # X-G1
        ("emir", "24:10 13:2 | 24:11 20:1; W 5-2", "13/8 24/22", "24/22 13/8*"),  # X-E2
        ("emir", "24:10 13:2 | 24:11 20:1; W 5-2", "13/11/6", "13/6"),  # X-E2
        ("emir", "24:1 18:e 13:10 | 24:12; W pre", "res/18", "res/18"),  # X-E5
        ("emir", "24:1 18:e 13:10 | 24:12; W pre", "pass", "pass"),  # EMI-11
        ("emir", "24:8 15:4 | 24:10 1:2; W pre", "15/11 15/14", "15/14 15/11"),  # X-E6
        ("emir", "24:5 13:2e 7:5 | 24:5 20:e 3:6; W 5-2", "13/8 24/22", "24/22 13/8*"),
        ("emir", "24:5 13:2e 7:5 | 24:5 20:e 3:6; W 5-2", "13e/6", "13e/6"),
        ("emir", "24:5 13:2e 7:5 | 24:5 20:e 3:6; W 5-2", "13/6", "13/6"),
        ("emir", "24:5 13:e 7:6 | 24:5 20:e 3:6; W 5-2", "13e/8", "13e/8* 7/5"),  # X-E7
    ],
)
def test_plays_of_the_further_games(name: str, position: str, typed: str, written: str) -> None:
    """Teleports, inherited dice, captures, the emir and pre-roll moves as a person types them."""
    variant = load_variant(name)
    parsed = parse_position(position, variant)
    play = parse_play(typed, variant, parsed.position, parsed.dice)
    assert format_play(variant, play, parsed.position) == written


@pytest.mark.parametrize(
    ("name", "position", "typed", "words"),
    [
        ("kaftar", "start; W 6-3", "24/18 24/21", "the legal plays, which are 24/3 and 24/21 24/6"),
        ("kaftar", "start; W 5-3", "24/19 24/21", "only one checker may leave the head"),
        ("gulbar", "24:13 18:2 | 24:15 owes6x2; B", "24/12", "the only legal play is 24/18"),
        ("even_odd", "start; W 6-3", "24/18", "only if the smaller number is even"),
        ("even_odd", "start; B 6-4", "24/18", "only if the smaller number is odd"),
        ("emir", "start; W 6-5", "24/18", "the only legal play is 24/13"),
        ("mad_gulbar", "start; W 5-5", "24/19", "all 4 steps of 5-5 must be played"),
        ("emir", "24:5 13:2e 7:5 | 24:5 20:e 3:6; W 5-2", "13e/6 7/2", "among the"),
    ],
)
def test_refusals_claim_nothing_wrong(name: str, position: str, typed: str, words: str) -> None:
    """Where several rules work together, a refusal lists the legal plays instead of a reason."""
    variant = load_variant(name)
    parsed = parse_position(position, variant)
    with pytest.raises(NardyError) as caught:
        parse_play(typed, variant, parsed.position, parsed.dice)
    assert words in str(caught.value)


# -- JSON -----------------------------------------------------------------------------------------


def answer(name: str, text: str) -> list[dict[str, object]]:
    """Return the results of a position given as text."""
    variant = game(name)
    parsed = parse_position(text, variant)
    ends = [play.end for play in reference.plays(variant, parsed.position, parsed.dice)]
    boards = np.array(ends, np.int8)
    outcomes = []
    for end in ends:
        result = reference.outcome(variant, end)
        half = len(variant.win_kinds)
        index = -1 if result is None else result.kind + (0 if result.won else half)
        outcomes.append(2 * half if result and result.draw else index)
    line = ResultWriter(variant).line("x", boards, outcomes, parsed.dice is not None)
    results: list[dict[str, object]] = json.loads(line)["results"]
    return results


PLAIN = {"over": False, "next": "opp", "pending": [], "roll": "normal"}


@pytest.mark.parametrize(
    ("name", "text", "following"),
    [
        ("long", "start; W 6-6", PLAIN),
        ("gulbar", "start; W 6-6", {"over": False, "next": "opp", "pending": [6, 6]}),  # X-G1
        ("gulbar", "start; W 4-4", PLAIN | {"next": "me", "roll": "extra"}),  # X-G3, GUL-4
        ("gulbar", "24:13 18:2 | 24:15 owes6x2; B", PLAIN | {"next": "me"}),  # heir, then he rolls
        ("mad_nardy", "24:14 7:1 | 24:14 7:1; W 5-5", PLAIN | {"pending": [5, 5, 5]}),  # X-N3
        ("mad_gulbar", "start; W 5-5", PLAIN | {"next": "me", "pending": [6, 6, 6, 6]}),  # X-Q2
        ("even_odd", "start; W 6-3", PLAIN),  # X-C1, a skipped turn
        ("emir", "24:1 18:e 13:10 | 24:12; W pre", PLAIN | {"next": "me"}),  # EMI-11
        ("emir", "start; W 6-5", PLAIN),  # X-E1
        ("long with a last turn", "1:1 | 1:2; W 2-1", PLAIN),  # DR-1: Black has one more turn
        (
            "long with a last turn",
            "1:1 | 1:1 off14; B 2-1",
            {"over": True, "winner": "me", "points": 1},
        ),
        (
            "long with a last turn",
            "off15 | 1:2; B 2-1",
            {"over": True, "winner": "draw", "points": 0},
        ),  # X-Y5
        (
            "long with a last turn",
            "off15 | 1:3; B 5-4",
            {"over": True, "winner": "opp", "points": 1},
        ),  # X-Y6
    ],
)
def test_answers_say_what_follows(name: str, text: str, following: dict[str, object]) -> None:
    """Who acts next with which dice, whether the roll is an extra one, or who won."""
    if following.get("pending"):
        following = {k: v for k, v in following.items() if k != "roll"}
    for result in answer(name, text):
        assert {k: v for k, v in result.items() if k not in ("me", "opp")} == following


def test_emir_sides_have_the_fields_of_the_format() -> None:
    """Captives, emir, checkers above it, nukers and the first roll, always written (EMI)."""
    results = answer("emir", "24:10 13:2 | 24:11 20:1; W 5-2")
    (captured,) = [r for r in results if r["me"]["points"] == {"24": 10, "11": 1, "8": 1}]
    assert captured["me"] == {
        "points": {"24": 10, "11": 1, "8": 1}, "bar": 0, "off": 0,
        "captive": {}, "emir": 24, "above": 4, "res": 3, "first": False,
    }  # fmt: skip
    assert captured["opp"] == {
        "points": {"24": 11}, "bar": 0, "off": 0,
        "captive": {"20": 1}, "emir": 24, "above": 5, "res": 3, "first": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "case", "words"),
    [
        ("gulbar", {"me": {"owed": {"7": 1}}}, "'owed' has a key '7'"),
        ("gulbar", {"me": {"owed": {"6": 5}}}, "0 to 4, not 5"),
        ("gulbar", {"me": {"owed": {"6": 2}}, "dice": [6, 6]}, "leave 'dice' out"),
        ("gulbar", {"opp": {"owed": {"6": 2}}, "dice": [6, 6]}, "it is the side to act"),
        ("gulbar", {"me": {"emir": 3}, "dice": [6, 6]}, "unknown field 'emir'"),
        ("even_odd", {"colour": "white", "dice": [6, 6]}, '"W" or "B"'),
        ("mad_nardy", {"me": {"roller": 2}}, "true or false, not 2"),
        ("long", {"me": {"owed": {"6": 2}}, "dice": [6, 6]}, "unknown field 'owed'"),
    ],
)
def test_wrong_memory_in_a_case_is_named(name: str, case: dict[str, dict], words: str) -> None:
    """Fields of other games, keys and numbers out of range, dice too many: one sentence each."""
    start = {"points": {"24": 15}}
    line = {**case, "me": start | case.get("me", {}), "opp": start | case.get("opp", {})}
    with pytest.raises(NardyError) as caught:
        case_from_json(json.dumps(line), load_variant(name))
    assert words in str(caught.value)


# -- boards ---------------------------------------------------------------------------------------

EMIR_BOARD = """\
  Emir: Black (X) to play 6-5

  +-13-14-15-16-17-18--+-----+-19-20-21-22-23-24--+
  |  O                 |     |     x           X  |
  |  O                 |     |     O           X  |
  |  O                 |     |                 X  |
  |  O                 |     |                 X  |
  |  O                 |  X  |                 8  |
  |                    | BAR |                    |
  |                    |     |                    |
  |  @                 |     |                    |
  |  O                 |     |                    |
  |  O                 |     |                    |
  |  O     O           |     |                 O  |
  +-12-11-10--9--8--7--+-----+--6--5--4--3--2--1--+

  Black (X)   pips 237   off  2   bar 1   reserve 3   emir (#) 24 (2 above)
  White (O)   pips 144   off  0   bar 0   reserve 3   emir (@) 24"""


def test_board_of_emir() -> None:
    """The captive lies under its captor in lower case, the emir has its own sign (EMI-5)."""
    emir = load_variant("emir")
    parsed = parse_position("24:4e 22:1 13:1 8:1/1 1:5 | bar:1 24:8e off2; B 6-5", emir)
    assert board_ascii(emir, *parsed[:3]) == EMIR_BOARD
    svg = board_svg(emir, *parsed[:3])
    assert svg.count("<title>captive</title>") == 1
    assert svg.count("<title>emir</title>") == 2


def test_boards_show_dice_owed() -> None:
    """The title says what is played now and whose roll it is; each side lists what it owes."""
    mad = load_variant("mad_nardy")
    parsed = parse_position("24:14 2:1 owes6x4 | 24:14 7:1 owes5x3; B", mad)
    lines = board_ascii(mad, *parsed[:3]).splitlines()
    assert lines[0] == "  Mad nardy: Black (X) to play 5-5-5 of the other side's roll"
    assert [line.split("   ")[-1] for line in lines[-2:]] == ["must play 3 x 5", "must play 4 x 6"]
    assert board_svg(mad, *parsed[:3]).count('rx="8"') == 3  # three dice on the board
