"""`nardy evaluate`: what a position is worth, and with dice which plays are best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nardy_engine import Variant, batch, load_variant, notation
from nardy_engine.notation import ParsedPosition
from nardy_engine.notation.board_layout import turn_text
from nardy_engine.notation.segments import segment_dice
from nardy_engine.notation.situation import SIDE_NAMES
from nardy_engine.types import Dice
from nardy_rl.commands.moves import after, dice_to_play
from nardy_rl.commands.networks import add_network_argument, network_for
from nardy_rl.commands.parser import (
    POSITION_HELP,
    CommandParser,
    add_game_arguments,
    options_from,
    positive,
)
from nardy_rl.evaluator import Evaluation, Evaluator, RatedPlay
from nardy_rl.outcomes import Probabilities, outcome_names

MAX_KINDS = 4
"""Kinds of a win that the table shows in columns of their own; games with more show the sums."""

_DESCRIPTION = f"""\
Say what a position is worth. Before the roll: the equity (expected points per game, without a
doubling cube) and the chance of each outcome, seen from the side to roll; as the network sees the
position, and as the exact average over all rolls, each played best. With dice: the best plays,
each with its equity, its difference to the best, and the outcomes from the mover's view.

{POSITION_HELP}

--json prints one object: variant, digest, network, position, outcomes (the names in the order of
every list of probabilities), and either before_roll and average_over_rolls, each with equity and
probabilities, or dice, n_plays and plays, each with play, position (after it, the other side to
roll), equity, difference and probabilities. A probability is that of exactly this outcome; each
list adds up to 1."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy evaluate`."""
    parser = CommandParser(
        "evaluate",
        _DESCRIPTION,
        [
            "nardy evaluate start --dice 64",
            'nardy evaluate "24:13 18:2 | 24:15" --dice 33 --top 3',
            'nardy evaluate "W{13:5 8:3 6:5 24:2} | B{24:2 13:5 8:3 6:5}" --variant short --json',
        ],
    )
    parser.add_argument("position", metavar="POSITION", help="the position")
    add_game_arguments(parser)
    parser.add_argument("--dice", metavar="ROLL", help="the roll to play, such as 64 or 6-4")
    parser.add_argument(
        "--top",
        type=positive,
        default=5,
        metavar="N",
        help="how many of the best plays to show (default: %(default)s)",
    )
    add_network_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    arguments = parser.parse(argv)
    variant = load_variant(arguments.variant, options_from(arguments.option))
    parsed = notation.read_position(arguments.position, variant)
    dice = parsed.dice
    if arguments.dice is not None or _says_what_is_played(variant, parsed):
        dice = dice_to_play(variant, parsed, arguments.dice)
    evaluator = Evaluator(network_for(variant, arguments.net))
    answer = _as_json if arguments.json else _as_text
    print(answer(evaluator, parsed, dice, arguments.top))
    return 0


def _says_what_is_played(variant: Variant, parsed: ParsedPosition) -> bool:
    """Return whether there is a decision without a roll: dice owed, or a pre-roll move."""
    preroll = variant.recall(parsed.position.mover, "preroll") == 1
    return preroll or bool(segment_dice(variant, parsed.position))


def _as_json(evaluator: Evaluator, parsed: ParsedPosition, dice: Dice | None, top: int) -> str:
    variant, position = evaluator.variant, parsed.position
    answer: dict[str, Any] = {
        "variant": variant.id,
        "digest": variant.digest(),
        "network": evaluator.network.name,
        "position": notation.format_position(variant, position, parsed.side, dice),
        "outcomes": list(outcome_names(variant)),
    }
    if dice is None and not _says_what_is_played(variant, parsed):
        answer["before_roll"] = _value_json(evaluator.before_roll(position))
        answer["average_over_rolls"] = _value_json(evaluator.average_over_rolls(position))
        return json.dumps(answer)
    answer["dice"] = list(dice or segment_dice(variant, position))
    plays = [
        {
            "play": play.text,
            "position": after(variant, parsed, play.play),
            **_value_json(play),
            "difference": play.difference,
        }
        for play in evaluator.best(position, dice, top)
    ]
    return json.dumps({**answer, "n_plays": _count(evaluator, parsed, dice), "plays": plays})


def _value_json(value: Evaluation | RatedPlay) -> dict[str, Any]:
    return {"equity": value.equity, "probabilities": value.probabilities.vector().tolist()}


def _as_text(evaluator: Evaluator, parsed: ParsedPosition, dice: Dice | None, top: int) -> str:
    variant, position = evaluator.variant, parsed.position
    chances, note = _chance_columns(evaluator)
    if dice is None and not _says_what_is_played(variant, parsed):
        header = ["", "equity", *chances]
        values = {
            "by the network": evaluator.before_roll(position),
            "average over all rolls": evaluator.average_over_rolls(position),
        }
        rows = [
            [name, f"{value.equity:+.3f}", *_percentages(value.probabilities)]
            for name, value in values.items()
        ]
        table, what = _table(header, rows, n_left=1), "to roll"
    else:
        rated = evaluator.best(position, dice, top)
        header = ["", "play", "equity", "to best", *chances]
        rows = [
            [
                f"{rank}.",
                play.text,
                f"{play.equity:+.3f}",
                f"{play.difference:+.3f}" if rank > 1 else "",
                *_percentages(play.probabilities),
            ]
            for rank, play in enumerate(rated, 1)
        ]
        table, what = _table(header, rows, n_left=2), turn_text(variant, position, dice)
        count = _count(evaluator, parsed, dice)
        note = f"{len(rated)} of {count} legal play{'' if count == 1 else 's'}; {note}"
    side = SIDE_NAMES[parsed.side]
    heading = [
        notation.format_position(variant, position, parsed.side),
        f"{side} {what} - {variant.title}, network '{evaluator.network.name}'",
    ]
    return "\n".join([*heading, "", *table, "", note])


def _count(evaluator: Evaluator, parsed: ParsedPosition, dice: Dice | None) -> int:
    """Return the number of legal plays."""
    board = parsed.position.board()[None]
    # Where the position says what is played, the engine does not look at the dice.
    return len(batch.afterstates(evaluator.variant, board, [dice or (1, 1)]).boards)


def _chance_columns(evaluator: Evaluator) -> tuple[list[str], str]:
    """Return the headings of the chances and a line that explains them."""
    _, *kinds = [name for name, _ in evaluator.variant.win_kinds]
    note = "equity in points per game, chances in %"
    draws = ["draws"] if evaluator.variant.has_draw else []
    if len(kinds) >= MAX_KINDS:
        return ["wins", "loses", *draws], note
    listed = " and ".join(kinds)
    return ["wins", *kinds, "loses", *kinds, *draws], f"{note}; wins and loses include {listed}"


def _percentages(probs: Probabilities) -> list[str]:
    """Return the cells under `_chance_columns`."""
    several = len(probs.win) <= MAX_KINDS
    values = [
        probs.wins(),
        *(probs.win[1:] if several else ()),
        probs.losses(),
        *(probs.lose[1:] if several else ()),
        *(() if probs.draw is None else (probs.draw,)),
    ]
    return [f"{100 * value:.1f}" for value in values]


def _table(header: list[str], rows: list[list[str]], n_left: int) -> list[str]:
    """Align cells in columns: the first `n_left` to the left, numbers to the right."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            f"{cell:<{width}}" if i < n_left else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
