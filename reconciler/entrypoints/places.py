"""Places: the position at which a list continues, in the form for an address."""

from __future__ import annotations

from datetime import datetime

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute
from reconciler.domain.records.jobs import Job
from reconciler.domain.records.notes import utc
from reconciler.errors import InvalidNoteError, InvalidRequestError


def place_of(item: Decision | Dispute | Job) -> str:
    """The place after an item of a list: its time, its id and, of a dispute, the contact."""
    if isinstance(item, Dispute):
        at, fact_id = item.place
        return f"{at.isoformat()}~{fact_id}~{item.scope.contact_id}"
    if isinstance(item, Job):
        return f"{item.submitted_at.isoformat()}~{item.job_id}"
    return f"{item.at.isoformat()}~{item.decision_id}"


def read_place(after: str) -> tuple[datetime, str]:
    """The time and the id of the decision or job after which a page continues.

    Raises:
        InvalidRequestError: it is no place.
    """
    at, _, item_id = after.partition("~")
    try:
        return utc("after", datetime.fromisoformat(at)), item_id
    except (ValueError, OverflowError, InvalidNoteError):
        raise InvalidRequestError("after must be the `next` of a page of this list") from None


def read_dispute_place(after: str) -> tuple[datetime, str, str]:
    """The time, the first fact and the contact of the dispute after which a page continues.

    Raises:
        InvalidRequestError: it is no place.
    """
    at, rest = read_place(after)
    fact_id, _, contact_id = rest.partition("~")
    return at, fact_id, contact_id


def read_waiting_place(after: str) -> tuple[datetime, str] | tuple[datetime, str, str]:
    """The place of a held note or a dispute.

    Raises:
        InvalidRequestError: it is no place.
    """
    return read_dispute_place(after) if after.count("~") > 1 else read_place(after)
