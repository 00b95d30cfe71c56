#!/usr/bin/env bash
# polars 2.1.0.
#
# Most engineers expect that a column of dicts keeps the keys of all of them, as rows do,
# or that `strict`, which is on, refuses a key that the first dict does not have.
#
# Seen: a column or Series of dicts gets the keys of the first one that is not None, and
# each other key is dropped with its value; after an empty dict nothing is left of any.
# With `strict=False` all keys are kept, and so are they when the same dicts come in rows.
#
# Why it matters: metadata, details or the arguments of calls differ from record to
# record; which of them survive depends on the record that happens to be first, and no
# error says so.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'polars==2.1.0'

cat > check.py <<'PY'
import polars as pl

details = [{"city": "Oslo"}, {"phone": "555 0101"}, {"city": "Bergen", "phone": "555 0102"}]
for label, frame in (
    ("column", pl.DataFrame({"details": details})),
    ("column, strict off", pl.DataFrame({"details": details}, strict=False)),
    ("Series", pl.Series("details", details).to_frame()),
    ("column, other order", pl.DataFrame({"details": details[::-1]})),
    ("column, first one empty", pl.DataFrame({"details": [{}, *details]})),
    ("column, first one None", pl.DataFrame({"details": [None, *details]})),
    ("rows", pl.DataFrame([{"details": each} for each in details])),
    ("rows, first one empty", pl.DataFrame([{"details": each} for each in [{}, *details]])),
):
    print(label)
    for each in frame["details"].to_list():
        print("  ", each)
PY

cat > expected.txt <<'TXT'
column
   {'city': 'Oslo'}
   {'city': None}
   {'city': 'Bergen'}
column, strict off
   {'city': 'Oslo', 'phone': None}
   {'city': None, 'phone': '555 0101'}
   {'city': 'Bergen', 'phone': '555 0102'}
Series
   {'city': 'Oslo'}
   {'city': None}
   {'city': 'Bergen'}
column, other order
   {'city': 'Bergen', 'phone': '555 0102'}
   {'city': None, 'phone': '555 0101'}
   {'city': 'Oslo', 'phone': None}
column, first one empty
   {}
   {}
   {}
   {}
column, first one None
   None
   {'city': 'Oslo'}
   {'city': None}
   {'city': 'Bergen'}
rows
   {'city': 'Oslo', 'phone': None}
   {'city': None, 'phone': '555 0101'}
   {'city': 'Bergen', 'phone': '555 0102'}
rows, first one empty
   {'city': None, 'phone': None}
   {'city': 'Oslo', 'phone': None}
   {'city': None, 'phone': '555 0101'}
   {'city': 'Bergen', 'phone': '555 0102'}
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
