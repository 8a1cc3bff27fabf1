"""Where the network runs and in which precision; layer 3 of nardy_rl."""

from __future__ import annotations

from pathlib import Path

import torch

from nardy_engine.errors import NardyError


class DeviceError(NardyError):
    """The device or precision that was asked for does not exist on this machine."""


def pick_device(name: str) -> torch.device:
    """Return the device called `name`: `auto` (a GPU if there is one), `cpu` or `cuda`.

    Raises:
        DeviceError: `cuda` was asked for and there is no usable GPU.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device=cuda, but torch finds no GPU here; use device=cpu or device=auto")
    return torch.device(name)


def pick_precision(name: str, device: torch.device) -> torch.dtype:
    """Return the dtype of the playing network: `auto`, `bf16` or `fp32`.

    `auto` takes bfloat16 on GPUs that have it and on processors with AVX-512 BF16 or AMX, where
    networks play about twice as fast; elsewhere bfloat16 is emulated and slower.
    """
    if name == "fp32":
        return torch.float32
    if name == "bf16":
        return torch.bfloat16
    fast = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_has_bf16()
    return torch.bfloat16 if fast else torch.float32


def _cpu_has_bf16() -> bool:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        return False
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return bool({"avx512_bf16", "amx_bf16"} & set(flags.split()))
