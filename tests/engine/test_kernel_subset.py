"""Kernels keep to what `cuda.jit` accepts too, and to their arrays (faults T54-T57, T59)."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nardy_engine

PACKAGE = Path(nardy_engine.__file__).parent
KERNELS = sorted(path for path in (PACKAGE / "kernels").glob("*.py") if path.name[0] != "_")
FORBIDDEN = (
    ast.Try, ast.Raise, ast.With, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Yield, ast.Await, ast.JoinedStr, ast.Dict, ast.Set, ast.List, ast.Global,
    ast.Nonlocal, ast.Starred, ast.Delete, ast.Import, ast.ImportFrom, ast.Assert, ast.ClassDef,
    ast.NamedExpr, ast.Match,
)  # fmt: skip
NUMPY = {"int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64"}
MATH = {"exp"}
DOORS = {"jit", "inlined"}
BUILTINS = {"range", "abs", "int", "float", "trailing_zeros"}
"""Not min and max: numba 0.68 types them for `cuda.jit` with one argument only."""


def kernels(path):
    """Return the compiled functions of a module."""
    return [
        node
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id in DOORS for d in node.decorator_list)
    ]


ALL = {node.name: node for path in KERNELS for node in kernels(path)}


def calls(node):
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]


def called_name(call):
    return ast.unparse(call.func)


@pytest.mark.parametrize("name", ALL)
def test_kernels_use_the_subset(name):
    """No exception, container, closure, text or allocation: numbers, arrays, loops and calls."""
    body = ALL[name].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    for statement in body:
        for node in ast.walk(statement):
            where = f"{name}, line {getattr(node, 'lineno', '?')}"
            assert not isinstance(node, FORBIDDEN), f"{where}: {type(node).__name__}"
            assert not isinstance(node, ast.FunctionDef), f"{where}: a function in a function"
            if isinstance(node, ast.Constant):
                assert isinstance(node.value, int | float | bool), f"{where}: {node.value!r}"
            if isinstance(node, ast.Call):
                what = called_name(node)
                module, _, function = what.rpartition(".")
                allowed = {"np": NUMPY, "math": MATH, "": BUILTINS | ALL.keys()}.get(module, set())
                assert function in allowed, f"{where} calls {what}"
                assert not node.keywords, f"{where}: keyword arguments of {what}"


def test_there_are_kernels():
    """The checks of this file see the kernels: listing, scoring, encoding, dice, self-play."""
    assert {"list_plays", "outcome_index", "encode_units", "draw", "backward_returns"} <= ALL.keys()
    assert len(ALL) > 40


def test_kernels_do_not_recurse():
    """No kernel reaches itself through its calls: a GPU's stack is small."""
    graph = {name: {called_name(call) for call in calls(node)} for name, node in ALL.items()}

    def reach(name, path):
        assert name not in path, " -> ".join([*path, name])
        for callee in graph.get(name, ()):
            reach(callee, [*path, name])

    for name in graph:
        reach(name, [])


def test_numba_has_one_door():
    """Only `_jit.py` imports numba or caches; nothing runs in prange and can race (T53-T55)."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        names = {
            alias.name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        } | {
            (node.module or "").split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
        }
        assert ("numba" in names) == (path.name == "_jit.py"), path
        called = {called_name(call).split(".")[-1] for call in calls(tree)}
        assert "prange" not in called, path
        keywords = {word.arg for call in calls(tree) for word in call.keywords}
        assert "parallel" not in keywords, path
        assert path.name == "_jit.py" or "cache" not in keywords, path


def test_kernels_draw_no_hidden_numbers():
    """No kernel calls a random generator: all randomness is a function of its arguments (T56)."""
    for name, node in ALL.items():
        assert not [c for c in calls(node) if "random" in called_name(c)], name


ON_A_GPU = '''
"""Lists plays, scores, encodes and rolls inside a cuda.jit kernel of numba's simulator."""
import json, sys, warnings
import numpy as np
from numba import cuda, config
from nardy_engine import Position, load_variant, reference
from nardy_engine.dice import roll
from nardy_engine.encoders import get_encoder
from nardy_engine.kernels import emir, encode, plays, rng, scoring, segments
from nardy_engine.rules import rule_table
from learning import tiny_variant

assert config.ENABLE_CUDASIM and config.DISABLE_JIT
warnings.simplefilter("ignore")  # wrapping sums, which are meant


class Strict(np.ndarray):
    """An array that refuses an index below 0 as well as one past its end (T59)."""

    def _check(self, key):
        for axis, index in enumerate(key if isinstance(key, tuple) else (key,)):
            if not isinstance(index, slice) and not 0 <= index < self.shape[axis]:
                raise IndexError(f"index {key} of {self.shape}")

    def __getitem__(self, key):
        self._check(key)
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        self._check(key)
        super().__setitem__(key, value)


def strict(array):
    return array.view(Strict)


@cuda.jit
def kernel(boards, ids, rules, scratch, seed, sides, opening, order, units, tables,
           dice, after, offsets, results, possible, features):
    i = cuda.grid(1)
    if i < boards.shape[0]:
        rng.fill_rolls(seed, ids[i : i + 1], ids[i : i + 1], sides, opening, dice[i : i + 1])
        lister = emir.list_emir if rules.emir else segments.list_plays
        if rules.n_slots == rules.n_points + 2 and rules.teleport == 0:
            lister = segments.list_ordinary
        end = lister(
            boards[i, 0], boards[i, 1], int(dice[i, 0]), int(dice[i, 1]), rules, scratch,
            after[i], 0,
        )
        offsets[i] = end
        results[i] = scoring.outcome_index(boards[i, 0], boards[i, 1], rules)
        scoring.fill_possible(boards[i, 0], boards[i, 1], rules, possible[i])
        encode.encode_units(boards[i : i + 1], 0, order, units, tables, features[i : i + 1])


def check(variant, rng_seed):
    generator = np.random.default_rng(rng_seed)
    encoder = get_encoder("thermometer", variant)
    position, chosen = variant.start_position(), []
    for turn in range(2000):
        rolled = tuple(int(d) for d in generator.integers(1, variant.dice.sides + 1, 2))
        options = reference.plays(variant, position, rolled)
        end = options[generator.integers(len(options))].end
        position, _ = reference.next_position(variant, end)
        if reference.outcome(variant, position) is not None:
            position = variant.start_position()
        if turn % 7 == 0 or max(position.mover[0], position.opponent[0]):
            chosen.append(position)
        if len(chosen) == 24:
            break
    n, slots = len(chosen), variant.n_slots
    boards = np.array([p.board() for p in chosen])
    ids = np.arange(n)
    dice, after = np.zeros((n, 2), np.int8), np.zeros((n, 1500, 2, slots), np.int8)
    offsets, results = np.zeros(n, np.int64), np.zeros(n, np.int64)
    possible = np.zeros((n, variant.n_outcomes), np.uint8)
    features = np.zeros((n, encoder.width), np.float32)
    if rule_table(variant).emir:
        scratch = emir.new_emir_scratch(slots, 1 << 12)
    else:
        scratch = plays.new_scratch(variant.n_counts, slots, 1 << 12)
    scratch = type(scratch)(*(strict(a) for a in scratch))
    opening = int(variant.opening.value == "opening_dice")
    tables = tuple(strict(t) for t in (encoder._order, encoder._units, encoder._tables))
    for i in range(n):  # one block after the other: they share the scratch
        one = slice(i, i + 1)
        kernel[1, 1](
            strict(boards[one]), strict(ids[one]), rule_table(variant), scratch, 5,
            variant.dice.sides, opening, *tables, strict(dice[one]),
            strict(after[one]), strict(offsets[one]), strict(results[one]), strict(possible[one]),
            strict(features[one]),
        )
    ends = 0
    for i, position in enumerate(chosen):
        rolled = roll(variant, 5, i, i)
        assert tuple(dice[i].tolist()) == rolled
        expected = sorted(play.end for play in reference.plays(variant, position, rolled))
        got = sorted(Position.from_board(b) for b in after[i, : offsets[i]])
        assert got == expected, (variant.id, position, rolled)
        assert results[i] == -1 and 0 < possible[i].sum() <= variant.n_outcomes
        assert features[i].tolist() == encoder.encode(boards[i : i + 1])[0].tolist()
        ends += len(got)
    return ends


GAMES = ("long", "short", "hypergammon", "mad_nardy", "kaftar", "emir")
print(json.dumps([check(load_variant(game), seed) for seed, game in enumerate(GAMES)]
                 + [check(tiny_variant(), 9)]))
'''


def test_kernels_run_inside_a_gpu_kernel():
    """In numba's CUDA simulator the kernels list, score, encode and roll as the reference (T59)."""
    done = subprocess.run(
        [sys.executable, "-c", ON_A_GPU],
        env=os.environ
        | {
            "NUMBA_ENABLE_CUDASIM": "1",
            "NUMBA_DISABLE_JIT": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert min(ends) > 40, ends
