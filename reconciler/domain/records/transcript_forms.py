"""Transcript forms: finds the conversations in files of other programs. Pure.

A form is a row: the keys by which a record of it is recognised, and the place of its messages. A
record is a conversation of its own, or a message. The reading of one message does not belong here.

A WhatsApp export is plain text with names. A name says who speaks, and no role; who that is, the
caller says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime, tzinfo
from typing import Any

from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.message_forms import as_object
from reconciler.domain.records.messages import Message
from reconciler.errors import InvalidSessionError
from reconciler.frozen import Match, Strings, Values, in_order

_LISTED_MAX = 20
_TITLE_LENGTH_MAX = 60
_REMEDY = "give its messages as lines with role and content, see docs/background_door.md"


@in_order
class Conversation:
    """One conversation of a file, not read yet.

    Attributes:
        form: the kind of file, as a person would name it.
        number: its place in the file, from 1.
        conversation_id: its id there, or None.
        title: its title there; may be empty.
        is_of_names: whether names alone say who speaks, and no role does.
    """

    form: str
    number: int
    conversation_id: str | None
    title: str
    _messages: Callable[[], Sequence[Message]] = field(repr=False)
    is_of_names: bool = False

    def turns(self) -> list[Turn]:
        """Return the conversation's turns, oldest first; empty if no message has words.

        Raises:
            InvalidSessionError: something in it cannot be read.
        """
        turns = [turn for message in self._messages() for turn in message.turns()]
        times = [turn.said_at for turn in turns if turn.said_at is not None]
        if times and len(times) == len(turns) and times[0] > times[-1]:  # the newest first
            return [turns[at] for at in sorted(range(len(turns)), key=times.__getitem__)]
        return turns

    @property
    def key(self) -> str:
        """Return the key by which it is chosen: its id, else its number."""
        return self.conversation_id or str(self.number)

    def __str__(self) -> str:
        name = self.key if self.key.isprintable() else repr(self.key)
        return f"{name} {self.title[:_TITLE_LENGTH_MAX]!r}" if self.title else name


def conversations_in(records: Sequence[Message]) -> list[Conversation]:
    """Find the conversations of a file, at least one, in the file's order.

    Args:
        records: the objects on its lines or in its document.
    """
    form = next((row for row in _FORMS if any(row.fits(each.values) for each in records)), None)
    if form is None:
        return [Conversation("messages", 1, None, "", lambda: records)]
    return [_conversation(form, number, record) for number, record in enumerate(records, start=1)]


def is_conversation(values: Values) -> bool:
    """True if it holds messages and is not one itself."""
    return any(row.fits(values) for row in _FORMS)


def chosen(conversations: Sequence[Conversation], key: str | None) -> Conversation:
    """Find the chosen conversation of a file.

    Args:
        conversations: all of a file, at least one.
        key: its id or title, or its number if it has no id; None for the only one.

    Raises:
        InvalidSessionError: no conversation fits the key, or several do; the text lists them.
    """
    fitting = [each for each in conversations if key is None or key in (each.key, each.title)]
    if len(fitting) == 1:
        return fitting[0]
    count = len(conversations)
    found = f"{conversations[0].form} with {count:,} conversation{'s' if count > 1 else ''}"
    if key is not None:
        found += f", {len(fitting) or 'none'} of that id or title"
    raise InvalidSessionError(
        f"{found}: choose one by its id or title (on the command line: --conversation), or hand "
        "over all, each as its own session (--all-conversations): "
        f"{_listed(fitting or conversations)}"
    )


def name_of_text(text: str) -> str | None:
    """Kind of a file that is not JSON, and what to do about it; None if it is unknown."""
    return next((f"this looks like {told}" for sign, told in _TEXTS if sign.match(text)), None)


def _listed(conversations: Sequence[Conversation]) -> str:
    left = len(conversations) - _LISTED_MAX
    names = [str(each) for each in conversations[:_LISTED_MAX]]
    return "; ".join(names + ([f"and {left:,} more"] if left > 0 else []))


def _conversation(form: _Form, number: int, record: Message) -> Conversation:
    ids = (record.values.get(key) for key in form.id_keys)
    titles = (record.values.get(key) for key in ("title", "name"))
    return Conversation(
        form.name,
        number,
        next((str(each) for each in ids if isinstance(each, str | int) and each), None),
        next((each for each in titles if isinstance(each, str) and each), ""),
        lambda: _messages_of(form, record),
    )


def _messages_of(form: _Form, record: Message) -> list[Message]:
    """Return the messages of one conversation.

    Raises:
        InvalidSessionError: its form differs from that of the others in its file.
    """
    if not form.fits(record.values):
        raise record.wrong(
            f"this item is not a conversation of {form.name}, but other items of this file are; "
            "put each kind in its own file"
        )
    return _numbered(form.messages(record.values))


def _numbered(given: object) -> list[Message]:
    """Return the messages, each with its place in words.

    Raises:
        InvalidSessionError: they are not a list of objects.
    """
    if not isinstance(given, list):
        raise InvalidSessionError(f"messages must be a list, not {type(given).__name__}")
    messages = []
    for number, values in enumerate(given, start=1):
        if not isinstance(values, Mapping):
            kind = type(values).__name__
            raise InvalidSessionError(f"message {number} must be an object, not {kind}")
        messages.append(Message(f"message {number}", values))
    return messages


# Trees: messages that were edited or answered again are branches beside the current one


def _branch_to(nodes: Values, end: object, parent_key: str) -> list[Values]:
    """Find the branch to the current node, if one is named; else to the only end.

    A cycle is read once.

    Raises:
        InvalidSessionError: there are several ends.
    """
    if nodes and not (isinstance(end, str) and end in nodes):
        parents = [as_object(node).get(parent_key) for node in nodes.values()]
        ends = nodes.keys() - {parent for parent in parents if isinstance(parent, str)}
        if len(ends) != 1:
            raise InvalidSessionError(
                f"the conversation has {len(ends)} branches, but does not say which one is "
                "current; set current_node to the id of its last message"
            )
        end = ends.pop()
    found: dict[str, Values] = {}
    while isinstance(end, str) and end in nodes and end not in found:
        found[end] = as_object(nodes[end])
        end = found[end].get(parent_key)
    return list(reversed(found.values()))


# The place of the messages


def _chatgpt(record: Values) -> list[Values]:
    branch = _branch_to(record["mapping"], record.get("current_node"), "parent")
    return [node["message"] for node in branch if isinstance(node.get("message"), Mapping)]


def _claude(record: Values) -> object:
    """Messages; if they name their parents, only the branch that ends in the current one."""
    messages = record["chat_messages"]
    nodes = {
        each["uuid"]: each
        for each in messages
        if isinstance(each, Mapping) and isinstance(each.get("uuid"), str)
    }
    is_tree = any("parent_message_uuid" in each for each in nodes.values())
    if not is_tree or len(nodes) < len(messages):
        return messages
    named = record.get("current_leaf_message_uuid")
    end = named if isinstance(named, str) and named in nodes else next(reversed(nodes))
    return _branch_to(nodes, end, "parent_message_uuid")


def _responses(record: Values) -> list[Any]:
    lists = (record.get("input"), record.get("output"))
    return [item for items in lists if isinstance(items, list) for item in items]


def _under(key: str) -> Callable[[Values], object]:
    return lambda record: record[key]


# The signs by which a record is recognised


def _holds(key: str, kind: type) -> Callable[[Values], bool]:
    return lambda values: isinstance(values.get(key), kind)


def _is_responses(values: Values) -> bool:
    lists = (values.get("input"), values.get("output"))
    return "type" not in values and any(isinstance(items, list) for items in lists)


@in_order
class _Form:
    """A row: a form's name, the signs of its records, and the place of their messages."""

    name: str
    has: Callable[[Values], bool]
    messages: Callable[[Values], object]
    id_keys: Strings = ()

    def fits(self, values: Values) -> bool:
        """True if the record is of this form; a record with a role is always a message."""
        return "role" not in values and self.has(values)


_FORMS = (
    _Form("a ChatGPT export", _holds("mapping", Mapping), _chatgpt, ("conversation_id", "id")),
    _Form("a Claude export", _holds("chat_messages", list), _claude, ("uuid",)),
    _Form("a Gemini request", _holds("contents", list), _under("contents")),
    _Form("a file", _holds("messages", list), _under("messages")),
    _Form("a file", _holds("turns", list), _under("turns")),
    _Form("a file of Responses", _is_responses, _responses),
)

_TEXTS = (
    (
        re.compile(r"PK\x03\x04"),
        "a zip archive, which cannot be read; unpack it and give the file that holds the "
        "messages, such as conversations.json",
    ),
    (
        re.compile(r"\s{0,9}<(?:!doctype|html)", re.IGNORECASE),
        "a web page, which cannot be read; give the JSON of the same export, such as "
        "conversations.json",
    ),
    (
        re.compile(r"(?:From|Received|Return-Path|Delivered-To|MIME-Version): |From \S+@"),
        f"an e-mail, which cannot be read; {_REMEDY}",
    ),
    (
        re.compile(r"[^\W\d_]{1,30}(?: [^\W\d_]{1,30})?: |WEBVTT\b|\d+\s*\Z"),
        f"a chat or captions as plain text, which cannot be read; {_REMEDY}",
    ),
)


# WhatsApp: text with names, and with the local times of a phone


_NUMBERS = r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?"
_HEAD = re.compile(
    rf"\W{{0,3}}{_NUMBERS}(?:\s*([ap])\.?\s?m\b\.?)?\]?(?:\s+-)?:?\s+", re.IGNORECASE
)
_BY_THE_PROGRAM = re.compile(r"\u200e|<[^<>]*>\Z")
"""The beginning of WhatsApp's own text in a message's place, on iOS and on Android."""

_CENTURY = 2000
_SIGN_LINES = 5


def is_whatsapp_chat(lines: Sequence[str]) -> bool:
    """True if a text begins as a WhatsApp export does, with a date and a time."""
    return bool(re.match(rf"\W{{0,3}}{_NUMBERS}", "\n".join(lines[:_SIGN_LINES])))


def whatsapp_chat(lines: Sequence[str], zone: tzinfo | None) -> Conversation:
    """Read the lines of a WhatsApp export.

    Args:
        lines: of the text.
        zone: the time zone of its local times, or None.

    Raises:
        InvalidSessionError: it cannot be read.
    """
    heads: list[Match] = []
    said: list[list[str]] = []
    for line in lines:
        if head := _HEAD.match(line):
            heads.append(head)
            said.append([line[head.end() :]])
        elif said:
            said[-1].append(line)
    if not heads:
        raise InvalidSessionError(
            "this looks like a WhatsApp export, but no line begins with a date and a time in a "
            "known form; write them like [31/12/2026, 10:11:12] or 31.12.26, 22:11 -"
        )
    if zone is None:
        raise InvalidSessionError(
            "the times of a WhatsApp export have no time zone: give the time zone of the phone "
            "(on the command line: --time-zone Europe/Berlin)"
        )
    made: list[Message] = []
    for at, words in zip(_times(heads, zone), said, strict=True):
        name, mark, text = "\n".join(words).partition(": ")
        if mark and "\n" not in name and not _BY_THE_PROGRAM.match(text):
            name = "".join(filter(str.isprintable, name))  # a telephone number has marks
            values = {"role": "user", "name": name, "content": text, "timestamp": at}
            made.append(Message(f"message {len(made) + 1}", values))
    return Conversation("a WhatsApp export", 1, None, "", lambda: made, is_of_names=True)


def _times(heads: Sequence[Match], zone: tzinfo) -> tuple[datetime, ...]:
    """Return the times of all messages, read in the one order of dates that fits them all.

    Raises:
        InvalidSessionError: no order fits, or both do and differ.
    """
    fitting = set()
    for order in ("dmy", "mdy"):
        with suppress(ValueError):
            fitting.add(tuple(_time(head, order, zone) for head in heads))
    if len(fitting) != 1:
        raise InvalidSessionError(
            f"this WhatsApp export does not show whether {heads[0][0].strip()} begins with the day "
            "or the month, or it holds a date that does not exist. Write all dates like "
            "2026-12-31, or hand over more of the chat, with a day after the 12th"
        )
    return fitting.pop()


def _time(head: Match, order: str, zone: tzinfo) -> datetime:
    """Return the time of a message.

    Raises:
        ValueError: it does not exist.
    """
    order = order if len(head[1]) <= len("31") else "ymd"
    at = dict(zip(order, map(int, head.group(1, 3, 4)), strict=True))
    hour, half = int(head[5]), (head[8] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    year = at["y"] + _CENTURY * (at["y"] < 100)
    return datetime(year, at["m"], at["d"], hour, int(head[6]), int(head[7] or 0), tzinfo=zone)
