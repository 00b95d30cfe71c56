#!/usr/bin/env bash
# lancedb 0.40.0, with pyarrow 26.0.1.
#
# Most engineers expect that 0.87 is refused where the column holds integers, as a
# cast in pyarrow does, or that the column becomes one of floats.
#
# Seen: add stores 0, without an error or a warning, also from an Arrow table and
# inside of lists, and so does update. NaN is refused, and so is 0.87 in merge_insert:
# three ways to write have two rules.
#
# Why it matters: a table made from records whose first scores happen to be 1 has an
# integer column, and every score that is added later is cut off to 0.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'lancedb==0.40.0' 'pyarrow==26.0.1'

cat > check.py <<'PY'
import lancedb
import pyarrow as pa

db = lancedb.connect("data")


def table(rows):
    return db.create_table("notes", rows, mode="overwrite")


def show(label, notes, act):
    try:
        act(notes)
    except Exception as error:
        print(label, "-> refused with", type(error).__name__)
    else:
        print(label, "->", sorted(notes.to_arrow().to_pylist(), key=lambda row: row["id"]))


first = [{"id": 1, "score": 1}]
late = [{"id": 2, "score": 0.87}]
print("column:", table(first).schema.field("score").type)
show("add dicts", table(first), lambda notes: notes.add(late))
show("add an Arrow table", table(first), lambda notes: notes.add(pa.Table.from_pylist(late)))
show("add -1.9", table(first), lambda notes: notes.add([{"id": 2, "score": -1.9}]))
show("add [0.5, 1.5]", table([{"id": 1, "score": [1]}]), lambda notes: notes.add([{"id": 2, "score": [0.5, 1.5]}]))
show("update", table(first), lambda notes: notes.update(values={"score": 0.87}))
show("add NaN", table(first), lambda notes: notes.add([{"id": 2, "score": float("nan")}]))
merge = lambda notes: notes.merge_insert("id").when_not_matched_insert_all().execute(late)
show("merge_insert", table(first), merge)
show("a cast in pyarrow", table(first), lambda notes: pa.array([0.87]).cast(pa.int64()))
PY

cat > expected.txt <<'TXT'
column: int64
add dicts -> [{'id': 1, 'score': 1}, {'id': 2, 'score': 0}]
add an Arrow table -> [{'id': 1, 'score': 1}, {'id': 2, 'score': 0}]
add -1.9 -> [{'id': 1, 'score': 1}, {'id': 2, 'score': -1}]
add [0.5, 1.5] -> [{'id': 1, 'score': [1]}, {'id': 2, 'score': [0, 1]}]
update -> [{'id': 1, 'score': 0}]
add NaN -> refused with ValueError
merge_insert -> refused with RuntimeError
a cast in pyarrow -> refused with ArrowInvalid
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
