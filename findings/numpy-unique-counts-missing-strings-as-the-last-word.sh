#!/usr/bin/env bash
# numpy 2.4.6.
#
# Most engineers expect that np.unique with return_counts gives the same
# values as without, and that a missing value in a StringDType column with
# na_object=np.nan gets a count of its own, as it does for floats.
#
# Seen: np.unique alone gives a, b, nan. With return_counts, return_inverse or
# return_index it gives only a and b, and each nan is counted as, and mapped
# to, the word that sorts last: b, NaN, a, NaN gives b the count 3. Only a
# column of nothing but nan has nan.
#
# Why it matters: a count of names includes those that are missing under the
# last name of the alphabet, and a label encoding built with return_inverse
# turns missing into that label, without an error.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'numpy==2.4.6'

cat > check.py <<'PY'
import numpy as np

words = np.dtypes.StringDType(na_object=np.nan)
for values in (["b", np.nan, "a", np.nan], ["a", "b", np.nan], ["a", "a"], [np.nan, np.nan]):
    column = np.array(values, words)
    print(values)
    print("  unique", np.unique(column).tolist())
    print("  counts", [part.tolist() for part in np.unique(column, return_counts=True)])
    print("  inverse", [part.tolist() for part in np.unique(column, return_inverse=True)])
    print("  index", [part.tolist() for part in np.unique(column, return_index=True)])
values, counts = np.unique(np.array([2.0, np.nan, 1.0, np.nan]), return_counts=True)
print("floats", values.tolist(), counts.tolist())
PY

cat > expected.txt <<'TXT'
['b', nan, 'a', nan]
  unique ['a', 'b', nan]
  counts [['a', 'b'], [1, 3]]
  inverse [['a', 'b'], [1, 1, 0, 1]]
  index [['a', 'b'], [2, 0]]
['a', 'b', nan]
  unique ['a', 'b', nan]
  counts [['a', 'b'], [1, 2]]
  inverse [['a', 'b'], [0, 1, 1]]
  index [['a', 'b'], [0, 1]]
['a', 'a']
  unique ['a']
  counts [['a'], [2]]
  inverse [['a'], [0, 0]]
  index [['a'], [0]]
[nan, nan]
  unique [nan]
  counts [[nan], [2]]
  inverse [[nan], [0, 0]]
  index [[nan], [0]]
floats [1.0, 2.0, nan] [1, 1, 2]
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
