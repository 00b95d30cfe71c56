#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that one database has one place for NaN: if ORDER BY
# puts it last, then list_sort does too, max is NaN or never NaN whatever the
# order of the rows, and grouping holds all NaN together.
#
# Seen: ORDER BY puts NaN last. list_sort stops sorting around it and leaves
# 2.0 before 1.0. max is 2.0 or NaN by which row comes first. NaN is less than
# 1.0, and NaN <= NaN is true while NaN = NaN is false. Each NaN is a group of
# its own.
#
# Why it matters: one score that is NaN leaves the rest of a list unsorted
# without an error, and the same rows give another maximum when their order
# changes. Filter NaN out before it is stored.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))


def show(query, **params):
    print(query, params, "->", conn.execute(query, params).get_all())


nan = float("nan")
first, middle = [nan, 1.0, 2.0, -1.0], [2.0, nan, -1.0, 1.0]
show("UNWIND $x AS v RETURN v ORDER BY v", x=middle)
show("RETURN list_sort($x)", x=middle)
show("RETURN list_sort($x)", x=first)
show("UNWIND $x AS v RETURN max(v)", x=middle)
show("UNWIND $x AS v RETURN max(v)", x=first)
show("RETURN $a < $b, $a <= $b, $a > $b, $a = $b", a=nan, b=1.0)
show("RETURN $a = $b, $a <= $b", a=nan, b=nan)
show("UNWIND $x AS v RETURN v, count(*) ORDER BY v", x=[nan, nan, 1.0, 1.0])
PY

cat > expected.txt <<'TXT'
UNWIND $x AS v RETURN v ORDER BY v {'x': [2.0, nan, -1.0, 1.0]} -> [[-1.0], [1.0], [2.0], [nan]]
RETURN list_sort($x) {'x': [2.0, nan, -1.0, 1.0]} -> [[[-1.0, 2.0, nan, 1.0]]]
RETURN list_sort($x) {'x': [nan, 1.0, 2.0, -1.0]} -> [[[nan, -1.0, 1.0, 2.0]]]
UNWIND $x AS v RETURN max(v) {'x': [2.0, nan, -1.0, 1.0]} -> [[2.0]]
UNWIND $x AS v RETURN max(v) {'x': [nan, 1.0, 2.0, -1.0]} -> [[nan]]
RETURN $a < $b, $a <= $b, $a > $b, $a = $b {'a': nan, 'b': 1.0} -> [[True, True, False, False]]
RETURN $a = $b, $a <= $b {'a': nan, 'b': nan} -> [[False, True]]
UNWIND $x AS v RETURN v, count(*) ORDER BY v {'x': [nan, nan, 1.0, 1.0]} -> [[1.0, 2], [nan, 1], [nan, 1]]
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
