"""HTTP API servers for tests: one in this process, and requests to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from reconciler import Memory
from reconciler.serve.access.connections import Bounds
from reconciler.serve.access.grants import Grant
from reconciler.serve.access.http_door import Address
from reconciler.serve.access.tokens import TokenFile
from reconciler.serve.http_api.app import BOUNDS, serve_app
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine
from tests.http_servers import LOCAL, RunningServer, running

__all__ = ["PRIYA", "Api", "TenantApi", "serving_api", "serving_api_in"]

PRIYA = "/v1/agents/crm/contacts/priya"


class Api(RunningServer):
    """A running HTTP API."""

    def client(self, grant: Grant) -> httpx2.Client:
        """A client with a token for a grant."""
        headers = {"Authorization": f"Bearer {self.token(grant)}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60)


@dataclass(frozen=True)
class TenantApi(Api):
    """A running HTTP API that several tests share, each for a tenant of its own."""

    tenant: str

    def token(self, grant: Grant, **others: Any) -> str:
        """A new token for a grant; one that names no tenant is for this."""
        own = replace(grant, tenant=self.tenant) if grant.tenant == "default" else grant
        return super().token(own, **others)


@contextmanager
def serving_api(
    memory: Memory,
    folder: Path,
    *,
    calls_per_minute: int = 100_000,
    bounds: Bounds = BOUNDS,
    address: Address = LOCAL,
) -> Iterator[Api]:
    """A server in a thread, on a free port of loopback."""
    tokens = TokenFile(folder / "tokens.json")
    app = serve_app(memory, tokens, address, calls_per_minute=calls_per_minute)
    with running(app, address, bounds) as url:
        yield Api(url, tokens)


@contextmanager
def serving_api_in(folder: Path) -> Iterator[Api]:
    """A server with an empty memory of its own, on the embedded engine in a folder."""
    given = embedded_engine(folder).settings_arguments
    with (
        Memory.open(embedder=HashingEmbedder(), **given) as memory,
        serving_api(memory, folder) as running,
    ):
        yield running
