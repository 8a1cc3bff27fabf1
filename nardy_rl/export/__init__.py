"""Networks for other programs: ONNX, a manifest, reference vectors, an example; layer: nardy_rl.

Needs the extra `export` (onnx and onnxruntime), which nothing else in the package imports.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from nardy_engine.errors import NardyError

if TYPE_CHECKING:
    from nardy_rl.checkpoint import Network

__all__ = ["MissingExtraError", "export_network"]


class MissingExtraError(NardyError):
    """The packages of the extra `export` are not installed."""


def export_network(network: Network, folder: str | Path) -> Path:
    """Write `network` as a folder for other programs; see `nardy_rl.export.folder`.

    Args:
        network: Of `nardy_rl.checkpoint.load_network`; borrowed.
        folder: Target; an earlier export in it is replaced.

    Raises:
        MissingExtraError: onnx or onnxruntime is not installed.
        OutputError: The folder holds something else or cannot be written.
        ExportError: The written model does not give the network's values.
    """
    missing = [name for name in ("onnx", "onnxruntime") if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"exporting needs {' and '.join(missing)}; install with: pip install 'nardy-rl[export]'"
        )
    from nardy_rl.export import folder as writer

    return writer.export_network(network, folder)
