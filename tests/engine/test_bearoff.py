"""Bear-off tables: public figures, bounds that must hold, which games have them, the disk."""

from functools import cache

import numpy as np
import pytest

from bearoff_games import FEW
from nardy_engine import batch, load_variant, variant_names
from nardy_engine.bearoff import Bearoff, obstacle, store
from nardy_engine.bearoff.build import build_tables
from nardy_engine.bearoff.coverage import BearoffRules
from nardy_engine.rules import rule_table
from positions import row

COVERED = {
    "short", "nackgammon", "hypergammon", "long", "long-fnr", "nardgammon", "karzar", "kaftar",
    "one_six", "kabutar", "astrogon", "even_odd", "khachapuri", "fevga",
}  # fmt: skip
LAST_TWO = {
    (1,): 36, (2,): 36, (3,): 36, (4,): 34, (5,): 31, (6,): 27, (1, 1): 36, (2, 1): 36,
    (3, 1): 34, (4, 1): 29, (5, 1): 23, (6, 1): 15, (2, 2): 26, (3, 2): 25, (4, 2): 23,
    (5, 2): 19, (6, 2): 13, (3, 3): 17, (4, 3): 17, (5, 3): 14, (6, 3): 10, (4, 4): 11,
    (5, 4): 10, (6, 4): 8, (5, 5): 6, (6, 5): 6, (6, 6): 4,
}  # fmt: skip
"""Rolls of 36 that bear off the last one or two checkers: the table of every backgammon book."""


@cache
def bearoff(game):
    return Bearoff.for_variant(load_variant(game))


def standing(points, variant):
    counts = np.zeros(variant.n_slots, np.int8)
    for point in points:
        counts[point] += 1
    counts[0] = variant.setup.checkers - len(points)
    return counts


def random_boards(variant, n, seed, least_off=0):
    """Return `n` endings, from full homes to the last checkers."""
    generator = np.random.default_rng(seed)
    boards = np.zeros((n, 2, variant.n_slots), np.int8)
    home, checkers = variant.setup.home, variant.setup.checkers
    for counts in boards.reshape(-1, variant.n_slots):
        left = generator.integers(1, checkers + 1 - least_off)
        if generator.random() < 0.4:
            left = checkers - least_off
        slots = generator.integers(1, generator.integers(1, home + 1) + 1, left)
        counts[: home + 1] = np.bincount(slots, minlength=home + 1)
        counts[0] = checkers - left
    if variant.remembers("first"):
        boards[::2, 0, variant.n_counts] = 1
        boards[1::2, 1, variant.n_counts] = 1
    return boards


@pytest.mark.parametrize("points", LAST_TWO, ids=lambda points: "-".join(map(str, points)))
def test_the_last_two_checkers(points):
    """The chance to finish in one roll is the one that every player knows."""
    variant = load_variant("short")
    chances = bearoff("short").roll_chances([standing(points, variant)])[0]
    assert chances[0] == 0
    assert chances[1] * 36 == pytest.approx(LAST_TWO[points], abs=1e-4)


def test_checkers_on_the_ace_point():
    """A roll takes two from the ace-point, a double four: the mean is a short recursion."""
    variant = load_variant("short")
    mean = [0.0]
    for n in range(1, 16):
        mean.append(1 + 30 / 36 * mean[max(n - 2, 0)] + 6 / 36 * mean[max(n - 4, 0)])
    rows = [standing((1,) * n, variant) for n in range(16)]
    np.testing.assert_allclose(bearoff("short").mean_rolls(rows), mean, atol=1e-5)


def test_mad_rules_make_endings_longer():
    """BNA-2, BNA-3, ONE-3: one checker on the 6 needs a 6, so the mean is 36/11 rolls."""
    frozen = load_variant("long", {"bearoff.overshoot": "exact_only", "home.frozen": True})
    rows = [standing((point,), frozen) for point in range(1, 7)]
    np.testing.assert_allclose(Bearoff.for_variant(frozen).mean_rolls(rows), 36 / 11, atol=1e-4)
    one_six = load_variant("one_six")
    mean = bearoff("one_six").mean_rolls([standing((1,), one_six)])
    np.testing.assert_allclose(mean, 36 / 20, atol=1e-5)  # only a 1 or a 6 bears off


def test_a_checker_less_never_costs_rolls():
    """By the usual rules the mean never grows when a checker is taken off.

    A checker moved one point nearer can cost rolls: it may leave a gap.
    """
    variant = load_variant("short")
    boards = random_boards(variant, 400, seed=2)
    generator = np.random.default_rng(4)
    fewer = boards[:, 0].copy()
    for counts in fewer:
        counts[generator.choice(np.flatnonzero(counts[1:]) + 1)] -= 1
        counts[0] += 1
    before, after = (bearoff("short").mean_rolls(r) for r in (boards[:, 0], fewer))
    assert np.all(after <= before + 1e-6)
    assert np.mean(after < before - 0.1) > 0.8
    chances = bearoff("short").roll_chances(boards[:, 0])
    assert chances.min() >= 0
    needed = -(-boards[:, 0, 1:7].sum(axis=1) // 4)  # a double takes four checkers
    for k in range(4):
        assert not chances[needed > k, k].any()


@pytest.mark.parametrize("game", sorted(COVERED))
def test_outcomes_are_chances(game):
    """Outcomes sum to 1, impossible ones are exactly 0, and every game of the list is covered."""
    variant = load_variant(game)
    boards = random_boards(variant, 300, seed=11)
    ending = bearoff(game)
    assert ending.covers(boards).all()
    got = ending.outcome_probs(boards)
    assert got.shape == (300, variant.n_outcomes)
    assert got.min() >= 0
    np.testing.assert_allclose(got.sum(axis=1), 1, atol=1e-6)
    assert not got[~batch.outcome_mask(variant, boards)].any()
    with_both = ending.outcome_probs(boards[:1])
    assert with_both.tolist() == got[:1].tolist(), "a board depends on its neighbours"


@pytest.mark.parametrize("game", ["short", "long", "one_six", "astrogon"])
def test_rolling_first_is_an_advantage(game):
    """In an even race the side to roll wins more than half, and more points are a worse race."""
    variant = load_variant(game)
    boards = random_boards(variant, 200, seed=5)
    boards[:, 1] = boards[:, 0]
    half = variant.n_outcomes // 2
    won = bearoff(game).outcome_probs(boards)[:, :half].sum(axis=1)
    assert won.min() > 0.5
    boards[:, 1, 0], boards[:, 1, 1] = 14, 1
    boards[:, 1, 2:7] = 0
    behind = bearoff(game).outcome_probs(boards)[:, :half].sum(axis=1)
    assert np.all(behind <= won + 1e-6)


@pytest.mark.parametrize("game", ["short", "one_six"])
def test_one_side_alone_comes_close_to_the_exact_race(game):
    """Where both kinds of table exist they differ by little: playing for few rolls is near best."""
    variant = load_variant(game)
    ending = bearoff(game)
    alone = Bearoff(variant, ending.tables._replace(wins=ending.tables.wins[:, :0, :0].copy()))
    boards = random_boards(variant, 400, seed=8, least_off=9)
    difference = alone.outcome_probs(boards)[:, 0] - ending.outcome_probs(boards)[:, 0]
    assert np.abs(difference).max() < 0.02
    assert np.abs(difference).mean() < 0.002


def test_mars_chances_of_a_full_home():
    """S-8: who needs one roll more than the loser's first checker wins a gammon for certain."""
    variant = load_variant("short")
    full = np.array(row("6:15"), np.int8)
    boards = np.array([[standing((1,), variant), full], [full, standing((1,), variant)]])
    got = bearoff("short").outcome_probs(boards)
    np.testing.assert_allclose(got[0], [0, 1, 0, 0, 0, 0], atol=1e-6)
    # A first roll without a 6 saves the gammon only if it brings a checker off: 5-1, 4-2, 3-3, 2-2.
    np.testing.assert_allclose(got[1], [0, 0, 0, 17 / 36, 19 / 36, 0], atol=1e-6)


def test_which_games_are_covered():
    """Games with several decisions a roll, with pins or with a reversed goal say why not."""
    games = {game: load_variant(game) for game in variant_names()}
    assert {game for game, variant in games.items() if obstacle(variant) is None} == COVERED
    for game in games.keys() - COVERED:
        assert Bearoff.for_variant(games[game]) is None
    assert "decisions" in obstacle(games["gulbar"])
    assert "loses" in obstacle(games["giveaway"])
    assert "stand" in obstacle(games["emir"])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"block.rule": "never"}, "block"),
        ({"setup.checkers": 40, "setup.start": {24: 40}}, "positions"),
    ],
)
def test_rules_without_tables(options, word):
    """Rules that tables cannot hold are refused in words, not built wrongly."""
    variant = load_variant("long", options)
    assert word in obstacle(variant)
    assert Bearoff.for_variant(variant) is None


def test_covers_only_endings():
    """A checker outside the home, on the bar, or a finished game is no ending."""
    home = row("6:5 1:2")
    others = ["7:1 6:4", "bar:1 6:4", "24:1 1:3", "off15"]
    boards = [[home, row(text)] for text in others] + [[row(text), home] for text in others]
    assert not bearoff("short").covers(boards).any()
    assert bearoff("short").covers([[home, home]]).all()
    negative = np.array([[home, home]], np.int8)
    negative[0, 0, 3], negative[0, 0, 6] = -1, 6
    with pytest.raises(ValueError, match=r"boards\[0, 0, 3\] is -1; short has 0 to 15 there"):
        bearoff("short").covers(negative)
    with pytest.raises(ValueError, match="board 1 is not an ending"):
        bearoff("short").outcome_probs([[home, home], boards[0]])
    with pytest.raises(ValueError, match="all its checkers at home"):
        bearoff("short").mean_rolls([row("7:1 6:4")])
    with pytest.raises(ValueError, match="first checker already"):
        bearoff("short").first_off_chances([home])


def test_games_share_tables():
    """Games that agree in the rules of bearing off have one table; others have their own."""

    def key(game, **options):
        return BearoffRules.of(load_variant(game, options))

    assert key("short") == key("long") == key("kaftar") == key("fevga")
    different = {key(g) for g in ("long", "one_six", "astrogon", "even_odd", "khachapuri")}
    assert len(different) == 5
    assert key("long") != key("long", **{"bearoff.overshoot": "exact_only"})


def test_tables_are_kept(tmp_path, monkeypatch):
    """Tables come back from the disk as they were; what is damaged or foreign is not read."""
    monkeypatch.setenv("NARDY_CACHE_DIR", str(tmp_path))
    variant = load_variant("long", FEW)
    key = BearoffRules.of(variant)
    tables = build_tables(rule_table(variant), with_left=False)
    assert store.load(key) is None
    store.save(key, tables)
    again = store.load(key)
    for name, table in tables._asdict().items():
        np.testing.assert_array_equal(getattr(again, name), table)
    path = store.table_file(key)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert store.load(key._replace(exact_only=1)) is None
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole[:400] + b"\x77" * 8 + whole[408:]):
        path.write_bytes(damaged)
        assert store.load(key) is None


def test_no_place_for_tables(tmp_path, monkeypatch):
    """Where nothing can be written the tables are built all the same, without a word."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("NARDY_CACHE_DIR", str(file))
    options = {"setup.checkers": 2, "setup.start": {24: 2}, "dice.double_steps": 3}
    assert Bearoff.for_variant(load_variant("long", options)) is not None


def test_a_quantised_table_has_the_same_means():
    """T19: 16 bits with the tail cut off change the distributions, the means by less than 2e-4."""
    variant = load_variant("short")
    sides = ([6] * 15, [1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6], [1] * 7 + [6], [5])
    rows = [standing(points, variant) for points in sides]
    exact = bearoff("short").roll_chances(rows).astype(np.float64)
    coarse = np.floor(exact * 65535 + 0.5) / 65535
    assert np.abs(coarse - exact).max() > 1e-6
    assert (np.count_nonzero(coarse, axis=1) < np.count_nonzero(exact, axis=1)).any()
    coarse /= coarse.sum(axis=1, keepdims=True)
    means = coarse @ np.arange(coarse.shape[1])
    np.testing.assert_allclose(means, bearoff("short").mean_rolls(rows), atol=2e-4, rtol=0)
