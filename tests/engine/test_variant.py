"""What a variant accepts: rolls, positions and option values, each refusal one sentence."""

import pickle

import numpy as np
import pytest

from nardy_engine import Position, load_variant
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
