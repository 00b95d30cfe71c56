#!/usr/bin/env bash
# cyclonedx-bom 7.5.0.
#
# Most engineers expect that cyclonedx-py lists what a requirements file
# installs, and that a constraints file in it (-c) gives versions or is
# ignored: for pip it installs nothing.
#
# Seen: each line of the constraints file becomes a component of its own. Six
# is listed though nothing asks for it, and idna is listed twice, once
# without a version and once with the version from the constraint.
#
# Why it matters: with one shared constraints file each product's list names
# all packages of the house: scanners report packages that are not installed,
# and the installed one also appears without a version.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
python3 -m venv product
venv/bin/pip install --quiet --disable-pip-version-check 'cyclonedx-bom==7.5.0'

printf -- '-c constraints.txt\nidna>=3\n' > requirements.txt
printf 'idna==3.10\nsix==1.17.0\n' > constraints.txt
product/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
product/bin/pip freeze > installed.txt
venv/bin/cyclonedx-py requirements requirements.txt -o listed.json 2> warnings.txt || cat warnings.txt

cat > check.py <<'PY'
import json
from pathlib import Path

print("installed:", Path("installed.txt").read_text().split())
components = json.loads(Path("listed.json").read_text())["components"]
print("listed:", sorted((each["name"], each.get("version", "no version")) for each in components))
PY

cat > expected.txt <<'TXT'
installed: ['idna==3.10']
listed: [('idna', '3.10'), ('idna', 'no version'), ('six', '1.17.0')]
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
