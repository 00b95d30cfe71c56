"""Bodies: the inputs of the endpoints. Here only types are checked; the memory checks the meaning.

The fields of a note and the filters of a recall come from the package's own calls.
"""

from __future__ import annotations

from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model

from reconciler.domain.recalling.filtering import FilterFields
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.frozen import Json, present
from reconciler.reading.kinds import Category
from reconciler.serve.descriptions import capital, field_descriptions
from reconciler.service.writing.doors import NoteFields

_MESSAGES_MAX = 10_000
_ENUMS = {"source_kind": SourceKind, "trust": SourceKind, "category": Category}


def _instant(value: object) -> object:
    """Read an ISO 8601 time with a zone; refuse any text with another possible meaning."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError("give an ISO 8601 time, such as 2026-01-31T09:00:00Z") from None
    if at.tzinfo is None:
        raise ValueError("the time has no zone; write it in full, as 2026-01-31T09:00:00Z")
    return at


Instant = Annotated[
    datetime, BeforeValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})
]
OneSentence = Annotated[
    str, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": TEXT_LENGTH_MAX})
]
"""A text; its length is not checked here. The memory checks its length: its error says what to do,
and is the same at every door."""

Reason = Annotated[OneSentence, Field(description="Why, in one sentence.")]
AnsweredBy = Annotated[
    Literal["contact", "operator"],
    Field(
        description="Whose answer it is: the contact's own, or that of the token's owner, under "
        "whose name it is recorded."
    ),
]


_Sides = Annotated[list[str], Field(min_length=1, max_length=100)]


class Body(BaseModel):
    """The body of a request: no unknown field, and no conversion of values."""

    model_config = ConfigDict(extra="forbid", strict=True)


def given(body: BaseModel, *without: str) -> Json:
    """Return the sent values that are not null, as keyword arguments."""
    sent = {name: getattr(body, name) for name in body.model_fields_set if name not in without}
    return present(sent)


def _fields(kind: Any, *without: str) -> Json:
    """Make the fields of a call optional fields of a model, with their descriptions."""
    texts = {
        name: capital(" ".join(text.split()).replace("``", "`").replace("None", "null"))
        for name, text in field_descriptions(kind).items()
    }
    return {
        name: (_typed(name, hint), Field(None, description=texts.get(name)))
        for name, hint in get_type_hints(kind).items()
        if name not in without
    }


def _typed(name: str, hint: Any) -> Any:
    if name in _ENUMS:
        return Annotated[_ENUMS[name] | None, Field(strict=False)]
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if datetime in kinds:
        return Instant | None
    if any(get_origin(kind) not in (None, NoneType) for kind in kinds):  # a list of words
        return list[str] | None
    return hint | None


NoteBody = create_model(
    "NoteBody",
    __base__=Body,
    __doc__="A note about a contact. With the header Idempotency-Key the same note may be sent "
    f"again. An agent's token may name these sources: {', '.join(SourceKind)}, but for operator "
    "and approved_doc.",
    text=(OneSentence, Field(description="One fact, in a sentence that stands alone.")),
    **_fields(NoteFields, "idempotency_key", "proposed_by"),
)
Filters: Any = create_model("Filters", **_fields(FilterFields))


class MessageBody(Body):
    """One message of a conversation, word for word; `system` and `operator` are an operator's."""

    role: Literal["user", "assistant", "tool", "system", "operator"]
    content: str
    name: str | None = None
    timestamp: Instant | None = None
    id: str | None = None


class SessionBody(Body):
    """A conversation, or more of one: what is known of it already is stored once."""

    messages: list[MessageBody] = Field(min_length=1, max_length=_MESSAGES_MAX)
    session_id: str | None = None
    channel: str = "chat"
    started_at: Instant | None = None
    contact_name: str | None = None
    speakers: dict[str, Literal["contact", "operator", "agent", "tool", "system"]] | None = None


class CitationBody(Body):
    """The facts that a reply or an act used; ``reference`` is your own id of it."""

    recall_id: str
    reference: str
    used: _Sides


class AnswerBody(Body):
    """An answer."""

    answered_by: AnsweredBy = "operator"


class AccountBody(Body):
    """The account that a contact belongs to, and since and until when."""

    account: str
    since: Instant | None = None
    until: Instant | None = None


class ConfirmationBody(AnswerBody):
    """A yes; ``text`` is the fact in the words of the answer, where they differ."""

    text: OneSentence | None = None


class ResolutionBody(AnswerBody):
    """Which of the facts in dispute hold: give either ``keep`` or ``neither``."""

    keep: Annotated[_Sides | None, Field(description="The facts that hold.")] = None
    neither: Annotated[
        _Sides | None, Field(description="All sides of a dispute of which none holds.")
    ] = None
    reason: Reason


class AmendmentBody(Body):
    """What is true instead of a fact, or of an attribute's value."""

    text: OneSentence
    reason: Reason
    fact_id: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | float | None = None
    single_valued: bool | None = None
    said_at: Instant | None = None
    valid_to: Instant | None = None
    lifetime_days: int | None = None


class RevocationBody(AnswerBody):
    """The end of a fact; ``never`` if it was never true."""

    reason: Reason
    never: bool = False


class ReversalBody(AnswerBody):
    """The undoing of a decision; ``and_later`` undoes what rests on it, too."""

    reason: Reason
    and_later: bool = False


class IdentityBody(Body):
    """Who a contact is: `other` is merged into it, is split from it, or is its new id."""

    act: Literal["merge", "split", "rename"]
    other: str
    reason: Reason


class ForgettingBody(AnswerBody):
    """What is erased: all, or one part.

    With ``dry_run`` nothing is erased; the answer says what would be.
    """

    reason: Reason
    fact_id: str | None = None
    session_id: str | None = None
    attribute: str | None = None
    subject: str | None = None
    dry_run: bool = False
