#!/usr/bin/env bash
# price-parser 0.5.1.
#
# Most engineers expect that $0.005 is half a cent, that a minus stays, and
# that the amount is the number at the currency sign.
#
# Seen: 0.5, 0.05 and 0.0005 are read as written, but three digits after the
# point make it a sign for thousands even after a lone zero: $0.005 is 5.
# 0.125 EUR is 125, and -5 USD is 5. Of '3 for $10' and 'iPhone 15 for $999'
# the amount is the first number and the sign is from the second.
#
# Why it matters: a price per token, such as $0.005, is stored a thousand
# times too high next to others that are right, and a refund becomes a charge.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'price-parser==0.5.1'

cat > check.py <<'PY'
from price_parser import Price

for text in (
    "$0.5",
    "$0.05",
    "$0.005",
    "$0.0005",
    "0.125 EUR",
    "-5 USD",
    "3 for $10",
    "$999 for iPhone 15",
    "iPhone 15 for $999",
):
    price = Price.fromstring(text)
    print(text, "->", price.amount, price.currency)
PY

cat > expected.txt <<'TXT'
$0.5 -> 0.5 $
$0.05 -> 0.05 $
$0.005 -> 5 $
$0.0005 -> 0.0005 $
0.125 EUR -> 125 EUR
-5 USD -> 5 USD
3 for $10 -> 3 $
$999 for iPhone 15 -> 999 $
iPhone 15 for $999 -> 15 $
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
