"""`nardy variants`: the games of the family, their rules in words, their options."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from enum import Enum
from typing import Any

from nardy_engine import Variant, load_variant, notation, variant_names
from nardy_engine.rules.components import Component, Direction
from nardy_engine.rules.summary import summary as rules_in_words
from nardy_rl.commands.parser import CommandParser, options_from
from nardy_rl.descent import games_by_rules, of_other_rules
from nardy_rl.resources import checkpoints_dir

WIDTH = 100
"""Columns that the text output keeps to."""

MANY = 5
"""Kinds of win that are no longer listed one by one."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy variants`."""
    parser = CommandParser(
        "variants",
        "Show the games of the family; with a name, everything about one of them.",
        [
            "nardy variants",
            "nardy variants mad_nardy",
            "nardy variants long --all",
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
    parser.add_argument(
        "--all",
        action="store_true",
        help="also list every rule option of the game and the values that it could have",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    arguments = parser.parse(argv)
    if arguments.name is None:
        if arguments.option or arguments.all:
            parser.error("--option and --all need the name of a game")
        games = [load_variant(name) for name in variant_names()]
        print(json.dumps([summary(game) for game in games]) if arguments.json else overview(games))
        return 0
    game = load_variant(arguments.name, options_from(arguments.option))
    print(json.dumps(details(game)) if arguments.json else description(game, arguments.all))
    return 0


def overview(games: Sequence[Variant]) -> str:
    """Return the table of all games as text."""
    titles = [("GAME", "TITLE", "RUSSIAN", "WINS COUNT", "NETWORK")]
    for game in games:
        worth = [points for _, points in game.win_kinds]
        points = "/".join(map(str, worth)) if len(worth) < MANY else f"{worth[0]} to {worth[-1]}"
        titles.append((game.id, game.title, game.russian, points, _network_cell(game)))
    width = max(len(game.id) for game in games) + 2
    special = []
    for game in games:
        changed = [f"{name}={_text(value)}" for name, value in _changes(game).items()]
        base = _base(game)
        text = f"like {base.id}, but {', '.join(changed)}" if changed else f"like {base.id}"
        if base.id == game.id:
            text = "the sides travel the same way" if base.id == "long" else "backgammon"
        special += textwrap.wrap(
            f"{game.id:<{width}}{text}",
            WIDTH,
            subsequent_indent=" " * width,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(
        [
            *aligned(titles),
            "",
            f"{'GAME':<{width}}RULES",
            *special,
            "",
            "'nardy variants GAME' tells the rules of one game and shows its start position.",
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


def description(game: Variant, every_option: bool = False) -> str:
    """Return a game as text: start, rules in words, options, network.

    Args:
        game: The game.
        every_option: List all options with their possible values, not only those that differ from
            long or short nardy.
    """
    wins = [f"{name} {points}" for name, points in game.win_kinds]
    worth = ", ".join(wins) if len(wins) < MANY else f"{wins[0]} to {wins[-1]}"
    options = _option_table(game) if every_option else _differences(game)
    return "\n".join(
        [
            f"{game.id}: {game.title} [{game.russian}]",
            "",
            notation.board_ascii(game, game.start_position()),
            "",
            "Rules (the codes are those of docs/rules.md):",
            *_rule_lines(game),
            "",
            f"a win counts: {worth}{', draw 0' if game.has_draw else ''}",
            *_network_lines(game),
            f"rules digest: {game.digest()}",
            "",
            *options,
            "",
            "Change a rule with --option NAME=VALUE, or variant.NAME=VALUE (every command).",
        ]
    )


def _rule_lines(game: Variant) -> list[str]:
    """Return the rules of the game, one sentence or two for each option, with rule numbers."""
    lines = []
    for clause in rules_in_words(game):
        codes = f" [{clause.rules}]" if clause.rules else ""
        lines += textwrap.wrap(
            f"- {clause.text}{codes}",
            WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    return lines


def _differences(game: Variant) -> list[str]:
    """Return the options in which the game is not like the game that it comes from."""
    base = _base(game)
    usual = base.options()
    rows = [(name, _text(value), _text(usual[name])) for name, value in _changes(game).items()]
    more = f"'nardy variants {game.id} --all' lists every option and its possible values."
    if not rows:
        return [f"Options as in {base.id}.", more]
    return [*aligned([("OPTION", "HERE", f"IN {base.id.upper()}"), *rows]), "", more]


def _base(game: Variant) -> Variant:
    """Return the game that this one comes from: long or short nardy."""
    return load_variant("long" if game.setup.direction is Direction.SAME else "short")


def _changes(game: Variant) -> dict[str, Any]:
    """Return the options in which the game is not like its base."""
    usual = _base(game).options()
    return {name: value for name, value in game.options().items() if value != usual[name]}


def _option_table(game: Variant) -> list[str]:
    """Return every option, its value and the values that it could have."""
    rows = [("OPTION", "VALUE", "POSSIBLE VALUES")]
    rows += [
        (name, _text(value), _text_allowed(allowed_values(game, name)))
        for name, value in game.options().items()
    ]
    indent = max(len(row[0]) for row in rows) + max(len(row[1]) for row in rows) + 4
    lines = []
    for line in aligned(rows):
        lines += textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
    return lines


def summary(game: Variant) -> dict[str, Any]:
    """Return what the overview says about a game, as plain data."""
    networks = shipped_networks(game)
    return {
        "id": game.id,
        "title": game.title,
        "russian": game.russian,
        "win_kinds": [{"name": name, "points": points} for name, points in game.win_kinds],
        "digest": game.digest(),
        "options": game.options(),
        "network": networks.pop(game.id, None),
        "other_networks": networks,
    }


def details(game: Variant) -> dict[str, Any]:
    """Return everything about one game as plain data."""
    return {
        **summary(game),
        "rules": [clause._asdict() for clause in rules_in_words(game)],
        "start": notation.format_position(game, game.start_position()),
        "possible": {name: allowed_values(game, name) for name in game.options()},
    }


def allowed_values(game: Variant, option: str) -> list[str] | str:
    """Return the values that `option` may have: a list, or words where there are too many."""
    table, _, field = option.partition(".")
    part = getattr(game, table)
    # An option with the name of a component is that component's `kind`.
    kind: Any = part.parsers()[field or "kind"] if isinstance(part, Component) else type(part)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [member.value for member in kind]
    if kind is bool:
        return ["true", "false"]
    words = {"numbers": "numbers such as {1,6}", "counts": "point = count, ..."}
    return words.get(kind, "a whole number") if isinstance(kind, str) else "a whole number"


def shipped_networks(game: Variant) -> dict[str, dict[str, Any]]:
    """Return what the networks that come with the package say about themselves, by name.

    The one that is used when none is named bears the name of the game and comes first. Read from
    the plain copies of the manifests: listing games must not load numba.
    """
    found = {}
    paths = checkpoints_dir().glob(f"{game.id}*.json")
    for path in sorted(paths, key=lambda path: (path.stem != game.id, path.stem)):
        manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if manifest["variant"]["digest"] == game.digest():  # else for other games, other options
            found[path.stem] = {
                key: manifest.get(key) for key in ("games", "budget", "net", "strength")
            } | {"learned_from": games_by_rules(manifest)}
    return found


def _network_cell(game: Variant) -> str:
    network = shipped_networks(game).get(game.id)
    return "-" if network is None else f"{network['games']:,} games"


def _network_lines(game: Variant) -> list[str]:
    """Return one line per network, each but the default one with its name."""
    networks = shipped_networks(game)
    if game.id not in networks:
        text = f"none comes with the package; 'nardy train variant={game.id}' makes one"
        return [f"network:      {text}"]
    lines = []
    for name, network in networks.items():
        hidden = "-".join(map(str, network["net"]["hidden"]))
        text = f"hidden layers {hidden}, {network['games']:,} games of self-play"
        text += of_other_rules(network["learned_from"])
        if name != game.id:
            text += f" (net:{name})"
        lines.append(f"network:      {text}")
        strength = network.get("strength") or {}
        lines += [f"  against {bot}: {_strength(result)}" for bot, result in strength.items()]
    return lines


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
        return "{" + " ".join(f"{point}:{count}" for point, count in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(str, value)) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text_allowed(values: list[str] | str) -> str:
    return values if isinstance(values, str) else ", ".join(values)
