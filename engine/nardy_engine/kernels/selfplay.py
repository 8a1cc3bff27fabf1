"""The compiled half of self-play: choose plays, advance games, form TD(lambda) targets; layer 3.

Games run in lock step. Each keeps its trajectory: the position before every decision, who was to
act and what the frozen network thought of it. When a game ends the lambda-returns are formed
backwards (Sutton & Barto 2018, eq. 12.18; undiscounted) and written to the fresh samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_engine.kernels._jit import jit
from nardy_engine.kernels.scoring import (
    acts_again,
    all_possible,
    ends_by_checkers,
    fill_possible,
    flipped,
    is_race,
    outcome_index,
)

TIE = 1e-6
"""Equities closer than this are equal; the afterstate listed first is taken (T31)."""

PHASES = ("opening", "middle", "race", "bearoff")
"""Phases in which calibration is counted, see `phase_of`."""
OPENING_PLIES = 16
CALIBRATION_BINS = 10


class Tracks(NamedTuple):
    """The games of one worker and their trajectories."""

    boards: NDArray[np.int8]
    """`[G, 2, P]` current positions, side to act in row 0."""
    sides: NDArray[np.int8]
    """`[G]` 0 = the first player of the game is to act."""
    ids: NDArray[np.int64]
    """`[G]` game ids: the dice stream."""
    turns: NDArray[np.int64]
    """`[G]` decisions made."""
    path_boards: NDArray[np.int8]
    """`[G, T, 2, P]` positions before each roll."""
    path_sides: NDArray[np.int8]
    """`[G, T + 1]` who was to act; the last entry is needed where a game is cut off."""
    path_probs: NDArray[np.float32]
    """`[G, T + 1, O]` the network's outcomes for the side to roll; entry 0 is never set."""
    next_id: NDArray[np.int64]
    """`[2]` next game id of this worker, and the stride between its ids."""


class Samples(NamedTuple):
    """What a worker has learned about since the last round, and its statistics."""

    boards: NDArray[np.int8]
    """`[N, 2, P]` positions before the roll."""
    targets: NDArray[np.float32]
    """`[N, O]` lambda-returns from the view of the side to roll."""
    filled: NDArray[np.int64]
    """`[1]` rows filled."""
    totals: NDArray[np.float64]
    """`[6]` games, plies, truncated games, wins of the first player, sum of |TD error|, its n."""
    outcomes: NDArray[np.int64]
    """`[O]` outcomes of finished games seen from the first player."""
    calibration: NDArray[np.float64]
    """`[phases, bins, 3]` number, sum of predicted and of actual wins by predicted win rate."""


_EXP_STEPS = 64
"""Entries of the table of exponentials per unit; what lies between them is a short series."""

_EXP_LEAST = -40.0
"""Below this the exponential counts as 0, which it is next to 1 in float32."""

_EXP_TABLE = np.exp(-np.arange(-_EXP_LEAST * _EXP_STEPS + 1) / _EXP_STEPS).astype(np.float32)


@jit
def exp_below(x):
    """Return e^x of a float32 number from minus infinity to 0, to the precision of float32."""
    if not x > np.float32(_EXP_LEAST):  # also what is no number
        return x if x != x else np.float32(0.0)
    entry = np.int32(np.float32(0.5) - x * np.float32(_EXP_STEPS))
    rest = x + np.float32(entry) * np.float32(1 / _EXP_STEPS)
    series = rest * (np.float32(1 / 2) + rest * np.float32(1 / 6))
    return _EXP_TABLE[entry] * (np.float32(1.0) + rest * (np.float32(1.0) + series))


@jit
def softmax(logits, out):
    """Write the softmax over all outcomes to `out` `[O]`."""
    n = logits.shape[0]
    top = logits[0]
    for k in range(1, n):
        if logits[k] > top:
            top = logits[k]
    total = np.float32(0.0)
    for k in range(n):
        out[k] = exp_below(logits[k] - top)
        total += out[k]
    scale = np.float32(1.0) / total
    for k in range(n):
        out[k] *= scale


@jit
def masked_softmax(logits, possible, out):
    """Write the softmax over the possible outcomes to `out` `[O]`; impossible ones get 0."""
    n = logits.shape[0]
    top = np.float32(-1e30)
    for k in range(n):
        if possible[k] != 0 and logits[k] > top:
            top = logits[k]
    total = np.float32(0.0)
    for k in range(n):
        value = np.float32(0.0)
        if possible[k] != 0:
            value = exp_below(logits[k] - top)
        out[k] = value
        total += value
    scale = np.float32(1.0) / total
    for k in range(n):
        out[k] *= scale


@jit
def choose_plays(after, offsets, first, end, logits, points, rules, possible, probs, picked, best):
    """Pick the best afterstate of games `first..end`.

    after: `[A, 2, P]` afterstates with the mover in row 0, those of game `g` at `offsets[g] -
    offsets[first]`; logits: `[A, O] float32` for the side that acts next; points: `[O] float32` of
    each outcome for the side it is seen from. Writes the row of the choice to `picked` `[G]` and
    its outcome probabilities, seen from the side that acts next, to `best` `[G, O]`. A finished
    game counts with its exact points and beats any estimate of lower value.
    """
    base = offsets[first]
    n = points.shape[0]
    # Handing a rule table to a function costs more than most afterstates need: what a rule says
    # of all of them is asked once, and single ones go on to the functions only where they must.
    plain, again, checkers = ends_by_checkers(rules), rules.again, rules.checkers
    score, n_points = rules.score, rules.n_points
    for game in range(first, end):
        top = np.float32(-1e30)
        for a in range(offsets[game] - base, offsets[game + 1] - base):
            stays = np.int64(after[a, 0, again]) if again != 0 else 0
            actor, other = after[a, 1 - stays], after[a, stays]
            over = -1
            if not plain or actor[0] == checkers or other[0] == checkers:
                over = outcome_index(actor, other, rules)
            if over >= 0:
                for k in range(n):
                    probs[k] = 0.0
                probs[over] = 1.0
            elif plain and all_possible(actor, other, score, n_points):
                softmax(logits[a], probs)
            else:
                fill_possible(actor, other, rules, possible)
                masked_softmax(logits[a], possible, probs)
            equity = np.float32(0.0)
            for k in range(n):
                equity += probs[k] * points[k]
            if stays == 0:
                equity = -equity
            # The first one is taken whatever its value, so that a play is picked even if the
            # network has gone astray and says nothing but NaN.
            if a == offsets[game] - base or equity > top + TIE:
                top = equity
                picked[game] = a
                for k in range(n):
                    best[game, k] = probs[k]


@jit
def phase_of(board, turn, rules):
    """Return the index in `PHASES` of a position before the roll."""
    if board[0, 0] > 0 or board[1, 0] > 0:
        return 3
    if is_race(board[0], board[1], rules):
        return 2
    return 0 if turn < OPENING_PLIES else 1


@jit
def backward_returns(sides, probs, length, outcome, lambda_, kinds, targets, start):
    """Write the lambda-returns of one game to `targets` from row `start`.

    sides: `[T + 1]` side to act at each of `length` positions and after them; probs: `[T + 1, O]`
    network outcomes; outcome: index seen from the side of the last position, or -1 if the game
    was cut off and `probs[length]` stands for what follows (T09); kinds: `K`, ways to win. G_t =
    (1 - lambda) V_{t+1} + lambda G_{t+1}, turned to the view of t; turned only if the side
    changes (T02).
    """
    n = targets.shape[1]
    for t in range(length - 1, -1, -1):
        row = start + t
        flip = sides[t] != sides[t + 1]
        for k in range(n):
            source = k
            if flip and k < 2 * kinds:
                source = k + kinds if k < kinds else k - kinds
            if t < length - 1:
                value = (1.0 - lambda_) * probs[t + 1, source]
                targets[row, k] = value + lambda_ * targets[row + 1, source]
            elif outcome >= 0:
                targets[row, k] = 1.0 if k == outcome else 0.0
            else:
                targets[row, k] = probs[length, source]


@jit
def count_game(tracks, samples, game, length, outcome, points, rules):
    """Add a finished (or cut off) game to the statistics."""
    totals = samples.totals
    start = samples.filled[0]
    n = points.shape[0]
    half = rules.n_kinds
    totals[1] += length
    if outcome < 0:
        totals[2] += 1
    else:
        totals[0] += 1
        seen = outcome
        if tracks.path_sides[game, length - 1] != 0:
            seen = flipped(outcome, rules)
        samples.outcomes[seen] += 1
        if seen < half:
            totals[3] += 1
    for t in range(1, length):
        guess, target, win = 0.0, 0.0, 0.0
        for k in range(n):
            guess += tracks.path_probs[game, t, k] * points[k]
            target += samples.targets[start + t, k] * points[k]
            if k < half:
                win += tracks.path_probs[game, t, k]
        totals[4] += abs(target - guess)
        totals[5] += 1
        if outcome >= 0:
            ended = outcome
            if tracks.path_sides[game, t] != tracks.path_sides[game, length - 1]:
                ended = flipped(outcome, rules)
            won = 1.0 if ended < half else 0.0
            phase = phase_of(tracks.path_boards[game, t], t, rules)
            # A network that has diverged says NaN, which no integer holds: it counts as 0.
            cell = int(win * CALIBRATION_BINS) if win > 0 else 0
            if cell >= CALIBRATION_BINS:
                cell = CALIBRATION_BINS - 1
            samples.calibration[phase, cell, 0] += 1
            samples.calibration[phase, cell, 1] += win
            samples.calibration[phase, cell, 2] += won


@jit
def flush_game(tracks, samples, game, length, outcome, lambda_, points, rules):
    """Turn the trajectory of a game into samples and statistics."""
    start = samples.filled[0]
    backward_returns(
        tracks.path_sides[game], tracks.path_probs[game], length, outcome, lambda_,
        rules.n_kinds, samples.targets, start,
    )  # fmt: skip
    for t in range(length):
        for side in range(2):
            for slot in range(rules.n_slots):
                samples.boards[start + t, side, slot] = tracks.path_boards[game, t, side, slot]
    count_game(tracks, samples, game, length, outcome, points, rules)
    samples.filled[0] = start + length


@jit
def restart_game(tracks, game, start_board):
    """Set up a new game, with the next id of this worker, in the place of a finished one.

    start_board: `[2, P] int8`, the side that moves first in row 0.
    """
    for side in range(2):
        for slot in range(start_board.shape[1]):
            tracks.boards[game, side, slot] = start_board[side, slot]
    tracks.sides[game] = 0
    tracks.turns[game] = 0
    tracks.ids[game] = tracks.next_id[0]
    tracks.next_id[0] += tracks.next_id[1]


@jit
def advance_games(
    tracks, samples, first, end, after, picked, best, lambda_, points, start_board, rules
):
    """Play the chosen afterstates of games `first..end`; flush and restart those that end.

    `samples` must have room for `end - first` games of full length.
    """
    longest = tracks.path_boards.shape[1]
    for game in range(first, end):
        turn = tracks.turns[game]
        a = picked[game]
        for side in range(2):
            for slot in range(rules.n_slots):
                tracks.path_boards[game, turn, side, slot] = tracks.boards[game, side, slot]
        tracks.path_sides[game, turn] = tracks.sides[game]
        outcome = outcome_index(after[a, 0], after[a, 1], rules)
        if outcome < 0:
            for k in range(points.shape[0]):
                tracks.path_probs[game, turn + 1, k] = best[game, k]
            stays = acts_again(after[a, 0], rules)
            for slot in range(rules.n_slots):
                tracks.boards[game, 0, slot] = after[a, 1 - stays, slot]
                tracks.boards[game, 1, slot] = after[a, stays, slot]
            if rules.again != 0:
                tracks.boards[game, 0, rules.again] = 0
            if stays == 0:
                tracks.sides[game] = 1 - tracks.sides[game]
            tracks.path_sides[game, turn + 1] = tracks.sides[game]
            tracks.turns[game] = turn + 1
        if outcome >= 0 or turn + 1 == longest:
            flush_game(tracks, samples, game, turn + 1, outcome, lambda_, points, rules)
            restart_game(tracks, game, start_board)
