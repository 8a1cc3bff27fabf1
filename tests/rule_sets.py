"""Long nardy with other options, for rules that no game of the catalog has."""

from nardy_engine import load_variant

NO_EXCEPTION = {"head.exception": "none", "head.exception_doubles": []}
OPTIONS = {
    "karzar any run": {"block.rule": "karzar", "block.karzar_scope": "any_run"},
    "never": {"block.rule": "never"},
    "fevga without blocks": {"head.limit": "runner", "block.rule": "none", **NO_EXCEPTION},
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
