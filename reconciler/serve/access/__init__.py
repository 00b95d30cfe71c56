"""Access over HTTP: tokens, grants, rates, host names, and the words of a refusal.

The servers for MCP and for the HTTP API share this package. ``grants`` says who may do what,
``tokens`` who may come in, ``connections`` how long each may take; ``http_door`` puts them and the
rates before an application, and ``problems`` words the errors. Nothing here knows the content of a
request.
"""
