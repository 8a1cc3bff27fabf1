"""Properties that every position and roll has, in every game, on both engines."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import Engine
from nardy_engine import Position, load_variant, reference, variant_names
from nardy_engine.differential import random_pairs
from nardy_engine.errors import PositionError
from nardy_engine.perft import ENGINES
from positions import row
from rule_sets import OPTIONS, rule_set

GAMES = [*variant_names(), *OPTIONS]
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


@FIND
@given(situations())
def test_checkers_are_conserved(engine, situation):
    """Property 1: both sides keep all their checkers in every end, and none is negative."""
    variant, position, dice = situation
    for end in engine.ends(variant, position, dice):
        assert [sum(side) for side in end] == [variant.setup.checkers] * 2
        assert min(*end.mover, *end.opponent) >= 0
        variant.check_position(end)


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
    """Property 4: the ends are distinct, and finishing plays are one end at most (T-10)."""
    variant, position, dice = situation
    ends = engine.ends(variant, position, dice)
    assert len(set(ends)) == len(ends) > 0
    assert sum(end.mover[0] == variant.setup.checkers for end in ends) <= 1


@FIND
@given(situations())
def test_a_pass_leaves_the_board_alone(engine, situation):
    """Property 5: the unchanged board is an end only if it is the only one (T-8)."""
    variant, position, dice = situation
    ends = engine.ends(variant, position, dice)
    assert position not in ends or ends == [position]


@FIND
@given(situations())
def test_steps_lead_to_the_end(situation):
    """Properties 1, 4, 6: the steps of a play, taken one by one and undone, are the play."""
    variant, position, dice = situation
    plays = reference.plays(variant, position, dice)
    full = [p for p in plays if p.end.mover[0] != variant.setup.checkers]
    assert len({len(play.steps) for play in full}) <= 1
    for play in plays:
        rows = [list(side) for side in position]
        for step in play.steps:
            _move(variant, rows, step, 1)
            assert [sum(side) for side in rows] == [variant.setup.checkers] * 2
        assert play.end == Position(*map(tuple, rows))
        for step in reversed(play.steps):
            _move(variant, rows, step, -1)
        assert position == Position(*map(tuple, rows))


def _move(variant, rows, step, sign):
    """Take a step on the counts, or take it back."""
    rows[0][step.source] -= sign
    rows[0][step.target] += sign
    if step.hit:
        rows[1][variant.opposite_point(step.target)] -= sign
        rows[1][variant.bar] += sign


@FIND
@given(situations())
def test_pips_drop_by_the_dice(situation):
    """T-2: the mover loses the dice used less the overshoot, a hit checker goes back to the bar."""
    variant, position, dice = situation
    for play in reference.plays(variant, position, dice):
        used = sum(step.die for step in play.steps)
        over = sum(step.die - step.source for step in play.steps if step.target == 0)
        assert pips(position.mover) - pips(play.end.mover) == used - over
        hits = [variant.opposite_point(step.target) for step in play.steps if step.hit]
        gained = sum(variant.bar - point for point in hits)
        assert pips(play.end.opponent) - pips(position.opponent) == gained


@FIND
@given(situations())
def test_larger_die_if_only_one_is_played(situation):
    """T-6: plays of one die out of two different ones use the same number."""
    variant, position, dice = situation
    plays = reference.plays(variant, position, dice)
    ongoing = [p for p in plays if p.end.mover[0] != variant.setup.checkers]
    single = {p.steps[0].die for p in ongoing if len(p.steps) == 1}
    assert len(single) <= 1


@FIND
@given(situations())
def test_colours_are_symmetric(engine, situation):
    """Property 3: row 0 acts by the same rules whoever it is, so the ring may be renumbered.

    In own numbering the rotation by half a ring (long) and the mirror (short) leave both rows as
    they are; on the ring of one colour the two sides change places, which is checked here.
    """
    variant, position, dice = situation
    ring = _ring(variant, position)
    assert _from_ring(variant, _turned(variant, ring)) == position.swapped()
    ends = engine.ends(variant, position, dice)
    again = engine.ends(variant, _from_ring(variant, ring), dice)
    assert sorted(ends) == sorted(again)


def _ring(variant, position):
    """Return `{absolute point: signed count}` by the mover's numbers, and what is beside it."""
    points = {p: position.mover[p] for p in range(1, variant.bar)}
    for p in range(1, variant.bar):
        points[variant.opposite_point(p)] -= position.opponent[p]
    beside = [(side[0], side[variant.bar]) for side in position]
    return points, beside


def _from_ring(variant, ring):
    """Return the position that a ring shows to its positive side."""
    points, beside = ring
    rows = [[0] * variant.n_slots for _ in range(2)]
    for counts, (off, bar) in zip(rows, beside, strict=True):
        counts[0], counts[variant.bar] = off, bar
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
    """L-20..L-22: no play of `ahead` leaves six in a row that nobody has passed; passes aside."""
    variant, position, dice = situation
    if variant.block.rule.value != "ahead":
        return
    for end in engine.ends(variant, position, dice):
        if end != position:
            assert not _deaf(end)


def _deaf(end):
    """Search White's runs in Black's numbers, written out as a text of signs."""
    mine = [end.mover[p - 12 if p > 12 else p + 12] > 0 for p in range(1, 25)]
    signs = "".join("x" if held else "." for held in mine)
    for low in range(19):
        if signs[low : low + 6] == "xxxxxx" and not any(end.opponent[: low + 1]):
            return True
    return False


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("game", GAMES)
def test_finished_games_have_no_plays(game, name):
    """Property 7: no roll gives a finished game any play."""
    variant = rule_set(game)
    n = variant.setup.checkers
    over = Position(row(f"off{n}", n), row(f"1:{n}", n))
    for position in (over, over.swapped()):
        assert Engine(name).outcome(variant, position) is not None
        for dice in ((1, 1), (6, 5), (6, 6)):
            assert Engine(name).ends(variant, position, dice) == []


def test_positions_that_cannot_be_are_refused():
    """The reference checks its input: a shared point and a wrong total are errors in words."""
    long = load_variant("long")
    with pytest.raises(PositionError, match="both sides stand on one point"):
        reference.plays(long, Position(row("24:15"), row("12:15")), (6, 5))
