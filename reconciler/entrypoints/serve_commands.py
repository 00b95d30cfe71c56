"""The command that serves the memory over HTTP: ``reconciler serve``.

Turns arguments into an application and an address. The web framework is imported when it starts.
"""

from __future__ import annotations

import logging

from reconciler.entrypoints.logs import logging_to_stderr
from reconciler.entrypoints.options import AsJson
from reconciler.entrypoints.serving import (
    CallsPerMinute,
    Certificate,
    Host,
    Key,
    Names,
    Port,
    Tokens,
    Worker,
    address_of,
    check_installed,
    serve,
    token_file,
)

_EXTRA = (
    "reconciler serve needs FastAPI: "
    "pip install 'fastapi>=0.165,<1' 'starlette>=1.0,<2' 'uvicorn>=0.40,<1'"
)


def serve_api(
    host: Host = "127.0.0.1",
    port: Port = 8766,
    names: Names = None,
    tls_certificate: Certificate = None,
    tls_key: Key = None,
    tokens: Tokens = None,
    calls_per_minute: CallsPerMinute = 3_000,
    worker: Worker = None,
    as_json: AsJson = False,
) -> None:
    """Serve memory over HTTP, as JSON under /v1 and as a page at /, until SIGTERM or Ctrl-C.

    What a client may access, its token says: see `reconciler token`. With --json, one line says
    where it listens.
    """
    from reconciler.settings import load_settings

    with logging_to_stderr(logging.WARNING, load_settings().log, "uvicorn", "asyncio"):
        check_installed(_EXTRA, "fastapi", "uvicorn")
        from reconciler.entrypoints.http_api.app import BOUNDS, serve_app

        address, known = address_of(host, port, names, tls_certificate, tls_key), token_file(tokens)
        serve(
            lambda memory: serve_app(memory, known, address, calls_per_minute=calls_per_minute),
            address,
            known,
            worker=worker,
            path="/v1",
            has_page=True,
            bounds=BOUNDS,
            as_json=as_json,
        )


COMMANDS = {"serve": serve_api}
"""The commands of this module, by name."""
