"""What a write costs the embedded engine, in statements."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.adapters import embedded_graph
from reconciler.adapters.embedded_connections import PlanningConnection
from reconciler.adapters.embedded_files import EmbeddedFiles
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.errors import GraphStorageError
from reconciler.ports.graph import Row
from reconciler.testing import HashingEmbedder


def opened(path: Path) -> Memory:
    return Memory.open(embedder=HashingEmbedder(), graph="embedded", embedded_path=path)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that the engine is sent."""
    texts: list[str] = []
    rows = PlanningConnection.rows

    def noted(
        self: PlanningConnection, text: str, given: Mapping[str, Any] | None = None
    ) -> list[Row]:
        texts.append(text)
        return rows(self, text, given)

    monkeypatch.setattr(PlanningConnection, "rows", noted)
    return texts


def test_a_note_in_a_known_session_is_six_statements_however_many_it_is_compared_with(
    sent: list[str], tmp_path: Path
) -> None:
    embedder = HashingEmbedder()
    with Memory.open(embedder=embedder, graph="embedded", embedded_path=tmp_path / "m") as memory:
        for number in range(6):
            memory.add_contact_note("crm", "priya", f"Invoice {number} was paid by {number + 7}")
        sent.clear()
        decision = memory.add_contact_note("crm", "priya", "Lives in Pune")
        [kept] = memory.contact("crm", "priya").decisions(limit=1)
    assert kept.compared_with == decision.compared_with
    assert [each.rank for each in kept.compared_with] == [1, 2, 3, 4, 5]
    written = sent[: sent.index("COMMIT") + 1]
    assert [text.split()[0] for text in written] == ["BEGIN", *["MATCH"] * 3, "UNWIND", "COMMIT"]


def test_a_restatement_looks_for_no_dispute_where_there_is_none(
    sent: list[str], tmp_path: Path
) -> None:
    with opened(tmp_path / "m") as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune")
        sent.clear()
        assert memory.add_contact_note("crm", "priya", "Lives in Pune").superseded_ids
    assert not [text for text in sent if "CONFLICTS_WITH" in text]


def test_a_write_is_made_in_the_thread_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[PlanningConnection] = []
    monkeypatch.setattr(PlanningConnection, "set_query_timeout", lambda self, _: timed.append(self))
    with closing(EmbeddedGraph(tmp_path / "m")) as graph:
        with graph._connections.for_writing() as writer, graph._connections.for_reading() as reader:
            assert timed[-1] is reader
        assert writer not in timed


@pytest.mark.parametrize(
    ("quiet_bytes", "pause"), [(1, "_PAUSE_SECONDS"), (1 << 30, "_IDLE_SECONDS")]
)
def test_the_log_is_shortened_in_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_bytes: int, pause: str
) -> None:
    """A long log after a short pause, a short one after a long pause."""
    monkeypatch.setattr(embedded_graph, "QUIET_LOG_BYTES", quiet_bytes)
    monkeypatch.setattr(embedded_graph, pause, 0.05)
    files = EmbeddedFiles(tmp_path / "m")
    with opened(files.main) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune")
        await_short_log(files)
        memory.add_contact_note("crm", "priya", "Likes tea")
        await_short_log(files)
        assert len(memory.contact("crm", "priya").recall()) == 2


def test_a_log_that_grows_is_shortened_after_the_short_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The long pause, which the first note began, is cut short."""
    monkeypatch.setattr(embedded_graph, "_PAUSE_SECONDS", 0.05)
    files = EmbeddedFiles(tmp_path / "m")
    with opened(files.main) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune")
        monkeypatch.setattr(embedded_graph, "QUIET_LOG_BYTES", 1)
        memory.add_contact_note("crm", "priya", "Likes tea")
        await_short_log(files)


def test_a_pause_after_the_files_were_deleted_leaves_the_error_to_the_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(tmp_path / "m")
    memory.add_contact_note("crm", "priya", "Lives in Pune")
    for path in tmp_path.iterdir():
        path.unlink()
    engine_of(memory)._use_pause()
    with pytest.raises(GraphStorageError, match="deleted"):
        memory.close()


def engine_of(memory: Memory) -> EmbeddedGraph:
    graph: Any = memory._services.fact_store
    while not isinstance(graph, EmbeddedGraph):
        graph = getattr(graph, "graph", None) or graph._graph
    return graph


def waiting_for_a_pause() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "pause"}


def test_a_dropped_store_is_not_kept_for_a_pause(tmp_path: Path) -> None:
    others = waiting_for_a_pause()  # of stores that other tests left open
    memory = opened(tmp_path / "m")
    memory.add_contact_note("crm", "priya", "Lives in Pune")
    [waiting] = waiting_for_a_pause() - others
    del memory
    gc.collect()
    waiting.join(30)
    assert not waiting.is_alive()
    with opened(tmp_path / "m") as memory:
        assert len(memory.contact("crm", "priya").recall()) == 1


def test_a_note_is_kept_where_no_thread_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Python 3.12 once the main thread has ended; a later note begins the wait."""
    monkeypatch.setattr(embedded_graph, "_IDLE_SECONDS", 0.05)
    files = EmbeddedFiles(tmp_path / "m")
    with opened(files.main) as memory:
        with monkeypatch.context() as refusing:
            refusing.setattr(threading.Thread, "start", refuse_to_start)
            assert memory.add_contact_note("crm", "priya", "Lives in Pune").fact_id
        memory.add_contact_note("crm", "priya", "Likes tea")
        await_short_log(files)
        assert len(memory.contact("crm", "priya").recall()) == 2


def test_a_first_statement_is_parsed_while_a_process_opens_its_first_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its parameters, since with them the engine keeps the interpreter."""
    parsed = list[tuple[str, object]]()

    def told(
        self: PlanningConnection, text: str, given: Mapping[str, Any] | None = None
    ) -> list[Row]:
        if threading.current_thread() is not threading.main_thread():
            parsed.append((text, given))
        return rows(self, text, given)

    rows = PlanningConnection.rows
    monkeypatch.setattr(PlanningConnection, "rows", told)
    monkeypatch.setattr(EmbeddedGraph, "_has_parsed", False)
    for name in ("first", "second"):
        opened(tmp_path / name).close()
    [(text, given)] = parsed
    assert "RETURN version, contact_name" in text
    assert given is None


def test_a_store_is_opened_where_no_thread_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmbeddedGraph, "_has_parsed", False)
    with monkeypatch.context() as refusing:
        refusing.setattr(threading.Thread, "start", refuse_to_start)
        memory = opened(tmp_path / "m")
    memory.add_contact_note("crm", "priya", "Lives in Pune")
    memory.close()


def refuse_to_start(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_program_that_ends_waits_for_no_pause(tmp_path: Path) -> None:
    """It lost nothing: the log holds the note."""
    program = f"""
from reconciler import Memory
from reconciler.testing import HashingEmbedder
path = {str(tmp_path / "m")!r}
memory = Memory.open(embedder=HashingEmbedder(), graph="embedded", embedded_path=path)
memory.add_contact_note("crm", "priya", "Lives in Pune")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    with opened(tmp_path / "m") as memory:
        assert len(memory.contact("crm", "priya").recall()) == 1


def await_short_log(files: EmbeddedFiles) -> None:
    give_up_at = time.monotonic() + 60
    while files.log_bytes:
        assert time.monotonic() < give_up_at, "the log stayed"
        time.sleep(0.01)


def test_a_store_that_is_closed_waits_for_no_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_graph, "QUIET_LOG_BYTES", 1)
    monkeypatch.setattr(embedded_graph, "_PAUSE_SECONDS", 600.0)
    others = waiting_for_a_pause()
    with opened(tmp_path / "m") as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune")
        [waiting] = waiting_for_a_pause() - others
    waiting.join(30)
    assert not waiting.is_alive()


def test_an_import_embeds_held_notes_with_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, embedded = HashingEmbedder(), []
    embed = embedder.embed
    monkeypatch.setattr(embedder, "embed", lambda texts: embedded.append(texts) or embed(texts))
    about = {"agent_id": "crm", "contact_id": "priya"}
    said = {"text": "Lives in Pune"}, {"text": "Likes tea", "source_kind": "tool_output"}
    with Memory.open(embedder=embedder, graph="embedded", embedded_path=tmp_path / "m") as memory:
        report = memory.import_notes(json.dumps(about | line) for line in said)
    assert (report.added, report.held) == (1, 1)
    assert [sorted(texts) for texts in embedded] == [["Likes tea", "Lives in Pune"]]


def test_what_writes_took_is_given_back_once_the_log_is_folded_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_lengths: list[int] = []
    monkeypatch.setattr(embedded_graph, "CHECKPOINT_LOG_BYTES", 1)
    with opened(tmp_path / "m") as memory:
        monkeypatch.setattr(
            embedded_graph,
            "give_back_memory",
            lambda: log_lengths.append(EmbeddedFiles(tmp_path / "m").log_bytes),
        )
        memory.add_contact_note("crm", "priya", "Lives in Pune")
        assert set(log_lengths) == {0}
