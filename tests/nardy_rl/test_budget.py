"""Budgets: every way a person writes one, and every way to get it wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nardy_engine.errors import NardyError
from nardy_rl.budget import Budget, BudgetError, parse_budget


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10m", 600),
        ("2h", 7200),
        ("90s", 90),
        ("1h30m", 5400),
        ("1h 30m 15s", 5415),
        ("0.5h", 1800),
        ("1.5m", 90),
        ("10min", 600),
        (" 10M ", 600),
        ("0h10m", 600),
    ],
)
def test_times(text, seconds):
    """A time is the sum of its hours, minutes and seconds, and is no number of games."""
    budget = parse_budget(text)
    assert (budget.seconds, budget.games) == (seconds, None)


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ("50000games", 50_000),
        ("50k games", 50_000),
        ("50_000 games", 50_000),
        ("1.5mgames", 1_500_000),
        ("1game", 1),
    ],
)
def test_games(text, games):
    """A number of games may have blanks, underscores and a k or m for thousands or millions."""
    budget = parse_budget(text)
    assert (budget.seconds, budget.games) == (None, games)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("0", "no time to train"),
        ("0s", "no time to train"),
        ("0h0m", "no time to train"),
        ("0games", "no time to train"),
        ("0.2games", "no time to train"),
        ("-5m", "negative"),
        ("-100games", "negative"),
        ("abc", "is not a budget"),
        ("", "is not a budget"),
        ("10x", "is not a budget"),
        ("m10", "is not a budget"),
        ("30m1h", "is not a budget"),
        ("1h1h", "is not a budget"),
        ("600", "has no unit"),
        ("9" * 400 + "h", "longer than anybody can wait"),
        ("9" * 400 + "games", "longer than anybody can wait"),
        ("1000000h", "longer than anybody can wait"),
    ],
)
def test_refused_in_one_sentence(text, part):
    """A text that is no usable budget is refused in one line that shows what one looks like."""
    with pytest.raises(BudgetError) as caught:
        parse_budget(text)
    message = str(caught.value)
    assert part in message
    assert "games" in message
    assert "\n" not in message
    assert isinstance(caught.value, NardyError)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    """No text makes the parser fail in any other way than by its own error."""
    try:
        budget = parse_budget(text)
    except BudgetError:
        return
    assert (budget.seconds is None) != (budget.games is None)


@given(st.integers(1, 99), st.integers(0, 59), st.integers(0, 59))
def test_print_then_parse_time(hours, minutes, seconds):
    """A time budget printed and parsed again is the same budget."""
    budget = Budget(seconds=hours * 3600.0 + minutes * 60.0 + seconds)
    assert parse_budget(str(budget)) == budget


@given(st.integers(1, 10**9))
def test_print_then_parse_games(games):
    """A budget of games printed and parsed again is the same budget."""
    assert parse_budget(str(Budget(games=games))) == Budget(games=games)


def test_fraction():
    """The fraction used follows the clock or the games, whichever the budget counts, up to 1."""
    assert parse_budget("10m").fraction(seconds=150.0, games=10**6) == 0.25
    assert parse_budget("1000games").fraction(seconds=10.0**6, games=250) == 0.25
    assert parse_budget("10m").fraction(seconds=900.0, games=0) == 1.0


@pytest.mark.parametrize("arguments", [{}, {"seconds": 1.0, "games": 1}, {"games": 0}])
def test_a_budget_is_of_one_kind(arguments):
    """A budget has a time or a number of games, never both, neither or nothing of it."""
    with pytest.raises(BudgetError):
        Budget(**arguments)
