"""The guard: differences between two texts that a cosine does not see. Pure, and without a model.

Each text is read once, into words, numbers and names; then two readings are compared. Nothing here
knows a meaning: closed classes (number words, months, negations, opposites, relatives) are small
tables, and everything else is form and order. A cosine and a policy never live here: a finding
only ever demotes a pair, and what follows from that is the rule's business. Everywhere ``note`` is
the new text, ``fact`` the one that it may take the place of, and ``value`` what a text is filed
under.

Read on in this order; each module imports only those above it::

    findings      what the guard answers with
    vocabulary    the closed classes of words, each with its reason
    tokens        a text cut into words, numbers, dates, ids and marks
    reading       what is read from one text
    languages     whether the guard can read a text, and what differs in texts that it cannot read
    differences   two readings compared: values, names, denials, ends, opposites, the subject
    order         two readings compared: who did it and to whom
    matters       what a text says of its slot's value: whether it denies it, and what it is for
    changes       whether a note says that a fact has changed, and names what was before
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from reconciler.domain.guard.changes import (
    answer_one_question,
    answers_anew,
    are_in_order,
    are_of_other_people,
    are_two_things,
    differ_in_head,
    ends,
    is_event,
    is_said_of_another,
    is_wording_of,
    moves_another,
    names_before,
    replaces_a_word,
    rewords,
    says_beside,
    says_it_changed,
    share_matter,
    stated,
    without_start,
)
from reconciler.domain.guard.differences import (
    count_stems,
    find_additions,
    find_alike,
    find_cessation,
    find_currencies,
    find_details,
    find_names,
    find_negation,
    find_signs,
    find_subject,
    find_values,
    find_words,
    has_no_other_words,
    says_no_more,
    words_of_its_own,
)
from reconciler.domain.guard.languages import find_denial, find_other_words, is_english
from reconciler.domain.guard.matters import (
    are_other_matters,
    denies,
    has_values,
    is_lifted,
    is_over,
    is_over_itself,
    is_plainly_denied,
    opens,
    stems_of,
    tell_apart,
    tells_of_end,
)
from reconciler.domain.guard.order import find_order, find_voice
from reconciler.domain.guard.reading import Reading, lowered, read
from reconciler.domain.guard.vocabulary import vocabulary as _vocabulary
from reconciler.domain.records.findings import Difference, Finding
from reconciler.domain.records.notes import canonical_text
from reconciler.domain.text_reading import read_text

__all__ = [
    "Finding",
    "adds_a_statement",
    "answer_one_question",
    "answers_anew",
    "are_in_order",
    "are_of_other_people",
    "are_two_things",
    "count_words",
    "denial_in",
    "denies_ever",
    "denies_value",
    "denies_value_ever",
    "deny_each_other",
    "differ_beside",
    "differ_in_head",
    "differ_only_in",
    "ends",
    "find_changes",
    "find_differences",
    "find_left_out",
    "find_losses",
    "find_news",
    "find_unreadable",
    "has_many_other_words",
    "holds_no_more",
    "is_english",
    "is_event",
    "is_lifted",
    "is_over",
    "is_over_itself",
    "is_plainly_denied",
    "is_repeated_in",
    "is_said_of_another",
    "is_wording_of",
    "leaves_a_clause_out",
    "leaves_a_denial_out",
    "leaves_words_out",
    "may_be_asked",
    "moves_another",
    "named_in",
    "names_before",
    "only_ends",
    "opens",
    "replaces_a_word",
    "rewords",
    "said_plainly",
    "says_beside",
    "says_it_changed",
    "says_more_than",
    "share_a_word",
    "share_more_than",
    "takes_back",
    "tell_of_other_matters",
    "tell_of_two_things",
    "tells_of_change",
    "tells_of_end",
    "tells_of_more",
    "without_start",
]

_LONG = 16
"""Words of content. Source: measured on the labelled pairs; above it, one word for another lowers a
cosine of 0.95 by less than a synonym does in a short text."""

_FEW = 3
"""Words of content. Source: the labelled pairs with slots; none of their restatements has more."""

_DENIED_WORDS_MAX = 2
"""Words of content of two texts that are all of them a word and its denial: "paid", "unpaid"."""

_OPEN = (Difference.ROLES, Difference.UNREAD)
"""Kinds of findings that do not tell whether both texts answer one question."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_CLAUSE = re.compile(r"[,;:]|\b(?:and|but|because|so)\b", re.IGNORECASE)
"""Where a clause ends: what follows may be a detail of its own, a number as well."""

_STATEMENT = re.compile(r";|\b(?:and|but|because|so)\b", re.IGNORECASE)
"""Where a statement of its own begins; behind a comma may be an aside: "not even for free"."""

_REQUIRED = r"only\1with"
"""What "never … without" says, put plainly."""

_THE_CONTACT = re.compile(r"^\s*the contact\s+", re.IGNORECASE)
"""Whom a reader of conversations names, and whom a note without a subject is about."""

_Finder = Callable[[Reading, Reading], Iterator[Finding]]
_FINDERS_OF_CHANGES: tuple[_Finder, ...] = (
    find_values,
    find_negation,
    find_cessation,
    find_voice,
    find_order,
)
"""What may find that only one side can hold; the last one only where all words are the same."""

_FINDERS = (
    *_FINDERS_OF_CHANGES,
    find_currencies,
    find_signs,
    find_words,
    find_names,
    find_alike,
    find_subject,
)


def find_differences(note: str, fact: str) -> tuple[Finding, ...]:
    """The differences between a note and a fact that sound alike; empty if there are none.

    Whether there is any finding does not depend on which of the two is the note. Texts equal up to
    case and canonical form have none. Never raises, whatever the strings.
    """
    new, old = read(note), read(fact)
    if new.canonical == old.canonical:
        return ()
    read_by_words = (finding for find in _FINDERS for finding in find(new, old))
    findings = (*read_by_words, *find_denial(note, fact))
    if any(each.kind is Difference.SUBJECT for each in findings):
        # What holds of her husband changes nothing that holds of her.
        return tuple(replace(each, is_change=False) for each in findings)
    return findings


@lru_cache(maxsize=256)
def find_changes(note: str, fact: str) -> tuple[Finding, ...]:
    """Those of the differences of which only one side can hold, without looking for the others.

    Every fact near a note is asked about this one, and names or words that moved are dear to find.
    """
    denied = tuple(find_denial(note, fact))
    told = stated(note), stated(fact)
    is_cut = told != (note, fact)
    note, fact = told
    if denied or (is_cut and not share_matter(note, fact)):
        return denied
    new, old = read(note), read(fact)
    if new.canonical == old.canonical or _share_nothing(new, old):
        return ()
    finders = _FINDERS_OF_CHANGES if new.stems == old.stems else _FINDERS_OF_CHANGES[:-1]
    changes = tuple(finding for find in finders for finding in find(new, old) if finding.is_change)
    if not changes or any(find_subject(new, old)):
        return ()
    return tuple(each for each in changes if not _is_apart(each, note, fact))


def _share_nothing(new: Reading, old: Reading) -> bool:
    """Whether no word of content stands in both, and more than one for one and its denial."""
    if not new.stems.isdisjoint(old.stems):
        return False
    return len((new.stems | old.stems) - _vocabulary().light) > _DENIED_WORDS_MAX


def tell_of_two_things(note: str, fact: str, *values: str) -> bool:
    """Whether both tell of an event, or of what is for another purpose, or of another year.

    Their values say nothing of that: a renewal in March may move to April.
    """
    return (is_event(note) and is_event(fact)) or tell_apart(read(note), read(fact), *values)


def may_be_asked(note: str, fact: str, findings: Iterable[Finding]) -> bool:
    """Whether a reader of both would ask which one holds."""
    differences = tuple(findings)
    changes = [each for each in differences if each.is_change and not _is_apart(each, note, fact)]
    if changes:
        return True
    if is_event(note) or is_event(fact):
        return False
    if answer_one_question(note, fact):
        return True
    are_answers = all(_answers(each, note, fact) for each in differences)
    return are_answers and differ_only_in(differences, note, fact)


def _answers(finding: Finding, note: str, fact: str) -> bool:
    """Whether a difference may be another answer, and does not only name another thing.

    Numbers and ids that count nothing name something, and so does a name that opens a text.
    """
    if finding.kind in (Difference.NUMBER, Difference.IDENTIFIER):
        return False
    pairs = ((finding.in_note, note), (finding.in_fact, fact))
    return finding.kind is not Difference.NAME or all(
        text.casefold().find(name.casefold()) > 0 for name, text in pairs
    )


_DATED = (Difference.DATE, Difference.NUMBER, Difference.AMOUNT)


def _is_apart(finding: Finding, note: str, fact: str) -> bool:
    """Whether a date or a count belongs to another event, or another thing, than the fact's."""
    return finding.kind in _DATED and tell_of_two_things(note, fact)


def denies_ever(note: str, fact: str) -> bool:
    """Whether the note says that what the fact says never was: "Never worked at Globex".

    Only where it denies all of it and nothing beside: "Never worked at Globex on Fridays" denies a
    part. What has ended, or is no habit, is not denied.
    """
    canonical = read(note).canonical
    cue = _vocabulary().correction.search(canonical)
    if cue is None:
        return False
    kinds = {finding.kind for finding in find_differences(note, fact)}
    return (
        kinds == {Difference.NEGATION} and read(canonical[cue.start() :]).stems <= read(fact).stems
    )


def denial_in(note: str) -> str | None:
    """The rest of a note that admits a mistake in an earlier one; None if it admits none.

    "I misspoke, I do not have a sister": "I do not have a sister".
    """
    said = canonical_text(note)
    denial = _vocabulary().retraction.sub(" ", said)
    return None if denial == said else denial


def takes_back(note: str, fact: str) -> bool:
    """Whether the note says that it was a mistake to say what the fact says, and denies it.

    "I misspoke, I do not have a sister" takes back "Has a sister", and neither that she has two nor
    that she has a sister in Pune: who denies less or more than was said is asked what holds.
    """
    said = denial_in(note)
    if said is None:
        return False
    denial, told = (_THE_CONTACT.sub("", text) for text in (said, canonical_text(fact)))
    differences = find_differences(denial, told)
    is_denied = all(each.kind is Difference.NEGATION and not each.in_fact for each in differences)
    return is_denied and differ_only_in(differences, denial, told)


def deny_each_other(one: str, other: str) -> bool:
    """Whether one text denies what the other says, or says that it has ended.

    "No longer has a dog" and "has a dog called Bo" do; "cannot eat peanuts" leaves an allergy
    alone.
    """
    denials = (Difference.NEGATION, Difference.CESSATION)
    return any(finding.kind in denials for finding in find_changes(one, other))


def only_ends(note: str, fact: str) -> bool:
    """Whether the note says that what the fact says is over, and nothing beside.

    "No longer works at Acme" does. "Is on sabbatical" does not, nor does "is on leave, not in the
    office": they say what holds instead.
    """
    new, old = read(note), read(fact)
    if new.stems.isdisjoint(old.stems):
        return False
    if any(clause.is_plain and old.stems.isdisjoint(clause.stems) for clause in new.clauses):
        return False
    denials = (Difference.NEGATION, Difference.CESSATION)
    return tells_of_end(note) or any(
        each.kind in denials and bool(each.in_note) for each in find_differences(note, fact)
    )


def denies_value(text: str, value: str) -> bool:
    """Whether the text says that the value does not hold: "Never worked at Globex", "left Globex".

    A word may stand for the value: "Never worked there". What "never without" it needs holds.
    """
    never_without = _vocabulary().not_without.pattern
    plain = re.sub(never_without, _REQUIRED, text, flags=re.IGNORECASE)
    return denies(read(named_in(plain, value)), read(value))


def holds_no_more(text: str, value: str, attribute: str = "") -> bool:
    """Whether the text denies the value, or says that it has ended."""
    return denies_value(text, value) or is_over(text, value, attribute)


def denies_value_ever(text: str, value: str) -> bool:
    """Whether the text says that the value never held, so that it holds beside any other value."""
    said_never = _vocabulary().correction.search(read(text).canonical) is not None
    return said_never and denies_value(text, value)


def named_in(text: str, value: str) -> str:
    """The text with the value in the place of a word that stands for it.

    "Never worked there", filed under Globex, says "never worked Globex". Only a text that denies
    something, or says that it has ended, is changed, and only where it does not name the value.
    """
    reading = read(text)
    is_denial = reading.negated or reading.ceased
    if not value or not is_denial or not stems_of(value).isdisjoint(reading.stems):
        return text
    return _vocabulary().stand_in.sub(lambda _: value, text, count=1)


def tells_of_more(text: str) -> bool:
    """Whether a text says that it holds beside what is known: "I am also a musician"."""
    return _vocabulary().addition.search(read(text).canonical) is not None


@lru_cache(maxsize=1024)
def tells_of_change(text: str) -> bool:
    """Whether a text says that things are otherwise than before: "pays by card now"."""
    return _vocabulary().change.search(lowered(text)) is not None


def tell_of_other_matters(note: str, fact: str, attribute: str, values: Iterable[str]) -> bool:
    """Whether each says what the value of one attribute is for, and both mean something else.

    "Her budget for the ERP project" and "her budget for the CRM rollout" are two budgets.
    """
    nouns = stems_of(attribute.replace("_", " "))
    return are_other_matters(read(note), read(fact), nouns, stems_of(" ".join(values)))


def differ_beside(finding: Finding, note_value: str, fact_value: str) -> bool:
    """Whether a finding tells of another date, number or name than those of one and the same value.

    Two spellings of the value do not, nor does its place in the sentence: "Pune has the office",
    "the office is in Pune". Dates and numbers that changed places do.
    """
    in_note, in_fact = stems_of(finding.in_note), stems_of(finding.in_fact)
    if finding.kind is not Difference.ROLES:
        return bool(in_note - stems_of(note_value) and in_fact - stems_of(fact_value))
    has_moved = in_note.isdisjoint(stems_of(note_value)) or has_values(finding.in_note)
    return finding.is_change and has_moved


def find_news(note: str, fact: str) -> tuple[Finding, ...]:
    """All that would be lost if the note were dropped for the fact: differences, new details."""
    return (*find_differences(note, fact), *find_additions(read(note), read(fact)))


def find_unreadable(note: str, fact: str, unread: Callable[[str], str]) -> tuple[Finding, ...]:
    """Differences in parts that the guard, or a model by ``unread``, could not read.

    No cosine says of such texts that the one restates the other: the letters that the model could
    not read are no part of it, and the guard does not know which word is a "not". Texts that are
    equal up to case and canonical form have none.
    """
    new, old = lowered(note), lowered(fact)
    if new == old:
        return ()
    differences = tuple(find_other_words(note, fact))
    here, there = unread(new), unread(old)
    if here == there:
        return differences
    lost = Finding(  # counted: the letters would outlive an erasure in a record
        kind=Difference.UNREAD,
        in_note=f"{len(here)} letters of the note" if here else "",
        in_fact=f"{len(there)} letters of the fact" if there else "",
    )
    return (*differences, lost)


def find_losses(note: str, fact: str, *, value: str = "") -> tuple[Finding, ...]:
    """The details that only the fact has; they would be lost if it ended for the note.

    The fact's value is none, as the note has it in a spelling of its own: who was born on
    "1980-05-03" was born on "3 May 1980".
    """
    kept = stems_of(value)
    losses = find_details(read(note), read(fact))
    return tuple(loss for loss in losses if not kept or stems_of(loss.in_fact) - kept)


def find_left_out(note: str, fact: str) -> tuple[Finding, ...]:
    """The rest of a fact that a note of the same value, in other words, leaves out.

    A few other words are a way of putting it: "is based in Pune", "lives in Pune these days".
    """
    only_new, only_old = _own_words(note, fact)
    if len(only_old) <= _FEW or not only_new:
        return ()
    said = dict.fromkeys(word.text for word in read(fact).words if word.stem in only_old)
    return (Finding(kind=Difference.DETAIL, in_note="", in_fact=" ".join(said)),)


def _own_words(note: str, fact: str) -> tuple[set[str], set[str]]:
    new, old = read(note), read(fact)
    return words_of_its_own(new, old), words_of_its_own(old, new)


def says_more_than(fact: str, note: str) -> bool:
    """Whether both share words of content, and the fact has more of its own than the note."""
    only_new, only_old = _own_words(note, fact)
    return share_a_word(note, fact) and len(only_old) > len(only_new)


def leaves_a_clause_out(note: str, fact: str) -> bool:
    """Whether a clause of the fact shares no word with the note: "and carries a pen"."""
    return _is_one_apart(_CLAUSE.split(fact), note)


def adds_a_statement(note: str, fact: str) -> bool:
    """Whether a statement of the note shares no word with the fact: "and has asthma"."""
    sentences = (sentence.text for sentence in read_text(note).sentences)
    return _is_one_apart([part for each in sentences for part in _STATEMENT.split(each)], fact)


def _is_one_apart(parts: Sequence[str], other: str) -> bool:
    """Whether one of several parts of a text shares no word of content with the other text."""
    said, stems = read(other).stems, [read(part).stems for part in parts]
    return len(stems) > 1 and any(part and part.isdisjoint(said) for part in stems)


def is_repeated_in(note: str, fact: str) -> bool:
    """Whether the fact has every word of content of the note, so that the note adds none."""
    return says_no_more(read(note), read(fact))


def count_words(text: str) -> Counter[str]:
    """How often each word of content stands in a text, in whatever form."""
    return count_stems(read(text))


def share_a_word(one: str, other: str) -> bool:
    """Whether a word of content stands in both texts, in any form."""
    return not read(one).stems.isdisjoint(read(other).stems)


def share_more_than(names: str, one: str, other: str) -> bool:
    """Whether a word of content stands in both texts, beside these names and the year."""
    shared = (read(one).stems & read(other).stems) - read(names).stems
    return not all(_YEAR.fullmatch(stem) for stem in shared)


def leaves_a_denial_out(note: str, fact: str, denied: str) -> bool:
    """Whether the fact denies something that the note, which is mostly in it, does not speak of.

    "Reach her by phone" leaves out what "Reach her by phone, never by email" denies.

    Args:
        note: the new text.
        fact: what is known.
        denied: what only the fact denies, as in a finding.
    """
    said, known = read(note).stems, read(fact).stems
    matter = {stem for stem in read(denied).stems if len(stem) > 3}  # "not any more" has none
    return bool(matter) and matter.isdisjoint(said) and 2 * len(said & known) > len(said)


def said_plainly(text: str, other: str) -> str:
    """The text, its denials put plainly where the other puts the same plainly.

    "No longer than three metres" denies nothing of "three metres at the most", nor does "never
    enter without notice" of "entering needs notice".
    """
    known, beside = _vocabulary(), lowered(other)
    ways = (
        (known.no_more_than, known.at_most, "at most"),
        (known.no_less_than, known.at_least, "at least"),
        (known.not_without, known.requires, _REQUIRED),
    )
    for denied, plain, instead in ways:
        if plain.search(beside) and not denied.search(beside):
            text = re.sub(denied.pattern, instead, text, flags=re.IGNORECASE)
    return text


def differ_only_in(findings: Iterable[Finding], note: str, fact: str) -> bool:
    """Whether nothing but what was found differs in the two texts' words of content.

    Then the findings answer one question in two ways; else they may be about different things. Of
    texts that the guard cannot read nothing says so: a German noun has a capital, and is no name.
    """
    if not (is_english(note) and is_english(fact)):
        return False
    # Of words that moved the finding itself says whether they may be a paraphrase.
    still = [finding for finding in findings if finding.kind not in _OPEN]
    return bool(still) and has_no_other_words(read(note), read(fact), still)


def leaves_words_out(note: str, fact: str) -> bool:
    """Whether words of the fact's content are in no form in the note, light ones aside.

    One word may well be a synonym of a light one, "likes" of "wants"; it counts where the note has
    another in its place. Without a model it is unknown whether that says the same.
    """
    only_new, only_old = _own_words(note, fact)
    return len(only_old) > 1 or bool(only_old and only_new)


def has_many_other_words(note: str, fact: str) -> bool:
    """Whether more than one word stands in the place of another, or one in a long text.

    A cosine tells whether one word for another says the same. It cannot tell for several words, nor
    in a long text, where one word hardly moves the cosine.
    """
    only_new, only_old = _own_words(note, fact)
    is_long = min(len(read(text).words) for text in (note, fact)) > _LONG
    return bool(only_new and only_old) and (is_long or len(only_new) + len(only_old) > 2)
