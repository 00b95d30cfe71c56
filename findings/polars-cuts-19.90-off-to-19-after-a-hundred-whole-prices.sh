#!/usr/bin/env bash
# polars 2.1.0.
#
# Most engineers expect that a DataFrame of rows refuses 19.9 in a column of integers,
# since `strict` is on and promises an error for a value of another type, or makes the
# column one of decimals.
#
# Seen: the type is guessed from the first hundred rows, and from the next one on 19.9,
# Decimal("19.90") and the text "19.9" are stored as 19 and a date as 20788, the days
# since 1970. It is the same when the schema says Int64, and then also with tuples and
# with `read_json`. The same values as a column, and `read_ndjson`, are an error.
#
# Why it matters: prices and scores are often whole for a while; the first one with cents
# is stored without them, and each sum is too low, without a word.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'polars==2.1.0'

cat > check.py <<'PY'
from datetime import date
from decimal import Decimal

import polars as pl


def seen(label, make):
    try:
        print(label, "->", make()["price"].to_list()[-1])
    except Exception as error:
        print(label, "-> error,", type(error).__name__)


whole = [{"price": 20}] * 100
for value in (19.9, Decimal("19.90"), date(2026, 12, 1), "19.9"):
    rows = whole + [{"price": value}]
    column = {"price": [row["price"] for row in rows]}
    print(f"100 whole prices, then {value!r}")
    seen("   rows", lambda: pl.DataFrame(rows))
    seen("   rows, strict", lambda: pl.from_dicts(rows, strict=True))
    seen("   the same as a column", lambda: pl.DataFrame(column))
seen("2 whole prices, then 19.9", lambda: pl.DataFrame(whole[:2] + [{"price": 19.9}]))
seen("rows, all are looked at", lambda: pl.DataFrame(whole + [{"price": 19.9}], infer_schema_length=None))
print("19.9 alone, with the schema Int64")
schema = {"price": pl.Int64}
seen("   rows", lambda: pl.DataFrame([{"price": 19.9}], schema=schema))
seen("   tuples", lambda: pl.DataFrame([(19.9,)], schema=schema, orient="row"))
seen("   JSON", lambda: pl.read_json(b'[{"price": 19.9}]', schema=schema))
seen("   lines of JSON", lambda: pl.read_ndjson(b'{"price": 19.9}', schema=schema))
seen("   a column", lambda: pl.DataFrame({"price": [19.9]}, schema=schema))
PY

cat > expected.txt <<'TXT'
100 whole prices, then 19.9
   rows -> 19
   rows, strict -> 19
   the same as a column -> error, TypeError
100 whole prices, then Decimal('19.90')
   rows -> 19
   rows, strict -> 19
   the same as a column -> error, TypeError
100 whole prices, then datetime.date(2026, 12, 1)
   rows -> 20788
   rows, strict -> 20788
   the same as a column -> error, TypeError
100 whole prices, then '19.9'
   rows -> 19
   rows, strict -> 19
   the same as a column -> error, TypeError
2 whole prices, then 19.9 -> 19.9
rows, all are looked at -> 19.9
19.9 alone, with the schema Int64
   rows -> 19
   tuples -> 19
   JSON -> 19
   lines of JSON -> error, ComputeError
   a column -> error, TypeError
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
