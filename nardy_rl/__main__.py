"""Where the `nardy` command begins, also as `python -m nardy_rl`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run `nardy` with the command line and return its exit code."""
    try:
        from nardy_rl.cli import main as run

        return run()
    except KeyboardInterrupt:  # while modules are imported; later `run` says it
        print("\nnardy: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
