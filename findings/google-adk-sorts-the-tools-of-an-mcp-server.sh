#!/usr/bin/env bash
# google-adk 2.13.0, with mcp 2.3.0.
#
# Most engineers expect that a model is shown the tools of an MCP server in
# the order in which the server lists them, or in that of tool_filter.
#
# Seen: McpToolset sorts the tools by name, capitals first, whatever the
# server or the filter says. A comment in its source gives the reason: the
# same order on every turn, for the context cache.
#
# Why it matters: a server that lists its main tool first loses that order
# with this client and keeps it with others. A comparison of how two clients
# choose a tool then compares two lists.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'google-adk[mcp]==2.13.0' 'mcp==2.3.0'

cat > server.py <<'PY'
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")
for name in ("search", "add", "Zip", "erase"):
    server.add_tool(lambda: "done", name=name)
server.run("stdio")
PY

cat > check.py <<'PY'
import asyncio
import sys

from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(command=sys.executable, args=["-I", "server.py"])


async def listed_by_server():
    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()
        return [tool.name for tool in (await session.list_tools()).tools]


async def listed_by_adk(tool_filter=None):
    params = StdioConnectionParams(server_params=SERVER, timeout=60)
    toolset = McpToolset(connection_params=params, tool_filter=tool_filter)
    names = [tool.name for tool in await toolset.get_tools()]
    await toolset.close()
    return names


async def main():
    print("server:", await listed_by_server())
    print("McpToolset:", await listed_by_adk())
    print("tool_filter search, add:", await listed_by_adk(["search", "add"]))


asyncio.run(main())
PY

cat > expected.txt <<'TXT'
server: ['search', 'add', 'Zip', 'erase']
McpToolset: ['Zip', 'add', 'erase', 'search']
tool_filter search, add: ['add', 'search']
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
