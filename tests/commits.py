"""Commits as the ledger hands them to the store, for tests of what lies behind it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from reconciler import Evidence, Scope
from reconciler.domain.reconciling.restating import written_fact
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.service.stores.commits import Commit
from tests.records import decision_of

__all__ = ["MODEL", "NOON", "committed"]

MODEL = "model@1"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def committed(
    scope: Scope, version: int, vector: Sequence[float] = (1.0, 0.0), **given: Any
) -> Commit:
    """An ADD on that version; what is given goes by the names that ``decision_of`` takes."""
    usual: dict[str, Any] = {
        "decision_id": str(uuid.uuid4()),
        "fact_id": str(uuid.uuid4()),
        "episode_id": str(uuid.uuid4()),
        "scope": scope,
        "text": "Prefers email",
        "said_at": NOON,
        "session_id": "call-1",
        "action": Action.ADD,
        "decided_by": DecidedBy.THRESHOLD,
        "reason": "because",
        "door": "live",
        "at": NOON,
        "profile": "seed",
        "cosine_update_min": 0.95,
        "cosine_add_max": 0.8,
        "cosine_cut": 0.875,
        "guard": True,
        "embedding_model": MODEL,
    }
    decision = decision_of(**usual | given)
    told = Evidence(
        episode_id=decision.episode_id,
        session_id="call-1",
        scope=scope,
        text=decision.text,
        said_at=NOON,
    )
    is_written = decision.action in (Action.ADD, Action.UPDATE)
    return Commit(
        version=version,
        decision=decision,
        evidence=(told,),
        fact=written_fact(decision) if is_written else None,
        vector=np.asarray(vector, dtype=np.float32),
    )
