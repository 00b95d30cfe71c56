"""What health counts: live facts and decisions, as a store returns them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from reconciler.domain.records.kinds import Action
from reconciler.frozen import frozen


@frozen
class ActionCount:
    """How many decisions of one kind there are; ``is_answer`` where they settled a question."""

    action: Action
    is_answer: bool
    decisions: int


class LiveFact(NamedTuple):
    """A live fact, as far as health looks at it.

    ``subject`` and the three after it are its slot's, all None where it has none;
    ``embedding_bytes`` is None where it has no vector of the model.
    """

    fact_id: str
    subject: str | None
    attribute: str | None
    value_key: str | None
    is_single_valued: bool | None
    expires_at: datetime | None
    embedding_bytes: bytes | None
