"""Positions to the few numbers that hand-made linear players add up; layer 3."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import jit
from nardy_engine.rules.table import HEAD_ONE, HEAD_RUNNER, OVERSHOOT_EXACT

STACK_HEIGHT = 2
"""Checkers on a point above which it counts as a stack."""

SPARE = 2
"""Checkers of a quarter that keep every number playable there."""

SHORTEST_RUN, LONGEST_RUN = 3, 6
"""Lengths of runs that are counted, each on its own."""

POSITIONAL_FEATURES = (
    "spread",
    "home_spread",
    "stack",
    "head",
    "own_front",
    "their_front",
    "quarters",
    "pips",
    "off",
    "lag",
    "block3",
    "block4",
    "block5",
    "block6",
    "start",
    "home_stack",
    "exit",
    "saved",
    "dice",
    "their_dice",
    "landing",
    "blots",
    "risk",
    "risk_pips",
    "bar",
    "their_bar",
    "shut_out",
    "their_pips",
    "owed",
    "their_owed",
    "again",
    "captives",
    "captured",
    "reserve",
    "emir_risk",
    "emir_fatal",
)
"""Columns of `fill_positional`, in order; what they mean: `nardy_rl.players.features`."""

(
    F_SPREAD,
    F_HOME_SPREAD,
    F_STACK,
    F_HEAD,
    F_OWN_FRONT,
    F_THEIR_FRONT,
    F_QUARTERS,
    F_PIPS,
    F_OFF,
    F_LAG,
    F_BLOCK,
    _,
    _,
    _,
    F_START,
    F_HOME_STACK,
    F_EXIT,
    F_SAVED,
    F_DICE,
    F_THEIR_DICE,
    F_LANDING,
    F_BLOTS,
    F_RISK,
    F_RISK_PIPS,
    F_BAR,
    F_THEIR_BAR,
    F_SHUT_OUT,
    F_THEIR_PIPS,
    F_OWED,
    F_THEIR_OWED,
    F_AGAIN,
    F_CAPTIVES,
    F_CAPTURED,
    F_RESERVE,
    F_EMIR_RISK,
    F_EMIR_FATAL,
) = range(len(POSITIONAL_FEATURES))


class DiceOdds(NamedTuple):
    """What the dice of a game bring on average, the numbers that its features weigh with."""

    share: NDArray[np.float32]
    """`[S + 1]` share of each number among the steps that rolls give."""
    reach: NDArray[np.float32]
    """`[n + 2]` chance that a roll takes one checker exactly so far, were nothing in its way."""
    exits: NDArray[np.float32]
    """`[n + 2]` how often a home point is borne off from exactly, 1 = the most frequent one."""
    landings: NDArray[np.float32]
    """`[n + 2]` share of each home point among those that teleports lead to."""


@jit
def fill_slot_sums(boards, offsets, which, tables, out):
    """Write to `out` `[A]` the sum over the slots of what the checkers there are worth.

    boards: `[A, 2, P] int8` afterstates, those of game `b` at `offsets[b]..offsets[b + 1]`;
    which: `[B]` the table of each game; tables: `[T, 2, n + 2, C + 1]` worth of 0..C checkers.
    """
    for game in range(which.shape[0]):
        table = tables[which[game]]
        for a in range(offsets[game], offsets[game + 1]):
            total = 0.0
            for side in range(2):
                for slot in range(table.shape[1]):
                    total += table[side, slot, boards[a, side, slot]]
            out[a] = total


@jit
def facing(point, rules):
    """Return the other side's number of `point` (G-2, G-5)."""
    if rules.opposite != 0:
        return rules.n_points + 1 - point
    half = rules.n_points // 2
    return point - half if point > half else point + half


@jit
def is_captive(row, point, rules):
    """Return whether a checker of the side lies captive on its `point` (EMI-5)."""
    return rules.captive != 0 and row[rules.captive + point - 1] != 0


@jit
def held_points(row, other, rules):
    """Return the points on which `other` may not land, as bits in the numbering of `row`.

    One checker holds a point where nothing is hit; elsewhere two do, or one on a captive (EMI-4).
    """
    bits = 0
    for point in range(1, rules.n_points + 1):
        count = np.int64(row[point])
        if count == 0:
            continue
        alone = count == 1 and (rules.hit != 0 or rules.emir != 0)
        if not alone or is_captive(other, facing(point, rules), rules):
            bits |= 1 << point
    return bits


@jit
def on_other_side(bits, rules):
    """Return a set of points in the numbering of the other side."""
    turned = 0
    for point in range(1, rules.n_points + 1):
        if (bits >> point) & 1:
            turned |= 1 << facing(point, rules)
    return turned


@jit
def occupied_slots(row, rules):
    """Return the points and the bar where the side has free checkers, as bits."""
    bits = 0
    for slot in range(1, rules.n_points + 2):
        if row[slot] > 0:
            bits |= 1 << slot
    return bits


@jit
def head_is_locked(row, rules):
    """Return whether the runner keeps the others on the head (FEV-2)."""
    if rules.head_limit != HEAD_RUNNER or row[0] > 0 or row[rules.n_points] == rules.checkers:
        return False
    for point in range(1, rules.n_points // 2):
        if row[point] > 0:
            return False
    return True


@jit
def playable_share(row, closed, rules, share):
    """Return the share of dice with which the side has a step, as far as points forbid it.

    closed: the points it may not land on, as bits; share: see `DiceOdds`.
    """
    occupied = occupied_slots(row, rules)
    bar = 1 << (rules.n_points + 1)
    if occupied & bar and rules.hit != 0:
        occupied = bar
    elif head_is_locked(row, rules):
        occupied &= ~(1 << rules.n_points)
    all_home = occupied >> (rules.home + 1) == 0
    total = np.float32(0.0)
    for die in range(1, rules.sides + 1):
        moving = occupied & ~(closed << die) & ~((1 << (die + 1)) - 1)
        if rules.frozen_home != 0:
            moving &= ~((1 << (rules.home + 1)) - 1)
        if all_home and (rules.bearoff_dice >> die) & 1:
            moving |= occupied & (1 << die)
            if occupied >> die == 0 and rules.overshoot != OVERSHOOT_EXACT:
                moving |= occupied
        if moving != 0:
            total += share[die]
    return total


@jit
def owed_pips(row, closed, rules):
    """Return the pips of the steps that the side owes and can make, as far as points forbid it."""
    n, pips = rules.n_points, 0
    for die in range(1, rules.sides + 1):
        steps = np.int64(row[rules.owed + die - 1])
        if steps == 0:
            continue
        found = 0
        for point in range(1, n + 1):
            count = np.int64(row[point])
            if count == 0 or (rules.frozen_home != 0 and point <= rules.home):
                continue
            if point == n and rules.head_limit == HEAD_ONE:
                count = 1
            target = point - die
            while target >= 1 and (closed >> target) & 1 == 0:
                found += count
                target -= die
        pips += die * (found if found < steps else steps)
    return pips


@jit
def landing_chance(theirs, point, reach, rules):
    """Return the chance that a roll takes one of their checkers to `point`, in their numbering."""
    miss = np.float32(1.0)
    for slot in range(point + 1, rules.n_points + 2):
        if theirs[slot] > 0:
            miss *= np.float32(1.0) - reach[slot - point]
    return np.float32(1.0) - miss


@jit
def add_blots(mine, theirs, rules, odds, row):
    """Add the features of lone checkers that can be hit or captured (S-3, EMI-5, EMI-7)."""
    n = rules.n_points
    for point in range(1, n + 1):
        if mine[point] != 1 or is_captive(theirs, facing(point, rules), rules):
            continue
        chance = landing_chance(theirs, facing(point, rules), odds.reach, rules)
        if chance > 0:
            row[F_BLOTS] += 1.0
            row[F_RISK] += chance
            row[F_RISK_PIPS] += chance * np.float32(n + 1 - point)


@jit
def add_emir(mine, theirs, rules, odds, row):
    """Add the features of captives, nukers and the emir (EMI-1, EMI-5, EMI-10)."""
    row[F_RESERVE] = mine[rules.in_reserve]
    for point in range(1, rules.n_points + 1):
        if is_captive(mine, point, rules):
            row[F_CAPTURED] += 1.0
            row[F_PIPS] += point
            row[F_LAG] += point * point
        if is_captive(theirs, point, rules):
            row[F_CAPTIVES] += point
            row[F_THEIR_PIPS] += point
    place = np.int64(mine[rules.emir_place])
    if 1 <= place <= rules.n_points and mine[place] == 1 and not is_captive(mine, place, rules):
        his = facing(place, rules)
        if not is_captive(theirs, his, rules):
            row[F_EMIR_RISK] = landing_chance(theirs, his, odds.reach, rules)
            hunter = np.int64(theirs[rules.emir_place])
            if hunter > his and not is_captive(theirs, hunter, rules):
                row[F_EMIR_FATAL] = odds.reach[hunter - his]


@jit
def add_own_shape(mine, held, rules, exits, row):
    """Add the features of how the own checkers stand, by points."""
    n, home = rules.n_points, rules.home
    in_quarter = 0
    for point in range(1, n + 1):
        count = np.int64(mine[point])
        in_quarter += count
        if point % home == 0:
            if point > home:
                row[F_QUARTERS] += in_quarter if in_quarter < SPARE else SPARE
            in_quarter = 0
        if count == 0:
            continue
        row[F_PIPS] += point * count
        row[F_LAG] += point * point * count
        is_held = (held >> point) & 1
        above = count - STACK_HEIGHT if count > STACK_HEIGHT else 0
        if point <= home:
            row[F_HOME_SPREAD] += is_held
            row[F_HOME_STACK] += above
            row[F_EXIT] += exits[point] * np.float32(count)
            continue
        row[F_SPREAD] += is_held
        if point > n - home:
            row[F_START] += is_held
            if point < n:
                row[F_OWN_FRONT] += is_held
        if point < n:
            row[F_STACK] += above
    row[F_HEAD] = mine[n]
    row[F_OWN_FRONT] *= row[F_HEAD]
    row[F_OFF] = mine[0]
    row[F_SAVED] = 1.0 if mine[0] > 0 else 0.0
    row[F_BAR] = mine[n + 1]
    row[F_PIPS] += (n + 1) * np.int64(mine[n + 1])
    row[F_LAG] += (n + 1) * (n + 1) * np.int64(mine[n + 1])


@jit
def add_hindrance(theirs, held_on_route, rules, landings, row):
    """Add the features of own points in the opponent's way; the set is in his numbering."""
    n, home = rules.n_points, rules.home
    on_head = np.float32(theirs[n])
    # Along his route, from the bar on. He stands on no point of a run, so whoever has not reached
    # its last point has not reached its first one either.
    run, behind = 0, np.int64(theirs[n + 1])
    row[F_THEIR_BAR] = behind
    row[F_THEIR_PIPS] += (n + 1) * behind
    entries = 0
    for his in range(n, 0, -1):
        if (held_on_route >> his) & 1:
            run += 1
            if his < n and his > n - home:
                row[F_THEIR_FRONT] += on_head
            if his > n - rules.sides:
                entries += 1
            row[F_LANDING] += landings[his] * on_head
            for length in range(SHORTEST_RUN, LONGEST_RUN + 1):
                if run >= length:
                    row[F_BLOCK + length - SHORTEST_RUN] += behind
        else:
            run = 0
        behind += np.int64(theirs[his])
        row[F_THEIR_PIPS] += his * np.int64(theirs[his])
    row[F_SHUT_OUT] = entries * row[F_THEIR_BAR]


@jit
def fill_positional(boards, rules, odds, out):
    """Write the positional features of row 0 to `out` `[A, F] float32`.

    boards: `[A, 2, P] int8` afterstates, mover in row 0; odds: `DiceOdds`. Points and checkers
    are counted, pips and squared distances summed; nothing is scaled. Columns:
    `POSITIONAL_FEATURES`.
    """
    for a in range(boards.shape[0]):
        row, mine, theirs = out[a], boards[a, 0], boards[a, 1]
        for column in range(row.shape[0]):
            row[column] = 0.0
        held = held_points(mine, theirs, rules)
        closed_to_him = on_other_side(held, rules)
        closed_to_me = on_other_side(held_points(theirs, mine, rules), rules)
        add_own_shape(mine, held, rules, odds.exits, row)
        add_hindrance(theirs, closed_to_him, rules, odds.landings, row)
        row[F_DICE] = playable_share(mine, closed_to_me, rules, odds.share)
        row[F_THEIR_DICE] = playable_share(theirs, closed_to_him, rules, odds.share)
        if rules.hit != 0 or rules.emir != 0:
            add_blots(mine, theirs, rules, odds, row)
        if rules.emir != 0:
            add_emir(mine, theirs, rules, odds, row)
        if rules.owed != 0:
            row[F_OWED] = owed_pips(mine, closed_to_me, rules)
            row[F_THEIR_OWED] = owed_pips(theirs, closed_to_him, rules)
        if rules.again != 0:
            row[F_AGAIN] = mine[rules.again]
