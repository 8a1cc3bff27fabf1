"""The schema of the configurations: what can be set, its type, its limits; layer 1 of nardy_rl.

Names, types and meanings stand here, values only in `configs/*.yaml`. `nardy_rl.compose` puts the
two together. A field's docstring is its help text. Knows nothing of hydra.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

from nardy_engine import Variant, load_variant
from nardy_engine.errors import NardyError
from nardy_engine.types import MAX_SEED
from nardy_rl.budget import Budget, parse_budget
from nardy_rl.shapes import can_grow

__all__ = [
    "ArenaConfig",
    "ConfigError",
    "EvalConfig",
    "LearnerConfig",
    "NetConfig",
    "SelfplayConfig",
    "TrainConfig",
    "VariantConfig",
    "field_docs",
]

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("auto", "bf16", "fp32")


class ConfigError(NardyError):
    """A setting is unknown or out of its limits; the message names it."""


@dataclass
class VariantConfig:
    """The game."""

    id: str
    """Name of the game, one of those that `nardy variants` lists."""
    options: dict[str, Any]
    """Rules that differ from the game's own; on the command line `variant.block.check=...`."""

    def __post_init__(self) -> None:
        """Refuse a game or rule option that does not exist.

        Raises:
            VariantError: The message names the nearest one.
        """
        self.load()

    def load(self) -> Variant:
        """Return the game with these rules."""
        return load_variant(self.id, self.flat_options())

    def flat_options(self) -> dict[str, Any]:
        """Return the rule options by their dotted names, `{"block.check": "every_step"}`."""
        return dict(_flatten(self.options))


def _flatten(options: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in options.items():
        # a component's fields nest one level deep; a deeper table is a value, as in setup.start
        if isinstance(value, Mapping) and not prefix and "." not in key:
            flat += _flatten(value, f"{key}.")
        elif prefix and key == "kind":  # what `cascade` itself is, beside `cascade.from_roll`
            flat.append((prefix.removesuffix("."), value))
        else:
            flat.append((f"{prefix}{key}", value))
    return flat


_MOST_WEIGHTS = 100_000_000
"""Weights between hidden layers; training holds four numbers of each, with copies of them."""


@dataclass
class NetConfig:
    """The network's shape."""

    hidden: list[int]
    """Width of each hidden layer, from the input on."""
    first_hidden: list[int]
    """Hidden layers until the network grows, at most as large as `hidden`; empty = `hidden`."""
    grow_at: float
    """Share of the budget after which `first_hidden` grows to `hidden`: small networks play the
    first games, which teach little, several times faster."""
    encoder: str
    """Id of the encoder that turns a position into inputs."""

    def __post_init__(self) -> None:
        """Refuse a shape that no network can have.

        Raises:
            ConfigError: A width is not positive, there is no layer, or the network would shrink.
        """
        _require(bool(self.hidden), "net.hidden needs at least one layer, as in [128,64]")
        for name, widths in (("hidden", self.hidden), ("first_hidden", self.first_hidden)):
            for width in widths:
                whole = isinstance(width, int)
                _require(whole, f"net.{name} is a list of whole numbers, as in [128,64]")
                _require_range(f"net.{name}", width, 1, 65_536)
        weights = sum(a * b for a, b in pairwise(self.hidden))
        _require(
            weights <= _MOST_WEIGHTS,
            f"net.hidden={self.hidden} has {weights:,} weights; the limit is {_MOST_WEIGHTS:,}",
        )
        _require_range("net.grow_at", self.grow_at, 0, 1)
        _require(
            not self.first_hidden or can_grow(self.first_hidden, self.hidden),
            f"net.first_hidden={self.first_hidden} cannot grow to net.hidden={self.hidden}: each "
            "layer must become at least as wide, and new ones at least as wide as the last was",
        )

    def hidden_at(self, fraction: float) -> list[int]:
        """Return the hidden layers at a share of the budget."""
        return self.first_hidden if self.first_hidden and fraction < self.grow_at else self.hidden


@dataclass
class SelfplayConfig:
    """How the games that the network learns from are played."""

    games: int
    """Games played in lock step; more keep the network's batches full."""
    workers: int
    """Threads that play; 0 = one per core. A network depends on their number, too."""
    max_plies: int
    """A game longer than this is cut off; its last state counts as estimated, not as finished."""
    lambda_start: float
    """TD(lambda) at the start of the budget: 1 learns from results only."""
    lambda_end: float
    """TD(lambda) once it has come down: 0 learns from the next state only."""
    lambda_decay_fraction: float
    """Share of the budget over which lambda comes down."""
    endings: bool
    """Stop a game where the bear-off tables know its outcome; no effect in games without them."""
    precision: str
    """Arithmetic of the playing network: auto takes bf16 where the processor is made for it."""

    def __post_init__(self) -> None:
        """Refuse values out of their limits.

        Raises:
            ConfigError: The message names the setting.
        """
        _require_range("selfplay.games", self.games, 1, 10_000_000)
        _require_range("selfplay.workers", self.workers, 0, 1024)
        _require_range("selfplay.max_plies", self.max_plies, 1, 1_000_000)
        _require_range("selfplay.lambda_start", self.lambda_start, 0, 1)
        _require_range("selfplay.lambda_end", self.lambda_end, 0, 1)
        _require_range("selfplay.lambda_decay_fraction", self.lambda_decay_fraction, 0, 1)
        _require_choice("selfplay.precision", self.precision, PRECISIONS)


@dataclass
class LearnerConfig:
    """How the network is fitted to the games."""

    lr: float
    """Learning rate of Adam at the start of the budget."""
    lr_end: float
    """Learning rate at the end; it falls linearly."""
    batch_size: int
    """Positions in one step of gradient descent."""
    fresh_positions: int
    """Turns played between two rounds of learning; each is learned from once, besides replays."""
    replay_capacity: int
    """Older positions kept for learning again; 0 keeps none."""
    replay_ratio: float
    """Replayed positions for each fresh one."""
    backup_start: float
    """Share of the budget after which targets are means over all rolls; 1 = never."""
    backup_replay_ratio: float
    """Replayed positions for each fresh one from then on: such a target costs some five turns."""

    def __post_init__(self) -> None:
        """Refuse values out of their limits.

        Raises:
            ConfigError: The message names the setting.
        """
        _require(self.lr > 0 and math.isfinite(self.lr), f"learner.lr must be above 0: {self.lr}")
        _require_range("learner.lr_end", self.lr_end, 0, self.lr, "learner.lr")
        _require_range("learner.batch_size", self.batch_size, 1, 10_000_000)
        _require_range("learner.fresh_positions", self.fresh_positions, 1, 1_000_000_000)
        _require_range("learner.replay_capacity", self.replay_capacity, 0, 1_000_000_000)
        _require_range("learner.replay_ratio", self.replay_ratio, 0, 100)
        _require_range("learner.backup_start", self.backup_start, 0, 1)
        _require_range("learner.backup_replay_ratio", self.backup_replay_ratio, 0, 100)


@dataclass
class EvalConfig:
    """How strength is measured, during training and at its end."""

    games: int
    """Pairs of games with the same dice against each bot in the final table; 0 leaves it out."""
    interval_games: int
    """The same while training, for the curves; 0 leaves them out."""
    interval_every_s: float
    """Seconds between two measurements while training."""

    def __post_init__(self) -> None:
        """Refuse values out of their limits.

        Raises:
            ConfigError: The message names the setting.
        """
        _require_range("eval.games", self.games, 0, 100_000_000)
        _require_range("eval.interval_games", self.interval_games, 0, 100_000_000)
        _require_range("eval.interval_every_s", self.interval_every_s, 0.1, 1e9)


@dataclass
class TrainConfig:
    """One training run."""

    variant: VariantConfig
    net: NetConfig
    selfplay: SelfplayConfig
    learner: LearnerConfig
    eval: EvalConfig
    budget: str
    """How long to train: a time (90s, 10m, 1h30m) or a number of games (50000games)."""
    start_from: str
    """Network to start from, a file or the name of a shipped one; empty = from nothing. It may be
    of another game, or of other rules: what both games have in common is taken over. `net.hidden`
    is as large as its own, or larger and lets it grow: wider layers, more of them, the same
    function at first."""
    device: str
    """Where the network runs: auto (a GPU if there is one), cpu or cuda."""
    seed: int
    """Seed of everything random in the run."""
    root: str
    """Folder that relative paths start from; the default is where the command is started."""
    run_dir: str
    """Folder of this run; a new run never takes one that exists, it adds -2, -3 ..."""
    resume: bool | str
    """Go on with a stopped run: yes for the newest of this game, or the run's folder."""
    checkpoint_every_s: float
    """Seconds between two checkpoints."""
    tensorboard: bool
    """Write TensorBoard logs into the run's folder."""

    def __post_init__(self) -> None:
        """Refuse values out of their limits.

        Raises:
            ConfigError: The message names the setting.
            BudgetError: The budget cannot be read.
        """
        parse_budget(self.budget)
        _require_choice("device", self.device, DEVICES)
        _require_range("seed", self.seed, 0, MAX_SEED)
        _require_range("checkpoint_every_s", self.checkpoint_every_s, 0, 1e9)
        _require(bool(self.run_dir.strip()), "run_dir is empty; leave it out or name a folder")

    def parsed_budget(self) -> Budget:
        """Return the budget as a number of seconds or games."""
        return parse_budget(self.budget)

    def start_network(self) -> str:
        """Return the network to start from as `load_network` takes it: a path, or a name."""
        is_path = "/" in self.start_from or self.start_from.endswith(".safetensors")
        return str(self.path(self.start_from)) if is_path else self.start_from

    def path(self, text: str) -> Path:
        """Return `text` as an absolute path, starting from `root` if it is relative."""
        return absolute_path(self.root, text)


@dataclass
class ArenaConfig:
    """One match, or a round robin."""

    variant: VariantConfig
    a: str
    """First player: a bot's name, net:NAME of a shipped network, a checkpoint's file, or
    exec:COMMAND, a program that answers positions with plays. A network with @1ply behind it, as in
    net:short@1ply, looks a roll ahead; up to @4ply."""
    b: str
    """Second player, as `a`."""
    players: list[str]
    """Two or more players for a round robin, [random,race,net:long]; then a and b are not used."""
    games: int
    """Games of each match, an even number: every dice stream is played twice, seats exchanged."""
    seed: int
    """Seed of the dice."""
    luck: str
    """A network of the game, as net:short, by which the luck of every roll is taken off the points:
    the same mean, a much smaller interval, but it takes the time of a search of one ply; empty =
    it is not."""
    root: str
    """Folder that relative paths start from; the default is where the command is started."""
    json: str
    """File for the results as JSON; - writes them to standard output instead of the table."""

    def __post_init__(self) -> None:
        """Refuse values out of their limits.

        Raises:
            ConfigError: The message names the setting.
        """
        _require_range("games", self.games, 2, 1_000_000_000)
        _require(self.games % 2 == 0, f"games must be even, for pairs: {self.games}")
        _require_range("seed", self.seed, 0, MAX_SEED)
        names = all(isinstance(player, str) for player in self.players)
        _require(names, "players is a list of names, as in [random,race]")
        _require(len(self.players) != 1, "players needs at least two, as in [random,race]")

    def path(self, text: str) -> Path:
        """Return `text` as an absolute path, starting from `root` if it is relative."""
        return absolute_path(self.root, text)


def absolute_path(root: str, text: str) -> Path:
    """Return `text` as an absolute path; a relative one starts from `root`, `~` is the home."""
    try:
        return Path.cwd() / Path(root).expanduser() / Path(text).expanduser()
    except RuntimeError:
        raise ConfigError(f"'{text}' in '{root}' names a home that nobody has here") from None


@cache
def field_docs(schema: type) -> dict[str, str]:
    """Return the help text of every field of a schema by its dotted name.

    Args:
        schema: A dataclass of this module; nested ones are followed.

    >>> field_docs(ArenaConfig)["seed"]
    'Seed of the dice.'
    """
    docs: dict[str, str] = {}
    body = ast.parse(textwrap.dedent(inspect.getsource(schema))).body[0]
    assert isinstance(body, ast.ClassDef)
    name = ""
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and name:
            docs[name], name = " ".join(str(node.value.value).split()), ""
    hints = get_type_hints(schema)
    for field in fields(schema):
        if is_dataclass(inner := hints[field.name]):
            assert isinstance(inner, type)
            docs |= {f"{field.name}.{key}": text for key, text in field_docs(inner).items()}
    return docs


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ConfigError(sentence)


def _require_range(key: str, value: float, low: float, high: float, high_name: str = "") -> None:
    # written so that nan is refused too
    if not low <= value <= high:
        raise ConfigError(f"{key} must be between {low:g} and {high_name or f'{high:g}'}: {value}")


def _require_choice(key: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{key} must be one of {', '.join(choices)}: '{value}'")
