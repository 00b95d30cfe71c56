"""Rows of queries as values: facts, decisions, evidence, vectors.

One reader for each kind of record, so that a damaged one is told in the same way everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter

from reconciler.domain.floats import Floats
from reconciler.domain.gate.precedents import EarlierDecision
from reconciler.domain.recalling.evidence import Said
from reconciler.domain.records.candidates import Evidence
from reconciler.domain.records.decisions import Comparison, Decision
from reconciler.domain.records.evidence import TakenBy
from reconciler.domain.records.facts import (
    Conflict,
    Contact,
    Fact,
    PlaceInHistory,
    Predecessor,
    Supersession,
)
from reconciler.domain.records.kinds import (
    SPANS_JOINED,
    Category,
    DecidedBy,
    FactState,
    Relation,
)
from reconciler.ports.graph import Row
from reconciler.service.stores.row_reader import RowReader, adapter_of, reader_of, validated

if TYPE_CHECKING:
    from reconciler.domain.review.health import ActionCount

T = TypeVar("T")

SLOT_COLUMNS = (
    "subject",
    "attribute",
    "value",
    "value_key",
    "is_single_valued",
    "is_known",
    "is_personal",
)


_KNOWN_CONTRADICTIONS = (
    DecidedBy.SLOT,
    DecidedBy.ARBITER,
    DecidedBy.AGENT,
    DecidedBy.EXTRACTOR,
)


def vectors_of(rows: Sequence[Row]) -> Floats:
    """The rows' vectors, float32, shape (rows, dimension); dimension 0 without a model."""
    return vectors_in([row["embedding_bytes"] for row in rows])


def vectors_in(held: Sequence[bytes | None]) -> Floats:
    """The vectors in these bytes, as ``vectors_of``."""
    import numpy as np

    vectors = np.frombuffer(b"".join(filter(None, held)), dtype=np.float32)
    return vectors.reshape(len(held), vectors.size // max(len(held), 1))


def told_by_contact(kind: type[T], rows: Sequence[Row]) -> dict[str, list[T]]:
    """What is told of facts in columns, by their contacts' keys; the log names what is damaged.

    Args:
        kind: a named tuple of those columns.
        rows: one row of columns, or none.
    """
    told: dict[str, list[T]] = {}
    for columns in rows:
        keys, names = columns["contact_key"], kind._fields  # type: ignore[attr-defined]
        held = list(zip(*(columns[name] for name in names), strict=True))
        try:  # together, which takes a quarter of the time
            facts = adapter_of(list[kind]).validate_python(held)  # type: ignore[valid-type]
            pairs = list(zip(keys, facts, strict=True))
        except ValueError:
            reader = RowReader("Fact", "fact_id", lambda row: validated(kind, row["held"]))
            rows_apart = [
                {"fact_id": values[names.index("fact_id")], "key": key, "held": values}
                for key, values in zip(keys, held, strict=True)
            ]
            pairs = [(row["key"], fact) for row, fact in reader.pairs(rows_apart)]
        for key, fact in pairs:
            told.setdefault(key, []).append(fact)
    return told


def no_vectors(*shape: int) -> Floats:
    """An empty array of a shape, float32."""
    import numpy as np

    return np.empty(shape, dtype=np.float32)


def _slot(row: Row) -> Row | None:
    """The columns of a row that has a slot; None if it has none."""
    return None if row["subject"] is None else row


def _of_predecessor(row: Row) -> Row:
    """How a fact was superseded."""
    is_known = not row["is_restatement"] and row["decided_by"] in _KNOWN_CONTRADICTIONS
    return {
        "slot": _slot(row),
        "was_contradicted": is_known,
        "was_live": row["decided_by"] != DecidedBy.ORDER,
    }


@cache
def decision_records() -> TypeAdapter[Decision]:
    """Reads and writes a decision as JSON."""
    return TypeAdapter(Decision)


def _fact(row: Row) -> Fact:
    values = {name: value for name, value in row.items() if value is not None}
    # A value that was never written gets the record's default.
    return validated(Fact, values | {"slot": _slot(row)})


def _counts(row: Row) -> Row:
    """The numbers of a contact's facts; the row has them by state."""
    facts: Mapping[str, int] = row["facts"]
    counts = {f"{state}_facts": facts.get(state, 0) for state in FactState}
    return {**counts, "facts": sum(facts.values())}


def _decision(row: Row) -> Decision:
    """The decision in a row, without comparisons."""
    made = decision_records().validate_json(row["record"])
    return replace(made, correction=Relation(row["correction"])) if row["correction"] else made


def with_comparisons(decision: Decision, compared: Iterable[Comparison]) -> Decision:
    """The decision with its comparisons; a fact is marked as expired if it was so then."""
    expired_ids = decision.expired_ids
    as_then = tuple(replace(fact, is_expired=fact.fact_id in expired_ids) for fact in compared)
    return replace(decision, compared_with=as_then)


def _cited(row: Row) -> Row:
    """The cited words of a turn, and where it can be looked up."""
    spans = row["span"].split(SPANS_JOINED) if row["span"] else ()
    return {"spans": spans, "source_reference": row["source_reference"] or None}


def _action_count(row: Row) -> ActionCount:
    from reconciler.domain.review.health import ActionCount  # loads numpy

    return validated(ActionCount, row)


FACTS = RowReader("Fact", "fact_id", _fact)
PREDECESSORS = reader_of(Predecessor, "Fact", "fact_id", _of_predecessor)
COMPARISONS = reader_of(
    Comparison,
    "Fact",
    "fact_id",
    lambda row: {"slot": _slot(row), "category": row["category"] or Category.FACT},
)
PLACES = reader_of(PlaceInHistory, "Fact", "fact_id")
DECISIONS = RowReader("Decision", "decision_id", _decision)
EARLIER = reader_of(
    EarlierDecision, "Decision", "decision_id", lambda row: {"reason": row["gate_reason"] or None}
)
EVIDENCE = reader_of(
    Evidence, "Episode", "episode_id", lambda row: _cited(row) | {"is_cleaned": True}
)
SAID = reader_of(Said, "Episode", "episode_id", _cited)
TAKEN = reader_of(TakenBy, "Decision", "decision_id")
ACTION_COUNTS = RowReader("Decision of Contact", "contact_key", _action_count)
CONTACTS = reader_of(Contact, "Contact", "contact_id", _counts)
CONFLICTS = reader_of(Conflict, "CONFLICTS_WITH of Fact", "new_id")
SUPERSESSIONS = reader_of(Supersession, "SUPERSEDES of Fact", "new_id")
