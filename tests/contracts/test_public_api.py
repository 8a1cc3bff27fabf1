"""What the packages offer: every name on purpose, every name explained."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import typing

import pytest

import nardy_engine
import nardy_rl

ROOTS = (nardy_engine, nardy_rl)


def _names(packages_only):
    found = [
        entry.name
        for root in ROOTS
        for entry in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
        if entry.ispkg or not packages_only
    ]
    return [root.__name__ for root in ROOTS] + found


INTERNAL = {"nardy_engine.kernels", "nardy_rl.commands"}
PACKAGES = [name for name in _names(packages_only=True) if name not in INTERNAL]
MODULES = _names(packages_only=False)


@pytest.mark.parametrize("name", PACKAGES)
def test_all_lists_every_public_name(name):
    """A package's __all__ lists every name without underscore that comes from inside it."""
    package = importlib.import_module(name)
    assert hasattr(package, "__all__"), f"{name} does not say what is public"
    shown = {
        entry
        for entry, value in vars(package).items()
        if not entry.startswith("_")
        and not inspect.ismodule(value)
        and f"{getattr(value, '__module__', '')}.".startswith(f"{name}.")
    }
    assert sorted(shown - set(package.__all__)) == []


@pytest.mark.parametrize("name", MODULES)
def test_all_of_a_module_exists(name):
    """Every name in a module's __all__ can be imported from it, and is listed once."""
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", [])
    assert len(set(listed)) == len(listed)
    for entry in listed:
        assert hasattr(module, entry), f"{name}.{entry} does not exist"


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_explained(name):
    """Every module, public class, public method and public function has a docstring."""
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    for entry, value in vars(module).items():
        if entry.startswith("_") or getattr(value, "__module__", None) != name:
            continue
        if inspect.isclass(value) or callable(value):
            # a type alias or type variable has a docstring of the typing module, or none
            if not isinstance(value, type) and type(value).__module__ == typing.__name__:
                continue
            assert value.__doc__, f"{name}.{entry} has no docstring"
        if inspect.isclass(value):
            for method_name, method in vars(value).items():
                if not method_name.startswith("_") and inspect.isfunction(method):
                    assert inspect.getdoc(method), f"{name}.{entry}.{method_name}: no docstring"


def test_the_engine_is_imported_quickly():
    """Importing the rules takes less than half a second of processor time."""
    code = (
        "import time; t = time.process_time(); import nardy_engine; print(time.process_time() - t)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(done.stdout) < 0.5


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import nardy_engine", ["torch", "hydra", "numba"]),
        ("import nardy_rl", ["torch", "hydra", "numba"]),
        ("import nardy_rl.cli", ["torch", "hydra", "numba"]),
        ("import nardy_rl.config", ["torch", "hydra", "numba"]),
        ("import nardy_rl.compose", ["torch", "numba"]),
        ("import nardy_rl.evaluator", ["torch", "hydra"]),
        ("import nardy_rl.players", ["torch", "hydra"]),
    ],
)
def test_light_imports(statement, forbidden):
    """Importing what quick commands need loads none of the heavy packages."""
    code = f"import sys; {statement}; print(*[m for m in {forbidden!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == []
