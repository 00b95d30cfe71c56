"""Words: finds the texts that hold the words of a question, and weighs those words.

Words are compared by their stems in English and in the language of the question, without words
that every sentence has. A stemmer is loaded with the first text that needs it. The questions
decide about the language, never a single note: the language of three words is unclear, and a
detector is wrong too often. English is the default.

The words of all texts are read once, into an index that threads share; each question then chooses
its language. Questions are put into the third person, in which notes are written, and so are
statements, so that they can be compared: "My brother is a pilot." and "The contact's brother is a
pilot." are one. Only pronouns and the verb that goes with "I" change; an order keeps its form and
names the contact. If a form is not sure, or "I" comes twice, the words stay as they were said: a
wrong verb or subject may make a false statement, and quotations are near to each other in meaning.
The words are in ``config/lexicon/third_person.toml``. Never here: a graph, a model of meaning, or a
clock.
"""

from __future__ import annotations

import math
import re
import threading
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, pairwise, repeat
from typing import Any

import numpy as np

from reconciler.floats import Flags, Rows, Scores
from reconciler.frozen import Pattern, Strings, StringSet, in_order
from reconciler.reading.canonical import canonical_text, remembered
from reconciler.reading.guard.tokens import UNSPACED
from reconciler.reading.lexicon import lexicon

ENGLISH = "english"
_OTHERS = ("german", "spanish", "french", "italian", "portuguese", "dutch", "polish")
_ENOUGH = 2
"""The number of function words that shows a language; "Los Angeles" holds one."""
_WORD, _RUN = re.compile(r"\w+"), re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+")
_ASCII_WORDS = {code: chr(code).lower() if _WORD.match(chr(code)) else " " for code in range(128)}
"""Splits ASCII into words in a fifth of the time that a pattern takes."""
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_STOP_WORDS_LISTED = """
a an the this that these those such same other each both all any some few more most no
nor not and or but if because so than then too very just only as while i me my myself we
us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves own who whom whose what which
when where why how am is are was were be been being have has had having do does did doing
can could must shall should will would at by for from in into of off on onto out over to
under until up upon with about above after again against before below between down during
further here there now once through s t d m o y re ve ll ain aren couldn didn doesn don
hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn
"""
STOP_WORDS = frozenset(_STOP_WORDS_LISTED.split())
"""English function words, and the parts that an apostrophe leaves of them."""

_ASKING_LISTED = "every everything anything list tell know known summarise summarize"
_ASKING = frozenset(_ASKING_LISTED.split())
"""What asks a memory for anything: it says nothing beside other words."""


_ABOUT_THE_CONTACT = {
    word: told
    for words, told in (
        ("i you he", "she"),
        ("me him my your his", "her"),
        ("am", "is"),
        ("i'm you're he's", "she is"),
        ("i've you've", "she has"),
    )
    for word in words.split()
}
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")


def about_her(question: str) -> str:
    """Put a question in the third person, as if about a woman, to compare questions.

    "Where do I live?", "Where do you live?" and "Where does he live?" ask for the same. The model
    puts them far from each other, and hardly sees that a verb keeps its form. Only English words
    change; other languages have their forms in config/attribute_questions_in_languages.toml.
    """
    return _ENGLISH_WORD.sub(
        lambda word: _ABOUT_THE_CONTACT.get(word[0].lower().replace("’", "'"), word[0]), question
    )


def without_names(question: str, names: Iterable[str]) -> str:
    """Return the question with "she" and "her" for the contact's own names.

    The name distinguishes no facts in the contact's memory, and is near to the fact about the name.

    Args:
        question: the question.
        names: the contact's names, as they are stored.
    """
    words = {word for name in names for word in _WORD.findall(name) if len(word) > 1}
    if not words:
        return question
    called = rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})"
    name = re.compile(rf"{called}(?:\s+{called})*(?P<owns>['’]s?\b)?(?!\w)", re.IGNORECASE)
    return name.sub(lambda found: "her" if found["owns"] else "she", question)


_TOKENS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[\W_]")
_CONTACT, _WE = "the contact", "the contact and others"

_SUBJECTS = {"i": "", "i'm": " is", "i've": " has", "i'll": " will", "i'd": " would"}
"""Forms of "I", each with the verb that it contains; a bare "I" is followed by its verb."""

_PRONOUNS = {
    "me": _CONTACT,
    "my": f"{_CONTACT}'s",
    "us": _WE,
    "our": f"{_CONTACT}'s",
    "we": _WE,
    "we're": f"{_WE} are",
    "we've": f"{_WE} have",
    "we'll": f"{_WE} will",
}
"""Words that always mean the contact. After "and others" a verb has the form that it has after
"we", so nothing else changes."""

_REPEATED = _PRONOUNS | {"me": "them", "my": "their", "myself": "themselves"}
"""Words that mean the contact after the sentence has named the contact as its subject."""

_UNSURE = frozenset(["we'd", "let's", "ourselves", "mine", "ours", "myself", "ain't", '"', "“"])
"""Words without a known form, and marks that begin another person's words."""

_PLACES = frozenset({"US", "ME"})
_JOINING = frozenset(["and", "or", "but", "then"])


class _UnsureError(Exception):
    """A word with an unknown form in the third person."""


@remembered
def as_told(text: str, called: Strings) -> str:
    """Return a statement in one form for all persons; it is equal only for the same words.

    Args:
        text: a statement, in the first or the third person.
        called: the contact's names.
    """
    told = canonical_text(about_the_contact(text)).casefold()
    # Only as a whole and at the beginning: "Anna" may be a daughter of Anna Berg.
    for name in map(str.casefold, called):
        if told.startswith((f"{name} ", f"{name}'s ")):
            told = _CONTACT + told[len(name) :]
    return told.removeprefix(f"{_CONTACT} ")


def about_the_contact(said: str) -> str:
    """Turn a sentence into one about the contact, which ends with a full stop.

    Args:
        said: a sentence or a clause in the first person, or an order, with single spaces.
    """
    try:
        told = _of_the_contact(_TOKENS.findall(said))
    except _UnsureError:
        told = said
    told = told[:1].upper() + told[1:]
    return told if told.endswith((".", "!", "?", "…")) else f"{told}."


def _of_the_contact(tokens: Sequence[str]) -> str:
    """Put words into the third person.

    Raises:
        _UnsureError: a form is not known, or the doer is not sure.
    """
    told: list[str] = []
    is_named, awaits = False, ""
    for at, token in enumerate(tokens):
        word = _small_word(token)
        if awaits and (token.isspace() or word in _words_listed("adverb")):
            told.append(token)
        elif awaits:
            told.append(_agreeing(token, awaits))
            awaits = ""
        elif word in _SUBJECTS:
            if is_named or _is_joined(tokens, at):  # "my wife and I live"
                raise _UnsureError
            told.append(_CONTACT + _SUBJECTS[word])
            awaits = word if word in ("i", "i'd") else ""
            is_named = True
        elif is_named and word in _words_listed("present") and _is_joined(tokens, at):
            raise _UnsureError  # the words alone do not say which subject the verb belongs to
        else:
            told.append(_other(tokens, at, _REPEATED if is_named else _PRONOUNS))
    if awaits:
        raise _UnsureError
    return "".join(told)


def _other(tokens: Sequence[str], at: int, pronouns: dict[str, str]) -> str:
    """Return the new form of a word other than "I" and its verb; it may be part of a name."""
    word = _small_word(tokens[at])
    if tokens[at] in _PLACES or word not in _REPEATED.keys() | _UNSURE:
        return tokens[at]
    if word not in pronouns or (at > 0 and tokens[at] != word):
        raise _UnsureError
    return pronouns[word]


def _small_word(token: str) -> str:
    return token.replace("’", "'").casefold()


def _is_joined(tokens: Sequence[str], at: int) -> bool:
    """True if "and" or another joining word stands before."""
    return at >= 2 and _small_word(tokens[at - 2]) in _JOINING


def _agreeing(verb: str, subject: str) -> str:
    """Return the form of a verb for "the contact", from the form for "I".

    Raises:
        _UnsureError: the form is not known.
    """
    word = _small_word(verb)
    if subject == "i'd" and word in _words_listed("after_would"):
        return verb
    if subject == "i'd" or word != verb.replace("’", "'"):
        raise _UnsureError  # the title of something: "I Will Survive"
    if word in _irregular():
        return _irregular()[word]
    if word in _words_listed("present"):
        is_after_vowel = verb[-2:-1] in "aeiou"
        stem = f"{verb[:-1]}ie" if verb.endswith("y") and not is_after_vowel else verb
        return f"{stem}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{stem}s"
    is_past = word.endswith("ed") and len(word) > 3 and word not in _words_listed("present_in_ed")
    if is_past or word in _words_listed("past", "invariable"):
        return verb
    raise _UnsureError


@cache
def _words_listed(*names: str) -> StringSet:
    return lexicon("third_person").word_set(*names)


@cache
def _irregular() -> dict[str, str]:
    return lexicon("third_person").by_word("irregular")


def plain_words(text: str) -> list[str]:
    """Return a text's words in small letters; pairs of letters in scripts without spaces."""
    if text.isascii():  # as most are; the canonical form has the same words
        return text.translate(_ASCII_WORDS).split()
    text = canonical_text(text).casefold()
    if text.isascii():
        return _WORD.findall(text)
    return [word for run in _RUN.findall(text) for word in _words_of(run)]


def _words_of(run: str) -> Iterable[str]:
    is_unspaced = len(run) > 1 and _UNSPACED_LETTER.match(run)
    return map("".join, pairwise(run)) if is_unspaced else (run,)


class AskedWords:
    """Reads the words of one question: in its language, without the function words.

    Args:
        question: the question.
        count: the number of times that a word is in the notes. If the question's language is
            unclear, it gets the language of the notes.

    Attributes:
        language: by the name of its stemmer.
        is_sentence: whether it has function words; else each of its words is a keyword.
    """

    def __init__(self, question: str, count: Callable[[str], int]) -> None:
        said = set(plain_words(question))
        self.language = _language_of(said, count)
        self._nothing = STOP_WORDS
        if not all(map(self._says_nothing, said - _ASKING)):
            self._nothing = STOP_WORDS | _ASKING
        text = canonical_text(question)
        parted = _parted(text)
        self.is_sentence = parted != text or any(map(self._says_nothing, said))
        self._is_parted = parted != text and bool(plain_words(parted))

    def words(self, text: str) -> list[str]:
        """Return the plain words that a part of the question looks for, in their order."""
        words = plain_words(_parted(canonical_text(text)) if self._is_parted else text)
        return [word for word in words if not self._says_nothing(word)]

    def key(self, word: str) -> str:
        """Return the stem by which a plain word is compared."""
        return stem_of(word, self.language)

    def keys(self, text: str) -> list[str]:
        """Return the stems by which a question part's words are compared, in order."""
        return list(map(self.key, self.words(text)))

    def _says_nothing(self, word: str) -> bool:
        return word in self._nothing or self.language in _languages().get(word, ())


def is_letter(word: str) -> bool:
    """True if it is a single letter of a script that puts no spaces between words."""
    return len(word) == 1 and _UNSPACED_LETTER.match(word) is not None


@lru_cache(maxsize=20_000)
def stem_of(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a plain word in a language."""
    return str(_stemmer(language).stemWord(word))


def _parted(text: str) -> str:
    """Put a space in place of each separating word, in scripts without spaces."""
    return text if text.isascii() else _unspaced().sub(" ", text)


def _language_of(said: Iterable[str], count: Callable[[str], int]) -> str:
    told = _counted(said, lambda _: 1)
    best = _most(told)
    if told[best] >= _ENOUGH or told[ENGLISH]:
        return best
    return _most(_counted(_languages(), count))


def _counted(words: Iterable[str], count: Callable[[str], int]) -> Counter[str]:
    """Count the function words of each language among these, weighted by ``count``."""
    told: Counter[str] = Counter()
    for word in words:
        for language in _languages().get(word, ()):
            told[language] += count(word)
    return told


def _most(told: Mapping[str, int]) -> str:
    """Return the language with the most; English if no other has more."""
    return max((ENGLISH, *_OTHERS), key=lambda language: told.get(language, 0))


@cache
def _languages() -> dict[str, Strings]:
    """Return the languages of each function word."""
    read = lexicon("languages")
    found: dict[str, Strings] = dict.fromkeys(STOP_WORDS, (ENGLISH,))
    for language in _OTHERS:
        for word in dict.fromkeys(map(str.casefold, read.words(language))):
            found[word] = (*found.get(word, ()), language)
    return found


@cache
def _unspaced() -> Pattern:
    words = sorted(lexicon("languages").words("unspaced"), key=len, reverse=True)
    first = "".join({word[0] for word in words})
    return re.compile(f"(?=[{first}])(?:{'|'.join(words)})")  # the set spares most places


@cache
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language, 0)  # ``stem_of`` remembers, and a list of words needs no more


_PART = re.compile(r"[,;?\n、，；？]")
"""Marks between the things that a query lists: "knee, walking limits"."""
_NAMED = re.compile(
    r"(?<![\w/.-])(?=[\w/.-]*\d)(?=[\w/.-]*[^\W\d]|[\d/.-]{4})\w+(?:[/.-]\w+)*"  # SL-204, 4711
    r"|(?<=[\w,;] )(?!I\b)[A-Z]\w+(?:[ -][A-Z]\w+)*"  # Dele, not at the beginning
)
"""Numbers and names in a question; a count or a day of the month is neither."""
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_NAMED_MAX, _NAMED_SHARE = 3, 10
"""The most texts with a name that still distinguishes them; or at most one in ten."""
_DATED_LISTED = """
January February March April May June July August September October November December
Monday Tuesday Wednesday Thursday Friday Saturday Sunday
"""
DATED = frozenset(_DATED_LISTED.split())
"""Months and days: written like names, but shared by many different things."""
_K1, _B = 1.5, 0.75
"""BM25's constants: how soon a repeated word adds nothing, and how much a long text counts less.
Source: BM25 as Lucene and bm25s have it. The postings are ours: bm25s makes its index again after
each write, which took 276 ms of processor time for 10,000 facts; this takes 115, mostly to read
them."""
_ROW = np.dtype("<i4")


@in_order
class WordMatches:
    """The match of each text with a question, by words.

    Attributes:
        scores: BM25, 0 where no word is shared; shape (texts,).
        shares: the share of the question's words that stand in the text, each weighed by how few
            of the texts hold it, 0 to 1; of a query that lists several things the best of them;
            shape (texts,).
        asked: the question's words, by their English stems.
        named: how many of the question's numbers and names each text has, without those that many
            texts have; shape (texts,).
    """

    scores: Scores
    shares: Scores
    asked: Strings
    named: Rows


class WordIndex:
    """Texts by their words, asked and added to by any number of threads.

    Args:
        texts: the texts to search. They are read with the first question, again if that is
            interrupted.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._unread = [texts]
        self._rows: defaultdict[str, bytearray] = defaultdict(bytearray)
        """The texts that hold each plain word, once for each time, as numpy reads them. Ten
        thousand lists or arrays more would start a collection of all garbage, a sixth of a cold
        recall; the garbage collector does not count bytes and strings."""
        self._counts = array("i")
        """The number of words in each text."""
        self._lengths: Scores | None = None
        """The same without English function words; counted for the first question."""
        self._forms = {language: _Forms(language) for language in (ENGLISH, *_OTHERS)}
        """The word forms by language; a language is read at the first question in it."""

    def add(self, text: str) -> None:
        """Add a text after all others."""
        with self._lock:
            self._unread.append((text,))

    def matches(self, question: str, rows: Rows | slice = slice(None)) -> WordMatches:
        """Match each text with the question, in the order of the texts.

        Args:
            question: the question.
            rows: the texts that count, in ascending order. The others count for nothing, as if they
                had never been added.
        """
        with self._lock:
            self._index_unread()
            reading = AskedWords(question, self._count)
            words: dict[str, set[str]] = {}
            for word in reading.words(question):
                words.setdefault(reading.key(word), set()).update(self._alike(word, reading))
            lengths = self._lengths = self._told() if self._lengths is None else self._lengths
            # Counted here: an array that numpy looks at cannot grow.
            counts = [self._times(forms) for forms in words.values()]
        lengths, counts = lengths[rows], [times[rows] for times in counts]
        damping = _K1 * (1 - _B + _B * lengths / ((lengths.mean() if len(lengths) else 0) or 1.0))
        scores = np.zeros(len(lengths))
        held: dict[str, Flags] = {}
        weights: dict[str, float] = {}
        for word, times in zip(words, counts, strict=True):
            holding = np.flatnonzero(times)
            rare = (len(lengths) - len(holding) + 0.5) / (len(holding) + 0.5)
            weight = weights[word] = math.log(1 + rare)  # the rarer, the higher
            scores[holding] += weight * times[holding] / (times[holding] + damping[holding])
            held[word] = times > 0
        shares = _shares(reading, question, held, weights, len(lengths))
        named = _named(reading, question, held, len(lengths))
        asked = tuple(dict.fromkeys(map(stem_of, reading.words(question))))
        return WordMatches(scores, shares, asked, named)

    def _index_unread(self) -> None:
        if not self._unread:
            return
        # One list of all words: ten thousand short ones would keep the garbage collector busy.
        words: list[str] = []
        counts = array("i")
        for text in chain.from_iterable(self._unread):
            said = plain_words(text)
            words += said
            counts.append(len(said))
        numbers = range(len(self._counts), len(self._counts) + len(counts))
        owners = (number.to_bytes(_ROW.itemsize, "little") for number in numbers)
        rows = self._rows
        for word, row in zip(words, chain.from_iterable(map(repeat, owners, counts)), strict=True):
            rows[word] += row
        self._counts.extend(counts)
        self._unread, self._lengths = [], None

    def _told(self) -> Scores:
        """Count the words of each text that say something."""
        nothing = self._times(STOP_WORDS & self._rows.keys())
        return np.array(self._counts, dtype=np.float64) - nothing

    def _count(self, word: str) -> int:
        return len(self._rows[word]) // _ROW.itemsize if word in self._rows else 0

    def _alike(self, word: str, reading: AskedWords) -> set[str]:
        """Return the forms of a word in the texts, by English and by the question's language."""
        if is_letter(word):  # of a script that puts no spaces between words
            return {each for each in self._rows if word in each}
        languages = {ENGLISH, reading.language}
        return set().union(*(self._forms[each].of(word, self._rows) for each in languages))

    def _times(self, words: Iterable[str]) -> Rows:
        """Count how often each text has any of these plain words."""
        times = np.zeros(len(self._counts), dtype=np.intp)
        for word in words:
            times += np.bincount(np.frombuffer(self._rows[word], _ROW), minlength=len(times))
        return times


class _Forms:
    """The words of the texts by their stem in one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._words: defaultdict[str, str] = defaultdict(str)
        self._read = 0

    def of(self, word: str, words: Collection[str]) -> set[str]:
        """Return a word's forms among the texts' words; new words are read first."""
        if self._read < len(words):  # it would go past all that it has read
            new = [each for each in islice(words, self._read, None) if each not in STOP_WORDS]
            self._read = len(words)
            for stem, each in zip(_stemmer(self._language).stemWords(new), new, strict=True):
                self._words[stem] += f" {each}"
        return set(self._words.get(stem_of(word, self._language), "").split())


def _shares(
    reading: AskedWords,
    question: str,
    held: Mapping[str, Flags],
    weights: Mapping[str, float],
    size: int,
) -> Scores:
    """Return the share of one listed thing's words in each text; fewer words count less."""
    parts = [part for part in map(reading.keys, _PART.split(question)) if part]
    usual = sum(weights.values()) / max(len(parts), 1)
    shares = np.zeros(size)
    for part in map(dict.fromkeys, parts):
        told = sum(weights[word] for word in part)
        holds = sum((weights[word] * held[word] for word in part), start=np.zeros(size))
        shares = np.maximum(shares, holds / max(told, usual))
    return shares


def _named(reading: AskedWords, question: str, held: Mapping[str, Flags], size: int) -> Rows:
    """Count whole numbers and names in each text, and keywords of a query of keywords."""
    text = _UNSPACED_RUN.sub(" ", canonical_text(question))
    given = (name for name in _NAMED.findall(text) if name not in DATED)
    names = [reading.keys(name) for name in given]
    if not reading.is_sentence:
        names += [[word] for word in held]
    named = np.zeros(size, np.intp)
    for name in filter(None, names):
        holds = np.logical_and.reduce([held[word] for word in name])
        if holds.sum() <= max(_NAMED_MAX, size / _NAMED_SHARE):
            named += holds
    return named


def content_words(text: str) -> list[str]:
    """Return a text's English stems without function words, in order, with repetitions."""
    return [stem_of(word) for word in plain_words(text) if word not in STOP_WORDS]
