"""What follows from a changed rule: fields that lose their effect go back to neutral; layer 1.

`contradictions` refuses a field without effect that is not neutral. Who changes one rule of a
preset means that rule, though, and not the fields of the preset that hung on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, MutableMapping
from typing import Any, TypeAlias

_Options: TypeAlias = Mapping[str, Any]

_BY_LIST = ("head_blocked", "listed", "second_player_any_blocked")
_LONG_DOUBLES = (6, 4, 3)
"""The doubles of L-6, for an exception that needs a list where the preset has none."""


def settle(options: MutableMapping[str, Any], given: Collection[str]) -> None:
    """Let the fields follow that a changed rule leaves without effect.

    Args:
        options: All options by name, as plain values; changed.
        given: The options that were asked for by name; they stay, also where they contradict.
    """
    if options["head.exception"] in _BY_LIST and not options["head.exception_doubles"]:
        _set(options, given, "head.exception_doubles", sorted(_LONG_DOUBLES))
    for name, neutral, idle in _FOLLOWERS:
        if idle(options):
            _set(options, given, name, neutral(options) if callable(neutral) else neutral)


def _set(options: MutableMapping[str, Any], given: Collection[str], name: str, value: Any) -> None:
    if name not in given:
        options[name] = value


def _no_cascade(o: _Options) -> bool:
    return bool(o["cascade"] == "off")


def _no_transfer(o: _Options) -> bool:
    return bool(o["transfer.scope"] == "off")


def _one_segment(o: _Options) -> bool:
    return _no_cascade(o) or _no_transfer(o)


def _no_obligation(o: _Options) -> bool:
    return o["teleport"] not in ("kaftar", "kabutar")


def _no_head_limit(o: _Options) -> bool:
    return bool(o["head.limit"] != "1")


def _no_zero_level(o: _Options) -> bool:
    rule = o["transfer.zero_first_level"]
    return (rule == "skip_level" and _no_cascade(o)) or (rule == "transfer" and _no_transfer(o))


def _no_cube(o: _Options) -> bool:
    return bool(o["cube"] == "off")


_FOLLOWERS: tuple[tuple[str, Any, Callable[[_Options], bool]], ...] = (
    ("setup.reserve", 0, lambda o: o["contact"] != "emir"),
    ("setup.emir_above", 0, lambda o: o["contact"] != "emir"),
    ("head.exception", "none", _no_head_limit),
    ("head.lifted_by", [], _no_head_limit),
    ("head.exception_doubles", [], lambda o: o["head.exception"] not in _BY_LIST),
    ("head.exception_when", "all_on_head", lambda o: o["head.exception"] == "none"),
    ("block.check", "end_of_segment", lambda o: o["block.rule"] == "none"),
    ("block.karzar_scope", "trapping", lambda o: o["block.rule"] != "karzar"),
    (
        "block.length",
        lambda o: o["setup.home"],
        lambda o: o["block.rule"] in ("none", "start_sector"),
    ),
    ("dice.double_steps", 4, lambda o: o["dice.program"] == "n_times_m"),
    ("cascade.from_roll", 1, _no_cascade),
    ("transfer.mode", "remainder", _no_cascade),
    (
        "transfer.heir",
        "skip_and_continue",
        lambda o: _one_segment(o) or o["transfer.mode"] != "remainder",
    ),
    ("transfer.zero_first_level", "void_roll", _no_zero_level),
    ("transfer.heir_head", "per_segment", lambda o: _one_segment(o) or _no_head_limit(o)),
    ("teleport.blocked", "ordinary", _no_obligation),
    ("teleport.short_head", "ordinary", _no_obligation),
    ("cube.max", 64, _no_cube),
    ("cube.crawford", True, _no_cube),
    ("cube.jacoby", False, _no_cube),
    ("cube.beaver", False, _no_cube),
    ("cube.automatic_doubles", False, _no_cube),
)
"""Field, its neutral value, and when it has no effect; a field stands behind those it hangs on."""
