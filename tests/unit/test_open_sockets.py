from __future__ import annotations

import socket

import pytest

from tests.open_sockets import OpenSockets

SOCKETS = OpenSockets()


def connect_and_leave(*, is_closed: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        server.accept()[0].close()
        if is_closed:
            client.close()
        in_a_circle: list[object] = [client]
        in_a_circle.append(in_a_circle)


def test_a_connection_that_is_left_open_is_told_with_the_line_that_opened_it() -> None:
    connect_and_leave(is_closed=False)
    with pytest.raises(AssertionError, match="in connect_and_leave"):
        SOCKETS.check()
    SOCKETS.check()


def test_one_that_was_closed_is_not() -> None:
    connect_and_leave(is_closed=True)
    SOCKETS.check()


def test_one_that_is_still_used_is_not() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()),
    ):
        SOCKETS.check()
