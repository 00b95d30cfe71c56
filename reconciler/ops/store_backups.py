"""Backups of the embedded engine: one archive holds a store's file and the key of its hashes.

Here: the checks of an archive before it is trusted, and how it is put in place. Never here: a
query. Each file is checked by its hash, and the engine opens the store once, in a separate folder,
before the first file is moved into the memory's place.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from reconciler.adapters import open_stores
from reconciler.adapters.drafts import draft_folder, sync, sync_folder
from reconciler.adapters.embedded_files import EmbeddedFiles
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.domain.records.erasures import Backup
from reconciler.errors import ConfigurationError, InvalidArchiveError, ReconcilerError
from reconciler.frozen import Json
from reconciler.queries import newest_schema_version
from reconciler.resources import make_folder_of

_FORMAT = "reconciler-backup"
_VERSION = 1

_STORE = "memory.lbug"
_KEY = "hash.key"
_MANIFEST = "manifest.json"
_MANIFEST_BYTES_MAX = 1 << 16
_CHUNK_BYTES = 1 << 20
_OF_OWNER = 0o600
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNREADABLE = (KeyError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""The errors when a foreign archive is read; RuntimeError if it is encrypted, or nested too
deeply."""

_TOLD = {"version": int, "schema_version": int, "members": dict, "made_at": str, "hash_key": str}
"""The keys of a manifest, with their types."""


def is_backup(path: Path) -> bool:
    """True if a file is an archive; ``restore_backup`` checks the rest.

    Raises:
        InvalidArchiveError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise InvalidArchiveError(f"{path} cannot be read: {error.strerror}") from error


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """Make a private file that gets its name only when it is completely written.

    Raises:
        ConfigurationError: the file exists already, cannot be written, or belongs to an open
            memory.
    """
    if open_stores.is_open(path):
        raise ConfigurationError(f"{path} is a file of the open memory itself; name another file")
    if path.exists() and not overwrite:
        raise ConfigurationError(
            f"{path} already exists; name another file, or overwrite it with overwrite=True "
            "(--overwrite on the command line)"
        )
    try:
        with draft_folder(path) as folder:
            draft = folder / path.name
            descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OF_OWNER)
            with os.fdopen(descriptor, "w+b") as file:
                yield file
                sync(file)
            draft.replace(path)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror or error}") from error


def write_backup(
    copy_store: Callable[[Path], None],
    path: Path,
    *,
    key_file: Path | None,
    hash_key: str,
    made_at: datetime,
    overwrite: bool,
) -> Backup:
    """Write an archive of a store and its key; it is verified before it gets its name.

    Args:
        copy_store: writes a copy of the store into a new file.
        path: the archive.
        key_file: the file of the hash key; None if the key is not kept in a file.
        hash_key: see ``Backup``.
        made_at: the time now (UTC).
        overwrite: whether to replace an archive, or an empty file, of that name; no other file is
            replaced.

    Raises:
        ConfigurationError: the archive cannot be written, or exists already.
        InvalidArchiveError: the file to replace is no archive, or of a newer version.
        GraphUnavailableError: the store is too busy to be copied.
    """
    with new_file(path, overwrite=overwrite) as file, draft_folder(path) as folder:
        if path.exists() and path.stat().st_size:  # never any other file, such as a key
            with _opened(path) as earlier:
                _manifest(earlier, path)
        copy_store(folder / _STORE)
        if key_file is not None:
            shutil.copyfile(key_file, folder / _KEY)
        members = [folder / _STORE, *([folder / _KEY] if key_file else [])]
        manifest = {
            "format": _FORMAT,
            "version": _VERSION,
            "engine": EmbeddedGraph.engine,
            "schema_version": _schema_version(folder / _STORE),
            "made_at": made_at.isoformat(),
            "hash_key": hash_key,
            "members": {member.name: _size_and_hash(member) for member in members},
        }
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_MANIFEST, json.dumps(manifest, indent=2))
            for member in members:
                archive.write(member, member.name)
        with zipfile.ZipFile(file) as archive:
            written = _manifest(archive, path)
            for name in written["members"]:
                _extract(archive, written, name, None, path)
        archive_bytes = file.seek(0, os.SEEK_END)
    return _backup(path, manifest, archive_bytes)


def restore_backup(path: Path, main: Path, key_file: Path) -> Backup:
    """Restore a store and its key to the place of a memory, if no memory is there yet.

    Args:
        path: the archive.
        main: the path for the store's file.
        key_file: the path for the key of its hashes.

    Raises:
        InvalidArchiveError: the file is no archive of ours, is cut off, damaged, or of a newer
            version. Nothing was changed.
        ConfigurationError: there is a memory, or another key, already. Nothing was changed.
    """
    if main.exists() or EmbeddedFiles(main).has_log:
        raise ConfigurationError(
            f"there is already a memory at {main}; set RECONCILER_EMBEDDED_PATH to a file that "
            "does not exist yet, or move that memory elsewhere"
        )
    try:
        make_folder_of(main)
        with draft_folder(main) as folder, _opened(path) as archive:
            manifest = _manifest(archive, path)
            _check_room(archive, manifest, folder, path)
            for name in manifest["members"]:
                _extract(archive, manifest, name, folder / name, path)
            _check_store(folder / _STORE, manifest, path)
            if _KEY in manifest["members"]:
                _place_key(folder / _KEY, key_file)
            _move(folder / _STORE, main)
    except OSError as error:
        raise ConfigurationError(f"{main} cannot be written: {error}") from error
    return _backup(main, manifest, path.stat().st_size)


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise InvalidArchiveError(
            f"{path} is not a backup, or was cut off or damaged ({error}). Nothing was changed; "
            "name another file"
        ) from error


def _manifest(archive: zipfile.ZipFile, path: Path) -> Json:
    """Read the archive's manifest, after a check that this version can read it."""
    if any(entry.compress_type not in _PACKED for entry in archive.infolist()):
        raise InvalidArchiveError(
            f"{path} is not a backup of this program, because it is packed differently; nothing "
            "was changed"
        )
    try:
        with archive.open(_MANIFEST) as file:
            manifest = json.loads(file.read(_MANIFEST_BYTES_MAX))
        is_ours = manifest["format"] == _FORMAT
    except (*_UNREADABLE, ValueError):
        is_ours = False
    if not is_ours:
        raise InvalidArchiveError(f"{path} is not a backup of this program; nothing was changed")
    if not all(type(manifest.get(name)) is kind for name, kind in _TOLD.items()):
        raise InvalidArchiveError(f"{path}: its manifest lacks a part; nothing was changed")
    newest = newest_schema_version(EmbeddedGraph.engine)
    version, schema = manifest["version"], manifest["schema_version"]
    if version != _VERSION or schema > newest:
        raise InvalidArchiveError(
            f"{path} was made by a newer version of this package (format "
            f"{version}, schema {schema}; this one reads {_VERSION} and {newest}); "
            "install that version"
        )
    members = set(manifest["members"])
    if not {_STORE} <= members <= {_STORE, _KEY}:
        raise InvalidArchiveError(f"{path} lacks a part of a backup; nothing was changed")
    return dict(manifest)


def _check_room(archive: zipfile.ZipFile, manifest: Json, folder: Path, path: Path) -> None:
    """Check that the parts of an archive have their recorded length, and fit on the disk."""
    lengths = {entry.filename: entry.file_size for entry in archive.infolist()}
    for name, told in manifest["members"].items():
        if not isinstance(told, dict) or told.get("bytes") != lengths.get(name):
            raise InvalidArchiveError(
                f"{path} is damaged: {name} has another length than recorded; nothing was changed"
            )
    if sum(lengths.values()) > shutil.disk_usage(folder).free:
        raise InvalidArchiveError(
            f"{path} holds {sum(lengths.values()):,} bytes, and {folder.parent} has no room for "
            "them; nothing was changed"
        )


def _extract(
    archive: zipfile.ZipFile, manifest: Json, name: str, target: Path | None, path: Path
) -> None:
    """Read a member to its end, into a file or nowhere, and check its hash."""
    told, digest = manifest["members"][name], hashlib.sha256()
    try:
        with archive.open(name) as member, (target or Path(os.devnull)).open("wb") as file:
            while part := member.read(_CHUNK_BYTES):
                digest.update(part)
                file.write(part)
                if file.tell() > told["bytes"]:
                    break
            if target is not None:
                sync(file)
        is_whole = digest.hexdigest() == told["sha256"]
    except _UNREADABLE:
        is_whole = False
    if not is_whole:
        raise InvalidArchiveError(
            f"{path} is damaged: the content of {name} differs; nothing was changed"
        )


def _check_store(store: Path, manifest: Json, path: Path) -> None:
    """Open the store once with the engine, in a separate place."""
    try:
        version = _schema_version(store)
    except ReconcilerError as error:
        raise InvalidArchiveError(f"{path} holds a store that cannot be opened: {error}") from error
    if version != manifest["schema_version"]:
        raise InvalidArchiveError(
            f"{path} holds another store than its manifest says; nothing was changed"
        )


def _place_key(key: Path, place: Path) -> None:
    """Put the key into its place; a key that is already there must be the same.

    Raises:
        ConfigurationError: another key is there.
    """
    if place.exists():
        if place.read_bytes().strip() != key.read_bytes().strip():
            raise ConfigurationError(
                f"{place} does not hold the backup's hash key; move this file elsewhere, or set "
                "RECONCILER_GATE__HASH_KEY_FILE to a file that does not exist yet"
            )
        return
    make_folder_of(place)
    _move(key, place)


def _move(source: Path, target: Path) -> None:
    """Move a file, made private, to a place without one; it is on the disk already."""
    source.chmod(_OF_OWNER)
    try:
        os.link(source, target)
    except FileExistsError as error:
        raise ConfigurationError(
            f"{target} was created by another program in the meantime; nothing was moved"
        ) from error
    except OSError:  # a file system without links, or a different one
        shutil.move(source, target)
    with suppress(OSError):
        sync_folder(target.parent)


def _schema_version(store: Path) -> int:
    with closing(EmbeddedGraph(store)) as graph:
        return graph.schema_version()


def _size_and_hash(path: Path) -> Json:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"sha256": digest, "bytes": path.stat().st_size}


def _backup(path: Path, manifest: Json, archive_bytes: int) -> Backup:
    return Backup(
        path=path,
        store_bytes=manifest["members"][_STORE]["bytes"],
        archive_bytes=archive_bytes,
        schema_version=manifest["schema_version"],
        made_at=manifest["made_at"],
        hash_key=manifest["hash_key"],
    )


def write_new(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a file that only its owner can read. It gets its name when it is complete.

    Raises:
        ConfigurationError: the file cannot be written, or exists already.
    """
    with new_file(path, overwrite=overwrite) as file:
        file.write(content)
