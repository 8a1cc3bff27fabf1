"""Every numbered rule of docs/rules.md and every worked example has a test of the engines."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAW = (ROOT / "docs" / "rules.md").read_text("utf-8")
RULES = sorted(set(re.findall(r"\*\*([A-Z]{1,3}-\d+)\b", LAW)))
EXAMPLES = sorted(set(re.findall(r"\*\*(X-[A-Z]\d+)\b", LAW)))
DISPUTES = set(re.findall(r"^\| (D-\d\d) \|", LAW, re.MULTILINE))


def cited():
    """Return the numbers that tests of the rules name one by one; a range names none."""
    texts = (path.read_text("utf-8") for path in sorted((ROOT / "tests/engine").glob("test_*.py")))
    text = re.sub(r"[\w-]+\.\.[\w-]+", "", "\n".join(texts))
    return set(re.findall(r"\b(?:X-[A-Z]\d+|[A-Z]{1,3}-\d+)\b", text))


CITED = cited()


def test_numbers_are_found():
    """The rules text has as many numbers as it has; a changed format would hide them."""
    assert (len(RULES), len(EXAMPLES), len(DISPUTES)) == (157, 142, 22)


@pytest.mark.parametrize("number", RULES)
def test_every_rule_is_cited(number):
    """Each numbered rule is named by a test."""
    assert number in CITED


@pytest.mark.parametrize("number", EXAMPLES)
def test_every_example_is_tested(number):
    """Each worked example is named by a test."""
    assert number in CITED


def test_no_test_cites_what_does_not_exist():
    """A number that the rules text does not have is a misprint."""
    assert {*RULES, *EXAMPLES, *DISPUTES} >= CITED
