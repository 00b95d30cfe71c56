#!/usr/bin/env bash
# pyoxigraph 0.5.13.
#
# Most engineers expect that a date plus a duration of days is a date, as a date less a
# duration is, or that no sum of the two is supported. What variables are called changes
# no result.
#
# Seen: `?a + ?b` is a date, and with the names exchanged the same sum is unbound. With a
# duration written in the query it depends on the duration: 1 and 14 days can be added to
# ?signed, 2, 7, 10 and 30 cannot. Which operand is written first makes no difference.
# Minus is right each time.
#
# Why it matters: a filter for what ends soon gives no row and no error, and a query that
# was tested with one term fails with another, or after a variable has got a better name.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'pyoxigraph==0.5.13'

cat > check.py <<'PY'
from pyoxigraph import RdfFormat, Store

store = Store()
store.load(
    b"""
@prefix : <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:deal :signed "2026-01-10"^^xsd:date ; :term "P30D"^^xsd:dayTimeDuration .
""",
    format=RdfFormat.TURTLE,
)


def ask(select):
    query = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT "
    rows = [str(value and value.value) for row in store.query(query + select) for value in row]
    return " ".join(rows) or "no row"


for day, term in (("?a", "?b"), ("?b", "?a"), ("?signed", "?term"), ("?day", "?days"), ("?x", "?y")):
    for sum_of in (f"{day} + {term}", f"{term} + {day}", f"{day} - {term}"):
        print(sum_of, "->", ask(f"({sum_of} AS ?end) {{ :deal :signed {day} ; :term {term} }}"))
for sign in "+-":
    for days in (1, 2, 7, 10, 14, 30):
        end = f'?signed {sign} "P{days}D"^^xsd:dayTimeDuration'
        print(end, "->", ask(f"({end} AS ?end) {{ :deal :signed ?signed }}"))
soon = '"2026-02-01"^^xsd:date'
term = '"P30D"^^xsd:dayTimeDuration'
for test in (f"?signed + {term} > {soon}", f"?signed > {soon} - {term}"):
    print(test, "->", ask(f"?deal {{ ?deal :signed ?signed FILTER({test}) }}"))
PY

cat > expected.txt <<'TXT'
?a + ?b -> 2026-02-09
?b + ?a -> 2026-02-09
?a - ?b -> 2025-12-11
?b + ?a -> None
?a + ?b -> None
?b - ?a -> 2025-12-11
?signed + ?term -> 2026-02-09
?term + ?signed -> 2026-02-09
?signed - ?term -> 2025-12-11
?day + ?days -> 2026-02-09
?days + ?day -> 2026-02-09
?day - ?days -> 2025-12-11
?x + ?y -> 2026-02-09
?y + ?x -> 2026-02-09
?x - ?y -> 2025-12-11
?signed + "P1D"^^xsd:dayTimeDuration -> 2026-01-11
?signed + "P2D"^^xsd:dayTimeDuration -> None
?signed + "P7D"^^xsd:dayTimeDuration -> None
?signed + "P10D"^^xsd:dayTimeDuration -> None
?signed + "P14D"^^xsd:dayTimeDuration -> 2026-01-24
?signed + "P30D"^^xsd:dayTimeDuration -> None
?signed - "P1D"^^xsd:dayTimeDuration -> 2026-01-09
?signed - "P2D"^^xsd:dayTimeDuration -> 2026-01-08
?signed - "P7D"^^xsd:dayTimeDuration -> 2026-01-03
?signed - "P10D"^^xsd:dayTimeDuration -> 2025-12-31
?signed - "P14D"^^xsd:dayTimeDuration -> 2025-12-27
?signed - "P30D"^^xsd:dayTimeDuration -> 2025-12-11
?signed + "P30D"^^xsd:dayTimeDuration > "2026-02-01"^^xsd:date -> no row
?signed > "2026-02-01"^^xsd:date - "P30D"^^xsd:dayTimeDuration -> http://example.org/deal
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
