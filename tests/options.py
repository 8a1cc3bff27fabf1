"""Every option of a game with the values to try instead, and what must change along with it."""

from dataclasses import fields
from enum import Enum

from nardy_engine.errors import VariantError
from nardy_engine.rules.components import Component

NO_EXCEPTION = {"head.exception": "none", "head.exception_doubles": []}
FIVE = {"dice.sides": 5, "bearoff.dice": [1, 2, 3, 4, 5]}
LISTED_BELOW_SIX = {"head.exception_doubles": [3, 4]}
CASCADE = {"cascade": "to_six"}
INHERITED = {"transfer.scope": "all_rolls"}
REMAINDER = {**CASCADE, **INHERITED, "transfer.mode": "remainder"}
PLAIN_TRANSFER = {"transfer.zero_first_level": "void_roll", "transfer.heir_head": "per_segment"}
EMIR = {"contact": "emir", "head.exception_when": "first_roll_flag"}
NO_RESERVE = {"setup.reserve": 0, "setup.emir_above": 0, "setup.start": {24: 15}}
CUBE = {"cube": "on"}

OTHERS = {  # values to try beside those of an Enum or bool
    "setup.points": [22, 26, 28],
    "setup.home": [5, 7],
    "setup.checkers": [2, 14],
    "setup.start": [{24: 1, 23: 2}, {24: 14, 23: 1}, {24: 11, 23: 1}],
    "setup.reserve": [0, 2],
    "setup.emir_above": [0, 5],
    "head.exception_doubles": [[], [3, 4], [3, 6], [4, 6]],
    "head.lifted_by": [[1, 6], [3]],
    "block.length": [5, 7],
    "dice.sides": [5, 7],
    "dice.double_steps": [2, 3, 5, 6],
    "bearoff.dice": [[], [1, 6], [1, 2, 3, 4, 5]],
    "cascade.from_roll": [1, 4],
    "cube.max": [0, 2, 3],
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
    ("setup.reserve", 0): ({}, {"setup.start": {24: 15}}),
    ("setup.reserve", 2): (EMIR, {**EMIR, "setup.start": {24: 13}}),
    ("setup.emir_above", 0): (EMIR, EMIR),
    ("setup.emir_above", 5): (EMIR, EMIR),
    ("dice.sides", 5): ({}, {"bearoff.dice": [1, 2, 3, 4, 5]}),
    ("cascade", "off"): (
        {},
        {**PLAIN_TRANSFER, "cascade.from_roll": 1, "transfer.mode": "remainder"},
    ),
    ("cascade.from_roll", 4): (CASCADE, CASCADE),
    ("transfer.scope", "off"): (PLAIN_TRANSFER, PLAIN_TRANSFER),
    ("transfer.mode", "level"): ({**CASCADE, **INHERITED}, {**CASCADE, **INHERITED}),
    ("transfer.heir", "stop_at_first_unplayable"): (REMAINDER, REMAINDER),
    ("transfer.heir", "free_pool"): (REMAINDER, REMAINDER),
    ("transfer.zero_first_level", "skip_level"): (CASCADE, CASCADE),
    ("transfer.zero_first_level", "transfer"): (INHERITED, INHERITED),
    ("transfer.heir_head", "total"): (REMAINDER, REMAINDER),
    ("teleport.blocked", "lost"): ({"teleport": "kaftar"}, {"teleport": "kaftar"}),
    ("teleport.short_head", "lost"): ({"teleport": "kaftar"}, {"teleport": "kaftar"}),
    ("contact", "emir"): ({"head.exception_when": "first_roll_flag"}, EMIR),
    ("contact", "none"): (NO_RESERVE, NO_RESERVE),
    ("cube.max", 0): (CUBE, CUBE),
    ("cube.max", 2): (CUBE, CUBE),
    ("cube.crawford", False): (CUBE, CUBE),
    ("cube.jacoby", True): (CUBE, CUBE),
    ("cube.beaver", True): (CUBE, CUBE),
    ("cube.automatic_doubles", True): (CUBE, CUBE),
}


def components(variant):
    """Yield `(name, component)` of each part of a variant."""
    for field in fields(variant):
        part = getattr(variant, field.name)
        if isinstance(part, Component):
            yield field.name, part


def option_names(variant):
    """Return every option, found by walking the dataclasses; `kind` goes by its component."""
    names = [
        f"{name}.{f.name}".removesuffix(".kind")
        for name, part in components(variant)
        for f in fields(part)
    ]
    top = [f.name for f in fields(variant) if isinstance(getattr(variant, f.name), Enum)]
    return names + top


def other_values(variant, option):
    """Yield the values to try instead of the present one."""
    table, _, field = option.partition(".")
    part = getattr(variant, table)
    value = getattr(part, field or "kind") if isinstance(part, Component) else part
    if isinstance(value, Enum):
        yield from (member.value for member in type(value) if member is not value)
    elif isinstance(value, bool):
        yield not value
    else:
        plain = variant.options()[option]
        plain = {int(p): n for p, n in plain.items()} if isinstance(plain, dict) else plain
        yield from (other for other in OTHERS.get(option, []) if other != plain)


def with_companions(variant, option, value):
    """Return `(base, changed)`, or None if the value is refused even with its companions.

    The two differ in the option alone, and in what the values themselves forbid.
    """
    base, more = COMPANIONS.get((option, value if isinstance(value, str | int) else None), ({}, {}))
    tries = [(base, more), ({}, {})]
    if (option, value) in (("dice.sides", 5), ("setup.home", 5)):
        tries.append(({**base, **LISTED_BELOW_SIX} if base else {}, {**more, **LISTED_BELOW_SIX}))
    for base, more in tries:
        try:
            return variant.with_options(base), variant.with_options({**more, option: value})
        except VariantError:
            continue
    return None
