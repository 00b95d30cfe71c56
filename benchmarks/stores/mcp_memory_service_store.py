"""mcp-memory-service: the service behind its tools; the scope is a store, the contact a tag."""

import asyncio
import sqlite3
import sys

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    import pysqlite3 as sqlite3

    sys.modules["sqlite3"] = sqlite3

from mcp_memory_service.services.memory_service import MemoryService
from mcp_memory_service.storage.factory import create_storage_instance
from steps import FOLDER, STEPS


async def main() -> None:
    storage = await create_storage_instance(f"{FOLDER}/memory.db")
    service, hashes = MemoryService(storage), {}
    for step in STEPS:
        fact, old = step["fact"], step["old"]
        tags = [f"contact:{fact['contact']}", *filter(None, [fact.get("tag")])]
        if step["do"] == "delete":
            await service.delete_memory(hashes[fact["tell"]])
        elif old:
            text = f"No longer: {fact['text']}" if step["do"] == "end" else fact["text"]
            _, _, made = await service.evolve_memory(hashes[old["tell"]], text, tags=tags)
            hashes[fact["tell"]] = made
        else:
            made = await service.store_memory(fact["text"], tags=tags, store=fact["scope"])
            hashes[fact["tell"]] = made.get("memory", {}).get("content_hash")


asyncio.run(main())
