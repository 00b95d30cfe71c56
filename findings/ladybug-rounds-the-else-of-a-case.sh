#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that a CASE whose branches are 0 and 0.7 gives a DOUBLE, as
# coalesce and a list of both do, or is refused; and that CASE 1 WHEN 1.4 does not
# match.
#
# Seen: ELSE gets the type of the THEN branches, and a DOUBLE is rounded to an integer
# without a word, so 0.7 is 1. The THEN branches among each other are brought to
# DOUBLE as they should be. The value after WHEN gets the type of the value after CASE, so
# 1 matches 1.4. Used in SET it rounds what is stored.
#
# Why it matters: "0 where there is no score, else the score" is a common line; it
# rounds every score, its sum is of whole numbers, and 0.0 for 0, or the two branches
# the other way round, is right.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))


def show(query, parameters=None):
    print(query, parameters or "", "->", conn.execute(query, parameters).get_all())


show("RETURN CASE WHEN false THEN 0 ELSE 0.7 END")
show("RETURN CASE WHEN false THEN 0 ELSE $score END", {"score": 0.7})
show("RETURN CASE WHEN false THEN 0 WHEN true THEN 0.7 END")
show("RETURN CASE WHEN true THEN 0.7 ELSE 0 END")
show("RETURN coalesce(null, 0, 0.7), [0, 0.7]")
show("RETURN CASE 1 WHEN 1.4 THEN 'equal' ELSE 'not equal' END, 1 = 1.4")

conn.execute("CREATE NODE TABLE Note(id INT64 PRIMARY KEY, score DOUBLE)")
conn.execute("UNWIND [[1, 0.6], [2, 1.2], [3, 2.5]] AS r CREATE (:Note {id: cast(r[1] AS INT64), score: r[2]})")
conn.execute("CREATE (:Note {id: 4})")
show("MATCH (n:Note) RETURN sum(CASE WHEN n.score IS NULL THEN 0.0 ELSE n.score END)")
show("MATCH (n:Note) RETURN cast(sum(CASE WHEN n.score IS NULL THEN 0 ELSE n.score END) AS DOUBLE)")
conn.execute("MATCH (n:Note) SET n.score = CASE WHEN n.score IS NULL THEN 0 ELSE n.score END")
show("MATCH (n:Note) RETURN n.id, n.score ORDER BY n.id")
PY

cat > expected.txt <<'TXT'
RETURN CASE WHEN false THEN 0 ELSE 0.7 END  -> [[1]]
RETURN CASE WHEN false THEN 0 ELSE $score END {'score': 0.7} -> [[1]]
RETURN CASE WHEN false THEN 0 WHEN true THEN 0.7 END  -> [[0.7]]
RETURN CASE WHEN true THEN 0.7 ELSE 0 END  -> [[0.7]]
RETURN coalesce(null, 0, 0.7), [0, 0.7]  -> [[0.0, [0.0, 0.7]]]
RETURN CASE 1 WHEN 1.4 THEN 'equal' ELSE 'not equal' END, 1 = 1.4  -> [['equal', False]]
MATCH (n:Note) RETURN sum(CASE WHEN n.score IS NULL THEN 0.0 ELSE n.score END)  -> [[4.3]]
MATCH (n:Note) RETURN cast(sum(CASE WHEN n.score IS NULL THEN 0 ELSE n.score END) AS DOUBLE)  -> [[4.0]]
MATCH (n:Note) RETURN n.id, n.score ORDER BY n.id  -> [[1, 1.0], [2, 1.0], [3, 2.0], [4, 0.0]]
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
