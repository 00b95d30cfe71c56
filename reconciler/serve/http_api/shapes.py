"""Shapes: the answers of the endpoints, as models for the OpenAPI document.

They are made from the records, with the changes of each ``to_dict``, so no shape is written twice.
A contract test checks answers against the shapes; at run time they are not checked.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, create_model

from reconciler.domain.recalling.prompting import as_prompt, token_count
from reconciler.domain.recalling.recalled import Recalled, RecallOutcome, SlotValue
from reconciler.domain.records import candidates, decisions, erasures, sessions
from reconciler.domain.records.facts import Contact, Dispute, FactHistory, RankedFact
from reconciler.domain.records.notes import Note, Slot
from reconciler.frozen import Json, Strings, frozen, picked
from reconciler.ops.review import health

_OF_THE_GATE = ("said_subject", "said_attribute", "is_open")
_OF_RECALLED = ("outcome", "left_out", "standing_left_out", "known", "waiting", "recall_id")


def _model(
    kind: Any,
    *,
    name: str | None = None,
    without: Strings = (),
    adding: Strings = (),
    **instead: Any,
) -> type[BaseModel]:
    """Make a model of a record.

    Args:
        kind: the record.
        name: the model's; None for the record's.
        without: fields that the plain values lack.
        adding: further properties of the plain values.
        **instead: other types for some fields.
    """
    hints = get_type_hints(kind) | instead
    shown: Json = {
        field.name: (hints[field.name], ...) for field in fields(kind) if field.name not in without
    }
    for added in adding:
        told = get_type_hints(getattr(kind, added).fget)["return"]
        shown[added] = (instead.get(added, told), ...)
    made: type[BaseModel] = create_model(name or kind.__name__, __doc__=kind.__doc__, **shown)
    return made


_Slot = _model(Slot, name="NoteSlot", without=_OF_THE_GATE)
_Note = _model(Note, without=("is_cleaned",), slot=_Slot | None)
DecisionShape = _model(
    decisions.Decision,
    adding=("text", "superseded_ids", "disposal", "question", "answer"),
    note=_Note,
)
_ContactHealth = _model(health.ContactHealth, adding=health.RATES)
HealthReportShape = _model(
    health.HealthReport,
    adding=("total",),
    total=_ContactHealth,
    contacts=list[_ContactHealth],  # type: ignore[valid-type]
)
ErasureShape = _model(erasures.Erasure, without=("plan",))
JobShape = _model(sessions.Job, adding=("advice",))
FactEvidenceShape = _model(candidates.FactEvidence, adding=("has_contacts_words",))


@frozen
class RecallAnswer:
    """What a recall found.

    Attributes:
        facts: the facts that fit, best first, then the standing constraints.
        outcome: whether facts fit, nothing fits, or more fit than are here.
        left_out: how many more facts fit.
        standing_left_out: how many more standing constraints there are.
        known: if nothing fits, the known attributes.
        waiting: if an attribute was asked for, the decisions that hold notes about it, by id; they
            wait for a yes.
        recall_id: what this recall showed, for the record of an answer that uses it.
        prompt: the answer as lines for a model's prompt, fenced as data.
        token_count: how long the prompt is, at about four characters a token.
    """

    facts: list[RankedFact]
    outcome: RecallOutcome
    left_out: int
    standing_left_out: int
    known: Strings
    waiting: Strings
    recall_id: str
    prompt: str
    token_count: int


def recall_of(recalled: Recalled) -> Json:
    """Make a ``RecallAnswer`` from the found facts."""
    prompt = as_prompt(recalled)
    return {
        "facts": list(recalled),
        **picked(recalled, _OF_RECALLED),
        "prompt": prompt,
        "token_count": token_count(prompt),
    }


class QuestionToAsk(BaseModel):
    """A question to ask the contact, and the ids that an answer names.

    ``is_put_by``: it was asked in earlier conversations and now waits for an operator.
    """

    question: str | None
    decision_id: str | None = None
    fact_ids: list[str] | None = None
    is_put_by: bool


class BriefingAnswer(BaseModel):
    """The known facts about a contact, and the questions that only the contact can settle.

    ``prompt`` is the same for a model's prompt; ``changed`` has the ids of the facts that are new
    since the contact was last asked about; ``unconfirmed`` names the profile's attributes with a
    newer value that waits for an operator.
    """

    facts: list[RankedFact]
    profile: list[SlotValue]
    changed: list[str]
    questions: list[QuestionToAsk]
    unconfirmed: list[str]
    prompt: str


class AccessAnswer(BaseModel):
    """What a token may reach."""

    profile: Literal["agent", "operator"]
    tenant: str
    agents: list[str]
    contact: str | None
    session: str | None
    name: str


def page_of(name: str, kind: Any) -> type[BaseModel]:
    """Make the model of a page of these items."""
    return create_model(
        f"{name}Page",
        __doc__="A part of a list; ``next`` is ``after`` of the following part, null at the end.",
        items=(list[kind], ...),
        next=(str | None, ...),
    )


ChangesPage = page_of("Changes", decisions.Change)
ContactsPage = page_of("Contacts", Contact)
DecisionPage = page_of("Decision", DecisionShape)
DisputePage = page_of("Dispute", Dispute)
ErasurePage = page_of("Erasure", ErasureShape)
FactHistoryPage = page_of("FactHistory", FactHistory)
JobPage = page_of("Job", JobShape)
PendingPage = page_of("Pending", DecisionShape | Dispute)


class ProblemDetails(BaseModel):
    """What went wrong (RFC 9457); ``detail`` says what to do.

    ``type`` is stable, ``urn:reconciler:problem:`` and a word. ``errors`` says what is wrong with
    each part of the request. ``decision_ids`` are the decisions that prevent a decision from being
    undone.
    """

    type: str
    title: str
    status: int
    detail: str
    is_retryable: bool
    errors: list[str] | None = None
    decision_ids: list[str] | None = None
