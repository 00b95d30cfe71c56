#!/usr/bin/env bash
# parsedatetime 2.6.
#
# Most engineers expect that "in twenty five days" is in 25 days, as "in 25 days" and "in
# twenty days" are read right, or that the parser says it has not understood.
#
# Seen: only the last word of the number counts: twenty five days are 5, thirty one are 1,
# one hundred and five are 5. With a hyphen it is no time at all, today. "the day after
# tomorrow" is tomorrow, "the day before yesterday" is yesterday, and "five days before
# christmas" and "3 days before friday" are not counted from there. Each comes with the
# flag for a date or a time that was found, and only "next summer" with that for nothing
# found.
#
# Why it matters: a follow-up in twenty five days is due in five, and the flag that should
# protect from it says that all is well.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'parsedatetime==2.6'

cat > check.py <<'PY'
from datetime import datetime

from parsedatetime import Calendar

now = datetime(2026, 12, 1, 9)
calendar = Calendar()
for text in (
    "in 25 days",
    "in twenty days",
    "in twenty five days",
    "in twenty-five days",
    "in thirty one days",
    "twenty five days ago",
    "in twenty five minutes",
    "in forty-two minutes",
    "in one hundred and five days",
    "2 days after tomorrow",
    "the day after tomorrow",
    "the day before yesterday",
    "1 week before 2026-12-24",
    "five days before christmas",
    "3 days before friday",
    "next summer",
):
    moment, found = calendar.parseDT(text, now)
    print(f"{text} -> {moment:%Y-%m-%d %H:%M} |", {0: "not read", 1: "a date", 2: "a time"}[found])
PY

cat > expected.txt <<'TXT'
in 25 days -> 2026-12-26 09:00 | a date
in twenty days -> 2026-12-21 09:00 | a date
in twenty five days -> 2026-12-06 09:00 | a date
in twenty-five days -> 2026-12-01 09:00 | a date
in thirty one days -> 2026-12-02 09:00 | a date
twenty five days ago -> 2026-11-26 09:00 | a date
in twenty five minutes -> 2026-12-01 09:05 | a time
in forty-two minutes -> 2026-12-01 09:00 | a time
in one hundred and five days -> 2026-12-06 09:00 | a date
2 days after tomorrow -> 2026-12-04 09:00 | a date
the day after tomorrow -> 2026-12-02 09:00 | a date
the day before yesterday -> 2026-11-30 09:00 | a date
1 week before 2026-12-24 -> 2026-12-17 09:00 | a date
five days before christmas -> 2026-11-26 09:00 | a date
3 days before friday -> 2026-12-01 09:00 | a date
next summer -> 2026-12-01 09:00 | not read
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
