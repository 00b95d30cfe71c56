#!/usr/bin/env bash
# faiss-cpu 1.15.1, with numpy 2.4.6.
#
# Most engineers expect that the first of the k best is the same for each k, and
# that equal vectors come in the order in which they were added, or in some fixed
# one.
#
# Seen: with the inner product equal matches come back to front, but only within
# the k that are asked for: the best one is 0 for k = 1, 1 for k = 2, 4 for k = 5,
# and with k = 8 the order is 4 3 2 1 0 7 6 5. With L2 on the same vectors the
# order is 0 1 2 3, for each k.
#
# Why it matters: a text that is stored twice has equal vectors, many stores use
# the inner product of normed ones, and the page that shows ten names another best
# match than the code that asks for one.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'faiss-cpu==1.15.1' 'numpy==2.4.6'

cat > check.py <<'PY'
import faiss
import numpy as np

vectors = np.array([[1, 2, 3]] * 5 + [[3, 2, 1]] * 3, np.float32)
query = np.array([[1, 2, 3]], np.float32)
for name in ("IndexFlatIP", "IndexFlatL2"):
    index = getattr(faiss, name)(3)
    index.add(vectors)
    print(name)
    for k in (1, 2, 3, 5, 8):
        scores, places = index.search(query, k)
        print("   k =", k, "->", *places[0], "| scores", *(f"{score:.0f}" for score in scores[0]))
PY

cat > expected.txt <<'TXT'
IndexFlatIP
   k = 1 -> 0 | scores 14
   k = 2 -> 1 0 | scores 14 14
   k = 3 -> 2 1 0 | scores 14 14 14
   k = 5 -> 4 3 2 1 0 | scores 14 14 14 14 14
   k = 8 -> 4 3 2 1 0 7 6 5 | scores 14 14 14 14 14 10 10 10
IndexFlatL2
   k = 1 -> 0 | scores 0
   k = 2 -> 0 1 | scores 0 0
   k = 3 -> 0 1 2 | scores 0 0 0
   k = 5 -> 0 1 2 3 4 | scores 0 0 0 0 0
   k = 8 -> 0 1 2 3 4 5 6 7 | scores 0 0 0 0 0 8 8 8
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
