"""The real source of a claim: the contact, if an extractor only passes on their words. Pure.

Trust depends on the evidence, not on the door. A claim that an extractor read from a conversation
ranks as the contact's word only if the contact's own literal words support it. Otherwise an
extractor could attribute any claim to any person. Whether the claim is written at all is not
decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.reading import ClaimReading
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import CONTACT_SUBJECT
from reconciler.frozen import StringSet
from reconciler.reading.cues.classification import (
    CLAIMS_OPENING,
    Literalness,
    classify_literalness,
    find_hedge,
    find_hedge_of,
    find_speculation,
    find_taking_back,
)
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.guard import (
    find_differences,
    find_news,
    is_english,
    is_repeated_in,
    share_a_word,
    shared_words,
    speaks_of_another,
)
from reconciler.reading.guard.tokens import months, words_of
from reconciler.reading.sensitive_data import TOKEN
from reconciler.reading.text_reading import find_condition, is_reported, read_text

_CLAUSE_END = re.compile(r"[;,](?!\d)|\s(?:and|but|though|although)\s")
_OPEN = re.compile(r"\b(?:if|unless|assuming|suppos(?:e|ing)|provided)\b", re.IGNORECASE)
"""Words that leave a sentence open, anywhere in it: stricter than the gate, which only asks."""

_DATING = r"as of|as at|(?<=week )before|(?<=weekend )before|(?<=month )before|(?<=night )before"
"""Words before a date that only says when something was told."""

_CLAUSE = re.compile(
    r"[;,:]\s+|\s-\s|\s(?:and|but|though|although|so|because|since)\s", re.IGNORECASE
)
"""The end of a clause. A denial, a question or a doubt in a clause concerns only this clause."""

_MAY = r"(?-i:(?<![Yy]ou )may|may(?=.*\b(?:I|am|is|are|was|were|have|has)\b))"
"""A "may" that permits nothing: "you may think that I live there", but not "you may call me"."""

_GOVERNED = re.compile(
    rf"(?:'d|\b(?:would|could|might|{_MAY}|should))\b"
    r"(?! (?:like|love|need|prefer|rather|say|not)\b(?! to\b))"
    r"|\b(?:is|was|from|about|than) (?:to|being)\b|\bto \w+\b(?=.*\bone day\b)",
    re.IGNORECASE,
)
"""Words that turn the claim after them into a wish or a thought: "my dream is to"."""

_OF_ANOTHER = re.compile(r"\b(?:he|she|they)(?:'s|['’]re)?\s*\Z", re.IGNORECASE)
"""Words before cited words that have another subject than the contact."""

_FIRST = re.compile(
    r"\b(?:ich|mi[rc]h?|wir|uns|yo|me|nos|nosotr[oa]s|je|j(?=['’])|moi|nous|io|mi|ci|noi|eu|nós|ik|wij|we)\b",
    re.IGNORECASE,
)
"""Words for the speaker in other languages; a turn without such a word may be about any person."""

_LIMITS = re.compile(r"\b(?:only|except|unless|until|till|just)\b", re.IGNORECASE)
"""Words that limit what the rest of a statement says."""

_WAS = re.compile(r"\b(?:was|were|had)\b(?! \w+(?:ed|en|born)\b)", re.IGNORECASE)
_IS = re.compile(r"(?:'(?:m|s|re|ve)|\b(?:am|is|are|has|have|does|do|now))\b", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_WORDS = re.compile(r"\w+")
_DENIED = frozenset({Difference.NEGATION, Difference.CESSATION})
_HARD = frozenset(
    {
        Difference.NUMBER,
        Difference.AMOUNT,
        Difference.DATE,
        Difference.IDENTIFIER,
        Difference.NAME,
    }
)
_NUMBER = re.compile(rf"{TOKEN.pattern}|\d+")


def is_contacts_word(cleaned: Cleaned, reading: ClaimReading, confidence_min: float) -> bool:
    """True if an extractor's claim is what the contact said, and meant literally.

    Every cited span is in a turn of the contact, in the contact's own voice. The sentence around it
    is a literal statement without a hedge. The cited words support the claim.

    Args:
        cleaned: the candidate, its spans checked.
        reading: the cues in its words.
        confidence_min: from this confidence of the extractor up, 0 to 1, the claim is believed.
    """
    candidate = cleaned.candidate
    is_read_out = candidate.note.trust is SourceKind.EXTRACTOR
    if not is_read_out or cleaned.missing_spans or not candidate.is_literal:
        return False
    if candidate.confidence is None or candidate.confidence < confidence_min:
        return False
    if reading.literalness.kind is not Literalness.LITERAL or reading.directives:
        return False
    if candidate.is_introduced or find_contrary(candidate) is not None:
        return False
    return _is_carried(candidate) and all(
        _is_stated_by_the_contact(evidence, candidate.claim) for evidence in candidate.evidence
    )


def find_contrary(candidate: Candidate) -> str | None:
    """Find the contact's sentence that does not say what an extractor claims from a part of it.

    The sentence denies the claim, asks about it, leaves it open, wishes for it, or says that it is
    past: "I'm not a nurse" is no evidence that she is a nurse, even if only "a nurse" is cited.
    None if one citation of the contact's words has no such sentence around it.
    """
    if candidate.confidence is None:  # a person's note, which quotes nothing
        return None
    said = [each for each in candidate.evidence if each.source_kind is SourceKind.USER_EXPLICIT]
    found = [
        next((cited.text for cited in clauses if _is_contrary(cited, candidate.claim)), None)
        for evidence in said
        for span in evidence.spans
        if (clauses := list(_cited_clauses(evidence.text, span)))
    ]
    return None if not found or None in found else found[0]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause that a citation touches.

    Attributes:
        text: the whole clause.
        before: its words before the cited words.
        rest: all of its words that are not cited.
        led: the sentence up to the end of the clause.
        beside: the sentence, with the sentences right before and after the clause.
    """

    text: str
    before: str
    rest: str
    led: str
    beside: str


def _cited_clauses(text: str, span: str) -> Iterator[_Clause]:
    """The clauses of a text that a span touches, at its first place."""
    reading = read_text(text)
    start = text.find(span)
    end = start + len(span.rstrip(" .!?,;"))
    for sentence in reading.around(span):
        breaks = [match.span() for match in _CLAUSE.finditer(sentence.text)]
        begins = [sentence.start, *(sentence.start + stop for _, stop in breaks)]
        ends = [*(sentence.start + begin for begin, _ in breaks), sentence.end]
        for begin, stop in zip(begins, ends, strict=True):
            if begin < end and start < stop:
                before, behind = text[begin : max(begin, start)], text[min(end, stop) : stop]
                near = reading.around(text[max(begin - 2, 0) : stop + 2])
                yield _Clause(
                    text[begin:stop],
                    before,
                    f"{before} | {behind}",
                    text[sentence.start : stop],
                    text[near[0].start : near[-1].end],
                )


def _is_contrary(cited: _Clause, claim: str) -> bool:
    plain = _without_hyphens(read_text(cited.text).plain)
    claim = _without_hyphens(CLAIMS_OPENING.sub("", claim))
    if not is_english(cited.text):
        return _is_unread_contrary(cited)
    if not share_a_word(claim, plain):
        return False
    if is_reported(read_text(cited.led).plain) or _OF_ANOTHER.search(cited.before):
        return True
    is_repeated = is_repeated_in(claim, plain)
    if _is_asked(plain):
        return is_repeated
    differences = find_differences(claim, plain)
    is_denied = any(each.kind in _DENIED and each.in_fact for each in differences)
    if is_denied and (is_repeated or _WORDS.search(cited.rest)):
        return True
    is_open = _OPEN.match(plain) or find_hedge(plain) or find_speculation(plain)
    if is_open and not (find_hedge(claim) or find_speculation(claim) or _OPEN.search(claim)):
        return True
    is_mocked = classify_literalness(cited.beside).kind is Literalness.SARCASTIC
    if is_mocked or classify_literalness(plain).kind is not classify_literalness(claim).kind:
        return True
    return bool(_GOVERNED.search(plain) and not _GOVERNED.search(claim)) or _is_over(plain, claim)


def _is_unread_contrary(cited: _Clause) -> bool:
    """True if words of another language beside the cited words deny them or ask."""
    words = _words(cited.rest)
    negations = words_of("foreign_negation", "negation")
    return not words.isdisjoint(negations) or (_is_asked(cited.text) and bool(words))


def _is_over(said: str, claim: str) -> bool:
    """True if the words describe as past what the claim describes as present."""
    return bool(_WAS.search(said) and not _IS.search(said)) and bool(
        _IS.search(claim) and not _WAS.search(claim)
    )


def _is_asked(said: str) -> bool:
    return said.rstrip(" '\")”’").endswith(("?", "？"))


def _is_stated_by_the_contact(evidence: Evidence, claim: str) -> bool:
    if evidence.source_kind is not SourceKind.USER_EXPLICIT or not evidence.spans:
        return False
    return all(_is_plain_statement(sentence, claim) for sentence in _sentences(evidence))


def _is_plain_statement(sentence: str, claim: str) -> bool:
    is_open = bool(find_speculation(sentence) or _OPEN.search(sentence))
    is_hedged = is_open or find_hedge_of(claim, sentence) is not None
    plain = read_text(sentence).plain
    is_literal = classify_literalness(sentence).kind is Literalness.LITERAL and not (
        find_condition(plain) or is_reported(plain)
    )
    return is_literal and not is_hedged and not _is_asked(sentence)


def _sentences(evidence: Evidence) -> Iterator[str]:
    """The whole sentences of a cited span: a span may leave out "if" or "I don't think"."""
    for span in evidence.spans:
        touched = read_text(evidence.text).around(span)
        yield from (sentence.text for sentence in touched)
        if not touched:
            yield span


def _is_carried(candidate: Candidate) -> bool:
    """True if the cited words support the claim: the claim adds nothing that code can see.

    It may use other words. But it must not add a number, name, relative, day or denial to the cited
    words and the words before them, unless the denial ends a fact that the extractor was shown. A
    withdrawn permission must be cited word for word.
    """
    claim = _without_hyphens(CLAIMS_OPENING.sub("", _undated(candidate.claim, candidate.evidence)))
    cited = [
        _without_hyphens(sentence)
        for evidence in candidate.evidence
        for sentence in _sentences(evidence)
    ]
    slot, said = candidate.note.slot, " ".join(cited)
    heard = " ".join((said, *candidate.said_before))
    shown = None if slot is None or slot.is_personal else slot.value  # else a token stands for it
    value = _without_hyphens(_undated(shown or "", candidate.evidence))
    if not is_english(f"{candidate.claim} {heard}"):
        days = (f"{each.said_at:%-d %-m %Y}" for each in candidate.evidence)
        told = _numbers(" ".join((said, _days(candidate), *days)))
        stated = f"{claim} {value}"
        is_about = _numbers(stated) <= told and bool(shared_words(stated, said))
        is_own = candidate.subject != CONTACT_SUBJECT or any(
            _FIRST.search(each.text) for each in candidate.evidence
        )
        return is_about and is_own and denies_something(claim) == denies_something(said)
    news = (each for part in (claim, value) for each in find_news(part, said))
    if any(_is_hard(each, candidate) and not _is_heard(each, heard) for each in news):
        return False
    is_named = not _words(heard).isdisjoint(candidate.subject.split())
    if not (_relatives(claim) <= _relatives(heard) or is_named):
        return False
    taken_back = find_taking_back(claim)
    if taken_back and find_taking_back(said):  # one may say "opted out", the other "do not share"
        return is_repeated_in(claim, f"{said} {taken_back} contact")
    is_about = share_a_word(value or claim, said) or (
        share_a_word(value, claim) and share_a_word(claim, said)
    )
    clauses = (clause for sentence in cited for clause in _CLAUSE_END.split(sentence))
    return is_about and not _is_said_otherwise(candidate, claim, clauses)


def _is_heard(found: Finding, heard: str) -> bool:
    """True if a name that the cited words leave out was said earlier in the conversation."""
    named = _words(found.in_note)
    return found.kind is Difference.NAME and named <= _words(heard)


def denies_something(text: str) -> bool:
    """True if a text in any language holds a word of denial."""
    words = _words(read_text(text).plain)
    return not words.isdisjoint(words_of("foreign_negation", "negation"))


def _is_hard(found: Finding, candidate: Candidate) -> bool:
    """True if the news in a claim must stand literally in the words."""
    if not found.in_note or found.kind not in _HARD:
        return False
    told = _numbers(found.in_note)
    is_day = found.kind in (Difference.DATE, Difference.NUMBER) and bool(told)
    return not (is_day and told <= _numbers(_days(candidate)))


def _days(candidate: Candidate) -> str:
    """The days that the extractor read from words such as "next week", and their year."""
    ends_at, year = candidate.holds_until or candidate.ended_at, candidate.note.said_at.year
    last = ends_at and ends_at - timedelta(days=1)
    days = (f"{day:%-d %Y}" for day in (candidate.note.valid_from, last) if day)
    return " ".join((*days, f"{year} {year + 1}"))


def _words(text: str) -> StringSet:
    return frozenset(_WORDS.findall(text.casefold()))


def _numbers(text: str) -> StringSet:
    return frozenset(_NUMBER.findall(text))


def _undated(text: str, evidence: Iterable[Evidence]) -> str:
    """The extractor's text without the day or month on which its evidence was said.

    The extractor is told to write that day instead of "now" or "last weekend". Other dates stay: a
    deadline on that day was not said.
    """
    names = {number: month for month, number in months().items()}
    for said_at in {each.said_at for each in evidence}:
        day = rf"(?:{said_at.day} )?{names[said_at.month]} {said_at.year}\b"
        text = re.sub(rf"\b(?:{_DATING}) {day},?", "", text, flags=re.IGNORECASE)
    return text.strip()


def _relatives(text: str) -> StringSet:
    """The people in a text, by their relation to another person; "the assistant" is the agent."""
    said = " ".join(_WORDS.findall(_without_hyphens(text).casefold())).replace("the assistant", "")
    return words_of("relative").intersection(said.split())


def _is_said_otherwise(candidate: Candidate, claim: str, clauses: Iterable[str]) -> bool:
    """True if words on the same subject name another person, or deny, limit or affirm the claim."""
    telling = [clause for clause in clauses if share_a_word(claim, clause)]
    about = [find_differences(claim, clause) for clause in telling]
    is_about_contact = CLAIMS_OPENING.match(candidate.claim) and not _relatives(claim)
    is_about_contact = is_about_contact and candidate.subject == CONTACT_SUBJECT
    denied = frozenset() if denies_something(claim) else _DENIED
    for clause, found in zip(telling, about, strict=True):
        is_anothers = any(each.kind is Difference.SUBJECT and each.in_fact for each in found)
        if is_anothers or (is_about_contact and speaks_of_another(clause.strip())):
            return True
        if any(each.kind in denied and each.in_fact for each in found):
            return True
        if _LIMITS.search(clause) and not _LIMITS.search(claim):
            return True
    if candidate.relations is not None and candidate.relations.ended_ids:
        return False
    return bool(about) and all(
        any(each.kind in _DENIED and each.in_note for each in said) for said in about
    )


def _without_hyphens(text: str) -> str:
    return _HYPHEN.sub("", text)
