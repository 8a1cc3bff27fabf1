"""What the documents say exists, exists."""

import re
from pathlib import Path

import pytest

from nardy_engine import load_variant, variant_names
from nardy_rl.cli import COMMANDS

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path for path in [*ROOT.glob("*.md"), *ROOT.glob("*/README.md")] if path.parent.name != "runs"
)
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    """Every link to a file of the project, pictures too, leads to one."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text("utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_command_table_is_complete():
    """The README's table has one line for each command of `nardy`, and no other."""
    listed = re.findall(r"^\| `nardy (\w+)` \|", README, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_table_of_games_is_complete():
    """The README names every game as the catalog does, with a link to its section of RULES.md."""
    rows = re.findall(r"^\| \[(.+)\]\(RULES\.md#(.+?)\) \| (.+) \| `(.+)` \|", README, re.MULTILINE)
    assert sorted(row[3] for row in rows) == sorted(variant_names())
    headings = re.findall(r"^## (.+)$", (ROOT / "RULES.md").read_text("utf-8"), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}
    for title, anchor, russian, name in rows:
        variant = load_variant(name)
        assert (title, russian) == (variant.title, variant.russian)
        assert anchor in anchors
        assert anchor.endswith(f"--{name}")


def test_tree_shows_what_is_there():
    """Every folder and file of the README's annotated tree exists."""
    tree = re.search(r"## What is where\n\n```\n(.*?)```", README, re.DOTALL)[1]
    folder = ROOT
    for line in tree.splitlines():
        names = line[:24].split()
        if not line.startswith(" "):
            folder = ROOT / names[0] if names[0] in ("engine/nardy_engine/", "nardy_rl/") else ROOT
            names = names if folder == ROOT else ["."]
        for name in names:
            assert (folder / name).exists(), name


def test_tour_is_short():
    """The tour of the library has twelve lines."""
    assert len(re.findall(r"^(?:>>>|\.\.\.) ", README, re.MULTILINE)) == 12


def test_make_targets_exist():
    """Every `make` target that a document names is in the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in DOCUMENTS:
        named = re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text("utf-8"), re.MULTILINE)
        assert set(named) <= targets, path
