"""Match results for people: plain text tables, each figure with its interval and its games."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nardy_engine.rules import Variant
from nardy_engine.rules.components import Score
from nardy_rl.metrics import Interval, MatchResult, Rating

_TEXT_COLUMNS = 2


def render_table(results: Sequence[MatchResult]) -> str:
    """Return one line per match, from the view of its bot A, under a header.

    Example::

        bot      against   points/game            won  gammon won  gammon lost  plies  games
        pubeval  random   +2.51 ± 0.03  99.7 % ± 0.2 %      91.8 %        0.0 %   57.1  4,000
    """
    big = big_win(results[0].variant)
    less_luck = any(result.luck is not None for result in results)
    columns = (
        "bot", "against", "points/game", *(["less luck"] if less_luck else []), "won",
        *([f"{big} won", f"{big} lost"] if big else []), "plies", "games",
    )  # fmt: skip
    rows = [columns, *(_row(result, less_luck, bool(big)) for result in results)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    lines = ["  ".join(_cells(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    lines.append(
        "points/game: average points of 'bot'; ± 95 % interval over pairs of games "
        "(same dice, seats exchanged)"
    )
    if less_luck:
        lines.append("less luck: the same, with the luck of the rolls taken off")
    lines.extend(_unfinished_notes(results))
    return "\n".join(lines)


def render_match(result: MatchResult) -> str:
    """Return everything about one match: the table, outcome counts, length, first-mover edge."""
    kinds = [name for name, _ in result.variant.win_kinds]
    counts, big = result.outcome_counts, big_win(result.variant)
    lines = [
        render_table([result]),
        "",
        *(
            f"{name} won {sum(counts[side].values()):,}: "
            + ", ".join(f"{counts[side][kind]:,} {kind}" for kind in kinds)
            for side, name in (("a", result.a), ("b", result.b))
        ),
        *([f"{big} or more: {_percent(result.mars_rate)} of the games"] if big else []),
        f"game length:  {result.length.mean:.1f} ± {_half(result.length, '.1f')} plies",
        f"moving first: {_points(result.first_mover_points)} points/game, "
        f"{_percent(result.first_mover_wins)} won",
        f"rules {result.variant.id} {result.variant.digest()}, seed {result.seed}, "
        f"games {result.games_digest}",
    ]
    return "\n".join(lines)


def big_win(variant: Variant) -> str:
    """Return the game's own word for a win above the smallest, "" where checkers are counted."""
    return "" if variant.score is Score.CHECKERS_LEFT else variant.win_kinds[1][0]


def render_ratings(ratings: Sequence[Rating]) -> str:
    """Return one line per bot of a round robin, best first."""
    width = max(len("bot"), *(len(rating.name) for rating in ratings))
    lines = [f"{'bot':<{width}}  Elo (mean 0)", f"{'-' * width}  ------------"]
    lines += [
        f"{rating.name:<{width}}  {rating.elo.mean:+.0f} ± {_half(rating.elo, '.0f')}"
        for rating in ratings
    ]
    return "\n".join(lines)


def _row(result: MatchResult, less_luck: bool, big: bool) -> tuple[str, ...]:
    adjusted = result.adjusted_points
    return (
        result.a,
        result.b,
        _points(result.points),
        *(["–" if adjusted is None else _points(adjusted)] if less_luck else []),
        _percent(result.win_rate),
        *([f"{result.mars_won.mean:.1%}", f"{result.mars_lost.mean:.1%}"] if big else []),
        f"{result.length.mean:.1f}",
        f"{result.games:,}",
    )


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if i < _TEXT_COLUMNS else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _points(value: Interval) -> str:
    return f"{value.mean:+.3f} ± {_half(value, '.3f')}"


def _percent(value: Interval) -> str:
    return f"{value.mean:.1%} ± {_half(value, '.1%')}"


def _half(value: Interval, form: str) -> str:
    """Return the half width; one pair alone has none."""
    return format(value.half, form) if math.isfinite(value.half) else "?"


def _unfinished_notes(results: Sequence[MatchResult]) -> list[str]:
    return [
        f"warning: {result.unfinished:,} of {result.games:,} games of {result.a} against "
        f"{result.b} were stopped after {result.ply_cap:,} plies; they count as games that "
        "nobody won"
        for result in results
        if result.unfinished
    ]
