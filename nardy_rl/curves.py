"""What a run writes for TensorBoard; layer 3 of nardy_rl.

One event file per run, `add_scalar` only (T47); the step of every tag is the number of games
(T48); after a resume the points beyond the checkpoint are purged (T46). A run does not end
because its curves cannot be written: it goes on without them and says so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nardy_engine.kernels.selfplay import PHASES
from nardy_engine.rules import Variant
from nardy_rl.selfplay import RoundStats

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


_LOG = logging.getLogger(__name__)


class Curves:
    """The curves of one run; without a folder nothing is written."""

    def __init__(self, folder: Path | None, variant: Variant, games: int) -> None:
        """Open the event file in `folder`.

        Args:
            folder: Where to write, None for nowhere.
            variant: The game.
            games: Games played so far; points beyond them are of a run that was killed.
        """
        self._variant = variant
        self._writer: SummaryWriter | None = None
        if folder is not None:
            # here, because it takes a second that a run without curves need not wait
            from torch.utils.tensorboard import SummaryWriter

            with self._or_without():
                self._writer = SummaryWriter(str(folder), purge_step=games + 1)

    def scalar(self, tag: str, value: float, games: int) -> None:
        """Add one point."""
        if self._writer is not None and np.isfinite(value):
            with self._or_without():
                self._writer.add_scalar(tag, value, games)

    def round(self, stats: RoundStats, games: int) -> None:
        """Add what self-play showed in the rounds since the last call."""
        finished = max(1, stats.games)
        kinds = len(self._variant.win_kinds)
        by_kind = stats.outcomes[:kinds] + stats.outcomes[kinds : 2 * kinds]
        self.scalar("selfplay/game_length", stats.plies / max(1, finished + stats.truncated), games)
        self.scalar("selfplay/first_player_wins", stats.first_player_wins / finished, games)
        self.scalar("selfplay/truncated_games", stats.truncated / finished, games)
        for kind, (name, _) in enumerate(self._variant.win_kinds):
            self.scalar(f"outcomes/{name.replace(' ', '_')}_rate", by_kind[kind] / finished, games)
        if self._variant.has_draw:
            self.scalar("outcomes/draw_rate", stats.outcomes[2 * kinds] / finished, games)
        self.scalar("learn/td_error", stats.td_error_sum / max(1, stats.td_error_n), games)
        for phase, cells in zip(PHASES, stats.calibration, strict=True):
            if cells[:, 0].sum() > 0:
                self.scalar(f"calibration/{phase}", calibration_error(cells), games)

    def shares(self, seconds: dict[str, float], games: int) -> None:
        """Add the share of time of each stage."""
        total = sum(seconds.values())
        for stage, spent in seconds.items():
            self.scalar(f"time/{stage}", spent / max(total, 1e-9), games)

    def flush(self) -> None:
        """Write out what is buffered."""
        if self._writer is not None:
            with self._or_without():
                self._writer.flush()

    def close(self) -> None:
        """Write out everything and close the file."""
        if self._writer is not None:
            with self._or_without():
                self._writer.close()

    @contextmanager
    def _or_without(self) -> Iterator[None]:
        """Go on without curves if the block cannot write them."""
        try:
            yield
        except OSError as error:
            self._writer = None
            _LOG.warning("nardy: no more curves: %s", error.strerror or error)


def calibration_error(cells: np.ndarray) -> float:
    """Return the mean distance between predicted and actual win rates, weighted by positions.

    Args:
        cells: `[bins, 3]` number of positions, sum of predicted wins, of actual wins.
    """
    return float(np.abs(cells[:, 1] - cells[:, 2]).sum() / cells[:, 0].sum())
