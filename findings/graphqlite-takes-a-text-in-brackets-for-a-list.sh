#!/usr/bin/env bash
# graphqlite 0.12.0, run with pysqlite3-binary 0.5.4.post2.
#
# Most engineers expect that a text stays a text, whatever its first character.
#
# Seen: +, reverse, size and CONTAINS look into the text. If it begins with [ and is a
# JSON list, it is that list; if it is none, the answer is null. So '[urgent] call Ana'
# + '!' is null, and CONTAINS 'call' does not find it, nor one with a curly bracket;
# '[1, 2]' + '!' is a list of three, and size('[1, 2]') is 2. SET n.text = n.text + '!'
# stores the null, and the text is gone. Read alone, compared with = or cut with
# substring, the text is right.
#
# Why it matters: notes of people begin with [urgent] or [x]; a search leaves them out
# and an appended word erases them, without an error.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'graphqlite==0.12.0' 'pysqlite3-binary==0.5.4.post2; sys_platform == "linux"'

cat > check.py <<'PY'
import sqlite3
import sys

if not hasattr(sqlite3.Connection, "enable_load_extension"):  # the package loads an extension
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3

import graphqlite

graph = graphqlite.connect(":memory:")
texts = ("call Ana", "[urgent] call Ana", "{draft} call Ana", "[1, 2]", "[x]")
for number, text in enumerate(texts):
    graph.cypher("CREATE (:Note {number: $number, text: $text})", {"number": number, "text": text})


def show(expression):
    rows = graph.cypher(f"MATCH (n:Note) RETURN {expression} AS seen ORDER BY n.number")
    print(expression, "->", *(repr(row["seen"]) for row in rows))


show("n.text")
show("'Note: ' + n.text")
show("size(n.text)")
show("reverse(n.text)")
show("n.text = '[1, 2]'")
show("substring(n.text, 0, 4)")
found = graph.cypher("MATCH (n:Note) WHERE n.text CONTAINS 'call' RETURN n.text AS text")
print("CONTAINS 'call' ->", *(repr(row["text"]) for row in found))
graph.cypher("MATCH (n:Note) SET n.text = n.text + '!'")
print("after SET n.text = n.text + '!'")
show("n.text")
PY

cat > expected.txt <<'TXT'
n.text -> 'call Ana' '[urgent] call Ana' '{draft} call Ana' '[1, 2]' '[x]'
'Note: ' + n.text -> 'Note: call Ana' None 'Note: {draft} call Ana' ['Note: ', 1, 2] None
size(n.text) -> 8 17 16 2 3
reverse(n.text) -> 'anA llac' None 'anA llac }tfard{' [2, 1] None
n.text = '[1, 2]' -> False False False True False
substring(n.text, 0, 4) -> 'call' '[urg' '{dra' '[1, ' '[x]'
CONTAINS 'call' -> 'call Ana'
after SET n.text = n.text + '!'
n.text -> 'call Ana!' None '{draft} call Ana!' [1, 2, '!'] None
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
