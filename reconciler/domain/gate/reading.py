"""Readings: the cues in a candidate's words, read once for all checks. Judges nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from reconciler.domain.gate.cleaning import words_of
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note, Remembered
from reconciler.frozen import Strings, StringSet, field_names, frozen
from reconciler.reading.cues.classification import (
    Literalness,
    LiteralnessFinding,
    Weight,
    classify_literalness,
    find_hearsay,
    find_hedge,
    find_hedge_of,
    find_speculation,
    find_trigger,
    forbids_something_else,
    infer_category,
    infer_recall_semantics,
    infer_weight,
    is_in_person,
)
from reconciler.reading.cues.injection import Directive, DirectiveFinding, find_directives
from reconciler.reading.cues.leanings import NO_LEANINGS, Leaning, Leanings
from reconciler.reading.cues.meaning import Meaning, MeaningFinding, classify_meaning
from reconciler.reading.guard.tokens import pattern_of
from reconciler.reading.kinds import Category, RecallSemantics

_BROUGHT = frozenset(field_names(Remembered))
_BESIDE_THE_TEXT = frozenset(field_names(Note)) - {"text"}

_GRAVEST_FIRST = (
    Literalness.HYPOTHETICAL,
    Literalness.ROLEPLAY,
    Literalness.SARCASTIC,
    Literalness.QUOTED,
    Literalness.CONDITIONAL,
    Literalness.LITERAL,
)


@frozen
class ClaimReading:
    """The cues in the words of a claim and of its evidence, as quotations.

    Attributes:
        guess: whether the whole text reads as a guess or a mood, without a word for it.
        topics: the topics of the words, each with the term that shows it.
    """

    meaning: MeaningFinding
    literalness: LiteralnessFinding
    hedge: str | None
    hearsay: str | None
    is_in_person: bool
    speculation: str | None
    guess: str | None
    trigger: str | None
    directives: tuple[DirectiveFinding, ...]
    topics: dict[str, str]
    category: Category
    semantics: RecallSemantics | None
    weight: Weight


def read(
    candidate: Candidate, policy: GatePolicy, leanings: Leanings = NO_LEANINGS
) -> ClaimReading:
    """Read a candidate, without the checks that the policy switches off.

    Args:
        candidate: what was proposed, cleaned.
        policy: the rules that apply.
        leanings: the classes that the whole text resembles.
    """
    claim = candidate.claim
    quoted = tuple(
        dict.fromkeys(span for evidence in candidate.evidence for span in evidence.quoted)
    )
    if candidate.confirmed_by:  # a person has said that it is worth keeping
        leanings = leanings.without(_WORTHLESS)
    if has_given_slot(candidate.note):  # it says at least that
        leanings = leanings.without(_WORTHLESS | {Leaning.ORDER})
    semantics = _semantics(candidate)
    words = dict(words_of(candidate.note))
    said = _said(candidate.note, words, quoted)
    topics = policy.topics.find(said, _names(candidate.note))
    trigger = _first(find_trigger, _own_words(candidate, policy))
    if (health := leanings.cue(Leaning.HEALTH)) and not _ALLERGY.search(claim):
        topics.setdefault("health", health)
    meaning = _meaning(claim, leanings)
    if meaning.kind in _MAY_LAST and (_has_slot(candidate.note) or trigger or semantics):
        meaning = MeaningFinding(Meaning.STATEMENT, "")
    return ClaimReading(
        meaning=meaning,
        literalness=_literalness(candidate, (*quoted, claim), policy),
        hedge=_first(partial(find_hedge_of, candidate.claim), quoted),
        hearsay=_first(find_hearsay, quoted),
        is_in_person=any(map(is_in_person, quoted)),
        speculation=_first(find_speculation, (*quoted, claim)),
        guess=_guess(candidate, leanings),
        trigger=trigger,
        directives=_directives(candidate, words, leanings),
        topics=topics,
        category=_category(candidate, meaning),
        semantics=semantics,
        weight=Weight.WISH if trigger else _weight(candidate.note, claim, meaning, leanings),
    )


_ALLERGY = re.compile("all?[eé]rg", re.IGNORECASE)
"""The policy's terms say which allergies need consent: a food allergy is told so that others know
it."""

_WORTHLESS = frozenset({Leaning.NOTHING, Leaning.GUESS_OR_VENTING})

_MOOD_MIN = 0.92
"""How sure the model is of a mood that tells of a change: surer of "I feel miserable these days",
less of "I smoke again". Nearly all that operators plainly report is below it, too."""


def _guess(candidate: Candidate, leanings: Leanings) -> str | None:
    """The cue of a guess or a mood; a person's own plain word of a change or an end is none.

    Nor is what an operator plainly reports. "I drink coffee again" has few words, and so resembles
    moods. What is cried out, asked or hedged may still be one.
    """
    claim, cue = candidate.claim, leanings.cue(Leaning.GUESS_OR_VENTING)
    is_plain = (
        cue is not None
        and leanings.shares.get(Leaning.GUESS_OR_VENTING, 1) < _MOOD_MIN
        and not ({"!", "?"} & {*claim} or find_hedge(claim) or find_speculation(claim))
        and (
            candidate.note.source_kind is SourceKind.OPERATOR
            or (
                is_in_person(claim)
                and any(
                    pattern_of(name).search(claim.casefold()) for name in ("change", "cessation")
                )
            )
        )
    )
    return None if is_plain else cue


def _meaning(claim: str, leanings: Leanings) -> MeaningFinding:
    """The meaning of the words; a small or passing text is not a statement."""
    found = classify_meaning(claim)
    if found.kind is Meaning.REMARK and _LASTING & leanings.shares.keys():
        return MeaningFinding(Meaning.STATEMENT, "")
    if found.kind is not Meaning.STATEMENT:
        return found
    if cue := leanings.cue(Leaning.NOTHING):
        return MeaningFinding(Meaning.FILLER, cue, is_whole=True)
    return found


T = TypeVar("T")

_LASTING = {Leaning.STANDING, Leaning.CORRECTION}


def _weight(note: Note, claim: str, meaning: MeaningFinding, leanings: Leanings) -> Weight:
    if meaning.kind is not Meaning.STATEMENT:
        return Weight.REMARK
    if leanings.cue(Leaning.STANDING):
        return Weight.WISH
    weight = infer_weight(claim)
    if leanings.cue(Leaning.CORRECTION) and weight in (Weight.COMMITMENT, Weight.CIRCUMSTANCE):
        return Weight.CORRECTION
    is_known = note.slot is not None and note.slot.is_known and _has_slot(note)
    if is_known and weight in (Weight.COMMITMENT, Weight.CIRCUMSTANCE):
        return Weight.IDENTITY
    return weight


def _semantics(candidate: Candidate) -> RecallSemantics | None:
    """The order or ban in the claim; a ban on something other than its value binds."""
    semantics, slot = infer_recall_semantics(candidate.claim), candidate.note.slot
    is_ban = semantics is RecallSemantics.NEGATIVE
    if is_ban and slot and slot.value and forbids_something_else(candidate.claim, slot.value):
        return RecallSemantics.CONSTRAINT
    return semantics


_MAY_LAST = frozenset(Meaning) - {Meaning.FILLER, Meaning.RAW_OUTPUT}
"""The meaning with the slot, an order or "remember that", which make a note lasting."""


def _has_slot(note: Note) -> bool:
    return note.slot is not None and bool(note.slot.attribute and note.slot.value)


def has_given_slot(note: Note) -> bool:
    """True if attribute and value came with the note: "Yes, it is." says no more than they do."""
    return _has_slot(note) and note.slot_read_from is None


def _category(candidate: Candidate, meaning: MeaningFinding) -> Category:
    """The given category; else a passing note is volatile, and the words decide the rest.

    A note that ends a fact by a model's word lasts as long as that fact: "is still waiting for the
    refund".
    """
    if candidate.note.category is not None:
        return Category(candidate.note.category)
    is_remark = meaning.kind is Meaning.REMARK and not candidate.confirmed_by
    category = Category.VOLATILE if is_remark else infer_category(candidate.claim)
    ends_any = candidate.relations is not None and bool(candidate.relations.ended_ids)
    return Category.FACT if ends_any and category is Category.VOLATILE else category


def _literalness(candidate: Candidate, texts: Strings, policy: GatePolicy) -> LiteralnessFinding:
    """The strongest sign that the words are not meant literally; a yes to the claim settles it."""
    literal = LiteralnessFinding(Literalness.LITERAL, "")
    if not policy.is_on("literalness"):
        return literal
    if candidate.confirmed_by:
        texts = (candidate.claim,) if candidate.is_reworded else ()
    literalness = [classify_literalness(text) for text in dict.fromkeys(texts)]
    return min((*literalness, literal), key=lambda finding: _GRAVEST_FIRST.index(finding.kind))


def _directives(
    candidate: Candidate, words: _Words, leanings: Leanings
) -> tuple[DirectiveFinding, ...]:
    """The directives in all of the evidence, not only in the spans: they spoil a whole page.

    The form of a sentence alone is not an order in a short name ("post code"), or in a text that as
    a whole orders nothing ("Write access is with Ada.").
    """
    note, claim = candidate.note, candidate.claim
    texts = [claim, *(evidence.text for evidence in candidate.evidence)]
    texts += _listed(words, _BESIDE_THE_TEXT)
    found = [
        one
        for text in dict.fromkeys((*texts, *_slot_names(note)))
        for one in find_directives(text)
        if not one.is_request
        or not ((text == claim and leanings.is_no_order) or _is_name(text, note))
    ]
    if cue := leanings.cue(Leaning.ORDER):
        found.append(DirectiveFinding(Directive.COMMAND, cue))
    return tuple(found)


def _slot_names(note: Note) -> list[str]:
    slot = note.slot
    named = (slot.subject, slot.attribute_in_words, slot.value) if slot else ()
    return [name for name in named if name]


_NAME_WORDS_MAX = 4


def _is_name(text: str, note: Note) -> bool:
    """True if the text is a part of the slot that is too short to be an order."""
    return text != note.text and len(text.split()) <= _NAME_WORDS_MAX and text in _slot_names(note)


def _own_words(candidate: Candidate, policy: GatePolicy) -> list[str]:
    """The words of speakers who may ask to remember something; a tool may not."""
    own = policy.file.sources
    return [
        evidence.text for evidence in candidate.evidence if own[evidence.source_kind].is_own_word
    ]


def _said(note: Note, words: _Words, quoted: Iterable[str]) -> str:
    """All texts in which a restricted topic may show, one per line."""
    slot = note.slot
    said = [*_listed(words, _BROUGHT), *quoted]
    if slot is not None:
        # whom it is about has it
        said.append(f"{slot.subject} has {slot.attribute_in_words}: {note.slot_value}")
    return "\n".join(dict.fromkeys(said))


def _names(note: Note) -> list[str]:
    """The names in the note: its subject, the contact, and the value of its slot."""
    slot = note.slot
    named = (slot.subject, slot.value) if slot else ()
    return [name for name in (*named, note.contact_name) if name]


_Words = Mapping[str, str | Sequence[str]]
"""The texts of a note's fields, without the slot and the ids."""


def _listed(words: _Words, names: StringSet) -> Iterator[str]:
    """The texts of these fields."""
    for name, said in words.items():
        if name in names:
            yield from [said] if isinstance(said, str) else said


def _first(find: Callable[[T], str | None], given: Iterable[T]) -> str | None:
    return next(filter(None, map(find, given)), None)
