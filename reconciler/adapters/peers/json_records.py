"""JSON records from a file of any size: JSON lines, a list, or a list inside an object.

One record is in memory at a time. Knows no system.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from reconciler.domain.records.choices import NOT_UTF_8
from reconciler.errors import InvalidRequestError

RECORD_LENGTH_MAX = 1024 * 1024
"""Characters in a record; it may be long because of its vectors, which are not needed."""

_CHUNK_BYTES = 64 * 1024
_LISTS = ("results", "memories", "items")
"""The keys under which an object may hold the records."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def json_records(stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each record with its number, counted from 1.

    Args:
        stream: UTF-8, with or without a byte order mark.

    Raises:
        InvalidRequestError: it is not JSON, is cut off, or a record is no object or too long.
    """
    text = _Text(stream)
    while text.peek():
        if text.peek() == "[":
            yield from _elements(text)
        elif text.peek() == "{":
            yield from _object(text)
        else:
            raise text.error("expected a JSON object")


def _elements(text: _Text) -> Iterator[tuple[int, dict[str, Any]]]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield _numbered(text, text.value())
        if text.peek() == "]":
            text.take("]")
            return
        text.take(",")


def _object(text: _Text) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records that an object holds, or the object as the only one."""
    members: dict[str, Any] = {}
    begun_at, holds_records = text.position, False
    text.take("{")
    while text.peek() != "}":
        if members or holds_records:
            text.take(",")
        name = text.value()
        if not isinstance(name, str):
            raise text.error("expected a key")
        text.take(":")
        if name in _LISTS and text.peek() == "[":
            holds_records = True
            yield from _elements(text)
        else:
            members[name] = text.value()
        if not holds_records and text.position - begun_at > RECORD_LENGTH_MAX:
            raise text.too_long()
    text.take("}")
    if not holds_records:
        yield _numbered(text, members)


def _numbered(text: _Text, value: Any) -> tuple[int, dict[str, Any]]:
    if not isinstance(value, dict):
        raise text.error(f"expected a JSON object, not {type(value).__name__}")
    text.records += 1
    return text.records, value


class _Text:
    """The part of the stream that is read and not yet parsed."""

    def __init__(self, stream: BinaryIO) -> None:
        self.records = 0
        self.position = 0
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._at = 0
        self._line = 1
        self._has_ended = False

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._advance(blank.end() - self._at if blank else 0)
            if self._at < len(self._text) or not self._fill():
                return self._text[self._at : self._at + 1]

    def take(self, wanted: str) -> None:
        """Read one character."""
        if (character := self.peek()) != wanted:
            raise self.error(f"expected {wanted!r}" if character else "the file is cut off")
        self._advance(1)

    def value(self) -> Any:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self.error("it is nested too deeply to be read") from error
            except ValueError as error:
                if len(self._text) - self._at > RECORD_LENGTH_MAX:
                    raise self.too_long() from error
                if not self._fill():
                    raise self.error("it is not JSON, or the file is cut off") from error
            else:
                if end < len(self._text) or not self._fill():  # a number may go on
                    self._advance(end - self._at)
                    return value

    def error(self, what: str) -> InvalidRequestError:
        """The fault and its place."""
        where = f"record {self.records + 1} (line {self._line})"
        return InvalidRequestError(f"{where}: {what}; nothing was imported")

    def too_long(self) -> InvalidRequestError:
        """The error about a record that is too long."""
        return self.error(
            f"it has more than {RECORD_LENGTH_MAX:,} characters, at most so many are read, or it "
            "is not JSON"
        )

    def _advance(self, count: int) -> None:
        self._line += self._text.count("\n", self._at, self._at + count)
        self._at += count
        self.position += count

    def _fill(self) -> bool:
        if self._has_ended:
            return False
        try:
            data = self._stream.read(_CHUNK_BYTES)
            self._has_ended = not data
            more = self._decode(data, self._has_ended)
        except UnicodeDecodeError as error:
            raise self.error(NOT_UTF_8) from error
        self._text = self._text[self._at :] + more
        self._at = 0
        return not self._has_ended or bool(more)
