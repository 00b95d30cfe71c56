#!/usr/bin/env bash
# json-repair 0.64.6.
#
# Most engineers expect that a reply with several JSON objects, one per line,
# gives a list of them, as the package does for an object that is followed by a
# list.
#
# Seen: an object that follows another one with the same keys, and values of the
# same types, takes its place. Of three facts on three lines the last is left, and
# not as a list but as one object; so it is for objects in fences of their own and
# for lists of one length. One value of another type, or one key more, and both
# are kept. With commas between them all are kept, too.
#
# Why it matters: models often answer an extraction with one object per line, all
# of one shape, and all facts but the last are lost without an error. Tests with
# two objects of different shape see a list. Only strict=True refuses it.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'json-repair==0.64.6'

cat > check.py <<'PY'
import json_repair

replies = (
    '{"fact": "tea"}\n{"fact": "coffee"}\n{"fact": "milk"}',
    'First:\n```json\n{"fact": "tea"}\n```\nSecond:\n```json\n{"fact": "coffee"}\n```',
    '["tea"]\n["coffee"]',
    '{"fact": "tea"}\n{"fact": 7}',
    '{"fact": "tea"}\n{"fact": "coffee", "sure": true}',
    '{"fact": "tea"}\n["coffee"]',
    '{"fact": "tea"},\n{"fact": "coffee"}',
    '[{"fact": "tea"}\n{"fact": "coffee"}]',
)
for reply in replies:
    print(repr(reply), "->", json_repair.loads(reply))
PY

cat > expected.txt <<'TXT'
'{"fact": "tea"}\n{"fact": "coffee"}\n{"fact": "milk"}' -> {'fact': 'milk'}
'First:\n```json\n{"fact": "tea"}\n```\nSecond:\n```json\n{"fact": "coffee"}\n```' -> {'fact': 'coffee'}
'["tea"]\n["coffee"]' -> ['coffee']
'{"fact": "tea"}\n{"fact": 7}' -> [{'fact': 'tea'}, {'fact': 7}]
'{"fact": "tea"}\n{"fact": "coffee", "sure": true}' -> [{'fact': 'tea'}, {'fact': 'coffee', 'sure': True}]
'{"fact": "tea"}\n["coffee"]' -> [{'fact': 'tea'}, ['coffee']]
'{"fact": "tea"},\n{"fact": "coffee"}' -> [{'fact': 'tea'}, {'fact': 'coffee'}]
'[{"fact": "tea"}\n{"fact": "coffee"}]' -> [{'fact': 'tea'}, {'fact': 'coffee'}]
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
