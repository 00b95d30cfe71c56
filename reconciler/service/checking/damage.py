"""Damage: finds a contact's records that cannot be read, and the rest of each without its words.

The reader of its store checks each record. The remains of a damaged one can be read: its id, and
the possible numbers and times. An export writes the remains in its place, and an erasure leaves
them behind. Never here: a query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
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
    Progress,
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
_RECORDS_A_PAGE = 10_000
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


_Damaged = list[tuple[str, DamagedNode]]
"""Damaged records, each with its contact's key."""


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

    def read(self, scope: Scope, labels: Iterable[str], on_progress: Progress) -> ReadRecords:
        """Return the records of a contact of these labels, each read once.

        Args:
            scope: the contact.
            labels: the labels to read.
            on_progress: called with how many more records were read.
        """
        found = ReadRecords()
        by_key = {scope.contact_key: scope}
        for label, whole, damaged, count in self._pages(by_key, labels, _RECORDS_A_PAGE):
            if label in found.whole:
                found.whole[label].extend(whole)
            found.damaged.extend(node for _, node in damaged)
            on_progress(count)
        return found

    def damaged_among(
        self, scopes: Iterable[Scope], labels: Iterable[str], page_size: int
    ) -> Iterator[str]:
        """Find the contact's key of each damaged record of these contacts and labels."""
        by_key = {scope.contact_key: scope for scope in scopes}
        for _, _, damaged, _ in self._pages(by_key, labels, page_size):
            yield from (contact_key for contact_key, _ in damaged)

    def _pages(
        self, by_key: Mapping[str, Scope], labels: Iterable[str], page_size: int
    ) -> Iterator[tuple[str, Sequence[Any], _Damaged, int]]:
        """Read the records of several contacts, page after page.

        Yields:
            The label; the readable records, if the label is read in columns; the damaged ones; and
            the number of both.
        """
        for label in labels:
            if label in IN_COLUMNS:
                for columns in self.archive_store.column_pages([*by_key], label, page_size):
                    yield label, *self._page(label, columns, by_key), len(columns["node_id"])
                continue
            for rows in self.archive_store.node_rows([*by_key], label, page_size):
                damaged = [
                    (row["contact_key"], DamagedNode(label, row["node_id"], row["node"]))
                    for row in rows
                    if self.is_damaged(label, row["node"], by_key[row["contact_key"]])
                ]
                yield label, (), damaged, len(rows)

    def _page(
        self, label: str, columns: Row, by_key: Mapping[str, Scope]
    ) -> tuple[Sequence[Any], _Damaged]:
        """Read the records of these rows. Single rows are checked only if necessary.

        The columns are checked whole, which takes a third of the time.
        """
        is_checked = True
        try:
            self.types.check_columns(label, columns)
            if label == "Fact":
                return facts_in(columns), []
        except UNREADABLE:
            is_checked = False
        records: list[Any] = []
        damaged: _Damaged = []
        for row in rows_in(columns):
            key = row["contact_key"]
            record = self._read(label, row, by_key[key], is_checked=is_checked)
            if record is None:
                node = DamagedNode(label, row["node_id"], self.types.known(label, row))
                damaged.append((key, node))
            else:
                records.append(record)
        return records, damaged

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
        for node in damaged:
            left = self.remains(node, scope, at)
            self.archive_store.put_remains(node.label, {node.node_id: left})

    def remains(self, node: DamagedNode, scope: Scope, at: datetime) -> Row:
        """Return the readable rest of a damaged record, without any words.

        Args:
            node: the record.
            scope: the contact.
            at: the time that replaces an impossible one (UTC).
        """
        left = self.types.known(node.label, scope.columns)
        for name, usual in _REMAINS[node.label].items():
            # An id is kept, because other records name it.
            named = node.held.get(name) if usual == _UNREADABLE else None
            left[name] = at if usual is None else str(named) if named else usual
        if node.label == "Episode" and any(node.held.get(name) is not None for name in _OF_A_TURN):
            left |= _OF_A_TURN
        if node.label == "Decision":
            left |= self._decided(node.node_id, left, scope)
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
        usual: Row = {}
        if kind in ("SUPERSEDES", "CONFLICTS_WITH"):
            usual = {"decided_by": str(DecidedBy.ORDER), "reason": ERASED, "at": at}
        try:
            sound = usual | self.types.read(kind, self.types.known(kind, held))
        except InvalidArchiveError:
            sound = usual
        if kind == "COMPARED_WITH":
            return sound if sound.keys() >= {"cosine", "rank"} else None
        return sound if "span" not in sound or is_citation(sound["span"]) else {}

    def _decided(self, decision_id: str, left: Row, scope: Scope) -> Row:
        """Return the action, and the record that says so, which must have written a fact."""
        links = self.archive_store.list_links(
            scope.contact_key, "WROTE", decision_id[:-1], decision_id
        )
        fact_id = next((end for start, end, _ in links if start == decision_id), None)
        action = Action.ADD if fact_id else Action.SKIP
        decision = Decision(
            decision_id=decision_id,
            note=Note(
                scope=scope,
                text=ERASED,
                said_at=left["at"],
                source_kind=SourceKind.MODEL_GUESS,
                is_cleaned=True,
            ),
            verdict=Verdict(action=action, decided_by=DecidedBy.GATE, reason=ERASED),
            fact_id=fact_id,
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
        return {"action": str(action), "fact_id": fact_id, "record": record_of(decision)}


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


_UNREADABLE = "unreadable"
_GUESS = str(SourceKind.MODEL_GUESS)
_OF_A_TURN: Row = {"position": 0, "role": "system"}
"""Speaker and place, which a turn has and no other episode."""


def _rest(times: str, named: str = "", erased: str = "", **values: Any) -> Row:
    return {
        **dict.fromkeys(times.split()),
        **dict.fromkeys(named.split(), _UNREADABLE),
        **dict.fromkeys(erased.split(), ERASED),
        **values,
    }


_REMAINS: Mapping[str, Row] = {
    "Task": _rest(
        "started_at changed_at", named="task_id session_id", erased="name goal", state="failure"
    ),
    "Session": _rest("started_at ended_at", named="session_id channel") | _UNCOUNTED,
    "Episode": _rest("said_at", erased="text", source_kind=_GUESS, is_cleaned=True),
    "Job": _UNCOUNTED
    | _rest(
        "submitted_at due_at finished_at",
        named="session_id",
        attempts=0,
        state=str(JobState.DONE),
    ),
    "Fact": _rest(
        "recorded_at valid_from valid_to last_confirmed_at",
        erased="text",
        trust=_GUESS,
        observations=1,
        category=str(Category.FACT),
        recall_count=0,
        importance=0.5,
        confidence=0.0,
        state=str(FactState.ERASED),
        sensitivity=str(Sensitivity.NONE),
        recall_semantics=str(RecallSemantics.DEFAULT),
        is_void=False,
        is_contested=False,
        is_redacted=False,
        yields_to_live_intent=False,
        is_confirmed_by_user=False,
    ),
    "Decision": _rest(
        "at lapses_at",
        named="door episode_id",
        erased="text reason",
        decided_by=str(DecidedBy.GATE),
        trust=_GUESS,
    ),
    "Erasure": _rest(
        "started_at finished_at",
        named="by",
        erased="reason",
        target_kind=str(ErasureKind.CONTACT),
        target="{}",
        state=str(ErasureState.DONE),
    ),
    "Tombstone": _rest("at"),
}
"""The rest of a damaged record by property; None for the time of the emptying. No said word."""
