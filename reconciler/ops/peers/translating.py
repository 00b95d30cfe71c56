"""The common part of all translations: a record's owner, its date and its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen, in_order
from reconciler.ports.peer_memory import Carried, NotCarried

LAST = "last"


@in_order
class Record:
    """One record of another system.

    Attributes:
        system: the system's name.
        number: which one it is, counted from 1.
        values: what it holds.
        identity: its id there.
    """

    system: str
    number: int
    values: Mapping[str, Any]
    identity: str

    @property
    def name(self) -> str:
        """Record, for messages."""
        return (
            f"record {self.number} ({self.identity})" if self.identity else f"record {self.number}"
        )

    def at(self, *names: str) -> str | None:
        """The first of these times that it has, as ISO 8601; one without a zone is UTC.

        Raises:
            InvalidRequestError: it is not a time.
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
        """An error about this record."""
        return InvalidRequestError(f"{self.name}: {what}; nothing was imported")

    def left(self, reason: str) -> NotCarried:
        """Record, marked as not imported."""
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
        ended_at: str | None = None,
        tags: Iterable[object] = (),
        source_kind: str | None = None,
    ) -> Carried | NotCarried:
        """Record as a line of an import.

        Args:
            record: the record of the other system.
            text: its text.
            said_at: when it was said; None if the system does not know.
            valid_from: since when it is true, if that differs.
            ended_at: until when it was true.
            tags: words to find it by.
            source_kind: the kind of source, if the record itself says so.

        Raises:
            InvalidRequestError: it does not name its owner.
        """
        if not isinstance(text, str) or not text.strip():
            return record.left("it has no text")
        began = valid_from or said_at
        if ended_at is not None and datetime.fromisoformat(ended_at) > self.now:
            ended_at = None
        if ended_at is not None:
            if began is None:
                return record.left("it has ended, and does not say when it began")
            if datetime.fromisoformat(ended_at) <= datetime.fromisoformat(began):
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
            f"the record has no {self.contact_from}, which would name its contact; name another "
            "key with --contact-from, or one contact for all records with --contact"
        )


def _inside(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list):
        place = len(value) if part == LAST else int(part) if part.isdecimal() else 0
        return value[place - 1] if 1 <= place <= len(value) else None
    return None
