#!/usr/bin/env bash
# num2words 0.5.14.
#
# Most engineers expect that a negative number keeps its minus in words,
# whatever its size.
#
# Seen: -1.5 is 'minus one point five', but each number between 0 and -1 is read
# without a minus, as a float, a Decimal or a text: -0.5 is 'zero point five'.
# So in most languages that the package has, and right in a few, such as Italian
# and Hungarian. As a currency the same number has its minus.
#
# Why it matters: a loss of 0.5 percent is read out or printed as a gain, next to
# larger numbers that are right.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'num2words==0.5.14'

cat > check.py <<'PY'
from decimal import Decimal

from num2words import num2words

for number in (-1.5, -0.5, Decimal("-0.5"), "-0.25", -0.999, -1):
    print(repr(number), "->", num2words(number))
print(-0.5, "USD ->", num2words(-0.5, to="currency", currency="USD"))
for language in ("de", "es", "fr", "ja", "nl", "pt", "ru", "it", "hu"):
    print(language, "->", num2words(0.5, lang=language), "|", num2words(-0.5, lang=language))
PY

cat > expected.txt <<'TXT'
-1.5 -> minus one point five
-0.5 -> zero point five
Decimal('-0.5') -> zero point five
'-0.25' -> zero point two five
-0.999 -> zero point nine nine nine
-1 -> minus one
-0.5 USD -> minus zero dollars, fifty cents
de -> null Komma fünf | null Komma fünf
es -> cero punto cinco | cero punto cinco
fr -> zéro virgule cinq | zéro virgule cinq
ja -> 零点五 | 零点五
nl -> nul komma vijf | nul komma vijf
pt -> zero vírgula cinco | zero vírgula cinco
ru -> ноль целых пять десятых | ноль целых пять десятых
it -> zero virgola cinque | meno zero virgola cinque
hu -> nulla egész öt tized | mínusz nulla egész öt tized
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
