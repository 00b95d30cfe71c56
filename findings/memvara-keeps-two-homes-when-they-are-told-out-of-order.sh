#!/usr/bin/env bash
# memvara 0.21.0, run with pysqlite3-binary 0.5.4.post2.
#
# Most engineers expect that a predicate with one value, such as lives_in, has one
# value at each time, and that three dated moves give the same history in
# whatever order they are told.
#
# Seen: a value that is told late ends where the last one begins that is known by
# then, and a value told between them later does not shorten it. In four of the
# six orders Ana lives in Berlin and in London in April. Now, in February and in
# July each order is right.
#
# Why it matters: an import or a backfill is seldom in order, and the store that
# is asked what was true then has two answers, for good.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'memvara==0.21.0' 'pysqlite3-binary==0.5.4.post2; sys_platform == "linux"'

cat > check.py <<'PY'
import sqlite3
import sys

if sqlite3.sqlite_version_info < (3, 42):  # the package needs a newer one
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3


import itertools
import tempfile
from datetime import UTC, datetime

from memvara import Memvara, NullLLM


def day(month, number=1):
    return datetime(2026, month, number, tzinfo=UTC)


for moves in itertools.permutations((("Berlin", 1), ("London", 3), ("Oslo", 6))):
    memory = Memvara(tempfile.mkdtemp() + "/memory.db", llm=NullLLM())
    for city, month in moves:
        memory.remember("Ana", "lives_in", city, valid_from=day(month))
    told = ", ".join(city for city, _ in moves)
    there = {
        month: sorted(claim.object for claim in memory.get_all(valid_at=day(number, 15)))
        for month, number in (("February", 2), ("April", 4), ("July", 7))
    }
    print(f"told {told} -> {there} now", [claim.object for claim in memory.get_all()])
    memory.close()
PY

cat > expected.txt <<'TXT'
told Berlin, London, Oslo -> {'February': ['Berlin'], 'April': ['London'], 'July': ['Oslo']} now ['Oslo']
told Berlin, Oslo, London -> {'February': ['Berlin'], 'April': ['Berlin', 'London'], 'July': ['Oslo']} now ['Oslo']
told London, Berlin, Oslo -> {'February': ['Berlin'], 'April': ['London'], 'July': ['Oslo']} now ['Oslo']
told London, Oslo, Berlin -> {'February': ['Berlin'], 'April': ['Berlin', 'London'], 'July': ['Oslo']} now ['Oslo']
told Oslo, Berlin, London -> {'February': ['Berlin'], 'April': ['Berlin', 'London'], 'July': ['Oslo']} now ['Oslo']
told Oslo, London, Berlin -> {'February': ['Berlin'], 'April': ['Berlin', 'London'], 'July': ['Oslo']} now ['Oslo']
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
