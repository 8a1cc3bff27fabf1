"""Surveys and speeds of all games as Markdown; see `survey` and `games` for what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nardy_engine import Variant, load_variant, variant_names
from nardy_rl.report import big_win

Survey = Mapping[str, Any]
"""What `survey.survey` returned, with `game` and where and when it was measured."""

NO_NETWORK = "no network"
UNMEASURED = "not measured yet"
NOTHING = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, the first column left, the others right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_interval(figure: Mapping[str, float | None], template: str) -> str:
    """Return a mean and the half width of its interval, the mean alone where there is none."""
    if figure["high"] is None or figure["low"] is None:
        return template.format(figure["mean"])
    half = (figure["high"] - figure["low"]) / 2
    return f"{template.format(figure['mean'])} ± {template.replace('+', '').format(half)}"


def swing(match: Mapping[str, Any], variant: Variant) -> float:
    """Return the standard deviation of the points of a game, of one side of a match."""
    worth = dict(variant.win_kinds)
    sides = [
        (sign * worth[kind], count)
        for sign, side in ((1, "a"), (-1, "b"))
        for kind, count in match["outcomes"][side].items()
    ]
    games = match["games"]
    mean = sum(points * count for points, count in sides) / games
    # Draws and unfinished games are worth 0 and stand in no list.
    square = sum(points**2 * count for points, count in sides) / games
    return float((square - mean**2) ** 0.5)


def render_strength(surveys: Mapping[str, Survey], networks: Sequence[str]) -> str:
    """Return one row per game and bot, from the view of the game's network."""
    header = ("game", "against", "points/game", "won", "mars won", "mars lost", "games")
    rows: list[tuple[str, ...]] = []
    for name in variant_names():
        game = f"`{name}`"
        if name not in surveys:
            rows.append((game, _missing(name, networks), *[""] * 5))
            continue
        has_mars = bool(big_win(load_variant(name)))
        for match in surveys[name]["strength"]:
            rows.append(
                (
                    game,
                    match["b"],
                    with_interval(match["points"], "{:+.3f}"),
                    with_interval(match["win_rate"], "{:.1%}"),
                    with_interval(match["mars_won"], "{:.1%}") if has_mars else NOTHING,
                    with_interval(match["mars_lost"], "{:.1%}") if has_mars else NOTHING,
                    f"{match['games']:,}",
                )
            )
            game = ""
    return table(header, rows) + _told(surveys)


def render_strength_brief(surveys: Mapping[str, Survey], networks: Sequence[str]) -> str:
    """Return one row per game: the network's points against the kinds of bots."""
    header = ("game", "positional bot", "won", "race", "random")
    rows: list[tuple[str, ...]] = []
    for name in variant_names():
        if name not in surveys:
            rows.append((f"`{name}`", _missing(name, networks), "", "", ""))
            continue
        matches = {match["b"].partition("-")[0]: match for match in surveys[name]["strength"]}
        best = matches.get("positional")
        points = [
            with_interval(matches[bot]["points"], "{:+.2f}") if bot in matches else NOTHING
            for bot in ("positional", "race", "random")
        ]
        won = with_interval(best["win_rate"], "{:.1%}") if best else NOTHING
        rows.append((f"`{name}`", points[0], won, *points[1:]))
    return table(header, rows) + _told(surveys)


def render_games(surveys: Mapping[str, Survey], networks: Sequence[str]) -> str:
    """Return one row per game: what it is like when the network plays itself."""
    header = (
        "game", "decisions", "choices", "most", "bigger wins", "swing", "first mover wins",
        "first mover, points", "luck",
    )  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for name in variant_names():
        if name not in surveys:
            rows.append((f"`{name}`", _missing(name, networks), *[""] * (len(header) - 2)))
            continue
        survey, variant = surveys[name], load_variant(name)
        itself, word = survey["itself"], big_win(variant)
        rows.append(
            (
                f"`{name}`",
                with_interval(itself["length"], "{:.1f}"),
                f"{survey['choices']['mean']:.1f}",
                f"{survey['choices']['most']:,}",
                f"{word} {with_interval(itself['mars_rate'], '{:.1%}')}" if word else NOTHING,
                f"{swing(itself, variant):.2f}",
                with_interval(itself["first_mover_wins"], "{:.1%}"),
                with_interval(itself["first_mover_points"], "{:+.3f}"),
                with_interval(survey["handicap"]["win_rate"], "{:.1%}"),
            )
        )
    return table(header, rows) + _told(surveys)


def render_search(surveys: Mapping[str, Survey], networks: Sequence[str]) -> str:
    """Return one row per game: what the network gains by looking ahead, luck taken off."""
    measured = {name: survey for name, survey in surveys.items() if "search" in survey}
    columns = ("1 ply", "games", "2 plies", "games")
    rows: list[tuple[str, ...]] = []
    for name in variant_names():
        if name not in measured:
            rows.append((f"`{name}`", _missing(name, networks), *[""] * (len(columns) - 1)))
            continue
        cells = [
            (with_interval(match["adjusted_points"], "{:+.3f}"), f"{match['games']:,}")
            for match in measured[name]["search"]
        ]
        rows.append((f"`{name}`", *(cell for pair in cells for cell in pair)))
    return table(("game", *columns), rows) + _told(measured)


def render_game_speeds(speeds: Sequence[Mapping[str, Any]], goal: float) -> str:
    """Return what `nardy bench --games --json` measured, and which games miss the goal."""
    header = (
        "game", "decisions/s", "afterstates/s", "to long", "plays", "most plays", "most nodes",
        "slowest decision", "decisions/game",
    )  # fmt: skip
    rows = [
        (
            f"`{speed['variant']}`",
            f"{speed['decisions_per_s']['median']:,.4g}",
            f"{speed['afterstates_per_s']['median']:,.4g}",
            f"{speed['to_long']:.2f}",
            f"{speed['plays']['mean']:.1f}",
            f"{speed['plays']['most']:,}",
            f"{speed['nodes']['most']:,} of {speed['nodes']['room']:,}",
            f"{speed['slowest_ms']:.2f} ms",
            with_interval(speed["decisions_per_game"], "{:.1f}"),
        )
        for speed in speeds
    ]
    slow = [f"`{speed['variant']}`" for speed in speeds if speed["to_long"] < goal]
    reached = f"missed by {', '.join(slow)}" if slow else "reached by all"
    return f"{table(header, rows)}\n\nGoal: at least {goal:g} in the column *to long*; {reached}."


def render_openings(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the opening plays of each bot that a judge has looked at, and their summed loss."""
    blocks = []
    for result in results:
        rows = [
            (
                play["roll"],
                play["play"],
                f"{1000 * play['loss']:.1f}",
                "" if play["loss"] == 0 else play["best"],
            )
            for play in result["openings"]
        ]
        total = sum(play["loss"] for play in result["openings"])
        header = ("roll", result["bot"], "loss, thousandths", "better")
        blocks.append(
            f"{table(header, rows)}\n\nLoss of {result['bot']}, all {len(rows)} rolls summed, by "
            f"{result['judge']}: {total:.3f} points."
        )
    return "\n\n".join(blocks)


def render_loss(results: Sequence[Mapping[str, Any]]) -> str:
    """Return one row per bot: what its decisions lose by a judge."""
    limits = list(results[0]["over"])
    header = (
        "bot", "judge", "loss per decision, thousandths", "no loss",
        *(f"over {limit}" for limit in limits), "decisions", "games",
    )  # fmt: skip
    rows = []
    for result in results:
        thousandths = {name: 1000 * value for name, value in result["loss"].items()}
        rows.append(
            (
                result["bot"],
                result["judge"],
                with_interval(thousandths, "{:.2f}"),
                f"{result['no_loss']:.1%}",
                *(f"{result['over'][limit]:.1%}" for limit in limits),
                f"{result['decisions']:,}",
                f"{result['games']:,}",
            )
        )
    return table(header, rows)


def render_ladder(results: Sequence[Mapping[str, Any]]) -> str:
    """Return one row per bot of a round robin, best first, with its match against the next.

    Luck is taken off where it was measured.
    """
    header = ("bot", "Elo", "against the next: points/game", "won", "games")
    (result,) = results
    matches = {(match["a"], match["b"]): match for match in result["matches"]}
    names = [rating["name"] for rating in result["ratings"]]
    rows = []
    for i, rating in enumerate(result["ratings"]):
        elo = with_interval(rating["elo"], "{:+.0f}")
        if i + 1 == len(names):
            rows.append((rating["name"], elo, NOTHING, NOTHING, ""))
            continue
        match = matches.get((names[i], names[i + 1]))
        sign = 1 if match else -1
        match = match or matches[names[i + 1], names[i]]
        judged = "adjusted_" if "adjusted_points" in match else ""
        points = {name: sign * value for name, value in match[f"{judged}points"].items()}
        won = {
            name: value if match["a"] == names[i] else 1 - value
            for name, value in match[f"{judged}win_rate"].items()
        }
        ends = [sorted((figure["low"], figure["high"])) for figure in (points, won)]
        for figure, (low, high) in zip((points, won), ends, strict=True):
            figure["low"], figure["high"] = low, high
        rows.append(
            (
                rating["name"],
                elo,
                with_interval(points, "{:+.3f}"),
                with_interval(won, "{:.1%}"),
                f"{match['games']:,}",
            )
        )
    less_luck = any("adjusted_points" in match for match in result["matches"])
    note = " Where a bot searches, the luck of the rolls is taken off." if less_luck else ""
    return f"{table(header, rows)}\n\nElo by games won, the mean of all bots is 0.{note}"


def _missing(name: str, networks: Sequence[str]) -> str:
    return UNMEASURED if name in networks else NO_NETWORK


def _told(surveys: Mapping[str, Survey]) -> str:
    """Return when, where and with what the surveys were measured."""
    if not surveys:
        return ""
    dates = sorted({survey["date"] for survey in surveys.values()})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    commits = ", ".join(dict.fromkeys(s["commit"] for s in surveys.values() if s["commit"]))
    machines = ", ".join(dict.fromkeys(survey["machine"] for survey in surveys.values()))
    at = f" at {commits}" if commits else ""
    command = "python scripts/fill_figures.py --measure games"
    return (
        f"{_unfinished(surveys)}\n\nMeasured {days}{at} on {machines} with\n\n```\n{command}\n```"
    )


def _unfinished(surveys: Mapping[str, Survey]) -> str:
    """Return which games have matches with games that were given up; they count as no win."""
    shares = []
    for name, survey in surveys.items():
        matches = [*survey["strength"], survey["itself"], survey["handicap"]]
        given_up = sum(match["unfinished"] for match in matches)
        if given_up:
            games = sum(match["games"] for match in matches)
            shares.append(f"{given_up:,} of {games:,} games of `{name}`")
    if not shares:
        return ""
    cap = max(survey["itself"]["ply_cap"] for survey in surveys.values())
    return f"\n\nGiven up after {cap:,} decisions, without points: {', '.join(shares)}."
