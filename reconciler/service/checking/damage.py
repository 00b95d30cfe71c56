"""Damage: finds a contact's records that cannot be read, and the rest of each without its words.

The reader of its store checks each record. The remains of a damaged one can be read: its id, and
the possible numbers and times. An export writes the remains in its place, and an erasure leaves
them behind. Never here: a query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.decisions import NO_MODEL, Decision, RecordedPolicy, Verdict
from reconciler.domain.records.erasures import ERASED, ErasureKind, ErasureState
from reconciler.domain.records.kinds import (
    SPANS_JOINED,
    Action,
    DecidedBy,
    FactState,
    JobState,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import CLEANED_GROWTH_MAX, Note, Scope, check_text
from reconciler.errors import InvalidArchiveError, InvalidNoteError
from reconciler.frozen import in_order
from reconciler.ports.graph import Row
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.service.checking.lines import KEY_OF, PropertyTypes, shipped_types
from reconciler.service.stores.commits import record_of
from reconciler.service.stores.contact_store import IN_COLUMNS, ArchiveStore
from reconciler.service.stores.erasure_store import ERASURES
from reconciler.service.stores.rows import (
    DECISIONS,
    EVIDENCE,
    FACTS,
    UNREADABLE,
    rows_in,
)
from reconciler.service.stores.session_store import EPISODES, JOBS, PROPOSALS, SESSIONS, TASKS
from reconciler.service.stores.stored_facts import facts_in

_UNCOUNTED = dict.fromkeys(("added", "superseding", "known", "held", "refused", "left_out"), 0)
_RECORDS_A_PAGE = 2_000
_ReadPage = tuple[Sequence[Any], Sequence[str]]
"""The readable records, and the contact's key of each unreadable one."""

_SPAN_LENGTH_MAX = EVIDENCE_LENGTH_MAX * CLEANED_GROWTH_MAX


@in_order
class DamagedNode:
    """A node that cannot be read: its label, its id and all its properties."""

    label: str
    node_id: str
    held: Row

    @property
    def words(self) -> Iterator[str]:
        """Return all texts of the node."""
        for value in self.held.values():
            yield from (str(item) for item in (value if isinstance(value, list) else [value]))


@in_order
class ReadRecords:
    """The readable facts and decisions, and the unreadable records of any label."""

    whole: dict[str, list[Any]] = field(default_factory=lambda: {"Fact": [], "Decision": []})
    damaged: list[DamagedNode] = field(default_factory=list)


@dataclass(frozen=True)
class Damage:
    """Finds damaged records, and replaces them by what is left of them.

    Args:
        archive_store: contacts with all that belongs to them.
        types: the type of each property.
    """

    archive_store: ArchiveStore
    types: PropertyTypes = field(default_factory=shipped_types)

    def read(
        self, scope: Scope, labels: Iterable[str], on_progress: Callable[[int], None]
    ) -> ReadRecords:
        """Return the records of a contact of these labels, each read once.

        Args:
            scope: the contact.
            labels: the labels to read.
            on_progress: called with how many more records were read.
        """
        found = ReadRecords()
        for label in labels:
            whole = self._whole(scope, label, on_progress) if label in IN_COLUMNS else None
            if whole is not None:
                if label in found.whole:
                    found.whole[label] = whole
                continue
            pages = self.archive_store.node_pages(
                scope.contact_key, label, with_vectors=False, size=_RECORDS_A_PAGE
            )
            for page in pages:
                for node_id, held in page:
                    record = self._read(label, held, scope)
                    if record is None:
                        found.damaged.append(DamagedNode(label, node_id, held))
                    elif label in found.whole:
                        found.whole[label].append(record)
                on_progress(len(page))
        return found

    def _whole(
        self, scope: Scope, label: str, on_progress: Callable[[int], None]
    ) -> list[Any] | None:
        """Return all records of a label, read in columns; None if one is damaged."""
        records: list[Any] = []
        for readable, damaged_keys in self._pages(
            {scope.contact_key: scope}, label, _RECORDS_A_PAGE
        ):
            if damaged_keys:
                return None
            records += readable
            on_progress(len(readable))
        return records

    def damaged_among(
        self, scopes: Iterable[Scope], labels: Iterable[str], page_size: int
    ) -> Iterator[str]:
        """Find the contact's key of each damaged record of these contacts and labels."""
        by_key = {scope.contact_key: scope for scope in scopes}
        for label in labels:
            if label in IN_COLUMNS:
                for _, damaged_keys in self._pages(by_key, label, page_size):
                    yield from damaged_keys
                continue
            for row in chain.from_iterable(
                self.archive_store.node_rows([*by_key], label, page_size)
            ):
                if self.is_damaged(label, row["node"], by_key[row["contact_key"]]):
                    yield row["contact_key"]

    def _pages(
        self, by_key: Mapping[str, Scope], label: str, page_size: int
    ) -> Iterator[_ReadPage]:
        """Read all records of a label in ``IN_COLUMNS`` of several contacts, page after page."""
        for columns in self.archive_store.column_pages([*by_key], label, page_size):
            yield self._page(label, columns, by_key)

    def _page(self, label: str, columns: Row, by_key: Mapping[str, Scope]) -> _ReadPage:
        """Read the records of these rows. Single rows are checked only if necessary.

        The columns are checked whole, which takes a third of the time.
        """
        is_checked = True
        try:
            self.types.check_columns(label, columns)
            if label == "Fact":
                return facts_in(columns), ()
        except UNREADABLE:
            is_checked = False
        rows = [*rows_in(columns)]
        records = [
            self._read(label, row, by_key[row["contact_key"]], is_checked=is_checked)
            for row in rows
        ]
        damaged = (row for row, record in zip(rows, records, strict=True) if record is None)
        keys = [row["contact_key"] for row in damaged]
        return [record for record in records if record is not None], keys

    def is_damaged(self, label: str, held: Row, scope: Scope) -> bool:
        """True if a node cannot be read, in its store or on a line of an export."""
        return self._read(label, held, scope) is None

    def _read(self, label: str, held: Row, scope: Scope, *, is_checked: bool = False) -> Any:
        """Read a node's record; None if it cannot be read. Checked types are not checked again."""
        try:
            read = held if is_checked else self.types.read(label, self.types.known(label, held))
            return read_node(label, read, scope)
        except UNREADABLE:
            return None

    def empty(self, scope: Scope, damaged: Iterable[DamagedNode], at: datetime) -> None:
        """Remove from these records all words and all unreadable parts."""
        by_label: dict[str, dict[str, Row]] = {}
        for node in damaged:
            left = self.remains(node, scope, at)
            by_label.setdefault(node.label, {})[node.node_id] = left
        for label, nodes in by_label.items():
            self.archive_store.put_remains(label, nodes)

    def remains(self, node: DamagedNode, scope: Scope, at: datetime) -> Row:
        """Return the readable rest of a damaged record, without any words.

        Args:
            node: the record.
            scope: the contact.
            at: the time that replaces an impossible one (UTC).
        """
        kept = self._sound(node.label, node.held)
        left = _REMAINS[node.label].of(kept, at) | self.types.known(node.label, scope.columns)
        if node.label == "Episode":
            left |= _place_of(kept)
        if node.label == "Decision":
            left |= {"lapses_at": at} | self._decided(node.node_id, kept, left, scope)
        return left

    def read_remains(self, node: DamagedNode, scope: Scope, at: datetime) -> Any:
        """Return the rest of a damaged record, as its store will read it; else like ``remains``."""
        left = self.remains(node, scope, at) | {KEY_OF[node.label]: node.node_id}
        return read_node(node.label, left, scope)

    def link_left(self, kind: str, held: Row, at: datetime) -> Row | None:
        """Return the readable part of a link, as an export has it; None if no part is readable.

        Args:
            kind: the link's type.
            held: the link's properties.
            at: the time that replaces an impossible one (UTC).
        """
        sound = self._sound(kind, held)
        if kind in ("SUPERSEDES", "CONFLICTS_WITH"):
            return {"decided_by": str(DecidedBy.ORDER), "reason": ERASED, "at": at} | sound
        if kind == "COMPARED_WITH":
            return sound if sound.keys() >= {"cosine", "rank"} else None
        if "span" in sound and not is_citation(sound["span"]):
            return {}
        return sound

    def _sound(self, label: str, held: Row) -> Row:
        """Return the properties that have their right type."""
        sound: Row = {}
        for name, value in self.types.known(label, held).items():
            with suppress(InvalidArchiveError):
                sound |= self.types.read(label, {name: value})
        return sound

    def _decided(self, decision_id: str, kept: Row, left: Row, scope: Scope) -> Row:
        """Return the action, and the record that says so, which must have written a fact."""
        wrote = {Action.ADD, Action.UPDATE}
        links = self.archive_store.list_links(
            scope.contact_key, "WROTE", decision_id[:-1], decision_id
        )
        fact_id = next((end for start, end, _ in links if start == decision_id), None)
        action = Action(kept.get("action", Action.SKIP))
        if (action in wrote) != (fact_id is not None):
            action = Action.ADD if fact_id else Action.SKIP
        decided = {"action": str(action), "fact_id": fact_id or kept.get("fact_id")}
        return decided | {"record": _record(decision_id, left | decided, scope)}


def read_node(label: str, held: Row, scope: Scope) -> Any:
    """Read a node's record, as its store reads it; of a contact its version, never None.

    Raises:
        Exception: any of ``UNREADABLE``, if the node cannot be read; its text may quote the node.
    """
    # An export and a store leave out what a node does not have.
    row = shipped_types().without_values(label) | _USUAL.get(label, {})
    return _READERS[label](row | held | {"scope": scope})


def is_citation(span: str) -> bool:
    """True if the cited words of a link can be read."""
    try:
        for part in span.split(SPANS_JOINED):
            check_text("a span", part, _SPAN_LENGTH_MAX)
    except InvalidNoteError:
        return False
    return True


def _read_episode(row: Row) -> Any:
    named = row | {"session_id": "-"}
    return EVIDENCE.make(named | {"span": None}) if row["role"] is None else EPISODES.make(named)


def _read_job(row: Row) -> Any:
    if row["proposals"] is not None:
        PROPOSALS.make(row)
    return JOBS.make(row)


def _read_decision(row: Row) -> Any:
    if row["record"] is None:
        raise ValueError("it has no record")
    return DECISIONS.make(row)


_USUAL: Mapping[str, Row] = {
    "Session": _UNCOUNTED,
    "Episode": {"is_cleaned": False},
    "Job": _UNCOUNTED,
}
_READERS: Mapping[str, Callable[[Row], Any]] = {
    "Contact": lambda row: row["version"],
    "Task": TASKS.make,
    "Session": SESSIONS.make,
    "Episode": _read_episode,
    "Job": _read_job,
    "Fact": FACTS.make,
    "Decision": _read_decision,
    "Erasure": lambda row: ERASURES.make(
        row | {"contact_id": row["scope"].contact_id, "asked_by": row["by"]}
    ),
    "Tombstone": lambda row: row["tombstone_key"],
}


@in_order
class _Remains:
    """The rest of a damaged record: no said word, and the ids of its contact.

    Attributes:
        times: these properties are kept if they can be read; else they get the time of the
            emptying.
        kept: these properties are kept if they can be read; else they get the value here.
        put: these values replace any earlier ones.
        erased: texts, marked as erased.
    """

    times: str
    kept: Row = field(default_factory=dict)
    put: Row = field(default_factory=dict)
    erased: str = ""

    def of(self, held: Row, at: datetime) -> Row:
        """Return what is left, from the readable properties."""
        return {
            **{name: held.get(name) or at for name in self.times.split()},
            **{name: held.get(name, usual) for name, usual in self.kept.items()},
            **self.put,
            **dict.fromkeys(self.erased.split(), ERASED),
        }


_UNREADABLE = "unreadable"
_GUESS = str(SourceKind.MODEL_GUESS)
_REMAINS: Mapping[str, _Remains] = {
    "Task": _Remains(
        times="started_at changed_at",
        kept=dict.fromkeys(("task_id", "session_id"), _UNREADABLE),
        put={"state": "failure"},
        erased="name goal",
    ),
    "Session": _Remains(
        times="started_at ended_at",
        kept=_UNCOUNTED | dict.fromkeys(("session_id", "channel"), _UNREADABLE),
    ),
    "Episode": _Remains(
        times="said_at",
        kept={"source_kind": _GUESS},
        put={"is_cleaned": True},
        erased="text",
    ),
    "Job": _Remains(
        times="submitted_at due_at finished_at",
        kept=_UNCOUNTED | {"session_id": _UNREADABLE, "attempts": 0},
        put={"state": str(JobState.DONE)},
    ),
    "Fact": _Remains(
        times="recorded_at valid_from valid_to last_confirmed_at",
        kept={
            "trust": _GUESS,
            "observations": 1,
            "category": str(Category.FACT),
            "recall_count": 0,
        },
        put={
            "importance": 0.5,
            "confidence": 0.0,
            "state": str(FactState.ERASED),
            "sensitivity": str(Sensitivity.NONE),
            "recall_semantics": str(RecallSemantics.DEFAULT),
            **dict.fromkeys(("is_void", "is_contested", "is_redacted"), False),
            **dict.fromkeys(("yields_to_live_intent", "is_confirmed_by_user"), False),
        },
        erased="text",
    ),
    "Decision": _Remains(
        times="at",
        kept={
            "decided_by": str(DecidedBy.GATE),
            "trust": _GUESS,
            **dict.fromkeys(("door", "episode_id"), _UNREADABLE),
        },
        erased="text reason",
    ),
    "Erasure": _Remains(
        times="started_at finished_at",
        kept={"by": _UNREADABLE},
        put={
            "target_kind": str(ErasureKind.CONTACT),
            "target": "{}",
            "state": str(ErasureState.DONE),
        },
        erased="reason",
    ),
    "Tombstone": _Remains(times="at"),
}


def _place_of(episode: Row) -> Row:
    """Return speaker and place, which a turn has and no other episode."""
    usual = {"position": 0, "role": "system"}
    is_turn = not usual.keys().isdisjoint(episode)
    return {name: episode.get(name, value) for name, value in usual.items()} if is_turn else {}


def _record(decision_id: str, left: Row, scope: Scope) -> str:
    """Return a record of the rest of a decision."""
    decision = Decision(
        decision_id=decision_id,
        note=Note(
            scope=scope,
            text=ERASED,
            said_at=left["at"],
            source_kind=SourceKind(left["trust"]),
            is_cleaned=True,
        ),
        verdict=Verdict(
            action=Action(left["action"]),
            decided_by=DecidedBy(left["decided_by"]),
            reason=ERASED,
        ),
        fact_id=left["fact_id"],
        door=left["door"],
        at=left["at"],
        episode_id=left["episode_id"],
        policy=RecordedPolicy(
            profile=_UNREADABLE,
            cosine_update_min=1.0,
            cosine_add_max=1.0,
            cosine_cut=1.0,
            guard=False,
            embedding_model=NO_MODEL,
        ),
    )
    return record_of(decision)
