#!/usr/bin/env bash
# dateparser 1.5.0.
#
# Most engineers expect that a time alone, read with PREFER_DATES_FROM 'past' in
# the morning, is yesterday's, and with 'future' in the evening tomorrow's, on
# any day of the year.
#
# Seen: on the first of May at nine, '10 pm' of the past is the 30th of May, four
# weeks ahead, and on the first of June it is the last day of the year. On the
# last day of April, '00:30' of the future is the first of April, and on the 31st
# of December the first of December of the next year. On all other days, and with
# 'yesterday' before the time, it is right.
#
# Why it matters: on a few days of each month a call last night becomes one that
# is still to come, and a reminder for tonight is long over. Tests that run on
# other days do not see it.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'dateparser==1.5.0'

cat > check.py <<'PY'
from datetime import datetime

from dateparser import parse


def show(now, text, prefer):
    settings = {"RELATIVE_BASE": datetime.fromisoformat(now), "PREFER_DATES_FROM": prefer}
    print(f"at {now} {text} of the {prefer} ->", parse(text, languages=["en"], settings=settings))


for day in ("01-01", "03-01", "05-01", "05-02", "06-01"):
    show(f"2026-{day} 09:00", "10 pm", "past")
for day in ("02-28", "04-29", "04-30", "12-31"):
    show(f"2026-{day} 23:45", "00:30", "future")
show("2026-05-01 09:00", "8 am", "past")
show("2026-05-01 09:00", "yesterday 10 pm", "past")
PY

cat > expected.txt <<'TXT'
at 2026-01-01 09:00 10 pm of the past -> 2025-01-31 22:00:00
at 2026-03-01 09:00 10 pm of the past -> 2026-03-28 22:00:00
at 2026-05-01 09:00 10 pm of the past -> 2026-05-30 22:00:00
at 2026-05-02 09:00 10 pm of the past -> 2026-05-01 22:00:00
at 2026-06-01 09:00 10 pm of the past -> 2026-12-31 22:00:00
at 2026-02-28 23:45 00:30 of the future -> 2026-02-01 00:30:00
at 2026-04-29 23:45 00:30 of the future -> 2026-04-30 00:30:00
at 2026-04-30 23:45 00:30 of the future -> 2026-04-01 00:30:00
at 2026-12-31 23:45 00:30 of the future -> 2027-12-01 00:30:00
at 2026-05-01 09:00 8 am of the past -> 2026-05-01 08:00:00
at 2026-05-01 09:00 yesterday 10 pm of the past -> 2026-04-30 22:00:00
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
