"""Transcripts: a conversation in a file, as other programs write it, read into turns.

How files lay messages out lives here; how a message is read does not, nor what becomes of a turn.
Nothing is guessed: what is not understood is refused, with the line or the message it stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from json import JSONDecodeError
from typing import Any

from reconciler.domain.records.messages import Message
from reconciler.domain.records.turns import Turn
from reconciler.errors import InvalidRequestError, InvalidSessionError
from reconciler.service.json_lines import json_object, loads

__all__ = ["TRANSCRIPT_BYTES_MAX", "read_turns", "too_large"]

TRANSCRIPT_BYTES_MAX = 16 * 1024 * 1024
"""Bytes in a transcript: a session's million characters, each escaped twice, and as much again of
what is no words."""

_LIST_KEYS = ("messages", "turns")


def read_turns(lines: Iterable[str]) -> list[Turn]:
    """The turns of a conversation, in the file's order; messages without words are left out.

    Args:
        lines: the file's, either one JSON message a line, or one JSON document over all of them:
            a list of messages, an object that has them under ``messages`` or ``turns``, or an
            exported tree under ``mapping`` with its ``current_node``. A message has a role,
            ``content`` or ``text``, and may have a time, an ``id`` and a ``name``.

    Raises:
        InvalidSessionError: something cannot be read, and the text says which line or message; or
            there is nothing to read, or too much.
    """
    numbered = [(number, _clean(number, line)) for number, line in enumerate(_bounded(lines), 1)]
    written = [(number, line) for number, line in numbered if line.strip()]
    turns = [turn for message in _messages(written) for turn in message.turns()]
    if not turns:
        raise InvalidSessionError("the session is empty: no message in it holds any text")
    return turns


def too_large() -> InvalidSessionError:
    """The message about a transcript that is larger than any accepted session."""
    return InvalidSessionError(
        f"the transcript has more than {TRANSCRIPT_BYTES_MAX:,} bytes, at most so many are read; "
        "hand it over in parts, under ids of their own"
    )


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    """The lines, as long as they are no more than can be a session; measured before they are read.

    Raises:
        InvalidSessionError: they are more.
    """
    left = TRANSCRIPT_BYTES_MAX
    for line in lines:
        left -= len(line) + 1 if isinstance(line, str) else 0
        if left < 0:
            raise too_large()
        yield line


def _clean(number: int, line: object) -> str:
    """The line without a byte order mark.

    A file that is no UTF-8 arrives with half surrogates in place of what could not be decoded.
    """
    if not isinstance(line, str):
        raise InvalidSessionError(f"line {number}: must be a string, not {type(line).__name__}")
    if any("\ud800" <= character <= "\udfff" for character in line):
        raise InvalidSessionError(f"line {number}: not valid UTF-8; save the file as UTF-8")
    line = line.rstrip("\r\n")
    return line.removeprefix("\ufeff") if number == 1 else line


# Layouts


def _messages(written: list[tuple[int, str]]) -> Iterator[Message]:
    if not written:
        return
    document = _document(written)
    if document is None:
        for number, line in written:
            yield Message(f"line {number}", _line_object(number, line))
        return
    for number, values in enumerate(_listed(document), start=1):
        if not isinstance(values, dict):
            kind = type(values).__name__
            raise InvalidSessionError(f"message {number} must be an object, not {kind}")
        yield Message(f"message {number}", values)


def _document(written: list[tuple[int, str]]) -> Any:
    """The one document over all lines; None where each line is a message of its own.

    A single message on the only line is the shortest file of lines, no document.
    """
    text = "\n".join(line for _, line in written)
    try:
        document = loads(text)
    except InvalidRequestError as error:
        if _is_one_document(written):
            raise InvalidSessionError(_where_broken(written, error)) from error
        return None
    is_message = isinstance(document, dict) and not _is_container(document)
    return None if is_message and len(written) == 1 else document


def _is_one_document(written: list[tuple[int, str]]) -> bool:
    """Whether it sets out as one: a list, or an object that its first line does not close."""
    first = written[0][1].strip()
    return first.startswith("[") or first == "{" or (first[0] == "{" and first[-1] in ",[{")


def _where_broken(written: list[tuple[int, str]], error: InvalidRequestError) -> str:
    """The complaint with the file's own line: blank ones are not in what was read."""
    cause = error.__cause__
    if isinstance(cause, JSONDecodeError):
        return f"line {written[min(cause.lineno, len(written)) - 1][0]}: not JSON: {cause.msg}"
    return f"line {written[0][0]}: {error}"


def _is_container(document: Mapping[str, Any]) -> bool:
    """Whether it has messages in it, rather than being one."""
    return "mapping" in document or any(isinstance(document.get(key), list) for key in _LIST_KEYS)


def _listed(document: Any) -> list[Any]:
    if isinstance(document, list):
        return document
    if isinstance(document, dict):
        if "role" in document:
            return [document]
        if isinstance(document.get("mapping"), dict):
            return list(_branch(document["mapping"], document.get("current_node")))[::-1]
        for key in _LIST_KEYS:
            if isinstance(document.get(key), list):
                return list(document[key])
    raise InvalidSessionError(
        "no messages found: give one JSON message a line, a JSON list of messages, or an object "
        "with a list under messages or turns"
    )


def _branch(nodes: Mapping[str, Any], node_id: object) -> Iterator[dict[str, Any]]:
    """The messages of an exported tree from the current one back to the root.

    Answers that were asked for again hang beside it, and are no part of what was said in the end.
    """
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id not in seen:
        seen.add(node_id)
        node = _object(nodes.get(node_id))
        if message := _object(node.get("message")):
            content, author = _object(message.get("content")), _object(message.get("author"))
            said = {"role": author.get("role"), "name": author.get("name")}
            yield {**message, **said, "content": content.get("parts")}
        node_id = node.get("parent")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _line_object(number: int, line: str) -> dict[str, Any]:
    try:
        return json_object(line, TRANSCRIPT_BYTES_MAX)
    except InvalidRequestError as error:
        raise InvalidSessionError(f"line {number}: {error}") from error
