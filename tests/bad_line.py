"""A line to a server on the loopback that fails at a chosen statement, in a chosen way.

Here: what becomes of the bytes. Never here: what has to hold afterwards. A statement is known by a
part of its text, which a driver sends as it is. Its answer is over where the server names a
bookmark: then it is written, however long that took.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from urllib.parse import urlsplit

__all__ = ["BadLine", "LineFault", "Moment", "bad_line"]

ANSWER_IS_OVER = b"bookmark"
REFUSED = b"Neo."
"""How the code of every error of the server begins."""

TRICKLE_BYTES, TRICKLE_SECONDS = 4, 0.5
RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: to close is to reset, and what was not sent is dropped."""

_SECONDS_MAX = 60.0


class Moment(StrEnum):
    """When the line fails, as the statement goes."""

    BEFORE = "before it is sent"
    DURING = "while the server works on it"
    AFTER = "when it is written and before anybody is told"


class LineFault(StrEnum):
    """How the line fails, or what it does instead."""

    HANGS_UP = "hangs up"
    RESETS = "resets"
    STALLS = "stalls"
    TRICKLES = "trickles"
    HOLDS_BACK = "holds it back and carries all the rest"


class BadLine:
    """Carries bytes to a server and back until a statement comes; fails as a whole from then on.

    Args:
        uri: the server's.
        listener: where clients come.
    """

    def __init__(self, uri: str, listener: socket.socket) -> None:
        parts = urlsplit(uri)
        self._server = (parts.hostname or "", parts.port or 0)
        self._listener = listener
        self._sockets: list[socket.socket] = []
        self._statement: bytes | None = None
        self.moment, self.trouble = Moment.BEFORE, LineFault.HANGS_UP
        self.is_failing = False
        self.is_met, self.may_go, self.was_answered = (threading.Event() for _ in range(3))

    @property
    def uri(self) -> str:
        """What a driver is given; without routing, which would name the server itself."""
        return f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def fail_at(self, statement: str, moment: Moment, trouble: LineFault) -> None:
        """Fail at the next statement that holds this text, and go on failing until mended."""
        self._statement = statement.encode()
        self.moment, self.trouble = moment, trouble

    def let_go(self) -> None:
        """Send what was held back, though its sender may be gone, and wait for the answer."""
        assert self.is_met.is_set(), "nothing was held back"
        self.may_go.set()
        assert self.was_answered.wait(_SECONDS_MAX)

    def mend(self) -> None:
        """Carry what comes over new connections; those of before are cut."""
        self.is_failing = False
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def meets(self, asked: bytes) -> bool:
        """Whether these bytes hold the statement; it comes once."""
        if self._statement is None or self._statement not in asked:
            return False
        self._statement = None
        self.is_met.set()
        return True

    def accept(self) -> None:
        """Serve clients until no client listens any more."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError), socket.create_connection(self._server) as server:
            self._sockets += [client, server]
            _Connection(self, client, server).carry()


class _Connection:
    """One client's connection, served by one thread."""

    def __init__(self, line: BadLine, client: socket.socket, server: socket.socket) -> None:
        self._line, self._client, self._server = line, client, server
        self._asked = b""
        self._kept: bytes | None = None

    def carry(self) -> None:
        """Carry bytes both ways until a side hangs up, or the line does."""
        while True:
            for source in select.select([self._client, self._server], [], [])[0]:
                data = source.recv(65536)
                if not data:
                    return
                if source is self._client:
                    self._ask(data)
                else:
                    self._answer(data)

    def _ask(self, data: bytes) -> None:
        self._asked = self._asked[-1000:] + data  # a statement may come in two pieces
        if self._line.meets(self._asked):
            self._meet(data)
        else:
            self._pass_on(self._server, data)

    def _meet(self, data: bytes) -> None:
        if self._line.trouble is LineFault.HOLDS_BACK:
            self._hold_back(data)
        elif self._line.moment is Moment.AFTER:
            self._kept = b""
            self._server.sendall(data)
        else:
            if self._line.moment is Moment.DURING:
                self._server.sendall(data)
            self._line.is_failing = True
            self._pass_on(self._server, data)

    def _hold_back(self, data: bytes) -> None:
        self._line.may_go.wait(_SECONDS_MAX)
        self._server.sendall(data)
        answer = b""
        while ANSWER_IS_OVER not in answer and REFUSED not in answer:
            answer += self._server.recv(65536)
        self._line.was_answered.set()
        self._client.sendall(answer)

    def _answer(self, data: bytes) -> None:
        if self._kept is not None:
            self._kept += data
            if ANSWER_IS_OVER not in self._kept:
                return
            self._line.is_failing, data = True, self._kept
        self._pass_on(self._client, data)

    def _pass_on(self, target: socket.socket, data: bytes) -> None:
        if not self._line.is_failing:
            target.sendall(data)
        elif self._line.trouble is LineFault.TRICKLES:
            for start in range(0, len(data), TRICKLE_BYTES):
                target.sendall(data[start : start + TRICKLE_BYTES])
                time.sleep(TRICKLE_SECONDS)
        elif self._line.trouble is not LineFault.STALLS:
            if self._line.trouble is LineFault.RESETS:
                self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            raise ConnectionAbortedError


@contextmanager
def bad_line(uri: str) -> Iterator[BadLine]:
    """A line to this server, sound at first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = BadLine(uri, listener)
        accepting = threading.Thread(target=line.accept, daemon=True)
        accepting.start()
        try:
            yield line
        finally:
            line.may_go.set()
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join(_SECONDS_MAX)
            line.mend()
