"""The kernels against the reference engine on random positions of every game and rule option."""

import json
import random

import numpy as np
import pytest

from nardy_engine import batch, differential, load_variant, reference, variant_names
from nardy_engine.differential import Comparison, compare, compare_in_parts, random_pairs
from nardy_engine.errors import VariantError
from rule_sets import OPTIONS
from scripts.compare_engines import main

PAIRS = 4_000
"""Of each game; `make compare` compares many more."""


@pytest.mark.parametrize("game", variant_names())
def test_engines_agree(game):
    """Random (position, roll) pairs of each game have equal ends, memory and outcomes."""
    total = sum(compare_in_parts(game, PAIRS, seed=20, jobs=2), Comparison(0, 0, None))
    assert total == Comparison(PAIRS, 0, None), json.dumps(total.first)


@pytest.mark.parametrize("name", OPTIONS)
def test_engines_agree_on_options(name):
    """The engines agree on every rule option, not only on the games of the catalog."""
    found = compare("long", 600, seed=21, options=OPTIONS[name])
    assert found == Comparison(600, 0, None), json.dumps(found.first)


NONE = {"head.exception": "none", "head.exception_doubles": []}
THREE = {"setup.checkers": 3, "setup.start": {24: 3}}
"""Few checkers, where a pool of up to 24 steps would have millions of ends with fifteen."""
OTHER_GAMES = [  # options of rules.md 4.1 that act on segments, teleports, first plays and pins
    ("mad_gulbar", {"transfer.heir": "stop_at_first_unplayable"}),
    ("mad_gulbar", {"transfer.heir": "free_pool", "transfer.scope": "all_rolls", **THREE}),
    ("mad_gulbar", {"transfer.mode": "level", "transfer.zero_first_level": "skip_level"}),
    ("mad_gulbar", {"transfer.scope": "all_rolls", "transfer.heir_head": "per_segment"}),
    ("mad_nardy", {"transfer.heir_head": "total"}),
    ("mad_nardy", {"transfer.scope": "off"}),
    ("gulbar", {"dice.program": "n_times_m", "extra_roll": "off"}),
    ("gulbar", {"head.exception_when": "first_roll_flag"}),
    ("short", {"transfer.scope": "all_rolls", "extra_roll": "after_full_double"}),
    ("kaftar", {"teleport.blocked": "lost", "teleport.short_head": "lost"}),
    ("kaftar", {"head.lifted_by": [], "block.check": "every_step"}),
    ("kabutar", {"teleport.blocked": "lost"}),
    ("kabutar", {"teleport.short_head": "lost", "block.check": "every_step"}),
    ("long", {"dice.parity": "white_even_black_odd"}),
    ("long", {"last_roll_draw": "on"}),
    ("emir", {"block.rule": "karzar", "block.check": "every_step"}),
    ("emir", {"head.limit": "none", "head.exception_when": "all_on_head", **NONE}),
    ("emir", {"home.frozen": True, "bearoff.overshoot": "exact_only"}),
    ("emir", {"dice.program": "n_times_m", "dice.parity": "white_even_black_odd"}),
]


@pytest.mark.parametrize(("game", "options"), OTHER_GAMES)
def test_engines_agree_on_options_of_other_games(game, options):
    """The engines agree where a turn has several decisions, or steps of another kind."""
    found = compare(game, 400, seed=22, options=options)
    assert found == Comparison(400, 0, None), json.dumps(found.first)


VALUES = {
    "block.rule": ["ahead", "karzar", "start_sector", "never", "none"],
    "block.check": ["end_of_segment", "every_step"],
    "block.length": [3, 4, 5, 6, 7],
    "dice.program": ["standard", "n_times_m"],
    "dice.double_steps": [2, 3, 4, 5],
    "bearoff.overshoot": ["highest", "exact_only", "highest_or_all_higher_blocked"],
    "bearoff.dice": [[1, 2, 3, 4, 5, 6], [1, 6], [2, 3]],
    "home.frozen": [False, True],
    "head.lifted_by": [[], [1, 6], [3]],
    "head.exception": ["head_blocked", "listed", "second_player_any_blocked"],
    "head.exception_doubles": [[3, 4, 6], [1, 2, 3, 4, 5, 6]],
    "score": ["oin_mars", "oin_mars_koks", "oin_mars_koks_homemars", "checkers_left"],
    "objective": ["first_off_wins", "first_off_loses"],
}
BOARDS = [
    {},
    {"setup.points": 28, "setup.start": {28: 15}},
    {"setup.checkers": 1, "setup.start": {24: 1}},
    {"setup.checkers": 5, "setup.start": {24: 4, 20: 1}},
]


@pytest.mark.parametrize("seed", range(30))
def test_engines_agree_on_mixed_options(seed):
    """Options drawn at random, together and on other boards, are understood the same way."""
    rng = random.Random(seed)
    while True:
        options = dict(rng.choice(BOARDS))
        for name in rng.sample(sorted(VALUES), rng.randint(2, 8)):
            options[name] = rng.choice(VALUES[name])
        try:
            load_variant("long", options)
        except VariantError:
            continue
        break
    found = compare("long", 150, seed=seed, options=options)
    assert found == Comparison(150, 0, None), json.dumps(found.first)


def test_principle_without_a_walk(engine):
    """AST-3: two different dice have no lone walk that the head could stop, so one leaves."""
    variant = load_variant("long", {"head.exception": "principle", "head.exception_doubles": []})
    ends = engine.ends(variant, variant.start_position(), (3, 1))
    assert [end.mover[24] for end in ends] == [14]


def test_a_difference_is_found(monkeypatch):
    """The comparison reports a missing play, a listed duplicate and a wrong outcome."""
    original = reference.plays
    monkeypatch.setattr(reference, "plays", lambda *a: original(*a)[:-1])
    found = compare("long", 40, seed=1)
    assert found.differences >= 40
    assert {"variant", "me", "opp", "dice", "only_kernels"} <= set(found.first)
    monkeypatch.setattr(reference, "plays", lambda *a: original(*a) + original(*a)[:1])
    assert compare("long", 40, seed=1).differences >= 40
    monkeypatch.setattr(reference, "plays", original)
    monkeypatch.setattr(differential, "outcome_index", lambda *a: 0)
    assert compare("long", 40, seed=1).differences > 40


def test_pairs_do_not_depend_on_the_processes():
    """The same seed gives the same pairs, and another seed gives others."""
    variant = load_variant("short")
    first, again, other = (random_pairs(variant, 400, seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("game", variant_names())
def test_pairs_visit_every_phase(game):
    """Contact, race, bear-off, passes and full heads or bars all occur among the pairs."""
    variant = load_variant(game)
    boards, dice = random_pairs(variant, 3000, seed=9)
    home = variant.setup.home
    assert (boards[:, 0, 0] > 0).mean() > 0.05
    assert (boards[:, 0, home + 1 : variant.n_counts].sum(axis=1) == 0).mean() > 0.05
    edge = variant.bar if variant.contact.value == "hit" else variant.head_point
    assert (boards[:, 0, edge] > 0).mean() > 0.05
    assert len(np.unique(dice, axis=0)) == 36
    after = batch.afterstates(variant, boards, dice)
    unmoved = after.boards[after.offsets[:-1]] == boards
    passed = unmoved[:, :, : variant.n_counts].all(axis=(1, 2))
    assert passed.any()


def test_script_reports_agreement(capsys):
    """`compare_engines.py` prints the table and succeeds when the engines agree."""
    assert main(["hypergammon", "--pairs", "60", "--jobs", "1"]) == 0
    line = capsys.readouterr().out.splitlines()[-1].split()
    assert line[:3] == ["hypergammon", "60", "0"]


def test_script_reports_the_first_difference(capsys, monkeypatch):
    """A difference fails the script and is printed as a line of JSON."""
    monkeypatch.setattr(differential, "outcome_index", lambda *a: 0)
    assert main(["hypergammon", "--pairs", "60", "--jobs", "1"]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["variant"] == "hypergammon"


def test_script_refuses_an_unknown_game(capsys):
    """A misspelt game is one sentence and exit status 2."""
    assert main(["logn", "--pairs", "60", "--jobs", "1"]) == 2
    assert capsys.readouterr().err.startswith("nardy: error: unknown variant 'logn'; did you mean")
