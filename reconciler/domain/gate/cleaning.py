"""Cleaning: takes sensitive data out of a candidate before anything else looks at it. Pure.

What is found, and what stands in its place, are the caller's; here is only where it is looked for
and what becomes of it under the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reconciler.domain.candidates import Candidate, Evidence
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.notes import Note
from reconciler.domain.sensitive_data import SensitiveKind, SensitiveSpan, redact
from reconciler.domain.slots import Slot

__all__ = ["Cleaned", "clean"]

_KIND_OF_ATTRIBUTE: Mapping[str, SensitiveKind] = {
    **dict.fromkeys(("email", "work_email", "other_email"), SensitiveKind.EMAIL),
    **dict.fromkeys(("phone", "mobile_phone", "work_phone", "other_phone"), SensitiveKind.PHONE),
    **dict.fromkeys(
        ("address", "billing_address", "shipping_address"), SensitiveKind.STREET_ADDRESS
    ),
}
"""What a value is by the attribute that it is given for, also where its text alone does not tell.
Source: ``config/attributes.toml``."""

_VALUE_LENGTH_MIN = 4
"""A shorter value is not looked for in the text: it would be found inside of words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """A candidate without the sensitive data that its policy takes out, and what there was.

    Attributes:
        redacted: kinds for which a keyed hash stands now.
        kept: kinds that the policy keeps, for example as the value of a slot.
        refused: kinds for which the policy refuses the whole candidate; replaced as well.
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
    own_value: tuple[str, SensitiveKind] | None = None
    found: dict[str, set[SensitiveKind]] = field(
        default_factory=lambda: {name: set() for name in ("redacted", "kept", "refused")}
    )
    done: dict[str, str] = field(default_factory=dict)
    taken_out: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """The text as it may be written; the same text is looked at once."""
        if text not in self.done:
            spans = [each for each in self._spans(text) if not self._is_kept(each.kind)]
            self.done[text] = self._without_known(redact(text, spans, self._token))
        return self.done[text]

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def slot(self, slot: Slot | None) -> Slot | None:
        """The slot with its value kept, or replaced by its keyed hash."""
        if slot is None:
            return None
        slot = replace(slot, subject=self.text(slot.subject))
        kind = _KIND_OF_ATTRIBUTE.get(slot.attribute or "")
        if slot.value is None:
            return slot
        if kind is None:
            kind = next((span.kind for span in self.find(slot.value)), None)
        if kind is None:
            return slot
        if self.policy.handling(kind) in ("slot", "keep"):
            self.found["kept"].add(kind)
            return replace(slot, is_personal=True)
        self._note(kind)
        token = self._token(kind, slot.value)
        return replace(slot, value=token, value_key=token)

    def _token(self, kind: SensitiveKind, value: str) -> str:
        token = self.taken_out[value] = self.token_of(kind, value)
        return token

    def _without_known(self, text: str) -> str:
        """Without what another text gave away: a number says nothing where its context is cut."""
        for value, token in self.taken_out.items():
            if len(value) >= _VALUE_LENGTH_MIN:
                text = text.replace(value, token)
        return text

    def _spans(self, text: str) -> list[SensitiveSpan]:
        spans = list(self.find(text))
        if self.own_value:
            value, kind = self.own_value
            start = text.find(value)
            own = SensitiveSpan(start, start + len(value), kind)
            if start >= 0 and not any(_overlap(own, each) for each in spans):
                spans.append(own)
        return spans

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
        find: the sensitive spans of a text, in order and without overlaps.
        token_of: what stands for a value of a kind; equal for equal values.
        policy: what becomes of each kind. With the check off nothing is looked for.
    """
    if not policy.is_on("sensitive_data"):
        return Cleaned(candidate=candidate, missing_spans=_missing_spans(candidate))
    cleaner = _Cleaner(find, token_of, policy, _own_value(candidate.note.slot))
    evidence = tuple(_clean_evidence(each, cleaner) for each in candidate.evidence)
    note = _clean_note(candidate.note, cleaner)
    return Cleaned(
        candidate=replace(candidate, note=note, evidence=evidence),
        missing_spans=_missing_spans(candidate),
        **{name: frozenset(kinds) for name, kinds in cleaner.found.items()},
    )


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
    )


def _clean_evidence(evidence: Evidence, cleaner: _Cleaner) -> Evidence:
    return replace(
        evidence,
        text=cleaner.text(evidence.text),
        spans=tuple(map(cleaner.text, evidence.spans)),
        source_reference=cleaner.optional(evidence.source_reference),
    )


def _own_value(slot: Slot | None) -> tuple[str, SensitiveKind] | None:
    if slot is None or slot.value is None or len(slot.value) < _VALUE_LENGTH_MIN:
        return None
    kind = _KIND_OF_ATTRIBUTE.get(slot.attribute or "")
    return None if kind is None else (slot.value, kind)


def _overlap(one: SensitiveSpan, other: SensitiveSpan) -> bool:
    return one.start < other.end and other.start < one.end
