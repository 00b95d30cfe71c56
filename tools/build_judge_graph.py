"""Builds ``reconciler/adapters/judge.onnx``, the packaged judge, for ``tools/train_judge.py``.

Embeddings and the layers that were not trained lie in the packaged model's own weights, as for
``minilm.onnx``. The trained layers and the head are in the graph, at half precision.

Inputs: ``input_ids``, ``attention_mask`` and ``token_type_ids``, int64, shape (pairs, tokens); the
fact is sentence 0, the note sentence 1. Output: ``relations``, float32, shape (pairs, 9): the
probability of each letter of ``RELATIONS``.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from reconciler.adapters.model_files import weights_folder
from tools.build_minilm_graph import (
    CONTRIB_OPSET,
    IR_VERSION,
    LAYERS,
    OPSET,
    WEIGHTS,
    WIDTH,
    Graph,
    declared,
    embedded,
    layer,
)

ADAPTERS = Path(__file__).resolve().parents[1] / "reconciler" / "adapters"
TARGET, ADAPTER = ADAPTERS / "judge.onnx", ADAPTERS / "packaged_arbiter.py"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class JudgeGraph(Graph):
    """A graph with some weights of its own, instead of the packaged model's."""

    def __init__(self, weights: Path, trained: dict[str, NDArray[np.float32]]) -> None:
        super().__init__(weights)
        self._trained = trained

    def weight(self, name: str) -> str:
        if name not in self._trained:
            return super().weight(name)
        half = numpy_helper.from_array(self._trained[name].astype(np.float16), f"half.{name}")
        self.initializers.append(half)
        return self.op("Cast", half.name, to=TensorProto.FLOAT)


def build(weights: Path, trained: dict[str, Any], about: dict[str, str]) -> ModelProto:
    """The judge.

    Args:
        weights: the packaged model's, only read for where each tensor lies.
        trained: the tensors that were trained, by their names in that model; and the head's.
        about: the version, the letters of the relations, and the bounds; kept in the file.
    """
    graph = JudgeGraph(weights, trained)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.INT32)
    by_text = graph.op("Concat", graph.op("Shape", "input_ids"), graph.constant([WIDTH]), axis=0)
    rows = embedded(graph, "token_type_ids")
    for number in range(LAYERS):
        rows = layer(graph, rows, by_text, mask, f"encoder.layer.{number}")
    _head(graph, graph.op("Reshape", rows, by_text))
    made = helper.make_graph(
        graph.nodes,
        "the packaged judge",
        [declared(name, TensorProto.INT64, "tokens") for name in INPUTS],
        [declared("relations", TensorProto.FLOAT, len(about["relations"]))],
        graph.initializers,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", CONTRIB_OPSET)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION)
    helper.set_model_props(model, about)
    return model


def _head(graph: JudgeGraph, values: str) -> None:
    """The first token, the means of both sentences and how far they are apart, weighed."""
    zero, tokens, last = graph.constant(0), graph.constant([1]), graph.constant([2])
    seen = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    second = graph.op("Mul", seen, graph.op("Cast", "token_type_ids", to=TensorProto.FLOAT))
    means = []
    for mask in (graph.op("Sub", seen, second), second):
        summed = graph.op(
            "ReduceSum",
            graph.op("Mul", values, graph.op("Unsqueeze", mask, last)),
            tokens,
            keepdims=0,
        )
        means.append(graph.op("Div", summed, graph.op("ReduceSum", mask, tokens)))
    first = graph.op("Gather", values, zero, axis=1)
    apart = graph.op("Abs", graph.op("Sub", *means))
    rows = graph.op("Concat", first, *means, apart, axis=-1)
    scores = graph.linear(rows, "head")
    graph.nodes.append(helper.make_node("Softmax", [scores], ["relations"]))


def write(
    trained: dict[str, NDArray[np.float32]], about: dict[str, str], target: Path | None = None
) -> None:
    """Write the judge; the packaged one, with its hash in the adapter, if no file is given."""
    made = build(weights_folder() / WEIGHTS, trained, about).SerializeToString(deterministic=True)
    digest = sha256(made).hexdigest()
    (target or TARGET).write_bytes(made)
    if target is None:
        known = re.sub(r'(?m)^SHA256 = ".*"', f'SHA256 = "{digest}"', ADAPTER.read_text("utf-8"))
        ADAPTER.write_text(known, "utf-8")
    print(f"{target or TARGET}: {len(made):,} bytes, sha256 {digest}, {about}")
