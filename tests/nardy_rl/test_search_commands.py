"""Search and rollouts as people use them: `evaluate --ply`, `rollout`, bots that look ahead."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluations import played
from nardy_engine import Position, batch, load_variant
from nardy_rl import arena
from nardy_rl.commands.arena import _located
from nardy_rl.config import ArenaConfig, VariantConfig
from nardy_rl.evaluator import Evaluator
from nardy_rl.players import Turn, make_bot
from nardy_rl.players.registry import BotError, split_depth
from nardy_rl.search import Search
from positions import row

# -- evaluate -----------------------------------------------------------------------------------


def test_evaluate_shows_how_deep_each_value_is(nardy, tiny_network) -> None:
    """With --ply the table has a column of depths, which never rise from row to row."""
    net = f"--net={tiny_network('short')}"
    code, out, _ = nardy("evaluate", "start", "--variant=short", "--dice=31", net, "--ply=1",
                         "--top=16")  # fmt: skip
    lines = out.splitlines()
    assert code == 0
    assert lines[3].split()[:4] == ["play", "ply", "equity", "to"]
    column = lines[3].index("ply")
    depths = [int(line[column : column + 3]) for line in lines[4:20]]
    assert depths == sorted(depths, reverse=True)
    assert 1 <= depths.count(1) <= 8
    _, plain, _ = nardy("evaluate", "start", "--variant=short", "--dice=31", net)
    assert "ply" not in plain.splitlines()[3]


def test_evaluate_json_is_what_the_search_says(nardy, tiny_network) -> None:
    """The depths, equities and chances are those of `Search`; before a roll too."""
    path = tiny_network("hypergammon")
    evaluator = Evaluator.load(path)
    position = "W{10:1 5:1 3:1} off0 | B{14:1 6:1 2:1} off0 ; W"
    argv = ("--variant=hypergammon", f"--net={path}", "--json", "--ply=2")
    _, out, _ = nardy("evaluate", position, "--dice=21", "--top=20", *argv)
    plays = json.loads(out)["plays"]
    board = Position(row("10:1 5:1 3:1", 3), row("14:1 6:1 2:1", 3)).board()[None]
    after = batch.afterstates(evaluator.variant, board, [(2, 1)])
    found = Search(evaluator, 2).plays(board, after)
    assert sorted(play["ply"] for play in plays) == sorted(found.depth.tolist())
    assert max(p["equity"] for p in plays if p["ply"] == 2) == plays[0]["equity"]
    np.testing.assert_allclose(
        sorted(play["equity"] for play in plays), np.sort(found.equity), atol=1e-6
    )
    _, out, _ = nardy("evaluate", position, *argv)
    ahead = json.loads(out)["searched"]
    assert ahead["ply"] == 2
    np.testing.assert_allclose(
        ahead["probabilities"], Search(evaluator, 2).positions(board)[0], atol=1e-6
    )


@pytest.mark.parametrize("word", ["5", "-1", "two", "1.5"])
def test_depths_that_are_none_are_refused(nardy, tiny_network, word) -> None:
    """A wrong --ply is one sentence."""
    code, out, errors = nardy("evaluate", "start", f"--ply={word}", "--net=x")
    assert (code, out) == (2, "")
    assert f"'{word}' is no depth of search; it is 0 to 4" in errors


# -- rollout ------------------------------------------------------------------------------------


def test_a_rollout_of_plays(nardy, tiny_network) -> None:
    """The best plays at first sight are rolled out, sorted by what came of it."""
    net = f"--net={tiny_network('short')}"
    argv = ("rollout", "start", "--variant=short", "--dice=31", net, "--trials=36", "--truncate=2",
            "--top=3")  # fmt: skip
    code, out, errors = nardy(*argv)
    lines = out.splitlines()
    assert (code, errors) == (0, "")
    assert lines[1].startswith("White to play 3-1 - ")
    assert lines[3].split()[:6] == ["play", "equity", "+/-", "to", "best", "+/-"]
    assert [line.split()[0] for line in lines[4:7]] == ["1.", "2.", "3."]
    assert lines[8].startswith(
        "36 trials of each play cut off after 2 rolls, moved at 0-ply, seed 1;"
    )
    assert lines[9].startswith("luck taken off: the variance is 1/")
    _, out, _ = nardy(*argv, "--json", "--threads=1")
    answer = json.loads(out)
    rows = answer["rows"]
    assert (answer["trials"], answer["truncate"], answer["dice"]) == (36, 2, [3, 1])
    assert all(f"{r['equity']:+.4f}" in line for r, line in zip(rows, lines[4:7], strict=True))
    equities = [item["equity"] for item in rows]
    assert equities == sorted(equities, reverse=True)
    assert rows[0]["difference"] == rows[0]["difference_error"] == 0
    assert rows[1]["difference"] == pytest.approx(equities[1] - equities[0])
    for item in rows:
        assert sum(item["probabilities"]) == pytest.approx(1)
        assert item["position"].endswith("; B")
        assert item["rolls"] == 2


def test_a_rollout_before_the_roll(nardy, tiny_network) -> None:
    """Without dice the position itself is rolled out, for the side to roll."""
    net = f"--net={tiny_network('long')}"
    position = "W{24:10 18:3 11:2} off0 | B{24:12 20:2 15:1} off0 ; B"
    argv = ("rollout", position, net, "--trials=40", "--truncate=1", "--json")
    code, out, _ = nardy(*argv)
    answer = json.loads(out)
    assert code == 0
    assert "dice" not in answer
    (found,) = answer["rows"]
    assert set(found) >= {"equity", "error", "raw_equity", "raw_error", "variance_reduction"}
    _, raw, _ = nardy(*argv, "--raw")
    (plain,) = json.loads(raw)["rows"]
    assert plain["variance_reduction"] == 1
    assert plain["error"] > found["error"]
    _, text, _ = nardy(*argv[:-1], "--raw")
    assert "luck taken off" not in text


def test_a_rollout_of_an_ending_says_that_it_is_known(nardy, tiny_network) -> None:
    """The tables know the value: no error, and a sentence why."""
    net = f"--net={tiny_network('short')}"
    _, out, _ = nardy("rollout", "6:2 5:3 off10 | 6:5 off10", "--variant=short", net, "--trials=36")
    assert "0.0000" in out
    assert "nothing is left to luck" in out


def test_a_rollout_where_dice_are_owed(nardy, tiny_network) -> None:
    """What is owed of a roll is a decision like any other (GUL-1)."""
    net = f"--net={tiny_network('gulbar')}"
    position = "W{24:13 18:2} off0 | B{24:15} off0 owes6x2 ; B"
    argv = ("--variant=gulbar", net, "--trials=36", "--truncate=1", "--json")
    code, out, errors = nardy("rollout", position, *argv)
    assert (code, errors) == (0, "")
    assert json.loads(out)["dice"] == [6, 6]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["start", "--trials", "1"], "trials is 1; it must be at least 2"),
        (["start", "--trials", "1" + 14 * "0"], "trials is 1" + 14 * "0" + "; it must be at most"),
        (["start", "--trials", "9" * 20], "it must be at most 10,000,000"),
        (["start", "--seed", str(2**64)], "it must be at most 9,223,372,036,854,775,807"),
        (["start", "--truncate", "9" * 20], "it must be at most 5,000"),
        (["start", "--error", "big"], "'big' is no standard error"),
        (["start", "--truncate", "-1"], "'-1' is not a whole number of at least 0"),
        (["start", "--dice", "77"], "a die shows 1 to 6"),
        (["off15 | 24:15 ; W 6-4"], "the game is over"),
        ([], "required: POSITION"),
    ],
)
def test_bad_rollouts_are_one_sentence(nardy, tiny_network, argv, words) -> None:
    """Every mistake on the command line is one sentence and exit code 2."""
    code, out, errors = nardy("rollout", *argv, "--net", str(tiny_network("long")))
    assert (code, out) == (2, "")
    assert words in errors
    assert errors.count("\n") == 1


# -- bots ---------------------------------------------------------------------------------------


def test_a_bot_that_looks_ahead_plays_what_the_search_chooses(tiny_network) -> None:
    """`net:FILE@1ply` chooses by the 1-ply search, `@0ply` as without it."""
    path = tiny_network("short")
    variant = load_variant("short")
    boards, dice = played(variant, 30, 10)
    after = batch.afterstates(variant, boards, dice)
    turn = Turn(variant, boards, dice, after, np.zeros(len(boards)))
    evaluator = Evaluator.load(path)
    chosen = {word: make_bot(f"net:{path}{word}", variant).choose(turn)
              for word in ("", "@0ply", "@1ply", "@1-ply")}  # fmt: skip
    np.testing.assert_array_equal(chosen[""], evaluator.choose(boards, after))
    np.testing.assert_array_equal(chosen["@0ply"], chosen[""])
    np.testing.assert_array_equal(chosen["@1ply"], Search(evaluator, 1).choose(boards, after))
    np.testing.assert_array_equal(chosen["@1-ply"], chosen["@1ply"])
    assert (chosen["@1ply"] != chosen[""]).any()
    assert make_bot(f"net:{path}@1ply", variant, name="ahead").name == "ahead"


@pytest.mark.parametrize("source", ["short@ply", "short@9ply", "short@1", "short@", "@1ply"])
def test_depths_of_bots_that_are_none_are_refused(source) -> None:
    """Nonsense behind `@` is refused in words, and so is a depth without a network."""
    with pytest.raises(BotError, match="is no depth of search; write net:"):
        make_bot(f"net:{source}", load_variant("short"))


def test_files_may_have_such_signs_in_their_paths() -> None:
    """Only what stands behind the last name is a depth."""
    assert split_depth("runs/a@b/long.safetensors@2ply") == ("runs/a@b/long.safetensors", 2)
    assert split_depth("a@b.safetensors") == ("a@b.safetensors", 0)
    config = ArenaConfig(
        variant=VariantConfig(id="short", options={}),
        a="", b="", players=[], games=2, seed=0, luck="", json="", root="/mine",
    )  # fmt: skip
    assert _located("net:x.safetensors@1ply", config) == "net:/mine/x.safetensors@1ply"
    assert _located("x.safetensors@1ply", config) == "net:/mine/x.safetensors@1ply"
    assert _located("net:short@2ply", config) == "net:short@2ply"


def test_looking_ahead_does_not_depend_on_threads(tiny_network) -> None:
    """A match of 0-ply against 1-ply is the same on one thread and two, and not even (T34)."""
    path = tiny_network("hypergammon")
    variant = load_variant("hypergammon")
    bots = [make_bot(f"net:{path}{word}", variant, name=word or "@0ply") for word in ("", "@1ply")]
    results = [
        arena.match(*bots, variant, 40, 3, workers=workers, block_pairs=20) for workers in (1, 2)
    ]
    np.testing.assert_array_equal(results[0].fingerprints, results[1].fingerprints)
    np.testing.assert_array_equal(results[0].outcomes, results[1].outcomes)
    own = arena.match(bots[1], bots[1], variant, 8, 3)
    assert own.points.mean == 0
