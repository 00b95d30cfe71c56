"""Why a fact is believed: what it rests on, read from the stores. Only reads; needs no model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from reconciler.domain.recalling.evidence import evidence_of, mentions, restated_beneath
from reconciler.domain.records.evidence import FactEvidence
from reconciler.domain.records.facts import Fact, Supersession
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import UnknownFactError
from reconciler.service.stores.evidence_store import EvidenceStore
from reconciler.service.stores.memory_store import MemoryStore

__all__ = ["FactEvidenceReader"]


class FactEvidenceReader:
    """Answers "I never told you that".

    Args:
        store: where facts are kept.
        evidence: where what they rest on is kept.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self, *, store: MemoryStore, evidence: EvidenceStore, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._evidence = evidence
        self._clock = clock

    def of_fact(self, scope: Scope, fact_id: str) -> FactEvidence:
        """What one fact about the contact rests on.

        Raises:
            UnknownFactError: the contact has none of that id; another contact's gives the same
                error.
        """
        check_identifier("fact_id", fact_id, UnknownFactError)
        fact = self._store.find_fact(scope, fact_id)
        if fact is None:
            raise UnknownFactError(f"contact {scope.contact_id} has no fact {fact_id}")
        return self._of(fact, self._store.list_supersessions(scope))

    def about(self, scope: Scope, about: str) -> list[FactEvidence]:
        """What each fact about the contact rests on that is about something, live ones first.

        What another fact says again stands in that one's evidence, and not by itself.
        """
        links = self._store.list_supersessions(scope)
        restated = {link.old_id for link in links if link.is_restatement}
        facts = [fact for fact in self._store.list_facts(scope) if mentions(fact, about)]
        evidence_of = [self._of(fact, links) for fact in facts if fact.fact_id not in restated]
        return sorted(evidence_of, key=lambda evidence: not evidence.fact.is_live)

    def _of(self, fact: Fact, links: list[Supersession]) -> FactEvidence:
        chain_ids = restated_beneath(fact.fact_id, links)
        said = self._evidence.list_said(chain_ids)
        taken = self._evidence.list_taken(sorted({one.episode_id for one in said}))
        return evidence_of(fact.as_of(self._clock()), chain_ids, said, taken)
