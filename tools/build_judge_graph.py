"""Builds ``reconciler/adapters/judge.onnx``, the packaged judge, for ``tools/train_judge.py``.

Embeddings and the layers that were not trained lie in the packaged model's own weights, as for
``minilm.onnx``. The trained layers and the head are in the graph, at half precision.

    python -m tools.build_judge_graph      builds ``judge_quick.onnx`` again, out of ``judge.onnx``

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
QUICK = ADAPTERS / "judge_quick.onnx"
WHOLE_MAX = 64
"""Of a rounded weight. Processors without VNNI add up two products in 16 bits; more overflows."""
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


class QuickGraph(Graph):
    """The same judge in whole numbers of eight bits: its weights lie in other files.

    The session rounds them once, when it is made: all that leads from a weight to its whole numbers
    is a constant. Inputs are rounded as they come.
    """

    def __init__(self, weights: Path, judge: bytes) -> None:
        super().__init__(weights)
        halves = ModelProto.FromString(judge).graph.initializer
        self._trained = {each.name: each for each in halves if each.name.startswith("half.")}
        self._rounded: dict[str, tuple[str, str, str]] = {}

    def weight(self, name: str) -> str:
        half = self._trained.get(f"half.{name}")
        if half is None:
            return super().weight(name)
        # Flat: the adapter gives it as it lies in the judge's file, where no shape is looked up.
        tensor = TensorProto(name=half.name, data_type=half.data_type)
        tensor.dims.append(len(half.raw_data) // np.dtype(np.float16).itemsize)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=TARGET.name)
        self.initializers.append(tensor)
        whole = self.op("Reshape", half.name, self.constant(np.array(half.dims)))
        return self.op("Cast", whole, to=TensorProto.FLOAT)

    def linear(self, values: str, name: str) -> str:
        if name == "head":
            return super().linear(values, name)
        weight, inputs = self.weight(f"{name}.weight"), self.constant(np.array([1]))
        largest = self.op("ReduceMax", weight, inputs, keepdims=0)
        smallest = self.op("Neg", self.op("ReduceMin", weight, inputs, keepdims=0))
        step = self.op(
            "Div", self.op("Max", largest, smallest), self.constant(np.float32(WHOLE_MAX))
        )
        no_shift = self.op("Cast", self.op("Sub", step, step), to=TensorProto.INT8)
        whole = self.op("QuantizeLinear", weight, step, no_shift, axis=0)
        whole = self.op("Transpose", whole, perm=[1, 0])
        rows, rows_step, zero = self._in_whole_numbers(values)
        summed = self.op("MatMulInteger", rows, whole, zero)
        summed = self.op("Cast", summed, to=TensorProto.FLOAT)
        scaled = self.op("Mul", summed, self.op("Mul", rows_step, step))
        return self.op("Add", scaled, self.weight(f"{name}.bias"))

    def _in_whole_numbers(self, values: str) -> tuple[str, str, str]:
        if values not in self._rounded:
            names = tuple(f"{values}_{part}" for part in ("whole", "step", "zero"))
            self.nodes.append(helper.make_node("DynamicQuantizeLinear", [values], names))
            self._rounded[values] = names
        return self._rounded[values]


def build(weights: Path, trained: dict[str, Any], about: dict[str, str]) -> ModelProto:
    """The judge.

    Args:
        weights: the packaged model's, only read for where each tensor lies.
        trained: the tensors that were trained, by their names in that model; and the head's.
        about: the version, the letters of the relations, and the bounds; kept in the file.
    """
    return _built(JudgeGraph(weights, trained), about)


def build_quick(weights: Path, judge: bytes) -> ModelProto:
    """The judge's quick reading, for the judge with this content."""
    about = {each.key: each.value for each in ModelProto.FromString(judge).metadata_props}
    return _built(QuickGraph(weights, judge), about)


def _built(graph: Graph, about: dict[str, str]) -> ModelProto:
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


def _head(graph: Graph, values: str) -> None:
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
    (target or TARGET).write_bytes(made)
    if target is None:
        _keep_digest("SHA256", made)
        write_quick()
    print(f"{target or TARGET}: {len(made):,} bytes, sha256 {sha256(made).hexdigest()}, {about}")


def write_quick() -> None:
    """Write the quick reading of the packaged judge, with its hash in the adapter."""
    made = build_quick(weights_folder() / WEIGHTS, TARGET.read_bytes())
    content = made.SerializeToString(deterministic=True)
    QUICK.write_bytes(content)
    _keep_digest("QUICK_SHA256", content)


def _keep_digest(name: str, content: bytes) -> None:
    digest, known = sha256(content).hexdigest(), ADAPTER.read_text("utf-8")
    ADAPTER.write_text(re.sub(rf'(?m)^{name} = ".*"', f'{name} = "{digest}"', known), "utf-8")


if __name__ == "__main__":
    write_quick()
