"""The guard: finds differences between two texts that a cosine does not show. Pure; no model.

Each text is read once, into words, numbers and names; then two readings are compared. Nothing here
knows a meaning: closed classes (number words, months, negations, opposites, relatives) are small
tables, and everything else is form and order. Never here: a cosine and a policy. A finding only
demotes a pair, and the rule decides the effect. Everywhere ``note`` is the new text, ``fact`` the
text that it may replace, and ``value`` the value that a text is filed under.

Read on in this order; each module imports only those above it::

    findings      what the guard answers with
    tokens        the closed classes of words; a text cut into words, numbers, dates, ids and marks
    reading       what is read from one text
    languages     whether the guard can read a text, and what differs in texts that it cannot read
    differences   two readings compared: values, names, denials, ends, opposites, the subject, who
                  did it and to whom, and small words that name another thing
    matters       what a text says of its slot's value: whether it denies it, and what it is for
    changes       whether a note says that a fact has changed, and names what was before
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from reconciler.reading.canonical import canonical_text
from reconciler.reading.findings import Difference, Finding, Findings
from reconciler.reading.guard.changes import (
    answer_one_question as answer_one_question,
    answers_anew as answers_anew,
    are_in_order as are_in_order,
    are_of_other_people as are_of_other_people,
    are_two_things as are_two_things,
    differ_in_head as differ_in_head,
    ends as ends,
    is_event as is_event,
    is_said_of_another as is_said_of_another,
    moves_another as moves_another,
    name_two_entries as name_two_entries,
    names_a_part as names_a_part,
    names_before as names_before,
    replaces_a_word as replaces_a_word,
    rewords as rewords,
    says_beside as says_beside,
    says_it_changed as says_it_changed,
    share_matter,
    speaks_of_another as speaks_of_another,
    stated,
    without_start as without_start,
)
from reconciler.reading.guard.differences import (
    count_stems,
    find_additions,
    find_alike,
    find_cessation,
    find_currencies,
    find_details,
    find_labelled,
    find_letters,
    find_more,
    find_names,
    find_negation,
    find_order,
    find_parts,
    find_signs,
    find_subject,
    find_values,
    find_voice,
    find_ways,
    find_words,
    has_no_other_words,
    says_no_more,
    words_of_its_own,
)
from reconciler.reading.guard.languages import (
    are_forms,
    find_denial,
    find_other_words,
    is_english as is_english,
    is_foreign as is_foreign,
    words_that_tell as words_that_tell,
)
from reconciler.reading.guard.matters import (
    are_other_matters,
    denies,
    is_lifted as is_lifted,
    is_over as is_over,
    is_over_itself as is_over_itself,
    is_plainly_denied as is_plainly_denied,
    tell_apart,
    tells_of_end as tells_of_end,
)
from reconciler.reading.guard.reading import (
    VALUE_KINDS,
    Reading,
    lowered,
    read,
    says,
    stems_of as stems_of,
)
from reconciler.reading.guard.tokens import pattern_of, tokens_of
from reconciler.reading.text_reading import read_text

_LONG = 16
"""Words of content. Source: the labelled pairs. The longest text, in words of content, in which one
word counts: in a longer one, exchanging a word lowers a cosine of 0.95 by less than a synonym does
in a short text."""

_FEW = 3
"""Words of content. Source: the labelled pairs with slots; none of their restatements has more."""

_OPEN = (Difference.ROLES, Difference.UNREAD)
"""Kinds of findings that do not show whether both texts answer one question."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_CLAUSE = re.compile(r"[,;:]|\b(?:and|but|because|so)\b", re.IGNORECASE)
"""The end of a clause: a separate detail may follow, also a number."""

_STATEMENT = re.compile(r";|\b(?:and|but|because|so)\b", re.IGNORECASE)
"""The beginning of a separate statement; a comma may only begin an aside: "not even for free"."""

_REQUIRED = r"only\1with"
"""The plain form of "never … without"."""

_THE_CONTACT = re.compile(r"^\s*the contact\s+", re.IGNORECASE)
"""Words for the person that a reader of conversations names, and that a note without a subject is
about."""

_Finder = Callable[[Reading, Reading], Iterator[Finding]]
_FINDERS_OF_CHANGES: tuple[_Finder, ...] = (
    find_values,
    find_negation,
    find_cessation,
    find_voice,
    find_words,
    find_order,
    find_labelled,
)
"""The finders that show whether only one side can hold; the last two only if all words of content
are the same, because a label may have several values."""

_FINDERS = (
    *_FINDERS_OF_CHANGES,
    find_currencies,
    find_signs,
    find_names,
    find_alike,
    find_more,
    find_ways,
    find_letters,
    find_parts,
    find_subject,
)


def find_differences(note: str, fact: str) -> Findings:
    """Find differences between a note and a fact that sound alike; empty if there are none.

    Whether there is any finding does not depend on which of the two is the note. Texts equal up to
    case and canonical form have none. Never raises, whatever the strings.
    """
    new, old = read(note), read(fact)
    if new.canonical == old.canonical:
        return ()
    read_by_words = (finding for find in _FINDERS for finding in find(new, old))
    findings = (*read_by_words, *find_denial(note, fact))
    if any(each.kind is Difference.SUBJECT for each in findings):
        # A change of her husband's changes nothing of hers.
        return tuple(replace(each, is_change=False) for each in findings)
    return findings


@lru_cache(maxsize=256)
def find_changes(note: str, fact: str) -> Findings:
    """Find differences that only one side can survive, and no others.

    This runs for every fact near a note, and moved names or words are expensive to find.
    """
    denied = tuple(find_denial(note, fact))
    told = stated(note), stated(fact)
    is_cut = told != (note, fact)
    note, fact = told
    if denied or (is_cut and not share_matter(note, fact)):
        return denied
    new, old = read(note), read(fact)
    if new.canonical == old.canonical:
        return ()
    finders = _FINDERS_OF_CHANGES if new.stems == old.stems else _FINDERS_OF_CHANGES[:-2]
    changes = tuple(finding for find in finders for finding in find(new, old) if finding.is_change)
    if not changes or any(find_subject(new, old)):
        return ()
    return tuple(each for each in changes if not _is_apart(each, note, fact))


def tell_of_two_things(note: str, fact: str, *values: str) -> bool:
    """True if both report events, or things for different purposes or years.

    Their values do not count here: a renewal in March may move to April.
    """
    return (is_event(note) and is_event(fact)) or tell_apart(read(note), read(fact), *values)


def may_be_asked(note: str, fact: str, findings: Iterable[Finding]) -> bool:
    """True if a person who reads both would ask which one holds."""
    differences = tuple(findings)
    if any(each.is_change and not _is_apart(each, note, fact) for each in differences):
        return True
    if is_event(note) or is_event(fact):
        return False
    if answer_one_question(note, fact):
        return True
    are_answers = all(_answers(each, note, fact) for each in differences)
    return are_answers and differ_only_in(differences, note, fact)


def _answers(finding: Finding, note: str, fact: str) -> bool:
    """True if a difference may be another answer, not only the name of another thing.

    A number or id that counts nothing names a thing, and so does a name that opens a text.
    """
    if finding.kind in (Difference.NUMBER, Difference.IDENTIFIER):
        return False
    pairs = ((finding.in_note, note), (finding.in_fact, fact))
    return finding.kind is not Difference.NAME or all(
        text.casefold().find(name.casefold()) > 0 for name, text in pairs
    )


_DATED = (Difference.DATE, Difference.NUMBER, Difference.AMOUNT)
_DENIALS = (Difference.NEGATION, Difference.CESSATION)


def _is_apart(finding: Finding, note: str, fact: str) -> bool:
    """True if a date or a count belongs to another event or thing than the fact's."""
    return finding.kind in _DATED and tell_of_two_things(note, fact)


def denies_ever(note: str, fact: str) -> bool:
    """True if the note says that the fact was never true: "Never worked at Globex".

    It must deny the whole fact and nothing else: "Never worked at Globex on Fridays" denies a part.
    A text does not deny what it says has ended, or is no habit.
    """
    canonical = read(note).canonical
    cue = pattern_of("correction").search(canonical)
    if cue is None:
        return False
    kinds = {finding.kind for finding in find_differences(note, fact)}
    return (
        kinds == {Difference.NEGATION} and read(canonical[cue.start() :]).stems <= read(fact).stems
    )


def denial_in(note: str) -> str | None:
    """Return the rest of a note after its admission of a mistake; None if it admits none.

    "I misspoke, I do not have a sister": "I do not have a sister".
    """
    said = canonical_text(note)
    denial = pattern_of("retraction").sub(" ", said)
    return None if denial == said else denial


def takes_back(note: str, fact: str) -> bool:
    """True if the note calls the fact a mistake and denies it.

    "I misspoke, I do not have a sister" takes back "Has a sister", but neither "Has two sisters"
    nor "Has a sister in Pune": if the note denies less or more than was said, a person is asked.
    """
    said = denial_in(note)
    if said is None:
        return False
    denial, told = (_THE_CONTACT.sub("", text) for text in (said, canonical_text(fact)))
    differences = find_differences(denial, told)
    is_denied = all(each.kind is Difference.NEGATION and not each.in_fact for each in differences)
    return is_denied and differ_only_in(differences, denial, told)


def deny_each_other(one: str, other: str) -> bool:
    """True if one text denies what the other says, or says that it has ended.

    "No longer has a dog" and "has a dog called Bo" do; "cannot eat peanuts" does not deny an
    allergy.
    """
    return any(finding.kind in _DENIALS for finding in find_changes(one, other))


def only_ends(note: str, fact: str) -> bool:
    """True if the note says only that the fact has ended.

    "No longer works at Acme" does. "Is on sabbatical" does not, nor does "is on leave, not in the
    office": they say what is true instead.
    """
    new, old = read(note), read(fact)
    if new.stems.isdisjoint(old.stems):
        return False
    if any(clause.is_plain and old.stems.isdisjoint(clause.stems) for clause in new.clauses):
        return False
    return tells_of_end(note) or any(
        each.kind in _DENIALS and bool(each.in_note) for each in find_differences(note, fact)
    )


def denies_value(text: str, value: str) -> bool:
    """True if the text denies the value: "Never worked at Globex", "left Globex".

    A word may stand for the value: "Never worked there". "Never without" affirms the value.
    """
    return denies(read(named_in(_as_required(text), value)), read(value))


def _as_required(text: str) -> str:
    return re.sub(pattern_of("not_without").pattern, _REQUIRED, text, flags=re.IGNORECASE)


def holds_no_more(text: str, value: str, attribute: str) -> bool:
    """True if the text denies the value, or says that it has ended."""
    return denies_value(text, value) or is_over(text, value, attribute)


def denies_value_ever(text: str, value: str) -> bool:
    """True if the text says that the value never held, which is true beside any other value."""
    return says("correction", text) and denies_value(text, value)


def named_in(text: str, value: str) -> str:
    """Return the text with the value in place of a word such as "there".

    "Never worked there", filed under Globex, says "never worked Globex". The text changes only if
    it denies something or says that it has ended, and does not name the value.
    """
    reading = read(text)
    is_denial = reading.negated or reading.ceased
    if not value or not is_denial or not stems_of(value).isdisjoint(reading.stems):
        return text
    return pattern_of("stand_in").sub(lambda _: value, text, count=1)


def brings_another_value(note: str, earlier: str, now: str) -> bool:
    """True if the note names something that neither an ended fact nor its successor names.

    It must also name nothing that only the ended fact names: "Sold the flat in Graz." speaks of the
    time before the move to Linz.
    """
    named, before, after = (
        {*reading.names} | {each.value for each in reading.tokens if each.kind in VALUE_KINDS}
        for reading in map(read, (note, earlier, now))
    )
    return bool(named - before - after) and named.isdisjoint(before - after)


def tells_of_more(text: str) -> bool:
    """True if a text adds to known facts: "I am also a musician"."""
    return says("addition", text)


def tells_of_change(text: str) -> bool:
    """True if a text says that something has changed: "pays by card now"."""
    return says("change", text)


def tell_of_other_matters(note: str, fact: str, attribute: str, values: Iterable[str]) -> bool:
    """True if both name the purpose of the attribute's value, and different ones.

    "Her budget for the ERP project" and "her budget for the CRM rollout" are two budgets.
    """
    nouns = stems_of(attribute.replace("_", " "))
    return are_other_matters(read(note), read(fact), nouns, stems_of(" ".join(values)))


def differ_beside(finding: Finding, note_value: str, fact_value: str) -> bool:
    """True if a finding shows another date, number or name beside the same value.

    Two spellings of the value do not count, nor its place in the sentence: "Pune has the office",
    "the office is in Pune". Dates and numbers that changed places do.
    """
    in_note, in_fact = stems_of(finding.in_note), stems_of(finding.in_fact)
    if finding.kind is not Difference.ROLES:
        return bool(in_note - stems_of(note_value) and in_fact - stems_of(fact_value))
    has_value = any(token.kind in VALUE_KINDS for token in tokens_of(finding.in_note))
    has_moved = has_value or in_note.isdisjoint(stems_of(note_value))
    return finding.is_change and has_moved


def find_news(note: str, fact: str) -> Findings:
    """Find all details that would be lost if the fact were kept and the note dropped."""
    return (*find_differences(note, fact), *find_additions(read(note), read(fact)))


def find_unreadable(note: str, fact: str, unread: Callable[[str], str]) -> Findings:
    """Find differences in parts that the guard or the model (``unread``) could not read.

    No cosine shows that one such text restates the other: it ignores the letters that the model
    could not read, and the guard does not know which word is a "not". Texts that are equal up to
    case and canonical form have none.
    """
    new, old = lowered(note), lowered(fact)
    if new == old:
        return ()
    differences = tuple(find_other_words(note, fact))
    here, there = unread(new), unread(old)
    if here == there:
        return differences
    lost = Finding(  # counted: the letters would outlive an erasure in a record
        Difference.UNREAD,
        f"{len(here)} letters of the note" if here else "",
        f"{len(there)} letters of the fact" if there else "",
    )
    return (*differences, lost)


def find_losses(note: str, fact: str, *, value: str = "") -> Findings:
    """Find details that only the fact has; they would be lost if the note ended it.

    The fact's value does not count, because the note has it in another spelling: "1980-05-03" is "3
    May 1980".
    """
    kept = stems_of(value)
    losses = find_details(read(note), read(fact))
    return tuple(loss for loss in losses if not kept or stems_of(loss.in_fact) - kept)


def find_left_out(note: str, fact: str) -> Findings:
    """Find the part of a fact that a note of the same value, in other words, leaves out.

    A few other words are mere wording: "is based in Pune", "lives in Pune these days".
    """
    only_new, only_old = _own_words(note, fact)
    if len(only_old) <= _FEW or not only_new:
        return ()
    said = dict.fromkeys(word.text for word in read(fact).words if word.stem in only_old)
    return (Finding(Difference.DETAIL, "", " ".join(said)),)


def _own_words(note: str, fact: str) -> tuple[set[str], set[str]]:
    new, old = read(note), read(fact)
    return words_of_its_own(new, old), words_of_its_own(old, new)


def says_more_than(fact: str, note: str) -> bool:
    """True if both share words of content, and the fact has more of its own than the note."""
    only_new, only_old = _own_words(note, fact)
    return share_a_word(note, fact) and len(only_old) > len(only_new)


def leaves_a_clause_out(note: str, fact: str) -> bool:
    """True if a clause of the fact shares no word with the note: "and carries a pen"."""
    return _is_one_apart(_CLAUSE.split(fact), note)


def adds_a_statement(note: str, fact: str) -> bool:
    """True if a statement of the note shares no word with the fact: "and has asthma"."""
    sentences = (sentence.text for sentence in read_text(note).sentences)
    return _is_one_apart([part for each in sentences for part in _STATEMENT.split(each)], fact)


def _is_one_apart(parts: Sequence[str], other: str) -> bool:
    """True if one of several parts of a text shares no word of content with the other text."""
    said, stems = read(other).stems, [read(part).stems for part in parts]
    return len(stems) > 1 and any(part and part.isdisjoint(said) for part in stems)


def is_repeated_in(note: str, fact: str) -> bool:
    """True if the fact has every word of content of the note, so that the note adds none."""
    return says_no_more(read(note), read(fact))


def count_words(text: str) -> Counter[str]:
    """Count the words of content of a text, in any form."""
    return count_stems(read(text))


def share_a_word(one: str, other: str) -> bool:
    """True if both texts share a word of content, in any form."""
    return not read(one).stems.isdisjoint(read(other).stems)


def share_more_than(names: str, one: str, other: str) -> bool:
    """True if the texts share a word of content, apart from these names and the year."""
    shared = (read(one).stems & read(other).stems) - read(names).stems
    return not all(_YEAR.fullmatch(stem) for stem in shared)


OF_PERMISSIONS = (
    "consent permission okay agree allow use share send keep pass give contact want no any more"
)
"""Words of every permission and order, which do not say what is permitted or ordered."""


def denies_more_than(names: str, text: str, act: str) -> bool:
    """True if the text denies or ends a word of content of the act, apart from these names.

    "No longer wants the newsletter" ends the newsletter.
    """
    stems = read(act).stems - read(names).stems
    # Most facts share nothing with the act, and a first reading takes 0.2 ms.
    said = read(text if any(stem[:4] in text.lower() for stem in stems) else "")
    return any(stems.intersection(denial.reach) for denial in said.negated + said.ceased)


def shared_words(one: str, other: str, beside: str = "") -> frozenset[str]:
    """Find the first text's words, in any language, that show its subject and that both have.

    Args:
        one: a text.
        other: the other text.
        beside: words that do not count, such as names.
    """
    said, known = words_that_tell(one), words_that_tell(other)
    if is_english(one) and is_english(other):
        return (said & known) - words_that_tell(beside)
    shared = (word for word in said if any(are_forms(word, each) for each in known))
    return frozenset(shared) - words_that_tell(beside)


def leaves_a_denial_out(note: str, fact: str, denied: str) -> bool:
    """True if the fact denies something that the note, which it mostly repeats, leaves out.

    "Reach her by phone" leaves out what "Reach her by phone, never by email" denies.

    Args:
        note: the new text.
        fact: the known text.
        denied: the words that only the fact denies, as in a finding.
    """
    said, known = read(note).stems, read(fact).stems
    matter = {stem for stem in read(denied).stems if len(stem) > 3}  # "not any more" has none
    return bool(matter) and matter.isdisjoint(said) and 2 * len(said & known) > len(said)


def said_plainly(text: str, other: str) -> str:
    """Put a text's denials plainly if the other text puts the same plainly.

    "Never enter without notice" denies nothing of "entering needs notice".
    """
    is_required = says("requires", other) and not says("not_without", other)
    return _as_required(text) if is_required else text


def differ_only_in(findings: Iterable[Finding], note: str, fact: str) -> bool:
    """True if the found differences are the only ones in the texts' words of content.

    Then the findings answer one question in two ways; otherwise they may be about different things.
    The guard cannot find this in a text that it cannot read: a German noun has a capital but is not
    a name.
    """
    if not (is_english(note) and is_english(fact)):
        return False
    # A finding about moved words says itself whether they may be a paraphrase.
    still = [finding for finding in findings if finding.kind not in _OPEN]
    return bool(still) and has_no_other_words(read(note), read(fact), still)


def leaves_words_out(note: str, fact: str) -> bool:
    """True if the note lacks words of the fact's content in every form; light words do not count.

    A single missing word counts only if the note has another in its place: it may be a synonym of a
    light word, as "likes" is of "wants". Code alone cannot tell whether two words mean the same.
    """
    only_new, only_old = _own_words(note, fact)
    return len(only_old) > 1 or bool(only_old and only_new)


def has_many_other_words(note: str, fact: str) -> bool:
    """True if several words were exchanged, or one in a long text.

    A cosine shows whether one exchanged word keeps the meaning. It cannot show this for several
    words, or in a long text, where one word hardly changes the cosine.
    """
    only_new, only_old = _own_words(note, fact)
    is_long = min(len(read(text).words) for text in (note, fact)) > _LONG
    return bool(only_new and only_old) and (is_long or len(only_new) + len(only_old) > 2)
