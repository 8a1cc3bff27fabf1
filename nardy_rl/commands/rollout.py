"""`nardy rollout`: what positions and plays are worth, by playing them on many times."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nardy_engine import batch, load_variant, notation
from nardy_engine.notation import ParsedPosition
from nardy_engine.notation.board_layout import turn_text
from nardy_engine.notation.segments import segment_dice
from nardy_engine.notation.situation import SIDE_NAMES
from nardy_engine.types import Dice
from nardy_rl.commands.chances import align, chance_columns, percentages, says_what_is_played
from nardy_rl.commands.moves import after, dice_to_play
from nardy_rl.commands.networks import add_network_argument, network_for
from nardy_rl.commands.parser import (
    POSITION_HELP,
    CommandParser,
    add_ply_argument,
    add_roll_arguments,
    natural,
    options_from,
    positive,
)
from nardy_rl.evaluator import Evaluator, RatedPlay
from nardy_rl.outcomes import Probabilities, outcome_names
from nardy_rl.rollout import Rollout, RolloutSettings, rollout

_DESCRIPTION = f"""\
Roll out a position: play it on many times and report the mean of how it ends, with its standard
error. Without dice the position before the roll is rolled out, seen from the side to roll. With
dice the best plays at first sight are, each on the same dice, seen from the mover. Both sides are
played by the network, --ply rolls ahead; a trial ends with the game, in an ending that the bear-off
tables know, or after --truncate rolls with the network's value.

The luck of every roll is taken off: what the play after it is worth, less the average over all
rolls. That leaves the mean what it is and makes it many times more precise; --raw leaves the luck
in.

{POSITION_HELP}

--json prints one object: variant, digest, network, position, outcomes, trials, truncate, ply, seed,
and rows: each with equity, error (one standard error), raw_equity, raw_error, variance_reduction,
rolls (the mean length of a trial), probabilities, and for plays also play, position (after it),
difference (to the best) and difference_error."""


class _Question(NamedTuple):
    parsed: ParsedPosition
    dice: Dice | None
    plays: list[RatedPlay]
    """The plays that are rolled out; none = the position itself is."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy rollout`."""
    parser = _parser()
    arguments = parser.parse(argv)
    settings = RolloutSettings(
        trials=arguments.trials,
        truncate=arguments.truncate or None,
        plies=arguments.ply,
        luck_adjusted=not arguments.raw,
        target_error=arguments.error,
        seed=arguments.seed,
        workers=arguments.threads,
    )
    variant = load_variant(arguments.variant, options_from(arguments.option))
    parsed = notation.read_position(arguments.position, variant)
    evaluator = Evaluator(network_for(variant, arguments.net))
    dice = parsed.dice
    plays: list[RatedPlay] = []
    if arguments.dice is not None or dice is not None or says_what_is_played(variant, parsed):
        dice = dice_to_play(variant, parsed, arguments.dice)
        plays = evaluator.best(parsed.position, dice, arguments.top)
    else:
        variant.check_position(parsed.position)
    question = _Question(parsed, dice, plays)
    result = _rolled_out(evaluator, question, settings)
    answer = _as_json if arguments.json else _as_text
    print(answer(evaluator, question, settings, result))
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "rollout",
        _DESCRIPTION,
        [
            "nardy rollout start --variant short",
            "nardy rollout start --variant short --dice 41 --top 3",
            'nardy rollout "24:13 18:2 | 24:15" --dice 33 --trials 5184 --truncate 7',
            'nardy rollout "6:2 5:3 off10 | 6:5 off10" --variant short --truncate 0 --json',
        ],
    )
    add_roll_arguments(parser, 4, "the plays that look best are rolled out")
    parser.add_argument(
        "--trials",
        type=positive,
        default=RolloutSettings.trials,
        metavar="N",
        help="how often each is played on; multiples of 36, best of 1296, have the first rolls in "
        "equal parts (default: %(default)s)",
    )
    parser.add_argument(
        "--truncate",
        type=natural,
        default=RolloutSettings.truncate,
        metavar="N",
        help="rolls after which the network's value counts, 0 = play to the end "
        "(default: %(default)s)",
    )
    add_ply_argument(parser)
    parser.add_argument(
        "--error",
        type=_error,
        metavar="X",
        help="stop as soon as every standard error is X or less, such as 0.005",
    )
    parser.add_argument("--raw", action="store_true", help="do not take the luck off")
    parser.add_argument(
        "--seed",
        type=natural,
        default=RolloutSettings.seed,
        metavar="N",
        help="fixes all dice (default: %(default)s)",
    )
    parser.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="threads; the result does not depend on them (default: one for each core)",
    )
    add_network_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    return parser


def _error(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no standard error; write one such as 0.005")
    return value


def _rolled_out(evaluator: Evaluator, question: _Question, settings: RolloutSettings) -> Rollout:
    if not question.plays:
        return rollout(evaluator, question.parsed.position.board()[None], settings)
    ends = np.stack([play.play.end.board() for play in question.plays])
    following, same = batch.next_states(evaluator.variant, ends)
    return rollout(evaluator, following, settings, own=same)


def _order(question: _Question, result: Rollout) -> list[int]:
    """Return the rows of the result, best first; a tie stays in the order of first sight."""
    if not question.plays:
        return [0]
    return sorted(range(len(result.equity)), key=lambda i: -result.equity[i])


def _as_json(
    evaluator: Evaluator, question: _Question, settings: RolloutSettings, result: Rollout
) -> str:
    variant, parsed = evaluator.variant, question.parsed
    reduction = result.reduction()
    order = _order(question, result)
    rows: list[dict[str, Any]] = []
    for i in order:
        row: dict[str, Any] = {}
        if question.plays:
            play = question.plays[i]
            gap, error = result.difference(i, order[0])
            row = {"play": play.text, "position": after(variant, parsed, play.play)}
            row |= {"difference": gap, "difference_error": error}
        rows.append(
            row
            | {
                "equity": float(result.equity[i]),
                "error": float(result.error[i]),
                "raw_equity": float(result.raw_equity[i]),
                "raw_error": float(result.raw_error[i]),
                # JSON knows no infinity: null = nothing was left to luck.
                "variance_reduction": float(reduction[i]) if np.isfinite(reduction[i]) else None,
                "rolls": float(result.rolls[i]),
                "probabilities": result.probs[i].tolist(),
            }
        )
    answer: dict[str, Any] = {
        "variant": variant.id,
        "digest": variant.digest(),
        "network": evaluator.network.name,
        "position": notation.format_position(variant, parsed.position, parsed.side, question.dice),
        "outcomes": list(outcome_names(variant)),
        "trials": result.trials,
        "truncate": settings.truncate,
        "ply": settings.plies,
        "seed": settings.seed,
    }
    if question.plays:
        answer["dice"] = list(question.dice or segment_dice(variant, parsed.position))
    return json.dumps({**answer, "rows": rows})


def _as_text(
    evaluator: Evaluator, question: _Question, settings: RolloutSettings, result: Rollout
) -> str:
    variant, parsed = evaluator.variant, question.parsed
    chances, note = chance_columns(variant)
    order = _order(question, result)
    rows, header = [], ["", "equity", "+/-", *chances]
    if question.plays:
        header = ["", "play", "equity", "+/-", "to best", "+/-", *chances]
    for rank, i in enumerate(order, 1):
        cells = [f"{result.equity[i]:+.4f}", f"{result.error[i]:.4f}"]
        first = ["rolled out"]
        if question.plays:
            first = [f"{rank}.", question.plays[i].text]
            gap, error = result.difference(i, order[0])
            cells += [f"{gap:+.4f}", f"{error:.4f}"] if rank > 1 else ["", ""]
        rows.append([*first, *cells, *percentages(Probabilities.from_vector(result.probs[i]))])
    what = turn_text(variant, parsed.position, question.dice) if question.plays else "to roll"
    heading = [
        notation.format_position(variant, parsed.position, parsed.side),
        f"{SIDE_NAMES[parsed.side]} {what} - {variant.title}, network '{evaluator.network.name}'",
    ]
    table = align(header, rows, n_left=2 if question.plays else 1)
    return "\n".join([*heading, "", *table, "", *_notes(settings, result), note])


def _notes(settings: RolloutSettings, result: Rollout) -> list[str]:
    """Return lines that say what was done."""
    length = "to the end"
    if settings.truncate is not None:
        length = f"cut off after {settings.truncate} roll{'' if settings.truncate == 1 else 's'}"
    each = " of each play" if len(result.equity) > 1 else ""
    lines = [
        f"{result.trials} trials{each} {length}, moved at {settings.plies}-ply, "
        f"seed {settings.seed}; +/- is one standard error"
    ]
    if not result.raw_error.any():
        lines.append("every trial ends in what the game or the tables say: nothing is left to luck")
    elif settings.luck_adjusted:
        least = float(result.reduction().min())
        smaller = f"1/{least:.1f} of what it was, or less" if np.isfinite(least) else "0"
        lines.append(f"luck taken off: the variance is {smaller}")
    return lines
