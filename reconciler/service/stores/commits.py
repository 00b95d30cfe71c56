"""A commit: a decision with all its effects, and the maps that the query writes.

A decision is written as one JSON record, with columns for the filters of queries: with sixty
columns a write took the embedded engine three times as long.

Also the steps after a written commit. The kept open conflicts of a contact are updated (not for
several threads at once: the holder has a lock). The operator gets one structured log record: ids,
words of the code and numbers, never a text or a name. The logger is ``reconciler.decisions``, the
level INFO; the fields are attributes of the record, for formatters and handlers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, field, fields
from datetime import datetime
from enum import StrEnum
from itertools import chain, combinations, permutations
from typing import Any, Final

from reconciler.domain.records.candidates import Evidence
from reconciler.domain.records.decisions import Decision, RecordedOpinion
from reconciler.domain.records.facts import Conflicts, Fact, Standing, Supersession
from reconciler.domain.records.kinds import SPANS_JOINED, Action, FactState
from reconciler.domain.records.notes import Scope
from reconciler.floats import Floats
from reconciler.frozen import Json, Strings, frozen, in_order
from reconciler.ports.graph import Row
from reconciler.service.stores.rows import SLOT_COLUMNS, adapter_of, no_vectors

_LINK_COSINE_DIGITS = 4
_NOT_IN_RECORD = {"compared_with", "correction", "replayed"}
"""Fields that are not in a record: links, later changes, and values of one call."""


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


@in_order
class Joint:
    """Another contact, the records of which a decision moves to its own contact, or back.

    Attributes:
        scope: the other contact.
        version: its version before.
        keys: the keys of it, and of the contacts that are merged into it.
        left: the contacts that are merged into the decision's contact afterwards.
        is_split: whether the records go back.
    """

    scope: Scope
    version: int
    keys: list[str]
    left: list[str]
    is_split: bool = False

    def as_map(self, own: Scope) -> Json:
        """Return what ``commit_decisions`` takes: how records name the contact, and the keys."""
        named = [adapter_of(Scope).dump_json(scope).decode() for scope in (self.scope, own)]
        before, after = named[::-1] if self.is_split else named
        return {
            "contact_key": self.scope.contact_key,
            "version": self.version,
            "keys": self.keys,
            "absorbed": self.left or None,
            "before": before,
            "after": after,
        }


@frozen
class Commit:
    """A decision with all its effects, as it is written.

    Attributes:
        version: the contact's version that the decision was made on.
        decision: the record.
        evidence: one episode or more; the first one is the decision's own.
        fact: the new fact, with ADD and UPDATE.
        vector: its embedding, float32, shape (dimension,); empty if there is none.
        restated_id: the fact that the new fact repeats: below it, or above it if the new fact is
            history.
        kept: the fact that stays live, as the decision leaves it, with one more observation.
        voided_from: by the id of each fact that ends as never true, the time from which it was held
            true.
        ended_at: by the id of a fact, the time of its end, if that is not the beginning of the
            note: the fact's own beginning, if that was later, or its own end.
        lapsed: facts that are stored as live but have expired: by their ids their ends, if known.
        restored, reopened: the facts and conflicts that a revert changes, as it leaves them.
        linked_ids: the facts that may have a link of a dispute, open or settled, which a fact that
            replaces them takes over; None if that is not known.
        known_sessions: the sessions that this process has seen in the store, by key, each with a
            time at which it had begun.
        also: further commits about the contact, written with it, each on the version before.
        joint: the other contact of a merge or a split.
        unquoted: with a split, the decisions that quoted a fact of the contact that they are not
            about, without their reasons.
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
    reopened: Conflicts = ()
    linked_ids: Set[str] | None = None
    known_sessions: Mapping[str, datetime] = field(default_factory=dict)
    also: tuple[Commit, ...] = ()
    joint: Joint | None = None
    unquoted: Sequence[Decision] = ()

    @property
    def told_at(self) -> Iterator[tuple[Evidence, datetime]]:
        """Return the evidence with its times; its own has that of the note."""
        for place, told in enumerate(self.evidence):
            yield told, told.said_at if place else self.decision.note.said_at

    @property
    def before(self) -> tuple[Standing, ...]:
        """Return the earlier states of facts that it changes and that stay live."""
        return self.decision.changes.before


def _cited(evidence: Evidence) -> str | None:
    return SPANS_JOINED.join(evidence.spans) or None


def contact_map(commits: Sequence[Commit]) -> Row:
    """Return one contact's writes, as ``commit_decisions`` takes them."""
    first, last = commits[0], commits[-1]
    scope, joint = first.decision.scope, last.joint
    joined = joint and joint.as_map(scope)
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
        "next_version": last.decision.version if joint else first.version + len(commits),
        "absorbs": None if joint and joint.is_split else joined,
        "parts": joined if joint and joint.is_split else None,
        "unquoted": [*map(emptied_map, last.unquoted)],
        "at": max(commit.decision.at for commit in commits),
        **_session_maps(commits),
        "commits": [
            _commit_map(commit, ended) | {"states": states if commit is last else []}
            for commit in commits
        ],
    }


def _session_maps(commits: Sequence[Commit]) -> dict[str, list[Row]]:
    """Return the sessions of the evidence with their first and last times.

    A known session began no later, so only its end may move.
    """
    known: dict[str, Row] = {}
    unknown: dict[str, Row] = {}
    for commit in commits:
        for told, at in commit.told_at:
            key, began = told.kept_in, commit.known_sessions.get(told.kept_in)
            is_known = began is not None and began <= at and key not in unknown
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


def _commit_map(commit: Commit, ended: list[str]) -> Row:
    """Return the map of one decision; ``ended`` has the facts ended before, and gets its own."""
    decision, verdict, fact = commit.decision, commit.decision.verdict, commit.fact
    is_revoked = decision.action is Action.REVOKE
    linked = verdict.ended if commit.linked_ids is None else commit.linked_ids
    # Where no link is to be taken over, an engine need not look: that is a quarter of an update.
    ends = [] if is_revoked else [each for each in verdict.ended if each in linked]
    ended += verdict.ended
    undo = decision.changes
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
        "fact": _with_slot(fact, _FACT_FIELDS)
        | {
            "embedding_model": decision.policy.embedding_model,
            "embedding_bytes": commit.vector.tobytes() if commit.vector.size else None,
        }
        if fact
        else None,
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
        # What a revert writes; empty lists for any other decision.
        "reverted_ids": list(undo.decision_ids),
        "reopened": [asdict(link) for link in commit.reopened],
        "restored": [_with_slot(fact, _STANDING_FIELDS) for fact in commit.restored],
        "unlinked": [taken(link, "new_id", "old_id") for link in undo.unlinked],
        "unrested": [asdict(tie) for tie in undo.unrested],
        "rested": [asdict(tie) for tie in undo.rested],
        "compared": [taken(one, "fact_id", "cosine", "rank") for one in decision.compared_with],
    }


def supersessions_of(commit: Commit) -> dict[tuple[str, str], Supersession]:
    """Return the supersessions: the new fact, or one that stays, and the facts that it replaces.

    The keys are the ids of the newer and the older fact.
    """
    decision, verdict = commit.decision, commit.decision.verdict
    links = {(link.new_id, link.old_id): link for link in decision.changes.linked}
    if (fact_id := decision.fact_id) is not None:
        pairs = [(verdict.above, fact_id)] if verdict.above else []
        pairs += [(fact_id, old_id) for old_id in verdict.ended]
        links |= {pair: supersession_of(*pair, commit) for pair in pairs}
    return links


def supersession_of(new_id: str, old_id: str, commit: Commit) -> Supersession:
    """Return the supersession of one fact by another, for the reasons of a decision."""
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


def states_of(commit: Commit) -> Iterator[Row]:
    """Return the new states of older facts; one that was never true ends at its beginning."""
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
) -> Row:
    # Null is a property that is not written.
    told = {"fact_id": fact_id, "state": str(state), "valid_to": valid_to}
    return told | {"is_void": is_void or None}


def _episode_map(told: Evidence) -> Row:
    own = taken(told, "episode_id", "text", "said_at", "source_kind", "source_reference")
    return own | {"session_key": told.kept_in}


def _with_slot(fact: Fact, names: Iterable[str]) -> Row:
    slot = fact.slot
    return taken(fact, *names) | taken(slot, *SLOT_COLUMNS) | {"slot_key": slot and slot.key}


def decision_map(decision: Decision) -> Row:
    """Return the record, and the columns for filters of queries and readers of the graph."""
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


_EMPTIED = (
    "decision_id",
    "text",
    "reason",
    "arbiter_reasoning",
    "inference_key",
    "lapses_at",
    "record",
)
"""The parts of a decision that an erasure changes, and its id."""


def emptied_map(decision: Decision) -> Row:
    """Return what replaces a record that lost words."""
    told = decision_map(decision)
    return {name: told[name] for name in _EMPTIED}


def record_of(decision: Decision) -> str:
    """Return a decision as it is stored: JSON."""
    kept = adapter_of(Decision).dump_json(decision, exclude=_NOT_IN_RECORD, exclude_none=True)
    return kept.decode()


def taken(held: object | None, *names: str) -> Row:
    """Return the values of these names, for a query; null for a missing value."""
    return {name: None if held is None else _as_parameter(getattr(held, name)) for name in names}


def _as_parameter(value: Any) -> Any:
    """Return a value as drivers take it; null for an empty list: one engine needs a type."""
    if isinstance(value, StrEnum):
        return str(value)
    return (list(value) or None) if isinstance(value, tuple) else value


class OpenConflicts:
    """The pairs of facts that are in dispute, looked up by either.

    Args:
        pairs: pairs of ids of two live facts.
        linked_ids: facts with a link of a dispute, also of one that a person settled with "both
            hold".
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], linked_ids: Iterable[str] = ()) -> None:
        self._others: dict[str, set[str]] = {}
        for one, other in pairs:
            self._open(one, other)
        # The facts that may have a link, open or settled; any other fact has none.
        self.linked_ids = frozenset(self._others).union(linked_ids)  # replaced, never changed

    def of(self, fact_id: str) -> Strings:
        """Return the ids of the other sides of a fact's disputes; empty for most facts."""
        return tuple(sorted(self._others.get(fact_id, ())))

    def as_mapping(self) -> dict[str, Strings]:
        """Return the ids of the other sides, by the id of each fact in dispute."""
        return {fact_id: self.of(fact_id) for fact_id, others in self._others.items() if others}

    def copy(self) -> OpenConflicts:
        """Return a copy with the same pairs."""
        pairs = ((one, other) for one in self._others for other in self._others[one])
        return OpenConflicts(pairs, self.linked_ids)

    def apply(self, commit: Commit) -> None:
        """Apply a commit.

        A fact that replaces another takes over its disputes, as in the graph.
        """
        decision, fact = commit.decision, commit.fact
        is_live = fact is not None and not fact.has_ended
        self._link(commit)
        for ended_id in decision.superseded_ids:
            for other in self._others.pop(ended_id, set()):
                self._others[other].discard(ended_id)
                if fact is not None and is_live and other not in decision.superseded_ids:
                    self._open(fact.fact_id, other)
        if fact is not None and is_live:
            for other in decision.conflicting_ids:
                self._open(fact.fact_id, other)
        for one, other in (drawn.pair for drawn in commit.reopened if drawn.is_open):
            self._open(one, other)
        shut = [one.pair for one in commit.reopened if not one.is_open]
        for one, other in (*shut, *combinations(decision.closed_ids, 2)):
            self._others.get(one, set()).discard(other)
            self._others.get(other, set()).discard(one)

    def _link(self, commit: Commit) -> None:
        decision, fact = commit.decision, commit.fact
        drawn = chain(*(one.ids for one in commit.reopened))
        linked_ids = {*drawn, *decision.closed_ids, *decision.conflicting_ids}
        if linked_ids or not self.linked_ids.isdisjoint(decision.superseded_ids):
            self.linked_ids |= linked_ids if fact is None else {*linked_ids, fact.fact_id}

    def _open(self, one: str, other: str) -> None:
        self._others.setdefault(one, set()).add(other)
        self._others.setdefault(other, set()).add(one)


LOGGER_NAME: Final = "reconciler.decisions"
_log = logging.getLogger(LOGGER_NAME)


def log_decision(decision: Decision, commit_ms: float) -> None:
    """Log a decision that was written.

    Args:
        decision: the written decision.
        commit_ms: the milliseconds of the commit, or its share of a batch's.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    timings = decision.timings
    parts = taken(timings, "embed_ms", "compare_ms", "arbitrate_ms") | {"commit_ms": commit_ms}
    told = {
        **taken(decision, "decision_id", "fact_id", "door", "action", "decided_by", "cosine"),
        **taken(decision.scope, "tenant", "agent_id", "contact_id"),
        "session_id": decision.note.session_id,
        "gate_reason": str(decision.gate.reason) if decision.gate else None,
        "arbiter": _outcome(decision.opinion),
        "attempts": timings.attempts,
        **{name: round(value, 3) for name, value in parts.items()},
        "ms": round(sum(parts.values()), 3),
    }
    _log.info(
        "%s by %s%s in %.1f ms, decision %s about %s of %s",
        told["action"],
        told["decided_by"],
        "" if told["cosine"] is None else f" at {told['cosine']:.4f}",
        told["ms"],
        told["decision_id"],
        told["contact_id"],
        told["agent_id"],
        extra=told,
    )


def _outcome(opinion: RecordedOpinion) -> str | None:
    """Return the arbiter's outcome in a word; None if it was not asked."""
    if opinion.arbiter is None:
        return None
    if opinion.error is None:
        return "cached" if opinion.is_cached else "answered"
    if opinion.error.startswith("circuit open"):
        return "circuit_open"
    return "over_budget" if opinion.error.startswith("over the budget") else "not_used"
