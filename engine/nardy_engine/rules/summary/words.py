"""Small words for the sentences of the rules: numbers, lists; layer 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

Sentences: TypeAlias = Iterator[tuple[str, str, str]]
"""`(sentence, names of the options that say so, rule numbers)`; names are parted by blanks."""

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def number(n: int) -> str:
    """Return a number as a word, or in digits if it is large."""
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def several(n: int, noun: str) -> str:
    """Return `one checker`, `two checkers`."""
    return f"{number(n)} {noun}" + ("" if n == 1 else "s")


def listed(parts: Iterable[object], last: str) -> str:
    """Return `6-6, 4-4 or 3-3`."""
    words = [str(part) for part in parts]
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
