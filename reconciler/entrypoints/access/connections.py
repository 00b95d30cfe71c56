"""Connections of the HTTP server, bounded in number and in time for each request.

A connection costs its client nothing, so it keeps its place only while it carries a request with a
valid token. All others make room for newcomers. ``TokenDoor`` decides whether a token is valid.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import Any, Literal, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PLACE", "BoundedServer", "Bounds", "Place", "Places", "bounded_config"]

PLACE = "reconciler.place"
"""The key of a request's ``state`` for the place of its connection."""

_ACCEPT_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The resources that a client may use without a valid token.

    Attributes:
        places_max: connections at the same time; more than the requests that may run at once.
        places_per_address_max: connections of one address without a running request.
        head_seconds: how long the TLS handshake may take, and the head of each request.
        body_seconds: how long the body may take after the head.
        unread_seconds: how long a client may leave an answer unread.
    """

    places_max: int = 200
    places_per_address_max: int = 50
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    unread_seconds: float = 30.0


@dataclass(eq=False, slots=True)
class Place:
    """The place of one connection.

    Attributes:
        address: the client's address.
        end: ends the connection.
        order: grows with each connection, and with each request that is let in.
        is_safe: whether a request with a good token is under way.
        was_let_in: whether there ever was such a request.
    """

    address: str
    end: Callable[[], object]
    order: int
    _orders: Iterator[int]
    is_safe: bool = False
    was_let_in: bool = False

    @contextmanager
    def let_in(self) -> Iterator[None]:
        """Keep the place while a request with a good token is under way."""
        self.is_safe = self.was_let_in = True
        try:
            yield
        finally:
            self.is_safe, self.order = False, next(self._orders)


@dataclass(slots=True)
class Places:
    """The places of a server. A new connection always gets one; another may lose its own.

    An address with its full share loses one of its own. Otherwise, if all places are taken, the
    oldest connection that never brought a good token goes first.
    """

    bounds: Bounds
    _held: set[Place] = field(default_factory=set)
    _orders: Iterator[int] = field(default_factory=count)

    def take(self, address: str, end: Callable[[], object]) -> Place:
        """A place for a new connection.

        Args:
            address: the client's.
            end: ends the connection, at once or soon; called if the place is needed.
        """
        unsafe = [place for place in self._held if not place.is_safe]
        own = [place for place in unsafe if place.address == address]
        if len(own) >= self.bounds.places_per_address_max:
            self._end_one(own)
        elif len(self._held) >= self.bounds.places_max:
            self._end_one(unsafe)
        place = Place(address, end, next(self._orders), self._orders)
        self._held.add(place)
        return place

    def leave(self, place: Place) -> None:
        """Give a place back; giving back a lost place is no error."""
        self._held.discard(place)

    def _end_one(self, places: Sequence[Place]) -> None:
        lost = min(places, key=lambda place: (place.was_let_in, place.order))
        self._held.discard(lost)
        lost.end()


class _BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a bounded wait for a request, and for the reading of its answer.

    uvicorn's own ``timeout_keep_alive`` begins after the first answer, and ends with any byte.
    """

    def __init__(self, bounds: Bounds, place: Place, **given: Any) -> None:
        super().__init__(**given)
        self.app_state = {**self.app_state, PLACE: place}
        self.is_lost = asyncio.Event()
        self._bounds = bounds
        self._awaited: Literal["head", "body"] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_the_rest()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_the_rest()

    def on_response_complete(self) -> None:
        self._stop_waiting()
        super().on_response_complete()
        self._wait_for_the_rest()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._bounds.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_waiting_for_a_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_waiting_for_a_reader()
        super().connection_lost(exc)
        self.is_lost.set()

    def _wait_for_the_rest(self) -> None:
        """Start the time-out for the missing part of a request; further bytes do not extend it."""
        awaited = self._missing()
        if awaited == self._awaited or self.is_lost.is_set():
            return
        self._stop_waiting()
        self._awaited = awaited
        if awaited is not None:
            seconds = getattr(self._bounds, f"{awaited}_seconds")
            self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _missing(self) -> Literal["head", "body"] | None:
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.cycle.more_body else None

    def _stop_waiting(self) -> None:
        self._awaited = None
        if self._deadline is not None:
            self._deadline.cancel()

    def _stop_waiting_for_a_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()


def bounded_config(app: Any, **given: Any) -> uvicorn.Config:
    """Settings for a ``BoundedServer``: HTTP/1.1 only, because only its connections are bounded.

    ``limit_concurrency`` stays unset: it counts idle connections too, and refuses everyone else.

    Args:
        app: the application.
        **given: other settings of uvicorn.
    """
    return uvicorn.Config(app, http=_BoundedProtocol, ws="none", log_config=None, **given)


class BoundedServer(uvicorn.Server):
    """uvicorn with a place for each connection, taken before its TLS handshake begins.

    Args:
        config: made by ``bounded_config``.
        bounds: what a client may take.
    """

    def __init__(self, config: uvicorn.Config, bounds: Bounds | None = None) -> None:
        super().__init__(config)
        self._bounds = bounds or Bounds()
        self._places = Places(self._bounds)
        self._tasks: set[asyncio.Task[None]] = set()
        self._shaking_hands: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Accept connections from now on; uvicorn itself would accept any number."""
        await super().startup(sockets=[])
        for each in sockets or []:
            each.setblocking(False)
            self._begin(self._accept(each), self._shaking_hands)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Take no more connections; requests under way are finished."""
        for task in self._shaking_hands:
            task.cancel()
        await super().shutdown(sockets)

    async def _accept(self, listener: socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, peer = await loop.sock_accept(listener)
            except OSError:  # the client left, or this process may open no more files
                await asyncio.sleep(_ACCEPT_AGAIN_SECONDS)
                continue
            if not peer:  # on macOS, if a connection was reset before it was accepted
                accepted.close()
                continue
            self._begin(self._carry(accepted, _address(peer[0])), self._shaking_hands)
            await asyncio.sleep(0)  # so a client that loses its place leaves before the next comes

    def _begin(self, work: Any, *kept: set[asyncio.Task[None]]) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        for tasks in (self._tasks, *kept):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _carry(self, accepted: socket, address: str) -> None:
        """Serve one connection; cancelling ends the connection."""
        task = cast("asyncio.Task[None]", asyncio.current_task())
        place = self._places.take(address, task.cancel)
        protocol = _BoundedProtocol(
            self._bounds,
            place,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        try:
            with suppress(OSError):  # of the handshake
                await self._connect(accepted, protocol)
                self._shaking_hands.discard(task)
                await protocol.is_lost.wait()
        finally:
            self._places.leave(place)
            if protocol.transport is not None:
                protocol.transport.abort()

    async def _connect(self, accepted: socket, protocol: _BoundedProtocol) -> None:
        # asyncio does so itself only for a socket that names its protocol, which this one does not;
        # an answer of two writes would wait 40 ms for the client's acknowledgement.
        accepted.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        tls: ssl.SSLContext | None = self.config.ssl
        await asyncio.get_running_loop().connect_accepted_socket(
            lambda: protocol,
            accepted,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else self._bounds.head_seconds,
        )


def _address(host: str) -> str:
    """The client behind an address: an IPv6 client has a whole /64 network."""
    parsed = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
