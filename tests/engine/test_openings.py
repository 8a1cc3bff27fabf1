"""All first plays of long nardy and the opening counts of short nardy."""

from itertools import combinations_with_replacement

import pytest

from nardy_engine import Position, load_variant
from positions import row, text

ROLLS = list(combinations_with_replacement(range(1, 7), 2))

FIRST = {  # rules.md section 5, doubles; a-b is 24:14 and one checker on 24-a-b
    (6, 6): ["24:13 18:2"],
    (5, 5): ["24:14 4:1"],
    (4, 4): ["24:13 16:2"],
    (3, 3): ["24:13 18:2", "24:13 21:1 15:1"],
    (2, 2): ["24:14 16:1"],
    (1, 1): ["24:14 20:1"],
}
SECOND = {  # the eight cases in which the second player differs, by White's first end and roll
    ("24:14 4:1", (4, 4)): "24:14 20:1",
    ("24:14 4:1", (2, 2)): "24:14 18:1",
    ("24:14 4:1", (3, 5)): "24:14 19:1",
    ("24:14 4:1", (2, 6)): "24:14 18:1",
    ("24:14 16:1", (5, 5)): "24:14 9:1",
    ("24:13 16:2", (5, 5)): "24:14 9:1",
    ("24:14 21:1", (5, 5)): "24:14 14:1",
    ("24:13 21:1 15:1", (5, 5)): "24:14 14:1",
}
WHITE = [
    *("24:14 4:1", "24:13 18:2", "24:13 16:2", "24:13 21:1 15:1"),
    *(f"24:14 {24 - total}:1" for total in range(3, 12)),
    "24:14 20:1",
]
SHORT = (
    "11:42 21:15 22:75 31:16 32:17 33:73 41:14 42:18 43:17 44:52 51:8 52:8 53:9 54:9 55:4 "
    "61:10 62:14 63:14 64:14 65:7 66:11"
)


def first_ends(roll):
    """Return the table of the first player."""
    return FIRST.get(roll, [f"24:14 {24 - sum(roll)}:1"])


@pytest.mark.parametrize("game", ["long", "long-fnr"])
@pytest.mark.parametrize("roll", ROLLS, ids=str)
def test_first_play_of_the_first_player(engine, game, roll):
    """L-5, L-6, L-9: each roll has one end, 3-3 has two; the head exception is compulsory (L-8)."""
    variant = load_variant(game)
    ends = engine.ends(variant, variant.start_position(), roll)
    assert sorted(text(end.mover) for end in ends) == sorted(first_ends(roll))


@pytest.mark.parametrize("white", sorted(set(WHITE)))
def test_first_play_of_the_second_player(engine, white):
    """L-7: the second player's ends differ from the first player's in exactly eight cases."""
    position = Position(row("24:15"), row(white))
    for roll in ROLLS:
        exception = SECOND.get((white, roll))
        expected = [exception] if exception else first_ends(roll)
        ends = engine.ends(load_variant("long"), position, roll)
        assert sorted(text(end.mover) for end in ends) == sorted(expected), roll


def test_white_has_thirteen_first_ends():
    """The second-player table covers every first play: 13 positions times 21 rolls."""
    assert len(set(WHITE)) == 13
    assert {end for roll in ROLLS for end in first_ends(roll)} == set(WHITE)


def test_short_opening_counts(engine):
    """S-1..S-5: the number of distinct ends from the start, as many engines agree on it."""
    variant = load_variant("short")
    for entry in SHORT.split():
        dice, count = entry.split(":")
        ends = engine.ends(variant, variant.start_position(), (int(dice[0]), int(dice[1])))
        assert (dice, len(set(ends)), len(ends)) == (dice, int(count), int(count))
