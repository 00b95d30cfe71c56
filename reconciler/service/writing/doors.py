"""The live door: takes notes one at a time. Checks the input, decides nothing.

``NoteFields`` is the only list of a note's fields. Its bases group them by caller: an agent's tool,
a line of an import, a builder's call. ``LiveDoor`` is for the builder of an agent; the calls of the
agent itself are in ``service/tools``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import HANDLE_SIGN, Fact, Relations, by_fact_id, named_by
from reconciler.domain.records.kinds import (
    LIVE_DOOR,
    AnyCategory,
    AnySourceKind,
    Clock,
    Disposal,
)
from reconciler.domain.records.notes import Note, Scope, not_in_the_future, utc
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.frozen import Values, frozen
from reconciler.service.writing.submissions import Submission, own_episode_of
from reconciler.tracing import span

if TYPE_CHECKING:
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.service.stores.fact_store import FactStore
    from reconciler.service.writing.write_gate import WriteGate


class SlotFields(TypedDict, total=False):
    """A note's attribute, value and subject.

    Attributes:
        subject: whom or what it is about, for example ``wife``; None for the contact.
        attribute: the attribute, for example ``city``. The known ones are those of
            ``config/attributes.toml``; any other works by its name. None if unknown.
        value: its value, for example ``Pune``. None supersedes nothing.
        single_valued: whether the attribute holds one value at a time, so that another value
            supersedes; None for what the file says. Where that says nothing, another value ends
            nothing, and is linked or judged.
    """

    subject: str | None
    attribute: str | None
    value: str | float | None
    single_valued: bool | None


class AgentFields(SlotFields, total=False):
    """The fields that an agent may give with its note.

    Attributes:
        source_kind: the kind of source, one of ``SourceKind``; give the least trusted that is true.
            A tool's output waits for a person's yes, a model's guess is never written.
        source_reference: where its source can be looked up, for example a call or a ticket.
        importance: how much it matters in the long run, 0 to 1; None for the gate's judgement.
        valid_from: from when it is true, time-zone aware; None for when it was said. An older note
            supersedes nothing newer. A day to come: until then what it replaces stays the value.
    """

    source_kind: AnySourceKind
    source_reference: str | None
    importance: float | None
    valid_from: datetime | None


class LineFields(AgentFields, total=False):
    """The fields that a line of an import may give with its note.

    Attributes:
        contact_name: the contact's name.
        said_at: when it was said, time-zone aware; None for now.
        category: preference, fact, decision, procedure, summary, outcome or volatile; None to read
            it from the text.
        topic: a broad field of life, for example ``work``.
        lifetime_days: after how many days from when it was said it may have changed, 1 to 3,650;
            None for the policy's number.
        tags: words to find it by.
        artefact: a reference to a document or a row that it points to; never fetched.
        session_id: the session that the evidence belongs to; None for one per UTC day.
        idempotency_key: calls with the same key make one decision; the later ones return it. With
            another text, slot, source or valid_from the key is refused.
    """

    contact_name: str | None
    said_at: datetime | None
    category: AnyCategory | None
    topic: str | None
    lifetime_days: int | None
    tags: Sequence[str]
    artefact: str | None
    session_id: str | None
    idempotency_key: str | None


SCOPE_KEYS = ("tenant", "agent_id", "contact_id")
LINE_KEYS = (*SCOPE_KEYS, "text", *LineFields.__annotations__, "valid_to")
"""The keys of a line of an import; ``valid_to`` is the end of a note, past or future."""


class EffectFields(TypedDict, total=False):
    """A note's effect on known facts, and its own end.

    Facts are named by their ids, or by their handles, such as ``#a2ck``.

    Attributes:
        replaces: facts that it replaces, by id or handle.
        repeats: the fact that says the same, by id or handle.
        ends: facts that are over and that it does not replace, by id or handle.
        ended: whether the value given has ended, or never held. Then the note ends the fact that
            holds that value, or is kept as a note without a value; it never says the value again.
        valid_to: until when it is true, time-zone aware, without that instant: for a whole day give
            the midnight after it. None for no known end. From then on it is no longer recalled,
            whatever its lifetime. If that time has passed already, the note is kept as history. In
            a note that only ends facts, when those end.
    """

    replaces: Sequence[str]
    repeats: str | None
    ends: Sequence[str]
    ended: bool
    valid_to: datetime | None


class NoteFields(LineFields, EffectFields, total=False):
    """Everything that may come with a note's text; what is left out has the default of ``Note``.

    Attributes:
        proposed_by: who proposes it, and so may not confirm it; None for the agent.
    """

    proposed_by: str | None


@frozen
class LiveDoor:
    """Makes candidates of notes that are given one at a time, and hands them to the gate.

    Attributes:
        gate: judges every note.
        attributes: the known attributes of slots.
        fact_store: the facts that a note may name.
        clock: the time now, the date of every undated note, UTC-aware.
    """

    gate: WriteGate
    attributes: AttributeBook
    fact_store: FactStore
    clock: Clock

    @span("upsert_memory")
    def add(self, scope: Scope, text: str, **fields: Unpack[NoteFields]) -> Decision:
        """Add a note and return the decision; see ``Memory.add_contact_note``.

        Args:
            scope: the contact's.
            text: one fact.
            **fields: the fields of the note.

        Raises:
            TypeError: there is no such field.
            As ``Memory.add_contact_note``.
        """
        proposed_by = fields.get("proposed_by")
        proposer = f"agent:{scope.agent_id}" if proposed_by is None else proposed_by
        beside = {"proposed_by", *EffectFields.__annotations__}
        about = {name: value for name, value in fields.items() if name not in beside}
        note = note_of(scope, text, about, self.attributes, self.clock())
        candidate = as_candidate(note, proposer)
        try:
            candidate = self.with_effects(candidate, fields)
        except InvalidRequestError:
            # Perhaps it made sense when this call was first made: a day may have passed since, and
            # the note itself has ended what it names.
            if earlier := self.gate.find_earlier(candidate, LIVE_DOOR):
                return earlier
            raise
        return self.gate.propose(candidate, LIVE_DOOR, may_commit=True)

    def relations(
        self,
        scope: Scope,
        replaces: Sequence[str],
        repeats: str | None,
        ends: Sequence[str],
        both_hold: Sequence[str] = (),
    ) -> Relations | None:
        """Return relations to facts that are named by id or handle; None without any.

        Raises:
            UnknownFactError: a handle belongs to no fact, or to several.
            InvalidRequestError: the relations contradict each other.
        """
        if not (replaces or repeats or ends or both_hold):
            return None
        given = Relations(
            replaces=_listed(replaces),
            repeats=repeats,
            ends=_listed(ends),
            both_hold=_listed(both_hold),
        )
        return given.renamed({name: self.fact_id(scope, name) for name in given.named_ids})

    def fact_id(self, scope: Scope, name: str) -> str:
        """Return the id of the fact that is named by its id or its handle.

        Raises:
            UnknownFactError: the handle belongs to no fact, or to several.
        """
        is_handle = isinstance(name, str) and name.startswith(HANDLE_SIGN)
        return named_by(name, [*self._live(scope)]) if is_handle else name

    def with_effects(self, candidate: Candidate, fields: NoteFields) -> Candidate:
        """Return a candidate with its effects on facts, and with its end.

        Relations that it has already stay as they are.

        Raises:
            InvalidNoteError: its end is impossible, or it has ended and a person would be asked. As
            ``relations``.
        """
        relations = candidate.relations or self.relations(
            candidate.note.scope,
            fields.get("replaces") or (),
            fields.get("repeats"),
            fields.get("ends") or (),
        )
        candidate = replace(candidate, relations=relations)
        valid_to = fields.get("valid_to")
        ended = fields.get("ended", False)
        if not isinstance(ended, bool | None):
            raise InvalidNoteError("ended must be true or false, or be left out")
        if ended:
            candidate, ends_any = self._ending_its_value(candidate)
            if ends_any or valid_to is None or candidate.note.valid_from is None:
                # Without its value, which has ended; with both times it is history itself.
                note = candidate.note
                begins = note.valid_from if valid_to is None else utc("valid_to", valid_to)
                slot = note.slot and replace(note.slot, value=None, value_key=None)
                return replace(candidate, note=replace(note, slot=slot, valid_from=begins))
        return self._with_its_end(candidate, valid_to, fields.get("said_at"))

    def _with_its_end(
        self, candidate: Candidate, valid_to: datetime | None, said_at: datetime | None
    ) -> Candidate:
        """Return the candidate with the given end, or the end that its words name.

        Raises:
            InvalidNoteError: the end is impossible, or has come and a person would be asked.
        """
        relations = candidate.relations
        if valid_to is not None:
            ends_at = utc("valid_to", valid_to)
            if self._is_the_end_of_others(candidate, ends_at):
                return replace(candidate, note=replace(candidate.note, valid_from=ends_at))
            if ends_at <= candidate.note.holds_from:
                raise InvalidNoteError(_never_true(candidate.note, ends_at))
        else:
            ends_others = relations is not None and bool(relations.ends)  # the day may be theirs
            said = None if ends_others else end_in_words(candidate, said_at)
            if said is None:
                return candidate
            ends_at = said
            if ends_at <= candidate.note.holds_from:
                raise InvalidNoteError(over_in_words(ends_at))
        return ending_at(
            candidate,
            ends_at,
            self.clock(),
            self.gate.judge_whole,
            is_committed_later=candidate.confidence is not None,
        )

    def _is_the_end_of_others(self, candidate: Candidate, ends_at: datetime) -> bool:
        """True if ``valid_to`` is the end of the facts that the note ends, and not its own.

        A note that only ends facts, "No longer needs aluminium.", begins on that day. A note that
        says something else, "Is on sabbatical.", has an end of its own; so has one with a day
        before those facts began.
        """
        # Imported late, as in ``as_said_to_end``.
        from reconciler.reading.guard import only_ends

        note, told = candidate.note, candidate.relations
        if told is None or told.named_ids != told.ends or note.is_ahead(self.clock()):
            return False
        if note.valid_from is not None and ends_at <= note.valid_from:
            return False
        live = self._live(note.scope)
        over = [live[fact_id] for fact_id in told.ends if fact_id in live]
        if not any(only_ends(note.text, fact.text) for fact in over):
            return False
        return all(fact.valid_from < ends_at for fact in over)

    def _ending_its_value(self, candidate: Candidate) -> tuple[Candidate, bool]:
        """Return the candidate as the end of facts with its value, and whether there are any.

        Raises:
            InvalidNoteError: the note has neither an attribute nor facts that it ends.
        """
        # Imported late, as in ``as_said_to_end``.
        from reconciler.domain.reconciling.by_slot import holders_of

        # Facts hold personal data as the gate writes it.
        slot, told = self.gate.judge(candidate).note.slot, candidate.relations
        if slot is None or slot.attribute is None:
            if told and told.ended_ids:
                return candidate, True
            raise InvalidNoteError(
                "ended needs a value: give the attribute and the value that has ended, or name "
                "the facts in ends"
            )
        live, named = self._live(candidate.note.scope), told.named_ids if told else ()
        facts, others = (
            tuple(fact.fact_id for fact in each if fact.fact_id not in named)
            for each in holders_of(slot, live.values())
        )
        if told is not None:
            told = replace(told, ends=(*told.ends, *facts))
        elif facts:
            told = Relations(ends=facts)
        elif others:
            return replace(candidate, relations=Relations(both_hold=others)), False
        return replace(candidate, relations=told), told is not None

    def _live(self, scope: Scope) -> dict[str, Fact]:
        """Return the contact's facts that have not ended, by id."""
        facts = self.fact_store.list_facts(scope)
        return by_fact_id(fact for fact in facts if not fact.has_ended)

    def warm_up(self) -> None:
        """Read and judge a note that is not kept, so that lexicons are loaded in advance.

        The first note that needs lexicons, patterns and finders loads them. That takes up to a
        second, and blocks all other threads of the process.
        """
        note = note_of(Scope("any", "any", "any"), _ORDINARY, {}, self.attributes, self.clock())
        self.gate.judge(as_candidate(note, "nobody"))


def over_in_words(ends_at: datetime) -> str:
    """Describe the fault of a note that has ended by its own words."""
    return (
        f"the words say that the note ended on {ends_at:%Y-%m-%d}; do not send it, or give a "
        "valid_from before that day to keep it as history"
    )


def _never_true(note: Note, ends_at: datetime) -> str:
    """Describe the fault of a note that ends before it begins."""
    if note.valid_from is None:
        return (
            f"valid_to {ends_at.isoformat()} is in the past; give also a valid_from before that "
            "time"
        )
    begins_at = note.valid_from.isoformat()
    return (
        f"valid_to {ends_at.isoformat()} is not after valid_from {begins_at}; correct one of them"
    )


def _listed(given: Any) -> Any:
    """Return named facts as a list, if it is one name by itself; ``Relations`` checks the rest."""
    return (given,) if isinstance(given, str) else given


_ORDINARY = (
    "I usually prefer tea to coffee, but since my wife moved to Pune in March 2025 and works as a "
    "lawyer at Acme, she might not call me before 9 am any more."
)
"""A sentence that loads most readers of notes; it has no personal data and no secret."""


def as_said_to_end(
    candidate: Candidate, now: datetime, said_at: datetime | None = None
) -> Candidate:
    """Return the candidate with the future end that its words name; else without an end."""
    end = end_in_words(candidate, said_at)
    is_ahead = end is not None and end > max(candidate.note.holds_from, now)
    return replace(candidate, holds_until=end if is_ahead else None)


def ending_at(
    candidate: Candidate,
    ends_at: datetime,
    now: datetime,
    judge: Callable[[Candidate], Submission],
    *,
    is_committed_later: bool,
) -> Candidate:
    """Return the candidate with its end, future or past.

    Args:
        candidate: the candidate.
        ends_at: its end (UTC).
        now: the time now (UTC).
        judge: says how a candidate would be stored.
        is_committed_later: whether an admitted candidate is committed even if it passes on another
            person's word.

    Raises:
        InvalidNoteError: it has ended, and a person would be asked about it.
    """
    if ends_at > now:
        return replace(candidate, holds_until=ends_at)
    candidate = replace(candidate, ended_at=ends_at)
    judged = judge(candidate)
    is_kept = judged.is_reconciled or (is_committed_later and judged.is_admitted)
    if not is_kept and judged.assessment.disposal is not Disposal.REJECT:
        raise InvalidNoteError(
            f"the note ended on {ends_at:%Y-%m-%d}, and a person would have to confirm it "
            f"({judged.assessment.detail}); no one is asked about a note that has ended, so do not "
            "send it"
        )
    return candidate


def end_in_words(candidate: Candidate, said_at: datetime | None = None) -> datetime | None:
    """Return the end that a note's words name, future or past; None if they name none plainly.

    Args:
        candidate: the note.
        said_at: the time when it was said, in the speaker's zone; None for the note's time, in UTC.
    """
    # Imported late: a help text that lists the fields of a note needs no lexicon.
    from reconciler.reading.values.ends import said_times

    return said_times(candidate.note.text, said_at or candidate.note.said_at).ends_at


def beginning(note: Note, begins_at: datetime | None) -> Note:
    """Return a note with the start that its words name; a given start stays.

    A day that is the value itself is no start: "The contract starts on 1 March."
    """
    from reconciler.reading.values.ends import days_in

    value = note.slot_value.casefold()
    if begins_at is None or note.valid_from or any(days_in(value, begins_at.date())):
        return note
    return replace(note, valid_from=begins_at)


def note_of(
    scope: Scope, text: str, fields: Values, attributes: AttributeBook, now: datetime
) -> Note:
    """Make the checked note of a text and its fields; a missing time is now.

    Args:
        scope: the contact.
        text: one fact.
        fields: the given fields of ``LineFields``.
        attributes: the known attributes of slots.
        now: the time now (UTC).

    Raises:
        TypeError: there is no such field.
        InvalidNoteError: the note cannot be used.
    """
    if unknown := sorted(fields.keys() - LineFields.__annotations__):
        known = ", ".join(NoteFields.__annotations__)
        raise TypeError(f"a note takes no {', '.join(unknown)}; besides its text it takes {known}")
    about = dict(fields)
    said_at, valid_from = about.pop("said_at", None), about.pop("valid_from", None)
    if valid_from is not None:
        valid_from = utc("valid_from", valid_from)
    attributes = attributes.of(scope.agent_id)
    given = {name: about.pop(name, None) for name in SlotFields.__annotations__}
    slot = attributes.slot(is_single_valued=given.pop("single_valued"), **given)
    words = None
    name = about.get("contact_name")
    if isinstance(text, str) and isinstance(name, str | None):  # else the note refuses it
        names = (name, scope.contact_id)
        slot, words = attributes.filled(slot, text, names)
    if attributes.is_critical(slot):
        from reconciler.domain.values.attributes import MATTERS_MOST

        about["importance"] = MATTERS_MOST
    note = Note(
        scope=scope,
        text=text,
        said_at=now if said_at is None else not_in_the_future(utc("said_at", said_at), now),
        is_dated=said_at is not None,
        valid_from=valid_from,
        slot=slot,
        slot_read_from=words,
        **about,
    )
    # Imported late, as in ``end_in_words``.
    from reconciler.reading.values.ends import said_times

    return beginning(note, said_times(note.text, said_at or now).begins_at)


def as_candidate(note: Note, proposed_by: str) -> Candidate:
    """Make a note a candidate; the note is its only evidence."""
    return Candidate(note=note, evidence=(own_episode_of(note),), proposed_by=proposed_by)
