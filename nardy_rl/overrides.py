"""Reading `key=value` overrides before hydra does; layer 2 of nardy_rl.

Hydra accepts a misspelt `hydra.*` key in silence, reads the text `12E3` as a number, and names no
nearest key. So each override is checked against what the configuration really holds, text stays
text, and rules may be written the short way, `variant.block.check=every_step`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from hydra.core.override_parser.types import Quote, QuotedString
from omegaconf import DictConfig, OmegaConf

from nardy_engine import load_variant
from nardy_rl.config import ConfigError, TrainConfig, VariantConfig

__all__ = ["Vocabulary", "rewrite_overrides", "vocabulary"]

_OPTIONS = "variant.options"
_SWITCHES = {"yes": "true", "no": "false"}
"""Other words for the values of a setting that is true, false or a text, `resume=yes`."""
_VARIANT_FIELDS = frozenset(field.name for field in fields(VariantConfig))


@dataclass(frozen=True)
class Vocabulary:
    """Everything that an override may name."""

    keys: frozenset[str]
    """Dotted names of all settings, inner nodes too."""
    open_tables: frozenset[str]
    """Dotted names of tables that take any key."""
    text_keys: frozenset[str]
    """Settings that are text, so that a value like 12E3 is not a number."""
    switch_keys: frozenset[str]
    """Those of them that may be true or false instead of a text."""
    groups: Mapping[str, tuple[str, ...]]
    """Config groups and the names of their files."""
    optional_groups: frozenset[str]
    """Groups that are added (`+experiment=smoke`) instead of replaced."""


def vocabulary(config: DictConfig, schema: type, folder: Path) -> Vocabulary:
    """Return what overrides may name.

    Args:
        config: The composed configuration, hydra's own part included.
        schema: The dataclass of the configuration.
        folder: Where the groups' files lie.
    """
    keys, tables = _walk(config)
    text = _keys_of_type(schema, (str, bool | str))
    groups = {
        entry.name: tuple(sorted(path.stem for path in entry.glob("*.yaml")))
        for entry in sorted(folder.iterdir())
        if entry.is_dir()
    }
    # an experiment sets the parts of a training run
    own = {
        name for name in groups if name in keys or (name == "experiment" and schema is TrainConfig)
    }
    return Vocabulary(
        keys=frozenset(keys),
        open_tables=frozenset(tables),
        text_keys=frozenset(text),
        switch_keys=frozenset(_keys_of_type(schema, (bool | str,))),
        groups={name: groups[name] for name in own},
        optional_groups=frozenset(own - keys),
    )


def rewrite_overrides(words: Iterable[str], known: Vocabulary, *, sweep: bool) -> list[str]:
    """Check overrides and return them as hydra needs them.

    Args:
        words: As on the command line.
        known: What they may name.
        sweep: Whether a comma separates alternatives.

    Raises:
        ConfigError: A word is no override, or names nothing; the message has the nearest name.
    """
    return [_rewrite(word, known, sweep=sweep) for word in words]


def _rewrite(word: str, known: Vocabulary, *, sweep: bool) -> str:
    key, equals, value = word.partition("=")
    prefix = key[: len(key) - len(key.lstrip("+~"))]
    key = key.removeprefix(prefix).strip()
    if not equals or not key:
        near = _nearest(key, known)
        raise ConfigError(f"'{word}' sets nothing; write {near or 'key'}=VALUE")
    if prefix not in ("", "+", "++"):
        raise ConfigError(f"'{word}' would remove a setting; every setting is needed")
    if key in known.groups:
        _check_choice(key, value, known, sweep=sweep)
        return f"{'+' if key in known.optional_groups else prefix}{key}={value}"
    head, _, option = key.partition(".")
    if head == "variant" and option and option.split(".")[0] not in _VARIANT_FIELDS:
        return f"++{_OPTIONS}.{_nested(option)}={value}"
    if key.startswith(f"{_OPTIONS}."):
        return f"++{_OPTIONS}.{_nested(key.removeprefix(f'{_OPTIONS}.'))}={value}"
    if "/" in key or "@" in key:  # a group of hydra's own; hydra knows which there are
        return word
    if key not in known.keys:
        if any(key.startswith(f"{table}.") for table in known.open_tables):
            return f"++{key}={value}"
        near = _nearest(key, known)
        hint = f"; did you mean '{near}'?" if near else "; --help lists all settings"
        raise ConfigError(f"unknown setting '{key}'{hint}")
    if key in known.text_keys:
        if key in known.switch_keys:
            value = _SWITCHES.get(value.lower(), value)
        value = _as_text(value, sweep=sweep)
    # a known key exists, so + would fail and ++ means the same as nothing
    return f"{key}={value}"


def _nested(option: str) -> str:
    """Return a rule option as a path in a tree.

    `cascade` has `cascade.from_roll` under it and so cannot be a value itself: it becomes
    `cascade.kind`, and `VariantConfig` turns it back.
    """
    return f"{option}.kind" if option in _branches() else option


@cache
def _branches() -> frozenset[str]:
    """Return the rule options whose names begin those of others."""
    options = load_variant("long").options()
    return frozenset(o for o in options if any(name.startswith(f"{o}.") for name in options))


def _nearest(key: str, known: Vocabulary) -> str | None:
    """Return the setting or group whose name is most like `key`, or None if none is like it."""
    candidates = sorted(known.keys | set(known.groups))
    if not key.startswith("hydra"):
        candidates = [name for name in candidates if not name.startswith("hydra")]
    same_leaf = [name for name in candidates if name.rpartition(".")[2] == key.rpartition(".")[2]]
    if same_leaf:
        return min(same_leaf, key=lambda name: (-_likeness(key, name), name))
    by_leaf = {name.rpartition(".")[2]: name for name in reversed(candidates)}
    for pool in ({name: name for name in candidates}, by_leaf):
        if near := difflib.get_close_matches(key, pool, n=1, cutoff=0.6):
            return pool[near[0]]
    return None


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _check_choice(group: str, value: str, known: Vocabulary, *, sweep: bool) -> None:
    # globs and functions of hydra's grammar are left to hydra
    if any(sign in value for sign in "()*[]"):
        return
    for name in value.split(",") if sweep else [value]:
        bare = name.strip().strip("'\"")
        if bare not in known.groups[group]:
            near = difflib.get_close_matches(bare, known.groups[group], n=1, cutoff=0.5)
            hint = f" did you mean '{near[0]}'?" if near else ""
            names = ", ".join(known.groups[group])
            raise ConfigError(f"unknown {group} '{bare}';{hint} known: {names}")


def _as_text(value: str, *, sweep: bool) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    if quoted or value.lower() in ("true", "false"):
        return value
    if sweep and "," in value and not any(sign in value for sign in "()[]'\""):
        return ",".join(_as_text(part.strip(), sweep=False) for part in value.split(","))
    if sweep and value.endswith(")"):  # choice(...), glob(...)
        return value
    return QuotedString(value, Quote.single).with_quotes()


def _walk(node: DictConfig, prefix: str = "") -> tuple[set[str], set[str]]:
    keys: set[str] = set()
    tables: set[str] = set()
    for name in node:
        key = f"{prefix}{name!s}"
        keys.add(key)
        # an interpolation or ??? is a leaf here: nothing is resolved
        if OmegaConf.is_missing(node, name) or OmegaConf.is_interpolation(node, str(name)):
            continue
        child = node[name]
        if isinstance(child, DictConfig):
            if OmegaConf.get_type(child) is dict:
                tables.add(key)
            inner_keys, inner_tables = _walk(child, f"{key}.")
            keys |= inner_keys
            tables |= inner_tables
    return keys, tables


def _keys_of_type(schema: type, types: tuple[Any, ...], prefix: str = "") -> set[str]:
    keys: set[str] = set()
    for name, hint in get_type_hints(schema).items():
        if hint in types:
            keys.add(f"{prefix}{name}")
        elif isinstance(hint, type) and is_dataclass(hint):
            keys |= _keys_of_type(hint, types, f"{prefix}{name}.")
    return keys
