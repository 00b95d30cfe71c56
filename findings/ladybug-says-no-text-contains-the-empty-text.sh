#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that every text contains the empty text, as it starts
# and ends with it, so that a search box left empty shows everything.
#
# Seen: CONTAINS with the empty text is false for every row, even for the
# empty text itself, while STARTS WITH, ENDS WITH and the regular expression
# are true for every row.
#
# Why it matters: an optional filter that passes '' when it is not used hides
# every row with CONTAINS and none with STARTS WITH.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))
conn.execute("CREATE NODE TABLE Note(id INT64 PRIMARY KEY, text STRING)")
conn.execute("CREATE (:Note {id: 1, text: 'red'}), (:Note {id: 2, text: ''}), (:Note {id: 3, text: 'big'})")
for test in ("CONTAINS $q", "STARTS WITH $q", "ENDS WITH $q", "=~ concat('.*', $q, '.*')"):
    for q in ("e", ""):
        rows = conn.execute(f"MATCH (n:Note) WHERE n.text {test} RETURN n.id ORDER BY n.id", {"q": q}).get_all()
        print(test, repr(q), "->", [row[0] for row in rows])
print("RETURN '' = '', '' CONTAINS '' ->", conn.execute("RETURN '' = '', '' CONTAINS ''").get_all()[0])
PY

cat > expected.txt <<'TXT'
CONTAINS $q 'e' -> [1]
CONTAINS $q '' -> []
STARTS WITH $q 'e' -> []
STARTS WITH $q '' -> [1, 2, 3]
ENDS WITH $q 'e' -> []
ENDS WITH $q '' -> [1, 2, 3]
=~ concat('.*', $q, '.*') 'e' -> [1]
=~ concat('.*', $q, '.*') '' -> [1, 2, 3]
RETURN '' = '', '' CONTAINS '' -> [True, False]
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
