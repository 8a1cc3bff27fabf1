"""The softmax over few outcomes, millions of times; layer 3."""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import inlined

_EXP_STEPS = 64
"""Entries of the table of exponentials per unit; what lies between them is a short series."""

_EXP_LEAST = -40.0
"""Below this the exponential counts as 0, which it is next to 1 in float32."""

_EXP_TABLE = np.exp(-np.arange(-_EXP_LEAST * _EXP_STEPS + 1) / _EXP_STEPS).astype(np.float32)


@inlined
def exp_below(x):
    """Return e^x of a float32 number from minus infinity to 0, to the precision of float32."""
    if not x > np.float32(_EXP_LEAST):  # what is no number stays so, and is not looked up
        return np.float32(0.0) if x <= np.float32(_EXP_LEAST) else x
    entry = np.int32(np.float32(0.5) - x * np.float32(_EXP_STEPS))
    rest = x + np.float32(entry) * np.float32(1 / _EXP_STEPS)
    series = rest * (np.float32(1 / 2) + rest * np.float32(1 / 6))
    return _EXP_TABLE[entry] * (np.float32(1.0) + rest * (np.float32(1.0) + series))


@inlined
def softmax(logits, out):
    """Write the softmax over all outcomes to `out` `[O]`."""
    n = logits.shape[0]
    top = logits[0]
    for k in range(1, n):
        if logits[k] > top:  # noqa: PLR1730 -- not `max`, see test_kernel_subset
            top = logits[k]
    total = np.float32(0.0)
    for k in range(n):
        out[k] = exp_below(logits[k] - top)
        total += out[k]
    scale = np.float32(1.0) / total
    for k in range(n):
        out[k] *= scale


@inlined
def masked_softmax(logits, possible, out):
    """Write the softmax over the possible outcomes to `out` `[O]`; impossible ones get 0."""
    n = logits.shape[0]
    top = np.float32(-1e30)
    for k in range(n):
        if possible[k] != 0 and logits[k] > top:
            top = logits[k]
    total = np.float32(0.0)
    for k in range(n):
        value = np.float32(0.0)
        if possible[k] != 0:
            value = exp_below(logits[k] - top)
        out[k] = value
        total += value
    scale = np.float32(1.0) / total
    for k in range(n):
        out[k] *= scale
