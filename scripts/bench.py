"""Measures the speed of engine, network and training: the same as `nardy bench`."""

import sys

from nardy_rl.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
