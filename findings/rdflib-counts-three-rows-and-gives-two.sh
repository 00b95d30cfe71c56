#!/usr/bin/env bash
# rdflib 7.6.0.
#
# Most engineers expect that a query's result can be gone through in as many steps as
# `len` says, with None for what is not known.
#
# Seen: a row in which each selected variable has no value is counted by `len` and is in
# `bindings`, but left out when one goes through the result. With a second variable that
# has a value it is there, with None.
#
# Why it matters: a list of phones that is zipped with a list of names gives Bo the phone
# of Cy, and a count of the rows is lower than the count by `len`.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'rdflib==7.6.0'

cat > check.py <<'PY'
from rdflib import Graph

graph = Graph()
graph.parse(
    data="""
@prefix : <http://example.org/> .
:ana :name "Ana" ; :phone "555 0101" .
:bo :name "Bo" .
:cy :name "Cy" ; :phone "555 0102" .
""",
    format="turtle",
)
for wanted in ("?phone", "?name ?phone", "?phone (COUNT(*) AS ?people)"):
    query = f"SELECT {wanted} {{ ?who :name ?name OPTIONAL {{ ?who :phone ?phone }} }}"
    if "COUNT" in wanted:
        query += " GROUP BY ?phone"
    result = graph.query("PREFIX : <http://example.org/> " + query + " ORDER BY ?phone")
    print("SELECT", wanted)
    print("   len:", len(result), "| bindings:", len(result.bindings))
    rows = [tuple(value and str(value) for value in row) for row in result]
    print("   rows:", len(rows), *rows)
pairs = graph.query(
    "PREFIX : <http://example.org/> "
    "SELECT ?phone { ?who :name ?name OPTIONAL { ?who :phone ?phone } } ORDER BY ?name"
)
print("zip:", *(f"{name} {row.phone}" for name, row in zip(["Ana", "Bo", "Cy"], pairs)), sep=" | ")
PY

cat > expected.txt <<'TXT'
SELECT ?phone
   len: 3 | bindings: 3
   rows: 2 ('555 0101',) ('555 0102',)
SELECT ?name ?phone
   len: 3 | bindings: 3
   rows: 3 ('Bo', None) ('Ana', '555 0101') ('Cy', '555 0102')
SELECT ?phone (COUNT(*) AS ?people)
   len: 3 | bindings: 3
   rows: 3 (None, '1') ('555 0101', '1') ('555 0102', '1')
zip: | Ana 555 0101 | Bo 555 0102
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
