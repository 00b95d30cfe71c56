"""Answers: what a recall showed, and the replies and acts of an agent that used facts. Pure.

A recall writes nothing. Its id says what it showed: the time, the beginning of each fact's id, and
a signature that only the store can make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from reconciler.domain.records.notes import check_utterance
from reconciler.errors import InvalidRequestError
from reconciler.frozen import StringSet, frozen

_RECALL_ID_LENGTH_MAX = 50_000
_SIGNED = "\0\0{}"
"""No key of a note, and no reference, has these signs: the id of a decision signs no recall."""

MARK_LENGTH = 8
"""The characters of a fact's id that distinguish the facts of one contact."""


@frozen
class RecordedAnswer:
    """A reply or an act of the agent that used a fact.

    Attributes:
        reference: the operator's own id of the reply, ticket or order.
        at: when it was recorded (UTC).
        holds_at: the time that it is about: that of its recall, or the time that the recall asked
            about (UTC).
        fact_id, text: the fact in the wording that was shown.
        decision_id: the decision that keeps it.
    """

    reference: str
    at: datetime
    holds_at: datetime
    fact_id: str
    text: str
    decision_id: str


def recall_id_of(fact_ids: Iterable[str], at: datetime, sign: Callable[[str], str]) -> str:
    """Id of a recall.

    Args:
        fact_ids: the facts that it showed.
        at: the time that it is about (UTC).
        sign: signs a text for the contact.
    """
    told = f"{at.isoformat()}/{'/'.join(each[:MARK_LENGTH] for each in fact_ids)}"
    return f"{told}/{sign(_SIGNED.format(told))}"


def read_recall_id(recall_id: str, sign: Callable[[str], str]) -> tuple[datetime, StringSet]:
    """Return the time that a recall is about, and how the ids of its facts begin.

    Raises:
        InvalidRequestError: the id is not that of a recall about this contact.
    """
    check_utterance("recall_id", recall_id, _RECALL_ID_LENGTH_MAX)
    told, _, signed = recall_id.rpartition("/")
    if sign(_SIGNED.format(told)) != signed:
        raise InvalidRequestError(
            f"{recall_id:.200} is the id of no recall about this contact; give the recall_id of "
            "the recall or the context that the answer used, unchanged"
        )
    at, *marks = told.split("/")
    return datetime.fromisoformat(at), frozenset(marks)
