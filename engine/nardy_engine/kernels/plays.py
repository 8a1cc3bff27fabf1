"""Legal plays of one segment of ordinary dice: every distinct afterstate (T-13); layer 3.

What a segment is, and what follows it, is decided in `segments.py`; dice that mix freely or
teleport are in `mixed.py`, pins in `emir.py`.

Breadth first over steps. A node is a board in a pool, with the bit set of the mover's occupied
slots and the source of its last step. Levels lie one after the other in the pool; the deepest
level with an admissible node holds the legal plays (T-5). Boards are padded to whole 64-bit words
and copied as such; sources come from bit sets, so closed points cost nothing.

Equal dice need no duplicate test when sources may be taken in descending order (`ordered_steps`):
the step vectors of one die are linearly independent, so an end determines the multiset of
sources. In all other cases ends are looked up in a hash table and compared in full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import inlined, jit
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

_LEVELS = 36
"""The steps of the longest segment: six levels of six, inherited as one pool."""
TWO_DICE_TABLE = 2048
"""Entries of the hash table for two dice, which give at most twice (P * P) nodes."""
_WORDS = 8
"""64-bit words of a node: 2 * P <= 60 bytes (`Setup`); a constant, so copies are unrolled."""


class Scratch(NamedTuple):
    """Working memory of one thread, made by `new_scratch`; contents are never read back."""

    pool: NDArray[np.int8]
    """`[N, 64]` boards of the nodes: mover's slots, opponent's slots, padding."""
    words: NDArray[np.int64]
    """`[N, 8]` the same memory as words."""
    occupied: NDArray[np.int64]
    """`[N]` bit `p` set = the mover holds slot `p`."""
    last: NDArray[np.int64]
    """`[N]` source of the last step."""
    keys: NDArray[np.int64]
    """`[N]` additive hash of the change against the root."""
    tags: NDArray[np.int64]
    """`[N]` what tells nodes with equal boards apart; used by `mixed.py` only."""
    table: NDArray[np.int64]
    """`[2^k]` hash table: generation and node in one word."""
    zobrist: NDArray[np.int64]
    """`[2, P]` random numbers of the hash."""
    finish: NDArray[np.int8]
    """`[2 * P]` a position in which the mover has borne off everything."""
    bounds: NDArray[np.int64]
    """First node of each level, then the end."""
    state: NDArray[np.int64]
    """See the `S_` indices."""
    context: NDArray[np.int64]
    """What stays fixed during a play; see the `C_` indices."""
    counts: NDArray[np.int64]
    """`[7]` steps of each die in a segment of mixed dice."""
    memory: NDArray[np.int8]
    """`[2, P]` memory slots of the afterstates of a segment."""


S_NODES, S_FINISH_DEPTH, S_GENERATION, S_TABLE_MASK, S_FINISH_TAG = 0, 1, 2, 3, 4
S_USED, S_USED_HIGH = 5, 6
"""Steps used by the plays of a segment, and those of its larger die: T-5, T-6 leave no choice."""
TELEPORT_SHIFT = 24
"""Bits of a tag above those that count dice: the teleports of a node."""
C_CLOSED, C_BLOTS, C_HEAD_LEFT, C_RUN_MASK, C_SECTOR = 0, 1, 2, 3, 4


def new_scratch(n_counts: int, n_slots: int, pool_size: int = 1 << 15) -> Scratch:
    """Return working memory for one thread.

    Args:
        n_counts: Slots of a row that hold checkers.
        n_slots: Slots `P` of a row.
        pool_size: Bound of a play's nodes, a power of 2.
    """
    rng = np.random.default_rng(20240229)
    numbers = rng.integers(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2, n_counts))
    words = np.zeros((pool_size, _WORDS), np.int64)
    return Scratch(
        pool=words.view(np.int8),
        words=words,
        occupied=np.zeros(pool_size, np.int64),
        last=np.zeros(pool_size, np.int64),
        keys=np.zeros(pool_size, np.int64),
        tags=np.zeros(pool_size, np.int64),
        table=np.zeros(2 * pool_size, np.int64),
        zobrist=numbers.astype(np.int64),
        finish=np.zeros(2 * n_counts, np.int8),
        bounds=np.zeros(_LEVELS + 1, np.int64),
        state=np.zeros(8, np.int64),
        context=np.zeros(8, np.int64),
        counts=np.zeros(7, np.int64),
        memory=np.zeros((2, n_slots), np.int8),
    )


# Position of the only set bit of a 32-bit word, by a de Bruijn multiplication.
_DE_BRUIJN = 0x077CB531
_BIT_INDEX = np.zeros(32, np.int64)
for _bit in range(32):
    _BIT_INDEX[((_DE_BRUIJN << _bit) & 0xFFFFFFFF) >> 27] = _bit


@jit
def lowest_bit(bits):
    """Return the position of the lowest set bit of a non-zero set of slots."""
    return _BIT_INDEX[(((bits & -bits) * _DE_BRUIJN) & 0xFFFFFFFF) >> 27]


@inlined
def copy_slots(source, target, n):
    """Copy the first `n` numbers of a row; rows as arguments are copied by wide instructions."""
    for i in range(n):
        target[i] = source[i]


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
def holders(row, least, rules):
    """Return the points on which a side has at least `least` checkers, as bits of its numbering."""
    bits = 0
    for point in range(1, rules.n_points + 1):
        bits |= np.int64(row[point] >= least) << point
    return bits


@jit
def highest_bit(bits):
    """Return the highest set bit of a set of slots, 0 of an empty one."""
    highest = bits
    while highest & (highest - 1) != 0:
        highest &= highest - 1
    return highest


@jit
def has_run(bits, length):
    """Return whether `bits` has `length` consecutive ones."""
    runs = bits
    for _ in range(length - 1):
        if runs == 0:
            return False
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


@inlined
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
        theirs = holders(opponent, 1, rules)
        if rules.block_rule == BLOCK_AHEAD:
            # A run with a checker ahead of it has a point above that checker: those below the
            # opponent's last one are forbidden. Without any checker (he waits on the bar) none is.
            context[C_RUN_MASK] = ((theirs & -theirs) - 1) & everywhere if theirs != 0 else 0
        elif rules.block_rule == BLOCK_KARZAR:
            at_home = theirs & ((2 << rules.home) - 1)
            if theirs != 0 and at_home == 0:
                context[C_RUN_MASK] = everywhere
                if rules.block_any_run == 0:
                    context[C_RUN_MASK] = (highest_bit(theirs) - 1) & everywhere


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
    first_play = mover[head] == rules.checkers
    if rules.flag_exception != 0:
        first_play = mover[rules.fresh] != 0
    if kind == EXCEPTION_NONE or not first_play:
        return False
    if kind == EXCEPTION_PRINCIPLE:
        # One die repeated, or there is no lone walk that could be stopped.
        same_die = double != 0 or rules.n_times_m != 0
        return same_die and stopped_by_head(closed, die, steps, rules)
    if double == 0:
        return False
    listed = (rules.exception_doubles >> die) & 1 != 0
    if kind == EXCEPTION_ANY_DOUBLE:
        return True
    if kind == EXCEPTION_LISTED:
        return listed
    second = opponent[head] != rules.checkers
    if rules.flag_exception != 0:
        second = opponent[rules.fresh] == 0
    if kind != EXCEPTION_HEAD_BLOCKED and second:
        return stopped_at_all(closed, die, steps, rules)
    return listed and stopped_by_head(closed, die, steps, rules)


@jit
def rolled_steps(high, low, rules):
    """Return how many equal steps a roll gives, 0 = one step of each die (T-1, AST-1)."""
    if rules.n_times_m != 0:
        return low
    return rules.double_steps if high == low else 0


@jit
def is_skipped(mover, low, rules):
    """Return whether the side may not play this roll at all (CHN-1)."""
    return rules.parity != 0 and (low % 2 == 0) != (mover[rules.first] != 0)


@jit
def head_allowance(mover, opponent, die, other, steps, rules, context):
    """Return how many checkers may leave the head with an own roll of `die`, `other` (L-5..L-9)."""
    if rules.head_limit != HEAD_ONE:
        return rules.checkers
    if ((rules.lifted_by >> die) | (rules.lifted_by >> other)) & 1 != 0:
        return rules.checkers
    double = 1 if die == other else 0
    closed = context[C_CLOSED]
    if first_play_exception(mover, opponent, closed, die, steps, double, rules):
        return 2
    return 1


@inlined
def set_context(opponent, rules, context):
    """Write everything that stays fixed while the opponent stands as he does."""
    if rules.opposite == 0 and rules.hit == 0:
        context[C_CLOSED] = occupied_on_route(holders(opponent, 1, rules), rules)
        context[C_BLOTS] = 0
    else:
        closed, blots = 0, 0
        closing = 2 if rules.hit != 0 else 1
        for theirs in range(1, rules.n_points + 1):
            if opponent[theirs] >= closing:
                closed |= 1 << opposite_point(theirs, rules)
            elif opponent[theirs] > 0:
                blots |= 1 << opposite_point(theirs, rules)
        context[C_CLOSED] = closed
        context[C_BLOTS] = blots
    set_block_context(opponent, rules, context)


@jit
def runner_passed(pool, node, occupied, rules):
    """Return whether the runner has passed the opponent's head, or nobody is off it (FEV-2)."""
    head = rules.n_points
    if pool[node, head] == rules.checkers or pool[node, 0] > 0:
        return True
    return occupied & ((1 << (head // 2)) - 1) != 0


@jit
def steps_are_ordered(scratch, rules):
    """Return 1 if equal dice may be played with sources in descending order without losing a play.

    What the runner allows at the start of a play is allowed in all of it, unless nobody has
    left the head.
    """
    if rules.runner_orders == 0:
        return rules.ordered_steps
    passed = scratch.occupied[0] & ((1 << (rules.n_points // 2)) - 1)
    return 1 if passed != 0 or scratch.pool[0, 0] > 0 else 0


@jit
def bear_off_sources(occupied, die, closed, rules):
    """Return the points from which `die` bears off, as bits (L-30..L-33, ONE-3, BNA-3)."""
    if occupied >> (rules.home + 1) != 0 or (rules.bearoff_dice >> die) & 1 == 0:
        return 0
    exact = occupied & (1 << die)
    lower = occupied & ((1 << die) - 1)
    if lower == 0 or rules.overshoot == OVERSHOOT_EXACT:
        return exact
    higher = occupied >> die
    if rules.overshoot == OVERSHOOT_HIGHEST:
        if higher != 0:
            return exact
    # D-10: a checker that could still use the die forbids the overshoot.
    elif (higher & 1) != 0 or (occupied & ~(closed << die)) >> (die + 1) != 0:
        return exact
    return exact | highest_bit(lower)


@inlined
def step_sources(scratch, node, die, rules):
    """Return the slots whose checker may move by `die`, as bits (T-2, L-4, L-5, S-3, S-4)."""
    occupied = scratch.occupied[node]
    closed = scratch.context[C_CLOSED]
    moving = (occupied & ~(closed << die)) & ~((1 << (die + 1)) - 1)
    bar = 1 << (rules.n_points + 1)
    if occupied & bar:
        return moving & bar
    if rules.frozen_home != 0:
        moving &= ~((1 << (rules.home + 1)) - 1)
    head = 1 << rules.n_points
    if moving & head:
        if rules.head_limit == HEAD_RUNNER:
            if not runner_passed(scratch.pool, node, occupied, rules):
                moving &= ~head
        elif np.int64(scratch.pool[node, rules.n_points]) <= scratch.context[C_HEAD_LEFT]:
            moving &= ~head
    return moving | bear_off_sources(occupied, die, closed, rules)


@inlined
def find_or_add(scratch, node):
    """Return whether the board of `node` is already listed in this generation; else list it."""
    table, words = scratch.table, scratch.words
    mask = scratch.state[S_TABLE_MASK]
    key = scratch.keys[node]
    slot = (key ^ (key >> 29)) & mask
    generation = scratch.state[S_GENERATION]
    while table[slot] >> 20 == generation:
        other = table[slot] & 0xFFFFF
        if scratch.keys[other] == key:
            same = True
            for i in range(_WORDS):
                if words[other, i] != words[node, i]:
                    same = False
            if same and scratch.tags[other] == scratch.tags[node]:
                return True
        slot = (slot + 1) & mask
    table[slot] = (generation << 20) | node
    return False


@inlined
def add_step(scratch, parent, source, target, depth, rules, dedupe, tag):
    """Append the node after one step, if its position is new and the block rule allows it.

    A node in which the mover has finished goes to `scratch.finish` instead (T-10).
    """
    pool, words, state = scratch.pool, scratch.words, scratch.state
    child = state[S_NODES]
    for i in range(_WORDS):
        words[child, i] = words[parent, i]
    slots = rules.n_points + 2
    # Read from the parent: what was written to the child just now is slow to read in other words.
    count = pool[parent, source] - 1
    pool[child, source] = count
    pool[child, target] = pool[parent, target] + 1
    occupied = scratch.occupied[parent]
    if count == 0:
        occupied ^= 1 << source
    if target > 0:
        occupied |= 1 << target
    if occupied == 0:
        if tag >> TELEPORT_SHIFT < state[S_FINISH_TAG] >> TELEPORT_SHIFT:
            return  # a finish with fewer teleports is illegal where they are mandatory (KAF-3)
        state[S_FINISH_DEPTH] = depth
        state[S_FINISH_TAG] = tag
        for i in range(2 * slots):
            scratch.finish[i] = pool[child, i]
        return
    key = scratch.keys[parent] + scratch.zobrist[0, target] - scratch.zobrist[0, source]
    if (scratch.context[C_BLOTS] >> target) & 1:
        theirs = slots + opposite_point(target, rules)
        if pool[child, theirs] > 0:
            bar = 2 * slots - 1
            pool[child, theirs] = 0
            pool[child, bar] += 1
            key += scratch.zobrist[1, slots - 1] - scratch.zobrist[1, theirs - slots]
    if rules.block_every_step != 0 and breaks_block_rule(occupied, scratch.context, rules):
        return
    scratch.occupied[child] = occupied
    scratch.last[child] = source
    scratch.keys[child] = key
    scratch.tags[child] = tag
    if dedupe != 0 and find_or_add(scratch, child):
        return
    state[S_NODES] = child + 1


@inlined
def expand(scratch, first, end, die, depth, rules, ordered, dedupe, skip, skip_above):
    """Append all successors of nodes `first..end` by one step of `die`; return False if full.

    `ordered` keeps to sources not above the last one; `dedupe` skips positions already listed;
    nodes whose last source is higher than `skip_above` leave out the sources in `skip`.
    """
    room = scratch.pool.shape[0] - rules.n_points - 2
    for parent in range(first, end):
        if scratch.state[S_NODES] > room:
            return False
        sources = step_sources(scratch, parent, die, rules)
        if ordered != 0:
            sources &= (2 << scratch.last[parent]) - 1
        if scratch.last[parent] > skip_above:
            sources &= ~skip
        while sources != 0:
            source = lowest_bit(sources)
            sources &= sources - 1
            target = source - die if source > die else 0
            add_step(scratch, parent, source, target, depth, rules, dedupe, 0)
    return True


@jit
def new_generation(scratch, table_size):
    """Forget all listed boards; use `table_size` entries from now on, a power of 2."""
    scratch.state[S_GENERATION] += 1
    scratch.state[S_TABLE_MASK] = table_size - 1


@inlined
def set_root(scratch, mover, opponent, rules):
    """Make the position before the play node 0."""
    slots = rules.n_points + 2
    copy_slots(mover, scratch.pool[0], slots)
    copy_slots(opponent, scratch.pool[0, slots:], slots)
    bar = np.int64(mover[rules.n_points + 1] > 0) << (rules.n_points + 1)
    scratch.occupied[0] = holders(mover, 1, rules) | bar
    scratch.last[0] = rules.n_points + 1
    scratch.keys[0] = 0
    scratch.tags[0] = 0
    scratch.state[S_NODES] = 1
    scratch.state[S_FINISH_DEPTH] = 0
    scratch.state[S_FINISH_TAG] = -1
    scratch.state[S_USED] = 0
    scratch.state[S_USED_HIGH] = 0


@inlined
def write_nodes(scratch, first, end, rules, out, start):
    """Copy the admissible nodes `first..end` to `out` from `start`; return the new end (T-4)."""
    slots = rules.n_points + 2
    check = rules.block_rule != BLOCK_NONE and rules.block_every_step == 0
    for node in range(first, end):
        if check and breaks_block_rule(scratch.occupied[node], scratch.context, rules):
            continue
        if start >= out.shape[0]:
            return OUT_OVERFLOW
        copy_slots(scratch.pool[node], out[start, 0], slots)
        copy_slots(scratch.pool[node, slots:], out[start, 1], slots)
        start += 1
    return start


@jit
def write_board(board, slots, out, start):
    """Copy one flat board of twice `slots` numbers to `out[start]`; return the new end."""
    if start >= out.shape[0]:
        return OUT_OVERFLOW
    copy_slots(board, out[start, 0], slots)
    copy_slots(board[slots:], out[start, 1], slots)
    return start + 1


@inlined
def write_finish(scratch, rules, out, start):
    """Write the position in which the mover has finished, if there is one; return the new end."""
    if scratch.state[S_FINISH_DEPTH] == 0:
        return start
    return write_board(scratch.finish, rules.n_points + 2, out, start)


@inlined
def walk_equal_dice(scratch, die, steps, rules, out, start):
    """Write the ends of `steps` dice showing `die`; return `start` if none can be played."""
    bounds, state = scratch.bounds, scratch.state
    bounds[0], bounds[1] = 0, 1
    depth = 0
    ordered = steps_are_ordered(scratch, rules)
    dedupe = 1 - ordered
    while depth < steps:
        first, end = bounds[depth], bounds[depth + 1]
        if dedupe != 0:
            # A small table stays in the caches; no node has more successors than points.
            size = TWO_DICE_TABLE
            while size < 2 * rules.n_points * (end - first) and size < scratch.table.shape[0]:
                size *= 2
            new_generation(scratch, size)
        if not expand(scratch, first, end, die, depth + 1, rules, ordered, dedupe, 0, 0):
            return POOL_OVERFLOW
        if state[S_NODES] == end:
            break
        depth += 1
        bounds[depth + 1] = state[S_NODES]
    return write_levels(scratch, depth, rules, out, start)


@inlined
def write_levels(scratch, depth, rules, out, start):
    """Write the deepest of the levels 1..`depth` that can be (T-5, T-10), `start` if none can."""
    bounds, state = scratch.bounds, scratch.state
    finish_depth = state[S_FINISH_DEPTH]
    end = write_finish(scratch, rules, out, start)
    if end < 0:
        return end
    while depth >= 1 and depth >= finish_depth:
        written = write_nodes(scratch, bounds[depth], bounds[depth + 1], rules, out, end)
        if written != end:
            state[S_USED] = depth
            state[S_USED_HIGH] = depth
            return written
        depth -= 1
    return end


@inlined
def write_two_dice(scratch, end_high, end_low, finish_high, rules, out, start):
    """Write the ends of two different dice (T-5, T-6, T-10); return `start` if there are none.

    end_high, end_low: of the first steps with the larger die, then of those with the smaller
    one; the nodes behind are two steps. finish_high: whether the larger die alone finishes.
    """
    state = scratch.state
    end = write_finish(scratch, rules, out, start)
    if end < 0:
        return end
    first, last = end_low, state[S_NODES]
    state[S_USED], state[S_USED_HIGH] = 2, 1
    for choice in range(3):
        if choice == 1:
            if state[S_FINISH_DEPTH] == 2:
                return end
            first, last = 1, end_high
            state[S_USED] = 1
        elif choice == 2:
            if finish_high:
                return end
            first, last = end_high, end_low
            state[S_USED_HIGH] = 0
        written = write_nodes(scratch, first, last, rules, out, end)
        if written != end:
            return written
    if end == start:
        state[S_USED] = 0
    return end


@inlined
def walk_two_dice(scratch, high, low, rules, out, start):
    """Write the ends of two different dice, `high` > `low`; return `start` if there are none."""
    # A small table stays in the first-level cache.
    new_generation(scratch, TWO_DICE_TABLE)
    state = scratch.state
    end_high, end_low = 1, 1
    finish_high = False
    first, end, die, depth, dedupe, skip = 0, 1, high, 1, 0, 0
    # High, low, high then low, low then high: a loop, so that `expand` stands here only once.
    for order in range(4):
        if order == 1:
            end_high = state[S_NODES]
            finish_high = state[S_FINISH_DEPTH] > 0
            die = low
        elif order == 2:
            end_low = state[S_NODES]
            first, end, depth, dedupe = 1, end_high, 2, 1
        elif order == 3:
            first, end, die = end_high, end_low, high
            # Two steps of different checkers that stay on the board can change places: low then
            # high ends where high then low has ended already. What is left is one checker moved
            # twice, and bear-offs.
            on_bar = scratch.occupied[0] >> (rules.n_points + 1)
            if on_bar == 0 and steps_are_ordered(scratch, rules) != 0:
                skip = step_sources(scratch, 0, high, rules) & ~((2 << high) - 1)
        if first < end and not expand(scratch, first, end, die, depth, rules, 0, dedupe, skip, low):
            return POOL_OVERFLOW
    return write_two_dice(scratch, end_high, end_low, finish_high, rules, out, start)


@inlined
def list_walks(scratch, high, low, steps, rules, out, start):
    """Write the ends of `steps` dice showing `high`, or of `high` and `low` if 0; T-8 if none.

    Return the new end or an error code.
    """
    if steps > 0:
        end = walk_equal_dice(scratch, high, steps, rules, out, start)
    else:
        end = walk_two_dice(scratch, high, low, rules, out, start)
    if end != start:
        return end
    return write_board(scratch.pool[0], rules.n_points + 2, out, start)
