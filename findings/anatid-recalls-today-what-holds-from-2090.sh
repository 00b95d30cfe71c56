#!/usr/bin/env bash
# anatid 0.4.1, with duckdb 2.0.1.
#
# Most engineers expect that a memory with a time from which it holds is not
# recalled before that time, and that asking now and asking as of now give the
# same.
#
# Seen: without as_of each memory that has not ended is recalled, and is_current
# is True for it, also if it begins in 2090: Ana lives in Rome stands before Oslo.
# With as_of the very same moment only Oslo is found. A fact whose time is over is
# left out in both. The source says that current is what has no end.
#
# Why it matters: a planned move, a new price from next month or a coming holiday
# is told to the agent as true today, beside the fact that still is.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'anatid==0.4.1' 'duckdb==2.0.1'

cat > check.py <<'PY'
from datetime import datetime, timedelta

from anatid import Anatid, utcnow

memory = Anatid.open(":memory:", tenant=1, embedding_dim=4, fts=False)
begin = datetime(2020, 1, 1)
first = memory.remember("Ana lives in Bergen", entities=["Ana"], now=begin)
memory.supersede(first.memory_id, "Ana lives in Oslo", now=begin + timedelta(days=365))
later = memory.remember("Ana lives in Rome", entities=["Ana"], valid_from=datetime(2090, 1, 1))
now = utcnow() + timedelta(seconds=1)
print("now, by the words    ", [each.content for each in memory.recall("Ana lives")])
print("now, by the name     ", [each.content for each in memory.recall_2hop("Ana")])
print("as of now, by words  ", [each.content for each in memory.as_of(now).recall("Ana lives")])
print("as of now, by name   ", [each.content for each in memory.as_of(now).recall_2hop("Ana")])
print("Rome is current      ", memory.get(later.memory_id).is_current)
print("Rome, got as of now  ", memory.get(later.memory_id, as_of=now))
PY

cat > expected.txt <<'TXT'
now, by the words     ['Ana lives in Rome', 'Ana lives in Oslo']
now, by the name      ['Ana lives in Rome', 'Ana lives in Oslo']
as of now, by words   ['Ana lives in Oslo']
as of now, by name    ['Ana lives in Oslo']
Rome is current       True
Rome, got as of now   None
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
