"""Reads, makes and keeps the key with which a store hashes personal data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.bootstrap.clock import utc_now
from reconciler.bootstrap.engines import check_memory_exists, file_of_memory, open_graph
from reconciler.service.stores.binding_store import BindingStore

if TYPE_CHECKING:
    from reconciler.service.hash_key import HashKey
    from reconciler.settings import Settings


def hash_key_of(
    settings: Settings, store: BindingStore, clock: Callable[[], datetime] | None = None
) -> HashKey:
    """A store's hash key; it is read or made when it is first needed."""
    from reconciler.service.hash_key import HashKey

    return HashKey(
        store,
        find=lambda: hash_key_if_any(settings),
        find_or_make=lambda: _hash_key(settings),
        clock=clock or utc_now,
    )


def _hash_key(settings: Settings) -> bytes:
    """This host's hash key; made if it has none."""
    if (key := hash_key_if_any(settings)) is not None:
        return key
    from reconciler.adapters.hash_key_file import load_or_create_key

    return load_or_create_key(hash_key_path(settings))


def hash_key_if_any(settings: Settings) -> bytes | None:
    """This host's hash key; None if it has none. None is made."""
    if settings.gate.hash_key is not None:
        return settings.gate.hash_key.get_secret_value().encode()
    from reconciler.adapters.hash_key_file import load_key

    return load_key(hash_key_path(settings))


def hash_key_path(settings: Settings) -> Path:
    """The file of the hash key, unless the key is a setting."""
    from reconciler.adapters.hash_key_file import path_of_key

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
    from reconciler.adapters.hash_key_file import load_or_create_key

    load_or_create_key(hash_key_path(settings), key)
