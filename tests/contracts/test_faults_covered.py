"""Every fault of docs/faults.md (T01 to T60) has a test that names it."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
LIST = TESTS.parent / "docs" / "faults.md"
ROWS = re.findall(r"^\| (T\d\d) \|", LIST.read_text("utf-8"), re.MULTILINE)
NOT_APPLICABLE = {
    "T33": "there is no benchmark of rated plays that could leave one out",
}


def claims():
    """Return the numbers named by a test: in its name, its docstring or that of its module."""
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.name == Path(__file__).name:
            continue
        text = path.read_text("utf-8")
        for match in re.finditer(r"(?<![A-Za-z0-9])T(\d\d)(?:-T(\d\d))?(?!\d)", text):
            last = int(match[2] or match[1])
            for number in range(int(match[1]), last + 1):
                found.setdefault(f"T{number:02}", set()).add(path.relative_to(TESTS).as_posix())
    return found


COVERED = claims()


def test_the_list_is_whole():
    """Numbered without a gap, each row of four cells."""
    assert [f"T{number:02}" for number in range(1, 61)] == ROWS
    for line in LIST.read_text("utf-8").splitlines():
        assert not line.startswith("| T") or line.count("|") == 5, line


@pytest.mark.parametrize("row", ROWS)
def test_every_fault_has_a_test(row):
    """Each row is named by a test, or stands on the short list of what cannot happen here."""
    assert (row in COVERED) != (row in NOT_APPLICABLE), COVERED.get(row, "no test names it")


def test_no_test_names_a_fault_that_is_not_listed():
    """A number beyond the list is a misprint."""
    assert set(ROWS) >= COVERED.keys()
