"""An export, a backup or a restore that is killed leaves its whole work, or none that is found.

What it wrote until then lies in a hidden folder, and the next writer of a file there removes it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconciler import Memory, ops
from reconciler.adapters.drafts import draft_folder, remove_abandoned_drafts
from reconciler.testing import HashingEmbedder
from tests import faults, raw_store
from tests.engines import EngineUnderTest
from tests.storage_crasher import StorageCrasher, StorageFault

EMBEDDER = HashingEmbedder(16)
pytestmark = [pytest.mark.faults, pytest.mark.kills]
CALLS_SAMPLED = 2
WORD = "quoxbrightwave"
DRAFTS = ".reconciler-draft-*"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that holds a word, and its backup beside it."""
    path = tmp_path_factory.mktemp("source") / "memory.lbug"
    with memory_at(path) as memory:
        for number in range(20):
            memory.add_contact_note("crm", "priya", f"Collects {WORD} of {number}.")
    with memory_at(path) as memory:
        ops.backup(memory, path.with_name("memory.zip"))
    return path


def memory_at(path: Path) -> Memory:
    return Memory.open(embedder=EMBEDDER, graph="embedded", embedded_path=path)


def left_by_kills(
    crasher: StorageCrasher, task: str, source: Path, folder: Path, *, without: str
) -> Iterator[Path]:
    """A copy of the store for each of some calls that a process was killed at, while at a task."""

    def copied(name: str) -> Path:
        beside = shutil.copytree(source.parent, folder / name)
        (beside / without).unlink(missing_ok=True)
        return beside / source.name

    calls = crasher.run(task, copied("whole")).calls
    named = [n for n in range(1, len(calls) + 1) if calls[n - 1] != "w"]
    chosen = set(named[-3:])
    chosen |= set(faults.moments("a draft").sample(range(1, len(calls)), CALLS_SAMPLED))
    for at_call in sorted(chosen):
        path = copied(f"killed-{at_call}")
        fault = StorageFault.KILL_HALFWAY if calls[at_call - 1] == "w" else StorageFault.KILL_BEFORE
        assert crasher.run(task, path, fault, at_call).signal
        yield path


def drafts_with_the_word(folder: Path) -> int:
    files = [file for draft in folder.glob(DRAFTS) for file in draft.iterdir()]
    return sum(WORD.encode() in file.read_bytes() for file in files)


def is_whole_export(path: Path) -> bool:
    return bool(json.loads(path.read_text().splitlines()[-1])["end"])


def is_whole_backup(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return archive.testzip() is None


def test_an_export_that_was_killed_has_no_name_or_is_whole_and_the_next_one_removes_its_words(
    crasher: StorageCrasher, source: Path, tmp_path: Path
) -> None:
    words_left = 0
    for path in left_by_kills(crasher, "export", source, tmp_path, without="all.jsonl"):
        out = path.with_name("all.jsonl")
        assert not out.exists() or is_whole_export(out)
        words_left += drafts_with_the_word(path.parent)
        with memory_at(path) as memory:
            ops.export(memory, out, overwrite=True)
        assert is_whole_export(out)
        assert list(path.parent.glob(DRAFTS)) == []
    assert words_left


def test_a_backup_that_was_killed_has_no_name_or_is_whole_and_the_next_one_removes_its_words(
    crasher: StorageCrasher, source: Path, tmp_path: Path
) -> None:
    words_left = 0
    for path in left_by_kills(crasher, "back up", source, tmp_path, without="memory.zip"):
        out = path.with_name("memory.zip")
        assert not out.exists() or is_whole_backup(out)
        words_left += drafts_with_the_word(path.parent)
        with memory_at(path) as memory:
            ops.backup(memory, out, overwrite=True)
        assert is_whole_backup(out)
        assert list(path.parent.glob(DRAFTS)) == []
    assert words_left


def test_a_restore_of_a_backup_that_was_killed_leaves_a_whole_store_or_none(
    crasher: StorageCrasher, source: Path, tmp_path: Path
) -> None:
    whole = raw_store.everything(EngineUnderTest("embedded", {"embedded_path": source}))
    outcomes, words_left = set(), 0
    for path in left_by_kills(crasher, "restore", source, tmp_path, without="-"):
        target = path.parent / "to" / path.name
        outcomes.add(is_there := target.exists())
        words_left += drafts_with_the_word(target.parent)
        given = {"graph": "embedded", "embedded_path": target}
        if not is_there:
            ops.restore(path.with_name("memory.zip"), embedder=EMBEDDER, **given)
        assert raw_store.everything(EngineUnderTest("embedded", given)) == whole
        if is_there:
            with memory_at(target) as memory:
                memory.contact("crm", "priya").forget(by="contact", reason="I asked for it.")
        assert list(target.parent.glob(DRAFTS)) == []
    assert outcomes == {True, False}
    assert words_left


HOLDING = """
import sys
from pathlib import Path
from reconciler.adapters.drafts import draft_folder
with draft_folder(Path(sys.argv[1])) as folder:
    (folder / "text").write_text("words")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A draft of another process, and what kills that process."""
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "all.jsonl")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout

        def kill() -> None:
            process.kill()
            process.wait()

        yield Path(process.stdout.readline().strip()), kill
        kill()


def test_a_draft_that_is_being_written_is_left_alone_and_removed_once_its_process_is_dead(
    held: tuple[Path, Callable[[], None]], tmp_path: Path
) -> None:
    draft, kill = held
    with draft_folder(tmp_path / "all.jsonl") as own:
        remove_abandoned_drafts(tmp_path)
        assert own.exists()
        assert (draft / "text").read_text() == "words"
    assert not own.exists()
    kill()
    remove_abandoned_drafts(tmp_path)
    assert list(tmp_path.iterdir()) == []
