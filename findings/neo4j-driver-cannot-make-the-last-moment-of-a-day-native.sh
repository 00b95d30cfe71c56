#!/usr/bin/env bash
# neo4j 6.4.1, the driver for Python.
#
# Most engineers expect that to_native gives Python's time for each value that the
# database holds, at worst with the nanoseconds cut off.
#
# Seen: Time.to_native rounds to microseconds and does not carry, so each time
# whose last digits round up to a whole second is an error: 23:59:59.999999999,
# the end of a day and the largest time that Neo4j has, cannot be converted.
# DateTime cuts off instead, so the same moment with a date is fine, and for 1.9
# microseconds the two give two values.
#
# Why it matters: a closing time or the end of a range that is stored as the last
# moment of the day breaks its reader, in code that works with all other times.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'neo4j==6.4.1'

cat > check.py <<'PY'
from neo4j.time import DateTime, Time

for nanosecond in (0, 1_900, 999_999_000, 999_999_499, 999_999_500, 999_999_999):
    time, moment = Time(23, 59, 59, nanosecond), DateTime(2026, 1, 1, 23, 59, 59, nanosecond)
    print(time.iso_format())
    for value in (time, moment):
        try:
            print("  ", type(value).__name__, "->", value.to_native())
        except ValueError as error:
            print("  ", type(value).__name__, "->", type(error).__name__)
PY

cat > expected.txt <<'TXT'
23:59:59.000000000
   Time -> 23:59:59
   DateTime -> 2026-01-01 23:59:59
23:59:59.000001900
   Time -> 23:59:59.000002
   DateTime -> 2026-01-01 23:59:59.000001
23:59:59.999999000
   Time -> 23:59:59.999999
   DateTime -> 2026-01-01 23:59:59.999999
23:59:59.999999499
   Time -> 23:59:59.999999
   DateTime -> 2026-01-01 23:59:59.999999
23:59:59.999999500
   Time -> ValueError
   DateTime -> 2026-01-01 23:59:59.999999
23:59:59.999999999
   Time -> ValueError
   DateTime -> 2026-01-01 23:59:59.999999
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
