#!/usr/bin/env bash
# outlines-core 0.2.14.
#
# Most engineers expect that the format time takes a time with a part of a second,
# as RFC 3339 writes it, and that all that is let through is JSON.
#
# Seen: "10:30:00.5" is refused. What may follow the seconds is a backslash, any
# one character and digits, so the model may write "10:30:00\x5", which is no
# JSON. date-time, beside it, has a point, but wants three digits behind it.
#
# Why it matters: the one way to write a part of a second under this format breaks
# the parser of the reply, and the schema is accepted without a word.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'outlines-core==0.2.14'

cat > check.py <<'PY'
import json

from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

CHARACTERS = '"0123456789-T:.Z' + "\\x"
END = len(CHARACTERS)


def is_let_through(schema, text):
    words = Vocabulary(END, {character: [number] for number, character in enumerate(CHARACTERS)})
    guide = Guide(Index(build_regex_from_schema(json.dumps(schema)), words))
    for character in text:
        number = CHARACTERS.index(character)
        if number not in guide.get_tokens():
            return False
        guide.advance(number)
    return END in guide.get_tokens()


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


for name, times in {
    "time": ("10:30:00", "10:30:00Z", "10:30:00.5", "10:30:00.500Z", r"10:30:00\x5", r"10:30:00\.5"),
    "date-time": ("2026-01-01T10:30:00Z", "2026-01-01T10:30:00.500Z", "2026-01-01T10:30:00.5Z"),
}.items():
    print("format", name)
    for time in times:
        reply = f'"{time}"'
        is_allowed = is_let_through({"type": "string", "format": name}, reply)
        print("  ", reply, "let through", is_allowed, "JSON", is_json(reply))
PY

cat > expected.txt <<'TXT'
format time
   "10:30:00" let through True JSON True
   "10:30:00Z" let through True JSON True
   "10:30:00.5" let through False JSON True
   "10:30:00.500Z" let through False JSON True
   "10:30:00\x5" let through True JSON False
   "10:30:00\.5" let through True JSON False
format date-time
   "2026-01-01T10:30:00Z" let through True JSON True
   "2026-01-01T10:30:00.500Z" let through True JSON True
   "2026-01-01T10:30:00.5Z" let through False JSON True
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
