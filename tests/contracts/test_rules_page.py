"""RULES.md says what is played: it is the generated text, and every option has its sentences."""

import re
import runpy
from pathlib import Path

import pytest

from nardy_engine import load_variant, variant_names
from nardy_engine.rules.summary import common_model, summary
from options import option_names, other_values, with_companions

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "write_rules.py"))
LAW = (ROOT / "docs" / "rules.md").read_text("utf-8")


def sentences(variant):
    """Return the words alone; tags would differ even where a sentence says nothing."""
    return [clause.text for clause in summary(variant)]


def test_page_is_the_generated_text():
    """RULES.md is what `make rules` writes, to the letter."""
    assert (ROOT / "RULES.md").read_text("utf-8") == SCRIPT["page"]()


def test_every_game_is_on_the_page_after_its_parent():
    """Each game is described once, below the game it is compared with."""
    names = list(SCRIPT["family"]())
    assert sorted(names) == sorted(variant_names())
    parents = [SCRIPT["parent_name"](name) for name in names]
    assert all(p is None or names.index(p) < i for i, p in enumerate(parents))


@pytest.mark.parametrize("game", variant_names())
def test_every_option_value_reads_differently(game):
    """Another value that a game accepts changes or adds a sentence, whatever the option."""
    variant = load_variant(game)
    for option in option_names(variant):
        for value in other_values(variant, option):
            pair = with_companions(variant, option, value)
            if pair is not None:
                base, changed = map(sentences, pair)
                assert base != changed, (option, value)
                assert len(set(changed)) == len(changed), (option, value)


def test_every_value_of_the_rules_text_is_told_somewhere():
    """Each value of section 4.1 is accepted by some game, so the test above has read it."""
    told = {
        (option, str(value).lower())
        for game in variant_names()
        for variant in [load_variant(game)]
        for option in option_names(variant)
        for value in [variant.options()[option], *other_values(variant, option)]
        if value == variant.options()[option] or with_companions(variant, option, value)
    }
    table = LAW.partition("### 4.1")[2].partition("\n---")[0]
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*?) \|$", table, re.MULTILINE)
    assert len(rows) == 31
    for option, values in rows:
        for value in re.findall(r"`([\w]+)`", values):
            if (option, value) != ("bearoff.dice", "all") and option != "cube":
                assert (option, value) in told, (option, value)


def read_options(variant):
    """Return the names of the options that some sentence reads."""
    return {
        part.partition("=")[0] for clause in summary(variant) for part in clause.option.split(", ")
    }


@pytest.mark.parametrize("game", variant_names())
def test_options_without_effect_are_silent(game):
    """A sentence reads what all games tell, or what this game could have otherwise."""
    variant = load_variant(game)
    root = "short" if variant.setup.direction.value == "opposite" else "long"
    for option in read_options(variant) - read_options(load_variant(root)):
        pairs = [with_companions(variant, option, v) for v in other_values(variant, option)]
        assert any(pairs), option


@pytest.mark.parametrize("game", variant_names())
def test_tags_are_true(game):
    """The values behind a sentence are those of the game, its clauses stand in the rules text."""
    variant = load_variant(game)
    values = variant.options()
    known = set(re.findall(r"\*\*([A-Z]+-\d+)\b", LAW)) | set(
        re.findall(r"^\| (D-\d\d) ", LAW, re.M)
    )
    for clause in [*common_model(), *summary(variant)]:
        assert re.match(r"[A-Z].*\.$", clause.text), clause
        for number in filter(None, clause.rules.split(", ")):
            assert number in known or f"### {number.removesuffix(' note')} " in LAW, clause
        for name, value in re.findall(r"([a-z_.]+)=(\{.*?\}|[^,]+)", clause.option):
            plain = values[name]
            shown = re.findall(r"\w+", str(plain).lower())
            assert re.findall(r"\w+", value) == shown, clause


def test_common_model_is_complete():
    """T-1..T-12 are told, each once and in order."""
    numbers = [number for clause in common_model() for number in clause.rules.split(", ")]
    assert sorted(numbers, key=lambda n: int(n[2:])) == [f"T-{n}" for n in range(1, 13)]
