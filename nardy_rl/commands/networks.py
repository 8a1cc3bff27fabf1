"""Which network a command uses: the one named with `--net`, else the one shipped for the game."""

from __future__ import annotations

import argparse

from nardy_engine import Variant
from nardy_engine.errors import CheckpointError
from nardy_rl.checkpoint import Network, load_network, shipped_networks


def add_network_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--net`."""
    parser.add_argument(
        "--net",
        metavar="FILE",
        help="the network: a .safetensors file or the name of a shipped one "
        "(default: the one shipped for the game)",
    )


def network_for(variant: Variant, source: str | None) -> Network:
    """Load the network named by `source`, by default the one that is shipped for the game.

    Raises:
        CheckpointError: There is none, or it was made for other rules.
    """
    if source is None and variant.id not in shipped_networks():
        raise CheckpointError(
            f"no network for {variant.id} comes with the package; train one with "
            f"'nardy train variant={variant.id}' and name its file with --net"
        )
    return load_network(variant.id if source is None else source, variant)
