"""Legal plays of a segment whose dice mix freely, or carry head checkers straight home; layer 3.

Breadth first over steps, as in `plays.py`, but a node also knows which dice it has used and how
many of them were teleports (its tag), since neither follows from the board. Used by the games of
kaftar dice and kabutars (KAF, ONE, KAB) and by heirs with `transfer.heir=free_pool` (D-20).
"""

from __future__ import annotations

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.plays import (
    C_CLOSED,
    OUT_OVERFLOW,
    POOL_OVERFLOW,
    S_FINISH_DEPTH,
    S_FINISH_TAG,
    S_NODES,
    S_USED,
    S_USED_HIGH,
    TELEPORT_SHIFT,
    add_step,
    breaks_block_rule,
    lowest_bit,
    new_generation,
    step_sources,
    write_board,
)
from nardy_engine.rules.table import (
    BLOCK_NONE,
    TELEPORT_KABUTAR,
    TELEPORT_KAFTAR,
    TELEPORT_OFF,
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
def is_admissible(scratch, node, rules):
    """Return whether a play may end in `node` (T-4); the root always counts."""
    if node == 0 or rules.block_rule == BLOCK_NONE or rules.block_every_step != 0:
        return True
    return not breaks_block_rule(scratch.occupied[node], scratch.context, rules)


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
        written = write_board(scratch.finish, rules, out, written)
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
        for i in range(slots):
            out[written, 0, i] = scratch.pool[node, i]
            out[written, 1, i] = scratch.pool[node, slots + i]
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
def list_mixed(scratch, high, low, mover, rules, out, start):
    """Write the ends of the dice in `scratch.counts`; return the new end or an error code.

    high, low: the two dice of a roll, equal in all other segments; mover: `[P]` at the start.
    """
    steps = 0
    for die in range(1, rules.sides + 1):
        steps += scratch.counts[die]
    kabutar = rules.teleport == TELEPORT_KABUTAR and high == low
    closed = scratch.context[C_CLOSED]
    flies = rules.teleport != TELEPORT_OFF and (rules.teleport != TELEPORT_KABUTAR or kabutar)
    if kabutar and not can_teleport(high, mover, closed, rules):
        if not may_walk(high, mover, closed, rules):
            return write_board(scratch.pool[0], rules, out, start)
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
        return write_board(scratch.pool[0], rules, out, start)
    if not explore_mixed(scratch, steps, mover, 0, rules):
        return POOL_OVERFLOW
    return write_mixed(scratch, scratch.state[S_NODES], -1, high, low, rules, out, start)
