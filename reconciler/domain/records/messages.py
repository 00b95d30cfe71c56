"""Messages: words in the forms of chat APIs and other programs, made into turns. Pure.

This module knows how other programs write roles and times, and which parts of a message are words;
the layout of a file is known elsewhere. Nothing is guessed: an unknown role or time is refused, and
the error names the message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX, Role, Turn
from reconciler.domain.records.message_forms import plain_message
from reconciler.domain.records.notes import is_blank, not_one_of, storable, utc
from reconciler.errors import InvalidNoteError, InvalidSessionError
from reconciler.frozen import Values, in_order, is_number

_ROLES = {
    Role.CONTACT: ("contact", "user", "customer", "human"),
    Role.AGENT: ("agent", "assistant", "ai", "bot", "model"),
    Role.TOOL: ("tool", "function"),
    Role.SYSTEM: ("system", "developer"),
    Role.OPERATOR: ("operator", "staff", "human_agent"),
}
_ROLE_OF = {name: role for role, names in _ROLES.items() for name in names}
_TIME_KEYS = (
    *("said_at", "sent_at", "timestamp", "created_at", "create_time", "time", "ts", "date"),
    *("datetime", "message_time", "created", "sent", "posted_at", "received_at", "date_sent"),
    *("date_created", "unixtime", "date_unixtime", "epoch"),
)
"""The usual names for the time of a message, the surest first; in any spelling: ``sentAt``."""

_OTHER_TIME = re.compile(
    r"(?:[a-z]At|(?:^|_)(?:at|time|date)|[a-z](?:Time|Date)|[Tt]imestamp|_ts)\Z"
)
"""Names that look like a time, but may be the time of something else: ``updated_at``, ``seenAt``. A
number counts as a time only under such a name; a date with a clock time under any name."""

_DATE_AND_CLOCK = re.compile(
    r"(?i)\d{4}-?\d\d-?\d\d[T ]\d\d[\d:.,]*+(?:Z|[+-][\d:]++)?"
    r"|[a-z]{3}, \d\d? [a-z]{3} \d{4} \d\d:[\d:]++.{0,40}"
)

_EPOCH_SECONDS_MAX = 1e11
"""An epoch number above it counts milliseconds, or their thousandths: in seconds it would lie after
the year 5000."""

_PARTS_OF_A_SECOND = ("thousandths", "millionths", "billionths")
_EPOCH_YEAR = 1970
_NUMBER = re.compile(r"\d{9,20}(?:\.\d{1,9})?")
"""Seconds since 1970, or parts of them, as a string: nine digits are the year 1973."""


@in_order
class Message:
    """One message as it was given, and the words for its place."""

    where: str
    values: Values
    is_only_read: bool = False

    def turns(self) -> Iterator[Turn]:
        """Return the turns of the message: its words, and before them the answers of tools.

        None without words.

        Raises:
            InvalidSessionError: it cannot be read.
        """
        plain = plain_message(self.values)
        return iter(()) if plain is None else _turns(replace(self, values=plain))

    def wrong(self, complaint: str) -> InvalidSessionError:
        """Make an error about it if it cannot be read."""
        return InvalidSessionError(f"{self.where}: {complaint}")


def turns_of(given: Iterable[Turn | Values], *, is_only_read: bool = False) -> Iterator[Turn]:
    """Return turns unchanged, and the turns of messages; a message without words gives none.

    Args:
        given: turns or messages, in their order. A message has a ``role``, and ``content`` (a
            string or a list of blocks) or ``text``; it may have a time, an ``id``, and the ``name``
            of the speaker. A message of another form is read as ``message_forms`` says.
        is_only_read: whether nothing of it is stored. Then only the end of a long message is read,
            and a sign that no engine stores is replaced; otherwise both are refused.

    Raises:
        InvalidSessionError: an item is not a turn or a message, or cannot be read.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InvalidSessionError(_WANTED)
    for number, message in enumerate(given, start=1):
        if isinstance(message, Turn):
            yield message
        elif isinstance(message, Mapping):
            yield from Message(f"message {number}", message, is_only_read).turns()
        else:
            raise InvalidSessionError(_WANTED)


_WANTED = "turns must be a list of Turn(role=..., text=...), or of messages with role and content"


def _turns(message: Message) -> Iterator[Turn]:
    """Return the turns of the message: its words, and before them the answers of tools."""
    role = _role(message)
    if not message.values.keys() & _SAYING:
        raise message.wrong(
            "the message has neither content nor text; give one of them, with what was said"
        )
    said, answers = _text_and_answers(message, message.values)
    said_at = _said_at(message)
    for speaker, text in (*((Role.TOOL, answer) for answer in answers), (role, said)):
        words = storable(text[-EVIDENCE_LENGTH_MAX:]) if message.is_only_read else text
        if not is_blank(words):
            yield _turn(message, speaker, words, said_at)


def _turn(message: Message, role: Role, text: str, said_at: datetime | None) -> Turn:
    try:
        return Turn(
            role=role,
            text=text,
            said_at=said_at,
            reference=_reference(message),
            name=_name(message) if role is Role.CONTACT else None,
        )
    except InvalidSessionError as error:
        raise message.wrong(str(error)) from error


def _role(message: Message) -> Role:
    given = message.values.get("role")
    known = _ROLE_OF.get(given.strip().casefold()) if isinstance(given, str) else None
    if known is None:
        missing = (
            f"role is missing; use one of {', '.join(_ROLE_OF)}, or give a file that "
            "docs/background_door.md names"
        )
        complaint = missing if given is None else not_one_of("role", given, _ROLE_OF)
        raise message.wrong(complaint)
    return known


def _name(message: Message) -> str | None:
    """Return the speaker's name; a tool's name is not a person's."""
    given = message.values.get("name")
    if not _is_set(given):
        return None
    if not isinstance(given, str):
        raise message.wrong(f"name must be a string, not {type(given).__name__}")
    return given


def _reference(message: Message) -> str | None:
    given = next(filter(_is_set, map(message.values.get, ("id", "reference"))), None)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise message.wrong(f"id must be a string or a number, not {type(given).__name__}")
    return str(given)


# Words


_SAYING = frozenset({"content", "text", "tool_calls", "function_call"})
"""Each message has one of these keys, even a message without words."""


def _text_and_answers(message: Message, values: Values) -> tuple[str, list[str]]:
    """Return the words of the message, and the answers of tools inside it."""
    content = values.get("content")
    if content is None:
        content = values.get("text")
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        kind = type(content).__name__
        raise message.wrong(f"content must be a string or a list of blocks, not {kind}")
    said, answers = [], []
    for block in map(_as_dict, content):
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            answers.append(_text_and_answers(message, block)[0])
        else:
            said.append(_text(message, block))
    return "\n".join(part for part in said if part.strip()), answers


def _as_dict(block: object) -> object:
    """Return a block as a dictionary, even if an SDK made it an object."""
    as_dictionary = getattr(block, "model_dump", None)
    return as_dictionary() if callable(as_dictionary) else block


def _text(message: Message, block: Any) -> str:
    """Return a block's words; pictures, calls of tools and other blocks have none."""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        raise message.wrong(f"a block of content must be an object, not {type(block).__name__}")
    if block.get("type", "text") not in ("text", "input_text", "output_text"):
        return ""
    text = block.get("text")
    if text is not None and not isinstance(text, str):
        raise message.wrong(f"text of a block must be a string, not {type(text).__name__}")
    return text or ""


# Times


def _said_at(message: Message) -> datetime | None:
    """Return the time of the message; None if it has no time.

    Raises:
        InvalidSessionError: its time cannot be read, or only a key of unknown meaning holds one.
    """
    given = {_spelled(key): (key, value) for key, value in message.values.items() if _is_set(value)}
    found = next((given[name] for name in map(_spelled, _TIME_KEYS) if name in given), None)
    if found is not None:
        return _time_of(message, *found)
    for key, value in given.values():
        if key not in _SAYING | {"id", "reference"} and _looks_like_time(message, key, value):
            raise message.wrong(
                f"{key} looks like a time, but perhaps not the time of the message; give that time "
                f"under one of the keys {', '.join(_TIME_KEYS)}, or leave {key} out"
            )
    return None


def _spelled(key: object) -> str:
    """Return a key without the marks and capitals that programs part its words with."""
    return str(key).replace("_", "").replace("-", "").casefold()


def _is_set(value: object) -> bool:
    return value is not None and value != ""


def _looks_like_time(message: Message, name: str, value: object) -> bool:
    if isinstance(value, str | datetime) and _DATE_AND_CLOCK.fullmatch(str(value).strip()):
        return True
    try:  # a small number is a length or a count
        return bool(_OTHER_TIME.search(name)) and _time_of(message, name, value).year > _EPOCH_YEAR
    except InvalidSessionError:
        return False


def _time_of(message: Message, name: str, value: object) -> datetime:
    """Read a time, an ISO 8601 text or an epoch number, which may be a text, too."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _NUMBER.fullmatch(text) else _from_iso(message, name, text)
    if isinstance(value, datetime):
        try:
            return utc(name, value)
        except InvalidNoteError as error:
            raise message.wrong(str(error)) from error
    if not is_number(value, math.inf):
        kind = type(value).__name__
        raise message.wrong(f"{name} must be an ISO 8601 time or an epoch number, not {kind}")
    return _from_epoch(message, name, value)


def _from_iso(message: Message, name: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise message.wrong(
            f"{name} {text!r} is not an ISO 8601 time, nor a number of seconds since 1970; "
            "correct it or leave it out"
        ) from None


def _from_epoch(message: Message, name: str, value: float) -> datetime:
    try:
        seconds = value
        for _ in _PARTS_OF_A_SECOND:
            seconds = seconds / 1000 if abs(seconds) > _EPOCH_SECONDS_MAX else seconds
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise message.wrong(f"{name} {value!r} is not a date that exists") from None
