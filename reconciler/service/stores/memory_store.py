"""The memory store: alone names queries and makes values of their rows. Decides nothing."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconciler.domain.recalling.evidence import restated_beneath
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import (
    Conflict,
    Contact,
    Fact,
    FiledFact,
    Neighbour,
    PlaceInHistory,
    Predecessor,
    RefusalCount,
    SaidFact,
    Supersession,
)
from reconciler.domain.records.kinds import (
    Disposal,
    FactState,
    GateReason,
    Relation,
)
from reconciler.domain.records.places import is_after, newest_first
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import (
    InvalidNoteError,
    QueryError,
    SchemaError,
    UnknownDecisionError,
)
from reconciler.ports.graph import EngineDescription, Graph, Row
from reconciler.queries import newest_schema_version
from reconciler.service.batches import batches
from reconciler.service.stores.commits import Commit, contact_map
from reconciler.service.stores.rows import (
    ACTION_COUNTS,
    COMPARISONS,
    CONFLICTS,
    CONTACTS,
    DECISIONS,
    EARLIER,
    EVIDENCE,
    FACTS,
    PLACES,
    PREDECESSORS,
    SAID,
    SUPERSESSIONS,
    TAKEN,
    told_by_contact,
    vectors_in,
    vectors_of,
    with_comparisons,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reconciler.domain.gate.precedents import EarlierDecision
    from reconciler.domain.recalling.evidence import Said
    from reconciler.domain.records.candidates import Evidence
    from reconciler.domain.records.decisions import Comparison, Decision
    from reconciler.domain.records.evidence import TakenBy
    from reconciler.domain.review.health import ActionCount, LiveFact
    from reconciler.service.stores.stored_facts import StoredFacts
    from reconciler.service.use_trace import Asked, Use

__all__ = ["DecisionFilter", "MemoryStore", "Near"]


_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)
_FAR_AHEAD = datetime(9999, 12, 30, tzinfo=UTC)

_EVERYTHING = 1_000_000_000

_PAGE = 100
"""Contacts or decisions that one query reads, so that the answer always fits into memory."""


_LOOKED_UP_MAX = 500
"""Decisions of one contact that are looked up by their ids. For more, all of its decisions are read
at once, which costs a twentieth of a look-up for each."""

_ID_KEY_BYTES = 32
_EPISODE_SPACE = uuid.UUID("b2b0a3ce-0a4e-5c0b-9d3f-4f2f6a2f6c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """A filter of decisions; None lets all through. ``until`` is not included.

    ``after`` is the time and the id of a decision: only those that come after it are wanted.
    """

    disposal: Disposal | None = None
    reason: GateReason | None = None
    door: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: tuple[datetime, str] | None = None


_ALL = DecisionFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A fact of one of an agent's contacts, with its raw cosine to a vector, in [-1, 1]."""

    fact_id: str
    contact_id: str
    cosine: float


class MemoryStore:
    """Facts, evidence and decisions of all scopes, in one graph.

    Invariant: no method reads or writes outside the scope it is given.

    Args:
        graph: where they are kept.
        model: name and fingerprint of the model that this process embeds with, and the length of
            its vectors. If the store has moved to another model, calls that compare or write
            raise. None if no such call is made.
    """

    def __init__(self, graph: Graph, model: tuple[str, int] | None = None) -> None:
        self._graph = graph
        self._model = model

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
        if bound["id_key"] is None:
            given = {"embedding_model": embedding_model, "at": at}
            drawn = secrets.token_hex(_ID_KEY_BYTES)  # of two processes, the first one's is kept
            [bound] = self._graph.run("claim_store", {**given, "id_key": drawn})
        _check_model(bound, embedding_model, embedding_dimension)
        try:
            return bytes.fromhex(bound["id_key"])
        except ValueError:
            raise SchemaError(
                "the store's key of ids is damaged: what was handed over before would not be "
                "recognised. Restore an earlier backup"
            ) from None

    def check_schema_version(self) -> None:
        """Check that this code works with the store's schema.

        Raises:
            SchemaError: it is older or newer; the text says which, and what to do.
        """
        version, wanted = self._graph.schema_version(), newest_schema_version(self._graph.engine)
        if version < wanted:
            raise SchemaError(
                f"the store's schema is version {version}, this code works with {wanted}; "
                "run `reconciler init` once, with the same settings, to bring it up to date"
            )
        if version > wanted:
            raise SchemaError(
                f"the store's schema is version {version}, this code works with {wanted}; "
                "install the newer version of this package that made it"
            )

    def check_keys(self) -> None:
        """Check that what was written is found by its contact's key.

        Raises:
            SchemaError: a process of an earlier version wrote without keys; the text says what to
                do.
        """
        [counted] = self._graph.run("count_keyless", {})
        if counted["nodes"]:
            raise SchemaError(
                f"{counted['nodes']} facts and decisions lack their contact's key, so some pages "
                "leave them out: a process of an earlier version wrote them. Find it and stop it, "
                "then run `reconciler init`"
            )

    def check_model(self, embedding_model: str, embedding_dimension: int) -> None:
        """Check that the store is bound to this model.

        Raises:
            SchemaError: it holds vectors of another one, which cannot be compared.
        """
        [bound] = self._graph.run("find_store", {})
        _check_model(bound, embedding_model, embedding_dimension)

    def hash_key_check(self) -> str | None:
        """The check value of the store's hash key; None before the first hash."""
        [bound] = self._graph.run("find_store", {})
        check: str | None = bound["hash_key_check"]
        return check

    def claim_hash_key(self, check: str, at: datetime) -> str:
        """Bind the store to a hash key if it has none; return the bound key's check value."""
        [bound] = self._graph.run("claim_hash_key", {"check": check, "at": at})
        return str(bound["hash_key_check"])

    def release_hash_key(self, at: datetime) -> None:
        """Release the store from its hash key, so that another can be bound."""
        self._graph.run("release_hash_key", {"at": at})

    def migrate(self, embedding_dimension: int) -> int:
        """Bring the schema to this code's version and return that; may be repeated."""
        return self._graph.migrate(embedding_dimension)

    def schema_version(self) -> int:
        """The version of the schema in the store; 0 if there is none."""
        return self._graph.schema_version()

    def describe(self) -> EngineDescription:
        """The engine, its version, and where it keeps the store."""
        return self._graph.describe()

    def copy_store(self, target: Path) -> None:
        """Copy the store into a new file; see ``Graph.copy_store``."""
        self._graph.copy_store(target)

    def load_neighbourhood(
        self, scope: Scope, embedding_model: str
    ) -> tuple[int, StoredFacts, NDArray[np.float32]]:
        """A contact's version, its facts that can be compared, and their vectors.

        Args:
            scope: the contact.
            embedding_model: facts of another model cannot be compared.

        Returns:
            The version; the facts that have not ended, expired ones too; float32, shape
            (len(facts), dimension).
        """
        from reconciler.service.stores.stored_facts import StoredFacts, readable  # loads numpy

        asked = {**_contact(scope), "embedding_model": embedding_model}
        version, rows = self._at_version(scope, "list_neighbourhood", asked)
        if not rows:
            self._check_own_model()
        columns = readable(rows)
        return version, StoredFacts(columns), vectors_in(columns["embedding_bytes"])

    def load_vectors(
        self, scopes: Sequence[Scope], embedding_model: str
    ) -> dict[str, NDArray[np.float32]]:
        """The vectors of all facts in scope, also of ended ones, by the facts' ids.

        Args:
            scopes: the contacts.
            embedding_model: vectors of another model cannot be compared.

        Returns:
            float32, shape (dimension,), unit length, each.
        """
        asked = {**_contact_keys(scopes), "embedding_model": embedding_model}
        rows = self._graph.run("list_vectors", asked)
        if not rows:
            self._check_own_model()
        ids = [row["fact_id"] for row in rows]
        return dict(zip(ids, vectors_of(rows), strict=True))

    def find_facts(self, scope: Scope, fact_ids: Sequence[str]) -> tuple[int, dict[str, Fact]]:
        """The contact's version, and its facts of these ids, live or ended.

        The version is at least that of each fact that was read with it.
        """
        asked = {**_contact(scope), "fact_ids": list(fact_ids)}
        rows = self._graph.run("find_facts", asked) if fact_ids else []
        version = max((row["version"] for row in rows), default=None)
        facts = {fact.fact_id: fact for fact in FACTS.all(rows)}
        return self.contact_version(scope) if version is None else int(version), facts

    def find_fact(self, scope: Scope, fact_id: str) -> Fact | None:
        """The fact of that id about the contact, live or ended, if there is one.

        Raises:
            DamagedRecordError: there is one, and it cannot be read.
        """
        rows = self._graph.run("find_facts", {**_contact(scope), "fact_ids": [fact_id]})
        return FACTS.one(rows[0]) if rows else None

    def find_nearest(
        self, scope: Scope, embedding_model: str, vector: NDArray[np.float32], limit: int
    ) -> list[Near]:
        """The facts of the agent's contacts that an index finds near a vector, nearest first.

        They are approximate, and fewer than ``limit`` if other agents have facts as near. There are
        none if the engine has no such index, or has not built it yet.
        """
        asked = _wanted(vector, embedding_model, limit)
        return self._near(self._compared("find_nearest", {"agent_key": scope.agent_key, **asked}))

    def list_nearest(
        self,
        scope: Scope,
        embedding_model: str,
        vector: NDArray[np.float32],
        limit: int,
        contact_ids: Sequence[str] | None = None,
    ) -> list[Near]:
        """The exactly nearest facts to a vector, of all contacts of the agent or of some.

        Some contacts are read at a time: the facts of ten thousand take longer than a query may.
        """
        asked = _wanted(vector, embedding_model, limit)
        if contact_ids is None:
            contact_ids = [contact_id for contact_id, _ in self.list_contact_ids(scope)]
        scopes = [replace(scope, contact_id=contact_id) for contact_id in contact_ids]
        return self._near(self._first("list_nearest", scopes, asked, _by_cosine, limit))

    def _near(self, rows: Iterable[Row]) -> list[Near]:
        near = [Near(**row) for row in rows]
        if not near:
            self._check_own_model()
        return near

    def find_agents_facts(self, scope: Scope, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """The facts of these ids that are about any contact of the agent, by id."""
        asked = {"agent_key": scope.agent_key, "fact_ids": list(fact_ids)}
        rows = self._graph.run("find_agents_facts", asked) if fact_ids else []
        return {fact.fact_id: fact for fact in FACTS.all(rows)}

    def list_mentions(
        self, scope: Scope, word: str, offset: int, limit: int
    ) -> list[tuple[str, Fact]]:
        """The facts of all contacts of the agent that contain a word, last said first.

        Args:
            scope: any contact of the agent.
            word: in small letters; it may be part of a longer one.
            offset: the number of facts on the pages before.
            limit: at most this many.

        Returns:
            Each with its contact's id.
        """
        asked = {"word": word, "offset": offset, "limit": limit}
        rows = self._graph.run("list_mentions", {"agent_key": scope.agent_key, **asked})
        return [(row["contact_id"], fact) for row, fact in FACTS.pairs(rows)]

    def find_named_contacts(
        self, scope: Scope, word: str, limit: int
    ) -> list[tuple[str, str | None]]:
        """The ids and names of the agent's contacts that have a word in either, in order of id.

        Args:
            scope: any contact of the agent.
            word: in small letters; it may be part of a longer one.
            limit: at most this many.
        """
        asked = {"agent_key": scope.agent_key, "word": word, "limit": limit}
        rows = self._graph.run("find_named_contacts", asked)
        return [(row["contact_id"], row["name"]) for row in rows]

    def list_said(self, fact_ids: Sequence[str]) -> list[Said]:
        """The turns that these facts rest on, once for each fact; in no order.

        The caller has checked that the facts are the contact's; so it has for ``list_taken``.
        """
        return SAID.all(self._graph.run("list_fact_evidence", {"fact_ids": list(fact_ids)}))

    def list_taken(self, episode_ids: Sequence[str]) -> dict[str, list[TakenBy]]:
        """The decisions that were made on these turns, by the turn's id; in no order."""
        taken_by: dict[str, list[TakenBy]] = {episode_id: [] for episode_id in episode_ids}
        rows = self._graph.run("list_judged", {"episode_ids": list(taken_by)})
        for row, taken in TAKEN.pairs(rows):
            taken_by[row["episode_id"]].append(taken)
        return taken_by

    def rests_on(self, scope: Scope, fact_id: str, episode_id: str) -> bool:
        """Whether the episode is evidence of the fact already, or of one that the fact restates."""
        rows = self._graph.run("find_resting", {"episode_id": episode_id})
        resting = {str(row["fact_id"]) for row in rows}
        if fact_id in resting or not resting:
            return bool(resting)
        return not resting.isdisjoint(restated_beneath(fact_id, self.list_supersessions(scope)))

    def list_predecessors(
        self, facts: Iterable[Neighbour], vector: NDArray[np.float32]
    ) -> list[Predecessor]:
        """The facts that these superseded, each with its cosine to a vector; in no order."""
        asked = {"fact_ids": [fact.fact_id for fact in facts], "embedding": vector.tolist()}
        return PREDECESSORS.all(self._compared("list_predecessors", asked))

    def list_facts(self, scope: Scope) -> list[Fact]:
        """All facts in scope, live and ended, the newest first."""
        return FACTS.all(self._graph.run("list_facts", _contact(scope)))

    def list_newest_facts(
        self, scope: Scope, after: PlaceInHistory | None, limit: int | None
    ) -> list[PlaceInHistory]:
        """The facts in scope, live and ended, in the order of a history, the newest first.

        Args:
            scope: the contact.
            after: only those that come after it; None to begin with the newest.
            limit: at most this many; None for all.
        """
        place = after or PlaceInHistory("", _FAR_AHEAD, _FAR_AHEAD)
        asked = {
            "confirmed_before": place.last_confirmed_at,
            "recorded_before": place.recorded_at,
            "after_id": place.fact_id,
            "limit": limit or _EVERYTHING,
        }
        rows = self._graph.run("list_newest_facts", _contact(scope) | asked)
        return PLACES.all(rows)

    def list_filed_facts(self, scope: Scope, subject: str) -> list[FiledFact]:
        """The agent's facts with this subject, of all contacts, first recorded first."""
        asked = {"agent_key": scope.agent_key, "subject": subject}
        return [
            FiledFact(row["contact_id"], row["contact_name"], fact)
            for row, fact in FACTS.pairs(self._graph.run("list_filed_facts", asked))
        ]

    def list_conflicts(self, scope: Scope, *, is_open: bool = True) -> list[Conflict]:
        """Pairs of facts in scope that have not ended and may contradict each other, each once.

        With ``is_open`` only open disputes; else also those that a person settled with "both hold".
        """
        rows = self._graph.run("list_conflicts", _contact(scope))
        return [conflict for conflict in CONFLICTS.all(rows) if conflict.is_open or not is_open]

    def list_conflict_links(self, scope: Scope) -> list[Conflict]:
        """All pairs of facts in scope that were ever in dispute; in no order."""
        rows = self._graph.run("list_conflict_links", _contact(scope))
        return CONFLICTS.all(rows)

    def count_conflicts(self, now: datetime) -> int:
        """The number of open disputes between live facts in the whole store."""
        return sum(row["conflicts"] for row in self._graph.run("count_conflicts", {"now": now}))

    def list_supersessions(self, scope: Scope) -> list[Supersession]:
        """The supersessions in scope, with their reasons; in no order."""
        rows = self._graph.run("list_supersessions", _contact(scope))
        return SUPERSESSIONS.all(rows)

    def list_contact_ids(
        self, whose: Scope, after: str = "", limit: int | None = None
    ) -> list[tuple[str, datetime | None]]:
        """The ids of an agent's contacts, in order, each with the time of its last decision.

        Args:
            whose: any contact of the agent.
            after: only those that come after it.
            limit: at most this many; None for all.
        """
        asked = {"agent_key": whose.agent_key, "after": after, "limit": limit or _EVERYTHING}
        rows = self._graph.run("list_contact_ids", asked)
        return [(row["contact_id"], row["last_decision_at"]) for row in rows]

    def list_contacts(self, scopes: Sequence[Scope], now: datetime) -> list[Contact]:
        """Contacts of one agent, in order of id, with their facts counted by current state."""
        contacts: list[Contact] = []
        for page in batches(scopes, _PAGE):
            counts: dict[str, dict[str, int]] = {}
            for row in self._graph.run("count_states", {**_contact_keys(page), "now": now}):
                counts.setdefault(row["contact_id"], {})[row["state"]] = int(row["facts"])
            rows = self._graph.run("list_contacts", _contact_keys(page))
            contacts += CONTACTS.all(
                row | {"facts": counts.get(row["contact_id"], {})} for row in rows
            )
        return sorted(contacts, key=lambda contact: contact.contact_id)

    def list_expiring(
        self,
        scopes: Sequence[Scope],
        now: datetime,
        until: datetime,
        limit: int | None,
        *,
        also_expired: bool,
    ) -> list[tuple[str, Fact]]:
        """The facts that expire from now until then, soonest first, with their contacts' keys.

        With ``also_expired`` also those that expired already and are still recalled. At most
        ``limit``; None for all.
        """
        asked = {
            "now": now,
            "until": until,
            "also_expired": also_expired,
            "limit": limit or _EVERYTHING,
        }
        rows = self._first("list_expiring", scopes, asked, _by_expiry, limit)
        return [(row["contact_key"], fact) for row, fact in FACTS.pairs(rows)]

    def count_facts(self, now: datetime) -> dict[FactState, int]:
        """The number of facts in the store by current state."""
        counted = self._graph.run("count_facts", {"now": now})
        facts = {row["state"]: int(row["facts"]) for row in counted}
        return {state: facts.get(state, 0) for state in FactState}

    def list_agents(self) -> list[tuple[str, str]]:
        """All agents of the store as pairs of tenant and agent, in order."""
        return [(row["tenant"], row["agent_id"]) for row in self._graph.run("list_agents", {})]

    def count_actions(self, scopes: Sequence[Scope]) -> dict[str, list[ActionCount]]:
        """The number of decisions about each contact by action, by the contact's key."""
        counts: dict[str, list[ActionCount]] = {}
        rows = self._graph.run("count_actions", _contact_keys(scopes))
        for row, count in ACTION_COUNTS.pairs(rows):
            counts.setdefault(row["contact_key"], []).append(count)
        return counts

    def list_live_facts(
        self, scopes: Sequence[Scope], embedding_model: str, now: datetime
    ) -> dict[str, list[LiveFact]]:
        """The live facts of each contact by the contact's key, without what can be told.

        Args:
            scopes: the contacts.
            embedding_model: the model that made the vectors to compare.
            now: the time now (UTC).
        """
        from reconciler.domain.review.health import LiveFact

        asked = {**_contact_keys(scopes), "embedding_model": embedding_model}
        rows = self._graph.run("list_live_facts", asked)
        if not rows:
            self._check_own_model()
        return {
            key: [fact for fact in facts if fact.expires_at is None or fact.expires_at > now]
            for key, facts in told_by_contact(LiveFact, rows).items()
        }

    def list_said_since(
        self, scopes: Sequence[Scope], since: datetime
    ) -> dict[str, list[SaidFact]]:
        """What was said of each contact after a time, by the contact's key; not what was revoked.

        Facts that have ended are among it.
        """
        asked = {**_contact_keys(scopes), "since": since}
        return told_by_contact(SaidFact, self._graph.run("list_said_since", asked))

    def count_episodes(self, scopes: Sequence[Scope]) -> dict[str, tuple[int, int]]:
        """The numbers of sessions and of episodes of each contact, by the contact's key."""
        return {
            row["contact_key"]: (int(row["sessions"]), int(row["episodes"]))
            for row in self._graph.run("count_episodes", _contact_keys(scopes))
        }

    def record_use(self, used: Mapping[str, Use]) -> None:
        """Add recalls to these facts, by id, in one transaction.

        Raises:
            GraphError: nothing was written.
        """
        rows = [
            {"fact_id": fact_id, "recalls": use.times, "at": use.at}
            for fact_id, use in used.items()
        ]
        self._graph.run("record_use", {"used": rows})

    def record_recalls(self, asked: Mapping[str, Asked]) -> None:
        """Add recalls to these contacts, by key, in one transaction; unknown ones are left out.

        Raises:
            GraphError: nothing was written.
        """
        # In one order, so that two processes never deadlock.
        rows = [
            {"contact_key": key, "recalls": counts.times, "empty_recalls": counts.empty}
            for key, counts in sorted(asked.items())
        ]
        self._graph.run("record_recalls", {"asked": rows})

    def list_made(self, scope: Scope) -> list[Decision]:
        """All decisions about a contact that changed facts, without comparisons; in no order."""
        ids = [row["decision_id"] for row in self._graph.run("list_made_ids", _contact(scope))]
        return list(self._made(scope.contact_key, ids)) if ids else []

    def list_revocation_ids(self, scope: Scope, or_door: str = "") -> list[str]:
        """The ids of the decisions that ended a fact without a successor, in no order.

        With ``or_door`` also the ids of all decisions that came through that door.
        """
        rows = self._graph.run("list_revocation_ids", {**_contact(scope), "door": or_door})
        return [row["decision_id"] for row in rows]

    def list_revocations(self, scope: Scope, or_door: str = "") -> list[Decision]:
        """The decisions of ``list_revocation_ids``, without comparisons."""
        ids = self.list_revocation_ids(scope, or_door)
        return list(self._made(scope.contact_key, ids)) if ids else []

    def list_records(self, scope: Scope) -> list[Decision]:
        """All decisions about a contact, without comparisons; in no order."""
        return DECISIONS.all(self._graph.run("list_contact_decisions", _contact(scope)))

    def list_decisions(
        self, scopes: Sequence[Scope], limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """The newest decisions about some contacts, with comparisons."""
        return self._decisions(self._newest_ids(scopes, limit, wanted))

    def iter_decisions(self, scope: Scope) -> Iterator[Decision]:
        """All decisions about a contact, newest first; each page is read when it is needed."""
        for some in batches(self._newest_ids([scope], _EVERYTHING, _ALL), _PAGE):
            yield from self._decisions(some)

    def list_newest_decisions(
        self, whose: Scope, limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """The newest decisions about an agent's contacts, as ``list_decisions``.

        Contacts are read in the order of their last decisions, until none that is left can have
        one of the newest.
        """
        rows: list[Row] = []
        for some in batches(self._last_decided_first(whose), _PAGE):
            latest = some[0][1]
            is_full = len(rows) == limit and rows[-1]["at"] >= latest
            if is_full or (wanted.since is not None and latest < wanted.since):
                break
            rows += self._newest_ids([scope for scope, _ in some], limit, wanted)
            rows = sorted(rows, key=_newest_first)[:limit]
        return self._decisions(rows)

    def _last_decided_first(self, whose: Scope) -> list[tuple[Scope, datetime]]:
        """An agent's contacts, each with the time of its last decision, latest first."""
        told = [(replace(whose, contact_id=i), at) for i, at in self.list_contact_ids(whose) if at]
        return sorted(told, key=lambda pair: pair[1], reverse=True)

    def list_pending(
        self,
        scopes: Sequence[Scope],
        now: datetime,
        after: tuple[datetime, str] | None = None,
        *,
        is_bare: bool = False,
    ) -> Iterator[Decision]:
        """Held notes that wait for an answer, newest first; each page is read when it is needed.

        With the place of one, only those that come after it are read. Bare ones, without what they
        were compared with, are read with one query, in no order.
        """
        rows = self._first("list_pending_ids", scopes, {"now": now}, _newest_first)
        if after is not None:
            rows = [row for row in rows if is_after((row["at"], row["decision_id"]), after)]
        for some in batches(rows, _PAGE):
            if is_bare:
                yield from self.find_records(row["decision_id"] for row in some).values()
            else:
                yield from self._decisions(some)

    def list_disputed(self, scopes: Sequence[Scope]) -> Iterator[Scope]:
        """The contacts that have disputes, in the order given."""
        for page in batches(scopes, _PAGE):
            rows = self._graph.run("list_disputed", _contact_keys(page))
            keys = {row["contact_key"] for row in rows}
            yield from (scope for scope in page if scope.contact_key in keys)

    def list_earlier(self, scope: Scope, inference_key: str) -> list[EarlierDecision]:
        """The earlier decisions about the same inference, oldest first."""
        asked = {**_contact(scope), "inference_key": inference_key}
        return EARLIER.all(self._graph.run("list_precedents", asked))

    def list_evidence(self, decision_id: str, scope: Scope) -> list[Evidence]:
        """The episodes that a decision rests on, oldest first, once for each cited span."""
        rows = self._graph.run("list_evidence", {"decision_id": decision_id})
        return EVIDENCE.all(row | {"scope": scope} for row in rows)

    def as_own_episodes(
        self, scope: Scope, given: Iterable[Evidence], cleaned: Sequence[Evidence]
    ) -> tuple[Evidence, ...]:
        """The cleaned evidence, with ids that are the contact's own.

        An episode that is stored for the contact keeps its id. Any other id is replaced by one made
        of it and the contact: it may be the id of another contact's episode, and the caller must
        neither learn of that one nor be linked to it.

        Args:
            scope: the contact.
            given: the evidence as it was proposed.
            cleaned: the same as the gate would store it. The stored text may be either.

        Raises:
            InvalidNoteError: the contact's episode of that id says something else, or another
                person said it.
        """
        bound = {
            episode.episode_id: _own_episode_id(scope, episode.episode_id) for episode in cleaned
        }
        if not bound:
            return ()
        asked = {**_contact(scope), "episode_ids": sorted({*bound, *bound.values()})}
        stored = {row["episode_id"]: row for row in self._graph.run("find_episodes", asked)}
        own_ids = {
            episode_id: episode_id if episode_id in stored else bound[episode_id]
            for episode_id in bound
        }
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
                episode,
                episode_id=own_ids[episode.episode_id],
                is_pending_erasure=episode.is_pending_erasure
                or own_ids[episode.episode_id] in erased,
            )
            for episode in cleaned
        )

    def count_refusals(self, scopes: Sequence[Scope]) -> Iterator[RefusalCount]:
        """Refusals of the gate, counted by contact and reason; read page by page."""
        for page in batches(scopes, _PAGE):
            for row in self._graph.run("count_refusals", _contact_keys(page)):
                yield RefusalCount(
                    contact_id=row["contact_id"],
                    reason=row["gate_reason"],
                    refusals=row["refusals"],
                )

    def find_decision(self, scope: Scope, decision_id: str) -> Decision | None:
        """The decision of that id about the contact; None if there is none.

        Raises:
            DamagedRecordError: there is one, and it cannot be read.
        """
        asked = {**_contact(scope), "decision_ids": [decision_id]}
        rows = self._graph.run("find_decisions", asked)
        made = [DECISIONS.one(row) for row in rows]
        return next(iter(self._with_comparisons(made)), None)

    def get_decision(self, scope: Scope, decision_id: str) -> Decision:
        """The decision of that id about the contact.

        Raises:
            UnknownDecisionError: there is none, or it is another contact's.
        """
        check_identifier("decision_id", decision_id, UnknownDecisionError)
        decision = self.find_decision(scope, decision_id)
        if decision is None:
            raise UnknownDecisionError(f"contact {scope.contact_id} has no decision {decision_id}")
        return decision

    def find_decided(self, decision_ids: Iterable[str]) -> set[str]:
        """Which of these ids already have a decision."""
        rows = self._graph.run("find_decided", {"decision_ids": list(decision_ids)})
        return {str(row["decision_id"]) for row in rows}

    def find_records(self, decision_ids: Iterable[str]) -> dict[str, Decision]:
        """The readable decisions of these ids, by id, without comparisons."""
        asked = list(decision_ids)
        rows = self._graph.run("find_records", {"decision_ids": asked}) if asked else []
        return {made.decision_id: made for made in DECISIONS.all(rows)}

    def record_correction(
        self, scope: Scope, decision_id: str, relation: Relation, at: datetime
    ) -> bool:
        """Record a person's correction of a decision; False if the contact has none of that id."""
        given = {"decision_id": decision_id, "correction": str(relation), "at": at}
        return bool(self._graph.run("record_correction", {**_contact(scope), **given}))

    def commit_decisions(
        self, commits: Sequence[Commit], seconds_max: float | None = None
    ) -> set[str]:
        """Write decisions and all that follows from them, in one transaction.

        Args:
            commits: in any order of contacts; those of one contact in the order in which they were
                decided, each on the version that the one before it leads to.
            seconds_max: try once, for so long; see ``Graph.run``.

        Returns:
            The ids of the decisions that were written: all about a contact, or none where it moved
            on from the version that its first one was made on.

        Raises:
            SchemaError: the store moved to another model meanwhile; nothing was written.
        """
        by_contact: dict[str, list[Commit]] = {}
        for commit in commits:
            by_contact.setdefault(commit.decision.scope.contact_key, []).append(commit)
        # Writers that lock contacts in one order never wait for each other in a circle.
        contacts = [contact_map(by_contact[key]) for key in sorted(by_contact)]
        model = self._model and self._model[0]
        given = {"contacts": contacts, "embedding_model": model}
        rows = self._graph.run("commit_decisions", given, seconds_max)
        written = {row["contact_key"] for row in rows}
        if len(written) < len(contacts):
            self._check_own_model()
        return {commit.decision.decision_id for key in written for commit in by_contact[key]}

    def contact_version(self, scope: Scope) -> int:
        """A number that grows with each decision and erasure; 0 if nothing is known."""
        return _version(self._graph.run("find_contact_version", _contact(scope)))

    def begin_contact_version(self, scope: Scope) -> Callable[[], int]:
        """Ask for the contact's version; the returned call waits for the answer."""
        answer = self._graph.begin("find_contact_version", _contact(scope))
        return lambda: _version(answer())

    def _newest_ids(self, scopes: Sequence[Scope], limit: int, wanted: DecisionFilter) -> list[Row]:
        """The ids of the newest decisions about some contacts, each with its time and contact."""
        asked = _asked(limit, wanted)
        return self._first("list_decision_ids", scopes, asked, _newest_first, limit)

    def _first(
        self,
        query: str,
        scopes: Sequence[Scope],
        asked: dict[str, Any],
        order: Callable[[Row], Any],
        limit: int | None = None,
    ) -> list[Row]:
        """The first rows of a query about many contacts, which is run for some at a time.

        Args:
            query: its name; it takes the contacts' keys.
            scopes: the contacts.
            asked: its other parameters.
            order: the key that the rows are sorted by.
            limit: at most this many; None for all.
        """
        rows: list[Row] = []
        for some in batches(scopes, _PAGE):
            rows += self._compared(query, {**_contact_keys(some), **asked})
            rows = sorted(rows, key=order)[:limit]
        return rows

    def _compared(self, query: str, asked: dict[str, Any]) -> list[Row]:
        """The rows of a query that compares vectors.

        Raises:
            SchemaError: the store has moved to another model.
        """
        try:
            return self._graph.run(query, asked)
        except QueryError:  # an engine may refuse to compare vectors of two lengths
            self._check_own_model()
            raise

    def _check_own_model(self) -> None:
        if self._model is not None:
            self.check_model(*self._model)

    def _at_version(self, scope: Scope, query: str, asked: dict[str, Any]) -> tuple[int, list[Row]]:
        """A contact's version, and the rows of a query that returns it as a column."""
        if rows := self._graph.run(query, asked):
            return int(rows[0]["version"][0]), rows
        # No live fact, or no contact: look at the version first and then again, so that a
        # fact written in between fails the version check instead of being missed.
        version = self.contact_version(scope)
        rows = self._graph.run(query, asked) if version else []  # nothing was ever written at 0
        return int(rows[0]["version"][0]) if rows else version, rows

    def _decisions(self, wanted: Sequence[Row]) -> list[Decision]:
        """The decisions of these rows of ids and contact keys, with comparisons, newest first."""
        ids: dict[str, list[str]] = {}
        for wanted_row in wanted:
            ids.setdefault(wanted_row["contact_key"], []).append(wanted_row["decision_id"])
        made = [
            decision
            for contact_key, decision_ids in ids.items()
            for decision in self._made(contact_key, decision_ids)
        ]
        return self._with_comparisons(made)

    def _with_comparisons(self, made: Iterable[Decision]) -> list[Decision]:
        """These decisions with their comparisons, newest first."""
        made = list(made)
        compared: dict[str, list[Comparison]] = {decision.decision_id: [] for decision in made}
        rows = [row for row in self._comparisons(made) if row["decision_id"] in compared]
        for row, comparison in COMPARISONS.pairs(rows):
            compared[row["decision_id"]].append(comparison)
        made = [with_comparisons(decision, compared[decision.decision_id]) for decision in made]
        return sorted(made, key=lambda decision: (-decision.at.timestamp(), decision.decision_id))

    def _comparisons(self, made: Iterable[Decision]) -> Iterator[Row]:
        """The comparisons of these decisions; of a contact with many of them, all that it has."""
        ids: dict[str, list[str]] = {}
        for decision in made:
            ids.setdefault(decision.scope.contact_key, []).append(decision.decision_id)
        looked_up = [own for own in ids.values() if len(own) <= _LOOKED_UP_MAX]
        asked = {"decision_ids": [decision_id for own in looked_up for decision_id in own]}
        yield from self._graph.run("list_comparisons", asked)
        for contact_key, own in ids.items():
            if len(own) > _LOOKED_UP_MAX:
                whole = {"contact_key": contact_key}
                yield from self._graph.run("list_contact_comparisons", whole)

    def _made(self, contact_key: str, decision_ids: Sequence[str]) -> list[Decision]:
        asked: dict[str, Any] = {"contact_key": contact_key}
        if len(decision_ids) <= _LOOKED_UP_MAX:
            asked["decision_ids"] = list(decision_ids)
            return DECISIONS.all(self._graph.run("find_decisions", asked))
        wanted, rows = set(decision_ids), self._graph.run("list_contact_decisions", asked)
        return DECISIONS.all(row for row in rows if row["decision_id"] in wanted)


def _check_model(bound: Row, embedding_model: str, embedding_dimension: int) -> None:
    if (bound["embedding_model"], bound["embedding_dimension"]) != (
        embedding_model,
        embedding_dimension,
    ):
        raise SchemaError(
            f"this store holds vectors of {bound['embedding_model']} "
            f"({bound['embedding_dimension']} numbers each), and the embedder is "
            f"{embedding_model} ({embedding_dimension}); set RECONCILER_EMBEDDER__MODEL to the "
            "store's model, open another store, or move this one with `reconciler reembed`"
        )


def _newest_first(row: Row) -> tuple[float, str]:
    return newest_first(row["at"], row["decision_id"])


def _by_cosine(row: Row) -> tuple[float, str]:
    return -row["cosine"], row["fact_id"]


def _by_expiry(row: Row) -> tuple[datetime, str, str]:
    return row["expires_at"], row["contact_key"], row["fact_id"]


def _version(rows: Sequence[Row]) -> int:
    return int(rows[0]["version"]) if rows else 0


def _contact(scope: Scope) -> dict[str, Any]:
    return {"contact_key": scope.contact_key}


def _wanted(vector: NDArray[np.float32], embedding_model: str, limit: int) -> dict[str, Any]:
    """The parameters of a query for the nearest facts."""
    return {"embedding": vector.tolist(), "embedding_model": embedding_model, "limit": limit}


def _contact_keys(scopes: Iterable[Scope]) -> dict[str, list[str]]:
    return {"contact_keys": [scope.contact_key for scope in scopes]}


def _asked(limit: int, wanted: DecisionFilter) -> dict[str, Any]:
    after_at, after_id = wanted.after or (_FAR_AHEAD, "")
    return {
        "after_at": after_at,
        "after_id": after_id,
        "disposal": str(wanted.disposal or ""),
        "gate_reason": str(wanted.reason or ""),
        "door": wanted.door or "",
        "since": wanted.since or _LONG_AGO,
        "until": wanted.until or _FAR_AHEAD,
        "limit": limit,
    }


def _own_episode_id(scope: Scope, given_id: str) -> str:
    """The contact's own id for an episode with an id that a caller gave."""
    return str(uuid.uuid5(_EPISODE_SPACE, f"{scope.contact_key}\0{given_id}"))
