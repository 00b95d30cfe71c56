"""Bootstrap: builds everything from the settings. The only module that knows all adapters."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import platformdirs
from pydantic import SecretStr

from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.adapters.sensitive_data_finders import CombinedFinder, DeferredFinder
from reconciler.config_files import load_attribute_book, load_gate_policy, load_profile
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.jobs import Stage
from reconciler.domain.records.policies import (
    ArbitrationPolicy,
    ExtractionPolicy,
    JobPolicy,
    RankingPolicy,
    ReconcilePolicy,
    RetryPolicy,
)
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import ConfigurationError, GraphUnavailableError, ReconcilerError
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.ports.extractor import Extractor
from reconciler.ports.graph import Graph
from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
from reconciler.sensitive_data import keyed_digest, keyed_token
from reconciler.service.recall import Recall
from reconciler.service.sessions.extraction import MemoryExtractor, SessionReader
from reconciler.service.sessions.extraction_worker import ExtractionWorker
from reconciler.service.stores.memory_store import MemoryStore
from reconciler.service.stores.patient_graph import PatientGraph
from reconciler.service.stores.retry import call_with_retries
from reconciler.service.stores.session_store import SessionStore
from reconciler.service.stores.task_store import TaskStore
from reconciler.service.writing.arbitration import Arbitration
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.confirmations import Confirmations
from reconciler.service.writing.decision_ids import DecisionIds
from reconciler.service.writing.doors import LiveDoor
from reconciler.service.writing.ledger import Ledger
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.neighbourhoods import Neighbourhoods
from reconciler.service.writing.note_import import NoteImport
from reconciler.service.writing.write_gate import Judged, WriteGate, judge
from reconciler.settings import ArbiterSettings, EmbedderSettings, ExtractorSettings, Settings

if TYPE_CHECKING:
    from reconciler.adapters.anthropic_calls import Connection
    from reconciler.adapters.local_embedder import LocalModel

__all__ = [
    "Services",
    "build_arbiter",
    "build_embedder",
    "build_extractor",
    "build_judge",
    "build_policy",
    "build_secret_finder",
    "build_sensitive_data_finder",
    "build_services",
    "build_worker",
    "check_memory_exists",
    "open_graph",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that one open memory consists of; ``closing`` gives it all back."""

    settings: Settings
    store: MemoryStore
    embedder: Embedder
    policy: ReconcilePolicy
    attributes: AttributeBook
    reconciler: MemoryReconciler
    gate: WriteGate
    cleaner: Cleaner
    confirmations: Confirmations
    clock: Callable[[], datetime]
    live_door: LiveDoor
    recall: Recall
    note_import: NoteImport
    session_store: SessionStore
    task_store: TaskStore
    extractor: Extractor
    session_reader: SessionReader
    memory_extractor: MemoryExtractor
    closing: ExitStack


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What was opened or read, before it is put together."""

    settings: Settings
    policy: ReconcilePolicy
    gate_policy: GatePolicy
    attributes: AttributeBook
    graph: Graph
    store: MemoryStore
    embedder: Embedder
    arbitration: Arbitration | None
    extractor: Extractor
    decision_ids: DecisionIds
    hash_key: Callable[[], bytes]
    clock: Callable[[], datetime]
    closing: ExitStack

    def digest(self, text: str) -> str:
        """A keyed hash, from which nobody can guess the text."""
        return keyed_digest(self.hash_key(), text)


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
        must_exist: refuse a place where there is no memory yet, and make none.

    Raises:
        ConfigurationError: something in the settings cannot work.
        GraphError: the engine is away, locked, or holds a store of another schema or model.
    """
    clock = clock or _now
    with ExitStack() as stack:
        if embedder is None:
            embedder = build_embedder(settings)
            stack.callback(embedder.close)
        if warm_up:
            _warm_up_behind(embedder)
        attributes = load_attribute_book(settings.reconcile.attributes_file)
        gate_policy = load_gate_policy(settings.gate.policy_file, settings.gate.domain)
        if must_exist:
            check_memory_exists(settings)
        graph = open_graph(settings)
        stack.callback(graph.close)
        store = MemoryStore(graph)
        policy = build_policy(settings, embedder.model_id)
        if migrate:
            store.migrate(embedder.dimension)
        id_key = _open_store(store, embedder, settings.reconcile.write_attempts_max, clock())
        patience = _retry_policy(settings)
        if arbiter is None and (arbiter := build_arbiter(settings)) is not None:
            stack.callback(arbiter.close)
        arbitration = None
        if arbiter is not None:
            arbitration = Arbitration(arbiter, _arbitration_policy(settings))
        if extractor is None:
            extractor = build_extractor(settings, attributes)
            stack.callback(extractor.close)
        return _wire(
            _Parts(
                settings=settings,
                policy=policy,
                gate_policy=gate_policy,
                attributes=attributes,
                graph=PatientGraph(graph, patience),
                store=MemoryStore(PatientGraph(graph, patience, GraphUnavailableError)),
                embedder=embedder,
                arbitration=arbitration,
                extractor=extractor,
                decision_ids=DecisionIds(id_key),
                hash_key=_hash_key(settings),
                clock=clock,
                closing=stack.pop_all(),
            )
        )


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
    if settings.graph == "embedded":
        from reconciler.adapters.embedded_graph import EmbeddedGraph

        return EmbeddedGraph(_utf_8(settings.embedded_path))
    from reconciler.adapters.neo4j_graph import Neo4jGraph

    chosen = settings.neo4j
    if chosen.password is None:
        raise ConfigurationError(f"no password for Neo4j at {chosen.uri}; set NEO4J_PASSWORD")
    return Neo4jGraph(
        uri=chosen.uri,
        username=chosen.username,
        password=chosen.password.get_secret_value(),
        database=chosen.database,
        pool_size_max=chosen.pool_size_max,
        connect_timeout_seconds=chosen.connect_timeout_seconds,
        silence_timeout_seconds=chosen.silence_timeout_seconds,
        query_timeout_seconds=chosen.query_timeout_seconds,
    )


def check_memory_exists(settings: Settings) -> None:
    """Let settings through under which there is a memory already; to look must not make one.

    Raises:
        ConfigurationError: there is none.
        GraphError: the engine is away.
    """
    if settings.graph == "embedded":
        place = str(path := _utf_8(settings.embedded_path).expanduser())
        is_there = os.path.lexists(path) or os.path.lexists(f"{path}.wal")
    else:
        place = f"{settings.neo4j.uri}, database {settings.neo4j.database}"
        with closing(open_graph(settings)) as graph:
            is_there = graph.schema_version() > 0
    if not is_there:
        raise ConfigurationError(
            f"there is no memory at {place}; a first note, or `reconciler init`, makes one, and "
            "RECONCILER_EMBEDDED_PATH or NEO4J_URI names another"
        )


def _utf_8(path: Path) -> Path:
    """The path, if the embedded engine can be told of it."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {path} is not valid UTF-8; give the file a name that is"
        ) from error
    return path


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; its model is loaded at first use."""
    chosen = settings.embedder
    if chosen.model == "noop":
        return NoopEmbedder()
    from reconciler.adapters.local_embedder import LocalEmbedder

    return LocalEmbedder(_local_model(chosen), chosen.batch_size)


def _local_model(chosen: EmbedderSettings) -> LocalModel:
    if chosen.model == "minilm":
        from reconciler.adapters.onnx_minilm import OnnxMinilm

        return OnnxMinilm()
    from reconciler.adapters.sentence_transformer_model import SentenceTransformerModel

    return SentenceTransformerModel(chosen.model, chosen.allow_download)


def build_arbiter(settings: Settings) -> Arbiter | None:
    """The arbiter that the settings name; None where it is off or has no key."""
    chosen = settings.arbiter
    if chosen.mode == "off" or chosen.api_key is None:
        return None
    from reconciler.adapters.anthropic_arbiter import AnthropicArbiter

    return AnthropicArbiter(_connection(chosen, chosen.api_key))


def build_extractor(settings: Settings, attributes: AttributeBook) -> Extractor:
    """Who reads sessions: Claude where there is a key, else what was said in so many words."""
    chosen = settings.extractor
    if chosen.mode == "explicit" or chosen.api_key is None:
        from reconciler.adapters.explicit_extractor import ExplicitExtractor

        return ExplicitExtractor(attributes)
    from reconciler.adapters.anthropic_extractor import AnthropicExtractor

    return AnthropicExtractor(_connection(chosen, chosen.api_key))


def _connection(chosen: ArbiterSettings | ExtractorSettings, api_key: SecretStr) -> Connection:
    from reconciler.adapters.anthropic_calls import Connection

    return Connection(
        api_key=api_key.get_secret_value(),
        model=chosen.model,
        timeout_seconds=chosen.timeout_seconds,
        retries_max=chosen.retries_max,
        base_url=chosen.base_url,
    )


def build_policy(settings: Settings, embedding_model: str) -> ReconcilePolicy:
    """The thresholds that the settings name, for this model.

    Raises:
        ConfigurationError: the profile is of another model, or the thresholds are out of order.
    """
    chosen = settings.reconcile
    profile = load_profile(chosen.profile)
    if embedding_model != NoopEmbedder().model_id:
        profile.check_model(embedding_model)
    update_min, add_max = chosen.cosine_update_min, chosen.cosine_add_max
    is_profiles_own = update_min is None and add_max is None and chosen.cosine_cut is None
    return ReconcilePolicy(
        cosine_update_min=profile.cosine_update_min if update_min is None else update_min,
        cosine_add_max=profile.cosine_add_max if add_max is None else add_max,
        cosine_cut=profile.cosine_cut if is_profiles_own else chosen.cosine_cut,
        guard=chosen.guard == "on",
        contested_window=timedelta(days=chosen.contested_window_days),
        profile=profile.name if is_profiles_own else f"{profile.name}, overridden",
    )


@cache
def build_secret_finder() -> SensitiveDataFinder:
    """What finds secrets alone; its patterns are loaded when a text may hold one."""
    from reconciler.adapters.detect_secrets_finder import DetectSecretsFinder

    return CombinedFinder((DetectSecretsFinder(),))


@cache
def build_sensitive_data_finder() -> SensitiveDataFinder:
    """What finds personal data and secrets; loaded at the first text, once a process."""
    return DeferredFinder(_sensitive_data_finder)


def _sensitive_data_finder() -> SensitiveDataFinder:
    from reconciler.adapters.phone_finder import PhoneFinder
    from reconciler.adapters.presidio_finder import PresidioFinder
    from reconciler.adapters.street_address_finder import StreetAddressFinder

    return CombinedFinder(
        (build_secret_finder(), PresidioFinder(), PhoneFinder(), StreetAddressFinder())
    )


def build_judge(settings: Settings) -> Callable[[Candidate], Judged]:
    """The gate's judgement alone, for a dry run: no store, no model, no key.

    Raises:
        ConfigurationError: the policy cannot be used.
    """
    policy = load_gate_policy(settings.gate.policy_file, settings.gate.domain)
    cleaner = Cleaner(
        finder=build_sensitive_data_finder(),
        secret_finder=build_secret_finder(),
        token_of=lambda kind, _: f"[{kind}]",
        policy=policy,
    )
    return lambda candidate: judge(candidate, cleaner, _now())


def _hash_key(settings: Settings) -> Callable[[], bytes]:
    """The key of the hashes; read, or made, when there is first need of it."""

    @cache
    def key() -> bytes:
        chosen = settings.gate
        if chosen.hash_key is not None:
            return chosen.hash_key.get_secret_value().encode()
        from reconciler.adapters.hash_key_file import load_or_create_key

        path = chosen.hash_key_file or _usual_key_path(settings)
        return load_or_create_key(path.expanduser())

    return key


def _usual_key_path(settings: Settings) -> Path:
    if settings.graph == "embedded":
        return settings.embedded_path.with_suffix(".key")
    return platformdirs.user_data_path("reconciler") / "hash.key"


def _arbitration_policy(settings: Settings) -> ArbitrationPolicy:
    names = {field.name for field in fields(ArbitrationPolicy)}
    return ArbitrationPolicy(**settings.arbiter.model_dump(include=names))


def _wire_writing(
    parts: _Parts, neighbourhoods: Neighbourhoods, cleaner: Cleaner
) -> tuple[MemoryReconciler, WriteGate]:
    """What every note goes through, whichever door it came by."""
    settings, store, clock = parts.settings, parts.store, parts.clock
    ledger = Ledger(
        store=store,
        neighbourhoods=neighbourhoods,
        retry_policy=_retry_policy(settings),
        clock=clock,
    )
    reconciler = MemoryReconciler(
        store=store,
        ledger=ledger,
        embedder=parts.embedder,
        arbitration=parts.arbitration,
        policy=parts.policy,
        attempts_max=settings.reconcile.write_attempts_max,
        clock=clock,
    )
    gate = WriteGate(
        store=store,
        reconciler=reconciler,
        ledger=ledger,
        cleaner=cleaner,
        decision_ids=parts.decision_ids,
        clock=clock,
    )
    return reconciler, gate


def _wire_sessions(
    parts: _Parts, gate: WriteGate, cleaner: Cleaner, store: SessionStore
) -> tuple[SessionReader, MemoryExtractor]:
    """What takes whole sessions, and what reads them afterwards."""
    reader = SessionReader(
        extractor=parts.extractor,
        attributes=parts.attributes,
        gate=gate,
        cleaner=cleaner,
        digest=parts.digest,
        policy=_extraction_policy(parts.settings),
    )
    return reader, MemoryExtractor(store=store, reader=reader, clock=parts.clock)


def _wire(parts: _Parts) -> Services:
    """The open memory: what writes, what reads sessions, and the doors and readers around them."""
    settings, store, attributes = parts.settings, parts.store, parts.attributes
    clock = parts.clock
    neighbourhoods = Neighbourhoods(
        store, parts.embedder.model_id, settings.reconcile.cached_facts_max
    )
    cleaner = Cleaner(
        finder=build_sensitive_data_finder(),
        secret_finder=build_secret_finder(),
        token_of=lambda kind, value: keyed_token(parts.hash_key(), kind, value),
        policy=parts.gate_policy,
    )
    reconciler, gate = _wire_writing(parts, neighbourhoods, cleaner)
    session_store = SessionStore(parts.graph)
    session_reader, memory_extractor = _wire_sessions(parts, gate, cleaner, session_store)
    return Services(
        settings=settings,
        store=store,
        embedder=parts.embedder,
        policy=parts.policy,
        attributes=attributes,
        reconciler=reconciler,
        gate=gate,
        cleaner=cleaner,
        confirmations=Confirmations(gate=gate, cleaner=cleaner, store=store, clock=clock),
        clock=clock,
        live_door=LiveDoor(gate=gate, attributes=attributes, clock=clock),
        recall=Recall(
            store=store,
            neighbourhoods=neighbourhoods,
            embedder=parts.embedder,
            policy=_ranking(settings),
            confidence_min=settings.recall.confidence_min,
            clock=clock,
        ),
        note_import=NoteImport(
            gate=gate,
            cleaner=cleaner,
            embed=reconciler.embed,
            digest=parts.digest,
            decision_ids=parts.decision_ids,
            store=store,
            attributes=attributes,
            clock=clock,
        ),
        session_store=session_store,
        task_store=TaskStore(parts.graph),
        extractor=parts.extractor,
        session_reader=session_reader,
        memory_extractor=memory_extractor,
        closing=parts.closing,
    )


def build_worker(
    services: Services, on_stage: Callable[[Stage], None] = lambda _: None
) -> ExtractionWorker:
    """A worker on an open memory; every worker is one of its own.

    Args:
        services: the open memory.
        on_stage: told at each stage of a job; for tests, which may end the process there.
    """
    chosen = services.settings.jobs
    return ExtractionWorker(
        store=services.session_store,
        reader=services.session_reader,
        gate=services.gate,
        policy=JobPolicy(**chosen.model_dump(exclude={"poll_seconds"})),
        poll_seconds=chosen.poll_seconds,
        clock=services.clock,
        on_stage=on_stage,
    )


def _extraction_policy(settings: Settings) -> ExtractionPolicy:
    chosen = settings.extractor
    names = {field.name for field in fields(ExtractionPolicy)} - {"has_fallback"}
    return ExtractionPolicy(
        **chosen.model_dump(include=names), has_fallback=chosen.fallback == "raw"
    )


def _open_store(store: MemoryStore, embedder: Embedder, attempts_max: int, now: datetime) -> bytes:
    """Several processes may make an empty store at once; constraints then meet in deadlocks."""

    def once(_: int) -> bytes:
        return store.open(embedder.model_id, embedder.dimension, now)

    # Not for long where the server is away: whoever opens a memory wants to know at once.
    return call_with_retries(
        RetryPolicy(attempts_max=attempts_max, unavailable_seconds_max=0.0), once
    )


def _retry_policy(settings: Settings) -> RetryPolicy:
    return RetryPolicy(
        attempts_max=settings.reconcile.write_attempts_max,
        unavailable_seconds_max=settings.reconcile.unavailable_seconds_max,
    )


def _ranking(settings: Settings) -> RankingPolicy:
    return RankingPolicy(**settings.recall.model_dump(exclude={"limit", "confidence_min"}))


def _now() -> datetime:
    return datetime.now(UTC)
