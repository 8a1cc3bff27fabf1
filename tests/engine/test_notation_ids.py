"""gnubg ids, XGID, OGID and the compact id, against strings published by other programs."""

from __future__ import annotations

import base64

import pytest

from nardy_engine import Position, load_variant
from nardy_engine.errors import NardyError, NotationError, PositionError
from nardy_engine.notation import (
    Match,
    ParsedPosition,
    compact_id,
    format_gnuid,
    format_ogid,
    format_xgid,
    match_id,
    ogid_fields,
    parse_compact_id,
    parse_gnuid,
    parse_match_id,
    parse_ogid,
    parse_position,
    parse_position_id,
    parse_xgid,
    position_id,
    read_position,
)

LONG = load_variant("long")
SHORT = load_variant("short")
HYPER = load_variant("hypergammon")

XGID_START = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
OGID_START = "11ccccchhhjjjjj:66666888dddddoo:N0N"


def short(text: str) -> ParsedPosition:
    """Read the position text of short nardy, the one notation tested elsewhere."""
    return parse_position(text, SHORT)


# -- gnubg ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("4HPwATDgc/ABMA", "start"),
        ("sGfwATDgc/ABMA", "W{24:2 13:5 8:3 6:5}|B{24:2 13:5 8:2 6:4 5:2}"),
        ("ewMAAD4gAAAAAA", "W{8:1 1:5}|B{3:2 2:4 1:2}"),
    ],
)
def test_position_ids_of_gnubg(text: str, position: str) -> None:
    """Gnubg's ids, with the opponent's block first, in both directions."""
    expected = short(position).position
    assert parse_position_id(text, SHORT).position == expected
    assert position_id(SHORT, expected) == text


def test_position_id_keeps_both_bars() -> None:
    """Each side's bar is the last count of its block (wildbg 27, T28)."""
    position = short("W{bar:2 6:3}|B{bar:3 6:2}").position
    text = position_id(SHORT, position)
    # Opponent 6:2 bar:3 = 5 zeros 110, 18 zeros 1110; mover 6:3 bar:2 likewise.
    bits = "00000" + "110" + "0" * 18 + "1110" + "00000" + "1110" + "0" * 18 + "110"
    expected = int(bits.ljust(80, "0")[::-1], 2).to_bytes(10, "little")
    assert text == base64.b64encode(expected).decode().rstrip("=")
    assert parse_position_id(text, SHORT).position == position


@pytest.mark.parametrize(
    ("text", "side", "dice", "match"),
    [
        (
            "QYkqASAAIAAA",
            "W",
            (5, 2),
            Match(
                cube_log2=1,
                cube_owner="B",
                length=9,
                score_black=2,
                score_white=4,
                jacoby=True,
            ),
        ),
        ("MIEFAAAAAAAA", "B", (3, 1), Match(jacoby=True)),
        ("cAkAAAAAAAAE", "W", None, Match()),
        (
            "8IluACAACAAE",
            "W",
            (5, 3),
            Match(length=3, score_black=2, score_white=1, crawford=True),
        ),
    ],
)
def test_match_ids_of_gnubg(
    text: str, side: str, dice: tuple[int, int] | None, match: Match
) -> None:
    """Cube, owner, player on roll, dice, score, Crawford and Jacoby, in both directions."""
    assert parse_match_id(text, SHORT) == (side, dice, match)
    assert match_id(side, dice, match) == text


def test_gnuid_turns_rows_with_the_player_on_roll() -> None:
    """The second block is the side on roll, whichever colour the Match ID gives it."""
    parsed = parse_gnuid("sGfwATDgc/ABMA:MIEFAAAAAAAA", SHORT)
    assert parsed[:3] == short("B{24:2 13:5 8:3 6:5}|W{24:2 13:5 8:2 6:4 5:2}; B 3-1")[:3]
    assert format_gnuid(SHORT, parsed) == "sGfwATDgc/ABMA:MIEFAAAAAAAA"


# -- XGID -----------------------------------------------------------------------------------------


def test_xgid_of_the_start() -> None:
    """The start position as eXtreme Gammon writes it, in both directions."""
    parsed = parse_xgid(XGID_START, SHORT)
    assert parsed == short("start")._replace(match=Match())
    assert format_xgid(SHORT, parsed) == XGID_START


def test_xgid_and_gnuid_of_one_position() -> None:
    """A pair published by others: same board, cube, roll and score; the cube limit is lost."""
    xgid = "XGID=-BDB-------------a------e-:1:-1:-1:42:0:0:0:5:8"
    gnuid = "ewMAAD4gAAAAAA:AQGqAAAAAAAE"
    parsed = parse_xgid(xgid, SHORT)
    assert parsed[:3] == short("B{8:1 1:5}|W{3:2 2:4 1:2}; B 4-2")[:3]
    assert parsed.match == Match(cube_log2=1, cube_owner="B", length=5, max_cube_log2=8)
    assert format_gnuid(SHORT, parsed) == gnuid
    assert format_xgid(SHORT, parse_gnuid(gnuid, SHORT)) == xgid[:-1] + "10"
    assert format_xgid(SHORT, parsed) == xgid


def test_xgid_does_not_turn_with_the_side_to_act() -> None:
    """Lower case stays the top player, and each bar stays on its own end (T28)."""
    white_bar = format_xgid(SHORT, short("W{bar:2 6:3}|B{bar:3 6:2}; B 2-1"))
    assert white_bar == "XGID=c-----C------------b-----B:0:0:-1:21:0:0:0:0:10"
    assert parse_xgid(white_bar, SHORT).row("B")[25] == 3


def test_xgid_of_an_offered_double() -> None:
    """`D` keeps the doubler on roll while the opponent decides."""
    parsed = parse_xgid(XGID_START.replace(":1:00:", ":1:D:"), SHORT)
    assert parsed.side == "W"
    assert parsed.match is not None
    assert (parsed.match.doubled, parsed.match.decider) == (True, "B")


# -- OGID and the compact id ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (OGID_START, "start; W"),
        (f"{OGID_START}::B:IW:0:0:1:0", "start; W"),
        (f"{OGID_START}::W:IW", "start; W"),
        (f"{OGID_START}:31:W:IB", "start; B 3-1"),
        ("00jjj:66ppp:N0N::B:C:0:0:0:0", "W{bar:2 6:3}|B{bar:3 6:2}; W"),
        (
            "99cchhiijjjkkmm:223334455666ddo:N0N:16:B:R:2:1:3C:13",
            "W{16:2 13:2 8:2 7:2 6:3 5:2 3:2}|B{24:1 13:2 6:3 5:2 4:2 3:3 2:2}; W 1-6",
        ),
        (
            "03cccchhhhjjjjj:16666888dddddoo:N0N:33:W:R:0:1:3:3",
            "W{bar:1 22:1 13:4 8:4 6:5}|B{24:2 13:5 8:3 6:4 1:1}; B 3-3",
        ),
        (
            "cccccgghhhjjjjj:112233666777dll:N0O::B:D:0:0:3:11",
            "W{13:5 9:2 8:3 6:5}|B{21:2 13:1 7:3 6:3 3:2 2:2 1:2}; B",
        ),
    ],
)
def test_ogids_of_hedgehog(text: str, position: str) -> None:
    """TURN is who reached the position, except before the opening roll and at a double."""
    for prefix in ("", "OGID="):
        ogid = parse_ogid(prefix + text, SHORT)
        assert ogid.parsed()[:3] == short(position)[:3]
        assert format_ogid(SHORT, ogid) == text


def test_ogid_match_fields() -> None:
    """Scores, length and Crawford are read; the whole text survives above."""
    ogid = parse_ogid("99cchhiijjjkkmm:223334455666ddo:W1N:16:B:R:2:1:3C:13", SHORT)
    expected = Match(
        cube_log2=1, cube_owner="W", length=3, score_white=2, score_black=1, crawford=True
    )
    assert ogid.parsed().match == expected


def test_ogid_takes_any_order_and_borne_off_letters() -> None:
    """Checkers in any order; `q`, a borne-off checker, is read and never written."""
    parsed = parse_ogid("jjj00qqqqqqqqqq:p6p6p:N0N::B:C", SHORT).parsed()
    assert parsed[:3] == short("W{bar:2 6:3}|B{bar:3 6:2}; W")[:3]


@pytest.mark.parametrize("meaning", ["reached", "on_roll"])
def test_both_meanings_of_the_turn(meaning: str) -> None:
    """Programs disagree about TURN: read either way, it names opposite sides on roll."""
    text = "99cchhiijjjkkmm:223334455666ddo:N0N:16:B:R"
    side = {"reached": "W", "on_roll": "B"}[meaning]
    assert parse_ogid(text, SHORT).side(meaning) == side
    assert parse_compact_id(f"short:{text}", SHORT, meaning).side == side
    assert read_position(text, SHORT, meaning).side == side


def test_compact_id_of_long_nardy() -> None:
    """Both heads on White's ring: 1 and 13, as d; White plays 6-6 that Black let him reach."""
    parsed = parse_position("start; W 6-6", LONG)
    text = "long:111111111111111:ddddddddddddddd:N0N:66:B:R"
    assert compact_id(LONG, parsed) == text
    assert parse_compact_id(text, LONG) == parsed
    assert read_position("long:111111111111111:ddddddddddddddd:N0N", LONG)[:3] == (
        LONG.start_position(),
        "W",
        None,
    )


def test_compact_id_keeps_black_to_roll() -> None:
    """State C keeps `IW`'s exception away: Black to roll stays Black to roll."""
    parsed = parse_position("W{24:14 13:1}|B{24:15}; B", LONG)
    assert compact_id(LONG, parsed) == "long:11111111111111c:ddddddddddddddd:N0N::W:C"
    assert parse_compact_id(compact_id(LONG, parsed), LONG) == parsed


def test_compact_id_of_another_board() -> None:
    """Three checkers are three characters; the game in front says how many there are."""
    parsed = parse_position("start; W 2-1", HYPER)
    assert compact_id(HYPER, parsed) == "hypergammon:123:mno:N0N:21:B:R"


def test_black_wraps_around_the_ring_in_long_nardy() -> None:
    """Black's 12 is White's 24, absolute 1; Black's 13 is White's 1, absolute 24 = o."""
    parsed = parse_position("W{6:15}|B{13:1 12:14}; W", LONG)
    assert compact_id(LONG, parsed) == "long:jjjjjjjjjjjjjjj:11111111111111o:N0N::B:C"


# -- telling them apart, and refusing -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "start",
        "4HPwATDgc/ABMA",
        "4HPwATDgc/ABMA:cAkAAAAAAAAE",
        XGID_START,
        XGID_START.removeprefix("XGID="),
        OGID_START,
        f"OGID={OGID_START}",
        f"short:{OGID_START}",
        "W{24:2 13:5 8:3 6:5} off0 | B{24:2 13:5 8:3 6:5} off0 ; W",
    ],
)
def test_any_notation_is_recognised(text: str) -> None:
    """One reader takes every notation: nine ways to say the start position."""
    assert read_position(text, SHORT)[:3] == (SHORT.start_position(), "W", None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4HPwATDgc/ABM", "14 characters, '4HPwATDgc/ABM' has 13"),
        ("4HPwATDgc/ABMB", "unused bits"),
        ("/////////////w", "checkers of one side"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAA", "12 characters"),
        ("4HPwATDgc/ABMA:IAkAAAAAAAAE", "unused bits are set"),
        ("XGID=-b----E-C---eE---c-e----B:0:0:1:00:0:0:0:0:10", "26 characters"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0", "9 fields after the board"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:6:0:0:0:0:10", "two digits or D"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:B:0:0:0:0:10", "beavers"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:71:0:0:0:0:10", "1 to 6, not 7"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10", "turn of an XGID"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:5:0:0:5:10", "below the match length"),
        ("XGID=-c----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "16 checkers"),
        ("XGID=Ab----E-C---eE---c-e----A-:0:0:1:00:0:0:0:0:10", "own player's"),
        (f"long:{OGID_START}", "of the game 'long', not of short"),
        ("zz:66:N0N::B:C", "no place of White's checkers"),
        ("11:66:N0N:77:B:R", "1 to 6, not 7"),
        ("11:66:N0N::X:C", "W or B"),
        ("11:66:N0N::B:Z", "one of IW, IB"),
        ("11:oo:N0N::B:C:0:0:0:0:3", "for 3 checkers"),
        ("11:11:N0N::B:C", "both sides stand on one point"),
    ],
)
def test_foreign_or_broken_ids_are_refused(text: str, words: str) -> None:
    """Wrong lengths, fields, dice, totals, games and shared points: one sentence each."""
    with pytest.raises(NardyError) as caught:
        read_position(text, SHORT)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_shut_out_bars_are_refused() -> None:
    """Both sides on the bar before closed home boards can never have come about."""
    row = (0, 2, 2, 2, 2, 2, 2, *(0,) * 18, 3)
    shut = Position(row, row)
    with pytest.raises(PositionError, match="closed home boards"):
        parse_position_id(position_id(SHORT, shut), SHORT)
    home = "bar:3 6:2 5:2 4:2 3:2 2:2 1:2"
    with pytest.raises(PositionError, match="closed home boards"):
        read_position(f"W{{{home}}} | B{{{home}}}", SHORT)
    open_home = "bar:4 6:2 5:2 4:2 3:2 2:2 1:1"
    assert read_position(f"W{{{home}}} | B{{{open_home}}}", SHORT).position.mover[25] == 3


@pytest.mark.parametrize("text", ["4HPwATDgc/ABMA", XGID_START])
def test_short_ids_are_refused_for_long_nardy(text: str) -> None:
    """Gnubg and XG would misread a long position: the error says what to use instead."""
    with pytest.raises(NotationError, match="short nardy only, not long"):
        read_position(text, LONG)


def test_the_roll_survives_a_conversion() -> None:
    """Position text to OGID fields and back, for both colours, off the diagonal (T17)."""
    for side in "WB":
        parsed = short(f"W{{20:2 6:4 bar:1}}|B{{23:1 4:3}}; {side} 5-2")
        assert ogid_fields(SHORT, parsed).parsed()[:3] == parsed[:3]
