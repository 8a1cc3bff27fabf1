"""Sentences on rolls of several segments: cascades, what is inherited, rolls anew; layer 2."""

from __future__ import annotations

from nardy_engine.rules.components import (
    CascadeKind,
    ExtraRoll,
    HeadLimit,
    HeirHead,
    HeirMode,
    TransferMode,
    TransferScope,
    ZeroFirstLevel,
)
from nardy_engine.rules.summary.words import Sentences, number, several
from nardy_engine.rules.variant import Variant


def cascade(v: Variant) -> Sentences:
    """Say how doubles climb (BGU-1)."""
    if not _climbs(v):
        return
    steps = number(v.dice.double_steps)
    yield (
        f"A double climbs: {steps} steps of its number, then {steps} of each higher number up to "
        f"{v.dice.sides}. Each of these levels is a segment.",
        "cascade",
        "BGU-1, BNA-1",
    )
    if v.cascade.from_roll > 1:
        rolls = several(v.cascade.from_roll - 1, "roll").removeprefix("one ")
        yield (
            f"The doubles of a side's first {rolls} do not climb.",
            "cascade.from_roll",
            "7.12 note",
        )


def extra_roll(v: Variant) -> Sentences:
    """Say who rolls again (GUL-4)."""
    if v.extra_roll is ExtraRoll.AFTER_FULL_DOUBLE:
        yield (
            f"Who has himself played all {number(v.dice.double_steps)} steps of a double rolls "
            "again, as often as that happens.",
            "extra_roll",
            "GUL-4, GUL-5",
        )


_SCOPES = {
    TransferScope.OFF: ("What cannot be played is lost.", "T-8"),
    TransferScope.ALL_ROLLS: (
        "What the roller cannot play of a roll the other side, the heir, must play before the "
        "next roll.",
        "GUL-1, GUL-2, BNA-6",
    ),
    TransferScope.DOUBLES_ONLY: (
        "What the roller cannot play of a double the other side, the heir, must play before the "
        "next roll; what cannot be played of other rolls is lost.",
        "BGU-5",
    ),
}

_HEIRS = {
    HeirMode.SKIP_AND_CONTINUE: (
        "The heir plays level by level, lowest first; what cannot be played of a level is lost, "
        "and the next one follows.",
        "BGU-3",
    ),
    HeirMode.STOP_AT_FIRST_UNPLAYABLE: (
        "The heir plays level by level, lowest first; with the first step that cannot be played "
        "all the rest is lost.",
        "D-20",
    ),
    HeirMode.FREE_POOL: (
        "The heir plays all inherited steps as one segment, in any order; what cannot be played "
        "is lost.",
        "D-20",
    ),
}


def transfer(v: Variant) -> Sentences:
    """Say what becomes of dice that the roller cannot play (GUL-1..3, BGU-2..5, BNA-4..7)."""
    inherits = v.transfer.scope is not TransferScope.OFF
    remainder = v.transfer.mode is TransferMode.REMAINDER
    text, rules = _SCOPES[v.transfer.scope]
    yield text, "transfer.scope", rules
    if _climbs(v):
        if remainder:
            fate = "go to the heir" if inherits else "are lost"
            text = (
                "At the first level that the roller cannot finish his roll ends; the rest of that "
                f"level and all higher ones {fate}."
            )
        else:
            fate = "goes to the heir at once" if inherits else "is lost"
            text = (
                f"The rest of a level that the roller cannot finish {fate}; the roller goes on "
                "with the next level."
            )
        yield text, "transfer.mode", "BGU-2" if remainder else "BNA-4"
    if _climbs(v) or inherits:
        yield _zero_first_level(v)
    if not inherits:
        return
    if _climbs(v) and remainder:
        text, rules = _HEIRS[v.transfer.heir]
        yield text, "transfer.heir", rules
    else:
        yield (
            "What is inherited is a segment of its own; what the heir cannot play of it is lost.",
            "transfer.scope",
            "GUL-3",
        )
    if v.head.limit is not HeadLimit.ONE:
        return
    one = "Inheriting, a side may take one checker from its head"
    apart = "whatever its own rolls allow."
    if not _climbs(v):
        yield f"{one}, {apart}", "transfer.scope", "GUL-3, GUL-6"
    elif v.transfer.heir_head is HeirHead.TOTAL:
        yield f"{one} of all that a roll leaves it, {apart}", "transfer.heir_head", "BGU-4"
    else:
        yield f"{one} in each segment, {apart}", "transfer.heir_head", "BNA-7"


def _zero_first_level(v: Variant) -> tuple[str, str, str]:
    """Say what follows a double of which nothing can be played (BNA-5, D-14)."""
    zero = v.transfer.zero_first_level
    if zero is ZeroFirstLevel.VOID_ROLL:
        what, rules = "the whole roll is void", "BNA-5"
    elif zero is ZeroFirstLevel.SKIP_LEVEL:
        what, rules = "that level is lost and the roller goes on with the next one", "D-14"
    elif not _climbs(v):
        what, rules = "the heir gets all of it", "GUL-1"
    elif v.transfer.mode is TransferMode.REMAINDER:
        what, rules = "the heir gets the whole roll", "BGU-2"
    else:
        what, rules = "the heir gets that level, like any other", "D-14"
    text = f"If no step at all of the double thrown can be played, {what}."
    return text, "transfer.zero_first_level", rules


def _climbs(v: Variant) -> bool:
    return v.cascade.kind is not CascadeKind.OFF
