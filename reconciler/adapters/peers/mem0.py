"""mem0: the results of ``get_all``, from its library and from its platform."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler.adapters.peers.translating import Record, Translation
from reconciler.ports.peer_memory import Carried, NotCarried

CONTACT_FROM = "user_id"
_ASSISTANT = "assistant"


def identity(values: dict[str, Any]) -> str:
    """The id of a memory."""
    return str(values.get("id") or "")


def translate(record: Record, how: Translation) -> Carried | NotCarried:
    """A memory as a note.

    A changed memory is dated by its last change: an export does not hold its earlier text.

    Raises:
        InvalidRequestError: it is no memory, or does not name its owner.
    """
    values = record.values
    if "memory" not in values:
        raise record.error("a memory of mem0 has the key memory; is this what get_all gave?")
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
    """The end of its last day, as mem0 counts it (UTC)."""
    last_day = record.at("expiration_date")
    if last_day is None:
        return None
    try:
        return (datetime.fromisoformat(last_day).astimezone(UTC) + timedelta(days=1)).isoformat()
    except OverflowError:  # in the first or the last year that there is: it makes no difference
        return last_day
