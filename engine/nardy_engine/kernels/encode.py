"""Positions to network inputs, by a table of units per checker count; layer 3."""

from __future__ import annotations

import numpy as np

from nardy_engine.kernels._jit import inlined, jit, trailing_zeros


@jit
def encode_units(boards, swap, order, units, tables, out):
    """Write the features of each board to `out` `[N, F]`.

    boards: `[N, 2, P] int8`; swap: 1 = row 1 is the side to roll; order: `[S]` the slots of a
    row that have features, in the order of the features; units: `[P]` how many each has;
    tables: `[P, max + 1, U]` their values by the number on the slot. The dtype of the tables is
    that of `out` (float32, or uint16 holding bfloat16 bits). The side to roll comes first.
    """
    for i in range(boards.shape[0]):
        column = 0
        for side in range(2):
            row = boards[i, side ^ swap]
            for s in range(order.shape[0]):
                slot = order[s]
                count = row[slot]
                for unit in range(units[slot]):
                    out[i, column + unit] = tables[slot, count, unit]
                column += units[slot]


@inlined
def list_steps(slot, low, high, sign, step_column, step_factor, n, columns, factors):
    """Append the features that change if `slot` goes up from `low` to `high`, times `sign`.

    slot: of either row, row 1 behind row 0; step_column, step_factor: `[2 P, max + 1]` which
    feature the `c`-th unit of a slot changes, and by how much; columns, factors: the list, with
    `n` entries so far. Return its new length.
    """
    for count in range(low + 1, high + 1):
        columns[n] = step_column[slot, count]
        factors[n] = sign * step_factor[slot, count]
        n += 1
    return n


@inlined
def add_columns(weights, columns, factors, n, source, out):
    """Write `source` plus the listed multiples of rows of `weights` `[F, H]` to `out` `[H]`.

    Four at a time, so that a sum is loaded and stored once for four products. The first four are
    apart because a loop whose input and output may overlap is not vectorised.
    """
    while n % 4 != 0 or n == 0:
        columns[n] = 0
        factors[n] = 0
        n += 1
    w0, w1, w2, w3 = columns[0], columns[1], columns[2], columns[3]
    f0, f1, f2, f3 = factors[0], factors[1], factors[2], factors[3]
    for j in range(out.shape[0]):
        low = f0 * weights[w0, j] + f1 * weights[w1, j]
        out[j] = source[j] + (low + (f2 * weights[w2, j] + f3 * weights[w3, j]))
    for i in range(4, n, 4):
        w0, w1, w2, w3 = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
        f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for j in range(out.shape[0]):
            low = f0 * weights[w0, j] + f1 * weights[w1, j]
            out[j] += low + (f2 * weights[w2, j] + f3 * weights[w3, j])


@inlined
def write_bfloat16_relu(bits, out):
    """Write max(0, x) as bfloat16 bits to `out` `[H] uint16`, ties away from zero.

    bits: `[H] int32`, the memory of the float32 row `x`; a number with its sign bit set is a
    negative integer too.
    """
    for j in range(bits.shape[0]):
        positive = bits[j] if bits[j] > 0 else np.int32(0)
        out[j] = np.uint16((positive + np.int32(0x8000)) >> 16)


@inlined
def write_relu(row, out):
    """Write max(0, row) to `out`, both `[H] float32`."""
    for j in range(row.shape[0]):
        out[j] = row[j] if row[j] > 0 else np.float32(0)


@inlined
def list_changes(board, ends, step_column, step_factor, differs, words, columns, factors):
    """List the features in which `ends` `[2 P]` differs from `board` `[2 P]`; return how many.

    differs: `[W] uint8`, `W` a multiple of 8 and at least `2 P`, zero beyond `2 P`; words: the
    same memory as `[W / 8] uint64`. Which slots change is hard to predict, so a word is searched
    for them without a branch for each.
    """
    n = 0
    for slot in range(board.shape[0]):
        differs[slot] = board[slot] ^ ends[slot]
    for w in range(words.shape[0]):
        word = words[w]
        while word != 0:
            byte = trailing_zeros(word) >> 3
            word &= ~(np.uint64(0xFF) << np.uint64(8 * byte))
            slot = 8 * w + byte
            old, new = np.int64(board[slot]), np.int64(ends[slot])
            low, high, sign = old, new, np.float32(1)
            if new < old:
                low, high, sign = new, old, np.float32(-1)
            n = list_steps(slot, low, high, sign, step_column, step_factor, n, columns, factors)
    return n


@jit
def first_layer(
    boards, after, offsets, first, end, again, step_column, step_factor, weights, bias, work,
    as_bfloat16, hidden16, hidden32,
):  # fmt: skip
    """Write the first hidden layer, ReLU applied, of the afterstates of games `first..end`.

    Features are sparse and a play changes few of them, so each game's position is summed once
    and every afterstate adds only what differs. boards: `[G, 2 P]` before the play, row 1 behind
    row 0; after: `[A, 2 P]`, the mover first, those of game `g` from `offsets[g] -
    offsets[first]`; the view is that of the side that acts next, row 1 unless the slot `again` (0
    = there is none) says row 0; step_column, step_factor: `[2, 2 P, max + 1]` for either view;
    weights: `[F, H] float32`; work: `first_layer_work`; hidden16: `[A, H] uint16` bfloat16 bits,
    or hidden32: `[A, H] float32`, whichever `as_bfloat16` says. Rows of finished games hold
    nothing of use.
    """
    root, row, bits, columns, factors, differs, words = work
    begin = offsets[first]
    for game in range(first, end):
        # All plays of a decision lead to the same next actor, but for those that end the game;
        # of these there is one at most and it comes first.
        last = offsets[game + 1] - begin - 1
        stays = 0
        if again != 0 and offsets[game + 1] > offsets[game]:
            stays = np.int64(after[last, again])
        column, factor = step_column[stays], step_factor[stays]
        n = 0
        for slot in range(boards.shape[1]):
            count = np.int64(boards[game, slot])
            n = list_steps(slot, 0, count, np.float32(1), column, factor, n, columns, factors)
        add_columns(weights, columns, factors, n, bias, root)
        for a in range(offsets[game] - begin, offsets[game + 1] - begin):
            n = list_changes(
                boards[game], after[a], column, factor, differs, words, columns, factors
            )
            add_columns(weights, columns, factors, n, root, row)
            if as_bfloat16 != 0:
                write_bfloat16_relu(bits, hidden16[a])
            else:
                write_relu(row, hidden32[a])


def first_layer_work(longest, width, slots):
    """Return working memory for `first_layer`: two rows of sums, one also as bits, and two lists.

    longest: changes of single features in which two positions can differ, padded to fours;
    width: `H`; slots: `2 P`.
    """
    row = np.empty(width, np.float32)
    columns, factors = np.zeros(longest + 4, np.int64), np.zeros(longest + 4, np.float32)
    root, differs = np.empty(width, np.float32), np.zeros(-(-slots // 8) * 8, np.uint8)
    return root, row, row.view(np.int32), columns, factors, differs, differs.view(np.uint64)
