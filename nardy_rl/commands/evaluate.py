"""`nardy evaluate`: what a position is worth, and with dice which plays are best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

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
    options_from,
)
from nardy_rl.evaluator import Evaluation, Evaluator, RatedPlay
from nardy_rl.outcomes import outcome_names

_DESCRIPTION = f"""\
Say what a position is worth. Before the roll: the equity (expected points per game, without a
doubling cube) and the chance of each outcome, seen from the side to roll; as the network sees the
position, and as the average over all rolls, each played best. With dice: the best plays,
each with its equity, its difference to the best, and the outcomes from the mover's view.

--ply looks further ahead: at n-ply a play is worth the average over all rolls of what the best
reply is worth at n - 1; 0-ply is the network's word on the position after the play. Dice that a
play leaves owed are played out first. Plays that are far behind at 0-ply are not searched; the
column 'ply' says how deep each value comes from, and none stands above one that was searched
deeper. Endings that the bear-off tables know are exact, or nearly so with more than six checkers a
side.

{POSITION_HELP}

--json prints one object: variant, digest, network, position, outcomes (the names in the order of
every list of probabilities), and either before_roll and average_over_rolls, each with equity and
probabilities, or dice, n_plays and plays, each with play, position (after it, the other side to
roll), equity, difference and probabilities. With --ply there is also ply: of every play, and of
searched, which stands beside before_roll. A probability is that of exactly this outcome; each
list adds up to 1."""


def main(argv: Sequence[str]) -> int:
    """Run `nardy evaluate`."""
    parser = CommandParser(
        "evaluate",
        _DESCRIPTION,
        [
            "nardy evaluate start --dice 64",
            'nardy evaluate "24:13 18:2 | 24:15" --dice 33 --top 3',
            "nardy evaluate start --variant short --dice 31 --ply 2",
            'nardy evaluate "W{13:5 8:3 6:5 24:2} | B{24:2 13:5 8:3 6:5}" --variant short --json',
        ],
    )
    add_roll_arguments(parser, 5, "the best plays to show")
    add_ply_argument(parser)
    add_network_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, not text")
    arguments = parser.parse(argv)
    variant = load_variant(arguments.variant, options_from(arguments.option))
    parsed = notation.read_position(arguments.position, variant)
    dice = parsed.dice
    if arguments.dice is not None or says_what_is_played(variant, parsed):
        dice = dice_to_play(variant, parsed, arguments.dice)
    evaluator = Evaluator(network_for(variant, arguments.net))
    answer = _as_json if arguments.json else _as_text
    print(answer(evaluator, parsed, dice, arguments.top, arguments.ply))
    return 0


def _as_json(
    evaluator: Evaluator, parsed: ParsedPosition, dice: Dice | None, top: int, plies: int
) -> str:
    variant, position = evaluator.variant, parsed.position
    answer: dict[str, Any] = {
        "variant": variant.id,
        "digest": variant.digest(),
        "network": evaluator.network.name,
        "position": notation.format_position(variant, position, parsed.side, dice),
        "outcomes": list(outcome_names(variant)),
    }
    if dice is None and not says_what_is_played(variant, parsed):
        answer["before_roll"] = _value_json(evaluator.before_roll(position))
        answer["average_over_rolls"] = _value_json(evaluator.average_over_rolls(position))
        if plies:
            ahead = evaluator.ahead(position, plies)
            answer["searched"] = {"ply": plies, **_value_json(ahead)}
        return json.dumps(answer)
    answer["dice"] = list(dice or segment_dice(variant, position))
    plays = [
        {
            "play": play.text,
            "position": after(variant, parsed, play.play),
            **_value_json(play),
            "difference": play.difference,
            **({"ply": play.depth} if plies else {}),
        }
        for play in evaluator.best(position, dice, top, plies)
    ]
    return json.dumps({**answer, "n_plays": _count(evaluator, parsed, dice), "plays": plays})


def _value_json(value: Evaluation | RatedPlay) -> dict[str, Any]:
    return {"equity": value.equity, "probabilities": value.probabilities.vector().tolist()}


def _as_text(
    evaluator: Evaluator, parsed: ParsedPosition, dice: Dice | None, top: int, plies: int
) -> str:
    variant, position = evaluator.variant, parsed.position
    chances, note = chance_columns(variant)
    if dice is None and not says_what_is_played(variant, parsed):
        header = ["", "equity", *chances]
        values = {
            "by the network": evaluator.before_roll(position),
            "average over all rolls": evaluator.average_over_rolls(position),
        }
        if plies:
            values[f"searched, {plies}-ply"] = evaluator.ahead(position, plies)
        rows = [
            [name, f"{value.equity:+.3f}", *percentages(value.probabilities)]
            for name, value in values.items()
        ]
        table, what = align(header, rows, n_left=1), "to roll"
    else:
        rated = evaluator.best(position, dice, top, plies)
        header = ["", "play", *(["ply"] if plies else []), "equity", "to best", *chances]
        rows = [
            [
                f"{rank}.",
                play.text,
                *([str(play.depth)] if plies else []),
                f"{play.equity:+.3f}",
                f"{play.difference:+.3f}" if rank > 1 else "",
                *percentages(play.probabilities),
            ]
            for rank, play in enumerate(rated, 1)
        ]
        table, what = align(header, rows, n_left=2), turn_text(variant, position, dice)
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
