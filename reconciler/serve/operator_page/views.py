"""Views: the pages that only read, with the same public calls as any program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from starlette.responses import Response

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.recalling.recalled import is_never_cut
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Contact, Dispute, Fact, FactHistory, FoundFact
from reconciler.domain.records.kinds import Disposal, FactState, GateReason, SourceKind
from reconciler.domain.records.notes import ACCOUNT
from reconciler.errors import InvalidRequestError
from reconciler.frozen import Json, StringMap
from reconciler.ops.review.timeline import timeline
from reconciler.serve.access.problems import Problem
from reconciler.serve.http_api.answering import Paging, place_of, read_place, read_waiting_place
from reconciler.serve.operator_page import words
from reconciler.serve.operator_page.visits import Handler, NotDoneError, Visit
from reconciler.serve.operator_page.words import since

_PAGE = 50
_ATTENTION_MAX = 20
_WAITING_MAX = 500
_SEARCHED_MAX = 5_000
_FOUND_MAX = 8
_DAYS_AHEAD = 14
_TIMELINE_MAX = 40
_FACTS_MAX = 50
_RECENT = 8
_READ_MAX = 1_000
_FILTERS = ("agent", "contact", "became", "disposal", "gate_reason", "source", "since", "until")
_OUTCOMES = (*words.ACTIONS.values(),)
"""The outcomes of a note, in the words of the list."""

_NEVER = datetime.max.replace(tzinfo=UTC)

WordT = TypeVar("WordT", bound=str)


@dataclass(slots=True)
class _Attention:
    """The open questions and expiring facts of one contact, for a person."""

    contact_id: str
    questions: int = 0
    disputes: int = 0
    expiring: int = 0
    oldest_at: datetime = _NEVER


def contacts(visit: Visit) -> Response:
    """Show all contacts, those that need a person first; or the results of a search."""
    if visit.grant.contact_id is not None:
        return visit.to("/contact", **visit.ids)
    agent, query = visit.agent, visit.text("q", "")
    if query:
        matches = _found(agent, query)
        names = _names(visit, (each.contact_id for each in matches["facts"]))
        return visit.page("found.html", query=query, names=names, **matches)
    after = visit.optional("after")
    page = Paging(after, _PAGE).of(agent.contacts, lambda contact: contact.contact_id, str)
    waiting = [] if after else _attention(visit)
    return visit.page(
        "contacts.html",
        waiting=waiting,
        waiting_max=_ATTENTION_MAX,
        names=_names(visit, (each.contact_id for each in waiting[:_ATTENTION_MAX])),
        contacts=_not_erased(agent, page["items"]),
        next=page["next"],
        is_first=after is None,
    )


def _attention(visit: Visit) -> list[_Attention]:
    """Find the contacts with an open question, the longest wait first."""
    agent = visit.agent
    by_contact: dict[str, _Attention] = {}

    def of(contact_id: str) -> _Attention:
        return by_contact.setdefault(contact_id, _Attention(contact_id))

    for item in agent.pending(limit=_WAITING_MAX):
        waiting = of(item.scope.contact_id)
        if isinstance(item, Dispute):
            waiting.disputes += 1
            since = item.opened_at
        else:
            waiting.questions += 1
            since = item.at
        waiting.oldest_at = min(since, waiting.oldest_at)
    for ending in agent.expiring(days=_DAYS_AHEAD, limit=_WAITING_MAX):
        of(ending.contact_id).expiring += 1
    # The longest wait comes first; contacts with only possibly changed facts come last.
    return sorted(by_contact.values(), key=lambda each: (each.oldest_at, each.contact_id))


def _found(agent: AgentMemory, query: str) -> Json:
    """Find the contacts with these letters in id or name, and the nearest facts."""
    asked = query.casefold()
    known = agent.contacts(limit=_SEARCHED_MAX + 1)
    called = [
        each
        for each in known[:_SEARCHED_MAX]
        if asked in f"{each.contact_id} {each.name or ''}".casefold()
    ]
    named = _not_erased(agent, called)
    return {
        "contacts": named[:_PAGE],
        "left_out": len(named[_PAGE:]),
        "is_cut": len(known) > _SEARCHED_MAX,
        "searched": _SEARCHED_MAX,
        **_facts_like(agent, query),
    }


def _not_erased(agent: AgentMemory, contacts: Sequence[Contact]) -> list[Contact]:
    """Find the contacts of which more remains than the receipts of an erasure."""
    erasures = agent.erasures() if any(each.erased_facts for each in contacts) else ()
    return [each for each in contacts if not words.is_erased(each, erasures)]


def _facts_like(agent: AgentMemory, query: str) -> Json:
    """Find facts that hold all words of a query; if there are none, the nearest facts."""
    try:
        facts: Sequence[FoundFact] = agent.find(query, limit=_FOUND_MAX)
    except InvalidRequestError:  # without a model, contacts alone are found
        facts = ()
    asked = query.casefold().split()
    exact = [each for each in facts if all(word in each.fact.text.casefold() for word in asked)]
    return {"facts": exact or facts, "are_exact": bool(exact)}


def contact(visit: Visit) -> Response:
    """Show one contact: open questions, present facts and their history; also as of a day."""
    about = visit.about
    about.check_known()
    at = _instant(visit)
    chains = about.history(at=at)
    # The decisions just made, which the address names.
    done = [about.decision(each) for each in visit.given.getlist("done")[:_ATTENTION_MAX]]
    return visit.page(
        "contact.html",
        **_course(visit, chains, at),
        at=at,
        done=done,
        since={each.decision_id: since(about, each) for each in done},
        again=visit.given.getlist("again"),
        members=_members(visit),
        **({"disputed": ()} if at else _now(about)),
    )


def _members(visit: Visit) -> list[str]:
    """Find the contacts of an account, by id; none of any other contact."""
    named = visit.about.scope.contact_id
    if visit.grant.contact_id or not named.startswith(ACCOUNT):
        return []
    found = visit.agent.recall_about(named, limit=_WAITING_MAX)
    return sorted(hit.contact_id for hit in found if named == f"{ACCOUNT}{hit.fact.account}")


def _instant(visit: Visit) -> datetime | None:
    """Return the end of the requested day; None for now and for today."""
    at = visit.day("at", at_its_end=True)
    return None if at is None or at.date() == datetime.now(UTC).date() else at


def _course(visit: Visit, chains: Sequence[FactHistory], at: datetime | None) -> Json:
    """Return the timeline and the facts that hold, by page."""
    heads = [chain.facts[0] for chain in chains]
    held = [head for head in heads if not head.has_ended and not head.is_void]
    first = _number(visit.optional("from"))
    known = chains or visit.about.history()
    return {
        "timeline": timeline(chains, at or datetime.now(UTC), _TIMELINE_MAX),
        "standing": [
            fact for fact in held if fact.is_live and (fact.is_standing or is_never_cut(fact))
        ],
        "facts": held[first : first + _FACTS_MAX],
        "held": len(held),
        "next": first + _FACTS_MAX if len(held) > first + _FACTS_MAX else None,
        "known_from": min((each.recorded_at for one in known for each in one.facts), default=None),
        "today": datetime.now(UTC).date(),
    }


def _number(given: str | None) -> int:
    return int(given) if given and given.isascii() and given.isdigit() and len(given) < 8 else 0


def _now(about: ContactMemory) -> Json:
    """Return the parts of the present alone: open questions, profile, last decisions."""
    waiting = about.pending(limit=_PAGE)
    sides = (item.facts for item in waiting if isinstance(item, Dispute))
    return {
        "waiting": waiting,
        "disputed": {fact.fact_id for facts in sides for fact in facts},
        "expiring": about.expiring(days=_DAYS_AHEAD, limit=_PAGE),
        "profile": about.profile(),
        "recent": about.decisions(limit=_RECENT),
        "erasures": about.erasures()[::-1][:_ATTENTION_MAX],
    }


def fact(visit: Visit, problem: Problem | None = None) -> Response:
    """Show one fact: its evidence and history, and forms that change it.

    After a problem, the form still holds the typed text.
    """
    about, fact_id = visit.about, visit.text("fact")
    evidence, [chain] = about.evidence(fact_id), about.history(fact_id=fact_id)
    made = _made_by(about, fact_id, evidence.fact)
    return visit.page(
        "fact.html",
        problem.status if problem else 200,
        problem=problem,
        typed=visit.given if problem else {},
        evidence=evidence,
        chain=chain,
        made=made,
        ending=_ended_by(about, chain, evidence.fact),
        erasures=about.erasures()[::-1] if evidence.fact.state is FactState.ERASED else (),
        why=about.explain(made.decision_id) if made else None,
    )


def _made_by(about: ContactMemory, fact_id: str, known: Fact) -> Decision | None:
    """Find the decision that wrote a fact; None if it is not among the newest of that moment."""
    begins = known.recorded_at.replace(microsecond=0)
    near = about.decisions(since=begins, until=begins + timedelta(seconds=2), limit=_READ_MAX)
    written = [each for each in near if each.fact_id == fact_id]
    return written[-1] if written else None


def _ended_by(about: ContactMemory, chain: FactHistory, known: Fact) -> Decision | None:
    """Find the decision that ended a fact; None if it was not found."""
    if not known.has_ended:
        return None
    by_persons = {each.decision_id for each in chain.events if each.fact_id == known.fact_id}
    near = about.decisions(since=known.recorded_at.replace(microsecond=0), limit=_READ_MAX)
    ended = (
        each
        for each in near
        if each.decision_id in by_persons or known.fact_id in each.superseded_ids
    )
    return next(ended, None)


def decision(visit: Visit) -> Response:
    """Show one decision in plain words, and a form that undoes it."""
    about, decision_id = visit.about, visit.text("decision")
    decided = about.decision(decision_id)
    return visit.page(
        "decision.html",
        decision=decided,
        why=about.explain(decision_id),
        since=since(about, decided),
    )


def decisions(visit: Visit) -> Response:
    """Show the newest decisions of an agent or contact, by outcome, reason, source and day.

    The store cannot filter by source or outcome, so these are filtered among the newest.
    """
    source, after = _one_of(SourceKind, "source", visit), visit.optional("after")
    became = _one_of(_OUTCOMES, "became", visit)
    since, until = visit.day("since"), visit.day("until", at_its_end=True)
    if since and until and since > until:
        raise NotDoneError(422, "the first day is after the last; swap them")
    is_counted = after is None and any(visit.optional(name) for name in _FILTERS[2:])
    read = _whom(visit).decisions(
        disposal=_one_of(Disposal, "disposal", visit),
        reason=_one_of(GateReason, "gate_reason", visit),
        since=since,
        until=until,
        after=read_place(after) if after else None,
        limit=_READ_MAX if is_counted or source or became else _PAGE + 1,
    )
    fitting = [
        each
        for each in read
        if source in (None, each.note.trust) and became in (None, words.action(each))
    ]
    shown, is_cut = fitting[:_PAGE], len(read) == _READ_MAX
    last = shown[-1] if len(fitting) > _PAGE else read[-1] if is_cut else None
    return visit.page(
        "decisions.html",
        shown=shown,
        names=_names(visit, (each.scope.contact_id for each in shown)),
        given=visit.given,
        is_counted=is_counted,
        count=len(fitting),
        is_cut=is_cut,
        by_source=Counter(each.note.trust for each in fitting),
        next=place_of(last) if last else None,
        choices={
            "became": _OUTCOMES,
            "disposal": Disposal,
            "gate_reason": GateReason,
            "source": SourceKind,
        },
        query={name: visit.given.get(name) for name in _FILTERS},
    )


def _whom(visit: Visit) -> AgentMemory | ContactMemory:
    """Return the requested contact, or the whole agent."""
    return visit.about if visit.given.get("contact") or visit.grant.contact_id else visit.agent


def questions(visit: Visit) -> Response:
    """Show the questions and disputes of an agent or contact; questions are ticked to answer."""
    page = Paging(visit.optional("after"), _PAGE)
    asked = page.of(_whom(visit).pending, place=read_waiting_place)
    names = _names(visit, (each.scope.contact_id for each in asked["items"]))
    return visit.page("questions.html", names=names, **asked)


def _one_of(known: Iterable[WordT], name: str, visit: Visit) -> WordT | None:
    """Return a word of a closed list; None if none is chosen.

    Raises:
        NotDoneError: the word is not in the list.
    """
    given = visit.optional(name)
    chosen = next((each for each in known if each == given), None)
    if given is not None and chosen is None:
        raise NotDoneError(422, f"{words.plain(name)} must be a value from the list; choose one")
    return chosen


def _names(visit: Visit, contact_ids: Iterable[str | None]) -> StringMap:
    """Find the names of these contacts, as far as they are known."""
    agent = visit.memory.agent(visit.agent_id, tenant=visit.grant.tenant)
    contacts = agent.contacts(contact_ids={each for each in contact_ids if each})
    return {known.contact_id: known.name for known in contacts if known.name}


PAGES: Mapping[str, Handler] = {
    "/": contacts,
    "/contact": contact,
    "/fact": fact,
    "/decision": decision,
    "/decisions": decisions,
    "/questions": questions,
}
"""The pages' functions, each by its address."""
