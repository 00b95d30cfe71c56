"""basic-memory: a project for each scope, a note for each contact, an observation for each fact."""

import asyncio

import basic_memory.mcp.tools  # noqa: F401 (registers them)
from basic_memory.mcp.server import mcp
from fastmcp import Client
from steps import FOLDER, STEPS


def line(fact: dict[str, str], until: str = "") -> str:
    """A fact with its days and tag, as the package's manual writes them."""
    since, until = fact.get("from", fact["at"]), until or fact.get("to", "")
    tag = f" #{fact['tag']}" if "tag" in fact else ""
    return f"- [{fact['slot']}] @valid[{since},{until}) {fact['text']}{tag}"


async def main() -> None:
    async with Client(mcp) as client:
        for scope in ("crm", "support"):
            named = {"project_name": scope, "project_path": f"{FOLDER}/{scope}"}
            await client.call_tool("create_memory_project", named)
        for step in STEPS:
            fact, old = step["fact"], step["old"]
            note = {"identifier": f"people/{fact['contact']}", "project": fact["scope"]}
            if old or step["do"] == "delete":
                new = line(old, step["at"]) if old else ""
                found = {"find_text": line(old or fact), "content": new}
                await client.call_tool("edit_note", note | found | {"operation": "find_replace"})
            if step["do"] not in ("tell", "again"):
                continue
            text = {"content": line(fact | {"at": step["at"]})}
            if (FOLDER / fact["scope"] / f"{note['identifier']}.md").exists():
                await client.call_tool("edit_note", note | text | {"operation": "append"})
            else:
                new = {"directory": "people", "project": fact["scope"], "title": fact["contact"]}
                await client.call_tool("write_note", new | text)


asyncio.run(main())
