"""The endpoints of an operator's token: to see the whole memory, and to settle questions.

A decision is recorded under the token's name, or as the contact's own answer.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel

from reconciler import ops
from reconciler.domain.explanation import Explanation
from reconciler.domain.recalling.answering import RecordedAnswer
from reconciler.domain.recalling.recalled import SlotValue
from reconciler.domain.records.facts import Contact, Fact, FactHistory, FoundFact
from reconciler.domain.records.kinds import Disposal, GateReason, JobState
from reconciler.domain.records.sessions import SessionRecord
from reconciler.frozen import Json
from reconciler.serve.access.grants import Grant
from reconciler.serve.http_api import shapes
from reconciler.serve.http_api.answering import (
    AgentOf,
    ContactOf,
    GrantOf,
    MemoryOf,
    PageOf,
    Routes,
    operators_only,
    read_dispute_place,
    read_waiting_place,
)
from reconciler.serve.http_api.bodies import (
    AccountBody,
    AmendmentBody,
    AnswerBody,
    ConfirmationBody,
    Filters,
    ForgettingBody,
    IdentityBody,
    Instant,
    ResolutionBody,
    ReversalBody,
    RevocationBody,
    given,
)

_AGENT = "/agents/{agent_id}"
_CONTACT = _AGENT + "/contacts/{contact_id}"
_DECISION = _CONTACT + "/decisions/{decision_id}"
_FACT = _CONTACT + "/facts/{fact_id}"
_DECIDED = shapes.DecisionShape


routes = Routes("operator", operators_only)

AsOf = Annotated[Instant | None, Query(description="As the memory was then.")]


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


@routes.answers(f"{_AGENT}/contacts", shapes.ContactsPage)
def list_contacts(agent: AgentOf, page: PageOf) -> Any:
    """An agent's contacts, by id."""
    return page.of(agent.contacts, lambda contact: contact.contact_id, str)


@routes.answers(f"{_AGENT}/find", list[FoundFact])
def find(agent: AgentOf, asked: Annotated[FindQuery, Query()]) -> Any:
    """The live facts of all of an agent's contacts that are nearest to a query."""
    return agent.find(**given(asked))


@routes.answers(f"{_AGENT}/decisions", shapes.DecisionPage)
def list_agent_decisions(agent: AgentOf, page: PageOf, which: WhichDecisions) -> Any:
    """The newest decisions about all of an agent's contacts, refusals among them."""
    return page.of(partial(agent.decisions, **given(which)))


@routes.answers(f"{_AGENT}/pending", shapes.PendingPage)
def list_agent_pending(agent: AgentOf, page: PageOf) -> Any:
    """The held notes and disputes of all of an agent's contacts."""
    return page.of(agent.pending, place=read_waiting_place)


@routes.answers(f"{_AGENT}/disputes", shapes.DisputePage)
def list_agent_disputes(agent: AgentOf, page: PageOf) -> Any:
    """Facts that contradict each other, of all of an agent's contacts."""
    return page.of(agent.disputes, place=read_dispute_place)


@routes.answers(f"{_AGENT}/changes", shapes.ChangesPage)
def list_agent_changes(agent: AgentOf, page: PageOf) -> Any:
    """Every decision and erasure in one order; keep the `cursor` of the last as `after`."""
    return page.of(agent.changes, lambda change: change.cursor, str)


@routes.answers(f"{_AGENT}/jobs", shapes.JobPage)
def list_agent_jobs(agent: AgentOf, page: PageOf, state: JobState | None = None) -> Any:
    """The conversations that were handed over, the newest first."""
    return page.of(partial(agent.jobs, state=state))


@routes.answers(f"{_AGENT}/health", shapes.HealthReportShape)
def agent_health(agent: AgentOf, check_records: bool = False) -> Any:
    """The health of an agent's memory in numbers; all live facts are read, so it takes a while.

    With ``check_records`` every record is read, and the damaged ones are counted.
    """
    return ops.health(agent, check_records=check_records)


@routes.answers(_CONTACT, Contact)
def get_contact(about: ContactOf, memory: MemoryOf) -> Any:
    """A contact in numbers: its facts by their state."""
    about.check_known()
    scope = about.scope
    [found] = memory.agent(scope.agent_id, tenant=scope.tenant).contacts(scope.contact_id)
    return found


@routes.answers(f"{_CONTACT}/profile", list[SlotValue])
def profile(about: ContactOf) -> Any:
    """The current values of all of a contact's attributes, with their start and source."""
    return about.profile()


@routes.answers(_CONTACT + "/values/{attribute}", list[SlotValue])
def value(about: ContactOf, attribute: str, subject: str | None = None) -> Any:
    """An attribute's current value; several if it holds many, or is in dispute."""
    return about.value(attribute, subject=subject)


@routes.answers(f"{_CONTACT}/accounts", list[Fact])
def list_accounts(
    about: ContactOf, at: Annotated[Instant | None, Query(description="At that time.")] = None
) -> Any:
    """The accounts that a contact belongs to, as facts; to revoke one of them ends it."""
    return about.accounts(at=at)


@routes.answers(f"{_CONTACT}/accounts", _DECIDED, "POST")
def join_account(agent: AgentOf, about: ContactOf, grant: GrantOf, body: AccountBody) -> Any:
    """Make a contact belong to an account: its recalls then tell the facts of the account too."""
    # Of the agent, because a token for one contact must not open an account to itself.
    contact = agent.contact(about.scope.contact_id)
    return contact.join_account(by=grant.name, **given(body))


@routes.answers(f"{_CONTACT}/history", shapes.FactHistoryPage)
def history(about: ContactOf, page: PageOf, at: AsOf = None) -> Any:
    """What superseded what, when and why; as of an instant, if it is given."""
    return page.of(partial(about.history, at=at), lambda chain: chain.facts[0].fact_id, str)


@routes.answers(f"{_FACT}/history", FactHistory)
def fact_history(about: ContactOf, fact_id: str, at: AsOf = None) -> Any:
    """The chain that a fact is in."""
    return about.history(fact_id=fact_id, at=at)[0]


@routes.answers(f"{_FACT}/evidence", shapes.FactEvidenceShape)
def fact_evidence(about: ContactOf, fact_id: str) -> Any:
    """What a fact rests on: each turn, who said it, when and where."""
    return about.evidence(fact_id)


@routes.answers(f"{_CONTACT}/impact", list[RecordedAnswer])
def impact(about: ContactOf, fact: str | None = None, decision_id: str | None = None) -> Any:
    """The answers that used a fact, or that a decision corrected, the newest first."""
    return about.impact(fact, decision_id=decision_id)


@routes.answers(f"{_CONTACT}/decisions", shapes.DecisionPage)
def list_decisions(about: ContactOf, page: PageOf, which: WhichDecisions) -> Any:
    """The newest decisions about a contact, refusals among them."""
    return page.of(partial(about.decisions, **given(which)))


@routes.answers(_DECISION, shapes.DecisionShape)
def get_decision(about: ContactOf, decision_id: str) -> Any:
    """One decision, with what it was compared with."""
    return about.decision(decision_id)


@routes.answers(f"{_DECISION}/explanation", Explanation)
def explain(about: ContactOf, decision_id: str) -> Any:
    """Why a decision was made, in plain words."""
    return about.explain(decision_id)


@routes.answers(f"{_DECISION}/confirm", _DECIDED, "POST")
def confirm(about: ContactOf, grant: GrantOf, decision_id: str, body: ConfirmationBody) -> Any:
    """Answer yes to a held note: it is stored as the word of the person who answered."""
    return about.confirm(decision_id, told_to=grant.name, **_by(grant, body))


@routes.answers(f"{_DECISION}/reject", _DECIDED, "POST")
def reject(about: ContactOf, grant: GrantOf, decision_id: str, body: AnswerBody) -> Any:
    """Answer no to a held note: nothing is stored, and the question is not asked again."""
    return about.reject(decision_id, told_to=grant.name, **_by(grant, body))


@routes.answers(f"{_DECISION}/withdraw", _DECIDED, "POST")
def withdraw(about: ContactOf, grant: GrantOf, decision_id: str, body: AnswerBody) -> Any:
    """Withdraw a held note, so that nothing is asked; it may be proposed again."""
    return about.withdraw(decision_id, told_to=grant.name, **_by(grant, body))


@routes.answers(f"{_DECISION}/revert", _DECIDED, "POST")
def revert(about: ContactOf, grant: GrantOf, decision_id: str, body: ReversalBody) -> Any:
    """Undo a decision: the fact that it wrote is revoked, and facts that it ended hold again."""
    grant.check_may_undo(about, decision_id)
    return about.revert(decision_id, **_by(grant, body))


@routes.answers(f"{_CONTACT}/pending", shapes.PendingPage)
def list_pending(about: ContactOf, page: PageOf) -> Any:
    """The open questions about a contact: held notes, then disputes."""
    return page.of(about.pending, place=read_waiting_place)


@routes.answers(f"{_CONTACT}/disputes", shapes.DisputePage)
def list_disputes(about: ContactOf, page: PageOf) -> Any:
    """Facts of a contact that contradict each other."""
    return page.of(about.disputes, place=read_dispute_place)


@routes.answers(f"{_CONTACT}/disputes/resolve", _DECIDED, "POST")
def resolve(about: ContactOf, grant: GrantOf, body: ResolutionBody) -> Any:
    """Settle a dispute: the facts to keep hold, and those against them end; or all end."""
    return about.resolve(**_by(grant, body))


@routes.answers(f"{_CONTACT}/amendments", _DECIDED, "POST")
def amend(about: ContactOf, grant: GrantOf, body: AmendmentBody) -> Any:
    """Correct a fact in the operator's name, also one that the contact said."""
    return about.amend(by=grant.name, **given(body))


@routes.answers(f"{_FACT}/revoke", _DECIDED, "POST")
def revoke(about: ContactOf, grant: GrantOf, fact_id: str, body: RevocationBody) -> Any:
    """End a fact without replacing it; its history is kept."""
    grant.check_may_end(about, fact_id)
    return about.revoke(fact_id, **_by(grant, body))


@routes.answers(f"{_CONTACT}/erasures", shapes.ErasureShape, "POST")
def forget(about: ContactOf, grant: GrantOf, body: ForgettingBody) -> Any:
    """Erase a contact, or a part, for good; the answer holds the receipt."""
    grant.check_may_end(about, body.fact_id)
    return about.forget(**_by(grant, body))


@routes.answers(f"{_CONTACT}/erasures", shapes.ErasurePage)
def list_erasures(about: ContactOf, page: PageOf) -> Any:
    """The erasures of a contact, the oldest first."""
    return page.of_all(about.erasures(), lambda erasure: erasure.erasure_id)


@routes.answers(_CONTACT + "/sessions/{session_id}", SessionRecord)
def get_session(about: ContactOf, session_id: str) -> Any:
    """A stored conversation: its summary, and the outcomes of its candidates."""
    return about.session(session_id)


@routes.answers(f"{_CONTACT}/jobs", shapes.JobPage)
def list_jobs(about: ContactOf, page: PageOf, state: JobState | None = None) -> Any:
    """The conversations of a contact that were handed over, the newest first."""
    return page.of(partial(about.jobs, state=state))


@routes.answers(_CONTACT + "/jobs/{job_id}/retry", shapes.JobShape, "POST")
def retry_job(about: ContactOf, job_id: str) -> Any:
    """Start a dead or waiting job again now."""
    return about.retry(job_id)


@routes.answers(f"{_CONTACT}/health", shapes.HealthReportShape)
def contact_health(about: ContactOf, check_records: bool = False) -> Any:
    """The health of one contact's memory, in numbers.

    With ``check_records`` it reads every record, and counts the damaged ones.
    """
    return ops.health(about, check_records=check_records)


@routes.answers(f"{_CONTACT}/identity", _DECIDED, "POST")
def identify(agent: AgentOf, grant: GrantOf, contact_id: str, body: IdentityBody) -> Any:
    """Merge another contact into this one, take that back, or give this one another id."""
    calls: Json = {
        "merge": agent.merge_contacts,
        "split": agent.split_contacts,
        "rename": agent.rename_contact,
    }
    return calls[body.act](contact_id, body.other, by=grant.name, reason=body.reason)


def _by(grant: Grant, body: AnswerBody) -> Json:
    """Return a person's decision, and the name that it is recorded under."""
    return {"by": grant.person(body.answered_by), **given(body, "answered_by")}
