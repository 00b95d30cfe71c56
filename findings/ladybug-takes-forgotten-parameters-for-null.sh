#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that a query with $city is refused if no value for city
# is given, as it is if another name is given.
#
# Seen: without parameters, or with an empty dict, each $name is null and the
# query runs: SET p.city = $city empties the city, p.n + $more makes each n null,
# and a filter with $id finds nothing. With any other parameter beside it the
# missing name is an error. A parameter that the query does not use is none.
#
# Why it matters: an argument forgotten in one call, or a dict that happens to be
# empty, erases values in silence, and a look-up says that there is nobody.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import tempfile

import ladybug

connection = ladybug.Connection(ladybug.Database(tempfile.mkdtemp() + "/graph"))


def run(query, *parameters):
    try:
        shown = connection.execute(query, *parameters).get_all()
    except RuntimeError as error:
        shown = str(error)
    print(query, *parameters, "->", shown)


connection.execute("CREATE NODE TABLE P(id INT64 PRIMARY KEY, city STRING, n INT64)")
connection.execute("CREATE (:P {id: 1, city: 'Oslo', n: 3}), (:P {id: 2, city: 'Pune', n: 4})")
run("MATCH (p:P) WHERE p.id = $id RETURN p.city", {"id": 1})
run("MATCH (p:P) WHERE p.id = $id RETURN p.city")
run("MATCH (p:P) WHERE p.id = 1 SET p.city = $city", {"town": "Goa"})
run("MATCH (p:P) WHERE p.id = 1 SET p.city = $city", {})
run("MATCH (p:P) SET p.n = p.n + $more")
run("MATCH (p:P) RETURN p.id, p.city, p.n")
run("RETURN 1", {"unused": 2})
PY

cat > expected.txt <<'TXT'
MATCH (p:P) WHERE p.id = $id RETURN p.city {'id': 1} -> [['Oslo']]
MATCH (p:P) WHERE p.id = $id RETURN p.city -> []
MATCH (p:P) WHERE p.id = 1 SET p.city = $city {'town': 'Goa'} -> Parameter city not found.
MATCH (p:P) WHERE p.id = 1 SET p.city = $city {} -> []
MATCH (p:P) SET p.n = p.n + $more -> []
MATCH (p:P) RETURN p.id, p.city, p.n -> [[1, None, None], [2, 'Pune', None]]
RETURN 1 {'unused': 2} -> [[1]]
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
