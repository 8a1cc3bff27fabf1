"""The argument parser of the subcommands: argparse whose errors name the nearest valid choice."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from nardy_engine import Variant
from nardy_engine.errors import DiceError, NardyError
from nardy_engine.types import Dice

_RULE_PREFIX = "variant."
"""Before the name of a rule option where it is written like a setting."""

_BARE_XGID = re.compile(r"[-A-Pa-p]{26}:.*")


class UsageError(NardyError):
    """The command line is not one that the command understands."""


class CommandParser(argparse.ArgumentParser):
    """Parser of `nardy NAME`; `key=value` is understood as `--key value`.

    The commands that train and measure are configured with `key=value`; whoever types
    `nardy play variant=short` out of that habit gets what they mean. A rule option may be written
    as there too, `variant.block.check=every_step`.
    """

    def __init__(self, name: str, description: str, examples: Sequence[str]) -> None:
        """Create the parser of `nardy name`.

        Args:
            name: Name of the subcommand.
            description: What it is for; first thing that `--help` says.
            examples: Complete command lines, shown under the options.
        """
        super().__init__(
            prog=f"nardy {name}",
            description=description,
            epilog="examples:\n" + "\n".join(f"  {example}" for example in examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse `argv`.

        Raises:
            UsageError: An option is unknown or its value is wrong.
        """
        arguments, unknown = self.parse_known_args([*self._translated(argv)])
        if unknown:
            self.error(f"unknown argument '{unknown[0]}'{self._hint(unknown[0])}")
        return arguments

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` instead of leaving the process."""
        raise UsageError(f"{message}; see '{self.prog} --help'")

    def _translated(self, argv: Sequence[str]) -> list[str]:
        words: list[str] = []
        for before, word in zip(("", *argv), argv, strict=False):
            if before == "--option":
                words.append(word)
                continue
            key, equals, value = word.partition("=")
            option = f"--{key.replace('_', '-')}"
            rule = key.removeprefix(_RULE_PREFIX)
            if _BARE_XGID.fullmatch(
                word
            ):  # it begins with '-' wherever the top player's bar is empty
                words.append(f"XGID={word}")
            elif equals and option in self._option_string_actions:
                words += [f"{option}={value}"]
            elif equals and rule != key and "--option" in self._option_string_actions:
                words += [f"--option={rule}={value}"]
            else:
                words.append(word)
        return words

    def _hint(self, word: str) -> str:
        option = "--" + word.partition("=")[0].lstrip("-")
        near = difflib.get_close_matches(option, self._option_string_actions, n=1, cutoff=0.5)
        return f"; did you mean '{near[0]}'?" if near else ""


def positive(text: str) -> int:
    """Parse a whole number of at least 1; the `type=` of counting options."""
    return _at_least(text, 1)


def natural(text: str) -> int:
    """Parse a whole number of at least 0; the `type=` of seeds."""
    return _at_least(text, 0)


def _at_least(text: str, low: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {low}")
    return number


def options_from(pairs: Sequence[str]) -> dict[str, Any]:
    """Turn `["block.check=every_step"]`, the values of `--option`, into a dict.

    Raises:
        UsageError: A pair has no `=`.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"'{pair}' is no rule option; write NAME=VALUE, such as block.check=every_step"
            )
        options[name.strip().removeprefix(_RULE_PREFIX)] = value.strip()
    return options


def add_game_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--variant` and `--option`, with which a command chooses the game."""
    parser.add_argument(
        "--variant",
        default="long",
        metavar="GAME",
        help="the game, one of 'nardy variants' (default: %(default)s)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a rule of the game, such as block.check=every_step; may be repeated; "
        "variant.block.check=every_step means the same",
    )


MAX_PLY = 4
"""Deepest search that a command makes; `nardy_rl.search` has the same bound."""


def add_roll_arguments(parser: argparse.ArgumentParser, top: int, which: str) -> None:
    """Add the position, the game, `--dice` and `--top`: how many of `which` plays are looked at."""
    parser.add_argument("position", metavar="POSITION", help="the position")
    add_game_arguments(parser)
    parser.add_argument("--dice", metavar="ROLL", help="the roll to play, such as 64 or 6-4")
    parser.add_argument(
        "--top",
        type=positive,
        default=top,
        metavar="N",
        help=f"how many of {which} (default: %(default)s)",
    )


def add_ply_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--ply`."""
    parser.add_argument(
        "--ply",
        type=_depth,
        default=0,
        metavar="N",
        help=f"how many rolls to look ahead after a play, 0 to {MAX_PLY} (default: %(default)s)",
    )


def _depth(text: str) -> int:
    if text not in [str(n) for n in range(MAX_PLY + 1)]:
        raise argparse.ArgumentTypeError(f"'{text}' is no depth of search; it is 0 to {MAX_PLY}")
    return int(text)


POSITION_HELP = """\
POSITION is a line of text, 'start', or an id: the compact id of any game ('long:1111...'), for
short nardy also a gnubg id or an XGID. Each side lists point:checkers in its own numbers (24 is
the head, 6 to 1 the home); after ';' stands who is to play, and the roll if it is thrown:
  W{24:13 18:2} off0 | B{24:15} off0 ; W 6-4
Some games remember more: 'owes6x2' after a side says that it must play two sixes before anybody
rolls; in Emir 18:e is the emir, 13:2/1 two checkers on a captive, 'res3' the nukers off the board,
and '; W pre' stands before a pre-roll move."""
"""How positions are written, for the descriptions of the commands that read one."""


def parse_dice(variant: Variant, text: str) -> Dice:
    """Read a roll such as `64`, `6-4`, `6 4` or `6,4`.

    Raises:
        DiceError: It is not two numbers that the dice of this game show.
    """
    digits = [char for char in text if char not in " -,:/"]
    if len(digits) != 2 or not all(char in "0123456789" for char in digits):
        raise DiceError(f"'{text.strip()}' is no roll; write two numbers such as 64 or 6-4")
    return variant.check_dice((int(digits[0]), int(digits[1])))
