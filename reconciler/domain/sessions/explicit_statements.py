"""Explicit statements: what people ask to have remembered, and slots that they fill themselves.

Here are requests ("from now on", "never call me"; ``config/lexicon/statements.toml``), and the
slots that the slot reader finds in clauses in the first person; only these fill slots. Other
sentences are ignored, because without a model a plain sentence cannot be distinguished from a
passing remark. Never here: the use of a statement, a model, or a clock. Every pattern is tried only
at fixed places, in sentences of bounded length, so the time grows only with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from reconciler.domain.values.attributes import AttributeBook
from reconciler.frozen import Match, Pattern, frozen, in_order
from reconciler.reading.cues.classification import (
    Literalness,
    classify_literalness,
    find_hedge,
    find_taking_back,
    infer_category,
)
from reconciler.reading.cues.introductions import is_marked_at
from reconciler.reading.kinds import Category, Speech
from reconciler.reading.lexicon import Cues, lexicon
from reconciler.reading.question_words import about_the_contact
from reconciler.reading.text_reading import find_condition, is_reported, read_text

if TYPE_CHECKING:
    from reconciler.reading.values.slot_reading import ReadSlot

SENTENCE_LENGTH_MAX = 1_000
"""The most characters of a sentence that is read."""


@frozen
class ExplicitStatement:
    """A sentence's statement about its speaker.

    Attributes:
        text: the statement in the third person, with single spaces; it is a whole sentence.
        span: the sentence, letter by letter as in the text.
        category: preference, fact, decision or procedure.
        is_request: whether it asks to be remembered or obeyed from now on.
        is_hedged: whether the speaker is unsure.
        speech: its meaning, literal or not.
        subject, attribute, value: the slot that it fills, as far as it fills one.
    """

    text: str
    span: str
    category: Category
    is_request: bool
    is_hedged: bool
    speech: Speech
    subject: str | None
    attribute: str | None
    value: str | None


def find_statements(text: str, attributes: AttributeBook) -> Iterator[ExplicitStatement]:
    """Find the explicit statements of a text, in their order; a sentence may hold several.

    Questions, other people's words and passing states give none. Played, imagined or ironic words
    give statements that are marked as such.

    Args:
        text: one message of one speaker, of any length.
        attributes: the known attributes, by which slots are read.
    """
    for said in dict.fromkeys(_sentences(text)):
        # Claims are read first: most sentences have none, and need no further reading.
        if claims := _claims(" ".join(said.split()), attributes):
            yield from _statements(said, claims, attributes)


def _statements(
    said: str, claims: list[_Claim], attributes: AttributeBook
) -> Iterator[ExplicitStatement]:
    speech = _speech(said)
    is_left_alone = speech is None or infer_category(said) is Category.VOLATILE
    condition = find_condition(read_text(said).plain)
    speech = speech or Speech.LITERAL  # a request that quotes a person is meant
    for claim in claims:
        if is_left_alone and not claim.is_request:
            continue
        slot = _own_slot(attributes.read_slot(claim.text))
        slot = None if condition or is_left_alone else slot
        meant = Speech.HYPOTHETICAL if condition and speech is Speech.LITERAL else speech
        yield ExplicitStatement(
            text=about_the_contact(claim.text),
            span=said,
            category=_lasting(infer_category(claim.text)),
            is_request=claim.is_request,
            is_hedged=find_hedge(said) is not None,
            speech=_of_request(speech, said) if claim.is_request else meant,
            subject=slot.subject if slot else None,
            attribute=slot.attribute if slot else None,
            value=slot.value if slot else None,
        )


def _lasting(category: Category) -> Category:
    return Category.FACT if category in (Category.SUMMARY, Category.VOLATILE) else category


@cache
def _lexicon() -> Cues:
    return Cues(lexicon("statements"), flags=re.IGNORECASE)


@cache
def _the(name: str) -> Pattern:
    """Return the only cue of a list."""
    return _lexicon().pattern(name)


# Sentences: a person's own words


def _sentences(text: str) -> Iterator[str]:
    """Find the sentences that may be statements."""
    for sentence in read_text(text).sentences:
        is_own = not is_marked_at(text, sentence.start, sentence.start + 1)
        is_short = len(sentence.text) <= SENTENCE_LENGTH_MAX
        if is_own and is_short and (told := _stated_part(sentence.text)):
            yield told


def _stated_part(said: str) -> str:
    """Return the stating part of a sentence: all, or the part before its question; may be empty."""
    if not _is_question(said):
        return said
    asked = _the("asked_then").search(said)
    stated = said[: asked.start()].rstrip() if asked else ""
    return "" if _is_question(stated) else stated


def _is_question(said: str) -> bool:
    start = _after(_the("fillers"), said, 0)
    if _the("asked_to_remember").match(said, start):
        return False
    return said.rstrip("\"”')!").endswith("?") or bool(_the("asking").match(said, start))


# Meaning: literal or not

_SPEECHES = {
    Literalness.LITERAL: Speech.LITERAL,
    Literalness.SARCASTIC: Speech.SARCASTIC,
    Literalness.HYPOTHETICAL: Speech.HYPOTHETICAL,
    Literalness.CONDITIONAL: Speech.HYPOTHETICAL,
    Literalness.ROLEPLAY: Speech.ROLEPLAY,
}


def _speech(said: str) -> Speech | None:
    """Return the meaning of a sentence, literal or not; None for another person's words."""
    if _the("if_first").match(said):
        return Speech.HYPOTHETICAL
    if is_reported(read_text(said).plain):
        return None
    return _SPEECHES.get(classify_literalness(said).kind)


def _of_request(speech: Speech, said: str) -> Speech:
    """Return the meaning of a request; a rule for a possible case is literal."""
    is_rule = speech is Speech.HYPOTHETICAL and _the("rule_for_a_case").search(said)
    return Speech.LITERAL if is_rule else speech


# Claims: the statements of a sentence, and their beginnings


@in_order
class _Claim:
    text: str
    is_request: bool = False


def _after(pattern: Pattern, text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _claims(said: str, attributes: AttributeBook) -> list[_Claim]:
    start = _after(_the("fillers"), said, 0)
    start = _after(_the("presupposed"), said, start)
    if requested := _request(said, start):
        return [requested]
    if _the("forget").match(said, start):
        return []
    if claims := list(_read_claims(said, start, attributes)):
        return claims
    return [_Claim(_standing(said), is_request=True)] if find_taking_back(said) else []


def _read_claims(said: str, start: int, attributes: AttributeBook) -> Iterator[_Claim]:
    """Find the claims that the slot reader reads in the clauses of a sentence."""
    if _the("subordinate").match(said, start):
        return
    breaks = (match.end() for match in _the("break").finditer(said, start))
    openings = [_the(each) for each in ("own", "subordinate", "unresolved")]
    clauses = [start, *(at for at in breaks if any(each.match(said, at) for each in openings))]
    for begin, end in pairwise([*clauses, len(said)]):
        clause = _the("loose_end").sub("", said[begin:end])
        is_left = _the("subordinate").match(clause) or _the("unsettled").match(clause)
        read = None if is_left else attributes.read_slot(clause)
        if read is not None and _is_own(read):
            yield _Claim(_standing(clause))


def _own_slot(read: ReadSlot | None) -> ReadSlot | None:
    """Return the slot, if it is the speaker's; a denial fills none, as its words say all of it."""
    return None if read is None or read.is_denied or not _is_own(read) else read


def _is_own(read: ReadSlot) -> bool:
    """True if a slot belongs to the speaker or their people."""
    cut = _the("break").search(read.words)
    return bool(_the("own").search(read.words, 0, cut.start() if cut else len(read.words)))


def _standing(clause: str) -> str:
    """Return a clause as a sentence of its own."""
    clause = clause.strip()
    return clause[:1].upper() + clause[1:]


# Requests: to remember something, or to do something from now on


def _request(said: str, start: int) -> _Claim | None:
    if wrapper := _the("remember").match(said, start):
        return _remembered(said, start, wrapper)
    if _the("reach").match(said, start) or (
        _the("call_me").match(said, start) and not said.endswith("?")
    ):
        return _Claim(_standing(said[start:]), is_request=True)
    if rule := _the("rule").match(said, start):
        rest = rule["rest"] or ""
        is_open = bool(_the("unresolved").match(rest))
        return None if is_open else _Claim(_standing(said[start:]), is_request=True)
    return None


def _remembered(said: str, start: int, wrapper: Match) -> _Claim | None:
    """Return the words to be remembered; after the request if they are no sentence alone."""
    rest = said[wrapper.end() :]
    if _the("unresolved").match(rest) or _the("no_memory").match(rest) or len(rest.split()) < 2:
        return None
    if (_the("clause") if wrapper["open"] else _the("own_clause")).match(rest):
        return _Claim(_standing(_ASKED.sub(".", rest)), is_request=True)
    if wrapper["open"] or _the("order").match(rest):
        return _Claim(_standing(_ASKED.sub(".", said[start:])), is_request=True)
    return None


_ASKED = re.compile(r"\s*\?+$")
