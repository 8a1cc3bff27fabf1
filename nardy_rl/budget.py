"""How long a training run may last: a time or a number of games; layer 0 of nardy_rl."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nardy_engine.errors import NardyError

__all__ = ["Budget", "BudgetError", "parse_budget"]

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_TIME = re.compile(r"(?=\d)(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s)?")
_GAMES = re.compile(r"(\d+(?:\.\d+)?)([km]?)games?")
_MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}
_LONGEST_S = 10 * 365 * 24 * 3600.0
_MOST_GAMES = 10**12
_EXAMPLES = "a time such as 90s, 10m, 1h30m or a number of games such as 50000games, 50kgames"


class BudgetError(NardyError):
    """The text is not a budget; the message says what one looks like."""


@dataclass(frozen=True)
class Budget:
    """A limit on a run; exactly one of the two fields is set."""

    seconds: float | None = None
    """Wall-clock time."""
    games: int | None = None
    """Finished games of self-play."""

    def __post_init__(self) -> None:
        """Refuse a budget of both kinds or of neither.

        Raises:
            BudgetError: Not exactly one field is set, or it is not positive.
        """
        if (self.seconds is None) == (self.games is None):
            raise BudgetError("a budget is either a time or a number of games")
        if (self.seconds or self.games or 0) <= 0:
            raise BudgetError("a budget must be more than nothing")

    def fraction(self, seconds: float, games: int) -> float:
        """Return the share of the budget that is used up, from 0 to 1.

        Args:
            seconds: Time used so far.
            games: Games finished so far.
        """
        used = games / self.games if self.games is not None else seconds / (self.seconds or 1.0)
        return min(1.0, max(0.0, used))

    def __str__(self) -> str:
        if self.games is not None:
            return f"{self.games}games"
        seconds = self.seconds or 0.0
        parts = []
        for unit in ("h", "m"):
            whole = int(seconds // _SECONDS[unit])
            if whole:
                parts.append(f"{whole}{unit}")
            seconds -= whole * _SECONDS[unit]
        if seconds or not parts:
            parts.append(f"{seconds:.15g}s")
        return "".join(parts)


def parse_budget(text: str) -> Budget:
    """Read a budget as people write it.

    Args:
        text: A time in hours, minutes and seconds, or a number of games. Capitals, blanks and
            underscores between the parts do not matter.

    Raises:
        BudgetError: The text is something else, zero, negative or beyond all measure.

    >>> parse_budget("1h30m").seconds
    5400.0
    >>> parse_budget("50k games").games
    50000
    """
    compact = re.sub(r"[\s_]+", "", str(text)).lower()
    shown = str(text).strip()
    if compact.startswith("-"):
        raise BudgetError(f"budget '{shown}' is negative; give {_EXAMPLES}")
    if re.fullmatch(r"0+(?:\.0*)?", compact):
        raise BudgetError(f"budget '{shown}' leaves no time to train; give {_EXAMPLES}")
    if re.fullmatch(r"\d+(?:\.\d+)?", compact):
        raise BudgetError(
            f"budget '{shown}' has no unit; write {compact}s, {compact}m, {compact}h "
            f"or {compact}games"
        )
    if match := _GAMES.fullmatch(compact):
        return _checked(shown, games=float(match[1]) * _MULTIPLES[match[2]])
    if match := _TIME.fullmatch(compact):
        parts = zip(match.groups(), _SECONDS.values(), strict=True)
        return _checked(shown, seconds=sum(float(number or 0) * unit for number, unit in parts))
    raise BudgetError(f"'{shown}' is not a budget; give {_EXAMPLES}")


def _checked(shown: str, *, seconds: float = 0.0, games: float = 0.0) -> Budget:
    if seconds > _LONGEST_S or games > _MOST_GAMES:
        raise BudgetError(f"budget '{shown}' is longer than anybody can wait; give {_EXAMPLES}")
    if seconds <= 0 and games < 1:
        raise BudgetError(f"budget '{shown}' leaves no time to train; give {_EXAMPLES}")
    return Budget(seconds=seconds) if seconds else Budget(games=round(games))
