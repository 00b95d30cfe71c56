#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that an ACYCLIC path has no node twice, and so no relation
# twice, and that is_acyclic is true for each path that ACYCLIC lets through.
#
# Seen: only the nodes between the two ends are kept apart. The ends may be the same
# node, and either of them may be passed on the way, so of two friends and a third
# the paths 1-2-1 and 1-2-1-2 count as acyclic, while is_acyclic is false for both.
# The second takes one relation twice, which TRAIL refuses, so the stricter word
# lets more through. The standard's ACYCLIC allows neither.
#
# Why it matters: who adds ACYCLIC to keep a person from being their own friend of a
# friend still gets them, and counts of paths are too high. WHERE is_acyclic(p) is
# needed as well.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))
conn.execute("CREATE NODE TABLE Person(id INT64 PRIMARY KEY)")
conn.execute("CREATE REL TABLE Knows(FROM Person TO Person)")
conn.execute("UNWIND range(1, 3) AS i CREATE (:Person {id: i})")
for one, two in ((1, 2), (2, 1), (2, 3)):
    conn.execute(f"MATCH (a:Person {{id: {one}}}), (b:Person {{id: {two}}}) CREATE (a)-[:Knows]->(b)")

for word in ("TRAIL", "ACYCLIC"):
    found = conn.execute(
        f"MATCH p = (a:Person {{id: 1}})-[:Knows* {word} 1..4]->(b:Person) "
        "RETURN properties(nodes(p), 'id'), is_trail(p), is_acyclic(p)"
    )
    print(word)
    for nodes, trail, acyclic in sorted(found.get_all()):
        print("  ", *nodes, "| is_trail", trail, "| is_acyclic", acyclic)
PY

cat > expected.txt <<'TXT'
TRAIL
   1 2 | is_trail True | is_acyclic True
   1 2 1 | is_trail True | is_acyclic False
   1 2 3 | is_trail True | is_acyclic True
ACYCLIC
   1 2 | is_trail True | is_acyclic True
   1 2 1 | is_trail True | is_acyclic False
   1 2 1 2 | is_trail False | is_acyclic False
   1 2 3 | is_trail True | is_acyclic True
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
