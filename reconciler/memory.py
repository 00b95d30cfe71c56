"""The facade: one object that opens a memory and offers everything it can do. Decides nothing.

What only some of its calls need, they import: whoever reads a history waits for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import islice
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar, Unpack

from reconciler.class_calls import class_call
from reconciler.domain.records.choices import (
    check_callable,
    check_flags,
    check_kind,
    file_path,
    one_of,
)
from reconciler.domain.records.kinds import (
    OPERATOR_DOOR,
    Category,
    DecidedBy,
    Disposal,
    GateReason,
    JobState,
    Relation,
    SourceKind,
)
from reconciler.domain.records.notes import (
    TEXT_LENGTH_MAX,
    Note,
    check_text,
    not_in_the_future,
    source_kind_of,
    unit_interval,
    utc,
)
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import (
    ConfigurationError,
    GraphClosedError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
)
from reconciler.forks import Maker
from reconciler.ports.arbiter import NO_BATCHES, BatchState

if TYPE_CHECKING:
    from pathlib import Path

    from reconciler.bootstrap import Services
    from reconciler.domain.recalling.briefing import Briefing
    from reconciler.domain.recalling.current_values import SlotValue
    from reconciler.domain.recalling.filtering import FilterFields
    from reconciler.domain.recalling.recalled import Recalled
    from reconciler.domain.records.archives import Backup, ExportReport, RestoreReport
    from reconciler.domain.records.assessment import Assessment
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.decisions import Archived, Decision
    from reconciler.domain.records.erasures import Erasure
    from reconciler.domain.records.evidence import FactEvidence
    from reconciler.domain.records.facts import (
        Contact,
        Dispute,
        ExpiringFact,
        FactHistory,
        FoundFact,
        RefusalCount,
    )
    from reconciler.domain.records.jobs import Job, QueueReport, Stage
    from reconciler.domain.records.model_moves import ModelMove, ReembedReport
    from reconciler.domain.records.sessions import SessionRecord, Turn
    from reconciler.domain.review.explanation import Explanation
    from reconciler.domain.review.health import HealthReport
    from reconciler.domain.review.replay import Replayed
    from reconciler.domain.tasks.task_states import TaskState
    from reconciler.domain.tasks.tasks import Task
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.ports.graph import EngineDescription
    from reconciler.service.sessions.extraction import MemoryExtractor
    from reconciler.service.sessions.extraction_worker import ExtractionWorker, WorkerThread
    from reconciler.service.stores.archive_store import ContactFilter
    from reconciler.service.tasks.memory_context import MemoryContext
    from reconciler.service.tools.agent_tools import AgentTools
    from reconciler.service.writing.doors import NoteFields, SlotFields
    from reconciler.service.writing.note_import import ImportReport
    from reconciler.service.writing.rejudging import Rejudged
    from reconciler.settings import Settings

__all__ = ["ContactMemory", "Memory", "note_to_check"]

PROPOSAL_DOOR = "proposal"
_NO_ARBITER = "no arbiter is configured, so there is nobody to ask; docs/judges.md says how"
_LIMIT_MAX = 1_000_000
_DAYS_MAX = 36_500
E = TypeVar("E", bound=StrEnum)
R = TypeVar("R")


class Memory:
    """An open memory: what an agent's builder holds.

    Example::

        with Memory.open() as memory:
            memory.add_contact_note("crm", "alice", "Lives in Pune.")
            memory.recall("crm", "alice", "Where does she live?")

    Safe to share between threads. Open it once and keep it: the model is loaded once, at the first
    note or recall, or from the opening on (``warm_up``).
    """

    def __init__(self, services: Services) -> None:
        self._opened = services
        self._is_closed = False
        self._maker = Maker()
        self._worker_threads: list[WorkerThread] = []

    @class_call
    def open(
        cls,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        arbiter: Arbiter | None = None,
        extractor: Extractor | None = None,
        clock: Callable[[], datetime] | None = None,
        migrate: bool = False,
        warm_up: bool = False,
        must_exist: bool = False,
        **arguments: Any,
    ) -> Self:
        """Open the memory that the settings describe; a new store is made ready by itself.

        Args:
            settings: all of them; None reads them from arguments, environment and files.
            embedder: instead of the configured one; the caller closes it.
            arbiter: instead of the configured one; the caller closes it.
            extractor: instead of the configured one; the caller closes it.
            clock: the time now, UTC-aware, for tests; None for this machine's.
            migrate: bring a store of an older schema up to date instead of refusing it.
            warm_up: when the model is loaded. False loads it at the first note or recall, which
                waits for it; what embeds nothing never loads it. True begins at once, in a thread
                beside the opening, and waits for it no longer than that: ``Memory.warm_up`` waits
                until it is ready, and raises what went wrong.
            must_exist: refuse a place where there is no memory yet, and make none. Who asks for
                that only reads: what writes, and its files, are looked at when first needed.
            **arguments: single settings, as ``load_settings`` takes them.

        Raises:
            ConfigurationError: a setting, the password or the database is wrong, or the model is
                not on this machine. Whether its files can be loaded is not looked at here.
            GraphUnavailableError: the server does not answer.
            GraphLockedError: another process has the embedded file open.
            SchemaError: the store is of another schema version or another model.
        """
        check_flags(migrate=migrate, warm_up=warm_up, must_exist=must_exist)
        chosen = _settings_of("Memory.open", settings, arguments)
        _check_parts(clock, embedder=embedder, arbiter=arbiter, extractor=extractor)
        from reconciler.bootstrap import build_services

        return cls(
            build_services(
                chosen,
                embedder=embedder,
                arbiter=arbiter,
                extractor=extractor,
                clock=clock,
                migrate=migrate,
                warm_up=warm_up,
                must_exist=must_exist,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine, the model and the connections; calling it again does nothing.

        Workers in this process stop first; their jobs go back to the queue. In a forked child it
        does nothing: what was opened before the fork is the parent's.
        """
        if not self._maker.is_here:
            return
        self._is_closed = True
        self.stop_workers()
        self._opened.closing.close()

    @property
    def _services(self) -> Services:
        """The parts of an open memory.

        Raises:
            GraphClosedError: this memory was closed, or opened before this process was forked.
        """
        self._maker.check()
        if self._is_closed:
            raise GraphClosedError("this memory was closed by this program; open it again")
        return self._opened

    @property
    def settings(self) -> Settings:
        """The settings that this memory was opened with."""
        return self._opened.settings

    @property
    def embedding_model(self) -> str:
        """Name and fingerprint of the model whose vectors this store holds."""
        return self._services.embedder.model_id

    def warm_up(self) -> float:
        """Wait until the model is loaded and has embedded once; returns the seconds of that wait.

        It also loads what reads and judges notes, and has the engine plan a recall, so that neither
        the first note nor the first recall has to wait for that.

        Raises:
            ConfigurationError: the model cannot be loaded; the message says what to install or set.
            EmbeddingError: the model was loaded and failed.
            GraphError: the engine is unavailable.
        """
        seconds = self._services.embedder.warm_up()
        self._services.live_door.warm_up()
        self._services.recall.warm_up()
        return seconds

    def describe(self) -> EngineDescription:
        """Which engine keeps this memory, and where. It asks the engine, so it is also a check."""
        return self._services.store.describe()

    def add_contact_note(
        self,
        agent_id: str,
        contact_id: str,
        text: str,
        *,
        tenant: str | None = None,
        **fields: Unpack[NoteFields],
    ) -> Decision:
        """Remember something about a contact; the decision says what was done with it.

        The write gate comes first. What the contact or an operator said is reconciled at once,
        unless it is sensitive, not meant as it stands, or a directive; then it is held or refused,
        and ``answer`` says what to tell the agent's model. What was read from a text or a tool is
        only proposed here.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the note is about.
            text: one fact, 1 to 2,000 characters.
            tenant: the tenant; None for the configured one.
            **fields: optional fields beside the text; ``NoteFields`` documents them. By default
                ``source_kind`` is ``user_explicit``, and the gate judges ``importance`` from the
                words.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used; nothing was written.
            InvalidNoteError: the note cannot be used; nothing was written.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable; call again with the same key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        return self._services.live_door.add(
            self._scope(tenant, agent_id, contact_id), text, **fields
        )

    def relate(
        self,
        agent_id: str,
        contact_id: str,
        fact: str,
        *,
        replaces: Sequence[str] = (),
        repeats: str | None = None,
        ends: Sequence[str] = (),
        both_hold: Sequence[str] = (),
        reason: str | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """Say how a remembered fact relates to others, as a decision of its own.

        It is what the agent's model says, within the limits of any note: a less trusted fact
        replaces no more trusted one, and an older one no newer one. ``revert`` undoes it. Facts are
        named by id or by handle.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the facts are about.
            fact: the fact that this is about.
            replaces: facts whose place it takes, at most three together with ``ends``.
            repeats: a fact that says the same; the two count as one from now on.
            ends: facts that are over, without it taking their place.
            both_hold: facts that hold beside it; a dispute between them is settled.
            reason: why, in one sentence; None to say no more than what is related.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
            UnknownFactError: the contact has no such fact, or two have the handle.
            InvalidRequestError: a fact has ended, nothing is related, or nothing may change by it.
        """
        scope, door = self._scope(tenant, agent_id, contact_id), self._services.live_door
        fact_id = door.fact_id(scope, fact)
        relations = door.relations(scope, replaces, repeats, ends, both_hold)
        if relations is None:
            raise InvalidRequestError(
                "say how it relates: give replaces, repeats, ends or both_hold"
            )
        return self._services.relating.relate(
            scope,
            fact_id,
            relations,
            reason=reason,
        )

    def contact(
        self, agent_id: str, contact_id: str, *, tenant: str | None = None
    ) -> ContactMemory:
        """This memory bound to one contact, who then need not be named at each call.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: the contact; one about whom nothing is known has an empty memory.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
        """
        return ContactMemory(self, self._scope(tenant, agent_id, contact_id))

    def agent_tools(
        self,
        agent_id: str,
        contact_id: str,
        *,
        tenant: str | None = None,
        session_id: str | None = None,
        can_recall: bool = True,
        budget_tokens: int | None = None,
        trusted_tools: Sequence[str] | None = None,
        colleague: str | None = None,
    ) -> AgentTools:
        """The tools that an agent's model may call: to note, to relate notes, and to recall.

        They are bound to this contact and this conversation; a model chooses neither, nor who
        proposed a note.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: the contact that it talks with.
            tenant: the tenant; None for the configured one.
            session_id: the current conversation. Repetitions in one conversation do not
                corroborate each other; with None, all of the agent's notes count as one
                conversation.
            can_recall: whether there is ``recall_contact``.
            budget_tokens: the most tokens that one recall returns; None for 500.
            trusted_tools: systems of your own, such as ``("erp",)``: what the model notes as the
                word of one is believed, under the trust of an approved document and with the
                lifetime of a tool's fact. None for those of the settings (``gate.trusted_tools``).
            colleague: who of your own people is in the conversation; what the model notes as
                theirs counts as an operator's word. None where nobody is.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidNoteError: the session's id cannot be used.
            InvalidRequestError: the budget is below 1, or a name cannot be used.
        """
        from reconciler.service.tools.agent_tools import BUDGET_TOKENS, AgentTools

        check_flags(can_recall=can_recall)
        contact = self.contact(agent_id, contact_id, tenant=tenant)
        budget = BUDGET_TOKENS if budget_tokens is None else budget_tokens
        return AgentTools(
            door=self._services.live_door,
            relate=self._services.relating.relate,
            refuse=self._services.relating.refuse,
            siblings=self._services.siblings_of,
            recall=contact.recall if can_recall else None,
            briefing=contact.briefing,
            scope=contact.scope,
            session_id=session_id,
            budget_tokens=_positive("budget_tokens", budget),
            trusted_tools=self.settings.gate.trusted_tools or ()
            if trusted_tools is None
            else trusted_tools,
            colleague=colleague,
            has_answered=self._services.records.has_answered,
        )

    def recall(
        self,
        agent_id: str,
        contact_id: str,
        query: str = "",
        *,
        tenant: str | None = None,
        limit: int | None = None,
        budget_tokens: int | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """The live facts about a contact that fit a query best, and the standing constraints.

        Facts are chosen by closeness in meaning and in words, and by the attribute that the query
        asks for, some at a time, and the chosen ones are ordered by 0.7 similarity + 0.2 recency +
        0.1 importance, unless the settings differ. What is not near is left out. Without an
        embedder words alone count, and facts that hold none of the query's are left out. An empty
        query ranks all live facts.

        What is past its lifetime counts as old, and says ``may_be_outdated``; it is left out where
        the settings say ``life.expired = "hidden"``, where it is volatile and where its end was
        known.

        What orders or forbids something follows them, marked as standing, whatever the query; limit
        and floor do not apply to it. The list's ``outcome`` says whether facts fit, nothing fits,
        or more fit than it holds.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: about whom.
            query: what to look for, in words.
            tenant: the tenant; None for the configured one.
            limit: at most this many, not counting standing ones; None for the configured number,
                or, with a budget, for as many as fit.
            budget_tokens: as many facts as fit prompt lines of this many tokens, at about four
                characters a token; standing ones are counted first and take a fifth at most, but
                for those that keep the contact safe.
            as_of: what the memory knew at that instant, time-zone aware; None for now.
            valid_at: what was true in the world at that instant, time-zone aware, including facts
                that a newer one has replaced since; later than now, what is to hold then, as far
                as is known. None for what is true now.
            **filters: which facts may be returned; ``RecallFilter`` documents them. Attribute and
                subject may be given by any name that the attribute book knows.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the query or a filter cannot be used, limit or budget is below 1,
                an instant has no time zone, or ``as_of`` has not come yet.
        """
        if not isinstance(query, str) or len(query) > TEXT_LENGTH_MAX or query.strip():
            check_text("query", query, TEXT_LENGTH_MAX)
        scope = self._scope(tenant, agent_id, contact_id)
        from reconciler.service.recall import filter_of

        wanted = filter_of(filters, lambda: self._services.attributes)
        budget = None if budget_tokens is None else _positive("budget_tokens", budget_tokens)
        # No line is as short as a token, so that as many facts as tokens are always enough.
        usual = budget or self.settings.recall.limit
        count = usual if limit is None else _positive("limit", limit)
        knew_at = self._instant("as_of", as_of)
        true_at = None if valid_at is None else utc("valid_at", valid_at)
        if knew_at or true_at:
            return self._services.past_recall.recall(
                scope, query.strip(), count, wanted, budget, as_of=knew_at, valid_at=true_at
            )
        found = self._services.recall.recall(scope, query.strip(), count, wanted, budget)
        self._services.use_trace.note(hit.fact.fact_id for hit in found)
        return found

    def briefing(
        self,
        agent_id: str,
        contact_id: str,
        query: str = "",
        *,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> Briefing:
        """What to know and what to ask when a conversation opens.

        Facts that fit the query, or without one those that matter most, as many as the limit; what
        stands; what is new since the contact was last asked about; and the questions that the
        contact may answer. ``confirm``, ``reject`` and ``resolve`` take the answers. Some are about
        what may have changed since it was said: to say that again renews it. A model is given the
        two questions that matter most.

        Raises:
            As ``recall``.
        """
        from reconciler.domain.recalling.briefing import (
            ASKED_MAX,
            Briefing,
            changed_since_last_time,
            is_for_the_contact,
            most_important_first,
        )

        contact = self.contact(agent_id, contact_id, tenant=tenant)
        # As kept, for what this process has in mind does not say when others recalled it.
        kept = self._services.store.list_facts(contact.scope)
        conflicts = self._services.store.list_conflicts(contact.scope)
        least, book = self.settings.recall.confidence_min, self._services.attributes
        profile = self._services.records.values_of(kept, conflicts, least, book)
        if query.strip() if isinstance(query, str) else query:
            facts = contact.recall(query, limit=limit)
        else:
            count = self.settings.recall.limit if limit is None else _positive("limit", limit)
            known = self._services.recall.everything(contact.scope, kept, conflicts)
            facts = most_important_first(known, profile, count)
            self._services.use_trace.note(hit.fact.fact_id for hit in facts)
        pending = self._services.records.pending([contact.scope])
        return Briefing(
            facts=facts,
            profile=tuple(profile),
            changed=changed_since_last_time(kept, self._services.clock()),
            pending=tuple(item for item in pending if is_for_the_contact(item)),
            renewals=tuple(self._services.records.to_renew(contact.scope, ASKED_MAX)),
        )

    def value(
        self,
        agent_id: str,
        contact_id: str,
        attribute: str,
        *,
        subject: str | None = None,
        tenant: str | None = None,
    ) -> list[SlotValue]:
        """An attribute's current value, or several where it holds many or is in dispute.

        The newest comes first. It is empty where nobody named a value, or where the last thing said
        is that it no longer holds.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: about whom.
            attribute: any name of it that the attribute book knows, for example ``city``.
            subject: whom or what it is about, for example ``wife``; None for the contact.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: attribute or subject cannot be used.
        """
        if attribute is None:
            raise InvalidRequestError("name an attribute, for example city")
        asked = self._services.attributes.slot(subject=subject, attribute=attribute)
        if asked is None:
            raise InvalidRequestError(f"attribute {attribute!r} names nothing; name it in words")
        wanted = (asked.subject, asked.attribute)
        values = self.profile(agent_id, contact_id, tenant=tenant)
        return [current for current in values if (current.subject, current.attribute) == wanted]

    def profile(
        self, agent_id: str, contact_id: str, *, tenant: str | None = None
    ) -> list[SlotValue]:
        """The current values of all of a contact's slots, the contact's own first, by attribute.

        Each says since when, whose word it is, how often it was said, and whether it is disputed.
        A limit, such as an allergy, ``holds_until_settled``.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        least, known = self.settings.recall.confidence_min, self._services.attributes
        return self._services.records.current_values(scope, least, known)

    def recall_about(
        self,
        agent_id: str,
        contact_id: str,
        name: str,
        *,
        all_contacts: bool = False,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[FoundFact]:
        """The live facts that mention somebody or something by name, as whole words.

        Facts about the name come first, then those that have it as their value, then those whose
        words mention it; of equals the one said last. Similarity does not count: a question
        about ACME finds no other company.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whose facts.
            name: the name as people write it; "ACME Corp." also finds "ACME".
            all_contacts: also find facts of the agent's other contacts. For an operator only: one
                contact must not hear what another said.
            tenant: the tenant; None for the configured one.
            limit: at most this many; None for the configured number.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the name cannot be used, or the limit is below 1.
        """
        check_flags(all_contacts=all_contacts)
        check_text("name", name, TEXT_LENGTH_MAX)
        scope = self._scope(tenant, agent_id, contact_id)
        count = self._limit(limit)
        found = self._services.finding.about(scope, name, count, all_contacts=all_contacts)
        if not all_contacts:  # an operator who looks around is no use of a fact
            self._services.use_trace.note(hit.fact.fact_id for hit in found)
        return found

    def find(
        self,
        agent_id: str,
        query: str,
        *,
        tenant: str | None = None,
        limit: int | None = None,
        **filters: Unpack[FilterFields],
    ) -> list[FoundFact]:
        """The live facts of all of an agent's contacts that are nearest to a query. For operators.

        On Neo4j a vector index finds them, approximately. Where it does not find enough, and on the
        embedded engine, every fact of the agent is compared.

        Args:
            agent_id: whose contacts.
            query: what to look for, 1 to 2,000 characters.
            tenant: the tenant; None for the configured one.
            limit: at most this many; None for the configured number.
            **filters: as ``recall`` takes them; ``min_score`` is the raw cosine here.

        Raises:
            InvalidScopeError: tenant or agent cannot be used.
            InvalidRequestError: the query or a filter cannot be used, the limit is below 1, or
                there is no embedder.
        """
        check_text("query", query, TEXT_LENGTH_MAX)
        from reconciler.service.recall import filter_of

        scope = self._scope(tenant, agent_id, "any")
        wanted = filter_of(filters, lambda: self._services.attributes)
        return self._services.finding.nearest(scope, query, self._limit(limit), wanted)

    def _limit(self, limit: int | None) -> int:
        return self.settings.recall.limit if limit is None else _positive("limit", limit)

    def history(
        self,
        agent_id: str,
        contact_id: str,
        *,
        fact_id: str | None = None,
        at: datetime | None = None,
        after: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """What superseded what, and why: a contact's chains, or the one that a fact is in.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the facts are about.
            fact_id: only the chain that this fact is in.
            at: the memory as it was at that instant, time-zone aware, rebuilt from the recorded
                decisions. None for now.
            after: only the chains that come after the one that this fact is in: the last one of
                the page before.
            tenant: the tenant; None for the configured one.
            limit: at most this many chains; None for all.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the instant has no time zone, or has not come yet, or the limit is
                below 1.
            UnknownFactError: the contact has no fact of that id, or had none then.
        """
        records, instant, count = self._services.records, self._instant("at", at), _at_most(limit)
        scope = self._scope(tenant, agent_id, contact_id)
        if fact_id is not None:
            return [records.history_of(scope, fact_id, instant)]
        return records.history(scope, instant, after=after, limit=count)

    def evidence(
        self, agent_id: str, contact_id: str, fact_id: str, *, tenant: str | None = None
    ) -> FactEvidence:
        """What a fact rests on: each turn, who said it, when and where, and which decision used it.

        If the contact never said it, ``statement`` says so, and whose words they are instead.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the fact is about.
            fact_id: the fact, live or ended; ``history`` and ``recall`` give ids.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownFactError: the contact has no fact of that id; another contact's gives the same
                error.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.fact_evidence.of_fact(scope, fact_id)

    def evidence_about(
        self, agent_id: str, contact_id: str, about: str, *, tenant: str | None = None
    ) -> list[FactEvidence]:
        """What each fact about something rests on, as ``evidence``; the live ones first.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the facts are about.
            about: an attribute's name, ``city`` for example, or words that all occur in the fact.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: ``about`` is blank.
        """
        check_text("about", about, TEXT_LENGTH_MAX)
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.fact_evidence.about(scope, about.strip())

    def decisions(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        disposal: Disposal | str | None = None,
        reason: GateReason | str | None = None,
        door: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Decision]:
        """The newest decisions, refusals included, with what each was compared with.

        Args:
            agent_id: whose decisions.
            contact_id: only those about one contact; None for all of the agent's.
            disposal: only those that the gate admitted, rejected, or held to confirm or consent.
            reason: only those with this reason of the gate, for example ``secret``.
            door: only those that came through ``live``, ``import``, ``proposal`` or ``operator``.
            since: only those made at or after it, time-zone aware.
            until: only those made before it, time-zone aware.
            tenant: None for the configured one.
            limit: at most this many.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1, or a filter is unknown or a naive time.
        """
        if door is not None:
            check_identifier("door", door, InvalidRequestError)
        from reconciler.service.stores.memory_store import DecisionFilter

        wanted = DecisionFilter(
            disposal=_one_of(Disposal, "disposal", disposal),
            reason=_one_of(GateReason, "reason", reason),
            door=door,
            since=None if since is None else utc("since", since),
            until=None if until is None else utc("until", until),
        )
        count, records = _positive("limit", limit), self._services.records
        if contact_id is None:
            return records.newest_decisions(self._scope(tenant, agent_id, "any"), count, wanted)
        return records.decisions([self._scope(tenant, agent_id, contact_id)], count, wanted)

    def refusals(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[RefusalCount]:
        """How often the gate refused something, by contact and reason.

        Args:
            agent_id: whose contacts.
            contact_id: only this one; None for all of the agent's.
            tenant: None for the configured one.
            limit: at most this many counts; None for all.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1.
        """
        counted = self._services.records.refusals(self._scopes(tenant, agent_id, contact_id))
        return list(islice(counted, _at_most(limit)))

    def expiring(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        days: float = 30,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[ExpiringFact]:
        """The facts whose lifetime ends within this many days, the next first, with a question.

        Those that are over and still told, with a mark, come before them.
        If the answer is yes, add the same note again, which renews the fact; if no, ``revoke`` it.

        Args:
            agent_id: whose facts.
            contact_id: only those about one contact; None for all of the agent's.
            days: from now on, above 0.
            tenant: None for the configured one.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: days are not above 0, or too many, or the limit is below 1.
        """
        is_number = isinstance(days, int | float) and not isinstance(days, bool)
        if not is_number or not 0 < days <= _DAYS_MAX:
            raise InvalidRequestError(f"days must be a number above 0, at most {_DAYS_MAX:,}")
        scopes = self._scopes(tenant, agent_id, contact_id)
        return self._services.records.expiring(scopes, days, _at_most(limit))

    def health(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> HealthReport:
        """The health of an agent's memory in numbers: duplicates, stale facts, open questions.

        Each contact's facts are read and compared with each other, so this takes a while.

        Args:
            agent_id: whose memory.
            contact_id: only that of one contact; None for all of the agent's.
            tenant: None for the configured one.
            on_progress: called with how many more contacts were read.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
        """
        check_callable(on_progress=on_progress)
        whose = self._scope(tenant, agent_id, "any")
        scopes = self._scopes(tenant, agent_id, contact_id)
        return self._services.health.report(whose, scopes, on_progress)

    def rejudge(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> Iterator[Rejudged]:
        """Ask the arbiter about what was decided while it did not answer, and amend it.

        That is what was decided over budget, during an outage, or on an answer that made no
        sense. Each is asked about once, the newest first, within the budget of a minute, which this
        waits for. What the arbiter says is a decision of its own, which ``revert`` undoes.

        Args:
            agent_id: whose memory.
            contact_id: only that of one contact; None for all of the agent's.
            tenant: None for the configured one.

        Returns:
            What became of each, as it is taken.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: no arbiter is configured.
        """
        scopes = self._scopes(tenant, agent_id, contact_id)
        if self._services.rejudging is None:
            raise InvalidRequestError(_NO_ARBITER)
        return self._services.rejudging.run(scopes)

    def rejudge_in_batches(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        batch_id: str | None = None,
        wait_hours: float = 24.0,
        on_wait: Callable[[BatchState], None] = lambda _: None,
    ) -> Iterator[Rejudged]:
        """``rejudge`` by batches of the vendor, at half the price and within a day.

        All questions are sent at once, each as ``rejudge`` would ask it alone, and no budget
        counts. A question that changes because an earlier answer changed the memory is asked in
        the next batch. What has no usable answer stays unjudged, and is asked again next time.

        Args:
            agent_id: whose memory.
            contact_id: only that of one contact; None for all of the agent's.
            tenant: None for the configured one.
            batch_id: take up this batch, which an earlier call has sent; None for a new one.
            wait_hours: how long to wait, for all batches together.
            on_wait: told of a batch when it is sent, and each time the server says how far it is.

        Returns:
            What became of each, as it is taken; what stays unjudged last.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: no arbiter is configured; its server has no batches, does not know
                the one, or rejected it.
            ArbiterUnavailableError: the server was away for long, or was not done in time. A batch
                that was sent is kept there; call again with its id.
        """
        check_callable(on_wait=on_wait)
        scopes = self._scopes(tenant, agent_id, contact_id)
        if self._services.rejudging is None:
            raise InvalidRequestError(_NO_ARBITER)
        if self._services.batch_rejudging is None:
            raise InvalidRequestError(NO_BATCHES)
        return self._services.batch_rejudging.run(
            scopes, batch_id=batch_id, wait_hours=wait_hours, on_wait=on_wait
        )

    def health_of_all(
        self, on_progress: Callable[[int], None] = lambda _: None
    ) -> list[HealthReport]:
        """``health`` of every agent of the store, of all tenants; for an operator's monitoring.

        Args:
            on_progress: called with how many more contacts were read.
        """
        check_callable(on_progress=on_progress)
        return [
            self.health(agent_id, tenant=tenant, on_progress=on_progress)
            for tenant, agent_id in self._services.health.agents()
        ]

    def pending(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        limit: int | None = None,
        with_silent: bool = False,
    ) -> list[Decision | Dispute]:
        """What waits for an answer; ``question`` is what to ask.

        First the held decisions, which ``confirm`` and ``reject`` answer, then the disputes, which
        ``resolve`` settles; each newest first.

        Args:
            agent_id: whose questions.
            contact_id: only those about one contact; None for all of the agent's.
            tenant: None for the configured one.
            limit: at most this many; None for all.
            with_silent: also what waits without a question until it is said again.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1.
        """
        scopes = self._scopes(tenant, agent_id, contact_id)
        check_flags(with_silent=with_silent)
        waiting = self._services.records.pending(scopes, with_silent=with_silent)
        return list(islice(waiting, _at_most(limit)))

    def disputes(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Dispute]:
        """Facts that contradict each other and are not settled, each contact's newest first.

        ``question`` is what to ask, and ``resolve`` takes the answer.

        Args:
            agent_id: whose disputes.
            contact_id: only those about one contact; None for all of the agent's.
            tenant: None for the configured one.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1.
        """
        found = self._services.records.disputes(self._scopes(tenant, agent_id, contact_id))
        return list(islice(found, _at_most(limit)))

    def resolve(
        self,
        agent_id: str,
        contact_id: str,
        keep: str | Sequence[str],
        *,
        by: str,
        reason: str,
        tenant: str | None = None,
    ) -> Decision:
        """Settle a dispute: the facts to keep hold, and those in dispute with them end, on record.

        Another call with the same facts returns the first decision, marked ``replayed``.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom it is about.
            keep: the id of the fact that holds; several ids if all of them hold and the dispute is
                over. If a fact has been said again since, its old id still works.
            by: ``contact`` with the contact's own answer, or an operator's name; never an agent.
            reason: why, in one sentence.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
            UnknownFactError: the contact has no such fact.
            InvalidAnswerError: the facts are in no open dispute, one has ended, or it is not this
                person's to answer.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        if not isinstance(keep, Iterable):
            raise InvalidRequestError("keep must be a fact's id, or a list of ids")
        kept = (keep,) if isinstance(keep, str) else tuple(keep)
        candidate = self._word_of(by, scope, reason)
        return self._services.disputes.resolve(candidate, kept, OPERATOR_DOOR)

    def amend(
        self,
        agent_id: str,
        contact_id: str,
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
        tenant: str | None = None,
    ) -> Decision:
        """Correct a fact, as an operator: the new fact replaces it, whoever said it, on record.

        An operator's plain note ranks below the contact's word and ends nothing of theirs; this
        does. What the contact says later ends the amendment like any other fact.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom it is about.
            text: what is true, in one sentence, 1 to 2,000 characters.
            fact_id: the live fact to correct; or give ``attribute``.
            subject: whom or what the attribute is about; None for the contact.
            attribute: the attribute to correct, for example ``city``; not with ``fact_id``.
            value: the attribute's value now; required with an attribute.
            single_valued: for an unknown attribute, whether it holds one value at a time.
            by: the operator's name.
            reason: why, in one sentence.
            said_at: since when it is true, time-zone aware; None for now.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
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
        return self._services.amendments.amend(
            self._scope(tenant, agent_id, contact_id),
            text,
            slot,
            fact_id=fact_id,
            by=by,
            reason=reason,
            said_at=said_at,
            door=OPERATOR_DOOR,
        )

    def confirm(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        by: str,
        *,
        text: str | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """Store a held note as the word of whoever said yes; once, however often it is called.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom it is about.
            decision_id: the held decision.
            by: ``contact`` with the contact's own answer, or an operator's name; never
                whoever proposed it.
            text: the fact in the words of the answer; None for the words of the question.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownDecisionError: the contact has no such decision; another contact's gives the same
                error.
            InvalidAnswerError: nothing waits under that id, it lapsed, was answered differently, or
                this person may not answer it.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.confirmations.confirm(scope, decision_id, by, text)

    def reject(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        by: str,
        *,
        tenant: str | None = None,
    ) -> Decision:
        """Record the answer no: nothing is stored, and the question is not asked again.

        Raises:
            As ``confirm``.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.confirmations.reject(scope, decision_id, by)

    def withdraw(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        by: str,
        *,
        tenant: str | None = None,
    ) -> Decision:
        """Withdraw a held note, so that nobody is asked; it may be proposed again.

        Raises:
            As ``confirm``.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.confirmations.withdraw(scope, decision_id, by)

    def propose(self, candidate: Candidate) -> Decision:
        """Record how the gate disposes of a candidate. Writes no fact, even if it is admitted.

        Raises:
            InvalidNoteError: a text is too long, its time lies in the future, it names nobody who
                confirmed it, its evidence is not what is stored under its ids, or its
                proposer's name is reserved.
            GraphUnavailableError: the engine stayed unavailable.
        """
        from reconciler.domain.records.candidates import Candidate

        check_kind("candidate", candidate, Candidate, InvalidNoteError)
        candidate = candidate.as_typed()
        now, times = self._services.clock(), [evidence.said_at for evidence in candidate.evidence]
        for at in (candidate.note.said_at, candidate.note.holds_from, *times):
            not_in_the_future(at, now)
        return self._services.gate.propose(candidate, PROPOSAL_DOOR)

    def commit(
        self, agent_id: str, contact_id: str, decision_id: str, *, tenant: str | None = None
    ) -> Decision:
        """Write the fact of an admitted proposal; once, however often it is called.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownDecisionError: the contact has no such decision.
            InvalidRequestError: it is not a proposal that the gate admitted.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.gate.commit(scope, decision_id, PROPOSAL_DOOR)

    def check_policy(
        self,
        text: str,
        *,
        agent_id: str = "any",
        source_kind: SourceKind | str = SourceKind.USER_EXPLICIT,
        category: Category | str | None = None,
        topic: str | None = None,
    ) -> Assessment:
        """What the write gate would find in a note, check by check; reads and writes nothing.

        Raises:
            InvalidNoteError: the note cannot be used.
        """
        candidate = note_to_check(
            text, agent_id=agent_id, source_kind=source_kind, category=category, topic=topic
        )
        return self._services.judge(candidate).assessment

    def revoke(
        self,
        agent_id: str,
        contact_id: str,
        fact_id: str,
        *,
        by: str,
        reason: str,
        never: bool = False,
        tenant: str | None = None,
    ) -> Decision:
        """End a fact without replacing it; its history is kept.

        Args:
            agent_id: whose memory.
            contact_id: about whom.
            fact_id: the fact, live, expired or archived.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            never: whether it was never true, so that its interval becomes empty. What it once
                replaced stays ended; to undo that, ``revert`` the decision that wrote it.
            tenant: None for the configured one.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not revoke it.
            UnknownFactError: the contact has no fact of that id, or it has ended.
        """
        check_flags(never=never)
        scope = self._scope(tenant, agent_id, contact_id)
        candidate = self._word_of(by, scope, reason)
        return self._services.gate.revoke(candidate, fact_id, OPERATOR_DOOR, never=never)

    def revert(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        *,
        by: str,
        reason: str,
        and_later: bool = False,
        tenant: str | None = None,
    ) -> Decision:
        """Undo a decision: what it wrote no longer holds, and what it ended holds again.

        Facts that hold again get back their interval, evidence, counts and open conflicts. What was
        undone stays in the graph. A revert is a decision, so it can be reverted too. If the
        decision is undone already, the revert that did it is returned, marked ``replayed``.

        Args:
            agent_id: whose memory.
            contact_id: about whom.
            decision_id: the decision to undo.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            and_later: whether the later decisions that rest on it are undone too.
            tenant: None for the configured one.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not undo it.
            UnknownDecisionError: the contact has no decision of that id.
            RevertRefusedError: later decisions rest on it; the message lists them.
            InvalidRequestError: it changed no fact, or did not keep what it changed.
        """
        check_flags(and_later=and_later)
        scope = self._scope(tenant, agent_id, contact_id)
        candidate = self._word_of(by, scope, reason)
        return self._services.gate.revert(
            candidate, decision_id, OPERATOR_DOOR, and_later=and_later
        )

    def forget(
        self,
        agent_id: str,
        contact_id: str,
        *,
        fact_id: str | None = None,
        session_id: str | None = None,
        attribute: str | None = None,
        subject: str | None = None,
        by: str,
        reason: str,
        dry_run: bool = False,
        tenant: str | None = None,
    ) -> Erasure:
        """Erase what is known about a contact, or part of it, for good; it cannot be undone.

        Texts, vectors, values, spans, reasons, summaries and the contents of jobs and tasks are
        erased; ids, actions, counts and times stay. A fact is erased with everything that says the
        same. If it is interrupted, the same call finishes it. If something erased is said again, it
        is held with a question, which the contact's own yes settles.

        Args:
            agent_id: whose memory.
            contact_id: the contact; without one of the next three, everything is erased.
            fact_id: only this fact, whatever its state.
            session_id: only this session, and the facts that were learnt from it.
            attribute: only what is or ever was stored under it.
            subject: whom or what the attribute is about; None for the contact.
            by: who asks for it, ``contact`` or an operator's name.
            reason: why, in one sentence; it is kept, unless it repeats what is to be erased.
            dry_run: only report what would be erased, and change nothing.
            tenant: None for the configured one.

        Returns:
            The erasure with its receipt: what was removed, what was searched afterwards, and where
            traces of it may remain.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownContactError: nothing is known about the contact.
            InvalidAnswerError: this person may not ask for it.
            UnknownFactError, InvalidSessionError: the contact has no such fact or session.
            InvalidRequestError: more than one part is named, or one that cannot be used.
            GraphUnavailableError: the engine stayed unavailable or busy; call again.
        """
        from reconciler.domain.records.erasures import ErasureTarget

        check_flags(dry_run=dry_run)
        target = ErasureTarget(
            fact_id=fact_id, session_id=session_id, attribute=attribute, subject=subject
        )
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.erasures.forget(scope, target, by=by, reason=reason, dry_run=dry_run)

    def erasures(
        self,
        agent_id: str | None = None,
        contact_id: str | None = None,
        *,
        unfinished: bool = False,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Erasure]:
        """The erasures that were asked for, oldest first, and how far each one got.

        Args:
            agent_id: whose memory; None for all of the tenant's.
            contact_id: only about one contact.
            unfinished: only those that were interrupted and have to be finished.
            tenant: None for the configured one.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1.
        """
        check_flags(unfinished=unfinished)
        chosen = self.settings.tenant if tenant is None else tenant
        _checked_ids({"tenant": chosen, "agent_id": agent_id, "contact_id": contact_id})
        if agent_id is None and contact_id is not None:
            raise InvalidScopeError("contact_id needs agent_id too: a contact belongs to an agent")
        scopes = [] if contact_id is None else self._scopes(tenant, agent_id or "", contact_id)
        found = self._services.erasures.find(scopes, is_unfinished=unfinished)
        own = (
            erasure
            for erasure in found
            if erasure.scope.tenant == chosen and agent_id in (None, erasure.scope.agent_id)
        )
        return list(islice(own, _at_most(limit)))

    def finish_erasures(self) -> list[Erasure]:
        """Finish all interrupted erasures of the store; returns those that this call finished.

        Raises:
            GraphUnavailableError: the engine stayed unavailable or busy; call again.
        """
        found = self._services.erasures
        return [found.finish(erasure) for erasure in found.find([], is_unfinished=True)]

    def _word_of(self, by: str, scope: Scope, reason: str) -> Candidate:
        """Why a person, who is no agent, decides about what is known, as that person's word."""
        from reconciler.domain.records.candidates import CONTACT
        from reconciler.domain.records.persons import check_person
        from reconciler.service.writing.doors import own_evidence

        check_person(by, scope)
        check_text("reason", reason, TEXT_LENGTH_MAX)
        note = Note(
            scope=scope,
            text=reason,
            said_at=self._services.clock(),
            is_dated=False,
            source_kind=SourceKind.USER_EXPLICIT if by == CONTACT else SourceKind.OPERATOR,
        )
        return own_evidence(note, by)

    def archive(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        by: str = "operator",
        reason: str = "Nobody said or needed it for long.",
        floor: float | None = None,
        dry_run: bool = False,
        tenant: str | None = None,
    ) -> list[Archived]:
        """Archive faded facts: recall leaves them out, and they are live again once repeated.

        What fades, and how fast, follows from importance, from when it was last said, and from how
        often it was recalled. Instructions, confirmed facts, disputed facts and procedures
        are never archived; nothing is deleted. What is archived about a contact in one call is one
        decision, which ``revert`` undoes; ``unarchive`` makes one fact live again.

        Args:
            agent_id: whose facts.
            contact_id: only those about one contact; None for all of the agent's.
            by: the operator's name.
            reason: why, in one sentence.
            floor: archive facts whose weight is below this, 0 to 1; None for the configured one.
            dry_run: only report what would be archived.
            tenant: the tenant; None for the configured one.

        Returns:
            For each contact with facts to archive, those facts and the decision that archived them;
            no decision with ``dry_run``.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
            InvalidRequestError: the floor is not a number from 0 to 1.
            InvalidAnswerError: this person may not do it.
        """
        from reconciler.bootstrap import build_decay

        check_flags(dry_run=dry_run)
        if floor is not None:
            unit_interval("floor", floor)
        policy = build_decay(self.settings, floor)
        self._word_of(by, self._scope(tenant, agent_id, contact_id or "any"), reason)
        found: list[Archived] = []
        for scope in self._scopes(tenant, agent_id, contact_id):
            candidate = self._word_of(by, scope, reason)
            done = self._services.archiving.sweep(candidate, policy, OPERATOR_DOOR, dry_run=dry_run)
            found += [done] if done else []
        return found

    def unarchive(
        self,
        agent_id: str,
        contact_id: str,
        fact_id: str,
        *,
        by: str = "operator",
        reason: str = "It is needed again.",
        tenant: str | None = None,
    ) -> Decision:
        """Make an archived fact live again, as it was.

        Args:
            agent_id: whose memory.
            contact_id: about whom.
            fact_id: the archived fact.
            by: who decides, ``contact`` or an operator's name.
            reason: why, in one sentence.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError, InvalidNoteError: the arguments cannot be used.
            InvalidAnswerError: this person may not do it.
            UnknownFactError: the contact has no fact of that id.
            InvalidRequestError: it is not archived.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        candidate = self._word_of(by, scope, reason)
        return self._services.archiving.unarchive(candidate, fact_id, OPERATOR_DOOR)

    def decision(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str | None = None,
        *,
        idempotency_key: str | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """One decision about a contact, with what it was compared with.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the decision is about.
            decision_id: the decision; or give the key.
            idempotency_key: the key that came with the note.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: both the id and the key were given, or neither.
            UnknownDecisionError: the contact has no decision of that id or key; another contact's
                gives the same error.
        """
        scope = self._scope(tenant, agent_id, contact_id)
        if idempotency_key is None and decision_id is not None:
            return self._services.records.decision(scope, decision_id)
        if idempotency_key is None or decision_id is not None:
            raise InvalidRequestError("give either decision_id or idempotency_key")
        return self._services.records.decision_of_key(scope, idempotency_key)

    def digest(self, text: str) -> str:
        """A keyed hash of a text, for an idempotency key that must not give the text away.

        Keys are kept with their decisions as they are given, and anybody can guess a card's number
        from a plain hash of it. Equal for equal texts on all hosts that write to this memory.

        Raises:
            InvalidRequestError: it is no text.
        """
        if not isinstance(text, str):
            raise InvalidRequestError(f"text must be a string, not {type(text).__name__}")
        return self._services.digest(text)

    def explain(
        self, agent_id: str, contact_id: str, decision_id: str, *, tenant: str | None = None
    ) -> Explanation:
        """A decision in plain words: which neighbour, which rule, what would have changed it.

        Raises:
            As ``decision``.
        """
        from reconciler.domain.review.explanation import explain

        scope = self._scope(tenant, agent_id, contact_id)
        records = self._services.records
        return explain(records.decision(scope, decision_id), records.evidence(scope, decision_id))

    def all_decisions(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> Iterator[Decision]:
        """Every decision about one contact, or about all of an agent's, contact by contact.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
        """
        for scope in self._scopes(tenant, agent_id, contact_id):
            yield from self._services.records.all_decisions(scope)

    def replay(
        self,
        profile: str,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
    ) -> list[Replayed]:
        """What other thresholds would have decided, from the recorded decisions; writes nothing.

        Args:
            profile: ``seed``, ``minilm`` or the path of a profile.
            agent_id: whose decisions.
            contact_id: only those about one contact.
            tenant: None for the configured one.

        Raises:
            ConfigurationError: no such profile, or one of another model.
            InvalidScopeError: tenant, agent or contact cannot be used.
        """
        from reconciler.bootstrap import build_policy
        from reconciler.domain.review.replay import replay

        chosen = self.settings.reconcile.model_copy(
            update={
                "profile": profile,
                **dict.fromkeys(("cosine_update_min", "cosine_add_max", "cosine_cut")),
            }
        )
        settings = self.settings.model_copy(update={"reconcile": chosen})
        policy = build_policy(settings, self.embedding_model)
        decisions = self.all_decisions(agent_id, contact_id, tenant=tenant)
        return [replay(decision, policy) for decision in decisions if _is_replayable(decision)]

    def correct(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        relation: Relation | str,
        *,
        tenant: str | None = None,
    ) -> Decision:
        """Record how a note really relates to the fact that it was compared with; changes no fact.

        Calibration from decisions learns from it, and ``explain`` mentions it.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: whom the decision is about.
            decision_id: the decision.
            relation: same, refines, replaces, coexists or unrelated.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: there is no such relation, or the decision compared no fact.
            UnknownDecisionError: the contact has no decision of that id.
        """
        right = one_of(Relation, "relation", relation)
        scope = self._scope(tenant, agent_id, contact_id)
        return self._services.reconciler.correct(scope, decision_id, right)

    def contacts(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        after: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Contact]:
        """The contacts of an agent, by id.

        Args:
            agent_id: whose contacts.
            contact_id: only this one, if it is known; None for all of the agent's.
            after: only those that come after this id: the last one of the page before.
            tenant: None for the configured one.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used, or no contact can have the
                id to come after.
            InvalidRequestError: the limit is below 1.
        """
        count, begin = _at_most(limit), _checked_ids({"after": after}).get("after", "")
        scopes = self._scopes(tenant, agent_id, contact_id, after=begin, limit=count)
        return self._services.records.contacts(scopes)

    def import_notes(
        self,
        lines: Iterable[str],
        *,
        tenant: str | None = None,
        agent_id: str | None = None,
        contact_id: str | None = None,
        source: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Import JSON lines; see ``NoteImport``.

        Run it again from the same source to continue where it stopped. A line without a time that
        comes from another source, or from none that is named, is said once more: the last word
        counts. A file that is written over with what it said earlier is known, and says nothing
        new: give its lines ``said_at``, or each of its states a source.

        Args:
            lines: one JSON object each, with ``text`` and optionally the door's other arguments.
            tenant: for lines that name none; None for the configured one.
            agent_id: for lines that name none.
            contact_id: for lines that name none.
            source: names where the lines come from, for example a file's path; None for the file
                that they are, or for lines that come this once.
            on_progress: called with how many more lines were processed.

        Raises:
            InvalidScopeError: one of the three cannot be used.
            InvalidRequestError: the lines are one text, such as a file's name, or cannot be read,
                or the source is none.
        """
        check_callable(on_progress=on_progress)
        is_text = isinstance(lines, str | bytes)  # it would be read as lines of one character each
        if is_text or not isinstance(lines, Iterable):
            raise InvalidRequestError(
                "lines must be an iterable of lines, such as an open file, not "
                f"{'one text' if is_text else type(lines).__name__}"
            )
        chosen = self.settings.tenant if tenant is None else tenant
        given = {"tenant": chosen, "agent_id": agent_id, "contact_id": contact_id}
        defaults = _checked_ids(given)
        from reconciler.service.writing.note_import import source_of

        named = source_of(lines, source)
        return self._services.note_import.run(_read(lines), defaults, on_progress, named)

    def import_from(
        self,
        system: str,
        source: str | Path,
        agent_id: str,
        contact_id: str | None = None,
        *,
        contact_from: str | None = None,
        tenant: str | None = None,
        source_kind: SourceKind | str = SourceKind.OPERATOR,
        username: str = "neo4j",
        password: str = "",
        database: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Import what another memory system holds, through gate and reconciler.

        The whole source is read before anything is written. Records are imported oldest first; what
        has ended there is kept as history. Another run imports only what is new or has changed.

        Args:
            system: ``mem0``, ``graphiti``, ``neo4j-agent-memory`` or ``langmem``.
            source: its export, or the URI of the Neo4j that it writes to.
            agent_id: the agent whose notes these become.
            contact_id: the contact of all records; None to read it from each record.
            contact_from: the key of a record that names the contact, with dots between keys; None
                for ``user_id``, ``group_id``, ``user`` or ``namespace.last``, as the system has it.
            tenant: the tenant; None for the configured one.
            source_kind: whose word a record counts as.
            username: for the Neo4j source.
            password: for the Neo4j source.
            database: of the Neo4j source; None for its default.
            on_progress: called with how many more records were processed.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the system is unknown, the source is not its export or is cut off,
                or a record does not name its contact; nothing was written.
            ConfigurationError: the Neo4j source cannot be reached.
        """
        check_callable(on_progress=on_progress)
        chosen = self.settings.tenant if tenant is None else tenant
        given = {"tenant": chosen, "agent_id": agent_id, "contact_id": contact_id}
        check_identifier("agent_id", agent_id, InvalidScopeError)
        defaults = _checked_ids(given)
        if contact_id is not None and contact_from is not None:
            raise InvalidRequestError("give either contact_id or contact_from, not both")
        if contact_from is not None and not isinstance(contact_from, str):
            raise InvalidRequestError(
                f"contact_from must be a key, not {type(contact_from).__name__}"
            )
        peer = self._services.open_peer(
            system,
            str(source),
            contact_id=contact_id,
            contact_from=contact_from or "",
            source_kind=source_kind_of(source_kind),
            username=username,
            password=password,
            database=database,
        )
        return self._services.peer_import.run(peer, defaults, on_progress)

    def export(
        self,
        out: str | Path | IO[bytes],
        agent_id: str | None = None,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        vectors: bool = False,
        keys: bool = False,
        overwrite: bool = False,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ExportReport:
        """Write the memory as lines of JSON, which ``restore`` reads into either engine.

        It goes contact by contact, a page at a time, each as of one moment, while others read and
        write. ``config/export.schema.json`` describes a line; the last line counts the others, so
        that an incomplete file is recognised.

        Args:
            out: the file to write, or a binary stream.
            agent_id: only this agent's contacts; None for all.
            contact_id: only this contact.
            tenant: the tenant; None for the configured one if an agent is named, else for every
                tenant in the store.
            vectors: include the facts' vectors, so that restoring needs no model.
            keys: include the store's secrets: the key that ids are made with and the hash key.
                For moving a store; keep the file safe.
            overwrite: replace the file if it exists.
            on_progress: called with how many more contacts were written.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used, or a contact without an
                agent.
            InvalidRequestError: nothing is known of the contact, or ``out`` is neither.
            ConfigurationError: the file cannot be written, or exists already.
            GraphConflictError: a contact is written to without a pause.
        """
        from pathlib import Path

        from reconciler.bootstrap import export_to

        check_callable(on_progress=on_progress)
        check_flags(vectors=vectors, keys=keys, overwrite=overwrite)
        wanted = self._export_filter(tenant, agent_id, contact_id)
        self._services.archive_store.check(wanted)
        if not isinstance(out, str | Path) and hasattr(out, "write"):
            return self._services.exporter.run(
                out, wanted, with_vectors=vectors, with_keys=keys, on_progress=on_progress
            )
        return export_to(
            self._services,
            file_path("out", out),
            wanted,
            with_vectors=vectors,
            with_keys=keys,
            overwrite=overwrite,
            on_progress=on_progress,
        )

    def export_page(self, agent_id: str, contact_id: str, *, tenant: str | None = None) -> str:
        """All that is stored about a contact, as one HTML page that a person can read and print.

        It has current and past facts, the words that they rest on, decisions in plain words, open
        questions, conversations and tasks. It needs no network and holds no script.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: nothing is known of the contact.
        """
        return self._services.contact_page.html(self._scope(tenant, agent_id, contact_id))

    def check_known(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> None:
        """Check that anything is known about a contact, or about any of an agent's.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownContactError: there is nothing; the message says to check the names.
        """
        from reconciler.service.stores.archive_store import ContactFilter

        whose = self._scope(tenant, agent_id, "any" if contact_id is None else contact_id)
        wanted = ContactFilter(tenant=whose.tenant, agent_id=whose.agent_id, contact_id=contact_id)
        self._services.archive_store.check(wanted)

    def report(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> str:
        """How facts followed each other, as one HTML document with timelines, for an analyst.

        It also has disputes, questions, refusals, and decisions by day. It needs no network and
        holds no script. It shows at most 2,000 facts and 100 contacts, those of the latest
        decisions, and says what it left out.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownContactError: nothing is known of the contact, or the agent has none.
        """
        whose = self._scope(tenant, agent_id, "any" if contact_id is None else contact_id)
        self.check_known(agent_id, contact_id, tenant=tenant)
        contacts = self._services.records.contacts(self._scopes(tenant, agent_id, contact_id))
        return self._services.report.html(whose, contacts)

    def _export_filter(
        self, tenant: str | None, agent_id: str | None, contact_id: str | None
    ) -> ContactFilter:
        from reconciler.service.stores.archive_store import ContactFilter

        chosen = self.settings.tenant if tenant is None and agent_id is not None else tenant
        given = _checked_ids({"tenant": chosen, "agent_id": agent_id, "contact_id": contact_id})
        if contact_id is not None and agent_id is None:
            raise InvalidScopeError("a contact belongs to an agent; name the agent, too")
        return ContactFilter(**given)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Back up the embedded store and its hash key into one archive, while it is in use.

        The log is merged, and writers wait while the file is copied. The archive is read back and
        opened before it gets its name; ``restore`` needs a place without a memory.

        Args:
            path: the archive to write.
            overwrite: replace it if it exists.

        Raises:
            InvalidRequestError: ``path`` is no path.
            ConfigurationError: the archive cannot be written, or exists already; or the engine is a
                server, which has its own backups.
            GraphUnavailableError: others read without a pause, or the disk has no room.
        """
        from reconciler.bootstrap import back_up

        check_flags(overwrite=overwrite)
        return back_up(self._services, file_path("path", path), overwrite=overwrite)

    def reembed(
        self,
        model: str | Embedder,
        *,
        profile: str | None = None,
        uncalibrated: bool = False,
        batch_size: int = 256,
        on_progress: Callable[[int, int], None] = lambda *_: None,
    ) -> ReembedReport:
        """Move the store to another embedding model, while others recall and write.

        Every fact, live or ended, gets a vector of the new model beside the one that it has. Then
        the store is bound to the new model in one step. From then on this memory, and every other
        one that is open with the old model, raises ``SchemaError`` where it compares or writes;
        reopen it with the settings that the report names. If a run is interrupted, call it again to
        continue.

        Args:
            model: a name as for the setting RECONCILER_EMBEDDER__MODEL; or an embedder, which the
                caller closes.
            profile: a profile that was calibrated on the model, by name or path; None for a
                shipped or the configured one.
            uncalibrated: accept a profile that was not measured on any model, such as ``seed``.
            batch_size: how many facts to embed at once, 1 to 10,000.
            on_progress: called with how many facts have a new vector, of how many.

        Raises:
            ConfigurationError: the model cannot be loaded or does not embed, or no profile was
                calibrated on it. Nothing was changed.
            InvalidRequestError: the store is bound to that model already, is moving to another one,
                or the move was cancelled meanwhile.
            EmbeddingError: the model failed; what was embedded before stays.
            GraphConflictError: others wrote without a pause; all is embedded, call again.
            GraphError: the engine is unavailable; call again.
        """
        from reconciler.bootstrap import reembed

        check_callable(on_progress=on_progress)
        check_flags(uncalibrated=uncalibrated)
        if isinstance(model, str) and not model:
            raise ConfigurationError("model is empty; name the model that the store is to move to")
        if not isinstance(model, str) and not _embeds(model):
            raise ConfigurationError(
                f"model must be a name or an Embedder, not {type(model).__name__}"
            )
        return reembed(
            self._services.reembedding,
            self.settings,
            model,
            profile=profile,
            uncalibrated=uncalibrated,
            batch_size=batch_size,
            on_progress=on_progress,
        )

    def model_move(self) -> ModelMove:
        """Which model the store is bound to, and how far a move to another one is."""
        return self._services.reembedding.status()

    def cancel_reembed(self) -> ModelMove:
        """Cancel a running move to another model; what was embedded for it is removed.

        Raises:
            InvalidRequestError: no move is running, or it has finished.
        """
        return self._services.reembedding.cancel()

    @class_call
    def restore(
        cls,
        path: str | Path,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], datetime] | None = None,
        accept_other_key: bool = False,
        on_progress: Callable[[int, int], None] = lambda *_: None,
        **arguments: Any,
    ) -> Backup | RestoreReport:
        """Restore a backup or an export to where the settings look for a memory.

        A backup needs a place without a memory. An export needs a new store, or one that has none
        of its contacts, of either engine; if it was interrupted, run it again to continue.

        Args:
            path: what ``backup`` or ``export`` wrote.
            settings: all of them; None reads them from arguments, environment and files.
            embedder: instead of the configured one; it makes the vectors that an export lacks, or
                has of another model.
            clock: the time now, UTC-aware, for tests; None for this machine's.
            accept_other_key: also restore an export into a store that has contacts and makes ids
                with another key; earlier idempotency keys are then not recognised.
            on_progress: called with how many contacts are restored, of how many.
            **arguments: single settings, as ``load_settings`` takes them.

        Raises:
            InvalidRequestError: ``path`` is no path.
            InvalidArchiveError: the file is neither, is cut off, damaged, of a newer version, or
                does not go with what the store holds. Nothing was changed.
            ConfigurationError: a setting cannot be used, or there is a memory at the backup's
                place.
            GraphConflictError: somebody wrote about a contact while it was restored.
            GraphError: the engine is unavailable or locked, or the store has another model.
        """
        from reconciler.bootstrap import restore_memory

        check_callable(on_progress=on_progress)
        check_flags(accept_other_key=accept_other_key)
        _check_parts(clock, embedder=embedder)
        return restore_memory(
            _settings_of("Memory.restore", settings, arguments),
            file_path("path", path),
            embedder=embedder,
            clock=clock,
            accept_other_key=accept_other_key,
            on_progress=on_progress,
        )

    @property
    def extractor(self) -> MemoryExtractor:
        """The background door: takes whole sessions, and says what was learned from them."""
        return self._services.memory_extractor

    def submit_session(
        self,
        agent_id: str,
        contact_id: str,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        tenant: str | None = None,
        channel: str = "chat",
        started_at: datetime | None = None,
        contact_name: str | None = None,
    ) -> str:
        """Hand over a session; returns its job's id. See ``MemoryExtractor``.

        With None for its id, one is made of the occasion: the same conversation, handed over again
        or with more turns, is the same session; see ``MemoryExtractor.session_id``.

        Args:
            agent_id: the agent whose memory it is.
            contact_id: the contact that the session was with.
            session_id: its id; if the session exists, only new turns are added.
            turns: in their order, at least one; messages as chat APIs have them, dictionaries with
                ``role`` and ``content``, are taken as well.
            tenant: the tenant; None for the configured one.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware; None for its first turn's time, or now.
            contact_name: what the contact is called, if several people speak as users, each with a
                ``name`` or a label, "[Alice]: …"; what the others say is no evidence. None where
                one person speaks; of several it is refused.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used; nothing was stored.
            InvalidSessionError: the session cannot be used; nothing was stored.
            GraphUnavailableError: the engine stayed unavailable; hand it over again.
        """
        from reconciler.domain.records.messages import turns_of
        from reconciler.domain.records.sessions import Session

        given = turns or ()
        if isinstance(given, Iterable) and not isinstance(given, Sequence):
            # One more than are taken is enough to refuse them, should they never end.
            given = islice(given, self.settings.extractor.session_turns_max + 1)
        scope = self._scope(tenant, agent_id, contact_id)
        made = self._services.session_reader.contacts_turns(tuple(turns_of(given)), contact_name)
        if session_id is None:
            session_id = self.extractor.session_id(scope, made, started_at)
        session = Session(
            scope=scope,
            session_id=session_id,
            turns=made,
            channel=channel,
            started_at=started_at,
            contact_name=contact_name,
        )
        return self.extractor.submit(session)

    def task(
        self,
        agent_id: str,
        contact_id: str,
        task_id: str,
        *,
        goal: str | None = None,
        session_id: str | None = None,
        keeps_outcome: bool = True,
        tenant: str | None = None,
    ) -> MemoryContext:
        """The memory of one task of an agent that works in a loop, started or resumed.

        Args:
            agent_id: the agent.
            contact_id: the contact for whom it works.
            task_id: the task; one that has not ended opens as interrupted, to be resumed.
            goal: what a new task is to achieve.
            session_id: where its episodes are kept; None for a session of the task's own.
            keeps_outcome: whether its outcome is proposed to the gate when it ends.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownTaskError: there is no such task, and no goal to start one with.
        """
        from reconciler.service.tasks.memory_context import MemoryContext

        check_flags(keeps_outcome=keeps_outcome)
        services = self._services
        return MemoryContext(
            scope=self._scope(tenant, agent_id, contact_id),
            task_id=task_id,
            session_id=f"task-{task_id}" if session_id is None else session_id,
            goal=goal,
            gate=services.gate,
            cleaner=services.cleaner,
            recall=services.recall,
            records=services.records,
            sessions=services.session_store,
            tasks=services.task_store,
            reader=services.session_reader,
            procedures=services.procedures,
            use=services.use_trace,
            clock=services.clock,
            keeps_outcome=keeps_outcome,
        )

    def tasks(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        state: TaskState | str | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Task]:
        """An agent's tasks, last changed first; ``task`` resumes one.

        Args:
            agent_id: whose tasks.
            contact_id: only those for one contact; None for all of the agent's.
            state: only those in this state; ``open`` for all that have not ended, which can be
                resumed. None for all.
            tenant: the tenant; None for the configured one.
            limit: at most this many.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1, or there is no such state.
        """
        from reconciler.domain.tasks.task_states import states_named

        scopes = self._scopes(tenant, agent_id, contact_id)
        states, count = states_named(state), _positive("limit", limit)
        return self._services.task_store.list_tasks(scopes, states, count)

    def session(
        self, agent_id: str, contact_id: str, session_id: str, *, tenant: str | None = None
    ) -> SessionRecord:
        """A session as it is stored: its summary, and what was decided about its candidates.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidSessionError: no session of that id was handed over.
        """
        return self._services.session_store.get_session(
            self._scope(tenant, agent_id, contact_id), session_id
        )

    def job(self, agent_id: str, contact_id: str, job_id: str, *, tenant: str | None = None) -> Job:
        """One of a contact's jobs, in its present state.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            UnknownJobError: the contact has none of that id; another contact's gives the same
                error.
        """
        return self._services.session_store.get_job(
            self._scope(tenant, agent_id, contact_id), job_id
        )

    def jobs(
        self,
        agent_id: str | None = None,
        contact_id: str | None = None,
        *,
        state: JobState | str | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """Jobs, newest first.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the limit is below 1, or there is no such state.
        """
        chosen = self.settings.tenant if tenant is None else tenant
        _checked_ids({"tenant": chosen, "agent_id": agent_id, "contact_id": contact_id})
        from reconciler.service.stores.session_store import JobFilter

        wanted = JobFilter(
            agent_id=agent_id, contact_id=contact_id, state=_one_of(JobState, "state", state)
        )
        return self._services.session_store.list_jobs(chosen, wanted, _positive("limit", limit))

    def retry(
        self, agent_id: str, contact_id: str, job_id: str, *, tenant: str | None = None
    ) -> Job:
        """Retry a dead or waiting job now.

        Raises:
            As ``job``.
        """
        return self.extractor.retry(self._scope(tenant, agent_id, contact_id), job_id)

    def queue(self) -> QueueReport:
        """All jobs of the store in numbers."""
        return self._services.session_store.count_jobs()

    def drain(self, on_progress: Callable[[Job], None] = lambda _: None) -> list[Job]:
        """Process all jobs in this thread until each is done or dead; returns those of this call.

        A job whose extractor fails is retried after a wait, which may take many minutes;
        ``worker().work_once()`` makes one attempt.

        Raises:
            GraphUnavailableError: the engine stayed unavailable; unfinished jobs wait.
        """
        check_callable(on_progress=on_progress)
        return self.worker().drain(on_progress)

    def worker(self, on_stage: Callable[[Stage], None] = lambda _: None) -> ExtractionWorker:
        """A worker that the caller runs, and stops.

        Args:
            on_stage: called at each stage of a job; for tests.
        """
        from reconciler.bootstrap import build_worker

        check_callable(on_stage=on_stage)
        return build_worker(self._services, on_stage)

    def start_worker(self, on_job: Callable[[Job], None] = lambda _: None) -> WorkerThread:
        """A worker in a thread of this process, until it is stopped or the memory is closed.

        Args:
            on_job: called in that thread after each attempt, with the job's state.
        """
        from reconciler.service.sessions.extraction_worker import WorkerThread

        check_callable(on_job=on_job)
        thread = WorkerThread(self.worker(), on_job)
        self._worker_threads.append(thread)
        return thread

    def interrupt_extraction(self) -> None:
        """End the extractor's running calls in this memory; it may be called repeatedly.

        Not from a signal's handler, which may interrupt whoever holds the extractor's lock.
        """
        self._opened.extractor.close()

    def stop_workers(self) -> None:
        """Stop the workers of ``start_worker``; their jobs go back to the queue.

        Not from a signal's handler, as ``interrupt_extraction``.
        """
        self._maker.check()
        for thread in self._worker_threads:
            thread.ask_to_stop()
        if self._worker_threads:
            self.interrupt_extraction()
        for thread in self._worker_threads:
            thread.stop()

    def _instant(self, name: str, at: datetime | None) -> datetime | None:
        """A time that has come, in UTC."""
        return (
            None if at is None else not_in_the_future(utc(name, at), self._services.clock(), name)
        )

    def _scopes(
        self,
        tenant: str | None,
        agent_id: str,
        contact_id: str | None,
        *,
        after: str = "",
        limit: int | None = None,
    ) -> list[Scope]:
        """One contact's scope, or that of each of the agent's contacts, or of a page of them."""
        if contact_id is not None:
            return [self._scope(tenant, agent_id, contact_id)]
        return self._services.records.scopes(self._scope(tenant, agent_id, "any"), after, limit)

    def _scope(self, tenant: str | None, agent_id: str, contact_id: str) -> Scope:
        scope = Scope(self.settings.tenant if tenant is None else tenant, agent_id, contact_id)
        names = ("tenant", "agent_id", "contact_id")
        self._services.ids.check((name, getattr(scope, name)) for name in names)
        return scope


class ContactMemory:
    """A memory of one contact: the calls of ``Memory``, bound to an agent and a contact.

    ``Memory.contact`` makes one, checked; it holds nothing of its own and needs no closing. It is
    for whoever builds an agent; the agent itself holds ``AgentTools``.

    Example::

        priya = memory.contact("crm", "priya")
        priya.note("Lives in Pune.", attribute="city", value="Pune")
        priya.recall("Where does she live?")

    Args:
        memory: the memory that answers; it must stay open.
        scope: the tenant, agent and contact.
    """

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self._memory = memory
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """Tenant, agent and contact that every call is bound to."""
        return self._scope

    def note(self, text: str, **fields: Unpack[NoteFields]) -> Decision:
        """Remember something about the contact; see ``Memory.add_contact_note``."""
        return self._of(self._memory.add_contact_note)(text, **fields)

    def relate(
        self,
        fact: str,
        *,
        replaces: Sequence[str] = (),
        repeats: str | None = None,
        ends: Sequence[str] = (),
        both_hold: Sequence[str] = (),
        reason: str | None = None,
    ) -> Decision:
        """Say how a remembered fact relates to others; see ``Memory.relate``."""
        return self._of(self._memory.relate)(
            fact,
            replaces=replaces,
            repeats=repeats,
            ends=ends,
            both_hold=both_hold,
            reason=reason,
        )

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
        """The facts that fit a query best, now or at an instant; see ``Memory.recall``."""
        ask = self._of(self._memory.recall)
        asked = {"limit": limit, "budget_tokens": budget_tokens}
        return ask(query, **asked, as_of=as_of, valid_at=valid_at, **filters)

    def briefing(self, query: str = "", *, limit: int | None = None) -> Briefing:
        """What to know and what to ask when a conversation opens; see ``Memory.briefing``."""
        return self._of(self._memory.briefing)(query, limit=limit)

    def value(self, attribute: str, *, subject: str | None = None) -> list[SlotValue]:
        """An attribute's current value or values; see ``Memory.value``."""
        return self._of(self._memory.value)(attribute, subject=subject)

    def profile(self) -> list[SlotValue]:
        """The current values of all of the contact's slots; see ``Memory.profile``."""
        return self._of(self._memory.profile)()

    def recall_about(self, name: str, *, limit: int | None = None) -> list[FoundFact]:
        """The live facts that mention a name as whole words; see ``Memory.recall_about``."""
        return self._of(self._memory.recall_about)(name, limit=limit)

    def history(
        self,
        *,
        fact_id: str | None = None,
        at: datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """What superseded what, and why, now or at an instant; see ``Memory.history``."""
        return self._of(self._memory.history)(fact_id=fact_id, at=at, after=after, limit=limit)

    def evidence(self, fact_id: str) -> FactEvidence:
        """What a fact rests on; see ``Memory.evidence``."""
        return self._of(self._memory.evidence)(fact_id)

    def evidence_about(self, about: str) -> list[FactEvidence]:
        """What each fact about something rests on; see ``Memory.evidence_about``."""
        return self._of(self._memory.evidence_about)(about)

    def archive(
        self, *, by: str = "operator", floor: float | None = None, dry_run: bool = False
    ) -> list[Archived]:
        """Archive the contact's faded facts; see ``Memory.archive``."""
        return self._of(self._memory.archive)(by=by, floor=floor, dry_run=dry_run)

    def unarchive(self, fact_id: str, *, by: str = "operator") -> Decision:
        """Make an archived fact live again; see ``Memory.unarchive``."""
        return self._of(self._memory.unarchive)(fact_id, by=by)

    def disputes(self) -> list[Dispute]:
        """Facts that contradict each other and are not settled; see ``Memory.disputes``."""
        return self._of(self._memory.disputes)()

    def report(self) -> str:
        """How the contact's facts followed each other, as HTML; see ``Memory.report``."""
        return self._of(self._memory.report)()

    def export_page(self) -> str:
        """All that is stored about the contact, as an HTML page; see ``Memory.export_page``."""
        return self._of(self._memory.export_page)()

    def export(
        self, out: str | Path | IO[bytes], *, vectors: bool = False, overwrite: bool = False
    ) -> ExportReport:
        """Write all that is stored about the contact as lines of JSON; see ``Memory.export``."""
        scope = self._scope
        return self._memory.export(
            out,
            scope.agent_id,
            scope.contact_id,
            tenant=scope.tenant,
            vectors=vectors,
            overwrite=overwrite,
        )

    def decisions(
        self,
        *,
        disposal: Disposal | str | None = None,
        reason: GateReason | str | None = None,
        door: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> list[Decision]:
        """The newest decisions, refusals included; see ``Memory.decisions``."""
        return self._of(self._memory.decisions)(
            disposal=disposal, reason=reason, door=door, since=since, until=until, limit=limit
        )

    def submit_session(
        self,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        channel: str = "chat",
        started_at: datetime | None = None,
        contact_name: str | None = None,
    ) -> str:
        """Hand over a session; returns its job's id. See ``Memory.submit_session``."""
        return self._of(self._memory.submit_session)(
            session_id,
            turns,
            channel=channel,
            started_at=started_at,
            contact_name=contact_name,
        )

    def task(
        self,
        task_id: str,
        *,
        goal: str | None = None,
        session_id: str | None = None,
        keeps_outcome: bool = True,
    ) -> MemoryContext:
        """The memory of one task of an agent that works in a loop; see ``Memory.task``."""
        return self._of(self._memory.task)(
            task_id, goal=goal, session_id=session_id, keeps_outcome=keeps_outcome
        )

    def agent_tools(
        self,
        *,
        session_id: str | None = None,
        can_recall: bool = True,
        budget_tokens: int | None = None,
        trusted_tools: Sequence[str] | None = None,
        colleague: str | None = None,
    ) -> AgentTools:
        """The tools that an agent's model may call; see ``Memory.agent_tools``."""
        return self._of(self._memory.agent_tools)(
            session_id=session_id,
            can_recall=can_recall,
            budget_tokens=budget_tokens,
            trusted_tools=trusted_tools,
            colleague=colleague,
        )

    def tasks(self, *, state: TaskState | str | None = None, limit: int = 50) -> list[Task]:
        """The contact's tasks, last changed first; see ``Memory.tasks``."""
        return self._of(self._memory.tasks)(state=state, limit=limit)

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
    ) -> Erasure:
        """Erase what is known about the contact, or part of it; see ``Memory.forget``."""
        return self._of(self._memory.forget)(
            fact_id=fact_id,
            session_id=session_id,
            attribute=attribute,
            subject=subject,
            by=by,
            reason=reason,
            dry_run=dry_run,
        )

    def _of(self, call: Callable[..., R]) -> Callable[..., R]:
        """A call of the memory's, about this contact."""
        scope = self._scope
        return partial(call, scope.agent_id, scope.contact_id, tenant=scope.tenant)


def note_to_check(
    text: str,
    *,
    agent_id: str,
    source_kind: SourceKind | str,
    category: Category | str | None,
    topic: str | None,
) -> Candidate:
    """A note about nobody, said now, for a dry run of the gate.

    Raises:
        InvalidScopeError, InvalidNoteError: the note cannot be used.
    """
    from reconciler.service.writing.doors import own_evidence

    note = Note(
        scope=Scope("any", agent_id, "any"),
        text=text,
        said_at=datetime.now(UTC),
        source_kind=source_kind,
        category=category,
        topic=topic,
    )
    return own_evidence(note, "nobody")


def _is_replayable(decision: Decision) -> bool:
    """Whether the rule decided it, on texts that are still there.

    What the gate decided no threshold would have changed, nor what was over when it came in.
    """
    from reconciler.domain.records.erasures import ERASED

    by_hand = (DecidedBy.GATE, DecidedBy.AMENDMENT)
    is_by_rule = decision.action.is_reconciled and decision.decided_by not in by_hand
    texts = (decision.text, *(fact.text for fact in decision.compared_with))
    return is_by_rule and not decision.is_over and ERASED not in texts


def _settings_of(call: str, settings: object, arguments: Mapping[str, Any]) -> Settings:
    """All settings of a call, as they were given or from arguments, environment and files.

    Raises:
        ConfigurationError: they are none, or cannot be used.
    """
    from reconciler.settings import Settings, load_settings

    if settings is None:
        return load_settings(**arguments)
    if arguments:
        raise ConfigurationError(f"give {call} either settings or single settings")
    if not isinstance(settings, Settings):
        raise ConfigurationError(
            f"{call} takes settings, not {type(settings).__name__}; to name a store's file, use "
            f"{call}(embedded_path=...)"
        )
    return settings


_MUST_HAVE = {"embedder": "embed", "arbiter": "judge", "extractor": "extract"}


def _check_parts(clock: object, **parts: object) -> None:
    """Refuse what cannot be a part of a memory; None is the configured one.

    Raises:
        ConfigurationError: one of them is something else.
    """
    if any(isinstance(part, dict) for part in parts.values()):
        raise ConfigurationError(
            "embedder, arbiter and extractor must be objects here; give their settings as "
            "Memory.open(load_settings(embedder={...}))"
        )
    called = {name: getattr(part, _MUST_HAVE[name], None) for name, part in parts.items()}
    for name, part in parts.items():
        if part is not None and not callable(called[name]):
            raise ConfigurationError(
                f"{name} must be an {name.title()}, not {type(part).__name__}; leave it out for "
                "the configured one"
            )
    if clock is not None and not callable(clock):
        raise ConfigurationError(
            f"clock must be a function that tells the time, not {type(clock).__name__}"
        )


def _read(lines: Iterable[str]) -> Iterator[str]:
    """The lines, as they are read.

    Raises:
        InvalidRequestError: they cannot be read to their end.
    """
    try:
        yield from lines
    except (OSError, ValueError) as error:  # a closed file, or one that is not UTF-8
        raise InvalidRequestError(
            f"the lines cannot be read any further: {error}; what was written until here stands. "
            "Give a file that is open and in UTF-8, and import it again from the same source"
        ) from error


def _embeds(model: object) -> bool:
    """Whether it has what an ``Embedder`` has; whether it keeps its promises is seen at use."""
    return all(callable(getattr(model, name, None)) for name in ("embed", "warm_up", "close"))


def _checked_ids(given: Mapping[str, str | None]) -> dict[str, str]:
    """Those parts of a scope that are given.

    Raises:
        InvalidScopeError: one of them cannot be used.
    """
    named = {name: value for name, value in given.items() if value is not None}
    for name, value in named.items():
        check_identifier(name, value, InvalidScopeError)
    return named


def _one_of(kind: type[E], name: str, value: str | None) -> E | None:
    return None if value is None else one_of(kind, name, value)


def _at_most(limit: int | None) -> int | None:
    """How many are asked for; None for all."""
    return None if limit is None else _positive("limit", limit)


def _positive(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LIMIT_MAX:
        raise InvalidRequestError(f"{name} must be a whole number from 1 to {_LIMIT_MAX}")
    return value
