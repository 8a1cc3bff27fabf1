"""No rule option is dead: each changes some stored position, or its other values are refused.

The walk is over `dataclasses.fields`, so that a new field without a witness fails here.
"""

import re

import numpy as np
import pytest

from engines import Engine
from nardy_engine import Outcome, Position, batch, load_variant, variant_names
from nardy_engine.errors import DiceError, IllegalPlayError, PositionError, VariantError
from nardy_engine.reference import cube
from nardy_engine.rules.components import Opening
from nardy_engine.rules.memory import memory_index
from nardy_engine.whole_rolls import ENGINES
from options import option_names, other_values, with_companions
from positions import case, row

X = "W{8:1 6:3 5:3 4:3 3:3 1:2}"
EMIR_X = "W{8:1 6:1 5:3 4:2 3:2 2:2 1:2}"

WITNESSES = {  # position and roll, a roll from the own start position, or a loser's row
    "setup.points": ["start 6-5"],
    "setup.home": ["W{6:2 3:1}|B{14:1}; W 3-1", "W{10:2 8:1}|B{23:2 14:1}; W 4-4"],
    "setup.checkers": ["start 6-5"],
    "setup.start": ["start 6-5"],
    "setup.direction": ["start 6-4"],
    "setup.reserve": ["start 6-5"],
    "setup.emir_above": ["start 6-5"],
    "head.limit": [
        "W{24:14 13:1}|B{24:14 15:1}; W 5-3",
        "W{24:14 18:1}|B{24:15}; W 6-6",
    ],
    "head.exception": [
        "W{24:15}|B{24:15}; W 6-6",
        "W{24:14 4:1}|B{24:15}; B 4-4",
        "W{24:14 16:1}|B{24:15}; B 5-5",
        "W{24:15}|B{24:15}; W 6-2",
        "start 4-4",
        "W{24:15}|B{24:13 15:1 6:1}; W 3-3",
        "W{24:15}|B{24:14 15:1}; W 3-3",
        "W{24:15}|B{24:13 17:1 5:1}; W 5-5",
        "W{24:15}|B{24:13 14:1 8:1}; W 2-2",
        "W{24:15 fresh=1}|B{24:15}; W 4-3",
        "W{24:10 4:2}|B{24:12 fresh=1}; B 4-4",
        "W{24:10 2:2}|B{24:12 fresh=1}; B 5-5",
    ],
    "head.exception_doubles": [
        "start 3-3",
        "start 4-4",
        "start 6-6",
        "W{24:15}|B{24:14 15:1}; W 3-3",
        "W{24:15}|B{24:14 16:1}; W 4-4",
        "W{24:15}|B{24:14 18:1}; W 6-6",
    ],
    "head.exception_when": [
        "W{24:15}|B{24:15}; W 6-6",
        "W{24:15}|B{24:15}; W 4-4",
        "W{24:15}|B{24:14 15:1}; W 3-3",
    ],
    "head.lifted_by": [
        "W{24:14 20:1}|B{24:14 18:1}; W 6-3",
        "W{24:14 20:1}|B{24:14 18:1}; W 6-2",
        "W{24:13 22:1}|B{24:12 17:1 14:1}; W 6-1",
        "W{24:12 14:1}|B{24:12}; W 3-2",
        "start 6-6",
    ],
    "block.rule": [
        f"{X}|B{{24:15}}; W 6-5",
        f"{X}|B{{24:14 12:1}}; W 6-5",
        f"{X}|B{{24:14 6:1}}; W 6-5",
        "W{24:9 23:1 22:1 21:1 20:1 9:2}|B{24:14 11:1}; W 5-1",
        "W{24:2 23:1 22:1 21:1 20:1 3:1}|B{24:12}; W 5-1",
        "W{24:2 23:1 22:2 21:1 19:1 10:1}|B{24:12 19:1 14:2}; W 2-2",
        "W{24:1 23:1 22:2 21:1 20:1 1:1}|B{24:12 23:2 7:1}; W 5-1",
        "W{24:3 23:1 22:1 20:1 19:1 8:1 first=0}|B{24:2 first=1}; W 3-1",
        "W{24:1 10:1 6:1 5:1 3:2 2:1 1:1}|B{24:12 9:2 8:1}; W 6-2",
        f"{EMIR_X}|B{{24:15}}; W 2-1",
        f"{EMIR_X}|B{{24:14 12:1}}; W 2-1",
        f"{EMIR_X}|B{{24:14 6:1}}; W 2-1",
    ],
    "block.check": [
        f"{X}|B{{24:15}}; W 6-6",
        "W{24:2 23:1 22:1 21:1 20:1 9:1}|B{24:12 6:1}; W 6-5",
        "W{8:1 5:2 4:2 3:2 2:2 1:2}|B{24:12 19:2 18:1}; W 2-1",
    ],
    "block.karzar_scope": [
        "W{13:1 11:4 10:4 9:2 8:2 7:2}|B{18:15}; W 1-2",
        "W{13:1 11:4 10:4 9:2 8:2 7:2 first=0}|B{18:15 first=1}; W 1-1",
        f"{EMIR_X}|B{{12:15}}; W 2-1",
    ],
    "block.length": [
        f"{X}|B{{24:15}}; W 6-5",
        "W{8:2 7:2 6:2 5:2 3:7}|B{24:15}; W 4-1",
        "W{23:1 21:1 19:1 18:1 17:1 16:1}|B{24:12 21:1 10:2}; W 3-2",
        "W{20:2 19:1 18:1 17:1 15:1 4:1 first=0}|B{24:12 15:1 9:2 first=1}; W 4-1",
        f"{EMIR_X}|B{{24:15}}; W 2-1",
    ],
    "dice.program": [
        "W{24:1 23:2}|B{19:2 10:1}; W 5-5",
        "W{13:2}|B{22:1 21:2}; W 6-6",
    ],
    "dice.sides": ["start 6-5"],
    "dice.double_steps": [
        "W{16:2}|B{22:1 15:1 12:1}; W 6-6",
        "W{23:1}|B{19:2 4:1}; W 6-6",
        "W{15:2 10:1}|B{6:2}; W 4-4",
    ],
    "dice.parity": ["start 6-5"],
    "bearoff.overshoot": [
        "W{4:1 2:1}|B{13:1}; W 6-5",
        "W{6:1 2:1}|B{15:1 22:2}; W 3-3",
        "W{6:1 2:1}|B{15:2 22:1}; W 3-3",
        "W{7:2 5:1}|B{2:1}; W 4-4",
        "W{7:1 5:2 1:1}|B{22:2 15:2 12:2}; W 2-2",
    ],
    "bearoff.dice": ["W{6:1 5:1 4:1}|B{14:1}; W 5-4", "W{5:1 4:1}|B{14:1}; W 6-6"],
    "home.frozen": ["W{8:1 6:1}|B{14:1}; W 2-1", "W{7:1 6:1}|B{11:1}; W 4-4"],
    "cascade": [
        "W{15:2 10:1 rolls=4}|B{6:2}; W 4-4",
    ],
    "cascade.from_roll": [
        "W{15:2 10:1}|B{6:2}; W 4-4",
    ],
    "transfer.scope": [
        "W{14:1 7:1 rolls=4}|B{20:2 14:1}; W 3-3",
        "W{14:1 2:1 rolls=4}|B{17:2 12:1 4:1}; W 3-3",
        "W{19:1}|B{19:1}; W 6-6",
        "W{21:1 rolls=4}|B{16:2}; W 3-3",
        "W{9:2 5:1}|B{24:1 20:1}; W 4-1",
        "W{8:2 3:1}|B{23:2 14:2}; W 6-4",
    ],
    "transfer.mode": [
        "W{14:1 7:1 rolls=4}|B{20:2 14:1}; W 3-3",
        "W{24:2 rolls=4}|B{23:1 22:2 17:2}; W 3-3",
        "W{24:1 11:1 rolls=4}|B{15:2}; W 3-3",
    ],
    "transfer.heir": [
        "W{24:2 rolls=4}|B{23:1 22:2 17:2}; W 3-3",
        "W{19:2 rolls=4}|B{23:1 20:1 6:1}; W 3-3",
        "W{19:1 rolls=4}|B{18:2 9:1}; W 3-3",
        "W{21:1 19:1 4:1 rolls=4}|B{17:2 8:1 2:2}; W 3-3",
        "W{18:1 15:2 rolls=4}|B{23:2}; W 3-3",
    ],
    "transfer.zero_first_level": [
        "W{16:1 rolls=4}|B{22:1 14:2 6:2}; W 6-6",
        "W{13:1 rolls=4}|B{22:1 17:1 10:2}; W 3-3",
        "W{20:1 rolls=4}|B{12:1 11:2 10:2}; W 5-5",
        "W{7:2 rolls=4}|B{22:2 11:1 9:2}; W 4-4",
        "W{24:1 rolls=4}|B{6:2 4:1}; W 5-5",
    ],
    "transfer.heir_head": [
        "W{13:2 rolls=4}|B{24:3 15:2 5:1}; W 5-5",
    ],
    "extra_roll": [
        "W{17:2 8:2}|B{17:1 13:2}; W 6-6",
        "W{19:2 10:1}|B{24:2 14:1}; W 5-5",
    ],
    "teleport": ["start 6-3", "start 3-3", "start 6-6"],
    "teleport.blocked": [
        "W{24:14 20:1}|B{24:14 18:1}; W 6-3",
        "W{24:15}|B{24:14 15:1}; W 3-3",
    ],
    "teleport.short_head": ["W{24:2 10:13}|B{24:15}; W 6-6", "W{24:2 8:13}|B{24:15}; W 2-2"],
    "contact": ["W{24:1 3:1}|B{7:1}; W 6-6", "W{24:10 13:2}|B{24:11 20:1}; W 5-2"],
    "objective": ["loser 6:1"],
    "score": ["loser 6:1", "loser 20:1 6:2 off0", "loser 6:3", "loser 20:1 6:14", "loser 6:15"],
    "last_roll_draw": ["W{1:1}|B{1:2}; W 2-1", "W{16:2}|B{7:2}; W 6-6"],
}


def cube_answer(variant):
    """Return what the rules of the cube say of a few moments."""
    money, middle = cube.MatchScore(), cube.Cube()
    try:
        beaver = cube.beaver(variant, cube.Offer(middle, 0))
    except IllegalPlayError:
        beaver = None
    return (
        cube.may_double(variant, middle, money, 0),
        cube.may_double(variant, cube.Cube(2, 0), money, 0),
        cube.may_double(variant, cube.Cube(64, 0), money, 0),
        cube.next_game(variant, cube.MatchScore(7, (5, 0)), cube.Result(0, 1)),
        cube.game_result(variant, middle, money, Outcome(True, 1, 2), 0),
        cube.first_cube(variant, money, ties=1),
        beaver,
    )


def match_answer(variant):
    """Return who moves first after a game that its first player has won."""
    return cube.next_first(variant, 0, cube.Result(0, 1))


def remembering(variant, counts, memory, first):
    """Return the row of a witness: checkers, then what it says or what goes without saying."""
    place = max((slot for slot in range(1, variant.bar + 1) if counts[slot]), default=0)
    told = {"first": int(first), "emir": place, **memory}
    found = list(counts) + [0] * len(variant.memory)
    for name, value in told.items():
        if variant.remembers(name):
            found[memory_index(variant)[name]] = value
    found[0] -= variant.recall(found, "reserve")
    return tuple(found)


def position_of(variant, witness):
    """Return `(position, dice)` of a witness, or None if it is no position of the game."""
    checkers = variant.setup.checkers
    if witness.startswith("start"):
        a, b = witness.removeprefix("start").split("-")
        return variant.start_position(), (int(a), int(b))
    sides = re.findall(r"([WB])\{([^}]*)\}", witness)
    memory = {
        side: {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", inside)}
        for side, inside in sides
    }
    bare, dice = case(re.sub(r" ?\w+=\d+", "", witness), checkers)
    white = witness.partition(";")[2].split()[0] == "W"
    names = ("W", "B") if white else ("B", "W")
    rows = (
        remembering(variant, counts, memory[name], name == names[0])
        for counts, name in zip(bare, names, strict=True)
    )
    position = Position(*rows)
    try:
        return variant.check_position(position), dice
    except PositionError:
        return None


def answer(engine, variant, witness, names, whole=False):
    """Return what the engine says to a witness; None if it is no position of the game.

    Of the memory, only what `names` says is looked at: what both games remember. `whole` asks for
    the whole roll instead of its first segment.
    """
    if witness.startswith("loser"):
        return finished(engine, variant, witness.removeprefix("loser"))
    found = position_of(variant, witness)
    if found is None:
        return None
    try:
        if not whole:
            return {seen(variant, end, None, names) for end in engine.ends(variant, *found)}
        return {
            result if isinstance(result, Outcome) else seen(variant, *result, names)
            for result in engine.whole_roll(variant, *found)
        }
    except (DiceError, ValueError):
        return "refused"


def finished(engine, variant, text):
    """Return the outcome of a game that row 0 has won against a row; None if that is no row."""
    try:
        loser = row(text, variant.setup.checkers)
    except AssertionError:
        return None
    if min(loser) < 0:
        return None
    sides = (
        remembering(variant, counts, {}, first)
        for counts, first in ((row("", variant.setup.checkers), True), (loser, False))
    )
    return engine.outcome(variant, Position(*sides))


def seen(variant, position, acts, names):
    """Return the checkers of a result, who acts next, and the memory called `names`."""
    return (
        acts,
        *(side[: variant.n_counts] for side in position),
        *(variant.recall(side, name) for side in position for name in names),
    )


def differs(engine, option, base, changed):
    """Return whether some witness of the option tells the two games apart."""
    if option.startswith("cube"):
        return cube_answer(base) != cube_answer(changed)
    if option.startswith("match"):
        return match_answer(base) != match_answer(changed)
    common = {m.name for m in base.memory} & {m.name for m in changed.memory}
    names, whole = sorted(common), option.startswith(("cascade", "transfer", "extra", "last"))
    return any(
        answer(engine, base, w, names, whole) != answer(engine, changed, w, names, whole)
        for w in WITNESSES.get(option, [])
    )


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("game", variant_names())
def test_every_option_has_a_witness(game, name):
    """Each value that a game accepts for an option changes the answer to a stored position."""
    engine, variant = Engine(name), load_variant(game)
    dead = []
    for option in option_names(variant):
        if option == "opening":
            continue  # its witness is the first roll, below
        for value in other_values(variant, option):
            pair = with_companions(variant, option, value)
            if pair is None or (value == "principle" and pair[1].dice.program.value == "standard"):
                continue  # the principle of AST-3 gives ordinary doubles what their list gives
            if not differs(engine, option, *pair):
                dead.append((option, value))
    assert dead == []


@pytest.mark.parametrize("game", variant_names())
def test_every_other_value_is_tried(game):
    """A field that is neither Enum nor bool has values to try here, so no field is passed over."""
    variant = load_variant(game)
    untried = [o for o in option_names(variant) if not list(other_values(variant, o))]
    assert untried == []
    assert set(option_names(variant)) == set(variant.options())


def closed(variant):
    """Return the options of which a game accepts no other value, not even with companions."""
    return {
        option
        for option in option_names(variant)
        if not any(with_companions(variant, option, v) for v in other_values(variant, option))
    }


@pytest.mark.parametrize("game", ["long", "long-fnr"])
def test_long_nardy_can_be_played_with_every_option(game):
    """Of long nardy every rule can be changed, the direction of travel aside."""
    assert closed(load_variant(game)) == {"setup.direction"}


@pytest.mark.parametrize("game", ["short", "nackgammon", "hypergammon"])
def test_short_nardy_has_no_rules_of_the_same_direction(game):
    """S-7: options of head, block, teleport, draw and emir contradict the hits of short nardy."""
    same = ("head.", "block.", "teleport", "setup.reserve", "setup.emir", "last_roll_draw")
    variant = load_variant(game)
    expected = {option for option in variant.options() if option.startswith(same)}
    assert closed(variant) == expected | {"transfer.heir_head"}


@pytest.mark.parametrize("game", variant_names())
def test_refusals_are_sentences(game):
    """A refused value is refused in words that name the option or what it contradicts."""
    variant = load_variant(game)
    for option in option_names(variant):
        for value in other_values(variant, option):
            try:
                variant.with_options({option: value})
            except VariantError as error:
                said = str(error)
                assert any(name in said for name in option_names(variant)), said
                assert len(said.split()) >= 4


@pytest.mark.parametrize("game", variant_names())
def test_opening_decides_the_first_roll(game):
    """L-2, S-2, D-02: only `reroll` lets the first turn be a double."""
    doubles = {}
    for opening in Opening:
        variant = load_variant(game, {"opening": opening.value})
        dice = batch.Games(variant, n_games=600, seed=5).roll()
        doubles[opening] = int(np.count_nonzero(dice[:, 0] == dice[:, 1]))
    assert doubles[Opening.OPENING_DICE] == 0
    assert 50 < doubles[Opening.REROLL] < 150
