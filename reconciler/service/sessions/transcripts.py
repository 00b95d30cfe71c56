"""Transcripts: reads the conversations in other programs' files into turns.

The layouts of files are here; messages are read, and turns are used, elsewhere. Nothing is guessed:
an unknown part is refused, with the number of its line or message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from json import JSONDecodeError
from typing import Any

from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.message_forms import is_message
from reconciler.domain.records.messages import Message
from reconciler.domain.records.transcript_forms import (
    Conversation,
    conversations_in,
    is_conversation,
    is_whatsapp_chat,
    name_of_text,
    whatsapp_chat,
)
from reconciler.errors import InvalidRequestError, InvalidSessionError
from reconciler.service.json_lines import fault_of_encoding, json_object, loads

TRANSCRIPT_BYTES_MAX = 64 * 1024 * 1024
"""The most bytes in a file: about a thousand conversations of an export, which is one file."""


def turns_in(conversation: Conversation) -> list[Turn]:
    """Read the turns of one conversation, oldest first, at least one.

    Raises:
        InvalidSessionError: a message cannot be read, or no message has text.
    """
    turns = conversation.turns()
    if not turns:
        raise InvalidSessionError("the session is empty: none of its messages holds text")
    return turns


def read_conversations(lines: Iterable[str], zone: tzinfo | None = None) -> list[Conversation]:
    """Read the conversations of a file, at least one; ``turns`` reads their messages later.

    Args:
        lines: the file's lines: one JSON object a line, or one JSON document over all of them. An
            object is a message, with a role, ``content`` or ``text``, and perhaps a time, an ``id``
            and a ``name``; or a conversation, with ``messages`` or ``turns``; or either in the form
            of a program that ``message_forms`` or ``transcript_forms`` knows. Or the text of a
            WhatsApp export.
        zone: the time zone of a text's local times, or None.

    Raises:
        InvalidSessionError: the file is no such file, or is too large; the text says where, or what
            the file is instead.
    """
    numbered = [(number, _clean(number, line)) for number, line in enumerate(_bounded(lines), 1)]
    plain = [line for _, line in numbered]
    if is_whatsapp_chat(plain):
        return [whatsapp_chat(plain, zone)]
    written = [(number, line) for number, line in numbered if line.strip()]
    return conversations_in(list(_records(written)))


def too_large() -> InvalidSessionError:
    """Make the message about a transcript that is larger than any accepted file."""
    return InvalidSessionError(
        f"the transcript has more than {TRANSCRIPT_BYTES_MAX:,} bytes, which is the limit; hand it "
        "over in parts, each with whole conversations"
    )


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    """Read lines, up to the largest accepted file; each is measured before it is read.

    Raises:
        InvalidSessionError: the file is larger.
    """
    left = TRANSCRIPT_BYTES_MAX
    for line in lines:
        left -= len(line) + 1 if isinstance(line, str) else 0
        if left < 0:
            raise too_large()
        yield line


def _clean(number: int, line: object) -> str:
    """Return a line without a byte order mark.

    A file that is not UTF-8 arrives with half surrogates in place of its undecodable bytes.
    """
    if not isinstance(line, str):
        raise InvalidSessionError(f"line {number}: must be a string, not {type(line).__name__}")
    if number == 1 and (name := name_of_text(line)):
        raise InvalidSessionError(name)
    if fault := fault_of_encoding(line):
        raise InvalidSessionError(f"line {number}: {fault}")
    line = line.rstrip("\r\n")
    return line.removeprefix("\ufeff") if number == 1 else line


# Layouts


def _records(written: list[tuple[int, str]]) -> Iterator[Message]:
    """Read the objects of the file, each with its place in words."""
    if not written:
        return
    document = _document(written)
    if document is None:
        for number, line in written:
            try:
                values = json_object(line, TRANSCRIPT_BYTES_MAX)
            except InvalidRequestError as error:
                raise InvalidSessionError(f"line {number}: {error}") from error
            yield Message(f"line {number}", values)
        return
    for number, values in enumerate(_listed(document), start=1):
        if not isinstance(values, dict):
            kind = type(values).__name__
            raise InvalidSessionError(f"message {number} must be an object, not {kind}")
        yield Message(f"message {number}", values)


def _document(written: list[tuple[int, str]]) -> Any:
    """Read the one document over all lines; None if each line is an object of its own.

    A single message on the only line counts as a file of lines, not as a document.
    """
    text = "\n".join(line for _, line in written)
    try:
        document = loads(text)
    except InvalidRequestError as error:
        # It begins as one: a list, or an object that its first line does not close.
        first = written[0][1].strip()
        if first.startswith("[") or first == "{" or (first[0] == "{" and first[-1] in ",[{"):
            raise InvalidSessionError(_where_broken(written, error)) from error
        return None
    is_line = len(written) == 1 and isinstance(document, dict) and is_message(document)
    return None if is_line else document


def _where_broken(written: list[tuple[int, str]], error: InvalidRequestError) -> str:
    """Return a complaint with the line number of the file; the parsed text has no blank lines."""
    cause = error.__cause__
    if isinstance(cause, JSONDecodeError):
        return f"line {written[min(cause.lineno, len(written)) - 1][0]}: not JSON: {cause.msg}"
    return f"line {written[0][0]}: {error}"


def _listed(document: Any) -> list[Any]:
    if isinstance(document, list):
        return document
    if isinstance(document, dict):
        if is_message(document) or is_conversation(document):
            return [document]
        if isinstance(document.get("conversations"), list):
            return list(document["conversations"])
    raise InvalidSessionError(
        "no messages found. Give a JSON message on each line, a JSON list of messages, an object "
        "with a list under messages or turns, or an export that docs/background_door.md names"
    )
