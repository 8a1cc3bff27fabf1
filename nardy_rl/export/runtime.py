"""An exported folder, read back and run by onnxruntime as another program would do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from nardy_engine.errors import NardyError


class ExportError(NardyError):
    """An export cannot be written, read or fed with these numbers."""


class ExportedNetwork:
    """The model of an exported folder."""

    def __init__(self, folder: Path) -> None:
        """Open `folder`.

        Raises:
            ExportError: A file is missing or cannot be read.
        """
        try:
            self.manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            model = folder / self.manifest["model"]["file"]
            self._session = onnxruntime.InferenceSession(
                model.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except (OSError, ValueError, KeyError) as error:
            raise ExportError(f"{folder} is not an exported network: {error}") from None

    def run(
        self, features: NDArray[Any], possible: NDArray[Any]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return `[N, O]` probabilities and `[N]` equities of the side to roll.

        Args:
            features: `[N, F] float32`.
            possible: `[N, O] float32`, 1 or 0.

        Raises:
            ExportError: An input has another type or shape; the message says which (T37).
        """
        feeds = {"features": features, "possible": possible}
        for told in self.manifest["model"]["inputs"]:
            array, width = feeds[told["name"]], told["shape"][1]
            if array.dtype != np.float32:
                raise ExportError(f"{told['name']} must be float32, not {array.dtype}")
            if array.ndim != 2 or array.shape[1] != width:
                raise ExportError(
                    f"{told['name']} must have shape [N, {width}], not {list(array.shape)}"
                )
        if len(features) != len(possible):
            raise ExportError(f"{len(features)} rows of features but {len(possible)} of possible")
        probabilities, equity = self._session.run(["probabilities", "equity"], feeds)
        return probabilities, equity
