#!/usr/bin/env bash
# basic-memory 0.24.1, run on Python 3.12 or newer.
#
# Most engineers expect that notes with the titles C and C++, Zoë and Zoe, or of
# two emoji are two notes, as their files are.
#
# Seen: write_note compares addresses in which accents, signs and emoji are gone
# and other alphabets are spelt in Latin letters. The second note is refused with
# "already exists" and the path of a file that does not exist, and overwrite=True
# sends back to overwrite=False. Asked for the second path, read_note gives the
# first note; between two emoji it finds nothing.
#
# Why it matters: an agent that keeps a note for each person reads Zoë's where
# Zoe's is meant, and has no way to write Zoe's in the same folder. Give a title
# that differs in letters or digits of its own.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'basic-memory==0.24.1'

cat > check.py <<'PY'
import asyncio
import os
import re
from pathlib import Path

here = str(Path.cwd())
os.environ |= {"HOME": here, "BASIC_MEMORY_HOME": f"{here}/main"}
os.environ["BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED"] = "false"

import basic_memory.mcp.tools  # noqa: F401 (registers them)
from basic_memory.mcp.server import mcp
from fastmcp import Client


async def main():
    async with Client(mcp) as client:
        named = {"project_name": "crm", "project_path": f"{here}/crm"}
        await client.call_tool("create_memory_project", named)

        async def call(tool, **given):
            try:
                text = (await client.call_tool(tool, {"project": "crm"} | given)).content[0].text
            except Exception as error:
                text = str(error)
            return text

        async def write(title, **more):
            given = {"title": title, "directory": "people", "content": f"about {title}"}
            told = (await call("write_note", **given, **more)).splitlines()
            print(f"write {title} {more or ''}:", told[0].strip("# "))

        for first, second in (("Zoë", "Zoe"), ("C++", "C"), ("🍜", "🍣"), ("Ана", "Ana")):
            await write(first)
            await write(second)
            await write(second, overwrite=True)
            read = await call("read_note", identifier=f"people/{second}")
            print(f"read {second}:", read.splitlines()[-1])
    print(sorted(path.name for path in Path("crm/people").iterdir()))


asyncio.run(main())
PY

cat > expected.txt <<'TXT'
write Zoë : Created note
write Zoe : Error: Note already exists
write Zoe {'overwrite': True}: Error: Note is at a different path
read Zoe: about Zoë
write C++ : Created note
write C : Error: Note already exists
write C {'overwrite': True}: Error: Note is at a different path
read C: about C++
write 🍜 : Created note
write 🍣 : Error: Note already exists
write 🍣 {'overwrite': True}: Error: Note already exists
read 🍣: further with `search_notes(query="people/🍣", project="crm")`.
write Ана : Created note
write Ana : Error: Note already exists
write Ana {'overwrite': True}: Error: Note is at a different path
read Ana: about Ана
['C++.md', 'Zoë.md', 'Ана.md', '🍜.md']
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
