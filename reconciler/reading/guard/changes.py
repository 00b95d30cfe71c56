"""Changes: finds whether a note reports a fact's change, and whether it names the state before.

A short list of words shows a change. The words that note and fact share show that both are about
one matter; a cosine alone never does. No grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from reconciler.frozen import StringSet
from reconciler.reading.canonical import canonical_text, remembered
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.guard.differences import find_values, is_of_another, words_of_its_own
from reconciler.reading.guard.reading import (
    VALUE_KINDS,
    Denial,
    Reading,
    Word,
    are_apart,
    content_words,
    folded,
    is_change_stated,
    is_denied_before,
    lowered,
    may_be_verb,
    read,
    says,
    stems_of,
)
from reconciler.reading.guard.tokens import (
    Token,
    Tokens,
    function_words,
    months,
    opposites,
    pattern_of,
    stem_of,
    tokens_of,
    words_of,
)
from reconciler.reading.lexicon import lexicon
from reconciler.reading.text_reading import read_text

SHARED_MIN = 1 / 3
"""Both texts share more than this part of the words about the change, or of the fact's words if
those are fewer; of up to ``_FEW`` words one is enough.

Source: benchmarks/natural.py and benchmarks/full_memory.py; at a fifth, conversations get twice as
many links, mostly wrong ones."""

COSINE_MIN = 0.25
"""The cosine below which two texts that share a word are about different things. Source: as
above."""

_FEW = 3
_PLAIN = 4
"""The most words of content of a sentence that only names a person or a thing."""

_SHORT = 6
"""The most words of content in a note that says the same in another order."""

LONG = 16
_REACH = 8
"""The number of words of content on either side of a word of change that name the changed thing."""

_CLAUSE = re.compile(r"[^,;]+[,;]*|[,;]+")

_BEFORE = re.compile(
    r"\bfrom ([\w'-]+(?: [\w'-]+)?) to\b|\binstead of ([\w'-]+(?: [\w'-]+)?)"
    r"|\brather than ([\w'-]+(?: [\w'-]+)?)"
)
_IS = re.compile(
    r"(?P<head>[^,:;]{2,60}?)(?: (?:is|are)(?: now| called)? |: )(?P<value>[^;]{1,60}?)\.?"
)
_WAY = re.compile(
    r"(?P<done>(?:(?!is\b|are\b|be\b|been\b|was\b|were\b|can\b|could\b|may\b)[\w'-]+ ){1,6})"
    r"by (?P<way>[\w' -]+)"
)
_SEVERAL = re.compile(r",|\band\b|\bis\b.*\bis\b")
_DEFINITE = re.compile(r"(?:the|our|their|her|his|its|my)\b", re.IGNORECASE)
_ADVERB = re.compile(r"\b\w{3,20}ly\b")
_CAPITAL = re.compile(r"[^\W\d_a-zß-ÿ][\w'-]*")
_TWO_NAMES = re.compile(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*){1,2}")
_CAPITAL_OR_DIGIT = re.compile(r"[^\W_a-z]|@")
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_OFTEN = re.compile(rf"\b(?:every|each|(?:dai|week|month|year)ly|{_DAY}s)\b")
_ONE_TIME = re.compile(
    rf"\b(?:(?:the|for(?: this)?|next) {_DAY}|(?:{_DAY}|today|tomorrow|week|month|year)'s)\b"
)
"""A time of what was cancelled. "On Monday" and "this morning" may be when it was cancelled."""
_TIME = re.compile(rf"\b(?:{_DAY}|(?<=this |next )(?:week|month|year|morning|evening))\b")
"""A time of the habit, too, if the habit names it."""
_FOR_GOOD = re.compile(r"\b(?:for good|any ?more|from now|\w{3,20}ly)\b")

_WORD = re.compile(r"\w+")

_IS_THE = re.compile(r"\bis (?:now )?the\b")
_OF_A_DATE = frozenset({"weekday", "day", "month", "year"})
_KEYS = frozenset({"word", "id", "ordinal", "day", "month", "year"})
"""Kinds of words that distinguish things; weekdays and hours describe a habit instead."""


def says_it_changed(note: str, fact: str, cosine: float) -> bool:
    """True if the note says that it is a change of the same matter as the fact."""
    if cosine < COSINE_MIN or not _changed_words(note) or says("wishing", fact):
        return False
    here, there = _changed_words(note), _content(fact)
    if not there or are_of_other_people(note, fact) or max(map(_length, (note, fact))) > LONG:
        return False
    shared = here & there
    count = min(len(here), len(there))
    return bool(shared) and (count <= _FEW or len(shared) > SHARED_MIN * count)


def are_of_other_people(note: str, fact: str) -> bool:
    """True if the note is about him, her or them, and the fact about the contact itself."""
    return speaks_of_another(note) and says("first_person", fact)


@remembered
def speaks_of_another(note: str) -> bool:
    """True if the text is soon about him, her or them, and does not open with its speaker."""
    text = lowered(note)
    opens_with_me = text.startswith(("i ", "i'", "we ", "my ", "our "))
    return not opens_with_me and says("third_person", note)


@remembered
def stated(text: str) -> str:
    """Return a text without clauses that ask or express an intention."""
    if not says("wishing", text):
        return text
    sentences = (sentence.text for sentence in read_text(text).sentences)
    told = ("".join(map(_before_a_wish, _CLAUSE.findall(each))).strip() for each in sentences)
    return " ".join(filter(None, told))


def share_matter(one: str, other: str) -> bool:
    """True if both texts share a word that names their subject."""
    return not _content(one).isdisjoint(_content(other))


def _before_a_wish(clause: str) -> str:
    wish = pattern_of("wishing").search(clause.casefold())
    return clause if wish is None else clause[: wish.start()] * (wish.group() != "?")


def ends(note: str, fact: str) -> bool:
    """True if the note says that all of the fact has ended.

    "No longer uses Zendesk", "sold the van", "moved from Tuesday to Thursday". A note that ends a
    part ("no longer works on Fridays", "sold the van's trailer", "sold one of two boats"), or
    leaves out more than the fact's verb, ends nothing; nor does one that only denies, wishes or
    claims an end, names another number or date, or cancels one time of a habit.
    """
    new, before = read(note), _before(note)
    ended = _ended(new)
    if (
        not (ended or before)
        or _length(fact) > LONG
        or says("wishing", note)
        or are_of_other_people(note, fact)
    ):
        return False
    old = read(fact)
    if old.ceased or new.subject != old.subject or not _may_be_over(old, before):
        return False
    left_out = words_of_its_own(old, new) - _reworded(old)
    if not left_out.isdisjoint(map(stem_of, old.names)):
        return False
    verb = {word.stem for word in old.words[:1]}
    if ended is not None:
        if is_of_another(new, old):
            return False
        may_differ = verb if ended.text.split()[0] in words_of("disposing") else set()
        when = words_of("light").union(months(), filter(str.isdecimal, ended.reach))
        what = set(ended.reach) - when - _cues(note)
        is_all = bool(what) and what <= old.stems and left_out <= may_differ
        return is_all and not (_is_of_a_part(new, old, ended) or _ends_another(new, old))
    if not before or not before <= old.stems or moves_another(note, fact):
        return False
    # The object may be left out if the rest is said: "pays (rent) by direct debit".
    is_named = bool(_content(note) & _content(fact) - before)
    return len(left_out - verb) <= is_named


def _ends_another(note: Reading, fact: Reading) -> bool:
    """True if the end is that of another numbered or dated thing, or of one time of a habit.

    A date may be that of the end, unless it is a habit's: "left Siemens in 2026", "no longer works
    on Fridays".
    """
    if note.ceased and any(
        each.kind is not Difference.DATE or _OFTEN.search(note.canonical)
        for each in find_values(note, fact)
    ):
        return True
    return _cancels_once(note, fact)


def _cancels_once(note: Reading, fact: Reading) -> bool:
    """True if the note cancels one time of what the fact calls a habit.

    "Cancelled this Friday's flowers" leaves "Orders flowers every Friday".
    """
    said, habit = note.canonical, fact.canonical
    is_one = _ONE_TIME.search(said) or any(time in habit for time in _TIME.findall(said))
    is_habit = "cancel" in said and _OFTEN.search(habit)
    return bool(is_one and is_habit) and not (_OFTEN.search(said) or _FOR_GOOD.search(said))


def name_two_entries(note: str, fact: str) -> bool:
    """True if the texts tell of two numbered things.

    A number right before the verb names the thing: "order 1000 has shipped", "order 1020 has
    shipped". Elsewhere it may be the value ("sits in room 12"), unless the same words give each
    number its own count: "an open invoice 1000 over 13 euros", "1020 over 153 euros".
    """
    here, there = read(note), read(fact)
    one, other = _labels(here), _labels(there)
    rest = "".join((here.stems ^ there.stems) - one - other)
    are_things = _is_subject(one, here) and _is_subject(other, there)
    return are_apart(one, other) and (are_things or rest.replace(".", "").isdecimal())


def _is_subject(labels: set[str], reading: Reading) -> bool:
    """True if a verb follows one of these numbers: "invoice 1000 is open"."""
    return any(
        may_be_verb(other.text)
        if other.kind == "word"
        else other.value in words_of("be", "auxiliary")
        for one, other in pairwise(reading.tokens)
        if one.value in labels
    )


def _is_of_a_part(note: Reading, fact: Reading, end: Denial) -> bool:
    """True if the note ends a part of what the fact names, or another thing.

    "Sold one of the boats", "sold the boat" of two, "sold the new Volvo": up to the last common
    word, it names something that the fact does not name. A word for a stage names no other thing:
    "quit the current job".
    """
    known, owning = _said(fact), words_of("article", "possessive")
    one_of = {token.text[:-1].casefold() for token in fact.tokens[1:] if token.text.endswith("s")}
    if any(
        before.value in owning and token.text.casefold() in one_of
        for before, token in pairwise(note.tokens)
    ):
        return True
    others = words_of("part") - known - {*end.text.casefold().split()}
    last = max((at for at, stem in enumerate(end.reach) if stem in fact.stems), default=-1)
    named = (known | words_of("stage") | _reworded(note)).issuperset(end.reach[: last + 1])
    return not named or not others.isdisjoint(_said(note))


def is_said_of_another(note: str, fact: str, names: Iterable[str]) -> bool:
    """True if a note of change has a subject that is neither the contact nor named by the fact.

    "The plumber left Siemens" ends no job of the contact's. A subject that is left out, a pronoun
    or a word for a contact is the contact. A note that names the fact's subject is about that, no
    matter who changed it: "her employer shortened the notice period".

    Args:
        note: the note that reports a change.
        fact: the fact that it might end.
        names: the contact's known names.
    """
    own = (
        lexicon("values")
        .word_set("contact_word")
        .union(*(_WORD.findall(name.casefold()) for name in names))
    )
    stems, named = read(fact).stems, {word.stem for word in _head(fact)}
    if named and named <= read(note).stems:
        return False
    return any(
        word.text.casefold() not in own
        and not any(word.stem.startswith(stem) or stem.startswith(word.stem) for stem in stems)
        for word in _subject(note)
    )


@remembered
def _subject(note: str) -> tuple[Word, ...]:
    """Find the words of content for the changed person or thing: those before the verb.

    None if the note opens with a verb or a word of change, or has "she" before it.
    """
    plain = canonical_text(note)
    cues = (cue.search(plain.casefold()) for cue in (pattern_of("cessation"), pattern_of("change")))
    tokens = list(read(plain[: min((cue.start() for cue in cues if cue), default=0)]).tokens)
    denied = next(
        (at for at, token in enumerate(tokens) if token.value in words_of("negation")), None
    )
    if denied is not None:  # "eats no meat any more"
        del tokens[denied - (denied > 0 and tokens[denied - 1].kind == "word") :]
    return _subject_in(tokens)


@remembered
def _head(fact: str) -> tuple[Word, ...]:
    """Return the words of content before the fact's "is" or "has"."""
    tokens = read(fact).tokens
    verbs = (at for at, each in enumerate(tokens) if each.value in words_of("be", "auxiliary"))
    return _subject_in(tokens[: next(verbs, 0)])


def _subject_in(tokens: Tokens) -> tuple[Word, ...]:
    if any(token.value in words_of("nominative") for token in tokens) or _opens_with_verb(tokens):
        return ()
    return tuple(_before_the_verb(content_words(tokens)))


def _opens_with_verb(tokens: Tokens) -> bool:
    """True if a text such as "Pays by card now" leaves out its subject."""
    first, *others = tokens or [Token("mark", "", "")]
    if not others or first.kind != "word" or not may_be_verb(first.text):
        return False
    second = others[0]
    return second.value not in words_of("be", "auxiliary") and not may_be_verb(second.text)


def _before_the_verb(words: Iterable[Word]) -> Iterator[Word]:
    """Return the words before the verb, without a phrase such as "after the surgery"."""
    aside = words_of("light", "measure")
    is_governed = has_begun = False
    for word in words:
        if has_begun and (word.gap in ("is", "other") or may_be_verb(word.text)):
            return
        is_governed = word.gap in ("phrase", "of") or (is_governed and word.gap in ("", "hyphen"))
        is_governed = is_governed and word.kind == "word"
        is_plain = word.kind == "word" and word.stem not in aside
        if is_plain and not is_governed and not _ADVERB.fullmatch(word.text):
            has_begun = True
            yield word


def replaces_a_word(note: str, fact: str) -> bool:
    """True if the texts differ only in a word that says which one or which way.

    "Her elder daughter", "her younger daughter"; "owes money to Anna", "from Anna". Such texts have
    the highest cosines of all. Another verb or noun is more often a synonym.
    """
    here, there = (
        [token for token in read(text).tokens if token.kind != "mark"] for text in (note, fact)
    )
    while here and there and _key(here[0]) == _key(there[0]):
        del here[0], there[0]
    behind = None
    while here and there and _key(here[-1]) == _key(there[-1]):
        behind = here.pop()
        del there[-1]
    either = (*here, *there)
    if not here or not there:
        return False
    if all(token.value in words_of("preposition", "direction") for token in either):
        ways = words_of("direction") - {"to"}  # who prefers tea to coffee prefers it over coffee
        return any(token.value in ways for token in either)
    if behind is None or any(token.kind != "word" for token in (behind, *either)):
        return False
    is_one = len(here) == len(there) == 1 and not any(may_be_verb(each.text) for each in either)
    named = {opposites().get(token.text.casefold()) for token in either}
    return is_one and (len(named) > 1 or None in named)


def _key(token: Token) -> str:
    """Return the common part of "an elder" and "the younger"."""
    return "a" if token.value in words_of("article") else token.value


def _may_be_over(fact: Reading, before: StringSet) -> bool:
    """True if the fact denies nothing, or not the earlier value: "by e-mail, not post"."""
    denied = {stem for denial in fact.negated for stem in denial.reach}
    return not fact.negated or bool(before and denied and before.isdisjoint(denied))


def rewords(note: str, fact: str) -> bool:
    """True if both say the same in the same words, in another order or form, or give one answer.

    "Their CRM is HubSpot", "HubSpot is the CRM that they use". If a finding distinguishes them, the
    rule asks.
    """
    new, old = read(note), read(fact)
    if new.degrees.keys() != old.degrees.keys():
        return False
    if _are_one_answer(note, fact):
        return True
    telling = function_words() - words_of("article", "possessive")
    here, there = (_said(reading) & telling for reading in (new, old))
    # One says "to", "must" or "us", the other "from", "can" or "him"; one left out tells little.
    if here - there and there - here:
        return False
    if max(len(_content(note)), len(_content(fact))) > _SHORT or is_event(note) or is_event(fact):
        return False
    shared = (new.stems & old.stems) - words_of("light") - _reworded(new)
    return len(shared) > 1 and not _own(new, old) and not _own(old, new)


def are_in_order(note: str, fact: str) -> bool:
    """True if both have their words in one order, days aside, or give one answer."""
    here, there = (
        [word.stem for word in read(text).words if word.kind != "weekday"] for text in (note, fact)
    )
    kept = [stem for stem in here if stem in there]
    return kept == [stem for stem in there if stem in here] or _are_one_answer(note, fact)


def _own(of: Reading, other: Reading) -> set[str]:
    """Find stems of words that only the first text has, and light ones that may name a state.

    If both texts wish, words of wishing do not count.
    """
    light = (of.stems & words_of("light")) - other.stems
    own = (words_of_its_own(of, other) | light) - _reworded(of) - words_of("measure")
    here, there = (words_of("wish") & _said(reading) for reading in (of, other))
    return own - words_of("wish") if here and there else own | here


def _reworded(reading: Reading) -> set[str]:
    """Return stems of words that come and go in repetitions."""
    known = words_of("rewording")
    return {token.value for token in reading.tokens if token.text.casefold() in known}


def _said(reading: Reading) -> set[str]:
    return {token.value for token in reading.tokens}


def names_before(note: str, value: str) -> bool:
    """True if the note names an earlier value: "a phone call instead of email"."""
    wanted = _content(value)
    return bool(wanted) and wanted == _before(note) and not says("wishing", note)


def _ended(reading: Reading) -> Denial | None:
    """Find the parts that the text calls ended: "no longer", "any more" after a "not", "quit"."""
    if not reading.ceased:
        return None
    at_the_end = [denial for denial in reading.ceased if not denial.reach]
    said = reading.negated if at_the_end else reading.ceased
    return next(iter(said), None)


@remembered
def _before(note: str) -> StringSet:
    """Find the earlier value that the note names: "from Tuesday to Thursday"."""
    text = lowered(note)
    said = _BEFORE.search(text)
    if said is None or _stated_change(text) is None or is_denied_before(text, said.start()):
        return frozenset()
    return _content(next(filter(None, said.groups())))


def _stated_change(text: str) -> re.Match[str] | None:
    """Find the first word of change that reports a change."""
    cues = pattern_of("change").finditer(text)
    return next((cue for cue in cues if is_change_stated(text, cue.start(), cue.group())), None)


def moves_another(note: str, fact: str) -> bool:
    """True if the note moves ("from … to") a thing that the fact does not name.

    "Moved her office from Pune to Goa" ends no "Lives in Pune", and ends "The office is in Pune".
    """
    text = lowered(note)
    cue, said = pattern_of("change").search(text), _BEFORE.search(text)
    if cue is None or said is None or said.group(1) is None:
        return False
    return not _content(text[cue.end() : said.start()]) <= _content(fact)


def without_start(text: str) -> str:
    """Return a text without a closing "since …": "at Acme since May 2019" is "at Acme"."""
    told, _, start = text.rpartition(" since ")
    is_date = bool(told) and all(token.kind in (*_OF_A_DATE, "mark") for token in tokens_of(start))
    return told if is_date else text


def answer_one_question(note: str, fact: str) -> bool:
    """True if both name a person or thing for one head: "the lead is Jo", "the lead is Sam".

    A head with a name or number of its own ("the manager of Leeds", "room 12") is one of several.
    """
    here, there = _frame(note), _frame(fact)
    if here is None or there is None or here.head != there.head:
        return False
    return here.value.isdisjoint(there.value)


def are_two_things(one: str, other: str) -> bool:
    """True if the texts are about two things, so that both may hold.

    Each names its thing by another number ("order 1042", "the order of 3 May is"), or is another
    entry of a list. A text that reports an end is neither.
    """
    here, there = read(one), read(other)
    if answer_one_question(one, other):
        return False
    if are_apart(_labels(here), _labels(there)) or are_apart(_named_by(one), _named_by(other)):
        return True
    if here.negated or here.ceased or there.negated or there.ceased or _before(one):
        return False
    if _cues(one) and _IS_THE.search(here.canonical) and _IS_THE.search(there.canonical):
        return False  # "Anna is now the CEO": there is one
    return not _cues(one) and _are_two_entries(here, there)


def _labels(reading: Reading) -> set[str]:
    """Find numbers and ids that count nothing: they distinguish orders, for example."""
    counted = {count.value for count in reading.counts}
    numbers = reading.values.get("number", {}).keys() - counted
    return numbers | reading.values.get("id", {}).keys()


def _named_by(text: str) -> set[str]:
    """Find dates and ids before the text's "is" or colon: they name the thing, not its value.

    A number there may count, as in "two of the lamps are red".
    """
    said = _IS.fullmatch(canonical_text(text))
    values = read(said.group("head")).values if said else {}
    return {value for kind, held in values.items() if kind != "number" for value in held}


def _are_two_entries(here: Reading, there: Reading) -> bool:
    """True if both texts are one sentence about two things, each with its value.

    "The Alpha is 20 EUR", "the Beta is 30 EUR"; the budgets of two years; two days, each with its
    hour. If only one thing differs, or only counts do, both answer one question.
    """
    if len(here.words) != len(there.words):
        return False
    pairs = list(zip(here.words, there.words, strict=True))
    others = [(one, other) for one, other in pairs if one.stem != other.stem]
    if any(one.stem in there.stems or other.stem in here.stems for one, other in others):
        return False
    told = [pair for pair in others if not {word.stem for word in pair} <= words_of("measure")]
    kinds = [{word.kind for word in pair} for pair in told]
    has_key = any(of_pair <= _KEYS for of_pair in kinds)
    has_value = any(of_pair <= VALUE_KINDS.keys() for of_pair in kinds)
    is_one_date = all(of_pair <= _OF_A_DATE for of_pair in kinds)
    is_framed = len(others) < len(pairs)
    return is_framed and len(kinds) > 1 and has_key and has_value and not is_one_date


def differ_in_head(note: str, fact: str) -> bool:
    """True if each names its value by another head: "the account manager is", "the manager is"."""
    here, there = _frame(note), _frame(fact)
    return here is not None and there is not None and here.head != there.head


def _are_one_answer(one: str, other: str) -> bool:
    """True if both give one head one name and no more: "her lead is Jo", "Jo is her lead"."""
    here, there = _frame(one), _frame(other)
    is_plain = max(len(read(text).words) for text in (one, other)) <= _PLAIN
    is_one = not any(_SEVERAL.search(text) for text in (one, other))
    has_no_other = not _own(read(one), read(other)) and not _own(read(other), read(one))
    return is_plain and is_one and has_no_other and here is not None and here == there


class Frame(NamedTuple):
    """A plain sentence: the stems before its "is", and those of the names and values after it."""

    head: StringSet
    value: StringSet


@remembered
def _frame(text: str) -> Frame | None:
    plain = canonical_text(text)
    reading = read(text)
    said = _IS.fullmatch(plain)
    if said is None or reading.negated or reading.ceased or "?" in text:
        return None
    if len(read_text(plain).sentences) > 1:
        return None
    head, value = said.group("head"), said.group("value")
    if (" " not in head or _is_named(head)) and _DEFINITE.match(value):
        head, value = value, head  # "Jo is the lead"
    stages = words_of("stage") | {"new", "real", "actual", "number"}
    stems = _content(_ADVERB.sub("", head)) - stages - _reworded(read(head))
    known = set(read(value).names) | {folded(each) for each in _CAPITAL.findall(value)}
    values = {stem_of(each) for each in known} | {
        stem for of_kind in read(value).values.values() for stem in of_kind
    }
    is_several = any(map(str.isdecimal, head)) or _is_named(head)
    if not stems or not values or is_several or not _CAPITAL_OR_DIGIT.search(value):
        return None
    return Frame(stems, frozenset(values))


def _is_named(words: str) -> bool:
    """True if it contains a name; the capital that opens a sentence does not count."""
    return any(map(_CAPITAL.match, words.split()[1:])) or bool(_TWO_NAMES.fullmatch(words))


def answers_anew(note: str, fact: str, findings: Iterable[Finding]) -> bool:
    """True if the note reports a change and differs from the fact only in the new part.

    "She has three children now" beside "has two children", "the new boss is Eva", "drinks coffee
    again" beside "drinks no coffee".
    """
    if not _changed_words(note) or are_of_other_people(note, fact):
        return False
    if answer_one_question(note, fact) or _goes_another_way(note, fact) or _undoes(note, fact):
        return True
    changed = [each for each in findings if each.is_change and each.in_note and each.in_fact]
    new, old = read(note), read(fact)
    denied = {stem for denial in new.negated for stem in denial.reach}
    if any(
        each.kind is not Difference.NEGATION and token.value in denied
        for each in changed
        for token in tokens_of(each.in_note)
        if token.kind not in ("mark", "function")
    ):
        return False  # "never said that she has three children now"
    # Words that only changed places may be another matter: "moved to Goa and back to Pune".
    if not changed or any(each.kind is Difference.ROLES for each in findings):
        return False
    over = _ended(new)
    if over in new.ceased:
        return False  # a person who sold one of two cars has another
    said = " ".join(f"{each.in_note} {each.in_fact}" for each in findings)
    aside = stems_of(said) | _cues(note) | words_of("measure")
    left_out, added = words_of_its_own(old, new) - aside, words_of_its_own(new, old) - aside
    return not left_out and len(added) <= 1


def _goes_another_way(note: str, fact: str) -> bool:
    """True if the note puts another way behind the "by" of the fact: "pays by card now".

    Not if it is done to a person, or may be done in several ways: "can be reached by phone".
    """
    here, there = (_WAY.fullmatch(lowered(text)) for text in (note, fact))
    if not here or not there or is_event(fact) or len(read(note).words) > _SHORT:
        return False
    if says("addition", note):
        return False
    way, before = _content(here["way"]) - _cues(note), _content(there["way"])
    done = _content(here["done"])
    is_plain = 0 < len(before) <= _FEW and 0 < len(done) < _FEW
    return is_plain and done == _content(there["done"]) and bool(way) and way.isdisjoint(before)


def _undoes(note: str, fact: str) -> bool:
    """True if the note affirms, in the same words, what the fact denies."""
    old = read(fact)
    if len(old.negated) != 1 or old.ceased:
        return False
    for clause in map(read, _CLAUSE.findall(note)):
        if clause.negated or clause.ceased or clause.subject != old.subject:
            continue
        aside = _cues(clause.canonical)
        if aside and clause.stems - aside and not (_own(clause, old) - aside or _own(old, clause)):
            return True
    return False


@remembered
def _cues(note: str) -> StringSet:
    """Return the stems of the note's words of change."""
    cues = pattern_of("change").finditer(lowered(note))
    return stems_of(" ".join(cue.group() for cue in cues))


def _length(text: str) -> int:
    return text.count(" ") + 1


def says_beside(fact: str, note: str, *said: str) -> StringSet:
    """Find the fact's words of content that are in neither the note nor the given words.

    Its verb does not count: the first word of its own before the value, as in "lives in Pune". Nor
    do its words of change, as in "was cut to 35k": how a value came about ends with it.
    """
    old = read(fact)
    known = {token.value for text in said for token in tokens_of(text)}
    left = words_of_its_own(old, read(note)) - known
    before = takewhile(lambda word: word.stem not in known, old.words)
    verb = [
        word.stem for word in before if word.stem in left and folded(word.text) not in old.names
    ]
    aside = words_of("stage", "measure")
    return frozenset(left - {*verb[:1]} - aside - _cues(fact))


def names_a_part(note: str, fact: str) -> bool:
    """True if the note names some of the names and values that "and" joins in the fact, not all.

    "Uses SAP and Salesforce.": "Switched from Salesforce to HubSpot." leaves SAP. One time of a
    habit is a part of it, too. Nor is all of it over if the end is that of another numbered or
    dated thing, or is only supposed, denied or asked for.
    """
    old, said = read(fact), read(note)
    if pattern_of("cessation").search(said.canonical) and not said.ceased:
        return True
    pieces: list[set[str]] = [set()]
    for token in old.tokens:
        if token.value == "and":
            pieces.append(set())
        elif token.kind in VALUE_KINDS or folded(token.text) in old.names:
            pieces[-1] |= {token.value, folded(token.text)}
    known = said.stems | {*said.names}
    named = [not known.isdisjoint(piece) for piece in pieces if piece]
    return _ends_another(said, old) or any(one is not other for one, other in pairwise(named))


def is_event(text: str) -> bool:
    """True if the text reports one event among several, with its own dates and counts."""
    return says("event", text) or says("occurrence", text)


@remembered
def _changed_words(note: str) -> StringSet:
    """Return the stems near the words of change; none if the note reports no change."""
    changed: set[str] = set()
    text = lowered(note)
    if _stated_change(text) is None or says("wishing", note):
        return frozenset()
    for each in read_text(text).sentences:
        if (cue := _stated_change(each.text)) is not None:
            before = list(_stems(tokens_of(each.text[: cue.start()])))
            # The cue's other words, as in "final budget is", are about the change as well.
            after = list(_stems(tokens_of(each.text[cue.start() :])))
            changed.update(before[-_REACH:], after[:_REACH])
    return frozenset(changed - _cues(note)) or frozenset({""})


@remembered
def _content(text: str) -> StringSet:
    return frozenset(_stems(tokens_of(lowered(text))))


def _stems(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if (
            token.kind in ("word", "weekday")
            and len(token.text) > 1
            and token.value not in words_of("light", "measure")
        ):
            yield token.value
