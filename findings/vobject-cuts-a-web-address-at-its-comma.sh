#!/usr/bin/env bash
# vobject 0.9.9.
#
# Most engineers expect that a web address in a vCard is read whole, and that a
# card that is read and written again says what it said.
#
# Seen: in each property that the package does not know as a list or as parts, the
# value ends at the first comma. The address http://maps.example/?at=59.9,10.7
# becomes http://maps.example/?at=59.9, of two nicknames one is left, and a
# picture in the card is left without its data. Written again, the rest is gone.
# The three are right by the standard: a URI has no escaped commas, and nicknames
# are a list. Categories keep all values.
#
# Why it matters: contacts that are imported lose what stands behind the comma
# without a warning, and the file that is written back has lost it, too.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'vobject==0.9.9'

cat > check.py <<'PY'
import vobject

lines = (
    "URL:http://maps.example/?at=59.9,10.7",
    "NICKNAME:Ana,Annie",
    "PHOTO:data:image/png;base64,iVBORw0KGgo=",
    "IMPP:xmpp:ana@chat.example?message;body=Hi,Ana",
    "NOTE:tea\\, no milk",
    "CATEGORIES:friends,Oslo",
)
for line in lines:
    card = vobject.readOne("\r\n".join(("BEGIN:VCARD", "VERSION:4.0", "FN:Ana Berg", line, "END:VCARD", "")))
    name = line.partition(":")[0]
    written = [each for each in card.serialize().split("\r\n") if each.startswith(name)]
    print(line)
    print("   read   ", repr(card.contents[name.lower()][0].value))
    print("   written", *written)
PY

cat > expected.txt <<'TXT'
URL:http://maps.example/?at=59.9,10.7
   read    'http://maps.example/?at=59.9'
   written URL:http://maps.example/?at=59.9
NICKNAME:Ana,Annie
   read    'Ana'
   written NICKNAME:Ana
PHOTO:data:image/png;base64,iVBORw0KGgo=
   read    'data:image/png;base64'
   written PHOTO:data:image/png\;base64
IMPP:xmpp:ana@chat.example?message;body=Hi,Ana
   read    'xmpp:ana@chat.example?message;body=Hi'
   written IMPP:xmpp:ana@chat.example?message\;body=Hi
NOTE:tea\, no milk
   read    'tea, no milk'
   written NOTE:tea\, no milk
CATEGORIES:friends,Oslo
   read    ['friends', 'Oslo']
   written CATEGORIES:friends,Oslo
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
