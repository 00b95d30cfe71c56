"""Input and company that is legal but hard: odd ids, broken models, rude arbiters, late notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler import Memory
from reconciler.errors import EmbeddingError, GraphLockedError, InvalidRequestError
from reconciler.testing import HashingEmbedder, TableEmbedder
from tests.engines import EngineUnderTest, embedded_engine
from tests.tables import every

NEAR = {"likes mail": [1.0, 0.0], "wants mail": [0.9, 0.435889894]}
NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
ODD_IDS = ["a/b", "a%2Fb", "a b", 'O\'Brien "x" \\', "{$text}", "名前", "🧑‍🚀" * 40, "🦊" * 200]


class BrokenEmbedder(HashingEmbedder):
    """Gives vectors that cannot be compared."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self._value = value

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), self.dimension), self._value, dtype=np.float32)


class RudeArbiter:
    """Raises what no arbiter may."""

    name = "rude/arbiter-v0"

    def judge(self, *_: object) -> None:
        raise RuntimeError("boom")

    def close(self) -> None:
        """Nothing to close."""


def opened(engine: EngineUnderTest, embedder: HashingEmbedder | TableEmbedder) -> Memory:
    return Memory.open(embedder=embedder, **engine.settings_arguments)


def test_every_odd_contact_id_has_a_memory_of_its_own(engine: EngineUnderTest) -> None:
    with opened(engine, HashingEmbedder()) as memory:
        for contact_id in ODD_IDS:
            memory.add_contact_note("crm", contact_id, f"Is called {contact_id[:5]}")
        recalled = [memory.contact("crm", contact_id).recall() for contact_id in ODD_IDS]
        assert [len(each) for each in recalled] == [1] * len(ODD_IDS)
        assert {each.contact_id for each in memory.agent("crm").contacts()} == set(ODD_IDS)


def test_four_longest_ids_of_four_bytes_each_fit_in_a_key(engine: EngineUnderTest) -> None:
    longest = "🦊" * 200
    with opened(engine, HashingEmbedder()) as memory:
        memory.add_contact_note(longest, longest, "x y", tenant=longest, session_id=longest)
        assert len(memory.contact(longest, longest, tenant=longest).recall()) == 1


@every("value", [float("nan"), float("inf"), 0.0, 7.0])
def test_a_vector_without_a_direction_is_refused_and_nothing_written(
    kept_engine: EngineUnderTest, value: float
) -> None:
    contact = str(value)
    with opened(kept_engine, HashingEmbedder()) as memory:
        memory.add_contact_note("crm", contact, "Prefers email")
    with opened(kept_engine, BrokenEmbedder(value)) as memory:
        with pytest.raises(EmbeddingError):
            memory.add_contact_note("crm", contact, "Prefers phone")
        with pytest.raises(EmbeddingError):
            memory.contact("crm", contact).recall("phone")
        assert [each.fact.text for each in memory.contact("crm", contact).recall()] == [
            "Prefers email"
        ]


def test_an_arbiter_that_breaks_its_promises_leaves_it_to_the_midpoint(
    kept_engine: EngineUnderTest,
) -> None:
    embedder = TableEmbedder(NEAR, 2)
    arguments = kept_engine.settings_arguments
    with Memory.open(embedder=embedder, arbiter=RudeArbiter(), **arguments) as memory:  # type: ignore[arg-type]
        memory.add_contact_note("crm", "alice", "likes mail")
        decision = memory.add_contact_note("crm", "alice", "wants mail")
    assert (decision.action, decision.decided_by) == ("UPDATE", "midpoint")
    assert decision.opinion.error == "RuntimeError: boom"


def test_an_older_restatement_does_not_turn_back_when_it_was_last_said(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Prefers email", said_at=NOON)
    earlier = NOON - timedelta(days=300)
    memory.add_contact_note("crm", "alice", "Prefers email", said_at=earlier)
    [recalled] = memory.contact("crm", "alice").recall()
    assert recalled.fact.last_confirmed_at == NOON


def test_an_embedder_of_the_callers_stays_open(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        with opened(embedded_engine(folder), embedder) as memory:
            assert memory.add_contact_note("crm", "alice", "Prefers email").action == "ADD"


def test_a_symbolic_link_to_an_open_file_is_locked_too(tmp_path: Path) -> None:
    engine = embedded_engine(tmp_path)
    link = tmp_path / "link.lbug"
    link.symlink_to(engine.settings_arguments["embedded_path"])
    with opened(engine, HashingEmbedder()), pytest.raises(GraphLockedError, match="this process"):
        Memory.open(embedder=HashingEmbedder(), graph="embedded", embedded_path=link)


@pytest.mark.on_neo4j_too
def test_a_failed_claim_leaves_the_length_of_vectors_bound(any_engine: EngineUnderTest) -> None:
    with opened(any_engine, HashingEmbedder(32)):
        pass
    with pytest.raises(Exception, match="32 numbers each"):
        opened(any_engine, HashingEmbedder(64))


@every("query", [None, 5, "\ud800", "x" * 2001, "\0"])
def test_a_query_that_cannot_be_asked_is_refused(memory: Memory, query: Any) -> None:
    with pytest.raises(InvalidRequestError):
        memory.contact("crm", "alice").recall(query)


@every("limit", [0, -1, True, 2.0, 2**63, -(10**400)])
def test_a_limit_that_cannot_be_kept_is_refused(memory: Memory, limit: Any) -> None:
    with pytest.raises(InvalidRequestError):
        memory.contact("crm", "alice").decisions(limit=limit)
