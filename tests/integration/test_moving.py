"""A memory moves: exported, restored into another engine and back, it is the same graph."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reconciler import Memory, Turn, ops
from reconciler.errors import (
    GraphConflictError,
    InvalidArchiveError,
    InvalidRequestError,
)
from reconciler.ops import restoring
from reconciler.service.checking.lines import KEY_OF, LINKS, load_export_schema
from reconciler.service.stores import contact_store
from reconciler.service.stores.contact_store import ArchiveStore
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest, embedded_engine
from tests.submissions import call_about
from tests.whole_graph import links_of, nodes_of

EMBEDDER = HashingEmbedder(16)
ALICE = ("crm", "alice")
TURNS = [
    Turn(role="contact", text="Remember that I only take calls after 5 pm."),
    Turn(role="contact", text="Please remember my dog is called Rex."),
]
NOTE = {"text": "Keeps two cats.", "idempotency_key": "k1"}
ERASED = """
MATCH (contact:Contact {contact_key: 'default/crm/alice'})
CREATE (:Erasure {erasure_id: 'e1', tenant: contact.tenant, agent_id: contact.agent_id,
                  contact_key: contact.contact_key, state: 'done', target_kind: 'fact',
                  target: '{}', `by`: 'anna', reason: 'Asked.', started_at: $at,
                  receipt: '{}'})-[:ERASES]->(contact)
CREATE (:Tombstone {tombstone_key: 't1', contact_key: contact.contact_key, erasure_id: 'e1',
                    at: $at})
SET contact.recalls = 3, contact.empty_recalls = 1
"""

RAW = """
MATCH (fact:Fact {state: 'live'})
SET fact.embedding_model = 'none', fact.embedding = NULL, fact.embedding_bytes = NULL
"""


def opened(engine: EngineUnderTest) -> Memory:
    """A memory that a recall does not change: what is moved is compared afterwards."""
    return Memory.open(
        embedder=EMBEDDER, life={"use_flush_seconds": 0}, **engine.settings_arguments
    )


def restored(engine: EngineUnderTest, path: Path, **given: Any) -> Any:
    return ops.restore(path, embedder=EMBEDDER, **engine.settings_arguments, **given)


def live_a_life(memory: Memory) -> None:
    """Notes of every kind about two contacts, sessions that were read and are read, and a task."""
    for city in ("Pune", "Goa", "Pune"):
        memory.add_contact_note("crm", "alice", f"Lives in {city}.", attribute="city", value=city)
    memory.add_contact_note("crm", "alice", tags=["pets", "home"], **NOTE)
    memory.add_contact_note("crm", "alice", "Keeps two cats.")
    slot = {"attribute": "city", "value": "Mumbai"}
    memory.add_contact_note("crm", "alice", "Lives in Mumbai.", source_kind="operator", **slot)
    held = memory.add_contact_note("crm", "alice", "Is diabetic.")
    memory.add_contact_note("crm", "alice", "Thanks a lot!")
    wrong = memory.add_contact_note("crm", "alice", "Plays the cello.")
    memory.contact("crm", "alice").revert(wrong.decision_id, by="dana", reason="A mix-up.")
    other = memory.add_contact_note("crm", "alice", "Drives a lorry.")
    assert other.fact_id is not None
    memory.contact("crm", "alice").revoke(other.fact_id, by="dana", reason="A mix-up.")
    assert held.action == "HOLD"
    memory.contact("crm", "alice").confirm(held.decision_id, "contact")
    memory.contact("crm", "alice").submit_session("chat-17", TURNS)
    memory.drain()
    memory.contact("crm", "bob/the 2nd").submit_session("chat-1", TURNS[:1])
    task = memory.contact("crm", "alice").task("move", goal="Move house", session_id="chat-18")
    task.observed()
    task.log_episode(TURNS[0])
    task.interrupt()
    memory.add_contact_note("sales", "alice", "Prefers e-mail.", tenant="acme")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> EngineUnderTest:
    """An embedded store with something of everything in it, one of its jobs leased."""
    engine = embedded_engine(tmp_path_factory.mktemp("source"))
    with opened(engine) as memory:
        live_a_life(memory)
    raw_store.query(engine, ERASED, at=datetime(2026, 3, 9, 12, tzinfo=UTC).replace(tzinfo=None))
    leased = "MATCH (job:Job) WHERE job.contact_id <> 'alice' SET job.state = 'running', "
    raw_store.query(engine, leased + "job.leased_by = 'w1', job.attempts = 1")
    return engine


@pytest.fixture(scope="module")
def moved(source: EngineUnderTest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its export, with vectors and keys."""
    path = tmp_path_factory.mktemp("export") / "memory.jsonl"
    with opened(source) as memory:
        ops.export(memory, path, vectors=True, keys=True)
    return path


@pytest.fixture
def target(tmp_path: Path) -> EngineUnderTest:
    """An embedded engine without a store yet."""
    return embedded_engine(tmp_path / "target")


@pytest.fixture(scope="module")
def arrived(moved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that it was restored into."""
    engine = embedded_engine(tmp_path_factory.mktemp("arrived"))
    restored(engine, moved)
    path: Path = engine.settings_arguments["embedded_path"]
    return path


@pytest.fixture
def there(arrived: Path, tmp_path: Path) -> EngineUnderTest:
    """A copy of that store."""
    for suffix in (".lbug", ".key"):
        shutil.copyfile(arrived.with_suffix(suffix), tmp_path / f"memory{suffix}")
    return embedded_engine(tmp_path)


def as_moved(nodes: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Nodes without what a move changes on purpose: a lease."""
    return {
        key: held | {"state": "waiting", "due_at": None, "leased_by": None, "locked_by": None}
        if key[0] == "Job" and held["state"] in ("running", "waiting")
        else {name: value for name, value in held.items() if name != "leased_by"}
        for key, held in nodes.items()
    }


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# The same graph


def test_a_life_has_every_label_and_every_relationship(moved: Path) -> None:
    lines = lines_of(moved)
    assert {each["node"] for each in lines if "node" in each} == set(KEY_OF)
    links = {each["link"] for each in lines if "link" in each}
    assert set(LINKS) - links == set()


def test_a_memory_that_moves_to_another_engine_and_back_is_the_same_graph(
    source: EngineUnderTest,
    moved: Path,
    one_of_each: EngineUnderTest,
    target: EngineUnderTest,
    tmp_path: Path,
) -> None:
    is_embedded = one_of_each.name == "embedded"
    other = embedded_engine(tmp_path / "other") if is_embedded else one_of_each
    restored(other, moved)
    with opened(other) as memory:
        ops.export(memory, tmp_path / "back.jsonl", vectors=True, keys=True)
    restored(target, tmp_path / "back.jsonl")
    for each in (other, target):
        assert as_moved(nodes_of(each)) == as_moved(nodes_of(source))
        assert links_of(each) == links_of(source)


def test_without_vectors_a_memory_is_embedded_again_and_recalls_the_same(
    source: EngineUnderTest, target: EngineUnderTest, tmp_path: Path
) -> None:
    with opened(source) as memory:
        ops.export(memory, tmp_path / "plain.jsonl", keys=True)
        told = memory.contact("crm", "alice").recall("cats")
    report = restored(target, tmp_path / "plain.jsonl")
    assert report.embedded == report.nodes["Fact"] > 0
    assert as_moved(nodes_of(target)) == as_moved(nodes_of(source))
    with opened(target) as memory:
        assert [e.fact for e in memory.contact("crm", "alice").recall("cats")] == [
            e.fact for e in told
        ]


def test_a_restore_may_move_to_another_model(moved: Path, target: EngineUnderTest) -> None:
    other = HashingEmbedder(32)
    report = ops.restore(moved, embedder=other, **target.settings_arguments)
    assert report.embedded == report.nodes["Fact"]
    with Memory.open(embedder=other, **target.settings_arguments) as memory:
        assert memory.contact("crm", "alice").recall("Keeps two cats.")[0].similarity > 0.99


def test_what_has_no_vector_gets_none_by_moving(tmp_path: Path) -> None:
    """Erased facts have none, nor have the raw words that earlier versions kept."""
    here, there = (embedded_engine(tmp_path / name) for name in ("here", "there"))
    path = tmp_path / "memory.jsonl"
    with opened(here) as memory:
        memory.add_contact_note("crm", "alice", "My flight leaves from Mumbai.")
        cello = memory.add_contact_note("crm", "alice", "Plays the cello.")
        memory.contact("crm", "alice").forget(fact_id=cello.fact_id, by="contact", reason="Asked.")
    raw_store.query(here, RAW)
    with opened(here) as memory:
        ops.export(memory, path, vectors=True, keys=True)
    assert restored(there, path).embedded == 0
    facts = {key: held for key, held in nodes_of(there).items() if key[0] == "Fact"}
    assert facts.items() <= nodes_of(here).items()
    assert {held["embedding_model"] for held in facts.values()} == {"none", EMBEDDER.model_id}


# What goes on as before


def test_what_came_back_from_beneath_erased_words_moves_and_gives_way_again(
    tmp_path: Path,
) -> None:
    """The link from what was erased stays, and beside it a fact that holds is superseded once."""
    first, second = embedded_engine(tmp_path), embedded_engine(tmp_path / "second")
    with opened(first) as memory:
        for number, text in enumerate(("Lives in Pune.", "Pune is home.")):
            said = {"attribute": "city", "value": "Pune", "session_id": f"call-{number}"}
            memory.add_contact_note("crm", "alice", text, **said)
        memory.contact("crm", "alice").forget(
            session_id="call-1", by="contact", reason="Asked for it."
        )
        assert [each.fact.text for each in memory.contact("crm", "alice").recall()] == [
            "Lives in Pune."
        ]
        ops.export(memory, tmp_path / "live.jsonl")
        memory.add_contact_note("crm", "alice", "Lives in Goa.", attribute="city", value="Goa")
        ops.export(memory, tmp_path / "ended.jsonl")
    live = [line.get("link") for line in lines_of(tmp_path / "live.jsonl")]
    assert live.count("SUPERSEDES") == 1
    restored(embedded_engine(tmp_path / "live"), tmp_path / "live.jsonl")
    restored(second, tmp_path / "ended.jsonl")
    assert (links_of(second), len(nodes_of(second))) == (links_of(first), len(nodes_of(first)))


def test_what_was_leased_is_due_in_the_new_place(there: EngineUnderTest) -> None:
    with opened(there) as memory:
        [job] = memory.drain()
        assert (job.session_id, job.state, job.attempts) == ("chat-1", "done", 2)


def test_an_idempotency_key_and_a_session_of_before_are_recognised(
    there: EngineUnderTest,
) -> None:
    with opened(there) as memory:
        assert memory.add_contact_note("crm", "alice", tags=["pets", "home"], **NOTE).replayed
        before = nodes_of_label(memory, "crm", "alice")
        memory.contact("crm", "alice").submit_session("chat-17", TURNS)
        memory.drain()
        assert nodes_of_label(memory, "crm", "alice") == before


def nodes_of_label(memory: Memory, agent_id: str, contact_id: str) -> dict[str, int]:
    return dict(ops.export(memory.contact(agent_id, contact_id), io.BytesIO()).nodes)


def test_a_store_without_the_keys_says_that_it_recognises_nothing(
    source: EngineUnderTest, target: EngineUnderTest, tmp_path: Path
) -> None:
    with opened(source) as memory:
        ops.export(memory, tmp_path / "plain.jsonl")
    report = restored(target, tmp_path / "plain.jsonl")
    assert (report.keeps_ids, report.keeps_hashes) == (False, False)
    secrets = {"id_key", "hash_key"}
    assert not secrets & lines_of(tmp_path / "plain.jsonl")[0].keys()


def test_a_store_with_contacts_and_another_key_is_left_as_it_is_unless_that_is_accepted(
    moved: Path, target: EngineUnderTest
) -> None:
    with opened(target) as memory:
        memory.add_contact_note("crm", "carol", "Has a boat.")
    before = raw_store.everything(target)
    with pytest.raises(InvalidArchiveError, match="--other-key"):
        restored(target, moved)
    assert raw_store.everything(target) == before
    report = restored(target, moved, accept_other_key=True)
    assert (report.contacts, report.keeps_ids) == (3, False)


def test_a_contact_that_the_store_knows_otherwise_is_refused_by_name(
    moved: Path, target: EngineUnderTest
) -> None:
    with opened(target) as memory:
        memory.add_contact_note("crm", "alice", "Has a boat.")
    before = raw_store.everything(target)
    with pytest.raises(InvalidArchiveError, match=r"with other content \(alice\)"):
        restored(target, moved, accept_other_key=True)
    assert raw_store.everything(target) == before


def test_a_contact_that_the_store_was_told_to_forget_is_not_brought_back(
    moved: Path, target: EngineUnderTest
) -> None:
    with opened(target):
        pass
    forgotten = "CREATE (:Tombstone {tombstone_key: 't9', contact_key: 'default/crm/alice'})"
    raw_store.query(target, forgotten)
    with pytest.raises(InvalidArchiveError, match="contact alice was erased in this store"):
        restored(target, moved)
    assert raw_store.counts(target)["Contact"] == 0


def test_an_id_that_the_store_has_under_another_contact_ends_the_restore(
    moved: Path, target: EngineUnderTest
) -> None:
    with opened(target):
        pass
    taken = next(each["properties"]["fact_id"] for each in lines_of(moved) if is_fact(each))
    raw_store.query(
        target, "CREATE (:Fact {fact_id: $taken, text: 'Is somebody else.'})", taken=taken
    )
    with pytest.raises(GraphConflictError, match="another contact of the store has one of its ids"):
        restored(target, moved)


def is_fact(line: dict[str, Any]) -> bool:
    return line.get("node") == "Fact"


# Scopes


def test_an_export_of_a_contact_holds_nobody_else(source: EngineUnderTest, tmp_path: Path) -> None:
    with opened(source) as memory:
        ops.export(memory.contact("crm", "bob/the 2nd"), tmp_path / "bob.jsonl")
        report = ops.export(memory.agent("crm"), tmp_path / "crm.jsonl")
    text = (tmp_path / "bob.jsonl").read_text(encoding="utf-8")
    assert ("alice" in text, "bob/the 2nd" in text) == (False, True)
    assert report.contacts == 2


def test_a_contact_that_nobody_knows_is_an_error_and_no_file(
    source: EngineUnderTest, tmp_path: Path
) -> None:
    with opened(source) as memory, pytest.raises(InvalidRequestError, match="check both names"):
        ops.export(memory.contact("crm", "alise"), tmp_path / "none.jsonl")
    assert list(tmp_path.iterdir()) == []


def once_read(
    monkeypatch: pytest.MonkeyPatch, label: str, acts: Iterator[Callable[[], object]]
) -> None:
    """Do one of these things each time that an export has read a contact's nodes of a label."""
    found = ArchiveStore.node_pages

    def meanwhile(store: ArchiveStore, key: str, read: str, **given: Any) -> Iterator[Any]:
        yield from found(store, key, read, **given)
        if read == label and (act := next(acts, None)):
            act()

    monkeypatch.setattr(ArchiveStore, "node_pages", meanwhile)


# Its form


def test_every_line_is_what_the_shipped_schema_says(moved: Path) -> None:
    validator = jsonschema.Draft202012Validator(load_export_schema())
    for line in lines_of(moved):
        validator.validate(line)


def test_pages_of_any_size_give_the_same_lines(
    source: EngineUnderTest, moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contact_store, "PAGE", 2)
    out = io.BytesIO()
    with opened(source) as memory:
        ops.export(memory, out, vectors=True, keys=True)
    assert out.getvalue().splitlines()[1:-1] == moved.read_bytes().splitlines()[1:-1]


def test_a_contact_that_is_written_to_meanwhile_is_exported_as_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(embedded_engine(tmp_path)) as memory:
        memory.add_contact_note("crm", "alice", "Keeps two cats.")
        boats = (f"Has {number} boats." for number in range(2))
        once_read(monkeypatch, "Fact", (partial(memory.add_contact_note, *ALICE, b) for b in boats))
        report = ops.export(memory, io.BytesIO())
    assert (report.nodes["Fact"], report.nodes["Decision"], report.links["WROTE"]) == (3, 3, 3)


def test_a_turn_that_comes_while_its_session_was_read_is_exported_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn is kept without a new version of the contact, and in a session that is new, too."""
    with opened(embedded_engine(tmp_path)) as memory:
        memory.add_contact_note("crm", "alice", "Keeps two cats.")
        hand_over = partial(call_about(memory, "submit_session"), *ALICE, "chat-17", TURNS[:1])
        once_read(monkeypatch, "Session", iter([hand_over]))
        report = ops.export(memory, tmp_path / "all.jsonl")
    assert (report.nodes["Session"], report.nodes["Episode"], report.links["IN"]) == (2, 2, 2)
    restored(embedded_engine(tmp_path / "target"), tmp_path / "all.jsonl")


# What cannot be restored


def newer(lines: list[bytes]) -> list[bytes]:
    return [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]]


def other_scope(lines: list[bytes]) -> list[bytes]:
    return [each.replace(b'"contact_id":"alice"', b'"contact_id":"eve"') for each in lines]


SPOILT: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "empty": (lambda lines: [], "neither an export nor"),
    "foreign": (lambda lines: [b'{"text": "a note"}\n'], "neither an export nor"),
    "newer": (newer, "newer version .* install that version"),
    "cut in a line": (lambda lines: [*lines[:9], lines[9][:20]], "cut off"),
    "cut between lines": (lambda lines: lines[:9], "cut off|one of them is missing"),
    "without its end": (lambda lines: lines[:-1], "cut off"),
    "a line less": (lambda lines: lines[:-2] + lines[-1:], "changed or damaged"),
    "a line twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], "the file holds it twice"),
    "a word changed": (
        lambda lines: [each.replace(b"Keeps two cats", b"Keeps six cats") for each in lines],
        "changed or damaged",
    ),
    "another's": (other_scope, "does not match its key"),
    "no JSON": (lambda lines: [*lines[:3], b"nonsense\n", *lines[3:]], "line 4: not JSON"),
    "an unknown label": (
        lambda lines: [*lines[:3], b'{"node":"Robot","properties":{}}\n', *lines[3:]],
        "line 4: no node is called 'Robot'",
    ),
    "an unknown property": (
        lambda lines: [each.replace(b'"importance"', b'"x) DELETE"') for each in lines],
        "has no property",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_what_is_no_whole_export_is_refused_and_no_store_is_made(
    moved: Path, target: EngineUnderTest, tmp_path: Path, name: str
) -> None:
    spoil, said = SPOILT[name]
    path = tmp_path / "spoilt.jsonl"
    path.write_bytes(b"".join(spoil(moved.read_bytes().splitlines(keepends=True))))
    with pytest.raises(InvalidArchiveError, match=said):
        restored(target, path)
    assert not target.settings_arguments["embedded_path"].exists()


# Killed, and run again


class KilledError(Exception):
    """Stands for a process that ended there."""


def killed_at(monkeypatch: pytest.MonkeyPatch, call: int, *, after: bool) -> None:
    """Have a restore end at one of its writes: before it, or before its answer comes."""
    left = [call]
    for name in ("begin_contact", "restore_nodes", "restore_links", "finish_contact", "bind"):
        write = getattr(ArchiveStore, name)

        def counted(store: ArchiveStore, *given: Any, _write: Any = write) -> Any:
            left[0] -= 1
            if left[0] == 0 and not after:
                raise KilledError
            done = _write(store, *given)
            if left[0] == 0:
                raise KilledError
            return done

        monkeypatch.setattr(ArchiveStore, name, counted)


RESTORING = """
import sys, time
from reconciler import ops
from reconciler.service.stores.contact_store import ArchiveStore
from reconciler.testing import HashingEmbedder, ScriptedExtractor
write = ArchiveStore.restore_nodes
def slow(*given):
    print("page", flush=True)
    write(*given)
    time.sleep(0.05)
ArchiveStore.restore_nodes = slow
ops.restore(sys.argv[1], embedder=HashingEmbedder(16), embedded_path=sys.argv[2])
"""


def test_a_restore_whose_process_was_killed_goes_on_in_another_one(
    moved: Path, source: EngineUnderTest, target: EngineUnderTest
) -> None:
    path = str(target.settings_arguments["embedded_path"])
    command = [sys.executable, "-c", RESTORING, str(moved), path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        for _ in range(4):
            assert process.stdout.readline() == b"page\n"
        process.kill()
    restored(target, moved)
    assert as_moved(nodes_of(target)) == as_moved(nodes_of(source))
    assert links_of(target) == links_of(source)


@pytest.mark.parametrize("after", [False, True])
def test_a_restore_that_was_killed_anywhere_finishes_when_run_again_and_duplicates_nothing(
    moved: Path,
    source: EngineUnderTest,
    target: EngineUnderTest,
    monkeypatch: pytest.MonkeyPatch,
    after: bool,
) -> None:
    monkeypatch.setattr(restoring, "NODES_A_PAGE", 3)
    call = 0
    while True:
        call += 10
        with monkeypatch.context() as killing:
            killed_at(killing, call, after=after)
            try:
                restored(target, moved)
                break
            except KilledError:
                continue
    assert call > 20
    assert as_moved(nodes_of(target)) == as_moved(nodes_of(source))
    assert links_of(target) == links_of(source)


def test_a_contact_that_others_write_about_meanwhile_ends_the_restore_for_good(
    moved: Path, target: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killing:
        killed_at(killing, 20, after=True)
        with pytest.raises(KilledError):
            restored(target, moved)
    with opened(target) as memory:
        memory.add_contact_note("crm", "alice", "Has a boat.")
    with pytest.raises(GraphConflictError, match="contact alice was written to while"):
        restored(target, moved)


def test_a_restore_that_is_run_once_more_changes_nothing(
    moved: Path, there: EngineUnderTest
) -> None:
    before = raw_store.everything(there)
    seen: list[tuple[int, int]] = []
    report = restored(there, moved, on_progress=lambda *told: seen.append(told))
    assert (report.contacts, report.already_there, seen) == (0, 3, [(3, 3)])
    assert report.keeps_ids
    assert raw_store.everything(there) == before
