#!/usr/bin/env bash
# rdflib 7.6.0.
#
# Most engineers expect that a dateTime and a date are compared by the calendar, or, as
# SPARQL has no such comparison, that the row drops out of both `>` and `<`; and that a
# time without a zone is near its place among those with one.
#
# Seen: each dateTime is greater than each date, so one of 2020 is later than a day of
# 2026. A time without a zone is less than each time with one: one of 2030 is before June
# 2026, comes first with ORDER BY, and MAX gives the moment of 2026 for the last one, even
# beside a date of 2030.
#
# Why it matters: where some sources write dates and others write times, or some leave out
# the zone, "since January" returns what is years older, and the latest of all is not the
# latest.
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
:moment-of-2020 :at "2020-01-01T10:00:00Z"^^xsd:dateTime .
:moment-of-2026 :at "2026-05-01T09:00:00Z"^^xsd:dateTime .
:moment-of-2030-without-zone :at "2030-01-01T08:30:00"^^xsd:dateTime .
:day-of-2030 :at "2030-01-01"^^xsd:date .
""",
    format="turtle",
)


def ask(rest):
    print(rest)
    query = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    for row in graph.query(query + "SELECT " + rest):
        print("  ", *(value.removeprefix("http://example.org/") for value in row))


ask('?what { ?what :at ?at FILTER(?at > "2026-01-01"^^xsd:date) } ORDER BY ?what')
ask('?what { ?what :at ?at FILTER(?at < "2026-01-01"^^xsd:date) } ORDER BY ?what')
ask('?what { ?what :at ?at FILTER(?at < "2026-06-01T00:00:00Z"^^xsd:dateTime) } ORDER BY ?what')
ask('?what { ?what :at ?at FILTER(?at > "2026-06-01T00:00:00Z"^^xsd:dateTime) } ORDER BY ?what')
ask("?what { ?what :at ?at } ORDER BY ?at")
ask("(MIN(?at) AS ?first) (MAX(?at) AS ?last) { ?what :at ?at }")
PY

cat > expected.txt <<'TXT'
?what { ?what :at ?at FILTER(?at > "2026-01-01"^^xsd:date) } ORDER BY ?what
   day-of-2030
   moment-of-2020
   moment-of-2026
   moment-of-2030-without-zone
?what { ?what :at ?at FILTER(?at < "2026-01-01"^^xsd:date) } ORDER BY ?what
?what { ?what :at ?at FILTER(?at < "2026-06-01T00:00:00Z"^^xsd:dateTime) } ORDER BY ?what
   day-of-2030
   moment-of-2020
   moment-of-2026
   moment-of-2030-without-zone
?what { ?what :at ?at FILTER(?at > "2026-06-01T00:00:00Z"^^xsd:dateTime) } ORDER BY ?what
?what { ?what :at ?at } ORDER BY ?at
   day-of-2030
   moment-of-2030-without-zone
   moment-of-2020
   moment-of-2026
(MIN(?at) AS ?first) (MAX(?at) AS ?last) { ?what :at ?at }
   2030-01-01 2026-05-01T09:00:00+00:00
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
