"""The network as an ONNX graph, built node by node from its tensors.

No tracing: the graph is small, so it is written down. Both axes that matter are symbolic on
inputs *and* outputs (T35, T36), everything is float32 (T37), the weights lie in the file itself
(T39) and are not quantised (T40).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

from nardy_rl.checkpoint import Network
from nardy_rl.outcomes import points_vector

OPSET = 17
"""Old enough for every runtime in use, new enough for all operators of the graph."""

IR_VERSION = 8

FEATURES, POSSIBLE = "features", "possible"
PROBABILITIES, EQUITY = "probabilities", "equity"

_IMPOSSIBLE = np.float32(-1e30)
"""Logit of an impossible outcome: its softmax is exactly 0, without infinities in the file."""


def build_model(network: Network, version: str) -> ModelProto:
    """Return the checked ONNX model of a network.

    Inputs `features [batch, F]` and `possible [batch, O]` (1 = can still happen, else 0), outputs
    `probabilities [batch, O]` and `equity [batch]`, all float32, seen from the side to roll.

    Args:
        network: Borrowed.
        version: Version of this package, written into the file.
    """
    width, n_outcomes = network.encoder.width, network.variant.n_outcomes
    nodes, last = _hidden_layers(network)
    constants = {
        "one_half": np.array(0.5, dtype=np.float32),
        "impossible_logit": np.array(_IMPOSSIBLE),
        "points": points_vector(network.variant),
    }
    nodes += [
        helper.make_node("Greater", [POSSIBLE, "one_half"], ["allowed"]),
        helper.make_node("Where", ["allowed", last, "impossible_logit"], ["masked_logits"]),
        helper.make_node("Softmax", ["masked_logits"], [PROBABILITIES], axis=-1),
        helper.make_node("MatMul", [PROBABILITIES, "points"], [EQUITY]),
    ]
    initializers = [
        numpy_helper.from_array(array, name)
        for name, array in {**network.tensors, **constants}.items()
    ]
    graph = helper.make_graph(
        nodes,
        f"nardy {network.variant.id}",
        [_value(FEATURES, width), _value(POSSIBLE, n_outcomes)],
        [_value(PROBABILITIES, n_outcomes), _value(EQUITY)],
        initializers,
        doc_string="Value network of one nardy game, seen from the side to roll.",
    )
    model = helper.make_model(
        graph,
        producer_name="nardy-rl",
        producer_version=version,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(
        model,
        {
            "variant": network.variant.id,
            "variant_digest": network.variant.digest(),
            "encoder": network.encoder.name,
        },
    )
    checker.check_model(model, full_check=True)
    return model


def _hidden_layers(network: Network) -> tuple[list[NodeProto], str]:
    """Return the layers of the perceptron and the name of their result, the logits."""
    nodes: list[NodeProto] = []
    value, n_layers = FEATURES, len(network.layers)
    for i in range(n_layers):
        inputs = [value, f"layers.{i}.weight", f"layers.{i}.bias"]
        value = f"sum.{i}"
        nodes.append(helper.make_node("Gemm", inputs, [value], transB=1))
        if i + 1 < n_layers:
            nodes.append(helper.make_node("Relu", [value], [f"hidden.{i}"]))
            value = f"hidden.{i}"
    return nodes, value


def _value(name: str, *axes: int) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *axes])
