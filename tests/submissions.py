"""Notes as the write gate lets them through, for tests of what lies behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reconciler import Candidate, Decision, Memory
from reconciler.bootstrap.chosen_models import build_judge
from reconciler.domain.records.notes import Note
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.writing.doors import as_candidate
from reconciler.service.writing.ledger import ContactTurns
from reconciler.service.writing.submissions import DecisionIds, Submission
from reconciler.settings import load_settings


def admitted(note: Note, door: str = "live") -> Submission:
    """The note after the real gate, with the shipped policy, admitted it."""
    judged = build_judge(load_settings())(as_candidate(note, "a test"))
    assert judged.is_admitted, judged.assessment.detail
    decision_id = DecisionIds(b"a key that only the tests know").of(note)
    # The test compares it by vectors of its own model.
    return replace(judged, door=door, decision_id=decision_id, vector=None)


def propose_to(memory: Memory, candidate: Candidate) -> Decision:
    """How the gate disposes of a candidate, in the memory of the contact that it is about."""
    scope = candidate.note.scope
    whose = memory.contact(scope.agent_id, scope.contact_id, tenant=scope.tenant)
    return whose.propose(candidate)


def call_about(memory: Memory, name: str) -> Callable[..., Any]:
    """A call of a contact's memory that takes the contact with its other arguments."""

    def call(
        agent_id: str, contact_id: str, *given: Any, tenant: str | None = None, **named: Any
    ) -> Any:
        whose = memory.contact(agent_id, contact_id, tenant=tenant)
        return getattr(whose, name)(*given, **named)

    call.__name__ = name
    return call


def overtake(memory: Memory, monkeypatch: pytest.MonkeyPatch, write: Callable[[], object]) -> None:
    """Have another writer write between the memory's next decision and its commit."""
    # As if they were two processes: the second does not wait for the first one's turn to end.
    memory._services.reconciler.ledger._turns = ContactTurns(stalled_seconds=0.0)
    commit = DecisionStore.commit_decisions

    def commit_second(*arguments: Any) -> set[str]:
        monkeypatch.undo()
        write()
        return commit(*arguments)

    monkeypatch.setattr(DecisionStore, "commit_decisions", commit_second)
