"""The doors before an HTTP server: they check host names, tokens, rates and sizes.

Each request is independent: its token's grant is looked up every time. ``connections.py`` bounds
the number of connections and their time.
"""

from __future__ import annotations

import ipaddress
import math
import re
import signal
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from cachetools import LRUCache
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.errors import ConfigurationError, ReconcilerError
from reconciler.frozen import in_order
from reconciler.serve.access.connections import LET_IN, Bounds, bounded_server
from reconciler.serve.access.problems import Problem, ProblemError, problem_answer, problem_of
from reconciler.serve.access.tokens import AccessToken

BODY = "reconciler.body"
"""The key of a request's scope for its whole body, which a ``BodyDoor`` has read."""

GRANT = "reconciler.grant"
"""The key of a request's scope for the grant of its token."""

_WRONG_TOKENS_PER_MINUTE = 10
REQUESTS_AT_ONCE_MAX = 100
_BODY_BYTES_MAX = 4 * 1024 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PORT = re.compile(r":\d+\Z")
_ORIGIN = re.compile(r"https?://")
_BY_NAME = "the server is not known by this name; see --name"
_ANY = ("0.0.0.0", "::")  # noqa: S104  a name for it; nothing listens because of it


@in_order
class Address:
    """The address to listen on, and the names that clients may use for it.

    Attributes:
        host, port: the address to listen on; port 0 takes a free port.
        names: further host names that clients use, besides loopback and ``host``.
        certificate, key: the files for TLS; None without TLS.
        login_header: the header in which a proxy on this machine names who is logged in; None if
            there is no such proxy.
    """

    host: str
    port: int
    names: Sequence[str] = ()
    certificate: Path | None = None
    key: Path | None = None
    login_header: str | None = None

    @property
    def host_in_url(self) -> str:
        """Return the host, as an address of a page has it."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def hosts(self) -> frozenset[str]:
        """Return all host names, without a port, that clients may use."""
        own = () if self.host in _ANY else (self.host_in_url,)
        return frozenset((*_LOOPBACK, *own, *self.names))


def is_loopback(host: str) -> bool:
    """True if only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def tls_of(address: Address) -> ssl.SSLContext | None:
    """Return the certificate of an address, loaded; None without one.

    Raises:
        ConfigurationError: the certificate or its key cannot be used.
    """
    if address.certificate is None or address.key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        for file in (address.certificate, address.key):
            file.open("rb").close()  # this one's error names the file
        context.load_cert_chain(address.certificate, address.key)
    except OSError as error:
        raise ConfigurationError(
            f"the certificate or its key cannot be used: {error}; see --tls-certificate"
        ) from error
    return context


def listen(address: Address) -> socket.socket:
    """Make a socket that listens at the address.

    Raises:
        ConfigurationError: the address is taken, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        bound = socket.create_server((address.host, address.port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"cannot listen at {address.host} port {address.port}: {error}; choose another with "
            "--host and --port"
        ) from error
    # Accepted connections inherit it: else an answer of two writes would wait 40 ms for the client.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


Refuse = Callable[[Scope, Problem], Response]
"""Makes the answer to a request that a door does not let in."""


class TokenSource(Protocol):
    """Finds the token of a secret."""

    def find(self, secret: str) -> AccessToken | None:
        """Return the valid token of this secret; None without one."""


def bearer(request: HTTPConnection) -> str | None:
    """Return the token that a request carries; None if it has none or several."""
    given = request.headers.getlist("authorization")
    if len(given) != 1 or not given[0].lower().startswith("bearer "):
        return None
    return given[0][len("bearer ") :].strip()


@in_order
class NameDoor:
    """Admits requests that use one of the server's names, so that no web page uses another.

    Attributes:
        app: the application behind the door.
        hosts: the names, as ``Address.hosts`` has them.
        refuse: answers the others.
    """

    app: ASGIApp
    hosts: Collection[str]
    refuse: Refuse = problem_answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        app = self.app
        if scope["type"] == "http" and (unknown := self._unknown(Headers(scope=scope))):
            app = self.refuse(scope, unknown)
        await app(scope, receive, send)

    def _unknown(self, headers: Headers) -> Problem | None:
        """Return the problem with a request's host or origin; None if the server has the names."""
        origin = headers.get("origin")
        if not self._is_known(headers.get("host") or ""):
            return Problem("unknown-host", 421, _BY_NAME)
        if origin and not self._is_known(_ORIGIN.sub("", origin, count=1)):
            return Problem("unknown-origin", 403, _BY_NAME)
        return None

    def _is_known(self, name: str) -> bool:
        return name in self.hosts or _PORT.sub("", name) in self.hosts


@in_order
class BodyDoor:
    """Reads the whole body of a request, up to a bound, before the application starts.

    Attributes:
        app: the application behind the door.
        bytes_max: the bound.
        refuse: answers a request with a longer body.
    """

    app: ASGIApp
    bytes_max: int = _BODY_BYTES_MAX
    refuse: Refuse = problem_answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        try:
            async for part in Request(scope, receive).stream():
                body += part
                if len(body) > self.bytes_max:
                    told = f"the body is longer than {self.bytes_max:,} bytes; send less at a time"
                    await self.refuse(scope, Problem("too-large", 413, told))(scope, receive, send)
                    return
        except ClientDisconnect:
            return
        await self.app({**scope, BODY: bytes(body)}, with_body(bytes(body), receive), send)


@dataclass(eq=False)
class TokenDoor:
    """Admits clients with a valid token, up to their rate; others get only a status.

    Only wrong tokens count against an address: a valid one is always let in, even if many wrong
    ones come from the same address.

    Attributes:
        app: the application behind the door.
        tokens: finds the grant of each token.
        calls_per_minute: how many requests each token may make.
        wrong_per_minute: how many wrong tokens each address may send.
        at_once_max: how many requests may run at once; fewer than the places.
        per_token_max: how many of these may use one token.
        methods: the only methods that are served; empty for all.
        presented: reads the secret from a request.
        refuse: answers a request that is not let in.
    """

    app: ASGIApp
    tokens: TokenSource
    calls_per_minute: int
    wrong_per_minute: int = _WRONG_TOKENS_PER_MINUTE
    at_once_max: int = REQUESTS_AT_ONCE_MAX
    per_token_max: int = REQUESTS_AT_ONCE_MAX
    methods: Collection[str] = ()
    presented: Callable[[HTTPConnection], str | None] = bearer
    refuse: Refuse = problem_answer

    def __post_init__(self) -> None:
        self._calls = Rates(self.calls_per_minute)
        self._wrong = Rates(self.wrong_per_minute)
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":
            return
        try:
            presented = self.presented(HTTPConnection(scope))
            # In a thread: a store that does not answer must not hold up other requests.
            found = await run_in_threadpool(self.tokens.find, presented or "")
            token = self._admitted(scope, found, is_missing=presented is None)
        except (ProblemError, ReconcilerError) as error:
            await self.refuse(scope, problem_of(error))(scope, receive, send)
            return
        keeping = scope.get("state", {}).get(LET_IN, nullcontext)  # absent in a caller's own server
        self._under_way[token.token_id] += 1
        try:
            with keeping(), suppress(ClientDisconnect):
                await self.app({**scope, GRANT: token.grant}, receive, send)
        finally:
            self._under_way[token.token_id] -= 1

    def _admitted(
        self, scope: Scope, token: AccessToken | None, *, is_missing: bool
    ) -> AccessToken:
        """Return the token of a request that is let in.

        Raises:
            ProblemError: the request is not let in.
            NotGrantedError: the token's profile does not allow it.
        """
        if token is None:
            raise self._turned_away(scope, is_missing=is_missing)
        if (seconds := self._calls.wait_seconds(token.token_id)) > 0:
            told = (
                "too many requests for this token; wait as long as Retry-After says and call less "
                "often, or let the operator of the server raise --calls-per-minute"
            )
            raise _too_many(told, seconds)
        token.grant.check_may(scope["method"], scope["path"])
        if self.methods and scope["method"] not in self.methods:
            allowed = ", ".join(self.methods)
            told = f"only {allowed} is served here"
            raise ProblemError("wrong-method", 405, told, more_headers={"Allow": allowed})
        if self._under_way.total() >= self.at_once_max:
            told = "too many requests at the same time; wait as long as Retry-After says"
            raise _too_many(told, 1, status=503)
        if self._under_way[token.token_id] >= self.per_token_max:
            told = (
                "too many requests of this token at the same time; wait as long as Retry-After "
                "says, and send fewer at once"
            )
            raise _too_many(told, 1)
        return token

    def _turned_away(self, scope: Scope, *, is_missing: bool) -> ProblemError:
        place = scope.get("client")
        seconds = self._wrong.wait_seconds(place[0] if place else "")
        if seconds > 0:
            told = "too many wrong tokens from this address; correct the token, then wait"
            return _too_many(told, seconds)
        told = (
            "the request has no token; send it as `Authorization: Bearer …`"
            if is_missing
            else "the token is not valid here: mistyped, expired, revoked, or of another token file"
        )
        told += (
            ". Where the server runs, `reconciler token list` says which are good, and "
            "`reconciler token create` makes one"
        )
        challenge = "Bearer" if is_missing else 'Bearer error="invalid_token"'
        return ProblemError(
            "no-good-token", 401, told, more_headers={"WWW-Authenticate": challenge}
        )


def serve_http(app: ASGIApp, address: Address, bound: socket.socket, bounds: Bounds | None) -> None:
    """Serve until SIGTERM or Ctrl-C; running calls are finished.

    Args:
        app: the application.
        address: the address of ``bound``.
        bound: the socket, which is closed at the end.
        bounds: the resources that a client without a valid token may take.

    Raises:
        ConfigurationError: the certificate or its key cannot be used.
    """
    server = bounded_server(app, bounds or Bounds(), tls_of(address))
    # At its end uvicorn raises the signal that ended it again; an exception lets the memory be
    # closed, where SIGTERM's own way would end the process on the spot.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with bound, suppress(KeyboardInterrupt):
            server.run(sockets=[bound])
    finally:
        signal.signal(signal.SIGTERM, before)


def with_body(body: bytes, receive: Receive) -> Receive:
    """Return a request with this body instead of the one that was sent."""
    told: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return told.pop() if told else await receive()

    return again


def _too_many(told: str, seconds: float, status: int = 429) -> ProblemError:
    return ProblemError(
        "too-many", status, told, is_retryable=True, retry_after_seconds=math.ceil(seconds)
    )


_KEYS_MAX = 10_000
_SECONDS = 60.0
_ROUNDING_SECONDS = 1e-6


class Rates:
    """A rate per minute for each key, which is also its burst. Safe between threads.

    For each key it keeps the time when all its calls will be free again. If there are too many
    keys, the least recently used one is forgotten.

    Args:
        per_minute: how many each key may take in a minute.
        clock: seconds that only grow, for tests.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds_each = _SECONDS / per_minute
        self._clock = clock
        self._free_at: LRUCache[str, float] = LRUCache(_KEYS_MAX)
        self._lock = Lock()

    def wait_seconds(self, key: str) -> float:
        """Take one call; return the seconds until a call is free, 0 if one was left."""
        with self._lock:
            now = self._clock()
            free_at = max(self._free_at.get(key, now), now) + self._seconds_each
            wait = free_at - now - _SECONDS
            if wait > _ROUNDING_SECONDS:
                return wait
            self._free_at[key] = free_at
            return 0.0
