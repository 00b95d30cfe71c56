"""The file of the hash key: made once, when it is first needed, and private to its owner."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reconciler.errors import ConfigurationError, GraphStorageError
from reconciler.resources import expanded, is_disk_failure, make_folder_of, user_data_folder

_KEY_BYTES = 32
_FILE_BYTES_MAX = 4096


def path_of_key(named: Path | None, store: Path | None) -> Path:
    """Find the key's file: the named file, else one beside the store or in the user's data folder.

    Args:
        named: the file that the operator named, if any.
        store: the store's file; None for a server.

    Raises:
        ConfigurationError: the user has no home directory, and no file was named.
    """
    if named is not None:
        return expanded(named)
    return user_data_folder() / "hash.key" if store is None else store.with_suffix(".key")


def load_key(path: Path) -> bytes | None:
    """Read the key in a file; None without a file.

    Raises:
        ConfigurationError: the file cannot be read, or holds no key.
    """
    with _translated(path):
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return None
        with file:
            key = bytes.fromhex(file.read(_FILE_BYTES_MAX).decode("ascii").strip())
    if len(key) < _KEY_BYTES:
        raise ConfigurationError(
            f"the hash key's file {path} does not hold a key of {_KEY_BYTES} bytes; restore the "
            "file from a backup, or set RECONCILER_GATE__HASH_KEY_FILE to another file"
        )
    return key


def load_or_create_key(path: Path, new: bytes | None = None) -> bytes:
    """Read the key in a file; if there is no file, make it with ``new`` or a random key.

    Several processes may do so at once: the first one makes the file, and all read it.

    Raises:
        ConfigurationError: the file cannot be read or made, or holds no key.
        GraphStorageError: the disk is full or failing.
    """
    while (key := load_key(path)) is None:
        with _translated(path):
            make_folder_of(path)
            _create(path, new or secrets.token_bytes(_KEY_BYTES))
    return key


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and is_disk_failure(error):
            raise GraphStorageError(
                f"the hash key's file {path} cannot be written: {error.strerror}; free some disk "
                "space, and open the memory again"
            ) from error
        raise ConfigurationError(
            f"the hash key's file {path} cannot be used: {error}; set RECONCILER_GATE__HASH_KEY, "
            "or RECONCILER_GATE__HASH_KEY_FILE to a file that can be written"
        ) from error


def _create(path: Path, key: bytes) -> None:
    """Write the whole file, then link it into place; that fails if a file is already there."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.hex())
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
