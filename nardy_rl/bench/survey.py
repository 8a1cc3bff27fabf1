"""What a game is like between equal, good players, and how strong its network is; numpy only.

One survey is a set of matches on paired dice: the network against every named bot of the game,
against itself, against itself with a handicap, which tells how much luck decides, and looking ahead
against itself at 0-ply.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nardy_engine import Variant
from nardy_rl.arena import BLOCK_PAIRS, match
from nardy_rl.evaluator import Evaluator
from nardy_rl.luck import Luck
from nardy_rl.players import Bot, Choice, Turn, bot_names, make_bot

STRENGTH_SEED = 0
"""Dice of the matches against bots, those of `nardy arena` without a seed."""
GAME_SEED = 3
"""Dice of the matches of the network against itself."""
HANDICAP = 0.1
"""Share of decisions that the handicapped network leaves to chance."""


SEARCH_PAIRS = {1: 200, 2: 50}
"""Pairs of the matches in which the network looks so many plies ahead, at most."""
LONG_SEARCH_PAIRS = {1: 100, 2: 20}
"""The same where a roll is played in several decisions, which makes searches slow."""


class Handicapped:
    """A bot that lets chance choose among the legal plays in some of its decisions."""

    def __init__(self, bot: Bot, share: float = HANDICAP) -> None:
        """Handicap `bot` in `share` of its decisions."""
        self.name = f"{bot.name}, {share:.0%} random"
        self._bot = bot
        self._share = share

    def choose(self, turn: Turn) -> Choice:
        """Return the bot's choice, here and there a random one in its place."""
        by_chance = turn.uniform < self._share
        # Below the share the number is uniform again once it is stretched.
        drawn = (turn.uniform / self._share * turn.after.counts()).astype(np.int64)
        return np.where(by_chance, turn.after.offsets[:-1] + drawn, self._bot.choose(turn))


class ChoiceCounter:
    """A bot that counts between how many plays it chooses; may be asked by several threads."""

    def __init__(self, bot: Bot) -> None:
        """Count for `bot`, under its name."""
        self.name = bot.name
        self.decisions = self.plays = self.most = self.forced = 0
        self._bot = bot
        self._lock = threading.Lock()

    def choose(self, turn: Turn) -> Choice:
        """Return the bot's choice."""
        counts = turn.after.counts()
        with self._lock:
            self.decisions += len(counts)
            self.plays += int(counts.sum())
            self.most = max(self.most, int(counts.max()))
            self.forced += int((counts == 1).sum())
        return self._bot.choose(turn)

    def to_json(self) -> dict[str, float]:
        """Return the mean and the largest number of legal plays, and the share of forced ones."""
        return {
            "decisions": self.decisions,
            "mean": self.plays / self.decisions,
            "most": self.most,
            "forced": self.forced / self.decisions,
        }


def search_pairs(variant: Variant) -> dict[int, int]:
    """Return the pairs of the matches in which the network of a game looks ahead, by plies."""
    return LONG_SEARCH_PAIRS if variant.remembers("owed_1") else SEARCH_PAIRS


def survey(
    variant: Variant,
    source: Path,
    games: int,
    workers: int,
    progress: Callable[[str], object] = lambda pairing: None,
) -> dict[str, Any]:
    """Play all matches of a survey.

    Args:
        variant: The game.
        source: File of its network.
        games: Games of each match, even.
        workers: Threads; the result does not depend on them.
        progress: Is told who plays before each match.

    Returns:
        `strength`, `itself`: matches of the network, as of `MatchResult.to_json`; `handicap`: that
        of its handicapped copy against it; `search`: those in which it looks ahead, luck measured;
        `choices` as of `ChoiceCounter`; `seconds` of it all.
    """
    start = time.perf_counter()

    def bot(plies: int) -> Bot:
        depth = f"@{plies}ply" if plies else ""
        return make_bot(f"net:{source}{depth}", variant, f"net:{variant.id}{depth}")

    def play(
        a: Bot, b: Bot, seed: int, pairs: int = games // 2, luck: Luck | None = None
    ) -> dict[str, Any]:
        progress(f"{a.name} - {b.name}")
        # Small blocks where games take long, so that no thread is left without one.
        block = BLOCK_PAIRS if luck is None else max(1, pairs // (4 * workers))
        return match(
            a, b, variant, pairs, seed, workers=workers, block_pairs=block, luck=luck
        ).to_json()

    network = bot(0)
    counter = ChoiceCounter(network)
    luck = Luck(Evaluator.load(source, variant))
    return {
        "strength": [
            play(network, make_bot(name, variant), STRENGTH_SEED)
            for name in reversed(bot_names(variant))
        ],
        "itself": play(counter, counter, GAME_SEED),
        "handicap": play(Handicapped(network), network, GAME_SEED),
        "search": [
            play(bot(plies), network, GAME_SEED, min(pairs, games // 2), luck)
            for plies, pairs in search_pairs(variant).items()
        ],
        "choices": counter.to_json(),
        "seconds": round(time.perf_counter() - start, 1),
    }
