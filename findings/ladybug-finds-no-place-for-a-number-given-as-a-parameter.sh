#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that list_position says where a number is in a list, and that
# it is 0 only where list_contains is false.
#
# Seen: list_position compares types before values. A parameter gets the smallest
# integer type that holds it, here INT8, so its place in a column of INT64[] is 0
# unless it needs 64 bits; 0, too, is that of the literal 2 in a list of DOUBLE.
# list_contains, IN and = see the number in each of them, and with a cast of the
# parameter its place is found.
#
# Why it matters: 0 means not found, without an error; the query is right with the
# number written into it and wrong with the same number as a parameter.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))
conn.execute(
    "CREATE NODE TABLE List(id INT64 PRIMARY KEY, wide INT64[], narrow INT32[], real DOUBLE[], words STRING[])"
)
conn.execute("CREATE (:List {id: 1, wide: [1, 2], narrow: [1, 2], real: [1.0, 2.0], words: ['1', '2']})")

for value, column in ((2, "wide"), (2, "narrow"), (2, "real"), (2.0, "real"), ("2", "words")):
    place, contains, within, equal = conn.execute(
        f"MATCH (l:List) WITH l.{column} AS list, $x AS x "
        "RETURN list_position(list, x), list_contains(list, x), x IN list, list[2] = x",
        {"x": value},
    ).get_next()
    print(f"{value!r} in {column}: list_position {place}, list_contains {contains}, IN {within}, = {equal}")

for expression in ("list_position(l.wide, 2)", "list_position(l.real, 2)", "list_position([1, 2], 2.0)"):
    print(expression, "->", conn.execute(f"MATCH (l:List) RETURN {expression}").get_next()[0])
cast = "list_position(l.wide, cast($x AS INT64))"
print(cast, "->", conn.execute(f"MATCH (l:List) RETURN {cast}", {"x": 2}).get_next()[0])
print("5000000000 ->", conn.execute("RETURN list_position([1, 5000000000], $x)", {"x": 5000000000}).get_next()[0])
PY

cat > expected.txt <<'TXT'
2 in wide: list_position 0, list_contains True, IN True, = True
2 in narrow: list_position 0, list_contains True, IN True, = True
2 in real: list_position 0, list_contains True, IN True, = True
2.0 in real: list_position 2, list_contains True, IN True, = True
'2' in words: list_position 2, list_contains True, IN True, = True
list_position(l.wide, 2) -> 2
list_position(l.real, 2) -> 0
list_position([1, 2], 2.0) -> 0
list_position(l.wide, cast($x AS INT64)) -> 2
5000000000 -> 2
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
