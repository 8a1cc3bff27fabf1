"""Checkers, captives and emirs on a board: what a landing does (EMI-2, EMI-4..EMI-10).

A board is changed in place, so that the sentences of the rules can be followed one by one; it is
made from a position and read back as one.
"""

from __future__ import annotations

from enum import Enum

from nardy_engine.rules.memory import memory_index
from nardy_engine.rules.variant import Variant
from nardy_engine.types import OFF, Position, Row


class Field(Enum):
    """What a side finds on a point (EMI-4)."""

    OPEN = "open"
    """Empty or its own."""
    BLOT = "blot"
    """One free opposing checker that stands on no captive of the side."""
    CLOSED = "closed"
    """Two free opposing checkers or more, or at least one on a captive of the side."""


class EmirBoard:
    """Both sides, `side` 0 = the side to act; points are always in the numbering of `side`."""

    def __init__(self, variant: Variant, position: Position) -> None:
        """Copy a position."""
        self.variant = variant
        self._rows = [list(row) for row in position]
        self._slot = memory_index(variant)
        self._captives = self._slot["captive_1"] - 1  # a slot per point follows

    def position(self) -> Position:
        """Return what stands on the board now."""
        mover, opponent = map(tuple, self._rows)
        return Position(mover, opponent)

    # -- looking ------------------------------------------------------------------------------

    def free(self, side: int, place: int) -> int:
        """Return the free checkers of a side on a point, off or on the bar."""
        return self._rows[side][place]

    def recall(self, side: int, name: str) -> int:
        """Return a memory slot of a side (`rules.memory`)."""
        return self._rows[side][self._slot[name]]

    def is_captive(self, side: int, point: int) -> bool:
        """Return whether a checker of the side lies captive on a point."""
        return self._rows[side][self._captives + point] == 1

    def field(self, side: int, point: int) -> Field:
        """Return what the side finds on a point (EMI-4)."""
        theirs = self.free(1 - side, self.variant.opposite_point(point))
        if not theirs:
            return Field.OPEN
        return Field.BLOT if theirs == 1 and not self.is_captive(side, point) else Field.CLOSED

    def is_empty(self, side: int, point: int) -> bool:
        """Return whether nobody stands on a point; a captive never lies there alone."""
        return not self.free(side, point) and self.field(side, point) is Field.OPEN

    def may_land(self, side: int, point: int, is_double: bool) -> bool:
        """Return whether the dice allow a landing: not on a closed point (EMI-4, EMI-9)."""
        field = self.field(side, point)
        theirs = self.variant.opposite_point(point)
        emir_at_home = (
            field is Field.BLOT
            and self.recall(1 - side, "emir") == theirs
            and theirs <= self.variant.setup.home
        )
        return field is not Field.CLOSED and not (is_double and emir_at_home)

    def choices(self, side: int, point: int) -> tuple[bool, ...]:
        """Return who may leave a point with free checkers: True = the emir, False = another.

        On the head the order decides: those above the emir, then the emir, then the rest. On the
        other points the owner chooses (EMI-2).
        """
        if self.recall(side, "emir") != point:
            return (False,)
        if point == self.variant.head_point:
            return (self.recall(side, "emir_above") == 0,)
        return (False, True) if self.free(side, point) > 1 else (True,)

    def standing(self, side: int) -> Row:
        """Return `n_counts` counts of a side, its captives where they lie (EMI-13, EMI-14)."""
        row = self._rows[side][: self.variant.n_counts]
        for point in range(1, self.variant.bar):
            row[point] += self.is_captive(side, point)
        return tuple(row)

    def closing(self, side: int) -> Row:
        """Return `n_counts` numbers, 1 where the side closes its point for the other (EMI-13)."""
        row = [0] * self.variant.n_counts
        for point in range(1, self.variant.bar):
            theirs = self.variant.opposite_point(point)
            row[point] = self.field(1 - side, theirs) is Field.CLOSED
        return tuple(row)

    # -- moving -------------------------------------------------------------------------------

    def move(self, side: int, source: int, target: int, *, is_emir: bool, is_double: bool) -> bool:
        """Move one checker to a point where it may land, or off; return whether a blot was there.

        A blot is captured (EMI-5), or hit by a double unless it stands on its own head (EMI-7).
        """
        self._leave(side, source, is_emir)
        self._rows[side][target] += 1
        if is_emir:
            self._remember(side, "emir", target)
        if target == OFF:
            return False
        theirs = self.variant.opposite_point(target)
        if not self.free(1 - side, theirs):
            return False
        if is_double and theirs != self.variant.head_point:
            self._hit(1 - side, theirs, by_emir=is_emir)
        else:
            self._capture(1 - side, theirs, by_emir=is_emir)
        return True

    def place_nuker(self, side: int, point: int) -> None:
        """Put a nuker from the reserve on a point where no opposing checker is (EMI-11a)."""
        self._remember(side, "reserve", self.recall(side, "reserve") - 1)
        if point == self.variant.head_point:
            self._put_on_head(side, is_emir=False)
        else:
            self._rows[side][point] += 1

    def return_waiting(self, side: int) -> None:
        """Put the checkers on the bar back on the head, if it is not closed (EMI-8).

        Ordinary checkers first, the emir last; the first one captures a blot.
        """
        bar, head = self.variant.bar, self.variant.head_point
        waiting = self.free(side, bar)
        if not waiting or self.field(side, head) is Field.CLOSED:
            return
        emir_waits = self.recall(side, "emir") == bar
        self._rows[side][bar] = 0
        for _ in range(waiting - emir_waits):
            self._put_on_head(side, is_emir=False)
        if emir_waits:
            self._put_on_head(side, is_emir=True)

    # -- what moving consists of --------------------------------------------------------------

    def _remember(self, side: int, name: str, value: int) -> None:
        self._rows[side][self._slot[name]] = value

    def _leave(self, side: int, source: int, is_emir: bool) -> None:
        """Take a checker from a point; the last one releases the captive under it (EMI-6)."""
        self._rows[side][source] -= 1
        on_head = source == self.variant.head_point
        if on_head and not is_emir and self.recall(side, "emir") == source:
            self._remember(side, "emir_above", self.recall(side, "emir_above") - 1)
        theirs = self.variant.opposite_point(source)
        if not self.free(side, source) and self.is_captive(1 - side, theirs):
            self._rows[1 - side][self._captives + theirs] = 0
            self._rows[1 - side][theirs] += 1

    def _capture(self, side: int, point: int, *, by_emir: bool) -> None:
        """Make the blot of a side captive where it stands; emir by emir ends the game (EMI-10)."""
        self._rows[side][point] -= 1
        self._rows[side][self._captives + point] = 1
        if by_emir and self.recall(side, "emir") == point:
            self._remember(side, "emir_taken", 1)

    def _hit(self, side: int, point: int, *, by_emir: bool) -> None:
        """Send the blot of a side back to its head, or to the bar if that is closed (EMI-7)."""
        is_emir = self.recall(side, "emir") == point
        if is_emir and by_emir:
            # EMI-10: the game is over, but EMI-7 holds: the block rule judges what is left (T-4).
            self._remember(side, "emir_taken", 1)
        self._rows[side][point] -= 1
        if self.field(side, self.variant.head_point) is not Field.CLOSED:
            self._put_on_head(side, is_emir=is_emir)
            return
        self._rows[side][self.variant.bar] += 1
        if is_emir:
            self._remember(side, "emir", self.variant.bar)

    def _put_on_head(self, side: int, *, is_emir: bool) -> None:
        """Put a checker on top of a head that is not closed; a blot there is captured (EMI-8)."""
        head = self.variant.head_point
        theirs = self.variant.opposite_point(head)
        if self.field(side, head) is Field.BLOT:
            self._capture(1 - side, theirs, by_emir=is_emir)
        self._rows[side][head] += 1
        if is_emir:
            self._remember(side, "emir", head)
            self._remember(side, "emir_above", 0)
        elif self.recall(side, "emir") == head:
            self._remember(side, "emir_above", self.recall(side, "emir_above") + 1)
