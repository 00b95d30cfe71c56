#!/usr/bin/env bash
# skl2onnx 1.20.0, with scikit-learn 1.9.1, onnx 1.23.2 and onnxruntime 1.32.0.
#
# Most engineers expect that a model which is converted answers as the model does,
# or is not converted.
#
# Seen: weights='distance' of the nearest neighbours is dropped without a word,
# and each neighbour counts the same. For a row that is in the training data
# scikit-learn gives its own value, 1, and the converted model 0.5; the classifier
# gives another label. With weights='uniform' both agree on each row.
#
# Why it matters: the setting is the usual one beside the number of neighbours,
# the conversion prints nothing, and the service answers otherwise than the model
# that was tested.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'skl2onnx==1.20.0' 'scikit-learn==1.9.1' 'onnx==1.23.2' 'onnxruntime==1.32.0'

cat > check.py <<'PY'
import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

rows = np.array([[0], [1], [2]], np.float32)
asked = np.array([[0], [0.25], [0.5], [0.75], [1]], np.float32)
for weights in ("uniform", "distance"):
    for model in (
        KNeighborsRegressor(2, weights=weights).fit(rows, [1.0, 0.0, 5.0]),
        KNeighborsClassifier(3, weights=weights).fit(rows, [1, 0, 0]),
    ):
        converted = to_onnx(model, rows, options={"zipmap": False} if hasattr(model, "classes_") else None)
        session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
        theirs = session.run(None, {"X": asked})[0].reshape(-1)
        print(type(model).__name__, weights)
        print("   scikit-learn", [round(float(value), 2) for value in model.predict(asked)])
        print("   onnx        ", [round(float(value), 2) for value in theirs])
PY

cat > expected.txt <<'TXT'
KNeighborsRegressor uniform
   scikit-learn [0.5, 0.5, 0.5, 0.5, 0.5]
   onnx         [0.5, 0.5, 0.5, 0.5, 0.5]
KNeighborsClassifier uniform
   scikit-learn [0.0, 0.0, 0.0, 0.0, 0.0]
   onnx         [0.0, 0.0, 0.0, 0.0, 0.0]
KNeighborsRegressor distance
   scikit-learn [1.0, 0.75, 0.5, 0.25, 0.0]
   onnx         [0.5, 0.5, 0.5, 0.5, 0.5]
KNeighborsClassifier distance
   scikit-learn [1.0, 1.0, 0.0, 0.0, 0.0]
   onnx         [0.0, 0.0, 0.0, 0.0, 0.0]
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
