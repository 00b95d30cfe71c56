#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that MATCH (i {k: 1.4}) and WHERE i.k = 1.4 mean the
# same, and that no INT64 key equals 1.4.
#
# Seen: WHERE finds nothing, but in the braces the number is first rounded to
# the type of the column, so that 1.4 finds the row with key 1 and 1.6 the row
# with key 2. MERGE with 1.5 finds the row with key 2 and writes into it, and
# CREATE with 2.5 fails as a duplicate of 2.
#
# Why it matters: a number that came out of a division or out of JSON as a
# float reads and overwrites another row instead of finding none.
# Check the type of a key in the caller.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))
conn.execute("CREATE NODE TABLE Item(k INT64 PRIMARY KEY, n INT64)")


def show(query, **params):
    try:
        answer = conn.execute(query, params).get_all()
    except RuntimeError as error:
        answer = error
    print(query, params, "->", answer)


conn.execute("CREATE (:Item {k: 1, n: 1}), (:Item {k: 2, n: 2})")
show("MATCH (i:Item) WHERE i.k = $k RETURN i.k", k=1.4)
show("MATCH (i:Item {k: $k}) RETURN i.k", k=1.4)
show("MATCH (i:Item {n: $k}) RETURN i.n", k=1.4)
show("MATCH (i:Item {k: 1.6}) RETURN i.k")
show("MATCH (i:Item {k: $k}) RETURN i.k", k="1.4")
show("MERGE (i:Item {k: $k}) ON CREATE SET i.n = 0 ON MATCH SET i.n = 99 RETURN i.k, i.n", k=1.5)
show("CREATE (i:Item {k: $k}) RETURN i.k", k=2.5)
show("MATCH (i:Item) RETURN i.k, i.n ORDER BY i.k")
PY

cat > expected.txt <<'TXT'
MATCH (i:Item) WHERE i.k = $k RETURN i.k {'k': 1.4} -> []
MATCH (i:Item {k: $k}) RETURN i.k {'k': 1.4} -> [[1]]
MATCH (i:Item {n: $k}) RETURN i.n {'k': 1.4} -> [[1]]
MATCH (i:Item {k: 1.6}) RETURN i.k {} -> [[2]]
MATCH (i:Item {k: $k}) RETURN i.k {'k': '1.4'} -> Conversion exception: Cast failed. Could not convert "1.4" to INT64.
MERGE (i:Item {k: $k}) ON CREATE SET i.n = 0 ON MATCH SET i.n = 99 RETURN i.k, i.n {'k': 1.5} -> [[2, 99]]
CREATE (i:Item {k: $k}) RETURN i.k {'k': 2.5} -> Runtime exception: Found duplicated primary key value 2, which violates the uniqueness constraint of the primary key column.
MATCH (i:Item) RETURN i.k, i.n ORDER BY i.k {} -> [[1, 1], [2, 99]]
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
