#!/usr/bin/env bash
# babel 2.19.0.
#
# Most engineers expect that parse_time reads what format_time wrote in the same
# locale and format, or refuses it.
#
# Seen: in 168 of the 352 locales with a clock of twelve hours, half past three
# in the afternoon comes back as half past three at night, among them English of
# Canada, Spanish of Mexico, Greek, Arabic and Korean: only the letters 'pm' are
# known, 'p.m.' and the locale's own word are not. English of Britain writes 24
# hours, and there even '3:30 pm' is at night.
#
# Why it matters: a person's own spelling of an appointment moves it by twelve
# hours, without an error.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'babel==2.19.0'

cat > check.py <<'PY'
from datetime import time

from babel.dates import format_time, get_time_format, parse_time
from babel.localedata import locale_identifiers

AFTERNOON = time(15, 30)


def again(locale):
    return parse_time(format_time(AFTERNOON, "short", locale=locale), locale=locale, format="short")


twelve = []
for locale in locale_identifiers():
    pattern = get_time_format("short", locale=locale).pattern
    if "a" in pattern or "B" in pattern:
        twelve.append(locale)
wrong = [locale for locale in twelve if again(locale) != AFTERNOON]
print(len(wrong), "of", len(twelve), "locales with a clock of twelve hours")
for locale in ("en_US", "en_CA", "es_MX", "el", "ar", "ko"):
    print(locale, ascii(format_time(AFTERNOON, "short", locale=locale)), "->", again(locale))
for text, locale in (("3:30 pm", "en_GB"), ("3:30 p.m.", "en_US"), ("3:30 pm", "en_US")):
    print(locale, repr(text), "->", parse_time(text, locale=locale))
PY

cat > expected.txt <<'TXT'
168 of 352 locales with a clock of twelve hours
en_US '3:30\u202fPM' -> 15:30:00
en_CA '3:30\u202fp.m.' -> 03:30:00
es_MX '3:30\u202fp.m.' -> 03:30:00
el '3:30\u202f\u03bc.\u03bc.' -> 03:30:00
ar '3:30 \u0645' -> 03:30:00
ko '\uc624\ud6c4 3:30' -> 03:30:00
en_GB '3:30 pm' -> 03:30:00
en_US '3:30 p.m.' -> 03:30:00
en_US '3:30 pm' -> 15:30:00
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
