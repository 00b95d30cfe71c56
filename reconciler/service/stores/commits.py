"""A commit: a decision and all that follows from it, and the maps that the query writes it from.

A decision goes as one JSON record, beside the columns that queries filter by: sixty columns took
the embedded engine three times as long to write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, field, fields
from datetime import datetime
from enum import StrEnum
from itertools import permutations
from typing import Any

from reconciler.domain.floats import Floats
from reconciler.domain.records.candidates import Evidence
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Conflict, Fact, Standing, Supersession
from reconciler.domain.records.kinds import SPANS_JOINED, Action, FactState
from reconciler.frozen import frozen
from reconciler.service.stores.rows import SLOT_COLUMNS, decision_records, no_vectors

_LINK_COSINE_DIGITS = 4
_NOT_IN_RECORD = {"compared_with", "correction", "replayed"}
"""Fields that a record leaves out: links, later changes, and values of one call."""


_FACT_FIELDS, _STANDING_FIELDS = (
    [described.name for described in fields(kind) if described.name != "slot"]
    for kind in (Fact, Standing)
)


_KEPT_FIELDS = (
    "fact_id",
    "observations",
    "confidence",
    "is_confirmed_by_user",
    "expires_at",
    "last_confirmed_at",
)


@frozen
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
        ended_at: by the id of each fact that ends, when that was, where it is not from when the
            note holds: as it began, if that was later, or when its own end was.
        lapsed: facts that are written as live but have expired: by their ids until when they held,
            if their end is known.
        restored, reopened: the facts and conflicts that a revert changes, as it leaves them.
        linked_ids: the facts that may have a link of a dispute, open or settled, which a fact that
            replaces them takes over; None if that is not known.
        known_sessions: the keys of sessions that this process has seen in the store.
        also: further commits about the contact, written with it, each on the version before.
    """

    version: int
    decision: Decision
    evidence: tuple[Evidence, ...]
    fact: Fact | None = None
    vector: Floats = field(default_factory=lambda: no_vectors(0))
    restated_id: str | None = None
    kept: Fact | None = None
    voided_from: Mapping[str, datetime] = field(default_factory=dict)
    ended_at: Mapping[str, datetime] = field(default_factory=dict)
    lapsed: Mapping[str, datetime | None] = field(default_factory=dict)
    restored: tuple[Fact, ...] = ()
    reopened: tuple[Conflict, ...] = ()
    linked_ids: Set[str] | None = None
    known_sessions: Set[str] = frozenset()
    also: tuple[Commit, ...] = ()

    @property
    def before(self) -> tuple[Standing, ...]:
        """The earlier states of facts that it changes and that live on."""
        return self.decision.changes.before


def _cited(evidence: Evidence) -> str | None:
    return SPANS_JOINED.join(evidence.spans) or None


def contact_map(commits: Sequence[Commit]) -> dict[str, Any]:
    """One contact's writes, as ``commit_decisions`` takes them."""
    first, last = commits[0], commits[-1]
    scope = first.decision.scope
    # Only what is remembered may rename the contact.
    kept = [commit.decision.note for commit in commits if commit.decision.action.is_reconciled]
    names = [note.contact_name for note in kept if note.contact_name]
    ended: list[str] = []
    # A fact may be said again and end in one batch: where it stands after all of it is written.
    changes = (change for commit in commits for change in states_of(commit))
    states = list({change["fact_id"]: change for change in changes}.values())
    return {
        **scope.columns,
        "name": names[-1] if names else None,
        "version": first.version,
        "next_version": first.version + len(commits),
        "at": max(commit.decision.at for commit in commits),
        **_session_maps(commits),
        "commits": [
            _commit_map(commit, ended) | {"states": states if commit is last else []}
            for commit in commits
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
    linked = verdict.ended if commit.linked_ids is None else commit.linked_ids
    # Where no link is to be taken over, an engine need not look: that is a quarter of an update.
    ends = [] if is_revoked else [each for each in verdict.ended if each in linked]
    ended += verdict.ended
    return {
        "decision_id": decision.decision_id,
        "decision": decision_map(decision),
        "span": _cited(commit.evidence[0]),
        "new_episodes": [_episode_map(evidence) for evidence in commit.evidence if evidence.is_new],
        "episodes": [_episode_map(evidence) for evidence in commit.evidence if not evidence.is_new],
        "more_evidence": [
            {"episode_id": evidence.episode_id, "span": _cited(evidence)}
            for evidence in commit.evidence[1:]
        ],
        "settles_id": decision.proposal.settles_id,
        "fact_id": fact.fact_id if fact else None,
        "fact": _fact_map(fact, commit) if fact else None,
        "embedding": commit.vector.tolist() if fact and commit.vector.size else None,
        "supersessions": [asdict(link) for link in supersessions_of(commit).values()],
        "linked_ids": ends,
        "ended_so_far_ids": list(ended),
        "revoked_ids": list(verdict.ended) if is_revoked else [],
        "conflicting_ids": list(verdict.conflicts),
        "closed": [
            {"one_id": one, "other_id": other}
            for one, other in permutations(decision.closed_ids, 2)
        ],
        "said": taken(verdict, "decided_by", "reason") | {"at": decision.at},
        "kept": _with_slot(commit.kept, _KEPT_FIELDS) if commit.kept else None,
        **_undo_map(commit),
        "compared": [taken(one, "fact_id", "cosine", "rank") for one in decision.compared_with],
    }


def supersessions_of(commit: Commit) -> dict[tuple[str, str], Supersession]:
    """The supersessions: the new fact, or one that stays, and the facts that it replaces.

    By the ids of the newer and the older fact.
    """
    decision, verdict = commit.decision, commit.decision.verdict
    links = {(link.new_id, link.old_id): link for link in decision.changes.linked}
    if (fact_id := decision.fact_id) is not None:
        pairs = [(verdict.above, fact_id)] if verdict.above else []
        pairs += [(fact_id, old_id) for old_id in verdict.ended]
        links |= {pair: supersession_of(*pair, commit) for pair in pairs}
    return links


def supersession_of(new_id: str, old_id: str, commit: Commit) -> Supersession:
    """The supersession of one fact by another, for the reasons of a decision."""
    verdict, cosine = commit.decision.verdict, commit.decision.cosine
    return Supersession(
        new_id=new_id,
        old_id=old_id,
        # For people who look at the graph; the exact one stays on the decision.
        cosine=None if cosine is None else round(cosine, _LINK_COSINE_DIGITS),
        decided_by=str(verdict.decided_by),
        reason=verdict.reason,
        at=commit.decision.at,
        is_restatement=commit.restated_id in (new_id, old_id),
    )


def _undo_map(commit: Commit) -> dict[str, Any]:
    """The writes of a revert; empty lists for any other decision."""
    undo = commit.decision.changes
    return {
        "reverted_ids": list(undo.decision_ids),
        "reopened": [asdict(link) for link in commit.reopened],
        "restored": [_with_slot(fact, _STANDING_FIELDS) for fact in commit.restored],
        "unlinked": [taken(link, "new_id", "old_id") for link in undo.unlinked],
        "unrested": [asdict(tie) for tie in undo.unrested],
        "rested": [asdict(tie) for tie in undo.rested],
    }


def states_of(commit: Commit) -> Iterator[dict[str, Any]]:
    """The new states of older facts; one that was never true ends at its beginning."""
    decision, void, kept = commit.decision, commit.voided_from, commit.kept
    for fact_id, valid_to in commit.lapsed.items():
        yield _state_map(fact_id, FactState.EXPIRED, valid_to)
    if kept is not None:
        yield _state_map(kept.fact_id, kept.state, kept.valid_to)
    end = FactState.REVOKED if decision.action is Action.REVOKE else FactState.SUPERSEDED
    for fact_id in decision.superseded_ids:
        began = void.get(fact_id) or commit.ended_at.get(fact_id)
        valid_to = began or decision.note.holds_from
        yield _state_map(fact_id, end, valid_to, is_void=fact_id in void)


def _state_map(
    fact_id: str, state: FactState, valid_to: datetime | None, *, is_void: bool = False
) -> dict[str, Any]:
    # Null is a property that is not written.
    told = {"fact_id": fact_id, "state": str(state), "valid_to": valid_to}
    return told | {"is_void": is_void or None}


def _episode_map(told: Evidence) -> dict[str, Any]:
    own = taken(told, "episode_id", "text", "said_at", "source_kind", "source_reference")
    return own | {"session_key": told.scope.session_key(told.session_id)}


def _fact_map(fact: Fact, commit: Commit) -> dict[str, Any]:
    return _with_slot(fact, _FACT_FIELDS) | {
        "embedding_model": commit.decision.policy.embedding_model,
        "embedding_bytes": commit.vector.tobytes() if commit.vector.size else None,
    }


def _with_slot(fact: Fact, names: Iterable[str]) -> dict[str, Any]:
    slot = fact.slot
    return taken(fact, *names) | taken(slot, *SLOT_COLUMNS) | {"slot_key": slot and slot.key}


def decision_map(decision: Decision) -> dict[str, Any]:
    """The record, and beside it what queries filter by and readers of the graph look for."""
    return {
        **taken(decision, "decision_id", "text", "cosine", "fact_id", "door", "at", "episode_id"),
        **taken(decision, "action", "decided_by", "reason"),
        **taken(decision.note, "trust", "session_id"),
        **taken(decision.gate, "disposal", "inference_key", "lapses_at"),
        **taken(decision.proposal, "proposed_by", "answered_by", "settles_id", "held_id"),
        "arbiter_reasoning": decision.opinion.reasoning,
        "gate_reason": taken(decision.gate, "reason")["reason"],
        "record": record_of(decision),
    }


def record_of(decision: Decision) -> str:
    """A decision as it is kept: JSON."""
    kept = decision_records().dump_json(decision, exclude=_NOT_IN_RECORD, exclude_none=True)
    return kept.decode()


def taken(held: object | None, *names: str) -> dict[str, Any]:
    """The values of these names, for a query; null where there is nothing that has them."""
    return {name: None if held is None else _as_parameter(getattr(held, name)) for name in names}


def _as_parameter(value: Any) -> Any:
    """As drivers take it; null for an empty list, which has no type, as one engine wants it."""
    if isinstance(value, StrEnum):
        return str(value)
    return (list(value) or None) if isinstance(value, tuple) else value
