"""Counter-based random numbers: a pure function of (seed, game, turn); layer 3.

The same game sees the same dice whatever the batch, the thread or the order of play, and a run
that resumes needs no generator state. The mixer is the finaliser of SplitMix64 (Steele, Lea &
Flood 2014). All arithmetic is uint64: mixing it with a signed integer would turn it into float64.
"""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_11 = np.uint64(11)


@jit
def mix(x):
    """Return the SplitMix64 finaliser of uint64 `x`."""
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@jit
def draw(seed, game, turn, stream):
    """Return 64 random bits for one event of one game; all arguments are integers >= 0."""
    x = mix(np.uint64(seed) + _GAMMA)
    x = mix(x ^ (np.uint64(game) + _GAMMA))
    x = mix(x ^ (np.uint64(turn) + _GAMMA))
    return mix(x ^ (np.uint64(stream) + _GAMMA))


@jit
def roll_pair(bits, sides, different):
    """Return two dice from 64 random bits; `different` = an opening throw without ties (S-2)."""
    n = np.uint64(sides)
    first = np.int64(((bits & _LOW) * n) >> _32) + 1
    if different == 0:
        return first, np.int64(((bits >> _32) * n) >> _32) + 1
    second = np.int64(((bits >> _32) * np.uint64(sides - 1)) >> _32) + 1
    if second >= first:
        second += 1
    return first, second


@jit
def uniform(bits):
    """Return a float in [0, 1) from 64 random bits."""
    return np.float64(np.int64(bits >> _11)) * (1.0 / 9007199254740992.0)


@jit
def fill_rolls(seed, ids, turns, sides, opening_dice, dice):
    """Write the roll of each game's turn into `dice` `[B, 2] int8`."""
    for i in range(ids.shape[0]):
        different = 1 if opening_dice != 0 and turns[i] == 0 else 0
        bits = draw(seed, ids[i], turns[i], 0)
        a, b = roll_pair(bits, sides, different)
        dice[i, 0] = a
        dice[i, 1] = b


@jit
def fill_uniforms(seed, ids, turns, stream, out):
    """Write one number in [0, 1) per game and turn into `out` `[B] float64`."""
    for i in range(ids.shape[0]):
        out[i] = uniform(draw(seed, ids[i], turns[i], stream))
