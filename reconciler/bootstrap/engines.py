"""Opens the engine that the settings choose and its store, and finds the key of its hashes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from reconciler.adapters.hash_key_file import load_key, load_or_create_key, path_of_key
from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import ConfigurationError
from reconciler.service.hash_key import HashKey
from reconciler.service.stores.binding_store import BindingStore
from reconciler.service.stores.retry import call_with_retries

if TYPE_CHECKING:
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.graph import Engine, Graph
    from reconciler.settings import Settings


T = TypeVar("T")

_OPENING_ATTEMPTS_MAX, _OPENING_PAUSE_SECONDS = 100, 0.2
"""How often, and how many seconds apart, opening is tried while others change the schema.

A server takes seconds to give up the constraint that a killed process was making.
"""


def open_graph(settings: Settings) -> Graph:
    """Open the engine that the settings choose. Neo4j is not asked anything yet.

    Raises:
        ConfigurationError: no password, an unusable URI or path.
        GraphLockedError: another process has the embedded file open.
    """
    return _engine(settings).open_graph(settings)


def check_memory_exists(settings: Settings) -> None:
    """Check that there is a memory already; checking makes none.

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
    """The file of the chosen engine, whether it exists yet or not; None for a server.

    Raises:
        ConfigurationError: the path cannot be used.
    """
    return _engine(settings).file_of(settings)


def file_bytes(path: Path | None) -> int | None:
    """The size of a store's main file and its log, in bytes; None for a server."""
    if path is None:
        return None
    files = (path, path.with_name(f"{path.name}.wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _engine(settings: Settings) -> Engine:
    """The adapter of the chosen engine; settings accept only names with a folder in ``cypher/``."""
    return cast("Engine", import_module(f"reconciler.adapters.{settings.graph}_graph"))


def open_store(store: BindingStore, embedder: Embedder, now: datetime) -> bytes:
    """Make the store ready for a model, and return the key of its ids."""
    return at_opening(lambda: store.open(embedder.model_id, embedder.dimension, now))


def at_opening(call: Callable[[], T]) -> T:
    """The call's result. It is retried while other processes make or upgrade the same store.

    The constraints that they make then end in deadlocks.
    """
    # An unavailable server is not waited for: the opener of a memory wants to know at once.
    policy = RetryPolicy(attempts_max=_OPENING_ATTEMPTS_MAX, unavailable_seconds_max=0.0)
    pauses = chain([0.0], repeat(_OPENING_PAUSE_SECONDS))
    return call_with_retries(policy, lambda _: call(), before_each=lambda: time.sleep(next(pauses)))


def utc_now() -> datetime:
    """The time now, UTC-aware; a memory uses it unless its opener brings a clock."""
    return datetime.now(UTC)


def hash_key_of(
    settings: Settings, store: BindingStore, clock: Callable[[], datetime] | None = None
) -> HashKey:
    """A store's hash key; it is read or made when it is first needed."""
    return HashKey(
        store,
        find=lambda: hash_key_if_any(settings),
        find_or_make=lambda: (
            hash_key_if_any(settings) or load_or_create_key(hash_key_path(settings))
        ),
        clock=clock or utc_now,
    )


def hash_key_if_any(settings: Settings) -> bytes | None:
    """This host's hash key; None if it has none. None is made."""
    if settings.gate.hash_key is not None:
        return settings.gate.hash_key.get_secret_value().encode()
    return load_key(hash_key_path(settings))


def hash_key_path(settings: Settings) -> Path:
    """The file of the hash key, unless the key is a setting."""
    return path_of_key(settings.gate.hash_key_file, file_of_memory(settings))


def accept_hash_key(settings: Settings) -> None:
    """Bind the store to this host's hash key. What was hashed with another is not recognised.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        store = BindingStore(graph)
        store.check_schema_version()
        store.release_hash_key(utc_now())


def keep_hash_key(settings: Settings, key: bytes) -> None:
    """Keep the key that came with an export, if this host has none yet."""
    load_or_create_key(hash_key_path(settings), key)
