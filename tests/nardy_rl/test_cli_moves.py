"""`nardy moves`: one position, and the stream of JSON lines, by the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import complaints, nardy
from nardy_engine import Variant, load_variant, reference
from nardy_engine.types import Position
from nardy_rl.bench.engine import random_positions

CASES = Path(__file__).parents[1] / "data" / "cases"
START = {"points": {"24": 15}, "bar": 0, "off": 0}


def side(variant: Variant, row: Any) -> dict[str, Any]:
    points = {str(p): int(row[p]) for p in range(variant.head_point, 0, -1) if row[p]}
    return {"points": points, "bar": int(row[variant.bar]), "off": int(row[0])}


def as_set(results: list[dict[str, Any]]) -> set[str]:
    """Results as a set; the order of keys and left-out zeros do not matter."""
    return {
        json.dumps(
            [
                [sorted(result[who]["points"].items()), result[who].get("bar", 0)]
                for who in ("me", "opp")
            ]
        )
        for result in results
    }


def answers(*lines: dict[str, Any] | str, argv: tuple[str, ...] = ()) -> tuple[list[Any], Any]:
    """Send lines; return the decoded answers and the finished process."""
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    done = nardy("moves", "--jsonl", *argv, stdin=text)
    return [json.loads(line) for line in done.stdout.splitlines()], done


def recorded_cases() -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
    """Return lines and the results expected of them, from the recorded case files."""
    lines, expected = [], []
    known = ("long", "short", "long-fnr", "nackgammon", "hypergammon")
    for name in ("public_bugs.jsonl", "rule_options.jsonl"):
        for text in (CASES / name).read_text("utf-8").splitlines():
            case = json.loads(text)
            if case["variant"] not in known or "dice" not in case:
                continue
            options = case.pop("expected_by_option", None)
            for entry in options or ([case] if "expected" in case else []):
                changed = {**case.get("options", {}), **entry.get("option", {})}
                lines.append({**case, "options": changed})
                expected.append(entry["expected"])
    return lines, expected


def test_every_recorded_case_is_answered_as_recorded() -> None:
    """Public bugs and rule options: the ends are exactly those recorded (T-4..T-8, T-13)."""
    lines, expected = recorded_cases()
    assert len(lines) > 20
    found, done = answers(*lines)
    assert done.returncode == 0, done.stderr
    for line, answer, ends in zip(lines, found, expected, strict=True):
        assert answer["id"] == line["id"]
        assert as_set(answer["results"]) == as_set(ends), line["id"]
        assert len(answer["results"]) == len(as_set(ends)), line["id"]


def test_answers_are_complete_distinct_and_in_order() -> None:
    """Mixed games in one stream: each answer equals the reference engine's plays (T-13)."""
    names, wanted = ("long", "short", "hypergammon"), []
    lines = [{"id": [name, i], "variant": name} for i in range(150) for name in names]
    for name in names:
        variant = load_variant(name)
        boards, rolls = random_positions(variant, 150, seed=9)
        mine = [line for line in lines if line["variant"] == name]
        for line, board, roll in zip(mine, boards, rolls, strict=True):
            line["me"], line["opp"] = side(variant, board[0]), side(variant, board[1])
            line["dice"] = roll.tolist()
    for line in lines:
        variant = load_variant(line["variant"])
        position = Position(*(row(variant, line[who]) for who in ("me", "opp")))
        plays = reference.plays(variant, position, tuple(line["dice"]))
        wanted.append([play.end for play in plays])
    found, done = answers(*lines)
    assert done.returncode == 0, done.stderr
    for line, answer, ends in zip(lines, found, wanted, strict=True):
        variant = load_variant(line["variant"])
        assert answer["id"] == line["id"]
        assert len(answer["results"]) == len(ends)
        going_on = [end for end in ends if end.mover[0] != variant.setup.checkers]
        texts = as_set([{"me": side(variant, e[0]), "opp": side(variant, e[1])} for e in going_on])
        assert texts <= as_set(answer["results"])


def row(variant: Variant, given: dict[str, Any]) -> tuple[int, ...]:
    counts = [0] * variant.n_slots
    for point, count in given["points"].items():
        counts[int(point)] = count
    counts[variant.bar], counts[0] = given["bar"], given["off"]
    return tuple(counts)


def test_several_finishing_plays_are_one_result() -> None:
    """4 off, or 4/3* and off: the game is over either way, so one result (T-10)."""
    line = {
        "id": "t10",
        "variant": "short",
        "me": {"points": {"4": 1}, "off": 14},
        "opp": {"points": {"22": 1, "6": 14}},
        "dice": [4, 1],
    }
    found, _ = answers(line)
    (result,) = found[0]["results"]
    assert result["me"] == {"points": {}, "bar": 0, "off": 15}


def test_a_forced_pass_is_the_unchanged_position() -> None:
    """With no legal step there is exactly one result, the position itself (T-8, L-4)."""
    me = {"points": {"24": 15}, "bar": 0, "off": 0}
    opp = {"points": {"11": 2, "10": 2, "9": 2, "8": 2, "7": 2, "6": 5}, "bar": 0, "off": 0}
    found, _ = answers({"id": 0, "me": me, "opp": opp, "dice": [5, 4]})
    assert found == [{"id": 0, "results": [{"me": me, "opp": opp}]}]


def test_a_finished_game_has_no_plays() -> None:
    """After the last checker is off there is nothing to play: an empty list, no error."""
    done = {"points": {}, "off": 15}
    found, process = answers({"id": 0, "me": done, "opp": START, "dice": [5, 4]})
    assert found == [{"id": 0, "results": []}]
    assert process.returncode == 0


def test_bad_lines_are_named_and_do_not_stop_the_stream() -> None:
    """Each bad line gets its answer in place and its number on stderr; the exit code is 1."""
    good = {"id": "good", "me": START, "opp": START, "dice": [2, 1]}
    found, done = answers(
        good,
        '{"id":2,',
        "",
        {**good, "id": 4, "dice": [7, 1]},
        {**good, "id": 5, "dice": "64"},
        {**good, "id": 6, "variant": "lonk"},
        {**good, "id": 7, "options": {"block.chek": "every_step"}},
        {**good, "id": 8, "me": {"points": {"24": 16}}},
        {**good, "id": 9, "me": {"points": {"24": 14, "12": 1}}},
        '["a list"]',
        "\x00\x01",
        good,
    )
    assert [entry["id"] for entry in found] == [
        "good", None, 4, 5, 6, 7, 8, 9, None, None, "good",
    ]  # fmt: skip
    assert found[0] == found[-1]
    assert all("error" in entry for entry in found[1:-1])
    assert done.returncode == 1
    lines = complaints(done.stderr)
    assert [complaint.split(":")[1].strip() for complaint in lines] == [
        *(f"line {number}" for number in (2, 4, 5, 6, 7, 8, 9, 10, 11)),
        "error",
    ]
    assert lines[-1] == "nardy: error: 9 lines could not be answered"
    assert "'long'" in found[4]["error"]
    assert "'block.check'" in found[5]["error"]


def test_a_last_line_without_an_end_is_answered() -> None:
    """Input that stops in the middle of nothing is complete."""
    text = json.dumps({"id": 1, "me": START, "opp": START, "dice": [2, 1]})
    done = nardy("moves", "--jsonl", stdin=text)
    assert json.loads(done.stdout)["id"] == 1


def test_options_of_the_command_hold_for_lines_of_that_game() -> None:
    """`--option` changes the rules of every line that names no others (L-23, D-05)."""
    case = json.loads((CASES / "rule_options.jsonl").read_text("utf-8").splitlines()[0])
    by_option = case.pop("expected_by_option")
    for entry in by_option:
        ((name, value),) = entry["option"].items()
        found, _ = answers(case, argv=("--option", f"{name}={value}"))
        assert as_set(found[0]["results"]) == as_set(entry["expected"])


def test_one_position_lists_plays_with_the_positions_they_lead_to() -> None:
    """The first play 3-3 of long nardy has two ends (L-6..L-9); Black is to roll after it."""
    done = nardy("moves", "start", "--dice", "33")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[-1] == "2 legal plays"
    assert {line.partition("W{")[0].strip() for line in lines[:-1]} == {
        "24/18(2)",
        "24/21 24/15",
    }
    assert all(line.endswith("; B") for line in lines[:-1])


def test_json_of_one_position() -> None:
    """`--json` says the same for programs: the 16 ends of short nardy's 3-1 (X-T1)."""
    done = nardy("moves", "start", "--variant", "short", "--dice", "3-1", "--json")
    answer = json.loads(done.stdout)
    assert answer["dice"] == [3, 1]
    assert len(answer["plays"]) == len({play["position"] for play in answer["plays"]}) == 16
    assert "8/5 6/5" in [play["play"] for play in answer["plays"]]


@pytest.mark.parametrize(
    "text", ["4HPwATDgc/ABMA", "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"]
)
def test_ids_of_other_programs_are_understood(text: str) -> None:
    """A gnubg id and an XGID of the start give the 16 plays of 3-1 (X-T1)."""
    done = nardy("moves", text, "--variant", "short", "--dice", "31")
    assert done.stdout.splitlines()[-1] == "16 legal plays"
