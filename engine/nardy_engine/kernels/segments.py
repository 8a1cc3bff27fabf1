"""What is played now and what follows it: rolls, levels, inheritances; layer 3.

A decision is one segment (T-9): an own roll, a level of a cascade, or what the other side could
not play. `list_plays` finds out which, lists its plays, and writes into the memory slots of each
afterstate what is still to be played and by whom (`rules.memory`). Nothing else knows the rules
of transfers.

Three functions list many games: `fill_ordinary` for games in which a roll is one decision and
nothing is remembered, `fill_afterstates` for all others, and one in `emir.py` for games with pins.
They differ in what they reach, so that nobody waits for the compilation of what he does not play.
"""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import inlined, jit
from nardy_engine.kernels.mixed import (
    flies_first,
    list_mixed,
    list_teleports,
    only_walks,
)
from nardy_engine.kernels.plays import (
    C_HEAD_LEFT,
    OUT_OVERFLOW,
    S_USED,
    S_USED_HIGH,
    copy_slots,
    head_allowance,
    is_skipped,
    list_walks,
    rolled_steps,
    set_context,
    set_root,
    write_board,
)
from nardy_engine.rules.table import (
    HEAD_ONE,
    HEIR_POOL,
    HEIR_STOP,
    TELEPORT_OFF,
    TRANSFER_ALL,
    TRANSFER_OFF,
    ZERO_SKIP,
    ZERO_TRANSFER,
    ZERO_VOID,
)


@inlined
def owed_steps(row, rules):
    """Return how many steps a side must still play before anybody rolls."""
    total = 0
    if rules.owed != 0:
        for die in range(rules.sides):
            total += np.int64(row[rules.owed + die])
    return total


@jit
def forget_owed(row, owed, sides):
    """Clear the steps that a side still owes; owed: slot of the first of `sides`."""
    for die in range(sides):
        row[owed + die] = 0


@jit
def forget_roll(row, owed, sides, roller, head_left):
    """Clear what a side remembers of the roll that is over, in the slots that the game has."""
    if owed != 0:
        forget_owed(row, owed, sides)
        row[roller] = 0
    if head_left != 0:
        row[head_left] = 0


@jit
def pass_turn(memory, same, rules):
    """Say who acts after a segment: `same` = the side in row 0."""
    if rules.again != 0:
        memory[0, rules.again] = 1 if same else 0


@inlined
def end_roll(memory, mover_rolls, rules):
    """Let nobody owe anything and the next roll be thrown by row 0 or by row 1."""
    for side in range(2):
        forget_roll(memory[side], rules.owed, rules.sides, rules.roller, rules.head_left)
    pass_turn(memory, mover_rolls, rules)


@inlined
def hand_over(memory, rules):
    """Let act who owes something, the other side first; else end the roll of row 0."""
    if owed_steps(memory[1], rules) > 0:
        memory[0, rules.roller] = 1
        pass_turn(memory, False, rules)
    elif owed_steps(memory[0], rules) > 0:
        memory[0, rules.roller] = 1
        pass_turn(memory, True, rules)
    else:
        end_roll(memory, False, rules)


@inlined
def after_level(memory, die, used, is_first, rules):
    """Apply the transfer rules after a level of the roller's own cascade (BGU-2, BNA-4, BNA-5).

    memory: of both sides; row 0, the roller, owes the higher levels already.
    """
    mine, theirs = memory[0], memory[1]
    left = rules.double_steps - used
    nothing = is_first and used == 0
    if nothing and rules.zero_first_level == ZERO_VOID:
        end_roll(memory, False, rules)
        return
    if left > 0 and not (nothing and rules.zero_first_level == ZERO_SKIP):
        if rules.transfer_scope != TRANSFER_OFF:
            theirs[rules.owed + die - 1] = left
        if rules.transfer_level == 0:
            if rules.transfer_scope != TRANSFER_OFF:
                for higher in range(die, rules.sides):
                    theirs[rules.owed + higher] = mine[rules.owed + higher]
            forget_owed(mine, rules.owed, rules.sides)
    hand_over(memory, rules)


@inlined
def after_roll(memory, high, low, steps, used, used_high, rules):
    """Apply what follows the first segment of an own roll.

    steps: of the equal dice, 0 = two different dice; used, used_high: steps played, and those
    of them with the larger die.
    """
    mine, theirs = memory[0], memory[1]
    double = high == low
    if rules.cascade != 0 and double:
        if rules.rolls == 0 or np.int64(mine[rules.rolls]) >= rules.cascade_from:
            for higher in range(high, rules.sides):
                mine[rules.owed + higher] = rules.double_steps
            if rules.head_left != 0:
                theirs[rules.head_left] = 1
            after_level(memory, high, used, True, rules)
            return
    covered = rules.transfer_scope != TRANSFER_OFF
    if rules.transfer_scope != TRANSFER_ALL and not double:
        covered = False
    if double and used == 0 and rules.zero_first_level != ZERO_TRANSFER:
        covered = False
    if covered:
        if steps > 0:
            theirs[rules.owed + high - 1] = steps - used
        else:
            if used_high == 0:
                theirs[rules.owed + high - 1] = 1
            if used - used_high == 0:
                theirs[rules.owed + low - 1] = 1
        if rules.head_left != 0:
            theirs[rules.head_left] = 1
    hand_over(memory, rules)
    if rules.extra_roll != 0 and double and used == steps:
        pass_turn(memory, True, rules)


@inlined
def after_inheritance(memory, left, rules):
    """Apply what follows a segment that row 0 has inherited; what he could not play is lost."""
    if left > 0 and rules.heir == HEIR_STOP:
        forget_owed(memory[0], rules.owed, rules.sides)
    if owed_steps(memory[0], rules) > 0:
        pass_turn(memory, True, rules)
    elif owed_steps(memory[1], rules) > 0:
        pass_turn(memory, False, rules)
    else:
        end_roll(memory, True, rules)


@inlined
def write_memory(mover, allowance, mine_ends, rules, memory, out, start, end):
    """Write the memory slots of the afterstates `start..end` of `mover`.

    allowance: checkers that could leave the head in the segment; mine_ends: 1 = the mover's head
    is not counted on, because the roll is over or his inheritance allows one in each segment.
    """
    head, counts = rules.n_points, rules.n_points + 2
    for a in range(start, end):
        copy_slots(memory[0, counts:], out[a, 0, counts:], rules.n_slots - counts)
        copy_slots(memory[1, counts:], out[a, 1, counts:], rules.n_slots - counts)
    if rules.head_left != 0 and mine_ends == 0:
        before = allowance - np.int64(mover[head])
        for a in range(start, end):
            out[a, 0, rules.head_left] = before + np.int64(out[a, 0, head])
    if start < end and out[start, 0, 0] == rules.checkers:
        # Only the first afterstate can be a finished game.
        for side in range(2):
            row = out[start, side]
            forget_roll(row, rules.owed, rules.sides, rules.roller, rules.head_left)
        if rules.again != 0:
            out[start, 0, rules.again] = 0
        if rules.last_turn != 0 and mover[rules.first] != 0 and out[start, 1, 0] < rules.checkers:
            out[start, 1, rules.last_turn] = 1  # DR-1


@inlined
def list_dice(mover, high, low, steps, rules, scratch, out, start):
    """Write the ends of a segment: `steps` dice showing `high`, or `high` and `low` if 0.

    steps: -1 = those in `scratch.counts`, in any order (D-20).
    """
    if steps < 0:
        return list_mixed(scratch, low, low, mover, rules, out, start)
    if rules.teleport != TELEPORT_OFF and not only_walks(scratch, high, low, mover, rules):
        if flies_first(scratch, rules):
            return list_teleports(scratch, high, low, steps, mover, rules, out, start)
        for die in range(7):
            scratch.counts[die] = 0
        if steps > 0:
            scratch.counts[high] = steps
        else:
            scratch.counts[high] = 1
            scratch.counts[low] = 1
        return list_mixed(scratch, high, low, mover, rules, out, start)
    return list_walks(scratch, high, low, steps, rules, out, start)


@inlined
def settle_roll(mover, high, low, steps, skipped, rules, scratch):
    """Write what follows an own roll, or its first level, into `scratch.memory`."""
    memory = scratch.memory
    if rules.rolls != 0 and memory[0, rules.rolls] < rules.cascade_from:
        memory[0, rules.rolls] += 1
    if rules.fresh != 0:
        memory[0, rules.fresh] = 0
    if rules.last_turn != 0:
        memory[0, rules.last_turn] = 0
    if rules.owed != 0:
        if skipped:
            end_roll(memory, False, rules)
        else:
            used, used_high = scratch.state[S_USED], scratch.state[S_USED_HIGH]
            after_roll(memory, high, low, steps, used, used_high, rules)


@inlined
def settle_owed(mover, low, steps, total, rules, scratch):
    """Write what follows a segment that was owed into `scratch.memory`."""
    memory = scratch.memory
    if steps > 0:
        memory[0, rules.owed + low - 1] = 0
    else:
        forget_owed(memory[0], rules.owed, rules.sides)
    left = (steps if steps > 0 else total) - scratch.state[S_USED]
    if mover[rules.roller] != 0:
        after_level(memory, low, rules.double_steps - left, False, rules)
    else:
        after_inheritance(memory, left, rules)


@jit
def drop_repeats(out, start, end, counts):
    """Keep the first of equal boards in `out[start:end]` and return the new end; codes stay.

    A pool of dice leads to one board by several choices of them, which are different on the way.
    """
    kept = start
    for row in range(start, end):
        fresh = True
        for before in range(start, kept):
            same = True
            for slot in range(counts):
                if (
                    out[row, 0, slot] != out[before, 0, slot]
                    or out[row, 1, slot] != out[before, 1, slot]
                ):
                    same = False
                    break
            if same:
                fresh = False
                break
        if fresh:
            if kept != row:
                copy_slots(out[row, 0], out[kept, 0], counts)
                copy_slots(out[row, 1], out[kept, 1], counts)
            kept += 1
    return kept if end >= start else end


@inlined
def list_plays(mover, opponent, die_a, die_b, rules, scratch, out, start):
    """Write every distinct legal afterstate of one decision to `out` from `start`.

    mover, opponent: `[P] int8` rows before it; out: `[N, 2, P] int8`, mover still row 0. The
    dice count only before a roll: owed dice and pre-roll moves come from the position. A forced
    pass is the unchanged position (T-8); a finished game has no afterstates; of several plays
    that finish the game alike one is listed, before the others (T-10). Return the new end or a
    negative code.
    """
    if mover[0] == rules.checkers:
        return start
    if opponent[0] == rules.checkers and (rules.last_turn == 0 or mover[rules.last_turn] == 0):
        return start
    set_root(scratch, mover, opponent, rules)
    set_context(opponent, rules, scratch.context)
    high, low, steps, different, total = 0, 0, 0, 0, 0
    if rules.owed != 0:
        for die in range(rules.sides, 0, -1):
            count = np.int64(mover[rules.owed + die - 1])
            scratch.counts[die] = count
            if count > 0:
                different += 1
                total += count
                low = die
                high = die if high == 0 else high
    allowance = rules.checkers
    skipped = False
    if total > 0:
        heir = mover[rules.roller] == 0
        if rules.head_limit == HEAD_ONE:
            allowance = np.int64(mover[rules.head_left]) if rules.head_left != 0 else 1
        if different > 1 and total > 2 and heir and rules.heir == HEIR_POOL:
            steps = -1
        elif different != 2 or total != 2:
            high = low
            steps = scratch.counts[low]
    else:
        high, low = die_a, die_b
        if die_a < die_b:
            high, low = die_b, die_a
        steps = rolled_steps(high, low, rules)
        allowance = head_allowance(mover, opponent, high, low, steps, rules, scratch.context)
        skipped = is_skipped(mover, low, rules)
    scratch.context[C_HEAD_LEFT] = mover[rules.n_points] - allowance
    if skipped:
        end = write_board(scratch.pool[0], rules.n_points + 2, out, start)
    else:
        end = list_dice(mover, high, low, steps, rules, scratch, out, start)
        if steps < 0:
            end = drop_repeats(out, start, end, rules.n_points + 2)
    if end < 0 or rules.n_slots == rules.n_points + 2:
        return end
    memory = scratch.memory
    counts = rules.n_points + 2
    copy_slots(mover[counts:], memory[0, counts:], rules.n_slots - counts)
    copy_slots(opponent[counts:], memory[1, counts:], rules.n_slots - counts)
    over = 1
    if total > 0:
        settle_owed(mover, low, steps, total, rules, scratch)
        if mover[rules.roller] != 0 or rules.heir_head_total != 0:
            over = 1 if memory[0, rules.roller] == 0 and memory[1, rules.roller] == 0 else 0
    else:
        settle_roll(mover, high, low, steps, skipped, rules, scratch)
        if rules.owed != 0 and memory[0, rules.roller] != 0:
            over = 0
    write_memory(mover, allowance, over, rules, memory, out, start, end)
    return end


@inlined
def list_ordinary(mover, opponent, die_a, die_b, rules, scratch, out, start):
    """Do what `list_plays` does, for games without memory and teleports."""
    if mover[0] == rules.checkers or opponent[0] == rules.checkers:
        return start
    high, low = die_a, die_b
    if die_a < die_b:
        high, low = die_b, die_a
    steps = rolled_steps(high, low, rules)
    set_root(scratch, mover, opponent, rules)
    set_context(opponent, rules, scratch.context)
    allowance = head_allowance(mover, opponent, high, low, steps, rules, scratch.context)
    scratch.context[C_HEAD_LEFT] = mover[rules.n_points] - allowance
    return list_walks(scratch, high, low, steps, rules, out, start)


@jit
def fill_ordinary(boards, dice, first, rules, scratch, out, offsets):
    """Do what `fill_afterstates` does, for games without memory and teleports."""
    end = np.int64(offsets[first])
    for i in range(first, boards.shape[0]):
        die_a, die_b = np.int64(dice[i, 0]), np.int64(dice[i, 1])
        written = list_ordinary(boards[i, 0], boards[i, 1], die_a, die_b, rules, scratch, out, end)
        if written == OUT_OVERFLOW:
            return i
        if written < 0:
            return written
        end = written
        offsets[i + 1] = end
    return boards.shape[0]


@jit
def fill_afterstates(boards, dice, first, rules, scratch, out, offsets):
    """List the plays of games `first..B` one after the other.

    boards: `[B, 2, P] int8`; dice: `[B, 2] int8`; out: `[N, 2, P] int8`; offsets: `[B + 1]
    int32`, of which `offsets[first]` is read. Return the number of games listed when `out` was
    full, `B` if all, or `POOL_OVERFLOW`.
    """
    end = np.int64(offsets[first])
    for i in range(first, boards.shape[0]):
        die_a, die_b = np.int64(dice[i, 0]), np.int64(dice[i, 1])
        written = list_plays(boards[i, 0], boards[i, 1], die_a, die_b, rules, scratch, out, end)
        if written == OUT_OVERFLOW:
            return i
        if written < 0:
            return written
        end = written
        offsets[i + 1] = end
    return boards.shape[0]
