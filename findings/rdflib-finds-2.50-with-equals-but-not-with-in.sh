#!/usr/bin/env bash
# rdflib 7.6.0.
#
# Most engineers expect that `?v IN (2.5)` is the same as `?v = 2.5`, and NOT IN the
# opposite; SPARQL defines it so.
#
# Seen: `=` compares values, IN compares type and spelling: 2.50 and 2.5e0 are not IN
# (2.5), and one moment in two zones is one with `=` and two with IN. As the Z of a loaded
# time becomes +00:00, but that in a query does not, a time with Z is not found by IN, nor
# in a pattern, in the spelling that the file has.
#
# Why it matters: NOT IN keeps what was to be left out, such as what is already done, and
# `IN` misses rows, each time without an error.
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
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:tea :price 2.5 ; :sold "2026-05-01T09:00:00Z"^^xsd:dateTime .
:cake :price "2.50"^^xsd:decimal ; :sold "2026-05-01T11:00:00+02:00"^^xsd:dateTime .
:juice :price 2.5e0 ; :sold "2026-05-01T12:00:00Z"^^xsd:dateTime .
:water :price 1 ; :sold "2026-05-01T12:00:00Z"^^xsd:dateTime .
""",
    format="turtle",
)


def ask(pattern):
    found = graph.query(
        "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
        f"SELECT ?x {{ ?x {pattern} }} ORDER BY ?x"
    )
    print(pattern, "->", *(row.x.rpartition("/")[2] for row in found))


moment = '"2026-05-01T09:00:00Z"^^xsd:dateTime'
for name, value in ((":price", "2.5"), (":price", "1.0"), (":sold", moment)):
    for test in (f"?v = {value}", f"?v IN ({value})", f"?v != {value}", f"?v NOT IN ({value})"):
        ask(f"{name} ?v FILTER({test})")
ask(f":sold {moment}")
PY

cat > expected.txt <<'TXT'
:price ?v FILTER(?v = 2.5) -> cake juice tea
:price ?v FILTER(?v IN (2.5)) -> tea
:price ?v FILTER(?v != 2.5) -> water
:price ?v FILTER(?v NOT IN (2.5)) -> cake juice water
:price ?v FILTER(?v = 1.0) -> water
:price ?v FILTER(?v IN (1.0)) ->
:price ?v FILTER(?v != 1.0) -> cake juice tea
:price ?v FILTER(?v NOT IN (1.0)) -> cake juice tea water
:sold ?v FILTER(?v = "2026-05-01T09:00:00Z"^^xsd:dateTime) -> cake tea
:sold ?v FILTER(?v IN ("2026-05-01T09:00:00Z"^^xsd:dateTime)) ->
:sold ?v FILTER(?v != "2026-05-01T09:00:00Z"^^xsd:dateTime) -> juice water
:sold ?v FILTER(?v NOT IN ("2026-05-01T09:00:00Z"^^xsd:dateTime)) -> cake juice tea water
:sold "2026-05-01T09:00:00Z"^^xsd:dateTime ->
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
