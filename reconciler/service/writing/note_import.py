"""Import: many notes from JSON lines through the live door's checks, embedded together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.notes import Note, utc
from reconciler.domain.records.scope import Scope
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.service.json_lines import json_object
from reconciler.service.stores.memory_store import MemoryStore
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.decision_ids import DecisionIds
from reconciler.service.writing.doors import (
    LINE_KEYS,
    SCOPE_KEYS,
    LineFields,
    note_of,
    own_evidence,
)
from reconciler.service.writing.write_gate import Judged, WriteGate

__all__ = ["IMPORT_DOOR", "ImportReport", "LineError", "NoteImport"]

IMPORT_DOOR = "import"
_BATCH_LINES = 256
_PROPOSER = "import"
_TIME_KEYS = ("said_at", "valid_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineError:
    """A line that was refused; the others went on."""

    line_number: int
    message: str


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What became of the lines, in numbers.

    Attributes:
        decisions: how often each action was decided by each rule in this run.
        resumed: lines whose decision an earlier run, or an earlier line, had made.
        errors: the refused lines, in their order.
    """

    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    resumed: int = 0
    errors: list[LineError] = field(default_factory=list)

    def count(self, decision: Decision) -> None:
        """Count one decision."""
        if decision.replayed:
            self.resumed += 1
        else:
            self.decisions[decision.action, decision.decided_by] += 1


@dataclass(slots=True, kw_only=True)
class _Batch:
    lines: int
    errors: list[LineError] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    resumed: int = 0
    judged: list[Judged] = field(default_factory=list)
    vectors: list[NDArray[np.float32] | None] = field(default_factory=list)


class NoteImport:
    """Imports JSON lines, one note each; run again, it takes up where it stopped.

    A line without an idempotency key gets one from its own text and how often that text came
    before, so that a file that was imported, killed in the middle, or has grown since, adds only
    what is new.

    Args:
        gate: what every note goes through, one after the other, in the file's order.
        cleaner: lets ids through, which are kept as they are given.
        embed: makes the vectors of many admitted notes at once.
        digest: a keyed hash of a line, from which nobody can guess what the line said.
        decision_ids: the ids under which decisions are kept.
        store: asked which lines are done.
        attributes: the attributes of slots that are known.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        gate: WriteGate,
        cleaner: Cleaner,
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        digest: Callable[[str], str],
        decision_ids: DecisionIds,
        store: MemoryStore,
        attributes: AttributeBook,
        clock: Callable[[], datetime],
    ) -> None:
        self._gate = gate
        self._cleaner = cleaner
        self._embed = embed
        self._digest = digest
        self._decision_ids = decision_ids
        self._store = store
        self._attributes = attributes
        self._clock = clock

    def run(
        self,
        lines: Iterable[str],
        defaults: Mapping[str, str],
        on_progress: Callable[[int], None],
    ) -> ImportReport:
        """What became of the lines; a refused one is reported by number and the rest goes on.

        Args:
            lines: JSON objects with ``text`` and, where the defaults lack them, the scope.
            defaults: ``tenant``, ``agent_id``, ``contact_id`` of lines that name none.
            on_progress: told how many more lines are dealt with.

        Raises:
            GraphUnavailableError, EmbeddingError: what was written until then stands; run again.
        """
        report = ImportReport()
        for batch in self._prepared(self._batches(lines, defaults)):
            report.errors.extend(batch.errors)
            report.resumed += batch.resumed
            on_progress(batch.lines - len(batch.notes))
            judged = zip(batch.judged, batch.vectors, strict=True)
            for decision in self._gate.settle_many(judged, IMPORT_DOOR):
                report.count(decision)
                on_progress(1)
        return report

    def _prepared(self, batches: Iterator[_Batch]) -> Iterator[_Batch]:
        """Each batch judged and embedded, while the one before it is written."""
        with ThreadPoolExecutor(1, thread_name_prefix="import") as ahead:
            coming: Future[_Batch] | None = None
            for batch in batches:
                previous, coming = coming, ahead.submit(self._prepare, batch)
                if previous is not None:
                    yield previous.result()
            if coming is not None:
                yield coming.result()

    def _prepare(self, batch: _Batch) -> _Batch:
        ids = [self._decision_ids.of(note) for note in batch.notes]
        done = self._store.find_decision_ids(ids)
        batch.notes = [
            note for note, each in zip(batch.notes, ids, strict=True) if each not in done
        ]
        batch.resumed = len(ids) - len(batch.notes)
        batch.judged = [self._gate.judge(own_evidence(note, _PROPOSER)) for note in batch.notes]
        batch.vectors = list(self._vectors(batch.judged))
        return batch

    def _vectors(self, judged: Sequence[Judged]) -> Iterator[NDArray[np.float32] | None]:
        """A vector for each that goes to the reconciler; nothing else is embedded."""
        texts = [each.candidate.claim for each in judged if each.is_reconciled]
        vectors = iter(self._embed(texts))
        for each in judged:
            yield next(vectors) if each.is_reconciled else None

    def _batches(self, lines: Iterable[str], defaults: Mapping[str, str]) -> Iterator[_Batch]:
        seen: Counter[str] = Counter()
        numbered = enumerate(lines, start=1)
        while chunk := list(islice(numbered, _BATCH_LINES)):
            batch = _Batch(lines=len(chunk))
            for number, line in chunk:
                if isinstance(line, str) and not line.strip():
                    continue
                try:
                    batch.notes.append(self._note(line, defaults, seen))
                except InvalidRequestError as error:
                    batch.errors.append(LineError(line_number=number, message=str(error)))
            yield batch

    def _note(self, line: str, defaults: Mapping[str, str], seen: Counter[str]) -> Note:
        said = {name: value for name, value in _line_values(line).items() if value is not None}
        values = {**defaults, **said}
        digest = self._digest(line.strip())
        seen[digest] += 1
        scope = Scope(*(values.get(name, "") for name in SCOPE_KEYS))
        now = self._clock()
        fields = {name: values[name] for name in LineFields.__annotations__ if name in values}
        times = {name: _time(name, fields[name]) for name in _TIME_KEYS if name in fields}
        fields |= times
        if not isinstance(fields.get("single_valued", True), bool):
            raise InvalidNoteError(
                f"single_valued must be true or false, not {fields['single_valued']!r}"
            )
        fields.setdefault("session_id", f"import-{fields.get('said_at', now):%Y-%m-%d}")
        fields.setdefault("idempotency_key", f"line:{digest}:{seen[digest]}")
        if "text" not in values:
            raise InvalidNoteError("text is missing")
        note = note_of(scope, values["text"], fields, self._attributes, now)
        self._cleaner.check_ids(note)
        return note


def _line_values(line: str) -> dict[str, Any]:
    values = json_object(line)
    if unknown := sorted(values.keys() - set(LINE_KEYS)):
        known = ", ".join(LINE_KEYS)
        raise InvalidNoteError(f"unknown keys {unknown!r}; a line may have {known}")
    return values


def _time(name: str, value: object) -> datetime:
    try:
        return utc(name, datetime.fromisoformat(str(value)))
    except ValueError:
        raise InvalidNoteError(f"{name} {value!r} is not an ISO 8601 time") from None
