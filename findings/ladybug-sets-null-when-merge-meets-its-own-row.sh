#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that each row of an UNWIND finds what the rows before
# it have merged, so that ON MATCH SET n = n + 1 counts the rows, whether they
# come in one call or in several.
#
# Seen: with a, a, b in one call the counter of a is not 2 but null: the
# second row finds the node, but n + 1 is computed from values read before the
# node was there, and the null is stored over the 1. For a node that was there
# before, two rows add 1. A SET after the MERGE also counts two rows once. A
# fixed value is stored as it should be.
#
# Why it matters: a batch with a repeated key wipes what its own first row
# wrote, without an error, while the same rows one call at a time count well.
# Rows have to be grouped by key before they are sent.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb


def show(label, query, *runs):
    conn = lb.Connection(lb.Database(":memory:"))
    conn.execute("CREATE NODE TABLE Word(id STRING PRIMARY KEY, n INT64, note STRING)")
    for rows in runs:
        conn.execute(query, {"rows": rows})
    print(label, *runs, "->", conn.execute("MATCH (w:Word) RETURN w.id, w.n, w.note ORDER BY w.id").get_all())


count = "UNWIND $rows AS r MERGE (w:Word {id: r}) ON CREATE SET w.n = 1 ON MATCH SET w.n = w.n + 1"
show("counted", count, ["a", "b"], ["a"], ["a"])
show("counted", count, ["a"], ["b", "b"])
show("counted", count, ["a", "a", "b"])
show("counted", count, ["a", "b"], ["a", "a"])
plain = "UNWIND $rows AS r MERGE (w:Word {id: r}) ON CREATE SET w.n = 1 ON MATCH SET w.n = 2"
show("fixed value", plain, ["a", "a", "b"])
kept = "UNWIND $rows AS r MERGE (w:Word {id: r}) ON CREATE SET w.note = 'new' ON MATCH SET w.note = w.note + '!'"
show("text", kept, ["a", "a", "b"])
safe = "UNWIND $rows AS r MERGE (w:Word {id: r}) SET w.n = coalesce(w.n, 0) + 1"
show("set after merge", safe, ["a", "a", "b"])
PY

cat > expected.txt <<'TXT'
counted ['a', 'b'] ['a'] ['a'] -> [['a', 3, None], ['b', 1, None]]
counted ['a'] ['b', 'b'] -> [['a', 1, None], ['b', None, None]]
counted ['a', 'a', 'b'] -> [['a', None, None], ['b', 1, None]]
counted ['a', 'b'] ['a', 'a'] -> [['a', 2, None], ['b', 1, None]]
fixed value ['a', 'a', 'b'] -> [['a', 2, None], ['b', 1, None]]
text ['a', 'a', 'b'] -> [['a', None, '!'], ['b', None, 'new']]
set after merge ['a', 'a', 'b'] -> [['a', 1, None], ['b', 1, None]]
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
