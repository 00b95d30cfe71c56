"""The endpoints of an agent's token: notes, recall, briefing, and conversations.

An operator's token opens them as well. An endpoint that answers for a person must never be here.
"""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Header, Query, Request, Response

from reconciler.bound_memory import ContactMemory
from reconciler.domain.recalling.checking import ActCheck
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import check_identifier
from reconciler.errors import InvalidRequestError
from reconciler.serve.access.grants import AGENT_ROLES, AccessProfile, Grant, NotGrantedError
from reconciler.serve.http_api import shapes
from reconciler.serve.http_api.answering import ContactOf, GrantOf, Routes, answer, ok
from reconciler.serve.http_api.bodies import (
    CitationBody,
    Filters,
    Instant,
    NoteBody,
    SessionBody,
    given,
)

_CONTACT = "/agents/{agent_id}/contacts/{contact_id}"
_OF_PEOPLE = (SourceKind.OPERATOR, SourceKind.APPROVED_DOC)

routes = Routes("agent")


class RecallParameters(Filters):  # type: ignore[misc]
    """What is asked for."""

    query: str = ""
    limit: int | None = None
    budget_tokens: int | None = None
    as_of: Instant | None = None
    valid_at: Instant | None = None


@routes.answers("/access", shapes.AccessAnswer)
def access(grant: GrantOf) -> Any:
    """What this token may reach."""
    return grant.to_dict()


@routes.answers(f"{_CONTACT}/notes", shapes.DecisionShape, "POST")
def add_note(
    about: ContactOf,
    grant: GrantOf,
    body: NoteBody,  # type: ignore[valid-type]
    idempotency_key: Annotated[
        str | None,
        Header(
            description="The same key about a contact, from the same caller, gives the first "
            "decision, as `replayed`; with another text, slot, source or valid_from it is "
            "refused with 422. A caller is a profile, a name and a session of a token."
        ),
    ] = None,
) -> Any:
    """Remember something about a contact; the decision says what was done with it."""
    fields = given(body, "text", "session_id")
    if session_id := grant.session(body.session_id):  # type: ignore[attr-defined]
        fields["session_id"] = session_id
    if idempotency_key is not None:
        fields["idempotency_key"] = _own_key(about, grant, idempotency_key)
    return about.note(body.text, **fields, proposed_by=_proposer(grant, fields))  # type: ignore[attr-defined]


def _own_key(about: ContactMemory, grant: Grant, key: str) -> str:
    """Make the key private to its caller, so that it never returns another caller's decision.

    Raises:
        InvalidRequestError: the key cannot be used.
    """
    check_identifier("Idempotency-Key", key, InvalidRequestError)
    return about.digest(json.dumps([grant.profile, grant.name, grant.session_id, key]))


def _proposer(grant: Grant, fields: dict[str, Any]) -> str | None:
    """Return who proposes a note: the operator, or the agent, which may not speak as an operator.

    Raises:
        NotGrantedError: an agent speaks as an operator.
    """
    if grant.profile is AccessProfile.OPERATOR:
        return grant.name
    if fields.get("source_kind") in _OF_PEOPLE:
        raise NotGrantedError(
            f"an agent's token may not give the source {fields['source_kind']}; give the note's "
            "true source, such as user_explicit or tool_output, or use an operator's token"
        )
    return None


@routes.answers(f"{_CONTACT}/recall", shapes.RecallAnswer)
def recall(about: ContactOf, asked: Annotated[RecallParameters, Query()]) -> Any:
    """The facts that fit a query best, and the standing constraints; also as lines for a prompt."""
    return shapes.recall_of(about.recall(**given(asked)))


@routes.answers(f"{_CONTACT}/briefing", shapes.BriefingAnswer)
def briefing(
    about: ContactOf,
    query: Annotated[str, Query(description="What the conversation is about.")] = "",
    limit: Annotated[int | None, Query(ge=1, le=500)] = None,
) -> Any:
    """What to know, and what to ask, when a conversation opens."""
    briefed = about.briefing(query, limit=limit)
    return {**briefed.to_dict(), "prompt": briefed.as_prompt()}


@routes.answers(f"{_CONTACT}/answers", shapes.DecisionShape, "POST")
def record_answer(about: ContactOf, body: CitationBody) -> Any:
    """Record which facts a reply or an act used, so that a correction finds it."""
    return about.record_answer(**given(body))


@routes.answers(f"{_CONTACT}/check", ActCheck)
def check(
    about: ContactOf,
    grounds: Annotated[
        list[str] | None,
        Query(alias="about", description="What the act rests on: attributes, and facts by id."),
    ] = None,
    act: Annotated[str, Query(description="What is planned, in words.")] = "",
    subject: Annotated[str | None, Query(description="Whom the attributes are about.")] = None,
    max_age_days: Annotated[float | None, Query(description="How old a fact may be.")] = None,
) -> Any:
    """Whether an act may rest on what is known: go, ask or stop, with reasons."""
    return about.check(grounds or (), act=act, subject=subject, max_age_days=max_age_days)


@routes.post(f"{_CONTACT}/sessions", status_code=202, responses=ok(shapes.JobShape, 202))
def submit_session(
    request: Request, about: ContactOf, grant: GrantOf, body: SessionBody
) -> Response:
    """Hand a conversation over; it is read in the background, as the job says."""
    _check_roles(grant, body)
    job_id = about.submit_session(
        grant.session(body.session_id),
        [message.model_dump(exclude_none=True) for message in body.messages],
        **given(body, "messages", "session_id"),
    )
    root, scope = request.scope.get("root_path", ""), about.scope
    at = _CONTACT.format(
        agent_id=quote(scope.agent_id, safe=""), contact_id=quote(scope.contact_id, safe="")
    )
    return answer(about.job(job_id), 202, Location=f"{root}{routes.prefix}{at}/jobs/{job_id}")


def _check_roles(grant: Grant, body: SessionBody) -> None:
    """Refuse an agent that hands over turns of a role above its own.

    Raises:
        NotGrantedError: a turn has such a role.
    """
    if grant.profile is AccessProfile.OPERATOR:
        return
    heard = [role for role in (body.speakers or {}).values() if role == "operator"]
    for role in (*(message.role for message in body.messages), *heard):
        if role not in AGENT_ROLES:
            raise NotGrantedError(
                f"an agent's token may not hand over turns of the role {role}, only of "
                f"{', '.join(AGENT_ROLES)}; use an operator's token"
            )


@routes.answers(_CONTACT + "/jobs/{job_id}", shapes.JobShape)
def job(about: ContactOf, grant: GrantOf, job_id: str) -> Any:
    """How far a conversation that was handed over has got."""
    found = about.job(job_id)
    if not grant.opens(found.session_id):
        raise NotGrantedError(
            "this token is for one session, and the job belongs to another session"
        )
    return found
