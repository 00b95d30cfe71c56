"""The endpoints of an operator's token: to see the whole memory, and to settle questions.

A decision is recorded under the token's name, or as the contact's own answer.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel

from reconciler.domain.recalling.current_values import SlotValue
from reconciler.domain.records.facts import Contact, FactHistory, FoundFact
from reconciler.domain.records.kinds import Disposal, GateReason, JobState
from reconciler.domain.records.sessions import SessionRecord
from reconciler.domain.review.explanation import Explanation
from reconciler.entrypoints.access.grants import Grant
from reconciler.entrypoints.http_api import shapes
from reconciler.entrypoints.http_api.answering import (
    AgentOf,
    ContactOf,
    GrantOf,
    MemoryOf,
    PageOf,
    WholeIdsRoute,
    answer,
    known_parameters_only,
    ok,
    ok_or_known,
    operators_only,
    unless_known,
)
from reconciler.entrypoints.http_api.bodies import (
    AmendmentBody,
    AnswerBody,
    ConfirmationBody,
    Filters,
    ForgettingBody,
    Instant,
    ResolutionBody,
    ReversalBody,
    RevocationBody,
    given,
)
from reconciler.entrypoints.places import (
    place_of,
    read_dispute_place,
    read_place,
    read_waiting_place,
)

_AGENT = "/agents/{agent_id}"
_CONTACT = _AGENT + "/contacts/{contact_id}"
_DECISION = _CONTACT + "/decisions/{decision_id}"
_FACT = _CONTACT + "/facts/{fact_id}"
_DECIDED = ok(shapes.DecisionShape)


routes = APIRouter(
    prefix="/v1",
    tags=["operator"],
    route_class=WholeIdsRoute,
    dependencies=[Depends(operators_only), Depends(known_parameters_only)],
)


class DecisionsQuery(BaseModel):
    """Filters for decisions: disposal, reason, door and span of time."""

    disposal: Disposal | None = None
    reason: GateReason | None = None
    door: str | None = None
    since: Instant | None = None
    until: Instant | None = None


WhichDecisions = Annotated[DecisionsQuery, Depends()]


class FindQuery(Filters):  # type: ignore[misc]
    """The query, its filters and its limit."""

    query: str
    limit: int | None = None


@routes.get(_AGENT + "/contacts", responses=ok(shapes.ContactsPage))
def list_contacts(agent: AgentOf, page: PageOf) -> Response:
    """An agent's contacts, by id."""
    return answer(page.of(agent.contacts, lambda contact: contact.contact_id))


@routes.get(_AGENT + "/find", responses=ok(list[FoundFact]))
def find(agent: AgentOf, asked: Annotated[FindQuery, Query()]) -> Response:
    """The live facts of all of an agent's contacts that are nearest to a query."""
    return answer(agent.find(**given(asked)))


@routes.get(_AGENT + "/decisions", responses=ok(shapes.DecisionPage))
def list_agent_decisions(agent: AgentOf, page: PageOf, which: WhichDecisions) -> Response:
    """The newest decisions about all of an agent's contacts, refusals among them."""
    return answer(page.of(partial(agent.decisions, **given(which)), place_of, read_place))


@routes.get(_AGENT + "/pending", responses=ok(shapes.PendingPage))
def list_agent_pending(agent: AgentOf, page: PageOf) -> Response:
    """The held notes and disputes of all of an agent's contacts."""
    return answer(page.of(agent.pending, place_of, read_waiting_place))


@routes.get(_AGENT + "/disputes", responses=ok(shapes.DisputePage))
def list_agent_disputes(agent: AgentOf, page: PageOf) -> Response:
    """Facts that contradict each other, of all of an agent's contacts."""
    return answer(page.of(agent.disputes, place_of, read_dispute_place))


@routes.get(_AGENT + "/jobs", responses=ok(shapes.JobPage))
def list_agent_jobs(agent: AgentOf, page: PageOf, state: JobState | None = None) -> Response:
    """The conversations that were handed over, the newest first."""
    return answer(page.of(partial(agent.jobs, state=state), place_of, read_place))


@routes.get(_AGENT + "/health", responses=ok(shapes.HealthReportShape))
def agent_health(agent: AgentOf, check_records: bool = False) -> Response:
    """The health of an agent's memory in numbers; all live facts are read, so it takes a while.

    With ``check_records`` every record is read, and the damaged ones are counted.
    """
    return answer(agent.health(check_records=check_records))


@routes.get(_CONTACT, responses=ok_or_known(Contact))
@unless_known
def get_contact(about: ContactOf, memory: MemoryOf) -> Any:
    """A contact in numbers: its facts by their state."""
    about.check_known()
    scope = about.scope
    [found] = memory.agent(scope.agent_id, tenant=scope.tenant).contacts(scope.contact_id)
    return found


@routes.get(_CONTACT + "/profile", responses=ok_or_known(list[SlotValue]))
@unless_known
def profile(about: ContactOf) -> Any:
    """The current values of all of a contact's attributes, with their start and source."""
    return about.profile()


@routes.get(_CONTACT + "/values/{attribute}", responses=ok_or_known(list[SlotValue]))
@unless_known
def value(
    about: ContactOf,
    attribute: str,
    subject: str | None = None,
) -> Any:
    """An attribute's current value; several if it holds many, or is in dispute."""
    return about.value(attribute, subject=subject)


@routes.get(_CONTACT + "/history", responses=ok_or_known(shapes.FactHistoryPage))
@unless_known
def history(
    about: ContactOf,
    page: PageOf,
    at: Annotated[Instant | None, Query(description="As the memory was then.")] = None,
) -> Any:
    """What superseded what, when and why; as of an instant, if it is given."""
    return page.of(partial(about.history, at=at), lambda chain: chain.facts[0].fact_id)


@routes.get(_FACT + "/history", responses=ok_or_known(FactHistory))
@unless_known
def fact_history(
    about: ContactOf,
    fact_id: str,
    at: Annotated[Instant | None, Query(description="As the memory was then.")] = None,
) -> Any:
    """The chain that a fact is in."""
    return about.history(fact_id=fact_id, at=at)[0]


@routes.get(_FACT + "/evidence", responses=ok_or_known(shapes.FactEvidenceShape))
@unless_known
def fact_evidence(about: ContactOf, fact_id: str) -> Any:
    """What a fact rests on: each turn, who said it, when and where."""
    return about.evidence(fact_id)


@routes.get(_CONTACT + "/decisions", responses=ok_or_known(shapes.DecisionPage))
@unless_known
def list_decisions(
    about: ContactOf,
    page: PageOf,
    which: WhichDecisions,
) -> Any:
    """The newest decisions about a contact, refusals among them."""
    return page.of(partial(about.decisions, **given(which)), place_of, read_place)


@routes.get(_DECISION, responses=ok_or_known(shapes.DecisionShape))
@unless_known
def get_decision(about: ContactOf, decision_id: str) -> Any:
    """One decision, with what it was compared with."""
    return about.decision(decision_id)


@routes.get(_DECISION + "/explanation", responses=ok_or_known(Explanation))
@unless_known
def explain(about: ContactOf, decision_id: str) -> Any:
    """Why a decision was made, in plain words."""
    return about.explain(decision_id)


@routes.post(_DECISION + "/confirm", responses=_DECIDED)
def confirm(about: ContactOf, grant: GrantOf, decision_id: str, body: ConfirmationBody) -> Response:
    """Answer yes to a held note: it is stored as the word of the person who answered."""
    return answer(about.confirm(decision_id, told_to=grant.name, **_by(grant, body)))


@routes.post(_DECISION + "/reject", responses=_DECIDED)
def reject(about: ContactOf, grant: GrantOf, decision_id: str, body: AnswerBody) -> Response:
    """Answer no to a held note: nothing is stored, and the question is not asked again."""
    return answer(about.reject(decision_id, told_to=grant.name, **_by(grant, body)))


@routes.post(_DECISION + "/withdraw", responses=_DECIDED)
def withdraw(about: ContactOf, grant: GrantOf, decision_id: str, body: AnswerBody) -> Response:
    """Withdraw a held note, so that nothing is asked; it may be proposed again."""
    return answer(about.withdraw(decision_id, told_to=grant.name, **_by(grant, body)))


@routes.post(_DECISION + "/revert", responses=_DECIDED)
def revert(about: ContactOf, grant: GrantOf, decision_id: str, body: ReversalBody) -> Response:
    """Undo a decision: the fact that it wrote is revoked, and facts that it ended hold again."""
    return answer(about.revert(decision_id, **_by(grant, body)))


@routes.get(_CONTACT + "/pending", responses=ok_or_known(shapes.PendingPage))
@unless_known
def list_pending(about: ContactOf, page: PageOf) -> Any:
    """The open questions about a contact: held notes, then disputes."""
    return page.of(about.pending, place_of, read_waiting_place)


@routes.get(_CONTACT + "/disputes", responses=ok_or_known(shapes.DisputePage))
@unless_known
def list_disputes(about: ContactOf, page: PageOf) -> Any:
    """Facts of a contact that contradict each other."""
    return page.of(about.disputes, place_of, read_dispute_place)


@routes.post(_CONTACT + "/disputes/resolve", responses=_DECIDED)
def resolve(about: ContactOf, grant: GrantOf, body: ResolutionBody) -> Response:
    """Settle a dispute: the facts to keep hold, and those against them end; or all end."""
    return answer(about.resolve(**_by(grant, body)))


@routes.post(_CONTACT + "/amendments", responses=_DECIDED)
def amend(about: ContactOf, grant: GrantOf, body: AmendmentBody) -> Response:
    """Correct a fact in the operator's name, also one that the contact said."""
    return answer(about.amend(by=grant.name, **given(body)))


@routes.post(_FACT + "/revoke", responses=_DECIDED)
def revoke(about: ContactOf, grant: GrantOf, fact_id: str, body: RevocationBody) -> Response:
    """End a fact without replacing it; its history is kept."""
    return answer(about.revoke(fact_id, **_by(grant, body)))


@routes.post(_CONTACT + "/erasures", responses=ok(shapes.ErasureShape))
def forget(about: ContactOf, grant: GrantOf, body: ForgettingBody) -> Response:
    """Erase a contact, or a part, for good; the answer holds the receipt."""
    return answer(about.forget(**_by(grant, body)))


@routes.get(_CONTACT + "/erasures", responses=ok(shapes.ErasurePage))
def list_erasures(about: ContactOf, page: PageOf) -> Response:
    """The erasures of a contact, the oldest first."""
    return answer(page.of_all(about.erasures(), lambda erasure: erasure.erasure_id))


@routes.get(_CONTACT + "/sessions/{session_id}", responses=ok(SessionRecord))
def get_session(about: ContactOf, session_id: str) -> Response:
    """A stored conversation: its summary, and the outcomes of its candidates."""
    return answer(about.session(session_id))


@routes.get(_CONTACT + "/jobs", responses=ok(shapes.JobPage))
def list_jobs(about: ContactOf, page: PageOf, state: JobState | None = None) -> Response:
    """The conversations of a contact that were handed over, the newest first."""
    return answer(page.of(partial(about.jobs, state=state), place_of, read_place))


@routes.post(_CONTACT + "/jobs/{job_id}/retry", responses=ok(shapes.JobShape))
def retry_job(about: ContactOf, job_id: str) -> Response:
    """Start a dead or waiting job again now."""
    return answer(about.retry(job_id))


@routes.get(_CONTACT + "/health", responses=ok(shapes.HealthReportShape))
def contact_health(about: ContactOf, check_records: bool = False) -> Response:
    """The health of one contact's memory, in numbers.

    With ``check_records`` it reads every record, and counts the damaged ones.
    """
    return answer(about.health(check_records=check_records))


def _by(grant: Grant, body: AnswerBody) -> dict[str, Any]:
    """A person's decision, and the name it is recorded under."""
    return {"by": grant.person(body.answered_by), **given(body, "answered_by")}
