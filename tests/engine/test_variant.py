"""What a variant accepts: rolls, positions and option values, each refusal one sentence."""

import pickle
import re

import numpy as np
import pytest

from nardy_engine import Position, load_variant, variant_names
from nardy_engine.errors import DiceError, PositionError, VariantError
from positions import row

LONG, SHORT = load_variant("long"), load_variant("short")
HEAD, HOME = row("24:15"), "6:2 5:2 4:2 3:2 2:2 1:2"


@pytest.mark.parametrize("dice", [(6,), (6, 5, 4), (2.5, 3), ("6", "5"), None, 65, (None, 1)])
def test_what_is_no_pair_of_numbers_is_no_roll(dice):
    """Nothing is rounded, cut or read out of text to make a roll of it."""
    with pytest.raises(DiceError, match="two numbers from 1 to 6"):
        LONG.check_dice(dice)


@pytest.mark.parametrize("dice", [(0, 1), (1, 7), (-1, 1)])
def test_numbers_that_no_die_shows_are_no_roll(dice):
    """A die shows 1 to 6."""
    with pytest.raises(DiceError, match="a die shows 1 to 6"):
        LONG.check_dice(dice)


def test_rolls_become_plain_ints():
    """Numbers of numpy are numbers; they come back as ints."""
    roll = LONG.check_dice(np.array([6, 5], np.int8))
    assert roll == (6, 5)
    assert {type(die) for die in roll} == {int}


REFUSED = [
    (LONG, HEAD[:-1], HEAD, "the side to act has 25 slots; long has 26"),
    (LONG, HEAD, (*HEAD, 0), "the other side has 27 slots; long has 26"),
    (LONG, (0, -1, *HEAD[2:24], 16, 0), HEAD, "the side to act has -1 checkers on point 1"),
    (LONG, HEAD, (0, 1, *HEAD[2:]), r"the other side has 16 checkers \(off and bar included\)"),
    (LONG, (0,) * 26, HEAD, "the side to act has 0 checkers"),
    (LONG, HEAD, (0,) * 25 + (15,), "the other side has 15 on the bar; long has no bar"),
    (LONG, HEAD, row("12:1 3:14"), "24 of the side to act is 12 of the other side"),
    (SHORT, row("24:2 6:13"), row("1:1 3:14"), "24 of the side to act is 1 of the other side"),
    (SHORT, row("off15"), row("off15"), "both sides have borne off everything"),
    (SHORT, row(f"bar:1 {HOME}"), row(f"bar:3 {HOME}"), "on the bar against closed home boards"),
]


@pytest.mark.parametrize(("variant", "mover", "opponent", "words"), REFUSED)
def test_impossible_positions_are_refused(variant, mover, opponent, words):
    """Wrong sizes, totals, shared points, bars and two finished sides: each is named."""
    with pytest.raises(PositionError, match=words):
        variant.check_position(Position(mover, opponent))


@pytest.mark.parametrize(
    ("variant", "mover", "opponent"),
    [
        (LONG, "24:15", "24:15"),
        (LONG, "off15", "24:15"),
        (LONG, "12:15", "12:15"),  # the ring's two halves
        (SHORT, "bar:15", "bar:15"),
        (SHORT, f"bar:1 {HOME}", "bar:4 6:2 5:2 4:2 3:2 2:2 1:1"),
        (SHORT, f"bar:3 {HOME}", "bar:1 8:1 off13"),
        (SHORT, "24:2 off13", "24:2 off13"),
    ],
)
def test_odd_but_possible_positions_are_accepted(variant, mover, opponent):
    """A finished side, everybody on the bar and one closed home can all be looked at."""
    position = Position(row(mover), row(opponent))
    assert variant.check_position(position) is position
    assert variant.check_position(position.swapped()) == position.swapped()


def test_a_variant_that_was_used_is_still_a_value():
    """Equality, hash and pickling do not see what a variant has worked out for itself."""
    used = load_variant("long", {"block.check": "every_step"})
    used.check_position(used.start_position())
    fresh = load_variant("long", {"block.check": "every_step"})
    assert (used, hash(used)) == (fresh, hash(fresh))
    copied = pickle.loads(pickle.dumps(used))
    assert copied == fresh
    assert copied.check_position(fresh.start_position()) == fresh.start_position()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bearoff.dice", [1.5, 6]),
        ("bearoff.dice", [True, 6]),
        ("head.lifted_by", "all"),
        ("setup.checkers", 15.0),
        ("setup.start", {24: 14.5}),
        ("setup.start", {24: 14, "24": 1}),
        ("setup.start", "24"),
    ],
)
def test_option_values_are_not_rounded(option, value):
    """A number that is not whole, or given twice, is refused with the name of its option."""
    with pytest.raises(VariantError, match=f"{option} cannot be"):
        load_variant("long", {option: value})


def test_all_dice_bear_off():
    """ONE-3: `bearoff.dice=all`, the default of rules.md 4.1, means all numbers of the dice."""
    assert load_variant("long", {"bearoff.dice": "all"}) == LONG
    five = {"dice.sides": 5, "bearoff.dice": "all", "head.exception_doubles": [3, 4]}
    assert load_variant("long", five).bearoff.dice == (1, 2, 3, 4, 5)


EMIR = {"contact": "emir", "head.exception_when": "first_roll_flag"}
DRAW = {"last_roll_draw": "on"}
CONTRADICTIONS = [  # game, options, words of the refusal
    ("fevga", {"head.exception_when": "first_roll_flag"}, "has no effect without head.exception"),
    ("astrogon", {"dice.double_steps": 3}, "has no effect with dice.program=n_times_m"),
    ("long", {"block.length": 40}, "more than the points of the board"),
    # Games that could not end
    (
        "long",
        {"bearoff.overshoot": "exact_only", "bearoff.dice": [2, 3]},
        "a checker on point 1 could never leave",
    ),
    (
        "mad_nardy",
        {"dice.sides": 4, "bearoff.dice": "all", "head.exception_doubles": [3, 4]},
        "a checker on point 5 could never leave",
    ),
    ("even_odd", {"bearoff.overshoot": "exact_only"}, "a checker on point 1 could never leave"),
    ("short", {"dice.sides": 1, "bearoff.dice": "all"}, "dice.sides is 1; it must be from 2 to 6"),
    # Segments, BGU, BNA, GUL
    ("astrogon", {"cascade": "to_six"}, "cascade needs dice.program=standard"),
    ("long", {"cascade.from_roll": 4}, "cascade.from_roll needs a cascade"),
    ("mad_nardy", {"cascade.from_roll": 9}, "it must be from 1 to 8"),
    ("gulbar", {"transfer.mode": "level"}, "without a cascade it must be remainder"),
    ("gulbar", {"transfer.heir": "free_pool"}, "it must be skip_and_continue"),
    ("mad_nardy", {"transfer.heir": "stop_at_first_unplayable"}, "several levels are inherited"),
    ("gulbar", {"transfer.zero_first_level": "skip_level"}, "it needs a cascade"),
    ("long", {"transfer.zero_first_level": "transfer"}, "needs transfer.scope=all_rolls"),
    ("gulbar", {"transfer.heir_head": "total"}, "needs a cascade, a transfer and head.limit=1"),
    ("giul", {"transfer.heir_head": "total"}, "needs a cascade, a transfer and head.limit=1"),
    ("mad_nardy", {"extra_roll": "after_full_double"}, "cascade=off"),
    ("astrogon", {"extra_roll": "after_full_double"}, "needs dice.program=standard"),
    # The last roll, DR-1, POD-4
    ("gulbar", DRAW, "one normal turn; it cannot stand with cascade, transfer or extra_roll"),
    ("mad_nardy", DRAW, "one normal turn; it cannot stand with cascade, transfer or extra_roll"),
    ("short", DRAW, "last_roll_draw needs contact=none"),
    ("emir", DRAW, "last_roll_draw needs contact=none"),
    ("giveaway", DRAW, "for games won by bearing off"),
    # Teleports, KAF, ONE, KAB
    ("gulbar", {"teleport": "kaftar"}, "no cascade or transfer"),
    ("astrogon", {"teleport": "kabutar"}, "teleport needs dice.program=standard"),
    ("short", {"teleport": "kaftar"}, "needs setup.direction=same and contact=none"),
    ("emir", {"teleport": "kaftar"}, "needs setup.direction=same and contact=none"),
    ("long", {"teleport.blocked": "lost"}, "teleport=off obliges to nothing"),
    ("one_six", {"teleport.short_head": "lost"}, "teleport=kaftar_optional obliges to nothing"),
    (
        "one_six",
        {"bearoff.overshoot": "highest_or_all_higher_blocked"},
        "needs a number in bearoff",
    ),
    # The emir, EMI
    ("short", EMIR, "has no effect without head.exception"),
    ("short", {"contact": "emir"}, "contact=emir needs setup.direction=same"),
    ("long", {"contact": "emir"}, "needs head.exception_when=first_roll_flag"),
    ("long", {"setup.emir_above": 3}, "need contact=emir; without it they must be 0"),
    ("emir", {"setup.emir_above": 12}, "must be less than the checkers on the head"),
    ("emir", {"setup.reserve": 2}, "with the 2 in reserve, not 15"),
    ("gulbar", EMIR, "contact=emir has no rules for cascade, transfer, extra_roll"),
    ("emir", {"score": "checkers_left"}, "score=checkers_left"),
    ("emir", {"objective": "first_off_loses"}, "objective=first_off_loses"),
    # The cube, CU
    ("long", {"jacoby": True}, "cube options need cube=on"),
    ("long", {"cube.max": 8}, "cube options need cube=on"),
    ("short", {"cube.max": 12}, "it must be a power of 2"),
    ("khachapuri", {"cube": "on", "jacoby": True}, "score=checkers_left has not"),
]


@pytest.mark.parametrize(("game", "options", "words"), CONTRADICTIONS)
def test_contradictions_are_refused_in_words(game, options, words):
    """What cannot stand together is refused with a sentence that says what is wrong."""
    with pytest.raises(VariantError, match=re.escape(words)) as caught:
        load_variant(game, options)
    assert str(caught.value).startswith((f"{game}: ", "setup.", "cascade.", "cube.", "dice."))


def test_digests_of_shipped_networks_stay():
    """The rules that the shipped networks learned are still called by the same digest."""
    assert LONG.digest() == "1de5294f7e660c53"
    assert SHORT.digest() == "f09dcfa970bc32f6"


@pytest.mark.parametrize(
    "options",
    [
        {"cube": "on"},
        {"cube": "on", "jacoby": True, "beaver": True, "crawford": False, "cube.max": 0},
        {"match.next_first": "winner"},
        {"cascade": "off", "transfer.scope": "off", "teleport": "off", "last_roll_draw": "off"},
    ],
)
def test_digest_leaves_out_what_is_not_play(options):
    """S-9, MT-1: cube and match change no digest, nor do options at their neutral value."""
    assert load_variant("long", options).digest() == LONG.digest()


@pytest.mark.parametrize(
    "options",
    [
        {"cascade": "to_six"},
        {"transfer.scope": "all_rolls"},
        {"extra_roll": "after_full_double"},
        {"teleport": "kabutar"},
        {"dice.parity": "white_even_black_odd"},
        {"last_roll_draw": "on"},
        {"head.exception_when": "first_roll_flag"},
        {"block.check": "every_step"},
    ],
)
def test_digest_sees_every_rule_of_play(options):
    """A changed rule of play is another game for every file that depends on it."""
    assert load_variant("long", options).digest() != LONG.digest()


def test_no_two_games_have_one_digest():
    """The catalog holds no game twice."""
    games = [load_variant(name) for name in variant_names()]
    assert len({game.digest() for game in games}) == len(games)


def test_giul_is_not_gioul():
    """GIU-3: the sides travel the same way from the start of long nardy, unlike in Gioul."""
    giul = load_variant("giul")
    assert giul.setup == LONG.setup


OWED = [f"owed_{die}" for die in range(1, 7)]
CAPTIVES = [f"captive_{point}" for point in range(1, 25)]
MEMORY = {
    "even_odd": ["first"],
    "gulbar": [*OWED, "roller", "again"],
    "mad_gulbar": [*OWED, "roller", "head_left", "again"],
    "mad_nardy": [*OWED, "roller", "head_left", "again"],
    "giul": [*OWED, "roller", "again"],
    "gul_bara_intl": [*OWED, "roller", "rolls", "again"],
    "emir": [
        *("fresh", *CAPTIVES, "emir", "emir_above", "reserve", "emir_taken", "preroll", "again"),
    ],
}


@pytest.mark.parametrize("game", variant_names())
def test_memory_slots(game):
    """Rules section 10: what a game must remember stands behind the bar, and nothing else."""
    variant = load_variant(game)
    names = MEMORY.get(game, [])
    assert [item.name for item in variant.memory] == names
    assert [item.slot for item in variant.memory] == list(range(26, 26 + len(names)))
    assert variant.n_slots == variant.n_counts + len(names)
    assert {len(side) for side in variant.start_position()} == {variant.n_slots}
    assert variant.check_position(variant.start_position())


def test_memory_slots_of_options():
    """Section 10: an option brings its memory along, in every game that takes it."""
    names = {item.name for item in load_variant("long", DRAW).memory}
    assert names == {"first", "last_turn"}
    slow = load_variant("long", {"cascade": "to_six", "cascade.from_roll": 4})
    assert "rolls" in {item.name for item in slow.memory}
    five = {"dice.sides": 5, "bearoff.dice": "all", "head.exception_doubles": [3, 4]}
    owed = [m.name for m in load_variant("gulbar", five).memory if m.name.startswith("owed")]
    assert owed == OWED[:5]


def test_start_remembers_who_moves_first():
    """CHN-1, EMI-1, EMI-2: first player, fresh sides, emir under six checkers, three nukers."""
    start = load_variant("even_odd").start_position()
    assert (start.mover[-1], start.opponent[-1]) == (1, 0)
    emir = load_variant("emir")
    told = {"fresh": 1, "emir": 24, "emir_above": 6, "reserve": 3, "preroll": 0, "again": 0}
    for side in emir.start_position():
        assert {name: emir.recall(side, name) for name in told} == told
        assert emir.board_checkers(side) == 12


def remembering(game, mover, opponent, mine=(), theirs=()):
    """Return `(variant, position)` with memory values by name."""
    variant = load_variant(game) if isinstance(game, str) else game
    slots = {item.name: item.slot for item in variant.memory}
    rows = []
    for text, memory in ((mover, mine), (opponent, theirs)):
        side = [*row(text), *([0] * len(slots))]
        for name, value in dict(memory).items():
            side[slots[name]] = value
        apart = sum(value for name, value in dict(memory).items() if name.startswith("captive"))
        side[0] -= apart + dict(memory).get("reserve", 0)
        rows.append(tuple(side))
    return variant, Position(*rows)


LAST = load_variant("long", DRAW)
GONE = {"emir": 24}
MEMORY_REFUSED = [
    ("gulbar", "24:15", "24:15", {"owed_6": 5, "roller": 1}, {}, "has owed_6 5; it is 0 to 4"),
    ("gulbar", "24:15", "24:15", {"again": 1}, {}, "only an afterstate can have"),
    ("gulbar", "24:15", "24:15", {}, {"owed_6": 1, "roller": 1}, "so it is the side to act"),
    ("gulbar", "24:15", "24:15", {"owed_6": 1}, {}, "exactly one side is the one that threw"),
    ("gulbar", "24:15", "24:15", {"roller": 1}, {}, "exactly one side is the one that threw"),
    (
        *("gulbar", "24:15", "24:15", {"owed_1": 1, "roller": 1}, {"roller": 1}),
        "exactly one side is the one that threw",
    ),
    (  # BNA-4: the heir plays first
        *("mad_nardy", "24:15", "24:15", {"owed_6": 4, "roller": 1}, {"owed_5": 3}),
        "goes on when the other side has played",
    ),
    ("even_odd", "24:15", "24:15", {}, {}, "exactly one side moved first"),
    ("even_odd", "24:15", "24:15", {"first": 1}, {"first": 1}, "exactly one side moved first"),
    (LAST, "24:15", "24:15", {"last_turn": 1}, {"first": 1}, "a last turn is played by the side"),
    (LAST, "1:1", "off15", {"last_turn": 1, "first": 1}, {}, "a last turn is played by the side"),
    (LAST, "1:1", "off15", {}, {"last_turn": 1, "first": 1}, "a last turn is played by the side"),
    ("emir", "8:2 7:1", "24:14", {"captive_5": 1, "emir": 8}, GONE, "has no checker"),
    (
        *("emir", "8:2 5:1", "24:13 17:1", {"captive_5": 1, "emir": 8}, GONE),
        "both sides stand on one point",
    ),
    ("emir", "8:2", "24:15", {"emir": 7}, GONE, "has its emir on 7, where it has no checker"),
    ("emir", "8:2", "24:15", {"emir": 0, "reserve": 3}, {"emir": 3}, "has its emir on 3"),
    ("emir", "8:2", "24:4", {"emir": 8}, {"emir": 24, "emir_above": 4}, "above the emir"),
    ("emir", "24:4 8:2", "24:4", {"emir": 8, "emir_above": 1}, GONE, "above the emir"),
    ("emir", "8:2", "24:15", {"emir": 8, "reserve": 4}, GONE, "has reserve 4; it is 0 to 3"),
]


@pytest.mark.parametrize(("game", "mover", "opponent", "mine", "theirs", "words"), MEMORY_REFUSED)
def test_impossible_memory_is_refused(game, mover, opponent, mine, theirs, words):
    """Numbers out of range and memories that contradict each other are refused in words."""
    variant, position = remembering(game, mover, opponent, mine, theirs)
    with pytest.raises(PositionError, match=re.escape(words)):
        variant.check_position(position)


@pytest.mark.parametrize(
    ("game", "mover", "opponent", "mine", "theirs"),
    [
        ("gulbar", "24:15", "24:15", {"owed_6": 4, "roller": 1}, {}),
        ("gulbar", "24:15", "24:15", {"owed_6": 1}, {"roller": 1}),
        ("mad_nardy", "24:15", "24:15", {"owed_3": 2}, {"owed_4": 4, "owed_5": 4, "roller": 1}),
        (LAST, "1:1", "off15", {"last_turn": 1}, {"first": 1}),
        (LAST, "off15", "off15", {}, {"first": 1}),
        ("emir", "8:2", "24:13 17:1", {"captive_5": 1, "emir": 5}, GONE),
        ("emir", "bar:1 8:2", "24:14", {"emir": 25}, GONE),
        ("emir", "24:4", "24:2", {"emir": 24, "emir_above": 3, "reserve": 3}, GONE),
    ],
)
def test_possible_memory_is_accepted(game, mover, opponent, mine, theirs):
    """Dice owed, a last turn, a captive emir and one on the bar are positions of the game."""
    variant, position = remembering(game, mover, opponent, mine, theirs)
    assert variant.check_position(position) is position
