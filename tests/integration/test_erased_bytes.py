"""No byte of what was erased is in an embedded store's files; where one is, the receipt says it.

Here: the embedded engine alone, for a server's files are its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.adapters.cleared_memory import can_clear_memory
from reconciler.adapters.embedded_files import EmbeddedFiles
from reconciler.adapters.text_search import TextSearch
from reconciler.domain.records.erasures import ErasureState
from reconciler.ports.graph import Row
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.service.stores.rows import Queries
from reconciler.testing import HashingEmbedder
from tests import faults, raw_store
from tests.engines import EngineUnderTest
from tests.erasure_planting import ASKED

WORD = "quoxheapword"
TEXT = f"Collects {WORD}."
SLACK = 2000
"""A place in the first page that the engine does not read."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.lbug"


def opened(path: Path) -> Memory:
    return Memory.open(embedder=HashingEmbedder(16), graph="embedded", embedded_path=path)


def files_with(word: str, path: Path) -> list[str]:
    """Which files of the store's folder hold a word."""
    files = sorted(each for each in path.parent.rglob("*") if each.is_file())
    return [each.name for each in files if word.encode() in each.read_bytes()]


@pytest.fixture
def spoilt(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has the next rewrites, so many of them, leave an erased text in the new file's slack."""
    left = [0]
    put_in_place = EmbeddedFiles.put_in_place

    def spoiling(self: EmbeddedFiles, draft: EmbeddedFiles, stamp: tuple[int, int, int]) -> None:
        put_in_place(self, draft, stamp)
        if left[0]:
            left[0] -= 1
            with self.main.open("rb+") as file:
                file.seek(SLACK)
                file.write(TEXT.encode())

    monkeypatch.setattr(EmbeddedFiles, "put_in_place", spoiling)

    def spoil(count: int) -> None:
        left[0] = count

    return spoil


LITTERING = """
import sys
from pathlib import Path
from tests.integration.test_erased_bytes import ASKED, TEXT, WORD, opened

kept = []
def litter():
    sizes = [size for size in (3000, 4096, 9000, 20000, 70000) for _ in range(400)]
    blocks = [WORD.encode() * (size // len(WORD)) for size in sizes]
    kept.append(blocks[1::2])  # what lies between them keeps free blocks from becoming one

with opened(Path(sys.argv[1])) as memory:
    memory.add_contact_note("crm", "priya", TEXT)
    memory.add_contact_note("crm", "bob", "Lives in Oslo.")
    litter()
    memory.contact("crm", "priya").forget(**ASKED)
    litter()
    memory.add_contact_note("crm", "bob", "Works in Oslo.")
"""


@pytest.mark.skipif(not can_clear_memory(), reason="this system's C library does not clear memory")
def test_what_a_process_held_in_memory_does_not_come_into_the_file_behind_a_page(
    path: Path,
) -> None:
    # With one arena for all threads, the engine is given the very memory that was littered.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "PYTHONPATH": str(Path.cwd())}
    subprocess.run([sys.executable, "-c", LITTERING, path], check=True, env=environment)
    assert files_with("Oslo", path) == ["memory.lbug"]
    assert files_with(WORD, path) == []


def test_a_text_that_is_found_in_the_file_has_it_written_once_more(
    path: Path, spoilt: Callable[[int], None]
) -> None:
    with opened(path) as memory:
        memory.add_contact_note("crm", "priya", TEXT)
        spoilt(1)
        done = memory.contact("crm", "priya").forget(**ASKED)
    assert (done.state, done.receipt.is_clean, done.receipt.rewrites) == ("done", True, 2)
    assert done.receipt.searched_texts > 0
    assert files_with(WORD, path) == []


def test_an_erasure_whose_text_stays_in_the_file_is_not_finished_and_can_be_gone_on_with(
    path: Path, spoilt: Callable[[int], None]
) -> None:
    with opened(path) as memory:
        memory.add_contact_note("crm", "priya", TEXT)
        spoilt(3)
        begun = memory.contact("crm", "priya").forget(**ASKED)
        assert (begun.state, begun.is_finished, begun.receipt.is_clean) == ("removed", False, False)
        assert (begun.receipt.texts_in_files, begun.receipt.rewrites) == (1, 3)
        assert "still hold 1 of the texts" in begun.receipt.traces[0]
        assert memory.erasures(unfinished=True) == [begun]
    with opened(path) as memory:  # what was removed is known all the same
        spoilt(1)
        [done] = memory.finish_erasures()
    assert (done.state, done.receipt.is_clean, done.receipt.rewrites) == ("done", True, 2)
    assert done.receipt.searched_texts == begun.receipt.searched_texts
    assert files_with(WORD, path) == []


def test_what_somebody_else_says_too_stays_and_does_not_hold_an_erasure_up(path: Path) -> None:
    with opened(path) as memory:
        for contact_id in ("priya", "bob"):
            memory.add_contact_note("crm", contact_id, TEXT)
        done = memory.contact("crm", "priya").forget(**ASKED)
        assert [each.fact.text for each in memory.contact("crm", "bob").recall()] == [TEXT]
    assert (done.state, done.receipt.is_clean, done.receipt.rewrites) == ("done", True, 1)
    assert done.receipt.shared_texts > 0
    assert files_with(WORD, path) == ["memory.lbug"]


class CutOffError(Exception):
    """Stands for a kill."""


@pytest.fixture
def forget_until(monkeypatch: pytest.MonkeyPatch) -> Callable[[Memory, str], None]:
    """Forgets the contact until a query of the erasure store, or its purge."""

    def cut_off(*_: object) -> None:
        raise CutOffError

    def forget(memory: Memory, name: str) -> None:
        def rows(store: ErasureStore, query: str, /, **given: Any) -> list[Row]:
            return cut_off() or [] if query == name else Queries.rows(store, query, **given)

        with monkeypatch.context() as cutting:
            cutting.setattr(ErasureStore, "rows", rows)
            if name == "purge":
                cutting.setattr(ErasureStore, name, cut_off)
            with pytest.raises(CutOffError):
                memory.contact("crm", "priya").forget(**ASKED)

    return forget


@pytest.mark.parametrize(
    "state", [ErasureState.PENDING, ErasureState.REMOVED], ids=["at the mark", "in the files"]
)
def test_an_erasure_that_was_cut_off_still_knows_what_to_look_for(
    path: Path,
    spoilt: Callable[[int], None],
    forget_until: Callable[[Memory, str], None],
    state: ErasureState,
) -> None:
    with opened(path) as memory:
        memory.add_contact_note("crm", "priya", TEXT)
        forget_until(memory, "remove_facts" if state is ErasureState.PENDING else "purge")
        assert [each.state for each in memory.agent("crm").erasures()] == [state]
    spoilt(1)
    with opened(path) as memory:
        [done] = memory.finish_erasures()
    assert (done.receipt.is_clean, done.receipt.rewrites) == (True, 2)
    assert files_with(WORD, path) == []


EMPTYING = """
import os, signal, sys
from pathlib import Path
from reconciler.service.checking.damage import Damage
from tests.integration.test_erased_bytes import ASKED, opened

empty = Damage.empty
def empty_and_die(self, scope, damaged, at):
    empty(self, scope, damaged, at)
    if damaged:
        os.kill(os.getpid(), signal.SIGKILL)

Damage.empty = empty_and_die
with opened(Path(sys.argv[1])) as memory:
    memory.finish_erasures() or memory.contact("crm", "priya").forget(**ASKED)
"""


@pytest.mark.parametrize("is_marked", [False, True], ids=["before the mark", "after it"])
def test_words_of_a_damaged_record_are_looked_for_after_a_kill_that_came_when_it_was_emptied(
    path: Path,
    spoilt: Callable[[int], None],
    forget_until: Callable[[Memory, str], None],
    *,
    is_marked: bool,
) -> None:
    with opened(path) as memory:
        memory.add_contact_note("crm", "priya", "Collects stamps.")
        if is_marked:
            forget_until(memory, "remove_facts")
    engine = EngineUnderTest("embedded", {"graph": "embedded", "embedded_path": path})
    raw_store.query(engine, f"MATCH (n:Fact) SET n.category = 'none', n.text = '{TEXT}'")
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    ended = subprocess.run([sys.executable, "-c", EMPTYING, path], check=False, env=environment)
    assert ended.returncode == -signal.SIGKILL
    faults.count("emptying a damaged record")
    assert WORD not in "".join(raw_store.everything(engine))
    spoilt(1)
    with opened(path) as memory:
        [done] = memory.finish_erasures() or [memory.contact("crm", "priya").forget(**ASKED)]
    assert (done.receipt.is_clean, done.receipt.rewrites) == (True, 2)
    assert files_with(WORD, path) == []
    assert list(path.parent.glob("*.removed-*")) == []


def test_opening_names_what_an_erasure_that_no_list_has_left_beside_the_store(
    path: Path,
    forget_until: Callable[[Memory, str], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with opened(path) as memory:
        memory.contact("crm", "priya").submit_session("chat", [{"role": "user", "content": TEXT}])
        forget_until(memory, "mark_erasure")
        assert memory.agent("crm").erasures() == []
    [kept] = path.parent.glob("*.removed-*")
    assert caplog.text == ""
    with opened(path) as memory:
        assert f"kept in {kept.name};" in caplog.text
        caplog.clear()
        memory.contact("crm", "priya").forget(**ASKED)
    opened(path).close()
    assert caplog.text == ""
    assert not kept.exists()


def test_what_is_kept_behind_a_line_that_a_kill_cut_short_is_read(path: Path) -> None:
    files = EmbeddedFiles(path)
    files.keep_removed("key", ["one", "two"])
    [kept] = path.parent.iterdir()
    kept.write_bytes(kept.read_bytes()[:-3])
    files.keep_removed("key", ["three"])
    assert list(files.read_removed("key")) == ["one", "three"]


def test_words_of_a_turn_that_the_mark_takes_away_are_looked_for(
    path: Path, spoilt: Callable[[int], None]
) -> None:
    with opened(path) as memory:
        made = memory.add_contact_note("crm", "priya", TEXT, attribute="hobby", value=WORD)
        spoilt(1)
        done = memory.contact("crm", "priya").forget(fact_id=made.fact_id, **ASKED)
    assert (done.receipt.is_clean, done.receipt.rewrites) == (True, 2)


def test_the_schema_s_own_words_do_not_hold_an_erasure_up(path: Path) -> None:
    with opened(path) as memory:
        named = "superseded fact_id recorded_at"
        memory.add_contact_note("crm", "priya", "Likes it.", topic="fact_id", tags=named.split())
        done = memory.contact("crm", "priya").forget(**ASKED)
    assert (done.state, done.receipt.rewrites) == ("done", 1)


def bytes_around(text: bytes) -> Iterator[bytes]:
    """The text at every place in a word of eight bytes, and where the search reads on."""
    for before in (*range(17), (1 << 18) - 5, (1 << 18) - len(text), 1 << 18):
        yield bytes(before) + text
        yield bytes(before) + text + bytes(100)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("Bangalore", b"Bangalore"),
        ("six sig", b"six sig"),
        ("Møller", b"M\xf8ller"),
        ("Møller", "Møller".encode()),
        ("Møller", rb"M\u00f8ller"),
        ("Ωmega-3", "Ωmega-3".encode("utf-16-le")),
        ('She said "never".', rb"She said \"never\"."),
        ("one line\nand another", b"and another"),
    ],
)
def test_a_text_is_found_wherever_and_however_it_stands(
    tmp_path: Path, said: str, held: bytes
) -> None:
    search, file = TextSearch([said, "something else"]), tmp_path / "file"
    for content in bytes_around(held):
        file.write_bytes(content)
        assert len(search.texts_with(search.found_in([file]))) == 1
    file.write_bytes(bytes(100) + held[1:])
    assert search.found_in([file]) == set()


def test_of_a_long_text_a_part_of_47_bytes_is_found(tmp_path: Path) -> None:
    text = "".join(f"{number:03}-" for number in range(100))
    search, file = TextSearch([text]), tmp_path / "file"
    for first in range(len(text) - 47):
        file.write_text(f"\0\0{text[first : first + 47]}\0")
        assert search.texts_with(search.found_in([file])) == {text}


def test_texts_that_begin_alike_are_not_tried_one_by_one(tmp_path: Path) -> None:
    search = TextSearch(f"Owns the house number {number:05}" for number in range(5_000))
    file = tmp_path / "file"
    file.write_text("Owns the house nearby. " * 30_000)
    began = time.process_time()
    assert search.found_in([file]) == set()
    assert time.process_time() - began < 5  # one by one it takes half a minute


def test_a_text_that_may_stand_in_a_file_by_chance_is_not_looked_for(tmp_path: Path) -> None:
    assert len(TextSearch(["Pune", "a b c", ""])) == 0
    assert TextSearch([]).found_in([tmp_path]) == set()
