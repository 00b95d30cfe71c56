"""Notes as the write gate lets them through, for tests of what lies behind it."""

from __future__ import annotations

from reconciler.bootstrap import build_judge
from reconciler.domain.records.notes import Note
from reconciler.service.writing.decision_ids import DecisionIds
from reconciler.service.writing.doors import own_evidence
from reconciler.service.writing.memory_reconciler import Submission
from reconciler.settings import load_settings


def admitted(note: Note, door: str = "live") -> Submission:
    """The note after the real gate, with the shipped policy, admitted it."""
    judged = build_judge(load_settings())(own_evidence(note, "a test"))
    assert judged.is_admitted, judged.assessment.detail
    return Submission(
        candidate=judged.candidate,
        assessment=judged.assessment,
        door=door,
        decision_id=DecisionIds(b"a key that only the tests know").of(note),
    )
