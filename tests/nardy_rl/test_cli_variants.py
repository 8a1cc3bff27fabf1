"""`nardy variants`: the table of games and the details of one."""

from __future__ import annotations

import json

import pytest

from command_line import nardy
from nardy_engine import load_variant, notation, variant_names
from nardy_engine.rules.summary import summary
from nardy_rl import cli
from nardy_rl.commands import variants


@pytest.fixture
def run(capsys):
    """Return a function that runs `nardy variants` here and returns its output."""

    def call(*argv: str) -> str:
        assert cli.main(["variants", *argv]) == 0
        return capsys.readouterr().out

    return call


def test_the_table_lists_every_game_within_100_columns() -> None:
    """Each game has a line with its title and one with its rules; nothing is wider than a page."""
    done = nardy("variants")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    for name in variant_names():
        assert len([line for line in lines if line.startswith(f"{name} ")]) == 2
        assert load_variant(name).title in done.stdout
    assert max(map(len, lines)) <= 100


def test_columns_are_aligned() -> None:
    """The second column starts at the same place in every row."""
    lines = variants.aligned([("a", "b"), ("long name", "c")])
    assert [line.index(char) for line, char in zip(lines, "bc", strict=True)] == [11, 11]


@pytest.mark.parametrize("name", variant_names())
def test_details_show_the_board_and_every_option(run, name: str) -> None:
    """`nardy variants NAME --all` draws the start and lists each option with its value."""
    text = run(name, "--all")
    game = load_variant(name)
    assert game.russian in text
    assert notation.board_ascii(game, game.start_position()) in text
    assert game.digest() in text
    for option in game.options():
        assert f"\n{option} " in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", variant_names())
def test_rules_are_told_in_words_with_their_numbers(run, name: str) -> None:
    """Each sentence of the summary is there with its rule numbers, and the options that differ."""
    text = run(name)
    words = " ".join(text.split())
    game = load_variant(name)
    for clause in summary(game):
        assert f"{clause.text}{f' [{clause.rules}]' if clause.rules else ''}" in words
    base = load_variant("short" if game.contact.value == "hit" else "long")
    usual = base.options()
    for option, value in game.options().items():
        assert (f"\n{option} " in text) is (value != usual[option]), option
    assert max(map(len, text.splitlines())) <= 100


def test_options_with_the_name_of_a_component() -> None:
    """`cascade`, `teleport` and `cube` are options themselves (rules.md 4.1)."""
    long = load_variant("long")
    assert variants.allowed_values(long, "cascade") == ["off", "to_six"]
    assert variants.allowed_values(long, "cube") == ["off", "on"]
    assert variants.allowed_values(long, "cascade.from_roll") == "a whole number"


def test_possible_values_can_all_be_loaded_or_are_refused_in_words() -> None:
    """Each value that is shown as possible for long nardy's block rule makes a game (D-04)."""
    long = load_variant("long")
    values = variants.allowed_values(long, "block.rule")
    assert values == ["ahead", "karzar", "start_sector", "never", "none"]
    for value in values:
        assert long.with_options({"block.rule": value}).block.rule.value == value
    assert variants.allowed_values(long, "home.frozen") == ["true", "false"]
    assert variants.allowed_values(long, "setup.points") == "a whole number"


def test_options_change_what_is_shown(run) -> None:
    """`--option` shows the changed game, with another digest."""
    for words in (("--option", "block.check=every_step"), ("variant.block.check=every_step",)):
        text = run("long", *words)
        assert load_variant("long").digest() not in text
        assert "block.check  every_step  end_of_segment" in text


def test_json_holds_the_rules(run) -> None:
    """`--json` of the table and of one game carry the options that make the game."""
    table = json.loads(run("--json"))
    assert [game["id"] for game in table] == list(variant_names())
    (long,) = [game for game in table if game["id"] == "long"]
    assert load_variant("long", long["options"]).digest() == long["digest"]
    details = json.loads(run("short", "--json"))
    assert details["start"] == "W{24:2 13:5 8:3 6:5} off0 | B{24:2 13:5 8:3 6:5} off0 ; W"
    assert details["possible"]["contact"] == ["none", "hit", "emir"]
    assert {"text", "option", "rules"} == set(details["rules"][0])
    assert [kind["points"] for kind in details["win_kinds"]] == [1, 2, 3]  # S-8


def test_a_shipped_network_is_shown_with_its_strength(run, monkeypatch, tiny_network) -> None:
    """The network of a game appears, but not for rules that it was not trained for."""
    path = tiny_network("long", name="long")
    monkeypatch.setattr(variants, "checkpoints_dir", lambda: path.parent)
    assert "123 games" in run()
    assert "hidden layers 8-5, 123 games of self-play" in run("long")
    assert "none comes with the package" in run("long", "--option", "block.check=every_step")


def test_other_networks_of_a_game_are_shown_by_name(run, monkeypatch, tiny_network) -> None:
    """A second network of a game has its name beside it; one of another game is not shown."""
    path = tiny_network("long", name="long")
    tiny_network("long", name="long-small")
    tiny_network("long-fnr", name="long-fnr")
    monkeypatch.setattr(variants, "checkpoints_dir", lambda: path.parent)
    text = run("long")
    assert "hidden layers 8-5, 123 games of self-play\n" in text
    assert "hidden layers 8-5, 123 games of self-play (net:long-small)\n" in text
    assert text.index("self-play\n") < text.index("(net:long-small)")
    assert text.count("hidden layers") == 2
    shown = json.loads(run("long", "--json"))
    assert shown["network"]["games"] == 123
    assert list(shown["other_networks"]) == ["long-small"]


def test_a_rule_option_may_be_written_as_a_setting_or_after_option(run) -> None:
    """`--option variant.block.check=...`, `--option block.check=...`, `variant.block.check=...`."""
    wanted = run("long", "--option", "block.check=every_step")
    assert "block.check=every_step" in wanted or "every_step" in wanted
    assert run("long", "--option", "variant.block.check=every_step") == wanted
    assert run("long", "variant.block.check=every_step") == wanted


@pytest.mark.parametrize("text", ["{24:14 23:1}", "24:14,23:1", "{24=14, 23=1}"])
def test_a_start_can_be_given_as_text(run, text) -> None:
    """`setup.start` is read in the spelling in which it is shown."""
    assert "setup.start  {24:14 23:1}" in run("long", "--option", f"setup.start={text}")
