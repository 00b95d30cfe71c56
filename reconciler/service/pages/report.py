"""The report: what became of an agent's facts over time, as a page with pictures.

Unlike a contact's page, which tells the person all that is kept, it shows an analyst how facts
followed each other, what is open, and what was decided when. It is bounded, and says what it left
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime

from reconciler.domain.recalling.evidence import Said, told_beside
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Contact, Dispute, FactEvent, RefusalCount, Supersession
from reconciler.domain.records.kinds import Action, FactState
from reconciler.domain.records.scope import Scope
from reconciler.domain.review.timeline import Timeline, timeline
from reconciler.frozen import frozen
from reconciler.service.pages.rendering import render
from reconciler.service.records import Records
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore

FACTS_MAX = 2_000
"""Facts in a report, over all of its contacts; the page then has about 4 MB."""

CONTACTS_MAX = 100
"""Contacts that are told of; the others are only listed."""

_FACTS_OF_CONTACT_MIN = 20
_REFUSED_MAX = 50
_DAYS_MAX = 60
_STRANDS_OPEN = 12

_LEGEND = (
    ("live", "holds"),
    ("superseded", "superseded"),
    ("revoked", "revoked, or never held"),
    ("expired", "expired"),
    ("archived", "archived"),
    ("erased", "erased"),
)


@frozen
class _Day:
    """The decisions of a day (UTC), by action."""

    day: date
    counts: Counter[Action]

    @property
    def total(self) -> int:
        return self.counts.total()


@frozen
class _ContactSection:
    """The report on one contact."""

    contact: Contact
    timeline: Timeline
    words: Mapping[str, Sequence[Said]]
    ended_by: Mapping[str, Supersession]
    events: Mapping[str, Sequence[FactEvent]]
    disputes: Sequence[Dispute]
    questions: Sequence[Decision]
    refusals: Sequence[RefusalCount]
    refused: Sequence[Decision]
    refused_left_out: int
    decisions: int
    actions: Sequence[Action]
    days: Sequence[_Day]
    days_left_out: int
    earlier_decisions: int

    @property
    def name(self) -> str:
        return self.contact.name or self.contact.contact_id

    @property
    def worded_again(self) -> int:
        """How many of the superseded facts say what another one says now."""
        bars = (bar for strand in self.timeline.strands for bar in strand.bars)
        older = (fact for bar in bars for fact in bar.facts[1:])
        return sum(fact.state is FactState.SUPERSEDED for fact in older)

    @property
    def busiest(self) -> int:
        return max(day.total for day in self.days)


@frozen
class Report:
    """Writes the report.

    Args:
        records: facts, and what waits.
        decision_store: decisions.
        store: where what facts rest on is kept.
        clock: the time now, UTC-aware.
    """

    records: Records
    decision_store: DecisionStore
    store: FactStore
    clock: Callable[[], datetime]

    def html(self, whose: Scope, contacts: Sequence[Contact]) -> str:
        """The document; every remembered text is escaped, and invisible characters are named.

        Args:
            whose: tenant and agent, with one of the contacts or with any.
            contacts: whom it tells of, at least one.
        """
        last_first = sorted(contacts, key=_last_decided, reverse=True)
        told = last_first[:CONTACTS_MAX]
        facts_max = max(FACTS_MAX // len(told), _FACTS_OF_CONTACT_MIN)
        now = self.clock()
        parts = [self._part(contact, now, facts_max) for contact in told]
        return render(
            "report.html",
            agent_id=whose.agent_id,
            tenant=whose.tenant,
            now=now,
            title=parts[0].name if len(contacts) == 1 else f"{len(contacts)} contacts",
            contacts=last_first,
            parts=parts,
            legend=_LEGEND,
            open_strands=_STRANDS_OPEN,
            anchor="#fact-{}".format,
        )

    def _part(self, contact: Contact, now: datetime, facts_max: int) -> _ContactSection:
        scope = Scope(contact.tenant, contact.agent_id, contact.contact_id)
        chains = self.records.history(scope)
        shown = timeline(chains, now, facts_max)
        links = [link for chain in chains for link in chain.supersessions]
        pending = list(self.records.pending([scope]))
        decisions = self.decision_store.list_records(scope)
        refused = [decision for decision in decisions if decision.action is Action.REJECT]
        days = _days(decisions)
        return _ContactSection(
            contact=contact,
            timeline=shown,
            words=self._turns_beside([fact.fact_id for fact in shown.facts], links),
            ended_by={link.old_id: link for link in links},
            events=_by_fact(event for chain in chains for event in chain.events),
            disputes=[item for item in pending if isinstance(item, Dispute)],
            questions=[item for item in pending if isinstance(item, Decision)],
            refusals=list(self.decision_store.count_refusals([scope])),
            refused=refused[:_REFUSED_MAX],
            refused_left_out=len(refused[_REFUSED_MAX:]),
            decisions=len(decisions),
            actions=[action for action in Action if any(day.counts[action] for day in days)],
            days=days[:_DAYS_MAX],
            days_left_out=len(days[_DAYS_MAX:]),
            earlier_decisions=sum(day.total for day in days[_DAYS_MAX:]),
        )

    def _turns_beside(
        self, fact_ids: Sequence[str], links: Sequence[Supersession]
    ) -> dict[str, list[Said]]:
        """The turns that stand beside each fact, the oldest first."""
        beside = told_beside(fact_ids, links)
        asked = list({each_id for told_ids in beside.values() for each_id in told_ids})
        said_by_fact: dict[str, list[Said]] = {}
        for said in self.store.list_said(asked):
            said_by_fact.setdefault(said.fact_id, []).append(said)
        return {
            fact_id: _each_once(
                said for each_id in told_ids for said in said_by_fact.get(each_id, ())
            )
            for fact_id, told_ids in beside.items()
        }


def _each_once(told: Iterable[Said]) -> list[Said]:
    """Each turn once, the oldest first."""
    return sorted({said.episode_id: said for said in told}.values(), key=lambda one: one.said_at)


def _last_decided(contact: Contact) -> tuple[bool, datetime | str]:
    at = contact.last_decision_at
    return (at is not None, at or "")


def _by_fact(events: Iterable[FactEvent]) -> dict[str, list[FactEvent]]:
    events_by_fact: dict[str, list[FactEvent]] = {}
    for event in events:
        events_by_fact.setdefault(event.fact_id, []).append(event)
    return events_by_fact


def _days(decisions: Iterable[Decision]) -> list[_Day]:
    """The days on which something was decided, the newest first."""
    counted: dict[date, Counter[Action]] = {}
    for decision in decisions:
        counted.setdefault(decision.at.date(), Counter())[decision.action] += 1
    return [_Day(day=day, counts=counted[day]) for day in sorted(counted, reverse=True)]
