"""Cleaning: takes sensitive data out of a candidate before anything else looks at it. Pure.

What is found, and what stands in its place, are the caller's; here is only where it is looked for
and what becomes of it under the policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reconciler.domain.candidates import Candidate, Evidence
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.notes import Note
from reconciler.domain.sensitive_data import TOKEN, SensitiveKind, SensitiveSpan, redact
from reconciler.domain.slots import Slot

__all__ = ["Cleaned", "clean", "clean_texts"]

_KIND_OF_ATTRIBUTE: Mapping[str, SensitiveKind] = {
    word: kind
    for kind, words in {
        SensitiveKind.EMAIL: "email email_address mail_address",
        SensitiveKind.PHONE: "phone telephone mobile cell fax",
        SensitiveKind.STREET_ADDRESS: "address",
        SensitiveKind.SECRET: (
            "password passwort passcode passphrase pin pin_code cvv cvc api_key apikey secret "
            "token credential credentials private_key access_key otp security_code door_code"
        ),
        SensitiveKind.CREDIT_CARD: "credit_card debit_card card_number",
        SensitiveKind.IBAN: "iban",
        SensitiveKind.BANK_ACCOUNT: "bank_account account_number routing_number sort_code",
        SensitiveKind.NATIONAL_ID: (
            "ssn social_security national_id identity_number aadhaar nino national_insurance "
            "id_card"
        ),
        SensitiveKind.TAX_ID: "tax_id tax_number vat_id vat_number",
        SensitiveKind.PASSPORT: "passport",
        SensitiveKind.DRIVING_LICENCE: (
            "driving_licence driving_license driver_license drivers_license"
        ),
        SensitiveKind.MEDICAL_RECORD: "medical_record patient_id",
        SensitiveKind.IP_ADDRESS: "ip_address ip",
    }.items()
    for word in words.split()
}
"""What a value is by the attribute that it is given for, also where its text alone does not tell.
The longest name that fits counts: an IP address is no street address."""

_NUMBERED = r"_(?:number|no|num|nr|id|value)s?$"
_GRAVEST_LAST = ("keep", "slot", "redact", "refuse")

_VALUE_LENGTH_MIN = 4
"""A shorter value is not looked for in other texts: it would be found inside of words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """A candidate without the sensitive data that its policy takes out, and what there was.

    Attributes:
        redacted: kinds for which a keyed hash stands now.
        kept: kinds that the policy keeps, for example as the value of a slot.
        refused: kinds for which the policy refuses the whole candidate; their name stands now.
        missing_spans: how many spans did not stand in the episode that they were cited from.
    """

    candidate: Candidate
    redacted: frozenset[SensitiveKind] = frozenset()
    kept: frozenset[SensitiveKind] = frozenset()
    refused: frozenset[SensitiveKind] = frozenset()
    missing_spans: int = 0


@dataclass(slots=True)
class _Cleaner:
    find: Callable[[str], Sequence[SensitiveSpan]]
    token_of: Callable[[SensitiveKind, str], str]
    policy: GatePolicy
    own_value: tuple[re.Pattern[str], SensitiveKind] | None = None
    found: dict[str, set[SensitiveKind]] = field(
        default_factory=lambda: {name: set() for name in ("redacted", "kept", "refused")}
    )
    taken_out: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """The text as it may be written."""
        return self._without_known(redact(text, self._removed(text), self._token))

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def span(self, span: str, text: str) -> str:
        """The cited words as they stand in the text after it was cleaned.

        A span may cut a number in two; what it touches goes as a whole.
        """
        start = text.find(span)
        if start < 0:
            return self.text(span)
        end, removed = start + len(span), self._removed(text)
        touched = [each for each in removed if each.start < end and each.end > start]
        first = min([start, *(each.start for each in touched)])
        last = max([end, *(each.end for each in touched)])
        shifted = [SensitiveSpan(e.start - first, e.end - first, e.kind) for e in touched]
        return self._without_known(redact(text[first:last], shifted, self._token))

    def slot(self, slot: Slot | None) -> Slot | None:
        """The slot with its value kept, or replaced by what stands for it."""
        if slot is None:
            return None
        subject = self._subject(slot)
        attribute = None if slot.attribute is None else self.text(slot.attribute)
        slot = replace(slot, subject=subject, said_subject=None, attribute=attribute)
        return slot if slot.value is None else self._with_value(slot, slot.value)

    def _subject(self, slot: Slot) -> str:
        """As it was said, where that gives something away: folded, it would hide it."""
        said = slot.said_subject
        return self.text(slot.subject if said is None or self.text(said) == said else said)

    def _with_value(self, slot: Slot, value: str) -> Slot:
        if TOKEN.fullmatch(value):
            return slot
        asked, spans = _kind_of(slot.attribute), self._spans(value)
        kinds = {each.kind for each in spans} | ({asked} if asked else set())
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
        if asked is not None or self.policy.handling(gravest) == "refuse":
            return _with(slot, self._token(gravest, value))
        return _with(slot, self.text(value))

    def without_known(self, candidate: Candidate) -> Candidate:
        """What a later text gave away, taken out of the earlier ones too."""
        if not self.taken_out:
            return candidate
        again = _Cleaner(lambda _: (), self.token_of, self.policy, taken_out=self.taken_out)
        return replace(
            candidate,
            note=_clean_note(candidate.note, again),
            evidence=tuple(_clean_evidence(each, again) for each in candidate.evidence),
        )

    def note_what_stood_in(self, note: Note) -> None:
        """A claim from which a secret was taken out before it came here is refused like it."""
        said = f"{note.text} {note.slot.value if note.slot else ''}"
        for kind in SensitiveKind:
            if f"[{kind}]" in said:
                self._note(kind)

    def _removed(self, text: str) -> list[SensitiveSpan]:
        return [each for each in self._spans(text) if not self._is_kept(each.kind)]

    def _token(self, kind: SensitiveKind, value: str) -> str:
        is_refused = self.policy.handling(kind) == "refuse"
        token = f"[{kind}]" if is_refused else self.token_of(kind, value)
        self.taken_out[value] = token
        return token

    def _without_known(self, text: str) -> str:
        """Without what another text gave away: a number says nothing where its context is cut."""
        for value in sorted(self.taken_out, key=len, reverse=True):
            if len(value) >= _VALUE_LENGTH_MIN and value in text:
                text = text.replace(value, self.taken_out[value])
        return text

    def _spans(self, text: str) -> list[SensitiveSpan]:
        spans = list(self.find(text))
        if self.own_value:
            pattern, kind = self.own_value
            own = [SensitiveSpan(*each.span(), kind) for each in pattern.finditer(text)]
            spans += [each for each in own if not any(_overlap(each, other) for other in spans)]
        tokens = [each.span() for each in TOKEN.finditer(text)]
        return [
            each
            for each in spans
            if not any(each.start < end and start < each.end for start, end in tokens)
        ]

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
    find: Callable[[str], Sequence[SensitiveSpan]],
    token_of: Callable[[SensitiveKind, str], str],
    policy: GatePolicy,
) -> Cleaned:
    """The candidate as it may be embedded, judged and stored.

    Args:
        candidate: as it was proposed.
        find: the sensitive spans of a text, in order and without overlaps; asked once for a text.
        token_of: what stands for a value of a kind; equal for equal values.
        policy: what becomes of each kind. With the check off nothing is looked for.
    """
    missing = _missing_spans(candidate)
    if not policy.is_on("sensitive_data"):
        return Cleaned(candidate=candidate, missing_spans=missing)
    seen: dict[str, Sequence[SensitiveSpan]] = {}

    def find_once(text: str) -> Sequence[SensitiveSpan]:
        if text not in seen:
            seen[text] = find(text)
        return seen[text]

    cleaner = _Cleaner(find_once, token_of, policy, _own_value(candidate.note.slot))
    cleaned = replace(
        candidate,
        note=_clean_note(candidate.note, cleaner),
        evidence=tuple(_clean_evidence(each, cleaner) for each in candidate.evidence),
    )
    cleaner.note_what_stood_in(cleaned.note)
    return Cleaned(
        candidate=cleaner.without_known(cleaned),
        missing_spans=missing,
        **{name: frozenset(kinds) for name, kinds in cleaner.found.items()},
    )


def clean_texts(
    texts: Sequence[str],
    find: Callable[[str], Sequence[SensitiveSpan]],
    token_of: Callable[[SensitiveKind, str], str],
    policy: GatePolicy,
) -> list[str]:
    """The texts of one conversation as they may be stored; what one gives away goes in all.

    Args:
        texts: what was said, in any order.
        find: as in ``clean``.
        token_of: as in ``clean``.
        policy: what becomes of each kind. With the check off nothing is looked for.
    """
    if not policy.is_on("sensitive_data"):
        return list(texts)
    cleaner = _Cleaner(find, token_of, policy)
    cleaned = [cleaner.text(each) for each in texts]
    again = _Cleaner(lambda _: (), token_of, policy, taken_out=cleaner.taken_out)
    return [again.text(each) for each in cleaned] if cleaner.taken_out else cleaned


def _missing_spans(candidate: Candidate) -> int:
    return sum(span not in each.text for each in candidate.evidence for span in each.spans)


def _clean_note(note: Note, cleaner: _Cleaner) -> Note:
    return replace(
        note,
        text=cleaner.text(note.text),
        source_reference=cleaner.optional(note.source_reference),
        contact_name=cleaner.optional(note.contact_name),
        topic=cleaner.optional(note.topic),
        tags=tuple(map(cleaner.text, note.tags)),
        slot=cleaner.slot(note.slot),
        is_cleaned=True,
    )


def _clean_evidence(evidence: Evidence, cleaner: _Cleaner) -> Evidence:
    return replace(
        evidence,
        text=cleaner.text(evidence.text),
        spans=tuple(cleaner.span(each, evidence.text) for each in evidence.spans),
        source_reference=cleaner.optional(evidence.source_reference),
        is_cleaned=True,
    )


def _kind_of(attribute: str | None) -> SensitiveKind | None:
    """What an attribute asks for: ``passport_number``, ``shipping_address``; no ``phone_model``."""
    asked = f"_{attribute or ''}"
    ends = (asked, re.sub(_NUMBERED, "", asked))
    named = [name for name in _KIND_OF_ATTRIBUTE if any(e.endswith(f"_{name}") for e in ends)]
    return _KIND_OF_ATTRIBUTE[max(named, key=len)] if named else None


def _with(slot: Slot, value: str) -> Slot:
    return replace(slot, value=value, value_key=value)


def _own_value(slot: Slot | None) -> tuple[re.Pattern[str], SensitiveKind] | None:
    """The value as it may stand in a text, in any case, where its attribute says what it is."""
    kind = _kind_of(slot.attribute) if slot else None
    if slot is None or kind is None or not slot.value or len(slot.value) < _VALUE_LENGTH_MIN:
        return None
    words = (re.escape(word) for word in slot.value.split())
    return re.compile(r"\s+".join(words), re.IGNORECASE), kind


def _overlap(one: SensitiveSpan, other: SensitiveSpan) -> bool:
    return one.start < other.end and other.start < one.end
