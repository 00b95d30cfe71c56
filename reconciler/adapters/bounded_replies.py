"""Replies with a bound: a server cannot fill the memory of its client. Knows no protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx2


class TooLongReplyError(Exception):
    """The reply is longer than any expected one, or is compressed and so may be."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, bytes_max: int) -> None:
        self._stream = stream
        self._bytes_left = bytes_max

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._bytes_left -= len(piece)
            if self._bytes_left < 0:
                raise TooLongReplyError
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounded(bytes_max: int) -> Callable[[httpx2.Response], Coroutine[Any, Any, None]]:
    """Breaks a reply off after so many bytes, where it is called before the body is read.

    It raises ``TooLongReplyError`` for a reply that is compressed, which may unpack to any length.
    """

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLongReplyError
        response.stream = _Bounded(response.stream, bytes_max)

    return bound
