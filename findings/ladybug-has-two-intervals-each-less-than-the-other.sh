#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that of two intervals at most one is less than the
# other, that a day equals 24 hours, and that a year is longer than 364 days.
#
# Seen: 12 months and 360 days are not equal, and each is less than the other.
# So are 1 day and 24 hours. A year sorts before 361 days, although it comes
# back to Python as 365 days, and although adding it to a date gives a later
# day than adding 364 days does.
#
# Why it matters: filters and ORDER BY on durations give wrong rows, and a
# test such as "at least 24 hours" is false for a value stored as one day.
# Comparing the dates that result is safer.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))


def row(query):
    return conn.execute(query).get_all()


for left, right in [
    ("12 months", "360 days"),
    ("360 days", "12 months"),
    ("1 day", "24 hours"),
    ("24 hours", "1 day"),
    ("1 year", "364 days"),
]:
    equal, less, at_least = row(
        f"WITH interval('{left}') AS a, interval('{right}') AS b RETURN a = b, a < b, a >= b"
    )[0]
    print(f"{left} against {right}: equal {equal}, less {less}, at least {at_least}")
print("sorted:", row("UNWIND ['364 days', '1 year', '361 days'] AS s RETURN s ORDER BY interval(s)"))
print("as Python:", row("RETURN interval('1 year')")[0][0])
print("later date:", row(
    "WITH date('2025-01-01') AS d RETURN d + interval('1 year') > d + interval('364 days')"
)[0][0])
PY

cat > expected.txt <<'TXT'
12 months against 360 days: equal False, less True, at least False
360 days against 12 months: equal False, less True, at least False
1 day against 24 hours: equal False, less True, at least False
24 hours against 1 day: equal False, less True, at least False
1 year against 364 days: equal False, less True, at least False
sorted: [['1 year'], ['361 days'], ['364 days']]
as Python: 365 days, 0:00:00
later date: True
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
