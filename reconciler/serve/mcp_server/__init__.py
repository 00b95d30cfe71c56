"""The MCP server: the answers to a client's requests, and the two transports.

``serve/access`` checks the clients and their grants. ``desk``, with ``operator_desk`` for an
operator, answers without knowing the protocol; ``protocol`` speaks it, with the official SDK, over
standard input and output; ``streamable_http`` does so over HTTP. Only the last two import the SDK,
which an extra installs.
"""
