"""The ways in: the command line and the MCP server. Wires nothing; asks ``bootstrap``."""
