#!/usr/bin/env bash
# sqlite-vec 0.1.9, run with apsw 3.54.1.0.
#
# Most engineers expect that a stored vector of zeros, which has no cosine
# distance, comes last in a search, is left out, or is refused, and in any
# case that the order of inserts does not decide.
#
# Seen: its distance reads as NULL, and it keeps the place at which the search
# meets it: stored first, it is the nearest of all, before an exact match,
# also with k = 1. Stored second, it comes before a later row that is worse
# than the match but has a distance. A query of zeros returns rows in stored
# order, each with NULL.
#
# Why it matters: an empty text that was embedded as zeros becomes the best
# answer to every question if it was stored early, and code that filters with
# distance < x or rounds the distance meets None. Refuse zero vectors at the
# door.
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


def show(*vectors, query="[1,0]"):
    db.execute("create virtual table v using vec0(id integer primary key, e float[2] distance_metric=cosine)")
    for number, vector in enumerate(vectors, 1):
        db.execute("insert into v(id, e) values (?, ?)", (number, vector))
    for k in range(1, len(vectors) + 1):
        rows = db.execute("select id, distance from v where e match ? and k = ?", (query, k)).fetchall()
        print(vectors, "query", query, "k", k, "->", [(vectors[i - 1], d and round(d, 2)) for i, d in rows])
    db.execute("drop table v")


zero, near, far = "[0,0]", "[1,0]", "[-1,0]"
show(zero, near, far)
show(near, zero, far)
show(far, zero, near)
show(far, near, query=zero)
print(db.execute("select vec_distance_cosine('[0,0]', '[1,0]')").fetchall())
PY

cat > expected.txt <<'TXT'
('[0,0]', '[1,0]', '[-1,0]') query [1,0] k 1 -> [('[0,0]', None)]
('[0,0]', '[1,0]', '[-1,0]') query [1,0] k 2 -> [('[0,0]', None), ('[1,0]', 0.0)]
('[0,0]', '[1,0]', '[-1,0]') query [1,0] k 3 -> [('[0,0]', None), ('[1,0]', 0.0), ('[-1,0]', 2.0)]
('[1,0]', '[0,0]', '[-1,0]') query [1,0] k 1 -> [('[1,0]', 0.0)]
('[1,0]', '[0,0]', '[-1,0]') query [1,0] k 2 -> [('[1,0]', 0.0), ('[0,0]', None)]
('[1,0]', '[0,0]', '[-1,0]') query [1,0] k 3 -> [('[1,0]', 0.0), ('[0,0]', None), ('[-1,0]', 2.0)]
('[-1,0]', '[0,0]', '[1,0]') query [1,0] k 1 -> [('[1,0]', 0.0)]
('[-1,0]', '[0,0]', '[1,0]') query [1,0] k 2 -> [('[1,0]', 0.0), ('[-1,0]', 2.0)]
('[-1,0]', '[0,0]', '[1,0]') query [1,0] k 3 -> [('[1,0]', 0.0), ('[-1,0]', 2.0), ('[0,0]', None)]
('[-1,0]', '[1,0]') query [0,0] k 1 -> [('[-1,0]', None)]
('[-1,0]', '[1,0]') query [0,0] k 2 -> [('[-1,0]', None), ('[1,0]', None)]
[(None,)]
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
