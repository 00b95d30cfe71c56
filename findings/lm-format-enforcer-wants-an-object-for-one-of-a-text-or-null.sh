#!/usr/bin/env bash
# lm-format-enforcer 0.11.3.
#
# Most engineers expect that a schema with oneOf lets its choices through, as
# anyOf does, or that it is refused if it cannot be enforced.
#
# Seen: choices of oneOf are merged as if each were an object. For a text or null
# the model may write nothing but an object, and any object will do, so what comes
# out is never valid. With anyOf in its place the same choices are right, and
# oneOf of objects is right, too.
#
# Why it matters: the enforcer promises output that fits the schema, and here it
# forces output that cannot, without an error; oneOf is how OpenAPI and other
# generators write a union.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'lm-format-enforcer==0.11.3'

cat > check.py <<'PY'
import logging

logging.disable(logging.CRITICAL)
from lmformatenforcer import JsonSchemaParser  # noqa: E402


def is_let_through(schema, text):
    parser = JsonSchemaParser(schema)
    for character in text:
        if character not in parser.get_allowed_characters():
            return False
        parser = parser.add_character(character)
    return parser.can_end()


def choices_of(*types):
    return [{"type": each} for each in types]


for choices in (choices_of("string", "null"), choices_of("integer", "boolean"), choices_of("string")):
    for word in ("anyOf", "oneOf"):
        schema = {word: choices}
        print(schema)
        for text in ('"tea"', "null", "7", "true", "{}", '{"a": 1}'):
            print("  ", text, is_let_through(schema, text))
named = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
sized = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
for word in ("anyOf", "oneOf"):
    print(word, "of two objects", end=" ")
    print([is_let_through({word: [named, sized]}, text) for text in ('{"name": "tea"}', '{"size": 7}')])
PY

cat > expected.txt <<'TXT'
{'anyOf': [{'type': 'string'}, {'type': 'null'}]}
   "tea" True
   null True
   7 False
   true False
   {} False
   {"a": 1} False
{'oneOf': [{'type': 'string'}, {'type': 'null'}]}
   "tea" False
   null False
   7 False
   true False
   {} True
   {"a": 1} True
{'anyOf': [{'type': 'integer'}, {'type': 'boolean'}]}
   "tea" False
   null False
   7 True
   true True
   {} False
   {"a": 1} False
{'oneOf': [{'type': 'integer'}, {'type': 'boolean'}]}
   "tea" False
   null False
   7 False
   true False
   {} True
   {"a": 1} True
{'anyOf': [{'type': 'string'}]}
   "tea" True
   null False
   7 False
   true False
   {} False
   {"a": 1} False
{'oneOf': [{'type': 'string'}]}
   "tea" False
   null False
   7 False
   true False
   {} True
   {"a": 1} True
anyOf of two objects [True, True]
oneOf of two objects [True, True]
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
