"""What is bound to a scope: the memory of a contact, the memory of an agent, and what both have.

All that concerns a contact, or is asked across an agent's contacts, is called here. It decides
nothing.

What only some calls need, they import, so that a caller who reads a history waits for nothing else.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from sys import maxsize
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from reconciler.domain.records.kinds import (
    PROPOSAL_DOOR,
    TOLD_RELATIONS,
    AnyCategory,
    AnyDisposal,
    AnyGateReason,
    AnyJobState,
    AnyRelation,
    AnySourceKind,
    Disposal,
    GateReason,
    JobState,
    Relation,
    SourceKind,
)
from reconciler.domain.records.notes import (
    TEXT_LENGTH_MAX,
    Note,
    Scope,
    check_callable,
    check_flags,
    check_identifier,
    check_kind,
    check_text,
    not_in_the_future,
    not_one_of,
    one_of,
    positive,
    unit_interval,
    utc,
)
from reconciler.errors import (
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
    InvalidSessionError,
    UnknownDecisionError,
)

if TYPE_CHECKING:
    from reconciler.bootstrap.services import Services
    from reconciler.domain.explanation import Explanation
    from reconciler.domain.recalling.briefing import Briefing, Context
    from reconciler.domain.recalling.checking import ActCheck
    from reconciler.domain.recalling.filtering import FilterFields
    from reconciler.domain.recalling.recalled import Recalled, SlotValue
    from reconciler.domain.records.candidates import Assessment, Candidate, FactEvidence, Turn
    from reconciler.domain.records.decisions import Archived, Decision
    from reconciler.domain.records.erasures import Erasure
    from reconciler.domain.records.facts import (
        Contact,
        Dispute,
        ExpiringFact,
        Fact,
        FactHistory,
        FoundFact,
        RefusalCount,
    )
    from reconciler.domain.records.sessions import Job, SessionRecord
    from reconciler.domain.tasks.tasks import AnyTaskState, Task
    from reconciler.service.stores.contact_store import ContactFilter
    from reconciler.service.tasks.memory_context import MemoryContext
    from reconciler.service.tools.agent_tools import AgentTools
    from reconciler.service.writing.doors import NoteFields, SlotFields
    from reconciler.service.writing.relating import Rejudged
    from reconciler.settings import Settings


_DAYS_MAX = 36_500
_NO_ARBITER = "no arbiter is configured; docs/judges.md says how to set one up"
E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


class BoundMemory:
    """A memory bound to an agent, or to one of its contacts; both have these calls.

    Args:
        parts: the parts of the memory, which may be closed meanwhile.
        scope: tenant, agent and contact; any contact for the memory of an agent.
    """

    _is_of_a_contact = False

    def __init__(self, parts: Services, scope: Scope) -> None:
        self._parts = parts
        self._scope = scope

    @property
    def _services(self) -> Services:
        return self._parts.opened

    @property
    def _settings(self) -> Settings:
        return self._parts.settings

    @property
    def _contact_id(self) -> str | None:
        return self._scope.contact_id if self._is_of_a_contact else None

    @property
    def _filter(self) -> ContactFilter:
        from reconciler.service.stores.contact_store import ContactFilter

        return ContactFilter(
            tenant=self._scope.tenant, agent_id=self._scope.agent_id, contact_id=self._contact_id
        )

    def recall_about(
        self,
        name: str,
        *,
        limit: int | None = None,
    ) -> list[FoundFact]:
        """The live facts that mention a person or a thing by name, as whole words.

        Facts about the name come first, then those that have it as their value, then those that
        mention it; of equals the one said last. Similarity does not count: a question
        about ACME finds no other company. Across an agent's contacts it is for an operator only:
        one contact must not hear what another said.

        Args:
            name: the name as people write it; "ACME Corp." also finds "ACME".
            limit: at most this many; None for the configured number.

        Raises:
            InvalidRequestError: the name cannot be used, or the limit is below 1.
        """
        check_text("name", name, TEXT_LENGTH_MAX)
        hits = self._services.finding.about(
            self._scope, name, self._limit(limit), all_contacts=not self._is_of_a_contact
        )
        if self._is_of_a_contact:  # an operator's search does not count as use
            self._services.use_trace.note(hit.fact.fact_id for hit in hits)
        return hits

    def decisions(
        self,
        *,
        disposal: AnyDisposal | None = None,
        reason: AnyGateReason | None = None,
        door: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: tuple[datetime, str] | None = None,
        limit: int = 50,
    ) -> list[Decision]:
        """The newest decisions, refusals included, with what each was compared with.

        Args:
            disposal: only those that the gate admitted, rejected, or held to confirm or consent.
            reason: only those with this reason of the gate, for example ``secret``.
            door: only those that came through ``live``, ``import``, ``proposal`` or ``operator``.
            since: only those made at or after this time, time-zone aware.
            until: only those made before this time, time-zone aware.
            after: the time and the id of the last decision of the page before; None for the first.
            limit: at most this many.

        Raises:
            InvalidRequestError: the limit is below 1, or a filter is unknown or a naive time.
        """
        if door is not None:
            check_identifier("door", door, InvalidRequestError)
        from reconciler.service.stores.decision_store import DecisionFilter

        wanted = DecisionFilter(
            disposal=known_or_none(Disposal, "disposal", disposal),
            reason=known_or_none(GateReason, "reason", reason),
            door=door,
            since=None if since is None else utc("since", since),
            until=None if until is None else utc("until", until),
            after=_place(after),
        )
        count, store = positive("limit", limit), self._services.decision_store
        if self._is_of_a_contact:
            return store.list_decisions([self._scope], count, wanted)
        last_decided = self._services.contact_store.list_last_decided(self._scope)
        return store.list_newest_decisions(last_decided, count, wanted)

    def all_decisions(self) -> Iterator[Decision]:
        """Every decision, contact by contact."""
        for scope in self._scopes():
            yield from self._services.decision_store.iter_decisions(scope)

    def refusals(
        self,
        *,
        limit: int | None = None,
    ) -> list[RefusalCount]:
        """Refusals of the gate, counted by contact and reason.

        Args:
            limit: at most this many counts; None for all.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        counted = self._services.decision_store.count_refusals(self._scopes())
        return first(counted, limit)

    def pending(
        self,
        *,
        limit: int | None = None,
        with_silent: bool = False,
        after: tuple[datetime, str] | tuple[datetime, str, str] | None = None,
    ) -> list[Decision | Dispute]:
        """Held notes and disputes that wait for an answer; ``question`` is what to ask.

        First the held decisions, which ``confirm`` and ``reject`` answer, then the disputes, which
        ``resolve`` settles; each newest first.

        Args:
            limit: at most this many; None for all.
            with_silent: also held notes that have no question until they are said again.
            after: where the last item of the page before was: of a decision its time and its id, of
                a dispute as in ``disputes``; None for the first page.

        Raises:
            InvalidRequestError: the limit is below 1, or ``after`` is no place.
        """
        check_flags(with_silent=with_silent)
        if isinstance(after, tuple) and len(after) == 3:
            return [*self.disputes(limit=limit, after=after)]
        scopes, place = self._scopes(), _place(after)
        waiting = self._services.records.pending(scopes, with_silent=with_silent, after=place)
        return first(waiting, limit)

    def disputes(
        self,
        *,
        limit: int | None = None,
        after: tuple[datetime, str, str] | None = None,
    ) -> list[Dispute]:
        """Facts that contradict each other and are not settled, each contact's newest first.

        ``question`` is what to ask, and ``resolve`` takes the answer.

        Args:
            limit: at most this many; None for all.
            after: where the last dispute of the page before was: ``opened_at``, the id of its first
                fact, and its contact; None for the first page.

        Raises:
            InvalidRequestError: the limit is below 1, or ``after`` is no place.
        """
        records = self._services.records
        if after is None:
            return first(records.disputes(self._scopes()), limit)
        at, fact_id, contact_id = _place(after, _OF_A_DISPUTE)
        scopes = self._scopes()
        if not self._is_of_a_contact:
            scopes = [replace(self._scope, contact_id=contact_id)]
            scopes += records.scopes(self._scope, after=contact_id)
        elif contact_id != self._contact_id:
            raise InvalidRequestError(
                "`after` is a place in the list of another contact; give the last item of this "
                "contact's page"
            )
        return first(records.disputes(scopes, after=(at, fact_id)), limit)

    def expiring(
        self,
        *,
        days: float = 30,
        limit: int | None = None,
    ) -> list[ExpiringFact]:
        """The facts that expire within this many days, the next first, with a question.

        Expired facts that recall still returns, with a mark, come before them.
        If the answer is yes, add the same note again, which renews the fact; if no, ``revoke`` it.

        Args:
            days: how many days from now, above 0.
            limit: at most this many; None for all.

        Raises:
            InvalidRequestError: days are not above 0, or too many, or the limit is below 1.
        """
        _check_days("days", days)
        scopes = self._scopes()
        return self._services.records.expiring(scopes, days, at_most(limit))

    def rejudge(self) -> Iterator[Rejudged]:
        """Ask the arbiter about decisions that were made without it, and amend them.

        They were made over budget, during an outage, or after an unusable answer. Each is asked
        about once, the newest first, within the budget of calls a minute, which this waits for.
        The arbiter's answer is a decision of its own, which ``revert`` undoes.

        Returns:
            The result of each, as it is iterated.

        Raises:
            InvalidRequestError: no arbiter is configured.
        """
        scopes = self._scopes()
        if self._services.rejudging is None:
            raise InvalidRequestError(_NO_ARBITER)
        return self._services.rejudging.run(scopes)

    def archive(
        self,
        *,
        by: str = "operator",
        reason: str = "It was neither said nor needed for long.",
        floor: float | None = None,
        dry_run: bool = False,
    ) -> list[Archived]:
        """Archive faded facts: recall leaves them out, and they are live again once repeated.

        How fast a fact fades depends on its importance, on when it was last said, and on how often
        it was recalled. Instructions, confirmed facts, disputed facts and procedures
        are never archived; nothing is deleted. What is archived about a contact in one call is one
        decision, which ``revert`` undoes; ``unarchive`` makes one fact live again.

        Args:
            by: the operator's name.
            reason: why, in one sentence.
            floor: archive facts with a weight below this, 0 to 1; None for the configured one.
            dry_run: only report what would be archived.

        Returns:
            For each contact with facts to archive, those facts and the decision that archived them;
            no decision with ``dry_run``.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            InvalidRequestError: the floor is not a number from 0 to 1.
            InvalidAnswerError: this person may not do it.
        """
        from reconciler.bootstrap.chosen_models import build_decay

        check_flags(dry_run=dry_run)
        if floor is not None:
            unit_interval("floor", floor)
        policy = build_decay(self._settings, floor)
        return self._services.persons.archive(
            self._scope, self._scopes(), policy, by=by, reason=reason, dry_run=dry_run
        )

    def erasures(
        self,
        *,
        unfinished: bool = False,
        limit: int | None = None,
    ) -> list[Erasure]:
        """The requested erasures, oldest first, with the progress of each.

        Args:
            unfinished: only those that were interrupted and have to be finished.
            limit: at most this many; None for all.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        check_flags(unfinished=unfinished)
        scopes = [self._scope] if self._is_of_a_contact else []
        all_erasures = self._services.erasure_store.list_erasures(scopes, is_unfinished=unfinished)
        own = (
            erasure
            for erasure in all_erasures
            if (erasure.scope.tenant, erasure.scope.agent_id)
            == (self._scope.tenant, self._scope.agent_id)
        )
        return first(own, limit)

    def tasks(
        self,
        *,
        state: AnyTaskState | None = None,
        limit: int = 50,
    ) -> list[Task]:
        """The tasks, last changed first; ``task`` resumes one.

        Args:
            state: only those in this state; ``open`` for all that have not ended, which can be
                resumed. None for all.
            limit: at most this many.

        Raises:
            InvalidRequestError: the limit is below 1, or there is no such state.
        """
        from reconciler.domain.tasks.tasks import states_named

        scopes = self._scopes()
        states, count = states_named(state), positive("limit", limit)
        return self._services.task_store.list_tasks(scopes, states, count)

    def jobs(
        self,
        *,
        state: AnyJobState | None = None,
        limit: int = 50,
        after: tuple[datetime, str] | None = None,
    ) -> list[Job]:
        """Jobs, newest first.

        Args:
            state: only those in this state.
            limit: at most this many.
            after: ``submitted_at`` and the id of the last job of the page before; None for the
                first.

        Raises:
            InvalidRequestError: the limit is below 1, there is no such state, or ``after`` is no
                place.
        """
        from reconciler.service.stores.session_store import JobFilter

        wanted = JobFilter(
            agent_id=self._scope.agent_id,
            contact_id=self._contact_id,
            state=known_or_none(JobState, "state", state),
            after=_place(after),
        )
        return self._services.session_store.list_jobs(
            self._scope.tenant, wanted, positive("limit", limit)
        )

    def check_known(self) -> None:
        """Check that something is known about the contact, or about any of the agent's.

        Raises:
            UnknownContactError: there is nothing; the message says to check the names.
        """
        self._services.archive_store.check(self._filter)

    def _scopes(self) -> list[Scope]:
        """The contact's scope, or that of each of the agent's contacts."""
        if self._is_of_a_contact:
            return [self._scope]
        return self._services.records.scopes(self._scope)

    def _limit(self, limit: int | None) -> int:
        return self._settings.recall.limit if limit is None else positive("limit", limit)


_OF_AN_ITEM = ("decision.at", "decision.decision_id")
_OF_A_DISPUTE = ("dispute.opened_at", "dispute.facts[0].fact_id", "dispute.scope.contact_id")


def _place(after: object, parts: Sequence[str] = _OF_AN_ITEM) -> Any:
    """The place of an item among others: its time, and its id or ids; None stays None.

    Raises:
        InvalidRequestError: it is no place; the text says what it is made of.
    """
    if after is None:
        return None
    if not isinstance(after, tuple) or len(after) != len(parts):
        raise InvalidRequestError(
            "`after` must be the time and the id of the last item of the page before, such as "
            f"({', '.join(parts)})"
        )
    at, *ids = after
    for part in ids:
        check_identifier("after", part, InvalidRequestError)
    return utc("after", at), *ids


def _check_days(name: str, days: float) -> None:
    """Check a number of days.

    Raises:
        InvalidRequestError: it is not above 0, or too large.
    """
    is_number = isinstance(days, int | float) and not isinstance(days, bool)
    if not is_number or not 0 < days <= _DAYS_MAX:
        raise InvalidRequestError(f"{name} must be a number above 0, at most {_DAYS_MAX:,}")


def checked_ids(given: Mapping[str, str | None]) -> dict[str, str]:
    """Those parts of a scope that are given.

    Raises:
        InvalidScopeError: one of them cannot be used.
    """
    named = {name: value for name, value in given.items() if value is not None}
    for name, value in named.items():
        check_identifier(name, value, InvalidScopeError)
    return named


def known_or_none(kind: type[E], name: str, value: str | None) -> E | None:
    """The member of an enumeration; None stays None.

    Raises:
        InvalidRequestError: it has no such member.
    """
    return None if value is None else one_of(kind, name, value)


def at_most(limit: int | None) -> int | None:
    """The number of items asked for; None for all.

    Raises:
        InvalidRequestError: the limit is below 1.
    """
    return None if limit is None else positive("limit", limit)


def first(things: Iterable[T], limit: int | None) -> list[T]:
    """The first things, as many as the limit says; None for all.

    Raises:
        InvalidRequestError: the limit is below 1.
    """
    return list(islice(things, at_most(limit)))


_TURNS_READ_MAX = 100
"""Messages among which the contact's last words are looked for; a long way back with tools."""


class ContactMemory(BoundMemory):
    """The memory of one contact: what concerns a contact is called here.

    ``Memory.contact`` makes one, checked; it holds nothing of its own and needs no closing. It is
    for the program that builds an agent; the agent itself holds ``AgentTools``.

    Example::

        priya = memory.contact("crm", "priya")
        priya.note("Lives in Pune.", attribute="city", value="Pune")
        priya.recall("Where does she live?")
    """

    _is_of_a_contact = True

    @property
    def scope(self) -> Scope:
        """Tenant, agent and contact that every call is bound to."""
        return self._scope

    def version(self) -> int:
        """A number that grows with each decision about the contact; 0 where nothing is known."""
        return self._services.fact_store.contact_version(self._scope)

    def note(
        self,
        text: str,
        **fields: Unpack[NoteFields],
    ) -> Decision:
        """Remember something about the contact; the decision says what was done with it.

        The write gate comes first. What the contact or an operator said is reconciled at once,
        unless it is sensitive, not meant as it stands, or a directive; then it is held or refused,
        and ``answer`` says what to tell the agent's model. What was read from a text or a tool is
        only proposed here.

        Args:
            text: one fact, 1 to 2,000 characters.
            **fields: optional fields beside the text; ``NoteFields`` documents them. By default
                ``source_kind`` is ``user_explicit``, and the gate judges ``importance`` from the
                words.

        Raises:
            InvalidNoteError: the note cannot be used; nothing was written.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable; call again with the same key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        return self._services.live_door.add(self._scope, text, **fields)

    def recall(
        self,
        query: str = "",
        *,
        limit: int | None = None,
        budget_tokens: int | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """The live facts about the contact that fit a query best, and the standing constraints.

        Facts are chosen by closeness in meaning and in words, and by the attribute that the query
        asks for, some at a time, and the chosen ones are ordered by 0.7 similarity + 0.2 recency +
        0.1 importance, unless the settings differ. Facts that are not near are left out.
        Without an embedder words alone count, and facts without any of the query's words are left
        out. An empty query ranks all live facts.

        An expired fact counts as old, and says ``may_be_outdated``. It is left out if the settings
        say ``life.expired = "hidden"``, if it is volatile, or if its end was known.

        Orders and prohibitions follow them for every query, marked as standing; limit and floor do
        not apply to them. The list's ``outcome`` says whether facts fit, nothing fits,
        or more fit than it holds. If an attribute is asked for, the list's ``waiting`` has the ids
        of the decisions that hold notes about it: these are not known until a person says yes.

        Args:
            query: what to look for, in words.
            limit: at most this many, not counting standing ones; None for the configured number.
                With a budget, None means as many as fit.
            budget_tokens: as many facts as fit a prompt of this many tokens. A token is about four
                characters. Standing facts are counted first and take a fifth at most, except those
                that keep the contact safe.
            as_of: what the memory knew at that instant, time-zone aware; None for now.
            valid_at: what was true in the world at that instant, or will be, time-zone aware; None
                for now. This includes facts that a newer one has replaced since. For a later time
                it is what is to hold then, as far as is known.
            **filters: which facts may be returned; ``RecallFilter`` documents them. Attribute and
                subject may be given by any name that the attribute book knows.

        Raises:
            InvalidRequestError: the query or a filter cannot be used, limit or budget is below 1,
                an instant has no time zone, or ``as_of`` has not come yet.
        """
        if not isinstance(query, str) or len(query) > TEXT_LENGTH_MAX or query.strip():
            check_text("query", query, TEXT_LENGTH_MAX)
        from reconciler.domain.recalling.prompting import within_budget
        from reconciler.service.recall import filter_of

        wanted = filter_of(filters, lambda: self._services.attributes)
        if wanted.subject is not None:
            meant = self._services.whom(self._scope, wanted.subject[0])
            wanted = replace(wanted, subject=(*meant.subjects, *meant.may_be))
        budget = None if budget_tokens is None else positive("budget_tokens", budget_tokens)
        # No line is as short as a token, so that as many facts as tokens are always enough.
        usual = budget or self._settings.recall.limit
        count = usual if limit is None else positive("limit", limit)
        knew_at = self._instant("as_of", as_of)
        true_at = None if valid_at is None else utc("valid_at", valid_at)
        if knew_at or true_at:
            return self._services.recall.recall_past(
                self._scope, query.strip(), count, wanted, budget, as_of=knew_at, valid_at=true_at
            )
        recalled = self._services.recall.recall(self._scope, query.strip(), count, wanted, budget)
        if wanted.attribute is not None:
            recalled.waiting = self._services.records.waiting_about(self._scope, wanted)
            if budget and recalled.waiting:  # the line about them takes room
                recalled = within_budget(recalled, budget)
        self._services.use_trace.note(hit.fact.fact_id for hit in recalled)
        return recalled

    def briefing(
        self,
        query: str = "",
        *,
        limit: int | None = None,
    ) -> Briefing:
        """Facts and questions for the opening of a conversation.

        Facts that fit the query, or without one those that matter most, as many as the limit; what
        stands; what is new since the contact was last asked about; and the questions that the
        contact may answer. ``confirm``, ``reject`` and ``resolve`` take the answers. Some ask
        whether a fact still holds: to say it again renews it. A model is given the two questions
        that matter most; one that two conversations left without an answer is not put again, and
        stays in ``pending``.

        Args:
            query: the topic of the conversation; empty for everything.
            limit: at most this many facts; None for the configured number.

        Raises:
            As ``recall``.
        """
        from reconciler.domain.recalling.briefing import (
            ASKED_MAX,
            Briefing,
            changed_since_last_time,
            is_for_the_contact,
            is_put_by,
            opens_conversations,
            unconfirmed,
        )

        services, now = self._services, self._services.clock()
        known = services.recall.known(self._scope)
        least, book = self._settings.recall.confidence_min, services.attributes

        def opening(facts: Sequence[Fact]) -> tuple[list[SlotValue], frozenset[str]]:
            profile = services.records.values_of(facts, known.conflicts, least, book)
            return profile, opens_conversations(facts, profile, now)

        pairs = frozenset(conflict.pair for conflict in known.conflicts)
        profile, opens = known.lasting((pairs, least, book, now.date()), now, opening)
        if query.strip() if isinstance(query, str) else query:
            facts = self.recall(query, limit=limit)
        else:
            current = {value.fact_id for value in profile}
            facts = services.recall.everything(
                self._scope, known, opens, current, self._limit(limit)
            )
            services.use_trace.note(hit.fact.fact_id for hit in facts)
        held: list[Decision | Dispute] = [*services.records.held([self._scope])]
        if known.conflicts:  # the guard, which compares texts, is loaded only if there is a dispute
            from reconciler.domain.reconciling.disputes import disputes_of

            held += disputes_of(self._scope, known.disputed(), known.conflicts, services.clock())
        policy = services.policy
        pending = tuple(item for item in held if is_for_the_contact(item, policy))
        lapsed = known.lapsed(services.clock())
        renewals = tuple(services.records.to_renew(self._scope, lapsed, ASKED_MAX))
        waiting = (*pending, *renewals)
        heard = services.session_store.list_last_sessions(self._scope, 3) if waiting else []
        return Briefing(
            facts=facts,
            profile=tuple(profile),
            changed=changed_since_last_time(known.uses, services.clock()),
            pending=pending,
            renewals=renewals,
            put_by=tuple(item for item in waiting if is_put_by(item, heard)),
            unconfirmed=unconfirmed(held, profile),
        )

    def context(
        self,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        budget_tokens: int | None = None,
        shown: Sequence[str] | None = None,
    ) -> Context:
        """What a reply to these turns needs to know, so that no model has to ask.

        A conversation that was shown nothing gets the briefing; later turns get what fits the
        contact's last words. No fact is given twice: keep ``Context.shown`` with the conversation,
        and give it back. What keeps the contact safe is given in full, once, whatever was said;
        other standing constraints come first at the opening. ``text`` is empty if none is needed.

        All is read from the memory in this call; ``shown`` holds ids alone.

        Args:
            turns: as ``submit_session`` takes them, in their order; only the last are read.
            budget_tokens: the size of the text, about four characters a token; None for 500. What
                keeps the contact safe may take more, and the text then says by how much.
            shown: the last ``Context.shown`` of this conversation; None or empty if it was shown
                nothing.

        Raises:
            InvalidSessionError: there are no turns, or one cannot be read.
            InvalidRequestError: the budget is below 1, or ``shown`` is not a list of ids.
            EmbeddingError: the model failed.
            GraphUnavailableError: the engine stayed unavailable.
        """
        from reconciler.domain.recalling.briefing import AVOIDED, following, last_words, opening
        from reconciler.domain.recalling.recalled import CLEAREST_SHARE, FITTING_MAX, Recalled
        from reconciler.service.tools.agent_tools import BUDGET_TOKENS

        budget = (
            BUDGET_TOKENS if budget_tokens is None else positive("budget_tokens", budget_tokens)
        )
        given = () if shown is None else _ids_shown(shown)
        query = last_words(_last_turns(turns))
        fitting = Recalled()
        if query:
            fitting = self.recall(query, limit=FITTING_MAX).clearest(CLEAREST_SHARE)
        elif given:
            known = self._services.recall.recall(self._scope, "", maxsize)
            fitting = Recalled(replace(hit, fits=False) for hit in known)  # nothing was asked
        if given:
            return following(fitting, given, budget)
        avoided = self._services.recall.own_answer(self._scope, AVOIDED, FITTING_MAX)
        return opening(self.briefing(limit=budget), fitting, avoided, budget)

    def value(
        self,
        attribute: str,
        *,
        subject: str | None = None,
    ) -> list[SlotValue]:
        """An attribute's current value, or several where it holds many or is in dispute.

        The newest comes first. It is empty if no value was named, or if the last thing said
        is that it no longer holds.

        Args:
            attribute: the attribute by any name that the attribute book knows, for example
                ``city``.
            subject: whom or what it is about, for example ``wife``, or any name of a known
                person; None for the contact. If several fit, the values of all of them.

        Raises:
            InvalidRequestError: attribute or subject cannot be used.
        """
        if attribute is None:
            raise InvalidRequestError("name an attribute, for example city")
        asked = self._services.attributes.slot(subject=subject, attribute=attribute)
        if asked is None:
            raise InvalidRequestError(
                f"attribute {attribute!r} is not the name of an attribute; give one, for example "
                "city"
            )
        meant = self._services.whom(self._scope, asked.subject)
        about = (*meant.subjects, *meant.may_be)
        return [
            current
            for current in self.profile()
            if current.attribute == asked.attribute and current.subject in about
        ]

    def check(
        self,
        about: str | Sequence[str] = (),
        *,
        act: str = "",
        subject: str | None = None,
        max_age_days: float | None = None,
    ) -> ActCheck:
        """Check before an act whether it may rest on what is known: go, ask or stop, with reasons.

        Ask if a fact is unknown, disputed, unconfirmed, only a tool's word, too old, or changed
        within the last week, or if a note about it waits for an answer. Stop if a fact has ended,
        or if a standing limit touches the act. It writes nothing and asks no model.

        Args:
            about: what the act rests on: attributes by any name that the attribute book knows, and
                facts by id or handle.
            act: what is planned, in words, such as "call her on Monday at eight", to find the
                standing limits; empty to find them by the facts' own words.
            subject: whom the attributes are about; None for the contact.
            max_age_days: a fact that was last said longer ago is too old, above 0; None for any.

        Raises:
            InvalidRequestError: neither ``about`` nor ``act`` is given, or one cannot be used.
            UnknownFactError: the contact has no fact of that handle.
        """
        from reconciler.service.acting import Acting

        if not isinstance(about, Iterable):
            raise InvalidRequestError("about must be an attribute, a fact's id, or a list of them")
        names = (about,) if isinstance(about, str) else tuple(about)
        for name in names:
            check_text("about", name, TEXT_LENGTH_MAX)
        if act:
            check_text("act", act, TEXT_LENGTH_MAX)
        elif not names:
            raise InvalidRequestError("say what the act rests on (about), or what it is (act)")
        if max_age_days is not None:
            _check_days("max_age_days", max_age_days)

        def subjects(subject: str) -> tuple[str, ...]:
            meant = self._services.whom(self._scope, subject)
            return (*meant.subjects, *meant.may_be)

        return self._services.made(Acting).check(
            self._scope,
            names,
            subjects,
            subject=subject,
            act=act,
            max_age=None if max_age_days is None else timedelta(days=max_age_days),
            confidence_min=self._settings.recall.confidence_min,
        )

    def profile(self) -> list[SlotValue]:
        """The current values of all of a contact's slots, the contact's own first, by attribute.

        Each has its start, its source, how often it was said, and whether it is disputed.
        A limit, such as an allergy, ``holds_until_settled``.
        """
        least, known = self._settings.recall.confidence_min, self._services.attributes
        return self._services.records.current_values(self._scope, least, known)

    def history(
        self,
        *,
        fact_id: str | None = None,
        at: datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """Chains of facts that replaced each other, with reasons: all of them, or a fact's.

        Args:
            fact_id: only the chain that this fact is in.
            at: the memory as it was at that instant, time-zone aware, rebuilt from the recorded
                decisions. None for now.
            after: only the chains that come after the one that this fact is in: the last one of
                the page before.
            limit: at most this many chains; None for all.

        Raises:
            InvalidRequestError: the instant has no time zone, or has not come yet, or the limit is
                below 1.
            UnknownFactError: the contact has no fact of that id, or had none then.
        """
        records, instant, count = self._services.records, self._instant("at", at), at_most(limit)
        if fact_id is not None:
            return [records.history_of(self._scope, fact_id, instant)]
        return records.history(self._scope, instant, after=after, limit=count)

    def evidence(self, fact_id: str) -> FactEvidence:
        """A fact's evidence: each turn, who said it, when and where, and the decision that used it.

        If the contact never said it, ``statement`` says so, and names the source.

        Args:
            fact_id: the fact, live or ended; ``history`` and ``recall`` give ids.

        Raises:
            UnknownFactError: the contact has no fact of that id; another contact's gives the same
                error.
        """
        return self._services.records.fact_evidence(self._scope, fact_id)

    def evidence_about(self, about: str) -> list[FactEvidence]:
        """The evidence of each fact about something, as ``evidence``; live facts first.

        Args:
            about: an attribute by any name that the attribute book knows, ``city`` for example, or
                words that all occur in the fact.

        Raises:
            InvalidRequestError: ``about`` is blank.
        """
        check_text("about", about, TEXT_LENGTH_MAX)
        known = self._services.attributes
        return self._services.records.evidence_about(self._scope, about.strip(), known)

    def relate(
        self,
        fact: str,
        *,
        replaces: Sequence[str] = (),
        repeats: str | None = None,
        ends: Sequence[str] = (),
        both_hold: Sequence[str] = (),
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """Say how a remembered fact relates to others, as a decision of its own.

        It counts as the word of the agent's model, within the limits of any note: a fact never
        replaces a more trusted or a newer one. ``revert`` undoes it. Facts are named by id or by
        handle.

        Args:
            fact: the fact that this is about, by id or handle.
            replaces: facts that it replaces, at most three together with ``ends``.
            repeats: a fact that says the same; the two count as one from now on.
            ends: facts that are over, without a replacement.
            both_hold: facts that hold beside it; a dispute between them is settled.
            reason: why, in one sentence; None for the relation alone.
            idempotency_key: as that of a note; it belongs to one relation and its reason. A call
                that is repeated names facts by id, because a handle names no fact that has ended.

        Raises:
            InvalidNoteError: the arguments cannot be used, or the key belongs to another call.
            UnknownFactError: the contact has no such fact, or two have the handle.
            InvalidRequestError: a fact has ended, nothing is related, or nothing may change by it.
        """
        scope, door = self._scope, self._services.live_door
        if idempotency_key is not None:
            check_identifier("idempotency_key", idempotency_key, InvalidNoteError)
        fact_id = door.fact_id(scope, fact)
        relations = door.relations(scope, replaces, repeats, ends, both_hold)
        if relations is None:
            raise InvalidRequestError(
                "say how the facts relate: give replaces, repeats, ends or both_hold"
            )
        return self._services.relating.relate(
            scope,
            fact_id,
            relations,
            reason=reason,
            idempotency_key=idempotency_key,
        )

    def tools(
        self,
        *,
        session_id: str | None = None,
        can_recall: bool = True,
        can_check: bool = False,
        budget_tokens: int | None = None,
        trusted_tools: Sequence[str] | None = None,
        colleague: str | None = None,
    ) -> AgentTools:
        """The tools that an agent's model may call: to note, to relate notes, and to recall.

        They are bound to this contact and this conversation; a model chooses neither, nor who
        proposed a note.

        Args:
            session_id: the current conversation. Repetitions in one conversation do not
                corroborate each other; with None, all of the agent's notes count as one
                conversation.
            can_recall: whether there is ``recall_contact``.
            can_check: whether there is ``check_before_acting``.
            budget_tokens: the most tokens that one recall returns; None for 500.
            trusted_tools: systems of your own, such as ``("erp",)``: what the model notes as the
                word of one is believed, under the trust of an approved document and with the
                lifetime of a tool's fact. None for those of the settings (``gate.trusted_tools``).
            colleague: who of your own people is in the conversation; what the model notes as
                theirs counts as an operator's word. None if there is no colleague.

        Raises:
            InvalidNoteError: the session's id cannot be used.
            InvalidRequestError: the budget is below 1, or a name cannot be used.
        """
        from reconciler.service.tools.agent_tools import BUDGET_TOKENS, AgentTools

        check_flags(can_recall=can_recall, can_check=can_check)
        budget = BUDGET_TOKENS if budget_tokens is None else budget_tokens
        services = self._services
        return services.made(
            AgentTools,
            may_be=lambda subject, said: self._services.whom(self._scope, subject, said).may_be,
            recall=self.recall if can_recall else None,
            briefing=self.briefing,
            check=self.check if can_check else None,
            scope=self._scope,
            session_id=session_id,
            budget_tokens=positive("budget_tokens", budget),
            trusted_tools=self._settings.gate.trusted_tools or ()
            if trusted_tools is None
            else trusted_tools,
            colleague=colleague,
        )

    def submit_session(
        self,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        channel: str = "chat",
        started_at: datetime | None = None,
        contact_name: str | None = None,
        speakers: Mapping[str, str] | None = None,
    ) -> str:
        """Hand over a session; returns its job's id. See ``MemoryExtractor``.

        With None for its id, one is made of the occasion: the same conversation, handed over again
        or with more turns, is the same session; see ``MemoryExtractor.session_id``.

        Args:
            session_id: its id; if the session exists, only new turns are added.
            turns: in their order, at least one; messages as chat APIs have them, dictionaries with
                ``role`` and ``content``, are taken as well.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware; None for its first turn's time, or now.
            contact_name: what the contact is called, if several people speak as users, each with a
                ``name`` or a label, "[Alice]: …"; what the others say is no evidence. None where
                one person speaks; of several it is refused.
            speakers: instead, the role of everybody who speaks as a user, by name: ``contact``,
                ``operator`` for a colleague, ``agent``, or ``system`` for others: their words are
                no evidence. See ``AgentMemory.submit_session`` for several contacts.

        Raises:
            InvalidSessionError: the session cannot be used; nothing was stored.
            GraphUnavailableError: the engine stayed unavailable; hand it over again.
        """
        [job_id] = self._services.memory_extractor.hand_over(
            {self._scope: speakers},
            session_id,
            turns,
            channel=channel,
            started_at=started_at,
            contact_name=contact_name,
        )
        return job_id

    def session(self, session_id: str) -> SessionRecord:
        """A session as it is stored: its summary, and what was decided about its candidates.

        Raises:
            InvalidSessionError: no session of that id was handed over.
        """
        return self._services.session_store.get_session(self._scope, session_id)

    def task(
        self,
        task_id: str,
        *,
        goal: str | None = None,
        session_id: str | None = None,
        keeps_outcome: bool = True,
    ) -> MemoryContext:
        """The memory of one task of an agent that works in a loop, started or resumed.

        Args:
            task_id: the task; one that has not ended opens as interrupted, to be resumed.
            goal: what a new task is to achieve.
            session_id: where its episodes are kept; None for a session of the task's own.
            keeps_outcome: whether its outcome is proposed to the gate when it ends.

        Raises:
            UnknownTaskError: there is no such task, and no goal to start one with.
        """
        from reconciler.service.tasks.memory_context import MemoryContext

        check_flags(keeps_outcome=keeps_outcome)
        services = self._services
        return services.made(
            MemoryContext,
            scope=self._scope,
            task_id=task_id,
            session_id=f"task-{task_id}" if session_id is None else session_id,
            goal=goal,
            keeps_outcome=keeps_outcome,
        )

    def job(self, job_id: str) -> Job:
        """One of a contact's jobs, in its present state, with what became of each thing it read.

        Raises:
            UnknownJobError: the contact has none of that id; another contact's gives the same
                error.
        """
        store = self._services.session_store
        job = store.get_job(self._scope, job_id)
        read = store.find_read(job_id) if job.outcomes.candidates else None
        if read is None:
            return job
        episodes = store.list_episodes(self._scope, job.session_id)
        told = self._services.session_reader.told(read, job, episodes)
        held = Counter(each.held_because for each in told if each.held_because)
        return replace(job, told=told, held_because=dict(held))

    def retry(self, job_id: str) -> Job:
        """Retry a dead or waiting job now.

        Raises:
            As ``job``.
        """
        return self._services.memory_extractor.retry(self._scope, job_id)

    def confirm(
        self,
        decision_id: str,
        by: str,
        *,
        text: str | None = None,
        told_to: str | None = None,
    ) -> Decision:
        """Answer yes to a held note; it is stored once, as the word of the person who answers.

        Args:
            decision_id: the held decision.
            by: ``contact`` with the contact's own answer, or an operator's name; never
                its proposer.
            text: the fact in the words of the answer, which holds from now on and rests on
                these words alone; None for the words of the question.
            told_to: who took the contact's answer, for the record; unused with an operator's.

        Raises:
            UnknownDecisionError: the contact has no such decision; another contact's gives the same
                error.
            InvalidAnswerError: nothing waits under that id, it lapsed, was answered differently, or
                this person may not answer it.
        """
        return self._services.persons.confirm(self._scope, decision_id, by, text, told_to)

    def reject(
        self,
        decision_id: str,
        by: str,
        *,
        told_to: str | None = None,
    ) -> Decision:
        """Answer no to a held note: nothing is stored, and the question is not asked again.

        Raises:
            As ``confirm``.
        """
        return self._services.persons.reject(self._scope, decision_id, by, told_to)

    def withdraw(
        self,
        decision_id: str,
        by: str,
        *,
        told_to: str | None = None,
    ) -> Decision:
        """Withdraw a held note and its question; it may be proposed again.

        Raises:
            As ``confirm``.
        """
        return self._services.persons.withdraw(self._scope, decision_id, by, told_to)

    def resolve(
        self,
        keep: str | Sequence[str] = (),
        *,
        neither: str | Sequence[str] = (),
        by: str,
        reason: str,
    ) -> Decision:
        """Settle a dispute: the facts to keep hold, and those in dispute with them end, on record.

        Another call with the same facts returns the first decision, marked ``replayed``.

        Args:
            keep: the id of the fact that holds; several ids if all of them hold and the dispute is
                over. If a fact has been said again since, its old id still works.
            neither: in place of ``keep``, the ids of all sides of a dispute of which none holds;
                they are revoked in one decision, which one ``revert`` undoes.
            by: ``contact`` with the contact's own answer, or an operator's name; never an agent.
            reason: why, in one sentence.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            UnknownFactError: the contact has no such fact.
            InvalidAnswerError: the facts are in no open dispute, one to keep has ended, a side of
                which none holds is not named, or it is not this person's to answer.
        """
        return self._services.persons.resolve(
            self._scope, _ids("keep", keep), _ids("neither", neither), by=by, reason=reason
        )

    def amend(
        self,
        text: str,
        *,
        fact_id: str | None = None,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | float | None = None,
        single_valued: bool | None = None,
        by: str,
        reason: str,
        said_at: datetime | None = None,
        valid_to: datetime | None = None,
        lifetime_days: int | None = None,
    ) -> Decision:
        """Correct a fact, as an operator: the new fact replaces it, even the contact's own word.

        An operator's plain note ranks below the contact's word and ends nothing of theirs; this
        does. What the contact says later ends the amendment like any other fact. The same call
        again, with the same reason, returns the first decision, marked ``replayed``.

        Args:
            text: what is true, in one sentence, 1 to 2,000 characters.
            fact_id: the live fact to correct; or give ``attribute``.
            subject: whom or what the attribute is about; None for the contact.
            attribute: the attribute to correct, for example ``city``; not with ``fact_id``.
            value: the attribute's value now; required with an attribute.
            single_valued: for an unknown attribute, whether it holds one value at a time.
            by: the operator's name.
            reason: why, in one sentence.
            said_at: since when it is true, time-zone aware; None for now. If the old fact was never
                true, give the time from which it held: then it held for no time.
            valid_to: until when it is true, as in a note, and still to come; None for no end, also
                if the old fact has one.
            lifetime_days: after how many days it may have changed, 1 to 3,650; None for the
                policy's number.

        Raises:
            InvalidNoteError: the arguments cannot be used, or ``valid_to`` is over.
            UnknownFactError: the contact has no fact of that id, or it has ended.
            InvalidAnswerError: ``by`` names the contact or an agent.
            InvalidRequestError: there is nothing to amend, or the fact begins after ``said_at``.
        """
        slot: SlotFields = {
            "subject": subject,
            "attribute": attribute,
            "value": value,
            "single_valued": single_valued,
        }
        return self._services.persons.amend(
            self._scope,
            text,
            slot,
            fact_id=fact_id,
            by=by,
            reason=reason,
            said_at=said_at,
            valid_to=valid_to,
            lifetime_days=lifetime_days,
        )

    def revoke(
        self,
        fact_id: str,
        *,
        by: str,
        reason: str,
        never: bool = False,
    ) -> Decision:
        """End a fact without replacing it; its history is kept.

        The same call again, with the same reason, returns the first decision, marked ``replayed``.

        Args:
            fact_id: the fact, live, expired or archived.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            never: whether it was never true, so that its interval becomes empty. What it once
                replaced stays ended; to undo that, ``revert`` the decision that wrote it.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not revoke it.
            UnknownFactError: the contact has no fact of that id, or it has ended.
        """
        check_flags(never=never)
        return self._services.persons.revoke(
            self._scope, fact_id, by=by, reason=reason, never=never
        )

    def revert(
        self,
        decision_id: str,
        *,
        by: str,
        reason: str,
        and_later: bool = False,
    ) -> Decision:
        """Undo a decision: its fact no longer holds, and the facts that it ended hold again.

        Facts that hold again get back their interval, evidence, counts and open conflicts. What was
        undone stays in the graph. A revert is a decision, so it can be reverted too. If the
        decision is undone already, the revert that did it is returned, marked ``replayed``.

        Args:
            decision_id: the decision to undo.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            and_later: whether the later decisions that rest on it are undone too.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not undo it.
            UnknownDecisionError: the contact has no decision of that id.
            RevertRefusedError: later decisions rest on it; the message lists them.
            InvalidRequestError: it changed no fact, or did not keep what it changed.
        """
        check_flags(and_later=and_later)
        return self._services.persons.revert(
            self._scope, decision_id, by=by, reason=reason, and_later=and_later
        )

    def unarchive(
        self,
        fact_id: str,
        *,
        by: str = "operator",
        reason: str = "It is needed again.",
    ) -> Decision:
        """Make an archived fact live again, as it was.

        Args:
            fact_id: the archived fact.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not do it.
            UnknownFactError: the contact has no fact of that id.
            InvalidRequestError: it is not archived.
        """
        return self._services.persons.unarchive(self._scope, fact_id, by=by, reason=reason)

    def forget(
        self,
        *,
        fact_id: str | None = None,
        session_id: str | None = None,
        attribute: str | None = None,
        subject: str | None = None,
        by: str,
        reason: str,
        dry_run: bool = False,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> Erasure:
        """Erase what is known about a contact, or part of it, for good; it cannot be undone.

        Texts, vectors, values, spans, reasons, summaries and the contents of jobs and tasks are
        erased; ids, actions, counts and times stay. A fact is erased with everything that says the
        same. If it is interrupted, the same call finishes it. If something erased is said again, it
        is held with a question, which the contact's own yes settles.

        Args:
            fact_id: only this fact, in any state, and the facts that say the same.
            session_id: only this session, and the facts that were learnt from it.
            attribute: only what is or was stored under this attribute.
            subject: whom or what the attribute is about; None for the contact.
            by: who asks for it, ``contact`` or an operator's name.
            reason: why, in one sentence. It is kept, unless it repeats what is to be erased.
            dry_run: only report what would be erased, and change nothing.
            on_progress: called with how many more records were read or emptied.

        Returns:
            The erasure with its receipt: what was removed, what was searched afterwards, and where
            traces of it may remain.

        Raises:
            UnknownContactError: nothing is known about the contact.
            InvalidAnswerError: this person may not ask for it.
            UnknownFactError, InvalidSessionError: the contact has no such fact or session.
            InvalidRequestError: more than one part is named, or one that cannot be used.
            GraphUnavailableError: the engine stayed unavailable or busy; call again.
        """
        from reconciler.domain.records.erasures import ErasureTarget

        check_flags(dry_run=dry_run)
        check_callable(on_progress=on_progress)
        target = ErasureTarget(
            fact_id=fact_id, session_id=session_id, attribute=attribute, subject=subject
        )
        return self._services.erasures.forget(
            self._scope,
            target,
            by=by,
            reason=reason,
            dry_run=dry_run,
            on_progress=on_progress,
        )

    def propose(self, candidate: Candidate) -> Decision:
        """Have the gate judge a candidate, and record that. Writes no fact, even if admitted.

        Raises:
            InvalidNoteError: a text is too long, its time lies in the future, it does not name who
                confirmed it, its evidence is not what is stored under its ids, its
                proposer's name is reserved, or its key belongs to another note.
            GraphUnavailableError: the engine stayed unavailable.
        """
        from reconciler.domain.records.candidates import Candidate

        check_kind("candidate", candidate, Candidate, InvalidNoteError)
        candidate = candidate.as_typed()
        if candidate.note.scope != self._scope:
            raise InvalidNoteError("the candidate is about another contact than this memory")
        now, times = self._services.clock(), [evidence.said_at for evidence in candidate.evidence]
        for at in (candidate.note.said_at, candidate.note.holds_from, *times):
            not_in_the_future(at, now)
        return self._services.gate.propose(candidate, PROPOSAL_DOOR)

    def commit(self, decision_id: str) -> Decision:
        """Write the fact of an admitted proposal; once, however often it is called.

        Raises:
            UnknownDecisionError: the contact has no such decision.
            InvalidRequestError: it is not a proposal that the gate admitted.
        """
        return self._services.gate.commit(self._scope, decision_id, PROPOSAL_DOOR)

    def decision(
        self,
        decision_id: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Decision:
        """One decision about a contact, with what it was compared with.

        Args:
            decision_id: the decision; or give the key.
            idempotency_key: the key that came with the note.

        Raises:
            InvalidRequestError: both the id and the key were given, or neither.
            UnknownDecisionError: the contact has no decision of that id or key; another contact's
                gives the same error.
        """
        store = self._services.decision_store
        if idempotency_key is None and decision_id is not None:
            return store.get_decision(self._scope, decision_id)
        if idempotency_key is None or decision_id is not None:
            raise InvalidRequestError("give either decision_id or idempotency_key")
        check_identifier("idempotency_key", idempotency_key, UnknownDecisionError)
        of_key = self._services.decision_ids.of_key(self._scope, idempotency_key)
        return store.get_decision(self._scope, of_key, f"under the key {idempotency_key}")

    def explain(self, decision_id: str) -> Explanation:
        """A decision in plain words: which neighbour, which rule, what a judge said.

        Raises:
            As ``decision``.
        """
        from reconciler.domain.explanation import explain

        store = self._services.decision_store
        made = store.get_decision(self._scope, decision_id)
        return explain(made, store.list_evidence(decision_id, self._scope))

    def correct(
        self,
        decision_id: str,
        relation: AnyRelation,
    ) -> Decision:
        """Record how a note really relates to the fact that it was compared with; changes no fact.

        Calibration from decisions learns from it, and ``explain`` mentions it.

        Args:
            decision_id: the decision.
            relation: same, refines, replaces, coexists or unrelated.

        Raises:
            InvalidRequestError: there is no such relation, or the decision compared no fact.
            UnknownDecisionError: the contact has no decision of that id.
        """
        right = one_of(Relation, "relation", relation)
        if right is Relation.UNSURE:
            raise InvalidRequestError(not_one_of("relation", relation, TOLD_RELATIONS))
        return self._services.persons.correct(self._scope, decision_id, right)

    def digest(self, text: str) -> str:
        """A keyed hash of a text, for an idempotency key that must not give the text away.

        The store keeps keys as they are given, and a card's number can be guessed from a plain
        hash of it. Equal for equal texts on all hosts that write to this memory.

        Raises:
            InvalidRequestError: it is not a text.
        """
        if not isinstance(text, str):
            raise InvalidRequestError(f"text must be a string, not {type(text).__name__}")
        return self._services.digest(text)

    def _instant(self, name: str, at: datetime | None) -> datetime | None:
        """A time that has come, in UTC."""
        return (
            None if at is None else not_in_the_future(utc(name, at), self._services.clock(), name)
        )


def _last_turns(given: Iterable[Turn | Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The last turns of a conversation.

    Raises:
        InvalidSessionError: there are none, or one cannot be read.
    """
    from reconciler.domain.records.messages import turns_of

    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        given = tuple(deque(given, _TURNS_READ_MAX))
        if not given:
            raise InvalidSessionError("there are no turns; give at least the contact's last one")
    return tuple(turns_of(given, is_only_read=True))


def _ids_shown(given: object) -> tuple[str, ...]:
    """The ids that a conversation was shown.

    Raises:
        InvalidRequestError: it is no list of ids.
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidRequestError("shown must be the value that Context.shown gave, a list of ids")
    for fact_id in given:
        check_identifier("shown", fact_id, InvalidRequestError)
    return tuple(given)


def _ids(name: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """One id or several, as several."""
    if not isinstance(given, Iterable):
        raise InvalidRequestError(f"{name} must be a fact's id, or a list of ids")
    return (given,) if isinstance(given, str) else tuple(given)


class AgentMemory(BoundMemory):
    """The memory of an agent: its contacts, and what is asked across all of them.

    ``Memory.agent`` makes one, checked; it holds nothing of its own and needs no closing. It is for
    an operator: an agent in a conversation holds the tools of one contact.

    Example::

        crm = memory.agent("crm")
        crm.pending()
        crm.find("moved to another city")
    """

    @property
    def agent_id(self) -> str:
        """The agent that every call is bound to."""
        return self._scope.agent_id

    @property
    def tenant(self) -> str:
        """The tenant that every call is bound to."""
        return self._scope.tenant

    def contact(self, contact_id: str) -> ContactMemory:
        """The memory of one of the agent's contacts.

        Raises:
            InvalidScopeError: the contact cannot be used.
        """
        scope = self._parts.scope(self._scope.tenant, self._scope.agent_id, contact_id)
        return ContactMemory(self._parts, scope)

    def contacts(
        self,
        contact_id: str | None = None,
        *,
        contact_ids: Collection[str] | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Contact]:
        """The contacts of an agent, by id.

        Args:
            contact_id: only this one, if it is known.
            contact_ids: only these, as far as they are known; without either, all of the agent's.
            after: only those that come after this id: the last one of the page before.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: a contact cannot be used, or no contact can have the id to come
                after.
            InvalidRequestError: the limit is below 1.
        """
        count, begin = at_most(limit), checked_ids({"after": after}).get("after", "")
        if contact_id is not None:
            scopes = [self.contact(contact_id).scope]
        elif contact_ids is not None:
            if isinstance(contact_ids, str) or not isinstance(contact_ids, Collection):
                raise InvalidScopeError("contact_ids must be a list of ids")
            scopes = [self.contact(each).scope for each in contact_ids]
        else:
            scopes = self._services.records.scopes(self._scope, begin, count)
        return self._services.records.contacts(scopes)

    def find(
        self,
        query: str,
        *,
        limit: int | None = None,
        **filters: Unpack[FilterFields],
    ) -> list[FoundFact]:
        """The live facts of all of an agent's contacts that are nearest to a query. For operators.

        Facts that have ended are not among them, however near: a contact's ``history`` has those.

        On Neo4j a vector index finds them, approximately. Where it does not find enough, and on the
        embedded engine, every fact of the agent is compared.

        Args:
            query: what to look for, 1 to 2,000 characters.
            limit: at most this many; None for the configured number.
            **filters: as ``recall`` takes them; ``min_score`` is the raw cosine here.

        Raises:
            InvalidRequestError: the query or a filter cannot be used, the limit is below 1, or
                there is no embedder.
        """
        check_text("query", query, TEXT_LENGTH_MAX)
        from reconciler.service.recall import filter_of

        wanted = filter_of(filters, lambda: self._services.attributes)
        return self._services.finding.nearest(self._scope, query, self._limit(limit), wanted)

    def submit_session(
        self,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        speakers: Mapping[str, str],
        channel: str = "chat",
        started_at: datetime | None = None,
    ) -> dict[str, str]:
        """Hand over a conversation of several contacts; returns each one's job id, by contact.

        Each contact gets the conversation as a session of their own, with only their own words as
        the contact's. The words of another contact are no evidence there; an operator's are.

        Args:
            session_id: its id, the same for all; None as in ``ContactMemory.submit_session``.
            turns: as there.
            speakers: who speaks as a user, by name: ``contact:ID``, or a role as there.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware; None for its first turn's time, or now.

        Raises:
            InvalidSessionError: it cannot be used, or names no contact; nothing was stored.
            InvalidScopeError: a contact cannot be used; nothing was stored.
            GraphUnavailableError: the engine stayed unavailable; hand it over again.
        """
        # Who hands no talk over reads no lexicon.
        from reconciler.domain.sessions.speakers import roles_by_contact

        roles = roles_by_contact(speakers)
        jobs = self._services.memory_extractor.hand_over(
            {self.contact(each).scope: heard for each, heard in roles.items()},
            session_id,
            turns,
            channel=channel,
            started_at=started_at,
        )
        return dict(zip(roles, jobs, strict=True))

    def check_policy(
        self,
        text: str,
        *,
        source_kind: AnySourceKind = SourceKind.USER_EXPLICIT,
        category: AnyCategory | None = None,
        topic: str | None = None,
    ) -> Assessment:
        """Dry-run the write gate on a note, check by check; reads and writes nothing.

        Raises:
            InvalidNoteError: the note cannot be used.
        """
        candidate = note_to_check(
            text,
            agent_id=self._scope.agent_id,
            source_kind=source_kind,
            category=category,
            topic=topic,
        )
        return self._services.judge(candidate).assessment


def note_to_check(
    text: str,
    *,
    agent_id: str,
    source_kind: AnySourceKind,
    category: AnyCategory | None,
    topic: str | None,
) -> Candidate:
    """A note about a made-up contact, said now, for a dry run of the gate.

    Raises:
        InvalidScopeError, InvalidNoteError: the note cannot be used.
    """
    from reconciler.service.writing.doors import as_candidate

    note = Note(
        scope=Scope("any", agent_id, "any"),
        text=text,
        said_at=datetime.now(UTC),
        source_kind=source_kind,
        category=category,
        topic=topic,
    )
    return as_candidate(note, "nobody")
