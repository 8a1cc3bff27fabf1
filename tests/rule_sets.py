"""Games that are not in the catalog yet but are `long` with other options (rules.md section 11)."""

from nardy_engine import load_variant

NO_EXCEPTION = {"head.exception": "none", "head.exception_doubles": []}
OPTIONS = {
    "giveaway": {"objective": "first_off_loses"},
    "nardgammon": {"block.check": "every_step"},
    "karzar": {"block.rule": "karzar"},
    "karzar any run": {"block.rule": "karzar", "block.karzar_scope": "any_run"},
    "never": {"block.rule": "never"},
    "khachapuri": {
        "setup.start": {24: 4, 6: 11},
        "head.limit": "none",
        "score": "checkers_left",
        **NO_EXCEPTION,
    },
    "fevga": {"head.limit": "runner", "block.rule": "start_sector", **NO_EXCEPTION},
    "fevga without blocks": {"head.limit": "runner", "block.rule": "none", **NO_EXCEPTION},
    "astrogon": {
        "dice.program": "n_times_m",
        "head.exception": "principle",
        "head.exception_doubles": [],
    },
    "listed": {"head.exception": "listed"},
    "second player": {"head.exception": "second_player_any_blocked"},
    "any double": {"head.exception": "any_double", "head.exception_doubles": []},
    "no exception": NO_EXCEPTION,
    "lifted": {"head.lifted_by": [1, 6], "head.exception_doubles": [3, 4]},
    "lenient": {"bearoff.overshoot": "highest_or_all_higher_blocked"},
    "exact": {"bearoff.overshoot": "exact_only"},
    "frozen exact": {"home.frozen": True, "bearoff.overshoot": "exact_only"},
    "dice 1 and 6": {"bearoff.dice": [1, 6]},
    "koks": {"score": "oin_mars_koks"},
    "home mars": {"score": "oin_mars_koks_homemars"},
}


def rule_set(name):
    """Return a game of the catalog, or `long` with the options called `name`."""
    return load_variant("long", OPTIONS[name]) if name in OPTIONS else load_variant(name)
