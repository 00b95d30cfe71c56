#!/usr/bin/env bash
# isodate 0.7.2.
#
# Most engineers expect that a duration is read back as it was written, or that
# one which has no form in ISO 8601 is refused.
#
# Seen: a Duration whose days are negative, such as a year less a day, is written
# with the minus in front of all: -P1Y1D, which is read back as a year and a day
# into the past. The minus of the years does the same to positive days. Adding the
# Duration itself to a date is right, and timedeltas without months are written
# right.
#
# Why it matters: a term of a year less a day that goes through a file or an
# interface ends two years too early, without an error.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'isodate==0.7.2'

cat > check.py <<'PY'
from datetime import date, timedelta

from isodate import Duration, duration_isoformat, parse_duration

start = date(2026, 6, 1)
for length in (
    Duration(years=1) - timedelta(days=1),
    Duration(months=1, days=-1),
    Duration(years=-1, days=2),
    Duration(years=1, days=1),
    Duration(years=-1, days=-1),
    timedelta(days=-1, hours=1),
):
    text = duration_isoformat(length)
    read = parse_duration(text)
    print(f"{length} -> {text} -> {read} | equal {read == length}")
    if isinstance(length, Duration):
        print(f"   {start} + it: {start + length}, after reading: {start + read}")
PY

cat > expected.txt <<'TXT'
1 years, -1 day, 0:00:00 -> -P1Y1D -> -1 years, -1 day, 0:00:00 | equal False
   2026-06-01 + it: 2027-05-31, after reading: 2025-05-31
1 month, -1 day, 0:00:00 -> -P1M1D -> -1 month, -1 day, 0:00:00 | equal False
   2026-06-01 + it: 2026-06-30, after reading: 2026-04-30
-1 years, 2 days, 0:00:00 -> -P1Y2D -> -1 years, -2 days, 0:00:00 | equal False
   2026-06-01 + it: 2025-06-03, after reading: 2025-05-30
1 years, 1 day, 0:00:00 -> P1Y1D -> 1 years, 1 day, 0:00:00 | equal True
   2026-06-01 + it: 2027-06-02, after reading: 2027-06-02
-1 years, -1 day, 0:00:00 -> -P1Y1D -> -1 years, -1 day, 0:00:00 | equal True
   2026-06-01 + it: 2025-05-31, after reading: 2025-05-31
-1 day, 1:00:00 -> -PT23H -> -1 day, 1:00:00 | equal True
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
