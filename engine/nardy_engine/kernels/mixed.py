"""Legal plays of a segment whose dice mix freely, or carry head checkers straight home; layer 3.

Breadth first over steps, as in `plays.py`, but a node also knows which dice it has used and how
many of them were teleports (its tag), since neither follows from the board. Used by the games of
kaftar dice and kabutars (KAF, ONE, KAB) and by heirs with `transfer.heir=free_pool` (D-20).
"""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.plays import (
    C_CLOSED,
    C_HEAD_LEFT,
    OUT_OVERFLOW,
    POOL_OVERFLOW,
    S_FINISH_DEPTH,
    S_FINISH_TAG,
    S_NODES,
    S_USED,
    S_USED_HIGH,
    TELEPORT_SHIFT,
    TWO_DICE_TABLE,
    add_step,
    breaks_block_rule,
    copy_slots,
    expand,
    holders,
    lowest_bit,
    new_generation,
    step_sources,
    walk_equal_dice,
    write_board,
    write_levels,
    write_two_dice,
)
from nardy_engine.rules.table import (
    BLOCK_NONE,
    TELEPORT_KABUTAR,
    TELEPORT_KAFTAR,
    TELEPORT_OFF,
    TELEPORT_OPTIONAL,
)

_DIE_BITS = 3
"""Bits of a tag that count the steps of one die; die `d` has those from `3 * d` on."""


@jit
def used_steps(tag, die):
    """Return how many steps of `die` a node has used."""
    return (tag >> (_DIE_BITS * die)) & 7


@jit
def used_dice(tag):
    """Return how many steps a node has used."""
    total = 0
    for die in range(1, 7):
        total += used_steps(tag, die)
    return total


@jit
def teleports(tag):
    """Return how many of a node's steps were teleports."""
    return tag >> TELEPORT_SHIFT


@jit
def can_teleport(die, mover, closed, rules):
    """Return whether `die` may carry a checker of a non-empty head home (KAF-1, KAB-1).

    mover: the row at the start of the play; closed: bits of the points closed to it.
    """
    if mover[rules.n_points] == 0 or (closed >> die) & 1 != 0:
        return False
    return rules.teleport == TELEPORT_KABUTAR or die == 1 or die == rules.sides


@jit
def may_walk(die, mover, closed, rules):
    """Return whether a die that could be a teleport may also be an ordinary step (D-12)."""
    if rules.teleport == TELEPORT_OFF or mover[rules.n_points] == 0:
        return True
    if rules.teleport != TELEPORT_KABUTAR and die != 1 and die != rules.sides:
        return True
    if (closed >> die) & 1 != 0:
        return rules.teleport_blocked_lost == 0
    return rules.teleport_short_lost == 0


@jit
def expand_mixed(scratch, first, end, depth, mover, with_teleports, rules):
    """Append the successors of nodes `first..end` by every die left; return False if full."""
    room = scratch.pool.shape[0] - 8 * rules.n_points
    head = rules.n_points
    closed = scratch.context[C_CLOSED]
    for parent in range(first, end):
        tag = scratch.tags[parent]
        for die in range(1, rules.sides + 1):
            if used_steps(tag, die) >= scratch.counts[die]:
                continue
            if scratch.state[S_NODES] > room:
                return False
            after = tag + (1 << (_DIE_BITS * die))
            if with_teleports != 0 and scratch.pool[parent, head] > 0:
                if can_teleport(die, mover, closed, rules):
                    flown = after + (1 << TELEPORT_SHIFT)
                    add_step(scratch, parent, head, die, depth, rules, 1, flown)
            walks = with_teleports == 0 or may_walk(die, mover, closed, rules)
            sources = step_sources(scratch, parent, die, rules) if walks else 0
            while sources != 0:
                source = lowest_bit(sources)
                sources &= sources - 1
                target = source - die if source > die else 0
                add_step(scratch, parent, source, target, depth, rules, 1, after)
    return True


@jit
def may_end(scratch, node, rules):
    """Return whether the block rule lets a play end in `node` (T-4)."""
    if rules.block_rule == BLOCK_NONE or rules.block_every_step != 0:
        return True
    return not breaks_block_rule(scratch.occupied[node], scratch.context, rules)


@jit
def is_admissible(scratch, node, rules):
    """Return whether a play may end in `node`; the root always counts."""
    return node == 0 or may_end(scratch, node, rules)


@jit
def wanted_teleports(scratch, end, rules):
    """Return the number of teleports that a legal play makes, -1 if any will do (KAF-3)."""
    if rules.teleport != TELEPORT_KAFTAR:
        return -1
    most = 0
    if scratch.state[S_FINISH_DEPTH] > 0:
        most = teleports(scratch.state[S_FINISH_TAG])
    for node in range(end):
        if teleports(scratch.tags[node]) > most and is_admissible(scratch, node, rules):
            most = teleports(scratch.tags[node])
    return most


@jit
def write_mixed(scratch, end, wanted, high, low, rules, out, start):
    """Write the legal ones of nodes `0..end` from `start` on (T-5, T-6, T-10); return the new end.

    `wanted`: the exact number of teleports, -1 = any; nothing is written if no node has it.
    """
    slots = rules.n_points + 2
    written = start
    most, larger = -1, False
    finish = scratch.state[S_FINISH_TAG]
    if scratch.state[S_FINISH_DEPTH] > 0 and (wanted < 0 or teleports(finish) == wanted):
        written = write_board(scratch.finish, slots, out, written)
        if written < 0:
            return written
        most = scratch.state[S_FINISH_DEPTH]
        larger = used_steps(finish, high) > 0
    for node in range(end):
        tag = scratch.tags[node]
        if wanted >= 0 and teleports(tag) != wanted:
            continue
        used = used_dice(tag)
        if used < most or not is_admissible(scratch, node, rules):
            continue
        if used > most:
            most, larger = used, False
        larger = larger or used_steps(tag, high) > 0
    scratch.state[S_USED] = most
    scratch.state[S_USED_HIGH] = 1 if larger else 0
    if most < 0:
        return written
    only_larger = most == 1 and low != high and larger
    for node in range(end):
        tag = scratch.tags[node]
        if used_dice(tag) != most or (wanted >= 0 and teleports(tag) != wanted):
            continue
        if (only_larger and used_steps(tag, high) == 0) or not is_admissible(scratch, node, rules):
            continue
        if written >= out.shape[0]:
            return OUT_OVERFLOW
        copy_slots(scratch.pool[node], out[written, 0], slots)
        copy_slots(scratch.pool[node, slots:], out[written, 1], slots)
        written += 1
    return written


@jit
def explore_mixed(scratch, steps, mover, with_teleports, rules):
    """Fill the pool with every node that `steps` dice lead to; return False if it is full."""
    scratch.state[S_NODES] = 1
    scratch.state[S_FINISH_DEPTH] = 0
    scratch.state[S_FINISH_TAG] = -1
    first = 0
    new_generation(scratch, scratch.table.shape[0])
    for depth in range(1, steps + 1):
        end = scratch.state[S_NODES]
        if not expand_mixed(scratch, first, end, depth, mover, with_teleports, rules):
            return False
        if scratch.state[S_NODES] == end:
            break
        first = end
    return True


@jit
def only_walks(scratch, high, low, mover, rules):
    """Return whether a roll is played as if there were no teleports (KAF-5, KAB-2)."""
    if rules.teleport == TELEPORT_KABUTAR and high != low:
        return True
    closed = scratch.context[C_CLOSED]
    if can_teleport(high, mover, closed, rules) or can_teleport(low, mover, closed, rules):
        return False
    return may_walk(high, mover, closed, rules) and may_walk(low, mover, closed, rules)


@jit
def flies_first(scratch, rules):
    """Return whether the ends of a play are the same if its teleports come before its walks.

    They are, and then the walks can be ordered too, if walks from the head are not limited; or
    if as many checkers fly as the head has or as there are dice (KAB-1), so that none walks.
    """
    if rules.ordered_steps == 0:
        return False
    return rules.teleport == TELEPORT_KABUTAR or scratch.context[C_HEAD_LEFT] <= 0


@jit
def fly_first(scratch, high, low, mover, flights, rules):
    """Make the position after `flights` teleports node 0: with `low` too if the dice differ."""
    head = rules.n_points
    pool = scratch.pool
    copy_slots(mover, pool[0], rules.n_points + 2)
    pool[0, head] -= flights
    if high == low:
        pool[0, high] += flights
    elif flights > 0:
        pool[0, high] += 1
        pool[0, low] += flights - 1
    scratch.occupied[0] = holders(pool[0], 1, rules)
    scratch.last[0] = rules.n_points + 1
    scratch.state[S_NODES] = 1
    scratch.state[S_FINISH_DEPTH] = 0
    scratch.state[S_FINISH_TAG] = -1
    scratch.state[S_USED] = 0
    scratch.state[S_USED_HIGH] = 0


@jit
def add_flight(scratch, node, die, depth, rules):
    """Append the node after one more teleport; sources are in descending order after it."""
    child = scratch.state[S_NODES]
    add_step(scratch, node, rules.n_points, die, depth, rules, 0, 0)
    scratch.last[child] = rules.n_points + 1


@jit
def fly_or_walk_equal(scratch, die, steps, flights, walks, rules, out, start):
    """Write the ends of `steps` dice showing `die`, up to `flights` of them teleports (ONE-1).

    The first node of each level is the one of teleports only, while there is such a node: they
    come first, and the sources of walks descend as in `walk_equal_dice`.
    """
    bounds, state = scratch.bounds, scratch.state
    bounds[0], bounds[1] = 0, 1
    depth = 0
    while depth < steps:
        first, end = bounds[depth], bounds[depth + 1]
        if depth < flights:
            add_flight(scratch, first, die, depth + 1, rules)
        if walks != 0 and not expand(scratch, first, end, die, depth + 1, rules, 1, 0, 0, 0):
            return POOL_OVERFLOW
        if state[S_NODES] == end:
            break
        depth += 1
        bounds[depth + 1] = state[S_NODES]
    return write_levels(scratch, depth, rules, out, start)


@jit
def fly_or_walk(scratch, high, low, fly_high, fly_low, first_walks, walks, rules, out, start):
    """Write the ends of two different dice, of which some may be teleports.

    fly_high, fly_low: 1 = the die may be a teleport; first_walks: 1 = plays without a teleport
    count too (ONE-1), 0 = only those with exactly one (KAF-3); walks: bits of the dice that may
    be an ordinary step (D-12). Return `start` if there are none.
    """
    state = scratch.state
    new_generation(scratch, TWO_DICE_TABLE)
    head = rules.n_points
    end_high, end_low = 1, 1
    walk_high, walk_low = (walks >> high) & 1, (walks >> low) & 1
    finish_high = False
    first, end, die, depth, dedupe, skip, may = 0, 1, high, 1, 0, 0, walk_high & first_walks
    for order in range(5):
        if order == 0:
            if fly_high != 0:
                add_flight(scratch, 0, high, 1, rules)
        elif order == 1:
            end_high = state[S_NODES]
            finish_high = state[S_FINISH_DEPTH] > 0
            if fly_low != 0:
                add_flight(scratch, 0, low, 1, rules)
            die, may = low, walk_low & first_walks
        elif order == 2:
            end_low = state[S_NODES]
            if first_walks & fly_high & fly_low != 0 and scratch.pool[1, head] > 0:
                add_flight(scratch, 1, low, 2, rules)
            first, end, depth, dedupe, may = 1, end_high, 2, 1, walk_low
        elif order == 3:
            # The teleport with the smaller die; the other order did not occur above.
            first, end, die, may = end_high, end_high + fly_low, high, walk_high
        else:
            first, end = end_high + fly_low, end_low
            skip = step_sources(scratch, 0, high, rules) & ~((2 << high) - 1)
        if may != 0 and first < end:
            if not expand(scratch, first, end, die, depth, rules, 0, dedupe, skip, low):
                return POOL_OVERFLOW
    return write_two_dice(scratch, end_high, end_low, finish_high, rules, out, start)


@jit
def fly_equal(scratch, die, steps, flights, walks, mover, rules, out, start):
    """Write the ends of equal dice with exactly `flights` teleports, or as few less as can be.

    walks: 1 = the other dice are ordinary steps (KAF-7, KAB-2), 0 = they are lost.
    """
    while True:
        fly_first(scratch, die, die, mover, flights, rules)
        end = start
        if walks != 0:
            end = walk_equal_dice(scratch, die, steps - flights, rules, out, start)
        scratch.state[S_USED] += flights
        if end != start:
            return end
        if flights == 0 or may_end(scratch, 0, rules):
            return write_board(scratch.pool[0], rules.n_points + 2, out, start)
        if rules.teleport == TELEPORT_KABUTAR:
            flights, walks = 0, 1 - rules.teleport_blocked_lost  # KAB-5
        else:
            flights -= 1  # KAF-3


@jit
def fly_two(scratch, high, low, fly_high, fly_low, walks, mover, rules, out, start):
    """Write the ends of two different dice with as many teleports as can be (KAF-3)."""
    if fly_high & fly_low != 0 and mover[rules.n_points] > 1:
        fly_first(scratch, high, low, mover, 2, rules)
        if may_end(scratch, 0, rules):
            scratch.state[S_USED], scratch.state[S_USED_HIGH] = 2, 1
            return write_board(scratch.pool[0], rules.n_points + 2, out, start)
        fly_first(scratch, high, low, mover, 0, rules)
    end = start
    if fly_high | fly_low != 0:
        end = fly_or_walk(scratch, high, low, fly_high, fly_low, 0, walks, rules, out, start)
    if end == start:
        fly_first(scratch, high, low, mover, 0, rules)
        end = fly_or_walk(scratch, high, low, 0, 0, 1, walks, rules, out, start)
    return end


@jit
def list_teleports(scratch, high, low, steps, mover, rules, out, start):
    """Do what `list_mixed` does, where `flies_first` holds and `only_walks` does not.

    steps: of the equal dice, 0 = two different dice. The order of steps is fixed, so that most
    nodes are met once, and what KAF-3 and KAB-1 oblige to is made before anything is searched.
    """
    closed = scratch.context[C_CLOSED]
    fly_high = 1 if can_teleport(high, mover, closed, rules) else 0
    fly_low = 1 if can_teleport(low, mover, closed, rules) else 0
    walks = 0
    if may_walk(high, mover, closed, rules):
        walks |= 1 << high
    if may_walk(low, mover, closed, rules):
        walks |= 1 << low
    optional = rules.teleport == TELEPORT_OPTIONAL
    if high == low:
        flights = fly_high * steps
        if flights > mover[rules.n_points]:
            flights = np.int64(mover[rules.n_points])
        if optional:
            end = fly_or_walk_equal(scratch, high, steps, flights, walks, rules, out, start)
        else:
            return fly_equal(scratch, high, steps, flights, walks, mover, rules, out, start)
    elif optional:
        end = fly_or_walk(scratch, high, low, fly_high, fly_low, 1, walks, rules, out, start)
    else:
        end = fly_two(scratch, high, low, fly_high, fly_low, walks, mover, rules, out, start)
    if end != start:
        return end
    return write_board(scratch.pool[0], rules.n_points + 2, out, start)


@jit
def list_mixed(scratch, high, low, mover, rules, out, start):
    """Write the ends of the dice in `scratch.counts`; return the new end or an error code.

    high, low: the two dice of a roll, equal in all other segments; mover: `[P]` at the start.
    """
    slots = rules.n_points + 2
    steps = 0
    for die in range(1, rules.sides + 1):
        steps += scratch.counts[die]
    kabutar = rules.teleport == TELEPORT_KABUTAR and high == low
    closed = scratch.context[C_CLOSED]
    flies = rules.teleport != TELEPORT_OFF and (rules.teleport != TELEPORT_KABUTAR or kabutar)
    if kabutar and not can_teleport(high, mover, closed, rules):
        if not may_walk(high, mover, closed, rules):
            return write_board(scratch.pool[0], slots, out, start)
        flies = False
    if not explore_mixed(scratch, steps, mover, 1 if flies else 0, rules):
        return POOL_OVERFLOW
    wanted = wanted_teleports(scratch, scratch.state[S_NODES], rules) if flies else -1
    if kabutar and flies:
        wanted = mover[rules.n_points] if mover[rules.n_points] < steps else steps
    written = write_mixed(scratch, scratch.state[S_NODES], wanted, high, low, rules, out, start)
    if written != start:
        return written
    # KAB-5: no way of completing the kabutar is admissible.
    if rules.teleport_blocked_lost != 0:
        return write_board(scratch.pool[0], slots, out, start)
    if not explore_mixed(scratch, steps, mover, 0, rules):
        return POOL_OVERFLOW
    return write_mixed(scratch, scratch.state[S_NODES], -1, high, low, rules, out, start)
