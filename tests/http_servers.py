"""HTTP servers for tests: an application that runs in a thread, with the tokens for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp

from reconciler.entrypoints.access.connections import Bounds
from reconciler.entrypoints.access.grants import Grant
from reconciler.entrypoints.access.http_door import Address, http_server, listen
from reconciler.entrypoints.access.tokens import TokenFile

__all__ = ["LOCAL", "RunningServer", "running"]

LOCAL = Address(host="127.0.0.1", port=0)


@dataclass(frozen=True)
class RunningServer:
    """A running server, and the file of its tokens."""

    url: str
    tokens: TokenFile

    def token(self, grant: Grant, **others: Any) -> str:
        """A new token for a grant."""
        return self.tokens.create(grant, **others)[1]


@contextmanager
def running(app: ASGIApp, address: Address, bounds: Bounds | None) -> Iterator[str]:
    """An application that is served in a thread, on a free port of loopback; gives its address."""
    server = http_server(app, address, bounds)
    with listen(address) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
