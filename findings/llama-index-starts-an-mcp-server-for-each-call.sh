#!/usr/bin/env bash
# llama-index-tools-mcp 0.6.0, with llama-index-core 0.14.25 and mcp 2.3.0.
#
# Most engineers expect that one BasicMCPClient on stdio starts one server
# and talks to it until the program ends, as a client that is kept in a
# variable suggests.
#
# Seen: the list of tools and each call start a server of their own and end
# it afterwards: four processes for a list and three calls. What a call left
# in the server's memory is gone at the next one.
#
# Why it matters: a server that keeps a basket, a login or a cache in memory
# starts empty on each call, and one that loads a model pays for it each time.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'llama-index-tools-mcp==0.6.0' 'llama-index-core==0.14.25' 'mcp==2.3.0'

cat > server.py <<'PY'
from pathlib import Path

from mcp.server.mcpserver import MCPServer

with Path("starts.txt").open("a") as starts:
    starts.write("started\n")

server = MCPServer("shop")
basket = []


@server.tool()
def put(item: str) -> str:
    basket.append(item)
    return f"in the basket: {', '.join(basket)}"


server.run("stdio")
PY

cat > check.py <<'PY'
import asyncio
import sys
from pathlib import Path

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


def starts():
    return len(Path("starts.txt").read_text().splitlines())


async def main():
    client = BasicMCPClient(sys.executable, args=["-I", "server.py"])
    (put,) = await McpToolSpec(client).to_tool_list_async()
    print("servers started after listing the tools:", starts())
    for item in ("tea", "bread", "milk"):
        output = await put.acall(item=item)
        print(f"put {item} -> {output.raw_output.content[0].text}; servers started: {starts()}")


asyncio.run(main())
PY

cat > expected.txt <<'TXT'
servers started after listing the tools: 1
put tea -> in the basket: tea; servers started: 2
put bread -> in the basket: bread; servers started: 3
put milk -> in the basket: milk; servers started: 4
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
