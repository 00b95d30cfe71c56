"""Records: reads the stored records about contacts. Only reads; needs no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from reconciler.domain.recalling.history import (
    HeldFacts,
    chains,
    corrects,
    events_of,
    evidence_of,
    head_of,
    held_at,
    last_said,
    made_by,
    mentions,
    restated_beneath,
    strand_ids,
)
from reconciler.domain.reconciling.reverting import order_of, touched_by
from reconciler.domain.records.facts import (
    Conflict,
    Contact,
    Dispute,
    ExpiringFact,
    Fact,
    FactEvent,
    FactHistory,
    PlaceInHistory,
    Supersession,
    named_by,
)
from reconciler.domain.records.kinds import (
    FAR_AHEAD,
    OPERATOR_DOOR,
    OWN_WORDS,
    Action,
    Clock,
    ListPlace,
    is_after,
    later,
)
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.errors import UnknownFactError
from reconciler.frozen import Strings, frozen
from reconciler.service.stores.commits import OpenConflicts
from reconciler.service.stores.contact_store import ContactStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore, unknown_fact
from reconciler.service.stores.rows import FEW, Scopes, batches

if TYPE_CHECKING:
    from reconciler.domain.recalling.answering import RecordedAnswer
    from reconciler.domain.recalling.filtering import RecallFilter
    from reconciler.domain.recalling.recalled import SlotValue
    from reconciler.domain.records.candidates import FactEvidence
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.values.attributes import AttributeBook

_HELD_AT_ONCE = 50
"""The number of held notes for which later words are searched together, so that the texts of their
contacts fit into memory."""


@frozen
class Records:
    """Reads decisions, facts, and held notes.

    Args:
        fact_store: facts and their links.
        decision_store: decisions and their evidence.
        contact_store: the contacts.
        clock: the time now, UTC-aware.
        hides_expired: whether expired facts are left out, instead of marked.
    """

    fact_store: FactStore
    decision_store: DecisionStore
    contact_store: ContactStore
    clock: Clock
    hides_expired: bool = False

    def history(
        self,
        scope: Scope,
        at: datetime | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """Read the chains of a contact, now or at an earlier time.

        Args:
            scope: the contact.
            at: a time in the past; None for now.
            after: only the chains after the chain of this fact.
            limit: at most this many; None for all.

        Raises:
            UnknownFactError: no fact of that id is in scope, or it did not exist at that time.
        """
        if at is not None:
            histories = self._histories_at(scope, at)
            first = 0 if after is None else _place_after(after, histories, scope, at)
            return histories[first:][:limit]
        # Links before facts: a fact written in between is then a chain of its own, and no link
        # points at a fact that was not read.
        links = self.fact_store.list_supersessions(scope)
        if after is None and limit is None:
            return self._page(scope, links)
        place = None if after is None else self._place_of(scope, links, after)
        return self._page(scope, links, self._heads(scope, links, place, limit))

    def history_of(self, scope: Scope, fact_id: str, at: datetime | None) -> FactHistory:
        """Return the chain that a fact belongs to, now or at an earlier time.

        Raises:
            UnknownFactError: no fact of that id is in scope, or it did not exist at that time.
        """
        if at is not None:
            histories = self._histories_at(scope, at)
            return histories[_place_after(fact_id, histories, scope, at) - 1]
        links = self.fact_store.list_supersessions(scope)
        histories = self._page(scope, links, [self._place_of(scope, links, fact_id).fact_id])
        if not histories:  # it was erased meanwhile
            raise unknown_fact(scope, fact_id)
        return histories[0]

    def held_at(self, scope: Scope, at: datetime) -> tuple[HeldFacts, list[Decision]]:
        """Return the facts believed about a contact at a time, and the decisions behind them."""
        # Links before facts, as below. Decisions after both: one that was made in between has
        # changed nothing that was read, so taking it back changes nothing either.
        known = HeldFacts(
            links=tuple(self.fact_store.list_supersessions(scope)),
            conflicts=tuple(self.fact_store.list_conflict_links(scope)),
            facts=tuple(self.fact_store.list_facts(scope)),
        )
        made = self.decision_store.list_made(scope)
        return held_at(at, known, made), made_by(at, made)

    def answers_on(self, scope: Scope, name: str) -> list[RecordedAnswer]:
        """Find the answers that used a fact, in any wording, newest first.

        Raises:
            UnknownFactError: the contact has no fact of that id or handle.
        """
        known = [fact.fact_id for fact in self.fact_store.list_facts(scope)]
        fact = self.fact_store.get_fact(scope, named_by(name, known))
        links = self.fact_store.list_supersessions(scope)
        same = restated_beneath(last_said(fact.fact_id, links), links)
        return self.decision_store.list_answers(same)

    def answers_corrected(self, scope: Scope, decision_id: str) -> list[RecordedAnswer]:
        """Find the answers that a decision corrected, newest first; see ``corrects``.

        Raises:
            UnknownDecisionError: the contact has no such decision.
        """
        decision = self.decision_store.get_decision(scope, decision_id)
        known, made = self.held_at(scope, FAR_AHEAD)
        touched = touched_by(decision)
        ids = {same for each in touched for same in restated_beneath(each, known.links)}
        found = self.decision_store.list_answers(ids)
        return [*filter(corrects(decision, known, made), found)]

    def _place_of(
        self, scope: Scope, links: Iterable[Supersession], fact_id: str
    ) -> PlaceInHistory:
        """Return the place of a fact's chain in the history.

        Raises:
            UnknownFactError: no fact of that id is in scope.
        """
        check_identifier("fact_id", fact_id, UnknownFactError)
        newer = {link.old_id: link.new_id for link in links}
        head = self.fact_store.get_fact(scope, head_of(fact_id, newer))
        return PlaceInHistory(head.fact_id, head.last_confirmed_at, head.recorded_at)

    def _heads(
        self,
        scope: Scope,
        links: Iterable[Supersession],
        after: PlaceInHistory | None,
        limit: int | None,
    ) -> list[str]:
        """Find the ids of the newest facts that no fact superseded, and that come after a place."""
        superseded_ids = {link.old_id for link in links}
        heads: list[str] = []
        count = limit
        while True:
            places = self.fact_store.list_newest_facts(scope, after, count)
            heads += [place.fact_id for place in places if place.fact_id not in superseded_ids]
            if limit is None or count is None or len(places) < count or len(heads) >= limit:
                return heads[:limit]
            # A look may go through the whole contact: the more were superseded, the longer it is.
            after, count = places[-1], 2 * count

    def _page(
        self, scope: Scope, links: Iterable[Supersession], heads: Iterable[str] | None = None
    ) -> list[FactHistory]:
        """Read the chains with these heads; read only their facts and those of their conflicts.

        ``None`` reads all chains.
        """
        now, conflicts = self.clock(), self.fact_store.list_conflicts(scope)
        if heads is None:
            facts = [fact.as_of(now) for fact in self.fact_store.list_facts(scope)]
            own = {fact.fact_id for fact in facts}
        else:
            own = strand_ids(heads, links)
            conflicts = [pair for pair in conflicts if own & pair.ids]
            read = own.union(*(pair.ids for pair in conflicts))
            found = self.fact_store.find_facts(scope, sorted(read)).values()
            facts = [fact.as_of(now) for fact in found]
        return chains(
            [fact for fact in facts if fact.fact_id in own],
            [link for link in links if link.new_id in own],
            _between_live(facts, conflicts),
            self._events(scope),
        )

    def _histories_at(self, scope: Scope, at: datetime) -> list[FactHistory]:
        known, made = self.held_at(scope, at)
        open_ = [conflict for conflict in known.conflicts if conflict.is_open]
        told = (each for each in made if each.door == OPERATOR_DOOR or each.action is Action.REVOKE)
        events = [event for decision in told for event in events_of(decision)]
        return chains(known.facts, known.links, _between_live(known.facts, open_), events)

    def current_values(
        self, scope: Scope, confidence_min: float, attributes: AttributeBook
    ) -> list[SlotValue]:
        """Return the current values of the contact's slots with at least this confidence."""
        facts, pairs = self.fact_store.list_facts(scope), self.fact_store.list_conflicts(scope)
        return self.values_of(facts, pairs, confidence_min, attributes)

    def values_of(
        self,
        facts: Iterable[Fact],
        pairs: Iterable[Conflict],
        confidence_min: float,
        attributes: AttributeBook,
    ) -> list[SlotValue]:
        """Return current values like ``current_values``, from facts and conflicts already read."""
        from reconciler.domain.recalling.recalled import current_values, suspended_ids

        now = self.clock()
        told = [
            fact
            for fact in (fact.as_of(now) for fact in facts)
            if fact.is_told(hides_expired=self.hides_expired) and not fact.is_upcoming(now)
        ]
        sure = {fact.fact_id: fact for fact in told if fact.confidence >= confidence_min}
        live = {fact_id for fact_id, fact in sure.items() if fact.is_live}
        others = OpenConflicts(each.pair for each in pairs if each.ids <= live).as_mapping()
        disputes = {fact_id: [sure[side] for side in sides] for fact_id, sides in others.items()}
        suspended = suspended_ids(sure.values(), now, others)
        told = [fact for fact_id, fact in sure.items() if fact_id not in suspended]
        return current_values(told, disputes, attributes)

    def _events(self, scope: Scope) -> list[FactEvent]:
        """Return persons' decisions about the contact's facts, and revocations, oldest first."""
        made = sorted(self.decision_store.list_revocations(scope, OPERATOR_DOOR), key=order_of)
        return [event for decision in made for event in events_of(decision)]

    def expiring(self, scopes: Scopes, days: float, limit: int | None) -> list[ExpiringFact]:
        """Find the facts about these contacts that expire within some days, or have expired.

        Expired facts that are still recalled come first, then those that expire soonest.
        """
        from reconciler.domain.gate.disposing import revalidation

        now = self.clock()
        until = later(now, timedelta(days=days))
        rows = self.fact_store.list_expiring(
            scopes, now, until, limit, also_expired=not self.hides_expired
        )
        return [
            ExpiringFact(contact_id=key, fact=fact.as_of(now), question=revalidation(fact))
            for key, fact in rows
        ]

    def to_renew(self, scope: Scope, facts: Iterable[Fact], limit: int) -> list[ExpiringFact]:
        """Find the facts to ask the contact about again, the most important first."""
        from reconciler.domain.gate.disposing import revalidation

        if self.hides_expired:
            return []
        now = self.clock()
        outdated = [fact for fact in (fact.as_of(now) for fact in facts) if fact.may_be_outdated]
        outdated.sort(key=lambda fact: (-fact.importance, fact.expires_at or now))
        return [
            ExpiringFact(contact_id=scope.contact_id, fact=fact, question=revalidation(fact))
            for fact in outdated[:limit]
        ]

    def disputes(
        self, scopes: Scopes, after: ListPlace | None = None, first: Scope | None = None
    ) -> Iterator[Dispute]:
        """Open disputes about these contacts, each contact's newest first.

        Args:
            scopes: the contacts.
            after: the place of a dispute of the first contact; only the disputes after it are read.
            first: that contact; those before it in the order of ids are left out. None for all.
        """
        for scope, pairs in self.fact_store.list_disputed(scopes):
            if first is not None and scope.contact_id < first.contact_id:
                continue
            if conflicts := [pair for pair in pairs if pair.is_open]:
                # The guard, which compares texts, is loaded only if there is a dispute.
                from reconciler.domain.reconciling.disputes import disputes_of

                ids = {fact_id for pair in conflicts for fact_id in pair.ids}
                facts = self.fact_store.find_facts(scope, sorted(ids))
                open_ = disputes_of(scope, facts.values(), conflicts, self.clock())
                if after is not None and scope == first:
                    open_ = [each for each in open_ if is_after(each.place, after)]
                yield from open_

    def fact_evidence(self, scope: Scope, fact_id: str) -> FactEvidence:
        """Return the evidence of one fact about the contact.

        Raises:
            UnknownFactError: the contact has no fact of that id; another contact's fact gives the
                same error.
        """
        fact = self.fact_store.get_fact(scope, fact_id)
        return self._evidence_of(fact, self.fact_store.list_supersessions(scope))

    def evidence_about(
        self, scope: Scope, about: str, attributes: AttributeBook
    ) -> list[FactEvidence]:
        """Find the evidence of each fact about an attribute or a word, live facts first.

        An attribute may have any name that the book knows. A fact that another one restates is left
        out, because its evidence belongs to the newer one.
        """
        known = attributes.find(about)
        names = {about, known.name if known else about}
        links = self.fact_store.list_supersessions(scope)
        restated = {link.old_id for link in links if link.is_restatement}
        facts = [
            fact
            for fact in self.fact_store.list_facts(scope)
            if any(mentions(fact, name) for name in names)
        ]
        own = [self._evidence_of(fact, links) for fact in facts if fact.fact_id not in restated]
        return sorted(own, key=lambda evidence: not evidence.fact.is_live)

    def _evidence_of(self, fact: Fact, links: list[Supersession]) -> FactEvidence:
        chain_ids = restated_beneath(fact.fact_id, links)
        said = self.fact_store.list_said(chain_ids)
        taken = self.decision_store.list_taken(sorted({one.episode_id for one in said}))
        return evidence_of(fact.as_of(self.clock()), chain_ids, said, taken)

    def scopes(self, whose: Scope, after: str = "", limit: int | None = None) -> list[Scope]:
        """List the contacts of an agent in order of id: all, or up to a limit those after one."""
        ids = self.contact_store.list_contact_ids(whose, after, limit)
        return [replace(whose, contact_id=contact_id) for contact_id, _ in ids]

    def scopes_or_agent(self, agents: Scope) -> Scopes:
        """List the contacts of an agent; of many, return any."""
        scopes = self.scopes(agents, limit=FEW + 1)
        return scopes if len(scopes) <= FEW else agents

    def contacts(self, scopes: Sequence[Scope]) -> list[Contact]:
        """List the contacts of an agent with the numbers of their facts, in order of id."""
        return self.contact_store.list_contacts(scopes, self.clock())

    def pending(
        self,
        scopes: Scopes,
        *,
        with_silent: bool = False,
        after: ListPlace | None = None,
    ) -> Iterator[Decision | Dispute]:
        """Find the held notes of these contacts that wait for an answer, then their disputes.

        Both newest first, read page by page. Notes that later words have answered are left out. A
        note without a question is included if it is listed for an operator, or contradicts a live
        fact.

        Args:
            scopes: the contacts.
            with_silent: also notes without a question, which wait to be said again.
            after: the time and the id of a held note; the others come after it.
        """
        yield from self.held(scopes, with_silent, after)
        yield from self.disputes(scopes)

    def waiting_about(self, scope: Scope, wanted: RecallFilter) -> Strings:
        """Find the decisions that hold notes about the subject of a filter; return their ids."""
        return tuple(
            held.decision_id
            for held in self.held([scope])
            if wanted.is_about(held.note.slot, held.text)
        )

    def has_answered(self, decision: Decision) -> bool:
        """True if a note was written and it answered a question to the contact."""
        if decision.fact_id is None or decision.note.trust not in OWN_WORDS:
            return False
        pending = self.decision_store.list_pending([decision.scope], self.clock())
        asked = [held for held in pending if held.question]
        if not asked:
            return False
        from reconciler.domain.gate.disposing import answer_to

        facts = self.fact_store.find_facts(decision.scope, [decision.fact_id])
        return any(answer_to(held, facts.values()) for held in asked)

    def asked_beside(self, decision: Decision) -> list[str]:
        """List other questions to the contact since a held note's conversation began."""
        if decision.question is None:
            return []
        from reconciler.domain.recalling.briefing import CONVERSATION, is_for_the_contact

        begins_at, own_id = decision.at - CONVERSATION, decision.proposal.held_id
        return [
            other.question
            for other in self.held([decision.scope])
            if other.question
            and is_for_the_contact(other)
            and other.decision_id not in (decision.decision_id, own_id)
            and other.note.session_id == decision.note.session_id
            and other.at >= begins_at
        ]

    def held(
        self,
        scopes: Scopes,
        with_silent: bool = False,
        after: ListPlace | None = None,
        *,
        is_bare: bool = False,
    ) -> Iterator[Decision]:
        """Find the held notes about these contacts, without those that later words have answered.

        Bare notes have no comparisons, and come in no order.
        """
        list_facts = cache(self.fact_store.list_facts)  # a contact may have many silent notes
        pending = (
            decision
            for decision in self.decision_store.list_pending(
                scopes, self.clock(), after, is_bare=is_bare
            )
            if with_silent
            or decision.judged.lapses_at is None
            or self._is_against(decision, list_facts)
        )
        for some in batches(pending, _HELD_AT_ONCE):
            yield from self._unanswered(some)

    def _is_against(self, held: Decision, list_facts: Callable[[Scope], list[Fact]]) -> bool:
        """True if a held note contradicts a live fact."""
        from reconciler.domain.gate.disposing import contradicted

        told = held.proposal.relations
        if (held.note.slot is None or held.note.slot.key is None) and told is None:
            return False
        now, facts = self.clock(), list_facts(held.scope)
        live = (fact for fact in facts if fact.as_of(now).is_live)
        return contradicted(held.note.slot, told, live) is not None

    def _unanswered(self, held: Sequence[Decision]) -> Iterator[Decision]:
        """Return the held notes that later words have not answered.

        Few of a thousand texts can be an answer, and only their facts are read. Where a question
        takes a yes, plain words do not answer it; see ``answer_since``.
        """
        from reconciler.domain.gate.disposing import answer_to, consent_to, may_answer

        since = min(each.note.said_at for each in held)
        in_words = {each.scope for each in held if consent_to(each.gate) is None}
        said = self.fact_store.list_said_since({each.scope for each in held} - in_words, since)
        said |= self.fact_store.list_said_since(in_words, since, is_plain=True)
        for decision in held:
            may, told = may_answer(decision.note), said.get(decision.scope.contact_key, ())
            ids = [fact.fact_id for fact in told if may(fact.text, fact.slot_key)]
            if not ids:
                yield decision
                continue
            facts = self.fact_store.find_facts(decision.scope, ids)
            if answer_to(decision, facts.values()) is None:
                yield decision


def _place_after(fact_id: str, histories: Iterable[FactHistory], scope: Scope, at: datetime) -> int:
    """Return the place after the fact's chain at a time, counted from 0."""
    check_identifier("fact_id", fact_id, UnknownFactError)
    for place, chain in enumerate(histories, start=1):
        if any(fact.fact_id == fact_id for fact in chain.facts):
            return place
    raise unknown_fact(scope, f"{fact_id} at {at.isoformat()}")


def _between_live(facts: Iterable[Fact], conflicts: Iterable[Conflict]) -> list[Conflict]:
    """Return the conflicts with two live sides."""
    live = {fact.fact_id for fact in facts if fact.is_live}
    return [conflict for conflict in conflicts if conflict.ids <= live]
