#!/usr/bin/env bash
# sqlite-vec 0.1.9, run with apsw 3.54.1.0.
#
# Most engineers expect that two conditions that mean the same in SQL give the
# same rows, so that a filter either narrows the search before the k nearest
# are taken or is refused.
#
# Seen: tag <> 'a' filters before and gives two rows, NOT tag = 'a' filters
# the two nearest afterwards and gives none. id IN (3, 4) filters before, id =
# 3 and id > 2 afterwards. distance > 1.5 filters before, distance + 0 > 1.5
# afterwards. LIKE is refused.
#
# Why it matters: a search limited to one user's rows silently finds nothing
# once other rows are nearer, and which way it goes depends on how the
# condition, or the tool that writes the SQL, spells it.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'sqlite-vec==0.1.9' 'apsw==3.54.1.0'

cat > check.py <<'PY'
import apsw
import sqlite_vec

db = apsw.Connection(":memory:")
db.enable_load_extension(True)
db.load_extension(sqlite_vec.loadable_path())
db.execute("create virtual table v using vec0(id integer primary key, e float[2], tag text)")
for row in ((1, "[0,0]", "a"), (2, "[1,0]", "a"), (3, "[2,0]", "b"), (4, "[3,0]", "b")):
    db.execute("insert into v(id, e, tag) values (?, ?, ?)", row)
for test in (
    "tag = 'b'",
    "tag in ('b')",
    "(tag = 'b' or tag = 'c')",
    "tag <> 'a'",
    "not tag = 'a'",
    "not tag in ('a')",
    "lower(tag) = 'b'",
    "tag || '' = 'b'",
    "id in (3, 4)",
    "(id = 3 or id = 4)",
    "id = 3",
    "id > 2",
    "id between 3 and 4",
    "distance > 1.5",
    "distance + 0 > 1.5",
    "tag like 'b%'",
):
    try:
        rows = db.execute(f"select id from v where e match '[0,0]' and k = 2 and {test}").fetchall()
    except apsw.SQLError as error:
        rows = str(error)[:50]
    print(test, "->", rows)
PY

cat > expected.txt <<'TXT'
tag = 'b' -> [(3,), (4,)]
tag in ('b') -> [(3,), (4,)]
(tag = 'b' or tag = 'c') -> [(3,), (4,)]
tag <> 'a' -> [(3,), (4,)]
not tag = 'a' -> []
not tag in ('a') -> []
lower(tag) = 'b' -> []
tag || '' = 'b' -> []
id in (3, 4) -> [(3,), (4,)]
(id = 3 or id = 4) -> [(3,), (4,)]
id = 3 -> []
id > 2 -> []
id between 3 and 4 -> []
distance > 1.5 -> [(3,), (4,)]
distance + 0 > 1.5 -> []
tag like 'b%' -> An illegal WHERE constraint was provided on a vec0
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
