#!/usr/bin/env bash
# daft 0.7.26.
#
# Most engineers expect that ORDER BY, given a name that SELECT assigns, sorts by what
# is selected under that name, as the SQL standard says and as other engines do.
#
# Seen: where the name is also a column of the table, daft sorts by that column, which
# is not in the answer. SELECT 10 - rank AS rank ... ORDER BY rank comes back to
# front, and with LIMIT 1 it is another row. A new name, or ORDER BY 1, sorts as it
# should.
#
# Why it matters: cleaning a column under its own name, such as lower(name) AS name, is
# usual, and the answer is right but for its order and for what LIMIT leaves.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'daft==0.7.26'
export DAFT_ANALYTICS_ENABLED=0 DO_NOT_TRACK=true

cat > check.py <<'PY'
import daft

notes = daft.from_pydict({"rank": [1, 2, 3], "weight": [5, 7, 6], "name": ["ana", "Bo", "Cy"]})
for query in (
    "SELECT 10 - rank AS rank FROM notes ORDER BY rank",
    "SELECT 10 - rank AS rank FROM notes ORDER BY rank LIMIT 1",
    "SELECT 10 - rank AS fresh FROM notes ORDER BY fresh",
    "SELECT 10 - rank AS rank FROM notes ORDER BY 1",
    "SELECT weight AS rank FROM notes ORDER BY rank DESC",
    "SELECT lower(name) AS name FROM notes ORDER BY name",
    "SELECT lower(name) AS clean FROM notes ORDER BY clean",
):
    print(query, "->", daft.sql(query, notes=notes).to_pydict())
PY

cat > expected.txt <<'TXT'
SELECT 10 - rank AS rank FROM notes ORDER BY rank -> {'rank': [9, 8, 7]}
SELECT 10 - rank AS rank FROM notes ORDER BY rank LIMIT 1 -> {'rank': [9]}
SELECT 10 - rank AS fresh FROM notes ORDER BY fresh -> {'fresh': [7, 8, 9]}
SELECT 10 - rank AS rank FROM notes ORDER BY 1 -> {'rank': [7, 8, 9]}
SELECT weight AS rank FROM notes ORDER BY rank DESC -> {'rank': [6, 7, 5]}
SELECT lower(name) AS name FROM notes ORDER BY name -> {'name': ['bo', 'cy', 'ana']}
SELECT lower(name) AS clean FROM notes ORDER BY clean -> {'clean': ['ana', 'bo', 'cy']}
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
