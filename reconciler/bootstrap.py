"""Bootstrap: builds everything from the settings. The only module that knows all adapters.

What takes long to import is imported where it is built.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from threading import RLock, Thread
from typing import IO, TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.adapters.sensitive_data_finders import CombinedFinder, DeferredFinder
from reconciler.domain.records.choices import check_callable, check_flags, file_path
from reconciler.domain.records.kinds import LIVE_DOOR
from reconciler.domain.records.policies import (
    ArbitrationPolicy,
    DecayPolicy,
    ExtractionPolicy,
    JobPolicy,
    RankingPolicy,
    RecallFloor,
    ReconcilePolicy,
    RetryPolicy,
)
from reconciler.domain.records.scope import Scope
from reconciler.errors import ConfigurationError, GraphUnavailableError, ReconcilerError
from reconciler.sensitive_data import SensitiveKind, keyed_digest, keyed_token
from reconciler.service.records import Records
from reconciler.service.stores.memory_store import MemoryStore
from reconciler.service.stores.patient_graph import PatientGraph
from reconciler.service.stores.retry import call_with_retries
from reconciler.service.writing.decision_ids import DecisionIds
from reconciler.service.writing.ids import IdCheck

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reconciler.adapters.local_embedder import LocalModel
    from reconciler.adapters.street_address_finder import StreetAddressFinder
    from reconciler.adapters.structured_calls import BatchVendor, Connection
    from reconciler.domain.gate.policy import GatePolicy
    from reconciler.domain.recalling.recallable import Recalling
    from reconciler.domain.records.archives import Backup, ExportReport, RestoreReport
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.records.facts import Fact
    from reconciler.domain.records.jobs import Stage
    from reconciler.domain.records.model_moves import ReembedReport
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.ports.graph import Engine, Graph
    from reconciler.ports.peer_memory import PeerMemory
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
    from reconciler.service.attribute_questions import AskedAttributes
    from reconciler.service.erasures import Erasures
    from reconciler.service.finding import FactFinder
    from reconciler.service.hash_key import HashKey
    from reconciler.service.health import Health
    from reconciler.service.moving.contact_page import ContactPage
    from reconciler.service.moving.damage import Damage
    from reconciler.service.moving.exporting import Exporter
    from reconciler.service.pages.report import Report
    from reconciler.service.past_recall import PastRecall
    from reconciler.service.persons.answering import PersonsAnswers
    from reconciler.service.persons.deciding import PersonsDecisions
    from reconciler.service.recall import Recall
    from reconciler.service.reembedding import Reembedding
    from reconciler.service.sessions.extraction import MemoryExtractor, SessionReader
    from reconciler.service.sessions.extraction_worker import ExtractionWorker
    from reconciler.service.stores.archive_store import ArchiveStore, ContactFilter
    from reconciler.service.stores.erasure_store import ErasureStore
    from reconciler.service.stores.session_store import SessionStore
    from reconciler.service.stores.task_store import TaskStore
    from reconciler.service.tasks.procedures import Procedures
    from reconciler.service.use_trace import UseTrace
    from reconciler.service.writing.arbitration import Arbitration
    from reconciler.service.writing.batch_rejudging import BatchRejudging
    from reconciler.service.writing.cleaning import Cleaner
    from reconciler.service.writing.doors import LiveDoor
    from reconciler.service.writing.forgotten import ForgottenLook, Withholding
    from reconciler.service.writing.ledger import Ledger
    from reconciler.service.writing.memory_reconciler import MemoryReconciler
    from reconciler.service.writing.neighbourhoods import Neighbourhoods
    from reconciler.service.writing.note_import import NoteImport
    from reconciler.service.writing.peer_import import PeerImport
    from reconciler.service.writing.rejudging import IdleRejudging, Rejudging
    from reconciler.service.writing.relating import Relating
    from reconciler.service.writing.submissions import Submission
    from reconciler.service.writing.write_gate import WriteGate
    from reconciler.settings import (
        ArbiterSettings,
        EmbedderSettings,
        ExtractorSettings,
        RecallSettings,
        Settings,
    )

__all__ = [
    "Services",
    "arbitration_policy",
    "back_up",
    "build_arbiter",
    "build_decay",
    "build_embedder",
    "build_extractor",
    "build_judge",
    "build_policy",
    "build_recorded_arbiter",
    "build_secret_finder",
    "build_sensitive_data_finder",
    "build_services",
    "build_worker",
    "check_memory_exists",
    "export",
    "file_of_memory",
    "open_graph",
    "opened_reembedding",
    "reembed",
    "restore_memory",
    "write_new",
]


T = TypeVar("T")

_OPENING_ATTEMPTS_MAX, _OPENING_PAUSE_SECONDS = 100, 0.2
"""How often a store is made or upgraded while others, or the server, are at work on its schema."""


class _Part(Generic[T]):
    """A part of the services, built when it is first asked for: once, whichever thread comes first.

    What it consists of is imported there, so that a command that only reads waits for no gate.
    """

    def __init__(self, build: Callable[[Services], T]) -> None:
        self._build = build
        self._name = build.__name__
        self.__doc__ = build.__doc__

    def __get__(self, services: Services, _: type[Services]) -> T:
        with services.building:
            if self._name not in vars(services):
                vars(services)[self._name] = self._build(services)
        built: T = vars(services)[self._name]
        return built


class Services:
    """Everything that one open memory consists of; ``closing`` gives it all back.

    Args:
        settings: what is built.
        graph: the engine, open.
        embedder: what embeds.
        policy: the rule's thresholds.
        arbiter: instead of the one that the settings name; None for that.
        extractor: instead of the one that the settings name; None for that.
        id_key: the store's key of ids.
        clock: the time now, UTC-aware.
        closing: what gives back what was opened.
        only_reads: whether its opener only reads, so that recalls leave no trace.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        graph: Graph,
        embedder: Embedder,
        policy: ReconcilePolicy,
        arbiter: Arbiter | None,
        extractor: Extractor | None,
        id_key: bytes,
        clock: Callable[[], datetime],
        closing: ExitStack,
        only_reads: bool = False,
    ) -> None:
        patience = _retry_policy(settings)
        self.building = RLock()
        self.settings = settings
        self.embedder = embedder
        self.policy = policy
        self.clock = clock
        self.closing = closing
        self.store = MemoryStore(
            PatientGraph(graph, patience, GraphUnavailableError),
            (embedder.model_id, embedder.dimension),
        )
        self._decision_ids = DecisionIds(id_key)
        self.records = Records(
            store=self.store,
            decision_ids=self._decision_ids,
            clock=clock,
            hides_expired=settings.life.expired == "hidden",
        )
        self.ids = IdCheck(build_secret_finder())
        self._graph = graph
        self._patient_graph = PatientGraph(graph, patience)
        self._use_flush_seconds = 0.0 if only_reads else settings.life.use_flush_seconds
        self._given_arbiter = arbiter
        self._given_extractor = extractor
        self.hash_key = hash_key_of(settings, self.store, clock)

    def build_all(self) -> None:
        """Build everything now: who will write learns here that a setting cannot work."""
        for name, part in vars(Services).items():
            if isinstance(part, _Part):
                getattr(self, name)

    def digest(self, text: str) -> str:
        """A keyed hash; the text cannot be guessed from it."""
        return keyed_digest(self.hash_key(), text)

    @_Part
    def attributes(self) -> AttributeBook:
        """The attribute book: the attributes that slots may have."""
        from reconciler.config_files import load_attribute_book

        return load_attribute_book(self.settings.reconcile.attributes_file)

    @_Part
    def session_store(self) -> SessionStore:
        """The store of sessions and jobs."""
        from reconciler.service.stores.session_store import SessionStore

        return SessionStore(self._patient_graph)

    @_Part
    def task_store(self) -> TaskStore:
        """The store of tasks."""
        from reconciler.service.stores.task_store import TaskStore

        return TaskStore(self._patient_graph)

    @_Part
    def neighbourhoods(self) -> Neighbourhoods:
        """The contacts' facts that this process keeps in mind."""
        from reconciler.service.writing.neighbourhoods import Neighbourhoods

        return Neighbourhoods(
            self.store,
            self.embedder.model_id,
            self.settings.reconcile.cached_facts_max,
            lambda: self.attributes,
            self._forgotten_look(),
        )

    def _forgotten_look(self) -> ForgottenLook:
        from reconciler.service.writing.forgotten import ForgottenLook

        return ForgottenLook(self.erasure_store, self.digest)

    @_Part
    def erasure_store(self) -> ErasureStore:
        """The store of erasures."""
        from reconciler.service.stores.erasure_store import ErasureStore

        return ErasureStore(self._patient_graph, self.store)

    @_Part
    def erasures(self) -> Erasures:
        """Erases for good."""
        from reconciler.service.erasures import Erasures

        return Erasures(
            store=self.erasure_store,
            damage=self.damage,
            ledger=self.ledger,
            ids=self.ids,
            digest=self.digest,
            forget_answers=self.reconciler.forget_answers,
            retry_policy=_retry_policy(self.settings),
            clock=self.clock,
        )

    def _withholding(self) -> Withholding:
        from reconciler.service.writing.earlier_decisions import earlier_decisions
        from reconciler.service.writing.forgotten import Withholding
        from reconciler.service.writing.submissions import recorded_policy

        return Withholding(
            policy=recorded_policy(self.policy, self.embedder.model_id),
            gate_policy_of=self.cleaner.policy_of,
            earlier=partial(earlier_decisions, self.store),
            clock=self.clock,
        )

    @_Part
    def gate_policy(self) -> GatePolicy:
        """The gate's policy; read once, so that a dry run says what a write would do."""
        return _gate_policy(self.settings)

    @_Part
    def cleaner(self) -> Cleaner:
        """Removes secrets and other data that must not be stored."""
        from reconciler.service.writing.cleaning import Cleaner

        return Cleaner(
            finder=build_sensitive_data_finder(),
            secret_finder=build_secret_finder(),
            ids=self.ids,
            token_of=lambda kind, value: keyed_token(self.hash_key(), kind, _hashed(kind, value)),
            policy=self.gate_policy,
        )

    @_Part
    def judge(self) -> Callable[[Candidate], Submission]:
        """The gate's judgement alone, for a dry run."""
        return _judge_under(self.gate_policy, self.clock)

    @_Part
    def ledger(self) -> Ledger:
        """The only caller of the commit."""
        from reconciler.service.writing.ledger import Ledger

        return Ledger(
            store=self.store,
            neighbourhoods=self.neighbourhoods,
            retry_policy=_retry_policy(self.settings),
            clock=self.clock,
            withholding=self._withholding,
            is_judged=self.policy.reach is not None,
        )

    @_Part
    def reconciler(self) -> MemoryReconciler:
        """Reconciles every note that the gate admits."""
        from reconciler.service.writing.memory_reconciler import MemoryReconciler

        return MemoryReconciler(
            store=self.store,
            ledger=self.ledger,
            embedder=self.embedder,
            arbitration=self.arbitration,
            policy=self.policy,
            attempts_max=self.settings.reconcile.write_attempts_max,
            clock=self.clock,
        )

    @_Part
    def gate(self) -> WriteGate:
        """The write gate: every note passes it, whichever door it came through."""
        from reconciler.service.writing.write_gate import WriteGate

        return WriteGate(
            store=self.store,
            reconciler=self.reconciler,
            ledger=self.ledger,
            cleaner=self.cleaner,
            decision_ids=self._decision_ids,
            clock=self.clock,
        )

    @_Part
    def answers(self) -> PersonsAnswers:
        """Takes the answers to held notes."""
        from reconciler.service.persons.answering import PersonsAnswers

        return PersonsAnswers(
            gate=self.gate,
            reconciler=self.reconciler,
            cleaner=self.cleaner,
            store=self.store,
            clock=self.clock,
        )

    @_Part
    def persons(self) -> PersonsDecisions:
        """Takes down what persons decide about known facts."""
        from reconciler.service.persons.deciding import PersonsDecisions

        return PersonsDecisions(
            gate=self.gate,
            store=self.store,
            reconciler=self.reconciler,
            ledger=self.ledger,
            cleaner=self.cleaner,
            attributes=self.attributes,
            clock=self.clock,
        )

    def siblings_of(self, decision: Decision) -> list[Fact]:
        """The live facts that answer what the note of a decision answers, the newest first."""
        slot, now = decision.note.slot, self.clock()
        if slot is None or slot.attribute is None or decision.fact_id is None:
            return []
        known = self.neighbourhoods.of(decision.scope).answers(slot.question)
        live = [fact for fact in known if fact.as_of(now).is_live]
        return sorted(live, key=lambda fact: fact.recorded_at, reverse=True)

    @_Part
    def relating(self) -> Relating:
        """Relates known facts as a model says later."""
        from reconciler.service.writing.relating import Relating

        return Relating(
            gate=self.gate,
            store=self.store,
            neighbourhoods=self.neighbourhoods,
            reconciler=self.reconciler,
            ledger=self.ledger,
            decision_ids=self._decision_ids,
            policy=self.policy,
            clock=self.clock,
        )

    @_Part
    def rejudging(self) -> Rejudging | None:
        """Asks the arbiter later; None without one."""
        from reconciler.service.writing.rejudging import Rejudging

        if self.arbitration is None:
            return None
        return Rejudging(
            store=self.store,
            neighbourhoods=self.neighbourhoods,
            relating=self.relating,
            arbitration=self.arbitration,
            decision_ids=self._decision_ids,
            policy=self.policy,
            clock=self.clock,
        )

    @_Part
    def batch_rejudging(self) -> BatchRejudging | None:
        """Asks the arbiter later, in batches; None if it has none."""
        from reconciler.ports.arbiter import BatchArbiter
        from reconciler.service.writing.batch_rejudging import BatchRejudging

        arbitration, rejudging = self.arbitration, self.rejudging
        if arbitration is None or rejudging is None:
            return None
        if not isinstance(arbitration.arbiter, BatchArbiter):
            return None
        return BatchRejudging(rejudging, arbitration, arbitration.arbiter)

    @_Part
    def use_trace(self) -> UseTrace:
        """Counts how the memory is used. A count that cannot be written now waits."""
        from reconciler.service.use_trace import UseTrace

        store = MemoryStore(self._graph)
        built = UseTrace(
            write=store.record_use,
            write_asked=store.record_recalls,
            clock=self.clock,
            flush_seconds=self._use_flush_seconds,
        )
        self.closing.callback(built.close)
        return built

    @_Part
    def live_door(self) -> LiveDoor:
        """The live door."""
        from reconciler.service.writing.doors import LiveDoor

        def live(scope: Scope) -> dict[str, Fact]:
            return {f.fact_id: f for f in self.store.list_facts(scope) if not f.has_ended}

        return LiveDoor(gate=self.gate, attributes=self.attributes, live=live, clock=self.clock)

    @_Part
    def note_import(self) -> NoteImport:
        """The import of notes."""
        from reconciler.service.writing.note_import import NoteImport

        return NoteImport(
            gate=self.gate,
            cleaner=self.cleaner,
            embed=self.reconciler.embed,
            digest=self.digest,
            decision_ids=self._decision_ids,
            store=self.store,
            attributes=self.attributes,
            clock=self.clock,
        )

    @_Part
    def peer_import(self) -> PeerImport:
        """The import from other memory systems."""
        from reconciler.service.writing.peer_import import PeerImport

        return PeerImport(note_import=self.note_import)

    def open_peer(
        self,
        system: str,
        source: str,
        *,
        contact_id: str | None,
        contact_from: str,
        source_kind: str,
        **login: Any,
    ) -> PeerMemory:
        """A reader of another memory system; see ``ContactMemory.import_from``."""
        from reconciler.adapters.peers.readers import Login, open_peer
        from reconciler.adapters.peers.translating import Translation

        how = Translation(
            contact_id=contact_id,
            contact_from=contact_from,
            source_kind=source_kind,
            now=self.clock(),
        )
        return open_peer(system, source, how=how, login=Login(**login))

    @_Part
    def asked_attributes(self) -> AskedAttributes:
        """Tells which attributes a question asks for."""
        from reconciler.config_files import load_own_questions, load_question_vectors
        from reconciler.service.attribute_questions import AskedAttributes

        own, model = self.settings.reconcile.attributes_file, self.embedder.model_id
        return AskedAttributes(
            self.embedder,
            questions=self._book_questions,
            own=lambda: load_own_questions(own),
            shipped=lambda: load_question_vectors(model),
            kept=self._kept_questions,
        )

    def _kept_questions(
        self,
        texts: Sequence[str],
        make: Callable[[Sequence[str]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """The vectors of shipped questions; those of a model that the settings name are kept."""
        if self.settings.embedder.kind in {"packaged", "none"}:
            return make(texts)
        from reconciler.adapters.kept_vectors import kept_vectors

        return kept_vectors(self.embedder.model_id, texts, make)

    def _book_questions(self) -> Mapping[str, Sequence[str]]:
        """Of the attributes in the book alone: another model embeds them in each process."""
        from reconciler.config_files import load_attribute_sentences

        sentences = load_attribute_sentences()
        names = [attribute.name for attribute in self.attributes if attribute.name in sentences]
        return {name: sentences[name].questions for name in names}

    @_Part
    def recall(self) -> Recall:
        """Answers a query."""
        from reconciler.service.recall import Recall

        return Recall(
            store=self.store,
            neighbourhoods=self.neighbourhoods,
            embedder=self.embedder,
            asked=self.asked_attributes,
            how=_recalling(self.settings, self.embedder.model_id),
            use=self.use_trace,
            clock=self.clock,
        )

    @_Part
    def finding(self) -> FactFinder:
        """Finds facts by name, and across contacts."""
        from reconciler.service.finding import FactFinder

        return FactFinder(
            store=self.store,
            embedder=self.embedder,
            confidence_min=self.settings.recall.confidence_min,
            hides_expired=self.settings.life.expired == "hidden",
            clock=self.clock,
            floor=_recall_floor(self.settings.recall, self.embedder.model_id),
        )

    @_Part
    def reembedding(self) -> Reembedding:
        """Moves the store to another model."""
        return _reembedding(self._graph, self.settings)

    @_Part
    def archive_store(self) -> ArchiveStore:
        """Reads all that there is, contact after contact."""
        from reconciler.service.stores.archive_store import ArchiveStore

        return ArchiveStore(self._patient_graph)

    @_Part
    def damage(self) -> Damage:
        """Finds records that cannot be read."""
        from reconciler.service.moving.damage import Damage
        from reconciler.service.moving.lines import shipped_types

        return Damage(self.archive_store, shipped_types())

    @_Part
    def exporter(self) -> Exporter:
        """Writes exports."""
        from reconciler.service.moving.exporting import Exporter
        from reconciler.service.moving.lines import shipped_types

        return Exporter(
            store=self.archive_store,
            damage=self.damage,
            types=shipped_types(),
            hash_key=lambda: _hash_key_if_any(self.settings),
            clock=self.clock,
        )

    @_Part
    def health(self) -> Health:
        """Reports the memory's health."""
        from reconciler.service.health import Health

        return Health(
            store=self.store,
            damage=self.damage,
            records=self.records,
            embedding_model=self.embedder.model_id,
            near_min=self.policy.cosine_update_min,
            file_bytes=lambda: _bytes_of(file_of_memory(self.settings)),
            clock=self.clock,
        )

    @_Part
    def procedures(self) -> Procedures:
        """Agents' procedures."""
        from reconciler.service.tasks.procedures import Procedures

        return Procedures(store=self.store, embedder=self.embedder, clock=self.clock)

    @_Part
    def contact_page(self) -> ContactPage:
        """Writes everything known about a contact on one page."""
        from reconciler.service.moving.contact_page import ContactPage

        return ContactPage(store=self.archive_store, records=self.records, clock=self.clock)

    @_Part
    def report(self) -> Report:
        """Draws timelines of facts."""
        from reconciler.service.pages.report import Report

        return Report(records=self.records, store=self.store, clock=self.clock)

    @_Part
    def past_recall(self) -> PastRecall:
        """Answers a query about the past."""
        from reconciler.service.past_recall import PastRecall

        return PastRecall(
            store=self.store,
            records=self.records,
            embedder=self.embedder,
            asked=self.asked_attributes,
            how=_recalling(self.settings, self.embedder.model_id),
            clock=self.clock,
        )

    @_Part
    def extractor(self) -> Extractor:
        """The extractor, which reads sessions."""
        if self._given_extractor is not None:
            return self._given_extractor
        built = build_extractor(self.settings, self.attributes)
        self.closing.callback(built.close)
        return built

    @_Part
    def session_reader(self) -> SessionReader:
        """Has the extractor read sessions."""
        from reconciler.service.sessions.extraction import SessionReader

        return SessionReader(
            extractor=self.extractor,
            attributes=self.attributes,
            gate=self.gate,
            cleaner=self.cleaner,
            near=lambda *asked: self.recall.near(*asked),
            digest=self.digest,
            policy=_extraction_policy(self.settings),
        )

    @_Part
    def memory_extractor(self) -> MemoryExtractor:
        """The background door."""
        from reconciler.service.sessions.extraction import MemoryExtractor

        return MemoryExtractor(
            store=self.session_store, reader=self.session_reader, clock=self.clock
        )

    @_Part
    def arbitration(self) -> Arbitration | None:
        """The arbiter within its bounds; None without one."""
        arbiter = self._given_arbiter
        if arbiter is None and (arbiter := build_arbiter(self.settings)) is not None:
            self.closing.callback(arbiter.close)
        if arbiter is None:
            return None
        from reconciler.service.writing.arbitration import Arbitration

        arbitration = Arbitration(arbiter, arbitration_policy(self.settings))
        self.closing.callback(arbitration.close)
        return arbitration


def build_services(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    arbiter: Arbiter | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], datetime] | None = None,
    migrate: bool = False,
    warm_up: bool = False,
    must_exist: bool = False,
) -> Services:
    """An open memory, its store ready for the embedder's model.

    Args:
        settings: what to build.
        embedder: instead of the one that the settings name; the caller closes it.
        arbiter: instead of the one that the settings name; the caller closes it.
        extractor: instead of the one that the settings name; the caller closes it.
        clock: the time now, UTC-aware; None for this machine's.
        migrate: bring a store of an older schema up to date instead of refusing it.
        warm_up: load the model in a thread, from now on, instead of at the first text.
        must_exist: refuse a place where there is no memory yet, and make none. Who asks for that
            only reads: what writes, and its files, are looked at when there is first need of them.

    Raises:
        ConfigurationError: something in the settings cannot work.
        GraphError: the engine is unavailable, locked, or holds a store of another schema or model.
    """
    clock = clock or _now
    with ExitStack() as stack:
        if embedder is None:
            embedder = build_embedder(settings)
            stack.callback(embedder.close)
        if warm_up:
            _warm_up_behind(embedder)
        if must_exist:
            check_memory_exists(settings)
        else:
            _check_files(settings)
            settings = _with_own_file(settings, stack)
        graph = open_graph(settings)
        stack.callback(graph.close)
        store = MemoryStore(graph)
        policy = build_policy(
            settings, embedder.model_id, is_judged=arbiter is not None or has_judge(settings)
        )
        if migrate:
            _at_opening(lambda: store.migrate(embedder.dimension))
        services = Services(
            settings=settings,
            graph=graph,
            embedder=embedder,
            policy=policy,
            arbiter=arbiter,
            extractor=extractor,
            id_key=_open_store(store, embedder, clock()),
            clock=clock,
            closing=stack,
            only_reads=must_exist,
        )
        if not must_exist:
            services.hash_key.check()
            services.build_all()
        services.closing = stack.pop_all()
        return services


def _with_own_file(settings: Settings, closing: ExitStack) -> Settings:
    """The settings; for a store in memory with a new file, which is removed at closing.

    A database in the engine's memory alone would have no file to back up, or to search after an
    erasure.

    Raises:
        ConfigurationError: no temporary folder can be made.
    """
    if not settings.is_in_memory:
        return settings
    from reconciler.adapters.drafts import temporary_folder

    try:
        folder, remove = temporary_folder()
    except OSError as error:
        raise ConfigurationError(
            f"a store in memory is kept in a temporary folder, and none can be made: {error}"
        ) from error
    closing.callback(remove)
    return settings.model_copy(update={"embedded_path": folder / "memory.lbug"})


def _check_files(settings: Settings) -> None:
    """Read what configures a write, before a store is opened or made.

    Raises:
        ConfigurationError: a file cannot be used.
    """
    from reconciler.config_files import load_attribute_book

    load_attribute_book(settings.reconcile.attributes_file)
    _gate_policy(settings)


def _warm_up_behind(embedder: Embedder) -> None:
    """Begin to load the model; what goes wrong is told to the first who needs it."""

    def load() -> None:
        with suppress(ReconcilerError):
            embedder.warm_up()

    Thread(target=load, name="reconciler-warm-up", daemon=True).start()


def open_graph(settings: Settings) -> Graph:
    """The engine that the settings choose; a Neo4j is not asked anything yet.

    Raises:
        ConfigurationError: no password, an unusable URI or path.
        GraphLockedError: another process has the embedded file open.
    """
    return _engine(settings).open_graph(settings)


def check_memory_exists(settings: Settings) -> None:
    """Let settings through under which there is a memory already; to look must not make one.

    Raises:
        ConfigurationError: there is none.
        GraphError: the engine is unavailable.
    """
    if path := file_of_memory(settings):
        place = str(path)
        is_there = os.path.lexists(path) or os.path.lexists(f"{path}.wal")
    else:
        with closing(open_graph(settings)) as graph:
            is_there, place = graph.schema_version() > 0, graph.describe().location
    if not is_there:
        raise ConfigurationError(
            f"there is no memory at {place}. A first note or `reconciler init` makes one; "
            "to use another, set RECONCILER_EMBEDDED_PATH or NEO4J_URI"
        )


def file_of_memory(settings: Settings) -> Path | None:
    """Where the chosen engine keeps its file, which to open it would make; None for a server.

    Raises:
        ConfigurationError: the path cannot be used.
    """
    return _engine(settings).file_of(settings)


def _bytes_of(path: Path | None) -> int | None:
    """Bytes of a store's main file and its log; None for a server."""
    if path is None:
        return None
    files = (path, path.with_name(f"{path.name}.wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _engine(settings: Settings) -> Engine:
    """The adapter of the chosen engine; the setting names one that has a dialect in ``cypher/``."""
    return cast("Engine", import_module(f"reconciler.adapters.{settings.graph}_graph"))


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; its model is loaded, or asked, at first use.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen = settings.embedder
    if chosen.kind == "none":
        return NoopEmbedder()
    embedder = _remote_embedder(chosen) if chosen.kind == "openai" else _local_embedder(chosen)
    if not chosen.query_prefix and not chosen.passage_prefix:
        return embedder
    from reconciler.adapters.prefixed_embedder import PrefixedEmbedder

    return PrefixedEmbedder(embedder, chosen.query_prefix, chosen.passage_prefix)


def _remote_embedder(chosen: EmbedderSettings) -> Embedder:
    from reconciler.adapters.openai_embedder import OpenAIEmbedder

    if not chosen.has_model:
        raise ConfigurationError(
            "the embedder's provider is 'openai', and it has no key: set OPENAI_API_KEY, or "
            "RECONCILER_EMBEDDER__BASE_URL for a server that wants none"
        )
    return OpenAIEmbedder(
        _connection(chosen),
        dimension=chosen.dimension,
        batch_size=chosen.batch_size,
        window_characters=chosen.window_characters,
    )


def _local_embedder(chosen: EmbedderSettings) -> Embedder:
    from reconciler.adapters.local_embedder import LocalEmbedder

    return LocalEmbedder(_local_model(chosen), chosen.batch_size)


def _local_model(chosen: EmbedderSettings) -> LocalModel:
    if chosen.kind == "packaged":
        from reconciler.adapters.onnx_minilm import OnnxMinilm

        return OnnxMinilm()
    from reconciler.adapters.sentence_transformer_model import SentenceTransformerModel

    return SentenceTransformerModel(chosen.model, chosen.allow_download)


def has_judge(settings: Settings) -> bool:
    """Whether the settings name an arbiter: it is not off, and a key or an address names it."""
    return settings.arbiter.mode != "off" and settings.arbiter.has_model


def build_arbiter(settings: Settings) -> Arbiter | None:
    """The arbiter that the settings name; None where it is off or no model is named by a key.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen = settings.arbiter
    if not has_judge(settings):
        return None
    if chosen.provider == "decisions":
        from reconciler.adapters.decisions_arbiter import DecisionsArbiter

        return DecisionsArbiter(_connection(chosen))
    from reconciler.adapters.model_arbiter import ModelArbiter

    return ModelArbiter(_vendor(chosen.provider), _connection(chosen))


def build_recorded_arbiter(lines: Iterable[str], first_day: date) -> Arbiter:
    """Who answers from recordings, in which days are counted from the first one.

    Args:
        lines: the recordings, a JSON object each.
        first_day: the day 0 of the notes that are told.
    """
    from reconciler.adapters.recorded_arbiter import RecordedArbiter, answers_in

    return RecordedArbiter(answers_in(lines), first_day)


def build_extractor(settings: Settings, attributes: AttributeBook) -> Extractor:
    """Who reads sessions: a model where one is named, else what was said in so many words.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen = settings.extractor
    if chosen.mode == "explicit" or not chosen.has_model:
        from reconciler.adapters.explicit_extractor import ExplicitExtractor

        return ExplicitExtractor(attributes)
    from reconciler.adapters.model_extractor import ModelExtractor

    return ModelExtractor(_vendor(chosen.provider), _connection(chosen))


def _vendor(provider: Literal["anthropic", "openai"]) -> BatchVendor:
    if provider == "openai":
        from reconciler.adapters.openai_calls import OpenAI

        return OpenAI()
    from reconciler.adapters.anthropic_calls import Anthropic

    return Anthropic()


def _connection(chosen: ArbiterSettings | EmbedderSettings | ExtractorSettings) -> Connection:
    from reconciler.adapters.structured_calls import Connection

    return Connection(
        # A server of one's own wants no key, and the SDKs want one.
        api_key=chosen.api_key.get_secret_value() if chosen.api_key else "none-needed",
        model=chosen.chosen_model,
        timeout_seconds=chosen.timeout_seconds,
        retries_max=chosen.retries_max,
        base_url=chosen.base_url,
    )


def build_policy(
    settings: Settings, embedding_model: str, *, is_judged: bool = False
) -> ReconcilePolicy:
    """The thresholds that the settings name, for this model.

    Args:
        settings: what names them.
        embedding_model: name and fingerprint.
        is_judged: whether there is an arbiter, who may be asked below the thresholds too.

    Raises:
        ConfigurationError: the profile is of another model, or the thresholds are out of order.
    """
    from reconciler.config_files import load_profile

    chosen = settings.reconcile
    profile = load_profile(chosen.profile)
    if embedding_model != NoopEmbedder().model_id:
        profile.check_model(embedding_model)
    update_min, add_max = chosen.cosine_update_min, chosen.cosine_add_max
    is_profiles_own = update_min is None and add_max is None and chosen.cosine_cut is None
    add_max = profile.cosine_add_max if add_max is None else add_max
    return ReconcilePolicy(
        cosine_update_min=profile.cosine_update_min if update_min is None else update_min,
        cosine_add_max=add_max,
        reach=_reach(settings.arbiter.reach, embedding_model, add_max) if is_judged else None,
        cosine_cut=profile.cosine_cut if is_profiles_own else chosen.cosine_cut,
        guard=chosen.guard == "on",
        contested_window=timedelta(days=chosen.contested_window_days),
        profile=profile.name if is_profiles_own else f"{profile.name}, overridden",
    )


def _reach(chosen: float | str, embedding_model: str, add_max: float) -> float | None:
    """From which cosine an arbiter is asked; None for the band between the thresholds alone."""
    if chosen == "band":
        return None
    if not isinstance(chosen, str):
        return chosen
    from reconciler.config_files import load_reach

    measured = load_reach(embedding_model)
    return None if measured is None else min(measured, add_max)


@cache
def build_secret_finder() -> SensitiveDataFinder:
    """Finds secrets and account numbers; loads patterns when a text may hold one."""
    from reconciler.adapters.account_number_finder import AccountNumberFinder
    from reconciler.adapters.detect_secrets_finder import DetectSecretsFinder
    from reconciler.adapters.gitleaks_finder import GitleaksFinder
    from reconciler.adapters.told_secrets_finder import ToldSecretsFinder

    return CombinedFinder(
        (DetectSecretsFinder(), GitleaksFinder(), ToldSecretsFinder(), AccountNumberFinder())
    )


@cache
def build_sensitive_data_finder() -> SensitiveDataFinder:
    """Finds personal data and secrets; loaded at the first text, once a process."""
    return DeferredFinder(_sensitive_data_finder)


def _sensitive_data_finder() -> SensitiveDataFinder:
    from reconciler.adapters.personal_data_finder import PersonalDataFinder
    from reconciler.adapters.phone_finder import PhoneFinder

    return CombinedFinder(
        (build_secret_finder(), PersonalDataFinder(), PhoneFinder(), _street_address_finder())
    )


@cache
def _street_address_finder() -> StreetAddressFinder:
    from reconciler.adapters.street_address_finder import StreetAddressFinder

    return StreetAddressFinder()


def _hashed(kind: SensitiveKind, value: str) -> str:
    """The part of a value that tells it from another; an address is the same without its place."""
    if kind is not SensitiveKind.STREET_ADDRESS:
        return value
    return _street_address_finder().street_of(value)


def build_judge(settings: Settings) -> Callable[[Candidate], Submission]:
    """The gate's judgement alone, for a dry run: no store, no model, no key.

    Raises:
        ConfigurationError: the policy cannot be used.
    """
    return _judge_under(_gate_policy(settings), _now)


def _judge_under(
    policy: GatePolicy, clock: Callable[[], datetime]
) -> Callable[[Candidate], Submission]:
    from reconciler.service.writing.cleaning import Cleaner
    from reconciler.service.writing.write_gate import judge

    secret_finder = build_secret_finder()
    cleaner = Cleaner(
        finder=build_sensitive_data_finder(),
        secret_finder=secret_finder,
        ids=IdCheck(secret_finder),
        token_of=lambda kind, _: f"[{kind}]",
        policy=policy,
    )
    return lambda candidate: judge(candidate, cleaner, clock(), LIVE_DOOR, str(uuid.uuid4()))


def _gate_policy(settings: Settings) -> GatePolicy:
    from reconciler.config_files import load_gate_policy

    return load_gate_policy(settings.gate.policy_file, settings.gate.domain)


def hash_key_of(
    settings: Settings, store: MemoryStore, clock: Callable[[], datetime] | None = None
) -> HashKey:
    """The key of the hashes in a store; read, or made, when there is first need of it."""
    from reconciler.service.hash_key import HashKey

    return HashKey(
        store,
        find=lambda: _hash_key_if_any(settings),
        find_or_make=lambda: _hash_key(settings),
        clock=clock or _now,
    )


def _hash_key(settings: Settings) -> bytes:
    """This host's key of the hashes, made where it has none."""
    if (key := _hash_key_if_any(settings)) is not None:
        return key
    from reconciler.adapters.hash_key_file import load_or_create_key

    return load_or_create_key(_hash_key_path(settings))


def _hash_key_if_any(settings: Settings) -> bytes | None:
    """This host's key of the hashes; None where it has none, and none is made."""
    if settings.gate.hash_key is not None:
        return settings.gate.hash_key.get_secret_value().encode()
    from reconciler.adapters.hash_key_file import load_key

    return load_key(_hash_key_path(settings))


def _hash_key_path(settings: Settings) -> Path:
    """Where the key of the hashes is kept, unless it is a setting."""
    from reconciler.adapters.hash_key_file import path_of_key

    return path_of_key(settings.gate.hash_key_file, file_of_memory(settings))


def accept_hash_key(settings: Settings) -> None:
    """Have the store take this host's key from now on; what was hashed before is not recognised.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        store = MemoryStore(graph)
        store.check_schema_version()
        store.release_hash_key(_now())


def back_up(services: Services, path: Path, *, overwrite: bool) -> Backup:
    """An archive of the store of an open memory, with the key of its hashes.

    Raises:
        ConfigurationError: the engine keeps no file of its own, or the archive cannot be written.
        GraphUnavailableError: the store is too busy to be copied.
    """
    from reconciler.adapters.store_backups import write_backup

    settings = services.settings
    key_file = _hash_key_path(settings)
    is_setting = settings.gate.hash_key is not None
    is_kept = not is_setting and key_file.exists()
    return write_backup(
        services.store.copy_store,
        path,
        key_file=key_file if is_kept else None,
        hash_key="setting" if is_setting else "file" if is_kept else "none",
        made_at=services.clock(),
        overwrite=overwrite,
    )


def write_new(path: Path, content: bytes, *, overwrite: bool) -> None:
    """A file for its owner's eyes, which has its name only once it is whole.

    Raises:
        ConfigurationError: it cannot be written, or exists already.
    """
    from reconciler.adapters.store_backups import new_file

    with new_file(path, overwrite=overwrite) as file:
        file.write(content)


def export(
    services: Services,
    out: str | Path | IO[bytes],
    wanted: ContactFilter,
    *,
    vectors: bool,
    keys: bool,
    overwrite: bool,
    on_progress: Callable[[int], None],
) -> ExportReport:
    """An export in a stream, or in a file, which has its name only once it is whole.

    Raises:
        InvalidRequestError: nothing is stored of what is wanted, or ``out`` is neither.
        ConfigurationError: the file cannot be written, or exists already.
        GraphError: the engine is unavailable, or another writer writes about a contact without a
            pause.
    """
    from reconciler.adapters.store_backups import new_file

    check_callable(on_progress=on_progress)
    check_flags(vectors=vectors, keys=keys, overwrite=overwrite)
    services.archive_store.check(wanted)
    run = partial(
        services.exporter.run,
        wanted=wanted,
        with_vectors=vectors,
        with_keys=keys,
        on_progress=on_progress,
    )
    if not isinstance(out, str | Path) and hasattr(out, "write"):
        return run(out)
    with new_file(file_path("out", out), overwrite=overwrite) as file:
        return run(file)


def _reembedding(graph: Graph, settings: Settings) -> Reembedding:
    from reconciler.service.reembedding import Reembedding
    from reconciler.service.stores.model_store import ModelStore

    return Reembedding(ModelStore(PatientGraph(graph, _retry_policy(settings))))


@contextmanager
def opened_reembedding(settings: Settings) -> Iterator[Reembedding]:
    """Moves the existing store to another model; it loads no model.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        MemoryStore(graph).check_schema_version()
        yield _reembedding(graph, settings)


def reembed(
    reembedding: Reembedding,
    settings: Settings,
    model: str | Embedder,
    *,
    profile: str | None,
    uncalibrated: bool,
    batch_size: int,
    on_progress: Callable[[int, int], None],
) -> ReembedReport:
    """Move a store to another model, for which there is a profile; see ``Memory.reembed``.

    Raises:
        ConfigurationError: the model cannot be had, or no profile was calibrated on it.
        InvalidRequestError, EmbeddingError, GraphError: see ``Reembedding.run``.
    """
    with ExitStack() as stack:
        embedder: Embedder
        to_set = {}
        if isinstance(model, str):
            chosen = _moved_to(settings.embedder, model)
            to_set["RECONCILER_EMBEDDER__MODEL"] = model
            if settings.embedder.provider != "auto":
                to_set["RECONCILER_EMBEDDER__PROVIDER"] = chosen.provider
            embedder = build_embedder(settings.model_copy(update={"embedder": chosen}))
            stack.callback(embedder.close)
        else:
            embedder = model
        reembedding.check(embedder)
        given = settings.reconcile.profile
        name, is_calibrated = _profile_for(embedder, profile, given, uncalibrated=uncalibrated)
        to_set["RECONCILER_RECONCILE__PROFILE"] = name
        report = reembedding.run(embedder, batch_size=batch_size, on_progress=on_progress)
    return replace(report, settings=to_set, is_calibrated=is_calibrated)


def _moved_to(chosen: EmbedderSettings, model: str) -> EmbedderSettings:
    """The settings with another model; those of a server and prefixes are left behind with it."""
    from reconciler.settings import PROVIDERS_OF_NAMES, EmbedderSettings

    if provider := PROVIDERS_OF_NAMES.get(model):
        given = {"provider": provider, "batch_size": chosen.batch_size}
    else:
        is_named = chosen.kind in PROVIDERS_OF_NAMES.values()
        given = chosen.model_dump() | ({"provider": "auto"} if is_named else {})
    try:
        return EmbedderSettings.model_validate(given | {"model": model})
    except ValueError as error:
        raise ConfigurationError(f"{model!r} is no name of a model") from error


def _profile_for(
    embedder: Embedder, asked: str | None, configured: str, *, uncalibrated: bool
) -> tuple[str, bool]:
    """The profile to be set with a model, and whether it was calibrated on it.

    Raises:
        ConfigurationError: it was calibrated on another model, or on none, and the settings do not
            accept that.
    """
    from reconciler.config_files import load_profile, profiles_of

    model = embedder.model_id
    if asked is not None:
        profile = load_profile(asked)
        profile.check_model(model)
        if profile.embedding_model == model or uncalibrated:
            return asked, profile.embedding_model == model
    else:
        if load_profile(configured).embedding_model == model:
            return configured, True
        if shipped := profiles_of(model):
            return shipped[0], True
        if uncalibrated:
            return "seed", False
    raise ConfigurationError(
        f"no profile says what a cosine of {model} means: run `reconciler calibrate PAIRS` with "
        "RECONCILER_EMBEDDER__MODEL set to it, and give the file that this writes as the profile "
        "(--profile); or accept the profile seed, whose thresholds were not measured on any model "
        "(--uncalibrated)"
    )


def restore_memory(
    settings: Settings,
    path: Path,
    *,
    embedder: Embedder | None,
    clock: Callable[[], datetime] | None,
    accept_other_key: bool,
    on_progress: Callable[[int, int], None],
) -> Backup | RestoreReport:
    """A backup, or an export, put where the settings look for a memory.

    Raises:
        InvalidArchiveError: it is neither, or cannot be used; nothing was changed.
        ConfigurationError: the settings cannot work, or a backup meets a memory.
        GraphError: the engine is unavailable, locked, or holds a store of another schema or model.
    """
    from reconciler.adapters.store_backups import is_backup, restore_backup

    if not is_backup(path):
        return _restore_export(
            settings, path, embedder, clock or _now, accept_other_key, on_progress
        )
    if (main := file_of_memory(settings)) is None:
        raise ConfigurationError(
            f"{path} is a backup of the embedded engine, and Neo4j is chosen; restore it with "
            "RECONCILER_GRAPH=embedded, and move that memory by `reconciler export`"
        )
    return restore_backup(path, main.resolve(), _hash_key_path(settings))


def _restore_export(
    settings: Settings,
    path: Path,
    embedder: Embedder | None,
    clock: Callable[[], datetime],
    accept_other_key: bool,
    on_progress: Callable[[int, int], None],
) -> RestoreReport:
    from reconciler.service.moving.lines import shipped_types
    from reconciler.service.moving.restoring import Restorer
    from reconciler.service.stores.archive_store import ArchiveStore

    types = shipped_types()
    restorer = Restorer(path, types, settings.graph)
    checked = restorer.check()  # this, and what its vectors are, before a store is made for it
    with ExitStack() as stack:
        if embedder is None:
            embedder = build_embedder(settings)
            stack.callback(embedder.close)
        restorer.check_vectors(checked, embedder)
        graph = open_graph(settings)
        stack.callback(graph.close)
        patience = _retry_policy(settings)
        store = MemoryStore(graph)
        _open_store(store, embedder, clock())
        hash_key_of(settings, store).check()
        return restorer.run(
            checked,
            store=ArchiveStore(PatientGraph(graph, patience)),
            embedder=embedder,
            hash_key=_hash_key_if_any(settings),
            keep_hash_key=lambda key: _keep_hash_key(settings, key),
            clock=clock,
            accept_other_key=accept_other_key,
            on_progress=on_progress,
        )


def _keep_hash_key(settings: Settings, key: bytes) -> None:
    """Keep a key that came with an export, where there is none yet."""
    from reconciler.adapters.hash_key_file import load_or_create_key

    load_or_create_key(_hash_key_path(settings), key)


def arbitration_policy(settings: Settings) -> ArbitrationPolicy:
    """The bounds and prices of asking the arbiter; the list price where none is set.

    Raises:
        ConfigurationError: the list of prices cannot be read.
    """
    from reconciler.config_files import load_prices

    names = {field.name for field in fields(ArbitrationPolicy)}
    chosen = settings.arbiter
    # At another address another vendor may ask another price for a model of the same name.
    listed = {} if chosen.base_url else load_prices(chosen.provider, chosen.chosen_model)
    return ArbitrationPolicy(**{**listed, **chosen.model_dump(include=names, exclude_none=True)})


def build_worker(
    services: Services, on_stage: Callable[[Stage], None] = lambda _: None
) -> ExtractionWorker:
    """A worker on an open memory; every worker is one of its own.

    Args:
        services: the open memory.
        on_stage: told at each stage of a job; for tests, which may end the process there.
    """
    from reconciler.service.sessions.extraction_worker import ExtractionWorker

    chosen = services.settings.jobs
    return ExtractionWorker(
        store=services.session_store,
        reader=services.session_reader,
        gate=services.gate,
        policy=JobPolicy(**chosen.model_dump(exclude={"poll_seconds"})),
        poll_seconds=chosen.poll_seconds,
        clock=services.clock,
        on_stage=on_stage,
        on_idle=_when_idle(services),
    )


def _when_idle(services: Services) -> Callable[[], None]:
    """A worker's idle task; made when a worker first has no job, so never for ``drain``."""
    made = cache(partial(_idle_rejudging, services))

    def step() -> None:
        if (idle := made()) is not None:
            idle.step()

    return step


def _idle_rejudging(services: Services) -> IdleRejudging | None:
    """Judging what waits for a judge; None without an arbiter."""
    from reconciler.service.writing.rejudging import IdleRejudging

    if services.rejudging is None:
        return None

    def scopes() -> Iterator[Scope]:
        for tenant, agent_id in services.health.agents():
            yield from services.records.scopes(Scope(tenant, agent_id, "any"))

    return IdleRejudging(services.rejudging, scopes, services.clock)


def _extraction_policy(settings: Settings) -> ExtractionPolicy:
    chosen = settings.extractor
    names = {field.name for field in fields(ExtractionPolicy)} - {"has_fallback"}
    return ExtractionPolicy(
        **chosen.model_dump(include=names), has_fallback=chosen.fallback == "raw"
    )


def _open_store(store: MemoryStore, embedder: Embedder, now: datetime) -> bytes:
    return _at_opening(lambda: store.open(embedder.model_id, embedder.dimension, now))


def _at_opening(call: Callable[[], T]) -> T:
    """Several processes may make or upgrade a store at once; constraints then meet in deadlocks.

    A server takes seconds to give up the constraint that a killed process was making.
    """
    # Not for long if the server is unavailable: the opener of a memory wants to know at once.
    policy = RetryPolicy(attempts_max=_OPENING_ATTEMPTS_MAX, unavailable_seconds_max=0.0)
    pauses = chain([0.0], repeat(_OPENING_PAUSE_SECONDS))
    return call_with_retries(policy, lambda _: call(), before_each=lambda: time.sleep(next(pauses)))


def _retry_policy(settings: Settings) -> RetryPolicy:
    return RetryPolicy(
        attempts_max=settings.reconcile.write_attempts_max,
        unavailable_seconds_max=settings.reconcile.unavailable_seconds_max,
    )


def _recalling(settings: Settings, embedding_model: str) -> Recalling:
    from reconciler.domain.recalling.recallable import Recalling

    given = settings.recall
    names = {field.name for field in fields(RankingPolicy)}
    return Recalling(
        ranking=RankingPolicy(**given.model_dump(include=names)),
        floor=_recall_floor(given, embedding_model),
        confidence_min=given.confidence_min,
        decay=build_decay(settings),
        hides_expired=settings.life.expired == "hidden",
    )


def _recall_floor(given: RecallSettings, embedding_model: str) -> RecallFloor | None:
    if given.floor == "calibrated":
        from reconciler.config_files import load_recall_floor

        return load_recall_floor(embedding_model)
    if given.floor == "off":
        return None
    return RecallFloor(base=given.floor, growth=given.floor_growth, words=given.floor_words)


def build_decay(settings: Settings, floor: float | None = None) -> DecayPolicy:
    """How facts fade, as the settings say; with another floor where one is given.

    Raises:
        ConfigurationError: the floor is out of range.
    """
    life = settings.life
    return DecayPolicy(
        half_life_days=life.decay_half_life_days,
        floor=life.archive_floor if floor is None else floor,
    )


def _now() -> datetime:
    return datetime.now(UTC)
