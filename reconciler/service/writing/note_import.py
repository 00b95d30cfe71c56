"""Import: many notes from JSON lines through the live door's checks, embedded together.

The records of another memory system take the same steps, in the order of time. All of them are read
before the first is judged. So a source that cannot be read to its end leaves nothing behind, and
the records are decided in the order of time, in any order of the source.
"""

from __future__ import annotations

import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from reconciler.domain.gate.cleaning import AS_GIVEN
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import IMPORT_DOOR, Action, Disposal, Progress
from reconciler.domain.records.notes import Note, Scope, utc
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.floats import Embed
from reconciler.frozen import Json, Values, frozen, in_order, present
from reconciler.service.json_lines import fault_of_encoding, json_object
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import batches
from reconciler.service.writing.doors import (
    LINE_KEYS,
    SCOPE_KEYS,
    LineFields,
    as_candidate,
    end_in_words,
    note_of,
)
from reconciler.service.writing.submissions import Submission, fault_between, fault_of_key
from reconciler.service.writing.write_gate import WriteGate, is_compared

_LINES_AT_ONCE = 512
"""The number of lines that are judged together, so that those of one contact can be written
together."""

_NOTES_AT_ONCE = 100
"""The number of notes that are embedded together. With more notes there is less padding, but more
to write at the end while the model is idle."""

_BATCHES_AHEAD = 3
"""The number of batches that are embedded, or wait for it, while an earlier one is written."""

_PROPOSER = "import"
_TIME_KEYS = ("said_at", "valid_from")
_ID_KEYS = AS_GIVEN[Note]
_ENDED_AND_ASKED = "it has ended, and the gate would ask about it first"


@in_order
class LineError:
    """A refused line; the other lines were imported."""

    line_number: int
    message: str


@dataclass(slots=True, kw_only=True)
class LeftOut:
    """The records that were not carried over for one reason: their number, and the first one."""

    count: int
    first: str


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """The outcomes of the lines, in numbers.

    Attributes:
        decisions: the number of decisions of this run, by action and rule.
        resumed: lines with a decision by an earlier run or an earlier line.
        errors: the refused lines, in their order.
        not_carried: the records that never came to the gate, by reason.
    """

    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    resumed: int = 0
    errors: list[LineError] = field(default_factory=list)
    not_carried: dict[str, LeftOut] = field(default_factory=dict)

    @property
    def added(self) -> int:
        """Count the notes that became new facts, including history."""
        return self._count(Action.ADD)

    @property
    def merged(self) -> int:
        """Count the notes that replaced a fact, repeated it, or took it back."""
        return self._count(Action.UPDATE, Action.SKIP, Action.REVOKE)

    @property
    def held(self) -> int:
        """Count the notes that wait for an answer; see ``ContactMemory.pending``."""
        return self._count(Action.HOLD, Action.ADMIT)

    @property
    def refused(self) -> int:
        """Count the notes that the gate refused; ``ContactMemory.refusals`` says why."""
        return self._count(Action.REJECT)

    def _count(self, *actions: Action) -> int:
        return sum(count for (action, _), count in self.decisions.items() if action in actions)

    def leave_out(self, reason: str, record: str, count: int = 1) -> None:
        """Count records that are not carried over; ``record`` is the first of them."""
        self.not_carried.setdefault(reason, LeftOut(count=0, first=record)).count += count

    def count(self, decision: Decision) -> None:
        """Count one decision."""
        if decision.replayed:
            self.resumed += 1
        else:
            self.decisions[decision.action, decision.decided_by] += 1

    def include(self, part: ImportReport) -> None:
        """Add the report of a part of the lines, which are numbered as in the whole."""
        self.decisions += part.decisions
        self.resumed += part.resumed
        self.errors = sorted([*self.errors, *part.errors], key=lambda error: error.line_number)
        for reason, left in part.not_carried.items():
            self.leave_out(reason, left.first, left.count)


@frozen
class NoteImport:
    """Imports JSON lines, one note each; run again, it continues where it stopped.

    A line without an idempotency key gets one that names the occasion. It is made from the line,
    the number of equal lines before it and, if the line has no time, the source. So if a file is
    imported again, after a kill or with more lines, only new lines are added. An undated line that
    is also in another file counts as said again. A line with the key of another note is refused.

    Attributes:
        gate: judges every note, one after the other, in the file's order.
        embed: makes the vectors of many admitted notes at once.
        digest: a keyed hash of a line; the line cannot be guessed from it.
        decision_store: the decisions, which show the finished lines.
        attributes: the known attributes of slots.
        fact_store: says which contacts were merged into which.
    """

    gate: WriteGate
    embed: Embed
    digest: Callable[[str], str]
    decision_store: DecisionStore
    attributes: AttributeBook
    fact_store: FactStore

    def run(
        self,
        lines: Iterable[str],
        defaults: Mapping[str, str],
        on_progress: Progress,
        source: str,
    ) -> ImportReport:
        """Import the lines; a refused line is reported by number, and the others are imported.

        Args:
            lines: JSON objects with ``text`` and, if the defaults lack it, the scope.
            defaults: ``tenant``, ``agent_id`` and ``contact_id`` of lines without them.
            on_progress: called with how many more lines were processed.
            source: the name of their source: the same source again is the same occasion.

        Raises:
            GraphUnavailableError, EmbeddingError: notes written until then are kept; run again.
        """
        report = ImportReport()
        keyed: dict[str, int] = {}
        chunks = self._chunks(lines, defaults, source, keyed, report)
        for submissions in self._embedded(self._judged(chunks, report, on_progress, keyed)):
            kept = [
                one
                for one in map(self._read, submissions)
                if not self._is_left_out(one, report, on_progress)
            ]
            for submission, decision in self.gate.settle_many(kept):
                number = keyed.pop(submission.episode_id, None)
                if number is not None and (fault := fault_of_key(submission, decision)):
                    report.errors.append(LineError(number, fault))
                else:
                    report.count(decision)
                on_progress(1)
        report.errors.sort(key=lambda error: error.line_number)
        return report

    def _embedded(self, judged: Iterator[Sequence[Submission]]) -> Iterator[Sequence[Submission]]:
        """Return each batch with its vectors; the model embeds the next ones at the same time.

        Only the model has a thread of its own. Judging and writing share one, because both hold the
        interpreter: in two threads each would wait for the other at every statement.
        """
        coming: deque[Future[Sequence[Submission]]] = deque()
        with ThreadPoolExecutor(1, thread_name_prefix="import") as ahead:
            for batch in judged:
                coming.append(ahead.submit(self._with_vectors, batch))
                if len(coming) > _BATCHES_AHEAD:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()

    def _with_vectors(self, batch: Sequence[Submission]) -> Sequence[Submission]:
        """Return a batch; each note that is compared, or read as a whole, has its vector."""
        wanted = [is_compared(one) or self.gate.reader.is_read(one) for one in batch]
        vectors = iter(
            self.embed(
                [one.note.text for one, is_wanted in zip(batch, wanted, strict=True) if is_wanted]
            )
        )
        return [
            replace(one, vector=next(vectors)) if is_wanted else one
            for one, is_wanted in zip(batch, wanted, strict=True)
        ]

    def _read(self, submission: Submission) -> Submission:
        """Return a note, judged as a whole; with its vector if it is compared."""
        read = self.gate.reread(submission)
        return read if is_compared(read) else replace(read, vector=None)

    def _judged(
        self,
        chunks: Iterator[tuple[int, list[Candidate]]],
        report: ImportReport,
        on_progress: Progress,
        keyed: dict[str, int],
    ) -> Iterator[Sequence[Submission]]:
        """Return the gate's assessments of the notes; each contact's are together, in order."""
        for line_count, candidates in chunks:
            new = self._new(candidates, report, keyed)
            on_progress(line_count - len(new))
            by_contact = sorted(new, key=lambda one: one.note.scope.contact_key)
            for some in batches(by_contact, _NOTES_AT_ONCE):
                yield [self.gate.judge(candidate, IMPORT_DOOR) for candidate in some]

    def _is_left_out(self, judged: Submission, report: ImportReport, on_progress: Progress) -> bool:
        """True if a past note needs a question, and so is left out: a yes would make it live."""
        if (
            judged.ended_at is None
            or judged.is_reconciled
            or judged.assessment.disposal is Disposal.REJECT
        ):
            return False
        which = judged.note.source_reference or f"a note about {judged.scope.contact_id}"
        report.leave_out(_ENDED_AND_ASKED, which)
        on_progress(1)
        return True

    def _new(
        self, candidates: Sequence[Candidate], report: ImportReport, keyed: dict[str, int]
    ) -> list[Candidate]:
        """Return the notes without a decision by an earlier run or line."""
        given = [(self.gate.decision_ids.of(one.note), one) for one in candidates]
        done = self.decision_store.find_decided(its_id for its_id, _ in given)
        again = [
            (its_id, one, keyed.pop(one.evidence[0].episode_id, None))
            for its_id, one in given
            if its_id in done
        ]
        kept = self.decision_store.find_records(
            its_id for its_id, _, number in again if number is not None
        )
        for its_id, candidate, number in again:
            if number is not None and (fault := self._fault(candidate, kept.get(its_id))):
                report.errors.append(LineError(number, fault))
            else:
                report.resumed += 1
        return [one for its_id, one in given if its_id not in done]

    def _fault(self, candidate: Candidate, made: Decision | None) -> str | None:
        """Say why a line's key is another note's; None if that note's record cannot be read."""
        if made is None:
            return None
        return fault_between(self.gate.cleaner.clean(candidate).candidate, made)

    def _chunks(
        self,
        lines: Iterable[str],
        defaults: Mapping[str, str],
        source: str,
        keyed: dict[str, int],
        report: ImportReport,
    ) -> Iterator[tuple[int, list[Candidate]]]:
        """Return lines in batches: how many there are, and the candidates among them.

        ``keyed`` takes the number of each line that came with a key, by the id of its evidence.
        """
        seen = Counter[str]()
        for chunk in batches(enumerate(lines, start=1), _LINES_AT_ONCE):
            candidates: list[Candidate] = []
            given: list[tuple[int, str, Json, Scope]] = []
            for number, line in chunk:
                if isinstance(line, str) and not line.strip():
                    continue
                with _refused(number, report):
                    values = _given(line, defaults)
                    given.append((number, line, values, _scope(values)))
            states = self.fact_store.begin_states(scope for *_, scope in given)()
            for number, line, values, scope in given:
                with _refused(number, report):
                    if (state := states.get(scope)) and state.absorbed_into:
                        scope = replace(scope, contact_id=state.absorbed_into)
                    candidate, is_keyed = self._candidate(line, values, scope, seen, source)
                    candidates.append(candidate)
                    if is_keyed:
                        keyed[candidate.evidence[0].episode_id] = number
            yield len(chunk), candidates

    def _candidate(
        self, line: str, values: Json, scope: Scope, seen: Counter[str], source: str
    ) -> tuple[Candidate, bool]:
        """Return the candidate of a line, and whether the line has a key of its own."""
        is_dated = not values.keys().isdisjoint(_TIME_KEYS)
        digest = self.digest(line.strip() if is_dated else f"{source}\0{line.strip()}")
        seen[digest] += 1
        now = self.gate.clock()
        fields = {name: values[name] for name in LineFields.__annotations__ if name in values}
        fields |= {name: _time(name, fields[name]) for name in _TIME_KEYS if name in fields}
        self.gate.cleaner.check_ids(
            scope, **{name: fields[name] for name in _ID_KEYS & fields.keys()}
        )
        if not isinstance(fields.get("single_valued", True), bool):
            raise InvalidNoteError(
                f"single_valued must be true or false, not {fields['single_valued']!r}"
            )
        fields.setdefault("session_id", f"import-{fields.get('said_at', now):%Y-%m-%d}")
        fields.setdefault("idempotency_key", f"line:{digest}:{seen[digest]}")
        if "text" not in values:
            raise InvalidNoteError("text is missing; write the fact there, in one sentence")
        if "said_at" in fields:  # its own day, by which words such as "until Friday" are read
            fields["said_at"] = datetime.fromisoformat(str(values["said_at"]))
        note = note_of(scope, values["text"], fields, self.attributes, now)
        made, end = as_candidate(note, _PROPOSER), _end(values.get("valid_to"), note)
        if end is None:
            end = end_in_words(made, fields.get("said_at"))
        if end and end > note.holds_from:
            has_ended = end <= now
            made = replace(made, ended_at=end) if has_ended else replace(made, holds_until=end)
        return made, "idempotency_key" in values


@contextmanager
def _refused(number: int, report: ImportReport) -> Iterator[None]:
    """Report the line if it cannot be imported."""
    try:
        yield
    except InvalidRequestError as error:
        report.errors.append(LineError(number, str(error)))


def source_of(lines: Iterable[str], named: str | None) -> str:
    """Return the name of a source of lines: the given name, else the file, else a random one.

    Raises:
        InvalidRequestError: the given name is empty.
    """
    if named is not None:
        if not isinstance(named, str) or not named.strip():
            raise InvalidRequestError(
                f"source {named!r} is blank; give the file's path, or leave it out"
            )
        return named
    file = getattr(lines, "name", None)
    is_file = isinstance(file, str) and Path(file).is_file()  # standard input has a name as well
    return str(Path(str(file)).resolve()) if is_file else str(uuid.uuid4())


def place_of(line: str, defaults: Mapping[str, str]) -> tuple[str, datetime | None]:
    """Return the place of a line among others: its contact's key, and its time, if any.

    Raises:
        InvalidRequestError: the line cannot be imported. Not all possible errors are checked here.
    """
    values = _given(line, defaults)
    return _scope(values).contact_key, next(
        (_time(name, values[name]) for name in reversed(_TIME_KEYS) if name in values), None
    )


def _given(line: str, defaults: Mapping[str, str]) -> Json:
    return {**defaults, **present(_line_values(line))}


def _scope(values: Values) -> Scope:
    return Scope(*(values.get(name, "") for name in SCOPE_KEYS))


def _line_values(line: str) -> Json:
    values = json_object(line)
    if fault := fault_of_encoding(line):
        raise InvalidNoteError(fault)
    if unknown := sorted(values.keys() - set(LINE_KEYS)):
        known = ", ".join(LINE_KEYS)
        raise InvalidNoteError(f"unknown keys {unknown!r}; the keys of a line are {known}")
    return values


def _end(value: object, note: Note) -> datetime | None:
    """Return the given end, past or future; None without one.

    Raises:
        InvalidNoteError: the end is not after the beginning.
    """
    if value is None:
        return None
    end = _time("valid_to", value)
    if end <= note.holds_from:
        raise InvalidNoteError(
            f"valid_to {end.isoformat()} is not after {note.holds_from.isoformat()}, when the "
            "fact began; correct one of them"
        )
    return end


def _time(name: str, value: object) -> datetime:
    try:
        return utc(name, datetime.fromisoformat(str(value)))
    except ValueError:
        raise InvalidNoteError(
            f"{name} {value!r} is not an ISO 8601 time, such as 2026-01-31T09:00:00Z"
        ) from None
