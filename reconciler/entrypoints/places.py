"""Places: the position at which a list continues, in the form for an address."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Any

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute
from reconciler.domain.records.jobs import Job
from reconciler.domain.records.notes import utc
from reconciler.errors import InvalidNoteError, InvalidRequestError


def place_of(item: Decision | Dispute | Job) -> str:
    """The place after an item of a list: its time, its id and, of a dispute, the contact."""
    if isinstance(item, Dispute):
        at, *ids = *item.place, item.scope.contact_id
    elif isinstance(item, Job):
        at, ids = item.submitted_at, [item.job_id]
    else:
        at, ids = item.at, [item.decision_id]
    return "~".join((at.isoformat(), *ids))


def read_place(after: str, id_counts: Collection[int] = (1,)) -> tuple[Any, ...]:
    """The time and the ids of the item after which a page continues.

    Args:
        after: the place.
        id_counts: how many ids the places of the list have.

    Raises:
        InvalidRequestError: it is no place of this list.
    """
    at, *ids = after.split("~", 2)
    try:
        if len(ids) in id_counts:
            return utc("after", datetime.fromisoformat(at)), *ids
    except (ValueError, OverflowError, InvalidNoteError):
        pass
    raise InvalidRequestError("after must be the `next` of a page of this list")


read_dispute_place = partial(read_place, id_counts=(2,))
"""The time, the first fact and the contact of a dispute."""

read_waiting_place = partial(read_place, id_counts=(1, 2))
"""The place of a held note or a dispute."""
