#!/usr/bin/env bash
# ladybug 0.22.0.
#
# Most engineers expect that splitting 'Ana,,Oslo' at the comma gives three
# fields, the second one empty, as Python's split and PostgreSQL's split_part
# do, so that split undoes join.
#
# Seen: string_split, split_part and regexp_split_to_array leave out empty
# fields at the start and in the middle, so the second part is 'Oslo', but
# keep one at the end: 'Ana,Oslo,' has three. list_to_string keeps the empty
# field and leaves out null.
#
# Why it matters: fields shift to the left as soon as one is empty, and a town
# is read as whatever the second column was.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'ladybug==0.22.0'

cat > check.py <<'PY'
import ladybug as lb

conn = lb.Connection(lb.Database(":memory:"))


def show(query):
    print(query, "->", conn.execute(query).get_all()[0][0])


show("RETURN string_split('Ana,,Oslo', ',')")
show("RETURN split_part('Ana,,Oslo', ',', 2)")
show("RETURN split_part('Ana,,Oslo', ',', 3) = ''")
show("RETURN string_split(',Ana,', ',')")
show("RETURN string_split('Ana,Oslo,', ',')")
show("RETURN size(string_split('', ','))")
show("RETURN regexp_split_to_array('Ana,,Oslo', ',')")
show("RETURN list_to_string(',', ['Ana', '', 'Oslo'])")
show("RETURN list_to_string(',', ['Ana', null, 'Oslo'])")
show("RETURN string_split(list_to_string(',', ['Ana', '', 'Oslo']), ',') = ['Ana', '', 'Oslo']")
PY

cat > expected.txt <<'TXT'
RETURN string_split('Ana,,Oslo', ',') -> ['Ana', 'Oslo']
RETURN split_part('Ana,,Oslo', ',', 2) -> Oslo
RETURN split_part('Ana,,Oslo', ',', 3) = '' -> True
RETURN string_split(',Ana,', ',') -> ['Ana', '']
RETURN string_split('Ana,Oslo,', ',') -> ['Ana', 'Oslo', '']
RETURN size(string_split('', ',')) -> 1
RETURN regexp_split_to_array('Ana,,Oslo', ',') -> ['Ana', 'Oslo']
RETURN list_to_string(',', ['Ana', '', 'Oslo']) -> Ana,,Oslo
RETURN list_to_string(',', ['Ana', null, 'Oslo']) -> Ana,Oslo
RETURN string_split(list_to_string(',', ['Ana', '', 'Oslo']), ',') = ['Ana', '', 'Oslo'] -> False
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
