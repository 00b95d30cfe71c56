"""Questions: how a person is asked about a held candidate, in the words of a lexicon.

Neutral on purpose. The question says the inference, and says first that nothing is kept without a
yes. It makes no easy, and says where the answer can be changed. It names the source: a person never
reads that they said what a tool or an agent concluded. A question that leads to a yes would turn
guesses into consent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from reconciler.domain.gate.literalness import find_hedge
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.guard import count_words
from reconciler.domain.guard.reading import Word, read
from reconciler.domain.quoting import in_marks
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import (
    OWN_WORDS,
    Disposal,
    FactState,
    GateReason,
    RecallSemantics,
    SourceKind,
)
from reconciler.domain.records.notes import Note, canonical_text
from reconciler.domain.records.relations import Relations
from reconciler.domain.records.slots import Slot, SlotMatch, compare_slots
from reconciler.lexicon import lexicon
from reconciler.sensitive_data import SensitiveKind

_PLAIN = re.compile(r"[A-Za-z0-9 ,'-]*\.?")
"""A text of which each word of letters that is read stands in it so, or begins one that does."""


def is_worth_asking(
    reason: GateReason,
    importance: float,
    semantics: RecallSemantics,
    policy: GatePolicy,
    *,
    is_contradicting: bool,
) -> bool:
    """Whether a person is asked about what is held, or it waits until it is said again.

    Args:
        reason: why it is held.
        importance: how much it matters, 0 to 1.
        semantics: how recall would present it.
        policy: the importance from which on a person is asked.
        is_contradicting: whether a live fact says otherwise.
    """
    if reason is GateReason.NOT_SAID_PLAINLY:  # the contact has not said it, so it is no question
        return False
    return (
        reason is not GateReason.THIN_EVIDENCE
        or importance >= policy.file.confirmation.importance_min
        or semantics is not RecallSemantics.DEFAULT
        or is_contradicting
    )


def question(
    candidate: Candidate,
    disposal: Disposal,
    reason: GateReason,
    topic: str | None,
    policy: GatePolicy,
    contradicted: str | None = None,
) -> str:
    """The question about a held candidate, for the contact or an operator.

    It shows the live fact that a yes would end.
    """
    asked = " ".join(lexicon("questions").words(_name(candidate, disposal, reason)))
    asked = asked.replace("{topic}", _called(topic))
    asked = asked.replace("“{claim}”", _quoted(candidate.claim))
    if contradicted is not None:
        beside = " ".join(lexicon("questions").words("beside"))
        asked = f"{asked} {beside.replace('“{claim}”', _quoted(contradicted))}"
    return f"{asked} {policy.file.confirmation.change_it}"


def _quoted(text: str) -> str:
    return in_marks(_TAKEN_OUT.sub(_HIDDEN, text).strip().rstrip("."))


def revalidation(fact: Fact) -> str:
    """The question about a fact that expires soon, or has expired."""
    asked = " ".join(lexicon("questions").words("revalidation"))
    said_on = f"{fact.last_confirmed_at:%Y-%m-%d}"
    claim = in_marks(fact.text.strip().rstrip("."))
    return asked.replace("{date}", said_on).replace("“{claim}”", claim)


def answer_since(asked: Note, facts: Iterable[Fact], *, is_consent: bool = False) -> Fact | None:
    """The fact of later words that answer what a person would be asked; None without one.

    Only the contact's and an operator's own words do: they answer the same question, or say all
    that it says.

    Args:
        asked: what a person would be asked about.
        facts: the contact's.
        is_consent: whether the question is for consent. Then no words answer it, only what was
            kept by a yes.
    """
    may, text = may_answer(asked), canonical_text(asked.text)
    stems = Counter(word.stem for word in _words(asked))
    return next(
        (
            fact
            for fact in facts
            if fact.last_confirmed_at > asked.said_at
            and fact.state is not FactState.REVOKED
            and fact.word in OWN_WORDS
            and (fact.is_confirmed_by_user or not is_consent)
            and may(fact.text, fact.slot.key if fact.slot else None)
            and _does(fact, asked.slot, text, stems)
        ),
        None,
    )


def answer_to(held: Decision, facts: Iterable[Fact]) -> Fact | None:
    """The fact of later words that answer a held note's question; see ``answer_since``."""
    is_consent = held.gate is not None and held.gate.disposal is Disposal.CONSENT
    return answer_since(held.note, facts, is_consent=is_consent)


def may_answer(asked: Note) -> Callable[[str, str | None], bool]:
    """Tells quickly whether a fact of some text and slot's key may be an answer.

    It is never False for a fact that is one. To read a text takes fifty times as long.
    """
    question = asked.slot.question if asked.slot else None
    stems = [word.stem for word in _words(asked) if word.kind == "word"]
    plain = [stem for stem in stems if stem.isascii() and stem.isalpha()]

    def may(text: str, slot_key: str | None) -> bool:
        if question is not None and slot_key is not None and slot_key.startswith(question):
            return True
        lower = text.lower()
        return all(stem in lower for stem in plain) or not _PLAIN.fullmatch(text)

    return may


def _words(asked: Note) -> Sequence[Word]:
    """The words of content that a note consists of, without what hedges it."""
    text = canonical_text(asked.text)
    hedge = find_hedge(text) or ""
    return read(re.sub(re.escape(hedge), "", text, flags=re.IGNORECASE)).words


def _does(fact: Fact, slot: Slot | None, text: str, stems: Counter[str]) -> bool:
    if slot is not None and fact.slot is not None and fact.slot.decides_about(slot):
        return True
    says_all = bool(stems) and stems <= count_words(fact.text)
    return says_all or canonical_text(fact.text) == text


def contradicted(
    slot: Slot | None, relations: Relations | None, facts: Iterable[Fact]
) -> Fact | None:
    """The first of these facts that would end: by the slot, or as who read it out says."""
    named = relations.ended_ids if relations else ()
    ends = (
        fact
        for fact in facts
        if fact.fact_id in named or compare_slots(slot, fact.slot) is SlotMatch.CHANGED
    )
    return next(ends, None)


def _called(topic: str | None) -> str:
    """What a person calls a topic, where the policy's name is no plain word."""
    if topic is None:
        return "yourself"
    plain = {name: words for words, name in lexicon("questions").by_word("topics").items()}
    return plain.get(topic, topic.replace("_", " "))


def _name(candidate: Candidate, disposal: Disposal, reason: GateReason) -> str:
    if reason is GateReason.DIRECTIVE:
        return "review"
    if reason is GateReason.FORGOTTEN_BEFORE:
        return "forgotten"
    if reason is GateReason.UNTRUSTED_SOURCE:
        return "untrusted"
    if reason is GateReason.UNREAD_LANGUAGE:
        return "unread"
    if disposal is not Disposal.CONSENT and reason is GateReason.NEEDS_APPROVAL:
        return "approval"
    asked, asked_for_consent = _BY_SOURCE[candidate.note.trust]
    return asked_for_consent if disposal is Disposal.CONSENT else asked


_TAKEN_OUT = re.compile(rf"\[(?:{'|'.join(SensitiveKind)})(?::[0-9a-f]{{12}})?\]")
_HIDDEN = "(hidden)"
"""What a person reads in the place of a hash; other words in brackets are the note's own."""

_OWN, _RECORD = ("contact", "consent"), ("contact_record", "consent_record")
_CONCLUDED = ("contact_concluded", "consent_concluded")
_BY_SOURCE = {
    SourceKind.USER_EXPLICIT: _OWN,
    SourceKind.OPERATOR: _RECORD,
    SourceKind.APPROVED_DOC: _RECORD,
    SourceKind.EXTRACTOR: _CONCLUDED,
    SourceKind.TOOL_OUTPUT: _RECORD,
    SourceKind.MODEL_GUESS: _CONCLUDED,
}
"""The words of a question, and of one for consent, by the kind of source."""
