"""`nardy moves`: every legal play of one position, or of a stream of JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from nardy_engine import Play, Position, Variant, load_variant, notation, reference
from nardy_engine.errors import DiceError
from nardy_engine.notation import ParsedPosition
from nardy_engine.notation.segments import dice_text, segment_dice
from nardy_engine.rules.memory import has_segments
from nardy_engine.types import Dice
from nardy_engine.whole_rolls import MOST_WAYS, whole_rolls
from nardy_rl.commands.parser import (
    POSITION_HELP,
    CommandParser,
    add_game_arguments,
    options_from,
    parse_dice,
)

BAD_LINES = 1
"""Exit code when some lines of the input could not be answered."""


_DESCRIPTION = f"""\
List every legal play of a position and roll, each result once, with the position it leads to.

{POSITION_HELP}

Where a roll is played in several decisions, the plays are those of the next one: of dice owed, or
pre-roll moves. --whole-roll goes on to the next roll, whoever plays in between.

--jsonl reads one object a line, and answers each with one: 'me' is the side to play, 'results' are
the positions after its plays, with who acts next and which dice wait. 'id', 'variant', 'options',
and a 'bar' or 'off' of 0 may be left out:
  {{"id":1,"me":{{"points":{{"24":13,"18":2}}}},"opp":{{"points":{{"24":15}}}},"dice":[6,4]}}"""


def main(argv: Sequence[str]) -> int:
    """Run `nardy moves`."""
    parser = CommandParser(
        "moves",
        _DESCRIPTION,
        [
            "nardy moves start --dice 64",
            'nardy moves "24:13 18:2 | 24:15" --dice 33 --json',
            'nardy moves "W{13:5 8:3 6:5 24:2} | B{24:2 13:5 8:3 6:5} ; W 3-1" --variant short',
            "nardy moves start --dice 33 --variant mad_nardy --whole-roll",
            "nardy moves --jsonl --variant short < positions.jsonl > plays.jsonl",
        ],
    )
    parser.add_argument("position", nargs="?", metavar="POSITION", help="the position")
    add_game_arguments(parser)
    parser.add_argument("--dice", metavar="ROLL", help="the roll, such as 64 or 6-4")
    parser.add_argument(
        "--whole-roll",
        action="store_true",
        help="list the positions before the next roll, after all that both sides play of this one",
    )
    parser.add_argument(
        "--jsonl",
        action="store_true",
        help='answer JSON lines {"id","variant","me","opp","dice"} on standard input with '
        '{"id","results":[{"me","opp",...}]}; a bad line is answered with {"id","error"} and '
        "makes the exit code 1",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    arguments = parser.parse(argv)
    variant = load_variant(arguments.variant, options_from(arguments.option))
    if arguments.jsonl:
        if arguments.position is not None or arguments.dice is not None:
            parser.error("--jsonl reads positions and dice from standard input")
        return _stream(variant, arguments.whole_roll)
    if arguments.position is None:
        parser.error("give a POSITION such as 'start', or --jsonl")
    parsed = notation.read_position(arguments.position, variant)
    dice = dice_to_play(variant, parsed, arguments.dice)
    if arguments.whole_roll:
        answer = _rolls_as_json if arguments.json else _rolls_as_text
    else:
        answer = _as_json if arguments.json else _as_text
    print(answer(variant, parsed, dice))
    return 0


def dice_to_play(variant: Variant, parsed: ParsedPosition, text: str | None) -> Dice | None:
    """Return the roll that is asked about, None where the position says what is played.

    Args:
        variant: The game.
        parsed: The position, perhaps with its roll.
        text: Value of `--dice`, which counts more.

    Raises:
        DiceError: A roll is needed or is one too many.
    """
    now = segment_dice(variant, parsed.position)
    preroll = variant.recall(parsed.position.mover, "preroll")
    if now or preroll:
        if text is not None:
            what = f"{dice_text(now)} is owed" if now else "a pre-roll move comes first"
            raise DiceError(f"{what} in this position, so no roll is played: leave --dice out")
        return None
    dice = parse_dice(variant, text) if text is not None else parsed.dice
    if dice is None:
        raise DiceError("which roll? Add --dice, such as --dice 64")
    return dice


def _as_text(variant: Variant, parsed: ParsedPosition, dice: Dice | None) -> str:
    plays = reference.plays(variant, parsed.position, dice)
    if not plays:
        return "the game is over: there is nothing to play"
    texts = [notation.format_play(variant, play, parsed.position) for play in plays]
    width = max(map(len, texts))
    lines = [
        f"{text:<{width}}  {after(variant, parsed, play)}"
        for text, play in zip(texts, plays, strict=True)
    ]
    return "\n".join([*lines, f"{len(plays)} legal play{'' if len(plays) == 1 else 's'}"])


def _as_json(variant: Variant, parsed: ParsedPosition, dice: Dice | None) -> str:
    plays = reference.plays(variant, parsed.position, dice)
    return json.dumps(
        {
            **_asked(variant, parsed, dice),
            "plays": [
                {
                    "play": notation.format_play(variant, play, parsed.position),
                    "position": after(variant, parsed, play),
                }
                for play in plays
            ],
        }
    )


def _asked(variant: Variant, parsed: ParsedPosition, dice: Dice | None) -> dict[str, Any]:
    return {
        "variant": variant.id,
        "position": notation.format_position(variant, parsed.position, parsed.side, dice),
        "dice": list(dice or segment_dice(variant, parsed.position)),
    }


def after(variant: Variant, parsed: ParsedPosition, play: Play) -> str:
    """Return the position after the play, with the side that acts next."""
    position, same = reference.next_position(variant, play.end)
    side = parsed.side if same else notation.other_side(parsed.side)
    return notation.format_position(variant, position, side)


def _rolls_as_text(variant: Variant, parsed: ParsedPosition, dice: Dice | None) -> str:
    results = _whole_roll(variant, parsed, dice)
    if not results:
        return "the game is over: there is nothing to play"
    lines = [f"{text}{' (extra roll)' if roll == 'extra' else ''}" for text, roll in results]
    return "\n".join([*lines, f"{len(lines)} result{'' if len(lines) == 1 else 's'} of the roll"])


def _rolls_as_json(variant: Variant, parsed: ParsedPosition, dice: Dice | None) -> str:
    results = [
        {"position": text, "roll": roll} for text, roll in _whole_roll(variant, parsed, dice)
    ]
    return json.dumps({**_asked(variant, parsed, dice), "results": results})


def _whole_roll(
    variant: Variant, parsed: ParsedPosition, dice: Dice | None
) -> list[tuple[str, str]]:
    """Return each result with the side that rolls next, and whether that is an extra roll."""
    if variant.recall(parsed.position.mover, "preroll"):
        raise DiceError("a whole roll begins with the roll: leave 'pre' out and add the dice")
    roller = parsed.side
    if segment_dice(variant, parsed.position) and not variant.recall(
        parsed.position.mover, "roller"
    ):
        roller = notation.other_side(parsed.side)
    results = whole_rolls(
        variant,
        parsed.position.board()[None],
        np.array([dice or (1, 1)], dtype=np.int8),  # not looked at where dice are owed
        # Some rolls have tens of thousands of results, too many for the reference.
        "kernels" if has_segments(variant) else "reference",
        MOST_WAYS,
    )
    texts = []
    for board, extra in zip(results.boards, results.extra, strict=True):
        position = Position.from_board(board)
        if extra:
            texts.append((notation.format_position(variant, position, roller), "extra"))
        else:
            side = notation.other_side(roller)
            texts.append((notation.format_position(variant, position.swapped(), side), "normal"))
    return sorted(texts)


def _stream(variant: Variant, whole_roll: bool) -> int:
    # Here, so that a single position is answered without loading the compiled engine.
    from nardy_rl.commands import jsonl

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def complain(sentence: str) -> None:
        print(f"nardy: {sentence}", file=sys.stderr, flush=True)

    bad = jsonl.run(sys.stdin.buffer, variant, write, complain, whole_roll)
    if bad:
        complain(f"error: {bad} line{'' if bad == 1 else 's'} could not be answered")
    return BAD_LINES if bad else 0
