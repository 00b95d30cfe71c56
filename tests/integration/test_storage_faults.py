"""The embedded store under aimed faults: what was acknowledged is there, and the store opens.

Kills at the writes and syncs of a commit, a checkpoint, a close and an opening; logs that were cut
at every length; a disk that is full; and copies that lack a part. Kills at a random moment, which
never meet a window of microseconds, are in ``test_crashes.py``.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ladybug
import pytest

from reconciler import Memory
from reconciler.adapters import embedded_files, embedded_graph
from reconciler.adapters.embedded_files import EmbeddedFiles
from reconciler.errors import ConfigurationError, GraphLockedError, GraphStorageError
from reconciler.testing import HashingEmbedder
from tests import acts, faults
from tests.conftest import cannot_run
from tests.engines import EngineUnderTest
from tests.integration.test_crashes import halves
from tests.storage_crasher import Ended, StorageCrasher, StorageFault

pytestmark = [pytest.mark.faults, pytest.mark.kills]
PAGES_SAMPLED = 6
KILLED = 9
KNOWN = ("Has two children.", "Drives a red car.")


def opened(path: Path, **given: Any) -> Memory:
    embedder = HashingEmbedder(16)
    return Memory.open(embedder=embedder, graph="embedded", embedded_path=path, **given)


def decisions_of(path: Path) -> set[str]:
    """The ids of all decisions about the contact of these tests."""
    with opened(path) as memory:
        return {each.decision_id for each in memory.contact("crm", "priya").decisions(limit=1000)}


@pytest.fixture(scope="module")
def left_open(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of two notes as a crash leaves it: all of it is in the log."""
    folder = tmp_path_factory.mktemp("left-open")
    path = folder / "live" / "memory.lbug"
    with opened(path) as memory:
        for text in KNOWN:
            memory.add_contact_note("crm", "priya", text)
        shutil.copytree(path.parent, folder / "copy")
    return folder / "copy"


@pytest.fixture(scope="module")
def closed(left_open: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same store, closed: the main file is all of it."""
    folder = shutil.copytree(left_open, tmp_path_factory.mktemp("closed") / "copy")
    opened(folder / "memory.lbug").close()
    return folder


@pytest.fixture(scope="module")
def known(closed: Path) -> set[str]:
    """The decisions that all of these stores hold."""
    return decisions_of(closed / "memory.lbug")


NEW = "none"
"""No store: the task makes one."""


class StoreCopies:
    """Fresh copies of the stores, each in a folder of its own."""

    def __init__(self, folder: Path, sources: dict[str, Path]) -> None:
        self._folder = folder
        self._sources = sources
        self._numbers = itertools.count()

    def copy(self, name: str) -> Path:
        folder = self._folder / str(next(self._numbers))
        if name == NEW:
            folder.mkdir()
        else:
            shutil.copytree(self._sources[name], folder)
        return folder / "memory.lbug"


@pytest.fixture
def store(tmp_path: Path, left_open: Path, closed: Path) -> StoreCopies:
    return StoreCopies(tmp_path, {"left open": left_open, "closed": closed})


def chosen_calls(calls: str) -> list[int]:
    """Which calls to fail at: each sync and rename, each write beside one, and some of the rest."""
    numbers = range(1, len(calls) + 1)
    if faults.EVERY_CALL:
        return list(numbers)
    near = [n for n in numbers if set(calls[max(n - 2, 0) : n + 1]) - {"w"}]
    pages = [n for n in numbers if n not in set(near)]
    return near + faults.moments("a page").sample(pages, min(PAGES_SAMPLED, len(pages)))


def spread(numbers: list[int], count: int) -> list[int]:
    """So many of them, the first and the last among them; all where all are asked for."""
    if faults.EVERY_CALL or len(numbers) <= count:
        return numbers
    step = (len(numbers) - 1) / (count - 1)
    return sorted({numbers[round(each * step)] for each in range(count)})


def check(path: Path, ended: Ended, known: set[str]) -> None:
    """What was acknowledged is there, and at most the note that was under way beside it."""
    found = decisions_of(path)
    assert known | set(ended.acknowledged) <= found
    assert len(found) <= len(known) + len(ended.acknowledged) + 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", [StorageFault.KILL_BEFORE, StorageFault.KILL_HALFWAY])
@pytest.mark.parametrize(
    ("task", "name", "cases"),
    [
        ("write", "left open", 5),
        ("write", "closed", 4),
        ("open", NEW, 3),
        ("open", "left open", 2),
    ],
)
def test_a_kill_at_any_write_or_sync_loses_nothing_and_the_store_opens(
    crasher: StorageCrasher,
    store: StoreCopies,
    known: set[str],
    task: str,
    name: str,
    cases: int,
    fault: StorageFault,
) -> None:
    known = set() if name == NEW else known
    calls = crasher.run(task, store.copy(name)).calls
    kills = 0
    for at_call in spread(chosen_calls(calls), cases):
        if fault is StorageFault.KILL_HALFWAY and calls[at_call - 1] != "w":
            continue  # there is no middle of it
        path = store.copy(name)
        ended = crasher.run(task, path, fault, at_call)
        kills += ended.signal == KILLED
        check(path, ended, known)
        if at_call % 10 == 0:
            assert halves(EngineUnderTest("embedded", {"embedded_path": path})) == []
        shutil.rmtree(path.parent)
    assert kills > 0
    print(f"{kills} kills of {len(calls)} calls")  # noqa: T201


@pytest.mark.slow
def test_a_kill_while_a_torn_log_is_mended_leaves_it_to_be_mended(
    crasher: StorageCrasher, store: StoreCopies
) -> None:
    def torn() -> Path:
        path = store.copy("left open")
        truncate(path, 100)
        return path

    known = decisions_of(torn())
    calls = crasher.run("open", torn()).calls
    for at_call in spread(chosen_calls(calls), 4):
        path = torn()
        assert crasher.run("open", path, StorageFault.KILL_BEFORE, at_call).signal == KILLED
        assert decisions_of(path) == known


@pytest.mark.parametrize("task", ["note", "hand over"])
def test_a_write_is_answered_once_the_disk_has_all_of_it(
    crasher: StorageCrasher, store: StoreCopies, task: str
) -> None:
    """A loss of power cannot be tried here; that no write is left to be synced can be seen.

    Only a file without contents may go after the last sync: a kill before that loses nothing.
    """
    calls = crasher.run(task, store.copy("left open")).calls
    assert re.fullmatch("([wn]+s)+n?", calls), calls


# What is done besides writing notes

EVERY_ACT = pytest.mark.parametrize("act", acts.ACTS)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a closed store that holds what the acts need."""
    folder = tmp_path_factory.mktemp("prepared")
    with acts.opened({"graph": "embedded", "embedded_path": folder / "memory.lbug"}) as memory:
        acts.prepare(memory, "priya")
    return folder


@pytest.mark.slow
@EVERY_ACT
@pytest.mark.parametrize(
    "fault",
    [
        StorageFault.KILL_BEFORE,
        pytest.param(StorageFault.KILL_HALFWAY, marks=pytest.mark.faults(only=True)),
        pytest.param(StorageFault.DISK_FULL, marks=pytest.mark.faults(only=True)),
    ],
)
def test_an_act_that_a_kill_or_a_full_disk_ends_loses_nothing_it_answered(
    crasher: StorageCrasher, prepared: Path, tmp_path: Path, act: str, fault: StorageFault
) -> None:
    with acts.opened({"graph": "embedded", "embedded_path": prepared / "memory.lbug"}) as memory:
        known = acts.made(memory, "priya")
    whole = crasher.run(act, shutil.copytree(prepared, tmp_path / "whole") / "memory.lbug")
    assert (whole.errors, len(whole.acknowledged) > 1) == ([], True)
    met = 0
    places = spread(list(range(1, len(whole.calls) + 1)), 3)
    if not faults.EVERY_CALL:
        del places[0]  # nothing was answered before it
    for at_call in places:
        if fault is StorageFault.KILL_HALFWAY and whole.calls[at_call - 1] != "w":
            continue  # there is no middle of it
        folder = shutil.copytree(prepared, tmp_path / str(at_call))
        ended = crasher.run(act, folder / "memory.lbug", fault, at_call)
        met += ended.signal == KILLED or bool(ended.errors)
        given = {"graph": "embedded", "embedded_path": folder / "memory.lbug"}
        engine = EngineUnderTest("embedded", given)
        acts.check(engine, "priya", known, {*ended.acknowledged})
        shutil.rmtree(folder)
    assert met > 0


# A log that was cut


def truncate(path: Path, by: int) -> None:
    """Take so many bytes from the end of a store's log."""
    log = EmbeddedFiles(path).log
    os.truncate(log, log.stat().st_size - by)


def tiny_store(folder: Path) -> tuple[Path, list[int]]:
    """A bare store with three rows, left open; and how long its log was after each."""
    live, path = folder / "live.lbug", folder / "tiny.lbug"
    files, lengths = EmbeddedFiles(live), []
    database = files.open()
    connection = ladybug.Connection(database)
    connection.execute("CREATE NODE TABLE Row(name STRING PRIMARY KEY)").close()
    for name in ("one", "two", "three"):
        connection.execute("CREATE (row:Row {name: $name})", {"name": name}).close()
        lengths.append(files.log_bytes)
    shutil.copyfile(live, path)
    shutil.copyfile(files.log, EmbeddedFiles(path).log)
    connection.close()
    database.close()
    return path, lengths


def rows_of(path: Path) -> list[str]:
    database = EmbeddedFiles(path).open()
    with ladybug.Connection(database) as connection:
        embedded_files.leave_unchecked(connection)
        rows = connection.execute("MATCH (row:Row) RETURN row.name ORDER BY row.name")
        names = [str(row[0]) for row in rows.get_all()]  # type: ignore[union-attr]
        rows.close()  # type: ignore[union-attr]
    database.close()
    return names


def spoilt(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """A copy of a tiny store with its log changed."""
    copy = path.with_name("spoilt.lbug")
    for each in path.parent.glob("spoilt.lbug*"):
        each.unlink()
    shutil.copyfile(path, copy)
    EmbeddedFiles(copy).log.write_bytes(change(EmbeddedFiles(path).log.read_bytes()))
    return copy


def test_a_log_cut_at_any_length_of_its_last_record_opens_with_all_before_it(
    tmp_path: Path,
) -> None:
    path, lengths = tiny_store(tmp_path)
    for length in range(lengths[1], lengths[2]):
        assert rows_of(spoilt(path, lambda log, to=length: log[:to])) == ["one", "two"]
    assert rows_of(spoilt(path, lambda log: log)) == ["one", "three", "two"]


def test_a_last_record_that_ends_in_zeros_or_rubbish_is_cut_off(tmp_path: Path) -> None:
    path, lengths = tiny_store(tmp_path)
    for length in range(lengths[1], lengths[2], 16):
        for filler in (b"\0", b"\xff"):
            torn = spoilt(path, lambda log, to=length, by=filler: log[:to] + by * (len(log) - to))
            assert rows_of(torn) == ["one", "two"]


def test_a_finished_write_that_is_damaged_anywhere_is_refused_and_left_as_it_is(
    tmp_path: Path,
) -> None:
    """And no damaged length takes memory that the store does not need.

    In a process of its own: any thread that writes meanwhile has this one's memory cleared.
    """
    told = (
        "from tests.integration import test_storage_faults as tests; tests.open_all_damaged({!r})"
    )
    subprocess.run([sys.executable, "-c", told.format(str(tmp_path))], check=True)


def open_all_damaged(folder: str) -> None:
    """Open copies of a tiny store with one byte changed, and check what becomes of each."""
    tmp_path = Path(folder)
    path, lengths = tiny_store(tmp_path)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak until here
    peak_bytes = _peak_bytes()
    for place in range(lengths[0], lengths[2] - len(embedded_files._COMMIT), 3):
        torn = spoilt(path, lambda log, at=place: log[:at] + bytes([log[at] ^ 85]) + log[at + 1 :])
        before = {each.name: each.read_bytes() for each in tmp_path.glob("spoilt*")}
        with pytest.raises(ConfigurationError, match=r"damaged after byte \d+, and [12] fin"):
            EmbeddedFiles(torn).open()
        assert {each.name: each.read_bytes() for each in tmp_path.glob("spoilt*")} == before
    assert _peak_bytes() - peak_bytes < 4 << 30


def _peak_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def test_a_damaged_log_opens_once_it_is_cut_as_the_error_says(tmp_path: Path) -> None:
    path, lengths = tiny_store(tmp_path)
    middle = lengths[0] + 30
    torn = spoilt(path, lambda log: log[:middle] + b"?" + log[middle + 1 :])
    with pytest.raises(ConfigurationError) as refused:
        EmbeddedFiles(torn).open()
    subprocess.run(
        str(refused.value).partition("cut the log before the damage: ")[2].split(), check=True
    )
    assert rows_of(torn) == ["one"]


def test_how_a_transaction_ends_is_what_the_engine_writes(tmp_path: Path) -> None:
    path, _ = tiny_store(tmp_path)  # one makes the table, three write
    log = EmbeddedFiles(path).log
    assert log.read_bytes().count(embedded_files._COMMIT) == 4
    assert embedded_files._unfinished_from(log) is None
    whole = log.read_bytes()
    log.write_bytes(whole + whole[embedded_files._LOG_HEADER_BYTES :][:40])
    assert embedded_files._unfinished_from(log) == len(whole)


def test_what_was_cut_off_is_said_and_kept(
    store: StoreCopies, caplog: pytest.LogCaptureFixture
) -> None:
    path = store.copy("left open")
    before = EmbeddedFiles(path).log.read_bytes()
    truncate(path, 7)
    with caplog.at_level(logging.WARNING, logger="reconciler"):
        opened(path).close()
    [kept] = path.parent.glob("*.damaged-*")
    assert str(kept) in caplog.text
    assert "unfinished write" in caplog.text
    assert kept.read_bytes() == before[:-7]


def test_a_torn_log_is_not_touched_while_another_process_has_the_store(
    tmp_path: Path,
) -> None:
    path, lengths = tiny_store(tmp_path)
    torn = spoilt(path, lambda log: log[: lengths[2] - 5])
    before = EmbeddedFiles(torn).log.read_bytes()
    holding = (
        "import fcntl, sys; f = open(sys.argv[1], 'rb+'); fcntl.lockf(f, fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(torn)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        files = EmbeddedFiles(torn)
        with pytest.raises(RuntimeError, match="Could not set lock"):
            files._mend(RuntimeError("torn"))
        assert files.log.read_bytes() == before
        holder.communicate(b"")


def test_a_store_whose_log_was_mended_is_written_on(store: StoreCopies) -> None:
    path = store.copy("left open")
    truncate(path, 7)
    with opened(path) as memory:
        decision = memory.add_contact_note("crm", "priya", "Plays the cello.")
    assert decision.decision_id in decisions_of(path)
    assert halves(EngineUnderTest("embedded", {"embedded_path": path})) == []


# A disk that is full


@pytest.mark.slow
def test_after_a_full_disk_all_writes_are_refused_and_none_later_is_lost(
    crasher: StorageCrasher, store: StoreCopies, known: set[str]
) -> None:
    for at_call in spread(list(range(1, 7)), 3):  # two for each of three notes
        path = store.copy("left open")
        ended = crasher.run("go on", path, StorageFault.DISK_FULL, at_call)
        assert ended.signal == KILLED, "by itself, at its end: nothing else ended it"
        assert set(ended.errors) == {"GraphStorageError"}
        check(path, ended, known)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["left open", "closed"])
def test_a_disk_that_fills_up_while_a_store_is_closed_loses_nothing(
    crasher: StorageCrasher, store: StoreCopies, known: set[str], name: str
) -> None:
    calls = crasher.run("close", store.copy(name)).calls
    for at_call in spread(chosen_calls(calls), 3):
        path = store.copy(name)
        check(path, crasher.run("close", path, StorageFault.DISK_FULL, at_call), known)


@pytest.mark.slow
@pytest.mark.parametrize("at_call", [1, 2, 3, 8])
def test_a_disk_that_is_full_while_a_store_is_made_is_no_mistake_of_a_setting(
    crasher: StorageCrasher, store: StoreCopies, at_call: int
) -> None:
    ended = crasher.run("open", store.copy(NEW), StorageFault.DISK_FULL, at_call)
    assert ended.errors == ["GraphStorageError"]


def test_an_erasure_says_beforehand_how_much_room_it_needs(
    store: StoreCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.copy("closed")
    with Memory.open(embedder=HashingEmbedder(16), embedded_path=path) as memory:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
        with pytest.raises(GraphStorageError, match=r"MiB are free.* Nothing was erased"):
            memory.contact("crm", "priya").forget(by="contact", reason="She asked.")
        assert memory.agent("crm").erasures() == []
        assert memory.contact("crm", "priya").history()


SMALL_DISK = """
import shutil, sys
from pathlib import Path
from reconciler import Memory
from reconciler.errors import GraphStorageError
from reconciler.testing import HashingEmbedder

folder = Path(sys.argv[1])

def opened():
    return Memory.open(
        embedder=HashingEmbedder(16), graph="embedded", embedded_path=folder / "memory.lbug"
    )

def add(memory, number):
    return memory.add_contact_note("crm", "priya", f"Owns {number} boats.").decision_id

acknowledged = []
with opened() as memory:
    acknowledged.append(add(memory, 0))
    filler = folder / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(folder).free - 20_000))
    try:
        for number in range(1, 100):
            acknowledged.append(add(memory, number))
        sys.exit("the disk was never full")
    except GraphStorageError:
        print("full after", len(acknowledged))
    filler.unlink()
    try:
        sys.exit(f"written after the disk was full: {add(memory, 100)}")
    except GraphStorageError:
        pass
with opened() as memory:
    acknowledged.append(add(memory, 101))
with opened() as memory:
    kept = memory.contact("crm", "priya").decisions(limit=1000)
    found = {each.decision_id for each in kept}
    missing = set(acknowledged) - found
    sys.exit(f"lost: {missing}" if missing else 0)
"""


def test_a_small_file_system_that_fills_up_ends_no_process_and_loses_nothing(
    tmp_path: Path,
) -> None:
    script = tmp_path / "fill.py"
    script.write_text(SMALL_DISK)
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = f"mount -t tmpfs -o size=2m tmpfs {disk} && exec {sys.executable} {script} {disk}"
    probe = f"mount -t tmpfs -o size=2m tmpfs {disk}"
    if shutil.which("unshare") is None or _in_a_namespace(probe).returncode != 0:
        cannot_run("a small file system needs `unshare` and the right to mount in a namespace")
    ended = _in_a_namespace(mounted)
    assert ended.returncode == 0, ended.stderr
    assert "full after" in ended.stdout


READ_ONLY = """
import sys
from pathlib import Path
from reconciler import Memory, ops
from reconciler.errors import ConfigurationError, GraphLockedError
from reconciler.testing import HashingEmbedder

def opened(path):
    return Memory.open(embedder=HashingEmbedder(16), graph="embedded", embedded_path=path)

*made, new = map(Path, sys.argv[1:])
for path in made:
    with opened(path) as memory:
        contact = memory.contact("crm", "priya")
        print(len(contact.recall()), len(contact.decisions()))
        for act in (
            lambda: contact.note("Rows."),
            lambda: contact.forget(by="dana", reason="Asked."),
            lambda: ops.backup(memory, path.parent / "backup"),
        ):
            try:
                act()
                sys.exit("it was written to")
            except ConfigurationError as error:
                print(error)
try:
    opened(new)
except ConfigurationError as error:
    print(error)
"""


def test_a_store_that_cannot_be_written_is_opened_to_read_and_left_as_it_is(
    store: StoreCopies, tmp_path: Path, known: set[str]
) -> None:
    script = tmp_path / "open.py"
    script.write_text(READ_ONLY)
    file, in_folder = store.copy("closed"), store.copy("left open")
    new = in_folder.with_name("new.lbug")
    before = [each.read_bytes() for each in (file, in_folder, EmbeddedFiles(in_folder).log)]
    mount = " && ".join(
        f"mount --bind {each} {each} && mount -o remount,bind,ro {each}"
        for each in (file, in_folder.parent)
    )
    if shutil.which("unshare") is None or _in_a_namespace(mount).returncode != 0:
        cannot_run("a read-only file needs `unshare` and the right to mount in a namespace")
    asked = f"{sys.executable} {script} {file} {in_folder} {new}"
    ended = _in_a_namespace(f"{mount} && {asked}")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [line.split()[1] for line in ended.stdout.splitlines() if line[0].isdigit()] == [
        str(len(known))
    ] * 2
    told = {path: ended.stdout.count(f"PATH {path}") for path in (file, in_folder, new)}
    assert told == {file: 3, in_folder: 2, new: 1}, ended.stdout
    assert not list(file.parent.glob("*.removed-*"))
    assert before == [each.read_bytes() for each in (file, in_folder, EmbeddedFiles(in_folder).log)]


def test_a_store_whose_log_must_be_mended_is_not_opened_to_read(
    store: StoreCopies, tmp_path: Path
) -> None:
    script = tmp_path / "open.py"
    script.write_text(READ_ONLY)
    path = store.copy("left open")
    truncate(path, 5)
    mount = f"mount --bind {path.parent} {path.parent} && mount -o remount,bind,ro {path.parent}"
    if shutil.which("unshare") is None or _in_a_namespace(mount).returncode != 0:
        cannot_run("a read-only file needs `unshare` and the right to mount in a namespace")
    ended = _in_a_namespace(f"{mount} && {sys.executable} {script} {path}")
    assert "Copy the store and the files beside it" in ended.stdout, ended.stderr


def test_a_writer_and_a_reader_of_a_read_only_mount_keep_each_other_out(
    store: StoreCopies,
) -> None:
    path = store.copy("closed")
    reading = f"""
import os, sys
from pathlib import Path
from reconciler.adapters import embedded_files
from reconciler.adapters.embedded_graph import EmbeddedGraph
os.access = lambda *given: False
graph = EmbeddedGraph(Path({str(path)!r}))
print("open", flush=True)
input()
graph.close()
"""
    with subprocess.Popen(
        [sys.executable, "-c", reading], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        with pytest.raises(GraphLockedError):
            opened(path)
        reader.communicate("\n")
    with opened(path):
        failed = subprocess.run(
            [sys.executable, "-c", reading], capture_output=True, text=True, check=False
        )
    assert "GraphLockedError" in failed.stderr


def test_a_store_that_is_open_or_was_left_open_under_another_hard_link_is_not_called_empty(
    tmp_path: Path,
) -> None:
    path, other = tmp_path / "memory.lbug", tmp_path / "other" / "memory.lbug"
    other.parent.mkdir()
    leaving = f"""
import os
from pathlib import Path
from tests.integration.test_storage_faults import opened
opened(Path({str(path)!r})).add_contact_note("crm", "priya", "Rows.")
print("written", flush=True)
input()
os._exit(0)
"""
    with subprocess.Popen(
        [sys.executable, "-c", leaving],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        os.link(path, other)
        with pytest.raises(GraphLockedError, match="is open in another process"):
            opened(other)
        writer.communicate("\n")
    with pytest.raises(ConfigurationError, match="2 names, hard links: open it under"):
        opened(other)
    with opened(path) as memory:
        assert len(memory.contact("crm", "priya").decisions()) == 1
    with opened(other) as memory:
        assert len(memory.contact("crm", "priya").decisions()) == 1


def _in_a_namespace(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def test_what_cannot_be_folded_in_stays_in_the_log(
    store: StoreCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.copy("closed")
    monkeypatch.setattr(embedded_files, "_SPARE_BYTES", 1 << 60)  # a disk with too little room
    with opened(path) as memory:
        decision = memory.add_contact_note("crm", "priya", "Plays the cello.")
    assert EmbeddedFiles(path).log_bytes > 0
    assert decision.decision_id in decisions_of(path)


def test_a_process_that_never_closes_after_a_full_disk_ends_as_it_wants(
    crasher: StorageCrasher, store: StoreCopies
) -> None:
    assert crasher.run("leave", store.copy("left open"), StorageFault.DISK_FULL, 1).signal == 0


def test_a_marker_that_cannot_be_written_loses_no_note(
    store: StoreCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, known = store.copy("closed"), decisions_of(store.copy("closed"))
    memory = opened(path)
    monkeypatch.setattr(EmbeddedFiles, "expect_no_log", _fails)
    with pytest.raises(GraphStorageError, match="nothing was written"):
        memory.add_contact_note("crm", "priya", "Plays the cello.")
    monkeypatch.undo()
    monkeypatch.setattr(EmbeddedFiles, "expect_log", _fails)
    kept = memory.add_contact_note("crm", "priya", "Plays the flute.").decision_id
    monkeypatch.undo()
    memory.close()
    assert decisions_of(path) == known | {kept}


def _fails(files: EmbeddedFiles) -> None:
    raise PermissionError(f"cannot touch {files.main}")


def test_a_store_that_a_wrong_setting_left_empty_opens_once_the_setting_is_right(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="no profile nosuch"):
            opened(tmp_path / "m", reconcile={"profile": "nosuch"})
    with opened(tmp_path / "m") as memory:
        memory.add_contact_note("crm", "priya", "Plays the cello.")
    assert len(decisions_of(tmp_path / "m")) == 1


# The log is folded in while others read


@pytest.mark.slow
def test_readers_never_make_the_engine_keep_a_third_file(
    store: StoreCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_graph, "CHECKPOINT_LOG_BYTES", 0)
    path, found, is_over = store.copy("closed"), set[str](), threading.Event()
    with opened(path) as memory, ThreadPoolExecutor(2) as pool:

        def read() -> None:
            while not is_over.is_set():
                memory.contact("crm", "priya").recall()
                found.update(each.name for each in path.parent.iterdir())

        reading = [pool.submit(read) for _ in range(2)]
        for number in range(faults.times(6, 12)):
            memory.add_contact_note("crm", "priya", f"Owns {number} boats.")
        is_over.set()
        for each in reading:
            each.result()
    folded_in = {".wal.checkpoint", ".shadow", ".checkpoint.intent.lock", ".checkpoint.apply.lock"}
    assert {each.removeprefix(path.name) for each in found} <= folded_in | {"", ".wal", ".no-log"}
    assert [each.name for each in path.parent.iterdir()] == [path.name]


# Copies that lack a part


def test_a_copy_without_its_log_is_refused_and_the_log_named(
    left_open: Path, tmp_path: Path
) -> None:
    path = tmp_path / "memory.lbug"
    shutil.copyfile(left_open / "memory.lbug", path)
    with pytest.raises(ConfigurationError, match=re.escape(f"{path}.wal is missing")):
        opened(path)
    assert [each.name for each in tmp_path.iterdir()] == ["memory.lbug"]


def test_a_copy_of_an_open_store_s_main_file_is_refused_though_it_holds_older_facts(
    store: StoreCopies, tmp_path: Path
) -> None:
    path, copy = store.copy("closed"), tmp_path / "copy.lbug"
    with opened(path) as memory:
        memory.add_contact_note("crm", "priya", "Plays the cello.")
        shutil.copyfile(path, copy)
    with pytest.raises(ConfigurationError, match=re.escape(f"its log {copy}.wal is missing")):
        opened(copy)


def test_a_store_that_lost_its_log_after_a_crash_is_refused_until_it_is_back(
    crasher: StorageCrasher, store: StoreCopies
) -> None:
    path = store.copy("closed")
    ended = crasher.run("go on", path, StorageFault.DISK_FULL, 100)  # ends by SIGKILL, with a log
    log = EmbeddedFiles(path).log
    moved = log.rename(log.with_name("elsewhere"))
    with pytest.raises(ConfigurationError, match="put the log back"):
        opened(path)
    moved.rename(log)
    assert set(ended.acknowledged) <= decisions_of(path)


def test_a_store_whose_log_another_program_folded_in_opens_once_it_is_told_so(
    store: StoreCopies,
) -> None:
    path, known = store.copy("left open"), decisions_of(store.copy("left open"))
    ladybug.Database(path).close()
    with pytest.raises(ConfigurationError, match="an empty file") as refused:
        opened(path)
    Path(str(refused.value).split("an empty file ")[1].split()[0]).touch()
    assert decisions_of(path) == known


def test_reading_leaves_the_files_of_a_store_as_they_are(store: StoreCopies) -> None:
    path = store.copy("closed")
    before = path.read_bytes()
    with opened(path, life={"use_flush_seconds": 0}) as memory:
        memory.contact("crm", "priya").recall()
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_log_without_its_main_file_is_refused_and_the_main_file_named(store: StoreCopies) -> None:
    path = store.copy("left open")
    path.unlink()
    with pytest.raises(ConfigurationError, match=re.escape(f"{path} is missing")):
        opened(path)


def another_s(path: Path) -> None:
    EmbeddedFiles(path).log.write_bytes(tiny_log(path.parent))


def tiny_log(folder: Path) -> bytes:
    (folder / "tiny").mkdir()
    path, _ = tiny_store(folder / "tiny")
    log = EmbeddedFiles(path).log.read_bytes()
    shutil.rmtree(folder / "tiny")
    return log


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def alone_with_its_shadow(path: Path) -> None:
    EmbeddedFiles(path).log.unlink()
    path.rename(path.with_name(f"{path.name}.shadow"))


def overwritten_log(path: Path) -> None:
    EmbeddedFiles(path).log.write_text("not a log\n" * 100)


LACKING = {
    "a log of another store": (another_s, "belongs to another store"),
    "a text in place of a log": (
        overwritten_log,
        "or was overwritten.*`reconciler restore BACKUP`",
    ),
    "an empty main file": (emptied, "is empty, but a valid store is never empty"),
    "a shadow without its main file": (alone_with_its_shadow, "only its part"),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_part_that_does_not_fit_is_refused_and_left_as_it_is(
    store: StoreCopies, name: str
) -> None:
    spoil, said = LACKING[name]
    path = store.copy("left open")
    spoil(path)
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    with pytest.raises(ConfigurationError, match=said):
        opened(path)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before


def halved(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def altered(path: Path) -> None:
    content = path.read_bytes()
    third = len(content) // 3
    path.write_bytes(content[:third] + b"\xff" * third + content[2 * third :])


def overwritten(path: Path) -> None:
    path.write_text("my notes\n" * 1000)


def of_another_engine(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes(text)")


def of_another_program(path: Path) -> None:
    path.unlink()
    tiny_store(path.parent)[0].rename(path)
    EmbeddedFiles(path.with_name("tiny.lbug")).log.rename(EmbeddedFiles(path).log)


SPOILT = {
    "half of it": (halved, r"is damaged \(.*elsewhere.*`reconciler restore BACKUP`"),
    "other bytes in it": (altered, r"is damaged \(.*elsewhere.*`reconciler restore BACKUP`"),
    "a text": (overwritten, "is not a memory.*another file.*`reconciler restore BACKUP`"),
    "a file of SQLite": (of_another_engine, "is not a memory.*another file"),
    "another program's store": (of_another_program, "of another program, with the tables Row"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_main_file_is_refused_and_the_error_says_what_to_do(
    store: StoreCopies, name: str
) -> None:
    spoil, said = SPOILT[name]
    path = store.copy("closed")
    spoil(path)
    with pytest.raises(ConfigurationError, match=said) as refused:
        opened(path)
    assert "checkpointing" not in str(refused.value)


def test_a_log_names_its_store_where_the_engine_writes_it(tmp_path: Path) -> None:
    path, _ = tiny_store(tmp_path)
    place, length = embedded_files._ID_PLACE, embedded_files._ID_BYTES
    assert path.read_bytes().startswith(embedded_files._MAGIC)
    store_id = EmbeddedFiles(path).log.read_bytes()[:length]
    assert path.read_bytes()[place : place + length] == store_id


def test_an_empty_file_that_was_never_a_store_is_refused_and_its_log_not_taken_for_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "memory.lbug").touch()
    with pytest.raises(ConfigurationError, match="If the store was never used, delete the file"):
        opened(tmp_path / "memory.lbug")


@pytest.mark.parametrize("kept_bytes", [0, 10, embedded_files._LOG_HEADER_BYTES])
def test_a_log_without_a_finished_write_is_as_good_as_missing(
    store: StoreCopies, kept_bytes: int
) -> None:
    path = store.copy("closed")
    with opened(path) as memory:
        memory.add_contact_note("crm", "priya", "Plays the cello.")
        copied = store.copy("closed")
        shutil.copyfile(path, copied)
        log = EmbeddedFiles(path).log.read_bytes()
    EmbeddedFiles(copied).log.write_bytes(log[:kept_bytes])
    with pytest.raises(ConfigurationError, match="put the log back"):
        opened(copied)


def test_a_copy_of_a_closed_store_is_its_main_file_alone(closed: Path, tmp_path: Path) -> None:
    shutil.copyfile(closed / "memory.lbug", tmp_path / "memory.lbug")
    assert decisions_of(tmp_path / "memory.lbug") == decisions_of(closed / "memory.lbug")


@pytest.mark.parametrize("ending", [".key", ".wal", ".shadow", ".wal.checkpoint"])
def test_a_name_that_a_file_beside_a_store_has_is_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(ConfigurationError, match=r"give the store another name"):
        opened(tmp_path / f"memory{ending}")
    assert not list(tmp_path.iterdir())
