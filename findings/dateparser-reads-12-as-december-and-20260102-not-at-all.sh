#!/usr/bin/env bash
# dateparser 1.5.0, with python-dateutil 2.9.0.post0.
#
# Most engineers expect that a lone number is refused or always read as the
# same part of a date, and that a lenient parser reads the compact ISO date
# 20260102 as 2 January 2026.
#
# Seen: up to 12 a lone number is the month and the day of the base date is
# kept, or cut to the length of the month; from 13 on it is the day. 20260102
# gives None, but 0102 gives the year 102. The extra parser no-spaces-time
# does read 20260102, as the year 6010, unless the order YMD is set as well.
# STRICT_PARSING refuses the short ones.
#
# Why it matters: free text such as a quantity turns into a plausible date,
# its meaning flips between 12 and 13, and dates from file names are lost or
# land far in the future.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'dateparser==1.5.0' 'python-dateutil==2.9.0.post0'

cat > check.py <<'PY'
import warnings
from datetime import datetime

import dateparser

warnings.simplefilter("ignore")
base = {"RELATIVE_BASE": datetime(2026, 3, 31, 12, 0)}
compact = {"PARSERS": ["absolute-time", "no-spaces-time"]}


def show(label, text, **settings):
    print(label, text, "->", dateparser.parse(text, languages=["en"], settings={**base, **settings}))


for text in ("1", "2", "12", "13", "0102", "20260102", "2026-01-02"):
    show("default", text)
show("no-spaces-time", "20260102", **compact)
show("no-spaces-time and YMD", "20260102", DATE_ORDER="YMD", **compact)
show("strict", "12", STRICT_PARSING=True)
show("strict", "0102", STRICT_PARSING=True)
PY

cat > expected.txt <<'TXT'
default 1 -> 2026-01-31 00:00:00
default 2 -> 2026-02-28 00:00:00
default 12 -> 2026-12-31 00:00:00
default 13 -> 2026-03-13 00:00:00
default 0102 -> 0102-03-31 00:00:00
default 20260102 -> None
default 2026-01-02 -> 2026-01-02 00:00:00
no-spaces-time 20260102 -> 6010-02-02 02:00:00
no-spaces-time and YMD 20260102 -> 2026-01-02 00:00:00
strict 12 -> None
strict 0102 -> None
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
