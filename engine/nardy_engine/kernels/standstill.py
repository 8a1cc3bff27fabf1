"""Positions in which nobody can ever move again: the game is drawn; layer 3.

In emir captives that lie under the last free checkers of both sides forbid bearing off, so nobody
moves, so nobody is released. With a frozen home (BNA-2) two full homes can stop each other's last
checkers for ever. Rules.md names no result; here it is a draw (see DECISIONS.md).
"""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.emir import emir_bear_off_sources
from nardy_engine.kernels.mixed import can_teleport
from nardy_engine.kernels.plays import bear_off_sources, is_skipped, opposite_point
from nardy_engine.rules.table import HEAD_RUNNER, TELEPORT_OFF


@jit
def die_kinds(die, mover, rules):
    """Return how a side can come to play `die`: bit 0 = by a double, bit 1 = otherwise (CHN-1)."""
    kinds = 0
    for other in range(1, rules.sides + 1):
        if rules.n_times_m != 0 and other > die:
            continue  # the larger number is played (AST-1)
        if is_skipped(mover, other if other < die else die, rules):
            continue
        kinds |= 1 if other == die else 2
    return kinds


@jit
def can_ever_step_in_emir(mover, opponent, rules):
    """Return whether a side has a step with some roll, or a checker that can return (EMI-8).

    The block rule is left aside: it judges ends, and a way to stand still is not sought there.
    """
    head, bar = rules.n_points, rules.n_points + 1
    free, present, closed, blots = 0, 0, 0, 0
    for point in range(1, rules.n_points + 1):
        captive = np.int64(mover[rules.captive + point - 1])
        if mover[point] > 0:
            free |= 1 << point
        if mover[point] > 0 or captive != 0:
            present |= 1 << point
        theirs = opponent[opposite_point(point, rules)]
        if theirs > 1 or (theirs > 0 and captive != 0):
            closed |= 1 << point
        elif theirs > 0:
            blots |= 1 << point
    if mover[bar] > 0:
        if (closed >> head) & 1 == 0:
            return True
        present |= 1 << bar
    safe = 0
    emir = np.int64(opponent[rules.emir_place])
    if emir != 0 and emir <= rules.home:
        safe = blots & (1 << opposite_point(emir, rules))
    runner_locks = False
    if rules.head_limit == HEAD_RUNNER:
        on_head = np.int64(mover[head]) + np.int64(mover[rules.in_reserve])
        passed = mover[0] > 0 or present & ((1 << (head // 2)) - 1) != 0
        runner_locks = on_head != rules.checkers and not passed
    for die in range(1, rules.sides + 1):
        kinds = die_kinds(die, mover, rules)
        if kinds == 0:
            continue
        shut = closed | safe if kinds == 1 else closed  # EMI-9
        moving = free & ~(shut << die) & ~((2 << die) - 1)
        if rules.frozen_home != 0:
            moving &= ~((2 << rules.home) - 1)
        if runner_locks:
            moving &= ~(1 << head)
        if moving != 0 or emir_bear_off_sources(free, present, die, shut, rules) != 0:
            return True
    return False


@jit
def can_ever_step(mover, opponent, rules):
    """Return whether a side has a step with some roll, in a game without pins.

    The block rule is left aside, as in `can_ever_step_in_emir`.
    """
    head, bar = rules.n_points, 1 << (rules.n_points + 1)
    closing = 2 if rules.hit != 0 else 1
    occupied, closed = 0, 0
    for point in range(1, head + 1):
        if mover[point] > 0:
            occupied |= 1 << point
        if opponent[opposite_point(point, rules)] >= closing:
            closed |= 1 << point
    if mover[head + 1] > 0:
        occupied |= bar
    runner_locks = False
    if rules.head_limit == HEAD_RUNNER and mover[head] != rules.checkers:
        runner_locks = mover[0] == 0 and occupied & ((1 << (head // 2)) - 1) == 0
    for die in range(1, rules.sides + 1):
        if die_kinds(die, mover, rules) == 0:
            continue
        moving = occupied & ~(closed << die) & ~((2 << die) - 1)
        if occupied & bar != 0:
            moving &= bar
        elif rules.frozen_home != 0:
            moving &= ~((2 << rules.home) - 1)
        if runner_locks:
            moving &= ~(1 << head)
        if moving != 0 or bear_off_sources(occupied, die, closed, rules) != 0:
            return True
        if rules.teleport != TELEPORT_OFF and can_teleport(die, mover, closed, rules):
            return True
    return False


@jit
def is_standstill(first, second, rules):
    """Return whether neither side can ever make a step again; rows as in `outcome_index`."""
    if rules.emir != 0:
        if can_ever_step_in_emir(first, second, rules):
            return False
        return not can_ever_step_in_emir(second, first, rules)
    if rules.frozen_home == 0 or can_ever_step(first, second, rules):
        return False
    return not can_ever_step(second, first, rules)
