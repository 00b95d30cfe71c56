"""Decisions of stores that were written before a decision was kept as one record.

Up to schema version 5 a decision lay in some sixty columns of its own; what the guard and the gate
found was kept in words. Here such a row becomes a decision again. Nothing writes them any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from reconciler.domain.records.assessment import (
    ALL_PASSED,
    Assessment,
    CheckFinding,
    Disposal,
    GateReason,
    ScorePart,
)
from reconciler.domain.records.decisions import (
    Action,
    DecidedBy,
    Decision,
    Proposal,
    RecordedOpinion,
    RecordedPolicy,
    RecordedVerdict,
    Relation,
    Timings,
)
from reconciler.domain.records.findings import Difference, Finding
from reconciler.domain.records.kinds import Category, RecallSemantics, Sensitivity, SourceKind
from reconciler.domain.records.notes import Note
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import Slot
from reconciler.ports.graph import Row

__all__ = ["decision_of_columns"]

_GATE_PLAIN = (
    "confidence",
    "topic",
    "is_redacted",
    "yields_to_live_intent",
    "lifetime_days",
    "question",
    "lapses_at",
    "policy_version",
    "domain",
    "inference_key",
)
_GATE_ENUMERATED: Mapping[str, type[StrEnum]] = {
    "disposal": Disposal,
    "category": Category,
    "sensitivity": Sensitivity,
    "recall_semantics": RecallSemantics,
}
_POLICY = ("cosine_update_min", "cosine_add_max", "cosine_cut", "guard", "embedding_model")
_PROPOSAL = ("proposed_by", "answered_by", "settles_id", "held_id")
_TIMINGS = ("attempts", "embed_ms", "compare_ms", "arbitrate_ms")
_NOTE = ("text", "said_at", "valid_from", "importance", "source_reference", "session_id")


def decision_of_columns(row: Row, slot: Slot | None) -> Decision:
    """The decision that a row of ``find_flat_decisions`` holds, without what it was compared with.

    Args:
        row: the columns; what a version did not know yet is null.
        slot: the note's, which has its columns in the same row.
    """
    return Decision(
        decision_id=row["decision_id"],
        note=Note(
            scope=Scope(row["tenant"], row["agent_id"], row["contact_id"]),
            **_plain(row, _NOTE),
            source_kind=SourceKind(row["trust"]),
            slot=slot,
            tags=tuple(row["tags"] or ()),
            idempotency_key=row["idempotency_key"],
            is_cleaned=True,
        ),
        verdict=RecordedVerdict(
            action=Action(row["action"]),
            decided_by=DecidedBy(row["decided_by"]),
            **_plain(row, ("reason", "cosine", "fact_id", "history_of_id", "is_contested")),
            superseded_ids=tuple(row["superseded_ids"] or ()),
            conflicting_ids=tuple(row["conflicting_ids"] or ()),
            findings=tuple(map(_finding, row["findings"] or ())),
        ),
        door=row["door"],
        at=row["at"],
        episode_id=row["episode_id"],
        policy=RecordedPolicy(profile=row["profile_name"], **_plain(row, _POLICY)),
        gate=_assessment(row),
        proposal=Proposal(**_plain(row, _PROPOSAL)),
        opinion=_opinion(row),
        timings=Timings(**_plain(row, _TIMINGS)),
        correction=_enumerated(row, {"correction": Relation}).get("correction"),
    )


def _plain(row: Row, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _enumerated(row: Row, kinds: Mapping[str, type[StrEnum]]) -> dict[str, Any]:
    return {name: kind(row[name]) for name, kind in kinds.items() if row[name]}


def _opinion(row: Row) -> RecordedOpinion:
    kept = {
        name: row[f"arbiter_{name}"]
        for name in ("reasoning", "error", "target", "confidence", "cost_usd", "is_cached")
    }
    kinds = {"arbiter_relation": Relation, "arbiter_action": Action}
    answer = {name[len("arbiter_") :]: kind for name, kind in _enumerated(row, kinds).items()}
    return RecordedOpinion(arbiter=row["arbiter"], **kept, **answer)


def _assessment(row: Row) -> Assessment | None:
    if row["policy_version"] is None:
        return None
    return Assessment(
        **_plain(row, _GATE_PLAIN),
        **_enumerated(row, _GATE_ENUMERATED),
        reason=GateReason(row["gate_reason"]),
        detail=ALL_PASSED if Action(row["action"]).is_reconciled else row["reason"],
        findings=tuple(map(_check_finding, row["gate_findings"] or ())),
        parts=tuple(map(_score_part, row["score_parts"] or ())),
    )


def _check_finding(words: str) -> CheckFinding:
    check, disposal, detail = words.split(": ", 2)
    return CheckFinding(check=check, disposal=Disposal(disposal), detail=detail)


def _score_part(words: str) -> ScorePart:
    name, _, effect = words.rpartition(" ")
    return ScorePart(name=name, effect=float(effect))


def _finding(words: str) -> Finding:
    """As ``Finding`` worded it.

    Where a text held the same words, the halves may be cut elsewhere; the sentence is the same.
    """
    kind, _, rest = words.partition(": ")
    in_note, is_both, in_fact = rest.partition(" instead of ")
    if not is_both:
        is_new = rest.endswith(", new")
        in_note = rest.removesuffix(", new") if is_new else ""
        in_fact = "" if is_new else rest.removeprefix("no ")
    return Finding(kind=Difference(kind), in_note=in_note, in_fact=in_fact)
