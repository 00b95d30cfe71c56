"""The key of the hashes, one for all hosts that write to a store. Reads and makes no file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from reconciler.errors import ConfigurationError
from reconciler.sensitive_data import key_check
from reconciler.service.stores.binding_store import BindingStore


@dataclass(eq=False)
class HashKey:
    """This host's key, after the store has confirmed it.

    Another key's hashes would not be recognised: a candidate would be proposed twice, and an erased
    fact would come back. So the first host that hashes a text fixes the store's key, by
    ``key_check``, and every other key is refused.

    Attributes:
        store: what is bound.
        find: this host's key; None where it has none yet.
        find_or_make: this host's key, made where it has none yet.
        clock: the time now, UTC-aware.
    """

    store: BindingStore
    find: Callable[[], bytes | None]
    find_or_make: Callable[[], bytes]
    clock: Callable[[], datetime]

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._key: bytes | None = None

    def __call__(self) -> bytes:
        """The key; the store is bound to it from now on.

        Raises:
            ConfigurationError: the store is bound to another one, or it cannot be read or made.
            GraphError: the store cannot be asked.
        """
        with self._lock:
            if self._key is None:
                is_bound = self._is_bound()  # before a key is made that would be refused
                key = self.find_or_make()
                own = key_check(key)
                if not is_bound and self.store.claim_hash_key(own, self.clock()) != own:
                    raise _refusal(has_one=True)
                self._key = key
            return self._key

    def check(self) -> str:
        """Check that this host has a usable key, and tell how the key and the store agree.

        Raises:
            ConfigurationError: the store is bound to a key that this host does not have.
            GraphError: the store cannot be asked.
        """
        if self._is_bound():
            return "the one that the store's hashes are made with"
        return "none needed so far"

    def _is_bound(self) -> bool:
        """Whether the store is bound to this host's key; not if it is to none.

        Raises:
            ConfigurationError: it is bound to another one.
        """
        bound, own = self.store.hash_key_check(), self.find()
        if bound is not None and (own is None or key_check(own) != bound):
            raise _refusal(has_one=own is not None)
        return bound is not None


def _refusal(*, has_one: bool) -> ConfigurationError:
    return ConfigurationError(
        f"this host has {'another hash key' if has_one else 'no hash key'}, and not the one that "
        "the store's hashes were made with: what was erased or proposed before would not be "
        "recognised. Set RECONCILER_GATE__HASH_KEY as on the other hosts, or put the key's file "
        "back (RECONCILER_GATE__HASH_KEY_FILE; beside an embedded store, its name ends in .key). "
        "If that key is lost, `reconciler init --accept-other-hash-key` has the store take this "
        "host's"
    )
