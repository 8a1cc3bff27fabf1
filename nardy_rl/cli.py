"""The `nardy` command: finds the subcommand, runs it, turns every failure into one sentence.

Each subcommand is a module of `nardy_rl.commands` with a `main(argv) -> int`, imported only when
it is asked for, so that `nardy moves` starts without torch.

Exit codes: 0 done, 1 done with bad lines in the input, 2 wrong use or an error that the user can
put right, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
import textwrap
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple, TextIO

from nardy_engine.errors import NardyError

USAGE_ERROR = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class Command(NamedTuple):
    """One subcommand as the overview shows it."""

    module: str
    """Module that holds `main(argv) -> int`."""
    purpose: str
    example: str


COMMANDS: dict[str, Command] = {
    "train": Command(
        "nardy_rl.commands.train",
        "teach a network by self-play, from nothing, and measure it against the built-in bots",
        "nardy train variant=long budget=10m",
    ),
    "arena": Command(
        "nardy_rl.commands.arena",
        "let two bots or networks play many games with the same dice, and say who is stronger",
        "nardy arena a=net:long b=race games=2000",
    ),
    "evaluate": Command(
        "nardy_rl.commands.evaluate",
        "say what a position is worth and, with dice, which plays are best",
        'nardy evaluate "24:15 | 24:15" --dice 64',
    ),
    "rollout": Command(
        "nardy_rl.commands.rollout",
        "play a position on many times and report the mean, with its standard error",
        "nardy rollout start --variant short --dice 41",
    ),
    "moves": Command(
        "nardy_rl.commands.moves",
        "list every legal play of one position, or of thousands as JSON lines",
        'nardy moves "24:15 | 24:15" --dice 64',
    ),
    "play": Command(
        "nardy_rl.commands.play",
        "play against a bot in this terminal, with hints",
        "nardy play --variant short",
    ),
    "export": Command(
        "nardy_rl.commands.export",
        "write a network as ONNX with a manifest and test vectors, for other apps",
        "nardy export --variant long",
    ),
    "variants": Command(
        "nardy_rl.commands.variants",
        "show the games of the family and all their rule options",
        "nardy variants long",
    ),
    "bench": Command(
        "nardy_rl.commands.bench",
        "measure the speed of the engine, of the network and of training on this machine",
        "nardy bench --quick",
    ),
}


def help_text() -> str:
    """Return the overview that `nardy --help` prints."""
    width = max(map(len, COMMANDS))
    lines = [
        "usage: nardy COMMAND ...",
        "",
        "Neural players for the nardy family: long nardy, short nardy (backgammon) and relatives.",
        "",
        "commands:",
    ]
    for name, command in COMMANDS.items():
        body = textwrap.wrap(command.purpose, 84 - width)
        body.append(f"e.g.  {command.example}")
        lines.append(f"  {name:<{width}}  {body[0]}")
        lines += [f"  {'':<{width}}  {line}" for line in body[1:]]
    lines += [
        "",
        "options:",
        "  -h, --help  show this text; 'nardy COMMAND --help' says more about one command",
        "  --version   show the version",
        "",
        "A new user's tour: nardy variants; nardy play; nardy train variant=short budget=2m",
    ]
    return "\n".join(lines)


def version() -> str:
    """Return the version of the installed distribution."""
    try:
        return metadata.version("nardy-rl")
    except metadata.PackageNotFoundError:
        return "unknown (run from a folder, not installed)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run `nardy` with `argv` (default: the command line) and return its exit code."""
    if argv is None:
        _make_streams_usable()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except NardyError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        _silence(sys.stdout)
        print("\nnardy: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout)
        return BROKEN_PIPE
    except MemoryError:
        _silence(sys.stdout)
        return _fail("there is not enough memory for this; ask for less at a time")
    except OSError as error:
        # Disk full, no permission, no such folder: the user's business, not a fault to trace.
        _silence(sys.stdout)
        place = f"'{error.filename}': " if error.filename is not None else ""
        return _fail(f"{place}{error.strerror or error}")


def _dispatch(arguments: list[str]) -> int:
    if len(arguments) == 2 and arguments[0] == "help" and arguments[1] in COMMANDS:
        arguments = [arguments[1], "--help"]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0
    name, rest = arguments[0], arguments[1:]
    if name in ("-V", "--version"):
        print(f"nardy {version()}")
        return 0
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        near = difflib.get_close_matches(name.lower(), [*COMMANDS, "--help", "--version"], n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"the commands are {', '.join(COMMANDS)}"
        raise NardyError(f"unknown {what} '{name}'; {hint}")
    try:
        code: int = importlib.import_module(COMMANDS[name].module).main(rest)
    except SystemExit as stop:
        # argparse leaves this way after --help and after a wrong argument.
        code = stop.code if isinstance(stop.code, int) else USAGE_ERROR if stop.code else 0
    return code


def _make_streams_usable() -> None:
    """Open the null device in place of streams that are closed, and let no character be an error.

    Names of games are Russian too, and file names can be any bytes: what a terminal cannot show
    appears as its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - for the whole process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace" if name == "stdin" else "backslashreplace")


def _fail(sentence: str) -> int:
    print(f"nardy: error: {' '.join(sentence.split())}", file=sys.stderr)
    return USAGE_ERROR


def _silence(stream: TextIO) -> None:
    """Point `stream` at the null device, so that Python's own flush at exit cannot fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return  # no descriptor to repair (a test's buffer), or already closed


if __name__ == "__main__":
    sys.exit(main())
