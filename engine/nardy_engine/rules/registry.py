"""Finding games by name: one TOML file per game in `catalog/`; layer 2."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from nardy_engine.errors import VariantError
from nardy_engine.rules.variant import Variant, variant_from_options

_CATALOG = resources.files("nardy_engine.rules") / "catalog"


@cache
def variant_names() -> tuple[str, ...]:
    """Return the names of all games, the main ones first.

    >>> variant_names()[:2]
    ('long', 'short')
    """
    names = sorted(
        entry.name.removesuffix(".toml")
        for entry in _CATALOG.iterdir()
        if entry.name.endswith(".toml")
    )
    return tuple(sorted(names, key=lambda name: (name not in ("long", "short"), name)))


def load_variant(name: str, options: Mapping[str, Any] | None = None) -> Variant:
    """Return the game called `name`, with some rules changed if `options` says so.

    Args:
        name: One of `variant_names()`.
        options: Rule options by the names of rules.md 4.1, `{"block.check": "every_step"}`.

    Raises:
        VariantError: The game or an option is unknown; the message names the nearest one.

    >>> load_variant("long").setup.start
    ((24, 15),)
    """
    variant = _load(name)
    return variant.with_options(options) if options else variant


@cache
def _load(name: str) -> Variant:
    if name not in variant_names():
        near = difflib.get_close_matches(name, variant_names(), n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise VariantError(f"unknown variant '{name}'; {hint}known: {', '.join(variant_names())}")
    return parse_variant(name, (_CATALOG / f"{name}.toml").read_text("utf-8"))


@cache
def parent_name(name: str) -> str | None:
    """Return the game that the catalog file of `name` inherits from, or None.

    >>> parent_name("one_six")
    'kaftar'
    """
    parent = tomllib.loads((_CATALOG / f"{name}.toml").read_text("utf-8")).get("inherits")
    return None if parent is None else str(parent)


def parse_variant(name: str, text: str) -> Variant:
    """Build a variant from the text of a TOML file.

    A file may say `inherits = "other"` and then only what differs from that game.

    Raises:
        VariantError: The text is no TOML, or does not describe a game.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise VariantError(f"{name}.toml is not valid TOML: {error}") from None
    title, russian = table.pop("title", name), table.pop("russian", "")
    flat: dict[str, Any] = {}
    parent = table.pop("inherits", None)
    if parent is not None:
        flat.update(_load(parent).options())
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{field}": entry for field, entry in value.items()})
        else:
            flat[key] = value
    return variant_from_options(name, str(title), str(russian), flat)
