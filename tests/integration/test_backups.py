"""Backups of a live embedded store, and what is put back where no memory is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, ops
from reconciler.adapters.embedded_files import EmbeddedFiles
from reconciler.domain.records.erasures import Backup
from reconciler.errors import (
    ConfigurationError,
    GraphLockedError,
    GraphStorageError,
    InvalidArchiveError,
)
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest, embedded_engine

EMBEDDER = HashingEmbedder(16)
MAILED = "Mail her at priya@example.com."


def opened(engine: EngineUnderTest) -> Memory:
    return Memory.open(embedder=EMBEDDER, **engine.settings_arguments)


def path_of(engine: EngineUnderTest) -> Path:
    path: Path = engine.settings_arguments["embedded_path"]
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> EngineUnderTest:
    """A closed store with a fact, and a key of hashes."""
    engine = embedded_engine(tmp_path_factory.mktemp("source"))
    with opened(engine) as memory:
        memory.add_contact_note("crm", "priya", MAILED)
    return engine


@pytest.fixture(scope="module")
def archive(source: EngineUnderTest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its backup."""
    path = tmp_path_factory.mktemp("backup") / "memory.zip"
    with opened(source) as memory:
        ops.backup(memory, path)
    return path


@pytest.fixture
def target(tmp_path: Path) -> EngineUnderTest:
    """A place where no memory is."""
    return embedded_engine(tmp_path / "target")


def restored(engine: EngineUnderTest, path: Path) -> Any:
    return ops.restore(path, embedder=EMBEDDER, **engine.settings_arguments)


# What it holds


def test_a_backup_holds_store_and_key_and_is_the_owner_s_alone(archive: Path) -> None:
    with zipfile.ZipFile(archive) as found:
        assert found.namelist() == ["manifest.json", "memory.lbug", "hash.key"]
        manifest = json.loads(found.read("manifest.json"))
    assert (manifest["format"], manifest["version"]) == ("reconciler-backup", 1)
    assert archive.stat().st_mode & 0o077 == 0


def test_what_was_written_while_it_was_open_is_in_it_and_what_follows_is_not(
    tmp_path: Path, target: EngineUnderTest
) -> None:
    live = embedded_engine(tmp_path / "live")
    with opened(live) as memory:
        memory.add_contact_note("crm", "priya", "Has two children.")
        ops.backup(memory, tmp_path / "one.zip")
        memory.add_contact_note("crm", "priya", "Drives a red car.")
        ops.backup(memory, tmp_path / "two.zip")
        restored(target, tmp_path / "one.zip")
        with opened(target) as other:
            assert [e.fact.text for e in other.contact("crm", "priya").recall()] == [
                "Has two children."
            ]
    other_target = embedded_engine(tmp_path / "other")
    restored(other_target, tmp_path / "two.zip")
    assert raw_store.everything(other_target) == raw_store.everything(live)


def test_the_key_goes_with_it_so_that_a_value_has_the_same_token(
    source: EngineUnderTest, archive: Path, target: EngineUnderTest
) -> None:
    done = restored(target, archive)
    assert isinstance(done, Backup)
    assert done.hash_key == "file"
    key = path_of(target).with_suffix(".key")
    assert key.read_text() == path_of(source).with_suffix(".key").read_text()
    assert key.stat().st_mode & 0o077 == 0
    assert raw_store.everything(target) == raw_store.everything(source)


def test_what_a_restore_makes_is_the_owner_s_alone(archive: Path, tmp_path: Path) -> None:
    store, key = tmp_path / "store" / "memory.lbug", tmp_path / "keys" / "hash.key"
    ops.restore(archive, embedder=EMBEDDER, embedded_path=store, gate={"hash_key_file": str(key)})
    made = (store.parent, store, key.parent, key)
    assert [each.stat().st_mode & 0o077 for each in made] == [0, 0, 0, 0]


def test_a_store_is_whole_after_a_backup_however_its_process_ends(tmp_path: Path) -> None:
    """After it, the main file says that it needs no log, until something is written again."""
    script = (
        "import os, sys; from pathlib import Path; from reconciler import Memory, ops; "
        "from reconciler.testing import HashingEmbedder\n"
        "m = Memory.open(embedder=HashingEmbedder(16), embedded_path=Path(sys.argv[1]))\n"
        "m.add_contact_note('crm', 'priya', 'Has two children.')\n"
        "ops.backup(m, Path(sys.argv[2]))\n"
        "m.add_contact_note('crm', 'priya', 'Drives a red car.')\n"
        "os._exit(0)"
    )
    live = embedded_engine(tmp_path / "live")
    subprocess.run(
        [sys.executable, "-c", script, str(path_of(live)), str(tmp_path / "one.zip")], check=True
    )
    alone = tmp_path / "copy.lbug"
    shutil.copyfile(path_of(live), alone)
    with pytest.raises(ConfigurationError, match=r"copy\.lbug\.wal is missing"):
        Memory.open(embedder=EMBEDDER, embedded_path=alone)
    with opened(live) as memory:
        assert len(memory.contact("crm", "priya").recall()) == 2


def test_writers_and_readers_go_on_while_backups_are_made(
    tmp_path: Path, target: EngineUnderTest
) -> None:
    live = embedded_engine(tmp_path / "live")
    with opened(live) as memory:
        memory.add_contact_note("crm", "priya", "Owns no boat.")
        is_over = threading.Event()

        def write() -> None:
            for number in range(6):
                memory.add_contact_note("crm", "priya", f"Owns {number} boats.")
                memory.contact("crm", "priya").recall()
            is_over.set()

        writer = threading.Thread(target=write)
        writer.start()
        count = 0
        while not is_over.is_set():
            ops.backup(memory, tmp_path / "one.zip", overwrite=True)
            count += 1
        writer.join()
        assert count > 0
        assert len(memory.contact("crm", "priya").decisions(limit=100)) == 7
    restored(target, tmp_path / "one.zip")
    with opened(target) as memory:
        assert 1 <= len(memory.contact("crm", "priya").decisions(limit=100)) <= 7


def test_another_process_is_kept_off_the_store_after_a_backup(
    source: EngineUnderTest, tmp_path: Path
) -> None:
    """To copy a file may not give back the lock that the engine holds on it."""
    opening = "import sys, ladybug; ladybug.Database(sys.argv[1])"
    with opened(source) as memory:
        ops.backup(memory, tmp_path / "one.zip")
        tried = subprocess.run(
            [sys.executable, "-c", opening, str(path_of(source))],
            capture_output=True,
            text=True,
            check=False,
        )
    assert "Could not set lock" in tried.stderr


# What is refused


def test_a_file_that_is_there_is_not_replaced_unasked(
    source: EngineUnderTest, tmp_path: Path
) -> None:
    path = tmp_path / "one.zip"
    path.touch()
    with opened(source) as memory:
        with pytest.raises(ConfigurationError, match="already exists"):
            ops.backup(memory, path)
        assert path.read_bytes() == b""
        for _ in range(2):
            made = ops.backup(memory, path, overwrite=True)
    assert [each.name for each in tmp_path.iterdir()] == ["one.zip"]
    assert path.stat().st_size == made.archive_bytes


def text_file(path: Path) -> None:
    path.write_text("precious")


def other_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("manifest.json", "{}")


def other_store(path: Path) -> None:
    opened(embedded_engine(path.parent / "other")).close()
    path_of(embedded_engine(path.parent / "other")).rename(path)


@pytest.mark.parametrize("make", [text_file, other_archive, other_store])
def test_a_backup_replaces_no_file_but_a_backup(
    source: EngineUnderTest, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "one.zip"
    make(path)
    before = path.read_bytes()
    with opened(source) as memory, pytest.raises(InvalidArchiveError, match="is not a backup"):
        ops.backup(memory, path, overwrite=True)
    assert path.read_bytes() == before


def test_a_backup_never_replaces_a_key_of_hashes(tmp_path: Path) -> None:
    """Without the key the store does not open any more."""
    key = tmp_path / "keys" / "mine"
    engine = embedded_engine(tmp_path / "live")
    engine.settings_arguments["gate"] = {"hash_key_file": str(key)}
    with opened(engine) as memory:
        memory.add_contact_note("crm", "priya", MAILED)
        before = key.read_bytes()
        with pytest.raises(InvalidArchiveError, match="is not a backup"):
            ops.backup(memory, key, overwrite=True)
    assert key.read_bytes() == before


def test_a_backup_into_no_folder_says_so_and_leaves_nothing(
    source: EngineUnderTest, tmp_path: Path
) -> None:
    why = r"one\.zip cannot be written: No such file or directory$"
    with opened(source) as memory, pytest.raises(ConfigurationError, match=why):
        ops.backup(memory, tmp_path / "none" / "one.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_backup_beside_a_full_disk_says_that_the_disk_is_full(
    source: EngineUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    with opened(source) as memory:
        memory.add_contact_note("crm", "priya", "Plays the cello.")
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "disk_usage", lambda _: full)
            with pytest.raises(GraphStorageError, match=r"the disk is full.* free some space"):
                ops.backup(memory, tmp_path / "one.zip")
    assert list(tmp_path.iterdir()) == []
    with opened(source) as memory:
        assert memory.contact("crm", "priya").recall("cello")


def test_a_server_is_backed_up_by_its_own_means(one_neo4j: EngineUnderTest, tmp_path: Path) -> None:
    said = r"neo4j-admin .* `reconciler export`"
    with opened(one_neo4j) as memory, pytest.raises(ConfigurationError, match=said):
        ops.backup(memory, tmp_path / "one.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_backup_is_not_restored_into_a_server(archive: Path) -> None:
    with pytest.raises(ConfigurationError, match="backup of the embedded engine"):
        ops.restore(archive, graph="neo4j", neo4j={"password": "unused-password"})


def test_a_backup_is_not_restored_where_a_memory_is(archive: Path, target: EngineUnderTest) -> None:
    restored(target, archive)
    before = path_of(target).read_bytes()
    with pytest.raises(ConfigurationError, match="there is already a memory"):
        restored(target, archive)
    assert path_of(target).read_bytes() == before


def test_a_log_alone_is_a_memory_that_is_not_overwritten(
    archive: Path, target: EngineUnderTest
) -> None:
    log = EmbeddedFiles(path_of(target)).log
    log.parent.mkdir()
    log.write_bytes(b"the newest of what was remembered")
    with pytest.raises(ConfigurationError, match="there is already a memory"):
        restored(target, archive)


def test_another_key_that_is_there_is_left_and_no_store_is_made(
    archive: Path, target: EngineUnderTest
) -> None:
    key = path_of(target).with_suffix(".key")
    key.parent.mkdir()
    key.write_text("ab" * 32)
    with pytest.raises(ConfigurationError, match=r"does not hold the backup.s hash key"):
        restored(target, archive)
    assert [each.name for each in key.parent.iterdir()] == [key.name]
    assert key.read_text() == "ab" * 32


def changed(archive: Path, target: Path, **manifest: Any) -> None:
    """A copy of an archive that says something else of itself."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                content = json.dumps(json.loads(content) | manifest).encode()
            new.writestr(name, content)


def cut(archive: Path, target: Path) -> None:
    target.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])


def bent(archive: Path, target: Path) -> None:
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 85
    target.write_bytes(content)


def foreign(_: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("holiday.jpg", b"?")


def climbing(archive: Path, target: Path) -> None:
    told = {"sha256": "", "bytes": 1}
    changed(archive, target, members={"memory.lbug": told, "../../evil": told})


SPOILT = {
    "cut in half": (cut, "or was cut off or damaged"),
    "bent": (bent, "damaged"),
    "foreign": (foreign, "not a backup of this program"),
    "newer": (lambda a, t: changed(a, t, version=2), "newer version"),
    "of a newer schema": (lambda a, t: changed(a, t, schema_version=99), "newer version"),
    "of another schema than it says": (
        lambda a, t: changed(a, t, schema_version=0),
        "another store than its manifest says",
    ),
    "with a path in it": (climbing, "lacks a part"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_an_archive_that_is_not_whole_is_refused_and_leaves_nothing(
    archive: Path, target: EngineUnderTest, tmp_path: Path, name: str
) -> None:
    spoil, said = SPOILT[name]
    path = tmp_path / "spoilt.zip"
    spoil(archive, path)
    with pytest.raises(InvalidArchiveError, match=said):
        restored(target, path)
    left = path_of(target).parent
    assert not left.exists() or list(left.iterdir()) == []


def test_a_store_that_another_process_has_open_is_backed_up_by_that_one(
    source: EngineUnderTest,
) -> None:
    with opened(source), pytest.raises(GraphLockedError):
        opened(source)
