"""Disposing: from all checks' findings to what becomes of a candidate. Pure.

The order of precedence: what forbids a write, then quarantine, then any other refusal, then
consent, then confirmation. Whatever decides, every check's finding stays on record.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from reconciler.domain.gate.checks import FORBIDDING, Case, consent_topic, findings
from reconciler.domain.gate.classification import find_taking_back
from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.contacts_word import is_contacts_word
from reconciler.domain.gate.literalness import CLAIMS_OPENING, Literalness, classify_literalness
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.gate.questions import is_worth_asking, question
from reconciler.domain.gate.reading import ClaimReading, read
from reconciler.domain.gate.scoring import score
from reconciler.domain.guard.reading import read as read_words
from reconciler.domain.records.assessment import ALL_PASSED, Assessment, CheckFinding
from reconciler.domain.records.candidates import CONTACT, Candidate, Precedents
from reconciler.domain.records.far_ahead import later
from reconciler.domain.records.kinds import (
    NOT_FOR_CONTACTS,
    OWN_WORDS,
    Disposal,
    GateReason,
    RecallSemantics,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import Note, canonical_text

_NO_PRECEDENTS = Precedents()
_WORD = re.compile(r"\w+")
_ORDERING = ("you", "from", "no more", "stop")
"""How words begin that take a permission back by an order: "you may not share"."""


def assess(
    cleaned: Cleaned,
    policy: GatePolicy,
    now: datetime,
    precedents: Precedents = _NO_PRECEDENTS,
    *,
    may_ask: bool = True,
) -> Assessment:
    """How the gate disposes of a candidate.

    Args:
        cleaned: the candidate without the sensitive data that the policy takes out.
        policy: the rules that apply.
        now: the time from which recency and a silent wait count (UTC).
        precedents: what became of the same inference before.
        may_ask: whether there is room for another question to the contact.
    """
    candidate = cleaned.candidate
    reading = read(candidate, policy, cleaned.leanings)
    is_contacts = is_contacts_word(cleaned, reading, policy.file.trust.contacts_word_min)
    if is_contacts:  # from here on by the floors of the contact's word
        said = replace(candidate.note, source_kind=SourceKind.USER_EXPLICIT)
        candidate = replace(candidate, note=said)
        cleaned = replace(cleaned, candidate=candidate)
    confidence, parts = score(candidate, reading, policy, now, precedents)
    case = Case(
        cleaned=cleaned,
        reading=reading,
        policy=policy,
        confidence=confidence,
        precedents=precedents,
        is_contacts_word=is_contacts,
    )
    results = tuple(findings(case))
    decisive = _decisive(results)
    disposal, reason, detail = decisive.disposal, decisive.reason, decisive.detail
    is_own_word = policy.file.sources[candidate.note.trust].is_own_word
    is_asked = disposal in (Disposal.CONFIRM, Disposal.CONSENT)
    if precedents.declined_id and (is_asked or (disposal is Disposal.ADMIT and not is_own_word)):
        disposal, reason = Disposal.REJECT, GateReason.DECLINED_BEFORE
        detail = "somebody said no to it before; it is not asked again"
    elif precedents.is_answered and is_asked:
        disposal, reason = Disposal.REJECT, GateReason.ANSWERED_SINCE
        detail = "the contact or an operator answered it later than this was said"
    is_held = disposal in (Disposal.CONFIRM, Disposal.CONSENT)
    rule = policy.file.categories[reading.category]
    asked_topic = consent_topic(case)
    topic = candidate.note.topic or next(iter(reading.topics), None)
    semantics = _semantics(candidate, reading.semantics, rule.recall)
    is_question = (
        is_held
        and (reason in NOT_FOR_CONTACTS or (may_ask and _is_plain(case)))
        and is_worth_asking(
            reason,
            _weight_in(case),
            semantics,
            policy,
            is_contradicting=precedents.contradicted is not None,
        )
    )
    if is_held and not is_question:
        detail = f"{detail}; it waits until it is said again, without a question"
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
            if is_question
            else None
        ),
        lapses_at=(
            later(now, timedelta(days=policy.file.confirmation.lapses_days))
            if is_held and not is_question
            else None
        ),
        policy_version=policy.version,
        domain=policy.domain,
        inference_key=inference_key(candidate.note),
        is_contacts_word=is_contacts,
        is_hedged=not case.is_confirmed and _is_hedged(case),
        importance=_importance(case),
    )


def _semantics(
    candidate: Candidate, said: RecallSemantics | None, usual: RecallSemantics
) -> RecallSemantics:
    """As the words or else the category have it, if a person who may bind an agent said them.

    An order or ban in a document or a tool's result is known, and binds no agent: else a sentence
    slipped into one could give every later conversation a rule. Nor does what another person has
    agreed to. That a permission was taken back binds from a trusted system, too.
    """
    if candidate.confirmed_by:
        return said or usual
    heard = [evidence.source_kind for evidence in candidate.evidence]
    whose = [each for each in (candidate.note.trust, *heard) if each is not SourceKind.EXTRACTOR]
    is_theirs = said is not None or not _is_anothers(candidate.claim)
    taken_back = find_taking_back(candidate.claim)
    is_told = taken_back and not taken_back.startswith(_ORDERING)
    binding = (*OWN_WORDS, SourceKind.APPROVED_DOC) if is_told else OWN_WORDS
    may_bind = is_theirs and all(each in binding for each in whose)
    return (said or usual) if may_bind else RecallSemantics.DEFAULT


def _is_anothers(claim: str) -> bool:
    """Whether it tells of a relative or colleague of the contact, and not of both."""
    told = CLAIMS_OPENING.sub("her ", claim)
    another = read_words(told).subject
    return bool(another) and f"{another} and " not in told.casefold()


def _lifetime_days(case: Case) -> int | None:
    """After how many days it may have changed: as it came with the note, else by the policy."""
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


def _importance(case: Case) -> float | None:
    """What the policy gives for the weight of its words; None where the caller said otherwise."""
    return None if case.candidate.note.importance is not None else _weight_in(case)


def _is_plain(case: Case) -> bool:
    """Whether the contact can be asked about it as it stands: irony or a what-if waits."""
    return classify_literalness(case.candidate.claim).kind is Literalness.LITERAL


def _weight_in(case: Case) -> float:
    """How much it matters, 0 to 1, as the caller or else its words say."""
    given = case.candidate.note.importance
    return case.policy.importance(case.reading.weight) if given is None else given


def with_effective_source(candidate: Candidate) -> Candidate:
    """The candidate as the word of the least trusted of its source and its evidence.

    Otherwise a tool's output would become an extractor's word by being read out of a session. What
    was confirmed is the word of who confirmed it.
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
    """Equal for the same inference about the same contact: its slot, else its words."""
    key = note.slot.key if note.slot else None
    if key is None:
        key = " ".join(_WORD.findall(canonical_text(note.text).casefold())) or note.text
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _decisive(results: Sequence[CheckFinding]) -> CheckFinding:
    """The finding that decides; the first of those that weigh most."""
    stopping = [finding for finding in results if finding.disposal is not Disposal.ADMIT]
    return min(stopping, key=_weight, default=results[0])


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
