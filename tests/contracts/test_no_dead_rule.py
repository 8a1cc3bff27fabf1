"""No rule option is dead: each changes some stored position, or its other values are refused.

The walk is over `dataclasses.fields`, so that a new field without a witness fails here.
"""

from dataclasses import fields
from enum import Enum

import numpy as np
import pytest

from engines import Engine
from nardy_engine import Position, batch, load_variant, variant_names
from nardy_engine.errors import DiceError, VariantError
from nardy_engine.perft import ENGINES
from nardy_engine.rules.components import Component, Opening
from positions import case, row

NO_EXCEPTION = {"head.exception": "none", "head.exception_doubles": []}
FIVE = {"dice.sides": 5, "bearoff.dice": [1, 2, 3, 4, 5]}
X = "W{8:1 6:3 5:3 4:3 3:3 1:2}"

OTHERS = {  # values to try beside those of an Enum or bool
    "setup.points": [22, 26, 28],
    "setup.home": [5, 7],
    "setup.checkers": [2, 14],
    "setup.start": [{24: 1, 23: 2}, {24: 14, 23: 1}],
    "head.exception_doubles": [[], [3, 4], [3, 6], [4, 6]],
    "head.lifted_by": [[1, 6], [3]],
    "block.length": [5, 7],
    "dice.sides": [5, 7],
    "dice.double_steps": [2, 3, 5, 6],
    "bearoff.dice": [[], [1, 6], [1, 2, 3, 4, 5]],
}
COMPANIONS = {  # (option, value): (options of the base, options of the changed game)
    ("head.limit", "none"): (NO_EXCEPTION, NO_EXCEPTION),
    ("head.limit", "runner"): (NO_EXCEPTION, NO_EXCEPTION),
    ("head.exception", "any_double"): ({}, {"head.exception_doubles": []}),
    ("head.exception", "none"): ({}, {"head.exception_doubles": []}),
    ("head.exception", "principle"): (
        {"dice.program": "n_times_m"},
        {"dice.program": "n_times_m", "head.exception_doubles": []},
    ),
    ("block.rule", "none"): ({}, {"block.check": "end_of_segment"}),
    ("block.karzar_scope", "any_run"): ({"block.rule": "karzar"}, {"block.rule": "karzar"}),
    ("setup.checkers", 14): ({}, {"setup.start": {24: 14}}),
    ("setup.checkers", 2): ({}, {"setup.start": {24: 2}}),
    ("setup.direction", "same"): (
        {"contact": "none", "score": "oin_mars"},
        {"contact": "none", "score": "oin_mars"},
    ),
    ("setup.home", 5): (FIVE, {**FIVE, "block.length": 5}),
    ("dice.sides", 5): ({}, {"bearoff.dice": [1, 2, 3, 4, 5]}),
}
LISTED_BELOW_SIX = {"head.exception_doubles": [3, 4]}

WITNESSES = {  # position and roll, a roll from the own start position, or a loser's row
    "setup.points": ["start 6-5"],
    "setup.home": ["W{6:2 3:1}|B{14:1}; W 3-1"],
    "setup.checkers": ["start 6-5"],
    "setup.start": ["start 6-5"],
    "setup.direction": ["start 6-4"],
    "head.limit": [
        "W{24:14 13:1}|B{24:14 15:1}; W 5-3",
        "W{24:14 18:1}|B{24:15}; W 6-6",
    ],
    "head.exception": [
        "W{24:15}|B{24:15}; W 6-6",
        "W{24:14 4:1}|B{24:15}; B 4-4",
        "W{24:14 16:1}|B{24:15}; B 5-5",
        "W{24:15}|B{24:15}; W 6-2",
    ],
    "head.exception_doubles": ["start 3-3", "start 4-4", "start 6-6"],
    "head.lifted_by": ["W{24:14 20:1}|B{24:14 18:1}; W 6-3"],
    "block.rule": [f"{X}|B{{24:15}}; W 6-5", f"{X}|B{{24:14 12:1}}; W 6-5"],
    "block.check": [f"{X}|B{{24:15}}; W 6-6"],
    "block.karzar_scope": ["W{13:1 11:4 10:4 9:2 8:2 7:2}|B{18:15}; W 1-2"],
    "block.length": [f"{X}|B{{24:15}}; W 6-5", "W{8:2 7:2 6:2 5:2 3:7}|B{24:15}; W 4-1"],
    "dice.program": ["start 6-2"],
    "dice.sides": ["start 6-5"],
    "dice.double_steps": ["start 1-1"],
    "bearoff.overshoot": [
        "W{4:1 2:1}|B{13:1}; W 6-5",
        "W{6:1 2:1}|B{15:1 22:2}; W 3-3",
    ],
    "bearoff.dice": ["W{6:1 5:1 4:1}|B{14:1}; W 5-4", "W{5:1 4:1}|B{14:1}; W 6-6"],
    "home.frozen": ["W{8:1 6:1}|B{14:1}; W 2-1"],
    "contact": ["W{24:1 3:1}|B{7:1}; W 6-6"],
    "objective": ["loser 6:1"],
    "score": ["loser 6:1", "loser 20:1 6:2 off0", "loser 6:3", "loser 20:1 6:14", "loser 6:15"],
}


def components(variant):
    """Yield `(name, component)` of each part of a variant."""
    for field in fields(variant):
        part = getattr(variant, field.name)
        if isinstance(part, Component):
            yield field.name, part


def option_names(variant):
    """Return every option, found by walking the dataclasses."""
    names = [f"{name}.{f.name}" for name, part in components(variant) for f in fields(part)]
    top = [f.name for f in fields(variant) if isinstance(getattr(variant, f.name), Enum)]
    return names + top


def other_values(variant, option):
    """Yield the values to try instead of the present one."""
    table, _, field = option.rpartition(".")
    value = getattr(getattr(variant, table) if table else variant, field)
    if isinstance(value, Enum):
        yield from (member.value for member in type(value) if member is not value)
    elif isinstance(value, bool):
        yield not value
    else:
        plain = variant.options()[option]
        yield from (other for other in OTHERS.get(option, []) if other != plain)


def with_companions(variant, option, value):
    """Return `(base, changed)`, or None if the value is refused even with its companions."""
    key = (option, value if isinstance(value, str | int) else None)
    base, more = COMPANIONS.get(key, ({}, {}))
    try:
        return variant.with_options(base), variant.with_options({**more, option: value})
    except VariantError:
        pass
    if key in (("dice.sides", 5), ("setup.home", 5)):
        more = {**more, **LISTED_BELOW_SIX}
        base = {**base, **LISTED_BELOW_SIX} if base else base
        try:
            return variant.with_options(base), variant.with_options({**more, option: value})
        except VariantError:
            pass
    return None


def answer(engine, variant, witness):
    """Return what the engine says to a witness; None if it is no position of the game."""
    if witness.startswith("loser"):
        try:
            loser = row(witness.removeprefix("loser"), variant.setup.checkers)
        except AssertionError:
            return None
        winner = row("", variant.setup.checkers)
        return engine.outcome(variant, Position(winner, loser)) if min(loser) >= 0 else None
    if witness.startswith("start"):
        a, b = witness.removeprefix("start").split("-")
        position, dice = variant.start_position(), (int(a), int(b))
    else:
        position, dice = case(witness, variant.setup.checkers)
        if min(*position.mover, *position.opponent) < 0:
            return None
    try:
        return sorted(engine.ends(variant, position, dice))
    except (DiceError, ValueError):
        return "refused"


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("game", variant_names())
def test_every_option_has_a_witness(game, name):
    """Each value that a game accepts for an option changes the answer to a stored position."""
    engine, variant = Engine(name), load_variant(game)
    dead = []
    for option in option_names(variant):
        if option == "opening":
            continue  # its witness is the first roll, below
        for value in other_values(variant, option):
            pair = with_companions(variant, option, value)
            if pair is None:
                continue
            base, changed = pair
            if not any(
                answer(engine, base, w) != answer(engine, changed, w)
                for w in WITNESSES.get(option, [])
            ):
                dead.append((option, value))
    assert dead == []


@pytest.mark.parametrize("game", variant_names())
def test_every_other_value_is_tried(game):
    """A field that is neither Enum nor bool has values to try here, so no field is passed over."""
    variant = load_variant(game)
    untried = [o for o in option_names(variant) if not list(other_values(variant, o))]
    assert untried == []
    assert set(option_names(variant)) == set(variant.options())


@pytest.mark.parametrize("game", variant_names())
def test_only_what_contradicts_the_geometry_is_always_refused(game):
    """The options of which a game accepts no other value are exactly those listed here."""
    variant = load_variant(game)
    closed = {
        option
        for option in option_names(variant)
        if not any(with_companions(variant, option, v) for v in other_values(variant, option))
    }
    long = {"setup.direction", "contact"}
    short = {o for o in variant.options() if o.startswith(("head.", "block."))}
    assert closed == (long if game.startswith("long") else short)


@pytest.mark.parametrize("game", variant_names())
def test_refusals_are_sentences(game):
    """A refused value is refused in words that name the option or what it contradicts."""
    variant = load_variant(game)
    for option in option_names(variant):
        for value in other_values(variant, option):
            try:
                variant.with_options({option: value})
            except VariantError as error:
                said = str(error)
                assert any(name in said for name in option_names(variant)), said
                assert len(said.split()) >= 4


@pytest.mark.parametrize("game", variant_names())
def test_opening_decides_the_first_roll(game):
    """L-2, S-2, D-02: only `reroll` lets the first turn be a double."""
    doubles = {}
    for opening in Opening:
        variant = load_variant(game, {"opening": opening.value})
        dice = batch.Games(variant, n_games=600, seed=5).roll()
        doubles[opening] = int(np.count_nonzero(dice[:, 0] == dice[:, 1]))
    assert doubles[Opening.OPENING_DICE] == 0
    assert 50 < doubles[Opening.REROLL] < 150
