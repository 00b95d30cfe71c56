"""What the rows of queries hold, as values: facts, decisions, evidence, vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from reconciler.domain.records.facts import (
    Contact,
    Fact,
    Predecessor,
)
from reconciler.domain.records.kinds import (
    Action,
    Category,
    DecidedBy,
    FactState,
    GateReason,
    Relation,
    SourceKind,
)
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import Slot
from reconciler.ports.graph import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reconciler.domain.gate.precedents import EarlierDecision
    from reconciler.domain.records.candidates import Evidence
    from reconciler.domain.records.decisions import Comparison, Decision

__all__ = [
    "SLOT_COLUMNS",
    "SPANS_JOINED",
    "contact_of",
    "decision_of",
    "decision_records",
    "earlier_of",
    "evidence_of",
    "fact_of",
    "neighbour_values",
    "no_vectors",
    "predecessor_of",
    "slot_of",
    "vectors_of",
    "with_comparisons",
]

SLOT_COLUMNS = (
    "subject",
    "attribute",
    "value",
    "value_key",
    "is_single_valued",
    "is_known",
    "is_personal",
)


SPANS_JOINED = " … "
"""Between the words that are cited from one episode, as an analyst reads them."""


_KNOWN_CONTRADICTIONS = (DecidedBy.SLOT, DecidedBy.ARBITER)


def vectors_of(rows: Sequence[Row]) -> NDArray[np.float32]:
    """Vectors, float32, shape (rows, dimension). Older facts have theirs as a list alone."""
    import numpy as np

    held = b"".join(
        np.asarray(row["embedding"], dtype=np.float32).tobytes()
        if row["embedding_bytes"] is None
        else row["embedding_bytes"]
        for row in rows
    )
    return np.frombuffer(held, dtype=np.float32).reshape(len(rows), -1 if rows else 0)


def no_vectors(*shape: int) -> NDArray[np.float32]:
    """An empty array of a shape, float32."""
    import numpy as np

    return np.empty(shape, dtype=np.float32)


def neighbour_values(row: Row) -> dict[str, Any]:
    """What a row says of a fact that a note is compared with."""
    return {
        "fact_id": row["fact_id"],
        "text": row["text"],
        "cosine": float(row["cosine"]),
        "valid_from": row["valid_from"],
        "trust": SourceKind(row["trust"]),
        "slot": slot_of(row),
        "category": Category(row["category"] or Category.FACT),
    }


def slot_of(row: Row) -> Slot | None:
    """The slot in a row; None where it has none."""
    if row["subject"] is None:
        return None
    return Slot(
        subject=row["subject"],
        attribute=row["attribute"],
        value=row["value"],
        value_key=row["value_key"],
        is_single_valued=bool(row["is_single_valued"]),
        is_known=bool(row["is_known"]),
        is_personal=bool(row["is_personal"]),
    )


def predecessor_of(row: Row) -> Predecessor:
    """A fact beneath another one, and how it came to lie there."""
    return Predecessor(
        fact_id=row["fact_id"],
        text=row["text"],
        cosine=float(row["cosine"]),
        slot=slot_of(row),
        was_contradicted=not row["is_restatement"] and row["decided_by"] in _KNOWN_CONTRADICTIONS,
        followed_from=row["followed_from"],
    )


@cache
def _of_rows() -> TypeAdapter[Fact]:
    """Made when there is first need of it: it takes longer than importing this module."""
    return TypeAdapter(Fact)


@cache
def decision_records() -> TypeAdapter[Decision]:
    """Reads and writes a decision as JSON."""
    from reconciler.domain.records.decisions import Decision

    return TypeAdapter(Decision)


def fact_of(row: Row) -> Fact:
    """The fact in a row."""
    found = {name: value for name, value in row.items() if value is not None}
    # What an older fact lacks has the default of the record.
    return _of_rows().validate_python(found | {"slot": slot_of(row)})


def contact_of(row: Row, facts: Mapping[str, int]) -> Contact:
    """The contact in a row, with its facts counted by state."""
    counts: dict[str, Any] = {f"{state}_facts": facts.get(state, 0) for state in FactState}
    return Contact(**row, **counts, facts=sum(facts.values()))


def decision_of(row: Row) -> Decision:
    """The decision in a row, without what it was compared with."""
    made = decision_records().validate_json(row["record"])
    return replace(made, correction=Relation(row["correction"])) if row["correction"] else made


def with_comparisons(decision: Decision, compared: Iterable[Comparison]) -> Decision:
    """The decision with what it was compared with, as that was then."""
    expired_ids = decision.verdict.expired_ids
    as_then = tuple(replace(fact, is_expired=fact.fact_id in expired_ids) for fact in compared)
    return replace(decision, compared_with=as_then)


def evidence_of(row: Row, scope: Scope) -> Evidence:
    """The evidence in a row, which belongs to a scope."""
    from reconciler.domain.records.candidates import Evidence

    return Evidence(
        **{name: row[name] for name in ("episode_id", "session_id", "text", "said_at")},
        scope=scope,
        spans=tuple(row["span"].split(SPANS_JOINED)) if row["span"] else (),
        source_kind=SourceKind(row["source_kind"]),
        source_reference=row["source_reference"] or None,
        is_cleaned=True,
    )


def earlier_of(row: Row) -> EarlierDecision:
    """What became of an earlier proposal, as the gate looks it up."""
    from reconciler.domain.gate.precedents import EarlierDecision

    reason = row.pop("gate_reason")
    return EarlierDecision(
        **row
        | {
            "action": Action(row["action"]),
            "reason": GateReason(reason) if reason else None,
            "trust": SourceKind(row["trust"]),
        }
    )
