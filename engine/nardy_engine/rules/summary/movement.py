"""Sentences on how checkers move: head, teleports, blocks, bearing off; layer 2."""

from __future__ import annotations

from nardy_engine.rules.components import (
    BlockCheck,
    BlockRule,
    CascadeKind,
    Contact,
    Direction,
    ExceptionWhen,
    HeadException,
    HeadLimit,
    KarzarScope,
    Overshoot,
    Parity,
    TeleportFallback,
    TeleportKind,
)
from nardy_engine.rules.memory import has_segments
from nardy_engine.rules.summary.words import Sentences, listed, number
from nardy_engine.rules.variant import Variant


def head(v: Variant) -> Sentences:
    """Say how many checkers may leave the head (L-5..L-9, FEV-2..FEV-5)."""
    if v.setup.direction is Direction.OPPOSITE:
        return
    if v.head.limit is HeadLimit.NONE:
        yield (
            f"Any number of checkers may leave point {v.head_point} in a roll.",
            "head.limit",
            "KHA-2",
        )
        return
    if v.head.limit is HeadLimit.RUNNER:
        passed = v.opposite_point(v.head_point) - 1
        yield (
            "Until the first checker, the runner, has passed the other side's head, no other may "
            f"leave the own head. Once a checker stands on {passed} or lower, or is off, any "
            "number may, from the next die on.",
            "head.limit",
            "FEV-2, FEV-3, FEV-4" + ", GIU-2" * has_segments(v),
        )
        return
    climbs = v.cascade.kind is not CascadeKind.OFF
    yield (
        f"At most one checker may leave the head per roll{', all its levels together' * climbs}.",
        "head.limit",
        "BGU-4" if climbs else "L-5",
    )
    yield _head_exception(v)
    if v.head.exception is not HeadException.NONE:
        yield _first_play(v)
    if v.head.lifted_by:
        yield (
            f"A roll that shows {listed(v.head.lifted_by, 'or')} lifts the limit for it.",
            "head.lifted_by",
            "KAF-4, KAF-8, ONE-2",
        )


def _head_exception(v: Variant) -> tuple[str, str, str]:
    """Say when two checkers may leave the head in the first play (L-6..L-9, D-01)."""
    kind = v.head.exception
    two = "In its first play a side may take two checkers from the head"
    doubles = listed((f"{n}-{n}" for n in reversed(v.head.exception_doubles)), "or")
    by_head = "if the other side's head is what stops a lone checker on its way"
    if kind is HeadException.PRINCIPLE:
        return f"{two} {by_head}.", "head.exception", "AST-3"
    if kind is HeadException.ANY_DOUBLE:
        return f"{two} with any double.", "head.exception", "D-01"
    if kind is HeadException.NONE:
        return "The first play is no exception.", "head.exception", "D-01"
    text, rules = {
        HeadException.HEAD_BLOCKED: (
            f"{two} with {doubles}, {by_head}.",
            "L-6, L-7, L-8, L-9" + ", KAF-9" * bool(v.head.lifted_by),
        ),
        HeadException.LISTED: (f"{two} with {doubles}, whatever stands in the way.", "L-6, D-01"),
        HeadException.SECOND_PLAYER_ANY_BLOCKED: (
            f"{two} with {doubles}, {by_head}, or, if the other side has left its head, with any "
            "double that a lone checker cannot complete.",
            "D-01",
        ),
    }[kind]
    return text, "head.exception head.exception_doubles", rules


def _first_play(v: Variant) -> tuple[str, str, str]:
    """Say which play is the first (L-7a, D-22)."""
    skips = v.dice.parity is not Parity.OFF
    if v.head.exception_when is ExceptionWhen.ALL_ON_HEAD:
        skipped = "; a skipped turn does not use it up" * skips
        return (
            f"A first play is one begun with all own checkers on the head{skipped}.",
            "head.exception_when",
            "L-7" + ", CHN-2" * skips,
        )
    return (
        f"A first play is that of a side's first roll{', even if it is skipped' * skips}.",
        "head.exception_when",
        "D-22, EMI-3",
    )


def teleport(v: Variant) -> Sentences:
    """Say which dice lead straight home (KAF, ONE, KAB)."""
    kind, ends = v.teleport.kind, f"A 1 or a {v.dice.sides}"
    if kind is TeleportKind.OFF:
        return
    thrown = "thrown while the head is not empty"
    straight = "straight to the home point of its number, over whatever lies between"
    if kind is TeleportKind.KAFTAR_OPTIONAL:
        yield (
            f"{ends} {thrown} may take a head checker {straight}, or be an ordinary step; a "
            "double may do either four times.".replace("four", number(v.dice.double_steps)),
            "teleport",
            "ONE-1, KAF-10",
        )
        return
    double = kind is TeleportKind.KABUTAR
    if double:
        yield (
            f"A double {thrown} must take {number(v.dice.double_steps)} head checkers {straight}. "
            "If every way of doing so leaves a forbidden block, it is as if that point were "
            "closed.",
            "teleport",
            "KAB-1, KAB-4, KAB-5",
        )
    else:
        yield (
            f"{ends} {thrown} must take a head checker {straight}, a double "
            f"{number(v.dice.double_steps)} of them: as many as the position allows.",
            "teleport",
            "KAF-1, KAF-2, KAF-3, KAF-5, KAF-6, KAF-10",
        )
    fate = {TeleportFallback.ORDINARY: "ordinary", TeleportFallback.LOST: "lost"}
    yield (
        f"If the home point is closed the {'double' if double else 'die'} is "
        f"{fate[v.teleport.blocked]}.",
        "teleport.blocked",
        "KAB-3" if double else "KAF-8",
    )
    yield (
        f"Steps for which the head has no checker left are {fate[v.teleport.short_head]}.",
        "teleport.short_head",
        "KAB-2" if double else "KAF-7",
    )


def block(v: Variant) -> Sentences:
    """Say which blocks are forbidden and when that is judged (L-20..L-25)."""
    rule, emir = v.block.rule, v.contact is Contact.EMIR
    if rule is BlockRule.NONE:
        yield "Any points may be held together.", "block.rule", "S-7"
        return
    if rule is BlockRule.START_SECTOR:
        yield (
            f"A side may not hold all {number(v.setup.home)} points of its start quarter; any "
            "other points may be held together.",
            "block.rule",
            "FEV-6",
        )
    else:
        yield _runs(v)
    segments = has_segments(v)
    if v.block.check is BlockCheck.EVERY_STEP:
        yield "Blocks are judged after every step.", "block.check", "L-23, L-25"
        return
    yield (
        f"Blocks are judged when the {'segment' if segments else 'play'} is complete, not on the "
        "way.",
        "block.check",
        "L-23, L-25" + ", BNA-8" * segments + ", EMI-13" * emir,
    )


def _runs(v: Variant) -> tuple[str, str, str]:
    """Say which runs of points are forbidden (L-20..L-22, KAR-1, D-04)."""
    emir = v.contact is Contact.EMIR
    where = (
        "points closed for the other side in a row on its route"
        if emir
        else "occupied points in a row on the other side's route"
    )
    run = f"A block, {number(v.block.length)} or more {where}, is"
    options = "block.rule block.length"
    if v.block.rule is BlockRule.NEVER:
        return f"{run} forbidden.", options, "D-04"
    if v.block.rule is BlockRule.AHEAD:
        text = f"{run} forbidden unless a checker of the other side has passed it."
        return text, options, "L-20, L-21, L-22" + ", EMI-13" * emir
    until = "forbidden until a checker of the other side has come home or is off"
    options += " block.karzar_scope"
    if v.block.karzar_scope is KarzarScope.ANY_RUN:
        return f"{run} {until}.", options, "KAR-1, D-06"
    return f"{run} {until}, unless none is behind it.", options, "KAR-1, KAR-3"


def bearoff(v: Variant) -> Sentences:
    """Say how checkers leave the board (L-30..L-33)."""
    where, rules = {
        Contact.NONE: ("", "L-30, L-31"),
        Contact.HIT: (" and none on the bar", "S-6"),
        Contact.EMIR: (", free or captive, and none on the bar", "EMI-14"),
    }[v.contact]
    yield (
        f"With all checkers left at home{where}, a die bears off a checker from the point of its "
        "number; the same play may have brought the last one home.",
        "contact",
        rules,
    )
    if v.bearoff.dice != tuple(range(1, v.dice.sides + 1)):
        dice, plural = listed(v.bearoff.dice, "and"), len(v.bearoff.dice) > 1
        only = f"Only {dice} {'bear' if plural else 'bears'} off."
        yield only, "bearoff.dice", "ONE-3, ONE-4"
    larger = "A number larger than needed bears off"
    if v.bearoff.overshoot is Overshoot.HIGHEST:
        yield f"{larger} from the highest point held only.", "bearoff.overshoot", "L-32"
    elif v.bearoff.overshoot is Overshoot.EXACT_ONLY:
        yield f"{larger} nothing.", "bearoff.overshoot", "BNA-3"
    else:
        yield (
            f"{larger} from the highest point held, or below checkers that cannot play it.",
            "bearoff.overshoot",
            "D-10",
        )
    if v.home.frozen:
        yield (
            "No checker moves from one home point to another; once home it can only be borne off.",
            "home.frozen",
            "BNA-2",
        )
    else:
        yield "A die may be played inside the home instead.", "home.frozen", "L-33"
