"""The memory store: alone names queries and makes values of their rows. Decides nothing."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import (
    Conflict,
    Contact,
    Fact,
    Neighbour,
    Predecessor,
    RefusalCount,
    Standing,
    Supersession,
)
from reconciler.domain.records.kinds import (
    Action,
    Category,
    DecidedBy,
    Disposal,
    FactState,
    GateReason,
    Relation,
    SourceKind,
)
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.domain.records.slots import Slot
from reconciler.errors import (
    InvalidNoteError,
    SchemaError,
    UnknownDecisionError,
)
from reconciler.ports.graph import EngineDescription, Graph, Row
from reconciler.queries import newest_schema_version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reconciler.domain.gate.precedents import EarlierDecision
    from reconciler.domain.records.candidates import Evidence
    from reconciler.domain.records.decisions import Comparison, Decision

__all__ = ["SPANS_JOINED", "Commit", "DecisionFilter", "MemoryStore", "Near"]

_SLOT_COLUMNS = (
    "subject",
    "attribute",
    "value",
    "value_key",
    "is_single_valued",
    "is_known",
    "is_personal",
)
_NOT_IN_RECORD = {"compared_with", "correction", "replayed"}
"""What a record leaves out: a relationship, what was said later, what is true of one call."""

_FACT_FIELDS = tuple(each.name for each in fields(Fact) if each.name != "slot")
_KEPT_FIELDS = (
    "fact_id",
    "observations",
    "confidence",
    "is_confirmed_by_user",
    "expires_at",
    "last_confirmed_at",
)
_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)
_FAR_AHEAD = datetime(9999, 12, 30, tzinfo=UTC)

_EVERYTHING = 1_000_000_000

SPANS_JOINED = " … "
"""Between the words that are cited from one episode, as an analyst reads them."""

_ID_KEY_BYTES = 32
_EPISODE_SPACE = uuid.UUID("b2b0a3ce-0a4e-5c0b-9d3f-4f2f6a2f6c11")
_KNOWN_CONTRADICTIONS = (DecidedBy.SLOT, DecidedBy.ARBITER)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """Which decisions are asked for; None lets all through. ``until`` is not included."""

    disposal: Disposal | None = None
    reason: GateReason | None = None
    door: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_ALL = DecisionFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A fact of one of an agent's contacts, with its raw cosine to a vector, in [-1, 1]."""

    fact_id: str
    contact_id: str
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A decision, and all that follows from it, as it is written.

    Attributes:
        version: the contact's, that the decision was made on.
        decision: the record.
        evidence: one episode or more; the first one is the decision's own.
        fact: the new fact, with ADD and UPDATE.
        vector: its embedding, float32, shape (dimension,); empty where there is none.
        restated_id: the fact that the new one says again: beneath it, or above it where the new
            one is history.
        kept: the fact that lives on as the decision leaves it, one observation richer.
        voided_from: by the id of each fact that ends as never true, from when it was held true.
        expired_ids: facts that are written as live, and whose lifetime is seen to be over.
        restored, reopened: the facts and conflicts that a revert changes, as it leaves them.
        known_sessions: the keys of sessions that this process has seen in the store.
    """

    version: int
    decision: Decision
    evidence: tuple[Evidence, ...]
    fact: Fact | None = None
    vector: NDArray[np.float32] = field(default_factory=lambda: _no_vectors(0))
    restated_id: str | None = None
    kept: Fact | None = None
    voided_from: Mapping[str, datetime] = field(default_factory=dict)
    expired_ids: tuple[str, ...] = ()
    restored: tuple[Fact, ...] = ()
    reopened: tuple[Conflict, ...] = ()
    known_sessions: Set[str] = frozenset()


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

    def copy_store(self, target: Path) -> None:
        """Write a copy of all that is kept into a new file; see ``Graph.copy_store``."""
        self._graph.copy_store(target)

    def load_neighbourhood(
        self, scope: Scope, embedding_model: str
    ) -> tuple[int, list[Fact], NDArray[np.float32]]:
        """A contact's version, its facts that can be compared, and their vectors.

        Args:
            scope: the contact.
            embedding_model: facts of another model cannot be compared.

        Returns:
            The version; the facts that have not ended, expired ones too; float32, shape
            (len(facts), dimension).
        """
        asked = {**_contact(scope), "embedding_model": embedding_model}
        version, rows = self._at_version(scope, "list_neighbourhood", asked)
        return version, [_fact(row) for row in rows], _vectors(rows)

    def load_vectors(self, scope: Scope, embedding_model: str) -> dict[str, NDArray[np.float32]]:
        """The vectors of all facts in scope, of those too that have ended, by the facts' ids.

        Args:
            scope: the contact.
            embedding_model: vectors of another model cannot be compared.

        Returns:
            float32, shape (dimension,), unit length, each.
        """
        asked = {**_contact(scope), "embedding_model": embedding_model}
        rows = self._graph.run("list_vectors", asked)
        ids = [row["fact_id"] for row in rows]
        return dict(zip(ids, _vectors(rows), strict=True))

    def find_facts(self, scope: Scope, fact_ids: Sequence[str]) -> tuple[int, dict[str, Fact]]:
        """The contact's version, and those facts of these ids that are about it, live or ended.

        The version is at least that of each fact, as far as it was read together.
        """
        asked = {**_contact(scope), "fact_ids": list(fact_ids)}
        rows = self._graph.run("find_facts", asked) if fact_ids else []
        version = max((row["version"] for row in rows), default=None)
        facts = {row["fact_id"]: _fact(row) for row in rows}
        return self.contact_version(scope) if version is None else int(version), facts

    def find_fact(self, scope: Scope, fact_id: str) -> Fact | None:
        """The fact of that id about the contact, live or ended, if there is one."""
        return self.find_facts(scope, [fact_id])[1].get(fact_id)

    def find_nearest(
        self, scope: Scope, embedding_model: str, vector: NDArray[np.float32], limit: int
    ) -> list[Near]:
        """What an index finds near a vector among the facts of the agent's contacts, nearest first.

        Approximate, and fewer than ``limit`` where facts of other agents are as near; none on an
        engine without such an index.
        """
        return self._near("find_nearest", scope, embedding_model, vector, limit)

    def list_nearest(
        self, scope: Scope, embedding_model: str, vector: NDArray[np.float32], limit: int
    ) -> list[Near]:
        """What is nearest to a vector among the facts of the agent's contacts, exactly."""
        return self._near("list_nearest", scope, embedding_model, vector, limit)

    def _near(
        self, query: str, scope: Scope, model: str, vector: NDArray[np.float32], limit: int
    ) -> list[Near]:
        asked = {"embedding": vector.tolist(), "embedding_model": model, "limit": limit}
        rows = self._graph.run(query, {"agent_key": scope.agent_key, **asked})
        return [Near(**row) for row in rows]

    def find_agents_facts(self, scope: Scope, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """Those facts of these ids that are about any contact of the agent."""
        asked = {"agent_key": scope.agent_key, "fact_ids": list(fact_ids)}
        rows = self._graph.run("find_agents_facts", asked) if fact_ids else []
        return {row["fact_id"]: _fact(row) for row in rows}

    def list_mentions(
        self, scope: Scope, word: str, offset: int, limit: int
    ) -> list[tuple[str, Fact]]:
        """The facts of all contacts of the agent that hold a word, the one said last first.

        Args:
            scope: any contact of the agent.
            word: in small letters; it may be part of a longer one.
            offset: how many come before the page.
            limit: at most so many.

        Returns:
            Each with its contact's id.
        """
        asked = {"word": word, "offset": offset, "limit": limit}
        rows = self._graph.run("list_mentions", {"agent_key": scope.agent_key, **asked})
        return [(row.pop("contact_id"), _fact(row)) for row in rows]

    def rests_on(self, fact_id: str, episode_id: str) -> bool:
        """Whether the episode is evidence of the fact already."""
        return bool(self._graph.run("find_resting", {"fact_id": fact_id, "episode_id": episode_id}))

    def list_predecessors(
        self, facts: Iterable[Neighbour], vector: NDArray[np.float32]
    ) -> list[Predecessor]:
        """What lies beneath these facts, with the cosine to a vector; in no order."""
        asked = {"fact_ids": [fact.fact_id for fact in facts], "embedding": vector.tolist()}
        return [_predecessor(row) for row in self._graph.run("list_predecessors", asked)]

    def list_facts(self, scope: Scope) -> list[Fact]:
        """All facts in scope, live and ended, the newest first."""
        return [_fact(row) for row in self._graph.run("list_facts", _contact(scope))]

    def list_filed_facts(self, scope: Scope, subject: str) -> list[Fact]:
        """All facts of the scope's agent, about any contact, that are filed under a subject.

        In the order in which they were recorded, live and ended.
        """
        asked = {"agent_key": scope.agent_key, "subject": subject}
        return [_fact(row) for row in self._graph.run("list_filed_facts", asked)]

    def facts_of(self, rows: Iterable[Row]) -> list[Fact]:
        """Rows that hold facts, as facts; for the stores beside this one."""
        return [_fact(row) for row in rows]

    def record_of(self, decision: Decision) -> str:
        """A decision as its record keeps it, in JSON."""
        return _record(decision)

    def list_conflicts(self, scope: Scope, *, is_open: bool = True) -> list[Conflict]:
        """Which facts in scope that have not ended may contradict each other, each pair once.

        Those that wait for an answer; without ``is_open`` also those of which somebody said that
        both hold.
        """
        rows = self._graph.run("list_conflicts", _contact(scope))
        found = [Conflict(**row) for row in rows]
        return [each for each in found if each.is_open or not is_open]

    def list_conflict_links(self, scope: Scope) -> list[Conflict]:
        """All links between facts in scope that may contradict each other, whatever became of them.

        In no order.
        """
        rows = self._graph.run("list_conflict_links", _contact(scope))
        return [Conflict(**row) for row in rows]

    def count_conflicts(self, now: datetime) -> int:
        """How many pairs of facts in the whole store that are live now are in dispute."""
        return sum(row["conflicts"] for row in self._graph.run("count_conflicts", {"now": now}))

    def list_supersessions(self, scope: Scope) -> list[Supersession]:
        """Which fact in scope took another's place, and why; in no order."""
        rows = self._graph.run("list_supersessions", _contact(scope))
        return [Supersession(**row) for row in rows]

    def list_contacts(self, tenant: str, agent_id: str, now: datetime) -> list[Contact]:
        """The contacts of an agent, by id, with their facts counted by the state of now."""
        agent_key = Scope(tenant, agent_id, "any").agent_key
        rows = self._graph.run("list_contacts", {"agent_key": agent_key, "now": now})
        return [Contact(**row) for row in rows]

    def list_expiring(
        self, scopes: Iterable[Scope], now: datetime, until: datetime
    ) -> list[tuple[str, Fact]]:
        """The live facts that expire after now and until then, with their contacts' keys.

        Those that expire first come first.
        """
        asked = {**_contact_keys(scopes), "now": now, "until": until}
        rows = self._graph.run("list_expiring", asked)
        return [(row.pop("contact_key"), _fact(row)) for row in rows]

    def count_facts(self, now: datetime) -> dict[FactState, int]:
        """All facts of the store, by the state of now."""
        counted = self._graph.run("count_facts", {"now": now})
        facts = {row["state"]: int(row["facts"]) for row in counted}
        return {state: facts.get(state, 0) for state in FactState}

    def list_made(self, scope: Scope) -> list[Decision]:
        """All decisions about a contact that changed facts, without what they were compared with.

        In no order.
        """
        ids = [row["decision_id"] for row in self._graph.run("list_made_ids", _contact(scope))]
        return list(self._made(scope.contact_key, ids)) if ids else []

    def list_records(self, scope: Scope) -> list[Decision]:
        """All decisions about a contact, without what each was compared with; in no order."""
        ids = self.list_decision_ids(scope)
        return list(self._made(scope.contact_key, ids)) if ids else []

    def list_decision_ids(self, scope: Scope, wanted: DecisionFilter = _ALL) -> list[str]:
        """The ids of all decisions about a contact that fit the filter, the newest first."""
        rows = self._graph.run("list_decision_ids", _asked([scope], _EVERYTHING, wanted))
        return [row["decision_id"] for row in rows]

    def list_decisions(
        self, scopes: Iterable[Scope], limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """The newest decisions about some contacts, with what each was compared with."""
        rows = self._graph.run("list_decision_ids", _asked(scopes, limit, wanted))
        return self._decisions(rows)

    def list_pending(self, scopes: Iterable[Scope], now: datetime) -> list[Decision]:
        """What was held and waits for an answer, the newest first."""
        asked = {**_contact_keys(scopes), "now": now}
        return self._decisions(self._graph.run("list_pending_ids", asked))

    def list_earlier(self, scope: Scope, inference_key: str) -> list[EarlierDecision]:
        """What was decided about an inference about the contact, the oldest first."""
        asked = {**_contact(scope), "inference_key": inference_key}
        return [_earlier(row) for row in self._graph.run("list_precedents", asked)]

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
        erased = {own_id for own_id, row in stored.items() if row["text"] == ERASED}
        for given_id, own_id in own_ids.items():
            row = stored.get(own_id)
            if (
                row
                and own_id not in erased
                and (own_id, row["text"], row["source_kind"]) not in told
            ):
                raise InvalidNoteError(
                    f"episode {given_id} is stored already, with another text or source; give "
                    "evidence as it is stored, or under an id of its own"
                )
        return tuple(
            replace(
                each,
                episode_id=own_ids[each.episode_id],
                is_pending_erasure=each.is_pending_erasure or own_ids[each.episode_id] in erased,
            )
            for each in cleaned
        )

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

    def commit_decisions(self, commits: Sequence[Commit]) -> set[str]:
        """Write decisions and all that follows from them, in one transaction.

        Args:
            commits: in any order of contacts; those of one contact in the order in which they were
                decided, each on the version that the one before it leads to.

        Returns:
            The ids of the decisions that were written: all about a contact, or none where it moved
            on from the version that its first one was made on.
        """
        by_contact: dict[str, list[Commit]] = {}
        for commit in commits:
            by_contact.setdefault(commit.decision.scope.contact_key, []).append(commit)
        # Writers that lock contacts in one order never wait for each other in a circle.
        contacts = [_contact_map(by_contact[key]) for key in sorted(by_contact)]
        rows = self._graph.run("commit_decisions", {"contacts": contacts})
        written = {row["contact_key"] for row in rows}
        return {commit.decision.decision_id for key in written for commit in by_contact[key]}

    def contact_version(self, scope: Scope) -> int:
        """How often anything was decided or erased about a contact; 0 where nothing is known."""
        rows = self._graph.run("find_contact_version", _contact(scope))
        return int(rows[0]["version"]) if rows else 0

    def _at_version(self, scope: Scope, query: str, asked: dict[str, Any]) -> tuple[int, list[Row]]:
        """The version of a contact, and the rows of a query that gives it in each of them."""
        if rows := self._graph.run(query, asked):
            return int(rows[0]["version"]), rows
        # No live fact, or no contact: look at the version first and then once more, so that a
        # fact written in between fails the version check instead of being missed.
        version = self.contact_version(scope)
        rows = self._graph.run(query, asked)
        return int(rows[0]["version"]) if rows else version, rows

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
        from reconciler.domain.records.decisions import Comparison

        compared: dict[str, list[Comparison]] = {each.decision_id: [] for each in made}
        for row in self._graph.run("list_comparisons", {"decision_ids": list(compared)}):
            decision_id = row.pop("decision_id")
            compared[decision_id].append(Comparison(**_neighbour_values(row), rank=row["rank"]))
        made = [_with_comparisons(each, compared[each.decision_id]) for each in made]
        return sorted(made, key=lambda each: (-each.at.timestamp(), each.decision_id))

    def _made(self, contact_key: str, decision_ids: list[str]) -> Iterator[Decision]:
        asked = {"contact_key": contact_key, "decision_ids": decision_ids}
        rows = self._graph.run("find_decisions", asked)
        yield from (_decision(row) for row in rows if row["record"])
        if flat := [row["decision_id"] for row in rows if not row["record"]]:
            older = self._graph.run("find_flat_decisions", asked | {"decision_ids": flat})
            from reconciler.service.stores.flat_decisions import decision_of_columns

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
            "store's model, open another store, or export this one and restore it under that model"
        )


def _contact(scope: Scope) -> dict[str, Any]:
    return {"contact_key": scope.contact_key}


def _contact_keys(scopes: Iterable[Scope]) -> dict[str, list[str]]:
    return {"contact_keys": [scope.contact_key for scope in scopes]}


def _asked(scopes: Iterable[Scope], limit: int, wanted: DecisionFilter) -> dict[str, Any]:
    return {
        **_contact_keys(scopes),
        "disposal": str(wanted.disposal or ""),
        "gate_reason": str(wanted.reason or ""),
        "door": wanted.door or "",
        "since": wanted.since or _LONG_AGO,
        "until": wanted.until or _FAR_AHEAD,
        "limit": limit,
    }


def _vectors(rows: Sequence[Row]) -> NDArray[np.float32]:
    """Theirs, a row each. Older facts have their vector as a list of numbers alone."""
    import numpy as np

    held = b"".join(
        np.asarray(row["embedding"], dtype=np.float32).tobytes()
        if row["embedding_bytes"] is None
        else row["embedding_bytes"]
        for row in rows
    )
    return np.frombuffer(held, dtype=np.float32).reshape(len(rows), -1 if rows else 0)


def _no_vectors(*shape: int) -> NDArray[np.float32]:
    import numpy as np

    return np.empty(shape, dtype=np.float32)


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


@cache
def _of_rows() -> TypeAdapter[Fact]:
    """Made when there is first need of it: it takes longer than importing this module."""
    return TypeAdapter(Fact)


@cache
def _of_records() -> TypeAdapter[Decision]:
    from reconciler.domain.records.decisions import Decision

    return TypeAdapter(Decision)


def _fact(row: Row) -> Fact:
    found = {name: value for name, value in row.items() if value is not None}
    # What an older fact lacks has the default of the record.
    return _of_rows().validate_python(found | {"slot": _slot(row)})


def _decision(row: Row) -> Decision:
    made = _of_records().validate_json(row["record"])
    return replace(made, correction=Relation(row["correction"])) if row["correction"] else made


def _with_comparisons(decision: Decision, compared: Iterable[Comparison]) -> Decision:
    """The decision with what it was compared with, as that was then."""
    expired_ids = decision.verdict.expired_ids
    as_then = tuple(replace(each, is_expired=each.fact_id in expired_ids) for each in compared)
    return replace(decision, compared_with=as_then)


def _evidence(row: Row, scope: Scope) -> Evidence:
    from reconciler.domain.records.candidates import Evidence

    return Evidence(
        **{name: row[name] for name in ("episode_id", "session_id", "text", "said_at")},
        scope=scope,
        spans=tuple(row["span"].split(SPANS_JOINED)) if row["span"] else (),
        source_kind=SourceKind(row["source_kind"]),
        source_reference=row["source_reference"] or None,
        is_cleaned=True,
    )


def _earlier(row: Row) -> EarlierDecision:
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


def _own_episode_id(scope: Scope, given_id: str) -> str:
    """The id under which a contact's evidence is kept: the same for the same, for nobody else."""
    return str(uuid.uuid5(_EPISODE_SPACE, f"{scope.contact_key}\0{given_id}"))


def _cited(evidence: Evidence) -> str | None:
    return SPANS_JOINED.join(evidence.spans) or None


def _contact_map(commits: Sequence[Commit]) -> dict[str, Any]:
    """What is written about one contact, as ``commit_decisions`` takes it."""
    first, last = commits[0], commits[-1]
    scope = first.decision.scope
    # Only what is remembered may rename the contact.
    kept = [each.decision.note for each in commits if each.decision.action.is_reconciled]
    names = [note.contact_name for note in kept if note.contact_name]
    ended: list[str] = []
    # A fact may be said once more and end in one batch: where it stands after all of it is written.
    changes = (change for each in commits for change in _state_maps(each))
    states = list({change["fact_id"]: change for change in changes}.values())
    return {
        "contact_key": scope.contact_key,
        "tenant": scope.tenant,
        "agent_id": scope.agent_id,
        "agent_key": scope.agent_key,
        "contact_id": scope.contact_id,
        "name": names[-1] if names else None,
        "version": first.version,
        "next_version": first.version + len(commits),
        "at": last.decision.at,
        **_session_maps(commits),
        "commits": [
            _commit_map(each, ended) | {"states": states if each is last else []}
            for each in commits
        ],
    }


def _session_maps(commits: Sequence[Commit]) -> dict[str, list[dict[str, Any]]]:
    """The sessions that the evidence belongs to, each once, with its first and last time."""
    known: dict[str, dict[str, Any]] = {}
    unknown: dict[str, dict[str, Any]] = {}
    for commit in commits:
        for place, told in enumerate(commit.evidence):
            at = told.said_at if place else commit.decision.note.said_at
            key = told.scope.session_key(told.session_id)
            is_known = key in commit.known_sessions and key not in unknown
            session = (known if is_known else unknown).setdefault(
                key,
                {
                    "session_key": key,
                    "session_id": told.session_id,
                    "channel": commit.decision.door,
                    "started_at": at,
                    "ended_at": at,
                },
            )
            session["started_at"] = min(session["started_at"], at)
            session["ended_at"] = max(session["ended_at"], at)
    return {"known_sessions": list(known.values()), "sessions": list(unknown.values())}


def _commit_map(commit: Commit, ended: list[str]) -> dict[str, Any]:
    """One decision; ``ended`` holds what those before it ended, and takes what it ends."""
    decision, verdict, fact = commit.decision, commit.decision.verdict, commit.fact
    is_revoked = decision.action is Action.REVOKE
    ends = () if is_revoked else verdict.superseded_ids
    ended += verdict.superseded_ids
    return {
        "decision_id": decision.decision_id,
        "decision": _decision_map(decision),
        "span": _cited(commit.evidence[0]),
        "new_episodes": [_episode_map(each) for each in commit.evidence if each.is_new],
        "episodes": [_episode_map(each) for each in commit.evidence if not each.is_new],
        "more_evidence": [
            {"episode_id": each.episode_id, "span": _cited(each)} for each in commit.evidence[1:]
        ],
        "settles_id": decision.proposal.settles_id,
        "fact_id": fact.fact_id if fact else None,
        "fact": _fact_map(fact, commit) if fact else None,
        "embedding": commit.vector.tolist() if fact and commit.vector.size else None,
        "evidence_from_id": None if decision.is_history else commit.restated_id,
        "supersessions": [asdict(each) for each in _supersessions(commit)],
        "ended_ids": list(ends),
        "ended_so_far_ids": list(ended),
        "revoked_ids": list(verdict.superseded_ids) if is_revoked else [],
        "conflicting_ids": list(verdict.conflicting_ids),
        "closed": [
            {"one_id": one, "other_id": other} for one, other in permutations(verdict.closed_ids, 2)
        ],
        "said": {
            "cosine": verdict.cosine,
            "decided_by": str(verdict.decided_by),
            "reason": verdict.reason,
            "at": decision.at,
        },
        "kept": _kept_map(commit.kept) if commit.kept else None,
        **_undo_map(commit),
        "compared": [
            {"fact_id": each.fact_id, "cosine": each.cosine, "rank": each.rank}
            for each in decision.compared_with
        ],
    }


def _supersessions(commit: Commit) -> Iterator[Supersession]:
    """What takes whose place: the new fact, or one that stays and that the decision is about."""
    verdict = commit.decision.verdict
    if verdict.undo:
        yield from verdict.undo.linked
    if verdict.fact_id is None:
        return
    if verdict.history_of_id:
        yield _supersession(verdict.history_of_id, verdict.fact_id, commit)
    for old_id in verdict.superseded_ids:
        yield _supersession(verdict.fact_id, old_id, commit)


def _supersession(new_id: str, old_id: str, commit: Commit) -> Supersession:
    verdict = commit.decision.verdict
    return Supersession(
        new_id=new_id,
        old_id=old_id,
        cosine=verdict.cosine,
        decided_by=str(verdict.decided_by),
        reason=verdict.reason,
        at=commit.decision.at,
        is_restatement=commit.restated_id in (new_id, old_id),
    )


def _undo_map(commit: Commit) -> dict[str, Any]:
    """What a revert takes away and gives back; empty lists for any other decision."""
    undo = commit.decision.verdict.undo
    return {
        "reverted_ids": list(undo.decision_ids) if undo else [],
        "reopened": [asdict(each) for each in commit.reopened],
        "restored": [_standing_map(fact) for fact in commit.restored],
        "unlinked": [{"new_id": e.new_id, "old_id": e.old_id} for e in undo.unlinked]
        if undo
        else [],
        "unrested": [asdict(each) for each in undo.unrested] if undo else [],
        "rested": [asdict(each) for each in undo.rested] if undo else [],
    }


def _state_maps(commit: Commit) -> Iterator[dict[str, Any]]:
    """Where older facts stand from here on; what was never true ended as it began."""
    decision, void, kept = commit.decision, commit.voided_from, commit.kept
    for fact_id in commit.expired_ids:
        yield _state_map(fact_id, FactState.EXPIRED, None)
    if kept is not None:
        yield _state_map(kept.fact_id, kept.state, kept.valid_to)
    end = FactState.REVOKED if decision.action is Action.REVOKE else FactState.SUPERSEDED
    for fact_id in decision.superseded_ids:
        valid_to = void.get(fact_id, decision.note.holds_from)
        yield _state_map(fact_id, end, valid_to, is_void=fact_id in void)


def _state_map(
    fact_id: str, state: FactState, valid_to: datetime | None, *, is_void: bool = False
) -> dict[str, Any]:
    # Null is a property that is not written.
    told = {"fact_id": fact_id, "state": str(state), "valid_to": valid_to}
    return told | {"is_void": is_void or None}


def _episode_map(told: Evidence) -> dict[str, Any]:
    return {
        "episode_id": told.episode_id,
        "session_key": told.scope.session_key(told.session_id),
        "text": told.text,
        "said_at": told.said_at,
        "source_kind": str(told.source_kind),
        "source_reference": told.source_reference,
    }


def _fact_map(fact: Fact, commit: Commit) -> dict[str, Any]:
    own = {name: _plain(getattr(fact, name)) for name in _FACT_FIELDS}
    return own | {
        **_slot_map(fact.slot),
        "embedding_model": commit.decision.policy.embedding_model,
        "embedding_bytes": commit.vector.tobytes() if commit.vector.size else None,
    }


def _kept_map(fact: Fact) -> dict[str, Any]:
    return {name: _plain(getattr(fact, name)) for name in _KEPT_FIELDS} | _slot_map(fact.slot)


def _standing_map(fact: Fact) -> dict[str, Any]:
    own = {each.name: _plain(getattr(fact, each.name)) for each in fields(Standing)}
    del own["slot"]
    return own | _slot_map(fact.slot)


def _slot_map(slot: Slot | None) -> dict[str, Any]:
    named = {name: getattr(slot, name, None) for name in _SLOT_COLUMNS}
    return named | {"slot_key": slot.key if slot else None}


def _decision_map(decision: Decision) -> dict[str, Any]:
    """The record, and beside it what queries filter by and readers of the graph look for."""
    found, verdict = decision.gate, decision.verdict
    return {
        "decision_id": decision.decision_id,
        "action": str(verdict.action),
        "decided_by": str(verdict.decided_by),
        "reason": verdict.reason,
        "text": decision.text,
        "cosine": verdict.cosine,
        "fact_id": verdict.fact_id,
        "arbiter_reasoning": decision.opinion.reasoning,
        "door": decision.door,
        "trust": str(decision.note.trust),
        "at": decision.at,
        "episode_id": decision.episode_id,
        "session_id": decision.note.session_id,
        "disposal": str(found.disposal) if found else None,
        "gate_reason": str(found.reason) if found else None,
        "inference_key": found.inference_key if found else None,
        "lapses_at": found.lapses_at if found else None,
        "proposed_by": decision.proposal.proposed_by,
        "answered_by": decision.proposal.answered_by,
        "settles_id": decision.proposal.settles_id,
        "held_id": decision.proposal.held_id,
        "record": _record(decision),
    }


def _record(decision: Decision) -> str:
    kept = _of_records().dump_json(decision, exclude=_NOT_IN_RECORD, exclude_none=True)
    return kept.decode()


def _plain(value: Any) -> Any:
    """As drivers take it; null for an empty list, which has no type, as one engine wants it."""
    if isinstance(value, StrEnum):
        return str(value)
    return (list(value) or None) if isinstance(value, tuple) else value
