"""Results of matches and what they say: intervals over pairs, outcome counts, Elo.

The unit of every interval is the *pair*: the same dice played twice with seats exchanged. The
two games of a pair are not independent, the pairs are. A 95 % interval is mean ± 1.96 standard
errors of the mean over pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.rules import Variant

Z95 = 1.96
"""Standard errors on each side of a 95 % interval."""

UNFINISHED = -1
"""Outcome of a game that reached the ply cap."""


class Interval(NamedTuple):
    """A mean with the half width of its 95 % interval."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half

    def to_json(self) -> dict[str, float | None]:
        """Return mean and ends; ends are null where one pair alone gives no spread."""
        ends = (self.low, self.high) if np.isfinite(self.half) else (None, None)
        return {"mean": self.mean, "low": ends[0], "high": ends[1]}


def interval(per_pair: NDArray[Any]) -> Interval:
    """Return the mean over pairs of `[pairs]` values with its 95 % interval."""
    values = np.asarray(per_pair, dtype=np.float64)
    if len(values) < 2:
        return Interval(float(values.mean()), float("inf"))
    return Interval(float(values.mean()), float(Z95 * values.std(ddof=1) / len(values) ** 0.5))


@dataclass(frozen=True, eq=False)
class MatchResult:
    """Every game of a match. Arrays are `[pairs, 2]`: bot A moves first in column 0, B in 1."""

    variant: Variant
    a: str
    b: str
    seed: int
    ply_cap: int
    outcomes: NDArray[np.int8]
    """Outcome index from A's view, or `UNFINISHED`."""
    plies: NDArray[np.int32]
    """Turns played, forced passes included."""
    fingerprints: NDArray[np.uint64]
    """A hash of all positions of the game, in order: equal games, equal numbers (T18, T32)."""
    luck: NDArray[np.float64] | None = None
    """`[pairs, 2, 2]` what A owes to the dice, in points and in games won; None = not measured."""

    @property
    def pairs(self) -> int:
        """Dice streams, each played twice."""
        return len(self.outcomes)

    @property
    def games(self) -> int:
        """Games played."""
        return int(self.outcomes.size)

    @property
    def unfinished(self) -> int:
        """Games stopped at the ply cap; they count as games, with no points and no winner."""
        return int((self.outcomes == UNFINISHED).sum())

    @property
    def pair_points(self) -> NDArray[np.float64]:
        """`[pairs, 2]` points of A in each game, negative where A lost."""
        points = [points for _, points in self.variant.win_kinds]
        signed = np.array([*points, *(-p for p in points), 0], dtype=np.float64)
        return signed[self.outcomes]  # UNFINISHED = -1 is the last entry

    @property
    def won(self) -> NDArray[np.bool_]:
        """`[pairs, 2]` A won."""
        return (self.outcomes >= 0) & (self.outcomes < self._n_kinds)

    @property
    def points(self) -> Interval:
        """Points of A per game."""
        return interval(self.pair_points.mean(axis=1))

    @property
    def adjusted_points(self) -> Interval | None:
        """Points of A per game with luck taken off: the same mean, sharper; None = not measured."""
        if self.luck is None:
            return None
        return interval((self.pair_points - self.luck[..., 0]).mean(axis=1))

    @property
    def adjusted_win_rate(self) -> Interval | None:
        """Share of games that A won with luck taken off, as `adjusted_points`."""
        if self.luck is None:
            return None
        return interval((self.won - self.luck[..., 1]).mean(axis=1))

    @property
    def win_rate(self) -> Interval:
        """Share of games that A won."""
        return interval(self.won.mean(axis=1))

    @property
    def mars_won(self) -> Interval:
        """Share of games that A won for more than the smallest win."""
        return interval((self.won & self._big).mean(axis=1))

    @property
    def mars_lost(self) -> Interval:
        """Share of games that A lost for more than the smallest win."""
        return interval((~self.won & self._big).mean(axis=1))

    @property
    def mars_rate(self) -> Interval:
        """Share of games that ended with more than the smallest win."""
        return interval(self._big.mean(axis=1))

    @property
    def length(self) -> Interval:
        """Plies per game."""
        return interval(self.plies.mean(axis=1))

    @property
    def first_mover_points(self) -> Interval:
        """Points per game of the side that moved first, whichever bot that was."""
        return interval((self.pair_points * (1, -1)).mean(axis=1))

    @property
    def first_mover_wins(self) -> Interval:
        """Share of games won by the side that moved first."""
        first_won = np.stack((self.won[:, 0], self._lost[:, 1]), axis=1)
        return interval(first_won.mean(axis=1))

    @property
    def outcome_counts(self) -> dict[str, dict[str, int]]:
        """Games by winner and kind: `{"a": {kind: n}, "b": {kind: n}}`."""
        decided = (self.outcomes >= 0) & (self.outcomes < 2 * self._n_kinds)
        counts = np.bincount(self.outcomes[decided], minlength=2 * self._n_kinds)
        names = [name for name, _ in self.variant.win_kinds]
        halves = counts.reshape(2, self._n_kinds).tolist()
        return {
            side: dict(zip(names, half, strict=True))
            for side, half in zip("ab", halves, strict=True)
        }

    @property
    def draws(self) -> int:
        """Games that nobody won (DR-1)."""
        return int((self.outcomes == 2 * self._n_kinds).sum())

    @property
    def games_digest(self) -> str:
        """16 hex digits over all positions of all games: tells when a figure's corpus changed."""
        return hashlib.sha256(self.fingerprints.astype("<u8").tobytes()).hexdigest()[:16]

    @property
    def _n_kinds(self) -> int:
        return len(self.variant.win_kinds)

    @property
    def _lost(self) -> NDArray[np.bool_]:
        return (self.outcomes >= self._n_kinds) & (self.outcomes < 2 * self._n_kinds)

    @property
    def _big(self) -> NDArray[np.bool_]:
        decided = (self.outcomes >= 0) & (self.outcomes < 2 * self._n_kinds)
        return decided & (self.outcomes % self._n_kinds > 0)

    def to_json(self) -> dict[str, Any]:
        """Return all figures as plain values, with what is needed to play the match again."""
        intervals = (
            "points",
            "win_rate",
            "mars_won",
            "mars_lost",
            "mars_rate",
            "length",
            "first_mover_points",
            "first_mover_wins",
        )
        adjusted = {
            name: value.to_json()
            for name in ("adjusted_points", "adjusted_win_rate")
            if (value := getattr(self, name)) is not None
        }
        return {
            "variant": {"id": self.variant.id, "digest": self.variant.digest()},
            "a": self.a,
            "b": self.b,
            "seed": self.seed,
            "pairs": self.pairs,
            "games": self.games,
            "unfinished": self.unfinished,
            "ply_cap": self.ply_cap,
            **{name: getattr(self, name).to_json() for name in intervals},
            **adjusted,
            "outcomes": self.outcome_counts,
            "games_digest": self.games_digest,
        }


def join(parts: Sequence[MatchResult]) -> MatchResult:
    """Return one match from parts of it that were played one after the other.

    Raises:
        ValueError: They are parts of different matches.
    """
    head = parts[0]
    kinds = {(p.variant.digest(), p.a, p.b, p.seed, p.ply_cap, p.luck is None) for p in parts}
    if len(kinds) > 1:
        raise ValueError("these are parts of different matches")
    luck = [part.luck for part in parts if part.luck is not None]
    return replace(
        head,
        outcomes=np.concatenate([part.outcomes for part in parts]),
        plies=np.concatenate([part.plies for part in parts]),
        fingerprints=np.concatenate([part.fingerprints for part in parts]),
        luck=np.concatenate(luck) if luck else None,
    )


class Rating(NamedTuple):
    """Strength of one bot in a round robin, in Elo points around a mean of 0."""

    name: str
    elo: Interval


BOOTSTRAP = 200
"""Resamples for the intervals of `elo_ratings`."""

PRIOR_GAMES = 0.5
"""Games added to each side of each pairing, so that a clean sweep has a finite rating."""


def elo_ratings(matches: list[MatchResult]) -> list[Rating]:
    """Return the ratings of all bots of a round robin, best first.

    The logistic (Bradley-Terry) model is fitted to the games won, points do not count; where luck
    was measured it is taken off. Intervals come from resampling dice streams, the same ones in all
    matches, as all matches share them; a shorter match has the first of them.
    """
    names = list(dict.fromkeys(name for match in matches for name in (match.a, match.b)))
    seats = np.array([(names.index(match.a), names.index(match.b)) for match in matches])
    pairs = max(match.pairs for match in matches)
    wins, losses = np.zeros((2, len(matches), pairs))
    for i, match in enumerate(matches):
        owed = 0 if match.luck is None else match.luck[..., 1]
        wins[i, : match.pairs] = (match.won - owed).sum(axis=1)
        losses[i, : match.pairs] = (match._lost + owed).sum(axis=1)
    rng = np.random.default_rng(matches[0].seed)
    weights = rng.multinomial(pairs, np.full(pairs, 1 / pairs), size=BOOTSTRAP)
    samples = np.stack(
        [
            _fit_logistic(seats, wins @ weight, losses @ weight, len(names))
            for weight in (np.ones(pairs, dtype=np.int64), *weights)
        ]
    )
    halves = Z95 * samples[1:].std(axis=0, ddof=1)
    ratings = [
        Rating(name, Interval(float(elo), float(half)))
        for name, elo, half in zip(names, samples[0], halves, strict=True)
    ]
    return sorted(ratings, key=lambda rating: -rating.elo.mean)


def _fit_logistic(
    seats: NDArray[np.int64], wins: NDArray[Any], losses: NDArray[Any], n_bots: int
) -> NDArray[np.float64]:
    """Return `[n_bots]` maximum-likelihood Elo, mean 0, from wins and losses per pairing."""
    # With luck taken off, a few games can be more than all of them.
    won = np.maximum(wins, 0) + PRIOR_GAMES
    games = won + np.maximum(losses, 0) + PRIOR_GAMES
    design = np.zeros((len(seats), n_bots))
    design[np.arange(len(seats)), seats[:, 0]] = 1
    design[np.arange(len(seats)), seats[:, 1]] -= 1
    strength = np.zeros(n_bots)
    for _ in range(50):
        expected = 1 / (1 + np.exp(-design @ strength))
        gradient = design.T @ (won - games * expected)
        hessian = design.T @ ((games * expected * (1 - expected))[:, None] * design)
        # The mean is free: pin it by adding its direction to the curvature.
        step = np.linalg.solve(hessian + 1 / n_bots, gradient)
        strength += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray((strength - strength.mean()) * 400 / np.log(10))
