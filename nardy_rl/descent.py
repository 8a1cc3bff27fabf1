"""What the manifest of a network tells about those before it; without numpy, for quick listings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def games_by_rules(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the games that a network and those before it have learned from, by game.

    A network of another game or of other rules may have come first (`start_from`); `games` in the
    manifest is the sum.

    Args:
        manifest: Of `checkpoint.make_manifest`, with `training` as the trainer writes it.

    Returns:
        Numbers by the name of the game, its own first; "by other rules" stands behind the name
        where the rules are not those of the first network of that name.

    >>> games_by_rules({"variant": {"id": "karzar", "digest": "a"}, "games": 1100, "training": {
    ...     "start_from": {"variant": {"id": "long", "digest": "b"}, "games": 1000}}})
    {'karzar': 100, 'long': 1000}
    """
    found: dict[str, int] = {}
    digests: dict[str, str] = {}
    level: Mapping[str, Any] | None = manifest
    rules: Mapping[str, Any] = manifest["variant"]
    while level is not None:
        rules = level.get("variant", rules)  # not told by older ones, which were of the same rules
        before = level.get("training", {}).get("start_from")
        own = level["games"] - (before["games"] if before else 0)
        known = digests.setdefault(rules["id"], rules["digest"])
        name = rules["id"] if known == rules["digest"] else f"{rules['id']} by other rules"
        found[name] = found.get(name, 0) + own
        level = before
    return found


def of_other_rules(learned_from: Mapping[str, int]) -> str:
    """Return which of the games of `games_by_rules` were others: `, 1,000 of them of long`.

    >>> of_other_rules({"karzar": 100, "long": 1000}), of_other_rules({"long": 1000})
    (', 1,000 of them of long', '')
    """
    _, *others = learned_from.items()
    return "".join(f", {games:,} of them of {name}" for name, games in others)
