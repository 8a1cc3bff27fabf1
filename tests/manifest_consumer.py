"""A consumer of an exported network, written from manifest.json alone.

It imports nothing of the project: what it gets right, another language gets right too.
"""

import numpy as np


def encode(manifest, board):
    """Return `[F] float32` features of `{"roller": counts, "other": counts}`."""
    encoder = manifest["encoder"]
    values = np.zeros(encoder["width"], dtype=np.float32)
    for feature in encoder["features"]:
        count = board[feature["side"]][feature["slot_index"]]
        values[feature["index"]] = encoder["tables"][feature["formula"]][count]
    return values


def possible(manifest, board):
    """Return `[O] float32`, 1 for each outcome that can still happen."""
    bar = manifest["position"]["bar"]
    highest = [
        max((slot for slot, count in enumerate(counts[: bar + 1]) if slot and count), default=0)
        for counts in (board["roller"], board["other"])
    ]
    contact = sum(highest) >= manifest["possible"]["contact_sum"]

    def holds(condition):
        if condition.get("contact"):
            return contact
        count = sum(board[condition["side"]][slot] for slot in condition["slots"])
        return condition.get("min", 0) <= count <= condition.get("max", count)

    return np.array(
        [
            all(any(holds(condition) for condition in group) for group in outcome["requires"])
            for outcome in manifest["outcomes"]
        ],
        dtype=np.float32,
    )


def evaluate(manifest, weights, features, mask):
    """Return `[O]` probabilities and the equity; `weights` are the initializers by name."""
    n_layers = len(manifest["network"]["hidden"]) + 1
    x = features
    for i in range(n_layers):
        x = weights[f"layers.{i}.weight"] @ x + weights[f"layers.{i}.bias"]
        if i < n_layers - 1 and manifest["network"]["activation"] == "relu":
            x = np.maximum(x, 0)
    shifted = np.where(mask > 0, np.exp(x - x[mask > 0].max()), 0)
    probs = shifted / shifted.sum()
    points = [outcome["points"] for outcome in manifest["outcomes"]]
    return probs, float(sum(p * value for p, value in zip(probs, points, strict=True)))


def rate(manifest, weights, mover, other):
    """Return `[O]` outcomes of a play for the mover, from counts and memory after it."""
    again = [
        slot["slot_index"] for slot in manifest["position"]["memory"] if slot["name"] == "again"
    ]
    stays = bool(again) and mover[again[0]] == 1
    if stays:
        mover = [0 if slot == again[0] else count for slot, count in enumerate(mover)]
    board = {"roller": mover, "other": other} if stays else {"roller": other, "other": mover}
    probs, _ = evaluate(manifest, weights, encode(manifest, board), possible(manifest, board))
    if stays:
        return probs
    names = [outcome["name"] for outcome in manifest["outcomes"]]
    turned = {"win": "lose", "lose": "win"}
    other_side = [" ".join(turned.get(word, word) for word in name.split()) for name in names]
    return probs[[names.index(name) for name in other_side]]
