"""The parts that answer over a connection: the HTTP API, the page for people, the MCP server."""
