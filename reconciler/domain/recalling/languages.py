"""Languages: the words of a question, and the language in which their forms are compared. Pure.

The questions decide, never a single note: a note of three words tells no language, and what a
detector makes of it is wrong too often. English is read where nothing speaks for another language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from reconciler.domain.guard.tokens import UNSPACED
from reconciler.domain.records.notes import canonical_text
from reconciler.lexicon import lexicon

ENGLISH = "english"
_OTHERS = ("german", "spanish", "french", "italian", "portuguese", "dutch", "polish")
_ENOUGH = 2
"""Function words that are enough to tell a language; "Los Angeles" holds one."""
_WORD, _RUN = re.compile(r"\w+"), re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+")
_ASCII_WORDS = {code: chr(code).lower() if _WORD.match(chr(code)) else " " for code in range(128)}
"""Splits ASCII into words in a fifth of the time that a pattern takes."""
_LETTER = re.compile(f"[{UNSPACED}]")
STOP_WORDS = frozenset(
    word
    for words in (
        "a an the this that these those such same other each both all any some few more most no",
        "nor not and or but if because so than then too very just only as while i me my myself we",
        "us our ours ourselves you your yours yourself yourselves he him his himself she her hers",
        "herself it its itself they them their theirs themselves own who whom whose what which",
        "when where why how am is are was were be been being have has had having do does did doing",
        "can could must shall should will would at by for from in into of off on onto out over to",
        "under until up upon with about above after again against before below between down during",
        "further here there now once through s t d m o y re ve ll ain aren couldn didn doesn don",
        "hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn",
    )
    for word in words.split()
)
"""English function words, and the parts that an apostrophe leaves of them."""


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
    """The question in the third person, as if about a woman, by which questions are compared.

    "Where do I live?", "Where do you live?" and "Where does he live?" ask for the same. The model
    puts them far from each other, and hardly sees that a verb keeps its form. Only English words
    change; other languages have their forms in config/attribute_questions_in_languages.toml.
    """
    return _ENGLISH_WORD.sub(
        lambda word: _ABOUT_THE_CONTACT.get(word[0].lower().replace("’", "'"), word[0]), question
    )


def without_names(question: str, names: Iterable[str]) -> str:
    """The question with "she" and "her" for the contact's own names.

    Their name tells nothing apart in their memory, and is near to the fact that gives it.

    Args:
        question: what is asked.
        names: the contact's, as they are filed.
    """
    words = {word for name in names for word in _WORD.findall(name) if len(word) > 1}
    if not words:
        return question
    called = rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})"
    name = re.compile(rf"{called}(?:\s+{called})*(?P<owns>['’]s?\b)?(?!\w)", re.IGNORECASE)
    return name.sub(lambda found: "her" if found["owns"] else "she", question)


def plain_words(text: str) -> list[str]:
    """The words of a text in small letters; pairs of letters in scripts without spaces."""
    if text.isascii():  # as most are; the canonical form has the same words
        return text.translate(_ASCII_WORDS).split()
    text = canonical_text(text).casefold()
    if text.isascii():
        return _WORD.findall(text)
    return [word for run in _RUN.findall(text) for word in _words_of(run)]


def _words_of(run: str) -> Iterable[str]:
    is_unspaced = len(run) > 1 and _LETTER.match(run)
    return map("".join, pairwise(run)) if is_unspaced else (run,)


class AskedWords:
    """Reads the words of one question: in its language, without the function words.

    Args:
        question: what is asked.
        count: how often a word stands in the notes. Where the question does not tell its language,
            it is taken to be theirs.

    Attributes:
        language: by the name of its stemmer.
        is_sentence: whether it has function words; else each of its words is a keyword.
    """

    def __init__(self, question: str, count: Callable[[str], int]) -> None:
        said = set(plain_words(question))
        self.language = _language_of(said, count)
        text = canonical_text(question)
        parted = _parted(text)
        self.is_sentence = parted != text or any(map(self._says_nothing, said))
        self._is_parted = parted != text and bool(plain_words(parted))

    def words(self, text: str) -> list[str]:
        """The plain words that a part of the question looks for, in their order."""
        words = plain_words(_parted(canonical_text(text)) if self._is_parted else text)
        return [word for word in words if not self._says_nothing(word)]

    def key(self, word: str) -> str:
        """The stem by which a plain word is compared."""
        return stem_of(word, self.language)

    def keys(self, text: str) -> list[str]:
        """The stems by which the words of a part of the question are compared, in order."""
        return list(map(self.key, self.words(text)))

    def _says_nothing(self, word: str) -> bool:
        return word in STOP_WORDS or self.language in _languages().get(word, ())


def is_letter(word: str) -> bool:
    """Whether it is a single letter of a script that puts no spaces between words."""
    return len(word) == 1 and _LETTER.match(word) is not None


@lru_cache(maxsize=20_000)
def stem_of(word: str, language: str = ENGLISH) -> str:
    """The stem of a plain word in a language."""
    return str(_stemmer(language).stemWord(word))


def _parted(text: str) -> str:
    """The text with a space in place of each separating word, in scripts without spaces."""
    return text if text.isascii() else _unspaced().sub(" ", text)


def _language_of(said: Iterable[str], count: Callable[[str], int]) -> str:
    told = _counted(said, lambda _: 1)
    best = _most(told)
    if told[best] >= _ENOUGH or told[ENGLISH]:
        return best
    return _most(_counted(_languages(), count))


def _counted(words: Iterable[str], count: Callable[[str], int]) -> Counter[str]:
    """The number of function words of each language among these, weighted by ``count``."""
    told: Counter[str] = Counter()
    for word in words:
        for language in _languages().get(word, ()):
            told[language] += count(word)
    return told


def _most(told: Mapping[str, int]) -> str:
    """The language with the most; English if no other has more."""
    return max((ENGLISH, *_OTHERS), key=lambda language: told.get(language, 0))


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages of each function word."""
    read = lexicon("languages")
    found: dict[str, tuple[str, ...]] = dict.fromkeys(STOP_WORDS, (ENGLISH,))
    for language in _OTHERS:
        for word in dict.fromkeys(map(str.casefold, read.words(language))):
            found[word] = (*found.get(word, ()), language)
    return found


@cache
def _unspaced() -> re.Pattern[str]:
    words = sorted(lexicon("languages").words("unspaced"), key=len, reverse=True)
    first = "".join({word[0] for word in words})
    return re.compile(f"(?=[{first}])(?:{'|'.join(words)})")  # the set spares most places


@cache
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language)
