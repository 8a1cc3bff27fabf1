"""Where the configurations and the shipped networks lie; layer 0 of nardy_rl.

In a checkout, and in an editable install of one, they are the folders `configs/` and
`checkpoints/` beside the package. In a wheel they are package data under `nardy_rl/_data/`. Knows
nothing of what the files hold.
"""

from __future__ import annotations

from pathlib import Path

from nardy_engine.errors import NardyError

__all__ = ["checkpoints_dir", "config_dir", "licence"]

_PACKAGE = Path(__file__).resolve().parent


def config_dir() -> Path:
    """Return the absolute folder of the hydra configurations.

    >>> (config_dir() / "train.yaml").is_file()
    True
    """
    return _data("configs")


def checkpoints_dir() -> Path:
    """Return the absolute folder of the networks that come with the project."""
    return _data("checkpoints")


def licence() -> Path:
    """Return the file with the terms under which all of this may be used."""
    return _data("LICENSE")


def _data(name: str) -> Path:
    checkout = _PACKAGE.parent
    # pyproject.toml tells a checkout from a site-packages folder that happens to hold `configs`
    if (checkout / "pyproject.toml").is_file() and (checkout / name).exists():
        return checkout / name
    packaged = _PACKAGE / "_data" / name
    if packaged.exists():
        return packaged
    raise NardyError(f"'{name}' is missing from this installation; install it again")
