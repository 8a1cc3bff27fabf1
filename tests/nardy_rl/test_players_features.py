"""The features of positional bots in games other than long nardy, counted by hand."""

import numpy as np
import pytest

from nardy_engine import load_variant
from nardy_engine.rules.memory import memory_index
from nardy_rl.players.features import FEATURES, dice_odds, features, steps_of
from positions import row


def values(game, mover, opponent, mine=None, theirs=None):
    """Return the features of one afterstate by name; `mine`, `theirs` are memory by name."""
    variant = load_variant(game)
    board = np.zeros((1, 2, variant.n_slots), dtype=np.int8)
    slots = memory_index(variant)
    apart = [0, 0]
    for side, memory in enumerate((mine or {}, theirs or {})):
        for name, value in memory.items():
            board[0, side, slots[name]] = value
            apart[side] += value if name.startswith(("captive_", "reserve")) else 0
    for side, text in enumerate((mover, opponent)):
        counts = row(text, variant.setup.checkers - apart[side])
        board[0, side, : variant.n_counts] = counts
    return dict(zip(FEATURES, features(variant, board)[0].tolist(), strict=True))


# -- dice -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "roll", "steps"),
    [
        ("long", (6, 5), {6: 1, 5: 1}),
        ("long", (3, 3), {3: 4}),
        ("astrogon", (2, 6), {6: 2}),  # AST-1
        ("astrogon", (5, 5), {5: 5}),
        ("mad_gulbar", (4, 4), {4: 4, 5: 4, 6: 4}),  # BGU-1
    ],
)
def test_steps_of_a_roll(game, roll, steps):
    """T-7, AST-1, BGU-1: the dice programmes."""
    assert dict(steps_of(load_variant(game), roll)) == steps


def test_chances_of_exact_distances_are_the_known_ones():
    """Of 36 rolls of short nardy 11 play a 1, 17 a 6, 3 a 12 and 1 a 24."""
    reach = dice_odds(load_variant("short")).reach * 36
    assert reach[[1, 6, 12, 24]].tolist() == pytest.approx([11, 17, 3, 1])


def test_large_numbers_give_more_steps_where_the_smaller_die_counts_them():
    """AST-1: a number d is played d^2 times in 91; in long nardy all are alike."""
    astrogon = dice_odds(load_variant("astrogon")).share * 91
    assert astrogon.tolist() == pytest.approx([0, 1, 4, 9, 16, 25, 36], abs=1e-4)
    assert dice_odds(load_variant("long")).share[1:].tolist() == pytest.approx([1 / 6] * 6)


def test_mobility_is_the_share_of_playable_dice():
    """L-4, S-4: closed points stop dice; a checker on the bar stops all others."""
    # My 24 can go to 23 and 22 only: his 9 8 7 6 are my 21 20 19 18.
    found = values("long", "24:15", "9:1 8:1 7:1 6:12")
    assert found["dice"] == pytest.approx(2 / 6)
    assert found["their_dice"] == pytest.approx(1)
    # Entering needs a 1 or a 2: his 6 5 4 3 are my 19 20 21 22.
    found = values("short", "bar:1 6:14", "6:2 5:2 4:2 3:2 1:7")
    assert found["dice"] == pytest.approx(1 / 6)  # his 1-point holds my 24


def test_mobility_knows_how_checkers_leave():
    """BNA-2, BNA-3, ONE-3: frozen checkers need their own number, one_six needs a 1 or a 6."""
    assert values("mad_nardy", "4:15", "24:15")["dice"] == pytest.approx(
        float(dice_odds(load_variant("mad_nardy")).share[4])
    )
    # One-six: the checker on 3 moves by 1 and 2; 6 bears it off, 3 to 5 do not.
    assert values("one_six", "3:1 off14", "24:15")["dice"] == pytest.approx(3 / 6)


def test_the_lock_of_the_head_counts():
    """FEV-2: before the runner has passed, only it moves."""
    his = "11:15"  # my 23
    assert values("fevga", "24:14 13:1", his)["dice"] == pytest.approx(1)
    # The runner on 18 finds his 5 4 3 2 1 24 = my 17 16 15 14 13 12 closed.
    his = "5:1 4:1 3:1 2:1 1:1 24:10"
    assert values("fevga", "24:14 18:1", his)["dice"] == 0
    assert values("long", "24:14 18:1", his)["dice"] == pytest.approx(1)


# -- contact ----------------------------------------------------------------------------------


def test_one_checker_holds_a_point_only_where_it_cannot_be_hit():
    """L-4, S-3: a lone checker closes a point of long nardy, two do in short."""
    assert values("long", "8:1 7:1 6:1 5:12", "24:15")["block4"] == pytest.approx(1)
    assert values("short", "8:2 7:1 6:2 5:2", "24:15")["spread"] == 1
    run = values("short", "8:2 7:2 6:2 5:9", "24:14 bar:1")
    assert run["block4"] == pytest.approx(1)  # the bar is behind it too
    assert run["shut_out"] == pytest.approx(2 / 6 / 15)  # 6 and 5 of his six entries
    assert run["their_bar"] == pytest.approx(1 / 15)


def test_risk_is_the_chance_of_being_hit():
    """S-3: a blot six points before one opposing checker is hit by 17 of 36 rolls."""
    # My 18 is his 7; his checker on 13 is six away, the others have passed.
    found = values("short", "18:1 6:14", "13:1 1:14")
    assert (found["blots"], found["risk"]) == pytest.approx((1, 17 / 36))
    assert found["risk_pips"] == pytest.approx(17 / 36 * (25 - 18) / 24)
    assert values("short", "18:1 6:14", "6:1 1:14")["blots"] == 0


# -- owed dice, teleports ---------------------------------------------------------------------


def test_owed_dice_count_as_far_as_they_can_be_played():
    """GUL-1: two fives that he can play bring him ten pips, closed ones nothing."""
    owes = {"owed_5": 2}
    free = values("gulbar", "20:15", "24:14 17:1", theirs=owes)
    # His 17 goes to 12 and 7; from the head one checker goes too, and two steps are all he owes.
    assert free["their_owed"] == pytest.approx(10 / 15 / 24)
    # My 7 is his 19, my 24 his 12.
    half = values("gulbar", "24:1 7:14", "24:14 17:1", theirs=owes)
    assert half["their_owed"] == 0
    assert values("gulbar", "24:15", "24:15", mine={"again": 1})["again"] == 1


@pytest.mark.parametrize(("game", "share"), [("kaftar", 1 / 2), ("kabutar", 1 / 6), ("long", 0)])
def test_landing_counts_the_teleports_that_a_point_stops(game, share):
    """KAF-8, KAB-3: my 18 is his 6, where his sixes would land."""
    assert values(game, "18:1 1:14", "24:15")["landing"] == pytest.approx(share)


def test_exit_is_how_often_a_checker_leaves_exactly():
    """ONE-3: of a home board only 6 and 1 are left by exact dice."""
    assert values("one_six", "6:5 5:5 1:5", "24:15")["exit"] == pytest.approx(10 / 15)
    assert values("long", "6:5 5:5 1:5", "24:15")["exit"] == pytest.approx(1)


# -- emir -------------------------------------------------------------------------------------


def test_captives_of_both_sides():
    """EMI-5: a captor holds its point alone; captives count where they lie."""
    emir = {"emir": 24, "reserve": 3}
    found = values(
        "emir",
        "24:9 8:1",
        "24:8 18:2",
        mine={**emir, "captive_6": 1, "captive_5": 1},
        theirs={**emir, "captive_20": 1, "reserve": 3},
    )
    assert found["captured"] == pytest.approx(2 / 15)
    assert found["captives"] == pytest.approx(20 / 15 / 24)
    assert found["spread"] == 2  # the head, and 8 on his captive
    assert found["blots"] == 0
    assert found["reserve"] == pytest.approx(3 / 15)
    assert found["pips"] == pytest.approx((9 * 24 + 8 + 6 + 5) / 15 / 24)


def test_the_emir_alone_is_in_danger():
    """EMI-9, EMI-10: any opposing checker behind it may land on it, his emir wins by it."""
    # My 14 is his 2; his checkers on 8 (his emir) and on 24 stand 6 and 22 behind it.
    found = values(
        "emir",
        "24:11 14:1",
        "24:11 8:1",
        mine={"emir": 14, "reserve": 3},
        theirs={"emir": 8, "reserve": 3},
    )
    assert found["emir_fatal"] == pytest.approx(17 / 36)
    assert found["emir_risk"] == pytest.approx(17 / 36)
    guarded = values("emir", "24:10 14:2", "24:11 8:1", {"emir": 14, "reserve": 3}, {"reserve": 3})
    assert guarded["emir_risk"] == guarded["emir_fatal"] == 0
