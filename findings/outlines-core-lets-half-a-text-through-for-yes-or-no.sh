#!/usr/bin/env bash
# outlines-core 0.2.14.
#
# Most engineers expect that a pattern in a schema holds for the text, and that
# all that is let through is JSON.
#
# Seen: the pattern is put between two quotation marks as it is, so an | in it
# takes them apart: for yes|no the model may write `"yes` or `no"` and nothing
# else, inside an object, too. With the choices in parentheses all is right.
#
# Why it matters: the library promises output that fits the schema, and here it
# forces output that no parser reads, for a valid pattern, without an error when
# the schema is compiled.
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

CHARACTERS = '"yesnour{}:'
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


for pattern in ("^(yes|no)$", "^yes|no$", "yes|no"):
    text = {"type": "string", "pattern": pattern}
    whole = {"type": "object", "properties": {"sure": text}, "required": ["sure"]}
    print("pattern", pattern)
    for reply in ('"yes"', '"no"', '"yes', 'no"', "yes"):
        inside = f'{{"sure":{reply}}}'
        print("  ", reply, is_let_through(text, reply), "|", inside, is_let_through(whole, inside))
PY

cat > expected.txt <<'TXT'
pattern ^(yes|no)$
   "yes" True | {"sure":"yes"} True
   "no" True | {"sure":"no"} True
   "yes False | {"sure":"yes} False
   no" False | {"sure":no"} False
   yes False | {"sure":yes} False
pattern ^yes|no$
   "yes" False | {"sure":"yes"} False
   "no" False | {"sure":"no"} False
   "yes True | {"sure":"yes} True
   no" True | {"sure":no"} True
   yes False | {"sure":yes} False
pattern yes|no
   "yes" False | {"sure":"yes"} False
   "no" False | {"sure":"no"} False
   "yes True | {"sure":"yes} True
   no" True | {"sure":no"} True
   yes False | {"sure":yes} False
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
