"""What a finished game is worth, and when the sides can no longer meet."""

import numpy as np
import pytest

from nardy_engine import Outcome, Position, batch, load_variant, reference, variant_names
from nardy_engine.errors import VariantError
from nardy_engine.outcomes import flip_index
from nardy_engine.rules.memory import memory_index
from positions import row
from rule_sets import rule_set

SCORES = [  # name, game, the loser's row, kind, points
    ("X-Y1, SC-1", "long", "6:1 1:13 off1", 0, 1),
    ("X-Y1 mars, L-40", "long", "6:15", 1, 2),
    ("SC-2 no koks in long", "long", "24:15", 1, 2),
    ("X-Y2, SC-3", "koks", "20:1 6:14", 2, 3),
    ("SC-3 left the quarter", "koks", "18:1 6:14", 1, 2),
    ("SC-3 one off", "koks", "20:1 6:13 off1", 0, 1),
    ("SC-4 koks stays koks", "home mars", "20:1 6:14", 2, 3),
    ("X-Y3, SC-4", "home mars", "6:14 1:1", 3, 4),
    ("X-Y3 without the option", "koks", "6:14 1:1", 1, 2),
    ("SC-4 one outside", "home mars", "7:1 6:14", 1, 2),
    ("S-8 single", "short", "24:1 6:13 off1", 0, 1),
    ("S-8 gammon, SC-5", "short", "18:1 6:14", 1, 2),
    ("S-8 winner's home", "short", "19:1 6:14", 2, 3),
    ("S-8 bar", "short", "bar:1 6:14", 2, 3),
    ("X-R7, KHA-4", "khachapuri", "6:9 off6", 8, 9),
    ("X-R7 none off, SC-6", "khachapuri", "6:15", 14, 15),
]


@pytest.mark.parametrize(
    ("game", "loser", "kind", "points"), [s[1:] for s in SCORES], ids=[s[0] for s in SCORES]
)
def test_score(engine, game, loser, kind, points):
    """The winner scores the kind, the loser loses the same, whoever is in row 0."""
    variant = rule_set(game)
    position = Position(row("off15"), row(loser))
    assert engine.outcome(variant, position) == Outcome(True, kind, points)
    assert engine.outcome(variant, position.swapped()) == Outcome(False, kind, points)
    assert variant.win_kinds[kind][1] == points


def test_giveaway_is_lost_by_the_first_to_finish(engine):
    """X-Y4, POD-2, POD-3: White bears off everything, Black nothing, and Black wins 2."""
    position = Position(row("off15"), row("6:15"))
    assert engine.outcome(rule_set("giveaway"), position) == Outcome(False, 1, 2)
    assert engine.outcome(rule_set("giveaway"), position.swapped()) == Outcome(True, 1, 2)
    single = Position(row("off15"), row("6:14 off1"))
    assert engine.outcome(rule_set("giveaway"), single) == Outcome(False, 0, 1)


def test_game_goes_on_while_both_have_checkers(engine):
    """L-40: fourteen off is no win, and the last checker ends the game at once (DR-1 off)."""
    for game in ("long", "short"):
        variant = load_variant(game)
        assert engine.outcome(variant, Position(row("1:1"), row("1:1"))) is None
        assert engine.outcome(variant, Position(row("off15"), row("1:1"))) == Outcome(True, 0, 1)


@pytest.mark.parametrize("game", ["long", "long-fnr", "short", "nackgammon", "hypergammon"])
def test_nobody_answers_the_last_play(engine, game):
    """DR-1, DR-2, L-40, S-6: whoever finishes first has won, be the other one a roll away.

    Seen from the loser, who is to roll, the game is over and no roll gives a play; no draw is among
    the outcomes.
    """
    variant = load_variant(game)
    off, left = variant.setup.checkers, row("1:1", variant.setup.checkers)
    before = Position(left, left)
    (end,) = engine.ends(variant, before, (2, 1))
    assert end.mover[0] == off
    assert engine.outcome(variant, end) == Outcome(True, 0, 1)
    assert engine.ends(variant, end.swapped(), (2, 1)) == []
    assert variant.n_outcomes == 2 * len(variant.win_kinds)
    assert min(points for _, points in variant.win_kinds) == 1


@pytest.mark.parametrize("option", ["murphy", "no_backgammon", "winner_rerolls"])
def test_unknown_options_are_refused(option):
    """S-10: what is not played is refused in words instead of being taken without effect."""
    with pytest.raises(VariantError, match=f"unknown rule option '{option}'"):
        load_variant("short", {option: "on"})


RACES = [  # T27: nearest and farthest checkers, in both geometries
    ("short", "12:1", "23:1 5:1", False),
    ("short", "20:1 2:1", "13:1", False),
    ("short", "11:1 2:1", "13:1 4:2", True),
    ("short", "12:1", "13:1", False),
    ("short", "6:3", "bar:1 6:1", False),
    ("long", "12:1", "12:1", True),
    ("long", "12:1 1:1", "13:0 11:3", True),
    ("long", "13:1", "5:1", False),
    ("long", "24:1", "24:1", False),
    ("long", "12:1", "13:1", False),
]


@pytest.mark.parametrize(("game", "mover", "opponent", "race"), RACES)
def test_race(game, mover, opponent, race):
    """T27, G-2, G-5: a race has no point left on which a checker can meet one of the other side."""
    position = Position(row(mover), row(opponent))
    assert reference.is_race(load_variant(game), position) is race
    assert reference.is_race(load_variant(game), position.swapped()) is race


KINDS = [
    *((game, {}) for game in variant_names()),
    ("emir", {"score": "oin_mars_koks"}),
    ("emir", {"score": "oin_mars_koks_homemars"}),
    ("long", {"score": "oin_mars_koks_homemars", "last_roll_draw": "on"}),
]


@pytest.mark.parametrize(("game", "options"), KINDS)
def test_what_happens_was_possible(game, options):
    """T30: at every decision of 40 random games the mask allows the outcome that came about."""
    variant = load_variant(game, options)
    games = batch.Games(variant, 40, seed=6)
    rng = np.random.default_rng(6)
    seen = []
    while (games.over < 0).any():
        running = np.flatnonzero(games.over < 0)
        mask = batch.outcome_mask(variant, games.boards[running])
        seen.append((running, games.sides[running].copy(), mask))
        games.roll()
        after = games.afterstates()
        counts = np.maximum(after.counts(), 1)
        games.play(after.offsets[:-1] + (rng.random(40) * counts).astype(np.int64))
    for running, sides, mask in seen:
        ended = games.over[running]
        mine = np.where(sides == 0, ended, flip_index(ended, variant.n_outcomes))
        assert mask[np.arange(len(running)), mine].all()


@pytest.mark.parametrize(("game", "possible"), [("emir", True), ("long", False)])
def test_a_koks_of_emir_stays_possible(game, possible):
    """EMI-7, SC-3: a hit brings back into the start quarter who has left it; nothing else does."""
    variant = load_variant(game, {"score": "oin_mars_koks"})
    board = variant.start_position().board()
    board[0, [24, 11]] = board[0, [11, 24]]
    index = memory_index(variant)
    if "emir" in index:
        board[0, [index["emir"], index["emir_above"]]] = 11, 0
    variant.check_position(Position.from_board(board))
    lose_koks = len(variant.win_kinds) + 2
    assert batch.outcome_mask(variant, board[None])[0, lose_koks] == possible
