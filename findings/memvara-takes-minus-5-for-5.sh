#!/usr/bin/env bash
# memvara 0.21.0, run with pysqlite3-binary 0.5.4.post2.
#
# Most engineers expect that -5 after 5, EUR 50 after USD 50 or '>5 mg' after
# '<5 mg' is another value of a fact, as 41 after 40 is.
#
# Seen: values are compared without the signs in them, so each of these counts as
# the same fact said once more: nothing is added, and the first value stays the
# live one. Of the signs only + and - after a letter count, as in A+.
#
# Why it matters: remember() is the exact way in, without a model, and a change of
# sign, currency or bound is lost in it, while the history says that nothing
# changed. Write such values in words.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'memvara==0.21.0' 'pysqlite3-binary==0.5.4.post2; sys_platform == "linux"'

cat > check.py <<'PY'
import sqlite3
import sys

if sqlite3.sqlite_version_info < (3, 42):  # the package needs a newer one
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3


import tempfile
from datetime import UTC, datetime

from memvara import Memvara, NullLLM, entity_key

memory = Memvara(tempfile.mkdtemp() + "/memory.db", llm=NullLLM())
for predicate, first, second in (
    ("age", "40", "41"),
    ("blood_type", "A-", "A+"),
    ("temperature", "5", "-5"),
    ("balance", "120.50", "-120.50"),
    ("limit", "$50", "€50"),
    ("dose", "<5 mg", ">5 mg"),
    ("share", "50", "50%"),
):
    memory.remember("Ana", predicate, first, valid_from=datetime(2026, 1, 1, tzinfo=UTC))
    told = memory.remember("Ana", predicate, second, valid_from=datetime(2026, 3, 1, tzinfo=UTC))
    live = sorted(claim.object for claim in memory.history("Ana", predicate) if claim.state == "live")
    print(f"{predicate}: {first}, then {second} -> added {len(told.added)}, live {live}", end=" ")
    print([entity_key(first), entity_key(second)])
memory.close()
PY

cat > expected.txt <<'TXT'
age: 40, then 41 -> added 1, live ['40', '41'] ['40', '41']
blood_type: A-, then A+ -> added 1, live ['A+', 'A-'] ['a-', 'a+']
temperature: 5, then -5 -> added 0, live ['5'] ['5', '5']
balance: 120.50, then -120.50 -> added 0, live ['120.50'] ['120 50', '120 50']
limit: $50, then €50 -> added 0, live ['$50'] ['50', '50']
dose: <5 mg, then >5 mg -> added 0, live ['<5 mg'] ['5 mg', '5 mg']
share: 50, then 50% -> added 0, live ['50'] ['50', '50']
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
