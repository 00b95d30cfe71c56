#!/usr/bin/env bash
# neo4j 6.4.1, the driver for Python.
#
# Most engineers expect that the difference of two DateTime values with a zone is
# the time between the two instants, as with Python's datetime.
#
# Seen: minus goes by the clock and ignores the zones. Between 10:00 in UTC and
# 10:00 at +01:00, one hour apart, it finds nothing, and between two names of one
# instant two hours. Comparing goes by the instant, so of two equal values the
# difference is PT2H, and the earlier of two is two hours after the later. So it
# is against Python's datetime, too.
#
# Why it matters: a value keeps the zone in which it was stored, so ages, waits
# and time-outs are hours off as soon as two writers live in two zones.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'neo4j==6.4.1'

cat > check.py <<'PY'
from datetime import UTC, timedelta, timezone

from neo4j.time import DateTime


def at(hour, offset):
    zone = timezone(timedelta(hours=offset)) if offset else UTC
    return DateTime(2026, 1, 1, hour, 0, 0, 0, tzinfo=zone)


for first, second in ((at(10, 0), at(10, 1)), (at(12, 2), at(10, 0)), (at(11, 5), at(9, 0))):
    print(first.iso_format()[:16], first.iso_format()[-6:], "and", second.iso_format()[:16], second.iso_format()[-6:])
    print("  equal", first == second, "| first is earlier", first < second)
    print("  first - second:", (first - second).iso_format())
    print("  first - second as Python's datetime:", first - second.to_native())
    print("  both as Python's datetime:", first.to_native() - second.to_native())
PY

cat > expected.txt <<'TXT'
2026-01-01T10:00 +00:00 and 2026-01-01T10:00 +01:00
  equal False | first is earlier False
  first - second: PT0S
  first - second as Python's datetime: 0:00:00
  both as Python's datetime: 1:00:00
2026-01-01T12:00 +02:00 and 2026-01-01T10:00 +00:00
  equal True | first is earlier False
  first - second: PT2H
  first - second as Python's datetime: 2:00:00
  both as Python's datetime: 0:00:00
2026-01-01T11:00 +05:00 and 2026-01-01T09:00 +00:00
  equal False | first is earlier True
  first - second: PT2H
  first - second as Python's datetime: 2:00:00
  both as Python's datetime: -1 day, 21:00:00
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
