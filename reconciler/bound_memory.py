"""An open memory, and the calls that an agent's and a contact's have in common.

What only some calls need, they import, so that a caller who reads a history waits for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import IO, TYPE_CHECKING, TypeVar

from reconciler.domain.records.choices import check_callable, check_flags, one_of
from reconciler.domain.records.kinds import (
    AnyDisposal,
    AnyGateReason,
    AnyJobState,
    AnySourceKind,
    DecidedBy,
    Disposal,
    GateReason,
    JobState,
    SourceKind,
)
from reconciler.domain.records.notes import (
    TEXT_LENGTH_MAX,
    check_text,
    source_kind_of,
    unit_interval,
    utc,
)
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import GraphClosedError, InvalidRequestError, InvalidScopeError
from reconciler.forks import Maker

if TYPE_CHECKING:
    from pathlib import Path

    from reconciler.bootstrap import Services
    from reconciler.domain.records.archives import ExportReport
    from reconciler.domain.records.decisions import Archived, Decision
    from reconciler.domain.records.erasures import Erasure
    from reconciler.domain.records.facts import Dispute, ExpiringFact, FoundFact, RefusalCount
    from reconciler.domain.records.jobs import Job
    from reconciler.domain.review.health import HealthReport
    from reconciler.domain.review.replay import Replayed
    from reconciler.domain.tasks.task_states import AnyTaskState
    from reconciler.domain.tasks.tasks import Task
    from reconciler.ports.peer_memory import PeerSystem
    from reconciler.service.stores.archive_store import ContactFilter
    from reconciler.service.writing.note_import import ImportReport
    from reconciler.service.writing.rejudging import Rejudged
    from reconciler.settings import Settings

_DAYS_MAX = 36_500
_NO_ARBITER = "no arbiter is configured; docs/judges.md says how to set one up"


_LIMIT_MAX = 1_000_000
E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


class OpenMemory:
    """The open store that ``Memory``, ``AgentMemory`` and ``ContactMemory`` share.

    Args:
        services: the parts of the memory.
    """

    def __init__(self, services: Services) -> None:
        self.parts = services
        self.maker = Maker()
        self.is_closed = False

    @property
    def services(self) -> Services:
        """The parts of the memory, while it is open.

        Raises:
            GraphClosedError: this memory was closed, or opened before this process was forked.
        """
        self.maker.check()
        if self.is_closed:
            raise GraphClosedError("this memory was closed by this program; open it again")
        return self.parts

    @property
    def settings(self) -> Settings:
        """The settings that the memory was opened with, also once it is closed."""
        return self.parts.settings

    def tenant(self, tenant: str | None) -> str:
        """The tenant; None for the configured one."""
        return self.settings.tenant if tenant is None else tenant

    def scope(self, tenant: str | None, agent_id: str, contact_id: str) -> Scope:
        """Tenant, agent and contact.

        Raises:
            InvalidScopeError: one of them cannot be used.
        """
        scope = Scope(self.tenant(tenant), agent_id, contact_id)
        names = ("tenant", "agent_id", "contact_id")
        self.services.ids.check((name, getattr(scope, name)) for name in names)
        return scope


class BoundMemory:
    """A memory bound to an agent, or to one of its contacts; both have these calls.

    Args:
        opened: the open memory.
        scope: tenant, agent and contact; any contact for the memory of an agent.
    """

    _is_of_a_contact = False

    def __init__(self, opened: OpenMemory, scope: Scope) -> None:
        self._opened = opened
        self._scope = scope

    @property
    def _services(self) -> Services:
        return self._opened.services

    @property
    def _settings(self) -> Settings:
        return self._opened.settings

    @property
    def _contact_id(self) -> str | None:
        return self._scope.contact_id if self._is_of_a_contact else None

    @property
    def _filter(self) -> ContactFilter:
        from reconciler.service.stores.archive_store import ContactFilter

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
        at, fact_id, contact_id = _place_of_a_dispute(after)
        scopes = self._scopes()
        if not self._is_of_a_contact:
            scopes = [replace(self._scope, contact_id=contact_id)]
            scopes += records.scopes(self._scope, after=contact_id)
        elif contact_id != self._contact_id:
            raise InvalidRequestError("after is a place in the list of another contact")
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
        is_number = isinstance(days, int | float) and not isinstance(days, bool)
        if not is_number or not 0 < days <= _DAYS_MAX:
            raise InvalidRequestError(f"days must be a number above 0, at most {_DAYS_MAX:,}")
        scopes = self._scopes()
        return self._services.records.expiring(scopes, days, at_most(limit))

    def health(
        self,
        *,
        check_records: bool = False,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> HealthReport:
        """The health of this memory in numbers: duplicates, stale facts, open questions.

        Each contact's live facts are compared with each other, so this takes a while.

        Args:
            check_records: also read every record, and count those that are damaged; this takes
                about ten times as long.
            on_progress: called with how many more contacts were read.

        Raises:
            InvalidRequestError: ``check_records`` is not true or false.
        """
        check_flags(check_records=check_records)
        check_callable(on_progress=on_progress)
        health = self._services.health
        return health.report(self._scope, self._scopes(), on_progress, checks_records=check_records)

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

    def replay(
        self,
        profile: str,
    ) -> list[Replayed]:
        """Replay the recorded decisions with other thresholds; writes nothing.

        Args:
            profile: ``seed``, ``minilm`` or the path of a profile.

        Raises:
            ConfigurationError: no such profile, or one of another model.
        """
        from reconciler.bootstrap import build_policy
        from reconciler.domain.review.replay import replay

        chosen = self._settings.reconcile.model_copy(
            update={
                "profile": profile,
                **dict.fromkeys(("cosine_update_min", "cosine_add_max", "cosine_cut")),
            }
        )
        settings = self._settings.model_copy(update={"reconcile": chosen})
        policy = build_policy(settings, self._services.embedder.model_id)
        decisions = filter(_is_replayable, self.all_decisions())
        return [replay(decision, policy) for decision in decisions]

    def archive(
        self,
        *,
        by: str = "operator",
        reason: str = "Nobody said or needed it for long.",
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
        from reconciler.bootstrap import build_decay

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
        from reconciler.domain.tasks.task_states import states_named

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

    def report(self) -> str:
        """One HTML document with the timelines of facts, for an analyst.

        It also has disputes, questions, refusals, and decisions by day. It needs no network and
        holds no script. It shows at most 2,000 facts and 100 contacts, those of the latest
        decisions, and says what it left out.

        Raises:
            UnknownContactError: nothing is known of the contact, or the agent has none.
        """
        self.check_known()
        contacts = self._services.records.contacts(self._scopes())
        return self._services.report.html(self._scope, contacts)

    def export(
        self,
        out: str | Path | IO[bytes],
        *,
        vectors: bool = False,
        keys: bool = False,
        overwrite: bool = False,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ExportReport:
        """Write the memory as lines of JSON, which ``restore`` reads into either engine.

        It writes contact by contact, each as of one moment, while others read and
        write. ``docs/backup_and_moving.md`` describes a line; the last line counts the others, so
        that an incomplete file is recognised.

        Args:
            out: the file to write, or a binary stream.
            vectors: include the facts' vectors, so that restoring needs no model.
            keys: include the store's secrets: the key that ids are made with and the hash key.
                For moving a store; keep the file safe.
            overwrite: replace the file if it exists.
            on_progress: called with how many more contacts were written.

        Raises:
            InvalidRequestError: nothing is known of the contact, or ``out`` is not a file.
            ConfigurationError: the file cannot be written, or exists already.
            GraphConflictError: a contact is written to without a pause.
        """
        from reconciler.bootstrap import export

        return export(
            self._services,
            out,
            self._filter,
            vectors=vectors,
            keys=keys,
            overwrite=overwrite,
            on_progress=on_progress,
        )

    def import_from(
        self,
        system: PeerSystem,
        source: str | Path,
        *,
        contact_from: str | None = None,
        source_kind: AnySourceKind = SourceKind.OPERATOR,
        username: str = "neo4j",
        password: str = "",
        database: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Import the records of another memory system, through gate and reconciler.

        A contact's memory takes all records as its own; an agent's needs the contact in each.

        The whole source is read before anything is written. Records are imported oldest first; what
        has ended there is kept as history. Another run imports only what is new or has changed.

        Args:
            system: ``mem0``, ``graphiti``, ``neo4j-agent-memory`` or ``langmem``.
            source: its export, or the URI of the Neo4j that it writes to.
            contact_from: the key of a record that names the contact, with dots between keys; None
                for ``user_id``, ``group_id``, ``user`` or ``namespace.last``, as the system has it.
            source_kind: the source that a record counts as; it decides the trust.
            username: for the Neo4j source.
            password: for the Neo4j source.
            database: of the Neo4j source; None for its default.
            on_progress: called with how many more records were processed.

        Raises:
            InvalidRequestError: the system is unknown, the source is not its export or is cut off,
                or a record does not name its contact; nothing was written.
            ConfigurationError: the Neo4j source cannot be reached.
        """
        check_callable(on_progress=on_progress)
        if self._is_of_a_contact and contact_from is not None:
            raise InvalidRequestError("give either a contact or contact_from, not both")
        if contact_from is not None and not isinstance(contact_from, str):
            raise InvalidRequestError(
                f"contact_from must be a key, not {type(contact_from).__name__}"
            )
        peer = self._services.open_peer(
            system,
            str(source),
            contact_id=self._contact_id,
            contact_from=contact_from or "",
            source_kind=source_kind_of(source_kind),
            username=username,
            password=password,
            database=database,
        )
        named = ("tenant", "agent_id", "contact_id")[: 3 if self._is_of_a_contact else 2]
        defaults = {name: getattr(self._scope, name) for name in named}
        return self._services.peer_import.run(peer, defaults, on_progress)

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


def _is_replayable(decision: Decision) -> bool:
    """Whether the rule decided it, on texts that are still there.

    Thresholds change no decision of the gate, and none about a note that was over already.
    """
    from reconciler.domain.records.erasures import ERASED

    by_hand = (DecidedBy.GATE, DecidedBy.AMENDMENT)
    is_by_rule = decision.action.is_reconciled and decision.decided_by not in by_hand
    texts = (decision.text, *(fact.text for fact in decision.compared_with))
    return is_by_rule and not decision.is_over and ERASED not in texts


def _place(after: object) -> tuple[datetime, str] | None:
    """The place of a decision or a job among others: its time and its id."""
    if after is None:
        return None
    if not isinstance(after, tuple) or len(after) != 2:
        raise InvalidRequestError(
            "after must be a pair, the time and the id of the last item of the page before, such "
            "as (decision.at, decision.decision_id)"
        )
    at, item_id = after
    check_identifier("after", item_id, InvalidRequestError)
    return utc("after", at), item_id


def _place_of_a_dispute(after: object) -> tuple[datetime, str, str]:
    """The place of a dispute among others: its time, the id of its first fact, and its contact."""
    if not isinstance(after, tuple) or len(after) != 3:
        raise InvalidRequestError(
            "after must be (dispute.opened_at, dispute.facts[0].fact_id, "
            "dispute.scope.contact_id) of the last dispute of the page before"
        )
    at, fact_id, contact_id = after
    for part in (fact_id, contact_id):
        check_identifier("after", part, InvalidRequestError)
    return utc("after", at), fact_id, contact_id


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


def positive(name: str, value: int) -> int:
    """The number.

    Raises:
        InvalidRequestError: it is no whole number from 1.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LIMIT_MAX:
        raise InvalidRequestError(f"{name} must be a whole number from 1 to {_LIMIT_MAX}")
    return value
