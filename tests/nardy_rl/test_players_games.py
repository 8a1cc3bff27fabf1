"""Bots in every game of the catalog: which there are, that they play, and that they play well."""

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from nardy_engine import batch, load_variant
from nardy_engine.errors import NardyError
from nardy_engine.notation.json_lines import case_from_json
from nardy_engine.rules import variant_names
from nardy_engine.rules.memory import memory_index
from nardy_rl import players
from nardy_rl.arena import match
from nardy_rl.players import Turn, bot_names, choose_best, make_bot
from nardy_rl.players.external import ExternalBot, request_line
from nardy_rl.players.features import FEATURES
from positions import row

TABLES = Path(players.__file__).parent / "data"
GAMES = variant_names()


# -- names and tables -------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_three_bots_of_its_own(game):
    """The strongest one listed is the positional bot of the game."""
    names = bot_names(load_variant(game))
    assert names[:2] == ("random", "race")
    assert names[-1] == f"positional-{game}"


@pytest.mark.parametrize(
    ("options", "bot"),
    [
        ({"objective": "first_off_loses"}, "positional-giveaway"),
        ({"block.check": "every_step"}, "positional-long"),
    ],
)
def test_changed_rules_are_played_with_the_weights_of_the_nearest_game(options, bot):
    """A way to win that a table was not made for takes another table."""
    variant = load_variant("long", options)
    assert bot_names(variant)[-1] == bot
    assert make_bot(bot, variant).name == bot


def test_relatives_may_be_asked_for_by_name():
    """A bot of another game with the same contact and goal plays too, others are refused."""
    assert make_bot("positional-long", load_variant("karzar")).name == "positional-long"
    with pytest.raises(NardyError, match="plays giveaway and its relatives, not karzar"):
        make_bot("positional-giveaway", load_variant("karzar"))


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_tables_name_features_and_games_that_exist(path):
    """A table holds weights of features, and perhaps the game that it inherits from."""
    table = tomllib.loads(path.read_text("utf-8"))
    assert path.stem.removeprefix("positional-") in GAMES
    assert table.keys() <= {"inherits", "weights"}
    assert table.get("inherits", "long") in GAMES
    assert table["weights"].keys() <= set(FEATURES)


# -- play -------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_the_positional_bot_beats_random_and_race(game):
    """Beyond doubt already from 150 pairs of games.

    A few games of mad nardy end with both sides shut in for good behind full, frozen homes.
    """
    variant = load_variant(game)
    strong = make_bot(f"positional-{game}", variant)
    for weak in ("random", "race"):
        result = match(strong, make_bot(weak, variant), variant, 150, seed=8, ply_cap=1000)
        assert result.unfinished <= 0.03 * result.games
        assert result.points.low > 0, weak


def test_a_draw_is_better_than_a_loss_and_no_better_than_a_win():
    """DR-1: outcomes order the finished games, whatever the estimates say."""
    variant = load_variant("long", {"last_roll_draw": "on"})
    slots = memory_index(variant)
    boards = np.zeros((2, 2, variant.n_slots), dtype=np.int8)
    boards[:, 0, : variant.n_counts] = [row(""), row("1:1")]
    boards[:, 1, : variant.n_counts] = row("")
    boards[:, 1, slots["first"]] = 1
    after = batch.Afterstates(boards, np.array([0, 2]))
    assert batch.outcomes(variant, boards).tolist() == [4, 2]  # the draw, and a loss of one
    assert choose_best(variant, after, np.array([-1e9, 1e9]))[0] == 0


def test_equal_checkers_are_told_apart_by_memory():
    """T31: two plays that differ in the emir alone are settled the same way in any order."""
    variant = load_variant("emir")
    slots = memory_index(variant)
    boards = np.zeros((2, 2, variant.n_slots), dtype=np.int8)
    boards[:, 0, : variant.n_counts] = row("24:8 20:2 18:2", checkers=12)
    boards[:, 1, : variant.n_counts] = row("24:12", checkers=12)
    boards[:, :, slots["reserve"]] = 3
    boards[:, 1, slots["emir"]] = 24
    boards[:, 0, slots["emir"]] = [18, 20]
    for order in ([0, 1], [1, 0]):
        after = batch.Afterstates(np.ascontiguousarray(boards[order]), np.array([0, 2]))
        choice = choose_best(variant, after, np.zeros(2))[0]
        assert after.boards[choice, 0, slots["emir"]] == 20


# -- programs ---------------------------------------------------------------------------------

LAST_PLAY = """
import json, sys
from nardy_engine import reference
from nardy_engine.notation.json_lines import case_from_json, side_to_json
for line in sys.stdin:
    case = case_from_json(line)
    plays = reference.plays(case.variant, case.position, case.dice)
    sides = [side_to_json(case.variant, row) for row in plays[-1].end]
    print(json.dumps(dict(zip(("me", "opp"), sides))), flush=True)
"""


class Checked:
    """Plays at random and asks a program the same; both must see the same plays."""

    name = "checked"

    def __init__(self, program):
        self.program, self.asked = program, 0

    def choose(self, turn):
        choice = self.program.choose(turn)
        self.asked += int((turn.after.counts() > 1).sum())
        assert (turn.after.offsets[:-1] <= choice).all()
        return make_bot("random", turn.variant).choose(turn)


@pytest.mark.parametrize("game", ["mad_gulbar", "even_odd", "emir"])
def test_a_program_gets_all_that_it_needs_to_play(game, tmp_path):
    """Cases carry owed dice, colours, captives and pre-roll moves; answers find their play."""
    script = tmp_path / "bot.py"
    script.write_text(LAST_PLAY)
    variant = load_variant(game)
    bot = Checked(ExternalBot([sys.executable, str(script)], "mine"))
    match(bot, make_bot("random", variant), variant, 2, seed=3, workers=1, ply_cap=60)
    assert bot.asked > 20


def test_a_line_tells_changed_rules():
    """A program that is not told would play by others, and its plays would be illegal."""
    variant = load_variant("long", {"block.check": "every_step"})
    line = request_line(variant, variant.start_position().board(), [6, 5])
    assert '"options":{"block.check":"every_step"}' in line
    assert case_from_json(line).variant.digest() == variant.digest()
    usual = load_variant("long")
    assert "options" not in request_line(usual, usual.start_position().board(), [6, 5])


def test_a_line_has_dice_only_where_they_are_thrown():
    """GUL-1: owed dice stand with the side that owes them."""
    variant = load_variant("gulbar")
    slots = memory_index(variant)
    board = variant.start_position().board()
    assert '"dice":[6,5]' in request_line(variant, board, [6, 5])
    board[0, slots["owed_5"]] = 1
    board[1, slots["roller"]] = 1
    line = request_line(variant, board, [6, 5])
    assert '"owed":{"5":1}' in line
    assert '"dice"' not in line


def test_choices_of_positional_bots_do_not_depend_on_the_batch():
    """T34: a game is played alike alone and among others."""
    variant = load_variant("kaftar")
    bot = make_bot("positional-kaftar", variant)
    games = batch.Games(variant, 8, seed=5)
    for _ in range(6):
        dice = games.roll()
        after = games.afterstates()
        together = bot.choose(Turn(variant, games.boards, dice, after, games.uniforms()))
        for game in range(8):
            alone = batch.Afterstates(after.of(game), np.array([0, len(after.of(game))]))
            part = slice(game, game + 1)
            turn = Turn(variant, games.boards[part], dice[part], alone, np.zeros(1))
            assert bot.choose(turn)[0] + after.offsets[game] == together[game]
        games.play(together)
