"""Properties that every position and roll has, in every game, on both engines."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import Engine
from nardy_engine import Position, batch, load_variant, reference, variant_names
from nardy_engine.differential import random_pairs
from nardy_engine.errors import PositionError
from nardy_engine.rules.memory import memory_index, owed_dice
from nardy_engine.whole_rolls import ENGINES
from positions import row
from rule_sets import OPTIONS, rule_set

# Some of the option sets have become games of the catalog.
GAMES = list(dict.fromkeys([*variant_names(), *OPTIONS]))
POOL = {game: random_pairs(rule_set(game), 300, seed=33)[0] for game in GAMES}
FIND = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def situations(draw):
    """Draw a game, an unfinished position of it and a roll."""
    game = draw(st.sampled_from(GAMES))
    variant = rule_set(game)
    boards = POOL[game]
    position = Position.from_board(boards[draw(st.integers(0, len(boards) - 1))])
    die = st.integers(1, variant.dice.sides)
    return variant, position, (draw(die), draw(die))


def pips(counts):
    """Return the distance still to travel; the bar is one beyond the farthest point."""
    return sum(slot * count for slot, count in enumerate(counts))


def standing(variant, side):
    """Return the checkers of a side by slot, off and bar included, captives where they lie."""
    counts = list(side[: variant.n_counts])
    for point in variant.captives(side):
        counts[point] += 1
    return counts


def total(variant, side):
    """Return all checkers of a side: on the board or off it, captive, in reserve (EMI-1)."""
    return sum(standing(variant, side)) + variant.recall(side, "reserve")


def is_preroll(variant, position):
    """Return whether a pre-roll move is the decision (EMI-11): it needs no dice and may be left."""
    return variant.recall(position.mover, "preroll") == 1


def is_won(variant, end):
    """Return whether the play that led here ended the game by a win."""
    result = reference.outcome(variant, end)
    return result is not None and not result.draw


@FIND
@given(situations())
def test_checkers_are_conserved(engine, situation):
    """Property 1: both sides keep all their checkers in every end, and none is negative."""
    variant, position, dice = situation
    for end in engine.ends(variant, position, dice):
        assert [total(variant, side) for side in end] == [variant.setup.checkers] * 2
        assert min(*end.mover, *end.opponent) >= 0
        variant.check_position(engine.next_position(variant, end)[0])


@FIND
@given(situations())
def test_dice_order_does_not_matter(engine, situation):
    """Property 2: 6-5 and 5-6 give the same ends."""
    variant, position, (a, b) = situation
    forth, back = engine.ends(variant, position, (a, b)), engine.ends(variant, position, (b, a))
    assert sorted(forth) == sorted(back)


@FIND
@given(situations())
def test_no_end_is_listed_twice(engine, situation):
    """Property 4: the ends are distinct, and plays that win are one end a result (T-10).

    Only emir has two results that one roll can choose from (EMI-10, EMI-14).
    """
    variant, position, dice = situation
    ends = engine.ends(variant, position, dice)
    assert len(set(ends)) == len(ends) > 0
    won = [engine.outcome(variant, end) for end in ends if is_won(variant, end)]
    assert len(set(won)) == len(won)
    assert len(won) <= 1 or variant.captives_exist


@FIND
@given(situations())
def test_a_pass_leaves_the_board_alone(engine, situation):
    """Property 5: where nothing moves, nothing can: the end is the only one (T-8).

    A pass may change what is remembered, such as who owes the dice; but EMI-11 may be left out.
    """
    variant, position, dice = situation
    ends = engine.ends(variant, position, dice)
    still = [end for end in ends if _checkers(variant, end) == _checkers(variant, position)]
    if is_preroll(variant, position):
        returned = position.mover[variant.bar] > 0 == ends[0].mover[variant.bar]  # EMI-8
        assert still == ([] if returned else ends[:1])
    else:
        assert not still or still == ends


def _checkers(variant, position):
    """Return the checkers of both sides, free and captive apart, and those in reserve."""
    return [
        (side[: variant.n_counts], variant.captives(side), variant.recall(side, "reserve"))
        for side in position
    ]


@FIND
@given(situations())
def test_steps_lead_to_the_end(situation):
    """Properties 1, 4, 6: the steps of a play, taken one by one and undone, are the play.

    In emir captives are counted where they lie, since capturing and releasing move nobody; so the
    steps and the hits (EMI-7) say where everybody stands there, too.
    """
    variant, position, dice = situation
    plays = reference.plays(variant, position, dice)
    full = [play for play in plays if not is_won(variant, play.end)]
    if not is_preroll(variant, position):  # EMI-11: any number of checkers
        assert len({len(play.steps) for play in full}) <= 1  # T-5
    for play in plays:
        begun = [standing(variant, side) for side in position]
        _return(variant, begun[0], play.end.mover)
        rows = [list(side) for side in begun]
        for step in play.steps:
            _move(variant, rows, step, 1, dice)
            assert min(map(min, rows)) >= 0
        end = [standing(variant, side) for side in play.end]
        assert end == _with_hit_where(variant, rows, end)
        for step in reversed(play.steps):
            _move(variant, rows, step, -1, dice)
        assert rows == begun


def _return(variant, mover, end):
    """Put the checkers on the bar of emir back on the head, if they have returned (EMI-8)."""
    if variant.captives_exist and not end[variant.bar]:
        mover[variant.head_point] += mover[variant.bar]
        mover[variant.bar] = 0


def _move(variant, rows, step, sign, dice):
    """Take a step on the counts, or take it back."""
    if step.die or step.source:  # a nuker comes from the reserve, not from those off (EMI-11)
        rows[0][step.source] -= sign
    rows[0][step.target] += sign
    if step.hit and _is_sent_back(variant, step, dice):
        rows[1][variant.opposite_point(step.target)] -= sign
        rows[1][variant.bar] += sign


def _is_sent_back(variant, step, dice):
    """Return whether a blot that is met goes back; in emir only doubles do that (EMI-5, EMI-7)."""
    if not variant.captives_exist:
        return True
    on_its_head = variant.opposite_point(step.target) == variant.head_point
    return step.die > 0 and dice[0] == dice[1] and not on_its_head


def _with_hit_where(variant, rows, end):
    """Return rows with hit checkers on the bar; those of emir wait there or on the head (EMI-7)."""
    if not variant.captives_exist:
        return rows
    on_bar = end[1][variant.bar]
    opponent = list(rows[1])
    opponent[variant.head_point] += opponent[variant.bar] - on_bar
    opponent[variant.bar] = on_bar
    return [rows[0], opponent]


@FIND
@given(situations())
def test_pips_drop_by_the_dice(situation):
    """T-2: the mover loses the dice used less the overshoot, a hit checker goes back.

    A teleport counts for what it jumps (KAF-2, KAB-1), a pre-roll move has no dice (EMI-11).
    """
    variant, position, dice = situation
    for play in reference.plays(variant, position, dice):
        before, after = ([standing(variant, side) for side in p] for p in (position, play.end))
        _return(variant, before[0], play.end.mover)
        used = sum(step.die for step in play.steps)
        over = sum(step.die - step.source for step in play.steps if step.target == 0)
        jumped = sum(_jumped(variant, step) for step in play.steps)
        assert pips(before[0]) - pips(after[0]) == used - over + jumped
        back = [step for step in play.steps if step.hit and _is_sent_back(variant, step, dice)]
        gained = sum(variant.bar - variant.opposite_point(step.target) for step in back)
        if variant.captives_exist:  # EMI-7: on the head, which is one nearer than the bar
            gained -= after[1][variant.head_point] - before[1][variant.head_point]
        assert pips(after[1]) - pips(before[1]) == gained


def _jumped(variant, step):
    """Return the points that a step covers beyond its die."""
    if not step.die:
        return -step.target if step.source == 0 else step.source - step.target
    flies = variant.teleport.kind.value != "off" and step.source == variant.head_point
    return step.source - 2 * step.die if flies and step.target == step.die else 0


@FIND
@given(situations())
def test_owed_dice_are_used_up(engine, situation):
    """T-9: dice of an earlier roll are played, handed on or lost, never more (GUL-3, BGU-2)."""
    variant, position, dice = situation
    before = _owed(variant, position)
    if not owed_dice(variant, position.mover):
        assert not before  # the side to act is the one that owes
        return
    for end in engine.ends(variant, position, dice):
        after, same = engine.next_position(variant, end)
        moved = _checkers(variant, end) != _checkers(variant, position)
        left = _owed(variant, after)
        assert left <= before
        assert left < before or not (moved or same)
        over = engine.outcome(variant, end) is not None
        assert not (over and left)  # T-10
        threw = [variant.recall(side, "roller") for side in after]
        assert sum(threw) == bool(left)


def _owed(variant, position):
    """Return how many steps of each die are still to be played, by whomever."""
    owed = Counter()
    for side in position:
        owed.update(dict(owed_dice(variant, side)))
    return owed


@FIND
@given(situations())
def test_larger_die_if_only_one_is_played(situation):
    """T-6: plays of one die out of two different ones use the same number."""
    variant, position, dice = situation
    plays = reference.plays(variant, position, dice)
    if is_preroll(variant, position):
        return  # no dice
    ongoing = [play for play in plays if not is_won(variant, play.end)]
    single = {p.steps[0].die for p in ongoing if len(p.steps) == 1}
    assert len(single) <= 1


@FIND
@given(situations())
def test_colours_are_symmetric(situation):
    """Property 3: in own numbering both rows stay as they are when the colours change places.

    Rotated by half a ring (long) or mirrored (short), the ring of one colour is that of the other.
    The engines know no colours; what is remembered of a side, such as who moved first (CHN-1),
    goes with it.
    """
    variant, position, _ = situation
    ring = _ring(variant, position)
    assert _from_ring(variant, ring) == position
    assert _from_ring(variant, _turned(variant, ring)) == position.swapped()


def _ring(variant, position):
    """Return `{absolute point: signed count}` by the mover's numbers, and what is beside it."""
    points = {p: position.mover[p] for p in range(1, variant.bar)}
    for p in range(1, variant.bar):
        points[variant.opposite_point(p)] -= position.opponent[p]
    beside = [(side[0], side[variant.bar], side[variant.n_counts :]) for side in position]
    return points, beside


def _from_ring(variant, ring):
    """Return the position that a ring shows to its positive side."""
    points, beside = ring
    rows = [[0] * variant.n_counts for _ in range(2)]
    for counts, (off, bar, memory) in zip(rows, beside, strict=True):
        counts[0], counts[variant.bar] = off, bar
        counts.extend(memory)
    for p, count in points.items():
        rows[0][p] = max(count, 0)
        rows[1][variant.opposite_point(p)] = max(-count, 0)
    return Position(*map(tuple, rows))


def _turned(variant, ring):
    """Exchange the colours: rotate by half a ring, or mirror, and change the signs."""
    points, beside = ring
    return {variant.opposite_point(p): -count for p, count in points.items()}, beside[::-1]


@FIND
@given(situations())
def test_no_deaf_block_is_left(engine, situation):
    """L-20..L-22: no play of `ahead` leaves six in a row that nobody has passed; passes aside.

    Emir counts closed points only (EMI-13), which has tests of its own.
    """
    variant, position, dice = situation
    if variant.block.rule.value != "ahead" or variant.captives_exist:
        return
    for end in engine.ends(variant, position, dice):
        if _checkers(variant, end) != _checkers(variant, position):
            assert not _deaf(end)


def _deaf(end):
    """Search White's runs in Black's numbers, written out as a text of signs."""
    mine = [end.mover[p - 12 if p > 12 else p + 12] > 0 for p in range(1, 25)]
    signs = "".join("x" if held else "." for held in mine)
    for low in range(19):
        if signs[low : low + 6] == "xxxxxx" and not any(end.opponent[: low + 1]):
            return True
    return False


def finished_positions(variant):
    """Yield finished positions: everything borne off, and the emir taken by the other (EMI-10)."""
    n = variant.setup.checkers
    rows = [row(f"off{n}", n), row(f"1:{n}", n)]
    for first in (0, 1):
        yield Position(*(_remembering(variant, rows[side], first=side == first) for side in (0, 1)))
    if variant.captives_exist:
        free = row(f"2:{n - 1}", n - 1)
        captor = _remembering(variant, row(f"13:1 2:{n - 1}", n), emir=13)
        yield Position(_remembering(variant, free, emir=1, emir_taken=1, captive_1=1), captor)


def _remembering(variant, counts, **memory):
    """Return a row with memory slots; where nothing is said, an emir stands where all stand."""
    index = memory_index(variant)
    full = [*counts, *([0] * len(variant.memory))]
    for name, value in ({"emir": counts.index(max(counts))} | memory).items():
        if name in index:
            full[index[name]] = int(value)
    return tuple(full)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("game", GAMES)
def test_finished_games_have_no_plays(game, name):
    """Property 7: no roll gives a finished game any play."""
    variant, engine = rule_set(game), Engine(name)
    for over in finished_positions(variant):
        for position in (over, over.swapped()):
            assert engine.outcome(variant, position) is not None
            for dice in ((1, 1), (6, 5), (6, 6)):
                assert engine.ends(variant, position, dice) == []


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("game", GAMES)
def test_results_are_zero_sum(game, name):
    """What one side wins the other loses (SC, POD-2), and a draw is one for both."""
    variant, engine = rule_set(game), Engine(name)
    for over in finished_positions(variant):
        _assert_zero_sum(variant, engine, over)


def _assert_zero_sum(variant, engine, over):
    mine, theirs = (engine.outcome(variant, view) for view in (over, over.swapped()))
    assert (mine.kind, mine.points, mine.draw) == (theirs.kind, theirs.points, theirs.draw)
    assert mine.points_for_mover == -theirs.points_for_mover
    assert [mine.won, theirs.won].count(True) == (0 if mine.draw else 1)
    assert mine.points == (0 if mine.draw else variant.win_kinds[mine.kind][1])


_MOST_DECISIONS = 2_000
"""Ten times what the longest games of random play take; reached by a game that does not end."""


@pytest.mark.parametrize("game", GAMES)
def test_random_games_end(game):
    """T-9, T-12: 60 random games of every set of rules end, each with a zero-sum result."""
    variant = rule_set(game)
    games = batch.Games(variant, n_games=60, seed=7)
    while np.any(games.over < 0):
        games.roll()
        after = games.afterstates()
        counts = after.counts()
        assert np.all(counts[games.over < 0] > 0), "a running game has no play"
        games.play(after.offsets[:-1] + (games.uniforms() * counts).astype(np.int64))
        assert games.turns.max() < _MOST_DECISIONS
    kinds = len(variant.win_kinds)
    for board, side, over in zip(games.boards, games.sides, games.over, strict=True):
        position = Position.from_board(board)
        for name in ENGINES:
            _assert_zero_sum(variant, Engine(name), position)
        result = reference.outcome(variant, position)
        if result.draw:
            assert over == 2 * kinds
        else:
            first_won = result.won == (side == 0)
            assert over == result.kind + (0 if first_won else kinds)


def test_positions_that_cannot_be_are_refused():
    """The reference checks its input: a shared point and a wrong total are errors in words."""
    long = load_variant("long")
    with pytest.raises(PositionError, match="both sides stand on one point"):
        reference.plays(long, Position(row("24:15"), row("12:15")), (6, 5))
