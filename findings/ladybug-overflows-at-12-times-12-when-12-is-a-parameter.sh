#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that a Python int given as a parameter acts like the
# same number written in the query, which is a 64-bit integer, so that 12 * 12
# is 144 either way.
#
# Seen: the database picks the smallest integer type that holds the value, and
# computes in it. 11 * 11 works, 12 * 12 raises an overflow of INT8, 128 * 12
# works, and 200 * 200 raises an overflow of UINT8. Items of a plain list are
# INT64, while numbers inside a list of dicts are INT8 again.
#
# Why it matters: a query that passes its tests fails later for some values
# only, and turning a literal into a parameter, as good practice asks, can
# break it. A cast to INT64 in the query avoids it.
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
    try:
        answer = conn.execute(query, params).get_all()[0]
    except RuntimeError as error:
        answer = error
    print(query, params, "->", answer)


show("RETURN 12 * 12")
show("RETURN $a * $b", a=11, b=11)
show("RETURN $a * $b", a=12, b=12)
show("RETURN $a * $b", a=128, b=12)
show("RETURN $a * $b", a=200, b=200)
show("UNWIND $rows AS x RETURN x * x, typeof(x)", rows=[12])
show("UNWIND $rows AS r RETURN typeof(r.n)", rows=[{"n": 12}])
show("UNWIND $rows AS r RETURN r.n * r.n", rows=[{"n": 12}])
show("RETURN CAST($a AS INT64) * $b", a=12, b=12)
PY

cat > expected.txt <<'TXT'
RETURN 12 * 12 {} -> [144]
RETURN $a * $b {'a': 11, 'b': 11} -> [121]
RETURN $a * $b {'a': 12, 'b': 12} -> Overflow exception: Value 12 * 12 is not within INT8 range.
RETURN $a * $b {'a': 128, 'b': 12} -> [1536]
RETURN $a * $b {'a': 200, 'b': 200} -> Overflow exception: Value 200 * 200 is not within UINT8 range.
UNWIND $rows AS x RETURN x * x, typeof(x) {'rows': [12]} -> [144, 'INT64']
UNWIND $rows AS r RETURN typeof(r.n) {'rows': [{'n': 12}]} -> ['INT8']
UNWIND $rows AS r RETURN r.n * r.n {'rows': [{'n': 12}]} -> Overflow exception: Value 12 * 12 is not within INT8 range.
RETURN CAST($a AS INT64) * $b {'a': 12, 'b': 12} -> [144]
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
