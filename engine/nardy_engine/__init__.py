"""nardy_engine: the rules of the nardy family, written once and driven by data.

Usable alone: numpy and numba, never torch. Importing it compiles nothing; kernels are loaded at
their first use.
"""

from nardy_engine.rules import Variant, load_variant, variant_names
from nardy_engine.types import Outcome, Play, Position, Step

__all__ = ["Outcome", "Play", "Position", "Step", "Variant", "load_variant", "variant_names"]
