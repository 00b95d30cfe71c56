"""Clients without a good token hold no place of the HTTP server for good, whatever they send."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from starlette.types import Send

from reconciler import ContactMemory, Memory
from reconciler.serve.access import connections, http_door
from reconciler.serve.access.connections import Bounds, Places
from reconciler.serve.access.http_door import TokenDoor
from reconciler.serve.access.tokens import TokenFile
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine
from tests.http_servers import certified
from tests.mcp_server import HttpServer, called, granted, serving

SHORT = Bounds(places_max=12, places_per_address_max=8, wait_seconds=0.5)
PRIYA = {"contact_id": "priya"}
PIECE, PIECES = b"x" * 100_000, 300
HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as opened:
        yield opened


@pytest.fixture
def server(memory: Memory, tmp_path: Path) -> Iterator[HttpServer]:
    with serving(memory, tmp_path, bounds=SHORT) as running:
        yield running


@contextlib.contextmanager
def connected(server: HttpServer, count: int = 1) -> Iterator[list[socket.socket]]:
    """So many connections to the server, over which nothing was sent."""
    parts = urlsplit(server.url)
    with contextlib.ExitStack() as opened:
        address = (parts.hostname, parts.port)
        yield [
            opened.enter_context(socket.create_connection(address, timeout=30))
            for _ in range(count)
        ]


def seconds_until_closed(client: socket.socket, drip: bytes = b"", within: float = 20.0) -> float:
    """How long the server lets a client be that sends another piece ten times a second."""
    started = time.monotonic()
    client.settimeout(0.1)
    while time.monotonic() - started < within:
        try:
            if client.recv(65536) == b"":
                break
        except TimeoutError:
            pass
        except OSError:
            break
        with contextlib.suppress(OSError):
            client.sendall(drip)
    return time.monotonic() - started


def authorised(server: HttpServer) -> bytes:
    return f"Authorization: Bearer {server.token(granted())}\r\n".encode()


def test_a_client_is_served_beside_a_hundred_that_say_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    with serving(memory, tmp_path) as server, connected(server, 100):
        assert not server.asked(server.token(granted()), called("recall_contact", PRIYA))[1]


@pytest.mark.parametrize("address", ["one", "many"])
def test_a_client_is_served_however_many_say_nothing(
    server: HttpServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if address == "many":
        numbers = iter(range(1_000))
        monkeypatch.setattr(connections, "_address", lambda _: f"192.0.2.{next(numbers)}")
    with connected(server, 40):
        assert not server.asked(server.token(granted()), called("recall_contact", PRIYA))[1]


ENDLESS = {
    "nothing": (b"", b""),
    "line": (b"POST /mcp HT", b"x"),
    "head": (HEAD, b"X"),
    "no body": (HEAD + b"Content-Length: 1000000\r\n\r\n", b""),
    "body": (HEAD + b"Content-Length: 1000000\r\n\r\n", b" "),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "idle": (HEAD + b"Content-Length: 2\r\n\r\n{}", b""),
    "next": (HEAD + b"Content-Length: 2\r\n\r\n{}", b"P"),
    "expect": (HEAD + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", b""),
    "ws": (HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\n", b" "),
}
"""What a client sends first, and what it goes on with."""


@pytest.mark.parametrize("with_token", [False, True])
def test_a_request_that_does_not_end_is_ended_by_the_server(
    memory: Memory, tmp_path: Path, with_token: bool
) -> None:
    count = len(ENDLESS)
    roomy = replace(SHORT, places_max=2 * count, places_per_address_max=2 * count)
    with (
        serving(memory, tmp_path, bounds=roomy) as server,
        connected(server, count) as clients,
        ThreadPoolExecutor(count) as threads,
    ):
        head = HEAD + authorised(server) if with_token else HEAD
        for client, (sent, _) in zip(clients, ENDLESS.values(), strict=True):
            client.sendall(sent.replace(HEAD, head))
        drips = [drip for _, drip in ENDLESS.values()]
        seconds = dict(zip(ENDLESS, threads.map(seconds_until_closed, clients, drips), strict=True))
    assert {name: each for name, each in seconds.items() if each >= 15} == {}


def test_an_answer_that_stays_unread_ends_the_connection(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def flood(_door: object, _scope: object, _receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": 401})
        for _piece in range(PIECES):
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(TokenDoor, "__call__", flood)
    with connected(server) as [client]:
        client.sendall(HEAD + b"Content-Length: 0\r\n\r\n")
        time.sleep(2)
        read = 0
        with contextlib.suppress(ConnectionResetError):
            while read < PIECES * len(PIECE) and (data := client.recv(65536)):
                read += len(data)
        assert read < PIECES * len(PIECE)


def test_connections_that_come_during_a_call_do_not_end_it(
    server: HttpServer, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = ContactMemory.recall

    def slowly(*given: Any, **named: Any) -> Any:
        with connected(server, 40):
            time.sleep(2)  # longer than a request may take
            return recall(*given, **named)

    monkeypatch.setattr(ContactMemory, "recall", slowly)
    assert not server.asked(server.token(granted()), called("recall_contact", PRIYA))[1]


def test_no_address_holds_more_than_its_share(memory: Memory, tmp_path: Path) -> None:
    bounds = Bounds(places_max=12, places_per_address_max=8)
    with serving(memory, tmp_path, bounds=bounds) as server, connected(server, 40) as clients:
        assert server.post().status_code == 401  # so they have all been looked at
        held = [each for each in clients if seconds_until_closed(each, within=0.2) > 0.2]
        assert 1 < len(held) <= 8


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01"])
def test_a_handshake_that_does_not_end_holds_no_place(
    memory: Memory, tmp_path: Path, sent: bytes
) -> None:
    address = certified(tmp_path)
    trust = ssl.create_default_context(cafile=str(address.certificate))
    with (
        serving(memory, tmp_path, bounds=SHORT, address=address) as server,
        connected(server, 40) as clients,
    ):
        for each in clients[-3:]:
            each.sendall(sent)
        with (
            connected(server) as [good],
            trust.wrap_socket(good, server_hostname="localhost") as secured,
        ):
            secured.sendall(HEAD + authorised(server) + b"Content-Length: 2\r\n\r\n{}")
            assert secured.recv(100).startswith(b"HTTP/1.1 4")
        assert max(map(seconds_until_closed, clients)) < 15


def test_strangers_make_room_first_and_a_request_under_way_never_does() -> None:
    ended: list[str] = []
    places = Places(Bounds(places_max=3, places_per_address_max=3))
    busy, idle, _ = (places.take(name, partial(ended.append, name)) for name in "abc")
    with places.let_in(busy):
        with places.let_in(idle):
            places.take("d", partial(ended.append, "d"))
            places.take("e", partial(ended.append, "e"))
        places.leave(places.take("f", partial(ended.append, "f")))
        with places.let_in(places.take("g", partial(ended.append, "g"))):
            places.take("h", partial(ended.append, "h"))
    assert ended == ["c", "d", "e", "b"]


def test_an_address_that_has_its_share_loses_its_own_oldest() -> None:
    ended: list[int] = []
    places = Places(Bounds(places_max=9, places_per_address_max=2))
    places.take("other", lambda: ended.append(-1))
    for number in range(4):
        places.take("one", partial(ended.append, number))
    assert ended == [0, 1]


@pytest.mark.parametrize(
    ("host", "whose"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::5", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_an_address_of_the_newer_protocol_counts_by_its_network(host: str, whose: str) -> None:
    assert connections._address(host) == whose


def test_there_are_more_places_than_requests_at_once_so_that_a_newcomer_finds_one() -> None:
    assert Bounds().places_max > http_door.REQUESTS_AT_ONCE_MAX


def test_too_many_requests_at_once_are_told_so(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    headers = [(b"authorization", f"Bearer {tokens.create(granted())[1]}".encode())]
    statuses: list[int] = []

    async def answer(*_: object) -> None:
        await anyio.sleep(0.5)

    async def send(message: dict[str, object]) -> None:
        statuses.extend(v for k, v in message.items() if k == "status")

    async def three() -> None:
        door = TokenDoor(answer, tokens, calls_per_minute=100, at_once_max=2)
        scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
        await asyncio.gather(*(door(dict(scope), None, send) for _ in range(3)))  # type: ignore[arg-type]

    asyncio.run(three())
    assert statuses == [503]
