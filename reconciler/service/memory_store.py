"""The memory store: alone names queries and makes values of their rows. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.decisions import Action, Comparison, DecidedBy, Decision, Relation, Verdict
from reconciler.domain.facts import Conflict, Contact, Fact, Neighbour, Predecessor, Supersession
from reconciler.domain.notes import Note, SourceKind
from reconciler.domain.scope import Scope
from reconciler.domain.slots import Slot, SlotMatch, compare_slots
from reconciler.errors import GraphConflictError, SchemaError
from reconciler.ports.graph import EngineDescription, Graph, Row
from reconciler.queries import newest_schema_version

__all__ = ["MemoryStore", "Neighbourhood"]

_FACT_COLUMNS = (
    "fact_id",
    "text",
    "importance",
    "observations",
    "recorded_at",
    "valid_from",
    "valid_to",
    "last_confirmed_at",
    "is_live",
    "is_contested",
)
_NEAREST_COUNT = 5
"""Neighbours that a decision looks at and keeps, beside those that share the note's slot."""

_SLOT_COLUMNS = ("subject", "attribute", "value", "value_key", "is_single_valued", "is_known")
_ID_LISTS = ("superseded_ids", "conflicting_ids", "findings")
_ENUMERATED: Mapping[str, type[StrEnum]] = {
    "action": Action,
    "decided_by": DecidedBy,
    "trust": SourceKind,
    "arbiter_relation": Relation,
    "arbiter_action": Action,
    "correction": Relation,
}
_NO_RIVAL = "/"
"""How no slot's key begins. No null: for want of its type one engine would plan the query anew."""

_KNOWN_CONTRADICTIONS = (DecidedBy.SLOT, DecidedBy.ARBITER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What a decision is made on: the contact's version, and the facts seen at it.

    ``neighbours`` is None where there is no embedder, so that nothing was compared.
    """

    version: int
    neighbours: tuple[Neighbour, ...] | None


class MemoryStore:
    """Facts, evidence and decisions of all scopes, in one graph.

    Invariant: no method reads or writes outside the scope it is given.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def open(self, embedding_model: str, embedding_dimension: int, at: datetime) -> None:
        """Make the store ready for a model; an empty one gets its schema and is bound to it.

        Raises:
            SchemaError: the schema is older or newer than this code, or the store holds vectors
                of another model.
        """
        if self._graph.schema_version() == 0:
            self._graph.migrate(embedding_dimension)
        self.check_schema_version()
        if self._graph.run("find_store", {})[0]["embedding_model"] is None:
            self._graph.run("claim_store", {"embedding_model": embedding_model, "at": at})
        self.check_model(embedding_model, embedding_dimension)

    def check_schema_version(self) -> None:
        """Let a store through whose schema this code works with.

        Raises:
            SchemaError: it is older or newer; the text says which, and what to do.
        """
        found, wanted = self._graph.schema_version(), newest_schema_version(self._graph.engine)
        if found < wanted:
            raise SchemaError(
                f"the store's schema is version {found}, this code works with {wanted}; "
                "run `reconciler init` once, with the same settings, to bring it up to date"
            )
        if found > wanted:
            raise SchemaError(
                f"the store's schema is version {found}, this code works with {wanted}; "
                "install the newer version of this package that made it"
            )

    def check_model(self, embedding_model: str, embedding_dimension: int) -> None:
        """Let a store through that is bound to this model.

        Raises:
            SchemaError: it holds vectors of another one, which no cosine can be taken with.
        """
        bound = self._graph.run("find_store", {})[0]
        if (bound["embedding_model"], bound["embedding_dimension"]) != (
            embedding_model,
            embedding_dimension,
        ):
            raise SchemaError(
                f"this store holds vectors of {bound['embedding_model']} "
                f"({bound['embedding_dimension']} numbers each), and the embedder is "
                f"{embedding_model} ({embedding_dimension}); set RECONCILER_EMBEDDER__MODEL to the "
                "store's model, or open another store"
            )

    def migrate(self, embedding_dimension: int) -> int:
        """Bring the schema to this code's version, which is returned; harmless when it is there."""
        return self._graph.migrate(embedding_dimension)

    def schema_version(self) -> int:
        """The version of the schema in the store; 0 where there is none."""
        return self._graph.schema_version()

    def describe(self) -> EngineDescription:
        """Which engine keeps it, and where."""
        return self._graph.describe()

    def find_neighbourhood(
        self, note: Note, vector: NDArray[np.float32], embedding_model: str
    ) -> Neighbourhood:
        """The live facts in scope that a note is decided on, and the version they were seen at.

        Those are the five nearest, and beyond them those that answer the same question about the
        same subject; by cosine, nearest first.

        Args:
            note: in whose scope, and with which slot.
            vector: float32, shape (dimension,); dimension 0 compares nothing.
            embedding_model: facts of another model are not compared.
        """
        if vector.size == 0:
            return Neighbourhood(version=self._version(note.scope), neighbours=None)
        asked = (note, vector, embedding_model)
        if rows := self._nearest(*asked):
            return _neighbourhood(note, rows[0]["version"], rows)
        # No live fact, or no contact: look at the version first and then once more, so that a
        # fact written in between fails the version check instead of being missed.
        version = self._version(note.scope)
        rows = self._nearest(*asked)
        return _neighbourhood(note, rows[0]["version"] if rows else version, rows)

    def list_predecessors(
        self, facts: Iterable[Neighbour], vector: NDArray[np.float32]
    ) -> list[Predecessor]:
        """What lies beneath these facts, with the cosine to a vector; in no order."""
        asked = {"fact_ids": [fact.fact_id for fact in facts], "embedding": vector.tolist()}
        return [_predecessor(row) for row in self._graph.run("list_predecessors", asked)]

    def compare_live_facts(
        self, scope: Scope, vector: NDArray[np.float32], embedding_model: str
    ) -> list[tuple[Fact, float]]:
        """All live facts in scope with their raw cosine to the vector, nearest first."""
        rows = self._graph.run(
            "compare_live_facts",
            {
                **_contact(scope),
                "embedding": vector.tolist(),
                "embedding_model": embedding_model,
            },
        )
        return [(_fact(row), float(row["cosine"])) for row in rows]

    def list_facts(self, scope: Scope) -> list[Fact]:
        """All facts in scope, live and ended, the newest first."""
        return [_fact(row) for row in self._graph.run("list_facts", _contact(scope))]

    def list_conflicts(self, scope: Scope) -> list[Conflict]:
        """Which live facts in scope may contradict each other, each pair once; in no order."""
        return [Conflict(**row) for row in self._graph.run("list_conflicts", _contact(scope))]

    def list_supersessions(self, scope: Scope) -> list[Supersession]:
        """Which fact in scope took another's place, and why; in no order."""
        rows = self._graph.run("list_supersessions", _contact(scope))
        return [Supersession(**row) for row in rows]

    def list_contacts(self, tenant: str, agent_id: str) -> list[Contact]:
        """The contacts of an agent, by id."""
        agent_key = Scope(tenant, agent_id, "any").agent_key
        rows = self._graph.run("list_contacts", {"agent_key": agent_key})
        return [Contact(**row) for row in rows]

    def list_decisions(self, scope: Scope, limit: int) -> list[Decision]:
        """The newest decisions about a contact, with what each was compared with."""
        rows = self._graph.run("list_decisions", {**_contact(scope), "limit": limit})
        return self._decisions(rows)

    def find_decision(self, decision_id: str) -> Decision | None:
        """The decision of that id, if it was made."""
        rows = self._graph.run("find_decision", {"decision_id": decision_id})
        return next(iter(self._decisions(rows)), None)

    def find_decision_ids(self, decision_ids: Iterable[str]) -> set[str]:
        """Which of these decisions were made already."""
        rows = self._graph.run("find_decision_ids", {"decision_ids": list(decision_ids)})
        return {str(row["decision_id"]) for row in rows}

    def record_correction(self, decision_id: str, relation: Relation, at: datetime) -> bool:
        """Keep what a person says about a decision; False where there is no such decision."""
        given = {"decision_id": decision_id, "correction": str(relation), "at": at}
        return bool(self._graph.run("record_correction", given))

    def commit_decision(
        self,
        note: Note,
        decision: Decision,
        verdict: Verdict,
        vector: NDArray[np.float32],
        version: int,
    ) -> None:
        """Write a decision, its evidence and all that follows from it, in one transaction.

        Raises:
            GraphConflictError: the contact moved on from ``version``; nothing was written.
        """
        parameters = {
            **_note_parameters(note),
            **_decision_parameters(decision),
            **_verdict_parameters(verdict),
            "version": version,
            "embedding": vector.tolist() if vector.size else None,
        }
        if not self._graph.run("commit_decision", parameters):
            raise GraphConflictError(
                f"contact {note.scope.contact_id} moved on from version {version}"
            )

    def _version(self, scope: Scope) -> int:
        rows = self._graph.run("find_contact_version", _contact(scope))
        return int(rows[0]["version"]) if rows else 0

    def _nearest(self, note: Note, vector: NDArray[np.float32], embedding_model: str) -> list[Row]:
        return self._graph.run(
            "find_neighbours",
            {
                **_contact(note.scope),
                "slot_prefix": (note.slot and note.slot.rival_prefix) or _NO_RIVAL,
                "embedding": vector.tolist(),
                "embedding_model": embedding_model,
            },
        )

    def _decisions(self, rows: Sequence[Row]) -> list[Decision]:
        compared: dict[str, list[Comparison]] = {str(row["decision_id"]): [] for row in rows}
        for row in self._graph.run("list_comparisons", {"decision_ids": list(compared)}):
            decision_id = row.pop("decision_id")
            compared[decision_id].append(Comparison(**_neighbour_values(row), rank=row["rank"]))
        return [_decision(row, compared[row["decision_id"]]) for row in rows]


def _contact(scope: Scope) -> dict[str, Any]:
    return {"contact_key": scope.contact_key}


def _neighbourhood(note: Note, version: int, rows: Sequence[Row]) -> Neighbourhood:
    """The five nearest, the five nearest that are no siblings, and what shares the slot."""
    found = [Neighbour(**_neighbour_values(row)) for row in rows]
    matches = [compare_slots(note.slot, each.slot) for each in found]
    kept = set(range(min(_NEAREST_COUNT, len(found))))
    near = [place for place, match in enumerate(matches) if match is not SlotMatch.APART]
    kept |= set(near[:_NEAREST_COUNT])
    kept |= {place for place in near if matches[place] is not SlotMatch.UNKNOWN}
    neighbours = tuple(found[place] for place in sorted(kept))
    return Neighbourhood(version=int(version), neighbours=neighbours)


def _neighbour_values(row: Row) -> dict[str, Any]:
    return {
        "fact_id": row["fact_id"],
        "text": row["text"],
        "cosine": float(row["cosine"]),
        "valid_from": row["valid_from"],
        "trust": SourceKind(row["trust"]),
        "slot": _slot(row),
    }


def _slot(row: Row) -> Slot | None:
    if row["subject"] is None:
        return None
    return Slot(
        subject=row["subject"],
        attribute=row["attribute"],
        value=row["value"],
        value_key=row["value_key"],
        is_single_valued=bool(row["is_single_valued"]),
        is_known=bool(row["is_known"]),
    )


def _predecessor(row: Row) -> Predecessor:
    return Predecessor(
        fact_id=row["fact_id"],
        text=row["text"],
        cosine=float(row["cosine"]),
        slot=_slot(row),
        was_contradicted=not row["is_restatement"] and row["decided_by"] in _KNOWN_CONTRADICTIONS,
        followed_from=row["followed_from"],
    )


def _fact(row: Row) -> Fact:
    return Fact(
        **{name: row[name] for name in _FACT_COLUMNS},
        trust=SourceKind(row["trust"]),
        slot=_slot(row),
    )


def _decision(row: Row, compared: Sequence[Comparison]) -> Decision:
    renamed = (*_SLOT_COLUMNS, "profile_name")
    plain = {name: value for name, value in row.items() if name not in renamed}
    return Decision(
        **{
            **plain,
            **{name: tuple(row[name] or ()) for name in _ID_LISTS},
            **{name: kind(row[name]) for name, kind in _ENUMERATED.items() if row[name]},
        },
        slot=_slot(row),
        profile=row["profile_name"],
        compared_with=tuple(compared),
    )


def _note_parameters(note: Note) -> dict[str, Any]:
    scope = note.scope
    return {
        "tenant": scope.tenant,
        "agent_id": scope.agent_id,
        "agent_key": scope.agent_key,
        "contact_id": scope.contact_id,
        "contact_key": scope.contact_key,
        "contact_name": note.contact_name,
        "session_id": note.session,
        "session_key": scope.session_key(note.session),
        "text": note.text,
        "said_at": note.said_at,
        "valid_from": note.holds_from,
        "source_kind": str(note.trust),
        "source_reference": note.source_reference,
        "importance": note.importance,
        "idempotency_key": note.idempotency_key,
        **{name: getattr(note.slot, name, None) for name in _SLOT_COLUMNS},
        "slot_key": note.slot.key if note.slot else None,
    }


def _decision_parameters(decision: Decision) -> dict[str, Any]:
    plain = {
        name: getattr(decision, name)
        for name in (
            "decision_id",
            "action",
            "decided_by",
            "cosine",
            "reason",
            "fact_id",
            "superseded_ids",
            "conflicting_ids",
            "history_of_id",
            "is_contested",
            "findings",
            "episode_id",
            "cosine_update_min",
            "cosine_add_max",
            "cosine_cut",
            "guard",
            "embedding_model",
            "arbiter",
            "arbiter_reasoning",
            "arbiter_error",
            "arbiter_relation",
            "arbiter_action",
            "arbiter_target",
            "arbiter_confidence",
            "arbiter_cost_usd",
            "arbiter_is_cached",
            "door",
            "attempts",
            "embed_ms",
            "compare_ms",
            "arbitrate_ms",
            "at",
        )
    }
    return {name: _plain(value) for name, value in plain.items()} | {
        "profile_name": decision.profile,
        "neighbour_ids": [compared.fact_id for compared in decision.compared_with],
        "neighbour_cosines": [compared.cosine for compared in decision.compared_with],
    }


def _verdict_parameters(verdict: Verdict) -> dict[str, Any]:
    target, is_update = verdict.target, verdict.action is Action.UPDATE
    return {
        "is_restatement": verdict.is_restatement,
        "restated_id": target.fact_id if target and is_update and verdict.is_restatement else None,
        "history_to": target.valid_from if target and verdict.is_history else None,
    }


def _plain(value: Any) -> Any:
    """As drivers take it; null for an empty list, which has no type, as one engine wants it."""
    if isinstance(value, StrEnum):
        return str(value)
    return (list(value) or None) if isinstance(value, tuple) else value
