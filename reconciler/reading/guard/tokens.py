"""Tokens: a text cut into words, numbers, dates, ids and marks, each with the value to compare.

Two spellings of one value get the same value here ("3pm" and "15:00", "twenty-five" and 25). The
meaning of several tokens together is read elsewhere: a token depends only on itself and on the few
tokens next to it.

The kind of many tokens comes from closed classes of words, as ``config/lexicon/guard.toml`` lists
them. Their lookup is here, for all modules of the guard, and depends on no text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from reconciler.frozen import Pattern, Span, StringSet
from reconciler.reading.canonical import remembered
from reconciler.reading.lexicon import cues_of, lexicon
from reconciler.reading.sensitive_data import TOKEN, without_scheme
from reconciler.reading.text_reading import read_text


@cache
def words_of(*names: str) -> StringSet:
    """Return the words of some closed classes; the file describes each class."""
    return lexicon("guard").word_set(*names)


@cache
def pattern_of(name: str) -> Pattern:
    """Return the cue of a list."""
    return cues_of("guard").pattern(name)


@cache
def meanings_of(name: str) -> dict[str, str]:
    """Return the meanings of the words of a class."""
    return lexicon("guard").by_word(name)


@cache
def numbers_of(name: str) -> dict[str, int]:
    """Return the numbers that the words of a class mean."""
    return {word: int(number) for word, number in meanings_of(name).items()}


@cache
def months() -> dict[str, int]:
    """Return the months and their numbers."""
    return {month: number for number, month in enumerate(lexicon("guard").words("month"), start=1)}


@cache
def function_words() -> StringSet:
    """Return all words without content."""
    classes = ("be", "auxiliary", "preposition", "negation", "article", "possessive")
    return words_of(*classes, "function_word")


@cache
def english_words() -> StringSet:
    """Return the words without content that no other language has."""
    return function_words() - words_of("shared_word")


@cache
def opposites() -> dict[str, tuple[int, int]]:
    """Return by word of a pair of opposites its closed class and its side; contraries first."""
    words = lexicon("guard").words
    return {
        word: (number, side)
        for number, line in enumerate((*words("contrary"), *words("opposite")))
        for side, words in enumerate(line.split("|"))
        for word in words.split()
    }


TOKENS_MAX = 500
"""The most tokens read from a text, to bound the time for any string; a note has 2,000 characters
at most."""

SENTENCE_ENDS = frozenset(".!?")
"""Values of a mark that ends a sentence; a mark inside a sentence has none."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters, as the inside of a set, of scripts that put no space between words: Thai, Lao, Burmese,
Khmer, Japanese, Chinese. Each counts as a word."""

_SAYS_NOTHING = frozenset("+|~=^`´¨©®™")
"""Symbols that at most replace or decorate a word."""

_THOUSANDS_OR_PARTS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""A number that may be read as 1,500 or as 1.5, so it equals neither."""

_DECIMAL_COMMA = re.compile(r"\d{1,3},\d{1,2}")
_AFTER_NO_ARTICLE = ("at", "for", "from", "is", "of", "on", "was", "with")
"""Words that make the "a" before them a label: "agent a on file"."""

_MONTHS, _YEAR_LENGTH = 12, 4

_ROMAN = frozenset("IVX")
"""Digits of the Roman numbers that number things; the larger ones look like words."""


@cache
def _combining() -> str:
    """Return marks that belong to the letter before them, as the inside of a set."""
    marks = (
        chr(code)
        for start, end in ((0x300, 0xFE00), (0xFE20, 0xFE30))
        for code in range(start, end)
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
    )
    return "".join(marks)


@cache
def _token() -> Pattern:
    month = lexicon("guard").any_of("month_beside_day")
    return re.compile(
        rf"""
        (?P<token>{TOKEN.pattern})  # what stands for a value: its hash has no digits to be read
      | (?P<year>(?<![\w.-])(?:19|20)\d\d(?=-(?:0[1-9]|1[0-2])-[0-3]\d(?![\w-])))
      | (?P<numbered_day>(?<=\d{{4}})-[01]\d-[0-3]\d(?![\w-])
                       | (?<![\w./-])\d\d?(?:\.\d\d?\.|/\d\d?/)(?=(?:19|20)\d\d(?![\w./-]*\d)))
      | (?P<plain>(?!{month}\b)[a-z]{{2,}}(?=[\ ,]))  # most words; the rest takes longer
      | (?P<id>[\w.+-]{{1,64}}@[\w.-]{{1,64}} | https?://\S+ | \+\d[\d\ ().-]{{6,20}}\d
             | \b\d{{3}}[-.]\d{{3}}[-.]\d{{4}}\b | \b[a-z]{{1,8}}[-_/]?\d[\w/-]*
             | \b\d+-\d+-[\d-]+\b )
      | (?P<dotted>\b\d{{1,9}}\.\d{{1,9}}\.\d[\d.]{{0,60}}
                 | \b[\w-]{{1,64}}+\.(?-i:[a-z][a-z0-9]{{1,9}})\b[\w./-]{{0,64}})
      | (?P<tag>(?<!\w)[\#@][a-z][\w-]{{1,64}})
      | (?P<initials>\b[a-z]\.[a-z]\b(?:\.[a-z]\b)?\.?)
      | (?P<time>\b\d{{1,2}}(?:[:.]\d\d)?\ ?[ap]\.?m\b\.? | \b\d{{1,2}}:\d\d\b)
      | (?P<ratio>\b\d{{1,3}}[/:]\d[\d/:]{{0,20}})
      | (?P<day>\b\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{month}\b
              | \b{month}\ \d{{1,2}}(?:st|nd|rd|th)?\b)
      | (?P<ordinal>\b\d{{1,9}}(?:st|nd|rd|th)\b)
      | (?P<minus>(?<![^\s(\[:=,;])[-−](?=[$€£¥₹]?\d))
      | (?P<number>\b\d{{1,3}},\d{{1,2}}(?![\d,])
               | \d{{1,30}}(?:,\d{{3}})*(?:\.\d{{1,30}})?(?:(?:k|m|bn)\b)?)
      | (?!\A.\Z)(?P<label>(?<=[\s(/\[])[ai](?:[+\#-]{{1,2}}(?!\w)|(?=\s*(?:[^\w\s'’"“(&-]|$)))
               | (?<![\w'’-])[b-hj-z](?:[+\#-]{{1,2}}(?!\w))?(?![\w'’-])
               | (?<=\w-)[a-z](?![\w'’-]) | (?<=\d)[a-rt-z]\b | (?-i:(?<=\w\ )A)\b)
      | (?P<word>(?-i:[{UNSPACED}]) | n['’]t\b | [^\W\d_]+?(?=n['’]t\b)
               | (?-i:[^\W\d_{UNSPACED}](?:[^\W\d_{UNSPACED}]|[{_combining()}])*))
      | (?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})
      | (?P<sign>(?<=\w)\+(?!\w) | (?<!\S)[:;]-?[()](?!\w))
      | (?P<mark>[^\w\s])
        """,
        re.VERBOSE | re.IGNORECASE,
    )


@cache
def _closed() -> dict[str, tuple[str, str]]:
    """Return the words with a kind and a value in a table.

    "One" has a kind of its own, as it is a pronoun more often than a number.
    """
    return (
        {word: ("function", word) for word in function_words()}
        | {word: ("number", str(value)) for word, value in numbers_of("cardinal").items()}
        | {"one": ("one", "1")}
        | {word: ("ordinal", f"{value}th") for word, value in numbers_of("ordinal").items()}
        | {word: ("month", word) for word in months()}
        | {day + plural: ("weekday", day) for day in words_of("weekday") for plural in ("", "s")}
        | {
            word: ("multiplier", str(value))
            for word, value in numbers_of("multiplier").items()
            if len(word) > 2
        }
        | {word: ("currency", code) for word, code in meanings_of("currency").items()}
    )


class Token(NamedTuple):
    """A piece of a text; ``value`` is the compared value: a stem, a number's digits, "15:00"."""

    kind: str
    value: str
    text: str


Tokens = Sequence[Token]
"""The pieces of a text, or a part of them."""


def tokens_of(text: str) -> list[Token]:
    """Return the pieces of a text in order, at most ``TOKENS_MAX``, without white space."""
    text = without_scheme(text)
    read: list[Token] = []
    stops = read_text(text).stops
    for match in islice(_token().finditer(text), TOKENS_MAX):
        token = _labelled(read, _READERS[match.lastgroup or "mark"](match.group()))
        if token.kind == "multiplier":
            token = _multiplied(read, token)
        elif token.kind in ("number", "year", "one"):
            token = (_added if token.text[0].isalpha() else _numbered)(read, token)
        elif token.value in SENTENCE_ENDS and match.start() not in stops:
            if token.value == "." and text[match.end() : match.end() + 1].isspace():
                continue  # "Dr. Patel"
            token = token._replace(value="")  # "a.txt" is one sentence
        read.append(token)
        if match.lastgroup == "numbered_day":
            _named_by_its_date(read, text, match.span())
    return read


def _named_by_its_date(read: list[Token], text: str, span: Span) -> None:
    """Put the day before its year, as in "3 May 2026"; the whole date is its name."""
    start, end = span
    if text[start] != "-":
        read[-1] = read[-1]._replace(text=text[start : end + _YEAR_LENGTH])
        return
    read[-1] = read[-1]._replace(text=text[start - _YEAR_LENGTH : end])
    read[-2:] = reversed(read[-2:])


def kind_of(word: str) -> str:
    """Return the kind of a lower-case word by itself; "word" for most."""
    return _closed().get(word, ("word", ""))[0]


def stem_of(word: str) -> str:
    """Return a word without its inflection, roughly: smokes, smoked and smoking are one."""
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 4 and word.endswith("ee"):
        return word[:-2]  # "agree" as "agreed"
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


def _is_numbered(read: list[Token]) -> bool:
    """True if the tokens before make the next number a name: "invoice 2022", "no. 2022"."""
    said = [token.text.lower() for token in read[-2:] if token.value not in (".", ":")]
    return bool(said) and said[-1] in words_of("numbered")


def _labelled(read: list[Token], token: Token) -> Token:
    """Make "a" and "I" labels if they cannot be words: "A is approved", "type I diabetes"."""
    before = read[-1].text if read else ""
    is_named = before == "A" and token.value in words_of("be", "auxiliary")
    if is_named or (before in ("a", "A") and token.value in _AFTER_NO_ARTICLE):
        read[-1] = _read_label(before)
    is_label = token.text == "I" and before.lower() in words_of("numbered")
    return _read_label(token.text) if is_label else token


def _numbered(read: list[Token], token: Token) -> Token:
    """Return a number as earlier tokens change it: below zero, or a version such as 3.10."""
    if _is_numbered(read):
        token = token._replace(kind="number")
    is_named = len(read) > 1 and read[-1].kind == "word" and read[-1].text[0].isupper()
    if "." in token.text and (is_named or _is_numbered(read)):
        token = token._replace(value=token.text)
    has_currency = bool(read) and read[-1].kind == "currency"
    at = len(read) - 1 - has_currency
    if at >= 0 and read[at].kind == "minus":
        del read[at]
        token = token._replace(value=f"-{token.value}", text=f"-{token.text}")
    return token


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
    tens, ones = (numbers_of("cardinal").get(number.text.lower(), 0) for number in (before, token))
    if tens < 20 or ones >= 10:
        return token
    del read[-1 - hyphen :]
    return Token("number", str(tens + ones), f"{before.text}-{token.text}")


@remembered
def _read_word(text: str) -> Token:
    lower = text.lower()
    if not text.isascii() and any(each.isnumeric() and not each.isalpha() for each in text):
        return Token("id", lower, text)  # "m²", "½"
    if text.isupper() and len(text) > 1:
        if _ROMAN.issuperset(text):
            return Token("id", lower, text)
        if lower in words_of("acronym"):
            return Token("word", lower, text)
    kind, value = _closed().get(lower, ("word", ""))
    if kind == "month" and not text[0].isupper():
        kind = "word"  # "may", "march"
    return Token(kind, value or stem_of(lower), text)


def _read_number(text: str) -> Token:
    lower = text.lower().replace(",", "." if _DECIMAL_COMMA.fullmatch(text) else "")
    digits = lower.rstrip("kmbn")
    if _THOUSANDS_OR_PARTS.fullmatch(text):
        return Token("number", text, text)
    value = float(digits) * numbers_of("multiplier").get(lower[len(digits) :], 1)
    is_year = len(text) == 4 and 1800 <= value < 2100
    return Token("year" if is_year else "number", f"{value:.15g}", text)


def _read_day(text: str) -> Token:
    lower = text.lower()
    month = next(number for name, number in months().items() if name[:3] in lower)
    return Token("day", f"{month}-{int(''.join(filter(str.isdecimal, text)))}", text)


def _read_numbered_day(text: str) -> Token:
    """Read the day of a date in figures; 03/04 may be two days, so it is neither."""
    first, second = map(int, re.findall(r"\d+", text))
    is_day_first = "." in text or first > _MONTHS
    day, month = (first, second) if is_day_first else (second, first)
    is_one = "/" not in text or first == second or max(first, second) > _MONTHS
    return Token("day", f"{month}-{day}" if is_one else f"{first}/{second}", text)


def _read_time(text: str) -> Token:
    lower = text.lower()
    hour, minute = [*map(int, re.findall(r"\d+", text)), 0][:2]
    if "m" in lower:
        hour = hour % 12 + 12 * ("p" in lower)
    return Token("time", f"{hour}:{minute:02}", text)


def _read_mark(text: str) -> Token:
    if text in meanings_of("currency"):
        return Token("currency", meanings_of("currency")[text], text)
    if text in meanings_of("read_as"):
        return _read_word(meanings_of("read_as")[text])
    category = unicodedata.category(text[0])
    if category == "Sc":
        return Token("currency", text, text)
    is_sign = category in ("So", "Sm") and text not in _SAYS_NOTHING
    return Token("sign" if is_sign else "mark", text, text)


def _as(kind: str, value: Callable[[str], str]) -> Callable[[str], Token]:
    return lambda text: Token(kind, value(text), text)


_read_label = _as("id", str.lower)
_read_id = _as("id", lambda text: "".join(filter(str.isalnum, text.lower())))
_READERS: dict[str, Callable[[str], Token]] = {
    "plain": _read_word,
    "word": _read_word,
    "number": _read_number,
    "day": _read_day,
    "year": _read_number,
    "numbered_day": _read_numbered_day,
    "time": _read_time,
    "ordinal": _as("ordinal", lambda text: f"{int(text[:-2])}th"),
    "id": _read_id,
    "dotted": _as("id", lambda text: text.lower().strip("./")),
    "initials": lambda text: _read_word(text.replace(".", "")),
    "label": _read_label,
    "ratio": _as("ratio", lambda text: text.strip("/:")),
    "minus": _as("minus", lambda _: "-"),
    "flag": _read_mark,
    "sign": _as("sign", str),
    "tag": _read_label,
    "mark": _read_mark,
    "token": _read_id,
}
"""By the group of the pattern that matched."""
