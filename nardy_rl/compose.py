"""From YAML files and overrides to a checked configuration; layer 3 of nardy_rl.

The same whatever folder one starts from, in a checkout and in a wheel. Every mistake is one
sentence, a `NardyError`, before anything has run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nardy_rl.config import ArenaConfig, ConfigError, TrainConfig
from nardy_rl.overrides import Vocabulary, rewrite_overrides, vocabulary
from nardy_rl.resources import config_dir

__all__ = [
    "SCHEMAS",
    "VERSION_BASE",
    "check_overrides",
    "compose_config",
    "load_arena_config",
    "load_train_config",
    "to_dataclass",
]

VERSION_BASE = "1.3"
"""Behaviour of hydra that the configurations are written for."""
SCHEMAS: dict[str, type] = {"train": TrainConfig, "arena": ArenaConfig}
"""Configurations by name and their schemas."""


def load_train_config(overrides: Iterable[str] = ()) -> TrainConfig:
    """Return the configuration of a training run.

    Args:
        overrides: As on the command line of `nardy train`.

    Raises:
        NardyError: An override is wrong; the message says which and what would be right.

    >>> load_train_config(["variant=short", "budget=90s"]).parsed_budget().seconds
    90.0
    """
    return cast(TrainConfig, to_dataclass(_composed("train", overrides)))


def load_arena_config(overrides: Iterable[str] = ()) -> ArenaConfig:
    """Return the configuration of a match.

    Args:
        overrides: As on the command line of `nardy arena`.

    Raises:
        NardyError: An override is wrong; the message says which and what would be right.
    """
    return cast(ArenaConfig, to_dataclass(_composed("arena", overrides)))


def check_overrides(name: str, words: Sequence[str], *, sweep: bool = False) -> list[str]:
    """Return the overrides as hydra needs them, after composing with them once.

    Args:
        name: Key of `SCHEMAS`.
        words: As on the command line.
        sweep: Whether a comma separates alternatives; each of them is composed once.

    Raises:
        NardyError: An override is wrong.
    """
    rewritten = rewrite_overrides(words, _vocabulary(name), sweep=sweep)
    for overrides in _variations(rewritten) if sweep else [rewritten]:
        to_dataclass(compose_config(name, overrides))
    return rewritten


def compose_config(name: str, overrides: Sequence[str]) -> DictConfig:
    """Compose a configuration from overrides in hydra's own spelling.

    Raises:
        ConfigError: Hydra refuses an override.
    """
    with _hydra(), _in_one_sentence():
        return compose(name, overrides=list(overrides))


def to_dataclass(config: DictConfig) -> Any:
    """Return the composed configuration as a checked instance of its schema.

    Raises:
        NardyError: A value is out of its limits.
    """
    with _in_one_sentence():
        return OmegaConf.to_object(config)


def register() -> None:
    """Make the schemas and resolvers known to hydra; may be called again."""
    for name, schema in SCHEMAS.items():
        ConfigStore.instance().store(f"{name}_schema", node=schema)
    OmegaConf.register_new_resolver("nardy.pid", lambda: str(os.getpid()), replace=True)


def _composed(name: str, overrides: Iterable[str]) -> DictConfig:
    words = list(overrides)
    return compose_config(name, rewrite_overrides(words, _vocabulary(name), sweep=False))


@cache
def _vocabulary(name: str) -> Vocabulary:
    with _hydra():
        whole = compose(name, return_hydra_config=True)
    return vocabulary(whole, SCHEMAS[name], config_dir())


@contextmanager
def _hydra() -> Iterator[None]:
    register()
    if GlobalHydra.instance().is_initialized():
        # inside a job that hydra itself started: composing there needs a fresh instance
        GlobalHydra.instance().clear()
    with initialize_config_dir(str(config_dir()), job_name="nardy", version_base=VERSION_BASE):
        yield


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        cause = error.__cause__ or error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        if cause is not error and str(cause).strip():
            detail = str(cause).strip().splitlines()[0]
            if detail not in lines:
                lines = [lines[0].rstrip(".:"), detail]
        raise ConfigError(": ".join(line.rstrip(".:") for line in lines[:2])) from None
    except ValueError as error:  # a number of some thousand digits
        raise ConfigError(str(error)) from None


def first_of_each(overrides: Sequence[str]) -> list[str]:
    """Return overrides without alternatives: the first of each."""
    return next(_variations(overrides))


def _variations(overrides: Sequence[str]) -> Iterator[list[str]]:
    """Yield the first alternative of every override, then each other one beside first ones."""
    with _in_one_sentence():
        parsed = OverridesParser.create().parse_overrides(list(overrides))
    choices: list[list[str]] = []
    for override in parsed:
        text = str(override.input_line)
        choices.append([text])
        if override.is_sweep_override() and override.is_discrete_sweep():
            key = text.partition("=")[0]
            choices[-1] = [f"{key}={value}" for value in override.sweep_string_iterator()]
    first = [texts[0] for texts in choices]
    yield first
    for i, texts in enumerate(choices):
        for text in texts[1:]:
            yield [*first[:i], text, *first[i + 1 :]]
