"""Disposing: decides, from the findings of all checks, what happens to a candidate. Pure.

The order of precedence: a finding that forbids a write, then quarantine, then any other refusal,
then consent, then confirmation. The findings of all checks stay on record. A held candidate needs
a question to a person; the question, and later words that answer it, are found here too.

Questions are in the words of a lexicon, and neutral on purpose. A question repeats the inference,
and says first that nothing is kept without a yes. It makes "no" easy, and says where the answer
can be changed. It names the source, so that a person never reads a conclusion of a tool or an
agent as their own words. A question that leads to a yes would turn guesses into consent.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from reconciler.domain.gate.checks import (
    FORBIDDING,
    Case,
    consent_topic,
    findings,
    is_request,
    score,
)
from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.contacts_word import is_contacts_word
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.gate.reading import ClaimReading, read
from reconciler.domain.records.candidates import (
    ALL_PASSED,
    CONTACT,
    Assessment,
    Candidate,
    CheckFinding,
    Precedents,
)
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact, Relations
from reconciler.domain.records.kinds import (
    NOT_FOR_CONTACTS,
    OWN_WORDS,
    Disposal,
    FactState,
    GateReason,
    Sensitivity,
    SourceKind,
    later,
)
from reconciler.domain.records.notes import CONTACT_SUBJECT, Note, Slot, SlotMatch, compare_slots
from reconciler.reading.canonical import canonical_text
from reconciler.reading.cues.classification import (
    CLAIMS_OPENING,
    Literalness,
    classify_literalness,
    find_hedge,
    find_taking_back,
)
from reconciler.reading.guard import count_words
from reconciler.reading.guard.reading import Word, read as read_words
from reconciler.reading.kinds import RecallSemantics
from reconciler.reading.lexicon import lexicon
from reconciler.reading.quoting import in_marks
from reconciler.reading.sensitive_data import VALUE_TOKEN

_PLAIN = re.compile(r"[A-Za-z0-9 ,'-]*\.?")
"""A text in which each word that is read is a word of its own, or the beginning of one."""


def question(
    candidate: Candidate,
    disposal: Disposal,
    reason: GateReason,
    topic: str | None,
    policy: GatePolicy,
    contradicted: str | None = None,
) -> str:
    """Question about a held candidate, for the contact or an operator.

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
    return in_marks(VALUE_TOKEN.sub(_HIDDEN, text).strip().rstrip("."))


def revalidation(fact: Fact) -> str:
    """Question about a fact that expires soon, or has expired."""
    asked = " ".join(lexicon("questions").words("revalidation"))
    said_on = f"{fact.last_confirmed_at:%Y-%m-%d}"
    claim = in_marks(fact.text.strip().rstrip("."))
    return asked.replace("{date}", said_on).replace("“{claim}”", claim)


def answer_since(
    asked: Note, facts: Iterable[Fact], *, consent_to: GateReason | None
) -> Fact | None:
    """Find the fact of later words that answer the question for a person; None if there is none.

    Only the contact's and an operator's own words can answer: they answer the same question, or say
    all that the held note says.

    Args:
        asked: the note that a person would be asked about.
        facts: the contact's facts.
        consent_to: why consent is needed; None if it is not. If consent is needed, words alone do
            not answer the question: only a fact that was kept by a yes, or another value that makes
            the note old. The question about forgotten words stays open then, too.
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
            and (
                fact.is_confirmed_by_user
                or consent_to is None
                or (
                    consent_to is not GateReason.FORGOTTEN_BEFORE
                    and compare_slots(asked.slot, fact.slot) is SlotMatch.CHANGED
                )
            )
            and may(fact.text, fact.slot_key)
            and _does(fact, asked.slot, text, stems)
        ),
        None,
    )


def answer_to(held: Decision, facts: Iterable[Fact]) -> Fact | None:
    """Find the fact of later words that answer a held note's question; see ``answer_since``."""
    return answer_since(held.note, facts, consent_to=consent_to(held.gate))


def consent_to(assessment: Assessment | None) -> GateReason | None:
    """Say why consent is needed; None if it is not."""
    if assessment is None or assessment.disposal is not Disposal.CONSENT:
        return None
    return assessment.reason


def may_answer(asked: Note) -> Callable[[str, str | None], bool]:
    """Tell quickly if a fact with this text and slot key may be an answer.

    It is never False for a fact that is an answer. To read a text takes fifty times as long.
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
    """The content words of a note, without its hedges."""
    text = canonical_text(asked.text)
    hedge = find_hedge(text) or ""
    return read_words(re.sub(re.escape(hedge), "", text, flags=re.IGNORECASE)).words


def _does(fact: Fact, slot: Slot | None, text: str, stems: Counter[str]) -> bool:
    if slot is not None and fact.slot is not None and fact.slot.decides_about(slot):
        return True
    says_all = bool(stems) and stems <= count_words(fact.text)
    return says_all or canonical_text(fact.text) == text


def contradicted(
    slot: Slot | None, relations: Relations | None, facts: Iterable[Fact]
) -> Fact | None:
    """The first of these facts that would end: by the slot, or because the extractor says so."""
    named = relations.ended_ids if relations else ()
    ends = (
        fact
        for fact in facts
        if fact.fact_id in named or compare_slots(slot, fact.slot) is SlotMatch.CHANGED
    )
    return next(ends, None)


def _called(topic: str | None) -> str:
    """A plain name for a topic, if the policy's name is not a plain word."""
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


_HIDDEN = "(hidden)"
"""The words that a person reads instead of a hash; other words in brackets belong to the note."""

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

_NO_PRECEDENTS = Precedents()

_WORD = re.compile(r"\w+")

_ORDERING = ("you", "from", "no more", "stop")
"""The beginnings of orders that withdraw a permission: "you may not share"."""


def assess(
    cleaned: Cleaned,
    policy: GatePolicy,
    now: datetime,
    precedents: Precedents = _NO_PRECEDENTS,
) -> Assessment:
    """Decide how the gate disposes of a candidate.

    Args:
        cleaned: the candidate without the sensitive data that the policy takes out.
        policy: the rules that apply.
        now: the time from which recency and a silent wait count (UTC).
        precedents: the earlier decisions about the same inference.
    """
    candidate = cleaned.candidate
    reading = read(candidate, policy, cleaned.leanings)
    is_contacts = is_contacts_word(cleaned, reading, policy.file.trust.contacts_word_min)
    if is_contacts:  # from here on by the floors of the contact's word
        said = replace(candidate.note, source_kind=SourceKind.USER_EXPLICIT)
        candidate = replace(candidate, note=said)
        cleaned = replace(cleaned, candidate=candidate)
    case = Case(
        cleaned=cleaned,
        reading=reading,
        policy=policy,
        precedents=precedents,
        is_contacts_word=is_contacts,
    )
    confidence, parts = score(case, now)
    case = replace(case, confidence=confidence)
    results = tuple(findings(case))
    stopping = [finding for finding in results if finding.disposal is not Disposal.ADMIT]
    decisive = min(stopping, key=_weight, default=results[0])
    disposal, reason, detail = decisive.disposal, decisive.reason, decisive.detail
    is_held, is_admitted = disposal.is_held, disposal is Disposal.ADMIT
    if precedents.declined_id and (is_held or (is_admitted and not case.is_own_word)):
        disposal, reason = Disposal.REJECT, GateReason.DECLINED_BEFORE
        detail = "a person has already said no to it; it is not asked again"
    elif precedents.is_answered and is_held:
        disposal, reason = Disposal.REJECT, GateReason.ANSWERED_SINCE
        detail = "the contact or an operator answered it after this was said"
    rule = policy.file.categories[reading.category]
    asked_topic = consent_topic(case)
    topic = candidate.note.topic or next(iter(reading.topics), None)
    semantics = _semantics(candidate, reading.semantics, rule.recall)
    # What an extractor calls a decision does not bind yet, unless its words do.
    binds = reading.semantics if candidate.confidence is not None else semantics
    is_waiting = (
        disposal.is_held
        and (
            reason in NOT_FOR_CONTACTS
            # Irony or a what-if waits; the contact is not asked about it.
            or classify_literalness(case.candidate.claim).kind is Literalness.LITERAL
        )
        and reason is not GateReason.NOT_SAID_PLAINLY  # the contact has not said it
        and (
            reason is not GateReason.THIN_EVIDENCE
            or _weight_in(case) >= policy.file.confirmation.importance_min
            or binds not in (None, RecallSemantics.DEFAULT)
            or precedents.contradicted is not None
        )
    )
    is_left = disposal is Disposal.CONSENT and _is_left_to_operators(case, asked_topic)
    is_silent = disposal.is_held and not is_waiting
    if is_silent:  # repetition makes no joke true, and no scrap a statement
        is_enough = {each.check for each in stopping} <= {"speculation", "score"}
        released = "repeated" if is_enough else "said plainly"
        detail = f"{detail}; it is on hold until it is {released}; no question is asked"
    return Assessment(
        disposal=disposal,
        reason=reason,
        detail=ALL_PASSED if disposal is Disposal.ADMIT else detail,
        findings=results,
        confidence=confidence,
        parts=parts,
        category=reading.category,
        topic=topic,
        sensitivity=_sensitivity(cleaned, reading),
        is_redacted=bool(cleaned.redacted or cleaned.refused),
        recall_semantics=semantics,
        yields_to_live_intent=rule.yields_to_live_intent,
        lifetime_days=_lifetime_days(case),
        question=(
            question(candidate, disposal, reason, asked_topic, policy, precedents.contradicted)
            if is_waiting and not is_left
            else None
        ),
        lapses_at=(
            later(now, timedelta(days=policy.file.confirmation.lapses_days)) if is_silent else None
        ),
        policy_version=policy.version,
        domain=policy.domain,
        inference_key=inference_key(candidate.note),
        is_contacts_word=is_contacts,
        is_hedged=not case.is_confirmed and _is_hedged(case),
        importance=_weight_in(case) if candidate.note.importance is None else None,
    )


def _is_left_to_operators(case: Case, topic: str | None) -> bool:
    """True if the contact is not asked to consent to a claim that an extractor read.

    The claim is about another person, is unimportant, or is of no use to a service. If the contact
    asked to remember it, they are asked.
    """
    candidate, rule = case.candidate, case.policy.file.confirmation
    return (
        candidate.confidence is not None
        and not is_request(candidate)
        and (
            candidate.subject != CONTACT_SUBJECT
            or _is_anothers(candidate.claim)
            or topic in rule.unasked_topics
            or _weight_in(case) < rule.consent_importance_min
        )
    )


def _semantics(
    candidate: Candidate, said: RecallSemantics | None, usual: RecallSemantics
) -> RecallSemantics:
    """How a fact is recalled: by its words or category, if its speaker may bind an agent.

    An order or ban in a document or a tool's result is kept as information, but does not bind an
    agent. Otherwise a sentence that was slipped into a document could give every later conversation
    a rule. An agreement of another person does not bind either. A withdrawn permission binds also
    if a trusted system says it.
    """
    wanted = said or usual
    if candidate.confirmed_by or wanted is RecallSemantics.DEFAULT:
        return wanted
    heard = [evidence.source_kind for evidence in candidate.evidence]
    whose = [each for each in (candidate.note.trust, *heard) if each is not SourceKind.EXTRACTOR]
    is_theirs = said is not None or not _is_anothers(candidate.claim)
    taken_back = find_taking_back(candidate.claim)
    is_told = taken_back and not taken_back.startswith(_ORDERING)
    binding = (*OWN_WORDS, SourceKind.APPROVED_DOC) if is_told else OWN_WORDS
    may_bind = is_theirs and all(each in binding for each in whose)
    return wanted if may_bind else RecallSemantics.DEFAULT


def _is_anothers(claim: str) -> bool:
    """True if the note is about a relative or colleague of the contact, and not about both."""
    told = CLAIMS_OPENING.sub("her ", claim)
    another = read_words(told).subject
    return bool(another) and f"{another} and " not in told.casefold()


def _lifetime_days(case: Case) -> int | None:
    """The number of days after which the fact may have changed, by the note or the policy."""
    note, reading = case.candidate.note, case.reading
    if note.lifetime_days is not None:
        return note.lifetime_days
    slot = note.slot if note.slot is not None and note.slot.is_known else None
    is_lasting = case.policy.lasts(
        reading.weight,
        (*reading.topics, *filter(None, [note.topic])),
        note.importance or 0.0,
        slot.attribute if slot and slot.value else None,
    )
    return case.policy.lifetime_days(reading.category, note.trust, is_lasting=is_lasting)


def _weight_in(case: Case) -> float:
    """The importance, 0 to 1, from the caller or else from the words."""
    given = case.candidate.note.importance
    return case.policy.importance(case.reading.weight) if given is None else given


def with_effective_source(candidate: Candidate) -> Candidate:
    """The source of the candidate: the least trusted of its own source and its evidence.

    Otherwise a tool's output in a session would become an extractor's word. A confirmed note is the
    word of the person who confirmed it.
    """
    note = candidate.note
    if candidate.confirmed_by:
        by_contact = candidate.confirmed_by[-1] == CONTACT
        said = SourceKind.USER_EXPLICIT if by_contact else SourceKind.OPERATOR
        return replace(candidate, note=replace(note, source_kind=said))
    source = note.trust
    if candidate.confidence is not None and SourceKind.EXTRACTOR.is_trusted_less_than(source):
        source = SourceKind.EXTRACTOR  # a person who says it has no extractor's confidence
    for evidence in candidate.evidence:
        if evidence.source_kind.is_trusted_less_than(source):
            source = evidence.source_kind
    if source is note.trust:
        return candidate
    return replace(candidate, note=replace(note, source_kind=source))


def inference_key(note: Note) -> str:
    """The key of an inference about a contact: equal if the slots, or else the words, are equal."""
    key = note.slot_key
    if key is None:
        key = " ".join(_WORD.findall(canonical_text(note.text).casefold())) or note.text
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _weight(finding: CheckFinding) -> int:
    if finding.disposal is Disposal.REJECT:
        return 0 if finding.check in FORBIDDING else 2
    if finding.reason is GateReason.DIRECTIVE:
        return 1
    if finding.reason is GateReason.NOT_SAID_PLAINLY:  # it asks nobody for consent
        return 3
    return 4 if finding.disposal is Disposal.CONSENT else 5


def _is_hedged(case: Case) -> bool:
    reading, confidence, policy = case.reading, case.confidence, case.policy
    if case.is_withdrawal and not reading.hedge:
        return False
    is_guess = bool(reading.hedge or reading.speculation or reading.guess)
    return is_guess or confidence < policy.file.trust.sure_min


def _sensitivity(cleaned: Cleaned, reading: ClaimReading) -> Sensitivity:
    if "secret" in cleaned.refused | cleaned.redacted | cleaned.kept:
        return Sensitivity.SECRET
    if "health" in (cleaned.believed_topic, *reading.topics):
        return Sensitivity.PHI
    if cleaned.redacted or cleaned.kept or cleaned.refused:
        return Sensitivity.PII
    return Sensitivity.LOW if reading.topics else Sensitivity.NONE
