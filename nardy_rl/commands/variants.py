"""`nardy variants`: the games of the family, their rule options, what those could be."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from enum import Enum
from typing import Any

from nardy_engine import Variant, load_variant, notation, variant_names
from nardy_engine.rules.components import Component
from nardy_rl.commands.parser import CommandParser, options_from
from nardy_rl.resources import checkpoints_dir

WIDTH = 100
"""Columns that the text output keeps to."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy variants`."""
    parser = CommandParser(
        "variants",
        "Show the games of the family; with a name, everything about one of them.",
        [
            "nardy variants",
            "nardy variants long",
            "nardy variants long --option block.check=every_step",
            "nardy variants short --json",
        ],
    )
    parser.add_argument("name", nargs="?", metavar="GAME", help="show this game in full")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="show the game with this rule changed; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    arguments = parser.parse(argv)
    if arguments.name is None:
        if arguments.option:
            parser.error("--option needs the name of a game")
        games = [load_variant(name) for name in variant_names()]
        print(json.dumps([summary(game) for game in games]) if arguments.json else overview(games))
        return 0
    game = load_variant(arguments.name, options_from(arguments.option))
    print(json.dumps(details(game)) if arguments.json else description(game))
    return 0


def overview(games: Sequence[Variant]) -> str:
    """Return the table of all games as text."""
    titles = [("GAME", "TITLE", "RUSSIAN", "WINS COUNT", "NETWORK")]
    rules = [("GAME", "CHECKERS", "ROUTES", "OPENING", "HEAD", "BLOCK", "CONTACT")]
    for game in games:
        points = "/".join(str(points) for _, points in game.win_kinds)
        titles.append((game.id, game.title, game.russian, points, _network_cell(game)))
        block = game.block.rule.value
        if block != "none":
            block += f", {game.block.check.value}"
        head = game.head.limit.value
        if game.head.exception.value != "none":
            head += f", {game.head.exception.value}"
        rules.append(
            (
                game.id,
                str(game.setup.checkers),
                game.setup.direction.value,
                game.opening.value,
                head,
                block,
                game.contact.value,
            )
        )
    return "\n".join(
        [
            *aligned(titles),
            "",
            *aligned(rules),
            "",
            "'nardy variants GAME' shows the start position, every rule option and its values.",
        ]
    )


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return the rows as lines whose columns start at the same place.

    Args:
        rows: Cells, the same number in each row.
        right: Columns whose cells end at the same place instead.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def description(game: Variant) -> str:
    """Return everything about one game as text."""
    wins = ", ".join(f"{name} {points}" for name, points in game.win_kinds)
    rows = [("OPTION", "VALUE", "POSSIBLE VALUES")]
    rows += [
        (name, _text(value), _text_allowed(allowed_values(game, name)))
        for name, value in game.options().items()
    ]
    indent = max(len(row[0]) for row in rows) + max(len(row[1]) for row in rows) + 4
    lines = []
    for line in aligned(rows):
        wrapped = textwrap.wrap(
            line,
            WIDTH,
            subsequent_indent=" " * indent,
            drop_whitespace=True,
            break_on_hyphens=False,
        )
        lines += wrapped
    return "\n".join(
        [
            f"{game.id}: {game.title} [{game.russian}]",
            "",
            notation.board_ascii(game, game.start_position()),
            "",
            f"a win counts: {wins}",
            f"network:      {_network_line(game)}",
            *_strength_lines(game),
            f"rules digest: {game.digest()}",
            "",
            *lines,
            "",
            "Change a rule with --option NAME=VALUE (moves, play, evaluate, variants).",
        ]
    )


def summary(game: Variant) -> dict[str, Any]:
    """Return what the overview says about a game, as plain data."""
    return {
        "id": game.id,
        "title": game.title,
        "russian": game.russian,
        "win_kinds": [{"name": name, "points": points} for name, points in game.win_kinds],
        "digest": game.digest(),
        "options": game.options(),
        "network": shipped_network(game),
    }


def details(game: Variant) -> dict[str, Any]:
    """Return everything about one game as plain data."""
    return {
        **summary(game),
        "start": notation.format_position(game, game.start_position()),
        "possible": {name: allowed_values(game, name) for name in game.options()},
    }


def allowed_values(game: Variant, option: str) -> list[str] | str:
    """Return the values that `option` may have: a list, or words where there are too many."""
    table, dot, field = option.partition(".")
    part = getattr(game, table)
    kind: Any = type(part)
    if dot and isinstance(part, Component):
        kind = part.parsers()[field]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [member.value for member in kind]
    if kind is bool:
        return ["true", "false"]
    words = {"numbers": "numbers such as {1,6}", "counts": "point = count, ..."}
    return words.get(kind, "a whole number") if isinstance(kind, str) else "a whole number"


def shipped_network(game: Variant) -> dict[str, Any] | None:
    """Return what the network that comes with the package says about itself, or None.

    Read from the plain copy of its manifest: listing games must not load numba.
    """
    path = checkpoints_dir() / f"{game.id}.json"
    if not path.is_file():
        return None
    manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    if manifest["variant"]["digest"] != game.digest():
        return None  # trained for other rule options than those shown
    return {key: manifest.get(key) for key in ("games", "budget", "net", "strength")}


def _network_cell(game: Variant) -> str:
    network = shipped_network(game)
    return "-" if network is None else f"{network['games']:,} games"


def _network_line(game: Variant) -> str:
    network = shipped_network(game)
    if network is None:
        return f"none comes with the package; 'nardy train variant={game.id}' makes one"
    hidden = "-".join(map(str, network["net"]["hidden"]))
    return f"hidden layers {hidden}, {network['games']:,} games of self-play"


def _strength_lines(game: Variant) -> list[str]:
    """Return one line per measured opponent of the shipped network."""
    network = shipped_network(game)
    strength = (network or {}).get("strength") or {}
    return [f"  against {name}: {_strength(result)}" for name, result in strength.items()]


def _strength(result: dict[str, Any]) -> str:
    """Return a match of the manifest (`MatchResult.to_json`) in one line, the network first."""
    points = result["points"]
    half = (points["high"] - points["low"]) / 2
    return (
        f"{points['mean']:+.3f} ± {half:.3f} points/game, {result['win_rate']['mean']:.1%} won, "
        f"{result['games']:,} games"
    )


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{point}:{count}" for point, count in value.items())
    if isinstance(value, list):
        return "{" + ",".join(map(str, value)) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text_allowed(values: list[str] | str) -> str:
    return values if isinstance(values, str) else ", ".join(values)
