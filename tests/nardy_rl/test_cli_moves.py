"""`nardy moves`: one position, and the stream of JSON lines, by the real command."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from command_line import complaints, nardy
from nardy_engine import Variant, load_variant, notation, reference, variant_names
from nardy_engine.rules.memory import owed_dice
from nardy_engine.types import Position
from nardy_rl.bench.engine import random_positions

CASES = Path(__file__).parents[1] / "data" / "cases"
START = {"points": {"24": 15}, "bar": 0, "off": 0}
OTHER_ROLLS = {"over": False, "next": "opp", "pending": [], "roll": "normal"}


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
    for name in ("public_bugs.jsonl", "rule_options.jsonl"):
        for text in (CASES / name).read_text("utf-8").splitlines():
            case = json.loads(text)
            if case["variant"] not in variant_names() or "dice" not in case:
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
    assert found == [{"id": 0, "results": [{"me": me, "opp": opp, **OTHER_ROLLS}]}]


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
        '{"id":NaN}',
        good,
    )
    assert [entry["id"] for entry in found] == [
        "good", None, 4, 5, 6, 7, 8, 9, None, None, None, "good",
    ]  # fmt: skip
    assert found[0] == found[-1]
    assert all("error" in entry for entry in found[1:-1])
    assert done.returncode == 1
    lines = complaints(done.stderr)
    assert [complaint.split(":")[1].strip() for complaint in lines] == [
        *(f"line {number}" for number in (2, 4, 5, 6, 7, 8, 9, 10, 11, 12)),
        "error",
    ]
    assert lines[-1] == "nardy: error: 10 lines could not be answered"
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


# -- games with several decisions in a roll -------------------------------------------------------


def ends(text: str) -> dict[str, Any]:
    """Return a SIDE of `24:13 18:2`."""
    points = dict(part.split(":") for part in text.split())
    rest = 15 - sum(map(int, points.values()))
    return {"points": {p: int(n) for p, n in points.items()}, "bar": 0, "off": rest}


def results_of(case: dict[str, Any], *argv: str) -> list[dict[str, Any]]:
    found, done = answers(case, argv=argv)
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = found[0]["results"]
    return results


@pytest.mark.parametrize(
    ("variant", "me", "opp", "dice", "expected"),
    [
        # X-G1, X-G3, X-G7
        ("gulbar", "24:15", "24:15", [6, 6], [("24:13 18:2", "24:14 18:1", "opp", "normal")]),
        ("gulbar", "24:15", "24:15", [4, 4], [("24:13 16:2", "24:15", "me", "extra")]),
        ("gulbar", "24:15", "24:15", [5, 5], [("24:14 4:1", "24:15", "me", "extra")]),
        # X-G6
        (
            "gulbar",
            "24:14 13:1",
            "24:14 15:1",
            [6, 6],
            [
                ("24:13 18:1 1:1", "24:13 18:1 15:1", "opp", "normal"),
                ("24:13 18:1 1:1", "24:14 9:1", "opp", "normal"),
            ],
        ),
        # X-Q3
        (
            "mad_gulbar",
            "24:15",
            "24:15",
            [4, 4],
            [
                ("24:13 6:2", "24:15", "opp", "normal"),
                ("24:13 5:1 1:1", "24:14 18:1", "opp", "normal"),
            ],
        ),
        # X-N2
        (
            "mad_nardy",
            "24:15",
            "24:15",
            [3, 3],
            [
                ("24:13 5:2", "24:13 18:1 2:1", "opp", "normal"),
                ("24:13 6:1 4:1", "24:14 2:1", "opp", "normal"),
                ("24:13 3:1 2:1", "24:13 18:1 1:1", "opp", "normal"),
                ("24:13 5:1 3:1", "24:13 18:1 4:1", "opp", "normal"),
            ],
        ),
        # X-N4: the whole roll is void
        (
            "mad_nardy",
            "24:14 13:1",
            "24:13 20:1 7:1",
            [5, 5],
            [("24:14 13:1", "24:13 20:1 7:1", "opp", "normal")],
        ),
        # X-F9
        ("giul", "24:15", "24:15", [6, 6], [("24:14 18:1", "24:14 18:1", "opp", "normal")]),
        # X-H1: a game whose roll is one decision
        ("long", "24:15", "24:15", [6, 6], [("24:13 18:2", "24:15", "opp", "normal")]),
    ],
)
def test_whole_rolls_end_as_worked_out(
    variant: str, me: str, opp: str, dice: list[int], expected: list[tuple[str, str, str, str]]
) -> None:
    """The results of rules.md 12.7 and 12.8, exactly in the fields of the format."""
    case = {"variant": variant, "me": ends(me), "opp": ends(opp), "dice": dice}
    found = results_of(case, "--whole-roll")
    wanted = [
        {"me": ends(mine), "opp": ends(theirs), "over": False, "next": acts, "roll": roll}
        for mine, theirs, acts, roll in expected
    ]
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, wanted))


def test_whole_rolls_can_end_the_game() -> None:
    """X-N8: with 2-2 the last checker leaves on the last level: White wins 2, nothing follows."""
    case = {
        "variant": "mad_nardy",
        "me": ends("6:1 5:2 2:4"),
        "opp": ends("24:15"),
        "dice": [2, 2],
    }
    finished = [result for result in results_of(case, "--whole-roll") if result["over"]]
    assert len(finished) == 1
    (result,) = finished
    assert result["me"] == {"points": {}, "bar": 0, "off": 15}
    assert list(result) == ["me", "opp", "over", "winner", "points"]
    assert (result["winner"], result["points"]) == ("me", 2)


@pytest.mark.parametrize(
    ("me", "opp", "dice", "over"),
    [
        ("1:2", "", [2, 1], {"over": True, "winner": "draw", "points": 0}),  # X-Y5
        ("1:3", "", [5, 4], {"over": True, "winner": "opp", "points": 1}),  # X-Y6
        ("6:15", "", [6, 6], {"over": True, "winner": "opp", "points": 1}),  # X-Y7, DR-2
        ("1:1", "24:15", [2, 1], {"over": False, "next": "opp", "roll": "normal"}),  # DR-1
    ],
)
def test_the_last_turn(me: str, opp: str, dice: list[int], over: dict[str, Any]) -> None:
    """DR-1 as an option of a line: the first player has finished, Black has one turn more."""
    case = {
        "variant": "long",
        "options": {"last_roll_draw": "on"},
        "me": ends(me),
        "opp": ends(opp),
        "dice": dice,
    }
    (result,) = results_of(case, "--whole-roll")
    assert {k: v for k, v in result.items() if k not in ("me", "opp")} == over


def test_even_odd_depends_on_the_colour() -> None:
    """X-C1..X-C4: with 6-3 White's turn is skipped, Black plays three sixes (CHN-1)."""
    case = {"variant": "even_odd", "me": START, "opp": START, "dice": [6, 3]}
    for colour, mine in (("W", "24:15"), ("B", "24:13 18:2"), (None, "24:15")):
        (result,) = results_of(case | ({"colour": colour} if colour else {}))
        assert result["me"] == ends(mine)


def test_a_roll_can_be_followed_decision_by_decision() -> None:
    """Feeding results back until nobody owes dice gives the whole roll (X-N3)."""
    case = {"variant": "mad_nardy", "me": ends("24:14 7:1"), "opp": ends("24:14 7:1")}
    whole = results_of(case | {"dice": [5, 5]}, "--whole-roll")
    (first,) = results_of(case | {"dice": [5, 5]})
    assert (first["next"], first["pending"]) == ("opp", [5, 5, 5])
    assert (first["me"]["owed"], first["opp"]["owed"]) == ({"6": 4}, {"5": 3})
    found, waiting = [], [(first, True)]
    while waiting:
        result, me_rolled = waiting.pop()
        mine = result["next"] == "me"
        sides = ("me", "opp") if mine else ("opp", "me")
        rolled = me_rolled if mine else not me_rolled
        if not result["pending"]:
            roller, other = ("me", "opp") if me_rolled else ("opp", "me")
            found.append((result[roller], result[other]))
            continue
        again = {"variant": "mad_nardy", "me": result[sides[0]], "opp": result[sides[1]]}
        waiting += [(after, rolled) for after in results_of(again)]
    expected = [
        (ends("24:13 18:1 2:1"), ends("24:12 18:1 7:1 2:1")),
        (ends("24:13 18:1 2:1"), ends("24:13 2:1 1:1")),
    ]
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, expected))
    assert sorted(json.dumps((r["me"], r["opp"])) for r in whole) == sorted(
        map(json.dumps, expected)
    )


def test_a_roll_with_too_many_results_spoils_its_own_line_only() -> None:
    """Millions of ways through the segments of a roll are refused; the lines around it are not."""
    crowded = {"points": {"24": 8, "18": 1, "15": 1, "14": 1, "12": 1, "10": 1, "9": 1, "7": 1}}
    lines = [
        {"id": i, "variant": "giul", "me": me, "opp": {"points": {"24": 15}}, "dice": [1, 1]}
        for i, me in enumerate(({"points": {"24": 15}}, crowded, {"points": {"24": 15}}))
    ]
    lines[1]["opp"] = {"points": {"23": 15}}
    found, done = answers(*lines, argv=("--whole-roll",))
    assert done.returncode == 1
    assert [len(found[i]["results"]) for i in (0, 2)] == [57150, 57150]
    assert "more than 300,000 ways" in found[1]["error"]


@pytest.mark.parametrize("name", ["gulbar", "mad_gulbar", "mad_nardy", "gul_bara_intl", "emir"])
def test_whole_rolls_equal_the_reference(name: str) -> None:
    """Both engines give the same set of results in positions of random games (T-9)."""
    variant, rng = load_variant(name), random.Random(name)
    position, cases, wanted = variant.start_position(), [], []
    for _ in range(12):
        low, high = sorted((rng.randint(1, 6), rng.randint(1, 6)))
        # A low double climbs to six: it has thousands of results, slow in the reference.
        dice = (low + 1, high) if low == high < 5 else (low, high)
        owes = any(steps for _, steps in owed_dice(variant, position.mover))
        if not owes and not variant.recall(position.mover, "preroll"):
            sides = [notation.side_to_json(variant, row) for row in position]
            cases.append({"variant": name, "me": sides[0], "opp": sides[1], "dice": dice})
            results = reference.whole_roll(variant, position, dice)
            wanted.append(
                {
                    (json.dumps(end.position[0][: variant.n_counts]), end.next, end.roll)
                    for end in results
                    if reference.outcome(variant, end.position) is None
                }
            )
        plays = reference.plays(variant, position, dice)
        if not plays:
            break
        position, _ = reference.next_position(variant, rng.choice(plays).end)
    found, done = answers(*cases, argv=("--whole-roll",))
    assert done.returncode == 0, done.stderr
    assert len(cases) > 3
    for answer, ends_of in zip(found, wanted, strict=True):
        texts = {
            (
                json.dumps(row(variant, result["me"])[: variant.n_counts]),
                result["next"],
                result["roll"],
            )
            for result in answer["results"]
            if not result["over"]
        }
        assert texts == ends_of


OPTION_WORDS = (
    ("variant.block.check=every_step",),
    ("variant.cascade=to_six", "variant.cascade.from_roll=4"),
    ("variant.teleport=kaftar",),
    ("variant.cube=on", "variant.cube.max=32"),
    ("variant.last_roll_draw=on",),
)


@pytest.mark.parametrize("words", OPTION_WORDS, ids=" ".join)
def test_rule_options_by_their_names(words: tuple[str, ...]) -> None:
    """`variant.NAME=VALUE` is `--option NAME=VALUE`, and both are `options` of a line (4.1)."""
    pairs = [word.removeprefix("variant.") for word in words]
    long_way = [argument for pair in pairs for argument in ("--option", pair)]
    one = nardy("moves", "start", "--dice", "61", *words)
    other = nardy("moves", "start", "--dice", "61", *long_way)
    assert one.returncode == 0, one.stderr
    assert one.stdout == other.stdout
    line = {"me": START, "opp": START, "dice": [6, 1]}
    line["options"] = dict(pair.split("=") for pair in pairs)
    assert len(results_of(line)) == len(one.stdout.splitlines()) - 1


def test_decisions_without_a_roll_on_the_command_line() -> None:
    """Dice owed and pre-roll moves need no --dice and take none (X-G1, X-E5)."""
    owing = "24:13 18:2 | 24:15 owes6x2; B"
    done = nardy("moves", owing, "--variant", "gulbar")
    assert done.stdout.splitlines() == [
        "24/18  W{24:13 18:2} off0 | B{24:14 18:1} off0 ; B",
        "1 legal play",
    ]
    refused = nardy("moves", owing, "--variant", "gulbar", "--dice", "66")
    assert "6-6 is owed in this position" in refused.stderr
    done = nardy("moves", "24:1 18:e 13:10 | 24:12; W pre", "--variant", "emir")
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == [
        "pass",
        "res/18",
        "res/24",
    ]
    refused = nardy("moves", "start", "--variant", "gulbar")
    assert "Add --dice" in refused.stderr


def test_whole_rolls_of_one_position() -> None:
    """`--whole-roll` with a position as text, and as JSON (X-Q3, X-G3)."""
    done = nardy("moves", "start", "--dice", "44", "--variant", "mad_gulbar", "--whole-roll")
    assert done.stdout.splitlines() == [
        "W{24:13 5:1 1:1} off0 | B{24:14 18:1} off0 ; B",
        "W{24:13 6:2} off0 | B{24:15} off0 ; B",
        "2 results of the roll",
    ]
    done = nardy(
        "moves", "start; B 4-4", "--variant", "gulbar", "--whole-roll", "--json"
    )  # fmt: skip
    assert json.loads(done.stdout)["results"] == [
        {"position": "W{24:15} off0 | B{24:13 16:2} off0 ; B", "roll": "extra"}
    ]


def test_a_bare_xgid_is_no_option() -> None:
    """An XGID without its prefix begins with '-' if the top player has nobody on the bar."""
    xgid = "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    done = nardy("moves", xgid, "--variant", "short")
    assert done.stdout.splitlines()[-1] == "16 legal plays"
