#!/usr/bin/env bash
# rapidfuzz 3.14.6.
#
# Most engineers expect that default_process lower-cases and drops
# punctuation, and keeps the letters of every script.
#
# Seen: combining marks become spaces as well. The vowel signs of Hindi are
# such marks, so the words for day and poor are both 'd n' and score 100 with
# every measure, instead of 67. Thai tiger and mat, which differ in a tone
# mark, score 100 with token_sort_ratio. C++ and C# are both 'c', -5 is 5, and
# two different emoji are both empty, which is 100 for ratio and 0 for WRatio.
#
# Why it matters: merging names or notes by a score of 100 joins different
# people and things in languages that write vowels as marks, and text with
# decomposed accents is broken into pieces. Normalise to NFC and compare
# without the processor there.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'rapidfuzz==3.14.6'

cat > check.py <<'PY'
from rapidfuzz import fuzz, process, utils

clean = utils.default_process
for label, a, b in (
    ("C++ and C#", "C++", "C#"),
    ("minus five and five", "-5", "5"),
    ("thumbs up and down", "\N{THUMBS UP SIGN}", "\N{THUMBS DOWN SIGN}"),
    ("Hindi: day and poor", "\u0926\u093f\u0928", "\u0926\u0940\u0928"),
    ("Thai: tiger and mat", "\u0e40\u0e2a\u0e37\u0e2d", "\u0e40\u0e2a\u0e37\u0e48\u0e2d"),
):
    scores = [
        (score.__name__, round(score(a, b), 1), round(score(a, b, processor=clean), 1))
        for score in (fuzz.ratio, fuzz.token_sort_ratio, fuzz.token_set_ratio, fuzz.WRatio)
    ]
    print(label, ascii(clean(a)), ascii(clean(b)), scores)
print(process.extractOne("C#", ["C++", "C#"], processor=clean))
print(ascii(clean("Jose\u0301phine")), ascii(clean("Jos\u00e9phine")))
print([score("", "") for score in (fuzz.ratio, fuzz.token_sort_ratio, fuzz.token_set_ratio, fuzz.WRatio)])
PY

cat > expected.txt <<'TXT'
C++ and C# 'c' 'c' [('ratio', 40.0, 100.0), ('token_sort_ratio', 40.0, 100.0), ('token_set_ratio', 40.0, 100.0), ('WRatio', 60.0, 100.0)]
minus five and five '5' '5' [('ratio', 66.7, 100.0), ('token_sort_ratio', 66.7, 100.0), ('token_set_ratio', 66.7, 100.0), ('WRatio', 90.0, 100.0)]
thumbs up and down '' '' [('ratio', 0.0, 100.0), ('token_sort_ratio', 0.0, 100.0), ('token_set_ratio', 0.0, 0.0), ('WRatio', 0.0, 0.0)]
Hindi: day and poor '\u0926 \u0928' '\u0926 \u0928' [('ratio', 66.7, 100.0), ('token_sort_ratio', 66.7, 100.0), ('token_set_ratio', 66.7, 100.0), ('WRatio', 66.7, 100.0)]
Thai: tiger and mat '\u0e40\u0e2a \u0e2d' '\u0e40\u0e2a  \u0e2d' [('ratio', 88.9, 88.9), ('token_sort_ratio', 88.9, 100.0), ('token_set_ratio', 88.9, 100.0), ('WRatio', 88.9, 95.0)]
('C++', 100.0, 0)
'jose phine' 'jos\xe9phine'
[100.0, 100.0, 0.0, 0.0]
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
