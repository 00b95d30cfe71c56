#!/usr/bin/env bash
# pydantic-settings 2.16.3, with pydantic 2.14.4.
#
# Most engineers expect that variables that fill a dict[str, Any] through a
# nested delimiter are all text, or are all read as JSON, and that the depth
# of a key does not matter.
#
# Seen: one level down MEM_TAGS__X=42 is the text '42'; two levels down
# MEM_TAGS__IN__X=42 is the number 42. There true is a bool, null is None, 1e5
# is 100000.0, NaN is a float, while 007 stays text.
#
# Why it matters: an id or a token that looks like a number changes its type
# when a key is moved one level down, and only for some values. Give such
# values a declared type.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'pydantic-settings==2.16.3' 'pydantic==2.14.4'

cat > check.py <<'PY'
import os
from typing import Any

from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_nested_delimiter="__", env_prefix="MEM_")
    tags: dict[str, Any] = {}


def show(**variables):
    os.environ.update(variables)
    print(variables, "->", Settings().tags)
    for name in variables:
        del os.environ[name]


for value in ("42", "007", "1e5", "true", "null", "[1]", '"a"', "NaN"):
    show(MEM_TAGS__X=value, MEM_TAGS__IN__X=value)
show(MEM_TAGS='{"x": "42"}', MEM_TAGS__IN__Y="42")
show(MEM_TAGS='{"x": {"Y": "a"}}', MEM_TAGS__X__Y="b")
PY

cat > expected.txt <<'TXT'
{'MEM_TAGS__X': '42', 'MEM_TAGS__IN__X': '42'} -> {'x': '42', 'in': {'x': 42}}
{'MEM_TAGS__X': '007', 'MEM_TAGS__IN__X': '007'} -> {'x': '007', 'in': {'x': '007'}}
{'MEM_TAGS__X': '1e5', 'MEM_TAGS__IN__X': '1e5'} -> {'x': '1e5', 'in': {'x': 100000.0}}
{'MEM_TAGS__X': 'true', 'MEM_TAGS__IN__X': 'true'} -> {'x': 'true', 'in': {'x': True}}
{'MEM_TAGS__X': 'null', 'MEM_TAGS__IN__X': 'null'} -> {'x': 'null', 'in': {'x': None}}
{'MEM_TAGS__X': '[1]', 'MEM_TAGS__IN__X': '[1]'} -> {'x': '[1]', 'in': {'x': [1]}}
{'MEM_TAGS__X': '"a"', 'MEM_TAGS__IN__X': '"a"'} -> {'x': '"a"', 'in': {'x': 'a'}}
{'MEM_TAGS__X': 'NaN', 'MEM_TAGS__IN__X': 'NaN'} -> {'x': 'NaN', 'in': {'x': nan}}
{'MEM_TAGS': '{"x": "42"}', 'MEM_TAGS__IN__Y': '42'} -> {'x': '42', 'in': {'y': 42}}
{'MEM_TAGS': '{"x": {"Y": "a"}}', 'MEM_TAGS__X__Y': 'b'} -> {'x': {'Y': 'a', 'y': 'b'}}
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
