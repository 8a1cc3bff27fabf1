"""The rules, executable and obvious: pure Python written after rules.md section by section.

It knows nothing of the kernels, which implement the same rules independently; the two are
compared on millions of positions. Layer 3; imports types and rules.
"""

from nardy_engine.reference.plays import plays
from nardy_engine.reference.rolls import RollResult, whole_roll
from nardy_engine.reference.scoring import is_race, outcome
from nardy_engine.reference.turns import next_position

__all__ = ["RollResult", "is_race", "next_position", "outcome", "plays", "whole_roll"]
