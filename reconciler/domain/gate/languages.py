"""Whether the gate's words cover the language of a text: what is not covered passes unread.

A script says it where it is another than those of the ten languages that the lists of secrets and
of topics are in; so do letters that none of them has, where many words hold one. A language that is
written as these are, and that no list covers, is not recognised: Indonesian is not. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

__all__ = ["unread_script"]

_READ = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH", "KATAKANA-HIRAGANA"})
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_OF_OTHER_LANGUAGES = re.compile(
    r"[ăąćĉċčďđēĕėěĝğģĥħĩīĭįıĵķĺļľŀņňŉŋōŏőŕŗřŝşšţťŧũūŭůűųŵŷžơưșțðþåøæấ-ỹ]"
)
_OF_POLISH = re.compile(r"[ąćęłńśźż]")
_SHARE_MIN = 0.5
"""So many of a text's letters, at least, are of the script that it is said to be in."""

_WORDS_SHARE_MIN = 0.25
"""In a language of other letters so many words hold one; a name in an English note is fewer."""


def unread_script(text: str) -> str | None:
    """The script of a text in a language that the gate cannot read; None if it seems readable.

    Returns:
        The script's name, or what letters the words hold.
    """
    if text.isascii():
        return None
    letters = Counter(map(_script, _LETTER.findall(text)))
    script, count = letters.most_common(1)[0] if letters else ("LATIN", 0)
    if script not in _READ:
        return f"{script.title()} script" if count >= letters.total() * _SHARE_MIN else None
    words = _WORD.findall(text.casefold())
    if any(map(_OF_POLISH.search, words)):
        return None
    foreign = [word for word in words if _OF_OTHER_LANGUAGES.search(word)]
    return f"words such as {foreign[0]!r}" if len(foreign) > len(words) * _WORDS_SHARE_MIN else None


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split()[0]
