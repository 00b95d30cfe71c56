"""Connections of the HTTP server, bounded in number and in time for each request.

A connection costs its client nothing, so it keeps its place only while it carries a request with a
valid token. All others make room for newcomers. ``TokenDoor`` decides whether a token is valid.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from reconciler.frozen import frozen

LET_IN = "reconciler.let_in"
"""The key of a request's ``state`` for the context that keeps the place of its connection."""

_GRACE_SECONDS = 10
_ACCEPTED_AT_ONCE_MAX = 100
"""The length of the queue of new connections: short, so that connections that lose their place are
closed before many more are accepted."""


@frozen
class Bounds:
    """The resources that a client may use without a valid token.

    Attributes:
        places_max: connections at the same time; more than the requests that may run at once.
        places_per_address_max: connections of one address without a running request.
        wait_seconds: how long a whole request may take, with the TLS handshake before it, and how
            long a client may leave an answer unread.
    """

    places_max: int = 200
    places_per_address_max: int = 50
    wait_seconds: float = 30.0


@dataclass(eq=False, slots=True)
class Place:
    """The place of one connection.

    Attributes:
        address: the client's address.
        end: ends the connection.
        is_safe: whether a request with a valid token is running.
        was_let_in: whether there ever was such a request.
    """

    address: str
    end: Callable[[], object]
    is_safe: bool = False
    was_let_in: bool = False


@dataclass(slots=True)
class Places:
    """The places of a server. A new connection always gets one; another may lose its own.

    An address with its full share loses one of its own. Otherwise, if all places are taken, the
    oldest connection that never brought a good token goes first.
    """

    bounds: Bounds
    _held: OrderedDict[Place, None] = field(default_factory=OrderedDict)

    def take(self, address: str, end: Callable[[], object]) -> Place:
        """Take a place for a new connection.

        Args:
            address: the client's address.
            end: ends the connection, at once or soon; called if the place is needed.
        """
        unsafe = [place for place in self._held if not place.is_safe]
        own = [place for place in unsafe if place.address == address]
        if len(own) >= self.bounds.places_per_address_max:
            self._end_one(own)
        elif len(self._held) >= self.bounds.places_max:
            self._end_one(unsafe)
        place = Place(address, end)
        self._held[place] = None
        return place

    def leave(self, place: Place) -> None:
        """Give a place back; giving back a lost place is no error."""
        self._held.pop(place, None)

    @contextmanager
    def let_in(self, place: Place) -> Iterator[None]:
        """Keep a place while a request with a valid token is running; then it is the newest."""
        place.is_safe = place.was_let_in = True
        try:
            yield
        finally:
            place.is_safe = False
            if place in self._held:
                self._held.move_to_end(place)

    def _end_one(self, places: Sequence[Place]) -> None:
        lost = min(places, key=lambda place: place.was_let_in)  # the oldest of these
        self.leave(lost)
        lost.end()


class _BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a bounded wait for a request, and for the reading of its answer.

    uvicorn's own ``timeout_keep_alive`` begins after the first answer, and any byte ends it. The
    TLS handshake begins here, because uvicorn would take any number of unfinished ones.
    """

    _place: Place

    def __init__(self, places: Places, tls: ssl.SSLContext | None, **given: Any) -> None:
        super().__init__(**given)
        self._places = places
        self._tls = tls
        self._waits: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer = transport.get_extra_info("peername")  # None if the client has left already
        self._place = self._places.take(_address(peer[0]) if peer else "", transport.abort)
        self.app_state = {**self.app_state, LET_IN: partial(self._places.let_in, self._place)}
        self._wait_for("request")
        if self._tls is None:
            super().connection_made(transport)
        else:
            self.transport = transport
            self.connections.add(self)  # so a shutdown closes it
            transport.pause_reading()
            self._handshake = self.loop.create_task(self._shake_hands(transport, self._tls))

    async def _shake_hands(self, transport: asyncio.Transport, tls: ssl.SSLContext) -> None:
        try:
            secured = await self.loop.start_tls(transport, self, tls, server_side=True)
        except OSError as error:
            self.connection_lost(error)
            return
        if secured is None or transport.is_closing():
            self.connection_lost(None)
        else:
            super().connection_made(secured)
            self.handle_events()

    def data_received(self, data: bytes) -> None:
        if self.scheme is None:  # sent together with the end of the handshake
            self.conn.receive_data(data)
            return
        super().data_received(data)
        self._stop_if_whole()

    def on_response_complete(self) -> None:
        self._wait_for("request")
        super().on_response_complete()
        self._stop_if_whole()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for("reader")

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_waiting_for("reader")

    def connection_lost(self, exc: Exception | None) -> None:
        self._places.leave(self._place)
        self._stop_waiting_for("request")
        self._stop_waiting_for("reader")
        super().connection_lost(exc)

    def _stop_if_whole(self) -> None:
        """Stop waiting for a request when its whole body has arrived."""
        cycle = self.cycle
        if cycle is not None and not (cycle.response_complete or cycle.more_body):
            self._stop_waiting_for("request")

    def _wait_for(self, what: Literal["request", "reader"]) -> None:
        """End the connection if the request does not come; further bytes do not extend the wait."""
        self._stop_waiting_for(what)
        self._waits[what] = self.loop.call_later(self._places.bounds.wait_seconds, self._place.end)

    def _stop_waiting_for(self, what: Literal["request", "reader"]) -> None:
        if what in self._waits:
            self._waits.pop(what).cancel()


def bounded_server(app: Any, bounds: Bounds, tls: ssl.SSLContext | None) -> uvicorn.Server:
    """Make a server for HTTP/1.1 only, because only its connections are bounded.

    ``limit_concurrency`` stays unset: it counts idle connections too, and refuses everyone else.

    Args:
        app: the application.
        bounds: the resources that a client may take.
        tls: the certificate; None for connections that are not encrypted.
    """
    protocol = partial(_BoundedProtocol, Places(bounds), tls)
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", protocol),
        ws="none",
        log_config=None,
        backlog=_ACCEPTED_AT_ONCE_MAX,
        access_log=False,
        proxy_headers=False,  # else a client on this machine could say that it comes from anywhere
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)


def _address(host: str) -> str:
    """Return the client of an address: an IPv6 client has a whole /64 network."""
    parsed = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
