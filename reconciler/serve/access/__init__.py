"""Access over HTTP: tokens, grants, rates, host names, and the texts of refusals.

The servers for MCP and for the HTTP API share this package. ``grants`` says what each client may
do, and ``tokens`` which clients are let in. ``connections`` bounds the time of a request.
``http_door`` applies all of these and the rates before an application is called, and ``problems``
writes the errors. Nothing here knows the content of a request.
"""
