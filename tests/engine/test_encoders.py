"""Inputs of networks: exact, from the right side, in fresh memory (faults T17, T23, T29, T57)."""

import json

import numpy as np
import pytest

from learning import random_positions
from nardy_engine import batch, load_variant, variant_names
from nardy_engine.encoders import encoder_ids, get_encoder
from nardy_engine.errors import CheckpointError
from positions import row

VARIANTS = variant_names()


def by_description(variant, encoder, board):
    """Return the features that a stranger would compute from `describe()`."""
    slots = {"off": 0, "bar": variant.bar} | {item.name: item.slot for item in variant.memory}
    sides = dict(zip(("roller", "other"), board.tolist(), strict=True))
    features = []
    for number, entry in enumerate(encoder.describe()):
        assert entry["index"] == number
        counts = sides[entry["side"]]
        slot = slots.get(entry["slot"], entry["slot"])
        features.append(float(eval(entry["formula"], {"max": max}, {"n": counts[slot]})))
    return features


@pytest.mark.parametrize("game", VARIANTS)
def test_features_are_what_the_description_says(game):
    """The formulas of describe(), evaluated in Python, give every feature exactly."""
    variant = load_variant(game)
    encoder = get_encoder("thermometer", variant)
    boards = random_positions(variant, 60, seed=1)
    features = encoder.encode(boards)
    assert features.dtype == np.float32
    assert features.shape == (60, encoder.width)
    assert json.loads(json.dumps(encoder.describe())) == encoder.describe()
    for board, got in zip(boards, features, strict=True):
        assert got.tolist() == by_description(variant, encoder, board)


def test_a_position_worked_out_by_hand():
    """Thermometer of five on the 6 point; half the bar; checkers off in sixteenths."""
    variant = load_variant("short")
    encoder = get_encoder("thermometer", variant)
    mine, theirs = row("6:5 2:1 bar:3 off6"), row("24:2 1:13")
    roller = [0.0] * 98
    roller[20:24] = [1, 1, 1, 1]
    roller[4] = 1
    roller[96:] = [1.5, 6 / 16]
    other = [0.0] * 98
    other[92:94] = [1, 1]
    other[:4] = [1, 1, 1, 5]
    assert encoder.encode(np.array([[mine, theirs]], np.int8)).tolist() == [roller + other]


@pytest.mark.parametrize("game", VARIANTS)
def test_the_side_to_roll_comes_first(game):
    """T17: on unsymmetric boards the halves change places with the side to roll, nothing else."""
    variant = load_variant(game)
    encoder = get_encoder("thermometer", variant)
    boards = random_positions(variant, 50, seed=2)
    boards = boards[(boards[:, 0] != boards[:, 1]).any(axis=1)]
    assert len(boards) > 30
    half = encoder.width // 2
    ours, theirs = encoder.encode(boards), encoder.encode(batch.swapped(boards))
    assert np.array_equal(ours[:, :half], theirs[:, half:])
    assert np.array_equal(ours[:, half:], theirs[:, :half])
    assert (ours != theirs).any(axis=1).all()
    assert np.array_equal(encoder.encode(boards, swap=True), theirs)


def test_features_are_a_fresh_array():
    """T23: the features of one call stay when another position is encoded, or the board changes."""
    variant = load_variant("short")
    encoder = get_encoder("thermometer", variant)
    boards = random_positions(variant, 8, seed=3).copy()
    first = encoder.encode(boards)
    kept = first.copy()
    second = encoder.encode(batch.swapped(boards))
    boards.fill(0)
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, second)


def test_a_hit_checker_is_not_off():
    """T29: a checker sent to the bar changes the bar's feature and the point's, never `off`."""
    variant = load_variant("short")
    encoder = get_encoder("thermometer", variant)
    mine = row("13:5 6:8 3:2")
    before, after = row("24:1 13:5 8:3 6:6"), row("bar:1 13:5 8:3 6:6")
    features = encoder.encode(np.array([[mine, before], [mine, after]], np.int8))
    changed = np.flatnonzero(features[0] != features[1])
    words = [(e["side"], e["slot"]) for e in encoder.describe()]
    assert {words[index] for index in changed} == {("other", 24), ("other", "bar")}


@pytest.mark.parametrize("count", [-1, 16])
def test_counts_beyond_the_tables_are_refused(count):
    """T59: a count that the unit tables do not hold is an error, not whatever lies behind them."""
    variant = load_variant("long")
    boards = variant.start_position().board()[None]
    boards[0, 1, 24] = count
    with pytest.raises(ValueError, match=rf"boards\[0, 1, 24\] is {count}; long has 0 to 15 there"):
        get_encoder("thermometer", variant).encode(boards)


@pytest.mark.parametrize("shape", [(1, 1, 26), (1, 2, 1), (2, 26), (1, 2, 27)])
def test_boards_of_other_shapes_are_refused(shape):
    """T59: compiled code would read behind them."""
    encoder = get_encoder("thermometer", load_variant("long"))
    with pytest.raises(ValueError, match=r"boards must be \[B, 2, 26\]"):
        encoder.encode(np.zeros(shape, np.int8))


@pytest.mark.parametrize("game", VARIANTS)
def test_bfloat16_features_are_exact(game):
    """The bit patterns for bfloat16 are the upper halves of the float32 features, nothing lost."""
    variant = load_variant(game)
    encoder = get_encoder("thermometer", variant)
    boards = random_positions(variant, 100, seed=4)
    bits = np.zeros((100, encoder.width), np.uint16)
    encoder.encode_into(boards, bits)
    wide = (bits.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(wide, encoder.encode(boards))


MANY = {"setup.checkers": 60, "setup.start": {24: 60}}
"""More checkers on a point than an int8 can add up twice."""


@pytest.mark.parametrize(
    ("game", "options"), [*((game, {}) for game in VARIANTS), ("hypergammon", MANY)]
)
def test_the_first_layer_without_features(game, options):
    """T57: sums over changed checkers equal features times weights, also with sixty on a point."""
    variant = load_variant(game, options)
    encoder = get_encoder("thermometer", variant)
    rng = np.random.default_rng(5)
    if options:
        boards = np.repeat(variant.start_position().board()[None], 21, axis=0)
        dice = np.array([(a, b) for a in range(1, 7) for b in range(a, 7)])
    else:
        boards = np.ascontiguousarray(random_positions(variant, 40, seed=5))
        dice = rng.integers(1, 7, (40, 2))
    after = batch.afterstates(variant, boards, dice)
    weights = rng.normal(size=(encoder.width, 12)).astype(np.float32)
    bias = rng.normal(size=12).astype(np.float32)
    hidden = np.full((len(after.boards), 12), np.nan, np.float32)
    encoder.first_layer_into(
        boards, np.ascontiguousarray(after.boards), after.offsets, (0, len(boards)), weights, bias,
        hidden,
    )  # fmt: skip
    following, _ = batch.next_states(variant, after.boards)
    goes_on = batch.outcomes(variant, following) < 0
    features = np.array([by_description(variant, encoder, b) for b in following[goes_on]])
    expected = np.maximum(features @ weights.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(hidden[goes_on], expected, rtol=1e-5, atol=2e-5)
    bits = np.zeros(hidden.shape, np.uint16)
    encoder.first_layer_into(
        boards, np.ascontiguousarray(after.boards), after.offsets, (0, len(boards)), weights, bias,
        bits,
    )  # fmt: skip
    wide = (bits.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_allclose(wide, hidden, rtol=2**-8, atol=1e-30)


def test_part_of_a_batch():
    """The first layer of games 3 to 7 equals those rows of the first layer of all games."""
    variant = load_variant("short")
    encoder = get_encoder("thermometer", variant)
    rng = np.random.default_rng(6)
    boards = np.ascontiguousarray(random_positions(variant, 10, seed=6))
    after = batch.afterstates(variant, boards, rng.integers(1, 7, (10, 2)))
    ends = np.ascontiguousarray(after.boards)
    weights = rng.normal(size=(encoder.width, 9)).astype(np.float32)
    bias = np.zeros(9, np.float32)
    full = np.zeros((len(ends), 9), np.float32)
    encoder.first_layer_into(boards, ends, after.offsets, (0, 10), weights, bias, full)
    low, high = after.offsets[3], after.offsets[7]
    part = np.zeros((high - low, 9), np.float32)
    encoder.first_layer_into(
        boards, ends[low:high].copy(), after.offsets, (3, 7), weights, bias, part
    )
    assert np.array_equal(part, full[low:high])


def test_unknown_encoders_are_refused():
    """An encoder that does not exist, or does not fit the game, is refused with the right name."""
    assert encoder_ids() == ("thermometer-1", "thermometer-2")
    for game, own, other in (("long", 1, 2), ("gulbar", 2, 1)):
        variant = load_variant(game)
        assert get_encoder("thermometer", variant).name == f"thermometer-{own}"
        assert (
            get_encoder(f"thermometer-{own}", variant).width
            == get_encoder("thermometer", variant).width
        )
        with pytest.raises(CheckpointError, match=f"{game} is encoded by thermometer-{own}"):
            get_encoder(f"thermometer-{other}", variant)
        for name in ("thermometr-1", "thermometer-3", ""):
            with pytest.raises(CheckpointError, match=r"unknown encoder .* thermometer-1"):
                get_encoder(name, variant)


def test_memory_has_features():
    """Owed dice, places and flags are inputs of games that remember them; `again` is none."""
    gulbar = load_variant("gulbar")
    named = {entry["slot"] for entry in get_encoder("thermometer", gulbar).describe()}
    assert {f"owed_{die}" for die in range(1, 7)} | {"roller"} <= named
    assert "again" not in named
    emir = get_encoder("thermometer", load_variant("emir")).describe()
    places = [entry for entry in emir if entry["slot"] == "emir" and entry["side"] == "roller"]
    assert [entry["formula"] for entry in places] == [f"n >= {k}" for k in range(1, 26)]
    assert {"captive_1", "captive_24", "emir_above", "reserve"} <= {e["slot"] for e in emir}
