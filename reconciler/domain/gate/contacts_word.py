"""The real source of a claim: the contact, if an extractor only passes on their words. Pure.

Trust is the evidence's, not the door's. What an extractor read out of a conversation ranks as the
contact's word if the contact's own literal words carry it; else an extractor could attribute
anything to any person. Whether the claim is written at all is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from reconciler.domain.conditions import find_condition, is_reported
from reconciler.domain.gate.classification import find_speculation
from reconciler.domain.gate.clauses import CLAIMS_OPENING, find_hedge_of
from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.literalness import Literalness, classify_literalness
from reconciler.domain.gate.reading import ClaimReading
from reconciler.domain.guard import find_differences, find_news, is_repeated_in
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.findings import Difference
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.slots import Slot
from reconciler.domain.text_reading import read_text

__all__ = ["is_contacts_word"]

_CLAUSE_END = re.compile(r"[;,]|\s(?:and|but|though|although)\s")
_OPEN = re.compile(r"\b(?:if|unless|assuming|suppos(?:e|ing)|provided|in case)\b", re.IGNORECASE)
"""What leaves a sentence open, wherever it stands: stricter than the gate, which only asks."""

_DATING = r"as of|as at|(?<=week )before|(?<=weekend )before|(?<=month )before|(?<=night )before"
"""What stands before a date that only says when something was told."""

_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_WORDS = re.compile(r"\w+")
_OTHERWISE = frozenset({Difference.NEGATION, Difference.CESSATION, Difference.SUBJECT})
"""Differences that make another statement of the same words: denied, ended, of another person."""


def is_contacts_word(cleaned: Cleaned, reading: ClaimReading, confidence_min: float) -> bool:
    """Whether an extractor's claim is what the contact said, and meant as it stands.

    Every cited span stands in a turn of the contact's; the sentence around it is a literal
    statement without a hedge; and the cited words carry the claim.

    Args:
        cleaned: the candidate, its spans checked.
        reading: what its words give away.
        confidence_min: the extractor's own confidence from which it is believed, 0 to 1.
    """
    candidate = cleaned.candidate
    is_read_out = candidate.note.trust is SourceKind.EXTRACTOR and not candidate.is_fallback
    if not is_read_out or cleaned.missing_spans or not candidate.is_literal:
        return False
    if candidate.confidence is None or candidate.confidence < confidence_min:
        return False
    if reading.literalness.kind is not Literalness.LITERAL or reading.directives:
        return False
    is_stated = all(
        _is_stated_by_the_contact(evidence, candidate.claim) for evidence in candidate.evidence
    )
    return is_stated and _is_carried(candidate)


def _is_stated_by_the_contact(evidence: Evidence, claim: str) -> bool:
    if evidence.source_kind is not SourceKind.USER_EXPLICIT or not evidence.spans:
        return False
    return all(_is_plain_statement(sentence, claim) for sentence in _sentences(evidence))


def _is_plain_statement(sentence: str, claim: str) -> bool:
    is_asked = sentence.rstrip(" '\")”’").endswith(("?", "？"))
    is_open = bool(find_speculation(sentence) or _OPEN.search(sentence))
    is_hedged = is_open or find_hedge_of(claim, sentence) is not None
    plain = read_text(sentence).plain
    is_literal = classify_literalness(sentence).kind is Literalness.LITERAL and not (
        find_condition(plain) or is_reported(plain)
    )
    return is_literal and not is_asked and not is_hedged


def _sentences(evidence: Evidence) -> Iterator[str]:
    """The whole sentences that a span cites: a span may leave out "if" or "I don't think"."""
    for span in evidence.spans:
        touched = read_text(evidence.text).around(span)
        yield from (sentence.text for sentence in touched)
        if not touched:
            yield span


def _is_carried(candidate: Candidate) -> bool:
    """Whether the cited words say what is claimed: its value, and no number or name beside them.

    Without a value that stands in them as it is, all words of content of claim and value have to.
    """
    claim = _without_hyphens(CLAIMS_OPENING.sub("", _undated(candidate.claim, candidate.evidence)))
    cited = [
        _without_hyphens(sentence)
        for evidence in candidate.evidence
        for sentence in _sentences(evidence)
    ]
    news = find_news(claim, " ".join(cited))
    if any(
        difference.in_note and difference.kind not in (*_OTHERWISE, Difference.ROLES)
        for difference in news
    ):
        return False
    if not _relatives(claim) <= _relatives(" ".join(cited)):
        return False
    slot, said = candidate.note.slot, " ".join(cited)
    if slot is not None and slot.value is not None:
        clauses = [clause for each in cited for clause in _CLAUSE_END.split(each)]
        holding = [clause for clause in clauses if _holds(slot, clause)]
        if holding:
            return not any(_says_otherwise(claim, clause) for clause in holding)
        if not is_repeated_in(_without_hyphens(_undated(slot.value, candidate.evidence)), said):
            return False
    return is_repeated_in(claim, said) and not _says_otherwise(claim, said)


def _undated(text: str, evidence: Iterable[Evidence]) -> str:
    """What an extractor wrote, without the day or month on which its evidence was said.

    It writes it in the place of "now" or "last weekend", as it is told to. No other date:
    a deadline on that day is none that was said.
    """
    months = {number: month for month, number in vocabulary().months.items()}
    for said_at in {each.said_at for each in evidence}:
        day = rf"(?:{said_at.day} )?{months[said_at.month]} {said_at.year}\b"
        text = re.sub(rf"\b(?:{_DATING}) {day},?", "", text, flags=re.IGNORECASE)
    return text.strip()


def _relatives(text: str) -> frozenset[str]:
    return vocabulary().relatives.intersection(_spaced(text).split())


def _says_otherwise(claim: str, said: str) -> bool:
    return any(difference.kind in _OTHERWISE for difference in find_differences(claim, said))


def _holds(slot: Slot, said: str) -> bool:
    """Whether the words of the value stand in what was said, one after the other."""
    value = f" {_spaced(slot.value or '')} "
    return value.strip() != "" and value in f" {_spaced(said)} "


def _spaced(text: str) -> str:
    return " ".join(_WORDS.findall(_without_hyphens(text).casefold()))


def _without_hyphens(text: str) -> str:
    return _HYPHEN.sub("", text)
