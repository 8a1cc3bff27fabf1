"""Legal play generation: every distinct afterstate of a position and roll (T-13); layer 3.

Breadth first over steps. A node is a board `[2 * P] int8` in a pool, with the bit set of the
mover's occupied slots and the source of its last step. Levels lie one after the other in the
pool; the deepest level with an admissible node holds the legal plays (T-5).

Equal dice need no duplicate test when sources may be taken in descending order (`ordered_steps`):
the step vectors of one die are linearly independent, so an end determines the multiset of
sources. In all other cases ends are looked up in a hash table and compared in full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import jit
from nardy_engine.rules.table import (
    BLOCK_AHEAD,
    BLOCK_KARZAR,
    BLOCK_NEVER,
    BLOCK_NONE,
    BLOCK_START_SECTOR,
    EXCEPTION_ANY_DOUBLE,
    EXCEPTION_HEAD_BLOCKED,
    EXCEPTION_LISTED,
    EXCEPTION_NONE,
    EXCEPTION_PRINCIPLE,
    HEAD_ONE,
    HEAD_RUNNER,
    OVERSHOOT_EXACT,
    OVERSHOOT_HIGHEST,
)

POOL_OVERFLOW = -1
"""More nodes than the pool holds."""
OUT_OVERFLOW = -2
"""More afterstates than fit behind the ones already written."""

_LEVELS = 8


class Scratch(NamedTuple):
    """Working memory of one thread, made by `new_scratch`; contents are never read back."""

    pool: NDArray[np.int8]
    """`[N, 2 * P]` boards of the nodes."""
    occupied: NDArray[np.int64]
    """`[N]` bit `p` set = the mover holds slot `p`."""
    last: NDArray[np.int64]
    """`[N]` source of the last step."""
    keys: NDArray[np.int64]
    """`[N]` additive hash of the change against the root."""
    table: NDArray[np.int64]
    """`[2^k, 2]` hash table: generation, node."""
    zobrist: NDArray[np.int64]
    """`[2, P]` random numbers of the hash."""
    finish: NDArray[np.int8]
    """`[2 * P]` a position in which the mover has borne off everything."""
    bounds: NDArray[np.int64]
    """First node of each level, then the end."""
    state: NDArray[np.int64]
    """0: nodes in use; 1: depth of the deepest finish, 0 = none; 2: hash generation."""
    context: NDArray[np.int64]
    """What stays fixed during a play; see the `C_` indices."""


C_CLOSED, C_BLOTS, C_HEAD_LEFT, C_RUN_MASK, C_SECTOR = 0, 1, 2, 3, 4


def new_scratch(n_slots: int, pool_size: int = 1 << 15) -> Scratch:
    """Return working memory for one thread; `pool_size` bounds the nodes of a play."""
    rng = np.random.default_rng(20240229)
    numbers = rng.integers(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2, n_slots))
    return Scratch(
        pool=np.zeros((pool_size, 2 * n_slots), np.int8),
        occupied=np.zeros(pool_size, np.int64),
        last=np.zeros(pool_size, np.int64),
        keys=np.zeros(pool_size, np.int64),
        table=np.zeros((2 * pool_size, 2), np.int64),
        zobrist=numbers.astype(np.int64),
        finish=np.zeros(2 * n_slots, np.int8),
        bounds=np.zeros(_LEVELS + 1, np.int64),
        state=np.zeros(4, np.int64),
        context=np.zeros(8, np.int64),
    )


@jit
def opposite_point(point, rules):
    """Return the opponent's number of my `point` (G-2, G-5)."""
    if rules.opposite != 0:
        return rules.n_points + 1 - point
    half = rules.n_points // 2
    return point - half if point > half else point + half


@jit
def occupied_on_route(occupied, rules):
    """Return the mover's occupied points as bits in the opponent's numbering (G-4)."""
    half = rules.n_points // 2
    low = ((1 << half) - 1) << 1
    return ((occupied & low) << half) | ((occupied >> half) & low)


@jit
def has_run(bits, length):
    """Return whether `bits` has `length` consecutive ones."""
    runs = bits
    for _ in range(length - 1):
        runs = runs & (runs >> 1)
    return runs != 0


@jit
def breaks_block_rule(occupied, context, rules):
    """Return whether the occupied points contain a forbidden block (L-20..L-25, FEV-6)."""
    if context[C_SECTOR] != 0:
        return (occupied & context[C_SECTOR]) == context[C_SECTOR]
    if context[C_RUN_MASK] == 0:
        return False
    bits = occupied_on_route(occupied, rules) & context[C_RUN_MASK]
    return has_run(bits, rules.block_length)


@jit
def set_block_context(opponent, rules, context):
    """Write which runs are forbidden while the opponent stands as he does (L-22, KAR-1)."""
    context[C_RUN_MASK] = 0
    context[C_SECTOR] = 0
    n = rules.n_points
    everywhere = ((1 << n) - 1) << 1
    if rules.block_rule == BLOCK_START_SECTOR:
        context[C_SECTOR] = ((1 << rules.home) - 1) << (n + 1 - rules.home)
    elif rules.block_rule == BLOCK_NEVER:
        context[C_RUN_MASK] = everywhere
    elif rules.block_rule != BLOCK_NONE and opponent[0] == 0:
        lowest, highest = 0, 0
        for point in range(n, 0, -1):
            if opponent[point] > 0:
                lowest = point
                if highest == 0:
                    highest = point
        if rules.block_rule == BLOCK_AHEAD:
            # A run with a checker ahead of it has a point above that checker.
            context[C_RUN_MASK] = ((1 << lowest) - 1) & everywhere
        elif rules.block_rule == BLOCK_KARZAR and lowest > rules.home:
            if rules.block_any_run != 0:
                context[C_RUN_MASK] = everywhere
            else:
                context[C_RUN_MASK] = ((1 << highest) - 1) & everywhere


@jit
def stopped_by_head(closed, die, steps, rules):
    """Return whether a lone head checker is stopped by the opponent's head (L-7c, L-7d)."""
    point = rules.n_points
    for _ in range(steps):
        point -= die
        if point < 1:
            return False
        if (closed >> point) & 1:
            return point == rules.n_points // 2
    return False


@jit
def stopped_at_all(closed, die, steps, rules):
    """Return whether a lone head checker cannot make all its steps (D-01)."""
    point = rules.n_points
    for _ in range(steps):
        point -= die
        if point < 1 or (closed >> point) & 1:
            return True
    return False


@jit
def first_play_exception(mover, opponent, closed, die, steps, double, rules):
    """Return whether two checkers may leave the head in this play (L-6, L-7, AST-3, D-01)."""
    head = rules.n_points
    kind = rules.head_exception
    if kind == EXCEPTION_NONE or mover[head] != rules.checkers:
        return False
    if kind == EXCEPTION_PRINCIPLE:
        return stopped_by_head(closed, die, steps, rules)
    if double == 0:
        return False
    listed = (rules.exception_doubles >> die) & 1 != 0
    if kind == EXCEPTION_ANY_DOUBLE:
        return True
    if kind == EXCEPTION_LISTED:
        return listed
    if kind != EXCEPTION_HEAD_BLOCKED and opponent[head] != rules.checkers:
        return stopped_at_all(closed, die, steps, rules)
    return listed and stopped_by_head(closed, die, steps, rules)


@jit
def set_context(mover, opponent, die, other, steps, rules, context):
    """Write everything that stays fixed during a play with dice `die`, `other`."""
    closed, blots = 0, 0
    closing = 2 if rules.hit != 0 else 1
    for theirs in range(1, rules.n_points + 1):
        if opponent[theirs] >= closing:
            closed |= 1 << opposite_point(theirs, rules)
        elif opponent[theirs] > 0:
            blots |= 1 << opposite_point(theirs, rules)
    context[C_CLOSED] = closed
    context[C_BLOTS] = blots
    left = rules.checkers
    if rules.head_limit == HEAD_ONE:
        lifted = ((rules.lifted_by >> die) | (rules.lifted_by >> other)) & 1
        if lifted == 0:
            double = 1 if die == other else 0
            left = 1
            if first_play_exception(mover, opponent, closed, die, steps, double, rules):
                left = 2
    context[C_HEAD_LEFT] = mover[rules.n_points] - left
    set_block_context(opponent, rules, context)


@jit
def may_leave_head(node, context, rules):
    """Return whether one more checker may leave the head (L-5, FEV-2, FEV-4)."""
    head = rules.n_points
    if rules.head_limit != HEAD_RUNNER:
        return np.int64(node[head]) > context[C_HEAD_LEFT]
    if node[head] == rules.checkers or node[0] > 0:
        return True
    for point in range(1, head // 2):
        if node[point] > 0:
            return True
    return False


@jit
def may_bear_off(node, occupied, source, die, context, rules):
    """Return whether `die` bears off from `source` (L-30..L-33, ONE-3, BNA-3)."""
    if occupied >> (rules.home + 1) != 0 or (rules.bearoff_dice >> die) & 1 == 0:
        return False
    if source == die:
        return True
    if rules.overshoot == OVERSHOOT_EXACT:
        return False
    higher = occupied >> (source + 1)
    if higher == 0:
        return True
    if rules.overshoot == OVERSHOOT_HIGHEST:
        return False
    for point in range(source + 1, rules.home + 1):
        if (occupied >> point) & 1:
            if point <= die or (context[C_CLOSED] >> (point - die)) & 1 == 0:
                return False
    return True


@jit
def is_step(node, occupied, source, die, context, rules):
    """Return whether a checker on `source` may move by `die` (T-2, L-4, S-3, BNA-2)."""
    target = source - die
    if target < 1:
        return may_bear_off(node, occupied, source, die, context, rules)
    if (context[C_CLOSED] >> target) & 1:
        return False
    if rules.frozen_home != 0 and source <= rules.home:
        return False
    if source == rules.n_points:
        return may_leave_head(node, context, rules)
    return True


@jit
def find_or_add(scratch, node, first):
    """Return whether the board of `node` is already listed; else list it.

    Only nodes from `first` on belong to the current generation.
    """
    table = scratch.table
    size = table.shape[0]
    key = scratch.keys[node]
    slot = (key ^ (key >> 29)) & (size - 1)
    generation = scratch.state[2]
    while table[slot, 0] == generation:
        other = table[slot, 1]
        if scratch.keys[other] == key:
            same = True
            for i in range(scratch.pool.shape[1]):
                if scratch.pool[other, i] != scratch.pool[node, i]:
                    same = False
                    break
            if same:
                return True
        slot = (slot + 1) & (size - 1)
    table[slot, 0] = generation
    table[slot, 1] = node
    return False


@jit
def add_step(scratch, parent, source, die, rules, dedupe):
    """Append the node after one step; return whether it fits the pool.

    A node in which the mover has finished goes to `scratch.finish` instead (T-10).
    """
    child = scratch.state[0]
    pool = scratch.pool
    if child >= pool.shape[0]:
        return False
    slots = pool.shape[1] // 2
    for i in range(2 * slots):
        pool[child, i] = pool[parent, i]
    target = source - die
    if target < 0:
        target = 0
    pool[child, source] -= 1
    pool[child, target] += 1
    occupied = scratch.occupied[parent]
    if pool[child, source] == 0:
        occupied &= ~(1 << source)
    if target > 0:
        occupied |= 1 << target
    key = scratch.keys[parent] + scratch.zobrist[0, target] - scratch.zobrist[0, source]
    if (scratch.context[C_BLOTS] >> target) & 1 and target > 0:
        theirs = opposite_point(target, rules)
        if pool[child, slots + theirs] > 0:
            bar = rules.n_points + 1
            pool[child, slots + theirs] -= 1
            pool[child, slots + bar] += 1
            key += scratch.zobrist[1, bar] - scratch.zobrist[1, theirs]
    if occupied == 0:
        for i in range(2 * slots):
            scratch.finish[i] = pool[child, i]
        return True
    if rules.block_every_step != 0 and breaks_block_rule(occupied, scratch.context, rules):
        return True
    scratch.occupied[child] = occupied
    scratch.last[child] = source
    scratch.keys[child] = key
    if dedupe != 0 and find_or_add(scratch, child, 0):
        return True
    scratch.state[0] = child + 1
    return True


@jit
def expand(scratch, first, end, die, depth, rules, ordered, dedupe):
    """Append all successors of nodes `first..end` by one step of `die`; return False if full."""
    bar = rules.n_points + 1
    for parent in range(first, end):
        occupied = scratch.occupied[parent]
        source = bar
        lowest = 1
        if (occupied >> bar) & 1:
            lowest = bar
        elif ordered != 0 and scratch.last[parent] < bar:
            source = scratch.last[parent]
        left = occupied & ((1 << (source + 1)) - 1)
        while source >= lowest and left != 0:
            if (left >> source) & 1:
                left &= (1 << source) - 1
                node = scratch.pool[parent]
                if is_step(node, occupied, source, die, scratch.context, rules):
                    before = scratch.occupied[parent]
                    if before == 1 << source and source - die < 1 and node[source] == 1:
                        if depth > scratch.state[1]:
                            scratch.state[1] = depth
                    if not add_step(scratch, parent, source, die, rules, dedupe):
                        return False
            source -= 1
    return True


@jit
def new_generation(scratch):
    """Forget all listed boards."""
    scratch.state[2] += 1


@jit
def set_root(scratch, mover, opponent, rules):
    """Make the position before the play node 0."""
    slots = rules.n_points + 2
    occupied = 0
    for i in range(slots):
        scratch.pool[0, i] = mover[i]
        scratch.pool[0, slots + i] = opponent[i]
        if i > 0 and mover[i] > 0:
            occupied |= 1 << i
    scratch.occupied[0] = occupied
    scratch.last[0] = rules.n_points + 1
    scratch.keys[0] = 0
    scratch.state[0] = 1
    scratch.state[1] = 0


@jit
def write_nodes(scratch, first, end, rules, out, start):
    """Copy the admissible nodes `first..end` to `out` from `start`; return the new end (T-4)."""
    slots = rules.n_points + 2
    check = rules.block_rule != BLOCK_NONE and rules.block_every_step == 0
    for node in range(first, end):
        if check and breaks_block_rule(scratch.occupied[node], scratch.context, rules):
            continue
        if start >= out.shape[0]:
            return OUT_OVERFLOW
        for i in range(slots):
            out[start, 0, i] = scratch.pool[node, i]
            out[start, 1, i] = scratch.pool[node, slots + i]
        start += 1
    return start


@jit
def write_board(board, rules, out, start):
    """Copy one flat board to `out[start]`; return the new end."""
    if start >= out.shape[0]:
        return OUT_OVERFLOW
    slots = rules.n_points + 2
    for i in range(slots):
        out[start, 0, i] = board[i]
        out[start, 1, i] = board[slots + i]
    return start + 1


@jit
def list_equal_dice(scratch, die, steps, rules, out, start):
    """Write the ends of `steps` dice showing `die`; return the new end or an error code."""
    bounds = scratch.bounds
    bounds[0], bounds[1] = 0, 1
    depth = 0
    dedupe = 1 - rules.ordered_steps
    while depth < steps:
        new_generation(scratch)
        first, end = bounds[depth], bounds[depth + 1]
        if not expand(scratch, first, end, die, depth + 1, rules, rules.ordered_steps, dedupe):
            return POOL_OVERFLOW
        if scratch.state[0] == end:
            break
        depth += 1
        bounds[depth + 1] = scratch.state[0]
    finish_depth = scratch.state[1]
    end = start
    if finish_depth > 0:
        end = write_board(scratch.finish, rules, out, end)
        if end < 0:
            return end
    while depth >= 1 and depth >= finish_depth:
        written = write_nodes(scratch, bounds[depth], bounds[depth + 1], rules, out, end)
        if written != end:
            return written
        depth -= 1
    if end > start:
        return end
    return write_board(scratch.pool[0], rules, out, start)


@jit
def list_two_dice(scratch, high, low, rules, out, start):
    """Write the ends of two different dice, `high` > `low`; return the new end or a code."""
    new_generation(scratch)
    if not expand(scratch, 0, 1, high, 1, rules, 0, 0):
        return POOL_OVERFLOW
    end_high = scratch.state[0]
    finish_high = scratch.state[1] > 0
    if not expand(scratch, 0, 1, low, 1, rules, 0, 0):
        return POOL_OVERFLOW
    end_low = scratch.state[0]
    if not expand(scratch, 1, end_high, low, 2, rules, 0, 1):
        return POOL_OVERFLOW
    if not expand(scratch, end_high, end_low, high, 2, rules, 0, 1):
        return POOL_OVERFLOW
    end = start
    if scratch.state[1] > 0:
        end = write_board(scratch.finish, rules, out, end)
        if end < 0:
            return end
    written = write_nodes(scratch, end_low, scratch.state[0], rules, out, end)
    if written != end or scratch.state[1] == 2:
        return written
    written = write_nodes(scratch, 1, end_high, rules, out, end)
    if written != end or finish_high:
        return written
    written = write_nodes(scratch, end_high, end_low, rules, out, end)
    if written != start:
        return written
    return write_board(scratch.pool[0], rules, out, start)


@jit
def list_plays(mover, opponent, die_a, die_b, rules, scratch, out, start):
    """Write every distinct legal afterstate of one position and roll to `out` from `start`.

    mover, opponent: `[P] int8` rows before the play; out: `[N, 2, P] int8`, mover still row 0.
    A forced pass is the unchanged position (T-8); a finished game has no afterstates; of several
    plays that finish the game one is listed (T-10). Return the new end or a negative code.
    """
    if mover[0] == rules.checkers or opponent[0] == rules.checkers:
        return start
    high = max(die_a, die_b)
    low = min(die_a, die_b)
    steps = rules.double_steps
    if rules.n_times_m != 0:
        steps = low
    set_root(scratch, mover, opponent, rules)
    set_context(mover, opponent, high, low, steps, rules, scratch.context)
    if high == low or rules.n_times_m != 0:
        return list_equal_dice(scratch, high, steps, rules, out, start)
    return list_two_dice(scratch, high, low, rules, out, start)


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
