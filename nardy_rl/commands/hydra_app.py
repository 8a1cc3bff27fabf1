"""Runs a subcommand whose settings come from hydra: `nardy train`, `nardy arena`.

Hydra composes and sweeps; everything that a user can get wrong is checked before, so that a
mistake is one sentence and exit code 2, never hydra's own report.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import hydra
from omegaconf import DictConfig, OmegaConf

from nardy_rl.compose import (
    SCHEMAS,
    VERSION_BASE,
    check_overrides,
    compose_config,
    first_of_each,
    register,
    to_dataclass,
)
from nardy_rl.config import ConfigError, field_docs
from nardy_rl.resources import config_dir

__all__ = ["run_hydra"]

_WIDTH = 100


class _TaskError(BaseException):
    """Carries an exception past hydra, which would report it in its own way and exit with 1."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; '{self.prog} --help' shows what can be given")


def run_hydra(config_name: str, argv: Sequence[str], task: Callable[[Any], int | None]) -> int:
    """Run `task` with the configuration that `argv` asks for; with --multirun, for each one.

    Args:
        config_name: Key of `nardy_rl.compose.SCHEMAS`.
        argv: Overrides and flags, without the program's name.
        task: Takes the checked configuration; returns an exit code, or None for 0.

    Returns:
        The highest exit code of the runs.

    Raises:
        NardyError: A mistake in `argv`, or raised by the task.
    """
    arguments = _parse(config_name, argv)
    if arguments.help:
        print(help_text(config_name))
        return 0
    overrides = check_overrides(config_name, arguments.overrides, sweep=arguments.multirun)
    if arguments.cfg:
        config = compose_config(config_name, first_of_each(overrides))
        print(OmegaConf.to_yaml(config, resolve=arguments.resolve), end="")
        return 0
    codes = [0]

    def job(config: DictConfig) -> None:
        try:
            codes.append(task(to_dataclass(config)) or 0)
        except Exception as error:
            raise _TaskError(error) from error

    register()
    flags = ["--multirun"] if arguments.multirun else []
    application = hydra.main(
        config_path=str(config_dir()), config_name=config_name, version_base=VERSION_BASE
    )(job)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # or it prints errors itself, and exits
    with _command_line([f"nardy-{config_name}", *overrides, *flags]):
        try:
            application()
        except _TaskError as carrier:
            raise carrier.error from None
    return max(codes)


def help_text(config_name: str) -> str:
    """Return what `nardy train --help` prints: every setting, its value, its meaning."""
    config = compose_config(config_name, [])
    lines = [
        f"usage: nardy {config_name} [SETTING=VALUE ...] [--multirun] [--cfg job]",
        "",
        *_examples(config_name),
        "",
        "groups (each sets several settings at once):",
    ]
    for group in sorted(entry for entry in config_dir().iterdir() if entry.is_dir()):
        if group.name in config or (group.name == "experiment" and config_name == "train"):
            prefix = "" if group.name in config else "+"
            names = ", ".join(sorted(path.stem for path in group.glob("*.yaml")))
            lines.append(f"  {prefix}{group.name}=".ljust(24) + names)
    lines += ["", "settings and their values when nothing is said:"]
    for key, text in field_docs(SCHEMAS[config_name]).items():
        value = _shown(config, key)
        lines.append(f"  {key}={value}")
        lines += textwrap.wrap(text, _WIDTH - 6, initial_indent=" " * 6, subsequent_indent=" " * 6)
    lines += [
        "",
        "flags:",
        "  -m, --multirun   run once for each combination of comma-separated values",
        "  -c, --cfg job    print the configuration instead of running; --resolve fills it in",
        "  -h, --help       show this text",
    ]
    return "\n".join(lines)


def _examples(config_name: str) -> list[str]:
    if config_name == "train":
        return [
            "Teach a network by self-play, from nothing, and measure it against the built-in bots.",
            "",
            "  nardy train variant=short budget=2m",
            "  nardy train variant=long net=deep budget=8h",
            "  nardy train variant=long variant.block.check=every_step",
            "  nardy train +experiment=smoke",
            "  nardy train --multirun seed=1,2,3 budget=2m",
        ]
    return [
        "Let two bots or networks play many games with the same dice and say who is stronger.",
        "",
        "  nardy arena variant=short a=net:short b=pubeval games=10000",
        "  nardy arena a=mine/long.safetensors b=net:long json=match.json",
        "  nardy arena variant=short a=net:short@1ply b=net:short games=1000",
        "  nardy arena 'players=[random,race,net:long]' games=1000",
    ]


def _shown(config: DictConfig, key: str) -> str:
    container = OmegaConf.to_container(config, resolve=False)
    for part in key.split("."):
        assert isinstance(container, dict)
        container = container[part]
    if isinstance(container, bool):
        return str(container).lower()
    return str(container).replace(" ", "") if isinstance(container, list) else str(container)


def _parse(config_name: str, argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(prog=f"nardy {config_name}", add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("-c", "--cfg", choices=["job"])
    parser.add_argument("--resolve", action="store_true")
    return parser.parse_intermixed_args(list(argv))


@contextmanager
def _command_line(words: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before
