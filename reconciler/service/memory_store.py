"""The memory store: alone names queries and makes values of their rows. Decides nothing."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from reconciler.domain.candidates import CONTACT, Evidence, Precedents
from reconciler.domain.decisions import Action, Comparison, DecidedBy, Decision, Relation, Verdict
from reconciler.domain.facts import (
    Conflict,
    Contact,
    Fact,
    Neighbour,
    Predecessor,
    RefusalCount,
    Supersession,
)
from reconciler.domain.gate.assessment import Disposal, GateReason
from reconciler.domain.kinds import Category, RecallSemantics, Sensitivity, SourceKind
from reconciler.domain.notes import Note
from reconciler.domain.scope import Scope, check_identifier
from reconciler.domain.slots import Slot, SlotMatch, compare_slots
from reconciler.errors import (
    GraphConflictError,
    InvalidNoteError,
    SchemaError,
    UnknownDecisionError,
)
from reconciler.ports.graph import EngineDescription, Graph, Row
from reconciler.queries import newest_schema_version
from reconciler.service.flat_decisions import decision_of_columns

__all__ = ["DecisionFilter", "MemoryStore", "Neighbourhood"]

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
    "topic",
    "confidence",
    "is_redacted",
    "yields_to_live_intent",
    "expires_at",
    "is_confirmed_by_user",
)
_FACT_ENUMERATED: Mapping[str, type[StrEnum]] = {
    "trust": SourceKind,
    "category": Category,
    "sensitivity": Sensitivity,
    "recall_semantics": RecallSemantics,
}
_NEAREST_COUNT = 5
"""Neighbours that a decision looks at and keeps, beside those that share the note's slot."""

_SLOT_COLUMNS = (
    "subject",
    "attribute",
    "value",
    "value_key",
    "is_single_valued",
    "is_known",
    "is_personal",
)
_DECISIONS = TypeAdapter(Decision)
_NOT_IN_RECORD = {"compared_with", "correction", "replayed"}
"""What a record leaves out: a relationship, what was said later, what is true of one call."""

_GATE_OF_A_FACT = (
    "confidence",
    "category",
    "topic",
    "sensitivity",
    "is_redacted",
    "recall_semantics",
    "yields_to_live_intent",
)
_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)
_FAR_AHEAD = datetime(9999, 12, 30, tzinfo=UTC)

_SUPPORTING = (GateReason.THIN_EVIDENCE, GateReason.BELOW_FLOOR)
"""Why something was not admitted whose episodes support it all the same. What was quarantined, not
meant as it stands, a tool's or a model's corroborates nothing."""

_SPANS_JOINED = " … "
"""Between the words that are cited from one episode, as an analyst reads them."""

_NO_RIVAL = "/"
"""How no slot's key begins. No null: for want of its type one engine would plan the query anew."""

_ID_KEY_BYTES = 32
_EPISODE_SPACE = uuid.UUID("b2b0a3ce-0a4e-5c0b-9d3f-4f2f6a2f6c11")
_KNOWN_CONTRADICTIONS = (DecidedBy.SLOT, DecidedBy.ARBITER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What a decision is made on: the contact's version, and the facts seen at it.

    ``neighbours`` is None where there is no embedder, so that nothing was compared.
    """

    version: int
    neighbours: tuple[Neighbour, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """Which decisions are asked for; None lets all through. ``until`` is not included."""

    disposal: Disposal | None = None
    reason: GateReason | None = None
    door: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_ALL = DecisionFilter()


class MemoryStore:
    """Facts, evidence and decisions of all scopes, in one graph.

    Invariant: no method reads or writes outside the scope it is given.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def open(self, embedding_model: str, embedding_dimension: int, at: datetime) -> bytes:
        """Make the store ready for a model; an empty one gets its schema and is bound to it.

        Returns:
            The store's own key, from which ids are made: random, made once, the same for every
            process that opens the store. It is a secret.

        Raises:
            SchemaError: the schema is older or newer than this code, or the store holds vectors
                of another model.
        """
        if self._graph.schema_version() == 0:
            self._graph.migrate(embedding_dimension)
        self.check_schema_version()
        [bound] = self._graph.run("find_store", {})
        if bound["embedding_model"] is None or bound["id_key"] is None:
            given = {"embedding_model": embedding_model, "at": at}
            drawn = secrets.token_hex(_ID_KEY_BYTES)  # of two processes, the first one's is kept
            [bound] = self._graph.run("claim_store", {**given, "id_key": drawn})
        _check_model(bound, embedding_model, embedding_dimension)
        return bytes.fromhex(bound["id_key"])

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
        [bound] = self._graph.run("find_store", {})
        _check_model(bound, embedding_model, embedding_dimension)

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
        self, note: Note, vector: NDArray[np.float32], embedding_model: str, now: datetime
    ) -> Neighbourhood:
        """The live facts in scope that a note is decided on, and the version they were seen at.

        Those are the five nearest, and beyond them those that answer the same question about the
        same subject; by cosine, nearest first.

        Args:
            note: in whose scope, and with which slot.
            vector: float32, shape (dimension,); dimension 0 compares nothing.
            embedding_model: facts of another model are not compared.
            now: facts that expired by then are not compared (UTC).
        """
        if vector.size == 0:
            return Neighbourhood(version=self.contact_version(note.scope), neighbours=None)
        asked = (note, vector, embedding_model, now)
        if rows := self._nearest(*asked):
            return _neighbourhood(note, rows[0]["version"], rows)
        # No live fact, or no contact: look at the version first and then once more, so that a
        # fact written in between fails the version check instead of being missed.
        version = self.contact_version(note.scope)
        rows = self._nearest(*asked)
        return _neighbourhood(note, rows[0]["version"] if rows else version, rows)

    def list_predecessors(
        self, facts: Iterable[Neighbour], vector: NDArray[np.float32]
    ) -> list[Predecessor]:
        """What lies beneath these facts, with the cosine to a vector; in no order."""
        asked = {"fact_ids": [fact.fact_id for fact in facts], "embedding": vector.tolist()}
        return [_predecessor(row) for row in self._graph.run("list_predecessors", asked)]

    def compare_live_facts(
        self, scope: Scope, vector: NDArray[np.float32], embedding_model: str, now: datetime
    ) -> list[tuple[Fact, float]]:
        """All live facts in scope with their raw cosine to the vector, nearest first."""
        rows = self._graph.run(
            "compare_live_facts",
            {
                **_contact(scope),
                "embedding": vector.tolist(),
                "embedding_model": embedding_model,
                "now": now,
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

    def list_decisions(
        self, scopes: Iterable[Scope], limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """The newest decisions about some contacts, with what each was compared with."""
        rows = self._graph.run(
            "list_decision_ids",
            {
                **_contact_keys(scopes),
                "disposal": str(wanted.disposal or ""),
                "gate_reason": str(wanted.reason or ""),
                "door": wanted.door or "",
                "since": wanted.since or _LONG_AGO,
                "until": wanted.until or _FAR_AHEAD,
                "limit": limit,
            },
        )
        return self._decisions(rows)

    def list_pending(self, scopes: Iterable[Scope], now: datetime) -> list[Decision]:
        """What was held and waits for an answer, the newest first."""
        asked = {**_contact_keys(scopes), "now": now}
        return self._decisions(self._graph.run("list_pending_ids", asked))

    def find_precedents(self, scope: Scope, inference_key: str, now: datetime) -> Precedents:
        """What became of the same inference about the contact before."""
        asked = {**_contact(scope), "inference_key": inference_key}
        return _precedents(self._graph.run("list_precedents", asked), now)

    def list_evidence(self, decision_id: str, scope: Scope) -> list[Evidence]:
        """The episodes that a decision rests on, oldest first; one with a span for each."""
        rows = self._graph.run("list_evidence", {"decision_id": decision_id})
        return [_evidence(row, scope) for row in rows]

    def as_own_episodes(
        self, scope: Scope, given: Iterable[Evidence], cleaned: Sequence[Evidence]
    ) -> tuple[Evidence, ...]:
        """The cleaned evidence under the ids by which a contact's own episodes are kept.

        What is stored for the contact keeps its id. Any other id is bound to the contact: it may be
        the id of another contact's episode, and nobody is to learn that, or to be linked to it.

        Args:
            scope: whom the evidence is to support something about.
            given: as it was proposed.
            cleaned: the same as the gate would store it; either may be what is stored.

        Raises:
            InvalidNoteError: the contact's episode of that id says something else, or in somebody
                else's word.
        """
        bound = {each.episode_id: _own_episode_id(scope, each.episode_id) for each in cleaned}
        if not bound:
            return ()
        asked = {**_contact(scope), "episode_ids": sorted({*bound, *bound.values()})}
        stored = {row["episode_id"]: row for row in self._graph.run("find_episodes", asked)}
        own_ids = {each: each if each in stored else bound[each] for each in bound}
        told = {(own_ids[e.episode_id], e.text, str(e.source_kind)) for e in (*given, *cleaned)}
        for given_id, own_id in own_ids.items():
            row = stored.get(own_id)
            if row and (own_id, row["text"], row["source_kind"]) not in told:
                raise InvalidNoteError(
                    f"episode {given_id} is stored already, with another text or source; give "
                    "evidence as it is stored, or under an id of its own"
                )
        return tuple(replace(each, episode_id=own_ids[each.episode_id]) for each in cleaned)

    def count_refusals(self, scopes: Iterable[Scope]) -> list[RefusalCount]:
        """How often the gate refused something, by contact and reason."""
        asked = _contact_keys(scopes)
        return [
            RefusalCount(
                contact_id=row["contact_id"], reason=row["gate_reason"], refusals=row["refusals"]
            )
            for row in self._graph.run("count_refusals", asked)
        ]

    def find_decision(self, scope: Scope, decision_id: str) -> Decision | None:
        """The decision of that id about the contact, if it was made."""
        return next(iter(self._decisions([{**_contact(scope), "decision_id": decision_id}])), None)

    def get_decision(self, scope: Scope, decision_id: str) -> Decision:
        """The decision of that id about the contact.

        Raises:
            UnknownDecisionError: there is none; one about anybody else is answered alike.
        """
        check_identifier("decision_id", decision_id, UnknownDecisionError)
        found = self.find_decision(scope, decision_id)
        if found is None:
            raise UnknownDecisionError(f"contact {scope.contact_id} has no decision {decision_id}")
        return found

    def find_decision_ids(self, decision_ids: Iterable[str]) -> set[str]:
        """Which of these decisions were made already."""
        rows = self._graph.run("find_decision_ids", {"decision_ids": list(decision_ids)})
        return {str(row["decision_id"]) for row in rows}

    def record_correction(
        self, scope: Scope, decision_id: str, relation: Relation, at: datetime
    ) -> bool:
        """Keep what a person says about a decision; False where the contact has none of that id."""
        given = {"decision_id": decision_id, "correction": str(relation), "at": at}
        return bool(self._graph.run("record_correction", {**_contact(scope), **given}))

    def commit_decision(
        self,
        note: Note,
        evidence: Sequence[Evidence],
        decision: Decision,
        verdict: Verdict,
        vector: NDArray[np.float32],
        version: int,
    ) -> None:
        """Write a decision, its evidence and all that follows from it, in one transaction.

        Args:
            note: what was decided about.
            evidence: one episode or more; the first one is the decision's own.
            decision: the record.
            verdict: what it writes.
            vector: the note's embedding; empty where there is none.
            version: the contact's, that the decision was made on.

        Raises:
            GraphConflictError: the contact moved on from ``version``; nothing was written.
        """
        parameters = {
            **_note_parameters(note),
            # Only what is remembered may rename the contact.
            "contact_name": note.contact_name if decision.action.is_reconciled else None,
            **_evidence_parameters(note.scope, evidence),
            **_decision_parameters(decision),
            **_gate_parameters(decision),
            **_verdict_parameters(verdict),
            "version": version,
            "embedding": vector.tolist() if vector.size else None,
        }
        if not self._graph.run("commit_decision", parameters):
            raise GraphConflictError(
                f"contact {note.scope.contact_id} moved on from version {version}"
            )

    def contact_version(self, scope: Scope) -> int:
        """How many decisions were written about a contact; 0 where nothing is known of it."""
        rows = self._graph.run("find_contact_version", _contact(scope))
        return int(rows[0]["version"]) if rows else 0

    def _nearest(
        self, note: Note, vector: NDArray[np.float32], embedding_model: str, now: datetime
    ) -> list[Row]:
        return self._graph.run(
            "find_neighbours",
            {
                **_contact(note.scope),
                "slot_prefix": (note.slot and note.slot.rival_prefix) or _NO_RIVAL,
                "embedding": vector.tolist(),
                "embedding_model": embedding_model,
                "now": now,
            },
        )

    def _decisions(self, wanted: Sequence[Row]) -> list[Decision]:
        """Of these ids, each with its contact's key, the decisions that were made, newest first."""
        ids: dict[str, list[str]] = {}
        for each in wanted:
            ids.setdefault(each["contact_key"], []).append(each["decision_id"])
        made = [
            decision
            for contact_key, decision_ids in ids.items()
            for decision in self._made(contact_key, decision_ids)
        ]
        compared: dict[str, list[Comparison]] = {each.decision_id: [] for each in made}
        for row in self._graph.run("list_comparisons", {"decision_ids": list(compared)}):
            decision_id = row.pop("decision_id")
            compared[decision_id].append(Comparison(**_neighbour_values(row), rank=row["rank"]))
        made = [replace(each, compared_with=tuple(compared[each.decision_id])) for each in made]
        return sorted(made, key=lambda each: (-each.at.timestamp(), each.decision_id))

    def _made(self, contact_key: str, decision_ids: list[str]) -> Iterator[Decision]:
        asked = {"contact_key": contact_key, "decision_ids": decision_ids}
        rows = self._graph.run("find_decisions", asked)
        yield from (_decision(row) for row in rows if row["record"])
        if flat := [row["decision_id"] for row in rows if not row["record"]]:
            older = self._graph.run("find_flat_decisions", asked | {"decision_ids": flat})
            yield from (decision_of_columns(row, _slot(row)) for row in older)


def _check_model(bound: Row, embedding_model: str, embedding_dimension: int) -> None:
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


def _contact(scope: Scope) -> dict[str, Any]:
    return {"contact_key": scope.contact_key}


def _contact_keys(scopes: Iterable[Scope]) -> dict[str, list[str]]:
    return {"contact_keys": [scope.contact_key for scope in scopes]}


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
        "category": Category(row["category"] or Category.FACT),
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
        is_personal=bool(row["is_personal"]),
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
        **_enumerated(row, _FACT_ENUMERATED),
        tags=tuple(row["tags"] or ()),
        slot=_slot(row),
    )


def _decision(row: Row) -> Decision:
    made = _DECISIONS.validate_json(row["record"])
    return replace(made, correction=Relation(row["correction"])) if row["correction"] else made


def _enumerated(row: Row, kinds: Mapping[str, type[StrEnum]]) -> dict[str, Any]:
    return {name: kind(row[name]) for name, kind in kinds.items() if row[name]}


def _evidence(row: Row, scope: Scope) -> Evidence:
    return Evidence(
        **{name: row[name] for name in ("episode_id", "session_id", "text", "said_at")},
        scope=scope,
        spans=tuple(row["span"].split(_SPANS_JOINED)) if row["span"] else (),
        source_kind=SourceKind(row["source_kind"]),
        source_reference=row["source_reference"] or None,
        is_cleaned=True,
    )


def _precedents(rows: Sequence[Row], now: datetime) -> Precedents:
    proposed = [row for row in rows if row["action"] in (Action.HOLD, Action.REJECT)]
    waiting = [
        row["decision_id"]
        for row in proposed
        if row["action"] == Action.HOLD
        and row["held_id"] is None
        and row["answer_id"] is None
        and row["lapses_at"] > now
    ]
    supporting = [
        row
        for row in proposed
        if row["gate_reason"] in _SUPPORTING
        and not SourceKind(row["trust"]).is_trusted_less_than(SourceKind.EXTRACTOR)
    ]
    declined = [row["decision_id"] for row in rows if row["action"] == Action.DECLINE]
    return Precedents(
        declined_id=next(iter(declined), None),
        pending_id=next(iter(waiting), None),
        episode_ids=frozenset(row["episode_id"] for row in supporting),
        sessions=frozenset(row["session_id"] for row in supporting),
    )


def _note_parameters(note: Note) -> dict[str, Any]:
    scope = note.scope
    return {
        "tenant": scope.tenant,
        "agent_id": scope.agent_id,
        "agent_key": scope.agent_key,
        "contact_id": scope.contact_id,
        "contact_key": scope.contact_key,
        "text": note.text,
        "tags": list(note.tags) or None,
        "said_at": note.said_at,
        "valid_from": note.holds_from,
        "source_kind": str(note.trust),
        "importance": note.importance,
        **{name: getattr(note.slot, name, None) for name in _SLOT_COLUMNS},
        "slot_key": note.slot.key if note.slot else None,
    }


def _evidence_parameters(scope: Scope, evidence: Sequence[Evidence]) -> dict[str, Any]:
    """The note's own episode, and the others as lists; null for none, as one engine wants it."""
    own, *more = evidence
    return {
        "episode_id": own.episode_id,
        "episode_text": own.text,
        "episode_said_at": own.said_at,
        "episode_source": str(own.source_kind),
        "episode_reference": own.source_reference,
        "span": _cited(own),
        "session_id": own.session_id,
        "session_key": scope.session_key(own.session_id),
        "more_session_ids": [each.session_id for each in more] or None,
        "more_session_keys": [scope.session_key(each.session_id) for each in more] or None,
        "more_episode_ids": [each.episode_id for each in more] or None,
        "more_episode_texts": [each.text for each in more] or None,
        "more_episode_times": [each.said_at for each in more] or None,
        "more_episode_sources": [str(each.source_kind) for each in more] or None,
        "more_episode_references": [each.source_reference or "" for each in more] or None,
        "more_episode_spans": [_cited(each) or "" for each in more] or None,
    }


def _own_episode_id(scope: Scope, given_id: str) -> str:
    """The id under which a contact's evidence is kept: the same for the same, for nobody else."""
    return str(uuid.uuid5(_EPISODE_SPACE, f"{scope.contact_key}\0{given_id}"))


def _cited(evidence: Evidence) -> str | None:
    return _SPANS_JOINED.join(evidence.spans) or None


def _gate_parameters(decision: Decision) -> dict[str, Any]:
    found = decision.gate
    lifetime = found.lifetime_days if found else None
    return {name: _plain(getattr(found, name, None)) for name in _GATE_OF_A_FACT} | {
        "expires_at": None if lifetime is None else decision.at + timedelta(days=lifetime),
        "is_confirmed_by_user": (
            decision.proposal.answered_by == CONTACT and decision.action.is_reconciled
        ),
        "confirming_confidence": _confirming_confidence(decision),
    }


def _confirming_confidence(decision: Decision) -> float:
    """How much surer a fact is for being said again; a tool that repeats it makes it no surer."""
    if decision.gate is None or decision.note.trust.is_trusted_less_than(SourceKind.EXTRACTOR):
        return 0.0
    return decision.gate.confidence


def _decision_parameters(decision: Decision) -> dict[str, Any]:
    """The record, and beside it what queries filter by and readers of the graph look for."""
    found, verdict = decision.gate, decision.verdict
    return {
        "decision_id": decision.decision_id,
        "action": str(verdict.action),
        "decided_by": str(verdict.decided_by),
        "cosine": verdict.cosine,
        "reason": verdict.reason,
        "fact_id": verdict.fact_id,
        "superseded_ids": _plain(verdict.superseded_ids),
        "conflicting_ids": _plain(verdict.conflicting_ids),
        "history_of_id": verdict.history_of_id,
        "is_contested": verdict.is_contested,
        "arbiter_reasoning": decision.opinion.reasoning,
        "embedding_model": decision.policy.embedding_model,
        "door": decision.door,
        "at": decision.at,
        "disposal": str(found.disposal) if found else None,
        "gate_reason": str(found.reason) if found else None,
        "lapses_at": found.lapses_at if found else None,
        "inference_key": found.inference_key if found else None,
        "proposed_by": decision.proposal.proposed_by,
        "answered_by": decision.proposal.answered_by,
        "settles_id": decision.proposal.settles_id,
        "held_id": decision.proposal.held_id,
        "record": _DECISIONS.dump_json(
            decision, exclude=_NOT_IN_RECORD, exclude_none=True
        ).decode(),
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
