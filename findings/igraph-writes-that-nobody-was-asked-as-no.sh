#!/usr/bin/env bash
# igraph 1.0.0.
#
# Most engineers expect that a missing value is left out of a GraphML or GML file, or is
# read back as missing.
#
# Seen: None among true and false is written as false, None among texts as the text None,
# and only None among numbers is left out. A column that is None throughout becomes false
# in GraphML. Whole numbers get 15 digits, so 12345678901234567 comes back as another
# number, and a column of texts and numbers is gone, from GraphML without a warning.
# Pickle keeps all of it.
#
# Why it matters: "consent not known" becomes "no consent", a missing phone becomes a
# phone called None, and ids of 17 digits no longer match those of the other system.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'igraph==1.0.0'

cat > check.py <<'PY'
import warnings

import igraph

columns = {
    "name": ["Ana", "Bo", "Cy"],
    "phone": ["555 0101", None, ""],
    "consent": [True, None, False],
    "age": [41, None, 0],
    "not_asked": [None, None, None],
    "number": [12345678901234567, 2, 3],
    "code": ["A1", 7, "C3"],
}
graph = igraph.Graph(3, vertex_attrs=columns)
for form in ("pickle", "graphml", "gml"):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        graph.write(f"people.{form}", format=form)
    again = igraph.Graph.Read(f"people.{form}", format=form)
    print(form, "| warnings:", len(warned))
    for name, values in columns.items():
        got = again.vs[name] if name in again.vs.attributes() else "is gone"
        same = repr(got) == repr(values)
        print("  ", name, "as it was" if same else f"{values} -> {got}")
PY

cat > expected.txt <<'TXT'
pickle | warnings: 0
   name as it was
   phone as it was
   consent as it was
   age as it was
   not_asked as it was
   number as it was
   code as it was
graphml | warnings: 0
   name as it was
   phone ['555 0101', None, ''] -> ['555 0101', 'None', '']
   consent [True, None, False] -> [True, False, False]
   age [41, None, 0] -> [41.0, nan, 0.0]
   not_asked [None, None, None] -> [False, False, False]
   number [12345678901234567, 2, 3] -> [1.23456789012346e+16, 2.0, 3.0]
   code ['A1', 7, 'C3'] -> is gone
gml | warnings: 3
   name as it was
   phone ['555 0101', None, ''] -> ['555 0101', 'None', '']
   consent [True, None, False] -> [1.0, 0.0, 0.0]
   age [41, None, 0] -> [41.0, nan, 0.0]
   not_asked [None, None, None] -> is gone
   number [12345678901234567, 2, 3] -> [1.23456789012346e+16, 2.0, 3.0]
   code ['A1', 7, 'C3'] -> is gone
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
