#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that ten o'clock at +02:00 is stored as eight o'clock
# UTC, or else that an offset which a column cannot keep is refused.
#
# Seen: the offset is dropped without a word and ten o'clock is kept. This
# holds for timestamp('...+02:00'), and for an aware Python datetime as a
# parameter, even where the column is TIMESTAMP_TZ. Only the text cast
# straight to TIMESTAMP_TZ is converted.
#
# Why it matters: times from several zones are stored wrong by their offset,
# no error tells of it, and two ways to write the same moment into one
# TIMESTAMP_TZ column differ by two hours.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
from datetime import datetime, timedelta, timezone

import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))
conn.execute("CREATE NODE TABLE Visit(how STRING PRIMARY KEY, plain TIMESTAMP, zoned TIMESTAMP_TZ)")
text = "2026-01-01 10:00:00+02:00"
moment = datetime(2026, 1, 1, 10, 0, tzinfo=timezone(timedelta(hours=2)))
conn.execute("CREATE (:Visit {how: 'datetime', plain: $t, zoned: $t})", {"t": moment})
conn.execute(
    "CREATE (:Visit {how: 'text', plain: timestamp($t), zoned: CAST($t AS TIMESTAMP_TZ)})",
    {"t": text},
)
print("meant:", moment.astimezone(timezone.utc))
for how, plain, zoned in conn.execute(
    "MATCH (v:Visit) RETURN v.how, v.plain, v.zoned ORDER BY v.how"
).get_all():
    print(f"{how}: TIMESTAMP {plain}, TIMESTAMP_TZ {zoned}")
PY

cat > expected.txt <<'TXT'
meant: 2026-01-01 08:00:00+00:00
datetime: TIMESTAMP 2026-01-01 10:00:00, TIMESTAMP_TZ 2026-01-01 10:00:00+00:00
text: TIMESTAMP 2026-01-01 10:00:00, TIMESTAMP_TZ 2026-01-01 08:00:00+00:00
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
