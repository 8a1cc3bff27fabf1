"""Recorded games replayed: every count of ends, every play and the result stay as they were."""

from pathlib import Path

import pytest

from nardy_engine import Outcome, Position, load_variant, variant_names
from nardy_engine.notation import parse_play
from positions import row

_DATA = Path(__file__).parents[1] / "data" / "golden"


def read(game):
    """Return `(digest, [(turns, result)])`; a turn is `(side, dice, count, play, end)`."""
    first, *lines = (_DATA / f"{game}.txt").read_text("utf-8").splitlines()
    games = []
    checkers = load_variant(game).setup.checkers
    for line in filter(None, lines):
        if line.startswith("game"):
            games.append(([], []))
        elif line.startswith("result"):
            _, winner, *kind, points = line.split()
            games[-1][1].extend((winner, " ".join(kind), int(points)))
        else:
            roll, count, play, end = line.split(" ; ")
            side, dice = roll.split()
            a, b = dice.split("-")
            rows = [row(part, checkers) for part in end.split("|")]
            games[-1][0].append((side, (int(a), int(b)), int(count), play, Position(*rows)))
    return first.split()[2], games


@pytest.mark.parametrize("game", variant_names())
def test_game_replays(engine, game):
    """Each recorded turn has the recorded number of ends, its end among them, and the result."""
    variant = load_variant(game)
    for turns, (winner, kind, points) in read(game)[1]:
        position = variant.start_position()
        for number, (side, dice, count, _, end) in enumerate(turns):
            assert side == "WB"[number % 2]
            ends = engine.ends(variant, position, dice)
            assert (len(ends), end in ends) == (count, True), (number, dice)
            over = number == len(turns) - 1
            assert (engine.outcome(variant, end) is not None) is over
            position = end.swapped()
        index = [name for name, _ in variant.win_kinds].index(kind)
        assert engine.outcome(variant, end) == Outcome(winner == side, index, points)


@pytest.mark.parametrize("game", variant_names())
def test_play_texts_lead_to_the_recorded_ends(game):
    """The move text of each turn, read in its position, gives the recorded end."""
    variant = load_variant(game)
    for turns, _ in read(game)[1]:
        position = variant.start_position()
        for _, dice, _, text, end in turns:
            assert parse_play(text, variant, position, dice).end == end
            position = end.swapped()


@pytest.mark.parametrize("game", variant_names())
def test_games_hold_what_matters(game):
    """The rules are those of the recording; a pass and a win of every kind are among the games."""
    variant = load_variant(game)
    digest, games = read(game)
    assert digest == variant.digest()
    assert {result[1] for _, result in games} == {name for name, _ in variant.win_kinds}
    assert any(play == "pass" for turns, _ in games for *_, play, _ in turns)
    if variant.opening.value == "opening_dice":
        assert all(turns[0][1][0] != turns[0][1][1] for turns, _ in games)  # S-2
