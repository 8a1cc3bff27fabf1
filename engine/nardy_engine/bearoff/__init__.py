"""Exact endings: what a position is worth once both sides have come home; layer 5.

>>> from nardy_engine import load_variant
>>> from nardy_engine.bearoff import Bearoff, obstacle
>>> short = load_variant("short")
>>> bearoff = Bearoff.for_variant(short)
>>> board = short.start_position().board()[None]
>>> board[0] = 0
>>> board[0, :, 0], board[0, 0, 6], board[0, 1, 1] = 14, 1, 1   # 6-point against ace-point
>>> bearoff.outcome_probs(board).round(4).tolist()              # 27 of 36 rolls win at once
[[0.75, 0.0, 0.0, 0.25, 0.0, 0.0]]
>>> obstacle(load_variant("giveaway"))
'the first to bear off everything loses, so nobody hurries'
"""

from nardy_engine.bearoff.coverage import obstacle
from nardy_engine.bearoff.tables import Bearoff

__all__ = ["Bearoff", "obstacle"]
