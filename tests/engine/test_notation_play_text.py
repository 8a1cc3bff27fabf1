"""Move text: strict writer, tolerant reader, and refusals that a player understands."""

from __future__ import annotations

import pytest

from nardy_engine import Play, Position, Step, load_variant
from nardy_engine.errors import IllegalPlayError, NardyError, NotationError
from nardy_engine.notation import describe, format_play, parse_play, parse_position

LONG = load_variant("long")
FNR = load_variant("long-fnr")
SHORT = load_variant("short")
ANY_END = SHORT.start_position()

DEAF = "W{8:1 6:3 5:3 4:3 3:3 1:2}|B{24:15}"
"""Base position X of rules.md 12.3: 8/2 would close six points in front of everybody."""


def read(text: str, position: str, variant: str = "long") -> str:
    """Parse a play in a position given as text and write it back in the strict form."""
    game = load_variant(variant)
    parsed = parse_position(position, game)
    assert parsed.dice is not None
    return format_play(game, parse_play(text, game, parsed.position, parsed.dice))


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((), "pass"),
        ((Step(24, 18, 6), Step(18, 13, 5)), "24/13"),
        ((Step(24, 18, 6, hit=True), Step(18, 13, 5)), "24/18*/13"),
        ((Step(13, 8, 5), Step(24, 18, 6)), "24/18 13/8"),
        ((Step(8, 5, 3), Step(8, 5, 3), Step(6, 3, 3), Step(6, 3, 3)), "8/5(2) 6/3(2)"),
        ((Step(13, 10, 3), Step(10, 7, 3), Step(13, 10, 3), Step(10, 7, 3)), "13/7(2)"),
        ((Step(13, 10, 3), Step(13, 10, 3), Step(10, 7, 3)), "13/10 13/7"),
        ((Step(25, 20, 5), Step(6, 0, 6)), "bar/20 6/off"),
        ((Step(6, 4, 2, hit=True), Step(6, 4, 2)), "6/4*(2)"),
    ],
)
def test_writer_is_canonical(steps: tuple[Step, ...], text: str) -> None:
    """Highest source first, one part a checker, a point on the way only where it hits."""
    assert format_play(SHORT, Play(steps, ANY_END)) == text


@pytest.mark.parametrize(
    "text", ["8/5 6/5", "6/5 8/5", "8-5, 6-5", "8→5 6>5", " 6/5  8/5 ;", "8->5,6->5", "8/5(1) 6/5"]
)
def test_reader_takes_any_order_and_separator(text: str) -> None:
    """The opening 3-1 typed in seven ways is one play."""
    assert read(text, "start; W 3-1", "short") == "8/5 6/5"


@pytest.mark.parametrize("text", ["24/13", "24/18/13", "24/18 18/13", "18/13, 24/18", "24/19/13"])
def test_one_checker_may_be_typed_step_by_step(text: str) -> None:
    """Merged or in steps, through either point: the same afterstate, the same play."""
    assert read(text, "start; W 6-5") == "24/13"


@pytest.mark.parametrize("text", ["bar/20 6/off", "25/20 6/0", "B/20 6/o", "BAR/20, 6-OFF"])
def test_bar_and_off_have_several_names(text: str) -> None:
    """`25` is the bar and `0` is off, as other programs write them."""
    with pytest.raises(IllegalPlayError, match="all are in the home board"):
        read(text, "W{bar:1 13:1 6:4}|B{2:3}; W 5-6", "short")
    with pytest.raises(IllegalPlayError, match="20 is closed by 2 opposing checkers"):
        read(text, "W{bar:1 6:4}|B{5:2}; W 5-6", "short")


@pytest.mark.parametrize("text", ["pass", "PASS", "", "(no move)", "no  move"])
def test_a_forced_pass_has_several_names(text: str) -> None:
    """X-O5: nothing can be played, so a pass is the one legal play (T-8)."""
    assert read(text, "W{6:1 2:1}|B{24:14 15:1}; W 3-3") == "pass"


def test_star_may_be_missing() -> None:
    """A hit happens whether the player writes it or not (S-3)."""
    position = "W{13:5 8:3 6:7}|B{24:1 21:1 6:13}; W 4-2"
    assert read("8/4 6/4", position, "short") == "8/4* 6/4*"


def test_two_ways_that_hit_different_checkers_must_be_told_apart() -> None:
    """25/16 could hit on 20 or on 21; the reader asks, and takes either when named."""
    position = "W{bar:1 13:5 8:3 6:6}|B{24:2 13:5 8:3 6:3 5:1 4:1}; W 5-4"
    with pytest.raises(IllegalPlayError, match=r"bar/20\*/16 or bar/21\*/16"):
        read("bar/16", position, "short")
    assert read("bar/20/16", position, "short") == "bar/20*/16"
    assert read("bar/21*/16", position, "short") == "bar/21*/16"


def test_the_quiet_way_is_meant_unless_the_hit_is_named() -> None:
    """13/8 by 3-2 past one blot: the way without a hit, or the named one."""
    position = "W{13:5 6:10}|B{15:1 3:14}; W 3-2"
    assert read("13/8", position, "short") == "13/8"
    assert read("13/10*/8", position, "short") == "13/10*/8"
    assert read("13/10/8", position, "short") == "13/10*/8"


def test_a_star_where_nothing_is_hit_is_refused() -> None:
    """A star claims a hit; a false claim shows a misread board."""
    with pytest.raises(IllegalPlayError, match="nothing is hit on 5"):
        read("8/5* 6/5", "start; W 3-1", "short")


def test_all_ways_to_finish_are_one_play() -> None:
    """T-10: once everything is off it does not matter what was hit on the way."""
    position = "W{4:1}|B{22:1 5:14}; W 4-1"
    assert read("4/3*/off", position, "short") == read("4/off", position, "short")


@pytest.mark.parametrize(
    ("text", "position", "variant", "words"),
    [
        ("24/18(2)", "start; W 6-5", "long", "the roll 6-5 does not give"),
        ("24/18 24/19", "start; W 6-5", "long", "only one checker may leave the head"),
        ("24/18(3)", "start; W 6-6", "long", "only 2 checkers may leave the head"),
        ("24/20(2)", "W{24:14 4:1}|B{24:15}; B 4-4", "long", "only one checker may leave"),
        ("24/18", "start; W 6-5", "long", "both dice must be played"),
        ("24/18", "start; W 6-6", "long", "2 of the 4 steps of 6-6 can be played"),
        ("24/22/20", "start; W 2-2", "long", "all 4 steps of 2-2 must be played"),
        ("24/21", "W{24:14 4:1}|B{24:15}; B 5-3", "long", "must be the larger: 5"),
        ("24/12", "start; W 6-6", "long", "point 12 is closed by 15 opposing checkers"),
        ("24/20", "start; W 6-5", "long", "24/20 is 4 pips; with 6-5 one checker moves 5, 6 or 11"),
        ("13/7", "start; W 6-5", "long", "no checker on 13"),
        ("pass", "start; W 6-5", "long", "6-5 can be played"),
        ("6/3", "W{6:1 2:1}|B{24:14 15:1}; W 3-3", "long", "only legal play is to pass"),
        ("8/2 6/1", f"{DEAF}; W 6-5", "long", "no opposing checker ahead of it"),
        ("8/2 6/off(3)", f"{DEAF}; W 6-6", "long-fnr", "a block of 6 points (6 to 1)"),
        ("6/off(2)", f"{DEAF}; W 6-6", "long", "one is still on 8"),
        ("2/off 5/4", "W{5:1 2:2}|B{24:15}; W 4-1", "long", "only when no checker stands higher"),
        ("13/8 13/9", "W{bar:1 13:14}|B{6:15}; W 5-4", "short", "bar must enter"),
        ("bar/20", "W{bar:1 13:14}|B{6:13 5:2}; W 5-4", "short", "20 is closed by 2 opposing"),
        ("8/5(4)", "start; W 3-3", "short", "only 3 checkers to move from 8"),
    ],
)
def test_refusals_name_the_rule(text: str, position: str, variant: str, words: str) -> None:
    """L-5..L-9, T-5, T-6, T-8, L-4, L-22, L-23, L-30, L-32, S-3, S-4 in a player's words."""
    with pytest.raises(IllegalPlayError) as caught:
        read(text, position, variant)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("24", "expected '/' and a target after '24'"),
        ("24/", "expected a point from 1 to 24, bar or off (column 4"),
        ("24/30", "point 30 is not on the board"),
        ("13/18", "13/18 does not move forward"),
        ("24/18(37)", "expected how often"),
        ("24/18 x/5", "(column 7"),
        ("off/3", "does not move forward"),
    ],
)
def test_unreadable_plays_show_the_place(text: str, words: str) -> None:
    """Text that is no play at all is a NotationError with the column."""
    with pytest.raises(NotationError) as caught:
        read(text, "start; W 6-5")
    assert words in str(caught.value)


def test_a_finished_game_has_nothing_to_play() -> None:
    """T-10: after the last checker is off no play exists."""
    done = Position((15,) + (0,) * 25, LONG.start_row())
    with pytest.raises(IllegalPlayError, match="the game is over"):
        parse_play("6/off", LONG, done, (6, 5))


def test_describe_takes_any_way_to_finish() -> None:
    """T-10: '4 off' and '4/3*, off' are one result, whichever of the two an engine lists."""
    before = parse_position("W{4:1} | B{22:1 3:13}", SHORT).position
    for opponent in (before.opponent, parse_position("W{4:1} | B{bar:1 3:13}", SHORT)[0].opponent):
        after = Position((15,) + (0,) * 25, opponent)
        assert describe(SHORT, before, (4, 1), after).end.mover == after.mover
    mars = Position((15,) + (0,) * 25, SHORT.start_row())
    with pytest.raises(IllegalPlayError, match="no legal play with 4-1"):
        describe(SHORT, before, (4, 1), mars)


def test_describe_finds_the_play_of_an_afterstate() -> None:
    """The steps to an afterstate are found, and an unreachable one is refused."""
    before = SHORT.start_position()
    after = parse_position("W{24:2 13:5 8:2 6:4 5:2}|B{24:2 13:5 8:3 6:5}", SHORT).position
    assert format_play(SHORT, describe(SHORT, before, (3, 1), after)) == "8/5 6/5"
    with pytest.raises(NardyError, match="no legal play with 2-1"):
        describe(SHORT, before, (2, 1), after)
