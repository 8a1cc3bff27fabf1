"""`nardy moves`: every legal play of one position, or of a stream of JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from nardy_engine import Play, Variant, load_variant, notation, reference
from nardy_engine.errors import DiceError
from nardy_engine.notation import ParsedPosition
from nardy_engine.types import Dice
from nardy_rl.commands.parser import (
    CommandParser,
    add_game_arguments,
    options_from,
    parse_dice,
)

BAD_LINES = 1
"""Exit code when some lines of the input could not be answered."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy moves`."""
    parser = CommandParser(
        "moves",
        "List every legal play of a position and roll, each result once.\n\n"
        "POSITION is a line of text, 'start', or for short nardy a gnubg id or an XGID. Each\n"
        "side lists point:checkers in its own numbers (24 is the head, 6 to 1 the home):\n"
        "  W{24:13 18:2} off0 | B{24:15} off0 ; W 6-4\n\n"
        "--jsonl reads one object a line, and answers each with one: 'me' is the side to play,\n"
        "'results' are the positions after its plays; 'id', 'variant', and a 'bar' or 'off' of 0\n"
        "may be left out.\n"
        '  {"id":1,"me":{"points":{"24":13,"18":2}},"opp":{"points":{"24":15}},"dice":[6,4]}',
        [
            "nardy moves start --dice 64",
            'nardy moves "24:13 18:2 | 24:15" --dice 33 --json',
            'nardy moves "W{13:5 8:3 6:5 24:2} | B{24:2 13:5 8:3 6:5} ; W 3-1" --variant short',
            "nardy moves --jsonl --variant short < positions.jsonl > plays.jsonl",
        ],
    )
    parser.add_argument("position", nargs="?", metavar="POSITION", help="the position")
    add_game_arguments(parser)
    parser.add_argument("--dice", metavar="ROLL", help="the roll, such as 64 or 6-4")
    parser.add_argument(
        "--jsonl",
        action="store_true",
        help='answer JSON lines {"id","variant","me","opp","dice"} on standard input with '
        '{"id","results":[{"me","opp"}]}; a bad line is answered with {"id","error"} and makes '
        "the exit code 1",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    arguments = parser.parse(argv)
    variant = load_variant(arguments.variant, options_from(arguments.option))
    if arguments.jsonl:
        if arguments.position is not None or arguments.dice is not None:
            parser.error("--jsonl reads positions and dice from standard input")
        return _stream(variant)
    if arguments.position is None:
        parser.error("give a POSITION such as 'start', or --jsonl")
    parsed = notation.read_position(arguments.position, variant)
    dice = parse_dice(variant, arguments.dice) if arguments.dice is not None else parsed.dice
    if dice is None:
        raise DiceError("which roll? Add --dice, such as --dice 64")
    print(_as_json(variant, parsed, dice) if arguments.json else _as_text(variant, parsed, dice))
    return 0


def _as_text(variant: Variant, parsed: ParsedPosition, dice: Dice) -> str:
    plays = reference.plays(variant, parsed.position, dice)
    if not plays:
        return "the game is over: there is nothing to play"
    texts = [notation.format_play(variant, play) for play in plays]
    width = max(map(len, texts))
    lines = [
        f"{text:<{width}}  {_after(variant, parsed, play)}"
        for text, play in zip(texts, plays, strict=True)
    ]
    return "\n".join([*lines, f"{len(plays)} legal play{'' if len(plays) == 1 else 's'}"])


def _as_json(variant: Variant, parsed: ParsedPosition, dice: Dice) -> str:
    plays = reference.plays(variant, parsed.position, dice)
    return json.dumps(
        {
            "variant": variant.id,
            "position": notation.format_position(variant, parsed.position, parsed.side, dice),
            "dice": list(dice),
            "plays": [
                {
                    "play": notation.format_play(variant, play),
                    "position": _after(variant, parsed, play),
                }
                for play in plays
            ],
        }
    )


def _after(variant: Variant, parsed: ParsedPosition, play: Play) -> str:
    """Return the position after the play, the other side to roll."""
    side = notation.other_side(parsed.side)
    return notation.format_position(variant, play.end.swapped(), side)


def _stream(variant: Variant) -> int:
    # Here, so that a single position is answered without loading the compiled engine.
    from nardy_rl.commands import jsonl

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def complain(sentence: str) -> None:
        print(f"nardy: {sentence}", file=sys.stderr, flush=True)

    bad = jsonl.run(sys.stdin.buffer, variant, write, complain)
    if bad:
        complain(f"error: {bad} line{'' if bad == 1 else 's'} could not be answered")
    return BAD_LINES if bad else 0
