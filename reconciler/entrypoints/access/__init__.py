"""Access over HTTP: tokens, grants, rates, host names, and the words of a refusal.

What the servers for MCP and for the HTTP API share. ``grants`` says who may do what, ``tokens`` and
``rates`` who comes and how often, ``connections`` how long each may take; ``http_door`` puts them
before an application, and ``problems`` has the words for what goes wrong. Nothing here knows what
is asked for.
"""
