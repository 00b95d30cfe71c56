"""The decision store; only it names the queries of decisions and evidence. Decides nothing."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from reconciler.domain.recalling.answering import RecordedAnswer
from reconciler.domain.records.candidates import EarlierDecision, Evidence, TakenBy
from reconciler.domain.records.decisions import Change, Comparison, Decision
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import ActionCount, RefusalCount
from reconciler.domain.records.kinds import (
    FAR_AHEAD,
    Disposal,
    GateReason,
    ListPlace,
    Relation,
    is_after,
    newest_first,
)
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.errors import InvalidNoteError, InvalidRequestError, UnknownDecisionError
from reconciler.frozen import frozen, grouped
from reconciler.ports.graph import Row
from reconciler.service.stores.binding_store import Store
from reconciler.service.stores.commits import Commit, contact_map
from reconciler.service.stores.rows import (
    ACTION_COUNTS,
    COMPARISONS,
    DECISIONS,
    EARLIER,
    EVERYTHING,
    EVIDENCE,
    TAKEN,
    UNREADABLE,
    Scopes,
    batches,
    pages,
    with_comparisons,
)

_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)

_LOOKED_UP_MAX = 500
"""The most decisions of one contact of which the comparisons are looked up by their ids. If more
are wanted, all of the contact's are read at once; reading one costs a twentieth of a look-up."""

_HELD_AT_ONCE = 50
"""Held notes that are read together: as many as a list of questions mostly shows."""

_WINDOW_MAX = 10_000
"""The most changes that get their places, or are looked through, in one transaction."""

_PLACE_DIGITS = 19
"""Fewer digits are a number that both engines can hold."""

_EPISODE_SPACE = uuid.UUID("b2b0a3ce-0a4e-5c0b-9d3f-4f2f6a2f6c11")


@frozen
class DecisionFilter:
    """A filter of decisions; None lets all through. ``until`` is not included.

    ``after`` is the time and the id of a decision: only the decisions after it pass.
    """

    disposal: Disposal | None = None
    reason: GateReason | None = None
    door: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: ListPlace | None = None


_ALL = DecisionFilter()


class DecisionStore(Store):
    """Decisions and the episodes that they rest on, of all scopes, in one graph.

    A decision is written with all its effects; facts are written only here.

    Invariant: no method reads or writes outside the given scope.

    Args:
        graph: the graph that holds them.
        model: name and fingerprint of the model that this process embeds with, and the length of
            its vectors. If the store has moved to another model, calls that write raise.
            None if no such call is made.
    """

    def list_taken(self, episode_ids: Sequence[str]) -> dict[str, list[TakenBy]]:
        """List the decisions that were made on these turns, by the turn's id; in no order."""
        taken_by: dict[str, list[TakenBy]] = {episode_id: [] for episode_id in episode_ids}
        for row, taken in TAKEN.pairs(self.rows("list_judged", episode_ids=list(taken_by))):
            taken_by[row["episode_id"]].append(taken)
        return taken_by

    def count_actions(self, scopes: Sequence[Scope]) -> dict[str, list[ActionCount]]:
        """Count the decisions about each contact by action, by the contact's key."""
        return grouped(
            (row["contact_key"], count)
            for row, count in ACTION_COUNTS.pairs(
                self.rows_about(scopes, "count_actions", "count_actions_of_agent")
            )
        )

    def list_made(self, scope: Scope) -> list[Decision]:
        """List a contact's decisions that changed facts, without comparisons; in no order."""
        return self._records(row["decision_id"] for row in self.rows_of(scope, "list_made_ids"))

    def list_given_ids(self, scope: Scope, keys: Sequence[str]) -> set[str]:
        """List the ids of the decisions from sessions of these merged contacts, and the answers."""
        return {
            each
            for row in self.rows_of(scope, "list_given_ids", keys=keys)
            for each in row.values()
        }

    def list_revocation_ids(self, scope: Scope, or_door: str = "") -> list[str]:
        """List the ids of the decisions that ended a fact without a successor, in no order.

        With ``or_door`` also the ids of all decisions that came through that door.
        """
        return [
            row["decision_id"] for row in self.rows_of(scope, "list_revocation_ids", door=or_door)
        ]

    def list_revocations(self, scope: Scope, or_door: str) -> list[Decision]:
        """List the decisions of ``list_revocation_ids``, without comparisons."""
        return self._records(self.list_revocation_ids(scope, or_door))

    def list_records(self, scope: Scope) -> list[Decision]:
        """List all decisions about a contact, newest first, without comparisons."""
        return sorted(DECISIONS.all(self.rows_of(scope, "list_contact_decisions")), key=_place_of)

    def list_decisions(
        self, scopes: Sequence[Scope], limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """List the newest decisions about some contacts, with comparisons."""
        return self._decisions(self._newest_ids(scopes, limit, wanted))

    def list_answers(self, fact_ids: Iterable[str]) -> list[RecordedAnswer]:
        """List the answers that used any of a contact's facts, newest first."""
        rows = self.rows("list_answers", fact_ids=sorted(fact_ids))
        return [RecordedAnswer(**row) for row in sorted(rows, key=_newest_first)]

    def iter_decisions(self, scope: Scope) -> Iterator[Decision]:
        """Read all decisions about a contact, newest first; each page is read when it is needed."""
        for some in pages(self._newest_ids([scope], EVERYTHING, _ALL)):
            yield from self._decisions(some)

    def list_newest_decisions(
        self,
        agents: Scope,
        known: Iterable[tuple[str, datetime | None]],
        limit: int,
        wanted: DecisionFilter,
    ) -> list[Decision]:
        """List the newest decisions about many contacts, like ``list_decisions``.

        Contacts are read in the order of their last decisions, until no remaining contact can have
        one of the newest decisions.

        Args:
            agents: any contact of their agent.
            known: the contacts' ids, each with the time of its last decision.
            limit: at most this many.
            wanted: the filter.
        """
        rows: list[Row] = []
        told = [(at, key) for key, at in known if at]
        for some in pages(sorted(told, key=lambda pair: pair[0], reverse=True)):
            latest, _ = some[0]
            is_full = len(rows) == limit and rows[-1]["at"] >= latest
            if is_full or (wanted.since is not None and latest < wanted.since):
                break
            scopes = [replace(agents, contact_id=key) for _, key in some]
            rows += self._newest_ids(scopes, limit, wanted)
            rows = sorted(rows, key=_newest_first)[:limit]
        return self._decisions(rows)

    def list_pending(
        self,
        scopes: Scopes,
        now: datetime,
        after: ListPlace | None = None,
        *,
        is_bare: bool = False,
    ) -> Iterator[Decision]:
        """List held notes that wait for an answer, newest first; each page is read when needed.

        If the place of a held note is given, only the notes after it are read. Bare notes, without
        the facts that they were compared with, are found with one query, in no order. Of an agent
        the first few are found alone, then the others.
        """
        place = after or (FAR_AHEAD, "")
        for limit in (_HELD_AT_ONCE, EVERYTHING)[is_bare:]:
            if isinstance(scopes, Scope):
                rows = self.rows(
                    "list_pending_ids_of_agent",
                    agent_key=scopes.agent_key,
                    now=now,
                    until=place[0],
                    limit=limit,
                )
            else:
                rows = sorted(
                    self.rows_about(scopes, "list_pending_ids", now=now), key=_newest_first
                )
            left = [row for row in rows if is_after(_place(row), place)]
            for some in batches(left, _HELD_AT_ONCE):
                made = self._records(row["decision_id"] for row in some)
                yield from made if is_bare else self._with_comparisons(made)
            if len(rows) != limit:
                return
            if left:  # many may have been held at one time, all of them before the place
                place = _place(left[-1])

    def list_earlier(self, scope: Scope, inference_key: str) -> list[EarlierDecision]:
        """List earlier decisions about the same inference, oldest first."""
        return EARLIER.all(self.rows_of(scope, "list_precedents", inference_key=inference_key))

    def list_evidence(self, decision_id: str, scope: Scope) -> list[Evidence]:
        """List the episodes that a decision rests on, oldest first, once for each cited span."""
        rows = self.rows("list_evidence", decision_id=decision_id)
        return EVIDENCE.all(row | {"scope": scope} for row in rows)

    def as_own_episodes(
        self, scope: Scope, given: Iterable[Evidence], cleaned: Sequence[Evidence]
    ) -> tuple[Evidence, ...]:
        """Return cleaned evidence, with ids that are the contact's own.

        An episode that is stored for the contact keeps its id and its session. Any other id is
        replaced by an id made from it and the contact. It may be the id of another contact's
        episode, and the caller must neither learn of that episode nor be linked to it.

        Args:
            scope: the contact.
            given: the evidence as it was proposed.
            cleaned: the same evidence as the gate would store it. The stored text may equal either.

        Raises:
            InvalidNoteError: the contact's episode of that id says something else, or another
                person said it.
        """
        bound = {
            episode.episode_id: str(
                uuid.uuid5(_EPISODE_SPACE, f"{scope.contact_key}\0{episode.episode_id}")
            )
            for episode in cleaned
        }
        if not bound:
            return ()
        stored = {
            row["episode_id"]: row
            for row in self.rows_of(
                scope, "find_episodes", episode_ids=sorted({*bound, *bound.values()})
            )
        }
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
                    f"episode {given_id} is already stored with another text or source; give the "
                    "evidence exactly as it is stored, or give it a new id"
                )
        return tuple(
            replace(
                episode,
                episode_id=own_ids[episode.episode_id],
                session_key=stored.get(own_ids[episode.episode_id], {}).get("session_key"),
                is_pending_erasure=episode.is_pending_erasure
                or own_ids[episode.episode_id] in erased,
            )
            for episode in cleaned
        )

    def count_refusals(self, scopes: Sequence[Scope]) -> Iterator[RefusalCount]:
        """Count the refusals of the gate, by contact and reason; read page by page."""
        return (
            RefusalCount(**row)
            for row in self.rows_about(scopes, "count_refusals", "count_refusals_of_agent")
        )

    def find_decision(self, scope: Scope, decision_id: str) -> Decision | None:
        """Find the contact's decision of that id; None if there is none.

        Raises:
            DamagedRecordError: the decision cannot be read.
        """
        rows = self.rows_of(scope, "find_decisions", decision_ids=[decision_id])
        made = [DECISIONS.one(row) for row in rows]
        return next(iter(self._with_comparisons(made)), None)

    def get_decision(self, scope: Scope, decision_id: str, named: str | None = None) -> Decision:
        """Return the contact's decision of that id.

        Args:
            scope: the contact.
            decision_id: its id.
            named: the caller's name for it, for the error; None to use its id.

        Raises:
            UnknownDecisionError: there is no such decision, or it is another contact's.
        """
        check_identifier("decision_id", decision_id, UnknownDecisionError)
        decision = self.find_decision(scope, decision_id)
        if decision is None:
            told = named or decision_id
            raise UnknownDecisionError(f"contact {scope.contact_id} has no decision {told}")
        return decision

    def find_decided(self, decision_ids: Iterable[str]) -> set[str]:
        """Return the ids that already have a decision."""
        asked = list(decision_ids)
        return {str(row["decision_id"]) for row in self.rows("find_decided", decision_ids=asked)}

    def find_records(self, decision_ids: Iterable[str]) -> dict[str, Decision]:
        """Return the readable decisions of these ids, by id, without comparisons."""
        return {made.decision_id: made for made in self._records(decision_ids)}

    def _records(self, decision_ids: Iterable[str]) -> list[Decision]:
        """Return the readable decisions of these ids, without comparisons; in no order."""
        asked = list(decision_ids)
        return DECISIONS.all(self.rows("find_records", decision_ids=asked) if asked else [])

    def record_correction(
        self, scope: Scope, decision_id: str, relation: Relation, at: datetime
    ) -> bool:
        """Record a person's correction of a decision; False if the contact has none of that id."""
        given = {"decision_id": decision_id, "correction": str(relation), "at": at}
        return bool(self.rows_of(scope, "record_correction", **given))

    def place_changes(self, rows: Sequence[Row], now: datetime) -> None:
        """Give changes the next places, unless another reader gave places since they were read."""
        last = rows[0]["last_place"]
        first = max(last + 1, int(now.timestamp() * 1_000_000))
        changes = [
            {"decision_id": row["decision_id"], "place": place}
            for place, row in enumerate(rows, first)
        ]
        self.rows("place_changes", last_place=last, next_place=first + len(rows), changes=changes)

    def list_changes(
        self, scope: Scope, after: str | None, limit: int, now: datetime
    ) -> list[Change]:
        """List the changes of the contact's agent after a cursor, in order.

        Times cannot order them: clocks differ, and a transaction may commit late. So the reader
        gives each decision and each erasure that is committed and has no place yet the next place,
        under the lock of the store. Places rise with the clock: a cursor from before the store was
        restored names a place that no change has, or another one.

        Raises:
            InvalidRequestError: the agent has no change with this cursor.
        """
        while rows := self.rows("list_unplaced", limit=_WINDOW_MAX):
            self.place_changes(rows, now)
        first, window = 1, limit + 1
        if after is not None:
            check_identifier("after", after, InvalidRequestError)
            place = after.partition("~")[0]
            first = int(place) if place.isdecimal() and len(place) < _PLACE_DIGITS else 0
        found: list[Change] = []
        while len(found) <= limit:
            rows = self.rows("list_changes", agent_key=scope.agent_key, first=first, window=window)
            found += [_change(row) for row in rows if row["is_own"]]
            if len(rows) < window:
                break
            first, window = rows[-1]["place"] + 1, _WINDOW_MAX
        if after is None:
            return found[:limit]
        if not found or found[0].cursor != after:
            raise InvalidRequestError(
                "no change of this agent has this cursor; give one that this list has given, for "
                "the same agent. If the memory was restored since then, start again without it: "
                "the ids of decisions are still the same"
            )
        return found[1 : limit + 1]

    def commit_decisions(
        self, commits: Sequence[Commit], seconds_max: float | None = None
    ) -> set[str]:
        """Write decisions and all their effects, in one transaction.

        Args:
            commits: the commits, in any order of contacts. Those of one contact are in the order of
                their decisions, each on the version that the previous one leads to.
            seconds_max: try once, for at most this time; see ``Graph.run``.

        Returns:
            The ids of the written decisions: all about a contact, or none if the contact's version
            has moved on.

        Raises:
            SchemaError: the store has moved to another model; nothing was written.
        """
        by_contact = grouped(
            (commit.decision.scope.contact_key, each)
            for commit in commits
            for each in (commit, *commit.also)
        )
        # Writers that lock contacts in one order never wait for each other in a circle.
        contacts = [contact_map(by_contact[key]) for key in sorted(by_contact)]
        model = self.model and self.model[0]
        given = {"contacts": contacts, "embedding_model": model}
        rows = self.graph.run("commit_decisions", given, seconds_max)
        written = {row["contact_key"] for row in rows}
        if len(written) < len(contacts):
            self.check_own_model()
        return {commit.decision.decision_id for key in written for commit in by_contact[key]}

    def _newest_ids(self, scopes: Sequence[Scope], limit: int, wanted: DecisionFilter) -> list[Row]:
        """Return the ids of the newest decisions about contacts, with times and contacts."""
        asked = _asked(limit, wanted)
        rows = self.rows_about(scopes, "list_decision_ids", **asked)
        return sorted(rows, key=_newest_first)[:limit]

    def _decisions(self, wanted: Sequence[Row]) -> list[Decision]:
        """Return the decisions of these rows, with comparisons, newest first."""
        return self._with_comparisons(self._records(row["decision_id"] for row in wanted))

    def _with_comparisons(self, made: Sequence[Decision]) -> list[Decision]:
        """Return these decisions with their comparisons, newest first."""
        compared: dict[str, list[Comparison]] = {decision.decision_id: [] for decision in made}
        rows = [row for row in self._comparisons(made) if row["decision_id"] in compared]
        for row, comparison in COMPARISONS.pairs(rows):
            compared[row["decision_id"]].append(comparison)
        made = [with_comparisons(decision, compared[decision.decision_id]) for decision in made]
        return sorted(made, key=_place_of)

    def _comparisons(self, made: Iterable[Decision]) -> Iterator[Row]:
        """Return the comparisons of these decisions; for many, all of the contact's."""
        ids = grouped((each.scope.contact_key, each.decision_id) for each in made)
        looked_up = [own for own in ids.values() if len(own) <= _LOOKED_UP_MAX]
        if looked_up:
            yield from self.rows("list_comparisons", decision_ids=[*chain(*looked_up)])
        for contact_key, own in ids.items():
            if len(own) > _LOOKED_UP_MAX:
                yield from self.rows("list_contact_comparisons", contact_key=contact_key)


def _change(row: Row) -> Change:
    """Read a change; one that no longer says which facts it ended is still a change."""
    try:
        ended = DECISIONS.make(row | {"correction": None}).superseded_ids
    except UNREADABLE:
        ended = ()
    thin = {name: row[name] for name in _THIN}
    return Change(cursor=f"{row['place']}~{row['decision_id']}", ended_ids=ended, **thin)


_THIN = ("decision_id", "contact_id", "action", "decided_by", "disposal", "at", "fact_id")


def _place_of(made: Decision) -> tuple[float, str]:
    return newest_first(made.at, made.decision_id)


def _place(row: Row) -> ListPlace:
    return row["at"], row["decision_id"]


def _newest_first(row: Row) -> tuple[float, str]:
    return newest_first(*_place(row))


def _asked(limit: int, wanted: DecisionFilter) -> Row:
    after_at, after_id = wanted.after or (FAR_AHEAD, "")
    return {
        "after_at": after_at,
        "after_id": after_id,
        "disposal": str(wanted.disposal or ""),
        "gate_reason": str(wanted.reason or ""),
        "door": wanted.door or "",
        "since": wanted.since or _LONG_AGO,
        "until": wanted.until or FAR_AHEAD,
        "limit": limit,
    }
