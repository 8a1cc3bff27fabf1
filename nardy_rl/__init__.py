"""nardy_rl: learning, playing, measuring and exporting for the nardy family.

Imports nardy_engine, never the other way round. Importing this package loads no torch: the
commands that need none start at once.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
