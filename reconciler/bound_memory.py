"""The memory of a contact, the memory of an agent, and the calls that both have.

All calls about a contact, or across an agent's contacts, are here. They decide nothing.

A call imports the modules that only it needs, so that a caller who reads a history does not wait
for others.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial, wraps
from inspect import isfunction
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
    Progress,
    Relation,
    SourceKind,
)
from reconciler.domain.records.notes import (
    CONTACT_SUBJECT,
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
    AbsorbedError,
    InvalidAnswerError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
    InvalidSessionError,
    UnknownDecisionError,
)
from reconciler.frozen import Strings, StringSet, Values, present
from reconciler.tracing import about, span

if TYPE_CHECKING:
    from reconciler.bootstrap.services import Services
    from reconciler.domain.explanation import Explanation
    from reconciler.domain.recalling.answering import RecordedAnswer
    from reconciler.domain.recalling.briefing import Briefing, Context
    from reconciler.domain.recalling.checking import ActCheck
    from reconciler.domain.recalling.filtering import FilterFields
    from reconciler.domain.recalling.recalled import Recalled, SlotValue
    from reconciler.domain.records.candidates import Assessment, Candidate, FactEvidence, Turn
    from reconciler.domain.records.decisions import Archived, Change, Decision
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
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.service.stores.contact_store import ContactFilter
    from reconciler.service.stores.rows import Scopes
    from reconciler.service.tasks.memory_context import MemoryContext
    from reconciler.service.tools.agent_tools import AgentTools
    from reconciler.service.writing.doors import NoteFields, SlotFields
    from reconciler.service.writing.relating import Rejudged
    from reconciler.settings import Settings


_DAYS_MAX = 36_500
_ABOUT_MAX = 50
_NO_ARBITER = "no arbiter is configured; docs/judges.md says how to set one up"
E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


class BoundMemory:
    """A memory bound to an agent, or to one of its contacts; both have these calls.

    Args:
        parts: the parts of the memory, which may have been closed.
        scope: tenant, agent and contact; any contact for the memory of an agent.
    """

    _is_of_a_contact = False

    def __init__(self, parts: Services, scope: Scope) -> None:
        self._parts = parts
        self._bound = scope

    @property
    def _scope(self) -> Scope:
        return self._parts.home(self._bound) if self._is_of_a_contact else self._bound

    @property
    def _services(self) -> Services:
        return self._parts.opened

    @property
    def _settings(self) -> Settings:
        return self._parts.settings

    @property
    def _attributes(self) -> AttributeBook:
        return self._services.attributes.of(self._bound.agent_id)

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
        mention it; among equals the fact that was said last comes first. Similarity does not count:
        a question about ACME finds no other company. Across an agent's contacts it is for an
        operator only: one contact must not hear what another said.

        Args:
            name: the name as people write it; "ACME Corp." also finds "ACME".
            limit: at most this many; None for the configured number.

        Raises:
            InvalidRequestError: the name cannot be used, or the limit is below 1.
        """
        check_text("name", name)
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
        """The newest decisions, with the facts that each was compared with; refusals are included.

        Args:
            disposal: only those that the gate admitted, rejected, or held to confirm or consent.
            reason: only those with this reason of the gate, for example ``secret``.
            door: only those that came through ``live``, ``import``, ``proposal`` or ``operator``.
            since: only those made at or after this time, time-zone aware.
            until: only those made before this time, time-zone aware.
            after: the time and the id of the last decision of the previous page; None for the first
                page.
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
        known = self._services.contact_store.list_contact_ids(self._scope)
        return store.list_newest_decisions(self._scope, known, count, wanted)

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
        """Held notes and disputes that wait for an answer; ``question`` is the question to ask.

        The held notes come first; ``confirm`` and ``reject`` answer them. Then come the disputes,
        which ``resolve`` settles. Both are in order, the newest first.

        Args:
            limit: at most this many; None for all.
            with_silent: also return held notes that have no question until they are said again.
            after: the place of the last item of the previous page: for a decision its time and its
                id, for a dispute as in ``disputes``; None for the first page.

        Raises:
            InvalidRequestError: the limit is below 1, or ``after`` is no place.
        """
        check_flags(with_silent=with_silent)
        if isinstance(after, tuple) and len(after) == 3:
            return [*self.disputes(limit=limit, after=after)]
        waiting = self._services.records.pending(
            self._scopes_or_agent(), with_silent=with_silent, after=_place(after)
        )
        return first(waiting, limit)

    def disputes(
        self,
        *,
        limit: int | None = None,
        after: tuple[datetime, str, str] | None = None,
    ) -> list[Dispute]:
        """The open disputes: facts that contradict each other, each contact's newest first.

        ``question`` is the question to ask, and ``resolve`` takes the answer.

        Args:
            limit: at most this many; None for all.
            after: the place of the last dispute of the previous page: ``opened_at``, the id of its
                first fact, and its contact; None for the first page.

        Raises:
            InvalidRequestError: the limit is below 1, or ``after`` is no place.
        """
        records = self._services.records
        if after is None:
            return first(records.disputes(self._scopes_or_agent()), limit)
        at, fact_id, contact_id = _place(after, _OF_A_DISPUTE)
        if self._is_of_a_contact and contact_id != self._contact_id:
            raise InvalidRequestError(
                "after= belongs to the list of another contact; give the last item of this "
                "contact's page"
            )
        whom = replace(self._scope, contact_id=contact_id)
        return first(records.disputes(self._scopes_or_agent(), (at, fact_id), whom), limit)

    def expiring(
        self,
        *,
        days: float = 30,
        limit: int | None = None,
    ) -> list[ExpiringFact]:
        """The facts that expire within this many days, the soonest first, with a question.

        Expired facts that recall still returns, with a mark, come before them.
        If the answer is yes, add the same note again, which renews the fact; if no, ``revoke`` it.

        Args:
            days: how many days from now, above 0.
            limit: at most this many; None for all.

        Raises:
            InvalidRequestError: days are not above 0, or too many, or the limit is below 1.
        """
        _check_days("days", days)
        return self._services.records.expiring(self._scopes_or_agent(), days, at_most(limit))

    def rejudge(self) -> Iterator[Rejudged]:
        """Ask the arbiter about decisions that were made without it, and amend them.

        They were made over budget, during an outage, or after an unusable answer. The arbiter is
        asked once about each decision, the newest first; the call waits so that it stays within the
        budget of calls a minute. The arbiter's answer is a decision of its own, which ``revert``
        undoes.

        Returns:
            The result of each, as it is iterated.

        Raises:
            InvalidRequestError: no arbiter is configured.
        """
        scopes = self._scopes()
        if self._services.arbitration is None:
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
        """Archive faded facts: recall leaves them out; a fact becomes live again if it is repeated.

        How fast a fact fades depends on its importance, on when it was last said, and on how often
        it was recalled. Instructions, confirmed facts, disputed facts and procedures
        are never archived; nothing is deleted. All facts of a contact that one call archives are
        one decision, which ``revert`` undoes; ``unarchive`` makes one fact live again.

        Args:
            by: the operator's name.
            reason: why, in one sentence.
            floor: archive facts with a weight below this, 0 to 1; None for the configured one.
            dry_run: only report what would be archived.

        Returns:
            For each contact with facts to archive, those facts and the decision that archived
            them; no decision with ``dry_run``.

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
        """The erasures that were requested, the oldest first, with the progress of each.

        Args:
            unfinished: only the erasures that were interrupted and must be finished.
            limit: at most this many; None for all.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        check_flags(unfinished=unfinished)
        family = self._services.fact_store.family
        scopes = family(self._scope) if self._is_of_a_contact else ()
        all_erasures = self._services.erasure_store.list_erasures(scopes, is_unfinished=unfinished)
        agent_key = self._scope.agent_key
        own = (erasure for erasure in all_erasures if erasure.scope.agent_key == agent_key)
        return first(own, limit)

    def tasks(
        self,
        *,
        state: AnyTaskState | None = None,
        limit: int = 50,
    ) -> list[Task]:
        """The tasks, the last changed first; ``task`` resumes a task.

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
            after: ``submitted_at`` and the id of the last job of the previous page; None for the
                first page.

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
        """Check that something is known about the contact, or about any contact of the agent.

        Raises:
            UnknownContactError: nothing is known; the message says to check the names.
        """
        self._services.archive_store.check(self._filter)

    def _scopes(self) -> list[Scope]:
        """The scope of the contact, or the scopes of the agent's contacts."""
        if self._is_of_a_contact:
            return [self._scope]
        return self._services.records.scopes(self._scope)

    def _scopes_or_agent(self) -> Scopes:
        """The same, but of an agent with many contacts its own scope."""
        if self._is_of_a_contact:
            return [self._scope]
        return self._services.records.scopes_or_agent(self._scope)

    def _limit(self, limit: int | None) -> int:
        return self._settings.recall.limit if limit is None else positive("limit", limit)


_OF_AN_ITEM = ("decision.at", "decision.decision_id")
_OF_A_DISPUTE = ("dispute.opened_at", "dispute.facts[0].fact_id", "dispute.scope.contact_id")


def _place(after: object, parts: Sequence[str] = _OF_AN_ITEM) -> Any:
    """Read the place of an item in a list: its time, and its id or ids; None stays None.

    Raises:
        InvalidRequestError: the value is not a place; the text says what a place is made of.
    """
    if after is None:
        return None
    if not isinstance(after, tuple) or len(after) != len(parts):
        raise InvalidRequestError(
            "after= must be the time and the id of the last item of the previous page, "
            f"such as ({', '.join(parts)})"
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
    """Return the given parts of a scope.

    Raises:
        InvalidScopeError: a part cannot be used.
    """
    named = present(given)
    for name, value in named.items():
        check_identifier(name, value, InvalidScopeError)
    return named


def known_or_none(kind: type[E], name: str, value: str | None) -> E | None:
    """The member of an enumeration; None stays None.

    Raises:
        InvalidRequestError: the enumeration has no such member.
    """
    return None if value is None else one_of(kind, name, value)


def at_most(limit: int | None) -> int | None:
    """Check the number of items to return; None for all.

    Raises:
        InvalidRequestError: the limit is below 1.
    """
    return None if limit is None else positive("limit", limit)


def first(things: Iterable[T], limit: int | None) -> list[T]:
    """Return the first items, as many as the limit says; None for all.

    Raises:
        InvalidRequestError: the limit is below 1.
    """
    return list(islice(things, at_most(limit)))


_TURNS_READ_MAX = 100
"""How many messages are searched for the contact's last words; tools make a conversation long."""


class ContactMemory(BoundMemory):
    """The memory of one contact, with all calls about this contact.

    ``Memory.contact`` checks the ids and makes one. It holds no resources and needs no closing. It
    is for the program that builds an agent; the agent itself gets ``AgentTools``.

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
        """A number that grows with each decision about the contact; 0 if nothing is known."""
        return self._services.fact_store.contact_version(self._scope)

    def note(
        self,
        text: str,
        **fields: Unpack[NoteFields],
    ) -> Decision:
        """Remember something about the contact; the decision says what was done with the note.

        The write gate comes first. A note from the contact or an operator is reconciled at once,
        unless it is sensitive, not meant literally, or a directive; then it is held or refused, and
        ``answer`` says what to tell the agent's model. A note that was read from a text or a tool
        is only proposed here.

        Args:
            text: one fact, 1 to 2,000 characters.
            **fields: optional fields besides the text; ``NoteFields`` documents them. By default
                ``source_kind`` is ``user_explicit``, and the gate judges ``importance`` from the
                words.

        Raises:
            InvalidNoteError: the note cannot be used; nothing was written.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable; call again with the same key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        return self._services.live_door.add(self._parts.known_home(self._bound), text, **fields)

    @span("search_memory")
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
        asks for. The chosen facts are ordered by 0.7 similarity + 0.2 recency + 0.1 importance,
        unless the settings differ. Facts that are not near are left out. Without an embedder only
        words count, and facts without a word of the query are left out. An empty query ranks all
        live facts.

        An expired fact counts as old, and has ``may_be_outdated``. It is left out if the settings
        say ``life.expired = "hidden"``, if the fact is volatile, or if its end was known.

        Orders and prohibitions come after these facts for every query, marked as standing; limit
        and floor do not apply to them. The list's ``outcome`` says whether facts fit, nothing fits,
        or more facts fit than the list holds. If the query asks for an attribute, the list's
        ``waiting`` has the ids of held notes about it: they are not known until a person says yes.

        The facts of the accounts that the contact belongs to follow its own, and ``account`` names
        the account. The limit counts for the contact and for each account; a budget counts for all.

        Args:
            query: what to look for, in words.
            limit: at most this many facts, without the standing ones; None for the configured
                number. With a budget, None means as many as fit.
            budget_tokens: as many facts as fit a prompt of this many tokens. A token is about four
                characters. Standing facts are counted first and take at most a fifth, except facts
                that keep the contact safe.
            as_of: recall what the memory knew at that instant, time-zone aware; None for now.
            valid_at: recall what was, or will be, true in the world at that instant, time-zone
                aware; None for now. This includes facts that a newer fact has replaced since. For a
                later time it gives the facts that will hold then, as far as is known.
            **filters: which facts may be returned; ``RecallFilter`` documents them. Attribute and
                subject may be given by any name that the attribute book knows.

        Raises:
            InvalidRequestError: the query or a filter cannot be used, limit or budget is below 1,
                an instant has no time zone, or ``as_of`` is in the future.
        """
        if not isinstance(query, str) or len(query) > TEXT_LENGTH_MAX or query.strip():
            check_text("query", query)
        from reconciler.domain.recalling.prompting import within_budget
        from reconciler.service.recall import filter_of

        wanted = filter_of(filters, lambda: self._attributes)
        if wanted.subject is not None:
            meant = self._services.whom(self._scope, wanted.subject[0])
            wanted = replace(wanted, subject=(*meant.subjects, *meant.may_be))
        budget = None if budget_tokens is None else positive("budget_tokens", budget_tokens)
        # No line is as short as a token, so that as many facts as tokens are always enough.
        usual = budget or self._settings.recall.limit
        count = usual if limit is None else positive("limit", limit)
        knew_at = self._instant("as_of", as_of)
        true_at = None if valid_at is None else utc("valid_at", valid_at)
        about_at, query = true_at or knew_at, query.strip()
        is_compared = query and self._parts.embedder.dimension and not about_at
        scope = self._parts.known_home(self._bound) if is_compared else self._scope
        asked = scope, query, count, wanted, budget
        if about_at:
            recalled = self._services.recall.recall_past(*asked, as_of=knew_at, valid_at=true_at)
        else:
            recalled = self._services.recall.recall(*asked)
            if wanted.attribute is not None:
                recalled.waiting = self._services.records.waiting_about(scope, wanted)
                if budget and recalled.waiting:  # the line about them takes room
                    recalled = within_budget(recalled, budget)
            self._services.use_trace.note(hit.fact.fact_id for hit in recalled)
        about("record.count", len(recalled))
        shown = [hit.fact.fact_id for hit in recalled]
        recalled.recall_id = self._recall_id(scope, shown, about_at)
        return recalled

    def _recall_id(self, scope: Scope, fact_ids: Iterable[str], at: datetime | None = None) -> str:
        """The id of a recall that showed these facts, about a time; None for now."""
        from reconciler.domain.recalling.answering import recall_id_of

        sign = partial(self._services.decision_ids.of_key, scope)
        return recall_id_of(fact_ids, at or self._services.clock(), sign)

    def record_answer(
        self,
        recall_id: str,
        reference: str,
        *,
        used: str | Sequence[str],
    ) -> Decision:
        """Record the facts that a reply or an act used, so that a correction finds it.

        A repeated call with the same reference and facts returns the first decision, marked
        ``replayed``.

        Args:
            recall_id: that of the recall, or the context, that showed the facts.
            reference: your own id of the reply, ticket or order; it is kept as it is given.
            used: the facts that it used, by id or handle, at least one.

        Raises:
            InvalidRequestError: the recall was about another contact, the reference cannot be used
                or is on record with other facts, or no fact is named.
            UnknownFactError: the recall did not show the fact, or it was erased.
            GraphUnavailableError, GraphConflictError: as ``note``.
        """
        return self._services.relating.cite(self._scope, recall_id, reference, _ids("used", used))

    def impact(
        self,
        fact: str | None = None,
        *,
        decision_id: str | None = None,
    ) -> list[RecordedAnswer]:
        """The answers that used a fact, or that a decision corrected, the newest first.

        A decision corrects an answer if the fact that it used held before the decision at the time
        that the answer is about, and does not hold then any more. So a move to another city
        corrects only answers about the time since the move. A fact that was never true, revoked,
        reverted, rejected in a dispute, or amended without a date corrects all of them.

        Args:
            fact: the fact, by id or handle, in any wording; or give the decision.
            decision_id: the decision that may have corrected answers.

        Raises:
            InvalidRequestError: both the fact and the decision were given, or neither.
            UnknownFactError: the contact has no such fact, or it was erased.
            UnknownDecisionError: the contact has no such decision.
        """
        if (fact is None) is (decision_id is None):
            raise InvalidRequestError("give either a fact, by its id or handle, or decision_id")
        records = self._services.records
        if fact is not None:
            return records.answers_on(self._scope, fact)
        return records.answers_corrected(self._scope, decision_id or "")

    def briefing(
        self,
        query: str = "",
        *,
        limit: int | None = None,
    ) -> Briefing:
        """Facts and questions for the opening of a conversation.

        It holds the facts that fit the query, up to the limit; without a query, the facts that
        matter most. It also holds the standing constraints, the facts that are new since the last
        recall about the contact, and the questions that the contact may answer. ``confirm``,
        ``reject`` and ``resolve`` take the answers. Some questions ask if a fact still holds: to
        add the fact again renews it. A model gets the two questions that matter most. A question
        without an answer in two conversations is not asked again, and stays in ``pending``.

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
        least, book = self._settings.recall.confidence_min, self._attributes

        def opening(facts: Sequence[Fact]) -> tuple[list[SlotValue], StringSet]:
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

            held += disputes_of(self._scope, known.disputed(), known.conflicts, now)
        policy = services.policy
        pending = tuple(item for item in held if is_for_the_contact(item, policy))
        lapsed = known.lapsed(now)
        renewals = tuple(services.records.to_renew(self._scope, lapsed, ASKED_MAX))
        waiting = (*pending, *renewals)
        heard = services.session_store.list_last_sessions(self._scope, 3) if waiting else []
        return Briefing(
            facts=facts,
            profile=tuple(profile),
            changed=changed_since_last_time(known.uses, now),
            pending=pending,
            renewals=renewals,
            put_by=tuple(item for item in waiting if is_put_by(item, heard)),
            unconfirmed=unconfirmed(held, profile),
        )

    def context(
        self,
        turns: Iterable[Turn | Values],
        *,
        budget_tokens: int | None = None,
        shown: Sequence[str] | None = None,
    ) -> Context:
        """The facts that a reply to these turns needs, so that no model has to call a tool.

        A conversation that was shown nothing gets the briefing; later turns get the facts that fit
        the contact's last words. No fact is given twice: keep ``Context.shown`` with the
        conversation, and pass it to the next call. Facts that keep the contact safe are given in
        full, once, for any turns; other standing constraints come first at the opening. ``text`` is
        empty if no fact is needed.

        All is read from the memory in this call; ``shown`` holds only ids.

        Args:
            turns: as ``submit_session`` takes them, in their order; only the last turns are read.
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
            made = following(fitting, given, budget)
        else:
            avoided = self._services.recall.own_answer(self._scope, AVOIDED, FITTING_MAX)
            made = opening(self.briefing(limit=budget), fitting, avoided, budget)
        return replace(made, recall_id=self._recall_id(self._scope, made.shown))

    def value(
        self,
        attribute: str,
        *,
        subject: str | None = None,
    ) -> list[SlotValue]:
        """The current value of an attribute; several if it holds many or is in dispute.

        The newest comes first. The list is empty if no value is known, or if the last note says
        that the value no longer holds.

        Args:
            attribute: the attribute by any name that the attribute book knows, for example
                ``city``.
            subject: whom or what it is about, for example ``wife``, or any name of a known
                person; None for the contact. If several people fit, the values of all of them.

        Raises:
            InvalidRequestError: attribute or subject cannot be used.
        """
        from reconciler.service.acting import Acting

        acting = self._services.made(Acting)
        *_, said = acting.said_of(self._scope, attribute, subject, self.profile())
        return said

    def check(
        self,
        about: str | Sequence[str] = (),
        *,
        act: str = "",
        subject: str | None = None,
        max_age_days: float | None = None,
    ) -> ActCheck:
        """Check before an act whether it may rest on what is known: go, ask or stop, with reasons.

        Ask if a fact is unknown, disputed, suspended, unconfirmed, only a tool's word, too old, or
        changed within the last week, if a note about it waits for an answer, or if several people
        fit. Stop if a fact has ended, or if a standing limit or an allergy touches the act. It
        writes nothing and asks no model.

        If the contact has no fact of that name, those of its accounts count; a reason with the
        advice to go names the account.

        Args:
            about: what the act rests on: attributes by any name that the attribute book knows, and
                facts by id or handle; at most 50.
            act: what is planned, in words, such as "call her on Monday at eight", to find the
                standing limits, the disputes, and the notes that wait; empty to find limits by the
                facts' own words.
            subject: whom the attributes are about; None for the contact.
            max_age_days: a fact that was last said longer ago is too old, above 0; None for any.

        Raises:
            InvalidRequestError: neither ``about`` nor ``act`` is given, or one cannot be used.
            UnknownFactError: the contact has no fact of that handle.
        """
        from reconciler.service.acting import Acting

        names = _ids("about", about)
        if len(names) > _ABOUT_MAX:
            raise InvalidRequestError(f"about names more than {_ABOUT_MAX}; check some first")
        for name in names:
            check_text("about", name)
        if act:
            check_text("act", act)
        elif not names:
            raise InvalidRequestError("say what the act rests on (about), or what it is (act)")
        if max_age_days is not None:
            _check_days("max_age_days", max_age_days)

        return self._services.made(Acting).check(
            self._scope,
            {name: name for name in names},
            subject=subject,
            act=act,
            max_age=None if max_age_days is None else timedelta(days=max_age_days),
        )

    def profile(self) -> list[SlotValue]:
        """The current values of all of a contact's slots, the contact's own first, by attribute.

        Each value has its start, its source, how often it was said, and whether it is disputed. A
        disputed limit, such as an allergy, has ``holds_until_settled``.
        """
        least, known = self._settings.recall.confidence_min, self._attributes
        return self._services.records.current_values(self._scope, least, known)

    def history(
        self,
        *,
        fact_id: str | None = None,
        at: datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """Chains of facts that replaced each other, with reasons: all chains, or a fact's chain.

        Args:
            fact_id: only the chain that this fact is in.
            at: the memory as it was at that instant, time-zone aware, rebuilt from the recorded
                decisions. None for now.
            after: a fact of the last chain of the previous page; only later chains are returned.
            limit: at most this many chains; None for all.

        Raises:
            InvalidRequestError: the instant has no time zone, or is in the future, or the limit is
                below 1.
            UnknownFactError: the contact has no fact with that id, or had none at that time.
        """
        records, instant, count = self._services.records, self._instant("at", at), at_most(limit)
        if fact_id is not None:
            return [records.history_of(self._scope, fact_id, instant)]
        return records.history(self._scope, instant, after=after, limit=count)

    def evidence(self, fact_id: str) -> FactEvidence:
        """A fact's evidence: each turn, who said it, when and where, and the decision that used it.

        If the contact never said the fact, ``statement`` says so, and names the source.

        Args:
            fact_id: the fact, live or ended; ``history`` and ``recall`` give ids.

        Raises:
            UnknownFactError: the contact has no fact with that id; the id of another contact's fact
                gives the same error.
        """
        return self._services.records.fact_evidence(self._scope, fact_id)

    def evidence_about(self, about: str) -> list[FactEvidence]:
        """The evidence of each fact about an attribute or some words; live facts first.

        Args:
            about: an attribute by any name that the attribute book knows, ``city`` for example, or
                words that all occur in the fact.

        Raises:
            InvalidRequestError: ``about`` is blank.
        """
        check_text("about", about)
        known = self._attributes
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
        """Record how a known fact relates to others, as a separate decision.

        The relation counts as the word of the agent's model, with the limits of any note: a fact
        never replaces a more trusted or a newer fact. ``revert`` undoes it. Facts are named by id
        or by handle.

        Args:
            fact: the fact that the relation is about, by id or handle.
            replaces: facts that it replaces, at most three together with ``ends``.
            repeats: a fact that says the same; the two count as one from now on.
            ends: facts that have ended without a replacement.
            both_hold: facts that hold together with it; a dispute between them is settled.
            reason: why, in one sentence; None for only the relation.
            idempotency_key: like that of a note; it belongs to one relation and its reason. A
                repeated call must name facts by id, because a fact that has ended has no handle.

        Raises:
            InvalidNoteError: the arguments cannot be used, or the key belongs to another call.
            UnknownFactError: the contact has no such fact, or two have the handle.
            InvalidRequestError: a fact has ended, no other fact is named, or the relation may
                change nothing.
        """
        scope, door = self._scope, self._services.live_door
        if idempotency_key is not None:
            check_identifier("idempotency_key", idempotency_key, InvalidNoteError)
        fact_id = door.fact_id(scope, fact)
        relations = door.relations(scope, replaces, repeats, ends, both_hold)
        if relations is None:
            raise InvalidRequestError(
                "say how the facts relate: give replaces=, repeats=, ends= or both_hold="
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

        They are bound to this contact and this conversation. A model cannot choose these, or the
        proposer of a note.

        Args:
            session_id: the current conversation. Repetitions in one conversation do not
                corroborate each other; with None, all of the agent's notes count as one
                conversation.
            can_recall: whether there is ``recall_contact``.
            can_check: whether there is ``check_before_acting``.
            budget_tokens: the most tokens that one recall returns; None for 500.
            trusted_tools: your own systems, such as ``("erp",)``: a note that the model attributes
                to one of them is trusted like an approved document and has the lifetime of a tool's
                fact. None for those of the settings (``gate.trusted_tools``).
            colleague: the person of your own organisation in the conversation; a note that the
                model attributes to them counts as an operator's word. None if there is no
                colleague.

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
            scope=lambda: self._scope,
            book=self._attributes,
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
        turns: Iterable[Turn | Values],
        *,
        channel: str = "chat",
        started_at: datetime | None = None,
        contact_name: str | None = None,
        speakers: Mapping[str, str] | None = None,
    ) -> str:
        """Hand over a session; returns the id of its job.

        See ``MemoryExtractor``. If ``session_id`` is None, the id is made from the conversation:
        the same conversation, handed over again or with more turns, is the same session; see
        ``MemoryExtractor.session_id``.

        Args:
            session_id: its id; if the session exists, only new turns are added.
            turns: in their order, at least one; messages of chat APIs, dictionaries with ``role``
                and ``content``, are accepted as well.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware; None for its first turn's time, or now.
            contact_name: the contact's name, if several people speak as users, each with a ``name``
                or a label, "[Alice]: …"; the words of the others are not evidence. None if one
                person speaks; with several people None is refused.
            speakers: instead of that, the role of each person who speaks as a user, by name:
                ``contact``, ``operator`` for a colleague, ``agent``, or ``system`` for others:
                their words are not evidence. See ``AgentMemory.submit_session`` for several
                contacts.

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
        """A stored session: its summary, and the decisions about its candidates.

        Raises:
            InvalidSessionError: no session with that id was handed over.
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
        """Start or resume a task, and return its memory, for an agent that works in a loop.

        Args:
            task_id: the task; a task that has not ended opens as interrupted, and can be resumed.
            goal: what a new task has to achieve.
            session_id: the session that keeps its episodes; None for a separate session.
            keeps_outcome: whether the task's outcome is proposed to the gate when the task ends.

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
        """A job of the contact, in its present state, with the outcome of each candidate.

        Raises:
            UnknownJobError: the contact has no job with that id; the id of another contact's job
                gives the same error.
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
        """Answer yes to a held note.

        The note is stored once, as the word of the person who answers.

        Args:
            decision_id: the held decision.
            by: ``contact`` if the contact answered, or an operator's name; never the proposer of
                the note.
            text: the fact in the words of the answer, which holds from now on and rests on
                these words alone; None for the words of the question.
            told_to: the person who took the contact's answer, for the record; unused if an operator
                answers.

        Raises:
            UnknownDecisionError: the contact has no such decision; the id of another contact's
                decision gives the same error.
            InvalidAnswerError: no question waits under that id, the question lapsed or was answered
                differently, or this person may not answer it.
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
        """Settle a dispute: the facts to keep hold, and the other sides end; the history is kept.

        Another call with the same facts returns the first decision, marked ``replayed``.

        Args:
            keep: the id of the fact that holds; several ids if all of these facts hold together. If
                a fact has been said again since, its old id still works.
            neither: instead of ``keep``, the ids of all sides of a dispute if none of them holds;
                they are revoked in one decision, which one ``revert`` undoes.
            by: ``contact`` if the contact answered, or an operator's name; never an agent.
            reason: why, in one sentence.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            UnknownFactError: the contact has no such fact.
            InvalidAnswerError: the facts are not in an open dispute, a fact to keep has ended,
                ``neither`` does not name all sides, or this person may not answer.
        """
        return self._services.persons.resolve(
            self._scope, _ids("keep", keep), _ids("neither", neither), by=by, reason=reason
        )

    @span("update_memory")
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

        A plain note of an operator ranks below the contact's word and cannot end it; an amendment
        can. A later note of the contact can end the amendment like any other fact. If the same call
        is repeated with the same reason, it returns the first decision, marked ``replayed``.

        Args:
            text: what is true, in one sentence, 1 to 2,000 characters.
            fact_id: the live fact to correct; or give ``attribute``.
            subject: whom or what the attribute is about; None for the contact.
            attribute: the attribute to correct, for example ``city``; not with ``fact_id``.
            value: the new value of the attribute; required with an attribute.
            single_valued: for an unknown attribute, whether it holds one value at a time.
            by: the operator's name.
            reason: why, in one sentence.
            said_at: the time from which the new fact is true, time-zone aware; None for now. If the
                old fact was never true, give the time at which it began; then it held for no time.
            valid_to: the time until which the new fact is true, as in a note; it must be in the
                future. None for no end, even if the old fact has an end.
            lifetime_days: the number of days after which the fact may have changed, 1 to 3,650;
                None for the policy's number.

        Raises:
            InvalidNoteError: the arguments cannot be used, or ``valid_to`` is in the past.
            UnknownFactError: the contact has no fact with that id, or it has ended.
            InvalidAnswerError: ``by`` names the contact or an agent.
            InvalidRequestError: there is nothing to amend, or the fact begins after ``said_at``.
        """
        slot: SlotFields = {
            "subject": subject,
            "attribute": attribute,
            "value": value,
            "single_valued": single_valued,
        }
        decision = self._services.persons.amend(
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
        about("record.id", fact_id)
        return decision

    def revoke(
        self,
        fact_id: str,
        *,
        by: str,
        reason: str,
        never: bool = False,
    ) -> Decision:
        """End a fact without a replacement; its history is kept.

        If the same call is repeated with the same reason, it returns the first decision, marked
        ``replayed``.

        Args:
            fact_id: the fact, live, expired or archived.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            never: whether the fact was never true, so that its interval becomes empty. The facts
                that it replaced stay ended; to undo that, ``revert`` the decision that wrote it.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not revoke it.
            UnknownFactError: the contact has no fact with that id, or it has ended.
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

        Facts that hold again get back their interval, evidence, counts and open conflicts. The
        undone decision stays in the graph. A revert is a decision, so it can be reverted too. If
        the decision has already been undone, the earlier revert is returned, marked ``replayed``.

        Args:
            decision_id: the decision to undo.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            and_later: whether to undo also the later decisions that depend on it.

        Raises:
            InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not undo it.
            UnknownDecisionError: the contact has no decision with that id.
            RevertRefusedError: later decisions depend on it; the message lists them.
            InvalidRequestError: the decision changed no fact, or has no record of the facts that it
                changed.
        """
        check_flags(and_later=and_later)
        return self._services.persons.revert(
            self._scope, decision_id, by=by, reason=reason, and_later=and_later
        )

    def join_account(
        self,
        account: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        by: str,
    ) -> Decision:
        """Make the contact belong to an account, so that recall also tells the account's facts.

        Only this call makes a membership: no note, import or session does, whatever it says. The
        membership is a fact of the contact, which ``revert`` undoes. The same call again returns
        the first decision, marked ``replayed``.

        Args:
            account: the account, as in ``Memory.account``; a fact about it must be known.
            since: the time since which the contact belongs to it, time-zone aware; None for now.
            until: the first instant at which it no longer does, time-zone aware; None for no end.
            by: the operator's name.

        Raises:
            UnknownContactError: nothing is known about the account.
            InvalidAnswerError: ``by`` names the contact or an agent.
            InvalidRequestError: the contact is an account, belongs to it already, or ``until`` does
                not come after ``since``.
        """
        check_identifier("by", by, InvalidAnswerError)
        begins = None if since is None else utc("since", since)
        ends = None if until is None else utc("until", until)
        return self._services.persons.join(self._scope, account, begins, ends, by)

    def leave_account(self, account: str, *, by: str) -> Decision:
        """End the contact's membership in an account now; its history is kept.

        The same call again returns the first decision, marked ``replayed``.

        Args:
            account: the account.
            by: the operator's name.

        Raises:
            InvalidAnswerError: ``by`` names the contact or an agent.
            InvalidRequestError: the contact does not belong to the account.
        """
        check_identifier("by", by, InvalidAnswerError)
        known = self._services.persons.memberships(self._scope, account)
        if not known:
            raise InvalidRequestError(
                f"contact {self._scope.contact_id} does not belong to account {account}; "
                "`accounts` lists the accounts"
            )
        held = [fact for fact in known if not fact.has_ended] or known[:1]
        why = f"Left account {account}."
        return [self.revoke(fact.fact_id, by=by, reason=why) for fact in held][-1]

    def accounts(self, *, at: datetime | None = None) -> list[Fact]:
        """The accounts that the contact belongs to, as facts: ``account`` of each names it.

        Args:
            at: the accounts at that instant, past or future, as far as known, time-zone aware; None
                for now.
        """
        from reconciler.domain.recalling.history import true_at

        then = self._services.clock() if at is None else utc("at", at)
        held = true_at(then, self._services.fact_store.list_facts(self._scope))
        return [fact for fact in held if fact.account]

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
            UnknownFactError: the contact has no fact with that id.
            InvalidRequestError: the fact is not archived.
        """
        return self._services.persons.unarchive(self._scope, fact_id, by=by, reason=reason)

    @span("delete_memory")
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
        on_progress: Progress = lambda _: None,
    ) -> Erasure:
        """Erase all that is known about a contact, or a part of it, for good.

        This cannot be undone.

        Texts, vectors, values, spans, reasons, summaries and the contents of jobs and tasks are
        erased; ids, actions, counts and times stay. A fact is erased with all records that say the
        same. If the erasure is interrupted, the same call finishes it. If an erased fact is said
        again, the note is held with a question until the contact says yes.

        Args:
            fact_id: only this fact, in any state, and the facts that say the same.
            session_id: only this session, and the facts that were learnt from it.
            attribute: only facts that are or were stored under this attribute, by any name that the
                attribute book knows.
            subject: whom or what the attribute is about, or any name of a known person; None for
                the contact.
            by: who asks for the erasure, ``contact`` or an operator's name.
            reason: why, in one sentence. The reason is kept, unless it repeats erased words.
            dry_run: only report what would be erased, and change nothing.
            on_progress: is called with the number of further records that were read or emptied.

        Returns:
            The erasure with its receipt: what was removed, which files were searched afterwards,
            and where traces may remain.

        Raises:
            UnknownContactError: nothing is known about the contact.
            InvalidAnswerError: this person may not ask for it.
            UnknownFactError, InvalidSessionError: the contact has no such fact or session.
            InvalidRequestError: more than one part is named, or a part cannot be used.
            GraphUnavailableError: the engine stayed unavailable or busy; call again.
        """
        from reconciler.domain.records.erasures import ErasureTarget

        check_flags(dry_run=dry_run)
        check_callable(on_progress=on_progress)
        target = ErasureTarget(
            fact_id=fact_id, session_id=session_id, attribute=attribute, subject=subject
        )
        if attribute is not None:
            attribute, subject = self._filed(attribute, subject)
            target = replace(target, attribute=attribute, subject=subject)
        erasure = self._services.erasures.forget(
            self._scope,
            target,
            by=by,
            reason=reason,
            dry_run=dry_run,
            on_progress=on_progress,
        )
        about("record.id", fact_id)
        return erasure

    def _filed(self, attribute: str, subject: str | None) -> tuple[str, str | None]:
        """Return the names under which facts of an attribute and a subject are stored."""
        slot = self._attributes.slot(subject=subject, attribute=attribute)
        if slot is None or slot.attribute is None:
            return attribute, subject
        if slot.subject == CONTACT_SUBJECT:  # nothing is read, which may be damaged
            return slot.attribute, None
        meant = self._services.whom(self._scope, slot.subject)
        if meant.may_be:
            raise InvalidRequestError(
                f"subject {subject!r} may be {' or '.join(meant.may_be)}; name one of them"
            )
        facts = self._services.fact_store.list_facts(self._scope)
        slots = [fact.slot for fact in facts if fact.slot]
        known = {each.subject for each in slots if each.attribute == slot.attribute}
        filed = next((each for each in meant.subjects if each in known), slot.subject)
        return slot.attribute, None if filed == CONTACT_SUBJECT else filed

    def propose(self, candidate: Candidate) -> Decision:
        """Let the gate judge a candidate, and record the judgement.

        No fact is written, even if it is admitted.

        Raises:
            InvalidNoteError: a text is too long, its time is in the future, it does not name who
                confirmed it, its evidence differs from the stored evidence with the same id, its
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
        """Write the fact of an admitted proposal; repeated calls write it only once.

        Raises:
            UnknownDecisionError: the contact has no such decision.
            InvalidRequestError: the decision is not a proposal that the gate admitted.
        """
        return self._services.gate.commit(self._scope, decision_id, PROPOSAL_DOOR)

    def decision(
        self,
        decision_id: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Decision:
        """One decision about the contact, with the facts that its note was compared with.

        Args:
            decision_id: the decision; or give the key.
            idempotency_key: the key that was given with the note.

        Raises:
            InvalidRequestError: both the id and the key were given, or neither.
            UnknownDecisionError: the contact has no decision with that id or key; the id of another
                contact's decision gives the same error.
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
        """Explain a decision in plain words: the neighbour, the rule, and the judge's answer.

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

        Calibration from decisions uses this record, and ``explain`` mentions it.

        Args:
            decision_id: the decision.
            relation: same, refines, replaces, coexists or unrelated.

        Raises:
            InvalidRequestError: there is no such relation, or the note was not compared with a
                fact.
            UnknownDecisionError: the contact has no decision with that id.
        """
        right = one_of(Relation, "relation", relation)
        if right is Relation.UNSURE:
            raise InvalidRequestError(not_one_of("relation", relation, TOLD_RELATIONS))
        return self._services.persons.correct(self._scope, decision_id, right)

    def digest(self, text: str) -> str:
        """A keyed hash of a text, for an idempotency key that must not reveal the text.

        The store keeps keys as they are given, and a card number can be guessed from its plain
        hash. All hosts that write to this memory get equal hashes for equal texts.

        Raises:
            InvalidRequestError: the value is not a text.
        """
        if not isinstance(text, str):
            raise InvalidRequestError(f"text must be a string, not {type(text).__name__}")
        return self._services.digest(text)

    def _instant(self, name: str, at: datetime | None) -> datetime | None:
        """Return a time in UTC; it must not be in the future."""
        return (
            None if at is None else not_in_the_future(utc(name, at), self._services.clock(), name)
        )


def _at_home(call: Callable[..., T]) -> Callable[..., T]:
    """The call, made again if another process has merged the contact into another meanwhile."""

    @wraps(call)
    def made(self: ContactMemory, *args: Any, **given: Any) -> T:
        try:
            return call(self, *args, **given)
        except AbsorbedError:
            self._parts.home.cache_clear()
            self._parts.neighbourhoods.drop(self._bound)
            self._parts.home(self._bound)
            return call(self, *args, **given)

    return made


for _name, _call in [*vars(ContactMemory).items()]:
    if isfunction(_call) and not _name.startswith("_"):
        setattr(ContactMemory, _name, _at_home(_call))


def _last_turns(given: Iterable[Turn | Values]) -> tuple[Turn, ...]:
    """The last turns of a conversation.

    Raises:
        InvalidSessionError: there are no turns, or a turn cannot be read.
    """
    from reconciler.domain.records.messages import turns_of

    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        given = tuple(deque(given, _TURNS_READ_MAX))
        if not given:
            raise InvalidSessionError("there are no turns; give at least the contact's last one")
    return tuple(turns_of(given, is_only_read=True))


def _ids_shown(given: object) -> Strings:
    """Check the ids of the facts that a conversation was shown.

    Raises:
        InvalidRequestError: the value is not a list of ids.
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidRequestError("shown must be the value that Context.shown gave, a list of ids")
    for fact_id in given:
        check_identifier("shown", fact_id, InvalidRequestError)
    return tuple(given)


def _ids(name: str, given: str | Sequence[str]) -> Strings:
    """Return one id or several as a list."""
    if not isinstance(given, Iterable):
        raise InvalidRequestError(f"{name} must be a text, such as an id, or a list of them")
    return (given,) if isinstance(given, str) else tuple(given)


class AgentMemory(BoundMemory):
    """The memory of an agent: its contacts, and the calls across all of them.

    ``Memory.agent`` checks the ids and makes one. It holds no resources and needs no closing. It is
    for an operator: an agent in a conversation gets the tools of one contact.

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
            contact_id: only this contact, if it is known.
            contact_ids: only these contacts, as far as they are known; without either argument, all
                contacts of the agent.
            after: only contacts after this id, which is the last one of the previous page.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: the id of a contact cannot be used, or ``after`` cannot be the id of
                a contact.
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
        """The live facts of all of an agent's contacts that are nearest to a query.

        For operators.

        Facts that have ended are left out; a contact's ``history`` shows them. On Neo4j a vector
        index finds the facts, approximately. If the index does not find enough, and on the embedded
        engine, every fact of the agent is compared.

        Args:
            query: what to look for, 1 to 2,000 characters.
            limit: at most this many; None for the configured number.
            **filters: as ``recall`` takes them; ``min_score`` is the raw cosine here.

        Raises:
            InvalidRequestError: the query or a filter cannot be used, the limit is below 1, or
                there is no embedder.
        """
        check_text("query", query)
        from reconciler.service.recall import filter_of

        wanted = filter_of(filters, lambda: self._attributes)
        return self._services.finding.nearest(self._scope, query, self._limit(limit), wanted)

    def changes(self, *, after: str | None = None, limit: int = 50) -> list[Change]:
        """Every decision and erasure of the agent, in one order: none twice, none left out.

        All readers get the same order, which is that in which changes were first read. A change
        holds ids and no words: ``decision`` and ``history`` of the contact give these. The cursor
        of the last change stays valid, so a reader that keeps it continues where it stopped.

        Args:
            after: the cursor of the last change that was read; None to begin with the first.
            limit: at most this many.

        Raises:
            InvalidRequestError: the limit is below 1, or the agent has no change with this cursor.
        """
        return self._services.decision_store.list_changes(
            self._scope, after, positive("limit", limit), self._services.clock()
        )

    def submit_session(
        self,
        session_id: str | None,
        turns: Iterable[Turn | Values],
        *,
        speakers: Mapping[str, str],
        channel: str = "chat",
        started_at: datetime | None = None,
    ) -> dict[str, str]:
        """Hand over a conversation of several contacts; returns the id of the job of each contact.

        Each contact gets the conversation as a separate session, in which only their own words
        count as the contact's. The words of another contact are not evidence there; an operator's
        words are.

        Args:
            session_id: its id, the same for all contacts; None as in
                ``ContactMemory.submit_session``.
            turns: as in ``ContactMemory.submit_session``.
            speakers: who speaks as a user, by name: ``contact:ID``, or a role as in
                ``ContactMemory.submit_session``.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware; None for its first turn's time, or now.

        Raises:
            InvalidSessionError: the session cannot be used, or names no contact; nothing was
                stored.
            InvalidScopeError: the id of a contact cannot be used; nothing was stored.
            GraphUnavailableError: the engine stayed unavailable; hand it over again.
        """
        # Who hands no talk over reads no lexicon.
        from reconciler.domain.sessions.speakers import roles_by_contact

        roles = roles_by_contact(speakers)
        scopes = {self.contact(each).scope: heard for each, heard in roles.items()}
        if len(scopes) < len(roles):
            raise InvalidSessionError("two of the contacts were merged; name each by the same id")
        jobs = self._services.memory_extractor.hand_over(
            scopes, session_id, turns, channel=channel, started_at=started_at
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

    def merge_contacts(
        self, keep: str, absorb: str, *, by: str, reason: str = "Both are one contact."
    ) -> Decision:
        """Merge two contacts of the agent: all that is known of the second is known of the first.

        Its id stays a way to the first contact, for every call. Equal facts become one; values that
        contradict each other become an open dispute. What was forgotten of one stays forgotten for
        both. ``split_contacts`` takes it back. The same call again returns the first decision.

        Args:
            keep: the contact that stays.
            absorb: the contact that is merged into it.
            by: who decides, the operator's name.
            reason: why, in one sentence.

        Raises:
            InvalidScopeError: an id cannot be used.
            InvalidRequestError: both are the same contact, one is merged into another, or is being
                erased or restored.
            UnknownContactError: nothing is known of one of them.
            InvalidNoteError, InvalidAnswerError: the reason or the name cannot be used.
            GraphUnavailableError, GraphConflictError: nothing was written; call again.
        """
        return self._joined("merge", keep, absorb, by=by, reason=reason)

    def rename_contact(
        self, old: str, new: str, *, by: str, reason: str = "The contact has another id."
    ) -> Decision:
        """Give a contact another id, of which nothing is known yet; the old one stays a way to it.

        Args:
            old: its present id.
            new: its new id.
            by: who decides, the operator's name.
            reason: why, in one sentence.

        Raises:
            InvalidRequestError: the new id is a contact; merge them.
            UnknownContactError: nothing is known of the old one.
            GraphUnavailableError, GraphConflictError: nothing was written; call again.
        """
        return self._joined("merge", new, old, by=by, reason=reason, is_new=True)

    def split_contacts(
        self,
        keep: str,
        absorbed: str,
        *,
        by: str,
        reason: str = "They are two contacts.",
        and_later: bool = False,
    ) -> Decision:
        """Take a merge back: the second contact gets what its own sessions and decisions gave.

        Args:
            keep: the contact that stayed.
            absorbed: the contact that was merged into it.
            by: who decides, the operator's name.
            reason: why, in one sentence.
            and_later: whether to undo also the later decisions that depend on the merge.

        Raises:
            InvalidRequestError: they are not merged.
            RevertRefusedError: later decisions depend on the merge; the message lists them.
            GraphUnavailableError, GraphConflictError: nothing was written; call again.
        """
        check_flags(and_later=and_later)
        return self._joined("split", keep, absorbed, by=by, reason=reason, and_later=and_later)

    def _joined(self, act: str, keep: str, other: str, **given: Any) -> Decision:
        check_identifier("by", given["by"], InvalidAnswerError)
        if given["by"] == "contact":
            raise InvalidAnswerError("only an operator may say who is one contact; give their name")
        own, its = self.contact(keep), self.contact(other)
        for one in (its,) if "is_new" in given else (own, its):
            one.check_known()
        made: Decision = getattr(self._services.persons, act)(own.scope, its._bound, **given)
        return made


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
