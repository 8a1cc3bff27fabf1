"""Every example in a docstring, and the README's tour, gives what it shows."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import nardy_engine
import nardy_rl

MODULES = [
    name
    for root in (nardy_engine, nardy_rl)
    for name in (
        root.__name__,
        *(entry.name for entry in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")),
    )
]
README = Path(__file__).parents[2] / "README.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name):
    """The examples in the docstrings of a module run and print what they show."""
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.failed == 0


def test_there_are_examples():
    """The search above finds examples at all."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [
        test
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(found) > 5


def test_readme_tour():
    """The Python examples of the README run and print what they show."""
    result = doctest.testfile(str(README), module_relative=False, optionflags=OPTIONS)
    assert result.failed == 0
