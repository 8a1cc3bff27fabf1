"""The errors of rules, positions and network files; layer 0, imports nothing.

Every error that a user can cause carries one sentence that says what is wrong and what would
be right, so that the command line can print it as it is. Other modules add their own below
`NardyError`:

    NardyError
    ├── VariantError      unknown game, unknown option, options that contradict each other
    ├── PositionError     a position that cannot occur in the game
    ├── DiceError         a roll that the game's dice cannot show
    ├── NotationError     text that does not parse; says where
    ├── IllegalPlayError  a play or a double that the rules do not allow in this position
    ├── CapacityError     more afterstates than the buffers hold (never a shorter list)
    └── CheckpointError   a network file that is missing, damaged, foreign or does not fit
"""

from __future__ import annotations


class NardyError(Exception):
    """Base of every error that this project raises on purpose."""


class VariantError(NardyError):
    """The game or one of its rule options does not exist or does not fit the others."""


class PositionError(NardyError):
    """The position cannot occur in the game."""


class DiceError(NardyError):
    """The roll is not one that the game's dice can show."""


class NotationError(NardyError):
    """The text is not in the notation that was expected; the message says where it breaks."""


class IllegalPlayError(NardyError):
    """The play is not among the legal plays of the position and roll, or nobody may double."""


class CapacityError(NardyError):
    """A buffer is too small for all legal afterstates; nothing was dropped silently."""


class CheckpointError(NardyError):
    """A network file is missing, truncated, foreign, or made for other rules."""
