"""Write RULES.md: the rules as they are played, from the same data that the engines read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nardy_engine import Variant, load_variant, variant_names
from nardy_engine.notation import format_position
from nardy_engine.rules.registry import parent_name
from nardy_engine.rules.summary import Clause, common_model, summary
from nardy_rl.files import write_atomic

TARGET = Path(__file__).resolve().parent.parent / "RULES.md"

HEAD = """\
# The rules as played here

Written by `make rules` from the data that the engines play by, so this page cannot say anything
else than what happens on the board. In brackets after a sentence: the option that says so and its
value here, then the clauses of the rules text, [docs/rules.md](docs/rules.md), which also has
worked examples and the points on which sources differ. Every option can be changed, on the
command line as in `nardy variants long --option head.limit=none`.

| English | Russian | |
| --- | --- | --- |
| roll, double | бросок, дубль (кош) | the two dice thrown; equal dice |
| play, pass | ход, пропуск хода | the steps made with a roll; none |
| head | голова | where all checkers start |
| home | дом | the last quarter of a side's route |
| block | блок, мост | points in a row that the other side cannot pass |
| runner | первая шашка | |
| blot, bar, hit | блот, бар, бить | |
| pinned checker | пленная шашка | |
| bear off | выбрасывать | |
| oin, mars, koks | оин (ойн), марс, кокс | single, double, triple win |
| cube, double, take, pass | куб, даве, тейк, пас | |

## All games: how a roll is played
"""


def family(parent: str | None = None) -> Iterator[str]:
    """Yield the names of all games, each before those that inherit from it."""
    for name in variant_names():
        if parent_name(name) == parent:
            yield name
            yield from family(name)


def bullets(clauses: list[Clause], before: str = "") -> list[str]:
    """Return the clauses as a list."""
    return [f"- {before}{clause}" for clause in clauses]


def differences(variant: Variant, parent: Variant) -> list[str]:
    """Return the sentences that a game has and its parent has not, then those it drops."""
    mine, theirs = summary(variant), summary(parent)
    told = {option for clause in mine for option in names(clause)}
    gone = [clause for clause in theirs if clause not in mine and told.isdisjoint(names(clause))]
    return bullets([clause for clause in mine if clause not in theirs]) + bullets(gone, "Not: ")


def names(clause: Clause) -> set[str]:
    """Return the names of the options that a clause reads."""
    return {part.partition("=")[0] for part in clause.option.split(", ")}


def section(name: str) -> list[str]:
    """Return the lines about one game."""
    variant, above = load_variant(name), parent_name(name)
    lines = ["", f"## {variant.title} · {variant.russian} · `{name}`", ""]
    start = format_position(variant, variant.start_position()).replace(" off0", "")
    lines += [f"Start: `{start}`", ""]
    if above is None:
        return [*lines, *bullets(summary(variant))]
    lines += [f"As {load_variant(above).title} (`{above}`), but:", ""]
    lines += differences(variant, load_variant(above))
    fold = ["", "<details><summary>The whole rules</summary>", ""]
    return [*lines, *fold, *bullets(summary(variant)), "", "</details>"]


def page() -> str:
    """Return the text of RULES.md."""
    lines = [HEAD, *bullets(common_model())]
    lines += [line for name in family() for line in section(name)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_atomic(TARGET, page().encode())
