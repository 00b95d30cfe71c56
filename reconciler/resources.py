"""The places of ``cypher/``, ``config/``, ``browser/``, the user's data and an operator's files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from reconciler.errors import ConfigurationError

CONFIG_BYTES_MAX = 1024 * 1024
"""Bytes in a file of settings, attributes, a policy or a lexicon; the largest shipped has 94 kB."""


def read_config(path: Path, name: str) -> str:
    """Read the text of a configuration file.

    Args:
        path: the file.
        name: the operator's name for the file, for the error.

    Raises:
        ConfigurationError: the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        with expanded(path).open("rb") as file:
            data = file.read(CONFIG_BYTES_MAX + 1)
        if len(data) <= CONFIG_BYTES_MAX:
            return data.decode("utf-8")
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise ConfigurationError(f"{name} cannot be read: {error}") from error
    raise ConfigurationError(
        f"{name} has more than {CONFIG_BYTES_MAX:,} bytes, which is too long for a configuration "
        "file; name another one"
    )


def is_disk_failure(error: OSError) -> bool:
    """True if a disk is full, failing or read-only, so that no setting is at fault."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def check_folder_is_writable(store: Path) -> None:
    """Check that this user may write in a store's folder: a store makes files beside itself.

    Args:
        store: the file of the store; the file and the folders above it need not exist yet.

    Raises:
        ConfigurationError: the user may not, or the disk is mounted to be read only.
    """
    folder = store.parent
    if os.access(folder, os.W_OK | os.X_OK):
        return
    folder = next((above for above in store.parents if above.exists()), folder)
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        is_read_only = hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY
        why = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
        raise ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {store}: this user may not write in the folder {folder}, "
            f"where a store creates its other files: {why}. Give the user that right, or name a "
            "file in another folder"
        )


def make_folder_of(path: Path) -> None:
    """Make the folder of a file, for this user alone, unless it exists."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def expanded(path: Path) -> Path:
    """Path with a leading ``~`` replaced by the home directory.

    Raises:
        ConfigurationError: there is a ``~``, and the user has no home directory.
    """
    with _at_home():
        return path.expanduser()


def user_data_folder() -> Path:
    """Folder of the user's data, unless a setting names another; it need not exist.

    Raises:
        ConfigurationError: the user has no home directory.
    """
    with _at_home():
        return platformdirs.user_data_path("reconciler").expanduser()


def user_cache_folder() -> Path:
    """User's cache folder, for files that can be fetched again; it need not exist.

    Raises:
        ConfigurationError: the user has no home directory.
    """
    with _at_home():
        return platformdirs.user_cache_path("reconciler").expanduser()


@contextmanager
def _at_home() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ConfigurationError(
            "this user has no home directory; set HOME, or name a whole path for each file: "
            "RECONCILER_EMBEDDED_PATH for the store, RECONCILER_GATE__HASH_KEY_FILE for the key of "
            "the hashes, --tokens for the tokens"
        ) from error


def resource_path(name: str) -> Path:
    """Folder of that name.

    Raises:
        ConfigurationError: neither place has it; the installation is broken.
    """
    package = Path(__file__).resolve().parent
    for place in (package / name, package.parent / name):
        if place.is_dir():
            return place
    raise ConfigurationError(f"the installation has no folder {name}/; install the package again")


def engine_names() -> tuple[str, ...]:
    """Engines that have a dialect: every folder of ``cypher/`` that holds migrations."""
    return tuple(
        sorted(folder.parent.name for folder in resource_path("cypher").glob("*/migrations"))
    )
