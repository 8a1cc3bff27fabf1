"""Why a play is not legal, in one sentence for the person who typed it.

Layer 3; imports types, rules, and from the reference engine what a roll gives. It never decides:
legality is the reference engine's answer. Here the typed steps are tried in every order that fits
the roll, and the obstacle met by the order that comes farthest is put into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations

from nardy_engine.notation.blocks import forbidden_block
from nardy_engine.notation.reading import counted, listed
from nardy_engine.reference.head import dice_programme
from nardy_engine.rules import Variant
from nardy_engine.rules.components import BlockCheck, Contact, HeadLimit, Overshoot, Parity
from nardy_engine.types import OFF, Dice, Play, Position

Way = tuple[int, ...]
"""Slots that one checker touches, source first; points between may be left out."""

Hop = tuple[int, int, int]
"""Source, target and die of one step."""

_MOST_SHOWN = 12
"""Legal plays named in one sentence."""


def not_among(variant: Variant, position: Position, dice: Dice | None, legal: Sequence[str]) -> str:
    """Say which plays are legal, where it would take more than one sentence to say why.

    Args:
        variant: The game.
        position: Before the play, mover in row 0.
        dice: The roll; None if the position says what is played.
        legal: The texts of all legal plays.

    Returns:
        One sentence without its final stop.
    """
    only_pass = len(legal) == 1 and legal[0] == "pass"
    if only_pass and dice and variant.dice.parity is not Parity.OFF:
        first = variant.recall(position.mover, "first") == 1
        kind = "even" if first else "odd"
        if (min(dice) % 2 == 0) is not first:
            return f"this side plays only if the smaller number is {kind}; the only play is to pass"
    if only_pass:
        return "no die can be played, so the only legal play is to pass"
    if len(legal) == 1:
        return f"this is not legal; the only legal play is {legal[0]}"
    if len(legal) <= _MOST_SHOWN:
        return f"this is not among the legal plays, which are {listed(legal, 'and')}"
    shown = ", ".join(legal[:_MOST_SHOWN])
    return f"this is not among the {len(legal)} legal plays, such as {shown}"


def why_illegal(
    variant: Variant,
    position: Position,
    dice: Dice,
    ways: Sequence[Way],
    legal: Sequence[Play],
    example: str,
) -> str:
    """Say why a play is not among the legal ones.

    Args:
        variant: The game.
        position: Before the play, mover in row 0.
        dice: The roll.
        ways: The ways typed, one for each checker moved.
        legal: All legal plays.
        example: One of them as text, to show.

    Returns:
        One sentence without its final stop.
    """
    roll = f"{dice[0]}-{dice[1]}"
    most = max(len(play.steps) for play in legal)
    if not ways:
        return f"{roll} can be played, so passing is not allowed; for instance {example}"
    missing = _missing_checker(variant, position, ways) or _unfit(variant, dice, ways)
    if missing:
        return missing
    trials = list(_trials(variant, dice, ways))
    if not trials:
        return f"the roll {roll} does not give all of these steps"
    allowance = _head_allowance(variant, legal, dice)
    best = max((_try(variant, position, trial, allowance) for trial in trials), key=lambda t: t[0])
    if best[1]:
        return f"{best[1]}; the only legal play is to pass" if most == 0 else best[1]
    return _incomplete(variant, dice, len(trials[0]), legal, example) or (
        f"this play is not legal with {roll}; for instance {example} is"
    )


# -- what the text itself says --------------------------------------------------------------------


def _name(variant: Variant, slot: int) -> str:
    return "the bar" if slot == variant.bar else str(slot)


def _missing_checker(variant: Variant, position: Position, ways: Sequence[Way]) -> str:
    """Find a point that is asked for more checkers than it holds or receives."""
    for source in sorted({way[0] for way in ways}, reverse=True):
        leaving = sum(way[0] == source for way in ways)
        arriving = sum(way[-1] == source for way in ways)
        held = position.mover[source]
        if leaving > held + arriving:
            place = _name(variant, source)
            if not held and not arriving:
                return f"you have no checker on {place}"
            return f"you have only {counted(held + arriving, 'checker')} to move from {place}"
    return ""


def _unfit(variant: Variant, dice: Dice, ways: Sequence[Way]) -> str:
    """Find a hop that no part of the roll can make."""
    program = dice_programme(variant, dice)
    sums = {sum(order[:n]) for order in permutations(program) for n in range(1, len(order) + 1)}
    for way in ways:
        for source, target in pairwise(way):
            if not any(True for _ in _splits(source, target, program)):
                pips = source - target
                place = "off" if target == OFF else str(target)
                start = "bar" if source == variant.bar else str(source)
                return (
                    f"{start}/{place} is {counted(pips, 'pip')}; with {dice[0]}-{dice[1]} "
                    f"one checker moves {listed(sorted(sums))}"
                )
    return ""


def _splits(source: int, target: int, program: tuple[int, ...]) -> Iterator[tuple[Hop, ...]]:
    """Yield every way to make one hop in single steps with dice of the programme."""
    for die in sorted(set(program), reverse=True):
        landing = source - die
        if landing == target or (target == OFF and landing < OFF):
            yield ((source, target, die),)
        elif landing > target:
            rest = list(program)
            rest.remove(die)
            for more in _splits(landing, target, tuple(rest)):
                yield ((source, landing, die), *more)


def _trials(variant: Variant, dice: Dice, ways: Sequence[Way]) -> Iterator[tuple[Hop, ...]]:
    """Yield the steps of all ways for each assignment of dice, in no particular order."""
    hops = [hop for way in ways for hop in pairwise(way)]

    def assign(i: int, program: tuple[int, ...]) -> Iterator[tuple[Hop, ...]]:
        if i == len(hops):
            yield ()
            return
        for steps in _splits(*hops[i], program):
            rest = list(program)
            for step in steps:
                rest.remove(step[2])
            for more in assign(i + 1, tuple(rest)):
                yield (*steps, *more)

    yield from assign(0, dice_programme(variant, dice))


# -- playing the steps ----------------------------------------------------------------------------


def _head_allowance(variant: Variant, legal: Sequence[Play], dice: Dice) -> int:
    """Return how many checkers may leave the head, as the legal plays show it (L-5..L-8)."""
    if variant.head.limit is not HeadLimit.ONE or set(dice) & set(variant.head.lifted_by):
        return variant.setup.checkers
    head = variant.head_point
    return max(1, *(sum(step.source == head for step in play.steps) for play in legal))


def _try(
    variant: Variant, position: Position, hops: tuple[Hop, ...], allowance: int
) -> tuple[int, str]:
    """Return how many steps the best order makes, and what stops it ('' if nothing does)."""
    best = (-1, "")
    for order in dict.fromkeys(permutations(hops)):
        reached = _play_order(variant, position, order, allowance)
        if not reached[1]:
            return reached
        if reached[0] > best[0]:
            best = reached
    return best


def _play_order(
    variant: Variant, position: Position, order: tuple[Hop, ...], allowance: int
) -> tuple[int, str]:
    mover, opponent = list(position.mover), list(position.opponent)
    left_head = 0
    every_step = variant.block.check is BlockCheck.EVERY_STEP
    for made, hop in enumerate(order):
        source, target, _ = hop
        left_head += source == variant.head_point
        if left_head > allowance:
            number = "one checker" if allowance == 1 else f"{allowance} checkers"
            return made, f"only {number} may leave the head with this roll"
        obstacle = _obstacle(variant, mover, opponent, hop)
        if obstacle:
            return made, obstacle
        mover[source] -= 1
        mover[target] += 1
        theirs = variant.opposite_point(target)
        if target != OFF and opponent[theirs]:
            opponent[theirs] -= 1
            opponent[variant.bar] += 1
        if every_step or made == len(order) - 1:
            block = forbidden_block(variant, Position(tuple(mover), tuple(opponent)))
            if block:
                return made, block
    return len(order), ""


def _obstacle(variant: Variant, mover: list[int], opponent: list[int], hop: Hop) -> str:
    """Say what forbids a single step, or ''."""
    source, target, die = hop
    if not mover[source]:
        return f"you have no checker on {_name(variant, source)}"
    if mover[variant.bar] and source != variant.bar:
        return "a checker on the bar must enter before any other moves"
    if target == OFF:
        return _bearing_off(variant, mover, source, die)
    standing = opponent[variant.opposite_point(target)]
    if standing >= (2 if variant.contact is Contact.HIT else 1):
        return f"point {target} is closed by {counted(standing, 'opposing checker')}"
    return _held_back(variant, mover, source)


def _held_back(variant: Variant, mover: list[int], source: int) -> str:
    """Say which rule keeps a checker on `source` (BNA-2, FEV-2), or ''."""
    if variant.home.frozen and source <= variant.setup.home:
        return "a checker that has reached the home board does not move inside it"
    if variant.head.limit is HeadLimit.RUNNER and source == variant.head_point:
        passed = sum(mover[: variant.setup.points // 2])
        if not passed and mover[source] < variant.setup.checkers:
            return "until the first checker has passed the opponent's head no other leaves the head"
    return ""


def _bearing_off(variant: Variant, mover: list[int], source: int, die: int) -> str:
    """Say what forbids bearing off from `source` (L-30..L-32, ONE-3, BNA-3), or ''."""
    outside = [slot for slot in range(variant.setup.home + 1, variant.n_counts) if mover[slot]]
    if outside:
        place = _name(variant, outside[-1])
        return (
            "checkers are borne off only when all are in the home board, "
            f"and one is still on {place}"
        )
    if die not in variant.bearoff.dice:
        return f"a {die} bears nothing off; only {listed(variant.bearoff.dice)} does"
    higher = [point for point in range(source + 1, variant.setup.home + 1) if mover[point]]
    if die > source and variant.bearoff.overshoot is Overshoot.EXACT_ONLY:
        return f"a {die} bears off only from point {die}"
    if die > source and higher and variant.bearoff.overshoot is Overshoot.HIGHEST:
        return (
            f"a {die} may bear off from {source} only when no checker stands higher, "
            f"and one is on {higher[-1]}"
        )
    return ""


# -- complete, but not enough ---------------------------------------------------------------------


def _incomplete(
    variant: Variant, dice: Dice, used: int, legal: Sequence[Play], example: str
) -> str:
    """Say that more dice, or the larger die, must be played (T-5, T-6), or ''."""
    most = max(len(play.steps) for play in legal)
    if used < most:
        program = dice_programme(variant, dice)
        if len(program) == 2:
            what = "both dice must be played"
        elif most == len(program):
            what = f"all {most} steps of {dice[0]}-{dice[1]} must be played"
        else:
            steps = f"{most} of the {len(program)} steps of {dice[0]}-{dice[1]}"
            what = f"{steps} can be played and must be"
        return f"{what}; for instance {example} uses {'both' if len(program) == 2 else most}"
    if used == most == 1 and dice[0] != dice[1]:
        return (
            f"only one die can be played, and it must be the larger: {max(dice)}; "
            f"for instance {example}"
        )
    return ""
