"""Dice from seeds: fair, repeatable, distinct, touched by nothing outside (T56, T58, T60)."""

import numpy as np
import pytest

from nardy_engine import dice, load_variant
from nardy_engine.kernels import rng


def rolls(seed, ids, turns, opening=0, sides=6):
    """Return `[n, 2]` rolls of the kernel."""
    ids, turns = np.broadcast_arrays(np.asarray(ids, np.int64), np.asarray(turns, np.int64))
    out = np.zeros((len(ids), 2), np.int8)
    rng.fill_rolls(seed, ids.copy(), turns.copy(), sides, opening, out)
    return out


def test_splitmix_by_its_published_numbers():
    """The mixer is SplitMix64: its first outputs from seed 1234567 are the published ones."""
    gamma, state, seen = np.uint64(0x9E3779B97F4A7C15), np.uint64(1234567), []
    with np.errstate(over="ignore"):
        for _ in range(3):
            state = state + gamma
            seen.append(int(rng.mix(state)))
    assert seen == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("game", ["long", "short"])
def test_kernel_and_plain_python_throw_the_same_dice(game):
    """The compiled stream and the one in plain Python agree, far seeds and ids included."""
    variant = load_variant(game)
    opening = int(game == "short")
    for seed in (0, 1, 2**40 + 7, 2**63 - 1):
        for game_id in (0, 1, 2**53, 2**62):
            got = rolls(seed, [game_id] * 12, range(12), opening)
            expected = [dice.roll(variant, seed, game_id, turn) for turn in range(12)]
            assert got.tolist() == [list(pair) for pair in expected]


def test_ids_beyond_doubles_stay_distinct():
    """T58: neighbouring seeds, ids and turns above 2^53 have their own streams."""
    big = 2**53
    for base in (big, 2**61):
        by_id = {tuple(rolls(1, [base + k] * 20, range(20)).ravel()) for k in range(8)}
        by_seed = {tuple(rolls(base + k, [1] * 20, range(20)).ravel()) for k in range(8)}
        by_turn = {tuple(rolls(1, [1] * 20, np.arange(20) + base + k).ravel()) for k in range(8)}
        assert (len(by_id), len(by_seed), len(by_turn)) == (8, 8, 8)
    assert int(rng.draw(1, big, 0, 0)) != int(rng.draw(1, big + 1, 0, 0))


def test_generators_outside_do_not_matter():
    """T56: numpy's and Python's generators, however seeded, neither change dice nor are changed."""
    import random

    first = rolls(5, range(200), 0)
    np.random.seed(1)  # noqa: NPY002 - the global generator is what the test is about
    random.seed(1)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert np.array_equal(rolls(5, range(200), 0), first)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert not np.array_equal(rolls(6, range(200), 0), first)


def test_streams_of_a_game_are_independent():
    """T60: dice, choices, games and turns have streams of their own; ten rolls tell them apart."""
    n = 400
    streams = [tuple(rolls(9, [game] * 10, range(10)).ravel()) for game in range(n)]
    assert len(set(streams)) == n
    ids, turns = np.arange(n), np.zeros(n, np.int64)
    uniforms = []
    for stream in (1, 2):
        out = np.zeros(n)
        rng.fill_uniforms(9, ids, turns, stream, out)
        uniforms.append(out)
    assert abs(np.corrcoef(uniforms)[0, 1]) < 0.2
    first_dice = rolls(9, ids, 0)[:, 0]
    assert abs(np.corrcoef(first_dice, uniforms[0])[0, 1]) < 0.2


def test_dice_are_fair():
    """All 36 rolls come equally often, chi-square over 360,000 throws, along games and turns."""
    for ids, turns in ((np.arange(360_000), 0), (7, np.arange(360_000))):
        pairs = rolls(3, ids, turns).astype(int)
        counts = np.bincount((pairs[:, 0] - 1) * 6 + pairs[:, 1] - 1, minlength=36)
        chi_square = ((counts - 10_000) ** 2 / 10_000).sum()
        assert counts.sum() == 360_000
        assert 10 < chi_square < 72, "35 degrees of freedom: both tails are below 1 in 1,000"


def test_opening_dice_differ():
    """S-2: the opening throw shows two different numbers, all thirty equally often."""
    pairs = rolls(4, range(150_000), 0, opening=1).astype(int)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    counts = np.bincount((pairs[:, 0] - 1) * 6 + pairs[:, 1] - 1, minlength=36)
    counts = counts[counts > 0]
    assert len(counts) == 30
    assert ((counts - 5000) ** 2 / 5000).sum() < 60, "29 degrees of freedom"
    later = rolls(4, range(600), 1, opening=1)
    assert (later[:, 0] == later[:, 1]).any()


def test_choices_are_uniform():
    """Numbers for choices lie in [0, 1) and fill it evenly."""
    out = np.zeros(100_000)
    rng.fill_uniforms(1, np.arange(100_000), np.zeros(100_000, np.int64), 1, out)
    assert out.min() >= 0
    assert out.max() < 1
    counts = np.histogram(out, 20, (0, 1))[0]
    assert ((counts - 5000) ** 2 / 5000).sum() < 45, "19 degrees of freedom"
