#!/usr/bin/env bash
# mail-parser-reply 1.36.
#
# Most engineers expect that a signature needs its '-- ' line or a closing
# word alone on a line near the end, and that a list with dashes is part of
# the message.
#
# Seen: from the first line that starts with a dash all that follows is the
# signature, also the text after the list and -5 degrees. A list with stars or
# numbers stays. 'Best regards to your mother.' starts a signature with all
# that comes after it. Lines such as 'From: Oslo', 'To: Pune' are taken for
# the head of a quoted mail, and the details of the flight are in no part.
#
# Why it matters: a memory that keeps only the body of the latest reply loses
# the very items that were asked for, and cannot tell. Keep the full text, or
# parse signatures with care.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'mail-parser-reply==1.36'

cat > check.py <<'PY'
from mailparser_reply import EmailReplyParser

for text in (
    "Please buy:\n- milk\n- eggs\n",
    "Please buy:\n* milk\n* eggs\n",
    "Please buy:\n1. milk\n2. eggs\n",
    "Please buy:\n- milk\n- eggs\n\nThe key is under the mat.\n",
    "It was cold.\n\n-5 degrees at noon.\n",
    "- milk\n- eggs\n",
    "Hello,\n\nBest regards to your mother.\nThe key is under the mat.\n",
    "Hello,\n\nThe key is under the mat.\nBest regards to your mother.\n",
    "My flight:\nFrom: Oslo\nTo: Pune\nDate: 5 May\n",
    "My flight:\nDate: 5 May\nFrom: Oslo\nTo: Pune\n",
    "My flight:\nFrom Oslo to Pune on 5 May\n",
):
    mail = EmailReplyParser(languages=["en"]).read(text=text)
    print(repr(text), "->", [(reply.body, reply.signatures) for reply in mail.replies])
PY

cat > expected.txt <<'TXT'
'Please buy:\n- milk\n- eggs\n' -> [('Please buy:', '- milk\n- eggs')]
'Please buy:\n* milk\n* eggs\n' -> [('Please buy:\n* milk\n* eggs', '')]
'Please buy:\n1. milk\n2. eggs\n' -> [('Please buy:\n1. milk\n2. eggs', '')]
'Please buy:\n- milk\n- eggs\n\nThe key is under the mat.\n' -> [('Please buy:', '- milk\n- eggs\n\nThe key is under the mat.')]
'It was cold.\n\n-5 degrees at noon.\n' -> [('It was cold.', '-5 degrees at noon.')]
'- milk\n- eggs\n' -> [('', '- milk\n- eggs')]
'Hello,\n\nBest regards to your mother.\nThe key is under the mat.\n' -> [('Hello,', 'Best regards to your mother.\nThe key is under the mat.')]
'Hello,\n\nThe key is under the mat.\nBest regards to your mother.\n' -> [('Hello,\n\nThe key is under the mat.', 'Best regards to your mother.')]
'My flight:\nFrom: Oslo\nTo: Pune\nDate: 5 May\n' -> [('My flight:', ''), ('', '')]
'My flight:\nDate: 5 May\nFrom: Oslo\nTo: Pune\n' -> [('My flight:', ''), ('', '')]
'My flight:\nFrom Oslo to Pune on 5 May\n' -> [('My flight:\nFrom Oslo to Pune on 5 May', '')]
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
