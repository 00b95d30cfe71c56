"""The MCP server: the answers to a client's requests, and the two transports.

``entrypoints/access`` knows the clients and their grants. ``desk``, with ``operator_desk`` for an
operator, answers without knowing the protocol; ``protocol`` speaks it, with the official SDK;
``stdio`` and ``streamable_http`` are the transports. Only the last three import the SDK, which an
extra installs.
"""
