"""The MCP server: what a client may reach, who it is, and the two transports it comes over.

``grants`` says who may do what, ``tokens`` and ``rates`` who comes over HTTP and how often;
``desk`` answers, for an operator with ``operator_desk``, without a word of the protocol;
``protocol`` speaks it, with the official SDK; ``stdio`` and ``http_door`` are the transports. Only
the last three import the SDK, which an extra installs.
"""
