"""The fact store; only it names the queries of facts, vectors and links. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from reconciler.domain.recalling.history import Said, restated_beneath
from reconciler.domain.records.facts import (
    Conflict,
    Fact,
    FactUse,
    FiledFact,
    LiveFact,
    Neighbour,
    PlaceInHistory,
    Predecessor,
    SaidFact,
    Supersession,
    by_fact_id,
)
from reconciler.domain.records.kinds import FAR_AHEAD, LASTING
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.errors import GraphUnavailableError, QueryError, UnknownFactError
from reconciler.floats import Floats
from reconciler.frozen import Strings, frozen, grouped
from reconciler.ports.graph import Row
from reconciler.service.stores.binding_store import Store
from reconciler.service.stores.rows import (
    CONFLICTS,
    EVERYTHING,
    FACTS,
    FEW,
    PLACES,
    PREDECESSORS,
    SAID,
    SUPERSESSIONS,
    ContactState,
    Scopes,
    of_contacts,
    of_its_own,
    pages,
    told_by_contact,
    vectors_in,
)

if TYPE_CHECKING:
    from reconciler.service.stores.stored_facts import StoredFacts
    from reconciler.service.use_trace import Use


_MORE = 8
"""How many times as many facts are looked at first, because some have ended, or are another
agent's."""


@frozen
class Near:
    """A fact with its raw cosine to a vector, in [-1, 1]; exact if no nearer one is missing."""

    fact_id: str
    cosine: float
    is_exact: bool = True


Loading: TypeAlias = "Callable[[], tuple[int, StoredFacts, Floats]]"
"""Waits for a contact's version, facts and vectors."""


def unknown_fact(scope: Scope, fact: str) -> UnknownFactError:
    """Make the error for a fact that the contact does not have."""
    return UnknownFactError(
        f"contact {scope.contact_id} has no fact {fact}; `history` lists those it has"
    )


class FactStore(Store):
    """Facts of all scopes, with their vectors, links and disputes, in one graph.

    Decisions write facts; only recalls are written here.

    Invariant: no method reads or writes outside the given scope.

    Args:
        graph: the graph that holds them.
        model: name and fingerprint of the model that this process embeds with, and the length of
            its vectors. If the store has moved to another model, calls that compare raise.
            None if no such call is made.
    """

    def begin_neighbourhood(self, scope: Scope, embedding_model: str) -> Loading:
        """Ask for a contact's facts that can be compared; the returned call waits for the answer.

        Args:
            scope: the contact.
            embedding_model: facts of another model cannot be compared.

        The answer is the contact's version, 0 if it has no such fact; the facts that have not
        ended, including expired ones; the vectors, float32, shape (len(facts), dimension).
        """
        asked = {
            "contact_key": scope.contact_key,
            "embedding_model": embedding_model,
            "states": [*LASTING],
        }
        answer = self.graph.begin("list_neighbourhood", asked)

        def loaded() -> tuple[int, StoredFacts, Floats]:
            from reconciler.service.stores.stored_facts import StoredFacts, readable  # loads numpy

            rows = answer()
            columns = readable(rows)
            version = int(rows[0]["version"][0]) if rows else 0
            return version, StoredFacts(columns), vectors_in(columns["embedding_bytes"])

        return loaded

    def load_vectors(self, scopes: Sequence[Scope], embedding_model: str) -> dict[str, Floats]:
        """Load the vectors of all facts in scope, also of ended ones, by the facts' ids.

        Args:
            scopes: the contacts.
            embedding_model: vectors of another model cannot be compared.

        Returns:
            float32, shape (dimension,), unit length, each.
        """
        rows = self.rows("list_vectors", **of_contacts(scopes), embedding_model=embedding_model)
        if not rows:
            self.check_own_model()
        ids = [row["fact_id"] for row in rows]
        return dict(zip(ids, vectors_in([row["embedding_bytes"] for row in rows]), strict=True))

    def list_live_facts(
        self, scopes: Sequence[Scope], embedding_model: str, now: datetime
    ) -> dict[str, list[LiveFact]]:
        """List the live facts of each contact by the contact's key; damaged ones are left out.

        Args:
            scopes: the contacts.
            embedding_model: the model that made the vectors to compare.
            now: the time now (UTC).
        """
        rows = self.rows(
            "list_live_facts", **of_contacts(scopes), embedding_model=embedding_model, now=now
        )
        if not rows:
            self.check_own_model()
        return {
            key: [fact for fact in facts if fact.is_live]
            for key, facts in told_by_contact(LiveFact, rows).items()
        }

    def list_said_since(
        self, scopes: Set[Scope], since: datetime, *, is_plain: bool = False
    ) -> dict[str, list[SaidFact]]:
        """List the statements about each contact after a time, by the contact's key.

        Ended facts are included, revoked ones are not; without ``is_plain`` only facts that were
        kept by a yes, or that have a slot.
        """
        if not scopes:
            return {}
        asked = {"since": since, "is_plain": is_plain}
        return told_by_contact(
            SaidFact, self.rows("list_said_since", **of_contacts(scopes), **asked)
        )

    def find_facts(self, scope: Scope, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """Find the contact's facts of these ids, live or ended, by their ids."""
        rows = self.rows_of(scope, "find_facts", fact_ids=list(fact_ids)) if fact_ids else []
        return by_fact_id(FACTS.all(rows))

    def find_fact(self, scope: Scope, fact_id: str) -> Fact | None:
        """Find the contact's fact of that id, live or ended; None if there is none.

        Raises:
            DamagedRecordError: the fact cannot be read.
        """
        return FACTS.first(self.rows_of(scope, "find_facts", fact_ids=[fact_id]))

    def get_fact(self, scope: Scope, fact_id: str, or_else: str = "") -> Fact:
        """Return the contact's fact of that id, live or ended.

        Args:
            scope: the contact.
            fact_id: its id.
            or_else: another possible reason for a missing fact, for the error.

        Raises:
            UnknownFactError: there is no such fact, or it is another contact's.
        """
        check_identifier("fact_id", fact_id, UnknownFactError)
        fact = self.find_fact(scope, fact_id)
        if fact is None:
            raise unknown_fact(scope, fact_id + or_else)
        return fact

    def find_nearest(
        self, scope: Scope, embedding_model: str, vector: Floats, limit: int
    ) -> list[Near]:
        """Find facts near a vector by one query of the whole store, nearest first.

        An engine with an index gives an approximate result, nothing until the index is built, and
        fewer than ``limit`` facts if other agents have facts as near. Another engine compares every
        fact, also those of other agents. It gives nothing if the agent has few of them, or if the
        store is too large for one query.
        """
        asked = _wanted(vector, embedding_model, limit)
        with suppress(GraphUnavailableError):  # millions of facts may take longer than a query may
            return self._near(
                self._compared("find_nearest", {"agent_key": scope.agent_key, **asked})
            )
        return []

    def list_nearest(
        self,
        scope: Scope,
        embedding_model: str,
        vector: Floats,
        limit: int,
        contact_ids: Sequence[str],
    ) -> list[Near]:
        """Find exactly the nearest facts to a vector, of these contacts of the agent.

        Some contacts are read at a time: the facts of ten thousand contacts take longer than a
        query may.
        """
        asked = _wanted(vector, embedding_model, limit)
        scopes = [replace(scope, contact_id=contact_id) for contact_id in contact_ids]
        rows = list[Row]()
        for some in pages(scopes):
            found = self._compared("list_nearest", asked | of_contacts(some))
            rows = sorted(rows + found, key=_by_cosine)[:limit]
        return self._near(rows)

    def _near(self, rows: Iterable[Row]) -> list[Near]:
        near = [Near(**row) for row in rows]
        if not near:
            self.check_own_model()
        return near

    def find_agents_facts(
        self, scope: Scope, fact_ids: Sequence[str]
    ) -> dict[str, tuple[str, Fact]]:
        """Find the facts of these ids about any contact of the agent, with its id; by fact id."""
        rows = (
            self.rows("find_agents_facts", agent_key=scope.agent_key, fact_ids=list(fact_ids))
            if fact_ids
            else []
        )
        return {fact.fact_id: (row["contact_id"], fact) for row, fact in FACTS.pairs(rows)}

    def list_mentions(
        self, scope: Scope, words: Strings, offset: int, limit: int
    ) -> list[tuple[str, Fact]]:
        """List the facts of all the agent's contacts that contain each word, last said first.

        Args:
            scope: any contact of the agent.
            words: one or two words in small letters; they may be parts of longer words.
            offset: the number of facts on earlier pages.
            limit: at most this many.

        Returns:
            Each fact with its contact's id.
        """
        asked = {"word": words[0], "other": words[-1], "offset": offset, "limit": limit}
        rows = self.rows("list_mentions", agent_key=scope.agent_key, **asked)
        return [(row["contact_id"], fact) for row, fact in FACTS.pairs(rows)]

    def list_said(self, fact_ids: Sequence[str]) -> list[Said]:
        """List the turns that these facts rest on, once for each fact; in no order.

        The caller has checked that the facts are the contact's; this is also true of
        ``list_taken``.
        """
        return SAID.all(self.rows("list_fact_evidence", fact_ids=list(fact_ids)))

    def rests_on(self, scope: Scope, fact_id: str, episode_id: str) -> bool:
        """True if the episode is already evidence of the fact, or of a fact that it restates."""
        resting = {row["fact_id"] for row in self.rows("find_resting", episode_id=episode_id)}
        if fact_id in resting or not resting:
            return bool(resting)
        return not resting.isdisjoint(restated_beneath(fact_id, self.list_supersessions(scope)))

    def list_predecessors(self, facts: Iterable[Neighbour], vector: Floats) -> list[Predecessor]:
        """List the facts that these superseded, each with its cosine to a vector; in no order."""
        asked = {"fact_ids": [fact.fact_id for fact in facts], "embedding": vector.tolist()}
        return PREDECESSORS.all(self._compared("list_predecessors", asked))

    def list_facts(self, scope: Scope) -> list[Fact]:
        """List all facts in scope, live and ended, the newest first."""
        return FACTS.all(self.rows_of(scope, "list_facts"))

    def list_uses(self, scope: Scope) -> list[FactUse]:
        """List the recalls of all facts in scope, live and ended, the newest fact first.

        Raises:
            ValueError: a record cannot be read.
        """
        from reconciler.service.stores.stored_facts import values_in  # loads numpy

        columns = [values_in(row, FactUse._fields) for row in self.rows_of(scope, "list_uses")]
        return [use for held in columns for use in map(FactUse, *held.values())]

    def list_newest_facts(
        self, scope: Scope, after: PlaceInHistory | None, limit: int | None
    ) -> list[PlaceInHistory]:
        """List facts in scope, live and ended, in the order of a history, the newest first.

        Args:
            scope: the contact.
            after: only the facts after it; None to begin with the newest.
            limit: at most this many; None for all.
        """
        place = after or PlaceInHistory("", FAR_AHEAD, FAR_AHEAD)
        asked = {
            "confirmed_before": place.last_confirmed_at,
            "recorded_before": place.recorded_at,
            "after_id": place.fact_id,
            "limit": limit or EVERYTHING,
        }
        return PLACES.all(self.rows_of(scope, "list_newest_facts", **asked))

    def list_filed_facts(self, scope: Scope, subject: str) -> list[FiledFact]:
        """List the agent's facts with this subject, of all contacts, first recorded first."""
        return [
            FiledFact(row["contact_id"], row["contact_name"], fact)
            for row, fact in FACTS.pairs(
                self.rows("list_filed_facts", agent_key=scope.agent_key, subject=subject)
            )
        ]

    def list_conflicts(self, scope: Scope, *, is_open: bool = True) -> list[Conflict]:
        """List pairs of facts that have not ended and may contradict each other, each once.

        With ``is_open`` only open disputes; else also those that a person settled with "both hold".
        """
        rows = self.rows_of(scope, "list_conflicts", states=[*LASTING])
        return [conflict for conflict in CONFLICTS.all(rows) if conflict.is_open or not is_open]

    def list_disputed(self, scopes: Scopes) -> Iterator[tuple[Scope, list[Conflict]]]:
        """List the contacts that have pairs as ``list_conflicts`` finds, open or not, with these.

        In the given order; an agent's contacts in the order of their ids.
        """
        if isinstance(scopes, Scope):
            scopes = [
                replace(scopes, **row)
                for row in self.rows("list_disputing", agent_key=scopes.agent_key)
            ]
        for some in [scopes] if len(scopes) > FEW else pages(scopes):
            rows = self.rows_about(some, "list_disputed", "list_disputed_of_agent")
            found = grouped((row["contact_id"], pair) for row, pair in CONFLICTS.pairs(rows))
            yield from (
                (scope, found[scope.contact_id]) for scope in some if scope.contact_id in found
            )

    def list_conflict_links(self, scope: Scope) -> list[Conflict]:
        """List all pairs of facts in scope that were ever in dispute; in no order."""
        return CONFLICTS.all(self.rows_of(scope, "list_conflict_links"))

    def list_supersessions(self, scope: Scope) -> list[Supersession]:
        """List the supersessions in scope, with their reasons; in no order."""
        return SUPERSESSIONS.all(self.rows_of(scope, "list_supersessions"))

    def list_expiring(
        self,
        scopes: Scopes,
        now: datetime,
        until: datetime,
        limit: int | None,
        *,
        also_expired: bool,
    ) -> list[tuple[str, Fact]]:
        """List the facts that expire from now until then, soonest first, with their contacts' ids.

        With ``also_expired`` also the expired facts that are still recalled. At most ``limit``;
        None for all.
        """
        asked = {
            "now": now,
            "until": until,
            "also_expired": also_expired,
            "limit": limit or EVERYTHING,
        }
        if isinstance(scopes, Scope):
            ends = (
                self.rows("find_expiry", now=now, until=until, offset=_MORE * limit)
                if limit
                else []
            )
            for end in (*ends, {"expires_at": until}):
                asked["until"] = end["expires_at"]
                first = self.rows("list_expiring_of_agent", **asked, agent_key=scopes.agent_key)
                if len(first) == limit:
                    break
            ids = dict.fromkeys(row["contact_id"] for row in first)
            scopes = [replace(scopes, contact_id=contact_id) for contact_id in ids]
        rows = sorted(
            self.rows_about(scopes, "list_expiring", **asked),
            key=lambda row: (row["expires_at"], row["contact_key"], row["fact_id"]),
        )
        return [(row["contact_id"], fact) for row, fact in FACTS.pairs(rows[:limit])]

    def record_use(self, used: Mapping[str, Use]) -> None:
        """Add recalls to these facts, by id, in one transaction.

        Raises:
            GraphError: nothing was written.
        """
        rows = [
            {"fact_id": fact_id, "recalls": use.times, "at": use.at}
            for fact_id, use in used.items()
        ]
        self.rows("record_use", used=rows)

    def contact_version(self, scope: Scope) -> int:
        """Return a number that grows with each decision and erasure; 0 if nothing is known.

        Raises:
            AbsorbedError: the contact was merged into another.
        """
        return of_its_own(scope, self.standing(scope)).version

    def begin_states(self, scopes: Iterable[Scope]) -> Callable[[], dict[Scope, ContactState]]:
        """Ask for the versions of contacts, and whether they were merged into another.

        The returned call waits for the answer, which lacks an unknown contact.
        """
        of = {scope.contact_key: scope for scope in scopes}
        found = self.graph.begin("list_versions", {"contact_keys": list(of)}) if of else list
        return lambda: {of[row.pop("contact_key")]: ContactState(**row) for row in found()}

    def _compared(self, query: str, asked: Row) -> list[Row]:
        """Return the rows of a query that compares vectors.

        Raises:
            SchemaError: the store has moved to another model.
        """
        try:
            return self.rows(query, **asked)
        except QueryError:  # an engine may refuse to compare vectors of two lengths
            self.check_own_model()
            raise


def _by_cosine(row: Row) -> tuple[float, str]:
    return -row["cosine"], row["fact_id"]


def _wanted(vector: Floats, embedding_model: str, limit: int) -> Row:
    """Return the parameters of a query for the nearest facts."""
    return {"embedding": vector.tolist(), "embedding_model": embedding_model, "limit": limit}
