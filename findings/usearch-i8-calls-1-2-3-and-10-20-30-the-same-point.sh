#!/usr/bin/env bash
# usearch 2.26.6, with numpy 2.4.6.
#
# Most engineers expect that dtype='i8' stores each number in a coarser grid
# and gives roughly the same distances and order, or only fits data already in
# -128 to 127.
#
# Seen: each vector is scaled to length one before it is rounded, for every
# metric. With l2sq the vectors 1 2 3, 0.1 0.2 0.3 and 10 20 30 are at
# distance 0 from each other, with the inner product they tie, and get returns
# 33 67 101 for all three. Distances are in units of the grid, not of the
# data.
#
# Why it matters: switching an index to i8 to save memory turns L2 and inner
# product into an angle: points of other length become exact matches, and
# thresholds lose their meaning. It is safe only for vectors that were of
# length one before.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'usearch==2.26.6' 'numpy==2.4.6'

cat > check.py <<'PY'
import numpy as np
from usearch.index import Index

vectors = {1: [1, 2, 3], 2: [0.1, 0.2, 0.3], 3: [10, 20, 30], 4: [-3, 2, 1]}
for metric in ("l2sq", "ip"):
    for dtype in ("f32", "i8"):
        index = Index(ndim=3, metric=metric, dtype=dtype)
        for key, vector in vectors.items():
            index.add(key, np.array(vector, np.float32))
        found = index.search(np.array([1, 2, 3], np.float32), 4)
        distances = {int(key): round(float(distance), 2) for key, distance in zip(found.keys, found.distances)}
        print(metric, dtype, "distances", dict(sorted(distances.items())), "get(3)", index.get(3).tolist())
PY

cat > expected.txt <<'TXT'
l2sq f32 distances {1: 0.0, 2: 11.34, 3: 1134.0, 4: 20.0} get(3) [10.0, 20.0, 30.0]
l2sq i8 distances {1: 0.0, 2: 0.0, 3: 0.0, 4: 22580.0} get(3) [33, 67, 101]
ip f32 distances {1: -13.0, 2: -0.4, 3: -139.0, 4: -3.0} get(3) [10.0, 20.0, 30.0]
ip i8 distances {1: -15778.0, 2: -15778.0, 3: -15778.0, 4: -4488.0} get(3) [33, 67, 101]
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
