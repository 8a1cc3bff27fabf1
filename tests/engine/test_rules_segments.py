"""Gulbar, the cascades and giul: transfers, levels, extra rolls (rules.md 7.10..7.12, 7.14).

Most tests speak of whole rolls, all segments included, as the worked examples 12.7..12.9 do.
"""

import pytest

from nardy_engine import Outcome, Position, load_variant, reference
from nardy_engine.errors import DiceError, PositionError
from positions import row, rows, text
from turns import logs, remembered, results, shown, situation

M1 = "W{24:14 3:1}|B{24:14 1:1}"
M6 = "W{24:14 3:1}|B{24:13 7:1 6:1}"
H9 = "W{24:14 13:1}|B{24:14 15:1}"
S = "W{24:15}|B{24:15}"

WHOLE = [  # name, game, options, position and roll, results
    ("X-G1 GUL-1 GUL-3", "gulbar", {}, f"{S}; W 6-6", ["W{24:13 18:2}|B{24:14 18:1} -> B"]),
    (
        "X-G2 GUL-6",
        "gulbar",
        {},
        "W{24:13 18:2}|B{24:14 18:1}; B 3-3",
        ["W{24:13 18:2}|B{24:13 15:2} -> B"],
    ),
    ("X-G3 GUL-4", "gulbar", {}, f"{S}; W 4-4", ["W{24:13 16:2}|B{24:15} -> W"]),
    (
        "X-G3 GUL-5",
        "gulbar",
        {},
        "W{24:13 16:2}|B{24:15}; W 6-5",
        [
            "W{24:12 16:2 13:1}|B{24:15} -> B",
            "W{24:12 18:1 16:1 11:1}|B{24:15} -> B",
            "W{24:12 19:1 16:1 10:1}|B{24:15} -> B",
            "W{24:13 11:1 10:1}|B{24:15} -> B",
            "W{24:13 16:1 5:1}|B{24:15} -> B",
        ],
    ),
    ("X-G4 GUL-2", "gulbar", {}, f"{M1}; W 6-5", ["W{24:13 18:1 3:1}|B{24:13 19:1 1:1} -> B"]),
    (
        "X-G5",
        "gulbar",
        {},
        f"{M6}; W 6-5",
        [
            "W{24:14 3:1}|B{24:12 13:1 7:1 6:1} -> B",
            "W{24:14 3:1}|B{24:12 18:1 7:1 1:1} -> B",
            "W{24:14 3:1}|B{24:12 18:1 6:1 2:1} -> B",
            "W{24:14 3:1}|B{24:12 19:1 6:1 1:1} -> B",
            "W{24:14 3:1}|B{24:13 1:2} -> B",
        ],
    ),
    (
        "X-G6",
        "gulbar",
        {},
        f"{H9}; W 6-6",
        [
            "W{24:13 18:1 1:1}|B{24:13 18:1 15:1} -> B",
            "W{24:13 18:1 1:1}|B{24:14 9:1} -> B",
        ],
    ),
    ("X-G7 GUL-4", "gulbar", {}, f"{S}; W 5-5", ["W{24:14 4:1}|B{24:15} -> W"]),
    # Neither 24-18 nor any other six: all four go to Black, whose head lets one go (18-12 closed).
    (
        "GUL-1 no step at all",
        "gulbar",
        {},
        "W{24:14 3:1}|B{24:13 6:1 1:1}; W 6-6",
        ["W{24:14 3:1}|B{24:12 18:1 6:1 1:1} -> B"],
    ),
    (
        "GUL-1 no step at all, void_roll",
        "gulbar",
        {"transfer.zero_first_level": "void_roll"},
        "W{24:14 3:1}|B{24:13 6:1 1:1}; W 6-6",
        ["W{24:14 3:1}|B{24:13 6:1 1:1} -> B"],
    ),
    (
        "GUL-4 an incomplete double gives no roll",
        "gulbar",
        {"transfer.scope": "off", "transfer.zero_first_level": "void_roll"},
        f"{S}; W 6-6",
        ["W{24:13 18:2}|B{24:15} -> B"],
    ),
    ("X-Q1 BGU-2", "mad_gulbar", {}, f"{S}; W 6-6", ["W{24:13 18:2}|B{24:14 18:1} -> B"]),
    ("X-Q2", "mad_gulbar", {}, f"{S}; W 5-5", ["W{24:14 4:1}|B{24:14 18:1} -> B"]),
    (
        "X-Q3 BGU-6",
        "mad_gulbar",
        {},
        f"{S}; W 4-4",
        ["W{24:13 5:1 1:1}|B{24:14 18:1} -> B", "W{24:13 6:2}|B{24:15} -> B"],
    ),
    (
        "X-Q4",
        "mad_gulbar",
        {},
        f"{S}; W 3-3",
        [
            "W{24:13 17:1 3:1}|B{24:14 4:1} -> B",
            "W{24:13 3:1 2:1}|B{24:14 1:1} -> B",
            "W{24:13 4:1 1:1}|B{24:14 19:1} -> B",
            "W{24:13 5:2}|B{24:14 2:1} -> B",
        ],
    ),
    ("X-Q5 BGU-3", "mad_gulbar", {}, f"{S}; W 2-2", ["W{24:14 4:1}|B{24:14 5:1} -> B"]),
    ("X-Q6 BGU-5", "mad_gulbar", {}, f"{M1}; W 6-5", ["W{24:13 18:1 3:1}|B{24:14 1:1} -> B"]),
    (
        "X-Q6 all_rolls D-09",
        "mad_gulbar",
        {"transfer.scope": "all_rolls"},
        f"{M1}; W 6-5",
        ["W{24:13 18:1 3:1}|B{24:13 19:1 1:1} -> B"],
    ),
    (
        "D-08 lost",
        "mad_gulbar",
        {
            "transfer.scope": "off",
            "transfer.zero_first_level": "void_roll",
            "transfer.heir_head": "per_segment",
        },
        f"{S}; W 2-2",
        ["W{24:14 4:1}|B{24:15} -> B"],
    ),
    (
        "D-20 stop: after one of four fours all is lost",
        "mad_gulbar",
        {"transfer.heir": "stop_at_first_unplayable"},
        f"{S}; W 2-2",
        ["W{24:14 4:1}|B{24:14 20:1} -> B"],
    ),
    # One head checker, closed on 16 and 12: at most five steps of 4, 5 or 6, to 3, 2 or 1.
    (
        "D-20 pool",
        "mad_gulbar",
        {"transfer.heir": "free_pool"},
        f"{S}; W 2-2",
        [f"W{{24:14 4:1}}|B{{24:14 {point}:1}} -> B" for point in (1, 2, 3)],
    ),
    ("X-N1 BNA-2", "mad_nardy", {}, f"{S}; W 4-4", ["W{24:13 6:2}|B{24:15} -> B"]),
    (
        "X-N2 BNA-4 BNA-7",
        "mad_nardy",
        {},
        f"{S}; W 3-3",
        [
            "W{24:13 3:1 2:1}|B{24:13 18:1 1:1} -> B",
            "W{24:13 5:1 3:1}|B{24:13 18:1 4:1} -> B",
            "W{24:13 5:2}|B{24:13 18:1 2:1} -> B",
            "W{24:13 6:1 4:1}|B{24:14 2:1} -> B",
        ],
    ),
    (
        "X-N3 BNA-4",
        "mad_nardy",
        {},
        "W{24:14 7:1}|B{24:14 7:1}; W 5-5",
        [
            "W{24:13 18:1 2:1}|B{24:12 18:1 7:1 2:1} -> B",
            "W{24:13 18:1 2:1}|B{24:13 2:1 1:1} -> B",
        ],
    ),
    (
        "X-N4 BNA-5",
        "mad_nardy",
        {},
        "W{24:14 13:1}|B{24:13 20:1 7:1}; W 5-5",
        ["W{24:14 13:1}|B{24:13 20:1 7:1} -> B"],
    ),
    # The fives are skipped; 24-18 and 13-7-1 are three sixes, the fourth goes to Black.
    (
        "D-14 skip_level",
        "mad_nardy",
        {"transfer.zero_first_level": "skip_level"},
        "W{24:14 13:1}|B{24:13 20:1 7:1}; W 5-5",
        [
            "W{24:13 18:1 1:1}|B{24:12 20:1 18:1 7:1} -> B",
            "W{24:13 18:1 1:1}|B{24:13 14:1 7:1} -> B",
            "W{24:13 18:1 1:1}|B{24:13 20:1 1:1} -> B",
        ],
    ),
    (
        "X-N5 BNA-2",
        "mad_nardy",
        {},
        "W{8:1 6:2}|B{24:15}; W 2-1",
        ["W{6:2 5:1 off12}|B{24:15} -> B"],
    ),
    (
        "X-N6 BNA-3",
        "mad_nardy",
        {},
        "W{6:1 5:2 3:1}|B{24:15}; W 5-3",
        ["W{6:1 5:1 off13}|B{24:15} -> B"],
    ),
    (
        "X-N6 BNA-6",
        "mad_nardy",
        {},
        "W{6:1 5:2 3:1}|B{24:15}; W 5-4",
        ["W{6:1 5:1 3:1 off12}|B{24:14 20:1} -> B"],
    ),
    ("X-N7", "mad_nardy", {}, "W{8:1 6:2}|B{24:15}; W 6-2", ["W{6:2 off13}|B{24:15} -> B"]),
    ("X-N8 T-10", "mad_nardy", {}, "W{6:1 5:2 2:4}|B{24:15}; W 2-2", ["+2"]),
    ("X-F9 GIU-1 GIU-2", "giul", {}, f"{S}; W 6-6", ["W{24:14 18:1}|B{24:14 18:1} -> B"]),
    ("X-F10", "giul", {}, "W{24:14 18:1}|B{24:15}; W 6-6", ["W{24:14 18:1}|B{24:15} -> B"]),
]


@pytest.mark.parametrize(
    ("game", "options", "literal", "expected"), [c[1:] for c in WHOLE], ids=[c[0] for c in WHOLE]
)
def test_whole_roll(engine, game, options, literal, expected):
    """A roll with all its segments leads to exactly these positions, and this side rolls next."""
    assert results(engine, load_variant(game, options), literal) == sorted(expected)


@pytest.mark.parametrize(
    ("game", "options", "literal", "expected"), [c[1:] for c in WHOLE], ids=[c[0] for c in WHOLE]
)
def test_whole_roll_of_the_reference(game, options, literal, expected):
    """`reference.whole_roll` lists the same results, each once, and names extra rolls."""
    variant = load_variant(game, options)
    position, dice, colours = situation(variant, literal)
    found = []
    for result in reference.whole_roll(variant, position, dice):
        over = reference.outcome(variant, result.position)
        sides = {c: shown(variant, side) for c, side in zip(colours, result.position, strict=True)}
        actor = colours[result.next == "opp"]
        assert (result.roll == "extra") is (actor == colours[0])
        told = f"W{{{sides['W']}}}|B{{{sides['B']}}} -> {actor}"
        found.append(f"{over.points_for_mover:+}" if over else told)
    assert sorted(found) == sorted(expected)


LOGS = [
    ("X-G1", "gulbar", f"{S}; W 6-6", {"r6x2 o6x1/2: W{24:13 18:2}|B{24:14 18:1}"}),
    ("X-Q1", "mad_gulbar", f"{S}; W 6-6", {"r6x2 o6x1/2: W{24:13 18:2}|B{24:14 18:1}"}),
    ("X-Q2", "mad_gulbar", f"{S}; W 5-5", {"r5x4 r6x0 o6x1/4: W{24:14 4:1}|B{24:14 18:1}"}),
    (
        "X-Q3",
        "mad_gulbar",
        f"{S}; W 4-4",
        {
            "r4x4 r5x4 r6x0 o6x0/4: W{24:13 6:2}|B{24:15}",
            "r4x4 r5x4 r6x1 o6x1/3: W{24:13 5:1 1:1}|B{24:14 18:1}",
        },
    ),
    (
        "X-Q5",
        "mad_gulbar",
        f"{S}; W 2-2",
        {"r2x4 r3x4 r4x0 o4x1/4 o5x3/4 o6x0/4: W{24:14 4:1}|B{24:14 5:1}"},
    ),
    ("X-N1", "mad_nardy", f"{S}; W 4-4", {"r4x4 r5x4 r6x0 o6x0/4: W{24:13 6:2}|B{24:15}"}),
    (
        "X-N3",
        "mad_nardy",
        "W{24:14 7:1}|B{24:14 7:1}; W 5-5",
        {
            "r5x1 o5x2/3 r6x1 o6x3/3: W{24:13 18:1 2:1}|B{24:12 18:1 7:1 2:1}",
            "r5x1 o5x2/3 r6x1 o6x3/3: W{24:13 18:1 2:1}|B{24:13 2:1 1:1}",
        },
    ),
    (
        "X-N4",
        "mad_nardy",
        "W{24:14 13:1}|B{24:13 20:1 7:1}; W 5-5",
        {"r5x0: W{24:14 13:1}|B{24:13 20:1 7:1}"},
    ),
    ("X-F9", "giul", f"{S}; W 6-6", {"r6x1 o6x1/3: W{24:14 18:1}|B{24:14 18:1}"}),
    ("X-F10", "giul", "W{24:14 18:1}|B{24:15}; W 6-6", {"r6x0: W{24:14 18:1}|B{24:15}"}),
]


@pytest.mark.parametrize(
    ("game", "literal", "expected"), [c[1:] for c in LOGS], ids=[c[0] for c in LOGS]
)
def test_segments_of_a_roll(engine, game, literal, expected):
    """BGU-1, BNA-1, T-9: which levels are played, by whom, and how many steps of each."""
    assert logs(engine, load_variant(game), literal) == expected


def test_levels_change_hands(engine):
    """X-N2, BNA-4: Black plays four fives at once, then White goes on with the sixes."""
    found = logs(engine, load_variant("mad_nardy"), f"{S}; W 3-3")
    told = "r3x4 r4x4 r5x0 o5x4/4 r6x2 o6x1/2: W{24:13 5:1 3:1}|B{24:13 18:1 4:1}"
    assert told in found
    assert len({log.partition(": ")[2] for log in found}) == 4


HEIR = [  # name, game, position with owed dice, ends of the heir
    # Either die alone, not both: the larger binds the heir too; then he rolls.
    (
        "GUL-3 T-6",
        "gulbar",
        "W{24:14 9:1 owed_5=1 owed_6=1}|B{24:13 7:1 6:1 roller=1}; W 1-1",
        "24:14 3:1",
    ),
    # 24-20-16, then Black's head: with the first-play exception two would leave.
    (
        "GUL-3 no exception",
        "gulbar",
        "W{24:15 owed_4=4}|B{24:14 20:1 roller=1}; W 1-1",
        "24:14 16:1",
    ),
    ("GUL-3 lost", "gulbar", "W{24:14 3:1 owed_6=3}|B{24:14 6:1 roller=1}; W 1-1", "24:14 3:1"),
    ("GUL-5", "gulbar", "W{13:1 1:14 owed_2=4}|B{20:15 roller=1}; W 1-1", "5:1 1:14"),
    # 8-2 would close 6..1 with nobody past it; no other six can move.
    (
        "GUL-7 L-22",
        "gulbar",
        "W{8:1 6:3 5:3 4:3 3:3 1:2 owed_6=1}|B{24:15 roller=1}; W 1-1",
        "8:1 6:3 5:3 4:3 3:3 1:2",
    ),
    # The runner has not passed Black's head, so the other checkers of the heir stay.
    ("GIU-2", "giul", "W{24:14 18:1 owed_5=2}|B{24:15 roller=1}; W 1-1", "24:14 8:1"),
    ("BNA-2", "mad_nardy", "W{8:1 6:14 owed_2=2}|B{24:15 roller=1 head_left=1}; W 1-1", "6:15"),
    ("BNA-8", "mad_nardy", "W{7:1 6:2 5:3 4:3 3:3 2:3 owed_6=1}|B{24:15 roller=1}; W 1-1",
     "7:1 6:2 5:3 4:3 3:3 2:3"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("game", "literal", "ends"), [c[1:] for c in HEIR], ids=[c[0] for c in HEIR]
)
def test_heir(engine, game, literal, ends):
    """An inherited segment is played by the usual rules; afterwards the heir rolls (GUL-1)."""
    variant = load_variant(game)
    position, dice, _ = situation(variant, literal)
    found = engine.ends(variant, position, dice)
    assert sorted(text(end.mover[: variant.n_counts]) for end in found) == [
        text(end) for end in rows(ends)
    ]
    for end in found:
        after, same = engine.next_position(variant, end)
        assert same
        assert not any(remembered(variant, side) for side in after)


def test_heir_of_a_pool_of_two_dice(engine):
    """T-6, GUL-3, X-M5: if only one of two inherited dice can be played it is the larger one."""
    free = load_variant("mad_gulbar", {"transfer.scope": "all_rolls", "transfer.heir": "free_pool"})
    literal = "W{24:14 9:1 owed_5=1 owed_6=1 head_left=1}|B{24:13 7:1 6:1 roller=1}; W 1-1"
    position, dice, _ = situation(free, literal)
    ends = engine.ends(free, position, dice)
    assert [text(end.mover[: free.n_counts]) for end in ends] == ["24:14 3:1"]


def test_roll_does_not_matter_while_dice_are_owed(engine):
    """T-9: the position says what is played, so every roll gives the same ends."""
    variant = load_variant("gulbar")
    literal = "W{24:13 14:2 owed_5=1 owed_6=1}|B{24:14 1:1 roller=1}; W 1-1"
    position, _, _ = situation(variant, literal)
    rolls = ((1, 1), (6, 6), (2, 5))
    (ends,) = {tuple(engine.ends(variant, position, dice)) for dice in rolls}
    assert sorted(ends) == sorted(play.end for play in reference.plays(variant, position, None))


def test_a_roll_is_needed_before_a_roll():
    """Without owed dice no roll is an error in words."""
    with pytest.raises(DiceError, match="needs a roll"):
        reference.plays(load_variant("gulbar"), load_variant("gulbar").start_position(), None)


MEMORY = [  # after each segment: memory of White, of Black
    ("gulbar", f"{S}; W 6-6", [({"roller": 1}, {"owed_6": 2}), ({}, {"again": 1})]),
    (
        "mad_gulbar",
        f"{S}; W 5-5",
        [
            ({"roller": 1, "owed_6": 4, "again": 1}, {"head_left": 1}),
            ({"roller": 1}, {"owed_6": 4, "head_left": 1}),
            ({}, {"again": 1}),
        ],
    ),
    (
        "mad_gulbar",
        f"{S}; W 2-2",
        [
            (
                {"roller": 1, "owed_3": 4, "owed_4": 4, "owed_5": 4, "owed_6": 4, "again": 1},
                {"head_left": 1},
            ),
            ({"roller": 1, "owed_4": 4, "owed_5": 4, "owed_6": 4, "again": 1}, {"head_left": 1}),
            ({"roller": 1}, {"owed_4": 4, "owed_5": 4, "owed_6": 4, "head_left": 1}),
            ({"roller": 1}, {"owed_5": 4, "owed_6": 4, "again": 1}),
            ({"roller": 1}, {"owed_6": 4, "again": 1}),
            ({}, {"again": 1}),
        ],
    ),
    (
        "mad_nardy",
        f"{M1}; W 6-5",
        [({"roller": 1}, {"owed_5": 1, "head_left": 1}), ({}, {"again": 1})],
    ),
]


@pytest.mark.parametrize(
    ("game", "literal", "expected"), MEMORY, ids=[f"{c[0]} {c[1][-3:]}" for c in MEMORY]
)
def test_memory_of_a_roll(engine, game, literal, expected):
    """What each afterstate remembers, slot by slot (`rules.memory`, BGU-4, D-19)."""
    variant = load_variant(game)
    now, dice, _ = situation(variant, literal)
    white_acts, found = True, []
    for _ in expected:
        ends = engine.ends(variant, now, dice)
        mine, theirs = (remembered(variant, side) for side in ends[0])
        assert all([remembered(variant, side) for side in e] == [mine, theirs] for e in ends)
        found.append((mine, theirs) if white_acts else (theirs, mine))
        now, same = engine.next_position(variant, ends[0])
        white_acts = white_acts is same
    assert found == expected
    assert not any(remembered(variant, side) for side in now)


def test_extra_roll_is_a_roll_of_the_same_side(engine):
    """X-G3, GUL-4, GUL-5: `again` is the only memory of it."""
    variant = load_variant("gulbar")
    position, dice, _ = situation(variant, f"{S}; W 4-4")
    (end,) = engine.ends(variant, position, dice)
    assert remembered(variant, end.mover) == {"again": 1}
    after, same = engine.next_position(variant, end)
    assert same
    assert after == Position((*end.mover[:-1], 0), end.opponent)


def test_head_allowance_is_one_per_cascade(engine):
    """BGU-4, D-19: after 24-23 with the ones no further checker leaves the head with the twos."""
    variant = load_variant("mad_gulbar")
    position, _, _ = situation(
        variant, "W{24:13 20:2 roller=1 owed_2=4}|B{24:15 head_left=1}; W 1-1"
    )
    assert {end.mover[24] for end in engine.ends(variant, position, (1, 1))} == {13}
    allowed, _, _ = situation(
        variant, "W{24:13 20:2 roller=1 owed_2=4 head_left=1}|B{24:15 head_left=1}; W 1-1"
    )
    assert {end.mover[24] for end in engine.ends(variant, allowed, (1, 1))} == {12, 13}


@pytest.mark.parametrize(("heir_head", "left"), [("total", 0), ("per_segment", 1)])
def test_head_allowance_of_the_heir(engine, heir_head, left):
    """BGU-4, BNA-7: one in all that he inherits, or one in each segment."""
    variant = load_variant("mad_gulbar", {"transfer.heir_head": heir_head})
    position, _, _ = situation(
        variant, "W{24:15 owed_5=1 owed_6=2 head_left=1}|B{24:15 roller=1}; W 1-1"
    )
    (end,) = engine.ends(variant, position, (1, 1))
    after, same = engine.next_position(variant, end)
    assert same
    assert variant.recall(after.mover, "head_left") == left
    # Two sixes: 19-13-7 with the runner, or with one more from the head 24-18 and 19-13.
    found = {shown(variant, end.mover) for end in engine.ends(variant, after, (1, 1))}
    more = {"24:13 18:1 13:1"} if left else set()
    assert found == {"24:14 7:1"} | more


def test_first_play_exception_of_a_cascade(engine):
    """BGU-4, L-6: judged on the rolled double; both checkers are gone when the level is over."""
    variant = load_variant("mad_gulbar")
    position, dice, _ = situation(variant, f"{S}; W 4-4")
    (end,) = engine.ends(variant, position, dice)
    assert shown(variant, end.mover) == "24:13 16:2"
    assert variant.recall(end.mover, "head_left") == 0


@pytest.mark.parametrize(("rolls", "climbs"), [(0, False), (2, False), (3, True), (4, True)])
def test_cascade_from_the_fourth_roll(engine, rolls, climbs):
    """7.12 note: doubles of the first three own rolls are ordinary, then they climb."""
    variant = load_variant("gul_bara_intl")
    position, _, _ = situation(variant, f"W{{24:10 20:5 rolls={rolls}}}|B{{24:15}}; W 5-5")
    for end in engine.ends(variant, position, (5, 5)):
        told = remembered(variant, end.mover)
        assert told.pop("rolls") == min(rolls + 1, 4)
        assert ("owed_6" in told) is climbs


def test_inherited_segments_are_no_own_rolls(engine):
    """7.12 note: the count of own rolls is that of the side that threw the dice."""
    variant = load_variant("gul_bara_intl")
    position, _, _ = situation(
        variant, "W{24:15 rolls=2 owed_6=2}|B{24:14 20:1 rolls=3 roller=1}; W 1-1"
    )
    for end in engine.ends(variant, position, (1, 1)):
        assert variant.recall(end.mover, "rolls") == 2
        assert variant.recall(end.opponent, "rolls") == 3


def test_heir_can_finish_the_game(engine):
    """T-10: the heir bears off his last checker and has won, whatever else is owed."""
    variant = load_variant("mad_gulbar")
    position, _, _ = situation(
        variant,
        "W{2:1 owed_2=1 owed_3=4 head_left=1}|B{24:14 off1 roller=1 head_left=1}; W 1-1",
    )
    (end,) = engine.ends(variant, position, (1, 1))
    assert engine.outcome(variant, end) == Outcome(True, 0, 1)
    assert not any(remembered(variant, side) for side in end)
    assert engine.ends(variant, engine.next_position(variant, end)[0], (1, 1)) == []


def test_first_roll_flag(engine):
    """GUL-6, D-22: by the flag Black still has his first play after he had to play inherited dice.

    With 3-3 he is stopped by White's head at the fourth step, so two checkers may leave.
    """
    by_flag = load_variant("gulbar", {"head.exception_when": "first_roll_flag"})
    literal = "W{24:13 18:2}|B{24:14 18:1 fresh=1}; B 3-3"
    position, dice, _ = situation(by_flag, literal)
    ends = engine.ends(by_flag, position, dice)
    assert {end.mover[24] for end in ends} == {12, 13}
    assert not any(by_flag.recall(end.mover, "fresh") for end in ends)
    later = situation(by_flag, literal.replace(" fresh=1", ""))[0]
    assert {end.mover[24] for end in engine.ends(by_flag, later, dice)} == {13}


def test_memory_is_checked():
    """Memory that no game leads to is refused in words."""
    variant = load_variant("gulbar")
    for literal, words in [
        ("W{24:15}|B{24:15 owed_6=1}; W 1-1", "side to act"),
        ("W{24:15 owed_6=1}|B{24:15}; W 1-1", "threw them"),
        ("W{24:15 owed_6=5}|B{24:15 roller=1}; W 1-1", "0 to 4"),
        ("W{24:15 again=1}|B{24:15}; W 1-1", "afterstate"),
    ]:
        with pytest.raises(PositionError, match=words):
            situation(variant, literal)


def test_presets():
    """GUL, BGU, BNA, GIU: the options that make the presets (rules.md section 11)."""
    gulbar, mad, nardy, giul = map(load_variant, ("gulbar", "mad_gulbar", "mad_nardy", "giul"))
    assert gulbar.start_position().mover[:26] == row("24:15")
    assert gulbar.options()["extra_roll"] == "after_full_double"
    assert mad.options()["extra_roll"] == "off"  # BGU-6
    assert [v.options()["transfer.scope"] for v in (gulbar, mad, nardy, giul)] == [
        "all_rolls", "doubles_only", "all_rolls", "all_rolls",
    ]  # fmt: skip
