"""Published strength: parts that are kept, plays judged by gnubg, ladders, and their tables."""

import argparse
import ast
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import nardy_rl
from fake_gnubg import SHORT, SLOTS, FakeProgram
from nardy_engine import batch, load_variant
from nardy_rl.arena import match
from nardy_rl.bench import stored, tables
from nardy_rl.bench.engine import random_positions
from nardy_rl.bench.gnubg import GnubgBot
from nardy_rl.bench.judged import (
    Decisions,
    loss_identity,
    losses,
    mean_loss,
    opening_plays,
    own_decisions,
    summary,
    worth,
)
from nardy_rl.bench.stored import Store, identity, stored_match
from nardy_rl.bench.tables import with_interval
from nardy_rl.metrics import elo_ratings, interval, join
from nardy_rl.players import make_bot

SCRIPTS = Path(__file__).parents[2] / "scripts"
STRENGTH = runpy.run_path(str(SCRIPTS / "strength.py"))


@pytest.fixture
def small_parts(monkeypatch):
    """Let a part have 8 pairs."""
    monkeypatch.setattr(stored, "_PART_PAIRS", (8,))


def play(store, pairs=20, b="random", **how):
    bots = make_bot("pubeval", SHORT), make_bot(b, SHORT)
    return stored_match(bots, ("pubeval", b), SHORT, pairs, 5, store, workers=1, **how)


# -- parts that are kept ---------------------------------------------------------------------------


def test_a_match_in_parts_is_the_match(tmp_path, small_parts):
    """The same games whether in one piece or in three parts, and progress counts every pair."""
    done = []
    result = play(Store(tmp_path), progress=done.append)
    whole = match(make_bot("pubeval", SHORT), make_bot("random", SHORT), SHORT, 20, 5)
    assert result.games_digest == whole.games_digest
    assert result.to_json() == whole.to_json()
    assert sum(done) == 20


def test_a_killed_run_goes_on_where_it_was(tmp_path, small_parts, monkeypatch):
    """Finished parts are read; only what is missing is played, and the result is the same."""
    played = []

    def dies_later(*arguments, first, **how):
        if first == 16 and len(played) == 2:
            played.append("killed")
            raise KeyboardInterrupt
        played.append(first)
        return match(*arguments, first=first, **how)

    monkeypatch.setattr(stored, "match", dies_later)
    with pytest.raises(KeyboardInterrupt):
        play(Store(tmp_path))
    done = []
    result = play(Store(tmp_path), progress=done.append)
    assert played == [0, 8, "killed", 16]
    assert sum(done) == 20
    assert result.games_digest == play(Store(tmp_path / "other")).games_digest


def test_parts_belong_to_what_they_depend_on(tmp_path, small_parts, monkeypatch):
    """Another bot or seed is another measurement; `fresh` measures again."""
    play(Store(tmp_path))
    count = len(list(tmp_path.glob("*/*.npz")))
    play(Store(tmp_path), b="race")
    assert len(list(tmp_path.glob("*/*.npz"))) == 2 * count
    assert len(list(tmp_path.glob("*/what.json"))) == 2

    def no(*_, **__):
        raise AssertionError("played again")

    monkeypatch.setattr(stored, "match", no)
    play(Store(tmp_path))
    with pytest.raises(AssertionError, match="played again"):
        play(Store(tmp_path, fresh=True))


def test_a_network_is_known_by_its_weights():
    """The same file by another path is the same bot; search makes it another one."""
    path = Path(__file__).parents[2] / "checkpoints" / "short.safetensors"
    plain = identity("net:short", SHORT)
    assert plain == identity(f"net:{path}", SHORT)
    assert plain != identity("net:short@1ply", SHORT)
    assert identity("gnubg:0", SHORT) != identity("gnubg:2", SHORT)
    assert "gnubg-nn==" in identity("gnubg:0", SHORT)["gnubg"]


def test_parts_of_different_matches_do_not_join():
    """Seeds must agree, as everything else."""
    bots = make_bot("race", SHORT), make_bot("random", SHORT)
    first, other = (match(*bots, SHORT, 2, seed) for seed in (1, 2))
    with pytest.raises(ValueError, match="different matches"):
        join([first, other])


def test_ratings_take_shorter_matches():
    """A match of the first streams only moves the ratings little, and widens their intervals."""
    bots = [make_bot(name, SHORT) for name in ("pubeval", "race", "random")]
    long = [match(bots[i], bots[j], SHORT, 60, 1) for i, j in ((0, 1), (0, 2), (1, 2))]
    short = [*long[:2], match(bots[1], bots[2], SHORT, 30, 1)]
    full, part = ({r.name: r.elo for r in elo_ratings(matches)} for matches in (long, short))
    assert [*full] == [*part] == ["pubeval", "race", "random"]
    for name in full:
        assert abs(full[name].mean - part[name].mean) < full[name].half + part[name].half


# -- judged plays ----------------------------------------------------------------------------------


class Judge(FakeProgram):
    """Likes to be behind in the race: a play is worth the opponent's pips less its own."""

    def equity(self, boards):
        pips = boards @ np.arange(SLOTS)
        return (pips[:, 0] - pips[:, 1]) / 100


def test_a_play_is_worth_minus_the_value_for_the_other_side():
    """Finished games have their exact points."""
    start = SHORT.start_position().board()
    ahead = start.copy()
    ahead[0, 6] -= 1
    ahead[0, 1] += 1
    won = np.zeros_like(start)
    won[0, 0] = SHORT.setup.checkers
    won[1, 24] = SHORT.setup.checkers
    values = worth(GnubgBot(Judge(), 2), SHORT, np.stack((start, ahead, won)))
    assert values.tolist() == pytest.approx([0.0, -0.05, 3.0])


def test_the_fifteen_opening_plays_are_judged():
    """Pips are fixed by the roll where nothing is hit, so no play loses; texts are plays."""
    plays = opening_plays(make_bot("pubeval", SHORT), GnubgBot(Judge(), 2), SHORT, workers=1)
    assert len({play["roll"] for play in plays}) == len(plays) == 15
    assert all(play["loss"] == 0 for play in plays)
    (three_one,) = (play for play in plays if play["roll"] == "31")
    assert three_one["play"] == "8/5 6/5"


def test_the_judges_own_plays_lose_nothing(tmp_path):
    """The fake judge plays the last of the list, and so does the bot."""
    boards, dice = random_positions(SHORT, 200, seed=3)
    after = batch.afterstates(SHORT, boards, dice)
    ends = after.boards[after.offsets[1:] - 1]
    decisions = Decisions(boards, dice, ends, np.arange(len(boards)))
    judge = GnubgBot(Judge(), 2)
    values = losses(judge, SHORT, decisions, Store(tmp_path), {"bot": "last"}, workers=1)
    assert values.tolist() == [0.0] * len(boards)


def test_own_decisions_are_the_unforced_ones_of_whole_games():
    """Every game is played to the end by the bot itself, and what it chose is a legal play."""
    decisions = own_decisions(make_bot("race", SHORT), SHORT, 10, 3)
    assert set(decisions.games) == set(range(64))
    after = batch.afterstates(SHORT, decisions.boards, decisions.dice)
    assert after.counts().min() > 1
    for i in range(0, len(decisions.games), 50):
        assert (after.of(i) == decisions.ends[i]).all(axis=(1, 2)).any()


def test_losses_are_kept_in_parts(tmp_path):
    """A second call asks nobody; a bot that plays otherwise loses something now and then."""
    bot = make_bot("pubeval", SHORT)
    decisions = own_decisions(bot, SHORT, 100, 3).part(slice(1000, 1300))
    store, program = Store(tmp_path), Judge()
    judge, done = GnubgBot(program, 2), []
    what = loss_identity("pubeval", judge, SHORT, 300, 3)
    values = losses(judge, SHORT, decisions, store, what, workers=1, progress=done.append)
    asked = len(program.lines)
    again = losses(judge, SHORT, decisions, store, what, workers=1)
    assert len(program.lines) == asked > 0
    assert again.tolist() == values.tolist()
    assert done == [128, 128, 44]
    assert values.min() == 0.0
    assert values.max() > 0.0


def test_the_interval_of_a_mean_loss_is_over_games():
    """By hand: games with sums 1 and 3 over 2 decisions each, mean 1, residuals -1 and 1."""
    values, games = np.array([0.0, 1.0, 1.0, 2.0]), np.array([7, 7, 9, 9])
    found = mean_loss(values, games)
    assert found.mean == 1.0
    assert found.half == pytest.approx(1.96 * (2 * 2 / 1) ** 0.5 / 4)
    assert mean_loss(values[:2], games[:2]).half == float("inf")
    told = summary(values, games)
    assert (told["no_loss"], told["over"]["0.04"], told["games"]) == (0.25, 0.75, 2)


# -- tables ----------------------------------------------------------------------------------------


def test_the_table_of_openings_names_the_better_play_and_the_sum():
    """Thousandths per roll, points in the sum."""
    plays = [
        {"roll": "21", "play": "13/10", "best": "24/23 13/11", "loss": 0.0125},
        {"roll": "31", "play": "8/5 6/5", "best": "8/5 6/5", "loss": 0.0},
    ]
    text = tables.render_openings([{"bot": "net", "judge": "gnubg:2", "openings": plays}])
    assert "| 21 | 13/10 | 12.5 | 24/23 13/11 |" in text
    assert "| 31 | 8/5 6/5 | 0.0 |  |" in text
    assert text.endswith("all 2 rolls summed, by gnubg:2: 0.013 points.")


def test_the_table_of_losses_is_in_thousandths():
    """One row for each bot."""
    row = {
        "bot": "net", "judge": "gnubg:2", "decisions": 10_000, "games": 240, "no_loss": 0.75,
        "loss": {"mean": 0.0061, "low": 0.0051, "high": 0.0071}, "over": {"0.02": 0.1},
    }  # fmt: skip
    line = tables.render_loss([row]).splitlines()[2]
    assert line == "| net | gnubg:2 | 6.10 ± 1.00 | 75.0% | 10.0% | 10,000 | 240 |"


def test_the_ladder_is_ordered_and_shows_the_match_against_the_next():
    """Also where the lower one is the first of the match."""

    def rating(name, mean):
        return {"name": name, "elo": {"mean": mean, "low": mean - 5, "high": mean + 5}}

    lost = {
        "a": "low", "b": "high", "games": 200,
        "points": {"mean": -0.5, "low": -0.6, "high": -0.4},
        "win_rate": {"mean": 0.25, "low": 0.2, "high": 0.3},
    }  # fmt: skip
    document = {"matches": [lost], "ratings": [rating("high", 90.4), rating("low", -90.4)]}
    lines = tables.render_ladder([document]).splitlines()
    assert lines[2] == "| high | +90 ± 5 | +0.500 ± 0.100 | 75.0% ± 5.0% | 200 |"
    assert lines[3] == "| low | -90 ± 5 | – | – |  |"
    assert "luck" not in lines[-1]
    lost["adjusted_points"] = {"mean": -0.4, "low": -0.41, "high": -0.39}
    lost["adjusted_win_rate"] = {"mean": 0.3, "low": 0.29, "high": 0.31}
    lines = tables.render_ladder([document]).splitlines()
    assert lines[2] == "| high | +90 ± 5 | +0.400 ± 0.010 | 70.0% ± 1.0% | 200 |"
    assert "the luck of the rolls is taken off" in lines[-1]


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return the command with a fake gnubg and finished parts in a folder of the test."""
    main = STRENGTH["main"]
    monkeypatch.setitem(main.__globals__, "gnubg_worker", lambda _: Judge())
    monkeypatch.setitem(main.__globals__, "gnubg_command", list)

    def run(*words):
        target = tmp_path / "figures.json"
        code = main([*words, "--store", str(tmp_path / "s"), "--json", str(target)])
        return code, json.loads(target.read_text()) if target.exists() else None

    return run


def test_a_ladder_of_bots_by_name(command, capsys):
    """Two more bots on the command line, one with a name; every pairing is played."""
    code, document = command(
        "ladder", "--game", "long", "--net", "positional-long", "--pairs", "2", "--bots",
        "again=race",
    )  # fmt: skip
    assert (code, document) == (2, None)
    assert "same name; give names" in capsys.readouterr().err
    words = ("--net", "race", "--name", "again", "--pairs", "2")
    code, document = command("ladder", "--game", "long", *words)
    assert code == 0
    names = [rating["name"] for rating in document["ratings"]]
    assert sorted(names) == ["again", "positional-long", "race", "random"]
    assert len(document["matches"]) == 6
    assert tables.render_ladder([document]).count("\n| ") == 5


def test_plies_are_a_part_of_the_spec():
    """`--ply` asks for search of the measured network, unless its spec says how deep."""
    options = argparse.Namespace(net="net:short", ply=2, name=None)
    run = STRENGTH["Run"](options, STRENGTH["FULL"], None)
    assert STRENGTH["measured"](run, SHORT) == ("net:short@2ply", "net:short@2ply")
    options.net, options.name = "net:a/b@1ply", "mine"
    assert STRENGTH["measured"](run, SHORT) == ("net:a/b@1ply", "mine")
    options.net = "pubeval"
    assert STRENGTH["measured"](run, SHORT).spec == "pubeval"
    assert STRENGTH["named"]("1 hour=net:x=y") == ("net:x=y", "1 hour")
    assert STRENGTH["named"]("net:x=y") == ("net:x=y", "net:x=y")
    assert STRENGTH["by_depth"]((9, 5, 1), 4) == 1


def test_luck_is_taken_off_where_a_bot_searches():
    """Unless the command line says otherwise; the shipped network judges."""
    meter = STRENGTH["luck_meter"]
    found = {}
    for asked in (None, "none", "net:x"):
        run = STRENGTH["Run"](argparse.Namespace(luck=asked), STRENGTH["FULL"], None)
        found[asked] = [meter(run, SHORT, plies) for plies in (0, 1, 2)]
    assert found[None] == ["", "net:short", "net:short"]
    assert found["none"] == ["", "", ""]
    assert found["net:x"] == ["net:x"] * 3


def test_luck_is_kept_with_its_part(tmp_path, small_parts):
    """It is measured once, joins from part to part, and belongs to another measurement."""
    plain = play(Store(tmp_path), pairs=10)
    judged = [play(Store(tmp_path), pairs=10, luck="net:short") for _ in range(2)]
    assert plain.luck is None
    assert judged[0].luck.shape == (10, 2, 2)
    assert judged[1].luck.tolist() == judged[0].luck.tolist()
    assert judged[0].games_digest == plain.games_digest
    assert len(list(tmp_path.glob("*/what.json"))) == 2


def test_gnubg_and_pubeval_are_played_and_kept(command, tmp_path, capsys):
    """At 0-ply both, and the second run plays nothing."""
    for _ in range(2):
        code, document = command("gnubg", "--net", "race", "--pairs", "2")
        assert code == 0
        assert [match["b"] for match in document["matches"]] == ["gnubg:0", "pubeval"]
        assert "gnubg:0" in capsys.readouterr().out
    assert len(list((tmp_path / "s").glob("*/*.npz"))) == 2


def test_quick_keeps_nothing(command, tmp_path):
    """Few decisions, judged as in the full version."""
    code, document = command("loss", "--quick", "--net", "pubeval", "--decisions", "20")
    assert (code, document["bot"]) == (0, "pubeval")
    assert 20 <= document["decisions"] <= 21
    code, document = command("openings", "--quick", "--net", "pubeval")
    assert (code, len(document["openings"])) == (0, 15)
    assert not (tmp_path / "s").exists()


def test_a_contradicted_null_test_is_an_exit_code(command, capsys):
    """The fake gnubg does not beat pubeval."""
    code, document = command("null", "--quick", "--pairs", "30")
    assert (code, len(document["matches"])) == (1, 4)
    shown = capsys.readouterr().out
    assert "gnubg:0 against pubeval: CONTRADICTS the known +0.634" in shown
    assert "gnubg-debian:0 against gnubg:0: agrees with the known +0.000" in shown
    assert "net:short against net:short: agrees with the known +0.000" in shown


def test_every_published_figure_of_strength_is_a_part_of_the_command():
    """The commands in figures.toml name parts that there are."""
    figures = runpy.run_path(str(SCRIPTS / "fill_figures.py"))
    plans = figures["read_plans"](SCRIPTS.parent)
    names = figures["_figures_of"]("strength", plans)
    assert len(names) >= 7
    for name in names:
        for line in plans[name]["commands"]:
            program, part = line.split()[1:3]
            assert program == "scripts/strength.py"
            assert part in STRENGTH["PARTS"]
        assert plans[name]["show"] in figures["RENDERERS"]


def test_stored_parts_are_of_the_code_that_made_them(monkeypatch):
    """Decision 25: what decides about a game is in the identity of every bot, gnubg's too."""
    stored._code_digest.cache_clear()
    short = load_variant("short")
    specs = ("gnubg:0", "race", "net:short")
    before = [identity(spec, short) for spec in specs]
    assert all(found["code"] == before[0]["code"] for found in before)
    read = Path.read_bytes

    def edited(path: Path) -> bytes:
        return read(path) + (b"# changed" if path.name == "rng.py" else b"")

    monkeypatch.setattr(Path, "read_bytes", edited)
    stored._code_digest.cache_clear()
    after = [identity(spec, short)["code"] for spec in specs]
    stored._code_digest.cache_clear()
    assert before[0]["code"] not in after


def test_the_digest_of_the_code_covers_what_the_code_uses():
    """A module that bots, searches or matches import belongs to it, or only reads and counts."""
    package = Path(nardy_rl.__file__).parent
    ours = [path for path in stored._sources() if package in path.parents and path.suffix == ".py"]
    names = {path.relative_to(package).with_suffix("").as_posix() for path in ours}
    imports = [
        node
        for path in ours
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    paths = [
        [*(getattr(node, "module", "") or "").split("."), name.name]
        for node in imports
        for name in node.names
    ]
    used = {"/".join(path[1:-1]) or path[-1] for path in paths if path[0] == "nardy_rl"}
    assert not any(path[-1].startswith("nardy_rl.") for path in paths)  # `import nardy_rl.x`
    assert {"search", "decisions", "likely_replies", "players/base"} <= names & used
    assert used - names == {"bench/stored", "checkpoint", "cores", "metrics", "players"}


def test_a_single_pair_has_no_interval():
    """A figure of one pair is shown without a width."""
    assert with_interval(interval(np.array([1.0])).to_json(), "{:+.3f}") == "+1.000"
    assert with_interval(interval(np.array([1.0, 3.0])).to_json(), "{:+.3f}").startswith("+2.000 ±")
