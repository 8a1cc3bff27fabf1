"""Bear-off tables against fractions worked out from the rules text."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from bearoff_games import FEW, RULES, Race, Side, few, home_sides, rolls, row
from nardy_engine import batch, load_variant
from nardy_engine.bearoff import Bearoff
from nardy_engine.bearoff.build import home_steps, play_scratch
from nardy_engine.kernels import bearoff_tables as kernel
from nardy_engine.kernels.bearoff import home_rank
from nardy_engine.rules import rule_table

CLOSE = {"rtol": 0, "atol": 1e-6}


def even(low):
    return low % 2 == 0


def odd(low):
    return low % 2 == 1


@cache
def solved(name):
    return Side(few(name))


@cache
def solved_first(name):
    variant = few(name)
    return Side(variant, goal=lambda side: sum(side) < variant.setup.checkers)


@cache
def solved_parity():
    return Side(few("n times m"), plays_roll=even), Side(few("n times m"), plays_roll=odd)


def bearoff(variant):
    found = Bearoff.for_variant(variant)
    assert found is not None
    return found


def even_odd():
    return load_variant("even_odd", FEW)


def board(variant, mine, theirs, first=True):
    return [row(variant, mine, first), row(variant, theirs, not first)]


@pytest.mark.parametrize("name", RULES)
def test_chances_of_rolls(name):
    """The chance of 0 to 8 rolls is the exact fraction, for all 84 positions (L-30..L-33)."""
    variant, exact = few(name), solved(name)
    sides = home_sides(variant.setup.checkers)
    got = bearoff(variant).roll_chances([row(variant, side) for side in sides])
    for side, chances in zip(sides, got, strict=True):
        expected = [float(c) for c in exact.chances(side, 8)]
        length = min(len(expected), len(chances))
        np.testing.assert_allclose(chances[:length], expected[:length], **CLOSE, err_msg=str(side))
        assert sum(expected[length:]) < 1e-6


@pytest.mark.parametrize("name", RULES)
def test_mean_rolls(name):
    """The mean number of rolls is the exact one, however long the tail."""
    variant, exact = few(name), solved(name)
    sides = home_sides(variant.setup.checkers)
    got = bearoff(variant).mean_rolls([row(variant, side) for side in sides])
    np.testing.assert_allclose(got, [float(exact.mean[side]) for side in sides], atol=2e-5, rtol=0)


@pytest.mark.parametrize("name", RULES)
def test_chances_until_the_first_checker(name):
    """The chance of 0 to 6 rolls until the first checker is off is exact, for those with none."""
    variant, exact = few(name), solved_first(name)
    whole = [side for side in home_sides(3) if sum(side) == variant.setup.checkers]
    got = bearoff(variant).first_off_chances([row(variant, side) for side in whole])
    for side, chances in zip(whole, got, strict=True):
        expected = [float(c) for c in exact.chances(side, 6)]
        length = min(len(expected), len(chances))
        np.testing.assert_allclose(chances[:length], expected[:length], **CLOSE, err_msg=str(side))


def test_chances_with_parity():
    """CHN-1: the side that moved first skips odd numbers, the other one even numbers."""
    variant = even_odd()
    sides = home_sides(variant.setup.checkers)
    for exact, first in zip(solved_parity(), (True, False), strict=True):
        rows = [row(variant, side, first) for side in sides]
        got = bearoff(variant).roll_chances(rows)
        for side, chances in zip(sides, got, strict=True):
            expected = [float(c) for c in exact.chances(side, 8)]
            np.testing.assert_allclose(chances[:9], expected, **CLOSE, err_msg=str(side))


@pytest.mark.parametrize("name", RULES)
def test_exact_races(name):
    """With one checker off a side, the chance to win is that of the best play of both."""
    variant, side = few(name), solved(name)
    race = Race(side, side)
    pairs = [(a, b) for a in home_sides(2) for b in home_sides(2) if sum(a) and sum(b)]
    got = bearoff(variant).outcome_probs([board(variant, a, b) for a, b in pairs])
    expected = [float(race.wins(a, b)) for a, b in pairs]
    np.testing.assert_allclose(got[:, 0], expected, **CLOSE)
    np.testing.assert_allclose(got.sum(axis=1), 1, **CLOSE)


def test_exact_races_with_parity():
    """CHN-1: each side has its own table, and both can be made to pass."""
    variant = even_odd()
    pairs = [(a, b) for a in home_sides(2) for b in home_sides(2) if sum(a) and sum(b)]
    sides = solved_parity()
    for first, race in ((True, Race(*sides)), (False, Race(*sides[::-1]))):
        got = bearoff(variant).outcome_probs([board(variant, a, b, first) for a, b in pairs])
        np.testing.assert_allclose(got[:, 0], [float(race.wins(a, b)) for a, b in pairs], **CLOSE)


def result(mine, theirs, first, draw):
    """Say who wins if the side to roll needs `mine` rolls and the other `theirs`, turn by turn.

    Return the winner (0 = the side to roll, None = draw) and the rolls that the loser has had.
    """
    had, done = [0, 0], [False, theirs == 0]
    needs, turn = (mine, theirs), 0
    while True:
        if done[1 - turn]:  # the last turn (DR-1)
            had[turn] += 1
            return (None if had[turn] == needs[turn] else 1 - turn), had[turn]
        had[turn] += 1
        done[turn] = had[turn] == needs[turn]
        moved_first = (turn == 0) == first
        if done[turn] and not (draw and moved_first):
            return turn, had[1 - turn]
        turn = 1 - turn


def expected_outcomes(variant, mine, theirs, first=True, most=14):
    """Return the exact outcome fractions of a three-checker race played for few rolls."""
    name = "highest"
    draw, kinds = variant.has_draw, len(variant.win_kinds)
    n_all = variant.setup.checkers
    finish, first_off = solved(name), solved_first(name)
    out = [Fraction(0)] * variant.n_outcomes
    mars = 3 if variant.score.value == "oin_mars_koks_homemars" else 1
    for n, a in enumerate(finish.chances(mine, most)):
        for m, b in enumerate(finish.chances(theirs, most)):
            if a and b:
                winner, _ = result(n, m, first, draw)
                out[2 * kinds if winner is None else winner * kinds] += a * b
    for loser, side in enumerate((mine, theirs)):
        if sum(side) < n_all:
            continue
        winner_chances = finish.chances((mine, theirs)[1 - loser], most)
        for n, a in enumerate(winner_chances):
            for f, b in enumerate(first_off.chances(side, most)):
                if a and b:
                    # Whoever needs 99 rolls loses; the loser has had so many rolls by then.
                    needs = (99, n) if loser == 0 else (n, 99)
                    _, had = result(*needs, first, draw)
                    if f > had:
                        out[(1 - loser) * kinds] -= a * b
                        out[(1 - loser) * kinds + mars] += a * b
    return [float(chance) for chance in out]


@pytest.mark.parametrize("score", ["oin_mars", "oin_mars_koks", "oin_mars_koks_homemars"])
def test_a_mars_needs_no_checker_off(score):
    """L-40, SC-3, SC-4: winning in n rolls is a mars if the loser's first is not off by then."""
    variant = few("highest", score=score)
    whole = [side for side in home_sides(3) if sum(side) == 3]
    pairs = [(a, b) for a in home_sides(3)[1::7] for b in whole[::3]]
    pairs += [(b, a) for a, b in pairs]
    got = bearoff(variant).outcome_probs([board(variant, a, b) for a, b in pairs])
    for (a, b), chances in zip(pairs, got, strict=True):
        expected = expected_outcomes(variant, a, b)
        np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-5, err_msg=f"{a} {b}")
    assert got[:, 1:].max() > 0.1


@pytest.mark.parametrize("first", [True, False])
def test_last_turn(first):
    """DR-1, DR-2: who moved second has the last roll, for a draw or for a first checker off."""
    variant = few("highest", last_roll_draw="on")
    sides = home_sides(3)[1:]
    pairs = [(a, b) for a in sides[::5] for b in sides[::4]]
    got = bearoff(variant).outcome_probs([board(variant, a, b, first) for a, b in pairs])
    for (a, b), chances in zip(pairs, got, strict=True):
        expected = expected_outcomes(variant, a, b, first)
        np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-5, err_msg=f"{a} {b}")
    assert got[:, -1].max() > 0.3


def test_the_last_turn_itself():
    """X-Y5: the other side is done; finishing now is a draw, anything else a loss."""
    variant = few("highest", last_roll_draw="on")
    boards = []
    for side in ((2, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 3)):
        mine = list(row(variant, side, first=False))
        mine[variant.n_counts + 1] = 1  # last_turn
        boards.append([mine, row(variant, (0,) * 6)])
    ending = bearoff(variant)
    assert ending.covers(boards).all()
    got = ending.outcome_probs(boards)
    np.testing.assert_allclose(got[0], [0, 0, 0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(got[1], [0, 0, 9 / 36, 0, 27 / 36], atol=1e-6)
    # Three on the 6: eleven rolls with a 6, 5-1, 4-2 and the doubles 5-5 to 2-2 take one off or
    # two, only 6-6 all three.
    np.testing.assert_allclose(got[2], [0, 0, 18 / 36, 17 / 36, 1 / 36], atol=1e-6)
    boards[0][0][variant.n_counts + 1] = 0
    assert not ending.covers(boards[:1])[0]


def test_checkers_left():
    """KHA-4: the winner scores the checkers that the loser has left, both playing for few rolls."""
    variant = few("highest", score="checkers_left")
    finish, n_all, most = solved("highest"), 3, 14
    sides = home_sides(3)[1:]
    pairs = [(a, b) for a in sides[::9] for b in sides[::6]]
    got = bearoff(variant).outcome_probs([board(variant, a, b) for a, b in pairs])
    for (a, b), chances in zip(pairs, got, strict=True):
        expected = np.zeros(2 * n_all)
        for n in range(1, most + 1):
            for end, chance in finish.after(b, n - 1).items():
                if sum(end):
                    expected[sum(end) - 1] += float(chance * finish.chances(a, most)[n])
            for end, chance in finish.after(a, n).items():
                if sum(end):
                    expected[n_all + sum(end) - 1] += float(chance * finish.chances(b, most)[n])
        np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-5, err_msg=f"{a} {b}")


def random_rows(variant, n, seed):
    """Return `n` random rows with all checkers at home or off."""
    generator = np.random.default_rng(seed)
    rows = np.zeros((n, variant.n_slots), np.int8)
    for i in range(n):
        slots = generator.integers(0 if i % 2 else 1, variant.setup.home + 1, 15)
        if i % 3 == 0:
            slots = np.minimum(slots, generator.integers(1, variant.setup.home + 1))
        rows[i, : variant.setup.home + 1] = np.bincount(slots, minlength=variant.setup.home + 1)
    return rows[rows[:, 0] < variant.setup.checkers]


def _check_plays(variant, numbers=kernel.ANY_NUMBER, first=True):
    rules = rule_table(variant)
    steps, counts, binomials = home_steps(rules)
    scratch = play_scratch(rules)
    home = variant.setup.home
    rows = random_rows(variant, 60, seed=7)
    rows[:, variant.n_counts :] = row(variant, (0,) * home, first)[variant.n_counts :]
    away = row(variant, (1,) + (0,) * (home - 1), not first)
    boards = np.stack((rows, np.broadcast_to(away, rows.shape)), axis=1)
    for dice, _ in rolls(variant):
        after = batch.afterstates(variant, boards, np.array([dice] * len(boards)))
        for i, counted in enumerate(rows):
            rank = home_rank(counted, home, binomials)
            assert counts[rank, 1:].tolist() == counted[1 : home + 1].tolist()
            n = kernel.list_home_ends(rank, *dice, numbers, steps, rules, scratch)
            got = {tuple(counts[end, 1:].tolist()) for end in scratch.ends[:n]}
            expected = {tuple(b[0, 1 : home + 1].tolist()) for b in after.of(i)}
            assert got == expected, (variant.id, counted, dice)


@pytest.mark.parametrize("name", RULES)
def test_plays_are_those_of_the_engine(name):
    """The plays behind the tables are the engine's, with fifteen checkers and every roll (T-13)."""
    game, options = RULES[name]
    _check_plays(load_variant(game, options))


@pytest.mark.parametrize("game", ["karzar", "nardgammon", "kaftar", "one_six", "kabutar", "fevga"])
def test_rules_without_effect_at_home(game):
    """Blocks (L-24), teleports (KAF-10, KAB-4) and runners (FEV-3) change no ending."""
    _check_plays(load_variant(game))


def test_skipped_turns_are_those_of_the_engine():
    """CHN-1: the side that moved first plays even smaller numbers, the other one odd ones."""
    _check_plays(load_variant("even_odd"), kernel.EVEN_NUMBERS, first=True)
    _check_plays(load_variant("even_odd"), kernel.ODD_NUMBERS, first=False)


def test_ranks():
    """Ranks count 0..54,263 without a gap; every step leads to a lower one."""
    rules = rule_table(load_variant("long"))
    steps, counts, binomials = home_steps(rules)
    assert len(counts) == 54_264  # anchors: C(21, 6)
    assert len({tuple(c) for c in counts.tolist()}) == len(counts)
    assert counts.sum(axis=1).max() == 15
    for rank in range(0, len(counts), 101):
        assert home_rank(counts[rank], rules.home, binomials) == rank
    assert np.all(steps < np.arange(len(steps))[:, None, None])


def test_one_roll_of_the_exact_race():
    """With up to six checkers a side a value is the mean over rolls of the best play's value."""
    variant = load_variant("short")
    ending = bearoff(variant)
    generator = np.random.default_rng(3)
    boards = np.zeros((60, 2, variant.n_slots), np.int8)
    for rows in boards.reshape(-1, variant.n_slots):
        slots = generator.integers(1, 7, generator.integers(1, 7))
        rows[:7] = np.bincount(slots, minlength=7)
        rows[0] = variant.setup.checkers - len(slots)
    assert ending.tables.wins.shape == (1, 924, 924)
    expected = np.zeros(len(boards))
    for dice, chance in rolls(variant):
        after = batch.afterstates(variant, boards, np.array([dice] * len(boards)))
        over = batch.outcomes(variant, after.boards) >= 0
        value = np.ones(len(over))
        turned = batch.swapped(after.boards[~over])
        value[~over] = 1 - ending.outcome_probs(turned)[:, 0]
        expected += float(chance) * np.maximum.reduceat(value, after.offsets[:-1])
    np.testing.assert_allclose(ending.outcome_probs(boards)[:, 0], expected, **CLOSE)
