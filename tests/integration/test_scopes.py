"""A caller with another owner's id, known or guessed, learns no more than with an unused id."""

from __future__ import annotations

import hashlib
import itertools
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from reconciler import Candidate, Decision, Evidence, Memory, Note, Scope, Turn, load_settings
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.bootstrap.chosen_models import open_graph
from reconciler.domain.records.kinds import SourceKind
from reconciler.errors import UnknownDecisionError
from reconciler.service.stores.binding_store import BindingStore
from tests import raw_store
from tests.engines import EngineUnderTest, embedded_engine
from tests.submissions import propose_to

SCOPES = [Scope(*parts) for parts in itertools.product(("acme", "globex"), ("crm", "desk"), "ab")]
VICTIM, OTHERS = SCOPES[0], SCOPES[1:]
HELD_KEY, ADMITTED_KEY = "ticket-1", "ticket-2"
Ids = dict[str, list[str]]


@pytest.fixture
def memory(any_engine: EngineUnderTest) -> Iterator[Memory]:
    """An open memory without anything in it."""
    with Memory.open(embedder=NoopEmbedder(), **any_engine.settings_arguments) as opened:
        yield opened


def of(scope: Scope) -> dict[str, str]:
    return {"agent_id": scope.agent_id, "contact_id": scope.contact_id, "tenant": scope.tenant}


def proposed(memory: Memory, scope: Scope, text: str, **given: Any) -> Decision:
    """What an extractor that is sure of it proposed, on an episode of its own."""
    now = datetime.now(UTC)
    note = Note(scope=scope, text=text, said_at=now, source_kind=SourceKind.EXTRACTOR, **given)
    heard = Evidence(
        episode_id=str(uuid.uuid4()), session_id="call", scope=scope, text=text, said_at=now
    )
    return propose_to(
        memory, Candidate(note=note, evidence=(heard,), proposed_by="reader", confidence=0.95)
    )


def guesses(scope: Scope, key: str) -> list[str]:
    """The tries of an attacker who knows scope, key and this package's source."""
    texts = [f"{scope.contact_key}/{key}", key, f"{scope.contact_key}/{key}\0"]
    spaces = [uuid.UUID("3f6d2f0e-7d0b-5a39-9f5e-0a6d1f0c4b7a"), uuid.NAMESPACE_URL]
    hashed = itertools.product((uuid.uuid5, uuid.uuid3), spaces, texts)
    made = [str(make(space, text)) for make, space, text in hashed]
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    made += [digest.hex() for digest in digests]
    return [*made, *(str(uuid.UUID(bytes=digest[:16])) for digest in digests)]


def ids_of(memory: Memory, scope: Scope) -> Ids:
    """One of everything that has an id, made in a scope; and the ids that it had once."""
    whose = of(scope)
    held = memory.add_contact_note(
        **whose, text="Prefers tea", source_kind="tool_output", idempotency_key=HELD_KEY
    )
    admitted = proposed(memory, scope, "Works at Siemens", idempotency_key=ADMITTED_KEY)
    added = memory.add_contact_note(**whose, text="Lives in Pune")
    job_id = memory.contact(**whose).submit_session(
        session_id="call-17", turns=[Turn(role="contact", text="Remember my cat Tom.")]
    )
    memory.contact(**whose).task(task_id="task-9", goal="Find the cat")
    made = [held.decision_id, admitted.decision_id, added.decision_id]
    guessed = [guesses(scope, key)[0] for key in (HELD_KEY, ADMITTED_KEY)]
    return {
        "decision_id": made + guessed,
        "job_id": [job_id],
        "fact_id": [str(added.fact_id)],
        "session_id": ["call-17"],
        "task_id": ["task-9"],
    }


def test_no_guess_at_the_id_of_a_key_is_right_in_its_own_scope(memory: Memory) -> None:
    ids_of(memory, VICTIM)
    for guess in guesses(VICTIM, HELD_KEY) + guesses(VICTIM, ADMITTED_KEY):
        with pytest.raises(UnknownDecisionError):
            memory.contact("crm", "a", tenant="acme").decision(guess)


# The key that ids are made of


def id_key(engine: EngineUnderTest) -> str:
    [[key]] = raw_store.query(engine, "MATCH (store:Store) RETURN store.id_key")
    return str(key)


def keyed(engine: EngineUnderTest, **given: Any) -> Decision:
    with Memory.open(embedder=NoopEmbedder(), **engine.settings_arguments, **given) as memory:
        return memory.add_contact_note("crm", "alice", "Lives in Pune", idempotency_key="key")


def test_two_hosts_make_the_same_id_of_a_key(any_engine: EngineUnderTest) -> None:
    first = keyed(any_engine, gate={"hash_key": "of the first host, 16 or more"})
    again = keyed(any_engine, gate={"hash_key": "of the second host, 16 or more"})
    assert (again.decision_id, again.replayed) == (first.decision_id, True)


def test_two_stores_make_two_ids_of_a_key(tmp_path: Path) -> None:
    stores = [embedded_engine(tmp_path / name) for name in ("one", "other")]
    first, second = (keyed(each).decision_id for each in stores)
    assert first != second


def test_a_store_that_has_a_key_keeps_it(any_engine: EngineUnderTest) -> None:
    keyed(any_engine)
    kept = id_key(any_engine)
    with closing(open_graph(load_settings(**any_engine.settings_arguments))) as graph:
        given = {"embedding_model": "another", "id_key": "00", "at": datetime.now(UTC)}
        [bound] = graph.run("claim_store", given)
    assert (bound["id_key"], bound["embedding_model"]) == (kept, NoopEmbedder().model_id)


def test_those_who_open_an_empty_store_at_once_have_one_key(neo4j_engine: EngineUnderTest) -> None:
    settings, start = load_settings(**neo4j_engine.settings_arguments), Barrier(8)
    with closing(open_graph(settings)) as graph:
        graph.migrate(0)

        def opened(_: int) -> bytes:
            start.wait(60)
            return BindingStore(graph).open("noop", 0, datetime.now(UTC))

        with ThreadPoolExecutor(8) as threads:
            keys = set(threads.map(opened, range(8)))
    assert {each.hex() for each in keys} == {id_key(neo4j_engine)}
