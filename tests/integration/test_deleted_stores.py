"""A store that was deleted, moved or replaced while it was open acknowledges no further write."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, ops
from reconciler.adapters import embedded_graph
from reconciler.errors import GraphStorageError
from reconciler.testing import HashingEmbedder

GONE = "deleted, moved or replaced while it was open"


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def copied_over(path: Path) -> None:
    shutil.copy(path, path.with_name("copy")).replace(path)


WAYS: dict[str, Callable[[Path], Any]] = {
    "the file": Path.unlink,
    "the log": lambda path: log_of(path).unlink(),
    "the folder": lambda path: shutil.rmtree(path.parent),
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "the folder moved": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
    "replaced": copied_over,
    "the log replaced": lambda path: copied_over(log_of(path)),
}
WRITES: dict[str, Callable[[Memory], Any]] = {
    "session": lambda memory: memory.contact("crm", "priya").submit_session(
        "call", [{"role": "user", "content": "I row."}]
    ),
    "forget": lambda memory: memory.contact("crm", "priya").forget(by="dana", reason="Asked."),
    "backup": lambda memory: ops.backup(memory, memory.settings.embedded_path.with_name("backup")),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "memory.lbug"


def opened(path: Path) -> Memory:
    memory = Memory.open(embedder=HashingEmbedder(16), graph="embedded", embedded_path=path)
    memory.add_contact_note("crm", "priya", "Likes tea.")
    return memory


@pytest.mark.parametrize("way", WAYS)
def test_no_write_is_acknowledged_and_what_there_was_can_still_be_exported(
    way: str, path: Path, tmp_path: Path
) -> None:
    with opened(path) as memory:
        WAYS[way](path)
        for _ in range(2):
            with pytest.raises(GraphStorageError, match=f"{GONE}.*export it now"):
                memory.add_contact_note("crm", "priya", "Rows.")
        assert [each.fact.text for each in memory.contact("crm", "priya").recall()] == [
            "Likes tea."
        ]
        ops.export(memory, tmp_path / "export.jsonl")
    new = {"graph": "embedded", "embedded_path": tmp_path / "new.lbug"}
    ops.restore(tmp_path / "export.jsonl", embedder=HashingEmbedder(16), **new)
    with Memory.open(embedder=HashingEmbedder(16), **new) as again:
        assert len(again.contact("crm", "priya").decisions()) == 1


@pytest.mark.parametrize("write", WRITES)
def test_no_kind_of_write_is_acknowledged(write: str, path: Path) -> None:
    with opened(path) as memory:
        path.unlink()
        with pytest.raises(GraphStorageError, match=GONE):
            WRITES[write](memory)


@pytest.mark.parametrize("way", ["the file", "the log", "the folder"])
def test_what_is_deleted_in_the_middle_of_a_write_is_seen_before_it_is_acknowledged(
    way: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_script = embedded_graph._run_script
    with opened(path) as memory:

        def deleting(connection: Any, query: Any, given: Any) -> Any:
            rows = run_script(connection, query, given)
            if query.name == "commit_decisions":
                WAYS[way](path)
            return rows

        monkeypatch.setattr(embedded_graph, "_run_script", deleting)
        with pytest.raises(GraphStorageError, match=GONE):
            memory.add_contact_note("crm", "priya", "Rows.")


@pytest.mark.parametrize("way", ["the file", "the folder moved", "the log replaced"])
def test_closing_says_what_no_write_has_said_yet(way: str, path: Path) -> None:
    memory = opened(path)
    WAYS[way](path)
    with pytest.raises(GraphStorageError, match=GONE):
        memory.close()
    memory.close()


def test_files_that_were_moved_together_hold_everything_once_they_are_back(path: Path) -> None:
    memory = opened(path)
    elsewhere = path.parent.rename(path.parent.with_name("elsewhere"))
    with pytest.raises(GraphStorageError, match="move them back together"):
        memory.close()
    elsewhere.rename(path.parent)
    with opened(path) as memory:
        assert len(memory.contact("crm", "priya").decisions()) == 2
