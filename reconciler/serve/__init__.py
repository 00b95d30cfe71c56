"""What answers over a connection: the HTTP API, the page for people, the MCP server."""
