"""``embedded_path=":memory:"``: a store of its own, which is gone when its memory is closed."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from reconciler import AsyncMemory, Memory, load_settings, ops
from reconciler.errors import ConfigurationError
from reconciler.testing import HashingEmbedder

PRIYA = ("crm", "priya")
PROGRAM = """
import os, signal, sys, time
from reconciler import Memory, ops
from reconciler.testing import HashingEmbedder

memory = Memory.open(embedded_path=":memory:", embedder=HashingEmbedder())
memory.contact("crm", "priya").note("Lives in Pune.")
print(memory.settings.embedded_path, flush=True)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made in a test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def opened() -> Memory:
    return Memory.open(embedded_path=":memory:", embedder=HashingEmbedder())


def test_two_of_them_are_two_stores_and_nothing_is_left_of_them(temporary: Path) -> None:
    with opened() as one, opened() as other:
        one.contact(*PRIYA).note("Lives in Pune.")
        assert [hit.fact.text for hit in one.contact(*PRIYA).recall()] == ["Lives in Pune."]
        assert other.contact(*PRIYA).recall() == []
        assert len(list(temporary.iterdir())) == 2
    assert list(temporary.iterdir()) == []
    assert not Path(":memory:").exists()


def test_it_can_be_backed_up_and_its_words_erased(tmp_path: Path) -> None:
    with opened() as memory:
        decision = memory.contact(*PRIYA).note("Lives in Pune.")
        ops.backup(memory, tmp_path / "kept.zip")
        erased = memory.contact(*PRIYA).forget(fact_id=decision.fact_id, by="contact", reason="x")
    assert erased.state == "done"
    file = tmp_path / "memory.lbug"
    ops.restore(tmp_path / "kept.zip", embedded_path=file)
    with Memory.open(embedded_path=file, embedder=HashingEmbedder()) as restored:
        assert len(restored.contact(*PRIYA).recall()) == 1


def test_an_asynchronous_memory_has_one_too(temporary: Path) -> None:
    async def told() -> int:
        opening = AsyncMemory.open(embedded_path=":memory:", embedder=HashingEmbedder())
        async with opening as memory:
            await memory.contact(*PRIYA).note("Lives in Pune.")
            return len(await memory.contact(*PRIYA).recall())

    assert asyncio.run(told()) == 1
    assert list(temporary.iterdir()) == []


def test_a_server_that_the_environment_names_is_not_written_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEO4J_URI", "neo4j://somewhere.invalid:7687")
    with opened() as memory:
        assert memory.describe().engine == "embedded"


@pytest.mark.parametrize(
    "ending",
    [
        "sys.exit(1)",
        # A program in a shell's background would ignore it, as it would be told to.
        "signal.signal(2, signal.default_int_handler); os.kill(os.getpid(), 2); time.sleep(9)",
        "os.fork() or sys.exit()",
    ],
    ids=["exit", "interrupt", "fork"],
)
def test_it_is_removed_when_a_program_ends_that_did_not_close_it(
    ending: str, temporary: Path
) -> None:
    pytest.importorskip("fcntl", reason="only POSIX forks")
    assert program(ending).stdout.startswith(str(temporary))
    assert list(temporary.iterdir()) == []


def test_a_forked_child_that_ends_leaves_its_parents_store_alone(temporary: Path) -> None:
    pytest.importorskip("fcntl", reason="only POSIX forks")
    ending = """
if child := os.fork():
    os.waitpid(child, 0)
    memory.contact("crm", "priya").note("Has a dog.")
    ops.backup(memory, sys.argv[1])
else:
    sys.exit(0)
"""
    ended = program(ending, str(temporary.parent / "kept.zip"))
    assert ended.returncode == 0, ended.stderr
    assert list(temporary.iterdir()) == []


def test_what_a_killed_program_left_is_removed_by_the_next_one(temporary: Path) -> None:
    pytest.importorskip("fcntl", reason="locks tell that a program was killed")
    assert program("os.kill(os.getpid(), 9)").returncode == -signal.SIGKILL
    assert len(list(temporary.iterdir())) == 1
    opened().close()
    assert list(temporary.iterdir()) == []


def test_what_needs_a_store_that_is_there_refuses_one_in_memory(tmp_path: Path) -> None:
    with opened() as memory:
        memory.contact(*PRIYA).note("Lives in Pune.")
        ops.backup(memory, tmp_path / "kept.zip")
    with pytest.raises(ConfigurationError, match="no command can find it"):
        Memory.open(embedded_path=":memory:", must_exist=True)
    with pytest.raises(ConfigurationError, match="no command can find it"):
        ops.restore(tmp_path / "kept.zip", embedded_path=":memory:")


def test_without_a_temporary_folder_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(ConfigurationError, match="temporary folder"):
        opened()


def test_no_other_program_is_led_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", ":memory:")
    with pytest.raises(ConfigurationError, match=r"only Memory\.open"):
        load_settings()


def program(ending: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + ending, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
