#!/usr/bin/env bash
# chromadb 1.5.9.
#
# Most engineers expect that a filter compares numbers by value: 1 is less than 1.5 and
# not equal to it, whether a record stores 1 or 1.0.
#
# Seen: for records that store an integer the 1.5 of the filter is cut off to 1. So
# $eq, $in and $gte find the 1, $ne and $lt leave it out, and below zero it is $gt
# and $lte that are wrong. Records that store 1.0 are right, and so is each filter with
# a whole number. query and get agree.
#
# Why it matters: stars, prices and counts are often whole in Python and integers
# then; "less than 4.5 stars" leaves out all with 4.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'chromadb==1.5.9'
export ANONYMIZED_TELEMETRY=False

cat > check.py <<'PY'
import operator

import chromadb

notes = chromadb.EphemeralClient().create_collection("notes", embedding_function=None)
numbers = [-2, -1, 0, 1, 2, -1.0, 1.0, 1.5]
notes.add(
    ids=[repr(number) for number in numbers],
    embeddings=[[1.0, float(place)] for place in range(len(numbers))],
    metadatas=[{"stars": number} for number in numbers],
)
for bound in (1.5, 1, -1.5):
    for sign, compare in (
        ("$eq", operator.eq),
        ("$ne", operator.ne),
        ("$lt", operator.lt),
        ("$lte", operator.le),
        ("$gt", operator.gt),
        ("$gte", operator.ge),
    ):
        where = {"stars": {sign: bound}}
        got = set(notes.get(where=where)["ids"])
        assert got == set(notes.query(query_embeddings=[[1, 0]], n_results=99, where=where)["ids"][0])
        want = {repr(number) for number in numbers if compare(number, bound)}
        print(sign, bound, "| too much:", *sorted(got - want), "| missing:", *sorted(want - got))
print("$in [1.5] ->", *sorted(notes.get(where={"stars": {"$in": [1.5]}})["ids"]))
PY

cat > expected.txt <<'TXT'
$eq 1.5 | too much: 1 | missing:
$ne 1.5 | too much: | missing: 1
$lt 1.5 | too much: | missing: 1
$lte 1.5 | too much: | missing:
$gt 1.5 | too much: | missing:
$gte 1.5 | too much: 1 | missing:
$eq 1 | too much: | missing:
$ne 1 | too much: | missing:
$lt 1 | too much: | missing:
$lte 1 | too much: | missing:
$gt 1 | too much: | missing:
$gte 1 | too much: | missing:
$eq -1.5 | too much: -1 | missing:
$ne -1.5 | too much: | missing: -1
$lt -1.5 | too much: | missing:
$lte -1.5 | too much: -1 | missing:
$gt -1.5 | too much: | missing: -1
$gte -1.5 | too much: | missing:
$in [1.5] -> 1 1.5
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
