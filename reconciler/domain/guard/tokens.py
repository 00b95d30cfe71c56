"""Tokens: a text cut into words, numbers, dates, ids and marks, each with the value to compare.

Two spellings of one value get the same value here ("3pm" and "15:00", "twenty-five" and 25). What
the tokens say together never lives here: a token knows only itself and the number before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from reconciler.domain.guard.vocabulary import vocabulary

__all__ = ["TOKENS_MAX", "Token", "stem_of", "tokens_of"]

TOKENS_MAX = 500
"""Tokens read of a text: bounds the time for any string; a note has 2,000 characters at most."""


_SINGULAR = ("a", "an")


@cache
def _token() -> re.Pattern[str]:
    month = vocabulary().month_beside_day
    numbers = "|".join(vocabulary().cardinals)
    return re.compile(
        rf"""
        (?P<id>[\w.+-]{{1,64}}@[\w.-]{{1,64}} | https?://\S+ | \+\d[\d\ ().-]{{6,20}}\d
             | \b\d{{3}}[-.]\d{{3}}[-.]\d{{4}}\b | \b[a-z]{{1,8}}[-_/]?\d[\w/-]*
             | \b\d+-\d+-[\d-]+\b )
      | (?P<frequency>\b(?:(?:once|twice|thrice
             |(?:\d{{1,3}}|{numbers})[ -]?(?:times|x|days|nights|mornings|evenings))
             \ ?(?:\ an?|\ per|\ each|\ every|/)\ ?
             |every\ (?:(?:other|second|third|\d{{1,3}}|{numbers})\ )?)
             (?:day|week|weekend|fortnight|month|quarter|year)s?\b)
      | (?P<time>\b\d{{1,2}}(?::\d\d)?\ ?[ap]\.?m\b\.? | \b\d{{1,2}}:\d\d\b)
      | (?P<day>\b\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{month}\b
              | \b{month}\ \d{{1,2}}(?:st|nd|rd|th)?\b)
      | (?P<ordinal>\b\d{{1,9}}(?:st|nd|rd|th)\b)
      | (?P<number>\d{{1,30}}(?:,\d{{3}})*(?:\.\d{{1,30}})?(?:(?:k|m|bn)\b)?)
      | (?P<word>n['’]t\b | [^\W\d_]+?(?=n['’]t\b) | [^\W\d_]+)
      | (?P<mark>[^\w\s])
        """,
        re.VERBOSE | re.IGNORECASE,
    )


@cache
def _closed() -> dict[str, tuple[str, str]]:
    """Words that are read by a table: kind and value.

    "One" has a kind of its own, as it is a pronoun more often than a number.
    """
    known = vocabulary()
    return (
        {word: ("function", word) for word in known.function_words}
        | {word: ("number", str(value)) for word, value in known.cardinals.items()}
        | {"one": ("one", "1")}
        | {word: ("ordinal", f"{value}th") for word, value in known.ordinals.items()}
        | {word: ("month", word) for word in known.months}
        | {day + plural: ("weekday", day) for day in known.weekdays for plural in ("", "s")}
        | {
            word: ("multiplier", str(value))
            for word, value in known.multipliers.items()
            if len(word) > 2
        }
        | {word: ("currency", code) for word, code in known.currencies.items()}
        | {word: ("frequency", times) for word, times in known.frequencies.items()}
    )


class Token(NamedTuple):
    """A piece of a text; ``value`` is what is compared: a stem, a number's digits, "15:00"."""

    kind: str
    value: str
    text: str


def tokens_of(text: str) -> list[Token]:
    """The pieces of a text in order, at most ``TOKENS_MAX``; white space is none."""
    read: list[Token] = []
    for match in islice(_token().finditer(text), TOKENS_MAX):
        token = _READERS[match.lastgroup or "mark"](match.group())
        if token.kind == "multiplier":
            token = _multiplied(read, token)
        elif token.kind in ("number", "one") and token.text[0].isalpha():
            token = _added(read, token)
        elif token.kind == "year" and _is_numbered(read):
            token = token._replace(kind="number")
        elif token.kind == "word" and read and read[-1].value in _SINGULAR:
            _count_article(read, token)
        read.append(token)
    return read


def stem_of(word: str) -> str:
    """The word without its inflection, roughly: smokes, smoked and smoking are one."""
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


def _is_numbered(read: list[Token]) -> bool:
    """Whether what stands before says that the next number is one: "invoice 2022", "no. 2022"."""
    said = [token.text.lower() for token in read[-2:] if token.value not in (".", ":")]
    return bool(said) and said[-1] in vocabulary().numbered


def _count_article(read: list[Token], token: Token) -> None:
    """Make a number of "a" where it counts: "for a month", "a single night"; not "$5 an hour"."""
    before = read[-2] if len(read) > 1 else Token("mark", "", "")
    is_rate = before.kind in ("number", "one", "currency", "year") or (
        before.value in vocabulary().measures or (len(read) > 2 and read[-3].kind == "number")
    )
    if (token.value in vocabulary().measures and not is_rate) or token.value == "singl":
        read[-1] = Token("one", "1", read[-1].text)


def _multiplied(read: list[Token], token: Token) -> Token:
    """Make one number of "2 million"; without a number before, "million" is a word."""
    if not read or read[-1].kind not in ("number", "year", "one"):
        return token._replace(kind="word")
    before = read.pop()
    value = float(before.value) * float(token.value)
    return Token("number", f"{value:.15g}", f"{before.text} {token.text}")


def _added(read: list[Token], token: Token) -> Token:
    """Make one number of "twenty-five" and of "twenty five"."""
    hyphen = len(read) > 1 and read[-1].text == "-"
    before = read[-1 - hyphen] if read else token
    tens, ones = (vocabulary().cardinals.get(each.text.lower(), 0) for each in (before, token))
    if tens < 20 or ones >= 10:
        return token
    del read[-1 - hyphen :]
    return Token("number", str(tens + ones), f"{before.text}-{token.text}")


@lru_cache(maxsize=4096)
def _read_word(text: str) -> Token:
    lower = text.lower()
    kind, value = _closed().get(lower, ("word", ""))
    if kind == "month" and not text[0].isupper():
        kind = "word"  # "may", "march"
    return Token(kind, value or stem_of(lower), text)


def _read_number(text: str) -> Token:
    lower = text.lower().replace(",", "")
    digits = lower.rstrip("kmbn")
    value = float(digits) * vocabulary().multipliers.get(lower[len(digits) :], 1)
    is_year = len(text) == 4 and 1800 <= value < 2100
    return Token("year" if is_year else "number", f"{value:.15g}", text)


def _read_day(text: str) -> Token:
    lower = text.lower()
    month = next(number for name, number in vocabulary().months.items() if name[:3] in lower)
    return Token("day", f"{month}-{int(''.join(filter(str.isdecimal, text)))}", text)


def _read_time(text: str) -> Token:
    lower = text.lower()
    hour, minute = [*map(int, re.findall(r"\d+", text)), 0][:2]
    if "m" in lower:
        hour = hour % 12 + 12 * ("p" in lower)
    return Token("time", f"{hour}:{minute:02}", text)


def _read_frequency(text: str) -> Token:
    """How often a year: "twice a week" and "2 times per week" are one."""
    said = re.findall(r"[a-z]+|\d+", text.lower())
    known = vocabulary()
    a_year = float(known.times_a_year[said[-1].removesuffix("s")])
    number = next((float(each) for each in said if each.isdecimal()), 0.0) or next(
        (float(known.numerals[each]) for each in said if each in known.numerals), 1.0
    )
    often = a_year / number if said[0] == "every" else a_year * number
    return Token("frequency", f"{min(often, 365):.4g}", text)


def _read_ordinal(text: str) -> Token:
    return Token("ordinal", f"{int(text[:-2])}th", text)


def _read_id(text: str) -> Token:
    return Token("id", "".join(filter(str.isalnum, text.lower())), text)


def _read_mark(text: str) -> Token:
    return (
        Token("currency", vocabulary().currencies[text], text)
        if text in vocabulary().currencies
        else Token("mark", text, text)
    )


_READERS: dict[str, Callable[[str], Token]] = {
    "word": _read_word,
    "number": _read_number,
    "day": _read_day,
    "time": _read_time,
    "frequency": _read_frequency,
    "ordinal": _read_ordinal,
    "id": _read_id,
    "mark": _read_mark,
}
"""By the group of the pattern that matched."""
