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
from nardy_engine.kernels.bearoff import BearoffTables, fill_bearoff_outcome, is_bearoff
from nardy_engine.kernels.scoring import (
    acts_again,
    all_possible,
    ends_by_checkers,
    fill_possible,
    is_race,
    outcome_index,
)
from nardy_engine.kernels.softmax import masked_softmax, softmax

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
    outcomes: NDArray[np.float64]
    """`[O]` outcomes of finished games seen from the first player; in parts where a game ends with
    exact chances."""
    calibration: NDArray[np.float64]
    """`[phases, bins, 3]` number, sum of predicted and of actual wins by predicted win rate."""


class Endings(NamedTuple):
    """The exact endings with which games stop: see `nardy_engine.bearoff`."""

    known: int
    """0 = there are none, games are played to the end."""
    mars_kind: int
    """See `fill_bearoff_outcome`."""
    tables: BearoffTables


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
def backward_returns(sides, probs, length, lambda_, kinds, targets, start):
    """Write the lambda-returns of one game to `targets` from row `start`.

    sides: `[T + 1]` side to act at each of `length` positions and after them; probs: `[T + 1, O]`
    network outcomes; kinds: `K`, ways to win. The row of the last position is there already: what
    followed it, seen from its side. G_t = (1 - lambda) V_{t+1} + lambda G_{t+1}, turned to the
    view of t; turned only if the side changes (T02).
    """
    n = targets.shape[1]
    for t in range(length - 2, -1, -1):
        row = start + t
        flip = sides[t] != sides[t + 1]
        for k in range(n):
            source = turned(k, flip, kinds)
            value = (1.0 - lambda_) * probs[t + 1, source]
            targets[row, k] = value + lambda_ * targets[row + 1, source]


@jit
def turned(k, flip, kinds):
    """Return the index of outcome `k` in the view of the other side, if `flip`; draws stay."""
    if not flip or k >= 2 * kinds:
        return k
    return k + kinds if k < kinds else k - kinds


@jit
def write_last_target(sides, follows, length, kinds, targets, start):
    """Write the target of the last position: `follows` `[O]`, seen from the side after it."""
    flip = sides[length - 1] != sides[length]
    for k in range(follows.shape[0]):
        targets[start + length - 1, k] = follows[turned(k, flip, kinds)]


@jit
def count_game(tracks, samples, game, length, finished, points, rules):
    """Add a finished (or cut off) game to the statistics; its targets are written."""
    totals = samples.totals
    start = samples.filled[0]
    n = points.shape[0]
    half = rules.n_kinds
    last = samples.targets[start + length - 1]
    totals[1] += length
    if not finished:
        totals[2] += 1
    else:
        totals[0] += 1
        flip = tracks.path_sides[game, length - 1] != 0
        for k in range(n):
            seen = turned(k, flip, half)
            samples.outcomes[seen] += last[k]
            if seen < half:
                totals[3] += last[k]
    for t in range(1, length):
        guess, target, win = 0.0, 0.0, 0.0
        for k in range(n):
            guess += tracks.path_probs[game, t, k] * points[k]
            target += samples.targets[start + t, k] * points[k]
            if k < half:
                win += tracks.path_probs[game, t, k]
        totals[4] += abs(target - guess)
        totals[5] += 1
        if finished:
            flip = tracks.path_sides[game, t] != tracks.path_sides[game, length - 1]
            won = 0.0
            for k in range(half):
                won += last[turned(k, flip, half)]
            phase = phase_of(tracks.path_boards[game, t], t, rules)
            # A network that has diverged says NaN, which no integer holds: it counts as 0.
            cell = int(win * CALIBRATION_BINS) if win > 0 else 0
            if cell >= CALIBRATION_BINS:
                cell = CALIBRATION_BINS - 1
            samples.calibration[phase, cell, 0] += 1
            samples.calibration[phase, cell, 1] += win
            samples.calibration[phase, cell, 2] += won


@jit
def add_sample(samples, row, board, slots):
    """Write a position `[2, P]` to a row of the samples."""
    for side in range(2):
        for slot in range(slots):
            samples.boards[row, side, slot] = board[side, slot]


@jit
def flush_game(tracks, samples, game, length, finished, lambda_, points, rules):
    """Turn the trajectory of a game into samples and statistics; its last target is written."""
    start = samples.filled[0]
    backward_returns(
        tracks.path_sides[game], tracks.path_probs[game], length, lambda_, rules.n_kinds,
        samples.targets, start,
    )  # fmt: skip
    for t in range(length):
        add_sample(samples, start + t, tracks.path_boards[game, t], rules.n_slots)
    count_game(tracks, samples, game, length, finished, points, rules)
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
def follow(tracks, game, after, best, rules):
    """Make the position that follows an afterstate `[2, P]` the current one of a game.

    best: `[O]` its outcome chances, kept with the trajectory.
    """
    turn = tracks.turns[game]
    for k in range(best.shape[0]):
        tracks.path_probs[game, turn + 1, k] = best[k]
    stays = acts_again(after[0], rules)
    for slot in range(rules.n_slots):
        tracks.boards[game, 0, slot] = after[1 - stays, slot]
        tracks.boards[game, 1, slot] = after[stays, slot]
    if rules.again != 0:
        tracks.boards[game, 0, rules.again] = 0
    if stays == 0:
        tracks.sides[game] = 1 - tracks.sides[game]
    tracks.path_sides[game, turn + 1] = tracks.sides[game]
    tracks.turns[game] = turn + 1


@jit
def advance_games(
    tracks, samples, first, end, after, picked, best, lambda_, points, start_board, endings, rules
):
    """Play the chosen afterstates of games `first..end`; flush and restart those that end.

    endings: `Endings`; a game that reaches one of them stops there, and the ending becomes a
    sample too. `samples` must have room for `end - first` games of full length and one row more
    for each.
    """
    longest = tracks.path_boards.shape[1]
    kinds = rules.n_kinds
    for game in range(first, end):
        turn = tracks.turns[game]
        a = picked[game]
        for side in range(2):
            for slot in range(rules.n_slots):
                tracks.path_boards[game, turn, side, slot] = tracks.boards[game, side, slot]
        tracks.path_sides[game, turn] = tracks.sides[game]
        outcome = outcome_index(after[a, 0], after[a, 1], rules)
        length, row = turn + 1, samples.filled[0] + turn
        if outcome >= 0:
            for k in range(points.shape[0]):
                samples.targets[row, k] = 1.0 if k == outcome else 0.0
            flush_game(tracks, samples, game, length, True, lambda_, points, rules)
            restart_game(tracks, game, start_board)
            continue
        follow(tracks, game, after[a], best[game], rules)
        sides, board = tracks.path_sides[game], tracks.boards[game]
        if endings.known != 0 and is_bearoff(board[0], board[1], rules):
            exact = samples.targets[row + 1]
            fill_bearoff_outcome(
                board[0], board[1], endings.mars_kind, rules, endings.tables, exact
            )
            write_last_target(sides, exact, length, kinds, samples.targets, row - turn)
            flush_game(tracks, samples, game, length, True, lambda_, points, rules)
            add_sample(samples, row + 1, board, rules.n_slots)
            samples.filled[0] += 1
            restart_game(tracks, game, start_board)
        elif length == longest:
            # What the network thinks of the position reached stands for what follows (T09).
            follows = tracks.path_probs[game, length]
            write_last_target(sides, follows, length, kinds, samples.targets, row - turn)
            flush_game(tracks, samples, game, length, False, lambda_, points, rules)
            restart_game(tracks, game, start_board)
