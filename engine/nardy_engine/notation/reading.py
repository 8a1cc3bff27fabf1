"""Tools shared by the parsers: tokens with their columns, and errors that show the place.

Layer 3 with the rest of `notation`; imports errors and types. Knows no notation itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from nardy_engine.errors import NotationError

_TOKEN = re.compile(r"(?P<number>[0-9]+)|(?P<word>[^\W\d_]+)|(?P<symbol>\S)")

_MAX_DIGITS = 4
"""Digits of the longest number that any notation can hold; longer ones are refused unread."""

_CONTEXT = 18
"""Characters shown on either side of the fault."""


class Token(NamedTuple):
    """A number, a word (lower case) or a single symbol, and where it stands."""

    kind: str
    """`number`, `word`, `symbol`, or `end` after the last one."""
    text: str
    start: int
    """Index of the first character."""
    end: int
    """Index after the last character."""


def tokens(text: str) -> list[Token]:
    """Split `text`; the list always ends with a token of kind `end`.

    Raises:
        NotationError: A number has more digits than any notation uses.
    """
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "symbol"
        token = Token(kind, match.group().lower(), match.start(), match.end())
        if kind == "number" and len(token.text) > _MAX_DIGITS:
            raise fault("this number is too long", text, token.start, token.end)
        found.append(token)
    found.append(Token("end", "", len(text), len(text)))
    return found


def fault(what: str, text: str, start: int, end: int | None = None) -> NotationError:
    """Return an error of one sentence: `what`, the column, and the text with the place marked.

    Args:
        what: The sentence without its final stop.
        text: All that was read.
        start: Index of the first wrong character; `len(text)` if something is missing there.
        end: Index after the last wrong character; default `start + 1`.

    >>> str(fault("point 29 is not on the board", "W{29:15}", 2, 4))
    "point 29 is not on the board (column 3: 'W{>>29<<:15}')"
    """
    end = min(len(text), start + 1 if end is None else end)
    before, bad, after = text[:start], text[start:end], text[end:]
    if len(before) > _CONTEXT:
        before = "..." + before[-_CONTEXT:]
    if len(after) > _CONTEXT:
        after = after[:_CONTEXT] + "..."
    if len(bad) > 2 * _CONTEXT:
        bad = bad[: 2 * _CONTEXT] + "..."
    shown = "".join(c if c.isprintable() else "?" for c in f"{before}>>{bad}<<{after}")
    return NotationError(f"{what} (column {start + 1}: '{shown}')")


def listed(items: Sequence[object], last: str = "or") -> str:
    """Return `1, 2 or 3`."""
    words = [str(item) for item in items]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(count: int, noun: str) -> str:
    """Return `1 checker` or `2 checkers`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
