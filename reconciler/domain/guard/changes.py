"""Changes: whether a note says that a fact has changed, and whether it names what was before.

A short list of words says that something is otherwise than before; that note and fact are about one
matter is told by the words that they share, and by a cosine where they are short. No grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from reconciler.domain.guard.differences import words_of_its_own
from reconciler.domain.guard.reading import Denial, Reading, folded, read
from reconciler.domain.guard.tokens import Token, stem_of, tokens_of
from reconciler.domain.guard.vocabulary import vocabulary
from reconciler.domain.records.findings import Finding
from reconciler.domain.records.notes import canonical_text
from reconciler.domain.text_reading import read_text

__all__ = [
    "answer_one_question",
    "answers_anew",
    "are_of_other_people",
    "differ_in_head",
    "ends",
    "is_event",
    "names_before",
    "says_beside",
    "says_it_changed",
    "share_matter",
    "stated",
]

SHARED_MIN = 1 / 3
"""Of the words about the change, or of the fact's where those are fewer, how many both have.

Source: benchmarks/natural.py and benchmarks/full_memory.py; at a fifth, links in conversations are
twice as many and mostly wrong."""

COSINE_MIN = 0.25
"""Below it two texts that share a word are about different things. Source: as above."""

SHORT_COSINE_MIN = 0.4
"""From here on two short notes are about one matter though they share no word. Source: as above."""

LONG = 16
_SHORT = 6
"""Words of content that a short note has at most."""

_REACH = 8
"""Words of content on either side of a word of change that say what has changed."""

_CLAUSE = re.compile(r"[^,;]+[,;]*|[,;]+")
_WISH = re.compile(
    r"\?|\b(?:can|could|would|do) you\b|\b(?:i'd|i'll|i will|let's)\b"
    r"|\b(?:i'm|i am|i was|i've been|we're|been|and|is|are) (?:just |also |actually |really )?"
    r"(?:thinking|looking|planning|trying|considering|hoping|meaning|wondering|going to)\b"
    r"|\b(?:any|some) (?:tips|recommendations|advice|ideas|suggestions)\b"
    r"|\b(?:considers?|considering|curious|hopes?|i think|might|not sure|plans? to)\b"
)
"""What asks, or tells of an intention: no state of things that has changed."""

_EVENT = re.compile(
    r"^(?:(?!is\b|are\b|has\b|have\b|had\b|was\b|be\b|the\b|an?\b|her\b|his\b|their\b|my\b|our\b"
    r"|[a-z]+'(?:s|ve|re)\b)[\w-]+,? ){0,3}"
    r"(?:(?!need|reach|pass|wait|watch|finish|complet|gain|stay)[a-z]{2,20}[^e\W]ed|bought|came|gave"
    r"|got|held|made|met|paid|ran|read|saw|sent|sold|spent|spoke|took|was(?! \w+ing\b)|went"
    r"|were(?! \w+ing\b)|wrote)\b"
)
"""What tells of one event, of which there may be many: "Called on Monday", "Last order was 50"."""

_DISPOSING = frozenset(
    {"sold", "gave", "quit", "quits", "quitting", "cancelled", "canceled", "cancels", "left"}
)
"""What ends the thing itself, so that whatever the fact says was done with it is over."""

_BEFORE = re.compile(
    r"\bfrom ([\w'-]+(?: [\w'-]+)?) to\b|\binstead of ([\w'-]+(?: [\w'-]+)?)"
    r"|\brather than ([\w'-]+(?: [\w'-]+)?)"
)
_IS = re.compile(
    r"(?P<head>[^,:;]{2,60}?)(?: (?:is|are)(?: now| called)? |: )(?P<value>[^;]{1,60}?)\.?"
)
_DEFINITE = re.compile(r"(?:the|our|their|her|his|its|my)\b", re.IGNORECASE)
_ADVERB = re.compile(r"\b\w{3,20}ly\b")
_CAPITAL = re.compile(r"[^\W\d_a-zß-ÿ][\w'-]*")
_TWO_NAMES = re.compile(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*){1,2}")
_CAPITAL_OR_DIGIT = re.compile(r"[^\W_a-z]|@")

_FIRST = re.compile(r"\b(?:i|me|my|mine|i'm|i've|i'd|i'll|we|our|us|we're|we've)\b")
_THIRD = re.compile(r"^(?:\w+,? ){0,3}?(?:he|she|they|his|her|hers|their)\b(?:'s|'re|'ve)?")


def says_it_changed(note: str, fact: str, cosine: float) -> bool:
    """Whether the note says that it is a change, and is about the same matter as the fact.

    Args:
        note: the new text.
        fact: a text that is near to it.
        cosine: of the two.
    """
    if cosine < COSINE_MIN or _tells_a_wish(fact):
        return False
    here, there = _changed_words(note), _content(fact)
    if not here or not there or are_of_other_people(note, fact) or _are_numbered(note, fact):
        return False
    if max(map(_length, (note, fact))) > LONG:
        return False
    shared = here & there
    if shared and len(shared) >= SHARED_MIN * min(len(here), len(there)):
        return True
    is_short = max(len(_content(note)), len(there)) <= _SHORT
    return is_short and cosine >= SHORT_COSINE_MIN


def _are_numbered(note: str, fact: str) -> bool:
    """Whether a number or an id tells the thing of the one text from the other's: two orders."""
    here, there = (_labels(read(text)) for text in (note, fact))
    return bool(here and there) and here.isdisjoint(there)


def _labels(reading: Reading) -> set[str]:
    counted = {count.value for count in reading.counts}
    numbers = reading.values.get("number", {}).keys() - counted
    return numbers | reading.values.get("id", {}).keys()


def are_of_other_people(note: str, fact: str) -> bool:
    """Whether the note speaks of him, her or them beside what the contact said of itself."""
    here, there = canonical_text(note).casefold(), canonical_text(fact).casefold()
    return (
        _FIRST.search(there) is not None
        and _THIRD.search(here) is not None
        and not here.startswith(("i ", "i'", "we ", "my ", "our "))
    )


@lru_cache(maxsize=4096)
def stated(text: str) -> str:
    """The text without those of its clauses that ask, or tell of an intention."""
    if not _tells_a_wish(text):
        return text
    sentences = (sentence.text for sentence in read_text(text).sentences)
    told = ("".join(map(_before_a_wish, _CLAUSE.findall(each))).strip() for each in sentences)
    return " ".join(filter(None, told))


def share_matter(one: str, other: str) -> bool:
    """Whether a word that says what a text is about stands in both."""
    return not _content(one).isdisjoint(_content(other))


def _before_a_wish(clause: str) -> str:
    wish = _WISH.search(clause.casefold())
    return clause if wish is None else clause[: wish.start()] * (wish.group() != "?")


def ends(note: str, fact: str) -> bool:
    """Whether the note says that what the fact says is over, and leaves nothing of it.

    "No longer uses Zendesk", "sold the van", "moved from Tuesday to Thursday". A note that ends a
    part ("no longer works on Fridays"), or leaves out more than the fact's verb, ends nothing.
    """
    if _tells_a_wish(note) or are_of_other_people(note, fact) or _length(fact) > LONG:
        return False
    new, old = read(note), read(fact)
    if old.negated or old.ceased or new.subject != old.subject:
        return False
    left_out = words_of_its_own(old, new)
    if any(word in left_out for word in map(stem_of, old.names)):
        return False
    verb = {word.stem for word in old.words[:1]}
    ended = _ended(new)
    if ended is not None:
        may_differ = verb if ended.text.split()[0] in _DISPOSING else set()
        what = _plain(ended.reach) - _cues(note)
        return bool(what) and what <= old.stems and left_out <= may_differ
    before = _before(note)
    return bool(before) and before <= old.stems and left_out <= verb


def names_before(note: str, value: str) -> bool:
    """Whether the note names a value as the one before: "a phone call instead of email"."""
    wanted = _content(value)
    return bool(wanted) and wanted == _before(note) and not _tells_a_wish(note)


def _ended(reading: Reading) -> Denial | None:
    """What the text says is over: "no longer", "any more" behind a "not", "quit"."""
    if not reading.ceased:
        return None
    at_the_end = [denial for denial in reading.ceased if not denial.reach]
    said = reading.negated if at_the_end else reading.ceased
    return next(iter(said), None)


def _plain(stems: Iterable[str]) -> set[str]:
    """The stems without light words, months and years, which tell when it ended."""
    known = vocabulary()
    return {
        stem
        for stem in stems
        if stem not in known.light and stem not in known.months and not stem.isdecimal()
    }


@lru_cache(maxsize=1024)
def _before(note: str) -> frozenset[str]:
    """What the note says was before: "from Tuesday to Thursday", "instead of email"."""
    text = canonical_text(note).casefold()
    if vocabulary().change.search(text) is None:
        return frozenset()
    said = _BEFORE.search(text)
    return _content(next(filter(None, said.groups()))) if said else frozenset()


def answer_one_question(note: str, fact: str) -> bool:
    """Whether both name somebody or something for one head: "the lead is Jo", "the lead is Sam".

    A head with a name or number of its own ("the manager of Leeds", "room 12") is one of several.
    """
    here, there = _frame(note), _frame(fact)
    if here is None or there is None or here.head != there.head:
        return False
    return here.value.isdisjoint(there.value)


def differ_in_head(note: str, fact: str) -> bool:
    """Whether each names its value by another head: "the account manager is", "the manager is"."""
    here, there = _frame(note), _frame(fact)
    return here is not None and there is not None and here.head != there.head


class Frame(NamedTuple):
    """A plain sentence: the stems before its "is", and those of the names and values behind it."""

    head: frozenset[str]
    value: frozenset[str]


@lru_cache(maxsize=4096)
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
    stages = vocabulary().stages | {"new", "real", "actual"}
    stems = _content(_ADVERB.sub("", head)) - stages
    known = set(read(value).names) | {folded(each) for each in _CAPITAL.findall(value)}
    values = {stem_of(each) for each in known} | {
        stem for found in read(value).values.values() for stem in found
    }
    is_several = any(map(str.isdecimal, head)) or _is_named(head)
    if not stems or not values or is_several or not _CAPITAL_OR_DIGIT.search(value):
        return None
    return Frame(stems, frozenset(values))


def _is_named(words: str) -> bool:
    """Whether a name stands in it, but for the capital that opens a sentence."""
    return any(map(_CAPITAL.match, words.split()[1:])) or bool(_TWO_NAMES.fullmatch(words))


def answers_anew(note: str, fact: str, findings: Iterable[Finding]) -> bool:
    """Whether the note says that it is a change, and differs in nothing but in what is new.

    "She has three children now" beside "has two children", "the new boss is Eva".
    """
    if not _changed_words(note) or are_of_other_people(note, fact):
        return False
    if answer_one_question(note, fact):
        return True
    if not any(each.is_change and each.in_note and each.in_fact for each in findings):
        return False
    new, old = read(note), read(fact)
    said = " ".join(f"{each.in_note} {each.in_fact}" for each in findings)
    aside = {token.value for token in tokens_of(said)} | _cues(note) | vocabulary().measures
    left_out, added = words_of_its_own(old, new) - aside, words_of_its_own(new, old) - aside
    return not left_out and len(added) <= 1


@lru_cache(maxsize=1024)
def _cues(note: str) -> frozenset[str]:
    """The stems of the note's words of change."""
    text = canonical_text(note).casefold()
    said = " ".join(cue.group() for cue in vocabulary().change.finditer(text))
    return frozenset(token.value for token in tokens_of(said))


def _length(text: str) -> int:
    return text.count(" ") + 1


def says_beside(fact: str, note: str, *said: str) -> frozenset[str]:
    """The words of content of the fact that are neither in the note nor in what is given.

    Its verb is none, the first word before the value that only the fact has: "lives in Pune".
    """
    old = read(fact)
    known = {token.value for text in said for token in tokens_of(text)}
    left = words_of_its_own(old, read(note)) - known
    before = takewhile(lambda word: word.stem not in known, old.words)
    verb = [
        word.stem for word in before if word.stem in left and folded(word.text) not in old.names
    ]
    aside = vocabulary().stages | vocabulary().measures
    return frozenset(left - {*verb[:1]} - aside)


def is_event(text: str) -> bool:
    """Whether the text tells of something that happened: its dates and counts are its own."""
    return _EVENT.search(canonical_text(text).casefold()) is not None


def _tells_a_wish(text: str) -> bool:
    return _WISH.search(canonical_text(text).casefold()) is not None


@lru_cache(maxsize=1024)
def _changed_words(note: str) -> frozenset[str]:
    """The stems around the words of change; none where the note tells no change."""
    found: set[str] = set()
    text = canonical_text(note).casefold()
    known = vocabulary().change
    if known.search(text) is None or _tells_a_wish(note):
        return frozenset()
    for each in read_text(text).sentences:
        if (cue := known.search(each.text)) is not None:
            before = list(_stems(tokens_of(each.text[: cue.start()])))
            # What the cue says besides, as "final budget is", is about the change as well.
            after = list(_stems(tokens_of(each.text[cue.start() :])))
            found.update(before[-_REACH:], after[:_REACH])
    return frozenset(found - _cues(note)) or frozenset({""})


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(_stems(tokens_of(canonical_text(text).casefold())))


def _stems(tokens: list[Token]) -> Iterator[str]:
    known = vocabulary()
    for token in tokens:
        if token.kind in ("word", "weekday") and len(token.text) > 1:
            stem = token.value
            if stem not in known.light and stem not in known.measures:
                yield stem
