#!/usr/bin/env bash
# daft 0.7.26.
#
# Most engineers expect that the difference of two dates is a duration of as many days
# as lie between them.
#
# Seen: the number of days is right, but its unit is the second, so 31 March less 31
# January 2024 is one minute. It is so for columns, literals, aggregates and in SQL.
# Added to the first date again it gives the first date, not the second. Between
# timestamps, and for a date plus a timedelta, all is right.
#
# Why it matters: total_days() is 0 for all dates less than 236 years apart, so nothing
# is ever older than 30 days, and no error says so.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'daft==0.7.26'
export DAFT_ANALYTICS_ENABLED=0 DO_NOT_TRACK=true

cat > check.py <<'PY'
from datetime import date, datetime

import daft
from daft import col, lit

rows = daft.from_pydict(
    {
        "start": [date(2024, 1, 31), date(2024, 3, 1)],
        "end": [date(2024, 3, 31), date(2024, 2, 29)],
        "opened": [datetime(2024, 1, 31), datetime(2024, 3, 1)],
        "closed": [datetime(2024, 3, 31), datetime(2024, 2, 29)],
    }
)
between = col("end") - col("start")


def show(label, frame):
    print(label, "->", *(str(value) for value in frame.to_pydict()["seen"]))


show("end - start", rows.select(between.alias("seen")))
show("closed - opened", rows.select((col("closed") - col("opened")).alias("seen")))
show("date - end of 2023", rows.select((col("start") - lit(date(2023, 12, 31))).alias("seen")))
show("total_days", rows.select(between.total_days().alias("seen")))
show("start + (end - start)", rows.select((col("start") + between).alias("seen")))
show("SQL", daft.sql('SELECT "end" - "start" AS seen FROM rows', rows=rows))
PY

cat > expected.txt <<'TXT'
end - start -> 0:01:00 -1 day, 23:59:59
closed - opened -> 60 days, 0:00:00 -1 day, 0:00:00
date - end of 2023 -> 0:00:31 0:01:01
total_days -> 0 0
start + (end - start) -> 2024-01-31 2024-03-01
SQL -> 0:01:00 -1 day, 23:59:59
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
