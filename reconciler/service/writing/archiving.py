"""Archiving: faded facts are archived, out of recall, or made live again. Not for agents.

A sweep about a contact is one decision. Its record holds how each fact stood, so it is reverted
like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from reconciler.domain.recalling.decay import faded
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.decisions import Action, Archived, Decision, Undo
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import FactState
from reconciler.domain.records.policies import DecayPolicy
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import InvalidRequestError, UnknownFactError
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.memory_store import MemoryStore
from reconciler.service.writing.decision_ids import DecisionIds
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.write_gate import WriteGate, of_person

__all__ = ["Archiving"]


class Archiving:
    """Puts facts by, and takes them up again.

    Args:
        gate: reads the reason, as it reads any words that are kept.
        store: where facts are kept.
        reconciler: puts what is done on record.
        ledger: what writes.
        decision_ids: the ids under which that is kept.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        gate: WriteGate,
        store: MemoryStore,
        reconciler: MemoryReconciler,
        ledger: Ledger,
        decision_ids: DecisionIds,
        clock: Callable[[], datetime],
    ) -> None:
        self._gate = gate
        self._store = store
        self._reconciler = reconciler
        self._ledger = ledger
        self._decision_ids = decision_ids
        self._clock = clock

    def sweep(
        self, candidate: Candidate, policy: DecayPolicy, door: str, *, dry_run: bool
    ) -> Archived | None:
        """Archive what has faded about a contact, or say what that is; None where nothing has.

        Args:
            candidate: why, in a sentence, as the word of who has it done.
            policy: the half-life and the floor.
            door: which door asks for it.
            dry_run: only say what it would be.

        Raises:
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        scope = candidate.note.scope
        found = self._faded(scope, policy)
        if found and not dry_run:
            return self._archived(candidate, policy, door)
        return Archived(contact_id=scope.contact_id, facts=tuple(found)) if found else None

    def _faded(self, scope: Scope, policy: DecayPolicy) -> list[Fact]:
        """What a sweep about the contact would archive now, the most faded first."""
        conflicts = self._store.list_conflicts(scope)
        disputed = [fact_id for pair in conflicts for fact_id in (pair.new_id, pair.old_id)]
        return faded(self._store.list_facts(scope), disputed, self._clock(), policy)

    def _archived(self, candidate: Candidate, policy: DecayPolicy, door: str) -> Archived | None:
        scope = candidate.note.scope
        submission = of_person(self._gate.judge(candidate, door), "archived")
        put_by: list[Fact] = []

        def plan(seen: Seen) -> Commit | None:
            put_by[:] = self._faded(scope, policy)
            commit = self._reconciler.as_disposed(submission, Action.ARCHIVE, seen)
            return _standing(commit, put_by, FactState.ARCHIVED) if put_by else None

        made = self._ledger.write(submission, plan)
        if made is None:
            return None
        return Archived(contact_id=scope.contact_id, facts=tuple(put_by), decision=made)

    def unarchive(self, candidate: Candidate, fact_id: str, door: str) -> Decision:
        """Have an archived fact recalled again.

        Args:
            candidate: why, in a sentence, as the word of who has it done.
            fact_id: the archived fact.
            door: which door asks for it.

        Raises:
            UnknownFactError: the contact has no fact of that id.
            InvalidRequestError: it is not archived.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        check_identifier("fact_id", fact_id, UnknownFactError)
        scope = candidate.note.scope
        submission = of_person(self._gate.judge(candidate, door), "taken up again")

        def plan(seen: Seen) -> Commit:
            fact = self._store.find_fact(scope, fact_id)
            if fact is None:
                raise UnknownFactError(f"contact {scope.contact_id} has no fact {fact_id}")
            if fact.state is not FactState.ARCHIVED:
                raise InvalidRequestError(f"fact {fact_id} is {fact.state}, not archived")
            commit = self._reconciler.as_disposed(submission, Action.UNARCHIVE, seen)
            return _standing(commit, [fact], FactState.LIVE)

        return self._ledger.write(submission, plan)


def _standing(commit: Commit, facts: Sequence[Fact], state: FactState) -> Commit:
    """The commit that has these facts stand so, with how they stood on its record."""
    undo = Undo(before=tuple(fact.standing for fact in facts))
    return replace(
        commit,
        decision=replace(commit.decision, undo=undo),
        restored=tuple(replace(fact, state=state) for fact in facts),
    )
