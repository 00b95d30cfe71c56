"""A small server on one port: a WSGI application in threads, for scrapes or a Browser's page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

Answer = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
"""A WSGI application."""

_REQUESTS_AT_ONCE_MAX = 32


class _Server(ThreadingMixIn, WSGIServer):
    """Starts a thread for each request, so that a slow scrape does not delay a probe.

    The number of threads is bounded, and the oldest client makes room for a new one. So idle
    clients cannot take all threads of the process, or keep a probe out.
    """

    daemon_threads = True
    request_queue_size = 128  # with 5, the system makes the sixth client wait for a second or more

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._under_way: dict[Any, None] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin to answer a client."""
        self._under_way[request] = None
        if len(self._under_way) > _REQUESTS_AT_ONCE_MAX:
            first = list(self._under_way)[0]  # noqa: RUF015  in one step, for threads take some out
            self._under_way.pop(first, None)
            with suppress(OSError):  # it has ended meanwhile
                first.shutdown(SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Finish with a client."""
        self._under_way.pop(request, None)
        super().shutdown_request(request)


class _QuietHandler(WSGIRequestHandler):
    """A handler that logs no requests."""

    timeout = 30

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def listening(host: str, port: int, answer: Answer) -> WSGIServer:
    """Make a server that listens; 0 takes a free port.

    Raises:
        OSError: the port cannot be used.
    """
    return make_server(host, port, answer, _Server, _QuietHandler)


@contextmanager
def running(server: WSGIServer) -> Iterator[str]:
    """Answer requests while the block runs; gives the address, with a slash at the end."""
    thread = threading.Thread(target=server.serve_forever, name="reconciler-server", daemon=True)
    with server:
        thread.start()
        try:
            yield f"http://{server.server_address[0]!s}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
