"""One rule of a preset changed: the fields that hung on the old one follow."""

import pytest

from nardy_engine import load_variant, reference, variant_names
from nardy_engine.errors import VariantError
from positions import case, row

SAME_HEAD = [
    "long", "long-fnr", "giveaway", "nardgammon", "karzar", "kaftar", "one_six", "kabutar",
    "gulbar", "mad_gulbar", "mad_nardy",
]  # fmt: skip
ALONE = [
    *((game, "head.exception", value) for game in SAME_HEAD for value in ("none", "any_double")),
    *((game, "head.limit", value) for game in SAME_HEAD for value in ("none", "runner")),
    ("long", "head.exception", "principle"),
    *((game, "head.exception", "listed") for game in ("astrogon", "even_odd", "long")),
    *((game, "head.exception", "head_blocked") for game in ("astrogon", "even_odd")),
    ("astrogon", "head.limit", "none"),
    ("even_odd", "head.limit", "runner"),
    ("emir", "head.exception", "none"),
    ("emir", "head.limit", "none"),
    *((game, "block.rule", "none") for game in ("long", "long-fnr", "nardgammon", "karzar")),
    *((game, "transfer.scope", "off") for game in ("gulbar", "mad_gulbar", "mad_nardy")),
    *((game, "cascade", "off") for game in ("mad_gulbar", "mad_nardy", "giul", "gul_bara_intl")),
    ("kaftar", "teleport", "off"),
    ("long", "dice.program", "n_times_m"),
    ("short", "cube", "off"),
]


@pytest.mark.parametrize(("game", "option", "value"), ALONE)
def test_a_rule_can_be_changed_alone(game, option, value):
    """Rules.md 4.1: an option is a name and a value; no other name has to be known."""
    variant = load_variant(game)
    changed = variant.with_options({option: value})
    assert changed.options()[option] == value
    flat = {**changed.options()}
    assert changed.with_options(flat).options() == flat


def test_a_list_that_is_needed_is_that_of_long_nardy():
    """D-07: `listed` means 6-6, 4-4 and 3-3 where nothing else is said."""
    changed = load_variant("astrogon").with_options({"head.exception": "listed"})
    assert changed.head.exception_doubles == (3, 4, 6)


def test_any_double_lets_two_fives_leave_the_head():
    """X-H7 with the option alone."""
    variant = load_variant("long", {"head.exception": "any_double"})
    position, dice = case("W{24:14 16:1}|B{24:15}; B 5-5")
    ends = {play.end.mover for play in reference.plays(variant, position, dice)}
    assert ends == {row("24:13 14:2"), row("24:13 19:1 9:1")}


def test_what_was_asked_for_stays_and_is_refused():
    """A field without effect that was asked for is an error, not dropped without a word."""
    long = load_variant("long")
    with pytest.raises(VariantError, match="reads no list"):
        long.with_options({"head.exception": "any_double", "head.exception_doubles": [6]})
    with pytest.raises(VariantError, match="needs a block rule"):
        long.with_options({"block.rule": "none", "block.check": "every_step"})


@pytest.mark.parametrize("game", variant_names())
def test_presets_are_settled(game):
    """Nothing follows where nothing is changed."""
    variant = load_variant(game)
    assert variant.with_options({}) == variant
