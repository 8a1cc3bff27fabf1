"""The doubling cube and the match: CU-1..CU-9, MT-1, S-9, S-10, NAR-2, D-21, X-Y9..X-Y13."""

import pytest

from nardy_engine import Outcome, Position, load_variant
from nardy_engine.errors import IllegalPlayError, VariantError
from nardy_engine.notation import Match
from nardy_engine.reference import outcome
from nardy_engine.reference.cube import (
    Cube,
    MatchScore,
    Result,
    beaver,
    first_cube,
    game_result,
    may_double,
    next_first,
    next_game,
    offer,
    refuse,
    take,
)
from positions import row

SHORT, NARDGAMMON = load_variant("short"), load_variant("nardgammon")
MONEY, TO_SEVEN = MatchScore(), MatchScore(length=7)
DONE = row("off15")
OIN, MARS = Outcome(True, 0, 1), Outcome(True, 1, 2)


def won(variant, loser):
    """Return the outcome of a game that row 0 has won against `loser`."""
    return outcome(variant, Position(DONE, row(loser)))


def test_the_cube_starts_in_the_middle():
    """CU-1, CU-2: it shows 1 and either player may turn it before his roll."""
    assert first_cube(SHORT, MONEY) == Cube(1, None)
    for player in (0, 1):
        assert may_double(SHORT, Cube(), MONEY, player)


def test_pass():
    """X-Y9, CU-3: cube 1, double, pass: the doubler wins 1."""
    for player in (0, 1):
        assert refuse(offer(SHORT, Cube(), MONEY, player)) == Result(player, 1)


def test_take_and_mars():
    """X-Y10, CU-4, CU-5, NAR-2: double, take, then mars: 4."""
    cube = take(offer(NARDGAMMON, Cube(), MONEY, 0))
    assert cube == Cube(2, 1)
    mars = won(NARDGAMMON, "24:3 13:12")
    assert game_result(NARDGAMMON, cube, MONEY, mars, player=1) == Result(1, 4)
    lost = Outcome(False, mars.kind, mars.points)
    assert game_result(NARDGAMMON, cube, MONEY, lost, player=1) == Result(0, 4)


def test_redouble_and_pass():
    """X-Y11, CU-2, CU-3: the owner at 2 redoubles, the other passes: 2."""
    cube = Cube(2, 1)
    assert not may_double(SHORT, cube, MONEY, 0)
    with pytest.raises(IllegalPlayError, match="belongs to the other player"):
        offer(SHORT, cube, MONEY, 0)
    again = offer(SHORT, cube, MONEY, 1)
    assert refuse(again) == Result(1, 2)
    assert take(again) == Cube(4, 0)


def test_backgammon_on_two():
    """X-Y12, S-8, S-9, CU-5: short nardy, cube 2, backgammon: 6."""
    backgammon = won(SHORT, "24:1 8:14")
    assert game_result(SHORT, Cube(2, 0), MONEY, backgammon, player=0) == Result(0, 6)


def test_crawford_game():
    """X-Y13, CU-6: no doubling in the first game after a player has come within one point."""
    score = next_game(SHORT, MatchScore(7, (4, 3)), Result(0, 2))
    assert score == MatchScore(7, (6, 3), crawford=True)
    for player in (0, 1):
        assert not may_double(SHORT, Cube(), score, player)
        with pytest.raises(IllegalPlayError, match="Crawford"):
            offer(SHORT, Cube(), score, player)
    after = next_game(SHORT, score, Result(1, 1))
    assert after == MatchScore(7, (6, 4), crawford=False)
    assert may_double(SHORT, Cube(), after, 1)
    assert not next_game(SHORT, MatchScore(7, (6, 4)), Result(1, 2)).crawford  # 6-6: had been


def test_no_crawford_game():
    """CU-6: with `crawford=false`, and in money play, every game has the cube."""
    without = load_variant("short", {"crawford": False})
    assert not next_game(without, MatchScore(7, (4, 3)), Result(0, 2)).crawford
    assert not next_game(SHORT, MatchScore(0, (0, 0)), Result(0, 1)).crawford
    assert next_game(SHORT, MatchScore(1), Result(None, 0)) == MatchScore(1)


@pytest.mark.parametrize(("most", "allowed"), [(64, True), (32, False), (0, True)])
def test_highest_face(most, allowed):
    """CU-1: the cube stops at `cube.max`; 0 has no limit."""
    variant = load_variant("short", {"cube.max": most})
    assert may_double(variant, Cube(32, 0), MONEY, 0) is allowed
    assert may_double(variant, Cube(64, 0), MONEY, 0) is (most == 0)


@pytest.mark.parametrize("most", [1, 3, -2, 12])
def test_faces_that_no_cube_shows(most):
    """CU-1: the highest face is a power of two."""
    with pytest.raises(VariantError, match=r"cube\.max"):
        load_variant("short", {"cube.max": most})


def test_jacoby():
    """CU-7: in money play a mars counts 1 unless the cube was turned."""
    variant = load_variant("short", {"jacoby": True})
    cases = [
        (Cube(), MONEY, 1),
        (Cube(2, 0), MONEY, 4),
        (Cube(2, None), MONEY, 2),  # an automatic double has turned nothing
        (Cube(), TO_SEVEN, 2),
    ]
    for cube, score, points in cases:
        assert game_result(variant, cube, score, MARS, player=0).points == points
        assert game_result(variant, cube, score, OIN, player=0).points == cube.value
    assert game_result(SHORT, Cube(), MONEY, MARS, player=0).points == 2


def test_beaver():
    """CU-8: the doubled player doubles once more at once and keeps the cube."""
    variant = load_variant("short", {"beaver": True})
    double = offer(variant, Cube(), MONEY, 0)
    answer = beaver(variant, double)
    assert take(answer) == Cube(4, 1)
    assert refuse(answer) == Result(1, 2)
    with pytest.raises(IllegalPlayError, match="once more"):
        beaver(variant, answer)
    with pytest.raises(IllegalPlayError, match="no higher"):
        beaver(variant, offer(variant, Cube(32, 0), MONEY, 0))
    with pytest.raises(IllegalPlayError, match="without beavers"):
        beaver(SHORT, double)


def test_automatic_doubles():
    """S-10: each equal opening throw doubles the cube in money play, and it stays in the middle."""
    variant = load_variant("short", {"automatic_doubles": True})
    assert first_cube(variant, MONEY, ties=2) == Cube(4, None)
    assert first_cube(variant, MONEY, ties=9) == Cube(64, None)
    assert first_cube(variant, TO_SEVEN, ties=2) == Cube(1, None)
    assert first_cube(SHORT, MONEY, ties=2) == Cube(1, None)


def test_not_inside_a_roll():
    """CU-9: only before the first own roll of a turn, when all inherited dice are played."""
    variant = load_variant("gulbar", {"cube": "on"})
    start = variant.start_position()
    assert may_double(variant, Cube(), MONEY, 0, start)
    assert not may_double(variant, Cube(), MONEY, 0, start, extra_roll=True)
    slot = {item.name: item.slot for item in variant.memory}
    heir, roller = list(start.mover), list(start.opponent)
    heir[slot["owed_6"]], roller[slot["roller"]] = 2, 1
    owes = variant.check_position(Position(tuple(heir), tuple(roller)))
    for position in (owes, owes.swapped()):
        assert not may_double(variant, Cube(), MONEY, 0, position)
    with pytest.raises(IllegalPlayError, match="CU-9"):
        offer(variant, Cube(), MONEY, 0, owes)


@pytest.mark.parametrize("game", ["long", "giveaway", "fevga", "emir"])
def test_games_without_cube(game):
    """POD-4: where `cube=off` nobody doubles."""
    variant = load_variant(game)
    assert not may_double(variant, Cube(), MONEY, 0)
    with pytest.raises(IllegalPlayError, match="without a cube"):
        offer(variant, Cube(), MONEY, 0)


def test_points_of_a_match():
    """CU-5: a match adds what its games count and ends when one player has the points."""
    score = next_game(SHORT, TO_SEVEN, Result(1, 4))
    assert (score.points, score.winner) == ((0, 4), None)
    score = next_game(SHORT, score, Result(None, 0))
    assert score.points == (0, 4)
    score = next_game(SHORT, score, Result(1, 6))
    assert (score.points, score.winner) == ((0, 10), 1)
    assert MatchScore(0, (50, 3)).winner is None


def test_a_draw_counts_nothing():
    """DR-1: a drawn game gives nobody points."""
    draw = Outcome(False, 0, 0, draw=True)
    assert game_result(SHORT, Cube(4, 0), MONEY, draw, player=0) == Result(None, 0)


@pytest.mark.parametrize(
    ("rule", "first", "winner", "expected"),
    [
        ("alternate", 0, 0, 1),
        ("alternate", 1, 0, 0),
        ("winner", 0, 0, 0),
        ("winner", 0, 1, 1),
        ("winner", 0, None, 1),
        ("roll_off", 0, 1, None),
    ],
)
def test_who_moves_first_next(rule, first, winner, expected):
    """MT-1, D-21: the previous Black, the winner, or the dice."""
    variant = load_variant("long", {"match.next_first": rule})
    assert next_first(variant, first, Result(winner, 1)) == expected


def test_ids_of_positions_say_the_same():
    """The cube and the score that an id holds are those of the rules; White is player 0."""
    match = Match(
        cube_log2=2, cube_owner="B", length=5, score_white=4, score_black=2, crawford=True
    )
    assert match.cube == Cube(4, 1)
    assert match.score == MatchScore(5, (4, 2), crawford=True)
    assert (Match().cube, Match().score) == (Cube(), MatchScore())
