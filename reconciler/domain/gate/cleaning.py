"""Cleaning: removes sensitive data from a candidate before any other part reads it.

Pure. The caller finds the data and makes the tokens; this module knows which fields are searched
and how the policy handles each kind. All words of a record are cleaned, unless ``AS_GIVEN`` names
their field: so a new field is cleaned by default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from reconciler.domain.gate.asking import Find, asked_for
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.sessions import Session
from reconciler.frozen import Json, Pattern, Strings, StringSet, Values, frozen
from reconciler.reading.cues.leanings import NO_LEANINGS, Leanings
from reconciler.reading.guard import is_english
from reconciler.reading.named_secrets import kind_of_name
from reconciler.reading.sensitive_data import (
    TOKEN,
    SensitiveKind,
    SensitiveSpan,
    merge_spans,
    redact,
    without_scheme,
)

if TYPE_CHECKING:
    from reconciler.domain.gate.policy import GatePolicy

AS_GIVEN: Mapping[type, StringSet] = {
    Scope: frozenset({"tenant", "agent_id", "contact_id"}),
    Note: frozenset({"session_id", "idempotency_key"}),
    Evidence: frozenset({"episode_id", "session_id", "session_key"}),
    Candidate: frozenset({"proposed_by", "confirmed_by"}),
    Session: frozenset({"session_id", "channel"}),
}
"""Ids and names of persons, by which records are found again. They are stored as they are given,
and refused if they hold a secret. All other words of a record are cleaned."""

TokenOf = Callable[[SensitiveKind, str], str]
"""Returns the token for a value of a kind; equal for equal values."""

_GRAVEST_LAST = ("keep", "slot", "redact", "refuse")

_VALUE_LENGTH_MIN = 4
"""A shorter value is not searched for in other texts, because other words may contain it."""


@frozen
class Cleaned:
    """A candidate without the sensitive data that its policy removes, and the kinds found.

    Attributes:
        redacted: kinds that a keyed hash replaces.
        kept: kinds that the policy keeps, for example as the value of a slot.
        refused: kinds for which the policy refuses the whole candidate; the name of the kind
            replaces the value.
        missing_spans: how many spans are not in the episode from which they were cited.
        leanings: what the note resembles as a whole.
    """

    candidate: Candidate
    redacted: frozenset[SensitiveKind] = frozenset()
    kept: frozenset[SensitiveKind] = frozenset()
    refused: frozenset[SensitiveKind] = frozenset()
    missing_spans: int = 0
    leanings: Leanings = NO_LEANINGS

    @property
    def believed_topic(self) -> str | None:
        """The topic that was given; if an extractor read English words, the words decide."""
        candidate = self.candidate
        is_read = candidate.confidence is not None and is_english(candidate.claim)
        return None if is_read else candidate.note.topic


@dataclass(slots=True)
class _Cleaner:
    find: Find
    token_of: TokenOf
    policy: GatePolicy
    own_value: tuple[Pattern, SensitiveKind] | None = None
    no_phone: Pattern | None = None
    found: dict[str, set[SensitiveKind]] = field(
        default_factory=lambda: {name: set() for name in ("redacted", "kept", "refused")}
    )
    taken_out: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """Clean a text, so that it may be written."""
        removed = self._removed(text)
        return self._without_known(redact(text, removed, self._token) if removed else text)

    def words(self, record: object) -> dict[str, str | Strings]:
        """Clean all words of a record, by their field."""
        return {
            name: self.text(said) if isinstance(said, str) else tuple(map(self.text, said))
            for name, said in words_of(record)
        }

    def span(self, span: str, text: str) -> str:
        """Clean the cited words like their text.

        If a span cuts a sensitive value, the whole value is removed.
        """
        start = text.find(span)
        if start < 0:
            return self.text(span)
        end, removed = start + len(span), self._removed(text)
        touched = [taken for taken in removed if taken.meets(start, end)]
        first = min([start, *(taken.start for taken in touched)])
        last = max([end, *(taken.end for taken in touched)])
        moved = [taken.moved(-first) for taken in touched]
        return self._without_known(redact(text[first:last], moved, self._token))

    def slot(self, slot: Slot | None) -> Slot | None:
        """Return the slot with its value kept, or replaced by a token."""
        if slot is None:
            return None
        slot = replace(
            slot,
            subject=self._unfolded(slot.subject, slot.said_subject),
            said_subject=None,
            attribute=slot.attribute and self._unfolded(slot.attribute, slot.said_attribute),
            said_attribute=None,
        )
        return slot if slot.value is None else self._with_value(slot, slot.value)

    def _unfolded(self, folded: str, said: str | None) -> str:
        """Search the value as it was said, because the folded form may hide sensitive data."""
        return self.text(folded if said is None or self.text(said) == said else said)

    def _with_value(self, slot: Slot, value: str) -> Slot:
        if TOKEN.fullmatch(value):
            return slot
        asked, spans = kind_of_name(slot.attribute), self._spans(value)
        kinds = {span.kind for span in spans} | ({asked} if asked else set())
        if not kinds:
            cleaned = self._without_known(value)
            return slot if cleaned == value else _with(slot, cleaned)
        gravest = max(kinds, key=lambda kind: _GRAVEST_LAST.index(self.policy.handling(kind)))
        handling = self.policy.handling(gravest)
        if handling == "keep" or (handling == "slot" and kinds == {asked}):
            self.found["kept"].add(gravest)
            return replace(slot, is_personal=True)
        for kind in kinds:
            self._note(kind)
        if asked is not None or handling == "refuse":
            return _with(slot, self._token(gravest, value))
        return _with(slot, self.text(value))

    def again(self) -> _Cleaner:
        """Removes from earlier texts the values that a later text reveals."""
        return replace(self, find=lambda _: (), own_value=None, no_phone=None)

    def note_what_stood_in(self, note: Note) -> None:
        """A claim from which a secret was removed before it came here is refused as well."""
        said = f"{note.text} {note.slot_value}"
        for kind in SensitiveKind if "[" in said else ():
            if f"[{kind}]" in said:
                self._note(kind)

    def _removed(self, text: str) -> list[SensitiveSpan]:
        return [span for span in self._spans(text) if not self._is_kept(span.kind)]

    def _token(self, kind: SensitiveKind, value: str) -> str:
        is_refused = self.policy.handling(kind) == "refuse"
        token = f"[{kind}]" if is_refused else self.token_of(kind, value)
        self.taken_out[value] = token
        return token

    def _without_known(self, text: str) -> str:
        """Remove the values that another text reveals.

        Without context a number alone shows nothing.

        The scheme before an address shows nothing either.
        """
        for value in sorted(self.taken_out, key=len, reverse=True):
            if len(value) >= _VALUE_LENGTH_MIN and value.casefold() in text.casefold():
                token = self.taken_out[value].replace("\\", r"\\")
                text = re.sub(_known(value), token, text, flags=re.IGNORECASE)
        return without_scheme(text)

    def _spans(self, text: str) -> list[SensitiveSpan]:
        spans = list(self.find(text))
        if self.own_value:
            pattern, kind = self.own_value
            own = [SensitiveSpan(*match.span(), kind) for match in pattern.finditer(text)]
            spans += [
                span for span in own if not any(each.meets(span.start, span.end) for each in spans)
            ]
        if self.no_phone:
            named = [match.span() for match in self.no_phone.finditer(text)]
            spans = [
                span
                for span in spans
                if span.kind is not SensitiveKind.PHONE
                or not any(start <= span.start and span.end <= end for start, end in named)
            ]
        return [span for span in spans if not _is_taken_out(text, span)]

    def _is_kept(self, kind: SensitiveKind) -> bool:
        if self.policy.handling(kind) == "keep":
            self.found["kept"].add(kind)
            return True
        self._note(kind)
        return False

    def _note(self, kind: SensitiveKind) -> None:
        is_refused = self.policy.handling(kind) == "refuse"
        self.found["refused" if is_refused else "redacted"].add(kind)


def clean(
    candidate: Candidate,
    find: Find,
    token_of: TokenOf,
    policy: GatePolicy,
) -> Cleaned:
    """Clean a candidate, so that it may be embedded, judged and stored.

    Args:
        candidate: as it was proposed.
        find: returns the sensitive spans of a text, in order and without overlaps; called once for
            a text.
        token_of: returns the token for a value of a kind; equal for equal values.
        policy: the handling of each kind. If the check is off, nothing is searched.
    """
    missing = sum(
        span not in evidence.text for evidence in candidate.evidence for span in evidence.spans
    )
    if not policy.is_on("sensitive_data"):
        return Cleaned(candidate=candidate, missing_spans=missing)
    slot = candidate.note.slot
    cleaner = _Cleaner(cache(find), token_of, policy, _own_value(slot), _no_phone(slot))
    cleaned = _clean_candidate(candidate, cleaner)
    cleaner.note_what_stood_in(cleaned.note)
    redacted, kept, refused = map(frozenset, cleaner.found.values())
    return Cleaned(
        candidate=_clean_candidate(cleaned, cleaner.again()) if cleaner.taken_out else cleaned,
        redacted=redacted,
        kept=kept,
        refused=refused,
        missing_spans=missing,
    )


def clean_texts(
    texts: Sequence[str],
    find: Find,
    token_of: TokenOf,
    policy: GatePolicy,
    turns: int = 0,
) -> list[str]:
    """Clean the texts of one conversation; a value that one text reveals is removed from all.

    Args:
        texts: what was said.
        find: as in ``clean``.
        token_of: as in ``clean``.
        policy: the handling of each kind. If the check is off, nothing is searched.
        turns: how many texts, from the first, are turns in their order; a turn may ask for a secret
            that a later turn tells.
    """
    if not policy.is_on("sensitive_data"):
        return list(texts)
    asked = asked_for(texts[:turns], find)

    def find_in_turn(text: str) -> Sequence[SensitiveSpan]:
        return merge_spans([*find(text), *asked.get(text, ())])

    cleaner = _Cleaner(find_in_turn, token_of, policy)
    cleaned = [cleaner.text(text) for text in texts]
    return [*map(cleaner.again().text, cleaned)] if cleaner.taken_out else cleaned


def ids_of(record: Any) -> Iterator[tuple[str, str]]:
    """The texts that a record and its parts keep as given: the field's name and its text."""
    if isinstance(record, list | tuple):
        for item in record:
            yield from ids_of(item)
    for name, is_given in _fields(record.__class__):
        value = getattr(record, name)
        # Made of ids that are checked where they are, or by this call.
        if name == "session_key" or (is_given and name == "episode_id" and record.is_new):
            continue
        if is_given and value is not None:
            yield from ((name, text) for text in ([value] if isinstance(value, str) else value))
        elif value and (isinstance(value, list | tuple) or _fields(value.__class__)):
            yield from ids_of(value)


def words_of(record: Any) -> Iterator[tuple[str, str | Sequence[str]]]:
    """Fields of a record that hold words, but for those that are kept as they are given."""
    for name, is_given in _fields(record.__class__):
        if is_given or not (value := getattr(record, name)):  # most hold nothing
            continue
        if _is_said(value) or (isinstance(value, tuple) and all(map(_is_said, value))):
            yield name, value


@cache
def _fields(record: Any) -> tuple[tuple[str, bool], ...]:
    """The fields of a class of records, and those that are kept as given.

    Empty for other classes.
    """
    given = AS_GIVEN.get(record, frozenset())
    named = fields(record) if is_dataclass(record) else ()
    return tuple((described.name, described.name in given) for described in named)


def _is_said(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, Enum)


def _known(value: str) -> str:
    """A plain word is not searched for inside other words."""
    return rf"\b{re.escape(value)}\b" if value.isalpha() else re.escape(value)


def _is_taken_out(text: str, span: SensitiveSpan) -> bool:
    """True if the text is a token; a secret may contain a text like a token, and more."""
    tokens = (token.span() for token in TOKEN.finditer(text))
    touching = [token for token in tokens if span.meets(*token)]
    if not touching or span.kind is not SensitiveKind.SECRET:
        return bool(touching)
    rest = TOKEN.sub("", text[min(span.start, touching[0][0]) : max(span.end, touching[-1][1])])
    return not any(map(str.isalnum, rest))


def _clean_candidate(candidate: Candidate, cleaner: _Cleaner) -> Candidate:
    note = _clean_note(candidate.note, cleaner)
    evidence = tuple(_clean_evidence(item, cleaner) for item in candidate.evidence)
    records = zip((note, *evidence), (candidate.note, *candidate.evidence), strict=True)
    if all(new is old for new, old in records):
        return candidate
    return replace(candidate, note=note, evidence=evidence)


def _clean_note(note: Note, cleaner: _Cleaner) -> Note:
    changed = _changed(note, cleaner.words(note))
    if note.slot is not None:  # always new: what was said of it in other letters is left out
        changed["slot"] = cleaner.slot(note.slot)
    return replace(note, **changed, is_cleaned=True) if changed else note


def _clean_evidence(evidence: Evidence, cleaner: _Cleaner) -> Evidence:
    cleaned: Json = cleaner.words(evidence)
    cleaned["spans"] = tuple(cleaner.span(span, evidence.text) for span in evidence.spans)
    changed = _changed(evidence, cleaned)
    return replace(evidence, **changed, is_cleaned=True) if changed else evidence


def _changed(record: object, cleaned: Values) -> Json:
    """The changed fields of a record; most records have none, and are then not copied."""
    return {name: value for name, value in cleaned.items() if value != getattr(record, name)}


def _with(slot: Slot, value: str) -> Slot:
    return replace(slot, value=value, value_key=value)


def _own_value(slot: Slot | None) -> tuple[Pattern, SensitiveKind] | None:
    """The pattern of a value in a text, in any case, if its attribute names its kind."""
    kind = kind_of_name(slot.attribute) if slot else None
    if slot is None or kind is None or not slot.value or len(slot.value) < _VALUE_LENGTH_MIN:
        return None
    return _as_said(slot.value), kind


_OF_A_PHONE = re.compile(
    r"phone|mobi|m.vil|gsm|cell|tel|fax|whats|sms|call|dial|line|handy|contact|(?:^|_)reach"
    r"|^(?:my_)?number$"
)
"""Words in the name of an attribute that may hold a phone number."""


def _no_phone(slot: Slot | None) -> Pattern | None:
    """The pattern of a value in a text, if its attribute says that it is not a phone number.

    A ticket or a serial number may be grouped like the phone numbers of some country.
    """
    if slot is None or not slot.attribute or not slot.value:
        return None
    may_be_one = kind_of_name(slot.attribute) or _OF_A_PHONE.search(slot.attribute)
    return None if may_be_one else _as_said(slot.value)


def _as_said(value: str) -> Pattern:
    return re.compile(r"\s+".join(map(re.escape, value.split())), re.IGNORECASE)
