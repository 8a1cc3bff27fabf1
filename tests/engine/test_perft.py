"""Perft suites in `tests/data/perft`: whole rule sets counted to a depth, on both engines."""

import json
from pathlib import Path

import pytest

from nardy_engine import load_variant, variant_names
from nardy_engine.perft import divide, perft
from nardy_engine.whole_rolls import ENGINES

_DATA = Path(__file__).parents[1] / "data" / "perft"


def read_suite(path):
    """Return `(variant, [(depth, unweighted, weighted or None, engines, slow)], {roll: count})`.

    `slow` holds those of the engines that take too long for the quick tests.
    """
    game, options, depths, rolls = "", {}, [], {}
    for line in path.read_text("utf-8").splitlines():
        kind, *words = line.split()
        if kind == "game":
            game = words[0]
        elif kind == "option":
            options[words[0]] = json.loads(line.split(maxsplit=2)[2])
        elif kind == "roll":
            larger_first = sorted(map(int, words[0].split("-")))
            rolls[tuple(larger_first)] = int(words[1])
        elif kind == "depth":
            counts = [int(word) for word in words if word.isdigit()]
            how = [word for word in words if not word.isdigit()]
            engines = ["kernels"] if how == ["only", "kernels"] else list(ENGINES)
            slow = {
                "": (),
                "only kernels": (),
                "slow": ENGINES,
                "slow reference": ("reference",),
            }[" ".join(how)]
            weighted = counts[2] if len(counts) > 2 else None
            depths.append((counts[0], counts[1], weighted, engines, slow))
        else:
            raise AssertionError(f"{path.name}: unknown line '{line}'")
    return load_variant(game, options), depths, rolls


def _suites():
    for path in sorted(_DATA.glob("*.perft")):
        for depth, unweighted, weighted, engines, slow in read_suite(path)[1]:
            for engine in engines:
                name = f"{path.stem}-{depth}-{engine}"
                marks = [pytest.mark.slow] if engine in slow else []
                yield pytest.param(path, depth, unweighted, weighted, engine, id=name, marks=marks)


@pytest.mark.parametrize(("path", "depth", "unweighted", "weighted", "engine"), list(_suites()))
def test_suite(path, depth, unweighted, weighted, engine):
    """The number of distinct results to this depth is the published one; else see the divide."""
    variant, _, rolls = read_suite(path)
    parts = divide(variant, depth, engine=engine)
    shown = "\n".join(f"{a}-{b}: {count}" for (a, b), count in parts.items())
    assert sum(parts.values()) == unweighted, shown
    if depth == 1 and rolls:
        assert parts == rolls
    if weighted is not None:
        assert perft(variant, depth, engine, weighted=True) == weighted


def test_every_catalog_game_has_a_suite():
    """Every game of the catalog is counted but one, for which no independent numbers exist."""
    counted = {path.stem for path in _DATA.glob("*.perft")}
    assert set(variant_names()) - counted == {"gul_bara_intl"}


def test_bad_arguments_are_refused():
    """A depth of zero and an unknown engine are errors, not a count of nothing."""
    with pytest.raises(ValueError, match="at least 1"):
        perft(load_variant("long"), 0)
    with pytest.raises(ValueError, match="known: reference, kernels"):
        perft(load_variant("long"), 1, "guess")
