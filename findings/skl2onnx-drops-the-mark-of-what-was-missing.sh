#!/usr/bin/env bash
# skl2onnx 1.20.0, with scikit-learn 1.9.1, onnx 1.23.2 and onnxruntime 1.32.0.
#
# Most engineers expect that SimpleImputer(add_indicator=True) gives the same
# columns after the conversion, or is not converted.
#
# Seen: the columns that say which values were missing are left out without a
# word. Two columns come out where scikit-learn gives three, and a linear model
# behind the imputer, trained with three, runs all the same, on the first ones:
# where it says 50 for a missing value the converted one says 2. Rows without a
# missing value agree.
#
# Why it matters: the mark is added because a missing value says something, and
# just those rows get another answer, while a test with full rows is green.
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
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline


def run(model, asked):
    converted = to_onnx(model, asked)
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": asked})[0]


nan = np.nan
asked = np.array([[nan, 2], [1, 2]], np.float32)
for has_mark in (False, True):
    imputer = SimpleImputer(add_indicator=has_mark).fit(np.array([[1, 1], [3, 3], [nan, 2]], np.float32))
    print("add_indicator", has_mark)
    print("   scikit-learn", imputer.transform(asked).tolist())
    print("   onnx        ", run(imputer, asked).tolist())

rows = np.array([[1], [2], [nan], [3]], np.float32)
model = make_pipeline(SimpleImputer(add_indicator=True), LinearRegression()).fit(rows, [1.0, 2.0, 50.0, 3.0])
print("with a linear model behind it")
for value, first, second in zip(rows[:, 0], model.predict(rows), run(model, rows).reshape(-1), strict=True):
    print(f"   {value:3} -> scikit-learn {first:.1f} onnx {second:.1f}")
PY

cat > expected.txt <<'TXT'
add_indicator False
   scikit-learn [[2.0, 2.0], [1.0, 2.0]]
   onnx         [[2.0, 2.0], [1.0, 2.0]]
add_indicator True
   scikit-learn [[2.0, 2.0, 1.0], [1.0, 2.0, 0.0]]
   onnx         [[2.0, 2.0], [1.0, 2.0]]
with a linear model behind it
   1.0 -> scikit-learn 1.0 onnx 1.0
   2.0 -> scikit-learn 2.0 onnx 2.0
   nan -> scikit-learn 50.0 onnx 2.0
   3.0 -> scikit-learn 3.0 onnx 3.0
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
