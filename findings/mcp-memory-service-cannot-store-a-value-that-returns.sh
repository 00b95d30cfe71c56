#!/usr/bin/env bash
# mcp-memory-service 12.4.0, run with pysqlite3-binary 0.5.4.post2.
#
# Most engineers expect that a memory that is evolved from "analyst" to "manager"
# can be evolved back, and that two people may like tea.
#
# Seen: a text is kept once in the whole file, without regard to tags, stores,
# capitals and superseded versions. So a value that returns is refused as a
# duplicate of the version that it was replaced in, and the one in between stays
# current, by evolve_memory as by store_memory. "Likes tea." of a second person
# is refused, also in another store, and so is a code that differs in capitals.
#
# Why it matters: an agent that is told "an analyst again" keeps "a manager", and
# a text written without a name belongs to the first who said it. Put the name and
# the day into the text.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'mcp-memory-service==12.4.0' 'pysqlite3-binary==0.5.4.post2; sys_platform == "linux"'

cat > check.py <<'PY'
import sqlite3
import sys

if not hasattr(sqlite3.Connection, "enable_load_extension"):  # the package loads one
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3

import asyncio
import logging
import os

os.environ |= {
    "MCP_MEMORY_BASE_DIR": ".",
    "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
    "MCP_SEMANTIC_DEDUP_ENABLED": "false",  # only equal texts are compared
}
logging.disable()

from mcp_memory_service.services.memory_service import MemoryService
from mcp_memory_service.storage.factory import create_storage_instance


async def main():
    service = MemoryService(await create_storage_instance("./memory.db"))

    async def store(text, tag, store="default"):
        made = await service.store_memory(text, tags=[tag], store=store)
        print(f"store {text!r} {tag} {store}:", made.get("error", "stored"))
        return made.get("memory", {}).get("content_hash")

    first = await store("Works as an analyst.", "ben")
    _, told, second = await service.evolve_memory(first, "Works as a manager.")
    print("evolve to manager:", told)
    _, told, _ = await service.evolve_memory(second, "Works as an analyst.")
    print("evolve back to analyst:", told)
    await store("Works as an analyst.", "ben")
    rows = service.storage.conn.execute("SELECT content FROM memories WHERE superseded_by IS NULL")
    print("current:", [text for (text,) in rows])
    await store("Likes tea.", "ben")
    await store("Likes tea.", "zoe")
    await store("Likes tea.", "zoe", "support")
    await store("The code is aB3.", "ben")
    await store("The code is Ab3.", "ben")


asyncio.run(main())
PY

cat > expected.txt <<'TXT'
store 'Works as an analyst.' ben default: stored
evolve to manager: Memory versioned successfully
evolve back to analyst: Failed to store new version: Duplicate content detected (exact match)
store 'Works as an analyst.' ben default: Duplicate content detected (exact match)
current: ['Works as a manager.']
store 'Likes tea.' ben default: stored
store 'Likes tea.' zoe default: Duplicate content detected (exact match)
store 'Likes tea.' zoe support: Duplicate content detected (exact match); already exists in store 'default'
store 'The code is aB3.' ben default: stored
store 'The code is Ab3.' ben default: Duplicate content detected (exact match)
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
