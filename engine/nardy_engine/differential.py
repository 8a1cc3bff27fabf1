"""The two engines against each other on random positions and rolls; layer 6.

Positions come from two sources, half each: random play, which visits every phase of real games,
and boards made up at random, which hold blocks, full heads, bars and bear-offs that random play
rarely reaches. Where a game remembers something, played positions carry it along and made-up ones
draw it. A player can take the place of the dice that choose: `compare(choose=...)` visits what
good play visits. A pair is equal if both engines list the same ends, memory included, each once,
with the same result, and agree on the results of finished and unfinished boards made from it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_engine import batch, reference
from nardy_engine.batch import Afterstates
from nardy_engine.differential_emir import random_emir_position
from nardy_engine.outcomes import outcome_index
from nardy_engine.rules import Variant, load_variant
from nardy_engine.rules.components import CascadeKind, Contact
from nardy_engine.rules.memory import has_segments, memory_index
from nardy_engine.types import OFF, Board, Dice, Position, Row

Choose: TypeAlias = Callable[[Board, NDArray[np.int8], Afterstates], NDArray[np.int64]]
"""Given `[B, 2, P]` boards, `[B, 2]` dice and their afterstates: `[B]` rows to play on from."""

Player: TypeAlias = Callable[[Variant], Choose]
"""Makes a `Choose`; a function of a module, so that another process can be given it."""

_PART = 2_500
"""Pairs that one process compares at a time."""
_TURNS = 200
"""Turns that games are played on for; enough to reach bearing off in every game."""


@dataclass(frozen=True)
class Comparison:
    """What a comparison found."""

    pairs: int
    differences: int
    first: dict[str, Any] | None
    """The first differing pair, ready for JSON."""

    def __add__(self, other: Comparison) -> Comparison:
        """Return both together; the first difference of the left one comes first."""
        return Comparison(
            self.pairs + other.pairs,
            self.differences + other.differences,
            self.first or other.first,
        )


def compare(
    game: str,
    n_pairs: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    player: Player | None = None,
) -> Comparison:
    """Compare the engines on `n_pairs` random (position, roll) pairs.

    Args:
        game: Name of the variant.
        n_pairs: How many pairs.
        seed: The same seed gives the same pairs.
        options: Rule options that differ from the variant.
        player: Who chooses the plays of the played positions; dice if None.
    """
    variant = load_variant(game, options)
    boards, dice = random_pairs(variant, n_pairs, seed, player(variant) if player else None)
    after = batch.afterstates(variant, boards, dice)
    listed = [
        _key(over, end.tobytes())
        for over, end in zip(
            batch.outcomes(variant, after.boards).tolist(), after.boards, strict=True
        )
    ]
    differences, first = 0, None
    for index, (board, roll) in enumerate(zip(boards, dice, strict=True)):
        position = Position.from_board(board)
        rolled = (int(roll[0]), int(roll[1]))
        expected = sorted(
            _key(
                outcome_index(variant, reference.outcome(variant, play.end)),
                bytes(play.end.mover) + bytes(play.end.opponent),
            )
            for play in reference.plays(variant, position, rolled)
        )
        found = sorted(listed[after.offsets[index] : after.offsets[index + 1]])
        if found != expected:
            differences += 1
            first = first or _report(variant, position, rolled, expected, found)
    wrong, report = _compare_outcomes(variant, boards, after.boards)
    return Comparison(len(boards), differences + wrong, first or report)


def compare_in_parts(
    game: str,
    n_pairs: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    jobs: int = 1,
    player: Player | None = None,
) -> Iterator[Comparison]:
    """Yield the comparisons of parts of `n_pairs` pairs, worked on by `jobs` processes.

    Which pairs are compared depends on the seed alone, not on the number of processes.
    """
    starts = range(0, n_pairs, _PART)
    seeds = np.random.SeedSequence(seed).generate_state(max(1, len(starts)))
    tasks = [
        (game, min(_PART, n_pairs - start), int(part), options, player)
        for start, part in zip(starts, seeds, strict=False)
    ]
    if jobs == 1:
        yield from map(_compare_task, tasks)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(_compare_task, tasks)


def _compare_task(
    task: tuple[str, int, int, Mapping[str, Any] | None, Player | None],
) -> Comparison:
    return compare(*task)


def random_pairs(
    variant: Variant, n_pairs: int, seed: int, choose: Choose | None = None
) -> tuple[Board, NDArray[np.int8]]:
    """Return `[n, 2, P]` positions, side to act in row 0, and `[n, 2]` rolls.

    Args:
        variant: The game.
        n_pairs: How many pairs `n`.
        seed: The same seed gives the same pairs.
        choose: Chooses the plays of the played positions; every tenth is left to chance, so that
            games differ. None leaves all of them to chance.
    """
    rng = np.random.default_rng(seed)
    played = _played_positions(variant, n_pairs // 2, rng, choose)
    made = random_positions(variant, n_pairs - len(played), int(rng.integers(1 << 62)))
    boards = np.concatenate([played, made])
    return boards, _rolls(variant, len(boards), rng)


def _rolls(variant: Variant, n: int, rng: np.random.Generator) -> NDArray[np.int8]:
    return rng.integers(1, variant.dice.sides + 1, size=(n, 2), dtype=np.int8)


def _played_positions(
    variant: Variant, n: int, rng: np.random.Generator, choose: Choose | None
) -> Board:
    """Return `n` positions of play; finished games start anew."""
    n_games = max(1, n // _TURNS)
    start = variant.start_position().board()
    boards = np.repeat(start[None], n_games, axis=0)
    seen = [np.empty((0, 2, variant.n_slots), np.int8)]
    for _ in range(-(-n // n_games)):
        seen.append(boards)
        dice = _rolls(variant, n_games, rng)
        after = batch.afterstates(variant, boards, dice)
        rows = after.offsets[:-1] + (rng.random(n_games) * after.counts()).astype(np.int64)
        if choose is not None:
            rows = np.where(rng.random(n_games) < 0.1, rows, choose(boards, dice, after))
        over = batch.outcomes(variant, after.boards[rows]) >= 0
        boards, _ = batch.next_states(variant, after.boards[rows])
        boards[over] = start
    return np.concatenate(seen)[:n]


def random_positions(variant: Variant, n: int, seed: int) -> Board:
    """Return `n` made-up unfinished positions `[n, 2, P]` that `check_position` accepts."""
    rng = random.Random(seed)
    boards = np.zeros((n, 2, variant.n_slots), np.int8)
    for index in range(n):
        if variant.contact is Contact.EMIR:
            boards[index] = random_emir_position(variant, rng)
        else:
            mover, opponent = _made_up(variant, rng)
            boards[index] = _with_memory(variant, rng, mover, opponent)
    return boards


def _made_up(variant: Variant, rng: random.Random) -> tuple[Row, Row]:
    """Place one side, then the other on the points that are left, in a random order."""
    first = _place(variant, rng, rng.choice(_SHAPES), set())
    taken = {variant.opposite_point(point) for point in range(1, variant.bar) if first[point]}
    second = _place(variant, rng, rng.choice(_SHAPES), taken)
    return (first, second) if rng.random() < 0.5 else (second, first)


def _with_memory(variant: Variant, rng: random.Random, mover: Row, opponent: Row) -> Position:
    """Return the position with random memory that `check_position` accepts."""
    rows = [list(mover), list(opponent)]
    index = memory_index(variant)
    if has_segments(variant) and rng.random() < 0.6:
        owed = _owed(variant, rng)
        cascade = variant.cascade.kind is not CascadeKind.OFF
        roller = 0 if cascade and rng.random() < 0.4 else 1
        if roller == 0:  # the roller owes whole levels only
            owed = dict.fromkeys(
                range(min(owed), variant.dice.sides + 1), variant.dice.double_steps
            )
        for die, steps in owed.items():
            rows[0][index["owed_1"] + die - 1] = steps
        rows[roller][index["roller"]] = 1
        if "head_left" in index:
            for row in rows:
                row[index["head_left"]] = rng.choice((0, 1, 1, 2))
    if "rolls" in index:
        for row in rows:
            row[index["rolls"]] = rng.randint(0, variant.cascade.from_roll)
    if "fresh" in index:
        for row in rows:
            row[index["fresh"]] = rng.randrange(2)
    if "first" in index:
        first = rng.randrange(2)
        rows[first][index["first"]] = 1
        if "last_turn" in index and first == 1 and rng.random() < 0.3:
            rows[1][: variant.n_counts] = [variant.setup.checkers] + [0] * (variant.n_counts - 1)
            rows[0][index["last_turn"]] = 1
    return Position(tuple(rows[0]), tuple(rows[1]))


def _owed(variant: Variant, rng: random.Random) -> dict[int, int]:
    """Return inherited dice and their steps: one level, two single dice, or many levels."""
    sides = range(1, variant.dice.sides + 1)
    most = variant.memory[0].most
    kind = rng.randrange(3)
    if kind == 0:
        return dict.fromkeys(rng.sample(sides, 2), 1)
    dice = rng.sample(sides, 1 if kind == 1 else rng.randint(2, len(sides)))
    return {die: rng.randint(1, most) for die in dice}


def _spread(variant: Variant, rng: random.Random) -> list[int]:
    """Return points anywhere on the route."""
    return rng.sample(
        range(1, variant.bar), rng.randint(1, min(variant.setup.home + 3, variant.setup.points))
    )


def _late(variant: Variant, rng: random.Random) -> list[int]:
    """Return points at home and perhaps one straggler."""
    points = list(range(1, variant.setup.home + 1))
    chosen = rng.sample(points, rng.randint(1, len(points)))
    return chosen + [rng.randint(1, variant.head_point)] * (rng.random() < 0.4)


def _run(variant: Variant, rng: random.Random) -> list[int]:
    """Return a run around the ring, perhaps with a hole, and a few other points."""
    longest = variant.setup.points // 2
    length = min(longest, max(1, variant.block.length + rng.randint(-2, 2)))
    low = rng.randint(0, variant.setup.points - 1)
    run = [(low + step) % variant.setup.points + 1 for step in range(length)]
    if rng.random() < 0.5 and len(run) > 1:
        run.remove(rng.choice(run))
    return run + rng.sample(range(1, variant.bar), rng.randint(0, 3))


def _early(variant: Variant, rng: random.Random) -> list[int]:
    """Return the head, mostly full, alone or with a few points."""
    return [variant.head_point] * variant.setup.checkers + _spread(variant, rng)[
        : rng.randint(0, 3)
    ]


_SHAPES: tuple[Callable[[Variant, random.Random], list[int]], ...] = (_spread, _late, _run, _early)


def _place(
    variant: Variant,
    rng: random.Random,
    shape: Callable[[Variant, random.Random], list[int]],
    taken: set[int],
) -> Row:
    """Return the counts of one side of the given shape outside the points `taken`."""
    checkers = variant.setup.checkers
    points = [point for point in shape(variant, rng) if point not in taken]
    if not points:
        points = [point for point in range(1, variant.bar) if point not in taken]
    row = [0] * variant.n_slots
    left = checkers
    for point in dict.fromkeys(points):
        if left:
            row[point] = 1
            left -= 1
    may_bear_off = rng.random() < 0.6
    for _ in range(left):
        hit = variant.contact is Contact.HIT and rng.random() < 0.05
        off = may_bear_off and rng.random() < 0.4
        row[variant.bar if hit else OFF if off else rng.choice(points)] += 1
    return tuple(row)


def _key(over: int, board: bytes) -> bytes:
    """Return what makes two ends equal; all ends of one finished result are equal (T-10)."""
    return board if over < 0 else b"finished %d" % over


def _compare_outcomes(
    variant: Variant, boards: Board, ends: Board
) -> tuple[int, dict[str, Any] | None]:
    """Count the boards on whose result the engines differ, and describe the first."""
    won, lost = _finished(variant, boards, 0), _finished(variant, boards, 1)
    finished = ends[batch.outcomes(variant, ends) >= 0]
    differences, first = 0, None
    for group in (boards, won, lost, finished):
        for board, index in zip(group, batch.outcomes(variant, group).tolist(), strict=True):
            position = Position.from_board(board)
            expected = outcome_index(variant, reference.outcome(variant, position))
            if index != expected:
                differences += 1
                first = first or _describe(variant, position) | {
                    "reference": expected,
                    "kernels": index,
                }
    return differences, first


def _finished(variant: Variant, boards: Board, row: int) -> Board:
    """Return copies of `boards` in which the side in `row` has borne off everything it has."""
    result = boards.copy()
    result[:, row, : variant.bar + 1] = 0
    if variant.contact is Contact.EMIR:
        index = memory_index(variant)
        captive = slice(index["captive_1"], index["captive_1"] + variant.setup.points)
        result[:, :, captive] = 0  # nobody lies under a checker that is off
        result[:, row, index["emir"]] = OFF
        result[:, row, index["emir_above"]] = 0
        missing = boards[:, 1 - row, captive].sum(axis=1)
        result[:, 1 - row, OFF] += missing.astype(np.int8)
        reserve = result[:, row, index["reserve"]]
        result[:, row, OFF] = variant.setup.checkers - reserve
    else:
        result[:, row, OFF] = variant.setup.checkers
    return result


def _report(
    variant: Variant, position: Position, dice: Dice, expected: list[bytes], found: list[bytes]
) -> dict[str, Any]:
    def only(keys: Iterator[bytes]) -> list[Any]:
        return [key.decode() if key.startswith(b"finished") else list(key) for key in keys]

    return _describe(variant, position) | {
        "dice": list(dice),
        "only_reference": only(key for key in expected if key not in found),
        "only_kernels": only(key for key in found if key not in expected),
        "counts": [len(expected), len(found)],
    }


def _describe(variant: Variant, position: Position) -> dict[str, Any]:
    """Return a position with the rules it is played by, ready for JSON."""
    sides = {}
    for name, row in zip(("me", "opp"), position, strict=True):
        points = {str(point): row[point] for point in range(1, variant.bar) if row[point]}
        sides[name] = {"points": points, "bar": row[variant.bar], "off": row[OFF]} | {
            item.name: row[item.slot] for item in variant.memory if row[item.slot]
        }
    return {"variant": variant.id, "options": variant.options(), **sides}
