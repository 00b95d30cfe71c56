#!/usr/bin/env bash
# cyclonedx-bom 7.5.0.
#
# Most engineers expect that a list of components says 1.16.0 for
# six==1.16.*, or says that no version is pinned, as it does for a range, and
# that idna==v3.10 is version 3.10, as it is for pip.
#
# Seen: whatever follows == is the version: 1.16.* and v3.10, also in the
# package URL, where the star is %2A. No warning comes, unlike for attrs,
# where the two bounds leave one version.
#
# Why it matters: no release has these versions, so a scanner that looks the
# package URL up finds no advisory for it, and the list looks complete.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
python3 -m venv product
venv/bin/pip install --quiet --disable-pip-version-check 'cyclonedx-bom==7.5.0'

printf 'six==1.16.*\nidna==v3.10\nattrs>=24.1.0,<=24.1.0\n' > requirements.txt
product/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
product/bin/pip freeze > installed.txt
venv/bin/cyclonedx-py requirements requirements.txt -o listed.json 2> warnings.txt || cat warnings.txt

cat > check.py <<'PY'
import json
from pathlib import Path

print("installed:", Path("installed.txt").read_text().split())
warnings = Path("warnings.txt").read_text()
for each in json.loads(Path("listed.json").read_text())["components"]:
    print(each["name"], each.get("version"), each["purl"], "warned:", f"name={each['name']}," in warnings)
PY

cat > expected.txt <<'TXT'
installed: ['attrs==24.1.0', 'idna==3.10', 'six==1.16.0']
attrs None pkg:pypi/attrs warned: True
idna v3.10 pkg:pypi/idna@v3.10 warned: False
six 1.16.* pkg:pypi/six@1.16.%2A warned: False
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
