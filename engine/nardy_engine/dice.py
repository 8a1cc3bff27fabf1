"""Rolls from seeds: pure functions of (seed, game, turn), never hidden in a state; layer 5.

The same numbers as `kernels/rng.py`, in plain Python for single games: the first needs no
compiled code, and a test holds the two together.
"""

from __future__ import annotations

from nardy_engine.rules.components import Opening
from nardy_engine.rules.variant import Variant
from nardy_engine.types import Dice

_WORD = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


def _mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def random_bits(seed: int, game: int, turn: int, stream: int = 0) -> int:
    """Return 64 random bits for one event of one game; all arguments are >= 0."""
    x = _mix((seed + _GAMMA) & _WORD)
    for part in (game, turn, stream):
        x = _mix(x ^ ((part + _GAMMA) & _WORD))
    return x


def roll(variant: Variant, seed: int, game: int, turn: int) -> Dice:
    """Return the roll of turn `turn` (from 0) of game `game`.

    With `opening_dice` the first turn is played with the two different dice that decided who
    begins (S-2, D-02); with `reroll` it is an ordinary throw (L-2).
    """
    sides = variant.dice.sides
    bits = random_bits(seed, game, turn)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    first = ((low * sides) >> 32) + 1
    if variant.opening is Opening.OPENING_DICE and turn == 0:
        second = ((high * (sides - 1)) >> 32) + 1
        return first, second + (second >= first)
    return first, ((high * sides) >> 32) + 1
