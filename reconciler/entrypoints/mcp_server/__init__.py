"""The MCP server: the answers to a client's requests, and the two transports.

Who may reach what, and how clients over HTTP are known, is in ``entrypoints/access``; ``desk``
answers, for an operator with ``operator_desk``, without a word of the protocol; ``protocol`` speaks
it, with the official SDK; ``stdio`` and ``streamable_http`` are the transports. Only the last three
import the SDK, which an extra installs.
"""
