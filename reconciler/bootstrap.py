"""Bootstrap: builds everything from the settings. The only module that knows all adapters."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.ranking import RankingPolicy
from reconciler.domain.rule import ReconcilePolicy
from reconciler.errors import ConfigurationError
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.ports.graph import Graph
from reconciler.service.doors import MemoryToolset
from reconciler.service.memory_reconciler import MemoryReconciler
from reconciler.service.memory_store import MemoryStore
from reconciler.service.note_import import NoteImport
from reconciler.service.recall import Recall
from reconciler.service.retry import RetryPolicy, call_with_retries
from reconciler.settings import Settings

__all__ = ["Services", "build_arbiter", "build_embedder", "build_services", "open_graph"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that one open memory consists of; ``closing`` gives it all back."""

    settings: Settings
    store: MemoryStore
    embedder: Embedder
    reconciler: MemoryReconciler
    clock: Callable[[], datetime]
    toolset: MemoryToolset
    recall: Recall
    note_import: NoteImport
    closing: ExitStack


def build_services(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    arbiter: Arbiter | None = None,
    migrate: bool = False,
) -> Services:
    """An open memory, its store ready for the embedder's model.

    Args:
        settings: what to build.
        embedder: instead of the one that the settings name; the caller closes it.
        arbiter: instead of the one that the settings name; the caller closes it.
        migrate: bring a store of an older schema up to date instead of refusing it.

    Raises:
        ConfigurationError: something in the settings cannot work.
        GraphError: the engine is away, locked, or holds a store of another schema or model.
    """
    with ExitStack() as stack:
        graph = open_graph(settings)
        stack.callback(graph.close)
        store = MemoryStore(graph)
        if embedder is None:
            embedder = build_embedder(settings)
            stack.callback(embedder.close)
        if migrate:
            store.migrate(embedder.dimension)
        _open_store(store, embedder, _retry_policy(settings))
        if arbiter is None and (arbiter := build_arbiter(settings)) is not None:
            stack.callback(arbiter.close)
        return _wire(settings, store, embedder, arbiter, stack.pop_all())


def open_graph(settings: Settings) -> Graph:
    """The engine that the settings choose; a Neo4j is not asked anything yet.

    Raises:
        ConfigurationError: no password, an unusable URI or path.
        GraphLockedError: another process has the embedded file open.
    """
    if settings.graph == "embedded":
        from reconciler.adapters.embedded_graph import EmbeddedGraph

        return EmbeddedGraph(settings.embedded_path)
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
        query_timeout_seconds=chosen.query_timeout_seconds,
    )


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; its model is loaded at first use."""
    chosen = settings.embedder
    if chosen.model == "noop":
        return NoopEmbedder()
    from reconciler.adapters.sentence_transformer_embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        model=chosen.model,
        backend=chosen.backend,
        batch_size=chosen.batch_size,
        allow_download=chosen.allow_download,
    )


def build_arbiter(settings: Settings) -> Arbiter | None:
    """The arbiter that the settings name; None where it is off or has no key."""
    chosen = settings.arbiter
    if chosen.mode == "off" or chosen.api_key is None:
        return None
    from reconciler.adapters.anthropic_arbiter import AnthropicArbiter

    return AnthropicArbiter(
        api_key=chosen.api_key.get_secret_value(),
        model=chosen.model,
        timeout_seconds=chosen.timeout_seconds,
        retries_max=chosen.retries_max,
        base_url=chosen.base_url,
    )


def _wire(
    settings: Settings,
    store: MemoryStore,
    embedder: Embedder,
    arbiter: Arbiter | None,
    closing: ExitStack,
) -> Services:
    chosen, retry_policy = settings.reconcile, _retry_policy(settings)
    clock: Callable[[], datetime] = _now
    reconciler = MemoryReconciler(
        store=store,
        embedder=embedder,
        arbiter=arbiter,
        policy=ReconcilePolicy(
            cosine_update_min=chosen.cosine_update_min,
            cosine_add_max=chosen.cosine_add_max,
        ),
        retry_policy=retry_policy,
        clock=clock,
    )
    return Services(
        settings=settings,
        store=store,
        embedder=embedder,
        reconciler=reconciler,
        clock=clock,
        toolset=MemoryToolset(reconciler=reconciler, default_tenant=settings.tenant, clock=clock),
        recall=Recall(
            store=store,
            embedder=embedder,
            policy=_ranking(settings),
            retry_policy=retry_policy,
            clock=clock,
        ),
        note_import=NoteImport(
            reconciler=reconciler, store=store, retry_policy=retry_policy, clock=clock
        ),
        closing=closing,
    )


def _open_store(store: MemoryStore, embedder: Embedder, policy: RetryPolicy) -> None:
    """Several processes may make an empty store at once; constraints then meet in deadlocks."""

    def once(_: int) -> None:
        store.open(embedder.model_id, embedder.dimension, _now())

    # Not for long where the server is away: whoever opens a memory wants to know at once.
    call_with_retries(replace(policy, unavailable_seconds_max=0.0), once)


def _retry_policy(settings: Settings) -> RetryPolicy:
    return RetryPolicy(
        attempts_max=settings.reconcile.write_attempts_max,
        unavailable_seconds_max=settings.reconcile.unavailable_seconds_max,
    )


def _ranking(settings: Settings) -> RankingPolicy:
    return RankingPolicy(**settings.recall.model_dump(exclude={"limit"}))


def _now() -> datetime:
    return datetime.now(UTC)
