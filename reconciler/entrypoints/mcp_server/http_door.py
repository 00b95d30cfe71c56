"""The server over streamable HTTP: a token names the client, and its requests are counted.

Each request stands alone: no session is kept, so there is none to take over, and what a token may
reach is looked up again every time. No stream stays open; requests other than POST are refused. How
long a connection may take, and how many there may be, is in ``connections.py``.
"""

from __future__ import annotations

import ipaddress
import json
import math
import signal
import socket
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from reconciler.entrypoints.mcp_server.connections import (
    PLACE,
    BoundedServer,
    Bounds,
    Place,
    bounded_config,
)
from reconciler.entrypoints.mcp_server.desk import Desk
from reconciler.entrypoints.mcp_server.grants import Grant
from reconciler.entrypoints.mcp_server.protocol import Calls, mcp_server
from reconciler.entrypoints.mcp_server.rates import Rates
from reconciler.entrypoints.mcp_server.tokens import TokenFile
from reconciler.errors import ConfigurationError

__all__ = [
    "PATH",
    "Address",
    "TokenDoor",
    "http_app",
    "http_server",
    "is_loopback",
    "listen",
    "serve_http",
]

PATH = "/mcp"
_WRONG_TOKENS_PER_MINUTE = 10
_REQUESTS_AT_ONCE_MAX = 100
_GRACE_SECONDS = 10
_GRANT = "reconciler.grant"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ANY = ("0.0.0.0", "::")  # noqa: S104  a name for it; nothing listens because of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address to listen on, and the names that clients may use for it.

    Attributes:
        host, port: where; port 0 takes a free one.
        names: host names beside those of loopback and ``host``, as clients write them.
        certificate, key: files for TLS; None without.
    """

    host: str
    port: int
    names: Sequence[str] = ()
    certificate: Path | None = None
    key: Path | None = None

    @property
    def security(self) -> TransportSecuritySettings:
        """The admitted Host and Origin, so that no web page reaches it by another name."""
        own = () if self.host in _ANY else (_bracketed(self.host),)
        hosts = dict.fromkeys((*_LOOPBACK, *own, *self.names))
        allowed = [name for host in hosts for name in (host, f"{host}:*")]
        return TransportSecuritySettings(
            allowed_hosts=allowed,
            allowed_origins=[
                f"{scheme}://{name}" for scheme in ("http", "https") for name in allowed
            ],
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(address: Address) -> socket.socket:
    """A socket that listens there.

    Raises:
        ConfigurationError: the address is taken, or is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        bound = socket.create_server((address.host, address.port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"cannot listen at {address.host} port {address.port}: {error}; choose another with "
            "--host and --port"
        ) from error
    return bound


class TokenDoor:
    """Admits clients with a valid token, up to their rate; others get a status and no more.

    A wrong token is counted by where it comes from, and only then: a good one is let in however
    many wrong ones come from the same place.

    Args:
        app: what is behind the door.
        tokens: says what each token may reach.
        calls_per_minute: how many requests a token has.
        wrong_per_minute: how many wrong tokens an address has.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: TokenFile,
        *,
        calls_per_minute: int,
        wrong_per_minute: int = _WRONG_TOKENS_PER_MINUTE,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._calls = Rates(calls_per_minute)
        self._wrong = Rates(wrong_per_minute)
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        presented = _bearer(Headers(scope=scope))
        token = None
        if presented is not None:
            token = await anyio.to_thread.run_sync(self._tokens.find, presented)
        if token is None:
            await self._turn_away(scope, send, is_missing=presented is None)
        elif (seconds := self._calls.wait_seconds(token.token_id)) > 0:
            await _refuse(send, 429, "too many requests for this token", _retry_after(seconds))
        elif scope["method"] != "POST":
            await _refuse(send, 405, "only POST is served here", [(b"allow", b"POST")])
        elif self._under_way >= _REQUESTS_AT_ONCE_MAX:
            await _refuse(send, 503, "too many requests at the same time", _retry_after(1))
        else:
            await self._let_in({**scope, _GRANT: token.grant}, receive, send)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        place: Place | None = scope.get("state", {}).get(PLACE)  # None in a server of the caller's
        self._under_way += 1
        try:
            with place.let_in() if place else nullcontext(), suppress(ClientDisconnect):
                await self._app(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _turn_away(self, scope: Scope, send: Send, *, is_missing: bool) -> None:
        place = scope.get("client")
        seconds = self._wrong.wait_seconds(place[0] if place else "")
        if seconds > 0:
            await _refuse(send, 429, "too many wrong tokens", _retry_after(seconds))
            return
        challenge = b"Bearer" if is_missing else b'Bearer error="invalid_token"'
        told = "a bearer token is needed" if is_missing else "the token is not valid here"
        await _refuse(send, 401, told, [(b"www-authenticate", challenge)])


def http_app(desk: Desk, tokens: TokenFile, address: Address, *, calls_per_minute: int) -> ASGIApp:
    """The server as an ASGI application, to run in a server of your own.

    Args:
        desk: what answers.
        tokens: who is let in.
        address: by which names it may be called.
        calls_per_minute: how many requests a token has.
    """
    server = mcp_server(desk, lambda ctx: _grant(ctx.request), Calls())
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=address.security,
        host=address.host,
    )
    return TokenDoor(app, tokens, calls_per_minute=calls_per_minute)


def serve_http(
    desk: Desk, tokens: TokenFile, address: Address, bound: socket.socket, *, calls_per_minute: int
) -> None:
    """Serve until SIGTERM or Ctrl-C; calls under way are finished.

    Args:
        desk: what answers.
        tokens: who is let in.
        address: what ``bound`` listens at.
        bound: the socket, which is closed at the end.
        calls_per_minute: how many requests a token has.
    """
    app = http_app(desk, tokens, address, calls_per_minute=calls_per_minute)
    server = http_server(app, address)
    # At its end uvicorn raises the signal that ended it again; an exception lets the memory be
    # closed, where SIGTERM's own way would end the process on the spot.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with bound, suppress(KeyboardInterrupt):
            server.run(sockets=[bound])
    finally:
        signal.signal(signal.SIGTERM, before)


def http_server(app: ASGIApp, address: Address, bounds: Bounds | None = None) -> BoundedServer:
    """The server of an application, ready to run.

    Args:
        app: what answers.
        address: with which certificate.
        bounds: what a client may take of it without a good token.

    Raises:
        ConfigurationError: the certificate or its key cannot be used.
    """
    config = bounded_config(
        app,
        access_log=False,
        proxy_headers=False,  # else a client on this machine could say that it comes from anywhere
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    try:
        config.load()
    except OSError as error:
        raise ConfigurationError(
            f"the certificate or its key cannot be used: {error}; see --tls-certificate"
        ) from error
    return BoundedServer(config, bounds)


def _grant(request: Any) -> Grant:
    grant: Grant = request.scope[_GRANT]
    return grant


def _bearer(headers: Headers) -> str | None:
    """The token that a request carries; None without one, or with several."""
    given = headers.getlist("authorization")
    if len(given) != 1 or not given[0].lower().startswith("bearer "):
        return None
    return given[0][len("bearer ") :].strip()


def _retry_after(seconds: float) -> list[tuple[bytes, bytes]]:
    return [(b"retry-after", str(math.ceil(seconds)).encode())]


async def _refuse(send: Send, status: int, why: str, headers: list[tuple[bytes, bytes]]) -> None:
    body = json.dumps({"error": why}).encode()
    about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": about + headers})
    await send({"type": "http.response.body", "body": body})


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
