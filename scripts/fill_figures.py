"""Measure the published figures, and write them into the documents.

    python scripts/fill_figures.py                       # fill the documents from docs/figures/
    python scripts/fill_figures.py --check               # exit 1 if a document is out of date
    python scripts/fill_figures.py --measure bench       # run its commands again, then fill
    python scripts/fill_figures.py --measure strength    # the figures of a group
    python scripts/fill_figures.py --measure games       # every network, what is not measured yet
    python scripts/fill_figures.py --measure games kaftar --games 20000 --force
    python scripts/fill_figures.py --measure all --quick # few games: print, change nothing

`docs/figures/figures.toml` names every figure and the commands that give it; what they gave lies
beside it as `NAME.json`. The surveys of all games lie in `docs/figures/games/`, one file a game,
and fill several tables. In a document a figure stands between `<!-- figure:NAME -->` and
`<!-- /figure -->`; nobody writes there by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nardy_engine import load_variant, variant_names
from nardy_engine.errors import NardyError
from nardy_rl.bench import tables
from nardy_rl.bench.peers import render_peers
from nardy_rl.bench.survey import survey
from nardy_rl.bench.tables import table, with_interval
from nardy_rl.cores import usable_cores
from nardy_rl.descent import games_by_rules, of_other_rules
from nardy_rl.files import write_atomic
from nardy_rl.report import big_win
from nardy_rl.version import code_commit

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path("docs/figures")
DOCUMENTS = ("README.md", "checkpoints/README.md", "ARCHITECTURE.md", "DECISIONS.md")
SURVEYS = FIGURES / "games"
NETWORKS = "networks"
"""Name of the figure that comes from the manifests in checkpoints/, not from commands."""
GAMES = "games"
"""What to measure for the tables of all games; the names of some games may follow."""

_BLOCK = re.compile(r"(<!-- figure:([\w-]+) -->\n).*?(<!-- /figure -->)", re.DOTALL)
_MISSING = "_Not measured yet._"
_QUICK_GAMES = 200
_QUICK = (
    (r"\bgames=\d+", "games=1000"),
    (r"--pairs \d+", "--pairs 100"),
    (r"^(nardy train .*)$", r"\1 budget=20s eval=quick"),
    (r"^(nardy bench .*|python scripts/(?:bench|strength).py .*)$", r"\1 --quick"),
)
"""What is changed in a command to see in a minute or so whether it works and about what it says."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what was asked for and fill the documents; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--measure", metavar="NAME", nargs="+", default=[],
        help="figures, groups, or all, or games and perhaps the names of some games",
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--quick", action="store_true", help="few games; print, change nothing")
    parser.add_argument(
        "--games", type=int, default=4000, metavar="N",
        help="with --measure games: games of each match (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true", help="with --measure games: also what is measured already"
    )
    arguments = parser.parse_args(argv)
    if arguments.quick and not arguments.measure:
        parser.error("--quick needs --measure")
    if arguments.check and arguments.measure:
        parser.error("--check changes nothing, and --measure writes what it measures")
    try:
        measure_figures(arguments)
        changed = [] if arguments.quick else fill_documents(ROOT, write=not arguments.check)
    except NardyError as error:
        print(f"fill_figures: error: {error}", file=sys.stderr)
        return 2
    for path in changed:
        print(f"{path} {'is out of date' if arguments.check else 'filled'}")
    return int(arguments.check and bool(changed))


def measure_figures(arguments: argparse.Namespace) -> None:
    """Measure what the command line names, one figure after the other, and keep each at once.

    Raises:
        NardyError: There is no such figure or game, or a command fails.
    """
    plans = read_plans(ROOT)
    names = list(arguments.measure)
    if names == ["all"]:
        names = [*plans, GAMES]
    at = names.index(GAMES) if GAMES in names else len(names)
    names, games = names[:at], names[at:]
    names = [figure for name in names for figure in _figures_of(name, plans)]
    for name in names:
        if name not in plans:
            raise NardyError(f"no figure is called '{name}'; there are {', '.join(plans)}, {GAMES}")
    chosen = [load_variant(name).id for name in games[1:]] or [*variant_names()] if games else []
    for name in names:
        if arguments.quick:
            print(f"{name}\n\n{render_figure(measure(quick(plans[name])))}\n", flush=True)
        else:
            write_json(ROOT / FIGURES / f"{name}.json", measure(plans[name]))
    if arguments.quick:
        measured = {name: measure_game(ROOT, name, _QUICK_GAMES) for name in networks(ROOT, chosen)}
        if measured:
            print("\n\n".join(render(measured, list(measured)) for render in TABLES.values()))
        return
    for name in chosen:
        if reason := not_wanted(ROOT, name, arguments.games, arguments.force):
            print(f"{name}: {reason}", file=sys.stderr, flush=True)
            continue
        (ROOT / SURVEYS).mkdir(exist_ok=True)
        result = measure_game(ROOT, name, arguments.games)
        write_json(ROOT / SURVEYS / f"{name}.json", result)


def _figures_of(name: str, plans: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the figures of a group, or the name itself if there is no such group."""
    return [figure for figure, plan in plans.items() if plan.get("group") == name] or [name]


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON for people to read."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    write_atomic(path, text.encode())


def read_plans(root: Path) -> dict[str, dict[str, Any]]:
    """Return what `figures.toml` says: per figure `commands` and how to `show` them."""
    return tomllib.loads((root / FIGURES / "figures.toml").read_text("utf-8"))


def quick(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan of a figure with commands that take a minute instead of many."""
    commands = list(plan["commands"])
    for pattern, replacement in _QUICK:
        commands = [re.sub(pattern, replacement, command) for command in commands]
    return {**plan, "commands": commands}


def measure(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Run the commands of a figure and return all that is needed to render it.

    `{json}` in a command stands for a file that the command writes; without it, what the
    command prints is the figure.

    Raises:
        NardyError: A command fails.
    """
    results: list[Any] = []
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in plan["commands"]:
        print(f"$ {command}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "figure.json"
            words = shlex.split(command.replace("{json}", str(target)))
            if "|" in words:  # two programs
                words = ["bash", "-c", command]
            # Progress bars are part of what a command shows, but not of JSON.
            errors = subprocess.STDOUT if plan["show"] == "output" else None
            done = subprocess.run(
                words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, check=False
            )
            if done.returncode:
                raise NardyError(f"'{command}' ended with code {done.returncode}")
            printed = as_shown(done.stdout.decode())
            results.append(json.loads(target.read_text()) if target.exists() else printed)
    return {
        "commands": list(plan["commands"]),
        "show": plan["show"],
        **circumstances(),
        "weights_sha256": shipped_weights(results),
        "results": results,
    }


def shipped_weights(results: Sequence[Any]) -> dict[str, str]:
    """Return the check sum of the weights of each shipped network that results name."""
    named = sorted(set(re.findall(r"\bnet:([\w-]+)", json.dumps(results))))
    paths = {name: ROOT / "checkpoints" / f"{name}.json" for name in named}
    return {
        name: json.loads(path.read_text("utf-8"))["weights_sha256"]
        for name, path in paths.items()
        if path.exists()
    }


def circumstances() -> dict[str, str]:
    """Return which code measures when and where."""
    return {
        "commit": code_commit("checkpoints"),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{processor()}, {usable_cores()} cores, Python {platform.python_version()}",
    }


def as_shown(text: str) -> str:
    """Return output as a terminal shows it in the end: bars overwrite their earlier states."""
    return "\n".join(line.rstrip().rpartition("\r")[2] for line in text.split("\n"))


def processor() -> str:
    """Return the name of the processor as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = re.findall(r"model name\s*:\s*(.+)", text)
    return names[0].strip() if names else platform.machine()


# -- surveys of all games -------------------------------------------------------------------------


def networks(root: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the check sum of the weights of each game that has a network for its rules."""
    found = {}
    for name in names:
        path = root / "checkpoints" / f"{name}.json"
        if path.exists():
            manifest = json.loads(path.read_text("utf-8"))
            if manifest["variant"]["digest"] == load_variant(name).digest():
                found[name] = manifest["weights_sha256"]
    return found


def surveys(root: Path) -> dict[str, dict[str, Any]]:
    """Return the survey of each game whose network is the one that was measured."""
    weights = networks(root, variant_names())
    found = {}
    for path in sorted((root / SURVEYS).glob("*.json")):
        result = json.loads(path.read_text("utf-8"))
        if result["weights_sha256"] == weights.get(result["game"]):
            found[result["game"]] = result
    return found


def not_wanted(root: Path, name: str, games: int, force: bool) -> str:
    """Return why a game is not to be measured, "" if it is."""
    if not networks(root, [name]):
        return "there is no network"
    before = surveys(root).get(name)
    if before is None or force or before["games"] < games or "search" not in before:
        return ""
    return f"measured already, with {before['games']:,} games a match"


def measure_game(root: Path, name: str, games: int) -> dict[str, Any]:
    """Return the survey of a game and what it depends on."""
    variant = load_variant(name)
    source = root / "checkpoints" / f"{name}.safetensors"

    def report(pairing: str) -> None:
        print(f"{name}: {pairing}", file=sys.stderr, flush=True)

    return {
        "game": name,
        "rules": variant.digest(),
        "weights_sha256": networks(root, [name])[name],
        "games": games,
        **circumstances(),
        **survey(variant, source, games, usable_cores(), report),
    }


# -- documents ------------------------------------------------------------------------------------


def fill_documents(root: Path, *, write: bool) -> list[str]:
    """Put every figure into its blocks; return the documents that changed or would change."""
    changed = []
    for name in DOCUMENTS:
        path = root / name
        if not path.exists():
            continue
        before = path.read_text("utf-8")
        after = _BLOCK.sub(lambda block: f"{block[1]}{render(root, block[2])}\n{block[3]}", before)
        if after != before:
            changed.append(name)
            if write:
                write_atomic(path, after.encode())
    return changed


def render(root: Path, name: str) -> str:
    """Return a figure by its name as Markdown."""
    if name == NETWORKS:
        return render_networks(root / "checkpoints")
    if name in TABLES:
        return TABLES[name](surveys(root), list(networks(root, variant_names())))
    path = root / FIGURES / f"{name}.json"
    if not path.exists():
        return _MISSING
    return render_figure(json.loads(path.read_text("utf-8")))


def render_figure(figure: Mapping[str, Any]) -> str:
    """Return what `measure` returned as Markdown, with the commands."""
    if figure["show"] == "output":
        return render_output(figure["commands"], figure["results"])
    body = RENDERERS[figure["show"]](figure["results"])
    commands = "\n".join(command.replace("{json}", "FILE") for command in figure["commands"])
    at = f" at {figure['commit']}" if figure["commit"] else ""
    told = f"Measured {figure['date']}{at} on {figure['machine']} with"
    return f"{body}\n\n{told}\n\n```\n{commands}\n```"


def _matches(results: Sequence[Any]) -> list[dict[str, Any]]:
    return [match for result in results for match in result["matches"]]


def _big_win(results: Sequence[Any]) -> str:
    """Return the word of the game for a win above the smallest, "" where checkers are counted."""
    return big_win(load_variant(_matches(results)[0]["variant"]["id"]))


def render_strength(results: Sequence[Any]) -> str:
    """Return one row per match from the view of its first bot."""
    big, matches = _big_win(results), _matches(results)
    less_luck = any("adjusted_points" in match for match in matches)
    header = (
        "bot", "against", "points/game", *(["less luck"] if less_luck else []), "won",
        *([f"{big} won", f"{big} lost"] if big else []), "games",
    )  # fmt: skip
    rows = [
        (
            match["a"],
            match["b"],
            with_interval(match["points"], "{:+.3f}"),
            *([_less_luck(match)] if less_luck else []),
            with_interval(match["win_rate"], "{:.1%}"),
            *([f"{match[side]['mean']:.1%}" for side in ("mars_won", "mars_lost")] if big else []),
            f"{match['games']:,}",
        )
        for match in matches
    ]
    return table(header, rows)


def _less_luck(match: Mapping[str, Any]) -> str:
    found = match.get("adjusted_points")
    return with_interval(found, "{:+.3f}") if found else tables.NOTHING


def render_game(results: Sequence[Any]) -> str:
    """Return what the games are like, whoever won them."""
    big = _big_win(results)
    header = (
        "between", *([f"{big} or more"] if big else []), "plies", "first mover, points",
        "first mover wins", "games",
    )  # fmt: skip
    rows = [
        (
            f"{match['a']} and {match['b']}",
            *([with_interval(match["mars_rate"], "{:.2%}")] if big else []),
            with_interval(match["length"], "{:.2f}"),
            with_interval(match["first_mover_points"], "{:+.3f}"),
            with_interval(match["first_mover_wins"], "{:.2%}"),
            f"{match['games']:,}",
        )
        for match in _matches(results)
    ]
    return table(header, rows)


def render_speed(results: Sequence[Any]) -> str:
    """Return the medians of `nardy bench --json` and its training runs."""
    rows = []
    for result in results:
        document = json.loads(result) if isinstance(result, str) else result
        rows += [(f["name"], f"{f['median']:,.4g}", f["unit"]) for f in document["figures"]]
        rows += [
            (
                f"{run['variant']}: training, net={run['net']}",
                f"{run['games_per_s']:,.0f}",
                "games/s",
            )
            for run in document["training"]
        ]
    return table(("measurement", "median", "unit"), rows)


def render_game_speeds(results: Sequence[Any]) -> str:
    """Return the table of `nardy bench --games --json`."""
    document = json.loads(results[0])
    return tables.render_game_speeds(document["games"], document["goal"])


def render_output(commands: Sequence[str], results: Sequence[Any]) -> str:
    """Return commands and what they printed, as it was."""
    parts = zip(commands, results, strict=True)
    return "\n\n".join(f"```\n$ {command}\n{str(out).strip()}\n```" for command, out in parts)


def render_networks(folder: Path) -> str:
    """Return the networks of each game by what their manifests say, the default one first."""
    manifests = {
        path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))
    }
    rows = []
    for game in variant_names():
        if game not in manifests:
            rows.append((f"`{game}`", "none", *[""] * 5))
            continue
        ours = [name for name in manifests if manifests[name]["variant"]["id"] == game]
        ours.sort(key=lambda name: (name != game, name))
        rows += [_network_row(folder, name, manifests[name]) for name in ours]
    header = ("network", "hidden units", "encoder", "games", "training", "size", "rules")
    return table(header, rows)


def _network_row(folder: Path, name: str, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    size = (folder / f"{name}.safetensors").stat().st_size
    others = of_other_rules(games_by_rules(manifest)).removeprefix(", ")
    return (
        f"`{name}`",
        "-".join(str(n) for n in manifest["net"]["hidden"]),
        f"{manifest['encoder']['id']}-{manifest['encoder']['version']}",
        f"{manifest['games']:,}" + (f" ({others})" if others else ""),
        f"{_training_seconds(manifest) / 60:.0f} min",
        f"{size / 1000:,.0f} kB",
        f"`{manifest['variant']['digest']}`",
    )


def _training_seconds(manifest: Mapping[str, Any]) -> float:
    """Return the time of training of a network and of those that it started from."""
    training = manifest["training"]
    before = training.get("start_from")
    return float(training["seconds"]) + (_training_seconds(before) if before else 0.0)


RENDERERS: dict[str, Callable[[Sequence[Any]], str]] = {
    "strength": render_strength,
    "game": render_game,
    "speed": render_speed,
    "game-speeds": render_game_speeds,
    "peers": lambda results: render_peers(results[0]),
    "openings": tables.render_openings,
    "loss": tables.render_loss,
    "ladder": tables.render_ladder,
}
"""How a figure is shown, by the name in `figures.toml`; "output" is shown as it was printed."""

TABLES = {
    "strength-all": tables.render_strength,
    "strength-games": tables.render_strength_brief,
    "games-all": tables.render_games,
    "search-all": tables.render_search,
}
"""The tables of all games, by the name in the documents; from `SURVEYS` and checkpoints/."""


if __name__ == "__main__":
    sys.exit(main())
