#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that a DOUBLE turned into text is the shortest text
# that gives the same number back, as in Python, SQLite or PostgreSQL, or is
# refused by a STRING column.
#
# Seen: it always has six decimals: 0.1234567891 is '0.123457', 4e-07 is
# '0.000000', 0.99999996 is '1.000000'. A float parameter given to a STRING
# column is accepted and cut in the same way.
#
# Why it matters: small scores become zero, different numbers become equal
# texts, and a property of type STRING for values of any kind loses digits on
# the way in. Turn numbers into text before they reach the database.
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
    print(query, params, "->", conn.execute(query, params).get_all()[0])


show("RETURN $x", x=0.1234567891)
show("RETURN CAST($x AS STRING)", x=0.1234567891)
show("RETURN CAST($x AS STRING)", x=4e-7)
show("RETURN CAST(CAST($x AS STRING) AS DOUBLE)", x=4e-7)
show("RETURN CAST($x AS STRING)", x=1e22)
show("RETURN CAST($x AS STRING)", x=2.0)
show("RETURN concat('score ', CAST($x AS STRING))", x=0.99999996)
show("RETURN CAST([$x] AS STRING)", x=4e-7)
conn.execute("CREATE NODE TABLE Fact(id INT64 PRIMARY KEY, text STRING)")
conn.execute("CREATE (:Fact {id: 1, text: $x})", {"x": 0.1234567891})
show("MATCH (f:Fact) RETURN f.text")
conn.execute("MATCH (f:Fact) SET f.text = $x", {"x": 4e-7})
show("MATCH (f:Fact) RETURN f.text")
PY

cat > expected.txt <<'TXT'
RETURN $x {'x': 0.1234567891} -> [0.1234567891]
RETURN CAST($x AS STRING) {'x': 0.1234567891} -> ['0.123457']
RETURN CAST($x AS STRING) {'x': 4e-07} -> ['0.000000']
RETURN CAST(CAST($x AS STRING) AS DOUBLE) {'x': 4e-07} -> [0.0]
RETURN CAST($x AS STRING) {'x': 1e+22} -> ['10000000000000000000000.000000']
RETURN CAST($x AS STRING) {'x': 2.0} -> ['2.000000']
RETURN concat('score ', CAST($x AS STRING)) {'x': 0.99999996} -> ['score 1.000000']
RETURN CAST([$x] AS STRING) {'x': 4e-07} -> ['[0.000000]']
MATCH (f:Fact) RETURN f.text {} -> ['0.123457']
MATCH (f:Fact) RETURN f.text {} -> ['0.000000']
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
