#!/usr/bin/env bash
# neo4j 6.4.1, the driver for Python.
#
# Most engineers expect that values which are equal are one key of a dict and one
# member of a set, as Python asks of each class, or that they are not equal.
#
# Seen: the driver's Date equals Python's date, from both sides, but has another
# hash, so a set of the two has two members and a dict with one does not find the
# other. The driver's Time and DateTime are right: equal to Python's, and found.
#
# Why it matters: the days that come back from the database are looked up in a
# dict of dates, or compared with a set of them, and each is missing, while == and
# `in` on a list say that they are there.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'neo4j==6.4.1'

cat > check.py <<'PY'
import datetime

from neo4j.time import Date, DateTime, Time

pairs = (
    (Date(2026, 1, 1), datetime.date(2026, 1, 1)),
    (Time(10, 30), datetime.time(10, 30)),
    (DateTime(2026, 1, 1, 10, 30), datetime.datetime(2026, 1, 1, 10, 30)),
)
for theirs, native in pairs:
    print(type(theirs).__name__, theirs.iso_format())
    print("  equal", theirs == native, native == theirs)
    print("  in a list", theirs in [native], "| in a set", theirs in {native}, "| in a dict", theirs in {native: 1})
    print("  members of a set of both:", len({theirs, native}))
PY

cat > expected.txt <<'TXT'
Date 2026-01-01
  equal True True
  in a list True | in a set False | in a dict False
  members of a set of both: 2
Time 10:30:00.000000000
  equal True True
  in a list True | in a set True | in a dict True
  members of a set of both: 1
DateTime 2026-01-01T10:30:00.000000000
  equal True True
  in a list True | in a set True | in a dict True
  members of a set of both: 1
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
