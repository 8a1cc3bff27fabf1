"""Players: everything that can choose a play, behind one small protocol on batches.

A bot is named by a *spec*: `random`, `race`, `pubeval`, `positional-<game>`,
`net:<checkpoint>`, `net:<checkpoint>@1ply`, `exec:<command line>`.
"""

from nardy_rl.players.base import TIE, Bot, Choice, Turn, choose_best, segment_of
from nardy_rl.players.registry import bot_names, make_bot

__all__ = ["TIE", "Bot", "Choice", "Turn", "bot_names", "choose_best", "make_bot", "segment_of"]
