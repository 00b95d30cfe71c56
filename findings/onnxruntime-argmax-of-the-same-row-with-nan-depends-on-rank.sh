#!/usr/bin/env bash
# onnxruntime 1.31.1 on an x86-64 CPU, with onnx 1.23.2 and numpy 2.4.6.
#
# Most engineers expect that ArgMax of a row does not depend on whether the
# row stands alone or in a batch, that it points at the number ReduceMax
# returns, and that NaN is treated in one way, as numpy does.
#
# Seen: for 1, NaN, 2 ArgMax gives 1, the place of the NaN, when the input is
# a vector, and 2 when the same row is in a batch of one. ReduceMax gives 2.0
# for both, so for the vector the two disagree. With NaN in first place
# ReduceMax gives NaN instead. ReduceMean always gives NaN.
#
# Why it matters: a check for NaN on the maximum misses it unless it comes
# first, and adding a batch dimension can change the class that is chosen when
# a NaN is among the scores.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'onnxruntime==1.31.1' 'onnx==1.23.2' 'numpy==2.4.6'

cat > check.py <<'PY'
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

ort.set_default_logger_severity(4)


def run(op, x, out=TensorProto.FLOAT, **attributes):
    node = helper.make_node(op, ["x"], ["y"], keepdims=0, **attributes)
    graph = helper.make_graph(
        [node],
        "one_node",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", out, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0].tolist()


for values in ([1, np.nan, 2], [np.nan, 1, 2], [1, 2, np.nan]):
    alone = np.array(values, np.float32)
    batch = alone[None, :]
    print(
        values,
        "ArgMax alone", run("ArgMax", alone, TensorProto.INT64, axis=0),
        "in a batch", run("ArgMax", batch, TensorProto.INT64, axis=1),
        "| ReduceMax alone", run("ReduceMax", alone, axes=[0]),
        "in a batch", run("ReduceMax", batch, axes=[1]),
        "| ReduceMean alone", run("ReduceMean", alone, axes=[0]),
    )
PY

cat > expected.txt <<'TXT'
[1, nan, 2] ArgMax alone 1 in a batch [2] | ReduceMax alone 2.0 in a batch [2.0] | ReduceMean alone nan
[nan, 1, 2] ArgMax alone 0 in a batch [0] | ReduceMax alone nan in a batch [nan] | ReduceMean alone nan
[1, 2, nan] ArgMax alone 2 in a batch [1] | ReduceMax alone 2.0 in a batch [2.0] | ReduceMean alone nan
TXT

venv/bin/python -I check.py > seen.txt 2> errors.txt || cat errors.txt >> seen.txt
cat seen.txt
if diff -u expected.txt seen.txt > difference.txt; then
    echo "As described."
else
    cat difference.txt
    echo "This has changed: the output is not the one described above."
    exit 1
fi
