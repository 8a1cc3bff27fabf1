"""Rules as data: components, variants, the catalog of games, and the table that kernels read."""

from nardy_engine.rules.registry import load_variant, parse_variant, variant_names
from nardy_engine.rules.table import RuleTable, rule_table
from nardy_engine.rules.variant import Variant, variant_from_options

__all__ = [
    "RuleTable",
    "Variant",
    "load_variant",
    "parse_variant",
    "rule_table",
    "variant_from_options",
    "variant_names",
]
