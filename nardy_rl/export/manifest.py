"""What a program in any language must know to use the exported network.

Everything is data: tables instead of formulas to interpret, conditions instead of prose, so that
an encoder is a dozen lines in any language. The prose beside them is for people.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from nardy_engine import Variant
from nardy_engine.encoders import Encoder
from nardy_engine.rules.components import Contact, Objective, Score
from nardy_engine.rules.memory import memory_index
from nardy_engine.rules.summary import summary
from nardy_engine.types import MOVER, OFF, OPPONENT
from nardy_rl.checkpoint import Network
from nardy_rl.outcomes import outcome_names, points_vector

FORMAT = 1
"""Version of this manifest; it changes when a consumer must be rewritten."""

SIDES = {"roller": MOVER, "other": OPPONENT}
"""Names of the rows of a board: the side to roll and the other."""

_PERSPECTIVE = (
    "Everything is seen from the side to roll ('roller'), before the roll. To rate a play, let "
    "the other side be the roller of the position after the play: the play is worth minus that "
    "equity, and its outcomes are the network's with wins and losses exchanged. Play the move "
    "that is worth most."
)
_AGAIN = (
    " But where the mover acts again ('again' is 1 in its memory after the play) it stays the "
    "roller, 'again' becomes 0, and nothing changes sign or is exchanged."
)
_OWED = (
    " What the network says of a position in which dice are owed is rough: play these out first, "
    "each side by its best play, and take the value of the position before the next roll."
)
_NUMBERING = (
    "A side is a list of checker counts in its OWN numbering: entry 0 is borne off, then its "
    "points (its home are the lowest, its head is the highest), then the bar. "
    "opposite_point[p] is the other side's number of point p (entries 0 and bar: null)."
)
_MEMORY = (
    " Entries behind the bar are what the side remembers, see 'memory'; they change sides with the "
    "checkers, and in positions before a decision 'again' is 0."
)
_ENCODER = (
    "Feature i is tables[features[i].formula][n], where n is what features[i].side has in entry "
    "features[i].slot_index: a number of checkers, or behind the bar what it remembers. All values "
    "are exact in float32."
)
_POSSIBLE = (
    "An outcome is possible if every group of its 'requires' holds; a group holds if any of its "
    "conditions holds. A condition with slots looks at the checkers of 'side' on these slots "
    "together: at most 'max' or at least 'min'. The condition {'contact': true} holds unless the "
    "highest occupied slots of both sides (bar included; off and memory not) add up to less than "
    "contact_sum. Pass 1 for possible outcomes and 0 for the others."
)
_FINISHED = (
    "A side with all its checkers off has finished the game: do not ask the network, its value "
    "is the result. The finisher {result}; the kind of the result is read off the checkers of "
    "the side that has not finished, by the scoring rule, see 'rules_in_words' of the variant."
)
_FINISHED_EMIR = (
    "A side with no checker on the points and the bar (all are borne off or in reserve) has "
    "finished the game and wins: do not ask the network, its value is the result. The kind is "
    "read off the other side by the scoring rule, see 'rules_in_words' of the variant; who has a "
    "reserve is not all at home. A side whose 'emir_taken' is 1 has lost: by the first kind if it "
    "has borne off anything, else by the second."
)
_LAST_TURN = (
    " While a side has 'last_turn' = 1 the game goes on, though the other one is off: if both are "
    "off after that turn it is a draw."
)
_STANDSTILL = " A position from which nobody can ever move is a draw."

_MEANINGS = {
    "owed": "steps of that die that the side must play before any roll",
    "roller": "1 = this side threw the dice that are being played",
    "head_left": "checkers that may still leave the head in this roll",
    "rolls": "own rolls so far, up to 'most'",
    "first": "1 = this side moved first in the game",
    "last_turn": "1 = the other side has finished, this is the last turn",
    "fresh": "1 = this side has not rolled yet",
    "captive": "1 = an own checker lies captive on that own point",
    "emir": "own point of the emir, the bar included; 0 = borne off",
    "emir_above": "checkers above the emir on the head",
    "reserve": "checkers not yet on the board",
    "emir_taken": "1 = the other emir has taken this side's emir: lost",
    "preroll": "1 = a move before the roll may be made now",
    "again": "in an afterstate: the side that acted acts again",
}
"""What a memory slot holds, by its name without a number behind it."""


def build_manifest(network: Network, version: str, model_sha256: str) -> dict[str, Any]:
    """Return the manifest of an export as JSON values.

    Args:
        network: Borrowed.
        version: Version of this package.
        model_sha256: Digest of `model.onnx`.
    """
    variant, encoder, told = network.variant, network.encoder, network.manifest
    return {
        "format": FORMAT,
        "name": network.name,
        "versions": {"nardy_rl": version, "encoder": encoder.version, "export": FORMAT},
        "perspective": _perspective(variant),
        "model": {"file": "model.onnx", "sha256": model_sha256, **_signature(network)},
        "variant": {
            "id": variant.id,
            "title": variant.title,
            "digest": variant.digest(),
            "rules": variant.options(),
            "rules_in_words": [clause.text for clause in summary(variant)],
        },
        "license": "Apache-2.0",
        "position": position_of(variant),
        "encoder": _encoder(encoder, variant),
        "outcomes": _outcomes(variant),
        "possible": {"explained": _POSSIBLE, "contact_sum": variant.setup.points + 1},
        "finished": _finished(variant),
        "network": {
            **told["net"],
            "activation": "relu",
            "weights": "initializers layers.{i}.weight [out, in] and layers.{i}.bias [out]",
            "quantised": False,
            "weights_sha256": told["weights_sha256"],
        },
        "training": {key: told.get(key) for key in ("games", "budget", "commit", "created")},
        "strength": told.get("strength", {}),
    }


def _perspective(variant: Variant) -> str:
    """Say from whose view values are, and how to rate a play."""
    remembered = memory_index(variant)
    again = _AGAIN if "again" in remembered else ""
    return _PERSPECTIVE + again + (_OWED if "owed_1" in remembered else "")


def _finished(variant: Variant) -> str:
    """Say when a game is over."""
    wins = variant.objective is Objective.FIRST_OFF_WINS
    emir = variant.contact is Contact.EMIR
    text = _FINISHED_EMIR if emir else _FINISHED.format(result="wins" if wins else "loses")
    text += _LAST_TURN if "last_turn" in memory_index(variant) else ""
    return text + (_STANDSTILL if variant.has_draw else "")


def _signature(network: Network) -> dict[str, Any]:
    """Describe inputs and outputs of the model."""
    width, n_outcomes = network.encoder.width, network.variant.n_outcomes

    def entry(name: str, axes: list[int], meaning: str) -> dict[str, Any]:
        return {"name": name, "type": "float32", "shape": ["batch", *axes], "meaning": meaning}

    return {
        "inputs": [
            entry("features", [width], "see 'encoder'"),
            entry("possible", [n_outcomes], "1 = can still happen, 0 = cannot; see 'possible'"),
        ],
        "outputs": [
            entry("probabilities", [n_outcomes], "of exactly each outcome of 'outcomes'; sum 1"),
            entry("equity", [], "expected points per game, without a doubling cube"),
        ],
    }


def position_of(variant: Variant) -> dict[str, Any]:
    """Describe the rows of a position and the start of a game."""
    points = range(1, variant.bar)
    board = variant.start_position().board()
    memory = [
        {
            "name": item.name,
            "slot_index": item.slot,
            "most": item.most,
            "meaning": _MEANINGS[re.sub(r"_\d+$", "", item.name)],
        }
        for item in variant.memory
    ]
    return {
        "explained": _NUMBERING + (_MEMORY if memory else ""),
        "slots": variant.n_slots,
        "off": OFF,
        "points": variant.setup.points,
        "bar": variant.bar,
        "home": variant.setup.home,
        "checkers": variant.setup.checkers,
        "start": board[0].tolist(),
        "start_other": board[1].tolist(),
        "opposite_point": [None, *(variant.opposite_point(p) for p in points), None],
        "memory": memory,
    }


def _encoder(encoder: Encoder, variant: Variant) -> dict[str, Any]:
    """Describe the encoder with a table of values per formula, read off the encoder itself."""
    names = {"off": OFF, "bar": variant.bar, **memory_index(variant)}
    features = [
        {**entry, "slot_index": names.get(entry["slot"], entry["slot"])}
        for entry in encoder.describe()
    ]
    by_count = {
        (side, slot): _features_by_count(encoder, variant, row, slot)
        for side, row in SIDES.items()
        for slot in {feature["slot_index"] for feature in features}
    }
    tables: dict[str, list[float]] = {}
    for feature in features:
        column = by_count[feature["side"], feature["slot_index"]][:, feature["index"]]
        values = [plain(value) for value in column]
        known = tables.get(feature["formula"], [])
        longest = max(known, values, key=len)
        if longest[: len(known)] != known or longest[: len(values)] != values:
            raise AssertionError(f"feature {feature['index']} is not '{feature['formula']}'")
        tables[feature["formula"]] = longest
    return {
        "id": encoder.id,
        "version": encoder.version,
        "width": encoder.width,
        "explained": _ENCODER,
        "tables": tables,
        "features": features,
    }


def _features_by_count(encoder: Encoder, variant: Variant, row: int, slot: int) -> Any:
    """Return `[most + 1, F]` the features of boards with 0, 1, ... in one slot only."""
    mosts = {item.slot: item.most for item in variant.memory}
    n_counts = mosts.get(slot, variant.setup.checkers) + 1
    boards = np.zeros((n_counts, 2, variant.n_slots), dtype=np.int8)
    boards[:, row, slot] = np.arange(n_counts)
    return encoder.encode(boards)


def _outcomes(variant: Variant) -> list[dict[str, Any]]:
    points = points_vector(variant)
    return [
        {
            "index": i,
            "name": name,
            "points": plain(points[i]),
            "requires": _requirements(variant, i),
        }
        for i, name in enumerate(outcome_names(variant))
    ]


def _requirements(variant: Variant, outcome: int) -> list[list[dict[str, Any]]]:
    """Return what must hold for an outcome to be possible (T30, S-8, SC-1..SC-6)."""
    n_kinds = len(variant.win_kinds)
    kind, roller_loses = outcome % n_kinds, outcome >= n_kinds
    # Kinds are read off the side that has not finished: the loser, in reversed games the winner.
    judged_is_roller = roller_loses == (variant.objective is Objective.FIRST_OFF_WINS)
    side = "roller" if judged_is_roller else "other"
    groups: list[list[dict[str, Any]]] = []
    last_turn = memory_index(variant).get("last_turn")
    if last_turn is not None and outcome < 2 * n_kinds:  # whoever has finished cannot be beaten
        still = "other" if roller_loses else "roller"
        groups.append([{"side": still, "slots": [last_turn], "max": 0}])
    if variant.score is Score.CHECKERS_LEFT:
        most = variant.setup.checkers - 1 - kind
        return [*groups, [{"side": side, "slots": [OFF], "max": most}]]
    if kind == 0:
        return groups
    groups.append([{"side": side, "slots": [OFF], "max": 0}])
    # Koks and backgammon need a checker that is far behind, or can still come there.
    if kind == 2 and variant.contact is not Contact.EMIR:
        first = variant.head_point - variant.setup.home + 1
        behind = {"side": side, "slots": list(range(first, variant.bar + 1)), "min": 1}
        reach: list[dict[str, Any]] = [{"contact": True}]
        groups.append([behind, *(reach if variant.score is Score.BACKGAMMON else [])])
    return groups


def plain(value: Any) -> float | int:
    """Return a float32 as the shortest JSON number that reads back to the same float32."""
    number = float(str(np.float32(value)))
    return int(number) if number.is_integer() else number
