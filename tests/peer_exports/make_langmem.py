"""Write langmem.jsonl and langmem.sqlite with the real LangMem on LangGraph's SQLite store.

The lines are the store's items, as ``Item.dict()`` gives them. Run with the Python of a virtual
environment in which langmem and langgraph-checkpoint-sqlite are installed; see README.md.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langgraph.store.sqlite import SqliteStore
from langmem import create_manage_memory_tool, create_memory_store_manager

# user, day, memory
SAID = [
    ("anna", "2025-06-02 09:00:00", "Moved to Mumbai."),
    ("anna", "2025-01-10 09:00:00", "Lives in Pune."),
    ("anna", "2025-01-10 09:00:00", "Is vegetarian."),
    ("ben", "2025-04-05 09:00:00", "Lives in Oslo."),
]
LATER = "2025-07-01 09:00:00"


class ScriptedModel(FakeMessagesListChatModel):
    """A chat model that answers with what it was given, whatever tools it is bound to."""

    def bind_tools(self, *_: object, **__: object) -> ScriptedModel:
        return self


def by_tool(store: SqliteStore) -> None:
    """What an agent writes with LangMem's tool, called as LangGraph calls it."""
    tool = create_manage_memory_tool(namespace=("memories", "{langgraph_user_id}"), store=store)
    for user, _, text in SAID:
        tool.invoke(
            {"content": text, "action": "create"},
            config={"configurable": {"langgraph_user_id": user}},
        )


def by_manager(store: SqliteStore) -> None:
    """What LangMem's background manager writes: the kind of a memory, and its content."""
    call = {"name": "Memory", "args": {"content": "Plays chess on Fridays."}, "id": "call-1"}
    model = ScriptedModel(responses=[AIMessage(content="", tool_calls=[call])])
    manager = create_memory_store_manager(
        model, namespace=("memories", "{langgraph_user_id}"), store=store, query_limit=1
    )
    said = [{"role": "user", "content": "I play chess on Fridays."}]
    manager.invoke({"messages": said}, config={"configurable": {"langgraph_user_id": "ben"}})


def main() -> None:
    lines, file = Path(sys.argv[1]), Path(sys.argv[2])
    file.unlink(missing_ok=True)
    with SqliteStore.from_conn_string(str(file)) as store:
        store.setup()
        by_tool(store)
        by_manager(store)
        store.put(("memories", "ben"), "profile", {"kind": "Profile", "content": {"age": 41}})
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE store SET created_at = ?, updated_at = ?", (LATER, LATER))
        for user, day, text in SAID:  # the store dates everything now
            connection.execute(
                "UPDATE store SET created_at = ?, updated_at = ? WHERE prefix = ? "
                "AND CAST(value AS TEXT) LIKE ?",
                (day, day, f"memories.{user}", f'%"{text}"%'),
            )
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("VACUUM")
    with SqliteStore.from_conn_string(str(file)) as store, lines.open("w") as out:
        for item in store.search((), limit=1000):
            out.write(json.dumps(item.dict(), ensure_ascii=False) + "\n")


main()
