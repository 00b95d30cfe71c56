"""HTTP API servers for tests: one in this process, and requests to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from reconciler import Memory
from reconciler.entrypoints.access.connections import Bounds
from reconciler.entrypoints.access.grants import Grant
from reconciler.entrypoints.access.http_door import Address, http_server, listen
from reconciler.entrypoints.access.tokens import TokenFile
from reconciler.entrypoints.http_api.app import BOUNDS, serve_app

__all__ = ["PRIYA", "Api", "serving_api"]

PRIYA = "/v1/agents/crm/contacts/priya"
_LOCAL = Address(host="127.0.0.1", port=0)


@dataclass(frozen=True)
class Api:
    """A running server, and the file of its tokens."""

    url: str
    tokens: TokenFile

    def token(self, grant: Grant, **others: Any) -> str:
        """A new token for a grant."""
        return self.tokens.create(grant, **others)[1]

    def client(self, grant: Grant) -> httpx2.Client:
        """A client with a token for a grant."""
        headers = {"Authorization": f"Bearer {self.token(grant)}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60)


@contextmanager
def serving_api(
    memory: Memory,
    folder: Path,
    *,
    calls_per_minute: int = 100_000,
    bounds: Bounds = BOUNDS,
    address: Address = _LOCAL,
) -> Iterator[Api]:
    """A server in a thread, on a free port of loopback."""
    tokens = TokenFile(folder / "tokens.json")
    app = serve_app(memory, tokens, address, calls_per_minute=calls_per_minute)
    server = http_server(app, address, bounds)
    with listen(address) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield Api(f"http://127.0.0.1:{bound.getsockname()[1]}", tokens)
        finally:
            server.should_exit = True
            thread.join(30)
