#!/usr/bin/env bash
# llama-index-tools-mcp 0.6.0, with llama-index-core 0.14.25 and mcp 2.3.0.
#
# Most engineers expect that a tool call which the MCP server answers with
# isError gives a ToolOutput with is_error True, and that its content is the
# text the server sent.
#
# Seen: is_error is False, also when the tool raised an error. The content is
# the printed Python object of the whole answer; only raw_output.is_error says
# what happened.
#
# Why it matters: code that asks is_error, to try again or to stop, takes a
# failed refund for a good one, and a model reads a Python object instead of
# the server's sentence.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'llama-index-tools-mcp==0.6.0' 'llama-index-core==0.14.25' 'mcp==2.3.0'

cat > server.py <<'PY'
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent

server = MCPServer("shop")


@server.tool()
def refund(order: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="No such order.")], is_error=True)


@server.tool()
def cancel(order: str) -> CallToolResult:
    raise ValueError("The order was shipped.")


server.run("stdio")
PY

cat > check.py <<'PY'
import asyncio
import sys

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def main():
    client = BasicMCPClient(sys.executable, args=["-I", "server.py"])
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client).to_tool_list_async()}
    for name in ("refund", "cancel"):
        output = await tools[name].acall(order="7")
        print(name, "-> is_error", output.is_error, "raw_output.is_error", output.raw_output.is_error)
    output = await tools["refund"].acall(order="7")
    print("text from the server:", output.raw_output.content[0].text)
    print("content:", output.content)


asyncio.run(main())
PY

cat > expected.txt <<'TXT'
refund -> is_error False raw_output.is_error True
cancel -> is_error False raw_output.is_error True
text from the server: No such order.
content: meta=None content=[TextContent(type='text', text='No such order.', annotations=None, meta=None)] structured_content=None is_error=True result_type='complete'
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
