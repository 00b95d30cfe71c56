"""Checks that the gate's words cover a text's language: other texts pass unread.

A script shows this if none of the ten languages of the lists has it, and so do many words with
letters that none of them has. Other languages are found by a detector, which is asked only about
texts that do not look English. Short texts and bare names mislead it, so it has to be sure. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from reconciler.reading.canonical import remembered
from reconciler.reading.guard import is_english
from reconciler.reading.guard.tokens import english_words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_READ = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH", "KATAKANA-HIRAGANA"})
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_OF_OTHER_LANGUAGES = re.compile(
    r"[ăąćĉċčďđēĕėěĝğģĥħĩīĭįıĵķĺļľŀņňŉŋōŏőŕŗřŝşšţťŧũūŭůűųŵŷžơưșțðþåøæấ-ỹ]"
)
_OF_POLISH = re.compile(r"[ąćęłńśźż]")
_SHARE_MIN = 0.5
"""The least share of a text's letters in its script."""

_WORDS_SHARE_MIN = 0.25
"""The least share of words with another letter in a language with such letters; a name in an
English note is less."""

_READ_LANGUAGES = frozenset({"en", "de", "es", "fr", "it", "pt", "nl", "pl", "ja", "zh"})
_SURE_MIN = 0.95
"""How sure the detector must be that a text is in none of these languages: it is then wrong about 0
of 382 texts in the nine, and about 46 of 22,346 English ones, mostly addresses."""

_LETTERS_MIN = 16
"""The shortest text for the detector."""

_ENGLISH_MIN = 0.02
"""How likely English must be to the detector where no word is English: of 370 short texts in other
languages 4 then pass for it, and of 309 scraps some 260."""


@remembered
def unread_language(text: str) -> str | None:
    """Describe the sign that the gate cannot read a text's language; None if it seems readable.

    Returns:
        As ``unread_script``, or the language that it most likely is, as an ISO code.
    """
    if (script := unread_script(text)) or is_english(text):
        return script
    if sum(map(str.isalpha, text)) < _LETTERS_MIN:
        return None
    ranked = _detector().rank(text)
    read = sum(float(share) for language, share in ranked if language in _READ_LANGUAGES)
    if read > 1 - _SURE_MIN:
        return None
    return f"probably {next(each for each, _ in ranked if each not in _READ_LANGUAGES)!r}"


@remembered
def is_surely_english(text: str) -> bool:
    """True if a word shows English; "Habla inglés." only has nothing against it.

    Such a word exists only in English. A single word without accents may be English as well.
    """
    if not is_english(text):
        return False
    words = _WORD.findall(text.casefold())
    if not english_words().isdisjoint(words):
        return True
    if len(words) < 2:
        return text.isascii()
    return bool(dict(_detector().rank(text))["en"] >= _ENGLISH_MIN)


@cache
def _detector() -> LanguageIdentifier:
    """Make the detector of languages; it takes 0.5 s to load, and 0.1 ms for a note."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def unread_script(text: str) -> str | None:
    """Name the script of a text that the gate cannot read; None if it seems readable.

    Returns:
        The script's name, or the letters of the words.
    """
    if text.isascii():
        return None
    names = (unicodedata.name(letter, "UNKNOWN") for letter in _LETTER.findall(text))
    letters = Counter(name.split()[0] for name in names)
    script, count = letters.most_common(1)[0] if letters else ("LATIN", 0)
    if script not in _READ:
        return f"{script.title()} script" if count >= letters.total() * _SHARE_MIN else None
    words = _WORD.findall(text.casefold())
    if any(map(_OF_POLISH.search, words)):
        return None
    foreign = [word for word in words if _OF_OTHER_LANGUAGES.search(word)]
    return f"words such as {foreign[0]!r}" if len(foreign) > len(words) * _WORDS_SHARE_MIN else None
