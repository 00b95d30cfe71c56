"""The other memory systems: where each one keeps owners and ids, and how its records become notes.

- mem0: the results of ``get_all``, from its library and from its platform.
- Graphiti: its edges between entities, written by ``EntityEdge`` or read from Neo4j.
- neo4j-agent-memory: its preferences, facts and relationships in Neo4j.
- LangMem: items of a LangGraph store, as ``Item.dict()`` gives them.

``Record`` and ``Translation`` are the common part: a record's owner, its date and its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler.errors import InvalidRequestError
from reconciler.frozen import Values, frozen, in_order
from reconciler.ports.peer_memory import Carried, NotCarried

LAST = "last"
LAST_OF_TWO = "last (of one or two parts)"
"""In a longer namespace the user may be inside, and the last label one that many users share."""


@in_order
class Record:
    """One record of another system.

    Attributes:
        system: the system's name.
        number: its number, counted from 1.
        values: its fields.
        identity: its id in the other system.
    """

    system: str
    number: int
    values: Values
    identity: str

    @property
    def name(self) -> str:
        """Name the record, for messages."""
        return (
            f"record {self.number} ({self.identity})" if self.identity else f"record {self.number}"
        )

    def at(self, *names: str) -> str | None:
        """Return the first of these times that it has, as ISO 8601; one without a zone is UTC.

        Raises:
            InvalidRequestError: the value is not a time.
        """
        for name in names:
            value = self.values.get(name)
            if value is None or value == "":
                continue
            try:
                moment = datetime.fromisoformat(str(value))
            except ValueError:
                raise self.error(f"{name} {value!r} is not an ISO 8601 time") from None
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()
        return None

    def error(self, what: str) -> InvalidRequestError:
        """Make an error about this record."""
        return InvalidRequestError(f"{self.name}: {what}; nothing was imported")

    def left(self, reason: str) -> NotCarried:
        """Return the record, marked as not imported."""
        return NotCarried(self.name, reason)


@frozen
class Translation:
    """The operator's choices for all records.

    Attributes:
        contact_id: the contact of every record; None to read it from each.
        contact_from: where a record holds the contact: a key, or several joined by dots; for a
            list, the place, counted from 1, or ``last``.
        source_kind: the kind of source that a record counts as, unless the record names a less
            trusted one.
        now: the time now (UTC); a record that ends later has not ended.
    """

    contact_id: str | None
    contact_from: str
    source_kind: str
    now: datetime

    def carried(
        self,
        record: Record,
        text: object,
        *,
        said_at: str | None,
        valid_from: str | None = None,
        ended_at: str | None,
        tags: Iterable[object],
        source_kind: str | None = None,
    ) -> Carried | NotCarried:
        """Return the record as a line of an import.

        Args:
            record: the record of the other system.
            text: its text.
            said_at: the time when it was said; None if the system does not know.
            valid_from: the time from which it is true, if that differs.
            ended_at: the time until which it was true.
            tags: words to find it by.
            source_kind: the kind of source, if the record itself says so.

        Raises:
            InvalidRequestError: the record does not name its owner.
        """
        if not isinstance(text, str) or not text.strip():
            return record.left("it has no text")
        began = valid_from or said_at
        if ended_at is not None and datetime.fromisoformat(ended_at) > self.now:
            ended_at = None
        if ended_at is not None and (
            began is None or datetime.fromisoformat(ended_at) <= datetime.fromisoformat(began)
        ):
            if valid_from is None:
                return record.left("it has ended, and does not say when it began")
            return record.left("it ended when it began, or before")
        line = {
            "contact_id": self.contact_id or self._contact_of(record),
            "text": text.strip(),
            "said_at": said_at,
            "valid_from": valid_from,
            "valid_to": ended_at,
            "source_kind": source_kind or self.source_kind,
            "source_reference": f"{record.system}:{record.identity}",
            "tags": sorted({tag for tag in tags if isinstance(tag, str) and tag.strip()}),
        }
        return Carried(record.number, {name: told for name, told in line.items() if told})

    def _contact_of(self, record: Record) -> str:
        value: Any = record.values
        for part in self.contact_from.split("."):
            value = _inside(value, part)
        if isinstance(value, str | int) and str(value).strip():
            return str(value).strip()
        raise record.error(
            f"the record has no {self.contact_from}, the key that names its contact; name another "
            "key with --contact-from, such as metadata.customer or namespace.1, or one contact for "
            "all records with --contact"
        )


def _inside(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list):
        is_last = part == LAST or (part == LAST_OF_TWO and len(value) <= 2)
        place = len(value) if is_last else int(part) if part.isdecimal() else 0
        return value[place - 1] if 1 <= place <= len(value) else None
    return None


_ASSISTANT = "assistant"
_USER = "user"
"""The owner in neo4j-agent-memory, where only a preference has a user. ``subject`` is the user of a
preference, and the person that a fact or a relationship is about."""
_KINDS = ("preference", "fact", "relationship", "message")


@in_order
class System:
    """A system that can be imported.

    Attributes:
        contact_from: where its records hold the contact, as in ``Translation``.
        translate: turns a record into a note. It raises ``InvalidRequestError`` if the record is
            not of the system, or does not name its owner.
        id_key: where a record holds its id.
    """

    contact_from: str
    translate: Callable[[Record, Translation], Carried | NotCarried]
    id_key: str = "id"

    def identity(self, values: Values) -> str:
        """Return the id of a record, within its namespace if it has one."""
        namespace = values.get("namespace")
        path = namespace if self.id_key == "key" and isinstance(namespace, list) else []
        return "/".join(map(str, (*path, values.get(self.id_key) or "")))


def _of_mem0(record: Record, how: Translation) -> Carried | NotCarried:
    """Turn a memory into a note.

    A changed memory is dated by its last change: an export does not hold its earlier text.
    """
    values = record.values
    if "memory" not in values:
        raise record.error(
            "a memory of mem0 must have the key memory; give the records as get_all returns them"
        )
    is_assistants = _ASSISTANT in (values.get("attributed_to"), values.get("role"))
    categories = values.get("categories")
    return how.carried(
        record,
        values["memory"],
        said_at=record.at("updated_at", "created_at"),
        ended_at=_end(record),
        tags=categories if isinstance(categories, list) else (),
        source_kind="extractor" if is_assistants else None,
    )


def _end(record: Record) -> str | None:
    """Return the end of its last day, as mem0 counts it (UTC)."""
    last_day = record.at("expiration_date")
    if last_day is None:
        return None
    try:
        return (datetime.fromisoformat(last_day).astimezone(UTC) + timedelta(days=1)).isoformat()
    except OverflowError:  # in the first or the last year that there is: it makes no difference
        return last_day


def _of_graphiti(record: Record, how: Translation) -> Carried | NotCarried:
    """Turn an edge into a note; an invalidated edge ended at that time."""
    values = record.values
    if not {"uuid", "fact"} <= values.keys():
        raise record.error(
            "an edge of Graphiti must have the keys uuid and fact; give the records as EntityEdge "
            "writes them"
        )
    return how.carried(
        record,
        values["fact"],
        said_at=record.at("reference_time", "valid_at", "created_at"),
        valid_from=record.at("valid_at"),
        ended_at=record.at("invalid_at", "expired_at"),
        tags=[values.get("name")],
    )


def _of_agent_memory(record: Record, how: Translation) -> Carried | NotCarried:
    """Turn a preference, a fact or a described relationship into a note."""
    values = record.values
    kind = values.get("kind")
    if kind not in _KINDS:
        raise record.error(
            f"the kind of a record of neo4j-agent-memory must be one of {', '.join(_KINDS)}"
        )
    if kind == "message":
        return record.left("it is a message of a conversation; `reconciler extract` reads those")
    text = values.get("text")
    if kind == "relationship" and not text:
        return record.left("a relationship without a description says nothing in words")
    if how.contact_id is None and how.contact_from == _USER and kind != "preference":
        raise record.error(
            f"a {kind} of neo4j-agent-memory has no user. Use --contact-from subject to take its "
            "subject as the contact (a preference keeps its user), or --contact to give all "
            "records one contact"
        )
    return how.carried(
        record,
        text,
        said_at=record.at("created_at", "valid_from"),
        valid_from=record.at("valid_from"),
        ended_at=record.at("valid_until"),
        tags=[values.get("tag")],
    )


def _of_langmem(record: Record, how: Translation) -> Carried | NotCarried:
    """Turn an item into a note, from LangMem's tool or from its manager."""
    values = record.values
    if not {"namespace", "key", "value"} <= values.keys():
        raise record.error("an item of a LangGraph store has the keys namespace, key and value")
    value = values["value"]
    kind = value.get("kind") if isinstance(value, Mapping) else None
    text = _text_of(value)
    if text is None:
        return record.left("its value has no text under content")
    return how.carried(
        record,
        text,
        said_at=record.at("updated_at", "created_at"),
        ended_at=record.at("expires_at"),
        tags=[] if kind == "Memory" else [kind],
    )


def _text_of(value: Any) -> str | None:
    """Return the text under ``content``; the manager nests it in another ``content``."""
    for _ in range(2):
        value = value.get("content") if isinstance(value, Mapping) else value
    return value if isinstance(value, str) else None


SYSTEMS: Mapping[str, System] = {
    "mem0": System("user_id", _of_mem0),
    "graphiti": System("group_id", _of_graphiti, "uuid"),
    "neo4j-agent-memory": System(_USER, _of_agent_memory),
    "langmem": System(f"namespace.{LAST_OF_TWO}", _of_langmem, "key"),
}
