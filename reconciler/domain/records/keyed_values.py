"""Keyed values: "T-1 open" says of one numbered thing how it stands, and of no other. Pure.

A thing has one state at a time, so that "T-1 closed" takes the place of "T-1 open". What else is
said of it, "T-1 reported by Paula", holds beside its state.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_CODE = re.compile(
    r"((?:\w+ ){0,3}?)"
    r"(#?(?:[A-Z]{1,5} (?=\d))?(?=[\w/-]*\d)[^\W_]+(?:[-/_][^\W_]+)*)(?![\w/-]|[.,]\d)"
)
"""A number or a code, perhaps behind the words for what it numbers: "support ticket T-1"."""

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d+(?:st|nd|rd|th)")
_COPULA = re.compile(
    r"[ :,(]*((?:is|was|are|were|has|have|had|been|got|now|again|still|ist|wurde|est|está)\b[ ,]*)*"
)
_WHEN = re.compile(r"[ ,]+(?:(?:on|since|due|until) )?(?:\d{1,2}\.? [A-Z]\w+|\d{4}-\d\d-\d\d)$")
_DETAIL = re.compile(r"\d|\bby\b|^(?:about|for|from|of|to)\b|^(?!a?waits)\w+s \w|^[^a-zß-ÿ]")
"""What tells no state: a number, a doer, a topic, or a verb with an object: "runs three years"."""

_STATE_WORDS_MAX = 5


class KeyedValue(NamedTuple):
    """A thing and how it stands.

    Attributes:
        noun: the words in front of its number.
        number: its number or code, as it was said.
        code: the letters and digits of that, in small letters.
        state: in words; empty if none is told.
        is_certain: whether the code can be no amount: it has more than digits.
        is_stated: whether words such as "is" lead to the state, as in a sentence.
    """

    noun: str
    number: str
    code: str
    state: str
    is_certain: bool
    is_stated: bool


@lru_cache(maxsize=4096)
def keyed(said: str) -> KeyedValue | None:
    """The thing that a value, or a sentence, names first by a number or a code; None if none."""
    found = _CODE.match(said)
    number = found and found[2]
    if not found or not number or _DATE.fullmatch(number) or len(number) < len("T1"):
        return None
    if number.isdigit() and len(number) < len("100"):
        return None
    rest = said[found.end() :].strip(" .!)")
    copula = _COPULA.match(rest)
    state = _WHEN.sub("", rest[copula.end() :] if copula else rest)
    is_state = not _DETAIL.search(state) and len(state.split()) <= _STATE_WORDS_MAX
    code = "".join(filter(str.isalnum, number.casefold()))
    return KeyedValue(
        noun=found[1],
        number=number,
        code=code,
        state=state if is_state else "",
        is_certain=not number.isdigit(),
        is_stated=bool(copula and copula[1]),
    )
