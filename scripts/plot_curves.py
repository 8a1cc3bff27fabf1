"""Draw the curves of a training run as one picture, from its TensorBoard event files.

    python scripts/plot_curves.py runs/long/2026-01-31_12-00-00 --out curves.png

Needs matplotlib (the extra `notebooks`). Every panel is over games of self-play.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.errors import NardyError
from nardy_rl.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Curve(NamedTuple):
    """One tag of the event files."""

    games: NDArray[np.float64]
    values: NDArray[np.float64]


Curves = dict[str, Curve]
"""Curves by tag, `learn/loss`."""

_COLOURS = (
    "#0b6e99", "#d1603d", "#3c8d40", "#8e5ea2", "#c9962b", "#56616b", "#5fb3b3", "#c9ced2",
)  # fmt: skip
_STAGES = ("roll", "plays", "encode", "network", "choose", "search", "learn", "wait")
_INK, _GRID = "#2b3137", "#e3e6e8"


def main(argv: Sequence[str] | None = None) -> int:
    """Draw one run; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("--out", type=Path, help="picture to write (default: RUN/curves.png)")
    parser.add_argument("--dpi", type=int, default=110, help="(default: %(default)s)")
    arguments = parser.parse_args(argv)
    out = arguments.out or arguments.run / "curves.png"
    try:
        figure = draw(read_curves(arguments.run), title_of(arguments.run))
        picture = io.BytesIO()
        figure.savefig(picture, dpi=arguments.dpi, format=out.suffix.removeprefix(".") or "png")
        write_atomic(out, picture.getvalue())
    except (NardyError, OSError) as error:
        print(f"plot_curves: error: {error}", file=sys.stderr)
        return 2
    print(out)
    return 0


def read_curves(run: Path) -> Curves:
    """Return every scalar that the run has logged.

    Raises:
        NardyError: The folder holds no event file, or an empty one.
    """
    from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]
        EventAccumulator,
    )

    if not list(run.glob("events.out.tfevents.*")):
        raise NardyError(f"{run} holds no TensorBoard event file; was tensorboard=true?")
    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    curves: Curves = {}
    for tag in events.Tags()["scalars"]:
        points = events.Scalars(tag)
        curves[tag] = Curve(
            np.array([p.step for p in points], np.float64),
            np.array([p.value for p in points], np.float64),
        )
    if not curves:
        raise NardyError(f"the event files in {run} hold no curves yet")
    return curves


def title_of(run: Path) -> str:
    """Return what was trained, from the configuration that the run has saved."""
    try:
        config: dict[str, Any] = json.loads((run / "config.json").read_text("utf-8"))
        hidden = "-".join(str(n) for n in config["net"]["hidden"])
        return f"{config['variant']['id']}, {hidden} network, budget {config['budget']}"
    except (OSError, ValueError, KeyError):
        return run.name


def draw(curves: Curves, title: str) -> Figure:
    """Return the picture of all panels."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    panels: tuple[tuple[str, str, Callable[[Axes, Curves], None]], ...] = (
        ("Strength against the built-in bots", "points per game", _strength),
        ("Loss", "cross-entropy", _loss),
        ("TD error", "points", _td_error),
        ("Calibration error of the win rate", "predicted − actual", _calibration),
        ("Wins above the smallest", "share of games", _outcomes),
        ("Game length", "plies", _length),
        ("Speed", "games per second", _speed),
        ("Share of time", "share", _shares),
    )
    style: dict[Any, Any] = {"font.size": 9, "axes.edgecolor": _GRID}
    style |= {"axes.labelcolor": _INK, "text.color": _INK}
    with plt.rc_context(style):
        figure, grid = plt.subplots(2, 4, figsize=(15, 6.6), layout="constrained")
        for axes, (name, unit, panel) in zip(grid.flat, panels, strict=True):
            axes.set_title(name, loc="left", fontsize=10, fontweight="bold")
            axes.set_ylabel(unit)
            axes.grid(color=_GRID, linewidth=0.8)
            axes.set_axisbelow(True)
            axes.tick_params(colors=_INK, length=0)
            axes.spines[["top", "right"]].set_visible(False)
            panel(axes, curves)
            if not axes.lines and not axes.collections:
                axes.set_axis_off()
                axes.text(0.5, 0.5, "not logged in this run", transform=axes.transAxes, ha="center")
                continue
            axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k" if x else "0")
            axes.set_xlim(left=0)
        figure.suptitle(f"{title}: curves over games of self-play", fontsize=12, x=0.01, ha="left")
    return figure


# -- panels ---------------------------------------------------------------------------------------


def _strength(axes: Axes, curves: Curves) -> None:
    if _family(axes, curves, "arena/", marker="o"):
        axes.axhline(0, color=_INK, linewidth=0.8)


def _loss(axes: Axes, curves: Curves) -> None:
    _smoothed(axes, curves, "learn/loss", _COLOURS[0])


def _td_error(axes: Axes, curves: Curves) -> None:
    _smoothed(axes, curves, "learn/td_error", _COLOURS[1])
    axes.set_ylim(bottom=0)
    if "learn/lambda" in curves:
        other = axes.twinx()
        curve = curves["learn/lambda"]
        other.plot(curve.games, curve.values, color=_COLOURS[5], linestyle=":", linewidth=1.2)
        other.set_ylim(0, 1)
        other.set_ylabel("λ (dotted)")
        other.tick_params(length=0)
        other.spines[["top", "right", "left"]].set_visible(False)


def _calibration(axes: Axes, curves: Curves) -> None:
    _family(axes, curves, "calibration/", smooth=True)
    axes.set_ylim(bottom=0)


def _outcomes(axes: Axes, curves: Curves) -> None:
    first = next((tag for tag in curves if tag.startswith("outcomes/")), "")
    doubled = {tag: curve for tag, curve in curves.items() if tag != first}
    _family(axes, doubled, "outcomes/", smooth=True)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")


def _length(axes: Axes, curves: Curves) -> None:
    _smoothed(axes, curves, "selfplay/game_length", _COLOURS[3])
    axes.set_ylim(bottom=0)


def _speed(axes: Axes, curves: Curves) -> None:
    _smoothed(axes, curves, "speed/games_per_s", _COLOURS[4])
    axes.set_ylim(bottom=0)


def _shares(axes: Axes, curves: Curves) -> None:
    timed = [(stage, curves[f"time/{stage}"]) for stage in _STAGES if f"time/{stage}" in curves]
    found = [(stage, curve) for stage, curve in timed if np.any(curve.values)]
    if not found:
        return
    games = found[0][1].games
    shares = [np.interp(games, curve.games, curve.values) for _, curve in found]
    axes.stackplot(games, shares, labels=[stage for stage, _ in found], colors=_COLOURS, alpha=0.85)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1], labels[::-1], fontsize=8, frameon=False, loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )  # fmt: skip


def _family(
    axes: Axes, curves: Curves, prefix: str, *, smooth: bool = False, marker: str | None = None
) -> bool:
    """Draw every curve whose tag starts with `prefix`, with a legend; return whether any did."""
    tags = [tag for tag in curves if tag.startswith(prefix)]
    for tag, colour in zip(tags, cycle(_COLOURS), strict=False):
        curve = curves[tag]
        values = _moving_average(curve.values) if smooth else curve.values
        label = tag.removeprefix(prefix).removesuffix("_rate").replace("_", " ")
        axes.plot(
            curve.games, values, color=colour, label=label, linewidth=1.8, marker=marker,
            markersize=3.5,
        )  # fmt: skip
    if tags:
        axes.legend(fontsize=8, frameon=False)
    return bool(tags)


def _smoothed(axes: Axes, curves: Curves, tag: str, colour: str) -> None:
    """Draw a curve as it is, pale, and its moving average."""
    if tag not in curves:
        return
    games, values = curves[tag]
    axes.plot(games, values, color=colour, alpha=0.3, linewidth=1)
    axes.plot(games, _moving_average(values), color=colour, linewidth=1.8)


def _moving_average(values: NDArray[np.float64], window: int = 9) -> NDArray[np.float64]:
    """Return the mean of each value and its neighbours; shorter at the ends."""
    width = max(1, min(window, len(values) // 4)) | 1
    kernel = np.ones(width)
    weights = np.convolve(np.ones_like(values), kernel, mode="same")
    return np.asarray(np.convolve(values, kernel, mode="same") / weights)


if __name__ == "__main__":
    sys.exit(main())
