"""Emir: plays, pre-roll moves and results of the game with pins and an emir (EMI); layer 3.

Both sides change during a turn here: checkers are captured, released, hit and put back on their
head. So a node is a whole position: the counts of both sides, captives as bit sets, where the
emirs are, and the bit sets that steps are taken from. Plays are listed breadth first by dice
used, as in `plays`; positions reached twice are found in a hash table. Two steps of ordinary
checkers that touch nobody can change places, so most second orders are not even generated.

The rows of a board hold *free* checkers; a captive has its own memory slot (`rules.memory`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import inlined, jit
from nardy_engine.kernels.plays import (
    C_CLOSED,
    OUT_OVERFLOW,
    POOL_OVERFLOW,
    copy_slots,
    head_allowance,
    is_skipped,
    lowest_bit,
    occupied_on_route,
    opposite_point,
    rolled_steps,
)
from nardy_engine.rules.table import (
    BLOCK_AHEAD,
    BLOCK_NEVER,
    BLOCK_NONE,
    BLOCK_START_SECTOR,
    HEAD_RUNNER,
    OVERSHOOT_EXACT,
    OVERSHOOT_HIGHEST,
    SCORE_HOMEMARS,
    SCORE_OIN_MARS,
)

_LEVELS = 8
_LEAST_TABLE, _ENTRIES_PER_PARENT = 128, 32
"""Entries of the hash table; a node has fewer successors, one for each point and one more."""
_LONGEST_JUMP = 5
"""Closed points in a row that a distribution passes over (EMI-11b)."""

_WORDS = 16
"""64-bit words of a node; a constant, so copies are unrolled."""
_SIDE = 32
"""Bytes of a node for the counts of one side: at most 30 (`Setup`)."""
_TRAPS, _EMIRS, _MINE, _PAIRS, _CLOSED, _BLOTS, _LAST, _NEXT = 8, 9, 10, 11, 12, 13, 14, 15
"""Words behind the counts, see `EmirScratch.words`."""
_COMPARED = 10
"""Words that make a position; the others follow from them, or tell of the last step."""
_LOW = 0xFFFFFFFF
_MINE_TAKEN, _THEIRS_TAKEN = 1 << 32, 1 << 33
"""Flags of the word `_EMIRS`: that emir has been taken by the other one (EMI-10)."""

_NOTHING, _WON, _LOST = 0, 1, 2
"""What a step does to the game, seen from the mover."""
_REFUSED, _UNKNOWN = -1, -2
"""Of the word `_NEXT`: no afterstate; of `quick_preroll`: no answer."""


class EmirScratch(NamedTuple):
    """Working memory of one thread, made by `new_emir_scratch`; contents are never read back."""

    pool: NDArray[np.int8]
    """`[N, 128]` bytes of the nodes: the mover's counts from 0, the opponent's from 32."""
    words: NDArray[np.int64]
    """`[N, 16]` the same memory as words. Behind the counts, points as bits in the *mover's*
    numbering: 8 the mover's captives, from bit 32 the opponent's; 9 emirs as bytes: mover's
    place and checkers above it, the same of the opponent, flags; 10 points, and bar, with free
    checkers of the mover; 11 points with two or more of them; 12 points closed for the mover;
    13 blots of the opponent; 14 source of the last step, or the bar if it was not a quiet one;
    15 whether the opponent may make a pre-roll move next."""
    table: NDArray[np.int64]
    """`[2^k]` hash table: generation and node in one word."""
    mixers: NDArray[np.int64]
    """`[10]` odd multipliers of the hash."""
    memory: NDArray[np.int8]
    """`[2, P]` the rows before the decision; their memory is that of all ends, but for captives
    and emirs."""
    bounds: NDArray[np.int64]
    """First node of each level, then the end."""
    state: NDArray[np.int64]
    """See the `_S_` indices."""
    context: NDArray[np.int64]
    """What stays fixed during a play: the closed points before it (`C_CLOSED`), see `_C_`."""


_S_NODES, _S_GENERATION, _S_TABLE_MASK, _S_FINISH_DEPTH, _S_FINISHES = 0, 1, 2, 3, 4
"""Nodes in the pool; hash table; most dice of a play that ends the game; outcomes as bits."""
_C_DOUBLE, _C_HEAD_KEEPS, _C_TRIPLES, _C_TRAPS = 5, 6, 7, 8
"""1 = the dice are equal; checkers that stay on the head; the opponent's points with three; the
captives before the decision, as in the nodes."""
_FINISHED, _OTHER, _TRIAL = 16, 17, 18
"""Places, counted from the end of the pool: one node per outcome; nodes of `slow_preroll`."""


def new_emir_scratch(n_slots: int, pool_size: int = 1 << 15) -> EmirScratch:
    """Return working memory for one thread; `pool_size`, a power of 2, bounds a play's nodes."""
    rng = np.random.default_rng(20240229)
    words = np.zeros((pool_size, _WORDS), np.int64)
    return EmirScratch(
        pool=words.view(np.int8),
        words=words,
        table=np.zeros(2 * pool_size, np.int64),
        mixers=rng.integers(np.iinfo(np.int64).min, np.iinfo(np.int64).max, _COMPARED) | 1,
        memory=np.zeros((2, n_slots), np.int8),
        bounds=np.zeros(_LEVELS + 1, np.int64),
        state=np.zeros(5, np.int64),
        context=np.zeros(9, np.int64),
    )


# -- results -------------------------------------------------------------------------------------


@jit
def emir_finished(row, rules):
    """Return whether a side has no checker left on the board or the bar (EMI-14)."""
    return np.int64(row[0]) + np.int64(row[rules.in_reserve]) == rules.checkers


@jit
def emir_kind(loser, reserve, rules):
    """Return the kind of win over a side with these counts that the other has outrun (EMI-15).

    loser: counts `off, points, bar`; reserve: its nukers that never came, which are not at home.
    """
    if loser[0] > 0:
        return 0
    if rules.score == SCORE_OIN_MARS:
        return 1
    highest = 0
    for slot in range(1, rules.n_points + 2):
        if loser[slot] > 0:
            highest = slot
    if highest > rules.n_points - rules.home:
        return 2
    if rules.score == SCORE_HOMEMARS and highest <= rules.home and reserve == 0:
        return 3
    return 1


@jit
def emir_outcome_index(first, second, rules):
    """Return the outcome seen from row `first`, or -1 if the game is not over (EMI-10, EMI-14)."""
    if second[rules.emir_taken] != 0:
        return 0 if second[0] > 0 else 1
    if first[rules.emir_taken] != 0:
        return rules.n_kinds if first[0] > 0 else rules.n_kinds + 1
    if emir_finished(first, rules):
        return emir_kind(second, np.int64(second[rules.in_reserve]), rules)
    if emir_finished(second, rules):
        return rules.n_kinds + emir_kind(first, np.int64(first[rules.in_reserve]), rules)
    return -1


# -- nodes ---------------------------------------------------------------------------------------


@jit
def copy_node(scratch, source, target):
    """Copy a node."""
    copy_slots(scratch.words[source], scratch.words[target], _WORDS)


@inlined
def derive_sets(scratch, node, rules):
    """Fill in the bit sets that follow from the counts and captives of a node (EMI-4)."""
    pool, words = scratch.pool, scratch.words
    captives = words[node, _TRAPS] & _LOW
    mine, pairs, theirs, their_pairs = 0, 0, 0, 0
    for point in range(1, rules.n_points + 1):
        mine |= np.int64(pool[node, point] > 0) << point
        pairs |= np.int64(pool[node, point] > 1) << point
        theirs |= np.int64(pool[node, _SIDE + point] > 0) << point
        their_pairs |= np.int64(pool[node, _SIDE + point] > 1) << point
    bar = rules.n_points + 1
    mine |= np.int64(pool[node, bar] > 0) << bar
    theirs = occupied_on_route(theirs, rules)
    closed = occupied_on_route(their_pairs, rules) | (theirs & captives)
    words[node, _MINE] = mine
    words[node, _PAIRS] = pairs
    words[node, _CLOSED] = closed
    words[node, _BLOTS] = theirs & ~closed
    words[node, _LAST] = bar


@inlined
def load_position(scratch, mover, opponent, rules):
    """Make a position node 0, and its memory that of all ends."""
    pool, words, memory = scratch.pool, scratch.words, scratch.memory
    for i in range(_WORDS):
        words[0, i] = 0
    copy_slots(mover, pool[0], rules.n_points + 2)
    copy_slots(opponent, pool[0, _SIDE:], rules.n_points + 2)
    copy_slots(mover, memory[0], rules.n_slots)
    copy_slots(opponent, memory[1], rules.n_slots)
    captives, prisoners = 0, 0
    for point in range(1, rules.n_points + 1):
        slot = rules.captive + point - 1
        captives |= np.int64(mover[slot]) << point
        prisoners |= np.int64(opponent[slot]) << point
    for side in range(2):
        memory[side, rules.preroll] = 0
        memory[side, rules.again] = 0
    traps = captives | occupied_on_route(prisoners, rules) << 32
    words[0, _TRAPS] = traps
    scratch.context[_C_TRAPS] = traps
    words[0, _EMIRS] = (
        np.int64(mover[rules.emir_place])
        | np.int64(mover[rules.emir_above]) << 8
        | np.int64(opponent[rules.emir_place]) << 16
        | np.int64(opponent[rules.emir_above]) << 24
    )
    derive_sets(scratch, 0, rules)
    scratch.state[_S_NODES] = 1
    scratch.state[_S_FINISH_DEPTH] = 0
    scratch.state[_S_FINISHES] = 0


@jit
def swap_node(scratch, source, target, rules):
    """Make `target` the node `source` seen from the other side."""
    words = scratch.words
    for i in range(_SIDE // 8):
        words[target, i] = words[source, _SIDE // 8 + i]
        words[target, _SIDE // 8 + i] = words[source, i]
    traps, emirs = words[source, _TRAPS], words[source, _EMIRS]
    mine = occupied_on_route(traps & _LOW, rules)
    words[target, _TRAPS] = occupied_on_route(traps >> 32, rules) | mine << 32
    words[target, _EMIRS] = (emirs >> 16) & 0xFFFF | (emirs & 0xFFFF) << 16
    derive_sets(scratch, target, rules)


@jit
def return_from_bar(scratch, node, rules):
    """Put the mover's checkers on the bar back on the head if it is not closed (EMI-8).

    Return 1 if his emir thereby takes the other emir, which ends the game (EMI-10).
    """
    pool, words = scratch.pool, scratch.words
    head = rules.n_points
    bit = 1 << head
    waiting = np.int64(pool[node, head + 1])
    if waiting == 0 or words[node, _CLOSED] & bit:
        return 0
    emirs = words[node, _EMIRS]
    emir_waits = emirs & 0xFF == head + 1
    taken = 0
    if words[node, _BLOTS] & bit:
        theirs = opposite_point(head, rules)
        pool[node, _SIDE + theirs] = 0
        words[node, _TRAPS] |= bit << 32
        # Ordinary checkers return first, so the emir meets the blot only if it waits alone.
        if emir_waits and waiting == 1 and (emirs >> 16) & 0xFF == theirs:
            taken = 1
            emirs |= _THEIRS_TAKEN
    if emir_waits:
        emirs = emirs & ~0xFFFF | head
    elif emirs & 0xFF == head:
        emirs += waiting << 8
    words[node, _EMIRS] = emirs
    pool[node, head] += waiting
    pool[node, head + 1] = 0
    derive_sets(scratch, node, rules)
    return taken


# -- blocks --------------------------------------------------------------------------------------


@jit
def is_deaf(walls, others, others_off, others_bar, rules):
    """Return whether points closed for a side contain a block forbidden to the other (EMI-13).

    walls: the closed points; others: points with free or captive checkers of the side that they
    are closed for; both as bits in that side's numbering, which is its route (G-4).
    """
    if rules.block_rule == BLOCK_START_SECTOR:
        sector = ((1 << rules.home) - 1) << (rules.n_points // 2 + 1 - rules.home)
        return walls & sector == sector
    runs = walls
    for _ in range(rules.block_length - 1):
        runs &= runs >> 1
        if runs == 0:
            return False
    if rules.block_rule == BLOCK_NEVER:
        return True
    if others_off > 0:
        return False
    # A captive can lie inside a block, so whole blocks are judged, by their lowest points.
    lowest_points = runs & ~(walls << 1)
    if rules.block_rule == BLOCK_AHEAD:
        if others == 0:
            return True
        return lowest_points & ((2 << lowest_bit(others)) - 1) != 0
    if others & ((2 << rules.home) - 1):
        return False
    if rules.block_any_run != 0 or others_bar > 0:
        return True
    return lowest_points & -lowest_points <= others


@inlined
def breaks_emir_block(scratch, node, rules):
    """Return whether the mover may not leave the board like this (EMI-13)."""
    if rules.block_rule == BLOCK_NONE:
        return False
    pool, words = scratch.pool, scratch.words
    prisoners = words[node, _TRAPS] >> 32
    walls = words[node, _PAIRS] | (words[node, _MINE] & prisoners)
    others = words[node, _CLOSED] | words[node, _BLOTS] | prisoners
    bar = _SIDE + rules.n_points + 1
    return is_deaf(
        occupied_on_route(walls, rules),
        occupied_on_route(others, rules),
        pool[node, _SIDE],
        pool[node, bar],
        rules,
    )


# -- steps ---------------------------------------------------------------------------------------


@jit
def count_at(words, node, slot):
    """Return one count of a node, the opponent's from slot 32."""
    return (words[node, slot >> 3] >> ((slot & 7) << 3)) & 0xFF


@jit
def add_count(words, node, slot, change):
    """Change one count of a node.

    The whole word is written, because words are read soon after: by the hash.
    """
    words[node, slot >> 3] += change << ((slot & 7) << 3)


@jit
def emir_bear_off_sources(free, present, die, closed, rules):
    """Return the points from which `die` bears off, as bits (L-30..L-33, EMI-8, EMI-14).

    free, present: slots with free, with any checkers of the mover, the bar among them.
    """
    if present >> (rules.home + 1) != 0 or (rules.bearoff_dice >> die) & 1 == 0:
        return 0
    exact = free & (1 << die)
    lower = free & ((1 << die) - 1)
    if lower == 0 or rules.overshoot == OVERSHOOT_EXACT:
        return exact
    highest = lower
    while highest & (highest - 1) != 0:
        highest &= highest - 1
    if rules.overshoot == OVERSHOOT_HIGHEST:
        if present >= highest << 1:
            return exact
    # D-10: a checker that could still use the die forbids the overshoot; a captive cannot.
    elif exact != 0 or (free & ~(closed << die)) >> (die + 1) != 0:
        return exact
    return exact | highest


@jit
def emir_runner_locks(scratch, node, rules):
    """Return whether the runner keeps the others on the head (FEV-2)."""
    off = np.int64(scratch.pool[node, 0])
    on_head = np.int64(scratch.pool[node, rules.n_points])
    if off > 0 or on_head + np.int64(scratch.memory[0, rules.in_reserve]) == rules.checkers:
        return False
    present = scratch.words[node, _MINE] | (scratch.words[node, _TRAPS] & _LOW)
    return present & ((1 << (rules.n_points // 2)) - 1) == 0


@inlined
def emir_step_sources(scratch, node, die, rules):
    """Return the points from which a checker may move by `die`, as bits (T-2, L-5, EMI-3..9)."""
    words = scratch.words
    free, closed = words[node, _MINE], words[node, _CLOSED]
    if scratch.context[_C_DOUBLE] != 0:
        # A lone emir in its home cannot be hit, and a double captures nothing (EMI-9).
        emir = (words[node, _EMIRS] >> 16) & 0xFF
        if emir != 0 and emir <= rules.home:
            closed |= words[node, _BLOTS] & (1 << opposite_point(emir, rules))
    head = 1 << rules.n_points
    moving = (free & ~(closed << die)) & (2 * head - 1) & ~((2 << die) - 1)
    if rules.frozen_home != 0:
        moving &= ~((2 << rules.home) - 1)
    if moving & head:
        if rules.head_limit == HEAD_RUNNER:
            if emir_runner_locks(scratch, node, rules):
                moving &= ~head
        elif np.int64(scratch.pool[node, rules.n_points]) <= scratch.context[_C_HEAD_KEEPS]:
            moving &= ~head
    present = free | (words[node, _TRAPS] & _LOW)
    return moving | emir_bear_off_sources(free, present, die, closed, rules)


@inlined
def find_or_add_node(scratch, node):
    """Return whether the position of `node` is already listed in this generation; else list it."""
    table, words = scratch.table, scratch.words
    key = 0
    for i in range(_COMPARED):
        key += words[node, i] * scratch.mixers[i]
    mask = scratch.state[_S_TABLE_MASK]
    slot = (key ^ (key >> 32)) & mask
    generation = scratch.state[_S_GENERATION]
    while table[slot] >> 20 == generation:
        other = table[slot] & 0xFFFFF
        same = True
        for i in range(_COMPARED):
            if words[other, i] != words[node, i]:
                same = False
        if same:
            return True
        slot = (slot + 1) & mask
    table[slot] = (generation << 20) | node
    return False


@inlined
def send_back(scratch, node, is_emir, rules):
    """Put a checker of the opponent that has been hit on his head, or on the bar (EMI-7, EMI-8).

    Return `_LOST` if it is the emir and takes the mover's emir there (EMI-10).
    """
    words = scratch.words
    head = rules.n_points
    point = opposite_point(head, rules)
    bit = 1 << point
    traps, emirs = words[node, _TRAPS], words[node, _EMIRS]
    holders = count_at(words, node, point)
    if holders > 1 or (holders > 0 and (traps >> 32) & bit):
        add_count(words, node, _SIDE + head + 1, 1)
        if is_emir:
            words[node, _EMIRS] = emirs & ~0xFFFF0000 | (head + 1) << 16
        return _NOTHING
    result = _NOTHING
    if holders > 0:
        add_count(words, node, point, -1)
        words[node, _MINE] ^= bit
        traps |= bit
        words[node, _TRAPS] = traps
        if is_emir and emirs & 0xFF == point:
            emirs |= _MINE_TAKEN
            result = _LOST
    add_count(words, node, _SIDE + head, 1)
    if is_emir:
        emirs = emirs & ~0xFFFF0000 | head << 16
    elif (emirs >> 16) & 0xFF == head:
        emirs += 1 << 24
    words[node, _EMIRS] = emirs
    if count_at(words, node, _SIDE + head) > 1 or traps & bit:
        words[node, _CLOSED] |= bit
        words[node, _BLOTS] &= ~bit
    else:
        words[node, _BLOTS] |= bit
    return result


@inlined
def meet(scratch, node, target, with_emir, rules):
    """Capture or hit the blot that the mover has landed on (EMI-5, EMI-7, EMI-10).

    Return what that does to the game.
    """
    words = scratch.words
    bit = 1 << target
    theirs = opposite_point(target, rules)
    is_emir = (words[node, _EMIRS] >> 16) & 0xFF == theirs
    add_count(words, node, _SIDE + theirs, -1)
    words[node, _BLOTS] ^= bit
    result = _NOTHING
    if scratch.context[_C_DOUBLE] == 0 or theirs == rules.n_points:
        words[node, _TRAPS] |= bit << 32
    else:
        result = send_back(scratch, node, is_emir, rules)
    if is_emir and with_emir != 0:
        words[node, _EMIRS] |= _THEIRS_TAKEN
        result = _WON
    return result


@inlined
def release(scratch, node, source, rules):
    """Free the captive that the mover's last checker has left on `source` (EMI-6)."""
    words = scratch.words
    bit = 1 << source
    words[node, _TRAPS] ^= bit << 32
    words[node, _BLOTS] |= bit
    add_count(words, node, _SIDE + opposite_point(source, rules), 1)


@jit
def keep_finished(scratch, node, result, depth, rules):
    """Keep one node for each outcome of plays that end the game (T-10)."""
    pool = scratch.pool
    if result == _LOST:
        outcome = rules.n_kinds if pool[node, 0] > 0 else rules.n_kinds + 1
    elif scratch.words[node, _EMIRS] & _THEIRS_TAKEN:
        outcome = 0 if pool[node, _SIDE] > 0 else 1
    else:
        reserve = np.int64(scratch.memory[1, rules.in_reserve])
        outcome = emir_kind(pool[node, _SIDE : 2 * _SIDE], reserve, rules)
    copy_node(scratch, node, pool.shape[0] - _FINISHED + outcome)
    scratch.state[_S_FINISHES] |= 1 << outcome
    scratch.state[_S_FINISH_DEPTH] = depth


@inlined
def add_emir_step(scratch, parent, source, die, with_emir, depth, rules, dedupe):
    """Append the node after one step, if it is new and the block rule at every step allows it.

    A node that ends the game is kept apart.
    """
    words, state = scratch.words, scratch.state
    child = state[_S_NODES]
    copy_node(scratch, parent, child)
    mine, pairs = words[parent, _MINE], words[parent, _PAIRS]
    bit = 1 << source
    target = source - die if source > die else 0
    quiet = with_emir == 0 and target > 0
    if with_emir != 0:
        words[child, _EMIRS] = words[parent, _EMIRS] & ~0xFFFF | target
    elif source == rules.n_points and words[parent, _EMIRS] & 0xFF == source:
        words[child, _EMIRS] -= 1 << 8
    count = count_at(words, parent, source)
    add_count(words, child, source, -1)
    add_count(words, child, target, 1)
    if count == 2:
        pairs ^= bit
    elif count == 1:
        mine ^= bit
        if (words[parent, _TRAPS] >> 32) & bit:
            release(scratch, child, source, rules)
            quiet = False
    result = _NOTHING
    if target > 0:
        pairs |= mine & (1 << target)
        mine |= 1 << target
        words[child, _MINE] = mine
        words[child, _PAIRS] = pairs
        if (words[parent, _BLOTS] >> target) & 1:
            result = meet(scratch, child, target, with_emir, rules)
            quiet = False
    else:
        words[child, _MINE] = mine
        words[child, _PAIRS] = pairs
        if mine == 0 and words[child, _TRAPS] & _LOW == 0:
            result = _WON
    if result != _NOTHING or rules.block_every_step != 0:
        if breaks_emir_block(scratch, child, rules):
            return
    if result != _NOTHING:
        keep_finished(scratch, child, result, depth, rules)
        return
    words[child, _LAST] = source if quiet else rules.n_points + 1
    if dedupe != 0 and find_or_add_node(scratch, child):
        return
    state[_S_NODES] = child + 1


@inlined
def quiet_sources(scratch, node, die, rules):
    """Return the points from which a step by `die` moves an ordinary checker and touches nobody."""
    words = scratch.words
    touching = words[node, _BLOTS] << die
    # A captive under a lone checker would be released; the emir's point offers two steps.
    touching |= (words[node, _TRAPS] >> 32) & ~words[node, _PAIRS]
    touching |= 1 << (words[node, _EMIRS] & 0xFF)
    return ~touching & ~((2 << die) - 1)


@inlined
def expand_nodes(scratch, first, end, die, depth, rules, dedupe, ordered, swappable):
    """Append all successors of nodes `first..end` by one step of `die`; return False if full.

    After a quiet step two kinds of quiet steps are left out, because the same position comes from
    the two in the other order: with `ordered` those from points above the last source, and those
    from the points `swappable`.
    """
    words = scratch.words
    head = rules.n_points
    room = scratch.pool.shape[0] - _TRIAL - head - 4
    for parent in range(first, end):
        if scratch.state[_S_NODES] > room:
            return False
        sources = emir_step_sources(scratch, parent, die, rules)
        last = words[parent, _LAST]
        if last <= head:
            if ordered != 0:
                sources &= (2 << last) - 1 | ~quiet_sources(scratch, parent, die, rules)
            sources &= ~swappable
        emir = words[parent, _EMIRS] & 0xFF
        while sources != 0:
            source = lowest_bit(sources)
            sources &= sources - 1
            with_emir, ordinary = 0, 1
            if source == emir:
                if source == head:
                    # The order of leaving the head is fixed (EMI-2).
                    ordinary = (words[parent, _EMIRS] >> 8) & 0xFF
                    with_emir = 1 if ordinary == 0 else 0
                else:
                    with_emir = 1
                    ordinary = (words[parent, _PAIRS] >> source) & 1
            for mover_is_emir in range(1, -1, -1):
                if (with_emir if mover_is_emir != 0 else ordinary) != 0:
                    add_emir_step(scratch, parent, source, die, mover_is_emir, depth, rules, dedupe)
    return True


# -- pre-roll moves ------------------------------------------------------------------------------


@jit
def takes_nuker(scratch, node, point, rules):
    """Return whether a lone free checker of the mover stands alone on `point` (EMI-11a, EMI-12)."""
    if scratch.pool[node, point] != 1:
        return False
    return ((scratch.words[node, _TRAPS] >> 32) >> point) & 1 == 0


@jit
def spread_one(scratch, node, source, last, rules):
    """Move a checker from `source` to the next point behind `last` that is not closed (EMI-11b).

    Return that point, or 0 if there is none or too many closed points lie before it.
    """
    words = scratch.words
    target, closed = last - 1, 0
    while target > 0 and (words[node, _CLOSED] >> target) & 1:
        closed += 1
        target -= 1
    if target < 1 or closed > _LONGEST_JUMP:
        return 0
    bit = 1 << target
    pool = scratch.pool
    pool[node, source] -= 1
    if pool[node, source] == 1:
        words[node, _PAIRS] ^= 1 << source
    pool[node, target] += 1
    words[node, _MINE] |= bit
    if pool[node, target] > 1:
        words[node, _PAIRS] |= bit
    if words[node, _BLOTS] & bit:
        words[node, _BLOTS] ^= bit
        words[node, _TRAPS] |= bit << 32
        pool[node, _SIDE + opposite_point(target, rules)] = 0
    return target


@jit
def spread_sources(scratch, node, rules):
    """Return the points from which a distribution could start, as bits (EMI-11b, EMI-12)."""
    words = scratch.words
    traps = words[node, _TRAPS]
    taken = words[node, _MINE] | words[node, _CLOSED] | words[node, _BLOTS] | traps | traps >> 32
    sources = words[node, _PAIRS] & ~(taken << 1) & ((1 << rules.n_points) - 1) & ~3
    if rules.frozen_home != 0:
        sources &= ~((2 << rules.home) - 1)
    return sources


@jit
def can_spread(scratch, node, trial, rules):
    """Return whether the mover has a distribution; node `trial` is overwritten."""
    sources = spread_sources(scratch, node, rules)
    while sources != 0:
        source = lowest_bit(sources)
        sources &= sources - 1
        copy_node(scratch, node, trial)
        last = source
        for _ in range(scratch.pool[node, source] - 1):
            if scratch.pool[node, source] < 3:
                break
            last = spread_one(scratch, trial, source, last, rules)
            if last == 0:
                break
            if not breaks_emir_block(scratch, trial, rules):
                return True
    return False


@inlined
def quick_preroll(scratch, node, rules):
    """Return 1 or 0 as `slow_preroll` does, or `_UNKNOWN` where that takes a second node."""
    pool, words = scratch.pool, scratch.words
    head = rules.n_points
    reserve = scratch.memory[1, rules.in_reserve]
    if reserve == 0 and scratch.context[_C_TRIPLES] == 0:
        return 0
    traps, emirs = words[node, _TRAPS], words[node, _EMIRS]
    held = words[node, _PAIRS] | (words[node, _MINE] & (traps >> 32))
    if pool[node, _SIDE + head + 1] > 0 and (held >> opposite_point(head, rules)) & 1 == 0:
        return _UNKNOWN
    if reserve > 0:
        emir = (emirs >> 16) & 0xFF
        if pool[node, _SIDE + head] == 1:
            if (traps >> opposite_point(head, rules)) & 1 == 0:
                return 1
        if emir > 0 and emir < head and pool[node, _SIDE + emir] == 1:
            if (traps >> opposite_point(emir, rules)) & 1 == 0:
                return 1
    taken = words[node, _MINE] | words[node, _CLOSED] | words[node, _BLOTS]
    taken = occupied_on_route(taken | traps & _LOW | traps >> 32, rules)
    if scratch.context[_C_TRIPLES] & ~(taken << 1) == 0:
        return 0
    if rules.block_rule == BLOCK_NONE:
        return 1
    # One checker spread onto an empty point leaves closed points as they are.
    present = (words[node, _MINE] | traps & _LOW) & ((2 << head) - 1)
    if is_deaf(words[node, _CLOSED], present, pool[node, 0], pool[node, head + 1], rules):
        return _UNKNOWN
    return 1


@jit
def slow_preroll(scratch, node, rules):
    """Return 1 if the opponent of `node`, who acts next, has a pre-roll move, else 0."""
    other, trial = scratch.pool.shape[0] - _OTHER, scratch.pool.shape[0] - _TRIAL
    head = rules.n_points
    swap_node(scratch, node, other, rules)
    if return_from_bar(scratch, other, rules) != 0:
        return 0
    if scratch.memory[1, rules.in_reserve] > 0:
        emir = scratch.words[other, _EMIRS] & 0xFF
        if takes_nuker(scratch, other, head, rules):
            return 1
        if emir > 0 and emir < head and takes_nuker(scratch, other, emir, rules):
            return 1
    return 1 if can_spread(scratch, other, trial, rules) else 0


@inlined
def judge_level(scratch, first, end, check, rules):
    """Write into each node whether the opponent may make a pre-roll move next.

    check: 1 = nodes that break the block rule are `_REFUSED` instead (T-4).
    """
    words = scratch.words
    for node in range(first, end):
        if check != 0 and breaks_emir_block(scratch, node, rules):
            words[node, _NEXT] = _REFUSED
            continue
        answer = quick_preroll(scratch, node, rules)
        if answer == _UNKNOWN:
            answer = slow_preroll(scratch, node, rules)
        words[node, _NEXT] = answer


@inlined
def set_triples(scratch, rules):
    """Write the opponent's points that a distribution can start from, whatever the mover does.

    A play changes counts of his between 0 and 1 and on his head only.
    """
    triples = 0
    first = rules.home + 1 if rules.frozen_home != 0 else 2
    for point in range(first, rules.n_points):
        if scratch.pool[0, _SIDE + point] > 2:
            triples |= 1 << point
    scratch.context[_C_TRIPLES] = triples


# -- output --------------------------------------------------------------------------------------


@inlined
def write_judged(scratch, first, end, rules, out, start):
    """Write the nodes `first..end` that are not `_REFUSED` as afterstates.

    Return the new end or `OUT_OVERFLOW`. One call for a whole level: scratch and rules are a
    hundred numbers to hand over.
    """
    pool, words, memory = scratch.pool, scratch.words, scratch.memory
    for node in range(first, end):
        if words[node, _NEXT] == _REFUSED:
            continue
        if start >= out.shape[0]:
            return OUT_OVERFLOW
        mine, theirs = out[start, 0], out[start, 1]
        # Whole rows first: two rows are fewer loops than four parts of rows.
        copy_slots(memory[0], mine, rules.n_slots)
        copy_slots(memory[1], theirs, rules.n_slots)
        copy_slots(pool[node], mine, rules.n_points + 2)
        copy_slots(pool[node, _SIDE:], theirs, rules.n_points + 2)
        changed = words[node, _TRAPS] ^ scratch.context[_C_TRAPS]
        captives, prisoners = changed & _LOW, changed >> 32
        while captives != 0:
            mine[rules.captive + lowest_bit(captives) - 1] ^= 1
            captives &= captives - 1
        while prisoners != 0:
            point = opposite_point(lowest_bit(prisoners), rules)
            theirs[rules.captive + point - 1] ^= 1
            prisoners &= prisoners - 1
        emirs = words[node, _EMIRS]
        mine[rules.emir_place] = emirs & 0xFF
        mine[rules.emir_above] = (emirs >> 8) & 0xFF
        theirs[rules.emir_place] = (emirs >> 16) & 0xFF
        theirs[rules.emir_above] = (emirs >> 24) & 0xFF
        if emirs & (_MINE_TAKEN | _THEIRS_TAKEN):
            mine[rules.emir_taken] = 1 if emirs & _MINE_TAKEN else 0
            theirs[rules.emir_taken] = 1 if emirs & _THEIRS_TAKEN else 0
        theirs[rules.preroll] = words[node, _NEXT]
        start += 1
    return start


@jit
def write_node(scratch, node, rules, out, start):
    """Write one node as an afterstate that no pre-roll move of the opponent follows."""
    scratch.words[node, _NEXT] = 0
    return write_judged(scratch, node, node + 1, rules, out, start)


@jit
def write_finished(scratch, rules, out, start):
    """Write one end for each outcome that a play reaches at once (T-10); return the new end."""
    outcomes = scratch.state[_S_FINISHES]
    while outcomes != 0:
        node = scratch.pool.shape[0] - _FINISHED + lowest_bit(outcomes)
        outcomes &= outcomes - 1
        start = write_node(scratch, node, rules, out, start)
        if start < 0:
            return start
    return start


@inlined
def write_level(scratch, first, end, rules, out, start):
    """Write the admissible nodes `first..end`; return the new end or a code (T-4)."""
    check = 1 if rules.block_rule != BLOCK_NONE and rules.block_every_step == 0 else 0
    judge_level(scratch, first, end, check, rules)
    return write_judged(scratch, first, end, rules, out, start)


@jit
def write_pass(scratch, rules, out, start):
    """Write the position before the play, after checkers have returned (T-8, CHN-1)."""
    judge_level(scratch, 0, 1, 0, rules)
    return write_judged(scratch, 0, 1, rules, out, start)


# -- decisions -----------------------------------------------------------------------------------


@jit
def use_table(scratch, parents):
    """Forget all listed positions; make room for the successors of so many nodes.

    The table is kept small, so that it stays in the first-level cache where it can.
    """
    size = _LEAST_TABLE
    while size < _ENTRIES_PER_PARENT * parents and size < scratch.table.shape[0]:
        size *= 2
    scratch.state[_S_GENERATION] += 1
    scratch.state[_S_TABLE_MASK] = size - 1


@inlined
def list_emir_equal(scratch, die, steps, rules, out, start):
    """Write the ends of `steps` dice showing `die`; return the new end or an error code."""
    bounds, state = scratch.bounds, scratch.state
    bounds[0], bounds[1] = 0, 1
    depth = 0
    while depth < steps:
        first, end = bounds[depth], bounds[depth + 1]
        use_table(scratch, end - first)
        ordered = rules.ordered_steps
        if not expand_nodes(scratch, first, end, die, depth + 1, rules, 1, ordered, 0):
            return POOL_OVERFLOW
        if state[_S_NODES] == end:
            break
        depth += 1
        bounds[depth + 1] = state[_S_NODES]
    end = write_finished(scratch, rules, out, start)
    while end >= 0 and depth >= 1 and depth >= state[_S_FINISH_DEPTH]:
        written = write_level(scratch, bounds[depth], bounds[depth + 1], rules, out, end)
        if written != end:
            return written
        depth -= 1
    if end != start:
        return end
    return write_pass(scratch, rules, out, start)


@inlined
def list_emir_two(scratch, high, low, rules, out, start):
    """Write the ends of two different dice, `high` > `low`; return the new end or a code."""
    state = scratch.state
    end_high, end_low = 1, 1
    finish_high = False
    first, end, die, depth, dedupe, swappable = 0, 1, high, 1, 0, 0
    # High, low, high then low, low then high: a loop, so that `expand_nodes` stands here only once.
    for order in range(4):
        if order == 1:
            end_high = state[_S_NODES]
            finish_high = state[_S_FINISHES] != 0
            die = low
        elif order == 2:
            end_low = state[_S_NODES]
            use_table(scratch, end_low - 1)
            first, end, depth, dedupe = 1, end_high, 2, 1
        elif order == 3:
            first, end, die = end_high, end_low, high
            # A quiet low step and a quiet high one from where a checker stood before the play have
            # been listed in the other order, unless the high step first would have released a
            # captive.
            if rules.ordered_steps != 0:
                swappable = emir_step_sources(scratch, 0, high, rules)
                swappable &= quiet_sources(scratch, 0, high, rules)
        if first < end and not expand_nodes(
            scratch, first, end, die, depth, rules, dedupe, 0, swappable
        ):
            return POOL_OVERFLOW
    end = write_finished(scratch, rules, out, start)
    if end < 0:
        return end
    first, last = end_low, state[_S_NODES]
    for choice in range(3):
        if choice == 1:
            if state[_S_FINISH_DEPTH] == 2:
                return end
            first, last = 1, end_high
        elif choice == 2:
            if finish_high:
                return end
            first, last = end_high, end_low
        written = write_level(scratch, first, last, rules, out, end)
        if written != end:
            return written
    if end != start:
        return end
    return write_pass(scratch, rules, out, start)


@jit
def list_preroll(scratch, rules, out, start):
    """Write what the mover can do before his roll, nothing first; return the new end or a code."""
    pool, memory = scratch.pool, scratch.memory
    head = rules.n_points
    memory[0, rules.again] = 1
    end = write_node(scratch, 0, rules, out, start)
    if memory[0, rules.in_reserve] > 0:
        memory[0, rules.in_reserve] -= 1
        emir = scratch.words[0, _EMIRS] & 0xFF
        if takes_nuker(scratch, 0, head, rules) and end >= 0:
            copy_node(scratch, 0, 1)
            pool[1, head] += 1
            if emir == head:
                scratch.words[1, _EMIRS] += 1 << 8
            end = write_node(scratch, 1, rules, out, end)
        if emir > 0 and emir < head and takes_nuker(scratch, 0, emir, rules) and end >= 0:
            copy_node(scratch, 0, 1)
            pool[1, emir] += 1
            end = write_node(scratch, 1, rules, out, end)
        memory[0, rules.in_reserve] += 1
    sources = spread_sources(scratch, 0, rules)
    while sources != 0 and end >= 0:
        source = lowest_bit(sources)
        sources &= sources - 1
        last = source
        copy_node(scratch, 0, 1)
        while pool[1, source] > 1 and pool[0, source] > 2 and end >= 0:
            last = spread_one(scratch, 1, source, last, rules)
            if last == 0:
                break
            if not breaks_emir_block(scratch, 1, rules):
                end = write_node(scratch, 1, rules, out, end)
    return end


@inlined
def list_emir(mover, opponent, die_a, die_b, rules, scratch, out, start):
    """Write every distinct legal afterstate of one decision in emir to `out` from `start`.

    mover, opponent: `[P] int8` rows before it; out: `[N, 2, P] int8`, mover still row 0. Checkers
    on the bar return first (EMI-8). A position with `preroll` asks for a pre-roll move, the dice
    do not count then; the first end is the one without a move. A forced pass and a skipped turn
    are the position itself; a finished game has no afterstates; plays that end the game are
    listed once for each outcome (T-10). Return the new end or a negative code.
    """
    if emir_outcome_index(mover, opponent, rules) >= 0:
        return start
    load_position(scratch, mover, opponent, rules)
    if return_from_bar(scratch, 0, rules) != 0:
        return write_node(scratch, 0, rules, out, start)
    if mover[rules.preroll] != 0:
        return list_preroll(scratch, rules, out, start)
    high, low = die_a, die_b
    if die_a < die_b:
        high, low = die_b, die_a
    steps = rolled_steps(high, low, rules)
    context = scratch.context
    context[C_CLOSED] = scratch.words[0, _CLOSED]
    context[_C_DOUBLE] = 1 if high == low else 0
    allowance = head_allowance(mover, opponent, high, low, steps, rules, context)
    context[_C_HEAD_KEEPS] = scratch.pool[0, rules.n_points] - allowance
    set_triples(scratch, rules)
    if rules.fresh != 0:
        scratch.memory[0, rules.fresh] = 0
    if is_skipped(mover, low, rules):
        return write_pass(scratch, rules, out, start)
    if steps > 0:
        return list_emir_equal(scratch, high, steps, rules, out, start)
    return list_emir_two(scratch, high, low, rules, out, start)


@jit
def fill_emir_afterstates(boards, dice, first, rules, scratch, out, offsets):
    """List the plays of games `first..B` one after the other; as `segments.fill_afterstates`.

    A standstill (`standstill.py`) is not looked for: it has the pass as its only play.
    """
    end = np.int64(offsets[first])
    for i in range(first, boards.shape[0]):
        die_a, die_b = np.int64(dice[i, 0]), np.int64(dice[i, 1])
        written = list_emir(boards[i, 0], boards[i, 1], die_a, die_b, rules, scratch, out, end)
        if written == OUT_OVERFLOW:
            return i
        if written < 0:
            return written
        end = written
        offsets[i + 1] = end
    return boards.shape[0]
