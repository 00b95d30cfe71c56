"""The erasure store; only it names the queries that erase. Decides nothing.

``domain/erasing`` plans the erasure. Every call here may be repeated; a repeated call changes
nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from typing import Any, TypeVar

from reconciler.domain.erasing.planning import ContactRecords, Judged, words_of
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.erasures import (
    ERASED,
    Erasure,
    ErasureKind,
    ErasurePlan,
    ErasureReceipt,
    ErasureState,
    ErasureTarget,
)
from reconciler.domain.records.facts import Fact, Facts
from reconciler.domain.records.kinds import FactState, JobState
from reconciler.domain.records.notes import Scope
from reconciler.frozen import Strings, frozen, in_order
from reconciler.ports.graph import Graph, Purged, Row
from reconciler.service.stores.commits import emptied_map, taken
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import FACTS, Queries, adapter_of, batches, reader_of

T = TypeVar("T")

_SCOPED = {
    "Episode": ("list_scope_episodes", "episode_id"),
    "Session": ("list_scope_sessions", "session_key"),
    "Job": ("list_scope_jobs", "job_id"),
    "Task": ("list_scope_tasks", "task_key"),
}
"""For each label of nodes with words, besides facts and decisions: the query and the key."""

_BATCH = 500
"""The number of nodes in one transaction, so that no transaction grows without bound."""

_LINKS_AT_ONCE = 5_000
"""Links from which one transaction removes the reason or the span."""


@frozen
class Words:
    """All words of one node, as one text, with the node's label and key."""

    label: str
    key: str
    text: str
    session_key: str | None = None


@frozen
class Marks:
    """The values that the mark of an erasure writes besides the plan.

    Attributes:
        tombstones: keys of the forgotten words, each with its contact's key; a note with one of
            them is held.
        ended_keys: erased sessions: their jobs end, and they take no more turns.
        rewound_keys: sessions with jobs that start again, because their claims are erased.
        episodes: what is left of the episodes that those jobs read again, by id.
    """

    tombstones: Mapping[str, str]
    ended_keys: Strings = ()
    rewound_keys: Strings = ()
    episodes: Mapping[str, str] = field(default_factory=dict)


@frozen
class Going:
    """All records that lose words: the planned ones, and the jobs and tasks of their sessions."""

    plan: ErasurePlan
    job_ids: Sequence[str] = ()
    task_keys: Sequence[str] = ()


@in_order
class ErasureStore(Queries):
    """Erasures and their traces, in one graph.

    Each call is one transaction, so callers pass some nodes at a time.

    Invariant: no method reads or writes outside the given scope. One exception: the list of
    unfinished erasures, for the caller that finishes them.

    Attributes:
        graph: the engine.
        fact_store: facts and their links.
        decision_store: the store of decisions.
    """

    graph: Graph
    fact_store: FactStore
    decision_store: DecisionStore

    def list_tombstones(self, scope: Scope) -> list[str]:
        """List the keys of the forgotten words; a note with one of them is held."""
        return [
            row["tombstone_key"]
            for one in self.fact_store.family(scope)
            for row in self.rows_of(one, "list_tombstones")
        ]

    def list_revoked(self, scope: Scope) -> list[Fact]:
        """List the facts that a person revoked or took back and that are still revoked."""
        ids = self.decision_store.list_revocation_ids(scope)
        rows = self.rows("list_revoked", decision_ids=ids) if ids else []
        return [fact for fact in FACTS.all(rows) if fact.state is FactState.REVOKED]

    def list_erased_sessions(self, scope: Scope) -> list[str]:
        """List the ids of sessions that were erased."""
        return [row["session_id"] for row in self.rows_of(scope, "list_erased_sessions")]

    def list_emptied_episodes(self, scope: Scope) -> dict[str, str]:
        """Return what is left of each episode that words were erased from, by id."""
        return {
            row["episode_id"]: row["text"] for row in self.rows_of(scope, "list_emptied_episodes")
        }

    def load_known(
        self,
        scope: Scope,
        facts: Facts | None = None,
        decisions: Sequence[Decision] | None = None,
    ) -> ContactRecords:
        """Load all records of a contact; facts and decisions are read unless they are given."""
        judged = self.rows_of(scope, "list_judged_words")
        return ContactRecords(
            facts=self.fact_store.list_facts(scope) if facts is None else facts,
            links=self.fact_store.list_supersessions(scope),
            decisions=self.decision_store.list_records(scope) if decisions is None else decisions,
            judged=_JUDGED.all(judged),
            session_keys={row["session_key"]: row["session_id"] for row in self.sessions(scope)},
        )

    def mark(self, erasure: Erasure, version: int, marks: Marks) -> bool:
        """Write the erasure with its plan and marks; False if the contact's version changed."""
        return bool(
            self.rows_of(
                erasure.scope,
                "mark_erasure",
                version=version,
                next_version=version + 1,
                is_whole=erasure.kind is ErasureKind.CONTACT,
                erasure={
                    **taken(erasure, "erasure_id", "state", "by", "reason", "started_at"),
                    **taken(erasure.scope, "tenant", "agent_id", "contact_key"),
                    "target_kind": str(erasure.kind),
                    "target": _json(ErasureTarget, erasure.target),
                    "plan": _json(ErasurePlan, erasure.plan) if erasure.plan else None,
                },
                fact_ids=list(erasure.plan.fact_ids if erasure.plan else ()),
                tombstones=[
                    {"tombstone_key": key, "contact_key": whose}
                    for key, whose in sorted(marks.tombstones.items())
                ],
                ended_keys=list(marks.ended_keys),
                rewound_keys=list(marks.rewound_keys),
                episodes=_episode_maps(marks.episodes),
                at=erasure.started_at,
            )
        )

    def remove(
        self, left: Iterable[Decision], going: Going, at: datetime, *, is_ended: bool
    ) -> Iterator[int]:
        """Remove the words of all nodes that go, many at a time; return how many each time.

        Decisions go first, facts last.

        Args:
            left: what is left of the decisions.
            going: the other nodes.
            at: the time of the erasure.
            is_ended: also end the jobs that lose their claims.
        """
        plan = going.plan
        steps: tuple[tuple[str, str, Iterable[Any], Row], ...] = (
            ("remove_decisions", "decisions", map(emptied_map, left), {}),
            ("remove_episodes", "episodes", _episode_maps(plan.episodes), {}),
            ("remove_session_words", "session_keys", plan.session_keys, {}),
            ("remove_job_words", "job_ids", going.job_ids, {"at": at, "is_ended": is_ended}),
            ("remove_task_words", "task_keys", going.task_keys, {}),
            ("remove_facts", "fact_ids", plan.fact_ids, {"at": at}),
            ("revive_facts", "fact_ids", plan.revived_ids, {}),
            ("put_fact_ends", "ends", map(asdict, plan.ends), {}),
        )
        for query, name, nodes, more in steps:
            for some in batches(nodes, _BATCH):
                self.rows(query, **{name: some}, **more)
                yield len(some)

    def remove_reasons(self, scope: Scope, fact_ids: Sequence[str] | None) -> None:
        """Remove reasons, and links with answers, of these facts; None for all of the contact's."""
        for query in (
            "remove_supersession_reasons",
            "remove_conflict_reasons",
            "remove_answer_links",
        ):
            self._remove_from_links(query, scope, "fact_ids", fact_ids)

    def remove_spans(self, scope: Scope, episode_ids: Sequence[str] | None) -> None:
        """Remove the cited words from links to these episodes; None for all of the contact's."""
        self._remove_from_links("remove_fact_spans", scope, "episode_ids", episode_ids)
        self._remove_from_links("remove_decision_spans", scope, "episode_ids", episode_ids)

    def _remove_from_links(
        self, query: str, scope: Scope, name: str, ids: Sequence[str] | None
    ) -> None:
        """Remove words from links, many at a time: each query reads all links of the contact."""
        if ids is not None and not ids:
            return
        whose = {"is_whole": ids is None, name: list(ids or ())}
        while len(self.rows_of(scope, query, **whose, limit=_LINKS_AT_ONCE)) == _LINKS_AT_ONCE:
            pass

    def remove_contact_words(self, scope: Scope, *, is_whole: bool) -> None:
        """Remove the contact's name, and the reasons of its earlier erasures.

        Contacts that were merged into it lose theirs, too.
        """
        for one in self.fact_store.family(scope):
            self.rows_of(one, "remove_contact_words", erased=ERASED, is_whole=is_whole)

    def words(self, scope: Scope, known: ContactRecords) -> list[Words]:
        """Return all stored words of a contact, node by node: known words, and the rest."""
        links = [(link.new_id, link.old_id, link.reason) for link in known.links]
        links += [
            (row["new_id"], row["old_id"], row["reason"])
            for row in self.rows_of(scope, "list_conflict_links")
        ]
        return [
            *(_node_words("Fact", each.fact_id, words_of(each)) for each in known.facts),
            *(
                _node_words("Decision", each.decision_id, words_of(each))
                for each in known.decisions
            ),
            *(words for label in _SCOPED for words in self._words_of(label, scope)),
            *(_node_words("Link", f"{new} {old}", [reason]) for new, old, reason in links),
            *(_node_words("Span", row.episode_id, [row.span or ""]) for row in known.judged),
        ]

    def move(
        self, erasure: Erasure, state: ErasureState, receipt: ErasureReceipt, at: datetime | None
    ) -> Erasure:
        """Write the new state of an erasure, and return it; a finished one stays as it is.

        The plan is removed with the words, and so is the target, except its ids.
        """
        moved = replace(
            erasure,
            state=state,
            receipt=receipt,
            finished_at=at,
            plan=None,
            target=erasure.target.kept,
        )
        if self.rows(
            "move_erasure",
            erasure_id=moved.erasure_id,
            state=str(state),
            target=_json(ErasureTarget, moved.target),
            reason=moved.reason,
            plan=None,
            receipt=_json(ErasureReceipt, receipt),
            finished_at=at,
            is_whole=erasure.kind is ErasureKind.CONTACT,
        ):
            return moved
        return self.find(erasure)

    def find(self, erasure: Erasure) -> Erasure:
        """Return the erasure as it is stored now."""
        return next(
            stored
            for stored in self.list_erasures([erasure.scope])
            if stored.erasure_id == erasure.erasure_id
        )

    def list_erasures(
        self, scopes: Iterable[Scope] = (), *, is_unfinished: bool = False
    ) -> list[Erasure]:
        """List the erasures about these contacts, oldest first; without contacts, all erasures."""
        keys = [scope.contact_key for scope in scopes]
        return ERASURES.all(
            self.rows("list_erasures", contact_keys=keys, is_unfinished=is_unfinished)
        )

    def check_purge(self) -> None:
        """Check that the engine will have room to purge; see ``Graph.check_purge``."""
        self.graph.check_purge()

    def expect_mark(self, scope: Scope, texts: Iterable[str]) -> None:
        """Keep texts to search for that are removed before or with the mark of an erasure."""
        self.graph.expect_purge(_before_mark(scope), texts)

    def expect_purge(self, erasure: Erasure, texts: Iterable[str]) -> None:
        """Keep the texts that an erasure removes, so that ``purge`` can search the files for them.

        Texts that ``expect_mark`` kept are added, also those of an erasure that was interrupted
        before its mark.
        """
        key = _before_mark(erasure.scope)
        self.graph.expect_purge(erasure.erasure_id, texts, instead_of=key)

    def purge(self, erasure: Erasure) -> Purged:
        """Remove the erased bytes from the engine's files, and search them; see ``Graph.purge``."""
        return self.graph.purge(erasure.erasure_id)

    def ids_of(self, scope: Scope, label: str, session_keys: Iterable[str] | None) -> list[str]:
        """Return the keys of the nodes of a label in these sessions; None for all of the contact's.

        A task that was resumed in one of the sessions counts, even if it has no turn there yet.
        """
        query, key = _SCOPED[label]
        rows, wanted = self.rows_of(scope, query), set(session_keys or ())
        named = [row[key] for row in rows if session_keys is None or wanted & _places(scope, row)]
        return list(dict.fromkeys(named))

    def sessions(self, scope: Scope) -> list[Row]:
        """List the contact's sessions."""
        return self.rows_of(scope, "list_scope_sessions")

    def is_reading(self, scope: Scope) -> bool:
        """True if a worker is reading a session of the contact."""
        jobs = self.rows_of(scope, "list_scope_jobs")
        return any(row["state"] == JobState.RUNNING for row in jobs)

    def _words_of(self, label: str, scope: Scope) -> list[Words]:
        query, key = _SCOPED[label]
        left_out = {key, "session_key", "session_id", "state", "turns"}
        return [
            Words(
                label=label,
                key=row[key],
                session_key=row["session_key"],
                text=_joined(_flat(value for name, value in row.items() if name not in left_out)),
            )
            for row in self.rows_of(scope, query)
        ]


def _before_mark(scope: Scope) -> str:
    """Return the key for a contact's kept texts before a mark; usable as a file name."""
    return hashlib.sha256(scope.contact_key.encode()).hexdigest()[:32]


def _episode_maps(episodes: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"episode_id": key, "text": text} for key, text in episodes.items()]


def _places(scope: Scope, row: Row) -> set[str]:
    """Return the session of a node, and the session in which a task continues."""
    goes_on = {scope.session_key(row["session_id"])} if "session_id" in row else set()
    return {row["session_key"], *goes_on}


def _node_words(label: str, key: str, words: Iterable[str]) -> Words:
    return Words(label=label, key=key, text=_joined(words))


def _flat(parts: Iterable[Any]) -> Iterator[str]:
    """Return the values of a row, those of its lists one by one."""
    for part in parts:
        yield from (str(item) for item in (part if isinstance(part, list) else [part]) if item)


def _joined(words: Iterable[str]) -> str:
    """Join the existing texts, without the marks of erased ones."""
    return "\n".join([word for word in words if word and word != ERASED])


def _json(kind: type[T], value: T) -> str:
    return adapter_of(kind).dump_json(value).decode()


ERASURES = reader_of(
    Erasure,
    "Erasure",
    "erasure_id",
    lambda row: {
        "scope": row,
        "by": row["asked_by"],
        "kind": row["target_kind"],
        **{name: json.loads(row[name] or "{}") for name in ("target", "receipt")},
        "plan": row["plan"] and json.loads(row["plan"]),
    },
)
_JUDGED = reader_of(Judged, "Episode", "episode_id")
